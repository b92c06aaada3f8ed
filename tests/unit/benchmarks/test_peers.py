"""What the tables of `benchmarks.peers` rest on; no other program and no other library is run here."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from benchmarks import peers, peers_one, peers_tables


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X[::2], y[::2]), X[::2], X[1::2]


def solved(**more):
    ours = {"depth": 3, "leaves": 5, "seconds": 0.01, "first_seconds": 0.02, "peak_bytes_of_solve": 1e6}
    return {"data_set": "Seeds", "fold": 1, "objective": "leaves", "ours": ours} | more


def explained(share, **more):
    agreement = {f"agreement_{sample}": share for sample in ("training", "held_out", "random")}
    method = {"status": "done", "size": 4, "unit": "rules", "seconds": 0.5} | agreement | more
    return {"data_set": "Seeds", "forest_leaves": 20, "methods": {"te2rules": method}}


def test_ratios_are_joined_by_their_geometric_mean():
    peer = {"status": "solved", "depth": 3, "leaves": 5, "seconds": 1.0, "peak_bytes": 4e6}
    rows = [
        solved(peer=peer, ratio=ratio, first_ratio=ratio / 2, memory_ratio=4.0, correct=True)
        for ratio in (10.0, 1000.0)
    ]
    assert "| 100.0 | 10.0 | 50.0 | 4.0 |" in peers_tables.authors_table(rows)


def test_without_the_authors_program_the_table_is_ours_alone():
    assert "authors" not in peers_tables.authors_table([solved()])


def test_what_the_authors_program_could_not_solve_is_said():
    rows = [solved(peer={"status": "out of memory", "peak_bytes": 1e9})]
    rows.append(rows[0] | {"peer": {"status": "solved", "depth": 3, "leaves": 5, "seconds": 1.0, "peak_bytes": 4e6}})
    rows[1] |= {"ratio": 2.0, "first_ratio": 2.0, "memory_ratio": 2.0, "data_set": "FICO"}
    assert "| Seeds, leaves | 1 | 3.0 | 5.0 | 10 ms | 1 MB | out of memory |" in peers_tables.authors_table(rows)


def test_an_agreement_that_is_not_whole_is_never_rounded_up_to_all():
    assert "99.99 %" in peers_tables.alternatives_table([explained(0.999999)])
    assert "100 %" not in peers_tables.alternatives_table([explained(0.999999)])
    assert "100 %" in peers_tables.alternatives_table([explained(1.0)])


def test_tables_and_figure_are_written(tmp_path):
    peers_tables.write({"authors": [solved()], "alternatives": [explained(0.9)]}, tmp_path)
    assert "te2rules" in (tmp_path / "peers.md").read_text()
    assert (tmp_path / "peers.svg").read_text().startswith("<?xml")


def test_a_run_goes_on_where_it_was_broken_off(tmp_path):
    peers.Record(tmp_path).add("alternatives", {"data_set": "Seeds", "fold": 1})
    again = peers.Record(tmp_path)
    assert again.has("alternatives", data_set="Seeds", fold=1)
    assert not again.has("alternatives", data_set="Seeds", fold=2)


def test_a_missing_library_is_named_with_the_command_that_installs_it(iris, monkeypatch):
    monkeypatch.setattr(peers_one, "find_spec", lambda name: None)
    result = peers_one.explain("te2rules", *iris, time_limit=10.0)
    assert result == {"status": "missing", "message": "not installed: pip install te2rules"}


def test_a_method_for_two_classes_is_not_asked_about_three(iris, monkeypatch):
    monkeypatch.setattr(peers_one, "find_spec", lambda name: True)
    assert peers_one.explain("te2rules", *iris, time_limit=10.0)["status"] == "unsuited"


def test_the_exact_tree_agrees_on_every_sample_and_a_tree_fitted_to_labels_on_the_training_rows(iris, monkeypatch):
    monkeypatch.setattr(peers_one, "N_RANDOM_POINTS", 2000)
    ours = peers_one.explain("onetree", *iris, time_limit=60.0)
    fitted = peers_one.explain("CART on labels", *iris, time_limit=60.0)
    assert ours["agreement_held_out"] == ours["agreement_random"] == 1.0
    assert fitted["agreement_training"] == 1.0
    assert fitted["agreement_random"] < 1.0


def test_what_takes_too_long_is_stopped(iris, monkeypatch):
    def endless(forest, X, labels):
        while True:
            time.sleep(0.01)

    monkeypatch.setitem(peers_one.METHODS, "CART on labels", (endless, None, True))
    result = peers_one.explain("CART on labels", *iris, time_limit=0.05)
    assert result == {"status": "failed", "message": "stopped after 0.05 s"}


def test_held_out_rows_are_a_tenth_and_not_trained_on():
    X = np.arange(100.0)[:, np.newaxis]
    train, _, test = peers_one.split(X, X[:, 0], seed=3)
    assert len(test) == 10
    assert sorted([*train[:, 0], *test[:, 0]]) == X[:, 0].tolist()
