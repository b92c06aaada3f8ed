"""Whole pipelines on real data: the campaign in small, their trees in other languages, and the page that shows one."""

import re
from pathlib import Path

import numpy as np
import pytest

import onetree
from campaigns.pipeline_models import FILES, SHARED, configurations
from campaigns.pipeline_sizes import credit_models, credit_tree
from campaigns.pipelines import count_mismatches, fitted, raw_rows
from onetree.export.python import to_python
from onetree.export.sql import to_sql
from tests.tiers import is_full

ROOT = Path(__file__).parents[2]
LIBRARIES = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}
needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the data sets are not there")


def some_configurations():
    """Return all pipelines in the full tier, and a few on scikit-learn's own data otherwise."""
    known = [each for each in configurations() if SHARED.is_dir() or each[0] not in FILES]
    return known if is_full() else [each for each in known if each[0] not in FILES][::17]


@pytest.mark.parametrize(("data", "recipe", "model"), some_configurations())
def test_a_pipeline_its_ensemble_and_its_tree_never_disagree(data, recipe, model):
    if model in LIBRARIES:
        pytest.importorskip(LIBRARIES[model])
    found = count_mismatches(data, recipe, model, 1_000, time_limit=0.5)
    assert (found["ensemble"], found["tree"]) == (0, 0)


@needs_data
@pytest.mark.slow  # other versions of the libraries grow other trees
def test_the_page_on_pipelines_shows_the_trees_of_german_credit():
    models, X = credit_models()
    page = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
    shown = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    for text, model in zip(shown, models.values(), strict=True):
        tree = credit_tree(model, X)
        assert text.strip() == tree.to_text().strip()
        assert (tree.predict(X) == model.predict(X)).all()


def test_an_exported_tree_takes_the_numbers_of_the_raw_columns():
    pipeline, X = fitted("wine", "scaled beside bins", "forest")
    ensemble = onetree.Ensemble.from_model(pipeline)
    tree = onetree.born_again(ensemble, method="heuristic").tree
    namespace = {}
    exec(to_python(tree), namespace)
    rows = raw_rows(ensemble, X, 200, np.random.default_rng(0), positive=False)
    codes = np.full(rows.shape, np.nan)
    for at, name in enumerate(ensemble.feature_names):
        labels = ensemble.columns.labels_of(at)
        codes[:, at] = rows[name] if labels is None else [_code(labels, value) for value in rows[name]]
    expected = pipeline.predict(rows[list(ensemble.feature_names)])
    np.testing.assert_array_equal([namespace["predict"](row) for row in codes.tolist()], expected)


def _code(labels, value):
    return np.nan if isinstance(value, float) else labels.number(value)


@pytest.mark.parametrize("style", ["nested", "table"])
def test_sql_takes_the_texts_of_the_raw_table(style):
    duckdb = pytest.importorskip("duckdb")
    pipeline, X = fitted("wine", "standard, one-hot", "forest")
    ensemble = onetree.Ensemble.from_model(pipeline)
    tree = onetree.support_tree(ensemble, X, max_leaves=12).tree
    rows = raw_rows(ensemble, X, 300, np.random.default_rng(0), positive=False)
    texts = [name for name in rows if rows[name].dtype == object]
    inputs = rows.assign(**{name: rows[name].where(rows[name].notna(), None) for name in texts}).reset_index(names="at")
    with duckdb.connect() as database:
        database.register("inputs", inputs)
        query = to_sql(tree, style=style, dialect="duckdb", categories="values")
        found = database.execute(query).df().sort_values("at")["prediction"]
    np.testing.assert_array_equal(found, tree.predict(rows))
