"""The tree as SQL that gives a table one more column, the predicted class; for SQLite, DuckDB and their relatives.

Some databases do not read every decimal exactly (SQLite 3.40 misses one in ten thousand of those with 17 digits, and
one in five of the very small), so numbers are written as whole numbers divided or multiplied by powers of two, in which
nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onetree.errors import InvalidInputError
from onetree.export.conditions import conditions
from onetree.export.nested import LEAF, OTHERWISE, TEST, nested
from onetree.export.shape import is_nested, tables
from onetree.export.steps import Run, is_point, steps_of, thresholds_only
from onetree.export.wording import heading, printable, uniform_labels

if TYPE_CHECKING:
    from onetree.tree import Tree

_MAX_DEPTH = 12  # the parser of SQLite 3.40 has room for 100 symbols, which is 14 nested CASE in the worst case
_POWER = 62  # 2 ** 62 fits into the integers of every database
_BATCH = 500  # rows of one INSERT
_ROW = "onetree_row"

_WALK = """\
WITH RECURSIVE
{numbered} AS MATERIALIZED (
  SELECT ROW_NUMBER() OVER () AS {row}, item.* FROM {table} AS item
),
onetree_input AS (
  SELECT
    {row},
    {values}
  FROM {numbered} AS item
),
onetree_walk({row}, node, {names}) AS (
  SELECT {row}, 0, {names} FROM onetree_input{refusal}
  UNION ALL
  SELECT
    walk.{row},
    CASE WHEN {value} <= {threshold} THEN nodes.if_true ELSE nodes.if_false END,
    {carried}
  FROM onetree_walk AS walk JOIN {nodes} AS nodes ON nodes.node = walk.node
)
SELECT
  item.*,
  CASE walk.node {labels} END AS prediction
FROM {numbered} AS item LEFT JOIN onetree_walk AS walk ON walk.{row} = item.{row} AND walk.node < 0;"""


def to_sql(
    tree: Tree,
    *,
    style: str = "auto",
    table: str = "inputs",
    columns: Sequence[str] | None = None,
    view: str | None = None,
    nodes: str = "onetree_nodes",
) -> str:
    """Give `tree` as SQL that selects all columns of a table and the class as `prediction`.

    NULL and NaN are both a missing value. It goes right as in the tree; where the tree does not take it, the prediction
    is NULL. Only columns that the tree uses have to be there. Numbers in columns of text are read as numbers.

    Parameters
    ----------
    tree : Tree
    style : {"auto", "nested", "table"}
        One SELECT with nested CASE expressions; or a script that creates a table of the nodes and then walks through it
        with a recursive query, which takes any depth. "auto" takes the first for small trees.
    table : str
        The table (or view) with the inputs.
    columns : sequence of str, optional
        Column of each feature, where it is not the name of the feature.
    view : str, optional
        Create a view of this name instead of ending in a SELECT.
    nodes : str
        Name of the table of the nodes, for the style "table".

    Notes
    -----
    The style "table" numbers the rows, in a first column `onetree_row`. Labels of several types, and whole numbers of
    more than 64 bits, become text.
    """
    names = tree.feature_names if columns is None else tuple(columns)
    if len(names) != tree.n_features:
        raise InvalidInputError(f"columns has {len(names)} names for {tree.n_features} features")
    used = sorted(set(tree.feature[tree.feature >= 0].tolist()))
    _check_columns([names[at] for at in used])
    lines = [f"-- {line}" for line in heading(tree)]
    create = [] if view is None else [f"CREATE VIEW {_identifier(view)} AS"]
    if is_nested(tree, style, _MAX_DEPTH) or tree.n_leaves == 1:
        select = ["SELECT", "  item.*,", *_case(tree, names, used), f"FROM {_identifier(table)} AS item;"]
        return "\n".join([*lines, *create, *select])
    plain = thresholds_only(tree)
    return "\n".join([*lines, *_node_table(plain, nodes), *create, _walk(plain, names, used, table, nodes)])


def _case(tree: Tree, names: Sequence[str], used: list[int]) -> list[str]:
    """Give the column `prediction` as nested CASE expressions."""
    labels, splits = _labels(tree), conditions(tree)
    column = {at: f"CAST(item.{_identifier(names[at])} AS DOUBLE PRECISION)" for at in used}
    refused = [_missing(column[at]) for at in used if not tree.nan_features[at]]
    lines = []
    outer = "  "
    if refused:
        lines = ["  CASE", f"  WHEN {f'{chr(10)}    OR '.join(refused)}", "  THEN NULL -- a missing value", "  ELSE"]
        outer = "    "
    for step, node, depth in nested(tree):
        indent = outer + "  " * depth
        if step == LEAF:
            lines.append(f"{indent}{labels[tree.leaf_class[node]]}")
        elif step == TEST:
            at, cut = int(tree.feature[node]), float(tree.threshold[node])
            if tree.subset[node] >= 0:
                test = _set_condition(tree, node, column[at])
            elif math.isinf(cut):
                test = f"NOT {_missing(column[at])}"
            else:
                test = f"{column[at]} <= {_real(cut)}"
            lines += [f"{indent}CASE WHEN {test} -- {printable(names[at])} {splits[node].left}", f"{indent}THEN"]
        else:
            lines.append(f"{indent}ELSE" if step == OTHERWISE else f"{indent}END")
    if refused:
        lines.append("  END")
    return [*lines[:-1], f"{lines[-1]} AS prediction"]


def _set_condition(tree: Tree, node: int, column: str) -> str:
    """Give a set test, in which a missing value is neither true nor unknown where it has to go left."""
    test = steps_of(tree, node)
    runs = test.runs()
    points = [_real(run.high) for run in runs if run.high is not None and is_point(run)]
    parts = [f"{column} IN ({', '.join(points)})"] if points else []
    parts += [_between(column, run) for run in runs if not is_point(run)]
    text = f"({' OR '.join(parts) or '1 = 0'})"
    if test.negated:
        text = f"NOT {text}"
    if not tree.nan_features[tree.feature[node]]:
        return text
    return f"{_missing(column)} OR {text}" if test.missing else f"NOT {_missing(column)} AND {text}"


def _between(column: str, run: Run) -> str:
    parts = [] if run.low is None else [f"{column} > {_real(run.low)}"]
    parts += [] if run.high is None else [f"{column} <= {_real(run.high)}"]
    return " AND ".join(parts)


def _node_table(tree: Tree, nodes: str) -> list[str]:
    """Create the table of the inner nodes; a child below zero is a leaf, no threshold is +inf."""
    inner, name = tables(tree), _identifier(nodes)
    lines = [
        f"CREATE TABLE {name} (",
        "  node INTEGER PRIMARY KEY,",
        "  feature INTEGER NOT NULL,",
        "  threshold DOUBLE PRECISION,",
        "  if_true INTEGER NOT NULL,",
        "  if_false INTEGER NOT NULL",
        ");",
    ]
    rows = [
        f"  ({node}, {at}, {'NULL' if math.isinf(cut) else _real(cut)}, {left}, {right})"
        for node, (at, cut, left, right) in enumerate(
            zip(inner.feature, inner.threshold, inner.left, inner.right, strict=True)
        )
    ]
    for start in range(0, len(rows), _BATCH):
        lines += [f"INSERT INTO {name} VALUES", ",\n".join(rows[start : start + _BATCH]) + ";"]
    return lines


def _walk(tree: Tree, names: Sequence[str], used: list[int], table: str, nodes: str) -> str:
    """Give the query that takes all rows from node to node."""
    column = {at: f"CAST(item.{_identifier(names[at])} AS DOUBLE PRECISION)" for at in used}
    refused = [f"x{at} IS NOT NULL" for at in used if not tree.nan_features[at]]
    value = " ".join(f"WHEN {at} THEN walk.x{at}" for at in used)
    value = f"CASE nodes.feature {value} END"
    # No threshold is +inf, and what is known is <= itself.
    threshold = f"COALESCE(nodes.threshold, {value})" if math.inf in tree.threshold else "nodes.threshold"
    return _WALK.format(
        numbered="onetree_numbered",
        row=_ROW,
        table=_identifier(table),
        values=",\n    ".join(
            f"CASE WHEN {_missing(column[at])} THEN NULL ELSE {column[at]} END AS x{at}" for at in used
        ),
        names=", ".join(f"x{at}" for at in used),
        refusal=f"\n  WHERE {' AND '.join(refused)}" if refused else "",
        value=value,
        threshold=threshold,
        carried=", ".join(f"walk.x{at}" for at in used),
        nodes=_identifier(nodes),
        labels=" ".join(f"WHEN {-1 - index} THEN {label}" for index, label in enumerate(_labels(tree))),
    )


def _check_columns(used: list[str]) -> None:
    """Refuse columns that are one to a database, which does not tell upper from lower case."""
    seen = {_ROW: _ROW}
    for name in used:
        if name.lower() in seen:
            raise InvalidInputError(
                f"the columns {seen[name.lower()]!r} and {name!r} are the same to a database; "
                "give the column of each feature in columns="
            )
        seen[name.lower()] = name


def _missing(column: str) -> str:
    """Say that a column is NULL or NaN: where NaN exists it is above all numbers, and so is its negative."""
    return f"({column} IS NULL OR ({column} > 0 AND -{column} > 0))"


def _labels(tree: Tree) -> list[str]:
    return [_label(label) for label in uniform_labels(tree)]


def _label(label: str | float) -> str:
    if isinstance(label, str):
        return "'" + _checked(label).replace("'", "''") + "'"
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return str(label) if isinstance(label, int) else _real(label)


def _real(value: float) -> str:
    """Give an expression that is exactly this float64 number."""
    numerator, denominator = value.as_integer_ratio()
    shift = 1 - denominator.bit_length()
    while numerator and abs(numerator) >= 2**53:  # then there is no denominator, and low bits are zero
        numerator, shift = numerator // 2, shift + 1
    factor, left = (" * ", shift) if shift > 0 else (" / ", -shift)
    text = f"CAST({numerator} AS DOUBLE PRECISION)"
    while left:
        step = min(left, _POWER)
        text, left = f"{text}{factor}{2**step}", left - step
    return text


def _identifier(name: str) -> str:
    """Quote a name, so that whatever is in it stays a name."""
    return '"' + _checked(name).replace('"', '""') + '"'


def _checked(text: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError(f"{text!r} holds a character that SQL cannot hold; rename the feature or the class")
    return text
