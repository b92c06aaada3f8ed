"""Every export of a tree whose leaves have numbers is run, and gives the very numbers of the tree, bit by bit."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.tree import export_text

from onetree import InvalidInputError, Tree
from onetree.export.rules import leaf_conditions
from tests.cases import categorical, exported, postgresql
from tests.cases import exported_numbers as numbers
from tests.cases.deep import DEEP
from tests.cases.valued import as_probability, as_regression
from tests.unit.tree.test_shared_subtrees import ladder
from tests.unit.tree.test_tree import chain, small_tree

N_POINTS = 1_000
LABELS = ['it\'s "quoted"\\', "*/ ??) %s {x}", "ünï\n\tcode"]
SHAPES = {
    "random": lambda: exported.random_tree(3),
    "labels": lambda: exported.random_tree(4, classes=LABELS),
    "integers": lambda: exported.random_tree(5, classes=[-3, 0, 7]),
    "many classes": lambda: exported.random_tree(6, classes=[f"c{i}" for i in range(7)]),
    "sets": lambda: categorical.random_set_tree(2),
    "one leaf": lambda: Tree([-1], [0.0], [-1], [-1], [1], ["a", "b"], ("x", "y"), [True, False]),
}


@functools.cache
def made(shape, output, dtype):
    return (as_regression if output == "value" else as_probability)(SHAPES[shape](), dtype=dtype)


# Both types of numbers for one shape, one of them for each other.
CASES = [("random", "value", 32), ("random", "probability", 64)]
CASES += [(shape, output, bits) for shape in SHAPES for output, bits in (("value", 64), ("probability", 32))]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def tree(request):
    shape, output, bits = request.param
    return made(shape, output, np.float32 if bits == 32 else np.float64)


@functools.cache
def expected(tree, dtype=np.float64):
    rows = exported.points(tree, dtype, n=N_POINTS)
    return rows, tree.numbers(rows), None if tree.output == "value" else tree.predict(rows).tolist()


def check(found, tree, dtype=np.float64):
    """The numbers in all bits but the sign of zero, and the labels."""
    _, wanted, labels = expected(tree, dtype)
    given = np.array(found[0], dtype=np.float64)
    assert given.shape == wanted.shape
    assert (given + 0.0).tobytes() == (wanted.astype(np.float64) + 0.0).tobytes()
    assert found[1] == labels


def test_python_gives_the_numbers_of_the_tree(tree):
    for style in ("nested", "table"):
        check(numbers.run_python(tree, expected(tree)[0], style=style), tree)


@pytest.mark.compiler
@pytest.mark.parametrize(("number", "dtype"), [("double", np.float64), ("float", np.float32)])
def test_c_gives_the_numbers_of_the_tree(tree, number, dtype, tmp_path):
    for style in ("nested", "table"):
        found = numbers.run_c(tree, expected(tree, dtype)[0], tmp_path, style=style, number=number)
        assert found[0].tobytes() == expected(tree, dtype)[1].tobytes()
        check(found, tree, dtype)


def sql_styles(tree):
    return ("nested", "table") if tree.depth <= 12 else ("table",)


@pytest.mark.parametrize("dialect", ["standard", "sqlite"])
def test_sqlite_gives_the_numbers_of_the_tree(tree, dialect):
    for style in sql_styles(tree):
        check(numbers.run_sqlite(tree, expected(tree)[0], style=style, dialect=dialect), tree)


@pytest.mark.parametrize("dialect", ["standard", "duckdb", "bigquery"])
def test_duckdb_gives_the_numbers_of_the_tree(tree, dialect):
    pytest.importorskip("sqlglot" if dialect == "bigquery" else "duckdb")
    pytest.importorskip("duckdb")
    for style in sql_styles(tree):
        check(numbers.run_duckdb(tree, expected(tree)[0], style=style, dialect=dialect), tree)


@pytest.fixture(scope="module")
def database():
    if postgresql.programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    with postgresql.server() as run:
        yield run


@pytest.mark.parametrize("dialect", ["standard", "postgresql"])
def test_postgresql_gives_the_numbers_of_the_tree(tree, dialect, database):
    for style in sql_styles(tree):
        check(numbers.run_postgresql(tree, expected(tree)[0], database, style=style, dialect=dialect), tree)


@pytest.mark.parametrize(("number", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_onnx_gives_the_numbers_of_the_tree(tree, number, dtype):
    pytest.importorskip("onnxruntime")
    for style in ("nested", "table"):
        found = numbers.run_onnx(tree, expected(tree, dtype)[0], style=style, number=number)
        assert found[0].dtype == tree.value.dtype
        assert found[0].tobytes() == expected(tree, dtype)[1].tobytes()
        check(found, tree, dtype)


def test_scikit_learn_gives_the_numbers_of_the_tree(tree):
    rows, wanted, labels = expected(tree, np.float32)
    kept = (np.abs(rows) < 1e30).all(axis=1)  # neither missing nor infinite, nor so large that a sum is
    rows, wanted = rows[kept], wanted[kept]
    model = pickle.loads(pickle.dumps(tree.to_sklearn()))
    vars(model).pop("feature_names_in_", None)  # the rows are an array
    if tree.output == "value":
        assert is_regressor(model)
        found = model.predict(rows)[:, np.newaxis]
    else:
        assert is_classifier(model)
        found = model.predict_proba(rows)
        assert model.predict(rows).tolist() == [label for label, keep in zip(labels, kept, strict=True) if keep]
    np.testing.assert_array_equal(found, wanted.astype(np.float64))
    assert (model.onetree_tolerance_, model.onetree_relative_) == (0.05, False)
    assert "|---" in export_text(model)


def test_a_rule_without_rounding_says_the_number_of_its_leaf(tree):
    lines = [line for line in tree.to_rules(digits=None).split("\n") if not line.startswith("#")]
    for line, (leaf, _) in zip(lines, leaf_conditions(tree), strict=True):
        said = line.rsplit(" THEN ", 1)[-1].removeprefix("always: ")
        if tree.output == "value":
            assert tree.value.dtype.type(said) == tree.value[leaf, 0]
        else:
            words = said.rsplit("(", 1)[-1] if "(" not in str(tree.classes[-1]) else said[said.index(" (") :]
            assert f" {tree.value[leaf, -1]!s})" in f" {words}"


@pytest.mark.parametrize("to", ["to_text", "to_rules", "to_dot"])
def test_what_is_promised_is_written_above_the_tree(to):
    within = getattr(as_probability(small_tree()), to)()
    assert "WITHIN 0.05: for every input each probability differs from that of the source model by at most" in within
    assert "and the class is the same" in within
    assert "the class can differ" in getattr(as_probability(small_tree(), keeps_class=False), to)()
    assert "at most 5 % of the latter" in getattr(as_regression(small_tree(), relative=True), to)()
    assert "WITHIN" not in getattr(as_regression(small_tree(), tolerance=0), to)()
    assert "NOT EXACT" in getattr(as_regression(small_tree(), exact=False), to)()
    assert "NOT MEASURED" in getattr(as_regression(small_tree(), tolerance=None), to)()


@pytest.mark.parametrize("output", [as_regression, as_probability])
def test_a_very_deep_tree_is_exported(output, tmp_path):
    tree = output(chain(DEEP))
    last = tree.threshold.max()
    rows = np.array([[-1.0], [0.5], [last - 0.5], [last + 1]], dtype=np.float32)
    for found in (numbers.run_python(tree, rows), numbers.run_sqlite(tree, rows), numbers.run_onnx(tree, rows)):
        np.testing.assert_array_equal(np.array(found[0]), tree.numbers(rows))


@pytest.mark.compiler
def test_shared_subtrees_stay_shared(tmp_path):
    tree = as_probability(ladder(60))
    bits = np.random.default_rng(0).integers(0, 2, size=(200, 60)).astype(np.float64)
    for found in (numbers.run_python(tree, bits), numbers.run_c(tree, bits, tmp_path), numbers.run_duckdb(tree, bits)):
        np.testing.assert_array_equal(np.array(found[0]), tree.numbers(bits))


def test_scikit_learn_refuses_a_class_that_is_not_the_most_probable():
    value = np.tile([0.2, 0.5, 0.3], (5, 1))
    with pytest.raises(InvalidInputError, match="largest probability"):
        small_tree(value=value, tolerance=0.0).to_sklearn()


def test_scikit_learn_nodes_follow_the_data():
    tree = as_regression(small_tree())
    tree = Tree(**{**tree.__getstate__(), "value": [[0], [0], [1.0], [2.0], [6.0]]})
    model = tree.to_sklearn([[1.0, -3.0], [1.0, 0.0], [2.0, 0.0], [2.0, 0.0]], [1.0, 2.0, 5.0, 7.0])
    assert model.tree_.n_node_samples.tolist() == [4, 2, 1, 1, 2]
    assert model.tree_.value.ravel().tolist() == [3.75, 1.5, 1.0, 2.0, 6.0]
    assert model.tree_.impurity.tolist() == [pytest.approx(5.6875), pytest.approx(0.25), 0.0, 0.0, pytest.approx(1.0)]


@pytest.mark.parametrize("style", ["nested", "table"])
def test_python_refuses_and_sql_leaves_out_what_is_missing(style):
    tree = as_regression(small_tree())
    module = {}
    exec(tree.to_code("python", style=style), module)
    with pytest.raises(ValueError, match="missing"):
        module["predict"]([np.nan, 1.0])
    assert numbers.run_sqlite(tree, np.array([[np.nan, 1.0]]), style=style)[0] == [(None,)]


@pytest.mark.compiler
@pytest.mark.parametrize("style", ["nested", "table"])
def test_c_gives_nan_or_no_class_where_the_tree_refuses(style, tmp_path):
    rows = np.array([[np.nan, 1.0]])
    assert np.isnan(numbers.run_c(as_regression(small_tree()), rows, tmp_path, style=style)[0]).all()
    source = as_probability(small_tree()).to_code("c", style=style)
    main = (
        "int onetree_predict_proba(const double *x, double *p); int main(void) { double p[3], x[2] = {1, 1}; "
        "x[0] = 0.0 / (x[0] - 1); return onetree_predict_proba(x, p) == -1 ? 0 : 1; }"
    )
    import subprocess

    assert subprocess.run([exported.compile_c(source, tmp_path, main)], check=False).returncode == 0


def test_labels_that_a_database_takes_for_one_are_numbered():
    tree = as_probability(small_tree(classes=["a", "A", "b"]))
    sql = tree.to_code("sql")
    assert all(f'"probability_{index}"' in sql for index in range(3))


def test_a_column_that_has_the_name_of_an_added_one_is_refused():
    with pytest.raises(InvalidInputError, match="probability_red"):
        as_probability(small_tree(feature_names=("Probability_Red", "x1"))).to_code("sql")
