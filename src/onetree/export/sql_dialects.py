"""Where databases differ: names of types, quotes, missing values, and which decimals they read exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from onetree.errors import InvalidInputError

_POWER = 62  # 2 ** 62 fits into the integers of every database
_SHORT, _EXACT_TENS = 15, 22  # digits below 2^53, and powers of ten that are float64 numbers
_CLEAR = Fraction(1, 2**63)  # twice the error of a division in 64 bits, relative


@dataclass(frozen=True)
class Dialect:
    """How one database writes things.

    Parameters
    ----------
    real, text, integer, boolean : str
        The types of float64 numbers, of strings, of 64-bit integers, and of true and false.
    missing : str
        Says that ``{x}`` is missing.
    reads_decimals : bool
        Whether it rounds every decimal with an exponent to the nearest float64. SQLite 3.40 misses one in ten thousand
        of those with 17 digits, and one in five of the very small.
    backticks : bool
        Whether names stand in backticks, and strings have backslash escapes.
    materialized : str
        Asks for a common table expression to be evaluated once.
    primary_key : str
        Follows the type of a column.
    """

    real: str = "DOUBLE PRECISION"
    missing: str = "({x} IS NULL OR ({x} > 0 AND -{x} > 0))"  # NaN is above all numbers, and so is its negative
    reads_decimals: bool = False
    backticks: bool = False
    materialized: str = " MATERIALIZED"
    primary_key: str = " PRIMARY KEY"
    text: str = "TEXT"
    integer: str = "BIGINT"
    boolean: str = "BOOLEAN"

    def type_of(self, label: str | float) -> str:
        """Return the type of a column of such labels."""
        kinds = {str: self.text, bool: self.boolean, int: self.integer, float: self.real}
        return kinds[type(label)]

    def number(self, value: float) -> str:
        """Return an expression for exactly this finite float64 number: a decimal if the database reads it right."""
        if _is_read_anywhere(value):
            return repr(value)
        if self.reads_decimals:
            text = repr(value)
            return text if "e" in text else f"{text}e0"  # without an exponent DuckDB takes it for a DECIMAL
        return self._by_powers_of_two(value)

    def _by_powers_of_two(self, value: float) -> str:
        """Return an integer divided or multiplied by powers of two, without rounding."""
        numerator, denominator = value.as_integer_ratio()
        shift = 1 - denominator.bit_length()
        while numerator and abs(numerator) >= 2**53:  # then there is no denominator, and low bits are zero
            numerator, shift = numerator // 2, shift + 1
        factor, left = (" * ", shift) if shift > 0 else (" / ", -shift)
        text = f"CAST({numerator} AS {self.real})"
        while left:
            step = min(left, _POWER)
            text, left = f"{text}{factor}{2**step}", left - step
        return text

    def name(self, text: str) -> str:
        """Quote a name, so that whatever is in it stays a name."""
        if self.backticks:
            return f"`{_backslashed(_checked(text), '`')}`"
        return '"' + _checked(text).replace('"', '""') + '"'

    def string(self, text: str) -> str:
        """Quote a string."""
        if self.backticks:
            return f"'{_backslashed(_checked(text), chr(39))}'"
        return "'" + _checked(text).replace("'", "''") + "'"


def _is_read_anywhere(value: float) -> bool:
    """Whether every database reads the shortest decimal of a number as that number.

    Up to 15 digits are an integer below 2^53, which is multiplied or divided by a power of ten up to 10^22: both are
    float64 numbers, so that one operation in float64 rounds correctly. SQLite may calculate in more bits and round
    twice: that is right as well unless the decimal lies next to the middle between two float64 numbers.
    """
    _, digits, power = Decimal(repr(value)).normalize().as_tuple()
    if len(digits) > _SHORT or abs(int(power)) > _EXACT_TENS:
        return False
    decimal, at = Fraction(repr(value)), Fraction(value)
    beside = (Fraction(math.nextafter(value, way)) for way in (-math.inf, math.inf))
    return all(abs(decimal - (at + next_) / 2) > abs(decimal) * _CLEAR for next_ in beside)


def _backslashed(text: str, quote: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return "".join(character if character.isprintable() else f"\\U{ord(character):08x}" for character in escaped)


def _checked(text: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError(f"{text!r} holds a character that SQL cannot hold; rename the feature or the class")
    return text


DIALECTS = {
    "standard": Dialect(),
    "sqlite": Dialect(real="REAL", missing="{x} IS NULL"),
    "duckdb": Dialect(real="DOUBLE", missing="({x} IS NULL OR isnan({x}))", reads_decimals=True),
    "postgresql": Dialect(missing="({x} IS NULL OR {x} = 'NaN')", reads_decimals=True),
    "bigquery": Dialect(
        real="FLOAT64",
        missing="({x} IS NULL OR IS_NAN({x}))",
        reads_decimals=True,
        backticks=True,
        materialized="",
        primary_key=" NOT NULL",
        text="STRING",
        integer="INT64",
        boolean="BOOL",
    ),
}


def dialect_named(name: str) -> Dialect:
    """Return a dialect by its name."""
    if name not in DIALECTS:
        raise InvalidInputError(f"unknown dialect {name!r}; use one of {', '.join(DIALECTS)}")
    return DIALECTS[name]
