"""The one tree, handed on to other tools, says what the model says: each function of the examples that has its tool."""

import runpy
import shutil
import sys
import warnings

import numpy as np
import pytest

DEPLOYED = {
    "treelite_library": ["treelite", "tl2cgen"],
    "m2cgen_source": ["m2cgen"],
    "sklearn_onnx": ["skl2onnx", "onnxruntime"],
    "mlflow_model": ["mlflow"],
    "fastapi_service": ["fastapi", "httpx"],
}
SHOWN = {
    "explain_with_shap": ["shap"],
    "draw_with_dtreeviz": ["dtreeviz"],
    "explore_with_supertree": ["supertree"],
}


def need(modules):
    """Skip the test where a package is absent, and say how to get it."""
    for module in modules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the tools, about themselves
            pytest.importorskip(
                module, reason=f"this test needs: pip install {' '.join(modules)}", exc_type=ImportError
            )


def example(repository, name):
    """Return what an example defines, without running it."""
    return runpy.run_path(str(repository / "examples" / f"{name}.py"), run_name="example")


@pytest.fixture
def iris(repository, tmp_path):
    """The forest of the example, its tree for scikit-learn and rows on thresholds; the tree's file is in the folder."""
    from sklearn.ensemble import RandomForestClassifier

    import onetree

    defined = example(repository, "deploy_elsewhere")
    X, y = defined["X"], defined["Y"]
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    tree = onetree.born_again(forest, objective="leaves").tree
    tree.save(tmp_path / "iris.json")
    return forest, tree.to_sklearn(X, y), defined["rows"](tree)


@pytest.mark.filterwarnings("ignore")  # of the tools, about themselves
@pytest.mark.parametrize("tool", DEPLOYED)
def test_the_tree_says_the_same_where_it_is_deployed(tool, repository, iris, tmp_path):
    need(DEPLOYED[tool])
    forest, model, asked = iris
    answers = example(repository, "deploy_elsewhere")[tool](model, asked, tmp_path)
    assert np.array_equal(np.asarray(answers), forest.predict(asked))


@pytest.mark.filterwarnings("ignore")  # of the tools, about themselves
@pytest.mark.parametrize("tool", SHOWN)
def test_tools_for_trees_of_scikit_learn_take_the_tree(tool, repository, iris, tmp_path):
    pytest.importorskip("matplotlib", reason="the example needs: pip install matplotlib")
    need(SHOWN[tool])
    said = example(repository, "exported_tree_tools")[tool](iris[1], tmp_path)
    assert "petal" in said or "bytes of HTML" in said


@pytest.mark.parametrize("name", ["deploy_elsewhere", "exported_tree_tools"])
@pytest.mark.filterwarnings("ignore")  # of the tools, about themselves
def test_an_example_says_which_tool_is_absent_and_goes_on(name, repository, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib", reason="the example needs: pip install matplotlib")
    tools = DEPLOYED if name == "deploy_elsewhere" else SHOWN
    for module in {module for modules in tools.values() for module in modules}:
        monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, f"{module}.pyfunc", None)
    example(repository, name)["main"](tmp_path)
    told = capsys.readouterr().out
    assert all(f"{tool}: skipped, " in told for tool in tools)


@pytest.fixture
def told(repository, tmp_path, capsys):
    def run(name):
        example(repository, name)["main"](tmp_path)
        return capsys.readouterr().out

    return run


def test_a_database_scores_its_own_table_as_the_pipeline_does(told):
    need(["pandas", "duckdb"])
    assert "score_by_view: 100.00% of 5,000 rows as the pipeline" in told("score_in_database")


def test_dbt_builds_the_tree_as_one_of_its_models(told):
    need(["pandas", "duckdb"])
    if shutil.which("dbt") is None:
        pytest.skip("dbt is not on the PATH: pip install dbt-duckdb")
    assert "score_by_dbt: 100.00% of 5,000 rows as the pipeline" in told("score_in_database")


@pytest.mark.compiler
def test_the_function_of_a_sketch_answers_as_the_forest(told, tmp_path):
    assert "400 inputs, 0 answers differ from the forest" in told("arduino")
    assert (tmp_path / "iris" / "iris.ino").is_file()


@pytest.mark.compiler
def test_a_processor_of_eight_bits_answers_as_the_forest(told):
    if shutil.which("avr-gcc") is None or shutil.which("simavr") is None:
        pytest.skip("needs avr-gcc, avr-libc and simavr")
    assert "on an ATmega328P" in told("arduino")
