"""What a report says of checks."""

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    return X, forest, onetree.born_again(forest).tree


def embedded(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])


def test_checks_are_in_the_page_with_their_witnesses(flowers, tmp_path):
    X, forest, tree = flowers
    checks = [
        onetree.check_fair(forest, [3], X=X),
        onetree.check_reachable(forest, 1),
        onetree.check_reachable(forest, 2, domain={2: (0, 1.9), 3: (0, 0.3)}),
        onetree.check_monotone(forest, 3, work_limit=1),
    ]
    onetree.write_report(tree, tmp_path / "report.html", checks=checks)
    fair, reached, never, undecided = embedded(tmp_path / "report.html")["checks"]
    assert (fair["state"], sum(fair["rows"]), fair["same"]) == ("refuted", 150, False)
    assert [str(each) for each in forest.predict(np.array(fair["witness"]))] == fair["classes"]
    assert (reached["state"], reached["same"]) == ("proven", True)
    assert (never["state"], never["witness"]) == ("refuted", None)
    assert undecided["state"] in ("open", "refuted")


def test_a_report_without_checks_has_none(flowers, tmp_path):
    onetree.write_report(flowers[2], tmp_path / "report.html")
    assert embedded(tmp_path / "report.html")["checks"] == []


def test_checks_of_another_model_are_refused(flowers, tmp_path):
    X, forest, tree = flowers
    other = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X[:, :2], forest.predict(X))
    with pytest.raises(onetree.InvalidInputError, match="about 2 features"):
        onetree.write_report(tree, tmp_path / "report.html", checks=[onetree.check_fair(other, [0])])
