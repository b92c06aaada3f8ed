"""Printed trees read back: rules and indented text become conditions, applied to data in decimal arithmetic.

Shares nothing with the package: whatever it knows of a tree it has from the text. A number is compared as the exact
value that the reader of the text has: the decimal in a file, or the value of a float32.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from decimal import Decimal

import numpy as np

_NUMBER = r"-?\d[\d.]*(?:e[+-]\d+)?"
_SETS = re.compile(r"(not )?in \{(.*)\}")
_ANSWER = re.compile(r"(yes|no)( or missing)?: ")


class Column:
    """The values of a feature as a reader has them: decimals, words for categories, None for what is missing."""

    def __init__(self, values):
        self.missing = np.array([value is None for value in values])
        self._values = sorted({value for value in values if value is not None})
        rank = {value: at for at, value in enumerate(self._values)}
        self._rank = np.array([rank.get(value, -1) for value in values])

    def compare(self, operator, number):
        """Which values are <, <=, >, >= or = a decimal; a missing value is none of them."""
        below, upto = bisect_left(self._values, number), bisect_right(self._values, number)
        answers = {
            "<": self._rank < below,
            "<=": self._rank < upto,
            ">": self._rank >= upto,
            ">=": self._rank >= below,
            "=": (self._rank >= below) & (self._rank < upto),
        }
        return answers[operator] & ~self.missing

    def one_of(self, words):
        """Which values are among some words."""
        inside = np.array([value in words for value in self._values] + [False])  # the last is for what is missing
        return inside[self._rank]


def column_of_numbers(numbers):
    """Return floats as a column, with their exact values."""
    return Column([None if np.isnan(x) else Decimal(float(x)) for x in numbers])


def column_of_decimals(texts):
    """Return numbers in decimal notation as a column; "" is missing."""
    return Column([Decimal(text) if text else None for text in texts])


def condition(text, columns):
    """Say where a condition holds, such as ``18 <= age < 50`` or ``(colour in {red, blue} or missing)``."""
    text = text.removeprefix("(").removesuffix(")") if text.startswith("(") else text
    also_missing = text.endswith(" or missing")
    text = text.removesuffix(" or missing")
    names = "|".join(re.escape(name) for name in sorted(columns, key=len, reverse=True))
    between = re.fullmatch(rf"({_NUMBER}) (<=?) ({names}) (<=?) ({_NUMBER})", text)
    if between:
        low, above, name, below, high = between.groups()
        column = columns[name]
        flipped = {"<": ">", "<=": ">="}[above]
        holds = column.compare(flipped, Decimal(low)) & column.compare(below, Decimal(high))
    else:
        name, asked = re.fullmatch(rf"({names}) (.*)", text).groups()
        column = columns[name]
        holds = _asked(asked, column)
    return holds | column.missing if also_missing else holds


def _asked(asked, column):
    if asked in ("is known", "is missing"):
        return column.missing if asked == "is missing" else ~column.missing
    members = _SETS.fullmatch(asked)
    if members:
        holds = column.one_of(set(members[2].split(", ")))
        return ~holds & ~column.missing if members[1] else holds
    operator, number = re.fullmatch(rf"(<=|>=|<|>|=) ({_NUMBER})", asked).groups()
    return column.compare(operator, Decimal(number))


def by_rules(text, columns):
    """Apply printed rules: the label of each row. Exactly one rule must hold for each."""
    n_rows = len(next(iter(columns.values())).missing)
    labels, n_rules = np.full(n_rows, None, dtype=object), np.zeros(n_rows, dtype=int)
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        holds = np.ones(n_rows, dtype=bool)
        if line.startswith("always: "):
            label = line.removeprefix("always: ")
        else:
            asked, label = re.fullmatch(r"IF (.*) THEN (.*)", line).groups()
            for part in asked.split(" AND "):
                holds &= condition(part, columns)
        labels[holds] = label
        n_rules += holds
    assert (n_rules == 1).all(), "rules must exclude each other and leave no row out"
    return labels


def by_text(text, columns):
    """Apply a tree printed as indented text: the label of each row."""
    n_rows = len(next(iter(columns.values())).missing)
    labels = np.full(n_rows, None, dtype=object)
    here = {0: np.ones(n_rows, dtype=bool)}  # rows that come to the last line of each depth
    sides = {}  # of the last question at each depth: where the answer is yes, where it is no, where there is none
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        body = line.lstrip(" ")
        depth = (len(line) - len(body)) // 2
        answer = _ANSWER.match(body)
        if answer:
            yes, no, missing = sides[depth - 1]
            side = yes if answer[1] == "yes" else no
            here[depth] = here[depth - 1] & (side | missing if answer[2] else side)
            body = body[answer.end() :]
        if body.endswith("?"):
            yes = condition(body[:-1], columns)
            about_missing = body.endswith((" is known?", " is missing?"))
            missing = np.zeros(n_rows, dtype=bool) if about_missing else _column_in(body, columns).missing
            sides[depth] = yes, ~yes & ~missing, missing
        else:
            assert all(label is None for label in labels[here[depth]]), "no row has two leaves"
            labels[here[depth]] = body
    assert all(label is not None for label in labels), "the text must lead every row to a leaf"
    return labels


def _column_in(question, columns):
    return columns[max((name for name in columns if question.startswith(f"{name} ")), key=len)]
