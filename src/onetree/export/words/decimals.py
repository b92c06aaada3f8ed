"""Thresholds as people read them: the shortest decimal condition that sends every number where the tree does.

A node sends x left iff float64(x) <= T. Whoever reads the condition has x as a real number r: the value of a float32,
a decimal from a file or a form, an integer. Let S be the set of the r that must be read right, and ``left(r)`` what the
tree does with the nearest float64 to r. Rounding is monotone, so some numbers of S go left, all others go right, and
with

    a = the largest r in S that goes left,    b = the smallest r in S that goes right,    a < b,

``x <= d`` is right on all of S iff a <= d < b, and ``x < d`` iff a < d <= b. Hence **every decimal d from a to b, both
inclusive, will do**, as long as the operator follows the tree: ``<=`` if d itself goes left, which makes d < b, and
``<`` if d itself goes right, which makes a < d. (So the printed number is routed as the text says, too; and because the
canonical threshold of a library that rounds to float32 lies half way between two float32 numbers, the condition stays
right if a program reads d as a float32.) We take the shortest d, and of several the one nearest to T.

S is made of

- all float32 numbers, with their exact values: f, the largest one <= T, and g, the next above;
- all decimals of up to k significant digits, k = `digits`: those next to T. A decimal just above T can round to T;
- all integers up to 2^53: floor(T) and floor(T) + 1, or the last of them;
- the shortest decimals of f and g, which is how programs show them, unless that contradicts the above: a library that
  compares in float64 can send 0.8 and float32(0.8) = 0.80000001... to different sides, and both are shown as 0.8.

Fewer than six digits ask for short numbers: float32 numbers are left out, and so is what is nearer to zero than 1e-30.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from itertools import groupby
from typing import NamedTuple

import numpy as np

from onetree.errors import InvalidInputError
from onetree.export.steps import rounded_down

DIGITS = 6
"""Significant digits that the data of a reader are taken to have; with these, every float32 is read right, too."""

_MOST_DIGITS = 15  # of decimals that float64 distinguishes; beyond them conditions are exact
_LEAST = {False: Decimal("1e-30"), True: Decimal("1e-37")}  # sizes of decimals other than 0, by whether S is strict
_INTEGERS = 2.0**53  # up to here every integer is a float64
_EXACT = Context(prec=2000)  # holds every float64, and what lies between two of them
_PLAIN = range(-5, 16)  # exponents of numbers that are written without one


class PrintedCut(NamedTuple):
    """A threshold as a reader sees it: on the left ``x <= number``, or ``x < number`` if that is not `inclusive`."""

    number: str
    inclusive: bool

    @property
    def left(self) -> str:
        """The operator that holds on the left, as in "x <= 2.5"."""
        return "<=" if self.inclusive else "<"

    @property
    def right(self) -> str:
        """The operator that holds on the right, as in "x > 2.5"."""
        return ">" if self.inclusive else ">="

    @property
    def above(self) -> str:
        """The operator of the lower bound in an interval, as in "2.5 < x"."""
        return "<" if self.inclusive else "<="


def printed_cuts(thresholds: Iterable[float], digits: int | None = DIGITS) -> dict[float, PrintedCut]:
    """Return the shortest true conditions for the finite thresholds of one feature, all of them different.

    Parameters
    ----------
    thresholds : iterable of float
    digits : int or None
        Numbers with up to that many significant digits are read right, and integers; from six on also every float32.
        Thresholds that this does not separate get more digits. None is exact: every float64 number is read right.
    """
    if digits is not None and digits < 1:
        raise InvalidInputError(f"digits must be a positive integer or None, not {digits!r}")
    ordered = sorted(set(thresholds))
    return _printed_cuts(ordered, _MOST_DIGITS + 1 if digits is None else digits)


def _printed_cuts(ordered: list[float], digits: int) -> dict[float, PrintedCut]:
    if digits > _MOST_DIGITS:
        return {threshold: PrintedCut(_text(Decimal(repr(threshold))), inclusive=True) for threshold in ordered}
    bounds = _bounds(ordered, digits)
    found: dict[float, PrintedCut] = {}
    for (low, high), group in groupby(ordered, key=bounds.__getitem__):
        same = list(group)
        if len(same) > 1:  # no number of S lies between them
            found |= _printed_cuts(same, digits + 1)
        else:
            number = _shortest(low, high, Decimal(same[0]))
            found[same[0]] = PrintedCut(_text(number), inclusive=float(number) <= same[0])
    return found


def _bounds(ordered: list[float], digits: int) -> dict[float, tuple[Decimal, Decimal]]:
    """Return the largest number of S that goes left at each threshold, and the smallest that goes right."""
    down = Context(prec=digits, rounding=ROUND_FLOOR)
    strict = digits >= DIGITS
    least = _LEAST[strict]
    float32 = rounded_down(np.array(ordered), np.float32)
    with np.errstate(over="ignore", under="ignore"):
        next32 = np.nextafter(float32, np.float32(np.inf))
    bounds = {}
    for threshold, f, g in zip(ordered, float32, next32, strict=True):
        low, high = _decimals(threshold, down, least)
        if threshold >= _INTEGERS:
            low = max(low, Decimal(_INTEGERS))
        elif threshold < -_INTEGERS:
            high = min(high, Decimal(-_INTEGERS))
        else:
            whole = math.floor(threshold)
            low, high = max(low, Decimal(whole)), min(high, Decimal(whole + 1))
        if strict:
            low, high = max(low, Decimal(float(f))), min(high, Decimal(float(g)))
            low = shown if low < (shown := Decimal(str(f))) < high else low
            high = shown if low < (shown := Decimal(str(g))) < high else high
        bounds[threshold] = (low, high)
    return bounds


def _decimals(threshold: float, down: Context, least: Decimal) -> tuple[Decimal, Decimal]:
    """Return the decimals next to a threshold that go left and right, zero or at least of the size `least`."""
    exact = Decimal(threshold)
    if abs(exact) < least:
        return (Decimal(0), least) if threshold >= 0 else (-least, Decimal(0))
    low = down.plus(exact)
    high = down.next_plus(low)
    if float(high) <= threshold:  # it rounds to the threshold; the one after it does not, with digits to spare
        low, high = high, down.next_plus(high)
    return low, high if abs(high) >= least else Decimal(0)


def _shortest(low: Decimal, high: Decimal, wanted: Decimal) -> Decimal:
    """Return the decimal of fewest digits from low to high, both inclusive; of several the one nearest to `wanted`."""
    # The interval is less than ten steps long, so it holds at most one multiple of ten steps. That has the fewest
    # digits if it exists, since multiples of larger powers of ten are among these. Else a multiple of one step does.
    step = Decimal(1).scaleb(_EXACT.subtract(high, low).adjusted(), _EXACT)
    coarse = low.quantize(step.scaleb(1, _EXACT), ROUND_CEILING, _EXACT)
    if coarse <= high:
        return coarse
    nearest = wanted.quantize(step, ROUND_HALF_EVEN, _EXACT)
    if nearest < low:
        return low.quantize(step, ROUND_CEILING, _EXACT)
    return nearest if nearest <= high else high.quantize(step, ROUND_FLOOR, _EXACT)


def _text(number: Decimal) -> str:
    """Return a decimal in plain digits where that is short, such as 0.25, 1200000 or 1.5e-07."""
    if not number:
        return "0"
    plain = number.normalize(_EXACT)
    if plain.adjusted() in _PLAIN:
        return format(plain, "f")
    return format(plain, "e")
