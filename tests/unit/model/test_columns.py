"""What columns mean: names that are chosen or made up, values of categories, and their entry in a file."""

import pickle

import pytest

from onetree import InvalidInputError, ModelFileError
from onetree.model.columns import Columns, Labels, plain_values


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (("age", "income"), True),
        (("x0", "x1"), False),
        (("f0", "f1"), False),
        (("Column_0", "Column_1"), False),
        (("0", "1"), False),
        (("x1", "x0"), True),
        (("x0", "x2"), True),
        (("x00", "x01"), True),
    ],
)
def test_names_that_only_number_the_features_are_made_up(names, named):
    assert Columns().of_features(names).named is named


def test_values_of_categories_have_the_numbers_of_their_places():
    labels = Labels(("no", "yes"))
    assert [labels.number(value) for value in ("yes", "no")] == [1.0, 0.0]


def test_a_value_that_is_unknown_is_refused_unless_it_has_a_number():
    with pytest.raises(InvalidInputError, match="'maybe', which is not one of the model's categories: 'no', 'yes'"):
        Labels(("no", "yes")).number("maybe")
    assert Labels(("no", "yes"), unknown=-1.0).number("maybe") == -1.0
    assert str(Labels(("no", "yes"), unknown="missing").number("maybe")) == "nan"


@pytest.mark.parametrize(("values", "given"), [(("0", "1"), 0), ((0, 1), "0"), ((), 1)])
def test_numbers_are_no_texts_even_where_unknown_values_are_taken(values, given):
    with pytest.raises(InvalidInputError, match=r"holds (texts|numbers) such as"):
        Labels(values, unknown=-1.0).number(given)


@pytest.mark.parametrize(
    ("values", "text", "value"),
    [
        (("no", "yes"), "yes", "yes"),
        ((10, 20), "20", 20),
        ((10, 20), "20.0", 20),
        ((10, 20), "other", "other"),
        (("1", "2"), "1", "1"),
        (("1", "2"), "3", "3"),
        (("a", "b"), "3", 3.0),
        ((False, True), "True", True),
    ],
)
def test_a_text_in_a_file_of_texts_stands_for_the_value_that_it_spells(values, text, value):
    found = Labels(values).from_text(text)
    assert found == value
    assert isinstance(found, str) == isinstance(value, str)


@pytest.mark.parametrize(
    "wrong",
    [
        {"values": ("a", "a")},
        {"values": (1, True)},
        {"values": (float("nan"),)},
        {"values": (None,)},
        {"values": ("a",), "codes": (0.0, 1.0)},
        {"values": ("a",), "codes": (float("nan"),)},
        {"values": ("a",), "unknown": "ignore"},
        {"values": ("a",), "unknown": float("nan")},
    ],
)
def test_labels_that_mean_nothing_are_refused(wrong):
    with pytest.raises(InvalidInputError):
        Labels(**wrong)


def test_values_that_a_file_cannot_hold_are_not_kept():
    numpy = pytest.importorskip("numpy")
    assert plain_values(numpy.array([1, 2])) == (1, 2)
    assert plain_values([numpy.datetime64("2020-01-01")]) is None
    assert plain_values([1.0, float("nan")]) is None


COLUMNS = Columns(
    named=True,
    labels=(None, Labels(("a", "b"), unknown=-1.0), Labels((5, 7.5, True), (5.0, 7.5, 1.0), "missing")),
    unassigned=(Labels(("x",)),),
    integers="float32",
    spaces_replaced=True,
    steps="StandardScaler",
)


def test_what_is_written_is_read_back():
    assert Columns.from_json(COLUMNS.to_json()) == COLUMNS
    assert pickle.loads(pickle.dumps(COLUMNS)) == COLUMNS
    assert pickle.loads(pickle.dumps(COLUMNS)).labels[1].number("b") == 1.0


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.pop("named"),
        lambda entry: entry.update(more=1),
        lambda entry: entry.update(named=1),
        lambda entry: entry.update(labels=[1]),
        lambda entry: entry.update(integers="int8"),
        lambda entry: entry.update(steps=None),
        lambda entry: entry["labels"][1].pop("codes"),
        lambda entry: entry["labels"][1].update(values=["a", None]),
        lambda entry: entry["labels"][1].update(values=["a", "a"]),
        lambda entry: entry["labels"][1].update(codes=[0.0, float("inf")]),
        lambda entry: entry["labels"][1].update(unknown="ignore"),
        lambda entry: entry["labels"][1].update(unknown=float("inf")),
        lambda entry: entry["labels"][1].update(unknown=None),
    ],
)
def test_a_broken_entry_is_refused(change):
    entry = COLUMNS.to_json()
    change(entry)
    with pytest.raises((ModelFileError, InvalidInputError)):
        Columns.from_json(entry)
