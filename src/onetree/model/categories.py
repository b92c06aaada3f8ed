"""Features whose values are categories, and tests that ask for a set of them.

A categorical feature has finitely many *elements*: one per known category, one for every other number, and one for NaN.
A set test sends some elements to the left. Ensembles and trees hold such tests in the same three fields, which this
module checks.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError

OTHER, MISSING, FIRST = 0, 1, 2  # elements of every categorical feature; element FIRST + i is category i

Bools = NDArray[np.bool_]
Index = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Categories:
    """What a categorical feature makes of a number.

    Category ``i`` is every number with ``low[i] < x <= high[i]``; any other number is `OTHER`, and NaN is `MISSING`.

    Parameters
    ----------
    codes : tuple of float
        What the data call each category: finite, ascending, and inside its interval.
    low, high : float64 array of shape (n_categories,)
        The intervals: ascending, without overlap.
    names : tuple of str
        Names to show instead of the codes; none, or one per category.

    Examples
    --------
    >>> colours = Categories.equal([1, 4], names=("red", "blue"))
    >>> colours.element([4.0, 2.5, float("nan")]).tolist()
    [3, 0, 1]
    >>> colours.describe([True, False, False, True])
    '{blue, other}'
    """

    codes: tuple[float, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    names: tuple[str, ...] = ()

    @classmethod
    def equal(cls, codes: Iterable[float], names: Iterable[str] = ()) -> "Categories":
        """Categories that are one number each: the code itself."""
        numbers = tuple(float(code) for code in codes)
        below = [math.nextafter(code, -math.inf) for code in numbers]  # numpy's own may warn of what is meant to be
        return cls(numbers, np.array(below), np.array(numbers), tuple(names))

    def __post_init__(self) -> None:
        codes = np.array(self.codes, dtype=np.float64)
        low, high = np.array(self.low, dtype=np.float64), np.array(self.high, dtype=np.float64)
        if not codes.shape == low.shape == high.shape == (len(self.codes),):
            raise InvalidInputError(
                f"categories need one interval per code, but {len(self.codes)} codes came with the shapes {low.shape} "
                f"of low and {high.shape} of high"
            )
        if not np.isfinite(codes).all():
            raise InvalidInputError("the codes of categories must be finite; NaN is an element of its own")
        if not (codes[:-1] < codes[1:]).all():
            raise InvalidInputError("the codes of categories must be ascending and differ from each other")
        if not ((low < codes) & (codes <= high)).all():
            raise InvalidInputError("each code of a category must lie in its own interval, low < code <= high")
        if not (high[:-1] <= low[1:]).all():
            raise InvalidInputError("the intervals of categories must not overlap")
        names = tuple(self.names)
        if names and len(names) != len(codes):
            raise InvalidInputError(f"{len(names)} names for {len(codes)} categories; give one each, or none")
        if not all(isinstance(name, str) for name in names):
            raise InvalidInputError("names of categories must be strings")
        low.flags.writeable = high.flags.writeable = False
        for name, value in (("codes", tuple(codes.tolist())), ("low", low), ("high", high), ("names", names)):
            object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A pickle forgets that arrays are read-only.
        self.__init__(**state)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        return (
            (self.codes, self.names) == (other.codes, other.names)
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    def __hash__(self) -> int:
        return hash((self.codes, self.names))

    @property
    def n_elements(self) -> int:
        """Number of elements: the categories, `OTHER` and `MISSING`."""
        return FIRST + len(self.codes)

    def element(self, x: ArrayLike) -> NDArray[np.intp]:
        """Return the element that each number is; of any shape."""
        numbers = np.asarray(x, dtype=np.float64)
        at = np.searchsorted(self.high, numbers)  # the only interval that can hold it; past the last for NaN
        inside = np.append(self.low, np.inf)[at] < numbers
        return np.where(np.isnan(numbers), MISSING, np.where(inside, at + FIRST, OTHER))

    def example(self, element: int) -> float:
        """Return an input that is this element: the code of a category, NaN for `MISSING`."""
        if not 0 <= element < self.n_elements:
            raise InvalidInputError(f"there is no element {element}, only 0..{self.n_elements - 1}")
        if element == MISSING:
            return math.nan
        return self._no_category() if element == OTHER else self.codes[element - FIRST]

    def _no_category(self) -> float:
        """Return a number that is not a category, a finite one if possible: -inf never is a category."""
        beyond = math.floor(self.codes[-1]) + 1.0 if self.codes else 0.0
        above = (math.nextafter(end, math.inf) for end in self.high.tolist())
        candidates = (beyond, -1.0, *above, -math.inf)
        return next(number for number in candidates if self.element(number) == OTHER)

    def label(self, element: int) -> str:
        """Return how an element is shown: a category by its name, or else by its code."""
        if element in (OTHER, MISSING):
            return "other" if element == OTHER else "missing"
        if not self.names:
            code = self.codes[element - FIRST]
            return str(int(code)) if code == int(code) else repr(code)
        name = self.names[element - FIRST]
        plain = name and name not in ("other", "missing") and not set(name) & set(',{}"')
        return name if plain else f'"{name}"'

    def labels(self, elements: Iterable[int]) -> list[str]:
        """Return how a set of elements is shown: the categories in their order, then ``other`` and ``missing``.

        Categories that are called by their intervals are one where no gap is between them.
        """
        chosen = set(elements)
        ends = [[at, at] for at in range(len(self.codes)) if at + FIRST in chosen]
        joined = _are_one_with_the_last(self)
        runs: list[list[int]] = []
        for first, last in ends:
            if runs and runs[-1][1] == first - 1 and joined[first]:
                runs[-1][1] = last
            else:
                runs.append([first, last])
        return [
            *(
                self.label(first + FIRST) if first == last else interval_words(self.low[first], self.high[last])
                for first, last in runs
            ),
            *(self.label(element) for element in (OTHER, MISSING) if element in chosen),
        ]

    def describe(self, members: Sequence[bool] | Bools) -> str:
        """Return a set of elements as text: the categories in their order, then ``other`` and ``missing``."""
        if len(members) < self.n_elements:
            raise InvalidInputError(f"a set over {self.n_elements} elements was given as {len(members)} booleans")
        return "{" + ", ".join(self.labels(element for element in range(self.n_elements) if members[element])) + "}"


@lru_cache(maxsize=256)
def _are_one_with_the_last(categories: Categories) -> tuple[bool, ...]:
    """Return for each category whether it is called by its interval, and begins where one of this kind ends."""
    touches = [False, *(categories.high[:-1] == categories.low[1:]).tolist()][: len(categories.codes)]
    if not categories.names or not any(touches):
        return (False,) * len(touches)
    ends = zip(categories.names, categories.low.tolist(), categories.high.tolist(), strict=True)
    by_interval = [name == interval_words(low, high) for name, low, high in ends]
    return tuple(at > 0 and touches[at] and by_interval[at] and by_interval[at - 1] for at in range(len(touches)))


def interval_words(low: float, high: float) -> str:
    """Return the numbers above one and up to another in words that are true to the last digit."""
    if math.nextafter(low, math.inf) == high:
        return _shown(high)
    words = "x"
    if low > -math.inf:
        above = math.nextafter(low, math.inf)
        strict = len(_shown(low)) <= len(_shown(above))
        words = f"{_shown(low)} < x" if strict else f"{_shown(above)} <= x"
    if high < math.inf:
        above = math.nextafter(high, math.inf)
        words += f" <= {_shown(high)}" if len(_shown(high)) <= len(_shown(above)) else f" < {_shown(above)}"
    return words


def _shown(number: float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))


MaybeCategories = Categories | None


@dataclass(frozen=True, eq=False)
class SetTests:
    """The set tests of some nodes, checked: what ensembles and trees hold in their fields of the same names.

    Parameters
    ----------
    categories : tuple of Categories or None
        One per feature; None is an ordinary feature.
    subset : int32 array of shape (n_nodes,)
        Row of `subsets` that sends an input left; -1 at leaves and at thresholds.
    subsets : bool array of shape (n_subsets, n_elements)
        As wide as the feature with the most elements needs; False past the elements of the feature that is tested.
    """

    categories: tuple[MaybeCategories, ...]
    subset: Index
    subsets: Bools

    @classmethod
    def of(
        cls,
        categories: Iterable[MaybeCategories],
        subset: ArrayLike | None,
        subsets: ArrayLike | None,
        *,
        feature: Index,
        n_features: int,
    ) -> "SetTests":
        """Check and complete what was given for nodes that test these features; -1 is a leaf."""
        kinds = _per_feature(tuple(categories), n_features)
        width = max((kind.n_elements for kind in kinds if kind is not None), default=0)
        tests, members = _frozen("subset", subset, np.int32), _frozen("subsets", subsets, np.bool_)
        # Without a test they say nothing, so that `dataclasses.replace` can change the nodes of ordinary trees alone.
        has_tests = bool((tests != -1).any())
        if not has_tests:
            tests = _frozen("subset", np.full(len(feature), -1, dtype=np.int32), np.int32)
        if members.size == 0:
            members = _frozen("subsets", np.zeros((0, width), dtype=np.bool_), np.bool_)
            if width == 0 and not has_tests:  # as in most ensembles and trees
                return cls(kinds, tests, members)
        if tests.shape != feature.shape:
            raise InvalidInputError(f"subset must have shape {feature.shape}, not {tests.shape}")
        if members.ndim != 2 or members.shape[1] != width:
            raise InvalidInputError(
                f"subsets must have shape (n_subsets, {width}), one column per element, not {members.shape}"
            )
        _check_tests(kinds, tests, members, feature)
        return cls(kinds, tests, members)


def _per_feature(categories: tuple[MaybeCategories, ...], n_features: int) -> tuple[MaybeCategories, ...]:
    if all(kind is None for kind in categories):
        return (None,) * n_features
    if len(categories) != n_features:
        raise InvalidInputError(f"categories has {len(categories)} entries for {n_features} features")
    if not all(kind is None or isinstance(kind, Categories) for kind in categories):
        raise InvalidInputError("categories must hold Categories, or None for an ordinary feature")
    return categories


def _frozen(name: str, given: ArrayLike | None, dtype: type) -> NDArray[Any]:
    values = np.zeros(0, dtype=dtype) if given is None else np.asarray(given)
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype).reshape(values.shape)
    if array.dtype != values.dtype and not np.array_equal(array, values):
        raise InvalidInputError(f"{name} holds values that do not fit into {array.dtype}")
    if array.flags.writeable:
        array = array.copy()
    array.flags.writeable = False
    return array


def _check_tests(kinds: tuple[MaybeCategories, ...], tests: Index, members: Bools, feature: Index) -> None:
    """Refuse a threshold on a categorical feature, a set test elsewhere, and sets that do not exist."""
    # The last entry stands for the feature -1 of a leaf, which is neither.
    n_elements = np.array([0 if kind is None else kind.n_elements for kind in (*kinds, None)])[feature]
    categorical = n_elements > 0
    _refuse(categorical & (tests < 0), "compares a categorical feature with a threshold; give it a set test")
    _refuse(~categorical & (tests != -1), "has a set test, but its feature is not categorical")
    _refuse(tests >= len(members), f"has a set test past the {len(members)} rows of subsets")
    n_needed = np.zeros(len(members), dtype=np.intp)  # the largest element of each set, and 1
    if members.size:
        n_needed[:] = np.where(members.any(axis=1), members.shape[1] - members[:, ::-1].argmax(axis=1), 0)
    tested = np.flatnonzero(tests >= 0)
    beyond = np.zeros(len(tests), dtype=bool)
    beyond[tested] = n_needed[tests[tested]] > n_elements[tested]
    _refuse(beyond, "has a set test with an element that its feature does not have")


def _refuse(broken: Bools, what: str) -> None:
    if broken.any():
        raise InvalidInputError(f"node {int(broken.argmax())} {what}")


def elements_of(categories: tuple[MaybeCategories, ...], rows: NDArray[Any]) -> NDArray[np.int32]:
    """Return the element that each entry of the rows is, of the shape of the rows; 0 on ordinary features."""
    elements = np.zeros(rows.shape, dtype=np.int32)
    for feature, kind in enumerate(categories):
        if kind is not None:
            elements[:, feature] = kind.element(rows[:, feature])
    return elements


def used_subsets(subset: Index, subsets: Bools) -> tuple[Index, Bools]:
    """Return the tests of some nodes, and only the rows of `subsets` that they name, each once."""
    named = np.flatnonzero(subset >= 0)
    if not named.size:
        return subset, subsets[:0]
    # First by number, of which many nodes have the same: to compare rows takes long.
    rows, row_of = np.unique(subset[named], return_inverse=True)
    kept, at = np.unique(subsets[rows], axis=0, return_inverse=True)
    renumbered = np.full(len(subset), -1, dtype=np.int32)
    renumbered[named] = at.ravel()[row_of.ravel()]
    return renumbered, kept
