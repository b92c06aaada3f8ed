"""The values that one feature takes: a range, integers, or a few values; and whether it may be missing.

Each has one spelling as text (``"18:99"``, ``"integer 0:10"``, ``"0,1"``, any of them with ``" or missing"``), the same
in Python, in files and on the command line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError

_LARGEST = float(np.finfo(np.float64).max)  # whole, like every float64 from 2**53 on
_OR_MISSING = " or missing"
_SPELLINGS = 'write "low:high", "integer", "integer low:high", "binary", "0,1,2" or "missing"'

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Values:
    """The values of one feature.

    Parameters
    ----------
    low, high : float
        Both inclusive; infinite for no bound. Integers if `integer`.
    integer : bool
        Whether only integers are values; infinity is not one.
    choices : tuple of float, optional
        The only values, ascending; may be empty if the feature is always missing. A range of one value becomes one.
    missing : bool
        Whether the feature may be missing (NaN).

    Examples
    --------
    >>> Values.of((18, 99))
    Values('18:99')
    >>> Values.of("integer :10 or missing")
    Values('integer :10 or missing')
    >>> Values.of({1, 0, None})
    Values('0,1 or missing')
    """

    low: float = -math.inf
    high: float = math.inf
    integer: bool = False
    choices: tuple[float, ...] | None = None
    missing: bool = False

    def __post_init__(self) -> None:
        if self.choices is not None:
            choices = tuple(sorted({_number(value) for value in self.choices}))
            if choices and not math.isfinite(max(choices, key=abs)):
                raise InvalidInputError("a finite set cannot hold infinity; use a range, low:high")
            if not choices and not self.missing:
                raise InvalidInputError("no value is left; give at least one")
            low, high = (choices[0], choices[-1]) if choices else (math.inf, -math.inf)
            self._set(choices=choices, low=low, high=high, integer=False)
            return
        low, high = _number(self.low), _number(self.high)
        if self.integer:
            low = max(float(np.ceil(low)), -_LARGEST) if low > -math.inf else low
            high = min(float(np.floor(high)), _LARGEST) if high < math.inf else high
        if not low <= high or (self.integer and math.inf in (low, -high)):
            what = "contains no integer" if self.integer and self.low <= self.high else "is empty"
            raise InvalidInputError(
                f"the range {_text(self.low)}:{_text(self.high)} {what}; give low:high, both inclusive"
            )
        if low == high and math.isfinite(low):
            self._set(choices=(low,), integer=False)
        self._set(low=low, high=high)

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, spelling: object) -> Values:
        """Read any spelling: text, a pair ``(low, high)``, a `range`, or a set, with None for a missing value."""
        if isinstance(spelling, Values):
            return spelling
        if isinstance(spelling, str):
            return cls._parse(spelling)
        if isinstance(spelling, range) and spelling.step == 1:
            if not spelling:
                raise InvalidInputError(f"{spelling!r} is empty; it ends before its second number")
            return cls(spelling[0], spelling[-1], integer=True)
        if isinstance(spelling, set | frozenset | range):
            known = [value for value in spelling if not _is_missing(value)]
            return cls(choices=tuple(known), missing=len(known) < len(spelling))
        if isinstance(spelling, tuple) and len(spelling) == 2:
            low, high = spelling
            return cls._between(-math.inf if low is None else _number(low), math.inf if high is None else _number(high))
        raise InvalidInputError(
            f"{spelling!r} is neither a range nor a set of values; give (low, high), {{0, 1}} or text: {_SPELLINGS}"
        )

    @classmethod
    def _between(cls, low: float, high: float, *, integer: bool = False, missing: bool = False) -> Values:
        if low == high and math.isinf(low) and not integer:  # spelled like a range without ends
            raise InvalidInputError("a range that holds only infinity is not a domain; leave one end open")
        return cls(low, high, integer=integer, missing=missing)

    @classmethod
    def _parse(cls, text: str) -> Values:
        known, ending, rest = text.strip().rpartition(_OR_MISSING)
        missing = bool(ending) and not rest
        kind = known.strip() if missing else text.strip()
        if kind == "missing":
            return cls(choices=(), missing=True)
        if kind == "binary":
            return cls(choices=(0.0, 1.0), missing=missing)
        words = kind.split()
        integer = words[:1] == ["integer"]
        if integer and len(words) == 1:
            return cls(integer=True, missing=missing)
        ends = "".join(words[1:] if integer else words)
        if ends.count(":") == 1:
            low, high = ends.split(":")
            return cls._between(_read(low, -math.inf), _read(high, math.inf), integer=integer, missing=missing)
        if integer or not ends:
            raise InvalidInputError(f"{text!r} is not a domain of a feature; {_SPELLINGS}")
        return cls(choices=tuple(_read(part) for part in ends.split(",")), missing=missing)

    @property
    def everything(self) -> bool:
        """Whether every number is a value."""
        return self.choices is None and not self.integer and self.low == -math.inf and self.high == math.inf

    def below(self, cuts: Floats) -> Floats:
        """Return the largest value not above each cut, NaN where there is none."""
        if self.choices is not None:
            return np.array([math.nan, *self.choices])[np.searchsorted(self.choices, cuts, side="right")]
        low, high = self.low, self.high
        if self.integer:
            cuts, low, high = np.floor(cuts), max(low, -_LARGEST), min(high, _LARGEST)
        return np.where(cuts >= low, np.minimum(cuts, high), math.nan)

    def above(self, cuts: Floats) -> Floats:
        """Return the smallest value above each cut, NaN where there is none."""
        if self.choices is not None:
            return np.array([*self.choices, math.nan])[np.searchsorted(self.choices, cuts, side="right")]
        following, low, high = np.nextafter(cuts, math.inf), self.low, self.high
        if self.integer:
            # Adding one changes nothing from 2**53 on, where every next number is whole.
            following = np.maximum(np.floor(cuts) + 1.0, following)
            low, high = max(low, -_LARGEST), min(high, _LARGEST)
        return np.where((cuts < high) & (following <= high), np.maximum(following, low), math.nan)

    def contain(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each number of a column whether it is a value."""
        if self.choices is not None:
            inside = np.isin(column, np.array(self.choices))
        else:
            inside = (column >= self.low) & (column <= self.high)
            if self.integer:
                inside &= np.isfinite(column) & (column == np.floor(column))
        return np.asarray(inside | (np.isnan(column) & self.missing))

    def describe(self, name: str) -> str:
        """Describe in words what is required of a feature of this name."""
        ending = _OR_MISSING if self.missing else ""
        if self.choices is not None:
            *most, last = [_text(value) for value in self.choices] + (["missing"] if self.missing else [])
            return f"{name} is {', '.join(most)} or {last}" if most else f"{name} is {last}"
        low, high = _text(self.low), _text(self.high)
        if self.integer:
            bounds = f" from {low}" * (self.low > -math.inf) + f" up to {high}" * (self.high < math.inf)
            return f"{name} is an integer{bounds}{ending}"
        if self.everything:
            return f"{name} is any number{ending}"
        if self.low > -math.inf and self.high < math.inf:
            return f"{low} <= {name} <= {high}{ending}"
        return f"{name} >= {low}{ending}" if self.low > -math.inf else f"{name} <= {high}{ending}"

    def __str__(self) -> str:
        if self.choices is not None:
            known = ",".join(_text(value) for value in self.choices)
            return (known + _OR_MISSING if known else "missing") if self.missing else known
        ends = "" if self.everything else f"{_end(self.low)}:{_end(self.high)}"
        bounded = ends not in ("", ":")
        known = f"integer {ends}" if self.integer and bounded else "integer" if self.integer else ends or ":"
        return known + _OR_MISSING * self.missing

    def __repr__(self) -> str:
        return f"Values({str(self)!r})"


def _number(value: object) -> float:
    if isinstance(value, Real):
        try:
            number = float(value)
        except OverflowError:
            number = math.nan
        if not math.isnan(number):
            return number
    raise InvalidInputError(f"{value!r} is not a number")


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, Real) and math.isnan(value))


def _read(text: str, absent: float = math.nan) -> float:
    try:
        number = float(text) if text else absent
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise InvalidInputError(f"{text!r} is not a number; {_SPELLINGS}")
    return number


def _text(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def _end(value: float) -> str:
    return "" if math.isinf(value) else _text(value)
