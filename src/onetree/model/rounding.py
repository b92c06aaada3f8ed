"""What rounding can do to scores: one derivation for everyone who compares them.

A library adds the leaves of T trees to a base, one after the other, and divides. Each step is off by at most u times
its result, u half of the machine's epsilon. So a computed score is within gamma(n) M of the true one, where
gamma(n) = n u / (1 - n u), M is at least the sum of all magnitudes, and n = T + 3 counts the base, the division and one
step of the caller. A result below the normal numbers is off by at most the smallest subnormal number instead, which the
divisor magnifies. Probabilities of a softmax are computed to a few units each, so that scores 16 u apart never tie.

Everything is in units of the sums, before they are divided. The native search and the native proof have their own copy
each: neither may stand on the other's.
"""

import math

import numpy as np
from numpy.typing import NDArray

from onetree.model.combined_bounds import CombinedBounds, clear_winners
from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import node_depths


def difference_error(ensemble: Ensemble, magnitude: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
    """Return how far the computed difference of two scores can be from the true one, ties of a softmax included.

    Parameters
    ----------
    ensemble : Ensemble
    magnitude : float, or array of float
        At least the sum of the magnitudes of all terms of a score, for example `largest_sum`.
    """
    precision = np.finfo(ensemble.rule.dtype)
    unit, n = float(precision.eps) / 2, ensemble.n_trees + 3
    underflow = float(precision.smallest_subnormal) * (n + ensemble.rule.divisor)
    tie = 16 * unit * ensemble.rule.divisor if ensemble.rule.softmax else 0.0
    return 2 * (n * unit / (1 - n * unit) * magnitude + underflow) + tie


def largest_sum(ensemble: Ensemble) -> float:
    """Return a bound of every partial sum of every score, and of the cut that it is compared with."""
    root, _ = node_depths(ensemble.roots, ensemble.feature, ensemble.children_left, ensemble.children_right)
    largest = np.zeros(len(root))
    np.maximum.at(largest, root, np.abs(ensemble.value).max(axis=1))
    return float(largest.sum() + np.abs(ensemble.base).max()) + abs(ensemble.rule.cut * ensemble.rule.divisor)


def count_order_fragile(ensemble: Ensemble, X: NDArray[np.float64]) -> int:
    """Return how many inputs are so close to a tie that the order in which leaves are added may decide their class.

    An ensemble adds in the order of its source library, so its class is right there too. But a library that adds in
    another order (on several threads, say) may give another class, and the user should know.
    """
    rule = ensemble.rule
    if ensemble.n_classes == 1 or sums_are_exact(ensemble):
        return 0
    if rule.combination is not None:
        return int(np.count_nonzero(clear_winners(*CombinedBounds(ensemble).at(ensemble.scores(X))) < 0))
    scores = ensemble.scores(X).astype(np.float64)
    magnitude = np.full(len(scores), np.abs(ensemble.base).max())
    largest = np.abs(ensemble.value).max(axis=1)
    for leaves in ensemble.apply(X).T:
        magnitude += largest[leaves]
    slack = difference_error(ensemble, magnitude) / rule.divisor
    if rule.kind == "score":
        return int(np.count_nonzero(np.abs(scores[:, 0] - rule.cut) <= slack))
    ranked = np.sort(scores, axis=1)
    return int(np.count_nonzero(ranked[:, -1] - ranked[:, -2] <= slack))


def sums_are_exact(ensemble: Ensemble) -> bool:
    """Whether all numbers are multiples of one power of two, with sums too small to be rounded, as votes are."""
    if ensemble.rule.combination is not None:
        return False
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
