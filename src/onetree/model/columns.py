"""What the columns of a data frame mean to a model: their names, and the categories that their values are.

A model compares numbers. Arrays hold these numbers already, one column per feature in the model's order. Frames have
names instead of an order, and their values may be texts; what is held here is what is needed to read them as the
source library does. Says nothing about the libraries that frames come from: that is in `inputs`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError
from onetree.files.strict_json import list_of, require_keys
from onetree.model.categories import Categories
from onetree.model.text_hash import text_hash

Value = str | int | float | bool
"""What a frame can call a category."""

_TYPES = (str, int, float, bool)
_WORDS = ("missing", "refuse", "hash")
_PRECISIONS = ("float64", "float32")
_MISSING = ("any", "nan", "None")
_KEYS = {"named", "labels", "unassigned", "integers", "spaces_replaced", "steps"}
_MADE_UP = re.compile(r"(?:x|f|Column_|)([0-9]+)")  # as scikit-learn, XGBoost, LightGBM and CatBoost number columns


@dataclass(frozen=True)
class Labels:
    """The values of a categorical column, and the number that stands for each of them.

    Parameters
    ----------
    values : tuple of str, int, float or bool
        What frames call the categories; all different, none of them missing.
    codes : tuple of float
        The number for each; 0, 1, 2, ... if left out.
    unknown : float, "missing", "refuse" or "hash"
        The number for any other value, or that such a value counts as missing, or is refused, as XGBoost does, or that
        the number of every value is CatBoost's hash of its text, so that none is unknown.
    missing : {"any", "nan", "None"}
        What counts as missing; an encoder of scikit-learn that knows one of NaN and None takes the other for unknown.

    Examples
    --------
    >>> Labels(("blue", "red"), unknown=-1.0).number("red"), Labels((10, 20), (10.0, 20.0)).number(20.0)
    (1.0, 20.0)
    """

    values: tuple[Value, ...]
    codes: tuple[float, ...] = ()
    unknown: float | str = "refuse"
    missing: str = "any"

    def __post_init__(self) -> None:
        values = tuple(self.values)
        codes = tuple(map(float, self.codes)) or tuple(map(float, range(len(values))))
        if not set(map(type, values)) <= set(_TYPES) or any(_is_nan(value) for value in values):
            raise InvalidInputError("the values of categories must be texts, numbers or booleans, and not missing")
        if len(set(values)) != len(values):
            raise InvalidInputError("the values of categories must differ from each other")
        if len(codes) != len(values):
            raise InvalidInputError(f"{len(codes)} codes for {len(values)} values of categories; give one each")
        if any(map(math.isnan, codes)):
            raise InvalidInputError("the codes of categories must not be NaN, which stands for a missing value")
        if self.unknown not in _WORDS and (isinstance(self.unknown, str) or math.isnan(self.unknown)):
            raise InvalidInputError(f'unknown must be a number, "missing", "refuse" or "hash", not {self.unknown!r}')
        if self.missing not in _MISSING:
            raise InvalidInputError(f"missing must be one of {', '.join(_MISSING)}, not {self.missing!r}")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "_number_of", dict(zip(values, codes, strict=True)))

    def number(self, value: Value) -> float:
        """Return the number that stands for a value.

        A text is never unknown where all values are numbers, nor a number where all are texts: that is a column of
        another kind, and refused.
        """
        if self.unknown == "hash":
            return float(text_hash(category_text(value)))
        number_of: Mapping[Value, float] = self._number_of  # type: ignore[attr-defined]
        found = number_of.get(value)
        if found is not None:
            return found
        shown = ", ".join(map(repr, self.values[:5])) + (", ..." if len(self.values) > 5 else "")
        if not any(isinstance(known, str) == isinstance(value, str) for known in self.values):
            kind = "texts" if isinstance(value, str) else "numbers"
            raise InvalidInputError(f"holds {kind} such as {value!r}, but the model's categories are {shown}")
        if self.unknown == "refuse":
            raise InvalidInputError(f"holds {value!r}, which is not one of the model's categories: {shown}")
        return math.nan if isinstance(self.unknown, str) else self.unknown

    def gap(self, value: object) -> float:
        """Return the number that stands for a missing value: NaN, or that of unknown values."""
        if self.missing == "any" or (value is None) == (self.missing == "None"):
            return math.nan
        return self.unknown if not isinstance(self.unknown, str) else math.nan

    def from_text(self, text: str) -> Value:
        """Return the value that a text stands for, as in a CSV file, where numbers are texts as well."""
        if self.unknown == "hash":
            return text
        for known in self.values:
            if text == str(known):
                return known
        number = _float(text)
        texts_like_it = any(isinstance(known, str) and _float(known) is not None for known in self.values)
        return text if number is None or texts_like_it else number  # 20.0 is the category 20


@dataclass(frozen=True)
class Columns:
    """How the columns of a frame are read.

    Parameters
    ----------
    named : bool, optional
        Whether the names of the features are those of columns in the training data. If not, they were made up, and
        a frame is read by position, as libraries do. If left out, the names tell: x0, x1, x2, ... are made up.
    labels : tuple of Labels or None
        Per feature, the values of a column of categories; None for numbers. Empty if all are.
    unassigned : tuple of Labels
        Values of categorical columns of which it is not known which columns these are. LightGBM has them in the order
        of the columns, so the categorical columns of a frame tell, if there are as many.
    integers : {"float64", "float32"}
        What arrays of integers become before they are compared. LightGBM rounds them to float32.
    spaces_replaced : bool
        Whether each space in a name has become an underscore, as in LightGBM.
    steps : str
        Not empty if the model stood behind other steps of a pipeline, and frames that these have not yet transformed
        look the same as frames that they have. Then frames are refused.
    single : bool
        Whether float32 numbers are inputs. A pipeline that computes with them rounds otherwise than with float64
        numbers of the same value, so that they are refused.
    lowest : tuple of float or None
        Per feature, the smallest number that is an input, where a step such as a logarithm takes no smaller one. Empty
        if all numbers are inputs.

    Examples
    --------
    >>> Columns().of_features(("age", "income")).named, Columns().of_features(("x0", "x1")).named
    (True, False)
    """

    named: bool | None = None
    labels: tuple[Labels | None, ...] = ()
    unassigned: tuple[Labels, ...] = ()
    integers: str = "float64"
    spaces_replaced: bool = False
    steps: str = ""
    single: bool = True
    lowest: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        if self.integers not in _PRECISIONS:
            raise InvalidInputError(f"integers are read as {' or '.join(_PRECISIONS)}, not {self.integers!r}")
        labels = tuple(self.labels)
        object.__setattr__(self, "labels", () if all(each is None for each in labels) else labels)
        object.__setattr__(self, "unassigned", tuple(self.unassigned))
        lowest = tuple(self.lowest)
        object.__setattr__(self, "lowest", () if all(each is None for each in lowest) else lowest)

    def of_features(self, names: Sequence[str]) -> Columns:
        """Return the same for features of these names, with `named` settled."""
        if self.labels and len(self.labels) != len(names):
            raise InvalidInputError(f"columns has {len(self.labels)} labels for {len(names)} features")
        if self.lowest and len(self.lowest) != len(names):
            raise InvalidInputError(f"columns has {len(self.lowest)} smallest numbers for {len(names)} features")
        return self if self.named is not None else replace(self, named=not made_up(names))

    def labels_of(self, feature: int) -> Labels | None:
        """Return the values of a feature's categories, None if it has none."""
        return self.labels[feature] if self.labels else None

    @property
    def hashed(self) -> bool:
        """Whether categories go by the hash of their text, so that only an array of floats can hold them already."""
        return any(own is not None and own.unknown == "hash" for own in self.labels)

    def to_json(self) -> dict[str, Any]:
        """Return the entry of a file."""
        return {
            "named": bool(self.named),
            "labels": [None if each is None else _labels_to_json(each) for each in self.labels],
            "unassigned": [_labels_to_json(each) for each in self.unassigned],
            "integers": self.integers,
            "spaces_replaced": self.spaces_replaced,
            "steps": self.steps,
            **({} if self.single else {"single": False}),
            **({"lowest": list(self.lowest)} if self.lowest else {}),
        }

    @classmethod
    def from_json(cls, entry: Any) -> Columns:
        """Read what `to_json` gave."""
        require_keys(entry, _KEYS, '"columns"', optional=frozenset({"single", "lowest"}))
        flags = [entry["named"], entry["spaces_replaced"], entry.get("single", True)]
        named, spaces_replaced, single = list_of(flags, (bool,), "columns")
        integers, steps = list_of([entry["integers"], entry["steps"]], (str,), "columns")
        labels = list_of(entry["labels"], (dict, type(None)), "labels")
        unassigned = list_of(entry["unassigned"], (dict,), "unassigned")
        return cls(
            named,
            tuple(None if each is None else _labels_from_json(each) for each in labels),
            tuple(map(_labels_from_json, unassigned)),
            integers,
            spaces_replaced,
            steps,
            single,
            tuple(
                None if each is None else float(each)
                for each in list_of(entry.get("lowest", []), (float, int, type(None)), "lowest")
            ),
        )


class Reader(Protocol):
    """The part of an ensemble or a tree that says how rows are read."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per feature."""

    @property
    def nan_features(self) -> NDArray[np.bool_]:
        """Where NaN is an input."""

    @property
    def categories(self) -> tuple[Categories | None, ...]:
        """Elements of the categorical features."""

    @property
    def columns(self) -> Columns:
        """What columns of a frame mean."""


def made_up(names: Sequence[str]) -> bool:
    """Whether names are just numbers 0, 1, ... with the prefix of some library, so probably generated."""
    found = [_MADE_UP.fullmatch(name) for name in names]
    return all(match is not None and match[1] == str(at) for at, match in enumerate(found))


def plain_values(values: Iterable[Any]) -> tuple[Value, ...] | None:
    """Return what a library calls categories as `Labels` holds them; None if some are of other types, as dates are."""
    found = tuple(value.item() if hasattr(value, "item") else value for value in values)
    usable = set(map(type, found)) <= set(_TYPES) and not any(map(_is_nan, found)) and len(set(found)) == len(found)
    return found if usable else None


def category_text(value: object) -> str:
    """Return the text that a value of a category is to CatBoost, which takes texts and integers."""
    if isinstance(value, str):
        if value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value):
            return value
        raise InvalidInputError(f"holds {value!r}, which is not a Unicode text")
    if isinstance(value, bool | int | np.integer | np.bool_):
        return str(int(value))
    raise InvalidInputError(f"holds {value!r}, but CatBoost takes only texts and integers for categories")


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _labels_to_json(labels: Labels) -> dict[str, Any]:
    if not all(math.isfinite(number) for number in (*labels.codes, *_floats(labels.values))):
        raise InvalidInputError("categories that are infinite numbers cannot be written to a file")
    entry = {"values": list(labels.values), "codes": list(labels.codes), "unknown": labels.unknown}
    return entry if labels.missing == "any" else {**entry, "missing": labels.missing}


def _floats(values: Iterable[Value]) -> list[float]:
    return [value for value in values if isinstance(value, float)]


def _labels_from_json(entry: dict[str, Any]) -> Labels:
    require_keys(entry, {"values", "codes", "unknown"}, 'an entry of "labels"', optional=frozenset({"missing"}))
    values = tuple(list_of(entry["values"], _TYPES, "values"))
    codes = tuple(float(code) for code in list_of(entry["codes"], (float, int), "codes"))
    (unknown,) = list_of([entry["unknown"]], (float, int, str), "unknown")
    numbers = (*codes, *_floats(values), *_floats([unknown]))
    if not all(map(math.isfinite, numbers)):  # 1e999 reads as infinity
        raise ModelFileError('"labels" must hold finite numbers')
    (missing,) = list_of([entry.get("missing", "any")], (str,), "missing")
    return Labels(values, codes, unknown, missing)
