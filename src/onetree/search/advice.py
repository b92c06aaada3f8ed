"""Advice where a tree is too large: changes of the model that would make it smaller, each tried out.

Nothing is retrained: trees are left out, thresholds are merged, or the domain of given rows is assumed,
and the size is estimated again. Only what helps is proposed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from onetree.domain.domain import Domain, DomainLike, as_domain
from onetree.domain.infer import domain_of
from onetree.errors import TooLargeError
from onetree.lowering.grid import Grid
from onetree.model.ensemble import Ensemble
from onetree.model.forest_checks import node_depths
from onetree.search.estimate import Estimate, estimated
from onetree.search.scoring import Scoring

_FEW_BOXES = 10**7  # of the whole grid: solved in less time than an estimate takes
MOST_LEAVES = 1_000_000  # of a tree that is built without asking again
_HOPELESS = 1e9  # leaves that nobody waits for
_BINS = (10, 5, 3)
_BUDGET = 0.4  # seconds for each estimate
_PATIENCE = 2.0  # seconds for all of them; one that is underway goes on
_GAIN = 10  # times fewer leaves justify a change of the model


@dataclass(frozen=True)
class Proposal:
    """A change, and what the tree would be with it.

    Parameters
    ----------
    change : str
        In words, such as "the first 12 trees".
    estimate : Estimate
    """

    change: str
    estimate: Estimate

    def __str__(self) -> str:
        return f"{self.change}: {self.estimate.leaves_in_words}"


def proposals(
    ensemble: Ensemble,
    found: Estimate,
    *,
    objective: str,
    domain: DomainLike | None = None,
    X: ArrayLike | None = None,
    random_state: int = 0,
    scoring: Scoring | None = None,
) -> list[Proposal]:
    """Try changes that may make the tree smaller, for about two seconds, and return those that do.

    Parameters
    ----------
    ensemble : Ensemble
    found : Estimate
        Of the ensemble as it is.
    objective, domain, random_state
        As in `estimate`.
    X : array of shape (n_rows, n_features), optional
        Rows whose domain, as `domain_of` infers it, is tried as well.
    scoring : Scoring, optional
        Where leaves carry numbers.
    """
    trial = _Trial(min(MOST_LEAVES, found.leaves / _GAIN), objective, random_state, scoring)
    where = as_domain(domain, ensemble)
    tried = [_fewer_trees(ensemble, where, trial), _fewer_thresholds(ensemble, where, trial)]
    if X is not None and domain is None:
        tried.append(trial.of("for inputs like the rows, domain=domain_of(X)", ensemble, domain_of(X)))
    return [proposal for proposal in tried if proposal is not None]


class _Trial:
    """Estimates changed models, while there is time."""

    def __init__(self, enough: float, objective: str, random_state: int, scoring: Scoring | None) -> None:
        self._enough, self._objective, self._random_state, self._scoring = enough, objective, random_state, scoring
        self._end = perf_counter() + _PATIENCE

    def of(self, change: str, ensemble: Ensemble, domain: Domain | None) -> Proposal | None:
        """Return the proposal if the change helps."""
        if perf_counter() > self._end:
            return None
        found = estimated(
            ensemble,
            objective=self._objective,
            domain=domain,
            budget=_BUDGET,
            random_state=self._random_state,
            progress=False,
            scoring=None if self._scoring is None else replace(self._scoring, ensemble=ensemble),
        )
        return None if found.beyond or found.leaves > self._enough else Proposal(change, found)


def _fewer_trees(ensemble: Ensemble, domain: Domain | None, trial: _Trial) -> Proposal | None:
    """Double the number of trees as long as their tree is feasible."""
    if ensemble.rule.combination is not None:  # the first trees would be those of some members only
        return None
    best = None
    # Boosting of several classes has a tree for each of them in every round.
    step = ensemble.n_outputs if ensemble.rule.kind == "scores" and ensemble.n_trees % ensemble.n_outputs == 0 else 1
    n_trees = 2 * step
    while n_trees < ensemble.n_trees:
        proposal = trial.of(f"the first {n_trees} trees", first_trees(ensemble, n_trees), domain)
        if proposal is None:
            break
        best = proposal
        n_trees *= 2
    return best


def _fewer_thresholds(ensemble: Ensemble, domain: Domain | None, trial: _Trial) -> Proposal | None:
    """Take the largest number of bins with which the tree is feasible."""
    for n_bins in _BINS:
        proposal = trial.of(f"features in {n_bins} bins", binned(ensemble, n_bins), domain)
        if proposal is not None:
            return proposal
    return None


def first_trees(ensemble: Ensemble, n_trees: int) -> Ensemble:
    """Return the ensemble of the first trees only, as if training had stopped there."""
    root_of, _ = node_depths(ensemble.roots, ensemble.feature, ensemble.children_left, ensemble.children_right)
    kept = np.isin(root_of, ensemble.roots[:n_trees])
    number = np.append(np.cumsum(kept) - 1, -1)  # the last entry stands for a leaf's missing children
    divisor = ensemble.rule.divisor
    if divisor == ensemble.n_trees:  # a mean
        divisor = float(n_trees)
    rule, response = replace(ensemble.rule, divisor=divisor), ensemble.response
    return replace(
        ensemble,
        roots=number[ensemble.roots[:n_trees]],
        feature=ensemble.feature[kept],
        threshold=ensemble.threshold[kept],
        children_left=number[ensemble.children_left[kept]],
        children_right=number[ensemble.children_right[kept]],
        missing_left=ensemble.missing_left[kept],
        value=ensemble.value[kept],
        subset=ensemble.subset[kept],
        rule=rule,
        response=None if response is None else replace(response, members=rule.members(ensemble.n_outputs)),
    )


def binned(ensemble: Ensemble, n_bins: int) -> Ensemble:
    """Return the ensemble with each threshold moved to the nearest of a few: the quantiles of those of its feature."""
    threshold = ensemble.threshold.copy()
    for feature in range(ensemble.n_features):
        nodes = np.flatnonzero((ensemble.feature == feature) & (ensemble.subset < 0) & (ensemble.threshold < np.inf))
        if len(np.unique(threshold[nodes])) < n_bins:
            continue
        cuts = np.unique(np.quantile(threshold[nodes], np.arange(1, n_bins) / n_bins, method="closest_observation"))
        middle = cuts[:-1] / 2 + cuts[1:] / 2
        threshold[nodes] = cuts[np.searchsorted(middle, threshold[nodes])]
    return replace(ensemble, threshold=threshold)


def refuse_too_large(
    ensemble: Ensemble,
    *,
    objective: str,
    domain: DomainLike | None = None,
    random_state: int = 0,
    scoring: Scoring | None = None,
) -> None:
    """Raise `TooLargeError` if the estimated number of leaves is out of reach."""
    if Grid.of(ensemble, as_domain(domain, ensemble)).n_boxes > _FEW_BOXES:
        found = estimated(
            ensemble, objective=objective, domain=domain, random_state=random_state, progress=False, scoring=scoring
        )
        if found.beyond or found.leaves_range[0] > MOST_LEAVES:
            raise too_large(
                ensemble, found, objective=objective, domain=domain, random_state=random_state, scoring=scoring
            )


def too_large(
    ensemble: Ensemble,
    found: Estimate,
    *,
    objective: str,
    domain: DomainLike | None = None,
    random_state: int = 0,
    scoring: Scoring | None = None,
) -> TooLargeError:
    """Return the error that says how large the tree would be, and what to do instead."""
    helpful = proposals(ensemble, found, objective=objective, domain=domain, random_state=random_state, scoring=scoring)
    smaller = f" (a smaller model would do: {'; '.join(map(str, helpful))})" if helpful else ""
    if found.beyond and found.leaves <= MOST_LEAVES:
        size = "the model is so large that even the estimate of its tree was cut off"
    else:
        size = f"the tree would have {found.leaves_in_words} and take {found.seconds_in_words} to find"
    anyway = "" if found.beyond or found.leaves > _HOPELESS else '; method="heuristic" builds it nevertheless'
    instead = "support_tree(model, X) gives a tree of any size that follows the model where your data are"
    if scoring is not None:
        instead = "a larger tolerance needs fewer leaves: tolerance_front(model) and estimate(model) tell how many"
    return TooLargeError(f"{size}{smaller}; {instead}{anyway}", found, helpful)
