"""Records of a long run in one file of SQLite: however a process ends, each is there whole or not at all.

A record is a key and a JSON value, with a checksum of both: SQLite notices a damaged file only where its structure is.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onetree.errors import InvalidInputError, ModelFileError

_APPLICATION = 0x6F6E6574  # "onet", in the header of the file
_VERSION = 2
_TABLE = "CREATE TABLE record (key TEXT PRIMARY KEY, value TEXT NOT NULL, sha256 TEXT NOT NULL)"
_WAIT = 10.0  # seconds for another process that is writing


class Records:
    """What a file holds, and new records that are written together.

    Parameters
    ----------
    path : path
        Of a file that may not exist yet; the first `save` creates it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._new: dict[str, str] = {}
        self._keys: set[str] = set()
        if self._path.exists():
            with self._reading() as database:
                for key, value, checksum in database.execute("SELECT key, value, sha256 FROM record"):
                    if not isinstance(value, str) or checksum != _checksum(key, value):
                        raise ModelFileError("it is damaged")
                    self._keys.add(key)

    def __contains__(self, key: str) -> bool:
        return key in self._new or key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._keys | self._new.keys()))

    def get(self, key: str) -> Any:
        """Return the value of a key, None if there is none."""
        if key in self._new:
            return json.loads(self._new[key])
        if key not in self._keys:
            return None
        with self._reading() as database:
            value = _only(database.execute("SELECT value FROM record WHERE key = ?", (key,)))
            try:
                return json.loads(value)
            except (ValueError, RecursionError) as error:
                raise ModelFileError(f"the record {key[:40]!r} is not JSON: {str(error)[:100]}") from None

    def put(self, key: str, value: Any) -> None:
        """Note a record, which `save` will write."""
        self._new[key] = json.dumps(value, allow_nan=False)

    def save(self) -> None:
        """Write what is new: all of it or nothing."""
        if not self._new:
            return
        try:
            with _opened(self._path) as database:
                database.execute("BEGIN IMMEDIATE")
                if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                    database.execute(f"PRAGMA application_id = {_APPLICATION}")
                    database.execute(f"PRAGMA user_version = {_VERSION}")
                    database.execute(_TABLE)
                rows = [(key, value, _checksum(key, value)) for key, value in self._new.items()]
                database.executemany("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", rows)
                database.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise InvalidInputError(
                f"cannot write {self._path}: {error}; choose a file in a writable folder, used by no other run"
            ) from error
        self._keys |= self._new.keys()
        self._new.clear()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open the file and check that it is one of ours; whatever is wrong with it becomes one kind of error."""
        try:
            with _opened(self._path) as database:
                application = _only(database.execute("PRAGMA application_id"))
                version = _only(database.execute("PRAGMA user_version"))
                if application != _APPLICATION:
                    raise ModelFileError("it is not a checkpoint, or one of onetree 0.1")
                if version != _VERSION:
                    raise ModelFileError(f"it has version {version}, and this onetree reads version {_VERSION}")
                statements = [sql for [sql] in database.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
                if statements != [_TABLE]:  # a trigger or a view would be run
                    raise ModelFileError("its tables are not those of a checkpoint")
                yield database
        except (OSError, sqlite3.Error, UnicodeError, ModelFileError) as error:
            raise ModelFileError(
                f"cannot go on from {self._path}: {error}; name another file, or delete this one to begin again"
            ) from None


def beginnings(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """Return the first characters of each record's JSON by its key; nothing if the file cannot be read."""
    if not Path(path).is_file():
        return {}
    try:
        with _opened(Path(path)) as database:
            return dict(database.execute("SELECT key, substr(value, 1, 40) FROM record"))
    except (OSError, sqlite3.Error, UnicodeError):
        return {}


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file of records, and what a process that was killed while it wrote has left beside it."""
    for each in (Path(path), Path(f"{path}-journal")):
        each.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        yield database
    finally:
        database.close()


def _only(rows: Iterable[tuple[Any]]) -> Any:
    """Return the one value that was asked for, which a damaged file may not have."""
    found = list(rows)
    if len(found) != 1:
        raise ModelFileError("it is damaged")
    return found[0][0]


def _checksum(key: object, value: str) -> str:
    return hashlib.sha256(f"{key}\n{value}".encode()).hexdigest()
