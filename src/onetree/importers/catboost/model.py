"""CatBoost's classifiers and regressors with numeric and categorical features, live or as JSON.

Scores are float64, from 0, in the order of the trees; the sum is multiplied by the scale, then the bias is added.
Inputs are float32 when they are compared. The JSON is exact for the model that wrote it, though CatBoost itself does
not always read the same numbers back from it. A category is the hash of its text, and its number here is that hash.
"""

import math
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.errors import missing as missing_package
from onetree.importers.catboost.categories import Names, known_codes, names_in
from onetree.importers.catboost.file import BINARY, EXPONENT, MULTICLASS, REGRESSION, JsonModel, JsonTree, read_json
from onetree.importers.catboost.questions import Questions
from onetree.importers.cut import last_score
from onetree.importers.outputs import wanted, with_stages
from onetree.importers.self_test import self_test
from onetree.importers.set_tests import SetTest, known_categories, set_fields
from onetree.importers.sizes import too_many_values
from onetree.importers.thresholds import canonical_thresholds
from onetree.model.categories import OTHER
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.stages import Stage

_NO_CATEGORY = "\0 no category"


def import_catboost(model: Any, *, missing: str = "auto", data: Any = None, output: str = "class") -> Ensemble:
    """Read a fitted `CatBoostClassifier`, `CatBoostRegressor` or `CatBoost` and check it against its own `predict`.

    `data` are rows that hold the texts of its categories, of which the model itself keeps only hashes.
    """
    try:
        import catboost
    except ImportError:
        raise missing_package("catboost", "catboost") from None
    name = type(model).__name__
    if not isinstance(model, catboost.CatBoost):
        raise UnsupportedModelError(
            f"{name} is not a model of CatBoost; give a fitted CatBoostClassifier or CatBoostRegressor"
        )
    if not model.is_fitted():
        raise UnsupportedModelError(f"this {name} is not fitted; call fit(X, y) first")
    _refuse_other_features(model)
    with tempfile.TemporaryDirectory(prefix="onetree-") as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content = path.read_bytes()
    file = read_json(content)
    output = wanted(output, is_regressor=file.loss in REGRESSION, name=name)
    exponent = isinstance(model, catboost.CatBoostRegressor) and model._get_default_prediction_type() == "Exponent"
    ensemble, names = _ensemble(file, missing, data, output, exponent=exponent)

    def predicted(X: NDArray[np.float64], **options: str) -> NDArray[Any]:
        return np.asarray(model.predict(_as_given(X, ensemble, names), thread_count=1, **options))

    def predict(X: NDArray[np.float64]) -> NDArray[Any]:
        return np.ravel(predicted(X) if output == "value" else predicted(X, prediction_type="Class"))

    self_test(
        ensemble,
        predict,
        name,
        rows=lambda X: _with_names(X, ensemble, names),
        numbers=lambda X: predicted(X, prediction_type="Probability"),
    )
    return ensemble


def parse_catboost_json(content: bytes, *, missing: str = "auto", data: Any = None, output: str = "auto") -> Ensemble:
    """Read an ensemble from the content of a file that CatBoost's `save_model(path, format="json")` wrote."""
    file = read_json(content)
    output = wanted(output, is_regressor=file.loss in REGRESSION, name="this CatBoost model")
    return _ensemble(file, missing, data, output, exponent=file.loss in EXPONENT)[0]


def _with_names(X: NDArray[np.float64], ensemble: Ensemble, names: Names) -> NDArray[np.float64]:
    """Return rows without the categories of which the text is not known: CatBoost could not be asked about them."""
    rows = X.copy()
    for column, kind in enumerate(ensemble.categories):
        if kind is not None:
            nameless = [code for code in kind.codes if names.text(column, int(code)) is None]
            rows[np.isin(X[:, column], nameless), column] = kind.example(OTHER)
    return rows


def _as_given(X: NDArray[np.float64], ensemble: Ensemble, names: Names) -> NDArray[Any]:
    """Return rows as CatBoost takes them: texts in place of their hashes, and some other text for everything else."""
    if not ensemble.columns.hashed:
        return X
    rows = X.astype(object)
    for column in range(ensemble.n_features):
        if ensemble.columns.labels_of(column) is not None:
            text_of = {float(code): text for code, text in names.of_column.get(column, {}).items()}
            rows[:, column] = [text_of.get(code, _NO_CATEGORY) for code in X[:, column].tolist()]
    return rows


def _refuse_other_features(model: Any) -> None:
    """Refuse what the JSON format cannot even hold without the training data."""
    for kind, indices in (
        ("text", model.get_text_feature_indices()),
        ("embedding", model.get_embedding_feature_indices()),
    ):
        if len(indices):
            raise UnsupportedModelError(
                f"feature {model.feature_names_[indices[0]]!r} is a {kind} feature, which is not read; "
                "encode it as numbers and train on these instead"
            )


def _ensemble(model: JsonModel, missing: str, data: Any, output: str, *, exponent: bool) -> tuple[Ensemble, Names]:
    if not model.trees:
        raise UnsupportedModelError("this CatBoost model has no trees; train it for at least one iteration")
    features = model.features
    names = names_in(data, features)
    rule, trees = _summed(model)
    nodes, codes = _nodes(model, trees, names)
    sizes = [len(own.feature) for own in nodes]
    n_scores, n_features = len(model.bias), len(features.names)
    if too_many_values(sum(sizes), n_scores):
        raise UnsupportedModelError(
            f"{sum(sizes):,} nodes with {n_scores} scores each are more than can be held; use fewer or smaller trees"
        )
    roots = np.cumsum([0, *sizes[:-1]])
    offset = np.repeat(roots, sizes)
    feature = np.concatenate([own.feature for own in nodes])
    leaf = feature < 0
    tests = [
        replace(test, node=test.node + root)
        for own, root in zip(nodes, roots.tolist(), strict=True)
        for test in own.tests
    ]
    categories = known_categories(tests, codes, names.categories, n_features)
    if any(kind is not None and not kind.names for kind in categories):
        _warn_of_hashes(categories, features.names)
    takes_nan = features.has_nans if missing == "auto" else np.full(n_features, missing == "follow")
    try:
        ensemble = Ensemble(
            classes=model.labels,
            feature_names=features.names,
            roots=roots,
            feature=feature,
            threshold=canonical_thresholds(np.concatenate([own.border for own in nodes])),
            children_left=np.where(leaf, -1, np.concatenate([own.left for own in nodes]) + offset),
            children_right=np.where(leaf, -1, np.concatenate([own.right for own in nodes]) + offset),
            missing_left=~features.true_if_missing[feature],  # what a leaf gets here is not used
            value=np.concatenate([own.value for own in nodes]),
            base=np.zeros(n_scores),
            rule=rule,
            columns=names.columns(features),
            nan_features=takes_nan & ~np.isin(np.arange(n_features), features.categorical),
            **set_fields(tests, categories, feature, features.names),
        )
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None
    if output != "class":
        ensemble = with_stages(ensemble, _stages(model, exponent), "CatBoost model")
    return ensemble, names


def _summed(model: JsonModel) -> tuple[Rule, Sequence[JsonTree]]:
    """Return the rule, and the trees whose sums it takes."""
    if model.loss in REGRESSION:
        return Rule("value"), model.trees
    return _one_score(model) if model.loss in BINARY else _score_per_class(model)


def _stages(model: JsonModel, exponent: bool) -> list[Stage]:
    """Return the stages from the sums to probabilities or to a value; scale and bias come first."""
    if model.loss in MULTICLASS:  # where they are in the trees
        return [Stage("catboost-softmax", ()) if model.loss == "MultiClass" else Stage("sigmoid", (), (1.0,))]
    scale, bias = model.scale, float(model.bias[0])
    moved = [] if (scale, bias) == (1.0, 0.0) else [Stage("affine", (), (scale, bias))]
    if model.loss in REGRESSION:
        return [*moved, Stage("catboost-exp", ())] if exponent else moved
    # The score of a classifier has opposite leaves for an opposite scale, and is the bias itself for none.
    moved = [] if scale == 0 or not moved else [Stage("affine", (), (abs(scale), bias))]
    return [*moved, Stage("sigmoid", (), (1.0,)), Stage("pair", ())]


@dataclass(frozen=True, eq=False)
class _Nodes:
    """A tree as an `Ensemble` holds it; its tests have nodes of the tree."""

    feature: NDArray[np.int32]
    border: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]
    tests: Sequence[SetTest] = ()


def _nodes(
    model: JsonModel, trees: Sequence[JsonTree], names: Names
) -> tuple[list[_Nodes], dict[int, NDArray[np.float64]]]:
    """Return the trees with splits of single columns, and the categories that each column has."""
    codes = known_codes(model.features, model.splits, names)
    questions = Questions(model.features, model.splits, codes)
    numeric = [bool((tree.split < model.splits.n_borders).all()) for tree in trees]
    nodes = [
        _of_borders(tree, model) if plain else _of_questions(tree, questions)
        for tree, plain in zip(trees, numeric, strict=True)
    ]
    return nodes, {column: own.astype(np.float64) for column, own in codes.items()}


def _of_borders(tree: JsonTree, model: JsonModel) -> _Nodes:
    leaf = tree.split < 0
    # A model without any border still has trees, of one leaf each.
    column, border = (
        np.append(own, own.dtype.type(0))[tree.split] for own in (model.splits.column, model.splits.border)
    )
    feature = np.where(leaf, -1, column).astype(np.int32)
    return _Nodes(feature, np.where(leaf, np.float32(0), border), tree.left, tree.right, tree.value)


def _of_questions(tree: JsonTree, questions: Questions) -> _Nodes:
    flat = questions.flatten(tree)
    feature = np.full(len(flat.tests), -1, dtype=np.int32)
    border = np.zeros(len(feature), dtype=np.float32)
    tests = []
    for node, test in enumerate(flat.tests):
        if test is None:
            continue
        feature[node] = test.column
        if test.column not in questions.points.codes:
            border[node] = questions.points.cuts[test.column][np.argmax(test.right) - 1]
            continue
        named = questions.points.codes[test.column][test.right[1:]].astype(np.float64)
        other_left = not test.right[0]
        tests.append(SetTest(node, test.column, named, False, other_left, missing_left=other_left))
    return _Nodes(feature, border, flat.left, flat.right, flat.value, tests)


def _warn_of_hashes(categories: Sequence[Any], feature_names: Sequence[str]) -> None:
    name = next(
        name for name, kind in zip(feature_names, categories, strict=True) if kind is not None and not kind.names
    )
    warnings.warn(
        f"CatBoost keeps no names of categories, so those of {name!r} are shown as hashes; give rows that hold them, "
        "such as the training data: Ensemble.from_model(model, data=X), or load_ensemble(path, data=X)",
        stacklevel=2,
    )


def _one_score(model: JsonModel) -> tuple[Rule, Sequence[JsonTree]]:
    """Return a cut that takes scale and bias into account: class 1 iff scale * score + bias > cut of CatBoost."""
    scale, bias, threshold = abs(model.scale), float(model.bias[0]), model.probability_threshold
    cut = None
    if 0 < threshold < 1:
        logit = -math.log(1 / threshold - 1)
        if scale == 0:  # the bias alone decides
            return Rule("score", cut=logit), [_one_leaf(model.bias)]
        cut = last_score(lambda score: scale * score + bias <= logit)
    if cut is None:
        raise UnsupportedModelError(
            f"with scale {model.scale!r}, bias {bias!r} and probability threshold {threshold!r} the class never "
            "changes; see set_scale_and_bias and set_probability_threshold"
        )
    if model.scale > 0:
        return Rule("score", cut=cut), model.trees
    # Rounding knows no sign, so opposite scale and opposite leaves give the same score.
    return Rule("score", cut=cut), [replace(tree, value=-tree.value) for tree in model.trees]


def _score_per_class(model: JsonModel) -> tuple[Rule, Sequence[JsonTree]]:
    """Return the trees, the bias as a last tree of one leaf; the first largest score wins."""
    if model.scale == 0:
        return Rule("scores"), [_one_leaf(model.bias)]
    power_of_two = abs(math.frexp(model.scale)[0]) == 0.5
    with np.errstate(over="ignore", under="ignore"):
        trees = [replace(tree, value=tree.value * model.scale) for tree in model.trees]
        exact = power_of_two and all(
            np.array_equal(new.value / model.scale, old.value) for new, old in zip(trees, model.trees, strict=True)
        )
    if not exact:
        raise UnsupportedModelError(
            f"the scores of the classes are multiplied by {model.scale!r}, which rounds them; "
            "call set_scale_and_bias(1, bias) first: without a bias the classes stay the same"
        )
    if model.bias.any():
        trees.append(_one_leaf(model.bias))
    return Rule("scores"), trees


def _one_leaf(value: NDArray[np.float64]) -> JsonTree:
    nothing = np.full(1, -1, dtype=np.int32)
    return JsonTree(nothing, nothing, nothing, value[np.newaxis])
