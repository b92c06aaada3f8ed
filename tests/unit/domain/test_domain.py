"""Domains: their spellings, what they do to an ensemble, and that every result says so."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree import Domain, Ensemble, InvalidInputError, born_again, domain_of, verify
from onetree.domain.restrict import between
from onetree.domain.values import Values
from onetree.model.ensemble import Rule
from onetree.report.facts import check_equality, describe_equality
from onetree.verify.inside import one_per_slab
from tests.cases.deep import DEEP
from tests.cases.domains import restricted


def stumps(cuts, *, feature=None, names=("age", "income"), nan=(False, False), missing_left=False):
    """One tree with a single split for each cut; each split turns the hard vote's balance."""
    n = len(cuts)
    inner, low, high = np.arange(n) * 3, np.arange(n) * 3 + 1, np.arange(n) * 3 + 2
    features, left, right = (np.full(3 * n, -1) for _ in range(3))
    features[inner], left[inner], right[inner] = 0 if feature is None else feature, low, high
    threshold, value = np.zeros(3 * n), np.zeros((3 * n, 2))
    threshold[inner], value[low, 0], value[high, 1] = cuts, 1, 1
    return Ensemble(
        classes=np.array(["low", "high"]),
        feature_names=names,
        roots=inner,
        feature=features,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=np.isin(np.arange(3 * n), inner) & missing_left,
        value=value,
        base=np.zeros(2),
        rule=Rule("hard"),
        nan_features=np.array(nan),
    )


def cuts_of(ensemble):
    return ensemble.threshold[ensemble.feature >= 0].tolist()


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def forest(iris):
    return RandomForestClassifier(10, max_depth=3, random_state=0).fit(*iris)


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ((18, 99), "18:99"),
        ((None, 0.5), ":0.5"),
        ((-math.inf, math.inf), ":"),
        ("18:", "18:"),
        (" 1e3 : 2e3 ", "1000:2000"),
        (range(3, 8), "integer 3:7"),
        (range(0, 10, 5), "0,5"),
        ("integer", "integer"),
        ("integer 0.5:3.5", "integer 1:3"),
        ("integer :", "integer"),
        ("binary", "0,1"),
        ({True, False}, "0,1"),
        ({3, 1, 2.5}, "1,2.5,3"),
        (frozenset({np.float32(0.5), np.int64(7)}), "0.5,7"),
        ("3, 1,2", "1,2,3"),
        ("7", "7"),
        ((7, 7), "7"),
        ("integer 6.5:7.5", "7"),
        ({0, None}, "0 or missing"),
        ({0, math.nan}, "0 or missing"),
        ({None}, "missing"),
        ("missing", "missing"),
        ("1:2 or missing", "1:2 or missing"),
        ("binary or missing", "0,1 or missing"),
        ("integer or missing", "integer or missing"),
        (": or missing", ": or missing"),
    ],
)
def test_each_spelling_has_one_text_which_reads_back_as_the_same(spelling, text):
    assert str(Values.of(spelling)) == text
    assert Values.of(text) == Values.of(spelling)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"age": (99, 18)}, "'age': the range 99:18 is empty"),
        ({"age": "integer 0.2:0.8"}, "no integer"),
        ({"age": "integer inf:"}, "no integer"),
        ({"age": "18:old"}, "'old' is not a number"),
        ({"age": ("18", 99)}, "'18' is not a number"),
        ({"age": (math.nan, 99)}, "not a number"),
        ({"age": (0, 10**400)}, "not a number"),
        ({"age": set()}, "at least one"),
        ({"age": range(0)}, "empty"),
        ({"age": {0, math.inf}}, "infinity"),
        ({"age": (math.inf, math.inf)}, "holds only infinity"),
        ({"age": (None, -math.inf)}, "holds only infinity"),
        ({"1" * 5000: "binary"}, "which the model does not have"),
        ({"groups": "binary"}, '"groups" is a list'),
        ({"age": [18, 99]}, "neither a range nor a set"),
        ({"age": (1, 2, 3)}, "neither a range nor a set"),
        ({"age": "adult"}, "'adult' is not a number"),
        ({"age": ""}, "not a domain"),
        ({"age": "1,,2"}, "not a number"),
        ({"age": "1:2:3"}, "not a number"),
        ({"height": (0, 1)}, "'height', which the model does not have; it has 'age', 'income'"),
        ({2: (0, 1)}, "features 0 to 1"),
        ({-1: (0, 1)}, "features 0 to 1"),
        ({1.0: (0, 1)}, "not a feature"),
        ({"age": (0, 1), 0: (0, 1)}, "twice"),
        ({"age": "0:1 or missing"}, "'age' be missing"),
        (Domain((None,)), "1 features, but the model has 2"),
        ([(0, 1)], "a domain is a mapping"),
        ("data", "domain_of"),
    ],
)
def test_a_bad_domain_is_refused_with_the_reason(given, message):
    with pytest.raises(InvalidInputError, match=message):
        born_again(stumps([1.0]), domain=given)


def test_a_name_that_two_features_have_is_refused():
    with pytest.raises(InvalidInputError, match="give the index"):
        restricted(stumps([1.0], names=("age", "age")), {"age": (0, 1)})


def test_features_are_named_by_name_or_index():
    names = ("age", "income")
    assert Domain.from_dict({"income": (0, 1)}, names) == Domain.from_dict({np.int64(1): (0, 1)}, names)


def test_a_domain_becomes_a_plain_dict_and_comes_back():
    domain = Domain.from_dict({"age": (0.1, None), "income": "integer"}, ("age", "income"))
    assert domain.to_dict(("age", "income")) == {"age": "0.1:", "income": "integer"}
    assert Domain.from_dict(domain.to_dict(), 2) == domain


def test_a_domain_cannot_be_changed():
    with pytest.raises(AttributeError):
        Domain((None,)).values = ()


@pytest.mark.parametrize(
    ("spelling", "inside", "outside"),
    [
        ((1, 2), [1, 1.5, 2], [0.999, 2.001, math.nan, math.inf]),
        ("1:", [1, math.inf], [0, -math.inf, math.nan]),
        ("integer", [-3, 0, 2.0**60], [0.5, math.inf, -math.inf, math.nan]),
        ("integer 1:3", [1, 3], [0, 4, 2.5]),
        ("0,1 or missing", [0, -0.0, 1, math.nan], [0.5, 2]),
        ("missing", [math.nan], [0]),
    ],
)
def test_a_domain_tells_which_rows_it_contains(spelling, inside, outside):
    domain = Domain.from_dict({0: spelling}, 1)
    assert domain.contains(np.array([inside]).T).all()
    assert not domain.contains(np.array([outside]).T).any()


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        ("18:99", "18 <= age <= 99"),
        ("18:", "age >= 18"),
        (":99 or missing", "age <= 99 or missing"),
        (":", "age is any number"),
        ("integer", "age is an integer"),
        ("integer 1:9", "age is an integer from 1 up to 9"),
        ("0,1", "age is 0 or 1"),
        ("0,1 or missing", "age is 0, 1 or missing"),
        ("5", "age is 5"),
        ("missing", "age is missing"),
    ],
)
def test_a_domain_is_said_in_words(spelling, words):
    assert Values.of(spelling).describe("age") == words


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (0, 1, 0.5),
        (17, 18, 17.5),
        (-1, 1, 0),
        (0.1, 0.3, 0.2),
        (100, 2000, 1000),
        (2.0**60, 2.0**60 + 256, 2.0**60),
        (-1.7e308, 1.7e308, 0),
        (1.0, math.nextafter(1.0, 2), 1.0),
        (-5e-324, 0.0, -5e-324),
    ],
)
def test_a_cut_between_two_values_is_round(low, high, cut):
    assert between(float(low), float(high)) == cut


def test_thresholds_that_no_value_lies_between_become_one():
    assert cuts_of(restricted(stumps([2.1, 2.5, 2.9, 3.0]), {"age": "integer"})) == [2.5, 2.5, 2.5, 3.5]
    assert cuts_of(restricted(stumps([0.1, 0.3, 3.0, 6.0]), {"age": {0, 2, 10}})) == [1, 1, 6, 6]


def test_splits_that_the_domain_decides_are_gone_and_their_trees_stay():
    inside = restricted(stumps([1.0, 2.0, 3.0, 4.0]), {"age": (2, 3)})
    assert cuts_of(inside) == [2.0]
    assert inside.n_trees == 4


def test_both_ends_of_a_range_belong_to_it():
    """The split at the lower end still separates that end; the one at the upper end separates nothing."""
    ensemble = stumps([2.0])
    assert born_again(ensemble, domain={"age": (2, 5)}).tree.n_leaves == 2
    assert born_again(ensemble, domain={"age": (np.nextafter(2, 3), 5)}).tree.n_leaves == 1
    assert born_again(ensemble, domain={"age": (0, 2)}).tree.n_leaves == 1


def test_a_range_excludes_missing_values_unless_it_says_so():
    ensemble = stumps([2.0], nan=(True, False))
    without = born_again(ensemble, domain={"age": (0, 1)}).tree
    assert (without.n_leaves, without.nan_features.tolist()) == (1, [False, False])
    with pytest.raises(InvalidInputError, match="missing values"):
        without.predict([[math.nan, 0]])
    tree = born_again(ensemble, domain={"age": "0:1 or missing"}).tree
    assert tree.predict([[1, 0], [math.nan, 0]]).tolist() == ["low", "high"]


def test_missing_values_that_go_left_alone_are_split_off():
    ensemble = stumps([2.0], nan=(True, False), missing_left=True)
    tree = born_again(ensemble, domain={"age": "5:9 or missing"}).tree
    assert tree.predict([[5, 0], [math.nan, 0]]).tolist() == ["high", "low"]


def test_a_domain_of_everything_is_no_domain():
    assert born_again(stumps([1.0]), domain={"age": (None, None)}).tree.domain is None
    assert born_again(stumps([1.0]), domain={}).tree.domain is None
    assert born_again(stumps([1.0], nan=(True, False)), domain={"age": (None, None)}).tree.domain is not None


def test_an_ensemble_of_deep_trees_is_restricted():
    depth = DEEP
    n = 2 * depth + 1
    inner = np.arange(0, n - 1, 2)
    feature, left, right = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    feature[inner], left[inner], right[inner] = 0, inner + 1, inner + 2
    threshold, value = np.zeros(n), np.zeros((n, 2))
    threshold[inner] = inner // 2
    leaves = np.flatnonzero(feature < 0)
    value[leaves, leaves // 2 % 2] = 1
    one = stumps([0.0])
    chain = replace(
        one,
        roots=np.array([0]),
        feature=feature,
        children_left=left,
        children_right=right,
        threshold=threshold,
        missing_left=np.zeros(n, dtype=bool),
        value=value,
    )
    inside = restricted(chain, {"age": (DEEP - 10, DEEP - 5)})
    assert inside.n_leaves == 6
    rows = np.column_stack([np.linspace(DEEP - 10, DEEP - 5, 101), np.zeros(101)])
    assert (inside.predict(rows) == chain.predict(rows)).all()


def test_the_values_that_a_proof_takes_are_one_from_each_slab():
    levels = np.array([1.0, 2.5, 2.7, 4.0])
    assert one_per_slab(Values.of("2:3"), levels).tolist() == [2.5, 2.7, 3.0]
    assert one_per_slab(Values.of("integer"), levels).tolist() == [1, 2, 4, 5]
    assert one_per_slab(Values.of("integer 4:"), levels).tolist() == [4, 5]
    assert one_per_slab(Values.of("integer 9:"), levels).tolist() == [9]
    assert one_per_slab(Values.of("9:"), levels).tolist() == [9]
    assert one_per_slab(Values.of(":"), levels[:0]).tolist() == [0]
    assert one_per_slab(Values.of("0,1,2,9"), levels).tolist() == [1, 2, 9]
    assert one_per_slab(Values.of("missing"), levels).tolist() == []


def test_the_tree_of_a_domain_says_where_it_is_exact(forest):
    solution = born_again(forest, domain={3: (0, 1)})
    assert solution.tree.domain == Domain.from_dict({3: (0, 1)}, 4)
    assert "inside a domain" in repr(solution.tree)
    assert "inside a domain" in repr(solution)


def test_a_domain_makes_the_tree_smaller(forest):
    everywhere = born_again(forest, objective="leaves").tree.n_leaves
    assert born_again(forest, objective="leaves", domain={3: (0, 1), 2: (1, 3)}).tree.n_leaves < everywhere


def test_an_estimate_is_that_of_the_domain(forest):
    domain = {3: (0, 1), 2: (1, 3)}
    assert onetree.estimate(forest, domain=domain).leaves == born_again(forest, objective="leaves", domain=domain).value


def test_a_proof_uses_the_domain_of_the_tree_and_says_so(forest):
    tree = born_again(forest, domain={3: (0, 1)}).tree
    verdict = verify(tree, forest)
    assert verdict
    assert verdict.domain == tree.domain


def test_a_tree_of_a_domain_is_not_equal_everywhere(forest):
    tree = born_again(forest, domain={3: (0, 1)}).tree
    verdict = verify(tree, forest, domain={})
    assert not verdict
    assert verdict.domain is None
    assert not tree.domain.contains(verdict.counterexample[np.newaxis]).any()


def test_a_proof_in_a_larger_domain_finds_an_input_of_it(forest):
    tree = born_again(forest, domain={3: (0, 1)}).tree
    wider = Domain.from_dict({3: (0, 2)}, 4)
    verdict = verify(tree, forest, domain=wider)
    assert not verdict
    assert wider.contains(verdict.counterexample[np.newaxis]).all()


def test_every_solution_of_a_front_carries_the_domain(forest):
    front = onetree.pareto_front(forest, domain={3: (0, 1)})
    assert {solution.tree.domain for solution in front} == {Domain.from_dict({3: (0, 1)}, 4)}


def test_a_pruned_tree_keeps_its_domain(forest, iris):
    tree = born_again(forest, domain={3: (0, 1)}).tree
    assert onetree.prune(tree, iris[0]).domain == tree.domain


def test_every_export_with_words_names_the_domain():
    tree = born_again(stumps([20.0, 30.0, 40.0]), domain={"age": (25, 99)}).tree
    words = [tree.to_text(), tree.to_rules(), tree.to_dot(), *map(tree.to_code, ("python", "c", "sql"))]
    assert all("EXACT ONLY INSIDE A DOMAIN" in text and "25 <= age <= 99" in text for text in words)
    assert tree.to_sklearn().onetree_domain_ == {"age": "25:99"}


@pytest.mark.parametrize("name", ["*/ int main() {", '"""', "a\nb", "x\\"])
def test_a_hostile_name_is_not_repeated_in_comments(name):
    tree = born_again(stumps([30.0], names=(name, "income")), domain={0: (25, 99)}).tree
    code = tree.to_code("python")
    compile(code, "tree.py", "exec")
    assert "25 <= feature 0 <= 99" in code
    assert "25 <= feature 0 <= 99" in tree.to_code("c")


def test_a_report_does_not_claim_equality_outside_the_domain(forest):
    tree = born_again(forest, domain={3: (0, 1)}).tree
    facts = describe_equality(tree, check_equality(tree, Ensemble.from_model(forest)))
    assert facts["state"] == "equal"
    assert "every input inside the domain" in facts["text"]
    assert "0 <= x3 <= 1" in facts["text"]


def test_a_tree_refuses_a_domain_of_other_features():
    tree = born_again(stumps([1.0])).tree
    with pytest.raises(InvalidInputError, match="domain"):
        replace(tree, domain=Domain((None,)))
    with pytest.raises(InvalidInputError, match="missing"):
        replace(tree, domain=Domain((Values.of("missing"), None)))


def test_the_classifier_infers_the_domain_from_its_rows(iris):
    X, y = iris
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    model = onetree.BornAgainTreeClassifier(forest, domain="data", random_state=0).fit(X, y)
    assert model.tree_.domain == domain_of(X)
    assert (model.predict(X) == model.estimator_.predict(X)).all()
