"""Every export is run by what it was made for, and gives the class of the tree on awkward inputs: 100,000 in full."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from onetree import Ensemble, Tree, born_again
from onetree.export.rules import leaf_conditions
from tests.cases import categorical, exported, postgresql
from tests.cases.deep import DEEP
from tests.cases.strategies import THRESHOLDS
from tests.unit.tree.test_shared_subtrees import ladder
from tests.unit.tree.test_tree import chain

HOSTILE_NAMES = ('a"; DROP TABLE inputs; --', "b*/ /* ??/\\", "größe\n)", "class")
HOSTILE_LABELS = ['it\'s "quoted"\\', "*/ ??) %s {x}", "ünï\n\tcode"]


def forest_tree():
    x, y = load_iris(return_X_y=True)
    return born_again(RandomForestClassifier(10, max_depth=3, random_state=0).fit(x, y), objective="leaves").tree


def missing_tree():
    x, y = load_iris(return_X_y=True)
    x[::7, 2] = x[::5, 3] = np.nan
    return born_again(ExtraTreesClassifier(6, max_depth=3, random_state=0).fit(x, y), objective="leaves").tree


def shared_tree():
    x, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(x, y)
    tree = born_again(Ensemble.from_model(forest, voting="hard"), objective="leaves", method="heuristic").tree
    assert tree.n_nodes < 2 * tree.n_leaves - 1
    return tree


TREES = {
    "forest": forest_tree,
    "missing": missing_tree,
    "shared": shared_tree,
    "awkward thresholds": lambda: exported.random_tree(3, thresholds=[cut for pool in THRESHOLDS for cut in pool]),
    "hostile names": lambda: exported.random_tree(4, feature_names=HOSTILE_NAMES, classes=HOSTILE_LABELS),
    "sets": lambda: categorical.random_set_tree(2),
    "sets with hostile names": lambda: categorical.random_set_tree(5, names=categorical.HOSTILE),
    "sets of intervals": lambda: categorical.chain_of_sets(
        (0, 7, "missing"), (1,), (2, "other"), (1, 2), kind=categorical.WHOLE
    ),
    "one leaf": lambda: Tree([-1], [0.0], [-1], [-1], [1], ["a", "b"], ("x", "y"), [True, False]),
}


@pytest.fixture(scope="module", params=TREES)
def tree(request):
    return TREES[request.param]()


@functools.cache
def expected(tree, dtype):
    rows = exported.points(tree, dtype)
    return rows, tree.predict_index(rows)


def labels_of(tree, index):
    return [tree.classes.tolist()[i] for i in index]


def styles(tree, max_depth=90):
    return ("nested", "table") if tree.depth <= max_depth else ("table",)


def test_the_inputs_reach_most_leaves_and_touch_every_threshold():
    tree = forest_tree()
    rows, _ = expected(tree, np.float64)
    assert len(np.unique(tree.apply(rows))) > 0.9 * tree.n_leaves
    for feature, cut in zip(tree.feature[tree.feature >= 0], tree.threshold[tree.feature >= 0], strict=True):
        assert {cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf)} <= set(rows[:, feature].tolist())


def test_the_inputs_touch_every_category_and_what_is_beside_it():
    tree = TREES["sets"]()
    rows, _ = expected(tree, np.float64)
    for feature, kind in enumerate(tree.categories):
        for code in kind.codes if kind is not None else ():
            assert {code, np.nextafter(code, np.inf), np.nextafter(code, -np.inf)} <= set(rows[:, feature].tolist())


def test_python_gives_the_class_of_the_tree(tree):
    rows, index = expected(tree, np.float64)
    for style in styles(tree):
        np.testing.assert_array_equal(exported.run_python(tree, rows, style=style), index)


@pytest.mark.compiler
@pytest.mark.parametrize(("number", "dtype"), [("double", np.float64), ("float", np.float32)])
def test_c_gives_the_class_of_the_tree(tree, number, dtype, tmp_path):
    rows, index = expected(tree, dtype)
    for style in styles(tree):
        np.testing.assert_array_equal(exported.run_c(tree, rows, tmp_path, style=style, number=number), index)


@pytest.mark.parametrize("dialect", ["standard", "sqlite"])
def test_sqlite_gives_the_class_of_the_tree(tree, dialect):
    rows, index = expected(tree, np.float64)
    for style in styles(tree, 12):
        assert exported.run_sqlite(tree, rows, style=style, dialect=dialect) == labels_of(tree, index)


@pytest.mark.parametrize("dialect", ["standard", "duckdb", "bigquery"])
def test_duckdb_gives_the_class_of_the_tree(tree, dialect):
    pytest.importorskip("sqlglot" if dialect == "bigquery" else "duckdb")
    pytest.importorskip("duckdb")
    rows, index = expected(tree, np.float64)
    for style in styles(tree, 12):
        assert exported.run_duckdb(tree, rows, style=style, dialect=dialect) == labels_of(tree, index)


@pytest.fixture(scope="module")
def database():
    if postgresql.programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    with postgresql.server() as run:
        yield run


@pytest.mark.parametrize("dialect", ["standard", "postgresql"])
def test_postgresql_gives_the_class_of_the_tree(tree, dialect, database):
    rows, index = expected(tree, np.float64)
    rows, index = rows[:20_000], index[:20_000]
    for style in styles(tree, 12):
        found = postgresql.predictions(database, tree, rows, style=style, dialect=dialect)
        assert found == labels_of(tree, index)


@pytest.mark.parametrize(("number", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_onnx_gives_the_class_of_the_tree(tree, number, dtype):
    pytest.importorskip("onnxruntime")
    rows, index = expected(tree, dtype)
    for style in styles(tree):
        labels, found = exported.run_onnx(tree, rows, style=style, number=number)
        np.testing.assert_array_equal(found, index)
        assert labels.tolist() == labels_of(tree, index)


def test_the_rules_cover_every_input_once_and_give_the_class_of_the_tree(tree):
    rows, index = expected(tree, np.float64)
    rows, index = rows[:5_000], index[:5_000]
    met = np.zeros(len(rows), dtype=int)
    for leaf, conditions in leaf_conditions(tree):
        inside = np.ones(len(rows), dtype=bool)
        for condition in conditions:
            x = rows[:, condition.feature]
            if condition.elements is not None:
                element = tree.categories[condition.feature].element(x)
                inside &= np.where(np.isnan(x), condition.missing, np.isin(element, list(condition.elements)))
                continue
            above = (x > condition.lower) | (condition.lower == -np.inf)
            inside &= np.where(np.isnan(x), condition.missing, above & (x <= condition.upper))
        met += inside
        assert (index[inside] == tree.leaf_class[leaf]).all()
    assert (met == 1).all()


def deep_inputs(tree, dtype=np.float64):
    last = tree.threshold.max()
    rows = np.array([[-1.0], [0.0], [0.5], [last - 0.5], [last], [last + 1]], dtype=dtype)
    return rows, tree.predict_index(rows)


def test_python_takes_a_very_deep_tree():
    rows, index = deep_inputs(chain(DEEP))
    assert exported.run_python(chain(DEEP), rows) == index.tolist()


@pytest.mark.compiler
def test_c_takes_a_very_deep_tree(tmp_path):
    rows, index = deep_inputs(chain(DEEP))
    assert exported.run_c(chain(DEEP), rows, tmp_path).tolist() == index.tolist()


def test_sqlite_takes_a_very_deep_tree():
    rows, index = deep_inputs(chain(DEEP))
    assert exported.run_sqlite(chain(DEEP), rows) == index.tolist()


def test_duckdb_takes_a_tree_far_deeper_than_its_expressions_may_be():
    pytest.importorskip("duckdb")
    rows, index = deep_inputs(chain(3_000))
    assert exported.run_duckdb(chain(3_000), rows) == index.tolist()


def test_onnx_takes_a_very_deep_tree():
    pytest.importorskip("onnxruntime")
    rows, index = deep_inputs(chain(DEEP), np.float32)
    assert exported.run_onnx(chain(DEEP), rows)[1].tolist() == index.tolist()


def test_a_long_path_of_set_tests_is_exported(tmp_path):
    tree = categorical.deep_chain_of_sets(DEEP // 5)
    rows = np.array([[0.0], [1.0], [2.0], [3.5], [5.0], [np.nan]])
    index = tree.predict_index(rows).tolist()
    assert len(tree.to_rules().split("\n")) == 5
    assert exported.run_python(tree, rows) == index
    assert exported.run_sqlite(tree, rows) == index
    assert exported.run_onnx(tree, rows.astype(np.float32))[1].tolist() == index
    assert tree.to_sklearn().tree_.predict(rows.astype(np.float32)).argmax(axis=1).tolist() == index


@pytest.mark.compiler
def test_shared_subtrees_stay_shared(tmp_path):
    """Sixty bits and their parity: 2**60 leaves, 121 nodes."""
    tree = ladder(60)
    bits = np.random.default_rng(0).integers(0, 2, size=(500, 60)).astype(np.float32)
    index = tree.predict_index(bits)
    wide = bits.astype(np.float64)
    assert exported.run_python(tree, wide) == index.tolist()
    assert exported.run_sqlite(tree, wide) == labels_of(tree, index)
    assert exported.run_c(tree, wide, tmp_path).tolist() == index.tolist()
    assert exported.run_duckdb(tree, wide) == labels_of(tree, index)
    assert exported.run_onnx(tree, bits)[1].tolist() == index.tolist()
