"""Amounts for people to read: counts, sizes and durations in few digits and the right unit."""

from __future__ import annotations

import math

_LONG = 4096  # bits; Python does not print integers of every length


def count(number: float) -> str:
    """Return a count: all digits while they can be read, then up to three and the power of ten."""
    if number == math.inf:
        return "infinitely many"
    whole = round(number)  # of any size: equal subtrees multiply
    if whole < 10**9:
        return f"{whole:,}"
    if whole.bit_length() > _LONG:
        return f"1e{int((whole.bit_length() - 1) * math.log10(2))}"
    exponent = len(str(whole)) - 1
    return f"{whole // 10 ** (exponent - 2) / 100:g}e{exponent}"


def counted(number: float, one: str, many: str | None = None) -> str:
    """Return a count with the word for what is counted: "1 leaf", "12 leaves"."""
    text = count(number)
    return f"{text} {one if text == '1' else many or f'{one}s'}"


def leaves(number: float) -> str:
    """Return a number of leaves."""
    return counted(number, "leaf", "leaves")


def size(n_bytes: float) -> str:
    """Return a number of bytes."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{_three_digits(n_bytes)} TB"


def duration(seconds: float) -> str:
    """Return a time."""
    for unit, length in (("years", 365.25 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{_three_digits(seconds / length)} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def above(gap: float) -> str:
    """Return how much more something is than something else: "12.5% above", then "3.4 times"."""
    return f"{gap:.1%} above" if gap < 1 else f"{_three_digits(1 + gap)} times"


def _three_digits(number: float) -> str:
    return f"{number:.3g}" if number < 1000 else count(float(f"{number:.3g}"))
