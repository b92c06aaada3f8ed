"""What a report shows of checks: the claim, the answer, for how many rows it holds, and the inputs that refute it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from onetree.errors import InvalidInputError
from onetree.export.words.wording import printable
from onetree.questions.checks import Check
from onetree.tree.tree import Tree

_STATES = {True: "proven", False: "refuted", None: "open"}


def describe_checks(tree: Tree, checks: Sequence[Check]) -> list[dict[str, Any]]:
    """Return each check for the page; a missing value is "nan", as in the counterexample of an equality."""
    return [_described(tree, check) for check in checks]


def _described(tree: Tree, check: Check) -> dict[str, Any]:
    witness = check.witness
    if witness is not None and any(len(each) != tree.n_features for each in witness):
        raise InvalidInputError(f"a check is about {len(witness[0])} features, but the tree has {tree.n_features}")
    rows = check.rows
    return {
        "claim": printable(check.claim),
        "state": _STATES[check.holds],
        "rows": None if rows is None else [sum(each is state for each in rows) for state in (True, False, None)],
        "witness": None if witness is None else [[_number(x) for x in each.tolist()] for each in witness],
        "same": witness is not None and np.array_equal(*witness, equal_nan=True),
        "classes": None if check.witness_classes is None else [printable(str(each)) for each in check.witness_classes],
    }


def _number(x: float) -> float | str:
    return x if math.isfinite(x) else "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
