"""A path to a model file is a source like any other."""

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def ensemble():
    return onetree.Ensemble.from_model(RandomForestClassifier(4, max_depth=2, random_state=0).fit(X, Y))


@pytest.fixture(scope="module", params=[str, lambda path: path], ids=["str", "path"])
def path(request, ensemble, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "forest.json"
    ensemble.save(path)
    return request.param(path)


def test_a_file_is_converted_as_the_model_in_it(path, ensemble):
    assert onetree.born_again(path).value == onetree.born_again(ensemble).value


def test_a_tree_is_proven_equal_to_a_file(path, ensemble):
    assert onetree.verify(onetree.born_again(ensemble).tree, path)


@pytest.mark.parametrize(
    "function",
    [
        onetree.estimate,
        onetree.pareto_front,
        onetree.born_again_in_parts,
        lambda path: onetree.born_again_many([path]),
        lambda path: onetree.support_tree(path, X),
    ],
    ids=["estimate", "pareto_front", "parts", "many", "support_tree"],
)
def test_every_function_takes_a_path(path, function):
    function(path)


def test_a_path_that_leads_nowhere_is_named():
    with pytest.raises(onetree.ModelFileError, match=r"nowhere\.json"):
        onetree.born_again("nowhere.json")
