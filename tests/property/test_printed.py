"""Printed trees are true: read back from the text and applied in decimal arithmetic, they give the tree's class."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree.importers.thresholds import canonical_thresholds, canonical_thresholds_below
from tests.cases import categorical, exported, printed

short = st.builds(lambda digits, places: digits / 10**places, st.integers(-999_999, 999_999), st.integers(0, 6))
float64 = st.one_of(
    st.floats(min_value=-1e6, max_value=1e6), short, st.floats(min_value=0.1, max_value=0.100001), st.just(1e-35)
)
pools = st.lists(
    st.one_of(
        float64,
        float64.map(lambda t: float(canonical_thresholds(np.array([t]))[0])),
        float64.map(lambda t: float(canonical_thresholds_below(np.array([t], dtype=np.float32))[0])),
    ),
    min_size=1,
    max_size=12,
)
readers = pytest.mark.parametrize("reader", ["rules", "text"])


def read_back(tree, reader, columns, **options):
    if reader == "rules":
        return printed.by_rules(tree.to_rules(**options), columns).tolist()
    return printed.by_text(tree.to_text(**options), columns).tolist()


def float32_rows(tree, rng, n=400):
    """Rows next to the thresholds, as close as float32 numbers come."""
    cuts = tree.threshold[np.isfinite(tree.threshold)].astype(np.float32)
    near = np.concatenate([cuts, np.nextafter(cuts, np.float32(np.inf)), np.nextafter(cuts, np.float32(-np.inf))])
    rows = rng.choice(near, size=(n, tree.n_features)).astype(np.float32)
    rows[:, tree.nan_features] = np.where(
        rng.random((n, tree.nan_features.sum())) < 0.1, np.nan, rows[:, tree.nan_features]
    )
    return rows


def decimal_rows(tree, rng, digits, n=400):
    """Rows next to the thresholds, in decimals of so many digits: as text."""
    cuts = tree.threshold[np.isfinite(tree.threshold)]
    texts = [f"{cut:.{digits - 1}e}" for cut in cuts]
    near = [
        str(Decimal(text) + k * Decimal(1).scaleb(Decimal(text).adjusted() - digits + 1))
        for text in texts
        for k in (-1, 0, 1)
    ]
    short_enough = [text for text in near if len(Decimal(text).normalize().as_tuple().digits) <= digits]
    return rng.choice(short_enough, size=(n, tree.n_features))


@readers
@given(pool=pools, seed=st.integers(0, 1000))
def test_float32_numbers_go_where_the_text_says(reader, pool, seed):
    tree = exported.random_tree(seed, n_splits=12, thresholds=pool)
    rows = float32_rows(tree, np.random.default_rng(seed))
    columns = {name: printed.column_of_numbers(rows[:, at]) for at, name in enumerate(tree.feature_names)}
    assert read_back(tree, reader, columns) == tree.predict(rows).tolist()


@readers
@given(pool=pools, seed=st.integers(0, 1000), digits=st.integers(1, 15))
def test_decimals_go_where_the_text_says(reader, pool, seed, digits):
    tree = exported.random_tree(
        seed, n_splits=12, thresholds=[cut for cut in pool if abs(cut) > 1e-29 or not cut] or [0.5]
    )
    texts = decimal_rows(tree, np.random.default_rng(seed), digits)
    columns = {name: printed.column_of_decimals(texts[:, at]) for at, name in enumerate(tree.feature_names)}
    assert read_back(tree, reader, columns, digits=digits) == tree.predict(texts.astype(np.float64)).tolist()


@readers
@given(pool=pools, seed=st.integers(0, 1000), digits=st.one_of(st.none(), st.integers(1, 15)))
def test_integers_go_where_the_text_says(reader, pool, seed, digits):
    tree = exported.random_tree(seed, n_splits=12, thresholds=pool)
    rng = np.random.default_rng(seed)
    whole = np.floor(tree.threshold[np.isfinite(tree.threshold)])
    rows = rng.choice(np.concatenate([whole - 1, whole, whole + 1]), size=(400, tree.n_features))
    columns = {name: printed.column_of_numbers(rows[:, at]) for at, name in enumerate(tree.feature_names)}
    assert read_back(tree, reader, columns, digits=digits) == tree.predict(rows).tolist()


@readers
@given(pool=pools, seed=st.integers(0, 1000))
def test_all_digits_send_every_float64_number_where_the_text_says(reader, pool, seed):
    tree = exported.random_tree(seed, n_splits=12, thresholds=pool)
    rows = exported.points(tree, n=400, seed=seed)
    shown = [["" if np.isnan(x) else repr(x) for x in column] for column in rows.T.tolist()]
    columns = {name: printed.column_of_decimals(shown[at]) for at, name in enumerate(tree.feature_names)}
    assert read_back(tree, reader, columns, digits=None) == tree.predict(rows).tolist()


@readers
@given(members=st.lists(st.sampled_from([0, 1, 2, 5, "other", "missing"]), unique=True), takes_nan=st.booleans())
def test_categories_go_where_the_text_says(reader, members, takes_nan):
    tree = categorical.colour_tree(*members, takes_nan=takes_nan)
    codes = [0.0, 1.0, 2.0, 5.0, 3.0] + [np.nan] * takes_nan
    words = ["red", "green", "blue", "grey", "other"] + [None] * takes_nan
    rows = np.array([[code, age] for code in codes for age in (29, 30, 31)])
    colour = printed.Column([word for word in words for _ in range(3)])
    columns = {"colour": colour, "age": printed.column_of_numbers(rows[:, 1])}
    assert read_back(tree, reader, columns) == tree.predict(rows).tolist()


def test_the_reader_notices_a_condition_that_is_wrong():
    columns = {"age": printed.column_of_decimals(["49", "50", "51"])}
    assert printed.by_rules("IF age < 50 THEN a\nIF age >= 50 THEN b", columns).tolist() == ["a", "b", "b"]
    assert printed.by_rules("IF age <= 50 THEN a\nIF age > 50 THEN b", columns).tolist() == ["a", "a", "b"]
    with pytest.raises(AssertionError, match="exclude each other"):
        printed.by_rules("IF age <= 50 THEN a\nIF age >= 50 THEN b", columns)
