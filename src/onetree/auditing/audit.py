"""An audit in one call: what is asked, and what it ended in."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.auditing.rules import MOST_LEAVES, CoveringRule, rules_of_model, rules_of_tree
from onetree.base.progress import ProgressOption
from onetree.domain.domain import Domain, DomainLike, as_domain
from onetree.domain.infer import domain_of
from onetree.errors import FidelityError, InvalidInputError, LimitReachedError, TooLargeError
from onetree.files.atomic import write_whole
from onetree.model.ensemble import Ensemble
from onetree.model.inputs import read_inputs
from onetree.questions.checks import Check, check_fair, check_monotone, check_reachable, check_stable
from onetree.questions.difference import ModelDifference, difference
from onetree.questions.sources import class_index, feature_index, feature_set, source_of
from onetree.scale.fingerprint import fingerprint
from onetree.search.solve import Solution, born_again
from onetree.tree.tree import Tree
from onetree.verify import verify

Floats = NDArray[np.float64]
MOST_RULES = 6
_ROWS_EXPLAINED = 60  # for rules of a model without a tree
_RISES = {True: True, "increasing": True, False: False, "decreasing": False}


@dataclass(frozen=True, eq=False)
class AuditedCheck:
    """One property: for every input of the domain, and for the rows.

    Parameters
    ----------
    kind : {"fair", "monotone", "stable", "reachable"}
    about : str
        The feature or class that it is about.
    everywhere : Check or None
        For every input of the domain; None if it is about rows only.
    rows : Check or None
        For the rows; None if it is about inputs only.
    """

    kind: str
    about: str
    everywhere: Check | None
    rows: Check | None

    @property
    def holds(self) -> bool | None:
        """Whether it is proven, refuted, or open: refuted by any witness, proven only everywhere if that was asked."""
        checks = [each for each in (self.everywhere, self.rows) if each is not None]
        if any(each.holds is False for each in checks):
            return False
        return None if any(each.holds is None for each in checks) else True


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found; true in a condition iff every check is proven.

    Parameters
    ----------
    title : str
    ensemble : Ensemble
        The model as it was read.
    fingerprint : str
        The same for the same model, to tell which one was audited.
    domain : Domain or None
        For which inputs the proofs hold; None is every input.
    n_rows, n_inside, n_checked : int
        Rows that were given, those in the domain, and those that checks of rows looked at.
    class_counts : dict
        Label: how many rows get it.
    accuracy : float or None
        Share of the rows that get their true class, if that was given.
    checks : tuple of AuditedCheck
    tree : Tree or None
        An exact tree, if there is one.
    tree_note : str
        What is proven about it, or why there is none.
    rules : tuple of CoveringRule
    rules_of : {"tree", "model"}
        Whether they are leaves of the tree, or proven for the model itself because there is none, or a large one.
    difference : ModelDifference or None
        From the previous version to this one.
    html : str
        The page.
    """

    title: str
    ensemble: Ensemble
    fingerprint: str
    domain: Domain | None
    n_rows: int
    n_inside: int
    n_checked: int
    class_counts: dict[Any, int]
    accuracy: float | None
    checks: tuple[AuditedCheck, ...]
    tree: Tree | None
    tree_note: str
    rules: tuple[CoveringRule, ...]
    rules_of: str
    difference: ModelDifference | None
    html: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return all(check.holds is True for check in self.checks)

    def __str__(self) -> str:
        words = {True: "proven", False: "refuted", None: "not decided"}
        lines = [f"{self.title}: {len(self.checks)} checks, {self.n_rows:,} rows"]
        for check in self.checks:
            each = check.everywhere or check.rows
            assert each is not None  # noqa: S101 - for the type checker
            rows = "" if check.rows is None else f"; {str(check.rows).rpartition('; ')[2]}"
            lines.append(f"  {words[check.holds]}: {each.claim}{rows}")
        lines.append(f"  {self.tree_note}")
        if self.difference is not None:
            lines.append(f"  previous version: {str(self.difference).splitlines()[0]}")
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page."""
        write_whole(path, self.html)


def audit(
    model: Any,
    X: Any,
    *,
    path: str | os.PathLike[str] | None = "audit.html",
    y: ArrayLike | None = None,
    protected: Any = (),
    monotone: Mapping[Any, Any] | None = None,
    stable: float | None = None,
    reachable: Any = True,
    previous: Any = None,
    tree: Tree | None = None,
    domain: DomainLike | str | None = "data",
    title: str | None = None,
    max_rows: int = 500,
    time_limit: float = 30.0,
    progress: ProgressOption = None,
) -> Audit:
    """Check a model, with proof, and write one HTML page for those who sign.

    Parameters
    ----------
    model : fitted model, path, Ensemble or Tree
    X : array or frame
        Rows, such as the customers that the model decides about.
    path : path or None
        Of the HTML file; None writes none, and `Audit.save` does it later.
    y : array, optional
        The true classes of the rows.
    protected : features
        That must not change a decision; a list in the list, such as one-hot columns, is checked as one.
    monotone : mapping, optional
        Feature: "increasing" or "decreasing", the direction in which the class, in the order of the model's classes,
        may move as the feature rises. True and False say the same.
    stable : float, optional
        A distance, in median absolute deviations of each feature, within which no decision about a row may change.
    reachable : labels or True
        Classes that some input must get; by default all.
    previous : fitted model, path, Ensemble or Tree, optional
        The version before, to say what changed.
    tree : Tree, optional
        A tree of the model, which is proven before it is shown. By default one is searched for.
    domain : "data", Domain, mapping or None
        For which inputs the proofs hold: by default what the rows span, see `domain_of`. None is every input.
    title : str, optional
        Heading of the page.
    max_rows : int
        Most rows that are checked one by one, evenly spaced; all of them are counted.
    time_limit : float
        Seconds for each check, for the tree, for the rules, and for the comparison.
    progress : callable, False or None
        As in `born_again`.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> audit = onetree.audit(forest, X, protected=[1], monotone={3: "increasing"}, path=None)
    >>> [(check.kind, check.holds) for check in audit.checks][:2]
    [('fair', False), ('monotone', False)]
    """
    from onetree.auditing.page import render_audit

    if not time_limit > 0 or max_rows < 1:
        raise InvalidInputError("time_limit and max_rows must be positive")
    ensemble = source_of(model)
    rows = read_inputs(X, ensemble).astype(np.float64)
    if not len(rows):
        raise InvalidInputError("an audit needs rows; give some of the data that the model decides about")
    truth = None if y is None else np.asarray(y)
    if truth is not None and len(truth) != len(rows):
        raise InvalidInputError(f"y has {len(truth)} labels for {len(rows)} rows")
    limits = as_domain(domain_of(rows) if isinstance(domain, str) and domain == "data" else domain, ensemble)
    asker = _Asker(ensemble, limits, _spaced(rows, limits, max_rows), rows, time_limit, progress)
    checks = asker.checks(protected, monotone or {}, stable, reachable)
    tree, note = _exact_tree(model, tree, ensemble, limits, time_limit, progress)
    inside = np.ones(len(rows), dtype=bool) if limits is None else limits.contains(rows)
    covered, right = rows[inside], None if truth is None else truth[inside]
    of_tree = tree is not None and tree.n_leaves <= MOST_LEAVES
    if tree is not None and of_tree:
        rules = rules_of_tree(tree, ensemble, covered, right, MOST_RULES)
    else:
        rules = rules_of_model(ensemble, limits, covered, right, MOST_RULES, _ROWS_EXPLAINED, time_limit)
    changes = None
    if previous is not None:
        changes = difference(
            previous, model, domain=limits, X=X, tree="changes", time_limit=time_limit, progress=progress
        )
    predicted = ensemble.predict(rows)
    found: dict[str, Any] = {
        "title": title or "Audit of a model",
        "ensemble": ensemble,
        "fingerprint": fingerprint(ensemble)[:16],
        "domain": limits,
        "n_rows": len(rows),
        "n_inside": len(covered),
        "n_checked": len(asker.rows),
        "class_counts": {label: int(np.sum(predicted == label)) for label in ensemble.classes.tolist()},
        "accuracy": None if truth is None else float(np.mean(predicted == truth)),
        "checks": checks,
        "tree": tree,
        "tree_note": note,
        "rules": tuple(rules),
        "rules_of": "tree" if of_tree else "model",
        "difference": changes,
    }
    made = Audit(**found, html=render_audit(Audit(**found)))
    if path is not None:
        made.save(path)
    return made


class _Asker:
    """Asks for each property what holds everywhere and for the rows."""

    def __init__(
        self,
        ensemble: Ensemble,
        domain: Domain | None,
        rows: Floats,
        data: Floats,
        time_limit: float,
        progress: ProgressOption,
    ) -> None:
        self._ensemble, self._domain, self.rows, self._data = ensemble, domain, rows, data
        self._everywhere: dict[str, Any] = {"domain": domain, "time_limit": time_limit, "progress": progress}
        self._by_row = self._everywhere | {"time_limit": time_limit / max(1, len(rows))}

    def checks(
        self, protected: Any, monotone: Mapping[Any, Any], stable: float | None, reachable: Any
    ) -> tuple[AuditedCheck, ...]:
        """Ask all of it."""
        found = [self._fair(each) for each in _listed(protected)]
        found += [self._monotone(feature, direction) for feature, direction in monotone.items()]
        if stable is not None:
            by_row = check_stable(self._ensemble, self.rows, stable, data=self._data, **self._by_row)
            found.append(AuditedCheck("stable", f"{stable:g}", None, by_row))
        labels = self._ensemble.classes.tolist() if reachable is True else _listed(reachable)
        for label in labels:
            class_index(label, self._ensemble)
            check = check_reachable(self._ensemble, label, **self._everywhere)
            found.append(AuditedCheck("reachable", str(label), check, None))
        return tuple(found)

    def _fair(self, features: Any) -> AuditedCheck:
        chosen = sorted(feature_set(features, self._ensemble))
        # Features of a group do not change alone, so the group is asked about as a whole.
        grouped = () if self._domain is None else self._domain.groups
        chosen = sorted({*chosen, *(x for group in grouped if set(group.features) & {*chosen} for x in group.features)})
        names = ", ".join(self._ensemble.feature_names[each] for each in chosen)
        everywhere = check_fair(self._ensemble, chosen, **self._everywhere)
        by_row = check_fair(self._ensemble, chosen, X=self.rows, **self._by_row)
        return AuditedCheck("fair", names, everywhere, by_row)

    def _monotone(self, feature: Any, direction: Any) -> AuditedCheck:
        at = feature_index(feature, self._ensemble)
        if direction not in _RISES:
            raise InvalidInputError(f'monotone needs "increasing" or "decreasing" for {feature!r}, not {direction!r}')
        rises = _RISES[direction]
        everywhere = check_monotone(self._ensemble, at, increasing=rises, **self._everywhere)
        by_row = check_monotone(self._ensemble, at, increasing=rises, X=self.rows, **self._by_row)
        return AuditedCheck("monotone", self._ensemble.feature_names[at], everywhere, by_row)


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str | int | np.integer) else list(given)


def _spaced(rows: Floats, domain: Domain | None, most: int) -> Floats:
    """Return evenly spaced rows of the domain."""
    inside = rows if domain is None else rows[domain.contains(rows)]
    if not len(inside):
        raise InvalidInputError("no row belongs to the domain; change the one or the other")
    chosen = np.unique(np.linspace(0, len(inside) - 1, min(most, len(inside))).astype(int))
    return np.asarray(inside[chosen])


def _exact_tree(
    model: Any,
    tree: Tree | None,
    ensemble: Ensemble,
    domain: Domain | None,
    time_limit: float,
    progress: ProgressOption,
) -> tuple[Tree | None, str]:
    """Return a tree that is proven equal to the model, and what is known of its size; or why there is none."""
    if isinstance(model, Tree):
        return model, "the model is one tree itself"
    if tree is not None:
        try:
            verdict = verify(tree, ensemble, domain=domain, time_limit=time_limit, progress=progress)
        except LimitReachedError:
            return None, "the tree that was given could not be proven equal to the model within the limit"
        if not verdict:
            raise FidelityError("the tree that was given is not equal to the model; leave it out, or convert again")
        return tree, "proven equal to the model; nothing is said about smaller trees"
    try:
        solution: Solution = born_again(
            ensemble, objective="leaves", domain=domain, time_limit=time_limit, progress=progress
        )
    except (LimitReachedError, TooLargeError) as error:
        return None, f"none: {str(error).partition(';')[0]}"
    if solution.status == "optimal":
        return solution.tree, "proven equal to the model, and no equal tree has fewer leaves"
    bound = solution.lower_bound if isinstance(solution.lower_bound, int) else solution.lower_bound[0]
    least = f"; every equal tree has at least {bound:,} leaves" if bound and math.isfinite(bound) else ""
    return solution.tree, f"proven equal to the model{least}"
