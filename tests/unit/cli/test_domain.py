"""The option --domain: spellings and files, and that every command says where the tree is exact."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import onetree
from onetree import Ensemble
from onetree.cli import main

X, Y = load_iris(return_X_y=True)


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model file; the current folder is that of the file."""
    monkeypatch.chdir(tmp_path)
    Ensemble.from_model(RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, Y)).save("model.json")
    return "model.json"


def run(capsys, *words):
    code = main(list(words))
    return code, capsys.readouterr()


def test_convert_restricts_the_tree_and_says_so(model, capsys):
    code, said = run(capsys, "convert", model, "-o", "tree.json", "--domain", "x3=0:1", "--domain", "2=integer 1:3")
    assert code == 0
    assert "verified equal inside the domain" in said.out
    assert "the domain: x2 is an integer from 1 up to 3; 0 <= x3 <= 1" in said.out
    assert onetree.load_tree("tree.json").domain.to_dict() == {2: "integer 1:3", 3: "0:1"}


def test_the_json_of_each_command_names_the_domain(model, capsys):
    domain = ["--domain", "x3=0:1", "--json"]
    found = [json.loads(run(capsys, "convert", model, "-o", "tree.json", *domain)[1].out)]
    found += [json.loads(run(capsys, command, model, *domain)[1].out) for command in ("estimate", "inspect")]
    found.append(json.loads(run(capsys, "verify", model, "tree.json", "--json")[1].out))
    assert [each["domain"] for each in found] == [{"x3": "0:1"}] * 4


def test_without_the_option_there_is_no_domain(model, capsys):
    found = json.loads(run(capsys, "convert", model, "-o", "tree.json", "--json")[1].out)
    assert found["domain"] is None
    assert "verified equal everywhere" in run(capsys, "convert", model, "-o", "tree.json")[1].out


def test_verify_uses_the_domain_of_the_tree(model, capsys):
    run(capsys, "convert", model, "-o", "tree.json", "--domain", "x3=0:1")
    code, said = run(capsys, "verify", model, "tree.json")
    assert code == 0
    assert said.out.startswith("equal on every input of the domain: 0 <= x3 <= 1 (")


def test_verify_in_a_wider_domain_finds_the_difference(model, capsys):
    run(capsys, "convert", model, "-o", "tree.json", "--domain", "x3=0:1")
    code, said = run(capsys, "verify", model, "tree.json", "--domain", "x3=:")
    assert code == 1
    assert said.out.startswith("not equal")


def test_inspect_counts_only_the_levels_inside(model, capsys):
    everywhere = json.loads(run(capsys, "inspect", model, "--json")[1].out)
    inside = json.loads(run(capsys, "inspect", model, "--json", "--domain", "x3=0:1")[1].out)
    assert inside["levels"][3] < everywhere["levels"][3]
    assert "domain     0 <= x3 <= 1" in run(capsys, "inspect", model, "--domain", "x3=0:1")[1].out


def test_an_estimate_is_that_of_the_domain(model, capsys):
    everywhere = json.loads(run(capsys, "estimate", model, "--json")[1].out)
    inside = json.loads(run(capsys, "estimate", model, "--json", "--domain", "x3=0:1")[1].out)
    assert inside["leaves"] < everywhere["leaves"]


def test_a_domain_comes_from_a_file(model, tmp_path, capsys):
    (tmp_path / "domain.json").write_text('{"x3": "0:1", "x0": "integer"}')
    found = json.loads(run(capsys, "inspect", model, "--json", "--domain", "domain.json")[1].out)
    assert found["domain"] == {"x0": "integer", "x3": "0:1"}


def test_a_domain_is_inferred_from_data_and_one_feature_overrides_it(model, tmp_path, capsys):
    rows = "\n".join(",".join(map(str, row)) for row in X.tolist())
    (tmp_path / "data.csv").write_text(f"x0,x1,x2,x3\n{rows}\n")
    _, said = run(capsys, "convert", model, "-o", "tree.json", "--domain", "data.csv", "--domain", "x3=0:1")
    domain = onetree.load_tree("tree.json").domain
    assert domain.to_dict() == onetree.domain_of(X).to_dict() | {3: "0:1"}
    assert domain.origin == "inferred from 150 rows"
    assert "(inferred from 150 rows)" in said.out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x3=1:0", "empty"),
        ("x9=0:1", "'x9'"),
        ("9=0:1", "features 0 to 3"),
        ("x3=much", "'much' is not a number"),
        ("x3=0:1 or missing", "missing"),
        ("nowhere.json", "nowhere.json"),
        ("", "needs NAME=VALUES"),
        ("groups=", "needs NAME=VALUES"),
        ("list.json", "neither JSON nor CSV|no column"),
        ("cut.json", "cut.json: not a JSON file"),
        ("number.json", "as text"),
        ("unknown.json", "unknown.json: .*'height'"),
        ("other.csv", "no column 'x0'"),
        ("binary.csv", "neither JSON nor CSV"),
    ],
)
def test_a_bad_domain_is_bad_input_and_nothing_is_written(given, message, model, tmp_path, capsys):
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "cut.json").write_text('{"x3": "0:1"')
    (tmp_path / "number.json").write_text('{"x3": 1}')
    (tmp_path / "unknown.json").write_text('{"height": "0:1"}')
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    code, said = run(capsys, "convert", model, "-o", "tree.json", "--domain", given)
    assert code == 2
    assert re.search(message, said.err)
    assert not (tmp_path / "tree.json").exists()


NAMES = ("age:<21", "age:<26", "priors:=0", "priors:=1", "priors:>1", "size, in cm")


@pytest.fixture
def coded(tmp_path, monkeypatch):
    """A model of columns of zeros and ones with names that hold every sign, and a table of its data."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, priors = rng.integers(18, 40, 300), rng.integers(0, 3, 300)
    rows = np.column_stack([age < 21, age < 26, priors == 0, priors == 1, priors > 1, rng.integers(0, 9, 300)])
    labels = (age + 5 * priors + rows[:, 5]) % 2 > 0
    ensemble = Ensemble.from_model(ExtraTreesClassifier(5, max_depth=3, random_state=0).fit(rows, labels))
    replace(ensemble, feature_names=NAMES).save("coded.json")
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([NAMES, *rows.tolist()])
    return "coded.json"


GROUPS = [{"implies": ["age:<21", "age:<26"]}, {"one-hot": ["priors:=0", "priors:=1", "priors:>1"]}]


def domain_said(capsys, model, *options):
    words = [word for option in options for word in ("--domain", option)]
    return json.loads(run(capsys, "inspect", model, "--json", *words)[1].out)["domain"]


def test_groups_are_given_one_by_one_whatever_signs_the_names_hold(coded, capsys):
    found = domain_said(capsys, coded, "implies=age:<21,age:<26", "one-hot=priors:=0, priors:=1, priors:>1")
    assert found == {"groups": GROUPS}


@pytest.mark.parametrize(
    ("option", "group"),
    [
        ("implies=0,1", {"implies": ["age:<21", "age:<26"]}),
        ('at most one="size, in cm",age:<21', {"at most one": ["size, in cm", "age:<21"]}),
        ("equal=priors:=0,0", {"equal": ["priors:=0", "age:<21"]}),
        ("00,01,11=age:<21,age:<26", {"00,01,11": ["age:<21", "age:<26"]}),
    ],
)
def test_a_group_has_words_or_a_table_and_names_or_numbers(option, group, coded, capsys):
    assert domain_said(capsys, coded, option) == {"groups": [group]}


def test_groups_come_from_a_file(coded, tmp_path, capsys):
    (tmp_path / "domain.json").write_text(json.dumps({"size, in cm": "integer", "groups": GROUPS}))
    assert domain_said(capsys, coded, "domain.json") == {"size, in cm": "integer", "groups": GROUPS}


def test_the_domain_that_a_command_prints_is_a_file_for_the_next(coded, tmp_path, capsys):
    first = domain_said(capsys, coded, "implies=0,1", "at most one=2,3", "age:<21=0")
    (tmp_path / "again.json").write_text(json.dumps(first))
    assert domain_said(capsys, coded, "again.json") == first


def test_all_that_is_said_of_the_same_features_holds(coded, capsys):
    found = domain_said(capsys, coded, "implies=0,1", "at most one=0,1")
    assert found == {"groups": [{"00,01": ["age:<21", "age:<26"]}]}


def test_groups_are_inferred_from_data_only_if_asked(coded, capsys):
    assert "groups" not in domain_said(capsys, coded, "rows.csv")
    assert domain_said(capsys, coded, "groups=rows.csv")["groups"] == GROUPS


def test_a_feature_with_the_name_of_a_word_is_a_feature(coded, tmp_path, capsys):
    ensemble = onetree.load_ensemble(coded)
    replace(ensemble, feature_names=("implies", "groups", *NAMES[2:])).save("words.json")
    found = domain_said(capsys, "words.json", "implies=0,1", "groups=0:1", "equal=implies,groups")
    assert found == {"groups": [{"equal": ["implies", "groups"]}]}


def test_convert_keeps_the_groups_with_the_tree_and_says_them(coded, capsys):
    code, said = run(
        capsys, "convert", coded, "-o", "tree.json", "--domain", "implies=0,1", "--domain", "one-hot=2,3,4"
    )
    assert code == 0
    assert "the domain: age:<21 implies age:<26; exactly one of priors:=0, priors:=1 and priors:>1 is 1" in said.out
    assert onetree.load_tree("tree.json").domain.to_json(NAMES) == {"groups": GROUPS}
    assert run(capsys, "verify", coded, "tree.json")[0] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("one-hot=age:<21", "at least two"),
        ("one-hot=age:<21,height", "'height', which the model does not have"),
        ("one-hot=", "at least two|''"),
        ('equal="age', "not a list of names"),
        ("nothing=age:<21,age:<26", "'nothing'"),
        ("contradiction.json", "contradiction.json: no combination is left"),
        ("shape.json", "shape.json: .* is not a group"),
        ("text.json", '"groups" is a list'),
        ("groups=nowhere.csv", "nowhere.csv"),
    ],
)
def test_bad_groups_are_bad_input(given, message, coded, tmp_path, capsys):
    (tmp_path / "contradiction.json").write_text('{"groups": [{"one-hot": [0, 1]}, {"equal": [1, 0]}]}')
    (tmp_path / "shape.json").write_text('{"groups": [["age:<21", "age:<26"]]}')
    (tmp_path / "text.json").write_text('{"groups": "0:1"}')
    code, said = run(capsys, "convert", coded, "-o", "tree.json", "--domain", given)
    assert code == 2
    assert re.search(message, said.err)
    assert not (tmp_path / "tree.json").exists()


def test_a_command_that_is_proposed_repeats_the_domain(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 12))
    forest = ExtraTreesClassifier(16, max_depth=4, random_state=0).fit(rows, rows[:, :4].sum(axis=1) > 0)
    Ensemble.from_model(forest).save("large.json")
    code, said = run(capsys, "convert", "large.json", "-o", "t.json", "--domain", "x0=integer :3")
    assert code == 3
    assert "--domain 'x0=integer :3'" in said.err
