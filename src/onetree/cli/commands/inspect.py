"""``onetree inspect``: how large a model is, what became of its columns, and what exact search would cost."""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

import numpy as np

import onetree
from onetree.base.amounts import count, size
from onetree.cli import options, terminal
from onetree.cli.columns import column_lines, describe_columns
from onetree.cli.domain import add_domain, read_domain, words
from onetree.domain.domain import as_domain
from onetree.domain.restrict import restrict
from onetree.errors import GridTooLargeError, LimitReachedError
from onetree.importers.self_test import rows_compared, sample_rows
from onetree.lowering.grid import Grid
from onetree.model.rounding import count_order_fragile

# Exact search first drops the hyperplanes across which the class never changes. How long that takes cannot be told from
# the number of cells, and inspecting a model should be quick.
_TIME_LIMIT = 2.0  # seconds

# Of the interval DP's tables, for trees of up to 65,535 leaves. Small trees need half, and boxes that hold the same
# function share one entry; only tables of some kilobytes, whose rows are mostly padding, can be larger.
_BYTES_PER_BOX = {"depth": 1, "leaves": 2, "leaves-depth": 4, "depth-leaves": 5}


def add_parser(subparsers: options.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "inspect",
        help="show the size of an ensemble and what exact search would need",
        description="Show trees, depths, features, levels, cells, boxes, the memory that exact search would need, and "
        "what the trees ask of each column.",
    )
    options.add_model(parser)
    add_domain(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Inspect."""
    with rows_compared() as tested:
        ensemble = options.read_model(arguments, "auto")
    domain = read_domain(arguments, ensemble)
    where = as_domain(domain, ensemble)
    facts = describe(restrict(ensemble, where), where) | {"self_test_rows": sum(tested), "domain": None}
    if domain is not None:
        facts["domain"] = domain.to_json(ensemble.feature_names)
    if arguments.json:
        terminal.show_json(facts)
    else:
        page = [_page(facts)] if domain is None else [_page(facts), f"domain     {words(domain, ensemble)}"]
        terminal.show("\n".join([*page, "columns", *column_lines(facts["columns"])]))
    return 0


def describe(ensemble: onetree.Ensemble, domain: onetree.Domain | None = None) -> dict[str, Any]:
    """Return what is known of an ensemble inside a domain before any search."""
    grid = Grid.of(ensemble, domain)
    facts: dict[str, Any] = {
        "trees": ensemble.n_trees,
        "leaves": ensemble.n_leaves,
        "depth_min": int(ensemble.depths.min()),
        "depth_max": int(ensemble.depths.max()),
        "rule": ensemble.rule.kind,
        "output": ensemble.output,
        "classes": [str(label) for label in ensemble.classes.tolist()],
        "features": list(ensemble.feature_names),
        "features_with_nan": int(ensemble.nan_features.sum()),
        "levels": [len(levels) for levels in grid.levels],
        "cells": grid.n_cells,
        "boxes": grid.n_boxes,
        "essential_levels": None,
        "essential_cells": None,
        "essential_boxes": None,
    }
    facts["columns"] = describe_columns(ensemble)
    if ensemble.output != "value":  # without classes, no hyperplane is known to be needless and nothing is a tie
        with contextlib.suppress(GridTooLargeError, LimitReachedError):
            grid = Grid.essential(ensemble, domain, time_limit=_TIME_LIMIT)
            facts |= {
                "essential_levels": grid.n_levels,
                "essential_cells": grid.n_cells,
                "essential_boxes": grid.n_boxes,
            }
        rows = sample_rows(ensemble, np.random.default_rng(0))
        facts["order_sampled"], facts["order_fragile"] = len(rows), count_order_fragile(ensemble, rows)
    facts["max_memory_bytes"] = {objective: width * grid.n_boxes for objective, width in _BYTES_PER_BOX.items()}
    return facts


def _page(facts: dict[str, Any]) -> str:
    used = [f"{name} {n}" for name, n in zip(facts["features"], facts["levels"], strict=True) if n]
    low, high = facts["depth_min"], facts["depth_max"]
    depth = f"{low}" if low == high else f"{low} to {high}"
    missing = f", {facts['features_with_nan']} of them may be missing" if facts["features_with_nan"] else ""
    lines = [
        ("trees", f"{facts['trees']:,}, depth {depth}, {facts['leaves']:,} leaves"),
        ("rule", _rule_note(facts)),
        ("features", f"{len(facts['features']):,}, {len(used):,} of them used{missing}"),
        ("levels", f"{sum(facts['levels']):,}: {_shorten(used)}"),
        ("cells", count(facts["cells"])),
        ("boxes", count(facts["boxes"])),
    ]
    if facts["essential_levels"] is None:
        note = f"unknown: the grid is too large to find out in {_TIME_LIMIT:g} s"
    else:
        note = (
            f"{facts['essential_levels']:,} levels, {count(facts['essential_cells'])} cells, "
            f"{count(facts['essential_boxes'])} boxes"
        )
    memory = ", ".join(f"{objective} {_size(n)}" for objective, n in facts["max_memory_bytes"].items())
    lines += [
        *([] if facts["output"] == "value" else [("essential", note)]),
        ("memory", f"at most about {memory}; often several times less"),
        *([] if facts["output"] == "value" else [("order", _order_note(facts))]),
        ("self-test", _self_test_note(facts["self_test_rows"])),
    ]
    return "\n".join(f"{name:<10} {text}" for name, text in lines)


def _rule_note(facts: dict[str, Any]) -> str:
    if facts["output"] == "value":
        return "the value of a regressor"
    known = ", with probabilities" if facts["output"] == "probability" else ""
    return f"{facts['rule']}, {len(facts['classes'])} classes{known}: {_shorten(facts['classes'])}"


def _order_note(facts: dict[str, Any]) -> str:
    fragile, sampled = facts["order_fragile"], facts["order_sampled"]
    if not fragile:
        return f"the order of addition does not matter on any of {sampled:,} sampled inputs"
    return (
        f"{fragile:,} of {sampled:,} sampled inputs are so close to a tie that the order of addition decides their "
        "class; it is that of the source library on one thread"
    )


def _self_test_note(n_rows: int) -> str:
    if n_rows:
        return f"{n_rows:,} rows, 0 mismatches with the model's own predict"
    return "file: structure checked; there is no live model to compare with"


def _shorten(words: list[str], n_shown: int = 12) -> str:
    return ", ".join(words[:n_shown]) + (", ..." if len(words) > n_shown else "")


def _size(n_bytes: int) -> str:
    return size(n_bytes) if n_bytes < 10**18 else f"{count(n_bytes)} bytes"
