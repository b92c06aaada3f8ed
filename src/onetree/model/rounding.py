"""Inputs so near to a tie that the order in which the leaves are added decides their class.

An ensemble adds in the order of its source library, so its class is right there too. But a library that adds in another
order (on several threads, say) may give another class, and the user should know.
"""

import math

import numpy as np
from numpy.typing import NDArray

from onetree.model.ensemble import Ensemble


def count_order_fragile(ensemble: Ensemble, X: NDArray[np.float64]) -> int:
    """Return how many of the inputs have scores whose difference is within what rounding can do to it."""
    rule = ensemble.rule
    if ensemble.n_classes == 1 or sums_are_exact(ensemble):
        return 0
    scores = ensemble.scores(X).astype(np.float64)
    # A sum of n terms is off by at most gamma(n) times the sum of their magnitudes; each of two sums may be.
    unit = float(np.finfo(rule.dtype).eps) / 2
    n_terms = ensemble.n_trees + 3
    gamma = n_terms * unit / (1 - n_terms * unit)
    magnitude = np.full(len(scores), np.abs(ensemble.base).max())
    largest = np.abs(ensemble.value).max(axis=1)
    for leaves in ensemble.apply(X).T:
        magnitude += largest[leaves]
    slack = 2 * gamma * magnitude / rule.divisor
    if rule.softmax:
        slack += 16 * unit  # probabilities this near to each other can be equal
    if rule.kind == "score":
        return int(np.count_nonzero(np.abs(scores[:, 0] - rule.cut) <= slack))
    ranked = np.sort(scores, axis=1)
    return int(np.count_nonzero(ranked[:, -1] - ranked[:, -2] <= slack))


def sums_are_exact(ensemble: Ensemble) -> bool:
    """Whether all numbers are multiples of one power of two, with sums too small to be rounded, as votes are."""
    terms = np.concatenate([ensemble.value.ravel(), ensemble.base])
    terms = np.abs(terms[terms != 0])
    if not terms.size:
        return True
    fraction, exponent = np.frexp(terms)
    digits = np.ldexp(fraction, 53).astype(np.int64)
    _, n_zeros = np.frexp((digits & -digits).astype(np.float64))  # of the last binary digits, plus one
    lowest = int((exponent - 53 + n_zeros - 1).min())
    n_digits = np.finfo(ensemble.rule.dtype).nmant + 1
    return float(terms.max()) * (ensemble.n_trees + 1) <= math.ldexp(1.0, min(lowest + n_digits, 1023))
