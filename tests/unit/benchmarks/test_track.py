"""`benchmarks.track`: a line per run, and the comparison of two."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import onetree
from benchmarks import track


@pytest.fixture
def done():
    """A line of work that took no time worth measuring."""
    calls = []
    jobs = {"one": lambda: calls.append("one") or ["optimal", "5"], "two": lambda: calls.append("two") or [7]}
    return track.line(track.measure(jobs, lambda: calls.append("yardstick"), repeat=3)), calls


def faster(line, times):
    changed = copy.deepcopy(line)
    for each in changed["work"].values():
        each["seconds"] /= times
        each["ratio"] /= times
    return changed


def test_a_line_is_json_and_says_what_ran_where(done):
    line = json.loads(json.dumps(done[0]))
    assert {"commit", "changed", "simd", "machine", "work"} <= line.keys()
    assert line["machine"]["processor"]
    assert line["work"]["one"]["found"] == ["optimal", "5"]
    assert all(each["seconds"] > 0 and each["ratio"] > 0 for each in line["work"].values())


def test_every_piece_of_work_has_the_yardstick_beside_it(done):
    turns = [name for name, before in zip(done[1][1:], done[1], strict=False) if before == "yardstick" != name]
    assert {"one", "two"} <= set(turns)


def test_a_comparison_shows_how_many_times_faster(done):
    shown, same = track.comparison(done[0], faster(done[0], 4))
    assert same
    assert shown.splitlines()[-1].split() == ["geometric", "mean", "4.00", "4.00"]


def test_another_result_is_no_gain(done):
    other = faster(done[0], 4)
    other["work"]["two"]["found"] = [8]
    shown, same = track.comparison(done[0], other)
    assert not same
    assert "found [8], not [7]" in shown


def test_another_processor_is_said(done):
    other = copy.deepcopy(done[0])
    other["simd"] = "something else"
    assert "vector instructions differ" in track.comparison(done[0], other)[0]


def test_lines_are_chosen_by_number_or_by_commit(done):
    lines = [done[0] | {"commit": commit} for commit in ("abc1", "abe2", "abc3")]
    assert track.chosen(lines, "-1") is track.chosen(lines, "abc") is lines[2]
    assert track.chosen(lines, "abe") is lines[1]
    with pytest.raises(SystemExit, match="there are 3 lines"):
        track.chosen(lines, "f00")


def test_the_command_compares_the_last_two_lines(done, tmp_path, capsys):
    file = tmp_path / "track.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in (done[0], done[0], faster(done[0], 2))))
    assert track.main(["compare", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[2:] == ["2.00", "2.00"]


@pytest.mark.parametrize("categorical", [False, True])
def test_a_model_of_a_seed_is_the_same_every_time_and_is_searched(categorical):
    one, other = (track.forest(5, 3, 2, 3, 3, categorical=categorical) for _ in range(2))
    assert one.has_subsets == categorical
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.value, other.value)
    assert onetree.born_again(one, method="exact").status == "optimal"


@pytest.mark.slow
def test_the_work_is_done_and_finds_the_same_every_time():
    found = track.measure(track.work(), track.yardstick(), repeat=2)
    assert all(each["same"] for each in found.values())
    assert {name: each["found"][0] for name, each in found.items() if name.startswith("exact")} == dict.fromkeys(
        [name for name in found if name.startswith("exact")], "optimal"
    )
