"""Progress: one shape everywhere, and a bar by itself where somebody looks."""

import io
import sys

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.base import progress
from onetree.base.progress import Bar, Progress, shown
from onetree.errors import InvalidInputError
from onetree.verify import cells

X, Y = load_iris(return_X_y=True)
STEP = Progress("interval-dp", 2.0, 3, 7, 20, 0.25)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, Y)


def terminal(monkeypatch):
    """A terminal in the place of stderr, outside of any test as far as the bar can tell."""
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_IN_TEST", "NO_SUCH_VARIABLE")
    return screen


def test_the_bar_shows_on_a_terminal_once_the_work_is_long(monkeypatch):
    screen = terminal(monkeypatch)
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    with shown(None) as callback:
        callback(STEP)
    assert "interval-dp, 3 to 7:  25%" in screen.getvalue()


def test_short_work_shows_no_bar(monkeypatch):
    screen = terminal(monkeypatch)
    monkeypatch.setattr(progress, "_DELAY", float("inf"))
    with shown(None) as callback:
        callback(STEP)
    assert screen.getvalue() == ""


def test_false_shows_nothing_on_a_terminal(monkeypatch):
    terminal(monkeypatch)
    with shown(False) as callback:
        assert callback is None


def test_no_bar_in_a_test(monkeypatch):
    terminal(monkeypatch)
    monkeypatch.setattr(progress, "_IN_TEST", "PYTEST_CURRENT_TEST")
    with shown(None) as callback:
        assert callback is None


def test_no_bar_in_a_file(monkeypatch):
    monkeypatch.setattr(progress, "_IN_TEST", "NO_SUCH_VARIABLE")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with shown(None) as callback:
        assert callback is None


def test_no_bar_from_a_worker(monkeypatch):
    terminal(monkeypatch)
    monkeypatch.setattr(progress.multiprocessing.current_process(), "_name", "LokyProcess-1")
    with shown(None) as callback:
        assert callback is None


def test_a_notebook_is_a_place_where_somebody_looks(monkeypatch):
    class Shell:
        config = {"IPKernelApp": {}}  # noqa: RUF012

    class IPython:
        get_ipython = Shell

    monkeypatch.setattr(progress, "_IN_TEST", "NO_SUCH_VARIABLE")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert progress.is_watched()


def test_a_callback_of_the_callers_own_is_taken_as_it_is():
    seen = []
    with shown(seen.append) as callback:
        callback(STEP)
    assert seen == [STEP]


@pytest.mark.parametrize("wrong", [True, 1, "bar"])
def test_what_is_no_callback_is_refused(wrong, forest):
    with pytest.raises(InvalidInputError, match="progress must be a callable"):
        onetree.born_again(forest, progress=wrong)


def test_a_bar_that_is_off_says_nothing(capsys):
    bar = Bar(enabled=False)
    bar(STEP)
    bar.close()
    assert capsys.readouterr() == ("", "")


def test_the_bar_tells_the_leaves_so_far():
    assert str(Progress("heuristic", 1.0, None, None, 12345, 0.25)) == "heuristic, 12,345 leaves so far"


@pytest.mark.parametrize(
    ("phase", "unit"), [("heuristic", "leaves"), ("many", "sources"), ("parts", "parts"), ("interval-dp", "boxes")]
)
def test_the_phase_says_what_is_counted(phase, unit):
    assert Progress(phase, 0.0, None, None, 5, None).unit == unit


def test_every_function_hands_over_a_progress(forest, tmp_path):
    tree = onetree.born_again(forest).tree
    seen = []
    onetree.verify(tree, forest, progress=seen.append)
    onetree.write_report(tree, tmp_path / "report.html", source=forest, progress=seen.append)
    onetree.born_again_many([forest], progress=seen.append)
    onetree.born_again_in_parts(forest, n_parts=2, progress=seen.append)
    assert {step.phase for step in seen} >= {"proof", "many", "parts"}
    assert all(isinstance(step, Progress) for step in seen)


def test_a_proof_that_is_stopped_has_no_verdict(forest, monkeypatch):
    monkeypatch.setattr(cells, "_CHUNK_VALUES", 4)

    def stop(step):
        raise onetree.StopSearch

    tree = onetree.born_again(forest).tree
    with pytest.raises(onetree.LimitReachedError, match="stopped before there was a verdict"):
        onetree.verify(tree, forest, method="cells", progress=stop)
