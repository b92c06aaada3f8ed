"""What questions are about: a model as an ensemble, an input of it, its features and classes by name."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.domain.domain import Domain, DomainLike, as_domain
from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.files.atomic import read_whole
from onetree.model.ensemble import Ensemble, Rule, as_ensemble
from onetree.model.inputs import read_row
from onetree.tree.tree import Tree, load_tree

Floats = NDArray[np.float64]
_TREE, _HEAD = re.compile(rb'"format"\s*:\s*"onetree-tree"'), 400  # what the file of a tree begins with
_MOST_NODES = 2_000_000  # of a tree whose shared parts are written out


def loaded(model: Any) -> Any:
    """Return a tree for the path of a tree's file; anything else as it is."""
    if not isinstance(model, str | os.PathLike):
        return model
    is_tree = not Path(model).is_dir() and _TREE.search(read_whole(model)[:_HEAD])
    return load_tree(model) if is_tree else model


def source_of(model: Any) -> Ensemble:
    """Return the model as an ensemble; a tree becomes an ensemble of one."""
    model = loaded(model)
    if isinstance(model, Tree) and model.output == "value":
        raise UnsupportedModelError("a regression tree has no classes to ask about; ask a classifier or its tree")
    ensemble = _ensemble_of_tree(model) if isinstance(model, Tree) else as_ensemble(model)
    if ensemble.rule.is_value:
        raise UnsupportedModelError("a regressor has no classes to ask about; ask a classifier")
    return ensemble


def _ensemble_of_tree(tree: Tree) -> Ensemble:
    """Return a tree as an ensemble; parts that occur several times are written out."""
    nodes, left, right = [0], [], []
    at = 0
    while at < len(nodes):
        node = nodes[at]
        is_leaf = tree.feature[node] < 0
        left.append(-1 if is_leaf else len(nodes))
        right.append(-1 if is_leaf else len(nodes) + 1)
        if not is_leaf:
            nodes += [int(tree.children_left[node]), int(tree.children_right[node])]
        at += 1
        if len(nodes) > _MOST_NODES:
            raise UnsupportedModelError(f"the tree has more than {_MOST_NODES:,} nodes; ask the model it comes from")
    feature = tree.feature[nodes]
    return Ensemble(
        classes=tree.classes,
        feature_names=tree.feature_names,
        roots=np.zeros(1, dtype=np.int32),
        feature=feature,
        threshold=tree.threshold[nodes],
        children_left=np.array(left, dtype=np.int32),
        children_right=np.array(right, dtype=np.int32),
        missing_left=np.zeros(len(nodes), dtype=bool),
        value=np.where((feature < 0)[:, np.newaxis], np.eye(len(tree.classes))[tree.leaf_class[nodes]], 0.0),
        base=np.zeros(len(tree.classes)),
        rule=Rule("hard"),
        nan_features=tree.nan_features,
        categories=tree.categories,
        subset=tree.subset[nodes],
        subsets=tree.subsets,
        columns=tree.columns,
    )


def limits_of(model: Any, domain: DomainLike | None, ensemble: Ensemble) -> Domain | None:
    """Return where a question is asked: the given domain, or that of a tree, which is made for it."""
    if domain is None and isinstance(model, Tree):
        domain = model.domain
    return as_domain(domain, ensemble)


def input_of(x: Any, ensemble: Ensemble, domain: Domain | None) -> Floats:
    """Return one input as the model reads it; it must belong to the domain."""
    row = read_row(x, ensemble).astype(np.float64)
    if domain is not None and not domain.contains(row)[0]:
        alone = [
            f"{name} is {value:g}"
            for name, value, own in zip(ensemble.feature_names, row[0], domain.values, strict=True)
            if own is not None and not own.contain(np.array([value]))[0]
        ]
        why = f": {alone[0]}" if alone else ", because of a group of features"
        raise InvalidInputError(f"the input does not belong to the domain{why}; change the one or the other")
    return np.asarray(row[0])


def feature_index(feature: object, ensemble: Ensemble) -> int:
    """Return the index of a feature that is given by name or index."""
    names = ensemble.feature_names
    if isinstance(feature, str) and names.count(feature) == 1:
        return names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < len(names):
        return int(feature)
    known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    raise InvalidInputError(f"{feature!r} is not a feature of the model; give a name or an index, of {known}")


def feature_set(features: object, ensemble: Ensemble) -> frozenset[int]:
    """Return the indices of features, given by name or index; one alone may stand without a list."""
    if isinstance(features, str | int | np.integer):
        features = [features]
    if not isinstance(features, Collection | np.ndarray):
        raise InvalidInputError(f"{features!r} are not features; give a list of names or indices")
    return frozenset(feature_index(each, ensemble) for each in features)


def ordered_set(features: object, ensemble: Ensemble) -> frozenset[int]:
    """Return the indices of features that have an order."""
    found = feature_set(features, ensemble)
    for feature in found:
        if ensemble.categories[feature] is not None:
            raise InvalidInputError(
                f"{ensemble.feature_names[feature]!r} is categorical, so its values have no order; it can only be fixed"
            )
    return found


def class_index(label: object, ensemble: Ensemble) -> int:
    """Return the index of a class."""
    found = np.flatnonzero(np.array([known == label for known in ensemble.classes.tolist()], dtype=bool))
    if found.size == 0:
        known = ", ".join(repr(each) for each in ensemble.classes.tolist()[:8])
        raise InvalidInputError(f"{label!r} is not a class of the model; it has {known}")
    return int(found[0])


def weights_of(costs: Mapping[Any, float] | ArrayLike | None, data: Any, ensemble: Ensemble) -> Floats:
    """Return what a unit of a feature costs: as given, or the inverse median absolute deviation of the data, or 1."""
    weights = np.ones(ensemble.n_features)
    if data is not None:
        from onetree.model.inputs import read_inputs

        rows = read_inputs(data, ensemble).astype(np.float64)
        for feature, kind in enumerate(ensemble.categories):
            known = rows[~np.isnan(rows[:, feature]), feature]
            if kind is None and known.size:
                spread = float(np.median(np.abs(known - np.median(known))))
                # Most values are equal: their deviation says nothing, but the mean deviation does unless all are.
                spread = spread or float(np.mean(np.abs(known - np.mean(known))))
                weights[feature] = 1.0 / spread if spread > 0 else 1.0
    if isinstance(costs, Mapping):
        for feature, cost in costs.items():
            weights[feature_index(feature, ensemble)] = float(cost)
    elif costs is not None:
        weights = np.array(costs, dtype=np.float64)
        if weights.shape != (ensemble.n_features,):
            raise InvalidInputError(
                f"costs must be a mapping, or one number for each of {ensemble.n_features} features"
            )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidInputError("costs must be finite and not negative; name features that must not change in fixed=")
    return weights
