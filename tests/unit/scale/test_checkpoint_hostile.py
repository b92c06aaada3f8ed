"""Checkpoints whose checksum is right and whose records are not: refused, or of no harm."""

from __future__ import annotations

import hashlib
import json

import pytest

import onetree
from campaigns.mutation_seeds import PARTS, model_in_parts


def begin(path):
    onetree.born_again_in_parts(model_in_parts(), **PARTS, checkpoint=path)


def change(path, record):
    """Replace the last record of a checkpoint, which is that of a part, and correct the checksum."""
    header, *lines = path.read_text().splitlines()
    key, known = json.loads(lines[-1])
    lines[-1] = record if isinstance(record, str) else json.dumps([key, {**known, **record}])
    body = "".join(line + "\n" for line in lines)
    corrected = json.loads(header) | {"sha256": hashlib.sha256(body.encode()).hexdigest()}
    path.write_text(json.dumps(corrected) + "\n" + body)


@pytest.mark.parametrize(
    "record",
    [
        "not JSON",
        "[" * 100_000,
        "[]",
        "7",
        '[["key"], {}]',
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
