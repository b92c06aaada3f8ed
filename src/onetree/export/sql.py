"""The tree as SQL that gives a table more columns, what the tree predicts; what differs is in `sql_dialects`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onetree.errors import InvalidInputError
from onetree.export.nested import LEAF, OTHERWISE, TEST, nested
from onetree.export.shape import is_nested, tables
from onetree.export.sql_dialects import Dialect, dialect_named
from onetree.export.sql_leaves import added_columns, inserted, leaf_table
from onetree.export.steps import Run, is_point, steps_of, thresholds_only
from onetree.export.words.conditions import conditions
from onetree.export.words.wording import heading, printable
from onetree.tree.leaf_values import outcomes

if TYPE_CHECKING:
    from onetree.model.columns import Labels
    from onetree.tree.tree import Tree

_MAX_DEPTH = 12  # the parser of SQLite 3.40 has room for 100 symbols, which is 14 nested CASE in the worst case
_ROW = "onetree_row"

_WALK = """\
WITH RECURSIVE
{numbered} AS{materialized} (
  SELECT ROW_NUMBER() OVER () AS {row}, item.* FROM {table} AS item
),
onetree_input AS (
  SELECT
    {row},
    {values}
  FROM {numbered} AS item
),
onetree_walk AS (
  SELECT {row}, 0 AS node, {names} FROM onetree_input{refusal}
  UNION ALL
  SELECT
    walk.{row},
    CASE WHEN {value} <= {threshold} THEN nodes.if_true ELSE nodes.if_false END,
    {carried}
  FROM onetree_walk AS walk JOIN {nodes} AS nodes ON nodes.node = walk.node
)
SELECT
  item.*,
  {predictions}
FROM {numbered} AS item LEFT JOIN onetree_walk AS walk ON walk.{row} = item.{row} AND walk.node < 0{leaves};"""


def to_sql(
    tree: Tree,
    *,
    style: str = "auto",
    table: str = "inputs",
    columns: Sequence[str] | None = None,
    view: str | None = None,
    nodes: str = "onetree_nodes",
    dialect: str = "standard",
    categories: str = "codes",
) -> str:
    """Return `tree` as SQL that selects all columns of a table and the class as `prediction`.

    The prediction of a regression tree is its value. A tree with probabilities adds a column for each class,
    ``probability_`` and the label (or, if a database could not tell the labels apart, the number of the class).

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
        Name of the table of the nodes, for the style "table". A tree whose leaves have numbers takes another one for
        these, whose name is that with ``_leaves`` after it.
    dialect : {"standard", "sqlite", "duckdb", "postgresql", "bigquery"}
        The database. "standard" runs in the first three alike; a number with many digits is then a fraction of whole
        numbers, since not all of them read every decimal exactly.
    categories : {"codes", "values"}
        What columns of texts hold in the database: the numbers that stand for them in arrays, or the texts themselves,
        as in the frames that the model was fitted on. A text that the model refuses gives NULL.

    Notes
    -----
    The style "table" numbers the rows, in a first column `onetree_row`. Labels of several types, and integers of
    more than 64 bits, become text.
    """
    names = tree.feature_names if columns is None else tuple(columns)
    if len(names) != tree.n_features:
        raise InvalidInputError(f"columns has {len(names)} names for {tree.n_features} features")
    if categories not in ("codes", "values"):
        raise InvalidInputError(f'categories must be "codes" or "values", not {categories!r}')
    sql = dialect_named(dialect)
    used = sorted(set(tree.feature[tree.feature >= 0].tolist()))
    given = added_columns(tree, sql)
    _check_columns([names[at] for at in used], list(given))
    lines = [f"-- {line}" for line in heading(tree)]
    create = [] if view is None else [f"CREATE VIEW {sql.name(view)} AS"]
    texts = _texts(tree) if categories == "values" else {}
    if is_nested(tree, style, _MAX_DEPTH, n_times=len(given)) or tree.n_leaves == 1:
        cases = [_case(tree, says, name, names, used, sql, texts) for name, says in given.items()]
        select = [
            "SELECT",
            "  item.*,",
            ",\n".join("\n".join(case) for case in cases),
            f"FROM {sql.name(table)} AS item;",
        ]
        return "\n".join([*lines, *create, *select])
    plain = thresholds_only(tree)
    stored = _node_table(plain, nodes, sql)
    if tree.value is None:
        says = " ".join(f"WHEN {-1 - index} THEN {label}" for index, label in enumerate(given["prediction"]))
        predictions, leaves = [f"CASE walk.node {says} END AS prediction"], ""
    else:
        given = added_columns(plain, sql)  # without leaves that set tests send nothing to
        stored += leaf_table(plain, given, f"{nodes}_leaves", sql)
        predictions = [f"leaf.{sql.name(name)}" for name in given]
        leaves = f"\n  LEFT JOIN {sql.name(f'{nodes}_leaves')} AS leaf ON leaf.node = walk.node"
    walk = _walk(plain, names, used, table, nodes, sql, texts, predictions, leaves)
    return "\n".join([*lines, *stored, *create, walk])


def _texts(tree: Tree) -> dict[int, Labels]:
    """Return the labels of the features whose columns hold texts, by feature."""
    labels = {at: tree.columns.labels_of(at) for at in range(tree.n_features)}
    return {
        at: own
        for at, own in labels.items()
        if own is not None and own.unknown != "hash" and all(isinstance(value, str) for value in own.values)
    }


def _missing(column: str, at: int, sql: Dialect, texts: Mapping[int, Labels]) -> str:
    return f"{column} IS NULL" if at in texts else sql.missing.format(x=column)


def _unknown(at: int, column: str, sql: Dialect, texts: Mapping[int, Labels]) -> list[str]:
    """Return the condition that a text is refused, if there are such texts."""
    if at not in texts or texts[at].unknown != "refuse":
        return []
    return [f"{column} NOT IN ({', '.join(sql.string(str(value)) for value in texts[at].values)})"]


def _case(
    tree: Tree,
    given: list[str],
    name: str,
    names: Sequence[str],
    used: list[int],
    sql: Dialect,
    texts: Mapping[int, Labels],
) -> list[str]:
    """Return one column as nested CASE expressions: of what is given for each of the things that leaves say."""
    splits, says = conditions(tree), outcomes(tree).index[0].tolist()
    column = {
        at: f"item.{sql.name(names[at])}" if at in texts else f"CAST(item.{sql.name(names[at])} AS {sql.real})"
        for at in used
    }
    refused = [_missing(column[at], at, sql, texts) for at in used if not tree.nan_features[at]]
    refused += [condition for at in used for condition in _unknown(at, column[at], sql, texts)]
    lines = []
    outer = "  "
    if refused:
        lines = ["  CASE", f"  WHEN {f'{chr(10)}    OR '.join(refused)}", "  THEN NULL -- a missing value", "  ELSE"]
        outer = "    "
    for step, node, depth in nested(tree):
        indent = outer + "  " * depth
        if step == LEAF:
            lines.append(f"{indent}{given[says[node]]}")
        elif step == TEST:
            at, cut = int(tree.feature[node]), float(tree.threshold[node])
            if tree.subset[node] >= 0:
                test = _set_condition(tree, node, column[at], sql, texts)
            elif math.isinf(cut):
                test = f"NOT {_missing(column[at], at, sql, texts)}"
            else:
                test = f"{column[at]} <= {sql.number(cut)}"
            lines += [f"{indent}CASE WHEN {test} -- {printable(names[at])} {splits[node].left}", f"{indent}THEN"]
        else:
            lines.append(f"{indent}ELSE" if step == OTHERWISE else f"{indent}END")
    if refused:
        lines.append("  END")
    return [*lines[:-1], f"{lines[-1]} AS {name if name == 'prediction' else sql.name(name)}"]


def _set_condition(tree: Tree, node: int, column: str, sql: Dialect, texts: Mapping[int, Labels]) -> str:
    """Return a set test, in which a missing value is neither true nor unknown where it has to go left."""
    test, at = steps_of(tree, node), int(tree.feature[node])
    runs = test.runs()
    if at in texts:
        text = _text_condition(tree, node, column, sql, texts[at])
        if not tree.nan_features[at]:
            return text
        return f"{column} IS NULL OR {text}" if test.missing else f"NOT {column} IS NULL AND {text}"
    points = [sql.number(run.high) for run in runs if run.high is not None and is_point(run)]
    parts = [f"{column} IN ({', '.join(points)})"] if points else []
    parts += [_between(column, run, sql) for run in runs if not is_point(run)]
    text = f"({' OR '.join(parts) or '1 = 0'})"
    if test.negated:
        text = f"NOT {text}"
    if not tree.nan_features[tree.feature[node]]:
        return text
    missing = sql.missing.format(x=column)
    return f"{missing} OR {text}" if test.missing else f"NOT {missing} AND {text}"


def _text_condition(tree: Tree, node: int, column: str, sql: Dialect, labels: Labels) -> str:
    kind, members = tree.categories[tree.feature[node]], tree.subsets[tree.subset[node]]
    if kind is None:
        raise ValueError(f"node {node} is not a set test")
    left = members[kind.element(labels.codes)].tolist()
    other = False if labels.unknown == "refuse" else bool(members[kind.element([_number(labels.unknown)])[0]])
    named = [sql.string(str(value)) for value, goes in zip(labels.values, left, strict=True) if goes != other]
    if not named:
        return "1 = 1" if other else "1 = 0"
    return f"{column} {'NOT ' if other else ''}IN ({', '.join(named)})"


def _number(unknown: float | str) -> float:
    return math.nan if isinstance(unknown, str) else unknown


def _between(column: str, run: Run, sql: Dialect) -> str:
    parts = [] if run.low is None else [f"{column} > {sql.number(run.low)}"]
    parts += [] if run.high is None else [f"{column} <= {sql.number(run.high)}"]
    return " AND ".join(parts)


def _node_table(tree: Tree, nodes: str, sql: Dialect) -> list[str]:
    """Create the table of the inner nodes; a child below zero is a leaf, no threshold is +inf."""
    inner, name = tables(tree), sql.name(nodes)
    lines = [
        f"CREATE TABLE {name} (",
        f"  node INTEGER{sql.primary_key},",
        "  feature INTEGER NOT NULL,",
        f"  threshold {sql.real},",
        "  if_true INTEGER NOT NULL,",
        "  if_false INTEGER NOT NULL",
        ");",
    ]
    rows = [
        f"  ({node}, {at}, {'NULL' if math.isinf(cut) else sql.number(cut)}, {left}, {right})"
        for node, (at, cut, left, right) in enumerate(
            zip(inner.feature, inner.threshold, inner.left, inner.right, strict=True)
        )
    ]
    return lines + inserted(rows, nodes, sql)


def _walk(
    tree: Tree,
    names: Sequence[str],
    used: list[int],
    table: str,
    nodes: str,
    sql: Dialect,
    texts: Mapping[int, Labels],
    predictions: list[str],
    leaves: str,
) -> str:
    """Return the query that takes all rows from node to node."""
    column = {at: f"CAST({_coded(f'item.{sql.name(names[at])}', texts.get(at), sql)} AS {sql.real})" for at in used}
    refused = [f"x{at} IS NOT NULL" for at in used if not tree.nan_features[at]]
    value = " ".join(f"WHEN {at} THEN walk.x{at}" for at in used)
    value = f"CASE nodes.feature {value} END"
    # No threshold is +inf, and what is known is <= itself.
    threshold = f"COALESCE(nodes.threshold, {value})" if math.inf in tree.threshold else "nodes.threshold"
    return _WALK.format(
        numbered="onetree_numbered",
        materialized=sql.materialized,
        row=_ROW,
        table=sql.name(table),
        values=",\n    ".join(
            f"CASE WHEN {sql.missing.format(x=column[at])} THEN NULL ELSE {column[at]} END AS x{at}" for at in used
        ),
        names=", ".join(f"x{at}" for at in used),
        refusal=f"\n  WHERE {' AND '.join(refused)}" if refused else "",
        value=value,
        threshold=threshold,
        carried=", ".join(f"walk.x{at}" for at in used),
        nodes=sql.name(nodes),
        predictions=",\n  ".join(predictions),
        leaves=leaves,
    )


def _coded(column: str, labels: Labels | None, sql: Dialect) -> str:
    """Return a column with numbers in place of its texts; a text that is refused is as good as missing."""
    if labels is None:
        return column
    pairs = zip(labels.values, labels.codes, strict=True)
    codes = " ".join(f"WHEN {sql.string(str(value))} THEN {sql.number(code)}" for value, code in pairs)
    other = "NULL" if isinstance(labels.unknown, str) else sql.number(labels.unknown)
    return f"CASE {column} {codes} ELSE CASE WHEN {column} IS NULL THEN NULL ELSE {other} END END"


def _check_columns(used: list[str], given: list[str]) -> None:
    """Refuse columns whose names differ only in case, which databases ignore, from each other or from what is added."""
    seen = {name.lower(): name for name in (_ROW, *given[1:])}
    for name in used:
        if name.lower() in seen:
            raise InvalidInputError(
                f"the columns {seen[name.lower()]!r} and {name!r} are the same to a database; "
                "give the column of each feature in columns="
            )
        seen[name.lower()] = name
