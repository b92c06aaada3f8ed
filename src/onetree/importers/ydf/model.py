"""YDF's random forests and gradient boosted trees for classes, as `predict_class` says them.

Sums are float32, in the order of the trees. Two classes: the second one iff its probability is at least 0.5, or if the
model gives logits, iff the logit is. More classes: the first largest. The initial prediction of boosted trees comes
first or last, depending on which of its engines the library runs.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import FidelityError, InvalidInputError, UnsupportedModelError
from onetree.errors import missing as missing_package
from onetree.importers.cut import last_score
from onetree.importers.self_test import quick_scores, sample_rows, self_test
from onetree.importers.set_tests import SetTest, known_categories, set_fields
from onetree.importers.sizes import too_many_values
from onetree.importers.thresholds import canonical_thresholds_below
from onetree.importers.ydf.features import Feature, read_features
from onetree.importers.ydf.nodes import FlatTrees, read_nodes
from onetree.model.categories import Categories
from onetree.model.columns import Columns
from onetree.model.ensemble import Ensemble, Rule

_BASE_FIRST = ("GradientBoostedTreesQuickScorerExtended", "GradientBoostedTreesQuickScorerExtendedHighway")
_BASE_LAST = ("GradientBoostedTreesOptPred", "GradientBoostedTreesGeneric")
_FORESTS = ("RandomForestOptPred", "RandomForestGeneric")


def import_ydf(model: Any, *, missing: str = "auto") -> Ensemble:
    """Read a trained model and check it against its own `predict_class`."""
    try:
        import ydf
    except ImportError:
        raise missing_package("ydf", "ydf") from None
    name = type(model).__name__
    if not isinstance(model, ydf.RandomForestModel | ydf.GradientBoostedTreesModel):
        raise UnsupportedModelError(f"{name} is not one of YDF's random forests or gradient boosted trees")
    if model.task() != ydf.Task.CLASSIFICATION:
        raise UnsupportedModelError(f"this {name} was trained for {model.task().name}; onetree needs a classifier")
    engines = model.list_compatible_engines()
    if not engines:
        raise UnsupportedModelError(
            f"none of YDF's engines runs this {name}, and the arithmetic of its slow predictor is not read; train it "
            'with missing_value_policy="GLOBAL_IMPUTATION"'
        )
    engine = engines[0]
    if engine not in (*_BASE_FIRST, *_BASE_LAST, *_FORESTS):
        raise UnsupportedModelError(f"this {name} runs on the engine {engine!r}, whose arithmetic is not known")
    ensemble = _ensemble(model, read_features(model), engine, missing)
    _check(ensemble, model)
    return ensemble


def load_ydf(path: Any, *, missing: str = "auto") -> Ensemble:
    """Read a folder that `model.save` wrote."""
    try:
        import ydf
    except ImportError:
        raise missing_package("ydf", "ydf") from None
    try:
        model = ydf.load_model(str(path))
    except (ValueError, RuntimeError) as error:
        raise UnsupportedModelError(f"YDF does not read this folder: {str(error)[:300]}") from None
    return import_ydf(model, missing=missing)


def _ensemble(model: Any, features: Sequence[Feature], engine: str, missing: str) -> Ensemble:
    columns = {int(index): at for at, index in enumerate(model.input_features_col_idxs())}
    labels = np.array(model.label_classes())
    n_classes, n_trees = len(labels), model.num_trees()
    if n_classes < 2 or n_trees == 0:
        raise UnsupportedModelError("this YDF model has no trees, or a single class")
    flat = read_nodes((model._model.GetTree(i) for i in range(n_trees)), columns, features)
    forest = engine in _FORESTS
    n_scores = 1 if n_classes == 2 else n_classes
    if too_many_values(len(flat.feature), n_scores):
        raise UnsupportedModelError(
            f"{len(flat.feature):,} nodes with {n_scores} scores each are more than can be held"
        )
    value = _votes(flat, model, n_classes) if forest else _leaf_scores(flat, n_scores)
    base = (
        np.zeros(n_scores) if forest else np.asarray(model.initial_predictions(), dtype=np.float32).astype(np.float64)
    )
    rule, base, last = _rule(model, n_classes, base, engine)
    if last is not None:
        flat.add_leaf()
        value = np.concatenate([value, last[np.newaxis]])
    empty = [_code_of_empty(flat, at, feature) for at, feature in enumerate(features)]
    tests = []
    for node, (codes, other, to_missing) in flat.sets.items():
        at = flat.feature[node]
        named = _with_empty(codes, empty[at], to_missing, features[at])
        tests.append(SetTest(node, at, named, False, not other, not to_missing))
    names = tuple(feature.name for feature in features)
    known = {
        at: np.unique([*range(1, len(feature.values) + 1), empty[at]]).astype(np.float64)
        for at, feature in enumerate(features)
        if feature.kind == "CATEGORICAL"
    }
    categories = known_categories(tests, known, lambda at, codes: _categories(features[at], codes), len(names))
    feature = np.array(flat.feature)
    try:
        return Ensemble(
            classes=labels,
            feature_names=names,
            roots=np.array(flat.roots),
            feature=feature,
            threshold=_thresholds(flat),
            children_left=np.array(flat.left),
            children_right=np.array(flat.right),
            missing_left=~np.array(flat.missing_positive),
            value=value,
            base=base,
            rule=rule,
            nan_features=_nan_features(features, missing),
            columns=Columns(
                named=True,
                labels=tuple(each.labels(empty[at]) for at, each in enumerate(features)),
                integers="float32",
            ),
            **set_fields(tests, categories, feature, names),
        )
    except InvalidInputError as error:
        raise UnsupportedModelError(f"this YDF model is damaged: {error}") from None


def _thresholds(flat: FlatTrees) -> NDArray[np.float64]:
    """Return the largest number below each threshold; a question for missing values alone has none."""
    threshold = np.array(flat.threshold, dtype=np.float32)
    below: NDArray[np.float64] = canonical_thresholds_below(np.where(np.isinf(threshold), 0, threshold))
    return np.where(np.isinf(threshold), np.inf, below)


def _nan_features(features: Sequence[Feature], missing: str) -> NDArray[np.bool_]:
    takes = [feature.kind != "BOOLEAN" and (missing == "follow" or feature.met_nan) for feature in features]
    return np.array(takes, dtype=np.bool_) & (missing != "refuse")


def _votes(flat: FlatTrees, model: Any, n_classes: int) -> NDArray[np.float64]:
    """Return what each leaf of a forest adds: its share of one vote, or of the classes, in float32."""
    n_trees = model.num_trees()
    value = np.zeros((len(flat.feature), n_classes), dtype=np.float32)
    for node, leaf in enumerate(flat.leaves):
        if leaf is None:
            continue
        top, counts, total = leaf
        if len(counts) != n_classes + 1 or not 1 <= top <= n_classes or not total > 0:
            raise UnsupportedModelError("a leaf of this forest does not fit its classes, or has none")
        if model.winner_takes_all():
            value[node, top - 1] = np.float32(1) / np.float32(n_trees)
        else:
            value[node] = (np.array(counts[1:]) / (total * n_trees)).astype(np.float32)
    return value[:, 1:].astype(np.float64) if n_classes == 2 else value.astype(np.float64)


def _leaf_scores(flat: FlatTrees, n_scores: int) -> NDArray[np.float64]:
    """Return the number of each leaf, for the class whose turn it is."""
    value = np.zeros((len(flat.feature), n_scores))
    tree_of = np.repeat(np.arange(len(flat.roots)), np.diff([*flat.roots, len(flat.feature)]))
    for node, number in enumerate(flat.scores):
        value[node, int(tree_of[node]) % n_scores] = np.float32(number)
    return value


def _rule(
    model: Any, n_classes: int, base: NDArray[np.float64], engine: str
) -> tuple[Rule, NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the rule, where the sums start, and what is added last as a leaf of its own."""
    nothing = np.zeros_like(base)
    if engine in _FORESTS:
        if n_classes == 2:
            return Rule("score", dtype="float32", cut=0.5, cut_inclusive=True), base, None
        return Rule("scores", dtype="float32"), base, None
    logits = bool(model.output_logits())
    if n_classes > 2:
        if not logits:
            raise UnsupportedModelError(
                "the probabilities of gradient boosted trees for more than two classes round scores that differ to "
                "the same number, which is not read; call model.set_output_logits(True) first: the largest stays it"
            )
        return Rule("scores", dtype="float32"), nothing, base if base.any() else None
    first = engine in _BASE_FIRST
    offset = np.float32(0) if first else np.float32(base[0])

    def below(score: float) -> bool:
        with np.errstate(over="ignore", under="ignore"):
            total = np.float32(score) + offset
            if logits:
                return bool(total < 0.5)
            return bool(np.float32(1) / (np.float32(1) + _exp(-total)) < 0.5)

    cut = last_score(below)
    if cut is None:
        raise UnsupportedModelError(f"with the initial prediction {base[0]!r} the class never changes")
    single = np.float32(cut)
    single = single if float(single) <= cut else np.nextafter(single, np.float32(-np.inf))
    return Rule("score", dtype="float32", cut=float(single)), base if first else nothing, None


def _exp(x: np.float32) -> np.float32:
    try:
        return np.float32(math.exp(float(x)))
    except OverflowError:
        return np.float32(np.inf)


def _code_of_empty(flat: FlatTrees, at: int, feature: Feature) -> float:
    """Return the code of the empty text, which is a missing value: that of the usual category, if all tests agree."""
    if feature.kind != "CATEGORICAL" or (
        1 <= feature.usual <= len(feature.values)
        and all(
            to_missing == (feature.usual in codes)
            for node, (codes, _, to_missing) in flat.sets.items()
            if flat.feature[node] == at
        )
    ):
        return float(feature.usual)
    return float(len(feature.values) + 1)


def _with_empty(codes: set[int], empty: float, to_missing: bool, feature: Feature) -> NDArray[np.float64]:
    """Return the codes that a test names, the empty text's among them if it goes where missing values go."""
    extra = {int(empty)} if empty > len(feature.values) and to_missing else set()
    return np.array(sorted(codes | extra), dtype=np.float64)


def _categories(feature: Feature, codes: NDArray[np.float64]) -> Categories:
    names = [str(feature.values[int(code) - 1]) if code <= len(feature.values) else "" for code in codes]
    return Categories.equal(codes, names)


def _check(ensemble: Ensemble, model: Any) -> None:
    features = read_features(model)

    def rows(X: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        return {feature.name: feature.as_given(X[:, at]) for at, feature in enumerate(features)}

    self_test(ensemble, lambda X: np.asarray(model.predict_class(rows(X))), type(model).__name__)
    if ensemble.rule.kind == "score":
        _check_scores(ensemble, model, rows)


def _check_scores(ensemble: Ensemble, model: Any, rows: Any) -> None:
    """Compare sums as well, to the last bit: with a forest's probabilities, or with logits of a copy of the model."""
    import ydf

    X = sample_rows(ensemble, np.random.default_rng(1))
    scores = quick_scores(ensemble, X)[:, 0]
    if isinstance(model, ydf.GradientBoostedTreesModel):
        model = ydf.deserialize_model(model.serialize())
        model.set_output_logits(True)
        if not ensemble.base.any():
            scores = scores + np.float32(model.initial_predictions()[0])
    expected = np.asarray(model.predict(rows(X)))
    if not np.array_equal(expected, np.clip(scores, 0, 1) if isinstance(model, ydf.RandomForestModel) else scores):
        raise FidelityError(
            "import self-test: the sums of this YDF model differ from those of the ensemble read from it"
        )
