"""Groups of columns that data show: what is found, what is left out, and that it holds in every row."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from onetree import Domain, domain_of
from onetree.domain.groups import MAX_COMBINATIONS
from onetree.domain.observed_groups import _Columns, observed_groups


def said(rows, names=None):
    """What is found, in words."""
    names = names or [f"x{at}" for at in range(np.shape(rows)[1])]
    return [line for group in observed_groups(np.asarray(rows, dtype=float)) for line in group.describe(names)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_thresholds_of_one_number_are_a_chain(rng):
    age = rng.integers(18, 60, 500)
    assert said(np.stack([age < 40, age < 20, age < 30], axis=1)) == ["x1 implies x2, which implies x0"]


def test_columns_of_one_category_are_one_hot_even_rare_ones(rng):
    kind = rng.choice(4, 500, p=[0.5, 0.3, 0.196, 0.004])
    other = rng.random((500, 1)) < 0.5
    assert said(np.hstack([other, kind[:, np.newaxis] == np.arange(4)])) == ["exactly one of x1, x2, x3 and x4 is 1"]


def test_one_hot_columns_without_the_first_are_at_most_one(rng):
    kind = rng.integers(4, size=500)
    assert said(kind[:, np.newaxis] == np.arange(1, 4)) == ["at most one of x0, x1 and x2 is 1"]


def test_a_column_and_its_opposite_are_one_hot(rng):
    column = rng.random(300) < 0.3
    assert said(np.stack([column, ~column], axis=1)) == ["exactly one of x0 and x1 is 1"]


def test_equal_columns_are_equal_and_stand_for_each_other(rng):
    age = rng.integers(18, 60, 500)
    found = said(np.stack([age < 30, age < 20, age < 30], axis=1))
    assert found == ["x0 and x2 are equal", "x1 implies x0"]


def test_an_implication_that_follows_from_others_is_left_out(rng):
    level = rng.integers(4, size=500)
    side = (level == 0) | (rng.random(500) < 0.5)
    found = said(np.stack([level < 1, level < 2, level < 3, side], axis=1))
    assert found == ["x0 implies x1, which implies x2", "x0 implies x3"]


def test_independent_columns_belong_to_nothing(rng):
    assert said(rng.random((500, 8)) < 0.5) == []


def test_what_a_few_rows_show_is_chance(rng):
    assert said(rng.random((20, 8)) < 0.3) == []


def test_other_columns_are_not_looked_at(rng):
    column = rng.random(300) < 0.3
    rows = np.stack([column, column, column * 2, np.where(column, 1, np.nan), np.ones(300), np.zeros(300)], axis=1)
    assert said(rows) == ["x0 and x1 are equal"]


def test_no_more_is_found_than_a_group_can_hold(rng):
    effect = rng.random(5000) < 0.5
    rows = (rng.random((5000, 20)) < 0.5) & effect[:, np.newaxis]
    (group,) = observed_groups(np.column_stack([rows, effect]).astype(float))
    assert MAX_COMBINATIONS / 2 <= len(group.allowed) <= MAX_COMBINATIONS


def test_every_row_agrees_with_what_is_found(rng):
    age, kind = rng.integers(18, 60, 500), rng.integers(3, size=500)
    rows = np.column_stack([age < 20, age < 30, kind == 0, kind == 1, kind == 2, age, rng.random(500)])
    found = domain_of(rows, groups=True)
    assert found.contains(rows).all()
    assert [group.features for group in found.groups] == [(0, 1), (2, 3, 4)]
    assert Domain.from_dict(found.to_dict(), 7, origin=found.origin) == found


def test_the_origin_says_that_groups_were_inferred():
    rows = np.eye(3)[np.arange(60) % 3]
    assert domain_of(rows, groups=True).origin == "inferred from 60 rows, groups included"


def test_groups_are_not_looked_for_unless_asked():
    rows = np.eye(3)[np.arange(60) % 3]
    assert domain_of(rows).groups == ()
    assert domain_of(rows).origin == "inferred from 60 rows"


def read_paper(paper_data, name):
    path = paper_data / "datasets" / name / f"{name}.full.csv"
    names = path.read_text().partition("\n")[0].split(",")[:-1]
    return np.loadtxt(path, delimiter=",", skiprows=1)[:, :-1], names


def test_the_groups_of_compas_are_found(paper_data):
    rows, names = read_paper(paper_data, "COMPAS-ProPublica")
    found = domain_of(rows, groups=True)
    assert {
        ("age:<21", "age:<23", "age:<26", "age:<46"): "implies",
        ("juvenile-crimes:=0", "juvenile-felonies:=0"): "implies",
        ("juvenile-crimes:=0", "juvenile-misdemeanors:=0"): "implies",
        ("priors:=0", "priors:=1", "priors:2-3", "priors:>3"): "one-hot",
    }.items() <= found.to_dict(names).items()
    assert found.contains(rows).all()


def test_the_thresholds_of_fico_are_chains(paper_data):
    rows, names = read_paper(paper_data, "FICO")
    found = domain_of(rows, groups=True)
    assert {
        ("ExternalRiskEstimate<0.49", "ExternalRiskEstimate<0.65", "ExternalRiskEstimate<0.80"): "implies",
        ("TradeOpenTime<0.6", "TradeOpenTime<0.85"): "implies",
        ("RevolvingBalance<0.4", "RevolvingBalance<0.6"): "implies",
    }.items() <= found.to_dict(names).items()
    assert found.contains(rows).all()


def test_only_implications_without_another_feature_between_are_direct(rng):
    values = rng.random((400, 2))
    limits = 0.3 + 0.7 * rng.random((25, 2))
    inside = np.unique((values[:, np.newaxis] < limits).all(axis=2), axis=1)  # equal columns once
    columns = _Columns(dict(enumerate(inside.T)), np.ones(len(inside), dtype=int))
    implied = {
        (a, b) for a in columns.bits for b in columns.bits if a != b and not (inside[:, a] & ~inside[:, b]).any()
    }
    ones, n_rows = columns.ones, columns.n_rows
    expected = {
        (a, b)
        for a, b in implied
        if not any((a, c) in implied and (c, b) in implied for c in columns.bits)
        and ones[a] * (n_rows - ones[b]) >= 10 * n_rows
    }
    chains = [declaration.features for declaration in columns.implications()]
    assert {pair for chain in chains for pair in pairwise(chain)} == expected


def test_every_exclusion_is_said_and_nothing_else(rng):
    kind = rng.integers(6, size=600)
    near = (kind + rng.integers(2, size=600)) % 6
    rows = np.hstack([kind[:, np.newaxis] == np.arange(6), near[:, np.newaxis] == np.arange(6)])
    columns = _Columns(dict(enumerate(rows.T)), np.ones(len(rows), dtype=int))
    ones, n_rows = columns.ones, columns.n_rows
    expected = {
        (a, b)
        for a, b in combinations(sorted(columns.bits), 2)
        if not (rows[:, a] & rows[:, b]).any() and ones[a] * ones[b] >= 10 * n_rows
    }
    sets = [declaration.features for declaration in columns.exclusions()]
    assert {pair for each in sets for pair in combinations(each, 2)} == expected
    assert len(expected) > 3
