"""The tree as Python source that needs nothing but Python.

Floats are written so that they read back as the same float64. Every input value becomes a float first: a NumPy float32
compared with a literal would round the literal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onetree.export.nested import LEAF, OTHERWISE, TEST, nested
from onetree.export.shape import is_nested, tables
from onetree.export.steps import Run, is_point, steps_of, thresholds_only
from onetree.export.words.conditions import conditions
from onetree.export.words.wording import LINE_WIDTH, feature_words, heading, plain_labels, wrapped
from onetree.tree.leaf_values import Outcomes, outcomes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

_MAX_DEPTH = 90  # CPython stops at 100 levels of indentation

_LABELS = '''
def predict(x):
    """Return the class label of one input: one number for each of FEATURES, in their order or by their names."""
    return CLASSES[predict_index(x)]

'''
_CLASS = '''
def predict_index(x):
    """Return the index into CLASSES of one input."""
'''
_PROBABILITY = '''
def predict_index(x):
    """Return the index into CLASSES of one input."""
    return predict_both(x)[0]


def predict_proba(x):
    """Return the probabilities of CLASSES for one input."""
    return predict_both(x)[1]


def predict_both(x):
    """Return the index into CLASSES of one input, and the probabilities of all."""
'''
_VALUE = '''
def predict(x):
    """Return the value of one input: one number for each of FEATURES, in their order or by their names."""
'''
_BEGIN = {"class": _LABELS + _CLASS, "probability": _LABELS + _PROBABILITY, "value": _VALUE}
_READ = """\
    if hasattr(x, "keys"):  # a mapping, or a row of a data frame
        lacking = [name for name in FEATURES if name not in x.keys()]
        if lacking:
            raise ValueError(f"the input lacks {', '.join(map(repr, lacking))}")
        x = [x[name] for name in FEATURES]
    x = [float("nan") if value is None else float(value) for value in x]
    if len(x) != len(FEATURES):
        raise ValueError(f"the input has {len(x)} values, but the tree has {len(FEATURES)} features")
"""
_REFUSE = """    for feature in NEVER_MISSING:
        if x[feature] != x[feature]:
            raise ValueError(f"{FEATURES[feature]!r} is missing (NaN), where the tree does not take that")
"""
_LOOP = """    node = 0
    while node >= 0:
        node = LEFT[node] if x[FEATURE[node]] <= THRESHOLD[node] else RIGHT[node]
    return {found}
"""
_OUTCOMES = {
    "probability": "What leaves say: the index into CLASSES, and the probabilities of all of them.",
    "value": "What leaves say.",
}
_FOUND = {"class": "-1 - node", "probability": "OUTCOMES[-1 - node]", "value": "OUTCOMES[-1 - node]"}


def to_python(tree: Tree, *, style: str = "auto") -> str:
    """Return `tree` as a Python module with ``predict(x)`` for one input, and ``predict_proba(x)`` if it has that.

    The input is a sequence of numbers, one per feature, or a mapping from the names of the features, such as a
    dictionary or a row of a data frame; what else is in a mapping is ignored.

    A missing value is NaN or None and goes where the tree sends it; where the tree does not take it, ``predict`` raises
    a `ValueError` as `Tree.predict` does.

    Parameters
    ----------
    tree : Tree
    style : {"auto", "nested", "table"}
        Nested conditions for people, or tables and a loop, which take any depth; "auto" takes the first for small
        trees.
    """
    written_out = is_nested(tree, style, _MAX_DEPTH) or tree.n_leaves == 1
    refused = [feature for feature, takes_nan in enumerate(tree.nan_features.tolist()) if not takes_nan]
    plain = tree if written_out else thresholds_only(tree)
    said = outcomes(plain)
    leaves = _leaves(tree, said)
    body = _conditions(tree, said, leaves) if written_out else _LOOP.format(found=_FOUND[tree.output])
    parts = ['"""' + "\n".join(heading(tree)) + '"""\n\n']
    if not written_out and math.inf in plain.threshold:
        parts.append("from math import inf\n\n")
    if tree.output != "value":
        parts.append(_tuple("CLASSES", [repr(label) for label in plain_labels(tree)]))
    parts.append(_tuple("FEATURES", [repr(name) for name in tree.feature_names]))
    if refused:
        parts.append(_tuple("NEVER_MISSING", [str(feature) for feature in refused]))
    if not written_out:
        inner = tables(plain)
        first = "class" if tree.output == "class" else "of OUTCOMES"
        parts += [
            f"\n# Inner nodes, the root first. A child below zero is a leaf: -1 is the first {first}, -2 the second.\n"
        ]
        parts += [
            _tuple("FEATURE", [str(feature) for feature in inner.feature]),
            _tuple("THRESHOLD", [repr(threshold) for threshold in inner.threshold]),
            _tuple("LEFT", [str(child) for child in inner.left]),
            _tuple("RIGHT", [str(child) for child in inner.right]),
        ]
        if tree.output != "class":
            parts += [f"\n# {_OUTCOMES[tree.output]}\n", _tuple("OUTCOMES", leaves)]
    begin = _BEGIN[tree.output] + _READ
    return "".join([*parts, "\n", begin, _REFUSE if refused else "", body]).rstrip("\n")


def _leaves(tree: Tree, said: Outcomes) -> list[str]:
    """Return what leaves give back. A float32 is written as the float64 that it is."""
    if said.value is None:
        return [str(index) for index in said.leaf_class.tolist()]
    if tree.output == "value":
        return [repr(number) for number in said.value[:, 0].tolist()]
    return [
        f"({index}, ({', '.join(map(repr, row))}{',' if len(row) == 1 else ''}))"
        for index, row in zip(said.leaf_class.tolist(), said.value.tolist(), strict=True)
    ]


def _conditions(tree: Tree, said: Outcomes, leaves: list[str]) -> str:
    names, feature, threshold = feature_words(tree), tree.feature.tolist(), tree.threshold.tolist()
    splits, says = conditions(tree), said.index[0].tolist()
    lines = []
    for step, node, depth in nested(tree):
        indent = "    " * (depth + 1)
        if step == LEAF:
            lines.append(f"{indent}return {leaves[says[node]]}\n")
        elif step == TEST:
            at, cut = feature[node], threshold[node]
            # Only a missing value is not <= +inf, and only that is not equal to itself.
            test = f"x[{at}] == x[{at}]" if math.isinf(cut) else f"x[{at}] <= {cut!r}"
            if tree.subset[node] >= 0:
                test = _set_condition(tree, node)
            lines.append(f"{indent}if {test}:  # {names[at]} {splits[node].left}\n")
        elif step == OTHERWISE:
            lines.append(f"{indent}else:\n")
    return "".join(lines)


def _set_condition(tree: Tree, node: int) -> str:
    at, test = int(tree.feature[node]), steps_of(tree, node)
    runs = test.runs()
    points = [repr(run.high) for run in runs if is_point(run)]
    parts = [f"x[{at}] in {{{', '.join(points)}}}" if len(points) > 1 else f"x[{at}] == {points[0]}"] if points else []
    parts += [_between(f"x[{at}]", run) for run in runs if not is_point(run)]
    if tree.nan_features[at] and test.missing is not test.negated:  # a missing value meets no part but this
        parts.append(f"x[{at}] != x[{at}]")
    text = " or ".join(parts) or "False"
    return f"not ({text})" if test.negated else text


def _between(x: str, run: Run) -> str:
    if run.low is None:
        return f"{x} <= {run.high!r}"
    return f"{x} > {run.low!r}" if run.high is None else f"{run.low!r} < {x} <= {run.high!r}"


def _tuple(name: str, values: list[str]) -> str:
    """Return an assignment of a tuple: on one line if that is short, else as many values on a line as fit."""
    line = f"{name} = ({', '.join(values)}{',' if len(values) == 1 else ''})\n"
    if len(line) <= LINE_WIDTH:
        return line
    return "\n".join([f"{name} = (", *wrapped(values), ")\n"])
