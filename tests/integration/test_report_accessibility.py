"""What axe-core finds wrong with the HTML report for people who cannot see it, or see it otherwise: nothing."""

from pathlib import Path

import numpy as np
import pytest

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
