"""Responses: the numbers that a library returns, from the sums of an ensemble."""

import dataclasses
import pickle

import numpy as np
import pytest

from onetree import Ensemble, InvalidInputError
from onetree.model.combination import Combination
from onetree.model.ensemble import Rule
from onetree.model.response import Response, chained
from onetree.model.stages import Member, Stage
from tests.unit.model.test_ensemble import stump

LOGISTIC = (Stage("sigmoid", (0,), (1.0,)), Stage("pair", (1,)))


def value_stump(**changes):
    numbers = {"classes": [], "value": [[0.0], [1.5], [-2.5]], "base": [0.25], "rule": Rule("value")}
    return stump(**(numbers | changes))


def test_a_regressor_predicts_its_sum():
    assert value_stump().predict([[0.0, 0.0], [0.0, 1.0]]).tolist() == [1.75, -2.25]


def test_the_sum_of_a_regressor_is_divided_in_its_precision():
    third = value_stump(rule=Rule("value", dtype="float32", divisor=3.0)).predict([[0.0, 0.0]])
    assert third.dtype == np.float32
    assert third[0] == np.float32(1.75) / np.float32(3)


def test_a_regressor_has_no_classes():
    ensemble = value_stump()
    assert (ensemble.output, ensemble.n_classes, ensemble.n_outputs) == ("value", 0, 1)
    with pytest.raises(InvalidInputError, match="no classes"):
        ensemble.predict_index([[0.0, 0.0]])


def test_the_link_of_a_regressor_is_part_of_its_response():
    link = chained(Member(1), [Stage("sigmoid", (0,), (1.0,))])
    assert value_stump(response=link, base=[-1.5]).predict([[0.0, 0.0]]).tolist() == [0.5]


def test_class_fractions_are_probabilities():
    ensemble = stump(rule=Rule("soft"), response=Response((Member(2),)))
    assert ensemble.output == "probability"
    assert ensemble.numbers([[0.0, 0.0]]).tolist() == [[1.0, 0.0]]
    assert ensemble.predict([[0.0, 0.0]]).tolist() == ["no"]


def test_an_ensemble_without_a_response_has_no_numbers():
    assert stump().output == "class"
    with pytest.raises(InvalidInputError, match='output="probability"'):
        stump().numbers([[0.0, 0.0]])


def test_several_members_can_make_one_value():
    members, stages = (Member(1), Member(1, "float32")), (Stage("mean", (0, 1)),)
    ensemble = value_stump(
        value=[[0.0, 0.0], [1.0, 2.0], [3.0, 5.0]],
        base=[0.0, 0.0],
        rule=Rule("combined", combination=Combination(members, stages)),
    )
    assert ensemble.output == "value"
    assert ensemble.predict([[0.0, 0.0], [0.0, 1.0]]).tolist() == [1.5, 4.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"response": Response((Member(1),), LOGISTIC)}, "members of a response"),
        ({"response": Response((Member(2, "float32"),))}, "members of a response"),
        ({"response": Response((Member(2),), (Stage("columns", (0,), places=(1,)),))}, "1 numbers, but 2"),
        ({"rule": Rule("value"), "value": [[0.0]] * 3, "base": [0.0]}, "leave them empty"),
        ({"classes": []}, "at least one class"),
    ],
)
def test_a_response_that_does_not_fit_is_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        stump(**changes)


def test_a_hard_vote_forgets_the_probabilities():
    assert stump(rule=Rule("soft"), response=Response((Member(2),))).to_hard_vote().response is None


def test_a_response_is_kept_by_pickles_and_changes():
    ensemble = stump(rule=Rule("soft"), response=Response((Member(2),)))
    assert pickle.loads(pickle.dumps(ensemble)).response == ensemble.response
    assert dataclasses.replace(ensemble, feature_names=("c", "d")).response == ensemble.response


@pytest.mark.parametrize(
    "ensemble",
    [
        value_stump(),
        value_stump(response=chained(Member(1), [Stage("sigmoid", (0,), (1.0,))])),
        stump(rule=Rule("soft"), response=Response((Member(2),))),
        stump(value=[[0.0], [1.0], [-1.0]], base=[0.0], rule=Rule("score"), response=Response((Member(1),), LOGISTIC)),
        value_stump(
            value=[[0.0, 0.0], [1.0, 2.0], [3.0, 5.0]],
            base=[0.0, 0.0],
            rule=Rule("combined", combination=Combination((Member(1), Member(1)), (Stage("mean", (0, 1)),))),
        ),
    ],
    ids=lambda ensemble: f"{ensemble.rule.kind} {ensemble.output}",
)
def test_numbers_come_back_from_a_file(ensemble, tmp_path, repository):
    import json

    from onetree import load_ensemble

    ensemble.save(tmp_path / "file.json")
    again = load_ensemble(tmp_path / "file.json")
    assert isinstance(again, Ensemble)
    assert (again.rule, again.response) == (ensemble.rule, ensemble.response)
    X = [[0.0, 0.0], [0.0, 1.0]]
    assert np.array_equal(again.numbers(X), ensemble.numbers(X))
    document = json.loads((tmp_path / "file.json").read_text(encoding="utf-8"))
    assert document["version"] == 5
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((repository / "docs" / "schema" / "ensemble.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
