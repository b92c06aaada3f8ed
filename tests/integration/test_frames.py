"""Data frames with columns in any order, of any type: `predict` is the library's on the right order, or a refusal."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
for library in ("xgboost", "lightgbm", "catboost", "pyarrow"):
    pytest.importorskip(library)

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import onetree  # noqa: E402
from onetree import Ensemble, InvalidInputError, Tree  # noqa: E402
from tests.cases.frame_models import MODELS, fitted, mixed, numbers  # noqa: E402

EXTRAS = {
    "a_text": lambda n: ["some text"] * n,
    "a_date": lambda n: pd.to_datetime(["2020-01-01"] * n),
    "no_feature": lambda n: np.arange(n) * 1e9,
    "Age": lambda n: np.zeros(n),  # not "age"
}
BACKENDS = {
    "pandas": lambda frame: frame,
    "pandas, nullable": lambda frame: frame.convert_dtypes(),
    "pandas, pyarrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda frame: pl.from_pandas(frame),
    "pyarrow": lambda frame: pl.from_pandas(frame).to_arrow(),
}

_converted: dict[str, tuple[Ensemble, Tree]] = {}


def converted(name: str) -> tuple[Ensemble, Tree]:
    if name not in _converted:
        ensemble = Ensemble.from_model(fitted(name).model)
        _converted[name] = ensemble, onetree.born_again(ensemble, method="heuristic").tree
    return _converted[name]


def in_types_of(frame: pd.DataFrame, backend: str) -> object:
    """Return the frame in another library; polars has no categories that are numbers, so they are just numbers."""
    if backend != "pandas":
        whole = [
            name for name in frame if str(frame[name].dtype) == "category" and frame[name].cat.categories.dtype != "str"
        ]
        frame = frame.astype(dict.fromkeys(whole, "int64"))
    return BACKENDS[backend](frame)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_columns_go_by_name_whatever_their_order_and_whatever_else_there_is(name, data):
    known = fitted(name)
    expected = known.predict(known.frame)
    frame = known.frame.copy()
    for extra in data.draw(st.lists(st.sampled_from(sorted(EXTRAS)), unique=True)):
        frame[extra] = EXTRAS[extra](len(frame))
    frame = frame[list(data.draw(st.permutations(list(frame))))]
    # LightGBM tells ordered categories from their types alone, so they must be there.
    needs_types = "ordered" in name
    backend = data.draw(st.sampled_from(["pandas"] if needs_types else sorted(BACKENDS)))
    if needs_types:
        frame = frame.drop(columns=[extra for extra in EXTRAS if extra in frame and extra != "no_feature"])
    ensemble, tree = converted(name)
    shown = in_types_of(frame, backend)
    assert (ensemble.predict(shown) == expected).all()
    assert (tree.predict(shown) == expected).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_column_that_is_not_there_is_named(name):
    _, tree = converted(name)
    with pytest.raises(InvalidInputError, match=r"no column for 1 of . features: 'income'"):
        tree.predict(fitted(name).frame.drop(columns="income"))


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_tree_reads_frames_in_the_same_way(name, tmp_path):
    known, (ensemble, tree) = fitted(name), converted(name)
    tree.save(tmp_path / "tree.json")
    ensemble.save(tmp_path / "ensemble.json")
    reversed_ = known.frame[known.frame.columns[::-1]]
    expected = known.predict(known.frame)
    assert (onetree.load_tree(tmp_path / "tree.json").predict(reversed_) == expected).all()
    again = onetree.load_ensemble(tmp_path / "ensemble.json")
    assert again.columns == ensemble.columns
    assert (again.predict(reversed_) == expected).all()


@pytest.mark.parametrize("name", [name for name in MODELS if "with" in name])
def test_categories_in_another_order_are_the_same_categories(name):
    known, (ensemble, _) = fitted(name), converted(name)
    colour, zone = known.frame["colour"], known.frame["zone"]
    turned = known.frame.assign(
        colour=pd.Categorical(colour, ["grey", "green", "blue", "red"], ordered=colour.cat.ordered),
        zone=pd.Categorical(zone, [70, 30, 10]),
    )
    assert (ensemble.predict(turned) == known.predict(known.frame)).all()


@pytest.mark.parametrize("name", [name for name in MODELS if "with" in name])
def test_fewer_categories_are_not_renumbered(name):
    known, (ensemble, _) = fitted(name), converted(name)
    some = known.frame[known.frame["colour"] != "blue"]
    fewer = some.assign(colour=some["colour"].cat.remove_unused_categories())
    assert (ensemble.predict(fewer) == known.predict(some)).all()


@pytest.mark.parametrize("name", [name for name in MODELS if "with" in name])
def test_an_unknown_category_is_what_it_is_to_the_library_or_refused(name):
    known, (ensemble, _) = fitted(name), converted(name)
    colour = known.frame["colour"]
    names = ["violet" if each == "grey" else each for each in colour.tolist()]
    frame = known.frame.assign(
        colour=pd.Categorical(names, ["red", "blue", "green", "violet"], ordered=colour.cat.ordered)
    )
    try:
        found = ensemble.predict(frame)
    except InvalidInputError:
        assert "XGBoost" in name or "ordered" in name
        return
    assert (found == known.predict(frame)).all()


@pytest.mark.parametrize("name", [name for name in MODELS if "with" in name and "ordered" not in name])
def test_a_category_that_is_a_number_is_this_number_and_not_a_code(name):
    known, (ensemble, _) = fitted(name), converted(name)
    with pytest.raises(InvalidInputError, match="'colour' of X holds numbers such as"):
        ensemble.predict(known.frame.assign(colour=known.frame["colour"].cat.codes))
    by_value = known.frame.assign(zone=known.frame["zone"].astype(float))
    assert (ensemble.predict(by_value) == known.predict(known.frame)).all()


@pytest.mark.parametrize("name", MODELS)
def test_texts_in_a_column_of_numbers_are_refused(name):
    known, (ensemble, _) = fitted(name), converted(name)
    with pytest.raises(InvalidInputError, match=r"'income' of X holds '|types of the training data"):
        ensemble.predict(known.frame.assign(income=known.frame["income"].astype(str)))


@pytest.mark.parametrize("name", MODELS)
def test_everything_that_takes_rows_takes_a_frame_by_name(name, tmp_path):
    known, (ensemble, tree) = fitted(name), converted(name)
    frame = known.frame[known.frame.columns[::-1]].assign(more=1.0)
    n_rows = len(frame)
    pruned = onetree.prune(tree, frame)
    assert (pruned.predict(known.frame) == known.predict(known.frame)).all()
    assert onetree.compare(tree, pruned, frame).n_agreeing == n_rows
    found = onetree.support_tree(ensemble, frame, fidelity=1.0).tree
    assert (found.predict(known.frame) == known.predict(known.frame)).all()
    assert onetree.write_report(tree, tmp_path / "report.html", source=ensemble, X=frame).state == "equal"
    domain = onetree.domain_of(frame, source=ensemble)
    assert [str(values) for values in domain.values] == [
        str(values) for values in onetree.domain_of(known.frame, source=ensemble).values
    ]
    assert tree.to_sklearn(frame).tree_.n_node_samples[0] == n_rows


def arrays(frame):
    return frame.astype(float).to_numpy()


ON_ARRAYS = ["RandomForest", "HistGradientBoosting", "XGBoost", "LightGBM", "CatBoost"]


@pytest.fixture(scope="module", params=ON_ARRAYS)
def on_array(request):
    """A model that was fitted on an array, so that it knows no names."""
    from sklearn.base import clone

    known = fitted(request.param)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(known.model).fit(arrays(known.frame), known.predict(known.frame))


def test_a_model_without_names_reads_a_frame_by_position_as_its_library_does(on_array):
    frame = numbers()[["children", "age", "income", "rate", "owner"]].astype(float)
    tree = onetree.born_again(on_array, method="heuristic").tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.ravel(on_array.predict(frame))
    assert (tree.predict(frame) == expected).all()
    misleading = frame.set_axis([f"x{4 - i}" for i in range(5)], axis=1)
    assert (tree.predict(misleading) == expected).all()


def test_a_model_without_names_refuses_a_frame_of_another_width(on_array):
    with pytest.raises(InvalidInputError, match="fitted on data without names"):
        Ensemble.from_model(on_array).predict(numbers().assign(more=1))


def test_a_step_that_keeps_names_makes_frames_ambiguous_so_they_are_refused():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame = numbers()
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(3, max_depth=2, random_state=0))
    pipeline.fit(frame, fitted("RandomForest").predict(frame))
    with pytest.warns(UserWarning, match="without its first steps"):
        ensemble = Ensemble.from_model(pipeline, pipelines="last-step")
    assert ensemble.feature_names == tuple(frame)
    with pytest.raises(InvalidInputError, match="StandardScaler"):
        ensemble.predict(frame)
    assert (ensemble.predict(pipeline[:-1].transform(frame)) == pipeline.predict(frame)).all()


def test_steps_that_name_what_they_give_are_told_from_raw_frames():
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = mixed()
    first = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour", "zone"]), remainder="passthrough")
    pipeline = make_pipeline(
        first.set_output(transform="pandas"), RandomForestClassifier(3, max_depth=2, random_state=0)
    )
    pipeline.fit(frame, fitted("XGBoost with categories").predict(frame))
    with pytest.warns(UserWarning, match="without its first steps"):
        ensemble = Ensemble.from_model(pipeline, pipelines="last-step")
    with pytest.raises(InvalidInputError, match="no column for"):
        ensemble.predict(frame)
    made = pipeline[:-1].transform(frame)
    assert (ensemble.predict(made[made.columns[::-1]]) == pipeline.predict(frame)).all()


def test_lightgbm_rounds_integers_in_arrays_but_not_in_frames():
    from lightgbm import LGBMClassifier

    rng = np.random.default_rng(0)
    X = 2**24 + rng.integers(0, 9, (2000, 2))
    y = (X[:, 0] > 2**24 + 4).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = LGBMClassifier(n_estimators=3, min_child_samples=1, verbose=-1).fit(frame, y)
    ensemble = Ensemble.from_model(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        on_integers, on_floats = model.predict(X), model.predict(X.astype(float))
    assert (on_integers != on_floats).any()
    assert (ensemble.predict(X) == on_integers).all()
    assert (ensemble.predict(X.tolist()) == on_integers).all()
    assert (ensemble.predict(X.astype(float)) == on_floats).all()
    assert (ensemble.predict(frame) == model.predict(frame)).all()


def test_lightgbm_finds_names_with_spaces_though_it_replaced_them():
    from lightgbm import LGBMClassifier

    frame = numbers().rename(columns={"income": "my income", "age": "my age"})
    y = fitted("LightGBM").predict(numbers())
    model = LGBMClassifier(n_estimators=3, num_leaves=4, verbose=-1).fit(frame, y)
    ensemble = Ensemble.from_model(model)
    assert ensemble.feature_names[:2] == ("my_age", "my_income")
    assert (ensemble.predict(frame[frame.columns[::-1]]) == model.predict(frame)).all()


@pytest.mark.parametrize("name", ["HistGradientBoosting with categories", "XGBoost with categories", "RandomForest"])
def test_missing_values_of_every_kind_are_missing(name):
    known = fitted(name)
    ensemble = Ensemble.from_model(known.model, missing="follow")
    nullable = known.frame.astype({"age": "Int64", "owner": "boolean", "income": "Float64"})
    nullable.loc[::3, ["age", "owner"]] = pd.NA
    nullable.loc[::5, "income"] = pd.NA
    if "colour" in nullable:
        nullable.loc[::4, "colour"] = None
    plain = known.frame.astype({"age": float, "owner": float}).assign(
        **{each: nullable[each] for each in nullable if each in ("colour",)}
    )
    plain.loc[::3, ["age", "owner"]] = np.nan
    plain.loc[::5, "income"] = np.nan
    expected = known.predict(plain)
    assert (ensemble.predict(nullable) == expected).all()
    assert (ensemble.predict(plain.assign(age=nullable["age"].astype(object))) == expected).all()
    assert (ensemble.predict(in_types_of(nullable, "polars")) == expected).all()
    refusing = Ensemble.from_model(known.model, missing="refuse")
    with pytest.raises(InvalidInputError, match="missing values in column"):
        refusing.predict(nullable)


def test_the_classifier_takes_frames_with_categories_and_refuses_another_order_as_scikit_learn_does():
    from sklearn.ensemble import HistGradientBoostingClassifier

    frame = mixed()
    y = fitted("XGBoost with categories").predict(frame)
    boosting = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3, random_state=0)
    model = onetree.BornAgainTreeClassifier(boosting).fit(frame, y)
    assert (model.predict(frame) == model.estimator_.predict(frame)).all()
    assert (model.predict_proba(frame).argmax(axis=1) == model.predict(frame)).all()
    with pytest.raises(ValueError, match=r"feature names should match|same order"):
        model.predict(frame[frame.columns[::-1]])


def test_a_domain_of_a_frame_goes_by_name():
    frame = numbers()
    domain = onetree.domain_of(frame[frame.columns[::-1]])
    forest = fitted("RandomForest").model
    solution = onetree.born_again(forest, method="heuristic", domain=domain)
    assert solution.tree.domain.to_dict(tuple(frame)) == onetree.domain_of(frame).to_dict(tuple(frame))
    assert solution.tree.domain.contains(frame[frame.columns[::-1]].assign(more=1)).all()
    with pytest.raises(InvalidInputError, match="says nothing about 'age'"):
        onetree.born_again(forest, domain=onetree.domain_of(frame.drop(columns="age")))


def test_a_row_of_a_frame_has_a_neighbourhood_by_name():
    frame, forest = numbers(), fitted("RandomForest").model
    turned = frame[frame.columns[::-1]]
    by_name = onetree.domain_around(turned.iloc[:1], source=forest, cells=1)
    by_position = onetree.domain_around(arrays(frame)[0], source=forest, cells=1)
    assert by_name.values == by_position.values
    assert onetree.domain_around(frame.iloc[0], 1.0).names == tuple(frame)
