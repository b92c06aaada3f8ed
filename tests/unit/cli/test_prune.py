"""The command ``onetree prune``: data from a file, results on stdout, errors that say what to do."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.cli import main

X, Y = load_iris(return_X_y=True)
NAMES = ("sepal length", "sepal width", "petal length", "petal width")


@pytest.fixture(scope="module")
def tree():
    from dataclasses import replace

    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X[::2], Y[::2])
    return replace(onetree.born_again(forest, objective="leaves").tree, feature_names=NAMES)


@pytest.fixture
def folder(tmp_path, tree):
    tree.save(tmp_path / "tree.json")
    write(tmp_path / "train.csv", NAMES, X[::2])
    write(tmp_path / "test.csv", NAMES, X[1::2])
    return tmp_path


def write(path, header, rows):
    lines = [",".join(map(str, row)) for row in (header, *np.asarray(rows).tolist())]
    path.write_text("\n".join(lines) + "\n")


def run(folder, *words, data="train.csv"):
    paths = [str(folder / "tree.json"), "--data", str(folder / data), "-o", str(folder / "out.json")]
    return main(["prune", *paths, *map(str, words)])


def test_the_pruned_tree_is_saved_and_described(folder, tree, capsys):
    assert run(folder, "--held-out", folder / "test.csv", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    pruned = onetree.load_tree(folder / "out.json")
    expected = onetree.prune(tree, X[::2])
    assert (pruned.depth, pruned.n_leaves, pruned.exact) == (expected.depth, expected.n_leaves, False)
    assert said["leaves"] == pruned.n_leaves < said["leaves_before"] == tree.n_leaves
    effect = onetree.compare(tree, expected, X[1::2])
    assert (said["rows"], said["agreement"]) == (75, 1.0)
    assert (said["held_out_rows"], said["held_out_agreement"]) == (75, effect.agreement)
    assert (said["cells"], said["changed_cells"]) == (effect.n_cells, effect.n_changed_cells)


def test_people_are_told_that_it_is_no_longer_exact(folder, capsys):
    assert run(folder, "--held-out", folder / "test.csv") == 0
    out = capsys.readouterr().out
    assert "no longer exact" in out
    assert "75 of 75 rows (100.00%)" in out
    assert "cells of the tree" in out


def test_columns_are_found_by_name_and_others_are_ignored(folder, tree):
    order = [2, 0, 3, 1]
    header = ["id", *(NAMES[i] for i in order), "species"]
    rows = [[f"flower {i}", *row[order], "setosa"] for i, row in enumerate(X[::2])]
    (folder / "shuffled.csv").write_text("\n".join(",".join(map(str, row)) for row in [header, *rows]))
    assert run(folder, data="shuffled.csv") == 0
    assert onetree.load_tree(folder / "out.json").n_leaves == onetree.prune(tree, X[::2]).n_leaves


def test_columns_are_taken_by_position_without_the_label(folder, tree):
    write(folder / "unnamed.csv", ["kind", "a", "b", "c", "d"], np.column_stack([Y[::2], X[::2]]))
    assert run(folder, "--by-position", "--label", "kind", data="unnamed.csv") == 0
    assert onetree.load_tree(folder / "out.json").n_leaves == onetree.prune(tree, X[::2]).n_leaves


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        ("", (), "is empty"),
        (",".join(NAMES) + "\n", (), "no rows"),
        ("sepal length,b,c,d\n1,2,3,4\n", (), "no column for 3 of 4 features: 'sepal width'"),
        ("a,b,c,d,e\n1,2,3,4,5\n", ("--by-position",), "5 columns, but the tree has 4 features"),
        (",".join(NAMES) + "\n1,2,x,4\n", (), "column 'petal length' in row 1 holds 'x', which is not a number"),
        (",".join(NAMES) + "\n1,2,3,4\n1,2,3\n", (), "row 2 has 3 fields, but the header has 4"),
        (",".join(NAMES) + "\n1,2,,4\n", (), "missing values"),
        (",".join((*NAMES, NAMES[0])) + "\n1,2,3,4,5\n", (), "has the column 'sepal length' twice"),
        (",".join(NAMES) + "\n1,2,3,4\n", ("--label", "kind"), "no column 'kind' for --label"),
        ('"a\n', (), "not a CSV file"),
    ],
)
def test_bad_data_are_refused_and_nothing_is_written(folder, capsys, content, words, message):
    (folder / "bad.csv").write_text(content)
    assert run(folder, *words, data="bad.csv") == 2
    assert message in capsys.readouterr().err
    assert not (folder / "out.json").exists()


def test_data_that_are_not_there_are_named(folder, capsys):
    assert run(folder, data="absent.csv") == 2
    assert "absent.csv" in capsys.readouterr().err


def test_categories_in_a_file_are_read_by_their_values(tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    from sklearn.ensemble import HistGradientBoostingClassifier

    from onetree import born_again, load_tree

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=300), "zone": rng.choice([30, 10, 70], 300)})
    frame = frame.assign(colour=rng.choice(["red", "green", "blue"], 300))
    typed = frame.astype({"zone": "category", "colour": "category"})
    y = (frame["colour"] == "green") ^ (frame["zone"] == 70)
    model = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4).fit(typed, y)
    born_again(model, method="heuristic").tree.save(tmp_path / "tree.json")
    frame[["colour", "zone", "size"]].assign(more="?").to_csv(tmp_path / "data.csv", index=False)
    words = [
        "prune",
        str(tmp_path / "tree.json"),
        "--data",
        str(tmp_path / "data.csv"),
        "-o",
        str(tmp_path / "pruned.json"),
    ]
    assert main(words) == 0
    assert (load_tree(tmp_path / "pruned.json").predict(typed) == model.predict(typed)).all()
    frame.assign(colour=typed["colour"].cat.codes).to_csv(tmp_path / "data.csv", index=False)
    assert main(words) != 0
    assert "column 'colour' in row 1 holds numbers such as" in capsys.readouterr().err
