"""Checkpoints whose checksum is right and whose records are not: refused, or of no harm."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

import onetree
from campaigns.mutation_seeds import PARTS, model_in_parts
from onetree.scale.records import Records


def begin(path):
    onetree.born_again_in_parts(model_in_parts(), **PARTS, checkpoint=path)


def change(path, record):
    """Replace the last record of a checkpoint, which is that of a part, and correct its checksum."""
    with closing(sqlite3.connect(path)) as database:
        key, known = database.execute("SELECT key, value FROM record WHERE key LIKE 'part %' ORDER BY key").fetchall()[
            -1
        ]
        value = record if isinstance(record, str) else json.dumps({**json.loads(known), **record})
        checksum = hashlib.sha256(f"{key}\n{value}".encode()).hexdigest()
        database.execute("UPDATE record SET value = ?, sha256 = ? WHERE key = ?", (value, checksum, key))
        database.commit()


@pytest.mark.parametrize(
    "record",
    [
        "not JSON",
        "[" * 100_000,
        "[]",
        "7",
        {"stats": {"peak_bytes": "many"}},
        {"stats": None},
        {"value": "small"},
        {"lower_bound": [1, 2, 3]},
        {"status": "splendid"},
        {"objective": "beauty"},
        {"tree": {}},
        {"more": 0},
    ],
)
def test_a_record_that_is_none_is_refused(record, tmp_path):
    path = tmp_path / "checkpoint"
    begin(path)
    change(path, record)
    with pytest.raises(onetree.ModelFileError, match=r"cannot go on from .*checkpoint"):
        begin(path)


def test_statistics_that_are_missing_do_no_harm(tmp_path):
    path = tmp_path / "checkpoint"
    begin(path)
    change(path, {"stats": {}})
    begin(path)


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA user_version = 3",
        "PRAGMA application_id = 7",
        "DROP TABLE record",
        "CREATE TRIGGER more AFTER INSERT ON record BEGIN DELETE FROM record; END",
        "CREATE VIEW other AS SELECT * FROM record",
        "UPDATE record SET value = '{}' WHERE key = 'task'",
        "DELETE FROM record WHERE key = 'task'",
        "UPDATE record SET value = x'00'",
        "INSERT INTO record VALUES (7, 'null', '')",
    ],
)
def test_a_database_that_is_not_as_it_was_written_is_refused(statement, tmp_path):
    path = tmp_path / "checkpoint"
    begin(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()
    before = path.read_bytes()
    with pytest.raises(onetree.ModelFileError, match=r"cannot go on from .*checkpoint"):
        begin(path)
    assert path.read_bytes() == before


def test_a_file_that_another_process_writes_is_waited_for_and_then_named(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    begin(path)
    records = Records(path)
    records.put("more", 1)
    monkeypatch.setattr("onetree.scale.records._WAIT", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(onetree.InvalidInputError, match="locked"):
            records.save()
    records.save()
    assert Records(path).get("more") == 1
