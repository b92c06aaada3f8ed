"""A run for a tree with numbers that is killed goes on where it was, and ends with the same tree."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier

import onetree
from onetree.cli import main
from onetree.export.json import to_json
from onetree.scale.checkpoint import Checkpoint
from onetree.scale.parts import born_again_in_parts
from onetree.scale.records import Records, beginnings

PROBABILITIES = {"output": "probability", "tolerance": 0.1}


class Killed(BaseException):
    """What a test raises in place of a kill."""


def kill_after(n_done):
    def report(step):
        if step.phase in ("parts", "many") and step.done >= n_done:
            raise Killed

    return report


def forest(n_trees):
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(n_trees, max_depth=3, random_state=0).fit(X, y)
    return onetree.Ensemble.from_model(model, output="probability")


def regressor(n_trees, **options):
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=n_trees, max_depth=2, random_state=0, **options).fit(X, y)
    return onetree.Ensemble.from_model(model, output="value")


@pytest.fixture(scope="module", params=["probabilities", "values"])
def small(request):
    """A model, and what is asked of its tree."""
    return (forest(3), PROBABILITIES) if request.param == "probabilities" else (regressor(5), {"tolerance": 8.0})


@pytest.fixture
def small_boxes_are_cut(monkeypatch):
    monkeypatch.setattr("onetree.scale.partition.FEW_CELLS", 1)


def kept(path):
    """Parts in the file."""
    return sum(key.startswith("part ") for key in beginnings(path))


def words(model, folder, *more):
    base = ["convert", str(model), "-o", str(folder / "tree.json"), "--objective", "leaves"]
    return [*base, "--resume", str(folder / "checkpoint"), *more]


def test_a_killed_command_goes_on_and_ends_with_the_same_tree(tmp_path):
    whole, broken, model = tmp_path / "whole", tmp_path / "broken", tmp_path / "model.json"
    whole.mkdir()
    broken.mkdir()
    forest(7).save(model)
    asked = ["--predicts", "probability", "--tolerance", "0.2", "--method", "heuristic"]
    assert main(words(model, whole, *asked)) == 0
    command = [sys.executable, "-m", "onetree", *words(model, broken, *asked)]
    for n_records in (1, 2):  # enough for the next to go on from
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and kept(broken / "checkpoint") < n_records:
                time.sleep(0.01)
            process.kill()
    assert kept(broken / "checkpoint") >= 2
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert said["stats"]["parts_found"] >= 1
    assert (said["predicts"], said["tolerance"], said["verified"]) == ("probability", 0.2, True)
    assert (broken / "tree.json").read_bytes() == (whole / "tree.json").read_bytes()
    assert {path.name for path in broken.iterdir()} == {"tree.json"}


def test_a_small_regressor_is_proven_optimal_and_the_file_is_removed(tmp_path, capsys):
    model = tmp_path / "model.json"
    regressor(4).save(model)
    assert main(words(model, tmp_path, "--tolerance", "20", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "optimal"
    expected = onetree.born_again(model, objective="leaves", tolerance=20.0)
    assert to_json(onetree.load_tree(tmp_path / "tree.json")) == to_json(expected.tree)
    assert not (tmp_path / "checkpoint").exists()


def test_the_least_tolerance_of_a_size_is_refused(tmp_path, capsys):
    model = tmp_path / "model.json"
    regressor(4).save(model)
    assert main(words(model, tmp_path, "--max-leaves", "5")) == 2
    assert "--max-leaves" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"model.json"}


def test_a_tree_that_is_far_too_large_within_the_tolerance_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("onetree.search.advice._FEW_BOXES", 0)
    monkeypatch.setattr("onetree.search.advice.MOST_LEAVES", 4)
    model = tmp_path / "model.json"
    regressor(4).save(model)
    assert main(words(model, tmp_path, "--tolerance", "1")) == 3
    assert "nothing was written" in capsys.readouterr().err
    assert not (tmp_path / "checkpoint").exists()
    assert main(words(model, tmp_path, "--tolerance", "1000")) == 0  # where one leaf does


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parts_that_are_done_are_not_done_again(n_jobs, small, tmp_path, small_boxes_are_cut):
    model, asked = small
    whole = born_again_in_parts(model, n_parts=6, **asked)
    path = tmp_path / "checkpoint"
    options = {"n_parts": 6, "checkpoint": path, "n_jobs": n_jobs, **asked}
    with pytest.raises(Killed):
        born_again_in_parts(model, **options, progress=kill_after(2))
    resumed = born_again_in_parts(model, **options)
    assert resumed.stats["parts_found"] >= 2
    assert to_json(resumed.tree) == to_json(whole.tree)
    assert (resumed.status, resumed.value, resumed.lower_bound) == (whole.status, whole.value, whole.lower_bound)


def test_what_is_done_is_recalled_without_any_search(small, tmp_path, small_boxes_are_cut, monkeypatch):
    model, asked = small
    options = {"n_parts": 6, "checkpoint": tmp_path / "checkpoint", **asked}
    first = born_again_in_parts(model, **options)
    monkeypatch.setattr("onetree.scale.partition._best_cut", None)
    monkeypatch.setattr("onetree.scale.many._convert", None)
    assert to_json(born_again_in_parts(model, **options).tree) == to_json(first.tree)


def test_the_exact_step_is_not_taken_again(small, tmp_path, monkeypatch):
    model, asked = small
    options = {"method": "auto", "checkpoint": tmp_path / "checkpoint", **asked}
    first = born_again_in_parts(model, **options)
    monkeypatch.setattr("onetree.scale.parts.exact_if_quick", None)
    again = born_again_in_parts(model, **options)
    assert (again.status, again.value) == ("optimal", first.value)
    assert to_json(again.tree) == to_json(first.tree)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"tolerance": 0.2}, "tolerance"), ({"relative": True}, "relative"), ({"keep_class": False}, "keep_class")],
)
def test_the_file_of_another_promise_is_refused(change, said, tmp_path, small_boxes_are_cut):
    model, path = forest(3), tmp_path / "checkpoint"
    born_again_in_parts(model, n_parts=4, checkpoint=path, **PROBABILITIES)
    before = path.read_bytes()
    with pytest.raises(onetree.InvalidInputError, match=f"belongs to another run: its {said} is"):
        born_again_in_parts(model, n_parts=4, checkpoint=path, **PROBABILITIES | change)
    assert path.read_bytes() == before


def test_the_file_of_classes_is_refused_for_probabilities(tmp_path, small_boxes_are_cut):
    model, path = forest(3), tmp_path / "checkpoint"
    born_again_in_parts(model, n_parts=4, checkpoint=path)
    with pytest.raises(onetree.InvalidInputError, match="belongs to another run"):
        born_again_in_parts(model, n_parts=4, checkpoint=path, **PROBABILITIES)


def test_the_file_of_other_bands_is_refused(tmp_path, small_boxes_are_cut):
    model, path = forest(3), tmp_path / "checkpoint"
    born_again_in_parts(model, n_parts=4, checkpoint=path, bands=[0.2, 0.5])
    with pytest.raises(onetree.InvalidInputError, match="its model is"):
        born_again_in_parts(model, n_parts=4, checkpoint=path, bands=[0.2, 0.6])


def other_numbers(tree):
    tree["nodes"]["value"] = [row[::-1] for row in tree["nodes"]["value"]]


def another_tolerance(tree):
    """Which the numbers of the file keep."""
    tree["numbers"]["tolerance"] = 0.9


def no_class(tree):
    tree["numbers"]["keeps_class"] = False


@pytest.mark.parametrize("forge", [other_numbers, another_tolerance, no_class])
def test_a_forged_part_is_not_taken_for_proven(forge, tmp_path, small_boxes_are_cut):
    model, path = forest(3), tmp_path / "checkpoint"
    born_again_in_parts(model, n_parts=4, checkpoint=path, **PROBABILITIES)
    task = Records(path).get("task")
    del task["onetree"]
    with Checkpoint(path, task) as kept_parts:
        key = next(key for key in kept_parts._records if key.startswith("part "))
        record = kept_parts.get(key)
        tree = json.loads(record["tree"])
        forge(tree)
        assert json.dumps(tree) != json.dumps(json.loads(record["tree"]))
        kept_parts.put(key, {**record, "tree": json.dumps(tree)})
    with pytest.raises(onetree.ModelFileError, match="is not equal to the model"):
        born_again_in_parts(model, n_parts=4, checkpoint=path, **PROBABILITIES)


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 15.0, "method": "heuristic"},
        {"tolerance": 0.1, "relative": True, "method": "exact"},
        {"max_leaves": 4, "method": "exact"},
    ],
)
def test_of_many_models_those_that_are_done_are_not_done_again(options, tmp_path, monkeypatch):
    models, path = [regressor(n) for n in (2, 3, 2, 4)], tmp_path / "checkpoint"
    options = {"objective": "leaves", **options}
    whole = onetree.born_again_many(models, **options)
    with pytest.raises(Killed):
        onetree.born_again_many(models, **options, checkpoint=path, progress=kill_after(2))
    reports = []
    resumed = onetree.born_again_many(models, **options, checkpoint=path, progress=reports.append)
    assert len(reports) < len(models)
    assert [to_json(each.tree) for each in resumed] == [to_json(each.tree) for each in whole]
    monkeypatch.setattr("onetree.scale.many._convert", None)
    again = onetree.born_again_many(models, **options, checkpoint=path)
    assert [to_json(each.tree) for each in again] == [to_json(each.tree) for each in whole]
    with pytest.raises(onetree.InvalidInputError, match="its options is"):
        onetree.born_again_many(models, **options, output="value", checkpoint=path)


def test_a_forged_tolerance_among_many_is_found_again(tmp_path):
    models, path = [forest(2)], tmp_path / "checkpoint"
    [first] = onetree.born_again_many(models, **PROBABILITIES, checkpoint=path)
    records = Records(path)
    key = next(key for key in records if key != "task")
    record = records.get(key)
    tree = json.loads(record["tree"])
    another_tolerance(tree)
    records.put(key, {**record, "tree": json.dumps(tree)})
    records.save()
    [again] = onetree.born_again_many(models, **PROBABILITIES, checkpoint=path)
    assert to_json(again.tree) == to_json(first.tree)


def test_probabilities_and_classes_of_the_same_model_are_not_mixed_up(tmp_path):
    model, path = forest(2), tmp_path / "checkpoint"
    onetree.born_again_many([model], checkpoint=path)
    with pytest.raises(onetree.InvalidInputError, match="its options is"):
        onetree.born_again_many([model], **PROBABILITIES, checkpoint=path)
