"""The file in which a long run keeps its finished work, so that another run can resume from it.

It says what the run is about, and has one record for each finished piece of work.
"""

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from onetree.base.limits import OBJECTIVES
from onetree.base.progress import ProgressCallback
from onetree.domain.domain import DomainLike, as_domain
from onetree.domain.restrict import restrict
from onetree.errors import InvalidInputError, LimitReachedError, ModelFileError, OnetreeError
from onetree.files.strict_json import list_of, require_keys
from onetree.model.ensemble import Ensemble
from onetree.scale.records import Records
from onetree.search.scoring import Scoring
from onetree.search.solve import Solution
from onetree.tree.tree import Tree
from onetree.verify import verify

_TASK = "task"  # the key of what the run is about
_NUMBERS = ("peak_bytes", "total_seconds")  # among the statistics of a solution
_SHARE = 0.1  # of the time, at most, goes into writing: a file that is slow to write is written less often

Task = Mapping[str, Any]  # what must be the same for a run to go on: names and plain values


class Checkpoint:
    """Records of finished work in a file; without a path nothing is kept.

    Leaving it as a context writes what is not yet written, whatever the reason.
    """

    def __init__(self, path: str | os.PathLike[str] | None, task: Task) -> None:
        from importlib.metadata import version

        self._path = path
        self._task = {"onetree": version("onetree"), **task}
        self._records = None if path is None else Records(path)
        self._written, self._took = 0.0, 0.0  # when, and how long it took
        self.n_found = 0  # records that an earlier run left
        if self._records is not None:
            self.n_found = sum(key != _TASK for key in self._records)
            if _TASK in self._records or self.n_found:
                self._check_task()
            else:
                self._records.put(_TASK, self._task)

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(self, *_: object) -> None:
        if self._records is not None and any(key != _TASK for key in self._records):
            self.save()

    def __contains__(self, key: str) -> bool:
        return self._records is not None and key in self._records

    def get(self, key: str) -> Any:
        """Return the record of this key, None if there is none."""
        return None if self._records is None else self._records.get(key)

    def put(self, key: str, record: Any) -> None:
        """Keep a record, which `json` has to be able to write, and write the file unless it was written just now."""
        if self._records is None:
            return
        self._records.put(key, record)
        if perf_counter() - self._written >= self._took * (1 / _SHARE - 1):
            self.save()

    def get_solution(self, key: str) -> Solution | None:
        """Return the solution that was kept under this key."""
        record = self.get(key)
        return None if record is None else _solution(record, self._path)

    def proven_solution(
        self,
        key: str,
        ensemble: Ensemble,
        domain: DomainLike | None,
        *,
        scoring: Scoring | None = None,
        time_limit: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution | None:
        """Return the solution that was kept under this key if its tree is what is asked for, which is proven.

        It is equal to the ensemble or, with a `scoring`, carries numbers within that tolerance. The domain and the
        tolerance are the given ones, not those of the file. `LimitReachedError` is raised if the time
        is up before the verdict, and by a callback that asks to stop.
        """
        method = "auto" if time_limit is None else "search"  # which looks at the clock more often
        try:
            solution = self.get_solution(key)
            if solution is None or not _speaks_of(solution.tree, ensemble, scoring):
                return None
            where = {} if domain is None else domain
            limits: dict[str, Any] = {"time_limit": time_limit, "progress": progress or False}
            if not verify(solution.tree, ensemble, domain=where, method=method, **limits):
                return None
            return replace(solution, tree=_as_found_in(domain, solution.tree, ensemble))
        except LimitReachedError:
            raise
        except OnetreeError:
            return None

    def put_solution(self, key: str, solution: Solution) -> None:
        """Keep a solution."""
        if self._records is not None:
            self.put(key, _record(solution))

    def save(self) -> None:
        """Write what is new."""
        if self._records is None:
            return
        started = perf_counter()
        self._records.save()
        self._written = perf_counter()
        self._took = self._written - started

    def _check_task(self) -> None:
        found, here = self.get(_TASK), json.loads(json.dumps(self._task))
        if not isinstance(found, dict):
            raise ModelFileError(
                f"cannot go on from {self._path}: it does not say of which run; delete it to begin again"
            )
        for name in sorted(here.keys() | found.keys()):
            if here.get(name) != found.get(name):
                raise InvalidInputError(
                    f"{self._path} belongs to another run: its {name} is {found.get(name)!r}, here it is "
                    f"{here.get(name)!r}; name another file, or delete this one to begin again"
                )


def _speaks_of(tree: Tree, ensemble: Ensemble, scoring: Scoring | None) -> bool:
    """Return whether class and category numbers mean the same in both, and the tree promises what is asked for."""
    if not np.array_equal(tree.classes, ensemble.classes) or tree.categories != ensemble.categories:
        return False
    return tree.value is None if scoring is None else scoring.is_promised_by(tree)


def _as_found_in(domain: DomainLike | None, tree: Tree, ensemble: Ensemble) -> Tree:
    """Return the tree with the domain and names that a search here would have given it, whatever the file says."""
    where = as_domain(domain, ensemble)
    nan_features = restrict(ensemble, where).nan_features
    return replace(
        tree,
        domain=where,
        nan_features=nan_features,
        feature_names=ensemble.feature_names,
        columns=ensemble.columns,
    )


def _record(solution: Solution) -> dict[str, Any]:
    from onetree.export.json import to_json

    if type(solution) is not Solution:
        raise InvalidInputError("only trees that are equal to their ensemble can be kept in a checkpoint")
    record = {field.name: getattr(solution, field.name) for field in dataclasses.fields(solution)}
    return {**record, "tree": to_json(solution.tree)}


def _solution(record: Any, path: str | os.PathLike[str] | None) -> Solution:
    from onetree.export.json import from_json

    try:
        _check_record(record)
        return Solution(**{**record, "tree": from_json(record["tree"])} | _values(record))
    except (TypeError, KeyError, ModelFileError, InvalidInputError) as error:
        raise ModelFileError(
            f"cannot go on from {path}: a record is not a solution ({error}); delete the file to begin again"
        ) from None


def _check_record(record: dict[str, Any]) -> None:
    """Refuse what a later step would fail on; the tree itself is proven elsewhere."""
    require_keys(record, {field.name for field in dataclasses.fields(Solution)}, "a record")
    if not isinstance(record["tree"], str) or record["objective"] not in OBJECTIVES:
        raise ModelFileError("its tree or its objective is invalid")
    if record["status"] not in ("optimal", "feasible"):
        raise ModelFileError("its status is unknown")
    n_measures = 1 + ("-" in record["objective"])
    for name in ("value", "lower_bound"):
        if len(list_of(record[name] if n_measures > 1 else [record[name]], (int,), name)) != n_measures:
            raise ModelFileError(f'"{name}" must hold {n_measures} numbers')
    stats = record["stats"]
    numbers = [stats.get(name, 0) for name in _NUMBERS] if isinstance(stats, dict) else [None]
    list_of(numbers, (int, float), "stats")


def _values(record: dict[str, Any]) -> dict[str, Any]:
    """Return the sizes as they were: JSON has no tuples."""
    return {
        name: tuple(record[name]) if isinstance(record[name], list) else record[name]
        for name in ("value", "lower_bound")
    }
