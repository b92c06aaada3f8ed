"""Many conversions at once: the same trees in the same order, and no source that takes others down with it."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import onetree
from onetree.scale.many import born_again_many
from tests.cases.fingerprints import ARRAYS, fingerprint
from tests.cases.strategies import random_ensemble


@pytest.fixture(scope="module")
def ensembles():
    rng = np.random.default_rng(0)
    return [random_ensemble(rng) for _ in range(6)]


@pytest.fixture(scope="module")
def forests():
    X, y = load_iris(return_X_y=True)
    return [RandomForestClassifier(4, max_depth=2, random_state=seed).fit(X, y) for seed in range(3)]


def same(first, second):
    return fingerprint(first.tree) == fingerprint(second.tree)


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_each_tree_is_that_of_a_single_conversion_in_the_order_of_the_sources(ensembles, n_jobs):
    found = born_again_many(ensembles, n_jobs=n_jobs, objective="leaves")
    alone = [onetree.born_again(ensemble, objective="leaves") for ensemble in ensembles]
    assert len(found) == len(alone)
    assert all(same(one, other) and one.value == other.value for one, other in zip(found, alone, strict=True))


def test_the_sources_may_be_models_from_a_generator(forests):
    X, _ = load_iris(return_X_y=True)
    found = born_again_many((forest for forest in forests), objective="depth")
    for forest, solution in zip(forests, found, strict=True):
        np.testing.assert_array_equal(solution.tree.predict(X), forest.predict(X))


def test_without_sources_there_are_no_trees():
    assert born_again_many([]) == []


def test_a_source_that_cannot_be_read_does_not_lose_the_others(ensembles):
    found = born_again_many([ensembles[0], object(), ensembles[1]], errors="return")
    assert isinstance(found[1], onetree.UnsupportedModelError)
    assert same(found[0], onetree.born_again(ensembles[0]))
    assert same(found[2], onetree.born_again(ensembles[1]))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_conversion_that_fails_does_not_lose_the_others(n_jobs, ensembles):
    outside = {ensembles[0].n_features - 1: (0, 1)}  # a domain that the ensembles with fewer features do not have
    smaller = [ensemble for ensemble in ensembles if ensemble.n_features < ensembles[0].n_features]
    found = born_again_many([ensembles[0], *smaller], n_jobs=n_jobs, errors="return", domain=outside)
    assert smaller
    assert isinstance(found[0], onetree.Solution)
    assert all(isinstance(outcome, onetree.InvalidInputError) for outcome in found[1:])


def test_the_error_at_the_end_names_the_sources_and_holds_what_was_found(ensembles):
    with pytest.raises(
        onetree.SomeFailedError, match=r"2 of 3 sources could not be converted: 0, 2; source 0"
    ) as raised:
        born_again_many([object(), ensembles[0], 7])
    results = raised.value.results
    assert same(results[1], onetree.born_again(ensembles[0]))
    assert isinstance(results[2], onetree.UnsupportedModelError)
    assert raised.value.__cause__ is results[0]


def test_the_error_survives_a_way_between_processes():
    error = pickle.loads(pickle.dumps(onetree.SomeFailedError("two failed", [1, 2])))
    assert (str(error), error.results) == ("two failed", [1, 2])


def test_an_option_that_does_not_exist_is_refused_at_once():
    def sources():
        raise AssertionError("nothing is read")
        yield

    with pytest.raises(TypeError, match="objectiv"):
        born_again_many(sources(), objectiv="leaves")


@pytest.mark.parametrize("wrong", [{"errors": "ignore"}, {"n_jobs": 0}])
def test_an_argument_without_meaning_is_refused(wrong, ensembles):
    with pytest.raises(onetree.InvalidInputError, match=next(iter(wrong))):
        born_again_many(ensembles, **wrong)


def test_progress_counts_the_conversions(ensembles):
    reports = []
    born_again_many(ensembles, progress=reports.append)
    assert [report.done for report in reports] == [1, 2, 3, 4, 5, 6]
    assert [report.phase for report in reports] == ["many"] * 6
    assert reports[2].fraction == 0.5


def test_progress_does_not_know_the_share_of_a_generator(ensembles):
    reports = []
    born_again_many(iter(ensembles), progress=reports.append)
    assert {report.fraction for report in reports} == {None}


# A thread of joblib may be in the middle of its work when the workers end.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_in_the_progress_stops_everything(n_jobs, ensembles):
    class StopError(Exception):
        pass

    read = []

    def sources():
        for ensemble in ensembles * 10:
            read.append(ensemble)
            yield ensemble

    def stop(_):
        raise StopError

    with pytest.raises(StopError):
        born_again_many(sources(), n_jobs=n_jobs, progress=stop)
    assert len(read) < 10 * len(ensembles)


def test_the_number_of_jobs_may_come_from_the_surroundings(ensembles):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        found = born_again_many(ensembles, objective="leaves-depth")
    alone = [onetree.born_again(ensemble, objective="leaves-depth") for ensemble in ensembles]
    assert all(same(one, other) for one, other in zip(found, alone, strict=True))


def test_a_tree_from_another_process_cannot_be_written_into(ensembles):
    (solution, *_) = born_again_many(ensembles, n_jobs=2)
    assert not any(getattr(solution.tree, name).flags.writeable for name in ARRAYS)


def test_what_runs_at_the_same_time_shares_the_memory(monkeypatch, ensembles):
    given = []

    def record(ensemble, *, memory_limit=None, progress=None):
        given.append(memory_limit)
        return onetree.born_again(ensemble)

    monkeypatch.setattr("onetree.scale.many.born_again", record)
    monkeypatch.setattr("onetree.scale.many.memory_bytes", lambda limit: 8e9)
    monkeypatch.setattr("onetree.scale.many.n_cores", lambda: 4)
    for n_jobs in (1, 2, 16):
        with joblib.parallel_config(backend="threading"):
            born_again_many(ensembles[:1], n_jobs=n_jobs)
    born_again_many(ensembles[:1], memory_limit=3.0)
    assert given == [8.0, 4.0, 2.0, 3.0]


def test_probabilities_of_many_models_are_kept_within_the_tolerance(forests):
    X, _ = load_iris(return_X_y=True)
    found = born_again_many(forests, objective="leaves", output="probability", tolerance=0.1)
    for forest, solution in zip(forests, found, strict=True):
        assert solution.status == "optimal"
        assert np.abs(solution.tree.predict_proba(X) - forest.predict_proba(X)).max() <= 0.1


def test_values_of_many_regressors_are_kept_within_the_tolerance():
    X, y = load_iris(return_X_y=True)
    models = [RandomForestRegressor(4, max_depth=2, random_state=seed).fit(X, y) for seed in range(3)]
    for model, solution in zip(models, born_again_many(models, objective="leaves", tolerance=0.2), strict=True):
        assert np.abs(solution.tree.predict(X) - model.predict(X)).max() <= 0.2


def test_a_threshold_holds_for_many_models(forests):
    X, _ = load_iris(return_X_y=True)
    found = born_again_many(forests, objective="leaves", threshold={2: 0.3})
    for forest, solution in zip(forests, found, strict=True):
        np.testing.assert_array_equal(
            solution.tree.predict(X) == solution.tree.classes[1], forest.predict_proba(X)[:, 2] >= 0.3
        )
