"""What the leaves of a tree say, as SQL: the columns that are added, and a table of them for trees that are walked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onetree.export.sql_dialects import Dialect
from onetree.export.words.wording import uniform_labels
from onetree.tree.leaf_values import outcomes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

_BATCH = 500  # rows of one INSERT


def added_columns(tree: Tree, sql: Dialect) -> dict[str, list[str]]:
    """Return the columns that are added: for each its name, and an expression for each of the things leaves say."""
    said = outcomes(tree)
    if tree.output == "value" and said.value is not None:
        return {"prediction": [_real(number, sql) for number in said.value[:, 0].tolist()]}
    labels = _labels(tree, sql)
    columns = {"prediction": [labels[index] for index in said.leaf_class.tolist()]}
    if said.value is not None:
        words = [str(label) for label in uniform_labels(tree)]
        if len({word.lower() for word in words}) < len(words):
            words = [str(index) for index in range(len(words))]
        for at, word in enumerate(words):
            columns[f"probability_{word}"] = [_real(number, sql) for number in said.value[:, at].tolist()]
    return columns


def leaf_table(tree: Tree, given: dict[str, list[str]], name: str, sql: Dialect) -> list[str]:
    """Create the table of what leaves say, by the number below zero that stands for it among the nodes."""
    kinds = dict.fromkeys(given, sql.real)
    if tree.output == "probability":
        kinds["prediction"] = sql.type_of(uniform_labels(tree)[0])
    lines = [f"CREATE TABLE {sql.name(name)} (", f"  node INTEGER{sql.primary_key},"]
    lines += [",\n".join(f"  {sql.name(column)} {kind}" for column, kind in kinds.items()), ");"]
    rows = [f"  ({-1 - index}, {', '.join(row)})" for index, row in enumerate(zip(*given.values(), strict=True))]
    return lines + inserted(rows, name, sql)


def inserted(rows: list[str], name: str, sql: Dialect) -> list[str]:
    """Return the statements that fill a table."""
    lines = []
    for start in range(0, len(rows), _BATCH):
        lines += [f"INSERT INTO {sql.name(name)} VALUES", ",\n".join(rows[start : start + _BATCH]) + ";"]
    return lines


def _real(number: float, sql: Dialect) -> str:
    """Return exactly this number as the database's float64, not as a decimal of some other type."""
    text = sql.number(number)
    return text if text.startswith("CAST") else f"CAST({text} AS {sql.real})"


def _labels(tree: Tree, sql: Dialect) -> list[str]:
    return [_label(label, sql) for label in uniform_labels(tree)]


def _label(label: str | float, sql: Dialect) -> str:
    if isinstance(label, str):
        return sql.string(label)
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return str(label) if isinstance(label, int) else sql.number(label)
