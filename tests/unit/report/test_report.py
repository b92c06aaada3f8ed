"""The HTML report without a browser: what it says, what it holds, and that nothing in it can run or load."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import onetree
from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble, Rule
from onetree.report import embedded, facts
from onetree.report.page import render_page, script_safe_json
from onetree.search.solve import Solution
from tests.cases.grown import grown_tree, shared_tree

HOSTILE = "</script><img src=x onerror=alert(1)>&\u2028\u2029{{script}}"


class Page(HTMLParser):
    """The elements of a page, with the text of scripts and styles."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self, text):
        super().__init__()
        self.elements, self.raw, self.open = [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, text):
        if self.open and self.open[-1] in ("script", "style"):
            self.raw.setdefault(self.open[-1], []).append(text)


@pytest.fixture
def written(tmp_path):
    """Write a report and give its text, its page and the data in it."""

    def write(found, **options):
        path = tmp_path / "report.html"
        onetree.write_report(found, path, **options)
        text = path.read_text(encoding="utf-8")
        page = Page(text)
        return text, page, json.loads(page.raw["script"][0])

    return write


def stump(cut=1.0):
    return Ensemble(
        classes=["kitten", "cat"],
        feature_names=("age",),
        roots=[0],
        feature=[0, -1, -1],
        children_left=[1, -1, -1],
        children_right=[2, -1, -1],
        threshold=[cut, 0, 0],
        missing_left=[False] * 3,
        value=[[0.0, 0], [1, 0], [0, 1]],
        base=[0.0, 0],
        rule=Rule("hard"),
        nan_features=[False],
    )


def leaves_in(nodes):
    """Count the leaves that the root reaches in the embedded lists, one per path."""
    below = [1] * len(nodes["feature"])
    for node, count in nodes["below"]:
        below[node] = count
    splits = [node for node, feature in enumerate(nodes["feature"]) if feature >= 0]
    for node, left, right in reversed(list(zip(splits, nodes["left"], nodes["right"], strict=True))):
        if left:
            below[node] = below[left] + below[right]
    return below[0]


@pytest.mark.parametrize("n_leaves", [1, 12, 260, 2000])
def test_every_leaf_is_in_the_page(written, n_leaves):
    _, _, data = written(grown_tree(n_leaves))
    assert data["leaves"] == leaves_in(data["nodes"]) == n_leaves


def test_the_embedded_lists_are_the_tree(written):
    tree = grown_tree(260, missing=True)
    nodes = written(tree)[2]["nodes"]
    X = np.random.default_rng(0).random((500, tree.n_features))
    splits = np.flatnonzero(np.array(nodes["feature"]) >= 0)
    cut, left, right = (dict(zip(splits.tolist(), nodes[name], strict=True)) for name in ("cut", "left", "right"))

    def predict(x):
        node = 0
        while nodes["feature"][node] >= 0:
            goes_left = x[nodes["feature"][node]] <= nodes["levels"][cut[node]]
            node = left[node] if goes_left else right[node]
        return -1 - nodes["feature"][node]

    assert [predict(x) for x in X] == tree.predict_index(X).tolist()


def test_the_page_is_well_formed(written):
    assert written(grown_tree(12))[1].open == []


def test_nothing_is_loaded_from_elsewhere(written):
    text, page, _ = written(grown_tree(12))
    sources = [
        value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")
    ]
    assert sources == ["data:,", "#tree-title"]
    assert not re.search(r"https?://|@import|url\(", text)


def test_the_policy_allows_only_the_scripts_and_styles_of_the_page(written):
    _, page, _ = written(grown_tree(12))
    policy = next(attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes)
    allowed = dict(directive.split(" ", 1) for directive in policy.split("; "))
    for kind, text in (("script", page.raw["script"][1]), ("style", page.raw["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert allowed[f"{kind}-src"] == f"'sha256-{digest}'"
    assert allowed["default-src"] == "'none'"


def test_a_hostile_name_stays_data(written):
    tree = grown_tree(12, feature_names=[HOSTILE] * 6, classes=[HOSTILE, "b", "c"])
    _, page, data = written(tree, title=HOSTILE)
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert "img" not in [tag for tag, _ in page.elements]
    assert data["title"] == HOSTILE


def test_embedded_json_cannot_end_its_script():
    text = script_safe_json([HOSTILE, "\ud800"])
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == [HOSTILE, "\ud800"]


def test_the_script_never_turns_text_into_markup():
    script = Page(render_page({})).raw["script"][1]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)


def test_the_same_report_is_written_twice(written):
    assert written(grown_tree(40))[0] == written(grown_tree(40))[0]


def test_shared_subtrees_stay_shared(written):
    _, _, data = written(shared_tree(60))
    assert data["leaves"] == 2**60
    assert len(data["nodes"]["feature"]) == 121


def test_of_a_tree_that_is_too_large_the_deepest_nodes_are_only_counted(written, monkeypatch):
    monkeypatch.setattr(embedded, "MAX_NODES", 101)
    nodes = written(grown_tree(260))[2]["nodes"]
    assert len(nodes["feature"]) == 101
    assert nodes["below"]
    assert leaves_in(nodes) == 260


def test_a_tree_of_great_depth_is_written(written):
    n = 20_000
    tree = onetree.Tree(
        feature=[0, -1] * n + [-1],
        threshold=[float(n - at // 2) for at in range(2 * n)] + [0.0],
        children_left=[each for at in range(n) for each in (2 * at + 2, -1)] + [-1],
        children_right=[each for at in range(n) for each in (2 * at + 1, -1)] + [-1],
        leaf_class=[each for at in range(n) for each in (-1, at % 2)] + [0],
        classes=["a", "b"],
        feature_names=["x"],
        nan_features=[False],
    )
    assert leaves_in(written(tree)[2]["nodes"]) == n + 1


def test_a_threshold_of_infinity_is_null(written):
    tree = onetree.Tree([0, -1, -1], [np.inf, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], ["a", "b"], ("x",), [True])
    assert written(tree)[2]["nodes"]["levels"] == [None]


def test_rows_hold_the_tested_features_only(written):
    tree = replace(grown_tree(2, n_features=1), feature_names=("tested", "not"), nan_features=[True, False])
    rows = written(tree, X=[[0.1, 5], [np.nan, 6], [-np.inf, 7]])[2]["rows"]
    assert rows == {"n_rows": 3, "n_shown": 3, "columns": [{"feature": 0, "values": [0.1, None, "-inf"]}]}


def test_of_many_rows_the_first_are_shown(written):
    rows = written(grown_tree(12), X=np.zeros((5000, 6)))[2]["rows"]
    assert (rows["n_rows"], rows["n_shown"]) == (5000, 1000)


def test_data_that_do_not_fit_the_tree_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="2 features"):
        onetree.write_report(grown_tree(12), tmp_path / "report.html", X=np.zeros((3, 2)))
    assert not (tmp_path / "report.html").exists()


def test_equality_with_the_model_is_proven(written):
    _, _, data = written(onetree.born_again(stump()), source=stump())
    assert data["equality"]["state"] == "equal"
    assert data["proof"] | {"stats": None} == {
        "state": "optimal",
        "text": "No equal tree has fewer leaves, and none with so few is shallower.",
        "objective": "leaves-depth",
        "stats": None,
    }


def test_a_difference_is_shown_with_an_input(written):
    _, _, data = written(onetree.born_again(stump(2.0)).tree, source=stump(1.0), X=[[1.5], [0.5], [3.0]])
    assert data["equality"]["state"] == "differs"
    assert 1.0 < float(data["equality"]["counterexample"][0]) <= 2.0
    assert "the tree says “kitten”, the model “cat”" in data["equality"]["text"]
    assert data["agreement"] == {"rows": 3, "equal": 2}


def test_what_nobody_told_is_not_known(written):
    _, _, data = written(onetree.born_again(stump()).tree)
    assert data["equality"]["state"] == "unchecked"
    assert data["proof"]["state"] == "unknown"
    assert {size["before"] for size in data["sizes"]} == {None}
    assert data["agreement"] is None


def test_a_proof_that_takes_too_long_is_said_to_be_unfinished(monkeypatch):
    def give_up(*_, **__):
        raise onetree.LimitReachedError("no verdict")

    monkeypatch.setattr(facts, "verify", give_up)
    assert facts.check_equality(grown_tree(2), stump(), time_limit=3.0).state == "unfinished"


def test_a_bound_is_given_where_nothing_smaller_is_excluded():
    proof = facts.describe_proof(Solution(grown_tree(12), "leaves-depth", "feasible", (12, 4), (10, 4)))
    assert proof["state"] == "bounded"
    assert "at least 10 leaves and depth 4" in proof["text"]
    assert "The leaves here: at most 20.0% above" in proof["text"]


def test_a_pruned_tree_is_said_to_be_pruned(written):
    _, _, data = written(replace(grown_tree(12), exact=False))
    assert data["equality"]["exact"] is False
    assert "pruned" in data["equality"]["text"]


def test_sizes_compare_the_model_with_the_tree(written):
    _, _, data = written(onetree.born_again(stump()).tree, source=stump())
    assert [(size["measure"], size["before"], size["after"]) for size in data["sizes"]] == [
        ("trees", 1, 1),
        ("leaves", 2, 2),
        ("splits", 1, 1),
        ("depth", 1, 1),
        ("features tested", 1, 1),
        ("different thresholds", 1, 1),
    ]


def test_splits_of_shared_subtrees_count_once_per_path():
    uses = {use["feature"]: use["splits"] for use in facts.describe_features(shared_tree(4), None)}
    assert uses == {0: 1, 1: 2, 2: 4, 3: 8}
