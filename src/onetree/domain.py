"""The inputs that matter: what each feature may be.

A domain says where a tree is exact. It knows nothing of ensembles or trees; `onetree.restrict` brings the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.errors import InvalidInputError
from onetree.values import Values


@dataclass(frozen=True)
class Domain:
    """The inputs for which a tree is exact: each feature on its own.

    Parameters
    ----------
    values : tuple of Values or None
        One entry per feature; None where anything that the model takes belongs to the domain.
    origin : str
        Where the domain comes from, if nobody gave it: for instance that it was inferred from data.

    Examples
    --------
    >>> domain = Domain.from_dict({"age": (18, 99), "sex": "binary"}, ("age", "income", "sex"))
    >>> domain
    Domain({0: '18:99', 2: '0,1'})
    >>> domain.to_dict(("age", "income", "sex"))
    {'age': '18:99', 'sex': '0,1'}
    >>> domain.contains([[18, 0, 1], [17, 0, 1]]).tolist()
    [True, False]
    """

    values: tuple[Values | None, ...]
    origin: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not all(values is None or isinstance(values, Values) for values in self.values):
            raise InvalidInputError("a Domain holds Values or None for each feature; use Domain.from_dict")

    @classmethod
    def from_dict(cls, given: Mapping[Any, object], feature_names: Iterable[str] | int, *, origin: str = "") -> Domain:
        """Read ``{feature: spelling}``; features by name or index, all others unrestricted.

        Parameters
        ----------
        given : mapping
            See `Values.of` for the spellings.
        feature_names : sequence of str, or int
            The names of all features, or their number.
        origin : str
            As in `Domain`.
        """
        names = [""] * feature_names if isinstance(feature_names, int) else list(feature_names)
        values: list[Values | None] = [None] * len(names)
        for feature, spelling in given.items():
            index = _index(feature, names)
            if values[index] is not None:
                raise InvalidInputError(f"the domain names feature {feature!r} twice, by name and by index")
            try:
                values[index] = Values.of(spelling)
            except InvalidInputError as error:
                raise InvalidInputError(f"the domain of feature {feature!r}: {error}") from None
        return cls(tuple(values), origin)

    def to_dict(self, feature_names: Iterable[str] | None = None) -> dict[Any, str]:
        """Give ``{feature: text}`` of the restricted features, by name, or by index without names."""
        names = range(len(self.values)) if feature_names is None else feature_names
        return {name: str(values) for name, values in zip(names, self.values, strict=True) if values is not None}

    def contains(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Tell for each row of `X` whether it belongs to the domain."""
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(self.values):
            raise InvalidInputError(
                f"X must have two dimensions and {len(self.values)} columns, but its shape is {rows.shape}"
            )
        inside = np.ones(len(rows), dtype=bool)
        for column, values in zip(rows.T, self.values, strict=True):
            if values is not None:
                inside &= values.contain(column.astype(np.float64))
        return inside

    def describe(self, feature_names: Iterable[str]) -> list[str]:
        """Say in words what is demanded of each restricted feature."""
        return [
            values.describe(name) for name, values in zip(feature_names, self.values, strict=True) if values is not None
        ]

    def __repr__(self) -> str:
        origin = f", origin={self.origin!r}" if self.origin else ""
        return f"Domain({self.to_dict()}{origin})"


DomainLike = Domain | Mapping[Any, object]


def as_domain(given: object, feature_names: Sequence[str], nan_features: NDArray[np.bool_]) -> Domain | None:
    """Return the domain for a model with these features; None if it holds every input that the model takes.

    Parameters
    ----------
    given : Domain or mapping, optional
        A mapping is read by `Domain.from_dict`.
    feature_names : sequence of str
    nan_features : bool array of shape (n_features,)
        Where NaN is an input of the model.
    """
    if given is None:
        return None
    if not isinstance(given, Domain | Mapping):
        if isinstance(given, str) and given == "data":
            raise InvalidInputError('domain="data" does not say which data; give domain=onetree.domain_of(X)')
        raise InvalidInputError(
            f"a domain is a mapping from features to values, such as {{'age': (18, 99)}}, not {given!r}"
        )
    domain = given if isinstance(given, Domain) else Domain.from_dict(given, feature_names)
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
    return None if all(values is None for values in kept) else replace(domain, values=tuple(kept))


def _index(feature: object, names: list[str]) -> int:
    """Return the index of a feature that is given by name or index."""
    if isinstance(feature, str):
        if names.count(feature) == 1:
            return names.index(feature)
        if feature in names:
            raise InvalidInputError(f"{names.count(feature)} features are named {feature!r}; give the index of one")
        known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise InvalidInputError(
            f"the domain names the feature {feature!r}, which the model does not have; it has {known}"
        )
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if 0 <= feature < len(names):
            return int(feature)
        raise InvalidInputError(f"the domain names feature {feature}, but the model has features 0 to {len(names) - 1}")
    raise InvalidInputError(f"{feature!r} is no feature; give its name or its index")
