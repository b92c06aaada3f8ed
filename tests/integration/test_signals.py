"""Ctrl-C and SIGTERM end a command soon, with the best tree where there is one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.cli import main, signals

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
# Both end a command in the same way; in the default tier one test looks at both.
EITHER = [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
X, Y = load_breast_cancer(return_X_y=True)

# Tells on stderr when the search hears of its progress for the first time, so that no test has to guess.
SCRIPT = """
import sys
import onetree.cli
from onetree.cli import terminal

show = terminal.Bar.__call__

def told(self, progress):
    print("searching", progress.phase, file=sys.stderr, flush=True)
    show(self, progress)

terminal.Bar.__call__ = told
print("ready", flush=True)
sys.exit(onetree.cli.main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A grid that takes exact search minutes, and a space that takes the heuristic hours."""
    folder = tmp_path_factory.mktemp("models")
    for name, n_trees in (("slow", 5), ("hopeless", 40)):
        forest = RandomForestClassifier(n_trees, max_depth=3, random_state=0).fit(X, Y)
        onetree.Ensemble.from_model(forest, voting="hard").save(folder / f"{name}.json")
    return folder


def ended_by(number, phase, *words, cwd):
    """Send a signal once a phase is heard of; what the command printed, and its exit code."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    ) as process:
        for line in process.stderr:
            if line == f"searching {phase}\n":
                break
        process.send_signal(number)
        output, errors = process.communicate(timeout=600)  # against a hang, not a measurement
        return output, errors, process.returncode


@pytest.mark.parametrize("number", EITHER)
@pytest.mark.parametrize(
    ("phase", "more"),
    [
        ("interval-dp", ["--method", "exact", "--objective", "depth"]),  # has no tree yet, but one is quickly made
        ("interval-dp", ["--method", "exact", "--objective", "leaves"]),
        ("interval-dp", ["--method", "auto", "--objective", "leaves", "--time-limit", "600"]),
    ],
)
def test_the_best_tree_is_saved(number, phase, more, models, tmp_path):
    words = ["convert", models / "slow.json", "-o", "tree.json", "--json", *more]
    output, errors, code = ended_by(number, phase, *words, cwd=tmp_path)
    assert code == CODES[number]
    assert f"{WORDS[number]}; the best tree so far was saved to tree.json" in errors
    result, tree = json.loads(output.partition("\n")[2]), onetree.load_tree(tmp_path / "tree.json")
    assert result["leaves"] == tree.n_leaves
    assert onetree.verify(tree, onetree.load_ensemble(models / "slow.json"))


@pytest.mark.parametrize("number", CODES)
def test_without_a_tree_nothing_is_written(number, models, tmp_path):
    words = ["convert", models / "hopeless.json", "-o", "tree.json", "--method", "heuristic"]
    _, errors, code = ended_by(number, "heuristic", *words, cwd=tmp_path)
    assert code == CODES[number]
    assert f"{WORDS[number]}; no file was written: no faithful tree was known yet" in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", EITHER)
def test_an_estimate_ends(number, models, tmp_path):
    _, errors, code = ended_by(number, "estimate", "estimate", models / "hopeless.json", cwd=tmp_path)
    assert code == CODES[number]
    assert f"{WORDS[number]}; no file was written" in errors


@pytest.mark.parametrize("number", EITHER)
def test_what_can_go_on_says_so(number, models, tmp_path):
    words = ["convert", models / "slow.json", "-o", "tree.json", "--resume", "kept"]
    _, errors, code = ended_by(number, "interval-dp", *words, cwd=tmp_path)
    assert code == CODES[number]
    assert "the same command goes on without an exact search" in errors
    assert {path.name for path in tmp_path.iterdir()} == {"kept"}


def test_a_callback_that_asks_to_stop_gets_the_best_tree(models):
    def stop(progress):
        if progress.phase == "interval-dp":
            raise onetree.StopSearch

    ensemble = onetree.load_ensemble(models / "slow.json")
    solution = onetree.born_again(ensemble, objective="leaves", progress=stop)
    assert solution.status == "feasible"
    assert solution.lower_bound < solution.value
    assert onetree.verify(solution.tree, ensemble)


@pytest.mark.parametrize(("function", "options"), [("born_again", {"method": "heuristic"}), ("estimate", {})])
def test_a_callback_that_asks_to_stop_too_early_gets_an_error(function, options, models):
    def stop(progress):
        raise onetree.StopSearch

    with pytest.raises(onetree.LimitReachedError, match="stopped before"):
        getattr(onetree, function)(onetree.load_ensemble(models / "hopeless.json"), progress=stop, **options)


def test_a_tree_whose_proof_is_stopped_comes_with_the_error(models, monkeypatch):
    monkeypatch.setattr("onetree.search.proof._GRACE", 0.0)
    monkeypatch.setattr(sys.modules["onetree.verify.cells"], "_CHUNK_VALUES", 1)

    def by_cells(tree, ensemble, *, method, **options):  # tells each step of the smallest proof, whatever the time
        return onetree.verify(tree, ensemble, method="cells", **options)

    monkeypatch.setattr("onetree.search.proof.verify", by_cells)

    def stop(progress):
        if progress.phase == "proof":
            raise onetree.StopSearch

    forest = onetree.Ensemble.from_model(RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y))
    with pytest.raises(onetree.LimitReachedError, match="stopped before the tree was proven") as caught:
        onetree.born_again(forest, progress=stop)
    assert onetree.verify(caught.value.solution.tree, forest)


def test_a_tree_whose_proof_takes_too_long_is_saved_and_said_not_to_be_verified(models, tmp_path, monkeypatch, capsys):
    def endless(*_, **__):
        raise onetree.LimitReachedError("no verdict")

    monkeypatch.setattr("onetree.search.proof.verify", endless)
    forest = onetree.Ensemble.from_model(RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y))
    forest.save(tmp_path / "model.json")
    line = ["convert", str(tmp_path / "model.json"), "-o", str(tmp_path / "tree.json"), "--time-limit", "60"]
    assert main(line) == 3
    printed = capsys.readouterr()
    assert "the proof was not finished within the time limit; the best tree so far was saved" in printed.err
    assert f"onetree verify {tmp_path / 'model.json'} {tmp_path / 'tree.json'}" in printed.err
    assert "not verified" in printed.out
    assert onetree.verify(onetree.load_tree(tmp_path / "tree.json"), forest)


def test_the_second_signal_is_in_earnest():
    with signals.remembered() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.signal == signal.SIGTERM
        with pytest.raises(onetree.StopSearch):
            stop.check()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_handlers_are_given_back(capsys):
    before = [signal.getsignal(number) for number in CODES]
    with pytest.raises(signals.Terminated), signals.raised():
        os.kill(os.getpid(), signal.SIGTERM)
    assert [signal.getsignal(number) for number in CODES] == before


def test_a_command_in_another_thread_leaves_signals_alone(models, capsys):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main(["inspect", str(models / "slow.json")])))
    thread.start()
    thread.join()
    assert codes == [0]
