"""The published schemas of the project's files: what is written is valid, what is broken is not."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from onetree import Domain, Ensemble
from tests.cases import exported, strategies
from tests.cases.categorical import WHOLE, colour_tree, random_set_tree
from tests.cases.valued import as_probability, as_regression
from tests.unit.tree.test_tree import chain, small_tree

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def check(repository):
    """Validates a document against the schema of this name."""

    @functools.cache
    def validator(name):
        schema = json.loads((repository / "docs" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    return lambda name, document: validator(name).validate(document)


def saved(thing, folder):
    thing.save(folder / "file.json")
    return json.loads((folder / "file.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "tree",
    [
        small_tree(),
        small_tree(exact=False, classes=np.array([1, 2, 3], dtype=np.uint8)),
        small_tree(classes=np.array([0.5, 1.5, 1e300])),
        small_tree(classes=np.array(["a", 1, True], dtype=object)),
        small_tree(classes=np.array([False, True]), leaf_class=[-1, -1, 0, 1, 1]),
        small_tree(domain=Domain.from_dict({0: (None, 2.5), 1: "binary"}, 2, origin="inferred from 3 rows")),
        small_tree(domain=Domain.from_dict({0: "integer -3:1e300", 1: {-1e-300, 0.1}}, 2)),
        small_tree(domain=Domain.from_dict({(1, 0): "at most one"}, 2)),
        small_tree(domain=Domain.from_dict({(0, 1): "00,01,11"}, 2)),
        small_tree(domain=Domain.from_dict({0: "integer or missing", 1: "missing"}, 2), nan_features=[True, True]),
        small_tree(domain=Domain.from_dict({(0, 1): "one-hot"}, 2)),
        colour_tree(1.0, "missing"),
        colour_tree(1.0, kind=WHOLE, domain=Domain.from_dict({0: (0, 1)}, 2)),
        random_set_tree(0),
        exported.random_tree(0),
        chain(50),
        small_tree().with_shares([[0.0, 0.0], [2.0, 0.0], [2.0, 0.0]], ["red", "red", "blue"]),
        colour_tree(1.0, "missing").with_shares([[1.0, 0.0]], ["yes"]),
        as_regression(small_tree()),
        as_regression(colour_tree(1.0, "missing"), dtype=np.float32, tolerance=None),
        as_probability(small_tree(domain=Domain.from_dict({(1, 0): "at most one"}, 2)), tolerance=0.0),
    ],
    ids=str,
)
def test_a_saved_tree_is_valid(tree, check, tmp_path):
    check("tree", saved(tree, tmp_path))


@pytest.mark.parametrize("seed", range(40))
def test_a_saved_ensemble_is_valid(seed, check, tmp_path):
    ensemble = strategies.random_ensemble(np.random.default_rng(seed))
    assert isinstance(ensemble, Ensemble)
    check("ensemble", saved(ensemble, tmp_path))


@pytest.mark.parametrize("seed", range(20))
def test_a_saved_ensemble_with_categories_is_valid(seed, check, tmp_path):
    check("ensemble", saved(strategies.random_ensemble_with_categories(np.random.default_rng(seed)), tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(version=1),
        lambda d: d.update(version=3),
        lambda d: d.update(shares={"leaves": [0], "shares": [[1, 0, 0]]}),
        lambda d: d.update(version=3, shares={"leaves": [0], "shares": [[-1, 0, 0]]}),
        lambda d: d.pop("categories"),
        lambda d: d.pop("subsets"),
        lambda d: d["nodes"].pop("subset"),
        lambda d: d["nodes"]["subset"].__setitem__(0, -2),
        lambda d: d["subsets"].append([1, 1]),
        lambda d: d["subsets"].append([-1]),
        lambda d: d["categories"].append(1),
        lambda d: d["categories"].append({"codes": []}),
        lambda d: d["categories"].append({"codes": [1], "low": ["nan"], "high": [1], "names": []}),
    ],
)
@pytest.mark.parametrize("name", ["tree", "ensemble"])
def test_broken_set_tests_are_not_valid(name, change, check, tmp_path):
    thing = strategies.random_ensemble_with_categories(np.random.default_rng(0))
    document = saved(colour_tree(1.0) if name == "tree" else thing, tmp_path)
    check(name, document)
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        check(name, document)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(format="onetree-ensemble"),
        lambda d: d.update(version=2),
        lambda d: d.update(version=3),
        lambda d: d.update(shares={"leaves": [0], "shares": [[1, 0, 0]]}),
        lambda d: d.update(version=3, shares={"leaves": [0], "shares": [[-1, 0, 0]]}),
        lambda d: d.update(more=1),
        lambda d: d.pop("exact"),
        lambda d: d["classes"].update(dtype="int64"),
        lambda d: d["classes"].update(dtype="complex128"),
        lambda d: d["classes"].update(labels=[]),
        lambda d: d["nodes"]["left"].__setitem__(0, 1.5),
        lambda d: d["nodes"]["left"].__setitem__(0, -2),
        lambda d: d["nodes"]["threshold"].__setitem__(0, "-inf"),
        lambda d: d["nodes"].pop("class"),
        lambda d: d.update(domain=["0:1", None]),
        lambda d: d.update(domain={"values": ["somewhere", None], "origin": ""}),
        lambda d: d.update(domain={"values": [None, None]}),
        lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": [{"hot": [0, 1]}]}),
        lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": [{"equal": [0]}]}),
        lambda d: d.update(domain={"values": [None, None], "origin": "", "groups": [{}]}),
    ],
)
def test_a_broken_tree_is_not_valid(change, check, tmp_path):
    document = saved(small_tree(), tmp_path)
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        check("tree", document)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(version=3),
        lambda d: d.pop("numbers"),
        lambda d: d["nodes"].pop("value"),
        lambda d: d.update(shares={"leaves": [0], "shares": [[1, 0, 0]]}),
        lambda d: d["numbers"].update(tolerance=-0.1),
        lambda d: d["numbers"].update(dtype="float16"),
        lambda d: d["numbers"].pop("relative"),
        lambda d: d["nodes"]["value"].__setitem__(2, 1.0),
    ],
)
@pytest.mark.parametrize("made", [as_regression, as_probability])
def test_broken_numbers_are_not_valid(made, change, check, tmp_path):
    document = saved(made(small_tree()), tmp_path)
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        check("tree", document)


def test_only_a_tree_with_numbers_has_no_classes(check, tmp_path):
    document = saved(small_tree(), tmp_path)
    document["classes"] = None
    with pytest.raises(jsonschema.ValidationError):
        check("tree", document)
