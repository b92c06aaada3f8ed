"""A run that is killed goes on where it was, and ends with the same tree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.cli import main
from onetree.export.json import from_json
from onetree.scale.checkpoint import Checkpoint
from onetree.scale.fingerprint import fingerprint
from onetree.scale.parts import born_again_in_parts
from onetree.scale.records import Records, beginnings
from tests.cases.fingerprints import fingerprint as of_tree

X, Y = load_breast_cancer(return_X_y=True)


def forest(n_trees):
    return onetree.Ensemble.from_model(
        RandomForestClassifier(n_trees, max_depth=3, random_state=0).fit(X, Y), voting="hard"
    )


@pytest.fixture(scope="module")
def small():
    return forest(4)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.json"
    forest(7).save(path)
    return path


class Killed(BaseException):
    """What a test raises in place of a kill."""


class KillAfter:
    def __init__(self, n_parts):
        self.n_parts = n_parts

    def __call__(self, report):
        if report.phase == "parts" and report.done >= self.n_parts:
            raise Killed


@pytest.fixture
def small_boxes_are_cut(monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 1)


def words(model, folder, *more):
    base = ["convert", str(model), "-o", str(folder / "tree.json"), "--objective", "leaves", "--method", "heuristic"]
    return [*base, "--resume", str(folder / "checkpoint"), *more]


def test_a_killed_command_goes_on_and_ends_with_the_same_tree(large, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    assert main(words(large, whole)) == 0
    command = [sys.executable, "-m", "onetree", *words(large, broken)]
    for n_records in (1, 3):  # enough for the next to go on from
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and kept(broken / "checkpoint") < n_records:
                time.sleep(0.01)
            process.kill()
    found = kept(broken / "checkpoint")
    assert found >= 3
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["stats"]["parts_found"] >= 1
    assert (broken / "tree.json").read_bytes() == (whole / "tree.json").read_bytes()
    # A kill in the middle of writing leaves a file with a name of its own, never half a tree.
    assert {path.name for path in broken.iterdir() if path.suffix != ".partial"} == {"tree.json"}


def kept(path):
    """Parts in the file."""
    return sum(key.startswith("part ") for key in beginnings(path))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parts_that_are_done_are_not_done_again(n_jobs, small, tmp_path, small_boxes_are_cut):
    whole = born_again_in_parts(small, n_parts=6)
    path = tmp_path / "checkpoint"
    with pytest.raises(Killed):
        born_again_in_parts(small, n_parts=6, checkpoint=path, n_jobs=n_jobs, progress=KillAfter(2))
    reports = []
    resumed = born_again_in_parts(small, n_parts=6, checkpoint=path, n_jobs=n_jobs, progress=reports.append)
    assert resumed.stats["parts_found"] >= 2
    assert reports[0].done == resumed.stats["parts_found"] + 1
    assert reports[-1].fraction == 1.0
    assert of_tree(resumed.tree) == of_tree(whole.tree)
    assert (resumed.status, resumed.value, resumed.lower_bound) == (whole.status, whole.value, whole.lower_bound)


def test_the_cuts_are_not_searched_for_again(small, tmp_path, small_boxes_are_cut, monkeypatch):
    path = tmp_path / "checkpoint"
    first = born_again_in_parts(small, n_parts=6, checkpoint=path)
    monkeypatch.setattr("onetree.scale.partition._best_cut", None)
    monkeypatch.setattr("onetree.scale.many._convert", None)
    again = born_again_in_parts(small, n_parts=6, checkpoint=path)
    assert of_tree(again.tree) == of_tree(first.tree)


def test_a_limit_keeps_what_is_done(large, tmp_path, capsys):
    assert main(words(large, tmp_path, "--time-limit", "0.001")) == 3
    assert "nothing was done yet" in capsys.readouterr().err or (tmp_path / "checkpoint").exists()
    assert not (tmp_path / "tree.json").exists()


def test_a_limit_within_the_parts_is_an_error_that_loses_nothing(small, tmp_path, small_boxes_are_cut, monkeypatch):
    path = tmp_path / "checkpoint"
    reports = []  # the time is up as soon as a part is done
    monkeypatch.setattr("onetree.base.limits.time", lambda: 100.0 if reports else 0.0)
    with pytest.raises(onetree.LimitReachedError):
        born_again_in_parts(small, n_parts=6, checkpoint=path, time_limit=10.0, progress=reports.append)
    monkeypatch.undo()
    assert kept(path) > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"objective": "leaves"}, "objective"),
        ({"n_parts": 5}, "parts"),
        ({"random_state": 1}, "random_state"),
        ({"domain": {0: (10.0, 20.0)}}, "domain"),
        ({"memory_limit": 1.0}, "memory_limit"),
        ({"method": "auto"}, "method"),
    ],
)
def test_the_file_of_another_run_is_refused(change, said, small, tmp_path, small_boxes_are_cut):
    path = tmp_path / "checkpoint"
    born_again_in_parts(small, n_parts=4, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(onetree.InvalidInputError, match=f"belongs to another run: its {said} is"):
        born_again_in_parts(small, **{"n_parts": 4, "checkpoint": path} | change)
    assert path.read_bytes() == before


def test_the_file_of_another_model_is_refused(small, tmp_path):
    born_again_in_parts(small, n_parts=4, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(onetree.InvalidInputError, match="its model is"):
        born_again_in_parts(forest(3), n_parts=4, checkpoint=tmp_path / "checkpoint")


@pytest.mark.parametrize("kind", ["cut short", "one digit", "empty", "another file", "not text"])
def test_a_damaged_file_is_refused_and_left_alone(kind, small, tmp_path, capsys):
    path, model = tmp_path / "checkpoint", tmp_path / "model.json"
    small.save(model)
    born_again_in_parts(small, n_parts=None, objective="leaves", checkpoint=path)
    content = path.read_bytes()
    broken = {
        "cut short": content[: len(content) * 2 // 3],
        "one digit": re.sub(rb'(?<="lower_bound": )\d', lambda digit: b"2" if digit[0] == b"1" else b"1", content),
        "empty": b"",
        "another file": model.read_bytes(),
        "not text": bytes(range(256)),
    }[kind]
    path.write_bytes(broken)
    assert main(words(model, tmp_path)) == 2
    assert "cannot go on from" in capsys.readouterr().err
    assert path.read_bytes() == broken
    assert not (tmp_path / "tree.json").exists()


def wrong_leaves(tree):
    tree["nodes"]["class"] = [1 - label if label >= 0 else label for label in tree["nodes"]["class"]]


def names_turned(tree):
    """As the labels say it is the same tree, but the parts are put together by numbers."""
    wrong_leaves(tree)
    labels = tree["classes"]["labels"] if isinstance(tree["classes"], dict) else tree["classes"]
    labels.reverse()


def one_leaf_in_a_domain_of_one_class(tree):
    """Equal to the model, but only where the tree says that it is."""
    row = X[0]
    label = int(forest(4).predict_index(row[np.newaxis])[0])
    tree["nodes"] = {
        name: [{"feature": -1, "left": -1, "right": -1, "class": label}.get(name, tree["nodes"][name][-1])]
        for name in tree["nodes"]
    }
    tree["domain"] = {"values": [repr(float(value)) for value in row], "origin": ""}


@pytest.mark.parametrize("forge", [wrong_leaves, names_turned, one_leaf_in_a_domain_of_one_class])
def test_a_forged_part_is_not_taken_for_proven(forge, small, tmp_path, small_boxes_are_cut):
    path = tmp_path / "checkpoint"
    born_again_in_parts(small, n_parts=4, checkpoint=path)
    task = Records(path).get("task")
    del task["onetree"]
    with Checkpoint(path, task) as kept_parts:
        key = next(key for key in kept_parts._records if key.startswith("part "))
        record = kept_parts.get(key)
        tree = json.loads(record["tree"])
        forge(tree)
        assert onetree.verify(from_json(json.dumps(tree)), small).equivalent == (forge is not wrong_leaves)
        kept_parts.put(key, {**record, "tree": json.dumps(tree)})
    with pytest.raises(onetree.ModelFileError, match="is not equal to the model"):
        born_again_in_parts(small, n_parts=4, checkpoint=path)


def test_a_write_that_was_killed_halfway_is_undone(small, tmp_path):
    path = tmp_path / "checkpoint"
    born_again_in_parts(small, n_parts=2, checkpoint=path)
    before = set(Records(path))
    writer = f"""
import os, sqlite3
database = sqlite3.connect({str(path)!r}, isolation_level=None)
database.execute("PRAGMA cache_size = 1")  # so that changes reach the file before they are committed
database.execute("BEGIN")
database.executemany("INSERT INTO record VALUES (?, ?, '')", [(str(i), "x" * 5000) for i in range(100)])
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", writer], check=False).returncode == -9
    assert (tmp_path / "checkpoint-journal").exists()
    assert set(Records(path)) == before
    assert not (tmp_path / "checkpoint-journal").exists()


def test_of_many_models_those_that_are_done_are_not_done_again(tmp_path, monkeypatch):
    forests, path = [forest(n) for n in (2, 3, 2, 4)], tmp_path / "checkpoint"
    options = {"objective": "leaves", "method": "heuristic"}  # which no clock cuts short
    whole = onetree.born_again_many(forests, **options)

    def kill(report):
        if report.done == 2:
            raise Killed

    with pytest.raises(Killed):
        onetree.born_again_many(forests, **options, checkpoint=path, progress=kill)
    reports = []
    resumed = onetree.born_again_many(forests, **options, checkpoint=path, progress=reports.append)
    assert len(reports) < len(forests)
    assert [of_tree(each.tree) for each in resumed] == [of_tree(each.tree) for each in whole]
    assert [each.value for each in resumed] == [each.value for each in whole]
    monkeypatch.setattr("onetree.scale.many._convert", None)
    assert len(onetree.born_again_many(forests, **options, checkpoint=path)) == len(forests)
    with pytest.raises(onetree.InvalidInputError, match="its options is"):
        onetree.born_again_many(forests, **{**options, "objective": "depth"}, checkpoint=path)


def test_a_small_model_is_proven_optimal_and_the_file_is_removed(small, tmp_path, capsys):
    model = tmp_path / "model.json"
    small.save(model)
    line = ["convert", str(model), "-o", str(tmp_path / "tree.json"), "--resume", str(tmp_path / "checkpoint")]
    assert main([*line, "--json"]) == 0
    expected = onetree.born_again(small)
    assert json.loads(capsys.readouterr().out)["status"] == "optimal"
    assert of_tree(onetree.load_tree(tmp_path / "tree.json")) == of_tree(expected.tree)
    assert not (tmp_path / "checkpoint").exists()


def test_the_exact_step_is_not_taken_again(small, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    first = born_again_in_parts(small, method="auto", checkpoint=path)
    monkeypatch.setattr("onetree.scale.parts.exact_if_quick", None)
    again = born_again_in_parts(small, method="auto", checkpoint=path)
    assert (again.status, again.value) == (first.status, first.value) == ("optimal", first.value)
    assert of_tree(again.tree) == of_tree(first.tree)


def stop_in_exact_search(report):
    assert report.phase not in ("parts", "proof")
    raise onetree.StopSearch


def test_an_exact_step_that_was_stopped_is_not_taken_again(small, tmp_path, monkeypatch, small_boxes_are_cut):
    path = tmp_path / "checkpoint"
    options = {"method": "auto", "n_parts": 4, "checkpoint": path}
    with pytest.raises(onetree.LimitReachedError):
        born_again_in_parts(small, **options, progress=stop_in_exact_search)
    monkeypatch.setattr("onetree.scale.parts.exact_if_quick", None)
    resumed = born_again_in_parts(small, **options)
    assert of_tree(resumed.tree) == of_tree(born_again_in_parts(small, n_parts=4).tree)


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ({"memory": 1.0}, "nothing was done yet"),
        ({"memory": 1.0, "exact": "stopped"}, "goes on without an exact search"),
        ({"memory": 1.0, "exact": None}, "goes on from there"),
        ({"exact": "stopped", "cut 0": {}}, "goes on from there"),
    ],
)
def test_only_records_of_work_are_called_done(records, said, large, tmp_path, capsys, monkeypatch):
    def stop(*_, checkpoint, **__):
        with Checkpoint(checkpoint, {}) as file:
            for key, record in records.items():
                file.put(key, record)
        raise onetree.LimitReachedError("enough")

    monkeypatch.setattr("onetree.born_again_in_parts", stop)
    assert main(words(large, tmp_path)) == 3
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("method", ["heuristic", "auto"])
def test_what_is_proven_again_is_told_and_held_to_the_limit(method, small, tmp_path, monkeypatch, small_boxes_are_cut):
    options = {"method": method, "n_parts": 4, "checkpoint": tmp_path / "checkpoint"}
    whole = born_again_in_parts(small, **options)
    limits, reports = [], []

    def limited(*arguments, time_limit, **more):
        limits.append(time_limit)
        return onetree.verify(*arguments, time_limit=time_limit, **more)

    monkeypatch.setattr("onetree.scale.checkpoint.verify", limited)
    again = born_again_in_parts(small, **options, time_limit=600.0, progress=reports.append)
    n_found = 4 if method == "heuristic" else 1
    assert len(limits) == n_found
    assert all(0.0 < limit <= 600.0 for limit in limits)
    assert {report.done for report in reports if report.phase == "proof"} == set(range(n_found + 1))
    assert of_tree(again.tree) == of_tree(whole.tree)

    def too_late(*_, **__):
        raise onetree.LimitReachedError("no verdict")

    monkeypatch.setattr("onetree.scale.checkpoint.verify", too_late)
    with pytest.raises(onetree.LimitReachedError, match=f"0 of {n_found} results .* raise time_limit"):
        born_again_in_parts(small, **options, time_limit=600.0)


def test_to_stop_while_parts_are_proven_again_is_no_matter_of_time(small, tmp_path, small_boxes_are_cut):
    options = {"n_parts": 4, "checkpoint": tmp_path / "checkpoint"}
    born_again_in_parts(small, **options)

    def stop(report):
        raise onetree.StopSearch

    with pytest.raises(onetree.LimitReachedError, match="stopped before all was done"):
        born_again_in_parts(small, **options, progress=stop)


@pytest.mark.parametrize("more", [["--method", "exact"], ["--data", "rows.csv"]])
def test_what_cannot_go_on_is_refused(more, large, tmp_path, capsys):
    line = ["convert", str(large), "-o", str(tmp_path / "tree.json"), "--resume", str(tmp_path / "checkpoint")]
    assert main([*line, *more]) == 2
    assert "--resume" in capsys.readouterr().err


def test_a_fingerprint_tells_values_apart():
    values = [
        np.array([1.0]),
        np.array([1]),
        np.array([[1.0]]),
        np.array(["a", 1], dtype=object),
        [1.0],
        (1, 2),
        {"a": 1},
        {"a": 2},
        {1, 3},
        None,
        "None",
        onetree.Domain.from_dict({0: (0.0, 1.0)}, ("a",)),
        onetree.Domain.from_dict({0: (0.0, 2.0)}, ("a",)),
    ]
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
