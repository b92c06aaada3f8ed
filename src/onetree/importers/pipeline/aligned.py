"""Several ensembles on the same columns: one name, one kind of test and one set of categories for each feature.

Members of a vote may have learned other categories, look at other columns, or test a column by thresholds where others
have sets. Here each gets the features of all; none of them predicts anything else than before.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.pipeline.columns import Column, Matrix, Raw
from onetree.importers.pipeline.compose import compose_alike
from onetree.model.columns import Labels, Value
from onetree.model.ensemble import Ensemble

_UNSEEN = "\0 not a category"


def aligned(ensembles: Sequence[Ensemble]) -> list[Ensemble]:
    """Return the ensembles over common features, categories and labels.

    Parameters
    ----------
    ensembles : sequence of Ensemble
        With named columns, which are brought together by name, or without names and as many features each.

    Raises
    ------
    UnsupportedModelError
        If a column holds texts for one and numbers for another.
    """
    if len(ensembles) < 2:
        return list(ensembles)
    names = _names(ensembles)
    raw = [_raw(ensembles, name, at) for at, name in enumerate(names)]
    frame = replace(
        ensembles[0].columns,
        labels=(),
        single=all(each.columns.single for each in ensembles),
    )
    places = [_places(each, names) for each in ensembles]
    columns = [[Column(at) for at in place] for place in places]
    evaluates = [partial(_as_member, each, raw, place) for each, place in zip(ensembles, places, strict=True)]
    return compose_alike(ensembles, raw, columns, evaluates, frame=frame)


def _names(ensembles: Sequence[Ensemble]) -> list[str]:
    if len({each.columns.named for each in ensembles}) > 1 or (
        not ensembles[0].columns.named and len({each.n_features for each in ensembles}) > 1
    ):
        raise UnsupportedModelError(
            "the members were fitted on different kinds of inputs, some with names and some without, or on different "
            "numbers of columns; fit all of them on the same frame"
        )
    if not ensembles[0].columns.named:
        return list(ensembles[0].feature_names)
    return list(dict.fromkeys(name for each in ensembles for name in each.feature_names))


def _places(ensemble: Ensemble, names: Sequence[str]) -> list[int]:
    if not ensemble.columns.named:
        return list(range(ensemble.n_features))
    return [names.index(name) for name in ensemble.feature_names]


def _raw(ensembles: Sequence[Ensemble], name: str, at: int) -> Raw:
    """Return what a column can be to all ensembles that have it."""
    own = [(each, _feature(each, name, at)) for each in ensembles]
    having = [(each, feature) for each, feature in own if feature is not None]
    takes_nan = all(bool(each.nan_features[feature]) for each, feature in having)
    labels = [each.columns.labels_of(feature) for each, feature in having]
    if all(each is None for each in labels):
        return Raw(name, takes_nan=takes_nan)
    known = [each for each in labels if each is not None]
    texts = any(isinstance(value, str) for each in known for value in each.values)
    if texts and len(known) < len(labels):
        raise UnsupportedModelError(f"column {name!r} holds texts for one of the models and numbers for another")
    if not texts and len(known) < len(labels):
        return Raw(name, takes_nan=takes_nan)  # numbers, some of which are categories
    return Raw(name, _common(known, name), takes_nan=takes_nan, example=0.0 if texts else known[0].codes[0])


def _common(labels: Sequence[Labels], name: str) -> Labels:
    """Return labels with the values that all of them take."""
    if all(each == labels[0] for each in labels):
        return labels[0]
    if len({each.missing for each in labels}) > 1:
        raise UnsupportedModelError(f"None and NaN in column {name!r} mean different things to the models")
    texts = any(isinstance(value, str) for each in labels for value in each.values)
    every = dict.fromkeys(value for each in labels for value in each.values)
    taken = [value for value in every if all(_takes(each, value) for each in labels)]
    refused = any(each.unknown == "refuse" for each in labels)
    if texts:
        return Labels(tuple(taken), (), "refuse" if refused else -1.0, labels[0].missing)
    taken.sort()
    codes = tuple(map(float, taken))
    return Labels(tuple(taken), codes, "refuse" if refused else max(codes) + 1.0, labels[0].missing)


def _takes(labels: Labels, value: Value) -> bool:
    return value in labels.values or labels.unknown != "refuse"


def _feature(ensemble: Ensemble, name: str, at: int) -> int | None:
    if not ensemble.columns.named:
        return at
    return ensemble.feature_names.index(name) if name in ensemble.feature_names else None


def _as_member(ensemble: Ensemble, raw: Sequence[Raw], places: Sequence[int], rows: Matrix) -> Matrix:
    """Return common inputs as one of the ensembles reads them."""
    found = rows[:, places].copy()
    for feature, place in enumerate(places):
        own, common = ensemble.columns.labels_of(feature), raw[place].labels
        if own is not None and common is not None and own != common:
            found[:, feature] = _translated(rows[:, place], common, own)
    return found


def _translated(codes: NDArray[np.float64], common: Labels, own: Labels) -> NDArray[np.float64]:
    value_of = dict(zip(common.codes, common.values, strict=True))
    unknown = np.nan if isinstance(own.unknown, str) else own.unknown
    number_of = dict(zip(own.values, own.codes, strict=True))
    return np.array(
        [np.nan if np.isnan(code) else number_of.get(value_of.get(code, _UNSEEN), unknown) for code in codes.tolist()]
    )
