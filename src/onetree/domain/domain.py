"""The inputs that matter: what each feature may be, and which features belong together.

A domain says where a tree is exact. `restrict` brings it together with an ensemble.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onetree.domain.groups import SPELLINGS, Declaration, Group, is_word, join
from onetree.domain.values import Values
from onetree.errors import InvalidInputError
from onetree.model.columns import made_up
from onetree.model.frames import as_frame, frame_names, frame_numbers, listed
from onetree.model.inputs import RowsLike

if TYPE_CHECKING:
    from onetree.model.ensemble import Ensemble

_BINARY = Values(choices=(0.0, 1.0))
_GROUPS = "groups"  # of a mapping that comes from JSON, where no key can be several features
_MOST_DIGITS = 12  # of the index of a feature that is given as text


@dataclass(frozen=True)
class Domain:
    """The inputs for which a tree is exact: each feature on its own, and groups of features that are 0 or 1.

    Parameters
    ----------
    values : tuple of Values or None
        One entry per feature; None where anything that the model takes belongs to the domain.
    origin : str
        Where the domain comes from, if nobody gave it: for instance that it was inferred from data.
    groups : tuple of Group
        Features of which only some combinations occur. They are never missing, and 0 or 1 whatever else they may be.
        Groups that overlap are joined; one that leaves every combination of its features' values is dropped.
    names : tuple of str
        Names of the features, by which a model or a data frame finds them; empty if they only have an order.

    Examples
    --------
    >>> domain = Domain.from_dict({"age": (18, 99), "sex": "binary"}, ("age", "income", "sex"))
    >>> domain
    Domain({0: '18:99', 2: '0,1'})
    >>> domain.to_dict(("age", "income", "sex"))
    {'age': '18:99', 'sex': '0,1'}
    >>> domain.contains([[18, 0, 1], [17, 0, 1]]).tolist()
    [True, False]
    >>> colour = Domain.from_dict({("red", "green", "blue"): "one-hot"}, ("red", "green", "blue", "size"))
    >>> colour.contains([[0, 1, 0, 7.5], [1, 1, 0, 7.5]]).tolist()
    [True, False]
    """

    values: tuple[Values | None, ...]
    origin: str = ""
    groups: tuple[Group, ...] = ()
    names: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not all(values is None or isinstance(values, Values) for values in self.values):
            raise InvalidInputError("a Domain holds Values or None for each feature; use Domain.from_dict")
        if not all(isinstance(group, Group) for group in self.groups):
            raise InvalidInputError("the groups of a Domain must be Group objects; use Domain.from_dict")
        values, groups = _settled(list(self.values), self.declarations, self.names)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "groups", groups)

    @classmethod
    def from_dict(cls, given: Mapping[Any, object], feature_names: Iterable[str] | int, *, origin: str = "") -> Domain:
        """Read ``{feature: spelling}``; features by name or index (also as text), all others unrestricted.

        Parameters
        ----------
        given : mapping
            See `Values.of` for the spellings. For a tuple of features, see `onetree.domain.groups.Declaration`, or
            ``"groups": [{"one-hot": ["red", "green", "blue"]}]`` as in the JSON of `to_json`.
        feature_names : sequence of str, or int
            The names of all features, or their number.
        origin : str
            As in `Domain`.

        Examples
        --------
        >>> Domain.from_dict({("young", "adult"): "implies", "size": (0, 9)}, ("young", "adult", "size"))
        Domain({2: '0:9', (0, 1): 'implies'})
        """
        names = [""] * feature_names if isinstance(feature_names, int) else list(feature_names)
        values: list[Values | None] = [None] * len(names)
        declarations = []
        for feature, spelling in given.items():
            if isinstance(feature, tuple):
                declarations.append(_declaration(feature, spelling, names))
                continue
            if feature == _GROUPS and isinstance(spelling, list):
                declarations += [_declaration(*_entry(each), names) for each in spelling]
                continue
            if feature == _GROUPS and feature not in names:
                raise InvalidInputError(f'"groups" is a list such as [{{"one-hot": ["a", "b"]}}], not {spelling!r}')
            index = _index(feature, names)
            if values[index] is not None:
                raise InvalidInputError(f"the domain names feature {feature!r} twice, by name and by index")
            try:
                values[index] = Values.of(spelling)
            except InvalidInputError as error:
                raise InvalidInputError(f"the domain of feature {feature!r}: {error}") from None
        known = tuple(names) if any(names) else ()
        return cls(tuple(values), origin, _joined(tuple(declarations), known), known)

    def to_dict(self, feature_names: Iterable[str] | None = None) -> dict[Any, str]:
        """Return ``{feature: text}`` of the restricted features, by name, or by index without names.

        A group has a tuple of features; its members have no entries of their own if all that is said of them is that
        they are 0 or 1. `from_dict` reads it back.
        """
        names = list(range(len(self.values)) if feature_names is None else feature_names)
        found: dict[Any, str] = {name: str(values) for name, values in zip(names, self._told(), strict=True) if values}
        return found | {tuple(names[each] for each in said.features): said.word for said in self.declarations}

    def to_json(self, feature_names: Iterable[str] | None = None) -> dict[str, Any]:
        """Return the same for JSON: the groups are a list, ``"groups": [{"one-hot": ["red", "green", "blue"]}]``."""
        names = list(range(len(self.values)) if feature_names is None else feature_names)
        keys = [str(at if name == _GROUPS else name) for at, name in enumerate(names)]
        found: dict[str, Any] = {keys[at]: str(values) for at, values in enumerate(self._told()) if values}
        groups = [{said.word: [names[each] for each in said.features]} for said in self.declarations]
        return found | {_GROUPS: groups} if groups else found

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """What is said of features together."""
        return tuple(declaration for group in self.groups for declaration in group.declarations)

    def _told(self) -> list[Values | None]:
        """Return what is said of each feature on its own, apart from being 0 or 1 as a member of a group."""
        members = {feature for group in self.groups for feature in group.features}
        return [None if at in members and values == _BINARY else values for at, values in enumerate(self.values)]

    def contains(self, X: RowsLike) -> NDArray[np.bool_]:
        """Return for each row of `X` whether it belongs to the domain; the columns of a frame go by their names."""
        frame = as_frame(X)
        rows = np.asarray(X) if frame is None else self._columns_of(frame)
        if rows.ndim != 2 or rows.shape[1] != len(self.values):
            raise InvalidInputError(
                f"X must have two dimensions and {len(self.values)} columns, but its shape is {rows.shape}"
            )
        inside = np.ones(len(rows), dtype=bool)
        for column, values in zip(rows.T, self.values, strict=True):
            if values is not None:
                inside &= values.contain(column.astype(np.float64))
        for group in self.groups:
            inside &= group.contain(rows[:, group.features])
        return inside

    def _columns_of(self, frame: Any) -> NDArray[Any]:
        if not self.names:
            raise InvalidInputError("X is a data frame, but the features of the domain have no names; give an array")
        places = _places(self.names, frame_names(frame), "X has no column for")
        return frame_numbers(frame[:, places])

    def of_features(self, feature_names: Sequence[str]) -> Domain:
        """Return the domain of these features, found by name; if one side has no names, of its features in order."""
        wanted = tuple(feature_names)
        if self.names == wanted:
            return self
        nameless = not self.names or (made_up(wanted) and not set(wanted) <= set(self.names))
        if nameless:
            return replace(self, names=wanted) if len(self.values) == len(wanted) else self
        places = _places(wanted, self.names, "the domain says nothing about")
        at = {place: feature for feature, place in enumerate(places)}
        kept = [said for said in self.declarations if set(said.features) <= set(at)]
        groups = join([replace(said, features=tuple(at[each] for each in said.features)) for said in kept], wanted)
        return Domain(tuple(self.values[place] for place in places), self.origin, groups, wanted)

    def describe(self, feature_names: Iterable[str]) -> list[str]:
        """Describe in words the restrictions of single features and of groups."""
        names = list(feature_names)
        alone = [values.describe(name) for name, values in zip(names, self._told(), strict=True) if values is not None]
        return alone + [line for group in self.groups for line in group.describe(names)]

    def __repr__(self) -> str:
        origin = f", origin={self.origin!r}" if self.origin else ""
        return f"Domain({self.to_dict()}{origin})"


DomainLike = Domain | Mapping[Any, object]


def as_domain(given: object, ensemble: Ensemble) -> Domain | None:
    """Return the domain for a model, as all later stages take it; None if it holds every input that the model takes.

    For the public edge: what the user gives is read once, and handed on as what is returned here.

    Parameters
    ----------
    given : Domain or mapping, optional
        A mapping is read by `Domain.from_dict`.
    ensemble : Ensemble
    """
    if given is None:
        return None
    feature_names, nan_features = ensemble.feature_names, ensemble.nan_features
    if not isinstance(given, Domain | Mapping):
        if isinstance(given, str) and given == "data":
            raise InvalidInputError('domain="data" does not say which data; give domain=onetree.domain_of(X)')
        raise InvalidInputError(
            f"a domain is a mapping from features to values, such as {{'age': (18, 99)}}, not {given!r}"
        )
    domain = given if isinstance(given, Domain) else Domain.from_dict(given, feature_names)
    domain = domain.of_features(feature_names)
    if len(domain.values) != len(feature_names):
        raise InvalidInputError(
            f"the domain has {len(domain.values)} features, but the model has {len(feature_names)}; "
            "they do not belong together"
        )
    kept = list(domain.values)
    for feature, (values, takes_nan) in enumerate(zip(domain.values, nan_features.tolist(), strict=True)):
        if values is None:
            continue
        if values.missing and not takes_nan:
            raise InvalidInputError(
                f"the domain lets {feature_names[feature]!r} be missing, but the model does not take missing values "
                'there; leave that out, or import the model with missing="follow" if its library takes NaN'
            )
        if values.everything and values.missing == takes_nan:
            kept[feature] = None
    if all(values is None for values in kept):
        return None
    return domain if kept == list(domain.values) else replace(domain, values=tuple(kept))


def _places(wanted: Sequence[str], given: Sequence[str], failure: str) -> list[int]:
    """Return where each name stands among those given."""
    place = {name: at for at, name in enumerate(given)}
    absent = [name for name in wanted if name not in place]
    if absent:
        raise InvalidInputError(f"{failure} {listed(absent)}; it has {listed(given)}")
    return [place[name] for name in wanted]


def _settled(
    given: list[Values | None], declarations: tuple[Declaration, ...], names: tuple[str, ...]
) -> tuple[tuple[Values | None, ...], tuple[Group, ...]]:
    """Combine the restrictions of single features with those of groups; names are for errors only."""
    values, groups = list(given), []
    last = max((feature for each in declarations for feature in each.features), default=-1)
    if last >= len(values):
        raise InvalidInputError(f"a group names feature {last}, but the domain has features 0 to {len(values) - 1}")
    for group in _joined(declarations, names):
        possible = np.ones(len(group.allowed), dtype=bool)
        for at, feature in enumerate(group.features):
            values[feature] = known = _binary_part(values[feature], repr(names[feature]) if names else feature)
            if known.choices != _BINARY.choices:
                possible &= group.allowed[:, at] == known.low
        if not possible.any():
            said = "; ".join(group.describe(names)) if names else group.text
            raise InvalidInputError(
                f"no combination is left: {said}; but the values given for these features one by one contradict that"
            )
        alone = [values[feature] for feature in group.features]
        if np.count_nonzero(possible) < math.prod(len(each.choices or ()) for each in alone if each is not None):
            if not possible.all():
                group = Group(group.features, group.allowed[possible], group.declarations)
            groups.append(group)
    return tuple(values), tuple(groups)


@lru_cache(maxsize=4)  # a domain is made anew whenever a box of it is cut
def _joined(declarations: tuple[Declaration, ...], names: tuple[str, ...]) -> tuple[Group, ...]:
    return tuple(join(list(declarations), names or None))


def _binary_part(values: Values | None, name: object) -> Values:
    """Return which of 0 and 1 a member of a group can be."""
    if values is None or values == _BINARY:
        return _BINARY
    if values.missing:
        raise InvalidInputError(f"feature {name} belongs to a group, so it cannot be missing; leave that out")
    both = np.array([0.0, 1.0])
    choices = tuple(both[values.contain(both)].tolist())
    if not choices:
        raise InvalidInputError(f"feature {name} belongs to a group, so it is 0 or 1, but its values are {values}")
    return Values(choices=choices)


def _declaration(features: tuple[object, ...], word: object, names: list[str]) -> Declaration:
    """Return what a mapping says of several features, each by name or index."""
    called = ", ".join(map(repr, features))
    if not isinstance(word, str) or not is_word(word):
        raise InvalidInputError(f"the features {called} together are {word!r}, which is not a known word; {SPELLINGS}")
    try:
        return Declaration(tuple(_index(feature, names) for feature in features), word)
    except InvalidInputError as error:
        raise InvalidInputError(f"the group of the features {called}: {error}") from None


def _entry(entry: object) -> tuple[tuple[object, ...], object]:
    """Return the features and the word of an entry of "groups"."""
    if isinstance(entry, Mapping) and len(entry) == 1:
        ((word, features),) = entry.items()
        if isinstance(features, list | tuple):
            return tuple(features), word
    raise InvalidInputError(
        f'{entry!r} is not a group; write {{"one-hot": ["red", "green", "blue"]}}, with one word and its features'
    )


def _index(feature: object, names: list[str]) -> int:
    """Return the index of a feature that is given by name or index."""
    if isinstance(feature, str):
        if names.count(feature) == 1:
            return names.index(feature)
        # JSON keys are always text. A number of so many digits is not a feature's index, and is slow to read.
        if feature not in names and feature.isascii() and feature.isdigit() and len(feature) < _MOST_DIGITS:
            return _index(int(feature), names)
        if feature in names:
            raise InvalidInputError(f"{names.count(feature)} features are named {feature!r}; give the index of one")
        known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise InvalidInputError(
            f"the domain names the feature {feature[:80]!r}, which the model does not have; it has {known}"
        )
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if 0 <= feature < len(names):
            return int(feature)
        raise InvalidInputError(f"the domain names feature {feature}, but the model has features 0 to {len(names) - 1}")
    raise InvalidInputError(f"{feature!r} is not a feature; give its name or its index")
