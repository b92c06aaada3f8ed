"""What the figures of `benchmarks.scaling` rest on; nothing here is timed."""

import numpy as np
import pytest

from benchmarks import scaling, scaling_figure, scaling_forests


def row(factor, value, **measures):
    medians = {"seconds": 1.0, "megabytes": 10.0, "states": 10, "leaves": 10} | measures
    return {"factor": factor, "value": value, "series": "interval-dp"} | medians


def test_a_power_law_is_found_again():
    xs = (1, 2, 4, 8)
    power = scaling_figure.fit(xs, [3.0 * x**2.5 for x in xs], least=1.0)
    assert power["exponent"] == pytest.approx(2.5)
    assert power["scale"] == pytest.approx(3.0)
    assert power["r_squared"] == pytest.approx(1.0)


def test_what_lies_before_the_growth_does_not_flatten_the_line():
    power = scaling_figure.fit((1, 2, 4, 8, 16), (0.1, 0.1, 4.0, 8.0, 16.0), least=1.0)
    assert power["exponent"] == pytest.approx(1.0)
    assert power["from"] == 4


def test_two_points_are_no_line():
    assert scaling_figure.fit((1, 2), (1.0, 2.0), least=1.0) is None


def test_the_table_shows_the_exponent_of_each_measure():
    rows = [row("trees", x, seconds=float(x), leaves=10 * x**2) for x in (2, 4, 8)]
    assert "| trees | interval-dp | 1.0 (1.00) | 0.0 (1.00) | 0.0 (1.00) | 2.0 (1.00) |" in scaling_figure.table(
        scaling_figure.fits(rows)
    )


def test_the_figure_is_the_same_every_time(tmp_path):
    rows = [row(factor, x, seconds=float(x)) for factor in ("trees", "classes") for x in (2, 4, 8)]
    for name in ("first.svg", "second.svg"):
        scaling_figure.draw(rows, tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_an_unfinished_run_counts_as_the_longest():
    assert scaling.median([None, 1.0, 2.0]) == 2.0
    assert scaling.median([None, 1.0, None]) == float("inf")


def test_a_tree_that_was_not_proven_smallest_is_a_point_of_the_heuristic_only():
    result = {"status": "feasible", "seconds": 1.0, "peak_bytes_of_solve": 5e6, "boxes": 9, "states": 7, "leaves": 3}
    result |= {"cells": 0, "verified": True}
    assert scaling.measured("heuristic", result)["leaves"] == 3
    assert scaling.measured("interval-dp", result)["leaves"] is None


def test_points_of_other_options_are_not_taken_over(tmp_path):
    words = ["--out", str(tmp_path / "figure.svg")]
    run = {"status": "optimal", "verified": True, "seconds": 1.0, "megabytes": 1.0, "states": 1, "leaves": 2}
    scaling.Record(scaling.parse(words)).add("trees", 3, "heuristic", [run])
    assert scaling.Record(scaling.parse(words)).find("trees", 3, "heuristic")["leaves"] == 2
    assert scaling.Record(scaling.parse([*words, "--rows", "100"])).find("trees", 3, "heuristic") is None


def test_made_classes_are_as_many_as_asked_for_and_equally_frequent():
    X = np.random.default_rng(0).normal(size=(600, 3))
    assert np.bincount(scaling_forests.made_classes(X, 4)).tolist() == [150] * 4


def test_a_binned_column_has_no_more_hyperplanes_than_asked_for():
    column = np.random.default_rng(0).normal(size=100)
    assert np.unique(scaling_forests.binned(column, 3)).tolist() == [0, 1, 2, 3]
