"""Groups of features: their words, how they are joined, and what a domain with them says."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from onetree import Domain, Ensemble, InvalidInputError
from onetree.domain.domain import as_domain
from onetree.domain.groups import MAX_COMBINATIONS, Declaration, Group, join
from onetree.domain.values import Values
from onetree.model.ensemble import Rule
from tests.cases.domains import restricted

NAMES = ("a", "b", "c", "d", "size")


def combinations(group):
    return ["".join("01"[bit] for bit in row) for row in group.allowed.tolist()]


def domain(given):
    return Domain.from_dict(given, NAMES)


def one_split_each(names=NAMES):
    """One tree with a single split at 0.3 for each feature."""
    n = len(names)
    inner, low, high = np.arange(n) * 3, np.arange(n) * 3 + 1, np.arange(n) * 3 + 2
    feature, left, right = (np.full(3 * n, -1) for _ in range(3))
    feature[inner], left[inner], right[inner] = np.arange(n), low, high
    threshold, value = np.zeros(3 * n), np.zeros((3 * n, 2))
    threshold[inner], value[low, 0], value[high, 1] = 0.3, 1, 1
    return Ensemble(
        classes=np.array(["no", "yes"]),
        feature_names=names,
        roots=inner,
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_left=np.zeros(3 * n, dtype=bool),
        value=value,
        base=np.zeros(2),
        rule=Rule("hard"),
        nan_features=np.ones(n, dtype=bool),
    )


@pytest.mark.parametrize(
    ("word", "rows"),
    [
        ("one-hot", ["001", "010", "100"]),
        ("at most one", ["000", "001", "010", "100"]),
        ("implies", ["000", "001", "011", "111"]),
        ("equal", ["000", "111"]),
        ("110,001,110", ["001", "110"]),
    ],
)
def test_each_word_allows_its_combinations(word, rows):
    (group,) = join([Declaration((1, 3, 4), word)])
    assert group.features == (1, 3, 4)
    assert combinations(group) == rows


def test_an_implication_follows_the_declared_order():
    (group,) = join([Declaration((4, 1), "implies")])
    assert group.features == (1, 4)
    assert combinations(group) == ["00", "10", "11"]


@pytest.mark.parametrize(
    ("features", "word", "message"),
    [
        ((1,), "one-hot", "at least two"),
        ((1, 1), "implies", "each of them once"),
        ((-1, 1), "implies", "at least two"),
        ((1, 2), "exactly one", "'exactly one' is not a statement"),
        ((1, 2), "01,1", "needs 2 digits"),
        ((1, 2), "", "is not a statement"),
        (tuple(range(MAX_COMBINATIONS + 1)), "equal", "at most 4,096 features"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(features, word, message):
    with pytest.raises(InvalidInputError, match=message):
        Declaration(features, word)


def test_what_shares_no_feature_stays_apart():
    groups = join([Declaration((3, 4), "equal"), Declaration((0, 1), "implies")])
    assert [group.features for group in groups] == [(0, 1), (3, 4)]


def test_what_overlaps_becomes_one_group_with_the_joint_table():
    said = [Declaration((0, 1), "implies"), Declaration((3, 2), "one-hot"), Declaration((1, 2), "at most one")]
    (group,) = join(said)
    assert group.features == (0, 1, 2, 3)
    assert combinations(group) == ["0001", "0010", "0101", "1101"]


def test_a_declaration_that_ties_two_groups_joins_them_whatever_the_order():
    said = [Declaration((0, 1), "equal"), Declaration((2, 3), "equal"), Declaration((1, 2), "implies")]
    assert join(said) == join(said[::-1]) == join([said[0], said[2], said[1]])


def test_a_member_may_be_fixed_by_what_is_said_together():
    (group,) = join([Declaration((0, 1), "implies"), Declaration((0, 1, 2), "at most one")])
    assert not group.allowed[:, 0].any()
    assert combinations(group) == ["000", "001", "010"]


def test_two_things_said_of_the_same_features_both_hold():
    (group,) = join([Declaration((0, 1), "implies"), Declaration((0, 1), "at most one")])
    assert group.declarations == (Declaration((0, 1), "00,01"),)


@pytest.mark.parametrize(
    "given",
    [
        {("a", "b"): "one-hot", ("b", "a"): "equal"},
        {("a", "b"): "one-hot", ("b", "c"): "one-hot", ("c", "a"): "one-hot"},
        {("a", "b"): "one-hot", "a": "0", "b": "0"},
        {("a", "b"): "one-hot", "groups": [{"equal": ["a", "b"]}]},
    ],
)
def test_a_contradiction_is_an_error_that_names_the_features(given):
    with pytest.raises(InvalidInputError, match=r"no combination is left.*a.*b"):
        domain(given)


def test_too_many_combinations_are_refused():
    causes = [Declaration((cause, 13), "implies") for cause in range(12)]
    with pytest.raises(InvalidInputError, match="more than 4,096 combinations"):
        join(causes)
    (group,) = join(causes[:-1])
    assert len(group.allowed) == 2**11 + 1


def test_a_table_that_is_large_on_the_way_is_joined_all_the_same():
    many = [Declaration((cause, 20), "implies") for cause in range(14)]
    (group,) = join([*many, Declaration(tuple(range(14)), "at most one")])
    assert len(group.allowed) == 16  # at most one cause, with the effect, or nothing at all


def test_groups_of_the_same_word_are_told_apart():
    said = [Declaration((0, 1), "implies"), Declaration((3, 2), "implies"), Declaration((4, 5), "implies")]
    groups = join(said)
    assert [group.features for group in groups] == [(0, 1), (2, 3), (4, 5)]
    assert [combinations(group) for group in groups] == [["00", "01", "11"], ["00", "10", "11"], ["00", "01", "11"]]
    assert [group.declarations for group in groups] == [(each,) for each in said]


def test_a_chain_that_is_said_link_by_link_is_the_chain():
    links = [Declaration((at, at + 1), "implies") for at in range(60)]
    (group,) = join(links[::2] + links[1::2])
    assert group == join([Declaration(tuple(range(61)), "implies")])[0]


def test_all_pairs_that_exclude_each_other_say_at_most_one():
    pairs = [Declaration((one, other), "at most one") for other in range(30) for one in range(other)]
    assert join(pairs) == join([Declaration(tuple(range(30)), "at most one")])


def test_work_without_end_is_refused(monkeypatch):
    links = [Declaration((at, at + 1), "implies") for at in range(60)]
    monkeypatch.setattr("onetree.domain.groups.MAX_ENTRIES", 60 * 2**15 + 60**3 // 3)
    with pytest.raises(InvalidInputError, match="groups are too large"):
        join(links)
    monkeypatch.setattr("onetree.domain.groups.MAX_ENTRIES", 60 * 2**15 + 60**3)
    assert len(join(links)) == 1


def test_a_group_given_by_its_table_has_a_spelling():
    group = Group((1, 3), np.array([[1, 1], [0, 0], [1, 1]]))
    assert combinations(group) == ["00", "11"]
    assert join(group.declarations) == (group,)
    assert "11" in repr(group)


@pytest.mark.parametrize(
    ("features", "allowed"), [((1, 0), [[0, 1]]), ((0, 1), [[0]]), ((0, 1), np.zeros((0, 2))), ((0,), [0])]
)
def test_a_table_that_does_not_fit_its_features_is_refused(features, allowed):
    with pytest.raises(InvalidInputError):
        Group(features, allowed)


def test_groups_are_compared_by_their_combinations():
    by_word, by_table = join([Declaration((0, 1), "equal")])[0], Group((0, 1), [[0, 0], [1, 1]])
    assert by_word == by_table
    assert hash(by_word) == hash(by_table)
    assert by_word != Group((0, 1), [[0, 0], [0, 1]])
    assert by_word != Group((0, 2), [[0, 0], [1, 1]])
    assert by_word != "equal"
    assert pickle.loads(pickle.dumps(by_word)) == by_word


def test_members_are_binary_without_being_named():
    assert domain({("a", "c"): "implies"}).values == (Values.of("0,1"), None, Values.of("0,1"), None, None)


def test_what_a_member_can_be_on_its_own_takes_combinations_away():
    inside = domain({("a", "b", "c"): "one-hot", "a": (-3, 0.5)})
    assert inside.values[0] == Values.of("0")
    assert [combinations(group) for group in inside.groups] == [["001", "010"]]


def test_a_group_that_leaves_every_combination_is_none():
    assert domain({("a", "b"): "00,01,10,11"}) == domain({"a": "binary", "b": "binary"})
    assert domain({("a", "b"): "implies", "b": "1"}).groups == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({("a", "b"): "equal", "a": "0,1 or missing"}, "'a' belongs to a group, so it cannot be missing"),
        ({("a", "b"): "equal", "b": (2, 3)}, "'b' belongs to a group, so it is 0 or 1"),
        ({("a", "z"): "equal"}, "'z', which the model does not have"),
        ({("a", 9): "equal"}, "features 0 to 4"),
        ({("a", 0): "equal"}, "each of them once"),
        ({("a", "b"): "hot"}, "'a', 'b' together are 'hot', which is not a known word; write \"one-hot\""),
        ({("a", "b"): (0, 1)}, "not a known word"),
        ({"groups": ["one-hot"]}, "is not a group"),
        ({"groups": [{"one-hot": ["a", "b"], "equal": ["a", "c"]}]}, "is not a group"),
        ({"groups": [{"one-hot": "ab"}]}, "is not a group"),
    ],
)
def test_a_group_that_makes_no_sense_is_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        domain(given)


def test_a_domain_refuses_groups_of_features_that_it_does_not_have():
    with pytest.raises(InvalidInputError, match="names feature 7"):
        Domain((None, None), groups=(Group((0, 7), [[0, 1]]),))
    with pytest.raises(InvalidInputError, match="Group"):
        Domain((None, None), groups=((0, 1),))


def test_overlapping_groups_of_a_domain_are_joined():
    inside = Domain((None,) * 3, groups=(Group((0, 1), [[0, 0], [1, 1]]), Group((1, 2), [[0, 1], [1, 1]])))
    assert [combinations(group) for group in inside.groups] == [["001", "111"]]


def test_rows_with_other_combinations_or_values_or_nan_are_outside():
    inside = domain({("a", "b"): "implies", ("c", "d"): "one-hot", "size": (0, 9)})
    rows = [
        [0, 1, 1, 0, 5],
        [1, 1, 0, 1, 0],
        [1, 0, 0, 1, 0],
        [0, 0, 1, 1, 0],
        [0, 1, 1, 0, 10],
        [0, 0.5, 1, 0, 5],
        [np.nan, 1, 1, 0, 5],
        [0, 1, 1, np.nan, 5],
    ]
    assert inside.contains(rows).tolist() == [True, True, False, False, False, False, False, False]


GIVEN = {("c", "a"): "implies", ("a", "b"): "at most one", ("b", "d"): "01,10,11", "d": "1", "size": "integer"}


def test_a_domain_with_groups_is_the_same_after_a_round_trip():
    inside = domain(GIVEN)
    assert inside.to_dict(NAMES) == GIVEN
    assert inside.to_dict() == {(2, 0): "implies", (0, 1): "at most one", (1, 3): "01,10,11", 3: "1", 4: "integer"}
    for again in (inside.to_dict(), inside.to_dict(NAMES), inside.to_json(NAMES)):
        assert Domain.from_dict(again, NAMES) == inside
        assert Domain.from_dict(again, NAMES).to_dict(NAMES) == GIVEN
    assert Domain.from_dict(inside.to_dict(), 5) == inside
    assert pickle.loads(pickle.dumps(inside)) == inside


def test_a_domain_with_groups_goes_through_json_by_name_or_number():
    inside = domain(GIVEN)
    assert inside.to_json(NAMES)["groups"][0] == {"implies": ["c", "a"]}
    assert Domain.from_dict(json.loads(json.dumps(inside.to_json(NAMES))), NAMES) == inside
    assert Domain.from_dict(json.loads(json.dumps(inside.to_json())), NAMES) == inside


def test_a_feature_may_be_called_groups():
    names = ("groups", "b", "c")
    inside = Domain.from_dict({"groups": "0:1", ("b", "c"): "equal"}, names)
    assert Domain.from_dict(json.loads(json.dumps(inside.to_json(names))), names) == inside


def test_a_domain_says_in_words_what_belongs_together():
    lines = domain({("a", "b", "c"): "one-hot", "size": (0, 9)}).describe(NAMES)
    assert lines == ["0 <= size <= 9", "exactly one of a, b and c is 1"]
    assert domain({("a", "b", "c"): "implies"}).describe(NAMES) == ["a implies b, which implies c"]
    assert domain({("a", "b"): "at most one"}).describe(NAMES) == ["at most one of a and b is 1"]
    assert domain({("a", "b"): "equal"}).describe(NAMES) == ["a and b are equal"]
    assert domain({("a", "b"): "01,10,11"}).describe(NAMES) == ["a and b together are 01, 10 or 11"]
    assert domain({("a", "b"): "one-hot", "a": "1"}).describe(NAMES)[0] == "a is 1"


def test_the_representation_shows_the_groups():
    assert repr(domain({("a", "b"): "implies", "d": "0"})) == "Domain({3: '0', (0, 1): 'implies'})"


def features(nan_features):
    """What `as_domain` asks of an ensemble."""
    return SimpleNamespace(feature_names=NAMES, nan_features=nan_features)


def test_a_group_alone_is_a_domain_of_a_model():
    inside = as_domain({("a", "b"): "implies"}, features(np.ones(5, dtype=bool)))
    assert [group.features for group in inside.groups] == [(0, 1)]
    assert as_domain(inside, features(np.zeros(5, dtype=bool))) == inside


def test_free_features_stay_free_beside_groups():
    inside = as_domain({("a", "b"): "implies", "size": ": or missing"}, features(np.ones(5, dtype=bool)))
    assert inside.to_dict(NAMES) == {("a", "b"): "implies"}


def test_an_ensemble_is_restricted_to_binary_members_and_no_further():
    ensemble = one_split_each()
    inside = restricted(ensemble, {("a", "b"): "one-hot", ("b", "c"): "implies"})
    alone = restricted(ensemble, dict.fromkeys("abc", "binary"))
    assert inside.threshold.tolist() == alone.threshold.tolist()
    assert inside.children_left.tolist() == alone.children_left.tolist()
    assert inside.nan_features.tolist() == alone.nan_features.tolist() == [False, False, False, True, True]


def test_narrower_values_of_a_domain_narrow_its_groups():
    inside = domain({("a", "b", "c"): "one-hot"})
    narrower = replace(inside, values=(Values.of("0"), *inside.values[1:]))
    assert [combinations(group) for group in narrower.groups] == [["001", "010"]]
    assert replace(narrower, values=inside.values) == inside


@pytest.mark.parametrize("far", [2**31 - 1, 2**63, 10**400])
def test_a_feature_with_a_huge_number_is_refused_like_any_that_does_not_exist(far):
    groups = join([Declaration((far, 1, 2), "one-hot")])
    with pytest.raises(InvalidInputError, match=r"a group names feature \d+, but the domain has features 0 to 2"):
        Domain((None,) * 3, groups=groups)
