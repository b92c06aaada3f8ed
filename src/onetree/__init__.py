"""One decision tree that predicts exactly the same class as a whole tree ensemble, everywhere.

The way of the data, one module per stage::

    model -> importers -> Ensemble -> grid -> solve -> Tree -> verify -> export

A fitted model (or a file) is read by an importer into an `Ensemble`: trees with leaf vectors, and the rule that
combines them. Its thresholds cut the space into a grid of cells, in each of which the class is constant. `born_again`
finds the smallest `Tree` with the same class in every cell and returns it in a `Solution`, with what was proven about
its size. `verify` proves that tree and ensemble are the same function, or gives an input on which they differ.

    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> solution = onetree.born_again(forest, objective="leaves")
    >>> solution.status
    'optimal'
    >>> bool((solution.tree.predict(X) == forest.predict(X)).all())
    True
    >>> bool(onetree.verify(solution.tree, forest))
    True
"""

from importlib.metadata import version as _version

from onetree.ensemble import Ensemble
from onetree.errors import (
    FidelityError,
    GridTooLargeError,
    InvalidInputError,
    LimitReachedError,
    ModelFileError,
    OnetreeError,
    UnsupportedModelError,
)
from onetree.estimate import Estimate, estimate
from onetree.importers import load_ensemble
from onetree.limits import Progress
from onetree.solve import Solution, born_again, pareto_front
from onetree.tree import Tree, load_tree
from onetree.verify import Verdict, verify

__version__ = _version("onetree")

__all__ = [
    "Ensemble",
    "Estimate",
    "FidelityError",
    "GridTooLargeError",
    "InvalidInputError",
    "LimitReachedError",
    "ModelFileError",
    "OnetreeError",
    "Progress",
    "Solution",
    "Tree",
    "UnsupportedModelError",
    "Verdict",
    "born_again",
    "estimate",
    "load_ensemble",
    "load_tree",
    "pareto_front",
    "verify",
]
