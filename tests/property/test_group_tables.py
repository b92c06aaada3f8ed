"""Groups of features: the joint table against the plain meaning of the words, for any declarations."""

from __future__ import annotations

import itertools
import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onetree import Domain, InvalidInputError

N_FEATURES = 6


@st.composite
def declared(draw):
    """A mapping from tuples of features to words, possibly with values of single features."""
    found = {}
    for _ in range(draw(st.integers(1, 4))):
        features = tuple(draw(st.permutations(range(N_FEATURES)))[: draw(st.integers(2, 4))])
        table = st.sets(st.text("01", min_size=len(features), max_size=len(features)), min_size=1).map(",".join)
        found[features] = draw(st.sampled_from(["one-hot", "at most one", "implies", "equal"]) | table)
    for feature in draw(st.sets(st.integers(0, N_FEATURES - 1), max_size=2)):
        found[feature] = draw(st.sampled_from(["0", "1", "0,1", "0:7", ":0.5"]))
    return found


def holds(x, features, word):
    """Whether what is said is true of an input: the plain meaning, apart from the code under test."""
    values = [x[feature] for feature in features]
    if word == "one-hot":
        return sum(values) == 1
    if word == "at most one":
        return sum(values) <= 1
    if word == "implies":
        return all(cause <= effect for cause, effect in itertools.pairwise(values))
    if word == "equal":
        return len(set(values)) == 1
    return "".join(map(str, values)) in word.split(",")


def inputs(said):
    """All inputs of zeros and ones that agree with what is said."""
    ones = {"0": {0}, "1": {1}, "0,1": {0, 1}, "0:7": {0, 1}, ":0.5": {0}}
    return [
        x
        for x in itertools.product((0, 1), repeat=N_FEATURES)
        if all(holds(x, key, word) if isinstance(key, tuple) else x[key] in ones[word] for key, word in said.items())
    ]


@given(declared())
def test_the_domain_holds_the_inputs_that_the_words_mean(said):
    expected = inputs(said)
    try:
        domain = Domain.from_dict(said, N_FEATURES)
    except InvalidInputError:
        assert not expected
        return
    every = np.array(list(itertools.product((0, 1), repeat=N_FEATURES)))
    assert [tuple(row) for row in every[domain.contains(every)].tolist()] == expected


@given(declared())
def test_the_table_of_a_group_is_the_projection_of_the_domain(said):
    expected = inputs(said)
    if expected:
        for group in Domain.from_dict(said, N_FEATURES).groups:
            rows = sorted({tuple(bool(x[feature]) for feature in group.features) for x in expected})
            assert [tuple(row) for row in group.allowed.tolist()] == rows


@given(declared())
def test_groups_never_overlap_and_say_something(said):
    if inputs(said):
        domain = Domain.from_dict(said, N_FEATURES)
        members = [feature for group in domain.groups for feature in group.features]
        assert len(members) == len(set(members))
        for group in domain.groups:
            n_free = np.prod([len(domain.values[feature].choices) for feature in group.features])
            assert 0 < len(group.allowed) < n_free


@given(declared())
def test_a_domain_reads_back_from_its_spellings(said):
    if inputs(said):
        domain = Domain.from_dict(said, N_FEATURES)
        assert Domain.from_dict(domain.to_dict(), N_FEATURES) == domain
        assert Domain.from_dict(json.loads(json.dumps(domain.to_json())), N_FEATURES) == domain
