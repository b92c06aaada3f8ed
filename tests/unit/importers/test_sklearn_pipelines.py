"""Pipelines of scikit-learn as ensembles on their raw columns: the pipeline's own `predict` is the judge."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

import onetree
from onetree import Ensemble, InvalidInputError, UnsupportedModelError
from onetree.importers.self_test import sample_rows
from tests.tiers import is_full

RNG = np.random.default_rng(0)
N = 300


def frame():
    """Return numbers with gaps, integers, and texts with gaps."""
    income = RNG.lognormal(8, 1, N)
    income[RNG.random(N) < 0.1] = np.nan
    colour = RNG.choice(["red", "green", "blue"], N).astype(object)
    colour[RNG.random(N) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "age": RNG.integers(18, 80, N),
            "colour": colour,
            "income": income,
            "zone": RNG.choice([10, 20, 70], N),
            "name": [f"person {at}" for at in range(N)],
        }
    )


FRAME = frame()
Y = (FRAME["age"] > 40) ^ (FRAME["colour"] == "red") | (FRAME["income"] > 4000)


def forest(n_trees=4, max_depth=3):
    return RandomForestClassifier(n_trees, max_depth=max_depth, random_state=0)


def columns(*, colour=None, income=None):
    return ColumnTransformer(
        [
            ("numbers", income or make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
            ("colour", colour or OneHotEncoder(handle_unknown="ignore"), ["colour"]),
            ("zone", OneHotEncoder(), ["zone"]),
        ]
    )


def rows_around(ensemble, n_rows=600):
    """Return raw frames at and next to all thresholds, with unknown values and gaps where they are inputs."""
    rng = np.random.default_rng(1)
    rows = sample_rows(ensemble, rng)[:n_rows]
    drawn = FRAME.sample(len(rows), replace=True, random_state=0).reset_index(drop=True)
    for at, name in enumerate(ensemble.feature_names):
        labels = ensemble.columns.labels_of(at)
        if labels is None:
            drawn[name] = rows[:, at]
        elif not isinstance(labels.unknown, str):
            drawn.loc[rng.random(len(rows)) < 0.1, name] = "unknown"
    return drawn


def test_a_pipeline_of_imputer_scaler_and_encoder_is_read_on_its_raw_columns():
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    ensemble = Ensemble.from_model(pipeline)
    assert ensemble.feature_names == ("age", "colour", "income", "zone")  # the name is not used
    rows = rows_around(ensemble)
    np.testing.assert_array_equal(ensemble.predict(rows), pipeline.predict(rows))
    np.testing.assert_array_equal(ensemble.predict(FRAME), pipeline.predict(FRAME))


def test_the_tree_takes_raw_frames_by_name_and_speaks_of_raw_columns():
    pipeline = make_pipeline(columns(), forest(2, 2)).fit(FRAME, Y)
    tree = onetree.born_again(pipeline).tree
    shuffled = FRAME[["zone", "income", "colour", "age"]]
    np.testing.assert_array_equal(tree.predict(shuffled), pipeline.predict(FRAME))
    text = tree.to_text()
    assert "__" not in text
    assert any(f"{name} " in text for name in ("age", "colour", "income", "zone"))


def test_one_hot_columns_become_tests_of_one_feature_by_name():
    encoder = ColumnTransformer([("colour", OneHotEncoder(handle_unknown="ignore"), ["colour"])])
    pipeline = make_pipeline(encoder, forest()).fit(FRAME, FRAME["colour"] == "red")
    tree = onetree.born_again(pipeline).tree
    assert tree.n_leaves == 2
    assert "red" in tree.to_text()


def test_values_that_the_encoder_refuses_are_refused():
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    with pytest.raises(InvalidInputError, match=r"'zone'.* 30, which is not one of"):
        Ensemble.from_model(pipeline).predict(FRAME.assign(zone=30))


def test_float32_columns_are_refused_where_the_steps_compute_with_them():
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    with pytest.raises(InvalidInputError, match=r"'income'.*float32"):
        Ensemble.from_model(pipeline).predict(FRAME.astype({"income": np.float32}))


def test_a_saved_pipeline_reads_the_same_frames(tmp_path):
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    Ensemble.from_model(pipeline).save(tmp_path / "pipeline.json")
    found = onetree.load_ensemble(tmp_path / "pipeline.json")
    np.testing.assert_array_equal(found.predict(FRAME), pipeline.predict(FRAME))
    with pytest.raises(InvalidInputError, match="float32"):
        found.predict(FRAME.astype({"income": np.float32}))


def agrees(pipeline, rows=None):
    """Whether ensemble and pipeline are equal on rows, by default around all thresholds."""
    ensemble = Ensemble.from_model(pipeline)
    rows = rows_around(ensemble) if rows is None else rows
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(ensemble.predict(rows), pipeline.predict(rows))
    return ensemble


STEPS = {
    "a scaler that clips": MinMaxScaler(clip=True),
    "medians": RobustScaler(),
    "powers": PowerTransformer(),
    "quantiles": QuantileTransformer(n_quantiles=20),
    "normal quantiles": QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    "bins as columns": KBinsDiscretizer(3, strategy="uniform"),
    "bins as numbers": KBinsDiscretizer(4, encode="ordinal", strategy="uniform"),
    "one cut": Binarizer(threshold=40.0),
    "a union": FeatureUnion([("scaled", StandardScaler()), ("bins", KBinsDiscretizer(3, strategy="uniform"))]),
    "two scalers": make_pipeline(MaxAbsScaler(), StandardScaler(with_mean=False)),
    "a parabola of a scaled column": make_pipeline(StandardScaler(), FunctionTransformer(np.square)),
    "a root that is not always defined": make_pipeline(StandardScaler(), FunctionTransformer(np.sqrt)),
}


def some(names):
    """Return all names in the full tier, and each third otherwise."""
    return list(names)[:: 1 if is_full() else 3]


@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt:RuntimeWarning")
@pytest.mark.parametrize("name", some(STEPS))
def test_steps_on_numbers_are_followed_to_the_last_bit(name):
    numbers = make_pipeline(SimpleImputer(add_indicator=True), clone(STEPS[name]))
    agrees(make_pipeline(columns(income=numbers), forest()).fit(FRAME, Y))


ENCODERS = {
    "rare values joined": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=90),
    "one value dropped": OneHotEncoder(drop="first", handle_unknown="ignore"),
    "numbers for texts": OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2, max_categories=3
    ),
    "targets": TargetEncoder(cv=3),
    "filled texts": make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore")
    ),
    "frames": OneHotEncoder(handle_unknown="ignore", sparse_output=False).set_output(transform="pandas"),
}


@pytest.mark.parametrize("name", some(ENCODERS))
def test_encoders_are_followed_for_known_unknown_and_missing_values(name):
    pipeline = make_pipeline(columns(colour=clone(ENCODERS[name])), forest()).fit(FRAME, Y)
    ensemble = agrees(pipeline)
    assert ensemble.nan_features[1]


def test_selected_columns_keep_the_place_of_the_others():
    pipeline = make_pipeline(columns(), SelectKBest(k=3), forest()).fit(FRAME, Y)
    assert agrees(pipeline).n_features == 4


def test_none_and_nan_are_told_apart_as_the_encoder_does():
    known = FRAME.assign(colour=FRAME["colour"].map(lambda x: None if x != x else x).astype(object))
    encoder = ColumnTransformer([("colour", OneHotEncoder(handle_unknown="ignore"), ["colour"])])
    pipeline = make_pipeline(encoder, forest()).fit(known, known["colour"].isna())
    for gap in (None, np.nan, "green"):
        agrees(pipeline, pd.DataFrame({"colour": pd.Series([gap, "red"], dtype=object)}))


def test_sparse_zeros_are_missing_to_xgboost():
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2)
    numbers = make_pipeline(SimpleImputer(), KBinsDiscretizer(3, strategy="uniform"))
    agrees(make_pipeline(columns(income=numbers), model).fit(FRAME, Y))


def test_numbers_below_the_domain_of_a_step_are_refused():
    numbers = make_pipeline(SimpleImputer(), FunctionTransformer(np.log1p))
    pipeline = make_pipeline(columns(income=numbers), forest()).fit(FRAME, Y)
    ensemble = agrees(pipeline, FRAME)
    assert not ensemble.has_subsets or ensemble.categories[2] is None
    with pytest.raises(InvalidInputError, match=r"'income'.*-3.0, but the steps.*below -0.99"):
        ensemble.predict(FRAME.assign(income=-3.0))


def test_arrays_with_texts_go_by_position():
    rows = FRAME[["age", "colour"]].to_numpy(dtype=object)
    first = ColumnTransformer([("t", OneHotEncoder(handle_unknown="ignore"), [1])], remainder="passthrough")
    pipeline = make_pipeline(first, forest()).fit(rows, Y)
    agrees(pipeline, rows)


class Shifted(StandardScaler):
    """A scaler with a transform of its own."""

    def transform(self, X, copy=None):
        return super().transform(X) + 1


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (PCA(2), "PCA, which makes each of its columns from several others"),
        (PolynomialFeatures(), "PolynomialFeatures"),
        (KNNImputer(), "KNNImputer, which makes a value from those of other rows"),
        (Normalizer(), "Normalizer"),
        (Shifted(), "Shifted has a transform of its own"),
        (FunctionTransformer(lambda x: x), "the function <lambda>"),
        (FunctionTransformer(np.sin), "the function sin"),
        (SplineTransformer(), "SplineTransformer"),
    ],
)
def test_steps_that_cannot_be_read_are_refused_by_name_with_a_remedy(step, message):
    X = FRAME[["age", "zone"]].to_numpy(dtype=float)
    pipeline = make_pipeline(step, forest()).fit(X, Y)
    with pytest.raises(UnsupportedModelError, match=rf'{message}.*pipelines="last-step"'):
        Ensemble.from_model(pipeline)
    with pytest.warns(UserWarning, match="without its first steps"):
        Ensemble.from_model(pipeline, pipelines="last-step")


def test_a_pipeline_whose_steps_are_not_fitted_is_refused():
    fitted = make_pipeline(StandardScaler(), forest()).fit(FRAME[["age"]], Y)
    with pytest.raises(UnsupportedModelError, match="fit"):
        Ensemble.from_model(make_pipeline(StandardScaler(), fitted[-1]))


def test_members_of_a_union_or_pipeline_that_are_dropped_are_left_out():
    union = FeatureUnion([("no", "drop"), ("as it is", "passthrough"), ("scaled", StandardScaler())])
    X = FRAME[["age", "zone"]]
    agrees(make_pipeline(union, "passthrough", forest()).fit(X, Y), X)


@pytest.mark.parametrize("name", ["OrdinalEncoder", "OneHotEncoder", "TargetEncoder", "CountEncoder"])
def test_the_encoders_of_category_encoders_are_followed(name):
    package = pytest.importorskip("category_encoders")
    X = FRAME[["age", "colour", "zone"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(getattr(package, name)(), forest()).fit(X, Y.astype(int))
    rows = rows_around(Ensemble.from_model(pipeline))[list(X)]
    assert agrees(pipeline, rows).nan_features.tolist() == [False, True, False]


def test_rare_categories_that_a_count_encoder_joins_are_refused():
    package = pytest.importorskip("category_encoders")
    pipeline = make_pipeline(package.CountEncoder(min_group_size=5), forest()).fit(FRAME[["colour"]], Y)
    with pytest.raises(UnsupportedModelError, match="min_group_size"):
        Ensemble.from_model(pipeline)


def test_a_frame_with_a_column_twice_is_refused():
    pipeline = make_pipeline(columns(), forest()).fit(FRAME, Y)
    twice = pd.concat([FRAME, FRAME[["age"]]], axis=1)
    with pytest.raises(InvalidInputError, match=r"'age'.*twice|two columns of one name"):
        Ensemble.from_model(pipeline).predict(twice)


def test_a_column_of_another_kind_than_in_the_training_data_is_refused():
    ensemble = Ensemble.from_model(make_pipeline(columns(), forest()).fit(FRAME, Y))
    with pytest.raises(InvalidInputError, match="'age'"):
        ensemble.predict(FRAME.assign(age="forty"))
    with pytest.raises(InvalidInputError, match="'colour'"):
        ensemble.predict(FRAME.assign(colour=3))
