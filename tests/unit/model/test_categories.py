"""Categories: which element a number is; and set tests: what of them is checked, and where they send an input."""

from __future__ import annotations

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onetree
from onetree import Ensemble, InvalidInputError
from onetree.model.categories import FIRST, MISSING, OTHER, Categories, SetTests, elements_of, used_subsets
from onetree.model.ensemble import Rule
from tests.cases.categorical import COLOURS, WHOLE
from tests.cases.deep import DEEP


@st.composite
def kinds(draw):
    """Categories with intervals of every width, apart or touching."""
    ends = sorted(draw(st.lists(st.floats(allow_nan=False), min_size=2, max_size=9, unique=True)))
    intervals = []
    for low, high in itertools.pairwise(ends):
        code = high if math.isfinite(high) else math.nextafter(low, math.inf)
        if math.isfinite(code) and draw(st.booleans()):
            intervals.append((code, low, high))
    return Categories(*zip(*intervals, strict=True)) if intervals else Categories.equal([])


def test_only_the_code_itself_is_its_category_where_codes_are_numbers():
    kind = Categories.equal([0, 2.5])
    x = [0.0, -0.0, 5e-324, -5e-324, 2.5, np.nextafter(2.5, 3), np.nextafter(2.5, 2)]
    assert kind.element(x).tolist() == [2, 2, OTHER, OTHER, 3, OTHER, OTHER]


def test_an_interval_holds_its_upper_end_and_not_its_lower_end():
    kind = Categories((0.0, 4.0), [-1.0, 2.0], [1.0, 4.0])
    assert kind.element([-1.0, np.nextafter(-1, 0), 1.0, np.nextafter(1, 2), 2.0, 4.0]).tolist() == [0, 2, 2, 0, 0, 3]


def test_infinities_are_other_unless_an_interval_reaches_them():
    assert COLOURS.element([np.inf, -np.inf]).tolist() == [OTHER, OTHER]
    assert Categories((0.0,), [-np.inf], [np.inf]).element([np.inf, -np.inf, 7.0]).tolist() == [FIRST, OTHER, FIRST]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool, object])
def test_elements_have_the_shape_of_the_input_and_the_type_of_an_index(dtype):
    elements = COLOURS.element(np.array([[0, 1], [1, 0]], dtype=dtype))
    assert elements.tolist() == [[2, 3], [3, 2]]
    assert elements.dtype == np.intp
    assert COLOURS.element(5.0).shape == ()


def test_without_codes_every_number_is_other():
    kind = Categories.equal([])
    assert kind.n_elements == FIRST
    assert kind.element([0.0, 1.0, np.nan]).tolist() == [OTHER, OTHER, MISSING]
    assert kind.element(kind.example(OTHER)) == OTHER


@given(kinds(), st.lists(st.floats(), max_size=20))
def test_an_element_is_what_its_interval_says(kind, numbers):
    def plain(x):
        inside = [FIRST + i for i, (low, high) in enumerate(zip(kind.low, kind.high, strict=True)) if low < x <= high]
        return MISSING if math.isnan(x) else (inside or [OTHER])[0]

    x = [*numbers, *kind.low, *kind.high, *(math.nextafter(low, math.inf) for low in kind.low)]
    assert kind.element(x).tolist() == [plain(number) for number in x]


@given(kinds())
def test_an_example_is_the_element_that_was_asked_for(kind):
    assert [int(kind.element(kind.example(element))) for element in range(kind.n_elements)] == list(
        range(kind.n_elements)
    )


def test_the_example_of_other_is_a_plain_number_where_there_is_one():
    assert Categories.equal([0, 1, 2]).example(OTHER) == 3.0
    assert Categories((0.0, 1.0), [-0.5, 0.5], [0.5, np.inf]).example(OTHER) == -1.0
    assert Categories((0.0,), [-np.inf], [np.inf]).example(OTHER) == -np.inf


@pytest.mark.parametrize("element", [-1, 6])
def test_there_is_no_example_of_an_element_that_does_not_exist(element):
    with pytest.raises(InvalidInputError, match=r"only 0\.\.5"):
        COLOURS.example(element)


def test_a_set_is_described_with_other_and_missing_last():
    assert WHOLE.describe([True, True, False, True, False, True]) == "{1, 7, other, missing}"
    assert COLOURS.describe([False, True, True, False, False, False]) == "{red, missing}"
    assert COLOURS.describe(np.zeros(8, dtype=bool)) == "{}"


def test_codes_that_are_not_whole_are_described_exactly():
    assert Categories.equal([0.1, 1e300]).describe([False, False, True, False]) == "{0.1}"


def test_names_that_could_be_mistaken_are_quoted():
    kind = Categories.equal([1, 2, 3, 4], names=("other", "a, b", "", "plain"))
    assert kind.describe([True] * 6) == '{"other", "a, b", "", plain, other, missing}'


def test_a_set_over_too_few_elements_is_not_described():
    with pytest.raises(InvalidInputError, match="6 elements"):
        COLOURS.describe([True])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (((1.0, 0.0), [0.5, -0.5], [1.0, 0.0]), "ascending"),
        (((0.0, 0.0), [-1.0, -1.0], [0.0, 0.0]), "ascending"),
        (((np.nan,), [0.0], [1.0]), "finite"),
        (((np.inf,), [0.0], [np.inf]), "finite"),
        (((0.0, 1.0), [-1.0], [1.0, 2.0]), "one interval per code"),
        (((0.0,), [0.0], [1.0]), "its own interval"),
        (((2.0,), [0.0], [1.0]), "its own interval"),
        (((0.0,), [np.nan], [1.0]), "its own interval"),
        (((0.0, 1.0), [-1.0, 0.5], [0.6, 1.0]), "overlap"),
        (((0.0,), [-1.0], [0.0], ("a", "b")), "2 names for 1"),
        (((0.0,), [-1.0], [0.0], (1,)), "strings"),
    ],
)
def test_categories_that_are_none_are_refused(fields, message):
    with pytest.raises(InvalidInputError, match=message):
        Categories(*fields)


def test_categories_are_equal_by_content():
    assert Categories.equal([0, 1, 2, 5], names=("red", "green", "blue", "grey")) == COLOURS
    assert hash(COLOURS) == hash(copy.deepcopy(COLOURS))
    assert Categories.equal([0, 1, 2, 5]) != COLOURS
    assert Categories((0.0,), [-1.0], [0.0]) != Categories((0.0,), [-1.0], [0.5])
    assert COLOURS != "red"


def test_intervals_are_read_only_also_after_a_pickle():
    for kind in (COLOURS, pickle.loads(pickle.dumps(COLOURS))):
        assert kind == COLOURS
        assert [kind.low.flags.writeable, kind.high.flags.writeable] == [False, False]


def checked(categories=(COLOURS, None), subset=(0, -1, -1), subsets=((True,) * 6,), feature=(0, 1, -1), n_features=2):
    return SetTests.of(categories, subset, subsets, feature=np.array(feature), n_features=n_features)


def test_without_set_tests_the_fields_are_completed():
    plain = checked((), None, None, feature=(0, 1, -1))
    assert plain.categories == (None, None)
    assert plain.subset.tolist() == [-1, -1, -1]
    assert plain.subsets.shape == (0, 0)
    assert checked(subset=(), subsets=None, feature=(1, 1, -1)).subsets.shape == (0, 6)


def test_set_tests_are_read_only_copies():
    given_subset, given_subsets = np.array([0, -1, -1]), np.ones((1, 6), dtype=bool)
    tests = checked(subset=given_subset, subsets=given_subsets)
    given_subset[0], given_subsets[0] = 5, False
    assert tests.subset.tolist() == [0, -1, -1]
    assert tests.subsets.all()
    assert (tests.subset.dtype, tests.subsets.dtype) == (np.int32, np.bool_)
    assert [tests.subset.flags.writeable, tests.subsets.flags.writeable] == [False, False]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"categories": (COLOURS,)}, "1 entries for 2 features"),
        ({"categories": (COLOURS, "red")}, "must hold Categories"),
        ({"subset": (0, -1)}, r"subset must have shape \(3,\)"),
        ({"subset": (0.5, -1, -1)}, "subset holds values that do not fit"),
        ({"subset": (2**40, -1, -1)}, "subset holds values that do not fit"),
        ({"subsets": [[True] * 5]}, r"subsets must have shape \(n_subsets, 6\)"),
        ({"subsets": [[0.5] * 6]}, "subsets holds values that do not fit"),
        ({"subset": (-1, -1, -1)}, "node 0 compares a categorical feature with a threshold"),
        ({"subset": (-2, -1, -1)}, "node 0 compares a categorical feature with a threshold"),
        ({"subset": (0, 0, -1)}, "node 1 has a set test, but its feature is not categorical"),
        ({"subset": (0, -1, 0)}, "node 2 has a set test, but its feature is not categorical"),
        ({"subset": (1, -1, -1)}, "node 0 has a set test past the 1 rows"),
        ({"categories": (Categories.equal([1]), COLOURS), "subset": (0, 0, -1)}, "node 0 .* element that its feature"),
    ],
)
def test_set_tests_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        checked(**changes)


def test_the_elements_of_rows_are_zero_on_ordinary_features():
    rows = np.array([[5.0, 5.0], [np.nan, np.nan]])
    assert elements_of((COLOURS, None), rows).tolist() == [[5, 0], [1, 0]]


def test_sets_that_no_node_names_are_dropped_and_equal_ones_become_one():
    subsets = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]], dtype=bool)
    subset, kept = used_subsets(np.array([2, -1, 1, 0], dtype=np.int32), subsets)
    assert len(kept) == 2
    assert kept[subset[[0, 2, 3]]].tolist() == subsets[[2, 1, 0]].tolist()
    assert subset[1] == -1
    assert used_subsets(np.array([-1], dtype=np.int32), subsets)[1].shape == (0, 3)


def test_a_set_test_on_a_very_long_chain_is_no_problem():
    depth = DEEP
    inner = np.arange(0, 2 * depth, 2)
    feature, left, right = (np.full(2 * depth + 1, -1) for _ in range(3))
    feature[inner], left[inner], right[inner] = 0, inner + 1, inner + 2
    value = np.zeros((2 * depth + 1, 2))
    value[feature < 0, 0] = 1.0
    value[-1] = [0.0, 1.0]
    ensemble = Ensemble(
        classes=[0, 1],
        feature_names=("a",),
        roots=[0],
        feature=feature,
        threshold=np.zeros(2 * depth + 1),
        children_left=left,
        children_right=right,
        missing_left=np.zeros(2 * depth + 1, dtype=bool),
        value=value,
        base=[0.0, 0.0],
        rule=Rule("hard"),
        nan_features=[False],
        categories=(COLOURS,),
        subset=np.where(feature < 0, -1, 0),
        subsets=[[False, False, True, False, False, False]],
    )
    assert ensemble.predict([[0.0], [1.0]]).tolist() == [0, 1]


def coloured():
    """Two features: a colour with a set test above a threshold on size."""
    return Ensemble(
        classes=["no", "yes"],
        feature_names=("colour", "size"),
        roots=[0],
        feature=[0, 1, -1, -1, -1],
        threshold=[0.0, 2.5, 0, 0, 0],
        children_left=[1, 2, -1, -1, -1],
        children_right=[4, 3, -1, -1, -1],
        missing_left=[False] * 5,
        value=[[0, 0], [0, 0], [1, 0], [0, 1], [1, 0]],
        base=[0, 0],
        rule=Rule("hard"),
        nan_features=[True, False],
        categories=(COLOURS, None),
        subset=[0, -1, -1, -1, -1],
        subsets=[[False, True, True, False, True, False]],
    )


def test_the_surroundings_of_an_input_keep_its_category():
    domain = onetree.domain_around([2.0, 1.0], source=coloured(), cells=1)
    assert domain.to_dict(("colour", "size")) == {"colour": "2", "size": ":"}


@pytest.mark.parametrize("cells", [0, 1])
def test_the_surroundings_of_an_input_stay_missing_where_it_is(cells):
    assert str(onetree.domain_around([np.nan, 1.0], source=coloured(), cells=cells).values[0]) == "missing"
