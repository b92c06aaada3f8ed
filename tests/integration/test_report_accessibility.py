"""What axe-core finds wrong with the HTML report for people who cannot see it, or see it otherwise: nothing."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from tests.cases.grown import grown_tree

axe = pytest.importorskip("axe_playwright_python", reason="this test needs: pip install axe-playwright-python")

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def violations(page):
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found]


@pytest.mark.parametrize("view", ["drawing", "map", "list"])
@pytest.mark.parametrize("context", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_axe_finds_no_violation(opened, view, context):
    tree = grown_tree(260, missing=True)
    X = np.random.default_rng(0).random((300, tree.n_features))
    page = opened(tree, view=view, context=context, X=X, y=tree.predict(X))
    page.click("#row-after")
    page.fill("#query", "measure 1")
    page.click("#next")
    assert violations(page) == []


def flowers():
    """A small forest, another version of it, and its data."""
    data = load_iris(as_frame=True)
    return data.data, [
        RandomForestClassifier(5, max_depth=2, random_state=i).fit(data.data, data.target) for i in (0, 1)
    ]


@pytest.mark.parametrize("context", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_axe_finds_no_violation_in_an_audit(browser, tmp_path, context):
    X, (model, previous) = flowers()
    names = list(X.columns)
    onetree.audit(
        model,
        X,
        protected=names[:2],
        monotone={names[2]: "increasing"},
        previous=previous,
        path=tmp_path / "audit.html",
    )
    opened = browser.new_context(**context)
    page = opened.new_page()
    page.goto((tmp_path / "audit.html").as_uri())
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


@pytest.mark.parametrize("context", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_axe_finds_no_violation_in_checks_and_a_witness_can_be_followed(opened, context):
    X, (model, _) = flowers()
    checks = [onetree.check_fair(model, [2, 3], X=X), onetree.check_reachable(model, 1)]
    page = opened(onetree.born_again(model).tree, context=context, checks=checks)
    page.click("#checks button >> nth=1")
    assert checks[0].witness_classes[1] in (
        int(each) for each in page.inner_text("#prediction").split() if each.isdigit()
    )
    assert violations(page) == []
