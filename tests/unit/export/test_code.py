"""The tree as Python, C and SQL: names, labels, missing values, limits. That the code is right: test_exports_run."""

from __future__ import annotations

import math
import sqlite3
import subprocess
from contextlib import closing

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onetree import InvalidInputError, Tree
from onetree.errors import UnsupportedModelError
from onetree.export.c import _literal
from onetree.export.shape import float32_thresholds
from onetree.export.sql_dialects import DIALECTS
from tests.cases import exported
from tests.unit.tree.test_shared_subtrees import ladder
from tests.unit.tree.test_tree import chain, small_tree

LANGUAGES = ("python", "c", "sql")
LABELS = {
    "strings": ["it's", 'a "b"\\', "line\nbreak ??/ */"],
    "ints": [-3, 0, 2**62],
    "floats": [0.1, -1e-300, 2.0],
    "one bool": [False, True],
    "bools and others": [True, "1", 1.5],
    "uint64": np.array([1, 2, 2**64 - 1], dtype=np.uint64),
}


def labelled(classes):
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    array = array if len({type(label) for label in classes}) > 1 else np.array(classes)
    return small_tree(classes=array, leaf_class=[-1, -1, 0, 1, len(classes) - 1])


def python(tree, **options):
    module = {}
    exec(tree.to_code("python", **options), module)
    return module


@pytest.fixture
def connection():
    """An empty database."""
    with closing(sqlite3.connect(":memory:")) as opened:
        yield opened


def query(tree, rows, columns="x0, x1", **options):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE inputs ({columns})")
        connection.executemany(f"INSERT INTO inputs VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.executescript(tree.to_code("sql", view="predictions", **options))
        return [row[-1] for row in connection.execute("SELECT * FROM predictions")]


def test_another_language_is_refused_with_the_choice():
    with pytest.raises(InvalidInputError, match="python, c, sql"):
        small_tree().to_code("cobol")


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_style_is_refused_with_the_choice(language):
    with pytest.raises(InvalidInputError, match="auto, nested, table"):
        small_tree().to_code(language, style="flat")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("tree", [chain(121), ladder(17)], ids=["deep", "wide"])
def test_conditions_nested_too_deep_or_too_often_are_refused(language, tree):
    with pytest.raises(InvalidInputError, match='use style="table"'):
        tree.to_code(language, style="nested")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_small_tree_is_written_out_and_a_large_one_is_not(language):
    assert small_tree().to_code(language) == small_tree().to_code(language, style="nested")
    assert chain(25).to_code(language) == chain(25).to_code(language, style="table")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("style", ["nested", "table"])
def test_a_tree_that_is_not_exact_says_so(language, style):
    assert "NOT EXACT" in small_tree(exact=False).to_code(language, style=style)
    assert "NOT EXACT" not in small_tree().to_code(language, style=style)


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_that_no_source_can_hold_are_refused(language):
    with pytest.raises(UnsupportedModelError, match="label"):
        small_tree(classes=np.array(["2020-01-01"] * 3, dtype="datetime64[D]")).to_code(language)


def test_python_nested_as_deep_as_allowed_compiles():
    rows = np.arange(-1.0, 92.0).reshape(-1, 1)
    assert exported.run_python(chain(90), rows, style="nested") == chain(90).predict_index(rows).tolist()


def zigzag(depth, goes_left):
    """A path of this depth with a leaf at every turn; its last split asks whether a value is known."""
    inner, nodes = np.arange(depth), 2 * depth + 1
    feature, leaf_class = np.full(nodes, -1), np.full(nodes, -1)
    left, right, threshold = np.full(nodes, -1), np.full(nodes, -1), np.zeros(nodes)
    feature[2 * inner], threshold[2 * inner] = 0, np.where(goes_left, -inner, inner)
    left[2 * inner] = np.where(goes_left, 2 * inner + 2, 2 * inner + 1)
    right[2 * inner] = np.where(goes_left, 2 * inner + 1, 2 * inner + 2)
    leaf_class[2 * inner + 1], leaf_class[-1] = inner % 2, 1
    feature[2 * depth - 2], threshold[2 * depth - 2] = 1, np.inf
    return Tree(feature, threshold, left, right, leaf_class, [0, 1], ("x0", "x1", "x2"), [False, True, True])


@pytest.mark.compiler
def test_c_nested_as_deep_as_allowed_compiles(tmp_path):
    rows = np.arange(-1.0, 122.0).reshape(-1, 1)
    assert (
        exported.run_c(chain(120), rows, tmp_path, style="nested").tolist() == chain(120).predict_index(rows).tolist()
    )


@pytest.mark.parametrize("goes_left", [False, True])
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_sql_nested_as_deep_as_allowed_runs(engine, goes_left):
    pytest.importorskip("duckdb")
    tree = zigzag(12, goes_left)
    rows = np.array([[x, missing, 0.0] for x in range(-15, 15) for missing in (1.0, math.nan)])
    run = exported.run_sqlite if engine == "sqlite" else exported.run_duckdb
    assert run(tree, rows, style="nested") == tree.predict(rows).tolist()


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_python_gives_labels_with_their_types(labels):
    tree = labelled(labels)
    found = python(tree)["predict"]([9, 9])
    assert (type(found), found) == (type(tree.classes.tolist()[-1]), tree.classes.tolist()[-1])


def test_python_compares_in_float64_whatever_the_input_is():
    tree = small_tree(threshold=[0.1, -2.0, 0, 0, 0])
    rows = np.array([[0.1, 0.0], [np.nextafter(np.float32(0.1), np.float32(0)), 0.0]], dtype=np.float32)
    assert [python(tree)["predict"](row) for row in rows] == tree.predict(rows).tolist() == ["blue", "green"]


@pytest.mark.parametrize("style", ["nested", "table"])
def test_python_refuses_missing_values_where_the_tree_does(style):
    predict = python(small_tree(nan_features=[True, False]), style=style)["predict"]
    assert predict([math.nan, 0]) == "blue"
    with pytest.raises(ValueError, match="'x1' is missing"):
        predict([0, math.nan])


def test_python_refuses_an_input_of_another_length():
    with pytest.raises(ValueError, match="3 values"):
        python(small_tree())["predict"]([1, 2, 3])


@pytest.mark.compiler
@pytest.mark.parametrize("style", ["nested", "table"])
@pytest.mark.parametrize("nan_features", [[True, False], [False, False], [True, True]])
def test_c_gives_minus_one_for_missing_values_where_the_tree_refuses_them(style, nan_features, tmp_path):
    tree = small_tree(nan_features=nan_features)
    rows = np.array([[math.nan, 0.0], [0.0, math.nan]])
    expected = [2 if nan_features[0] else -1, 1 if nan_features[1] else -1]
    assert exported.run_c(tree, rows, tmp_path, style=style).tolist() == expected


@pytest.mark.compiler
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_c_holds_the_labels_as_text(labels, tmp_path):
    tree = labelled(labels)
    main = (
        "#include <stdio.h>\nextern const char *const onetree_class_names[];\n"
        f'int main(void) {{ for (int i = 0; i < {tree.n_classes}; i++) printf("%s%c", onetree_class_names[i], 1); }}\n'
    )
    program = exported.compile_c(tree.to_code("c"), tmp_path, main)
    found = subprocess.run([program], capture_output=True, check=True).stdout.decode()
    assert found.split("\1")[:-1] == [str(label) for label in tree.classes.tolist()]


@pytest.mark.compiler
def test_c_of_a_tree_that_takes_missing_values_refuses_fast_math(tmp_path):
    (tmp_path / "tree.c").write_text(small_tree(nan_features=[True, False]).to_code("c"))
    command = ["cc", "-c", "-ffast-math", "-o", str(tmp_path / "tree.o"), str(tmp_path / "tree.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "compile without -ffast-math" in done.stderr


@pytest.mark.compiler
def test_two_trees_live_in_one_program(tmp_path):
    source = small_tree().to_code("c", name="first") + small_tree().to_code("c", name="second", style="table")
    main = "int first_predict(const double *); int second_predict(const double *);\n"
    main += "int main(void) { double x[2] = {0, 0}; return first_predict(x) == second_predict(x) ? 0 : 1; }\n"
    subprocess.run([exported.compile_c(source, tmp_path, main)], check=True)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "é", "a\n"])
def test_c_refuses_a_prefix_that_begins_no_name(name):
    with pytest.raises(InvalidInputError, match="cannot begin a name"):
        small_tree().to_code("c", name=name)


def test_c_refuses_another_number():
    with pytest.raises(InvalidInputError, match="double, float"):
        small_tree().to_code("c", number="half")


def test_c_is_ascii_whatever_the_names_are():
    assert small_tree(feature_names=("größe", "\u202e"), classes=["ü", "\ud800", "\0"]).to_code("c").isascii()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_literal_of_c_is_the_number(value):
    assert float.fromhex(_literal(value, "double")) == value


SHORT = st.builds(
    lambda digits, power: float(f"{digits}e{power}"), st.integers(-(10**15), 10**15), st.integers(-25, 25)
)


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), SHORT), st.sampled_from(["standard", "sqlite"]))
def test_a_number_in_sqlite_is_the_number(value, dialect):
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT {DIALECTS[dialect].number(value)}").fetchone()[0] == value


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), SHORT), st.sampled_from(["standard", "duckdb"]))
def test_a_number_in_duckdb_is_the_number(value, dialect):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(config={"threads": 1})
    ((found,),) = connection.execute(f"SELECT CAST({DIALECTS[dialect].number(value)} AS DOUBLE)").fetchall()
    ((equal,),) = connection.execute(f"SELECT ?::DOUBLE = {DIALECTS[dialect].number(value)}", [value]).fetchall()
    assert found == value
    assert equal


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("value", [16.81, 0.1, -2.5, 50.0, 0.0, 123456.789])
def test_a_short_number_is_a_plain_decimal_in_every_dialect(dialect, value):
    assert DIALECTS[dialect].number(value) == repr(value)


def test_a_long_number_is_a_decimal_where_the_database_reads_it_exactly():
    value = 49.99999809265136
    assert DIALECTS["postgresql"].number(value) == "49.99999809265136e0"
    assert DIALECTS["sqlite"].number(value) == "CAST(7036874149330943 AS REAL) / 140737488355328"


@pytest.mark.parametrize("value", [4.1063858214325e-06, 7.67370881328954e-06])
def test_a_decimal_next_to_the_middle_between_two_floats_is_left_to_no_parser_that_rounds_twice(value):
    assert DIALECTS["standard"].number(value).startswith("CAST(")
    assert DIALECTS["duckdb"].number(value) == repr(value)


def test_another_dialect_is_refused():
    with pytest.raises(InvalidInputError, match="standard, sqlite, duckdb, postgresql, bigquery"):
        small_tree().to_code("sql", dialect="oracle")


@pytest.mark.parametrize("style", ["nested", "table"])
def test_sql_for_bigquery_is_what_its_grammar_allows(style):
    sqlglot = pytest.importorskip("sqlglot")
    names = ("a`b\\", "größe")
    tree = small_tree(feature_names=names, classes=["it's", "back\\slash", "new\nline"], nan_features=[True, False])
    script = tree.to_code("sql", style=style, dialect="bigquery", view="predictions")
    assert sqlglot.parse(script, read="bigquery")
    assert '"' not in script
    assert "FLOAT64" in script
    assert "DOUBLE" not in script
    rows = np.array([[1.0, -3.0], [1.0, 0.0], [np.nan, 0.0], [0.0, np.nan]])
    pytest.importorskip("duckdb")
    assert exported.run_duckdb(tree, rows, style=style, dialect="bigquery") == [
        "it's",
        "back\\slash",
        "new\nline",
        None,
    ]


@pytest.mark.parametrize("style", ["nested", "table"])
def test_python_takes_a_mapping_by_name(style):
    module = {}
    exec(small_tree(feature_names=("age", "income")).to_code("python", style=style), module)
    assert module["predict"]({"income": 0, "age": 1, "shoe size": 46}) == "green"
    assert module["predict"]({"income": -3, "age": 1}) == module["predict"]([1, -3]) == "red"
    with pytest.raises(ValueError, match="the input lacks 'income'"):
        module["predict"]({"age": 1})


def test_python_takes_a_row_of_a_frame_and_none_for_a_missing_value():
    pd = pytest.importorskip("pandas")
    module = {}
    exec(small_tree(feature_names=("age", "income"), nan_features=[True, True]).to_code("python"), module)
    frame = pd.DataFrame({"income": [0.0, -3.0], "name": ["a", "b"], "age": [1, 1]})
    assert [module["predict"](row) for _, row in frame.iterrows()] == ["green", "red"]
    assert module["predict"]({"age": 1, "income": None}) == "green"


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(-3.402823364973241e38)  # the next float below is -inf
def test_a_threshold_rounded_down_tells_float32_values_apart_as_before(cut):
    tree = small_tree(threshold=[cut, cut, 0, 0, 0])
    rounded = float32_thresholds(tree)[0]
    with np.errstate(all="ignore"):
        near = np.float32(cut)
        values = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    assert all((value <= rounded) == (float(value) <= cut) for value in values)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("style", ["nested", "table"])
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_sql_gives_labels_as_they_are_or_as_text(labels, style, engine):
    pytest.importorskip("duckdb")
    tree = labelled(labels)
    run = exported.run_sqlite if engine == "sqlite" else exported.run_duckdb
    (found,) = run(tree, np.array([[9.0, 9.0]]), style=style)
    label = tree.classes.tolist()[-1]
    as_text = tree.classes.dtype == object or tree.classes.dtype == np.uint64
    assert found == (str(label) if as_text else label)


@pytest.mark.parametrize("style", ["nested", "table"])
def test_sql_gives_null_for_missing_values_where_the_tree_refuses_them(style):
    tree = small_tree(nan_features=[True, False])
    assert query(tree, [(None, 0.0), (0.0, None)], style=style) == ["blue", None]


@pytest.mark.parametrize("style", ["nested", "table"])
@pytest.mark.parametrize("missing", ["NULL", "'nan'::DOUBLE", "-('nan'::DOUBLE)"])
def test_duckdb_takes_nan_and_null_alike(style, missing):
    duckdb = pytest.importorskip("duckdb")
    tree = small_tree(threshold=[np.inf, -2.0, 0, 0, 0], nan_features=[True, False])
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE inputs (x0 DOUBLE, x1 DOUBLE)")
    connection.execute(f"INSERT INTO inputs VALUES ({missing}, 0), (0, {missing}), ('inf'::DOUBLE, 0)")
    connection.execute(tree.to_code("sql", view="predictions", style=style))
    found = connection.execute("SELECT prediction FROM predictions ORDER BY x0 IS NULL, x0 DESC").fetchall()
    assert sorted(str(label) for (label,) in found) == ["None", "blue", "green"]


@pytest.mark.parametrize("style", ["nested", "table"])
def test_sql_reads_numbers_in_columns_of_text(style):
    assert query(small_tree(), [("10", "0"), ("1", "-3")], columns="x0 TEXT, x1 TEXT", style=style) == ["blue", "red"]


@pytest.mark.parametrize("style", ["nested", "table"])
def test_sql_fails_on_a_column_that_is_not_there(style):
    """SQLite takes a quoted name that it does not know for a string, unless the table is named with it."""
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        query(small_tree(), [(1.0,)], columns="x0", style=style)


@pytest.mark.parametrize("style", ["nested", "table"])
def test_sql_does_not_need_columns_that_the_tree_does_not_use(style):
    tree = Tree([1, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], [0, 1], ("a", "b"), [False, False])
    assert query(tree, [(0.0,), (1.0,)], columns="b", style=style) == [0, 1]


@pytest.mark.parametrize("style", ["nested", "table"])
def test_sql_reads_the_columns_and_the_table_that_are_named(style, connection):
    connection.execute('CREATE TABLE "my ""data""" ("a b" REAL, c REAL)')
    connection.execute('INSERT INTO "my ""data""" VALUES (0, 9), (2, 0)')
    options = {"table": 'my "data"', "columns": ["a b", "c"], "view": "the view", "nodes": "the; nodes"}
    connection.executescript(small_tree().to_code("sql", style=style, **options))
    found = connection.execute('SELECT prediction FROM "the view" ORDER BY "a b"').fetchall()
    assert found == [("green",), ("blue",)]


def test_sql_without_a_view_ends_in_a_select(connection):
    connection.execute("CREATE TABLE inputs (x0, x1)")
    connection.execute("INSERT INTO inputs VALUES (0, 9)")
    assert connection.execute(small_tree().to_code("sql")).fetchall() == [(0, 9, "green")]


@pytest.mark.parametrize("names", [("a", "A"), ("a", "a"), ("onetree_row", "b")])
def test_columns_that_a_database_cannot_tell_apart_are_refused(names):
    with pytest.raises(InvalidInputError, match="columns="):
        small_tree(feature_names=names).to_code("sql")


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_characters_that_sql_cannot_hold_are_refused(text):
    with pytest.raises(InvalidInputError, match="cannot hold"):
        small_tree(classes=[text, "b", "c"]).to_code("sql")


def test_as_many_columns_as_features_are_needed():
    with pytest.raises(InvalidInputError, match="1 names for 2 features"):
        small_tree().to_code("sql", columns=["a"])
