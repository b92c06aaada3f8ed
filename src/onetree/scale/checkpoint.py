"""The file in which a long run keeps its finished work, so that another run can resume from it.

One JSON object to a line: first what the run is about, with a checksum of the rest, then one record for each finished
piece of work. Written atomically.
"""

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from onetree.base.limits import OBJECTIVES
from onetree.base.progress import ProgressCallback
from onetree.domain.domain import DomainLike, as_domain
from onetree.domain.restrict import restrict
from onetree.errors import InvalidInputError, LimitReachedError, ModelFileError, OnetreeError
from onetree.files.atomic import read_whole, write_whole
from onetree.files.strict_json import list_of, parse_document, require_keys
from onetree.model.ensemble import Ensemble
from onetree.search.solve import Solution
from onetree.tree.tree import Tree
from onetree.verify import verify

FORMAT = "onetree-checkpoint"
_VERSION = 1
_MAX_BYTES = 1 << 34
_NUMBERS = ("peak_bytes", "total_seconds")  # among the statistics of a solution
_SHARE = 0.1  # of the time, at most, goes into writing: a file that takes long to write is written less often

Task = Mapping[str, Any]  # what must be the same for a run to go on: names and plain values


class Checkpoint:
    """Records of finished work in a file; without a path nothing is kept.

    Leaving it as a context writes what is not yet written, whatever the reason.
    """

    def __init__(self, path: str | os.PathLike[str] | None, task: Task) -> None:
        from importlib.metadata import version

        self._path = None if path is None else Path(path)
        self._task = {"onetree": version("onetree"), **task}
        self._lines: dict[str, str] = {}
        self._is_new = False  # something is not in the file yet
        self._written, self._took = 0.0, 0.0  # when, and how long it took
        self.n_found = 0  # records that an earlier run left
        if self._path is not None:
            self._remove_partial_files()
            if self._path.exists():
                self._read()
                self.n_found = len(self._lines)

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(self, *_: object) -> None:
        self.save()

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def get(self, key: str) -> Any:
        """Return the record of this key, or None."""
        return json.loads(self._lines[key])[1] if key in self._lines else None

    def put(self, key: str, record: Any) -> None:
        """Keep a record, which `json` has to be able to write, and write the file unless it was written just now."""
        if self._path is None:
            return
        self._lines[key] = json.dumps([key, record], allow_nan=False)
        self._is_new = True
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
        time_limit: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution | None:
        """Return the solution that was kept under this key if its tree is equal to the ensemble, which is proven.

        The domain is the given one, not that of the file. `LimitReachedError` is raised if the time
        is up before the verdict, and by a callback that asks to stop.
        """
        method = "auto" if time_limit is None else "search"  # which looks at the clock more often
        try:
            solution = self.get_solution(key)
            if solution is None or not _speaks_of(solution.tree, ensemble):
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
        if self._path is not None:
            self.put(key, _record(solution))

    def save(self) -> None:
        """Write the file if there is anything new."""
        if self._path is None or not self._is_new:
            return
        started = perf_counter()
        body = "".join(line + "\n" for line in self._lines.values()).encode()
        header = {"format": FORMAT, "version": _VERSION, "task": self._task, "sha256": _sha256(body)}
        write_whole(self._path, json.dumps(header, allow_nan=False).encode() + b"\n" + body)
        self._is_new = False
        self._written = perf_counter()
        self._took = self._written - started

    def _read(self) -> None:
        path = self._path
        header, _, body = read_whole(str(path), limit=_MAX_BYTES).partition(b"\n")
        try:
            document = parse_document(header, format=FORMAT, versions=(_VERSION,), keys={"task", "sha256"})
            if document["sha256"] != _sha256(body):
                raise ModelFileError("it is damaged, or was cut short")
            if not isinstance(document["task"], dict):
                raise ModelFileError('"task" must be a JSON object')
            lines = _lines(body)
        except ModelFileError as error:
            raise ModelFileError(
                f"cannot go on from {path}: {error}; name another file, or delete this one to begin again"
            ) from None
        self._check_task(document["task"])
        self._lines = lines

    def _check_task(self, found: dict[str, Any]) -> None:
        here = json.loads(json.dumps(self._task))
        for name in sorted(here.keys() | found.keys()):
            if here.get(name) != found.get(name):
                raise InvalidInputError(
                    f"{self._path} belongs to another run: its {name} is {found.get(name)!r}, here it is "
                    f"{here.get(name)!r}; name another file, or delete this one to begin again"
                )

    def _remove_partial_files(self) -> None:
        """Remove what a process that was killed while it wrote has left, as `write_whole` names it."""
        assert self._path is not None  # noqa: S101 - for the type checker
        target = Path(os.path.realpath(self._path))
        leftover = re.compile(re.escape(f".{target.name[:100]}.") + r"[0-9a-f]{16}\.partial")
        with suppress(OSError):
            for each in target.parent.iterdir():
                if leftover.fullmatch(each.name):
                    each.unlink()


def has_record(path: str | os.PathLike[str], *beginnings: str) -> bool:
    """Return whether some record of a file begins with one of these JSON texts; nothing else is checked."""
    known = tuple(each.encode() for each in beginnings)
    try:
        with Path(path).open("rb") as lines:
            return any(line.startswith(known) for line in lines)
    except OSError:
        return False


def fingerprint(value: object) -> str:
    """Return a digest of the content of arrays, objects or plain values, the same in any process."""
    digest = hashlib.sha256()
    _feed(digest.update, value)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], value: object) -> None:
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        update(f"{value.dtype.str} {value.shape}".encode())
        update(np.ascontiguousarray(value).tobytes())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        update(type(value).__name__.encode())
        for field in dataclasses.fields(value):
            update(f"<{field.name}>".encode())
            _feed(update, getattr(value, field.name))
    elif isinstance(value, Mapping):
        _feed(update, sorted(value.items(), key=repr))
    elif isinstance(value, list | tuple | np.ndarray):
        update(f"[{len(value)}".encode())
        for each in value:
            _feed(update, each)
    elif isinstance(value, set | frozenset):
        _feed(update, sorted(value, key=repr))
    else:
        update(f"{type(value).__name__} {value!r};".encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _lines(body: bytes) -> dict[str, str]:
    """Return the records by their keys; a matching checksum only excludes accidental changes."""
    try:
        found = {}
        for line in body.decode().splitlines():
            key, _ = json.loads(line)
            if not isinstance(key, str) or key in found:
                raise ModelFileError(f"the key of a record is {str(key)[:40]!r}, which is invalid or occurs twice")
            found[key] = line
    except (ValueError, TypeError, RecursionError) as error:
        raise ModelFileError(f"a record is broken: {str(error)[:100]}") from None
    return found


def _speaks_of(tree: Tree, ensemble: Ensemble) -> bool:
    """Return whether class and category numbers mean the same in both."""
    return np.array_equal(tree.classes, ensemble.classes) and tree.categories == ensemble.categories


def _as_found_in(domain: DomainLike | None, tree: Tree, ensemble: Ensemble) -> Tree:
    """Return the tree with the domain and names that a search here would have given it, whatever the file says."""
    where = as_domain(domain, ensemble.feature_names, ensemble.nan_features)
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


def _solution(record: Any, path: Path | None) -> Solution:
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
