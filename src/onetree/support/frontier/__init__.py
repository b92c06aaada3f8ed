"""How well trees of some sizes follow a model, and whether they are worth more than plain CART: the frontier."""

from onetree.support.frontier.measure import frontier
from onetree.support.frontier.result import Frontier, FrontierPoint
from onetree.support.frontier.score import Difference, Score

__all__ = ["Difference", "Frontier", "FrontierPoint", "Score", "frontier"]
