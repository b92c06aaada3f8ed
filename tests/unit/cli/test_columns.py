"""What `onetree inspect` says of each column is what the trees ask of it."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import onetree
from onetree.cli import main


@pytest.fixture
def model(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "zone": pd.Categorical(rng.choice(["north", "south", "east"], 300)),
            "age": rng.integers(18, 80, 300).astype(float),
            "noise": np.zeros(300),
        }
    )
    frame.loc[:30, "age"] = np.nan
    target = (frame["zone"] == "south") & (frame["age"] > 40)
    ensemble = onetree.Ensemble.from_model(
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4).fit(frame, target)
    )
    ensemble.save(tmp_path / "model.json")
    return tmp_path / "model.json", ensemble


def test_each_column_has_a_line(model, capsys):
    assert main(["inspect", str(model[0])]) == 0
    lines = capsys.readouterr().out.partition("columns\n")[2].splitlines()
    assert "zone" in lines[0]
    assert "3 categories in 2 groups" in lines[0]
    assert "south" in lines[0]
    assert "age" in lines[1]
    assert "number, may be missing" in lines[1]
    assert "< 40.5" in lines[1] or "<= 40" in lines[1]
    assert lines[2] == "  1 column is not used by any tree"


def test_json_holds_every_threshold_and_category(model, capsys):
    path, ensemble = model
    assert main(["inspect", str(path), "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [column["name"] for column in columns] == ["zone", "age", "noise"]
    own = ensemble.threshold[ensemble.feature == 1]
    assert columns[1]["thresholds"] == np.unique(own[np.isfinite(own)]).tolist()
    assert set(columns[0]["categories"]) >= {"north", "south", "east"}
    assert sum(column["tests"] for column in columns) == np.count_nonzero(ensemble.feature >= 0)
    assert columns[2]["tests"] == 0


def test_many_columns_are_cut_short(tmp_path, capsys):
    n = 50
    ensemble = onetree.Ensemble(
        classes=[0, 1], feature_names=tuple(f"column {i}" for i in range(n)), roots=[3 * i for i in range(n)],
        feature=[i if k == 0 else -1 for i in range(n) for k in range(3)], threshold=[0.5, 0, 0] * n,
        children_left=[3 * i + 1 if k == 0 else -1 for i in range(n) for k in range(3)],
        children_right=[3 * i + 2 if k == 0 else -1 for i in range(n) for k in range(3)],
        missing_left=[False] * 3 * n, value=[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] * n, base=[0.0, 0.0],
        rule=onetree.model.ensemble.Rule("hard"), nan_features=[False] * n,
    )  # fmt: skip
    ensemble.save(tmp_path / "wide.json")
    assert main(["inspect", str(tmp_path / "wide.json")]) == 0
    assert "and 20 more; --json lists all" in capsys.readouterr().out
