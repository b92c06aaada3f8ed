"""What the HTML report does with data: rows at nodes and rules, agreement, copies and links. In a real browser."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from tests.cases.categorical import random_set_tree
from tests.cases.grown import grown_tree, shared_tree

pytestmark = pytest.mark.slow

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


def rows_for(tree, n=200, seed=0):
    return np.random.default_rng(seed).random((n, tree.n_features))


def clipboard(page):
    return page.evaluate("navigator.clipboard.readText()")


def selected_number(page):
    return int(re.search(r"node (\d+) of the tree", page.inner_text("#selected-content"))[1])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    return forest, X, y


def test_a_support_tree_is_called_what_it_is(opened, iris):
    forest, X, y = iris
    found = onetree.support_tree(forest, X, max_leaves=6, certify=True)
    page = opened(found, source=forest, X=X, y=y)
    share = 10_000 * found.held_out.n_agreeing // found.held_out.n_inputs / 100
    assert page.inner_text("#equality .badge") == f"On {share:.2f} % of held-out rows"
    table = page.inner_text("#equality table")
    assert all(words in table for words in ("held-out rows", "reference rows", "random points", "in a core"))
    assert page.inner_text("#proof .badge") == "Not searched for"
    assert not re.search(r"pruned|times what is needed", page.inner_text("body"))
    assert "Accuracy on the 150 rows given" in page.inner_text("#equality")


def test_a_frontier_has_a_section_with_charts_and_a_table(opened, iris):
    forest, X, y = iris
    frontier = onetree.frontier(forest, X[::2], y[::2], leaves=(2, 4, 8), held_out=(X[1::2], y[1::2]))
    page = opened(frontier.points[1].tree, frontier=frontier)
    assert page.locator("#frontier svg").count() == 2
    assert page.locator("#frontier svg").first.locator("circle").count() == 3
    _, lines = frontier.table()
    cells = [row.locator("th, td").all_inner_texts() for row in page.locator("#frontier tbody tr").all()]
    assert cells == lines
    assert frontier.verdict in page.inner_text("#frontier")


def test_without_a_frontier_there_is_no_section(opened):
    assert opened(grown_tree(2)).locator("#frontier-section").is_hidden()


def test_rows_of_the_list_tell_how_many_rows_of_the_data_pass(opened):
    tree = grown_tree(12)
    X = rows_for(tree)
    page = opened(tree, X=X)
    page.click("#unfold-all")
    here = [int(text.split()[0]) for text in page.locator(".row.leaf .rows").all_inner_texts()]
    assert here == np.bincount(tree.apply(X), minlength=tree.n_nodes)[tree.leaves()].tolist()
    assert page.locator(".row .rows").first.inner_text() == "200 rows"


def test_without_data_there_are_no_bars_that_could_be_read_as_shares_of_rows(opened):
    page = opened(grown_tree(12))
    assert page.locator(".bar").count() == 0
    assert page.locator("#hide-empty").is_hidden()


def test_shared_subtrees_have_their_own_rows_in_every_place(opened):
    tree = shared_tree(6)
    X = np.random.default_rng(0).random((300, 4)) * 12
    page = opened(tree, X=X)
    page.click("#fold-all")
    first = int(np.count_nonzero(X[:, 0] <= tree.threshold[0]))
    told = [text.split()[0] for text in page.locator(".row .rows").all_inner_texts()]
    assert told == ["300", str(first), str(300 - first)]
    page.click("#unfold-all")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # all rows are in the document
    ends = [int(text.split()[0]) for text in page.locator(".row.leaf .rows").all_inner_texts()]
    assert (len(ends), sum(ends)) == (64, 300)


def test_branches_without_rows_can_be_hidden(opened):
    tree = grown_tree(260)
    X = rows_for(tree, n=60)
    page = opened(tree, X=X)
    page.check("#hide-empty")
    page.click("#unfold-all")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # all rows are in the document
    n_reached = len(np.unique(tree.apply(X)))
    assert page.locator(".row.leaf").count() == n_reached
    assert page.locator(".row.empty").count() == 0
    while page.locator("#more-rules").is_visible():
        page.click("#more-rules")
    assert page.locator("#rules > li").count() == n_reached
    assert "those without rows are hidden" in page.inner_text("#rules-note")


def test_a_hidden_branch_shows_when_an_input_leads_there(opened):
    tree = grown_tree(12)
    X = rows_for(tree, n=3)
    page = opened(tree, X=X)
    page.check("#hide-empty")
    for x in rows_for(tree, n=20, seed=1):
        for feature in np.unique(tree.feature[tree.feature >= 0]).tolist():
            page.fill(f"#field-{feature}", repr(float(x[feature])))
        page.click("#follow button[type=submit]")
        assert page.locator(".row[aria-selected=true] .chip").inner_text() == tree.predict([x])[0]


def test_rules_come_by_the_rows_that_follow_them(opened):
    tree = grown_tree(60)
    X = rows_for(tree)
    page = opened(tree, X=X, y=tree.predict(X))
    while page.locator("#more-rules").is_visible():
        page.click("#more-rules")
    told = page.locator("#rules .rule-share .note").all_inner_texts()
    counts = np.bincount(tree.apply(X), minlength=tree.n_nodes)[tree.leaves()]
    expected = sorted(counts.tolist(), reverse=True)
    assert [0 if text == "no rows" else int(text.split()[0]) for text in told] == expected
    assert told[0].endswith(f"({expected[0] / 2:.1f}\u00a0%)")


@pytest.mark.parametrize(
    "tree", [grown_tree(12), grown_tree(12, missing=True), random_set_tree(0), grown_tree(1)], ids=str
)
def test_copied_rules_are_those_of_to_rules(opened, tree):
    page = opened(tree, context=CLIPBOARD)
    copied = []
    while page.locator("#more-rules").is_visible():
        page.click("#more-rules")
    for button in page.locator("#rules button[aria-label^=Copy]").all():
        button.click()
        copied.append(clipboard(page))
        assert button.inner_text() == "Copied"
    rules = [line for line in tree.to_rules().splitlines() if line.startswith(("IF", "always"))]
    assert [rule for rule in copied if "contradicts" not in rule] == rules


def test_conditions_are_worded_as_everywhere_else(opened):
    below_50 = (np.float64(np.nextafter(np.float32(50), np.float32(0))) + 50) / 2  # XGBoost's x < 50
    tree = onetree.Tree([0, -1, -1], [below_50, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], ["a", "b"], ("age",), [0])
    page = opened(tree)
    assert page.locator(".row .test").first.inner_text() == "age <\u00a050?"
    assert page.locator("#rules .conditions").all_inner_texts() == ["age < 50", "age ≥ 50"]
    page.check("#exact")
    assert page.locator("#rules .conditions").first.inner_text() == f"age ≤ {float(below_50)!r}"
    page.fill("#field-0", "50")
    assert page.text_content("#prediction") == "Prediction: b"


def test_the_path_to_a_node_is_copied(opened):
    tree = grown_tree(12)
    page = opened(tree, context=CLIPBOARD, place=f"#node-{tree.leaves()[-1]}")
    page.click("#selected button:has-text('Copy path')")
    *steps, end = clipboard(page).splitlines()
    assert all(re.fullmatch(r"measure \d <=? \S+\? no", step) for step in steps)
    assert end == f"=> {tree.classes[tree.leaf_class[tree.leaves()[-1]]]}"


def test_a_link_leads_to_its_node(opened):
    tree = grown_tree(2000)
    node = int(tree.apply(rows_for(tree, n=1))[0])
    page = opened(tree, place=f"#node-{node}", context=CLIPBOARD)
    assert selected_number(page) == node
    assert page.locator(".row[aria-selected=true]").is_visible()
    page.click("#selected button:has-text('Copy link')")
    assert clipboard(page) == page.url
    page.evaluate("location.hash = '#node-0'")
    page.wait_for_function("document.querySelector('#selected-content').innerText.includes('node 0 of')")


def test_the_address_follows_what_is_selected(opened):
    page = opened(grown_tree(12))
    page.locator(".row").nth(2).click()
    assert page.url.endswith(f"#node-{selected_number(page)}")


def test_a_place_that_shares_its_node_is_linked_by_its_path(opened):
    page = opened(shared_tree(5), place="#path-nnyn")
    assert page.locator(".row[aria-selected=true]").get_attribute("aria-level") == "5"
    page.focus("#tree")
    page.keyboard.press("ArrowLeft")
    assert page.url.endswith("#path-nny")
    page.keyboard.press("Home")
    assert page.url.endswith("#node-0")


@pytest.mark.parametrize("place", ["#node-99999", "#path-yyyyyyyyyyyyyyyyyyyyyyyyyy", "#node-x", "#elsewhere"])
def test_a_link_that_leads_nowhere_is_left_alone(opened, place):
    assert selected_number(opened(grown_tree(12), place=place)) == 0
