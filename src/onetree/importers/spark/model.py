"""Spark's classifiers of trees, from the folders that it saves them in.

A forest adds the class fractions of each tree in float64, in the order of the trees; the first largest sum wins.
Gradient boosted trees add each tree's number times its weight; the second class wins iff the sum is above zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.importers.pipeline import compose
from onetree.importers.set_tests import SetTest, known_categories, set_fields
from onetree.importers.sizes import MAX_CLASSES, too_many_values
from onetree.importers.spark.folder import Metadata, read_metadata, read_rows
from onetree.importers.spark.stages import Stages, names
from onetree.model.categories import Categories
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble, Rule

_MODELS = ("DecisionTreeClassificationModel", "RandomForestClassificationModel", "GBTClassificationModel")
_MAX_FEATURES = 1_000_000
_MAX_CATEGORIES = 1 << 20
_MAX_STAGES = 1000


@dataclass
class _Trees:
    roots: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)
    sets: list[SetTest] = field(default_factory=list)
    n_categories: dict[int, int] = field(default_factory=dict)


def parse_spark(path: Path, *, missing: str = "auto") -> Ensemble:
    """Read a folder that `model.save` or `model.write().save` wrote."""
    metadata = read_metadata(path)
    if metadata.name == "PipelineModel":
        return _read_pipeline(path, metadata, missing)
    if metadata.name not in _MODELS:
        raise UnsupportedModelError(
            f"the folder holds a {metadata.name[:80]}, which is not read; of Spark's models, {', '.join(_MODELS)} are"
        )
    return read_model(path, metadata, missing)


def _read_pipeline(path: Path, metadata: Metadata, missing: str) -> Ensemble:
    """Read trees on the columns of the frame that the pipeline gets."""
    uids = metadata.params.get("stageUids")
    if not isinstance(uids, list) or not 0 < len(uids) <= _MAX_STAGES or not all(isinstance(uid, str) for uid in uids):
        raise ModelFileError("the metadata of a pipeline must name its stages")
    before: list[tuple[Path, Metadata]] = []
    last: tuple[Path, Metadata] | None = None
    for at, uid in enumerate(uids):
        folder = path / "stages" / f"{at:0{len(str(len(uids)))}d}_{uid}"
        if Path(uid).name != uid or not folder.is_dir():
            raise ModelFileError(f"the stage {uid[:80]!r} of the pipeline is missing")
        stage = read_metadata(folder)
        if last is None and stage.name in _MODELS:
            last = folder, stage
        elif last is None:
            before.append((folder, stage))
        elif stage.name != "IndexToString":  # which leaves the prediction as it is
            raise UnsupportedModelError(f"after the trees comes the stage {stage.name[:80]}, which is not read")
    if last is None:
        raise UnsupportedModelError(f"the pipeline has none of {', '.join(_MODELS)}")
    trees, features = read_model(*last, missing), str(last[1].params.get("featuresCol", "features"))
    needed = {features}
    for _, stage in reversed(before):
        if needed & set(names(stage, "output")):
            needed |= set(names(stage, "input"))
    stages = Stages(needed)
    for folder, stage in before:
        if needed & set(names(stage, "output")):
            stages.add(folder, stage)
    columns = stages.made[features].columns if features in stages.made else ()
    if len(columns) != trees.n_features:
        raise UnsupportedModelError(
            f"the trees have {trees.n_features} features, but the pipeline makes a column {features[:80]!r} with "
            f"{len(columns)}; save the trees alone"
        )
    raw = stages.raw_columns(lambda at: missing == "follow" or (missing == "auto" and at in stages.fills_gaps))
    return compose(trees, raw, columns, stages.evaluate(features), frame=Columns(named=True))


def read_model(path: Path, metadata: Metadata, missing: str) -> Ensemble:
    """Read a classifier of trees."""
    boosted = metadata.name == "GBTClassificationModel"
    if metadata.params.get("thresholds"):
        raise UnsupportedModelError("this Spark model has thresholds, which are not read; save it without them")
    n_features = _count(metadata, "numFeatures", _MAX_FEATURES)
    n_classes = 2 if boosted else _count(metadata, "numClasses", MAX_CLASSES)
    if n_classes < 2:
        raise UnsupportedModelError("this Spark model knows a single class; train it on two or more")
    rows = read_rows(path / "data")
    n_scores = 1 if boosted else n_classes
    if too_many_values(len(rows), n_scores):
        raise UnsupportedModelError(f"{len(rows):,} nodes with {n_scores} scores each are more than can be held")
    alone = metadata.name == "DecisionTreeClassificationModel"
    nodes: dict[int, list[Any]] = {0: list(rows)} if alone else {}
    weights = {0: 1.0}
    if not alone:
        for row in rows:
            nodes.setdefault(_whole(row.get("treeID")), []).append(row.get("nodeData"))
        said = read_rows(path / "treesMetadata")
        weights = {_whole(row.get("_1", row.get("treeID"))): _number(row.get("_3", row.get("weights"))) for row in said}
        if sorted(nodes) != sorted(weights) or len(nodes) != _count(metadata, "numTrees", len(rows)):
            raise ModelFileError("the trees of this Spark model are not as many as its metadata say")
    trees = _Trees()
    for number in sorted(nodes):
        weight = weights[number] if boosted else None
        _add_tree(trees, nodes[number], n_features, n_scores, weight, alone=alone)
    return _join(trees, n_features, n_classes, Rule("score" if boosted else "scores"), missing)


def _add_tree(
    trees: _Trees, nodes: Sequence[Any], n_features: int, n_scores: int, weight: float | None, *, alone: bool
) -> None:
    """Append a tree, whose nodes are numbered from its root on."""
    by_id: dict[int, Mapping[str, Any]] = {}
    for node in nodes:
        if not isinstance(node, dict) or _whole(node.get("id")) in by_id:
            raise ModelFileError("two nodes of a tree have the same number, or one has none")
        by_id[_whole(node["id"])] = node
    first = len(trees.feature)
    if sorted(by_id) != list(range(len(by_id))):
        raise ModelFileError("the nodes of a tree are not numbered from 0 on")
    trees.roots.append(first)
    for number in range(len(by_id)):
        node = by_id[number]
        left, right = (_whole(node.get(key)) for key in ("leftChild", "rightChild"))
        leaf = left < 0
        if leaf != (right < 0) or max(left, right) >= len(by_id):
            raise ModelFileError("a node has one child alone, or one that does not exist")
        trees.left.append(-1 if leaf else first + left)
        trees.right.append(-1 if leaf else first + right)
        trees.threshold.append(0.0)
        trees.feature.append(-1)
        if leaf:
            trees.values.append(_value(node, n_scores, weight, alone))
        else:
            trees.values.append([0.0] * n_scores)
            _add_split(trees, node.get("split"), n_features)


def _value(node: Mapping[str, Any], n_scores: int, weight: float | None, alone: bool) -> list[float]:
    if weight is not None:
        return [weight * _number(node.get("prediction"))]
    counts = node.get("impurityStats")
    if not isinstance(counts, list) or len(counts) != n_scores:
        raise ModelFileError(f"a leaf must have {n_scores} class counts")
    numbers = [_number(count) for count in counts]
    if alone:
        return numbers
    total = 0.0
    for number in numbers:
        total += number
    return [number / total for number in numbers] if total != 0 else [0.0] * n_scores


def _add_split(trees: _Trees, split: Any, n_features: int) -> None:
    """Note what the last node asks."""
    node = len(trees.feature) - 1
    if not isinstance(split, dict):
        raise ModelFileError("a node has no split")
    feature, n_categories = _whole(split.get("featureIndex")), _whole(split.get("numCategories"))
    numbers = split.get("leftCategoriesOrThreshold")
    if not 0 <= feature < n_features or not isinstance(numbers, list):
        raise ModelFileError("a split is on a feature that does not exist, or has no threshold")
    trees.feature[node] = feature
    given = [_number(number) for number in numbers]
    if n_categories < 0:
        if len(given) != 1:
            raise ModelFileError("a split has not one threshold")
        trees.threshold[node] = given[0]
        return
    if n_categories > _MAX_CATEGORIES or len(set(given)) != len(given) or not set(given) <= set(range(n_categories)):
        raise ModelFileError("the categories of a split are not those of its feature")
    # Spark holds the smaller side; what is in neither, and NaN, goes where the larger one goes.
    small = len(given) <= n_categories // 2
    named = given if small else sorted(set(range(n_categories)) - set(given))
    trees.n_categories[feature] = max(n_categories, trees.n_categories.get(feature, 0))
    trees.sets.append(SetTest(node, feature, np.array(sorted(named), dtype=np.float64), small, not small, not small))


def _join(trees: _Trees, n_features: int, n_classes: int, rule: Rule, missing: str) -> Ensemble:
    names = tuple(f"x{i}" for i in range(n_features))
    known = {at: np.arange(n, dtype=np.float64) for at, n in trees.n_categories.items()}
    categories = known_categories(trees.sets, known, lambda _, codes: Categories.equal(codes), n_features)
    feature, value = np.array(trees.feature), np.array(trees.values)
    try:
        return Ensemble(
            classes=np.arange(n_classes, dtype=np.float64),
            feature_names=names,
            roots=np.array(trees.roots),
            feature=feature,
            threshold=np.array(trees.threshold),
            children_left=np.array(trees.left),
            children_right=np.array(trees.right),
            missing_left=np.zeros(len(feature), dtype=np.bool_),
            value=value,
            base=np.zeros(value.shape[1]),
            rule=rule,
            nan_features=np.full(n_features, missing == "follow"),
            columns=Columns(named=False),
            **set_fields(trees.sets, categories, feature, names),
        )
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None


def _count(metadata: Metadata, key: str, most: int) -> int:
    found = metadata.more.get(key)
    if type(found) is not int or not 0 <= found <= most:
        raise ModelFileError(f"{key} in the metadata must be an integer up to {most:,}, not {str(found)[:40]}")
    return found


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise ModelFileError(f"the model has {str(number)[:40]!r} where an integer should be")
    return number


def _number(number: Any) -> float:
    if type(number) not in (int, float) or not np.isfinite(number):
        raise ModelFileError(f"the model has {str(number)[:40]!r} where a finite number should be")
    return float(number)
