"""XGBoost's tree models: `Booster`, `XGBClassifier`, `XGBRegressor`, those of forests, JSON and UBJ files.

All are read from the file format, which is exact; a live model is then compared with its own predictions, and its
margins to the last bit. A file that an `XGBClassifier` saved is read as that class predicts (up to the best
iteration), any other as `Booster.predict` does (all trees). Margins are added in float32 in the order of the trees.

An input goes left iff float32(x) < threshold; NaN follows each split's default direction. Training without missing
values leaves the same default at all splits (right with hist and approx, left with exact), so a model whose splits
differ in it has met NaN.

A category is float32(x) without its fraction. At a split by categories, those that it names go right, and all other
numbers left, also negative ones and ones that are too large for a category. The default direction of such a split
shows nothing: without NaN in training, rounding decides it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.errors import missing as missing_package
from onetree.importers.outputs import wanted, with_stages
from onetree.importers.self_test import self_test
from onetree.importers.set_tests import SetTest, known_categories, set_fields
from onetree.importers.sizes import too_many_values
from onetree.importers.thresholds import canonical_thresholds_below
from onetree.importers.xgboost.file import FileModel, FileTree, read_json, read_ubj
from onetree.importers.xgboost.missing_value import with_missing_value
from onetree.importers.xgboost.objectives import (
    REGRESSION,
    RULES,
    VALUE,
    base_margin,
    probability_stages,
    value_stages,
    why_not,
)
from onetree.model.categories import Categories
from onetree.model.columns import Columns, Labels, plain_values
from onetree.model.ensemble import Ensemble


def import_xgboost(model: Any, *, missing: str = "auto", output: str = "class") -> Ensemble:
    """Read a trained XGBoost model and check it against its own predictions.

    Parameters
    ----------
    model : xgboost.Booster, XGBClassifier, XGBRegressor, XGBRFClassifier or XGBRFRegressor
    missing : {"auto", "follow", "refuse"}
        Whether NaN is an input; "auto" if the model shows that it met NaN in training.
    output : {"auto", "class", "probability", "value"}
    """
    try:
        import xgboost
    except ImportError:
        raise missing_package("xgboost", "xgboost") from None
    name = type(model).__name__
    if isinstance(model, xgboost.Booster):
        booster, classes, wrapped = model, None, False
    elif isinstance(model, xgboost.XGBClassifier):
        booster, classes, wrapped = _unwrap(model), np.asarray(model.classes_), True
    elif isinstance(model, xgboost.XGBRegressor):
        booster, classes, wrapped = _unwrap(model), None, True
    else:
        raise UnsupportedModelError(
            f"{name} is not a model of XGBoost that can be read; give a Booster, XGBClassifier or XGBRegressor, or one "
            "of their forests"
        )
    try:
        file = read_ubj(bytes(booster.save_raw("ubj")))
        is_regressor = isinstance(model, xgboost.XGBRegressor) or _is_regression(file)
        output = wanted(output, is_regressor=is_regressor, name=name)
        ensemble = _ensemble(file, wrapped=wrapped, missing=missing, classes=classes, output=output)
    except xgboost.core.XGBoostError:
        raise UnsupportedModelError(f"this {name} is not trained; call xgboost.train or fit(X, y) first") from None
    except ModelFileError as error:
        raise UnsupportedModelError(f"this {name} is damaged: {error}; train it again") from None
    if wrapped and file.objective == "multi:softprob" and file.n_groups == 2:
        raise UnsupportedModelError(
            f"this {name} has two classes and the objective multi:softprob, for which its predict returns no classes; "
            "use binary:logistic, or pass model.get_booster()"
        )
    if wrapped and model.missing is not None and not np.isnan(model.missing):
        ensemble = with_missing_value(ensemble, model.missing, name)

    def margins_of(X: NDArray[np.float64]) -> Any:
        if wrapped:
            return model.predict(X, output_margin=True, validate_features=False)
        return booster.predict(xgboost.DMatrix(X), output_margin=True, validate_features=False)

    def predict(X: NDArray[np.float64]) -> NDArray[Any]:
        if wrapped:
            return np.asarray(model.predict(X, validate_features=False))
        predicted = booster.predict(xgboost.DMatrix(X), validate_features=False)
        return predicted if output == "value" else _classes_of(predicted, file.objective)

    def numbers(X: NDArray[np.float64]) -> NDArray[Any]:
        if wrapped:
            return np.asarray(model.predict_proba(X, validate_features=False))
        predicted = booster.predict(xgboost.DMatrix(X), validate_features=False)
        return predicted if predicted.ndim == 2 else np.stack([1 - predicted, predicted], axis=1)

    self_test(ensemble, predict, name, margins=margins_of, numbers=numbers)
    return ensemble


def _is_regression(file: FileModel) -> bool:
    """Whether a file says that it is a regressor, by its objective or by the class that saved it."""
    saved_by = file.attributes.get("scikit_learn", "")
    return file.objective in REGRESSION or '"_estimator_type": "regressor"' in saved_by


def parse_xgboost_json(content: bytes, *, missing: str = "auto", output: str = "auto") -> Ensemble:
    """Read a model from the content of a file that XGBoost saved as JSON."""
    return _ensemble_of_file(read_json(content), missing, output)


def parse_xgboost_ubj(content: bytes, *, missing: str = "auto", output: str = "auto") -> Ensemble:
    """Read a model from the content of a file that XGBoost saved as UBJSON."""
    return _ensemble_of_file(read_ubj(content), missing, output)


def _ensemble_of_file(file: FileModel, missing: str, output: str) -> Ensemble:
    output = wanted(output, is_regressor=_is_regression(file), name="this XGBoost model")
    return _ensemble(file, wrapped=file.from_scikit_learn_wrapper, missing=missing, output=output)


def _unwrap(model: Any) -> Any:
    """Return the booster of an `XGBClassifier` or `XGBRegressor`."""
    name = type(model).__name__
    if getattr(model, "_Booster", None) is None:
        raise UnsupportedModelError(f"this {name} is not fitted; call fit(X, y) first")
    if callable(model.objective):
        raise UnsupportedModelError(
            f"this {name} was trained with a custom objective, so the meaning of its scores is unknown; if they are "
            "to be read as those of binary:logistic or multi:softprob, pass model.get_booster()"
        )
    return model.get_booster()


def _classes_of(predicted: NDArray[Any], objective: str) -> NDArray[Any]:
    """Return the class indices for what `Booster.predict` returns."""
    if objective == "multi:softprob":
        index: NDArray[Any] = np.argmax(predicted, axis=1)
    elif objective == "multi:softmax":
        index = predicted.astype(np.int64)
    else:
        index = (predicted > 0.5).astype(np.int64)
    return index


def _ensemble(
    file: FileModel, *, wrapped: bool, missing: str, output: str, classes: NDArray[Any] | None = None
) -> Ensemble:
    rule = VALUE if output == "value" else RULES.get(file.objective)
    stages = value_stages(file.objective) if output == "value" else ()
    if rule is None:
        raise UnsupportedModelError(why_not(file.objective))
    if output == "probability":
        stages = probability_stages(file.objective, wrapped)
    n_classes = 0 if output == "value" else 2 if rule.kind == "score" else file.n_groups
    if (rule.kind in ("score", "value")) != (file.n_groups == 1):
        raise ModelFileError(f"the objective {file.objective} does not go with {file.n_groups} scores")
    if classes is None or len(classes) != n_classes:  # fitted on one class, a binary model still predicts two
        classes = np.arange(n_classes) if n_classes else np.empty(0)
    stop = file.best_iteration if wrapped else None
    n_trees = len(file.trees) if stop is None else int(file.n_trees_after[stop + 1])
    if n_trees == 0:
        raise UnsupportedModelError("this XGBoost model has no trees; train it for one round or more")
    trees = file.trees[:n_trees]
    sizes = [len(tree.feature) for tree in trees]
    if too_many_values(sum(sizes), file.n_groups):
        raise ModelFileError(f"{file.n_groups} scores at {sum(sizes)} nodes are more than can be held")
    offset = np.cumsum([0, *sizes[:-1]])
    feature, left, right, number, default_left = (
        np.concatenate([getattr(tree, key) for tree in trees])
        for key in ("feature", "left", "right", "number", "default_left")
    )
    inner = feature >= 0
    base = base_margin(file)
    leaf_value = _weighted(number, np.repeat(np.arange(n_trees), sizes), file, base, wrapped)
    value = np.zeros((len(feature), file.n_groups))
    value[np.arange(len(feature)), np.repeat(file.group[:n_trees], sizes)] = leaf_value
    for tree, begin in zip(trees, offset.tolist(), strict=True):
        if tree.vector is not None:
            _refuse_weights(file)
            value[begin : begin + len(tree.vector)] = tree.vector
    tests = _set_tests(trees, offset)
    by_set = np.zeros(len(feature), dtype=np.bool_)
    by_set[[test.node for test in tests]] = True
    met_nan = len(np.unique(default_left[inner & ~by_set])) == 2
    try:
        ensemble = Ensemble(
            classes=classes,
            feature_names=file.feature_names,
            roots=offset,
            feature=feature,
            threshold=canonical_thresholds_below(np.where(inner, number, np.float32(0))),
            children_left=np.where(inner, left + np.repeat(offset, sizes), -1),
            children_right=np.where(inner, right + np.repeat(offset, sizes), -1),
            missing_left=default_left,
            value=value,
            base=base.astype(np.float64),
            rule=rule,
            nan_features=np.full(len(file.feature_names), missing == "follow" or (missing == "auto" and met_nan)),
            columns=_columns(file),
            **set_fields(tests, _categories(tests, file), feature, file.feature_names),
        )
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None
    return ensemble if output == "class" else with_stages(ensemble, stages, "XGBoost model")


def _set_tests(trees: tuple[FileTree, ...], offset: NDArray[np.intp]) -> list[SetTest]:
    """Return the splits by categories; what they name goes right, everything else left."""
    return [
        SetTest(
            node=node + begin,
            feature=int(tree.feature[node]),
            codes=codes.astype(np.float64),
            named_left=False,
            other_left=True,
            missing_left=bool(tree.default_left[node]),
        )
        for tree, begin in zip(trees, offset.tolist(), strict=True)
        for node, codes in tree.categories.items()
    ]


def _categories(tests: list[SetTest], file: FileModel) -> tuple[Categories | None, ...]:
    """Return the categories of each feature: category c is every x with c <= float32(x) < c + 1."""

    def of_feature(feature: int, codes: NDArray[np.float64]) -> Categories:
        names = tuple(map(str, file.category_values.get(feature, ())))
        low, high = (canonical_thresholds_below(bound.astype(np.float32)) for bound in (codes, codes + 1))
        return Categories(tuple(codes.tolist()), low, high, names if len(names) == len(codes) else ())

    known = {feature: np.arange(float(len(values))) for feature, values in file.category_values.items()}
    return known_categories(tests, known, of_feature, len(file.feature_names))


def _columns(file: FileModel) -> Columns:
    """Return what a frame's columns mean; XGBoost itself refuses a category that it has not met."""
    values = [plain_values(file.category_values.get(feature, ())) for feature in range(len(file.feature_names))]
    return Columns(file.named, tuple(Labels(each) if each else None for each in values))


def _weighted(
    leaf: NDArray[np.float32], tree: NDArray[np.intp], file: FileModel, base: NDArray[np.float32], wrapped: bool
) -> NDArray[np.float32]:
    """Return what each leaf adds to its score, with DART's weight of its tree.

    Before version 3.3, `XGBClassifier.predict` lets each tree predict alone, base included, and subtracts the base
    again; that rounding belongs to its prediction.
    """
    if file.weight is None:
        return leaf
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # overflow is refused with the leaf values
        if wrapped and file.version < (3, 3):
            own_base = base[file.group[tree]]
            leaf = (own_base + leaf) - own_base
        return leaf * file.weight[tree]


def _refuse_weights(file: FileModel) -> None:
    if file.weight is not None:
        raise UnsupportedModelError(
            "this XGBoost model drops trees (booster='dart') that have a vector in each leaf, which is not read; train "
            "it with booster='gbtree' or multi_strategy='one_output_per_tree'"
        )
