"""One function reads every input: arrays by position, frames and mappings by name, categories by value."""

from dataclasses import replace

import numpy as np
import pytest

from onetree import InvalidInputError, Tree
from onetree.model.categories import Categories
from onetree.model.columns import Columns, Labels
from onetree.model.inputs import read_inputs, read_row

pd = pytest.importorskip("pandas")


def model(names=("a", "b"), columns=None, **options) -> Tree:
    nodes = {"feature": [0, -1, -1], "threshold": [2.5, 0, 0], "children_left": [1, -1, -1]}
    given = {"nan_features": [True] * len(names)} | options
    return Tree(
        **nodes,
        children_right=[2, -1, -1],
        leaf_class=[-1, 0, 1],
        classes=["low", "high"],
        feature_names=names,
        columns=columns or Columns(),
        **given,
    )


COLOURED = model(columns=Columns(labels=(None, Labels(("red", "blue"), unknown=-1.0))))


def test_float32_stays_float32_and_everything_else_is_float64():
    single = pd.DataFrame({"b": [1, 2], "a": [3, 4]}, dtype="float32")
    assert read_inputs(single, model()).dtype == np.float32
    assert read_inputs(single.astype({"a": "int8"}), model()).dtype == np.float64
    assert read_inputs(single, model()).tolist() == [[3, 1], [4, 2]]


def test_columns_without_text_for_a_name_are_found_by_their_number():
    frame = pd.DataFrame([[1.0, 2.0]], columns=[1, 0])
    assert read_inputs(frame, model(("0", "1"), Columns(named=True))).tolist() == [[2, 1]]


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InvalidInputError, match="two columns of one name"):
        read_inputs(pd.DataFrame([[1, 2]], columns=["a", "a"]), model())


def test_a_lazy_frame_is_refused_with_what_to_do():
    polars = pytest.importorskip("polars")
    with pytest.raises(InvalidInputError, match="collect"):
        read_inputs(polars.LazyFrame({"a": [1], "b": [2]}), model())


@pytest.mark.parametrize("value", ["text", pd.Timestamp("2020-01-01"), [1], 10**400])
def test_what_is_not_a_number_is_shown_with_its_column(value):
    frame = pd.DataFrame({"a": [1.0], "b": pd.Series([value], dtype=object)})
    with pytest.raises(InvalidInputError, match="column 'b' of X holds"):
        read_inputs(frame, model())
    with pytest.raises(InvalidInputError, match="column 'b' of X holds"):
        read_inputs(frame, COLOURED) if value != "text" else read_inputs(frame, model())


def test_pandas_na_in_an_array_is_named():
    with pytest.raises(InvalidInputError, match="<NA>"):
        read_inputs(np.array([[1, pd.NA]], dtype=object), model())


def test_decimals_booleans_and_gaps_in_objects_are_numbers():
    from decimal import Decimal

    frame = pd.DataFrame({"a": pd.Series([Decimal("0.5"), None, pd.NA], dtype=object), "b": [True, None, False]})
    found = read_inputs(frame, model())
    assert np.array_equal(found, [[0.5, 1], [np.nan, np.nan], [np.nan, 0]], equal_nan=True)


def test_categories_that_are_numbers_are_these_numbers_where_the_model_has_no_categories():
    frame = pd.DataFrame({"a": pd.Categorical([30, 10]), "b": [1, 2]})
    assert read_inputs(frame, model()).tolist() == [[30, 1], [10, 2]]


def test_categories_without_known_values_are_refused():
    kind = Categories.equal([0, 1])
    unknown = replace(model(), categories=(None, kind))
    frame = pd.DataFrame({"a": [1.0], "b": pd.Categorical([10])})
    with pytest.raises(InvalidInputError, match="does not say which number stands for which"):
        read_inputs(frame, unknown)
    assert read_inputs(frame.astype({"b": int}), unknown).tolist() == [[1, 10]]


def test_a_missing_category_is_missing_and_an_unknown_one_has_its_number():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["blue", None, "grey"])})
    assert np.array_equal(read_inputs(frame, COLOURED)[:, 1], [1, np.nan, -1], equal_nan=True)


@pytest.mark.parametrize(
    "x",
    [
        {"b": "blue", "a": 1, "more": None},
        pd.Series({"b": "blue", "a": 1}),
        pd.DataFrame({"b": ["blue"], "a": [1]}),
        [1, 1],
        pd.Series([1, 1]),
        np.array([[1.0, 1.0]]),
    ],
    ids=["mapping", "row", "frame", "list", "numbered row", "array"],
)
def test_one_input_is_read_from_whatever_holds_it(x):
    assert read_row(x, COLOURED).tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": 1}, "the input has no column for 1 of 2 features: 'b'"),
        ({"a": "x", "b": "red"}, "'a' of the input is 'x', but the model reads a number"),
        ({"a": 1, "b": 1}, "'b' of the input holds numbers such as 1"),
        ([[1, 2], [3, 4]], "2 rows"),
    ],
)
def test_one_input_that_cannot_be_read_is_refused(x, message):
    with pytest.raises(InvalidInputError, match=message):
        read_row(x, COLOURED)


def test_gaps_are_refused_with_the_name_of_the_feature():
    strict = model(nan_features=[True, False])
    with pytest.raises(InvalidInputError, match=r"missing values in column 1 \('b'\)"):
        read_inputs(pd.DataFrame({"b": [None], "a": [1]}), strict)
    with pytest.raises(InvalidInputError, match=r"missing values in column 1 \('b'\)"):
        read_row({"a": 1, "b": None}, strict)


def test_integers_are_rounded_as_the_model_rounds_them():
    large = np.array([[2**24 + 1, 0]])
    assert read_inputs(large, model()).tolist() == [[2**24 + 1, 0]]
    single = model(columns=Columns(integers="float32"))
    assert read_inputs(large, single).tolist() == [[2**24, 0]]
    assert read_inputs(large.astype(float), single).tolist() == [[2**24 + 1, 0]]
    assert read_inputs(pd.DataFrame(large, columns=["a", "b"]), single).tolist() == [[2**24 + 1, 0]]
