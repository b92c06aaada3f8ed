"""The tree as C source for any device: constant tables or nested conditions, no memory allocation, no library.

Thresholds are hexadecimal floats, which every C99 compiler reads exactly, also where it computes with more precision
than a double has. The source is pure ASCII; what is not, in names and labels, is escaped.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from onetree.errors import InvalidInputError
from onetree.export.nested import END, LEAF, OTHERWISE, TEST, nested
from onetree.export.shape import Tables, float32_thresholds, is_nested, tables
from onetree.export.steps import Run, is_point, steps_of, thresholds_only
from onetree.export.words.conditions import conditions
from onetree.export.words.leaf_words import outcome_words
from onetree.export.words.wording import feature_words, heading, plain_labels, wrapped
from onetree.tree.leaf_values import Outcomes, outcomes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

_MAX_DEPTH = 120  # C promises 127 nested blocks
NUMBERS = ("double", "float")
_PRECISION = {"double": ("DBL_MANT_DIG", 53), "float": ("FLT_MANT_DIG", 24)}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_FILE = """\
/*
{comment}
 */
#include <float.h>
#include <stdint.h>
{include}{precision}{guard}
{declarations}{tables}
{signature}
{{
{refusal}{body}
}}{ending}"""
_IS_IEEE = """
#if {macro} != {bits}
#error "{number} is not an IEEE number of {bits} significant bits here"
#endif
"""
_CLASSES = """\
enum {{ {prefix}_N_FEATURES = {n_features}, {prefix}_N_CLASSES = {n_classes} }};

extern const char *const {name}_class_names[{n_classes}];
int {name}_predict(const {number} *x);
{more}
const char *const {name}_class_names[{n_classes}] = {{
{labels}
}};
"""
_VALUE = """\
enum {{ {prefix}_N_FEATURES = {n_features} }};

{type} {name}_predict(const {number} *x);
"""
_SIGNATURE = {
    "class": "int {name}_predict(const {number} *x)",
    "probability": "static int32_t {name}_leaf(const {number} *x)",
    "value": "{type} {name}_predict(const {number} *x)",
}
_PROBABILITIES = "int {name}_predict_proba(const {number} *x, {type} *probability)"
_BOTH = """

int {name}_predict(const {number} *x)
{{
    const int32_t leaf = {name}_leaf(x);
    return leaf < 0 ? -1 : (int){name}_leaf_class[leaf];
}}

{probabilities}
{{
    const int32_t leaf = {name}_leaf(x);
    for (int i = 0; leaf >= 0 && i < {n_classes}; i++) {{
        probability[i] = {name}_leaf_probability[leaf][i];
    }}
    return leaf < 0 ? -1 : (int){name}_leaf_class[leaf];
}}"""
_GUARD = """\
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "the tree takes missing values (NaN): compile without -ffast-math"
#endif
"""
_LOOP = """\
    int32_t node = 0;
    while (node >= 0) {{
        node = x[{name}_feature[node]] <= {name}_threshold[node] ? {name}_left[node] : {name}_right[node];
    }}
    return {found};"""
_FOUND = {"class": "(int)(-1 - node)", "probability": "-1 - node", "value": "{name}_leaf_value[-1 - node]"}
_REFUSAL = """\
    for (int i = 0; i < {n_refused}; i++) {{
        if (x[{at}] != x[{at}]) {{
            return {refused};
        }}
    }}
"""


def to_c(tree: Tree, *, style: str = "auto", number: str = "double", name: str = "onetree") -> str:
    """Return `tree` as a C99 file with ``int onetree_predict(const double *x)`` and ``onetree_class_names``.

    The function gives the index of the class, or -1 if a value is missing (NaN) where the tree does not take that. If
    the tree has probabilities, ``int onetree_predict_proba(const double *x, double *probability)`` writes one for each
    class, too. For a regression tree there is ``double onetree_predict(const double *x)`` alone, which gives NaN where
    an input is refused. Probabilities and values are float or double, as the source returns them.
    Compile without ``-ffast-math``, which forgets NaN; a tree that takes missing values refuses to compile with it.

    Parameters
    ----------
    tree : Tree
    style : {"auto", "nested", "table"}
        Nested conditions for people, or tables and a loop, which take any depth; "auto" takes the first for small
        trees.
    number : {"double", "float"}
        Type of the inputs. For "float" each threshold is rounded down to a float: the class of every float input is
        still exactly that of the tree, in half the memory. (A double that the caller rounds to float can cross a
        threshold, unless the tree comes from a model that rounds its inputs itself, as scikit-learn's forests do.)
    name : str
        What the names in the file begin with.
    """
    if number not in NUMBERS:
        raise InvalidInputError(f"unknown number type {number!r}; use one of {', '.join(NUMBERS)}")
    if not _NAME.fullmatch(name):
        raise InvalidInputError(f"{name!r} cannot begin a name in C; use ASCII letters, digits and underscores")
    written_out = is_nested(tree, style, _MAX_DEPTH) or tree.n_leaves == 1
    plain = tree if written_out else thresholds_only(tree)
    threshold = plain.threshold if number == "double" else float32_thresholds(plain)
    said = outcomes(plain)
    kind = "float" if said.value is not None and said.value.dtype == np.float32 else "double"
    used = "" if tree.output == "class" or (tree.output == "value" and written_out) else _leaves(said, kind, name, tree)
    if written_out:
        body = _conditions(tree, said, threshold.tolist(), number, kind)
    else:
        used += _tables(tables(plain, threshold), number, name, tree.output)
        body = _LOOP.format(name=name, found=_FOUND[tree.output].format(name=name))
    refused = (~tree.nan_features).nonzero()[0].tolist()
    if refused and len(refused) < tree.n_features:
        used += _array("int32_t", f"{name}_never_missing", [str(at) for at in refused])
        at = f"{name}_never_missing[i]"
    else:
        at = "i"
    nothing = "NAN" if tree.output == "value" else "-1"
    refusal = _REFUSAL.format(n_refused=len(refused), at=at, refused=nothing) if refused else "    (void)x;\n"
    names = {"name": name, "number": number, "type": kind}
    probabilities = _PROBABILITIES.format(**names)
    counts = {"prefix": name.upper(), "n_features": tree.n_features, "n_classes": tree.n_classes}
    labels = "" if tree.output == "value" else "\n".join(wrapped([_string(str(label)) for label in plain_labels(tree)]))
    more = f"{probabilities};\n" if tree.output == "probability" else ""
    declarations = (_VALUE if tree.output == "value" else _CLASSES).format(**names, **counts, labels=labels, more=more)
    return _FILE.format(
        comment="\n".join(f" * {line}".rstrip() for line in _comment(tree, name)),
        include="#include <math.h> /* for a constant only */\n" if _needs_math(used + refusal + body) else "",
        precision="".join(
            _IS_IEEE.format(macro=_PRECISION[each][0], bits=_PRECISION[each][1], number=each)
            for each in dict.fromkeys([number] if tree.output == "class" else [number, kind])
        ),
        guard=_GUARD if tree.nan_features.any() else "",
        declarations=declarations,
        tables=used,
        signature=_SIGNATURE[tree.output].format(**names),
        refusal=refusal,
        body=body,
        ending=_BOTH.format(**names, **counts, probabilities=probabilities) if tree.output == "probability" else "",
    )


def _needs_math(code: str) -> bool:
    return "INFINITY" in code or "NAN" in code


def _comment(tree: Tree, name: str) -> list[str]:
    gives, refused = f"an index into {name}_class_names", "-1"
    if tree.output == "value":
        gives, refused = "the value", "NaN"
    proba = [f"{name}_predict_proba gives the same, and writes the probability of each class, in their order."]
    return [
        *heading(tree),
        "",
        f"{name}_predict gives {gives}, or {refused} if an input is missing (NaN) where the",
        "tree does not take that. Other missing values go to the side where the condition does not hold.",
        *(proba if tree.output == "probability" else []),
        "Features:",
        *(f"  x[{at}]: {_commented(word)}" for at, word in enumerate(feature_words(tree))),
    ]


def _leaves(said: Outcomes, kind: str, name: str, tree: Tree) -> str:
    """Return the tables of what leaves say."""
    if said.value is None:
        raise ValueError("the leaves of the tree have classes only")
    comment = "\n/* What leaves say. */"
    rows = [[_literal(number, kind) for number in row] for row in said.value.tolist()]
    if tree.output == "value":
        return comment + _array(kind, f"{name}_leaf_value", [row[0] for row in rows])
    index = said.leaf_class.tolist()
    classes = _array(_integer_type(index), f"{name}_leaf_class", [str(each) for each in index])
    lines = [f"    {{{', '.join(row)}}}," for row in rows]
    size = f"[{len(rows)}][{tree.n_classes}]"
    return comment + classes + "\n".join([f"\nstatic const {kind} {name}_leaf_probability{size} = {{", *lines, "};\n"])


def _tables(inner: Tables, number: str, name: str, output: str) -> str:
    child = _integer_type([*inner.left, *inner.right])
    first = "class" if output == "class" else "of those above"
    return "".join(
        [
            f"\n/* Inner nodes, the root first. A child below zero is a leaf: -1 the first {first}, -2 the second. */",
            _array(_integer_type(inner.feature), f"{name}_feature", [str(at) for at in inner.feature]),
            _array(number, f"{name}_threshold", [_literal(cut, number) for cut in inner.threshold]),
            _array(child, f"{name}_left", [str(node) for node in inner.left]),
            _array(child, f"{name}_right", [str(node) for node in inner.right]),
        ]
    )


def _conditions(tree: Tree, said: Outcomes, cuts: list[float], number: str, kind: str) -> str:
    names = [_commented(word) for word in feature_words(tree)]
    splits, feature = conditions(tree), tree.feature.tolist()
    says, returned = said.index[0].tolist(), _returned(tree, said, kind)
    lines = []
    for step, node, depth in nested(tree):
        indent = "    " * (depth + 1)
        if step == LEAF:
            lines.append(f"{indent}return {returned[says[node]]}")
        elif step == TEST:
            at, cut = feature[node], cuts[node]
            if tree.subset[node] >= 0:
                test = _set_condition(tree, node, number)
            elif cut == math.inf:  # only a missing value is not <= +inf, and only that is not equal to itself
                test = f"x[{at}] == x[{at}]"
            else:
                test = f"x[{at}] <= {_literal(cut, number)}"
            lines.append(f"{indent}if ({test}) {{ /* {names[at]} {_commented(splits[node].left)} */")
        elif step == OTHERWISE:
            lines.append(f"{indent}}} else {{")
        elif step == END:
            lines.append(f"{indent}}}")
    return "\n".join(lines)


def _returned(tree: Tree, said: Outcomes, kind: str) -> list[str]:
    """Return what leaves return, with what it means where that does not tell."""
    if said.value is None:
        return [f"{index};" for index in range(tree.n_classes)]
    if tree.output == "value":
        return [f"{_literal(number, kind)}; /* {number!r} */" for number in said.value[:, 0].tolist()]
    return [f"{index}; /* {_commented(words)} */" for index, words in enumerate(outcome_words(tree, said))]


def _set_condition(tree: Tree, node: int, number: str) -> str:
    at, dtype = int(tree.feature[node]), np.float64 if number == "double" else np.float32
    test = steps_of(tree, node, dtype)
    parts = [
        f"x[{at}] == {_literal(run.high, number)}"
        if run.high is not None and is_point(run, dtype)
        else _between(f"x[{at}]", run, number)
        for run in test.runs()
    ]
    if tree.nan_features[at] and test.missing is not test.negated:  # a missing value meets no part but this
        parts.append(f"x[{at}] != x[{at}]")
    text = " || ".join(parts) or "0"
    return f"!({text})" if test.negated else text


def _between(x: str, run: Run, number: str) -> str:
    parts = [] if run.low is None else [f"{x} > {_literal(run.low, number)}"]
    parts += [] if run.high is None else [f"{x} <= {_literal(run.high, number)}"]
    return f"({' && '.join(parts)})"


def _array(kind: str, name: str, values: list[str]) -> str:
    return "\n".join([f"\nstatic const {kind} {name}[{len(values)}] = {{", *wrapped(values), "};\n"])


def _integer_type(values: list[int]) -> str:
    """Return the smallest signed type that holds all values."""
    largest = max(abs(value) for value in values)
    return next(f"int{bits}_t" for bits in (8, 16, 32) if largest < 1 << (bits - 1))


def _literal(value: float, number: str) -> str:
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    digits, exponent = value.hex().split("p")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits}p{exponent}{'f' if number == 'float' else ''}"


def _string(text: str) -> str:
    r"""Return a string literal: octal escapes end after three digits, and \? cannot be part of a trigraph."""
    plain = {ord(character): character for character in map(chr, range(32, 127))} | {ord(c): f"\\{c}" for c in '"\\?'}
    # JSON can hold half of a surrogate pair, which has no proper UTF-8.
    return '"' + "".join(plain.get(byte, f"\\{byte:03o}") for byte in text.encode(errors="surrogatepass")) + '"'


def _commented(text: str) -> str:
    """Return text that cannot end a comment, begin another, or splice lines by a trigraph."""
    ascii_text = text.encode("ascii", "backslashreplace").decode()
    return re.sub(r"\?(?=\?)", "? ", ascii_text.replace("*/", "* /").replace("/*", "/ *"))
