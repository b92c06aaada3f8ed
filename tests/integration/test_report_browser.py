"""The HTML report in a real browser, used as a person would: the list of the tree, inputs, search, rules."""

from dataclasses import replace

import numpy as np
import pytest

import onetree
from onetree.export.words.leaf_words import leaf_words
from onetree.model.categories import Categories
from onetree.report import embedded
from onetree.report.leaf_groups import leaf_groups
from tests.cases import categorical, exported
from tests.cases.grown import grown_tree, shared_tree
from tests.cases.valued import as_probability, as_regression

pytestmark = pytest.mark.slow

SIZES = (12, 260, 2000)
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
CUT_SHORT = """() => [...document.querySelectorAll(".row, .row .name, .field label, #rules li, #legend .name")]
  .filter((each) => getComputedStyle(each).display !== "inline")
  .filter((each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1)
  .map((each) => each.outerHTML)"""
HOSTILE = '<img src=x onerror="document.title=1">'


def n_rows(page):
    """Count the unfolded rows, of which only those on the screen are in the document."""
    return page.evaluate("document.querySelector('#rows').offsetHeight / document.querySelector('.row').offsetHeight")


def selected(page):
    return page.locator(".row[aria-selected=true]")


def follow(page, tree, x):
    """Type an input into the form and read the prediction."""
    for feature in np.unique(tree.feature[tree.feature >= 0]).tolist():
        page.fill(f"#field-{feature}", "" if np.isnan(x[feature]) else repr(float(x[feature])))
    page.click("#follow button[type=submit]")
    return page.text_content("#prediction")


@pytest.mark.parametrize("n_leaves", SIZES)
def test_an_input_is_followed_to_its_leaf_and_prediction(opened, n_leaves):
    tree = grown_tree(n_leaves, missing=True)
    page = opened(tree)
    rng = np.random.default_rng(n_leaves)
    X = rng.random((4, tree.n_features))
    X[1, 0] = np.nan
    for x, label in zip(X, tree.predict(X), strict=True):
        assert follow(page, tree, x) == f"Prediction: {label}"
        assert selected(page).locator(".chip").inner_text() == label
        assert "leaf" in selected(page).get_attribute("class")
        assert "on-path" in selected(page).get_attribute("class")


def test_inputs_on_and_next_to_a_threshold_go_where_the_tree_sends_them(opened):
    tree = onetree.Tree(
        [0, -1, -1], [0.1 + 0.2, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], ["in", "out"], ("x",), [0]
    )
    page = opened(tree)
    cut = tree.threshold[0]
    for x in (cut, np.nextafter(cut, 1), np.nextafter(cut, 0)):
        assert follow(page, tree, [x]) == f"Prediction: {tree.predict([[x]])[0]}"


def test_a_row_of_the_data_is_followed(opened):
    tree = grown_tree(260)
    X = np.random.default_rng(1).random((50, tree.n_features))
    page = opened(tree, X=X)
    page.fill("#row-number", "17")
    page.press("#row-number", "Enter")
    assert page.text_content("#prediction") == f"Prediction: {tree.predict(X[16:17])[0]}"
    page.click("#row-after")
    assert page.text_content("#prediction") == f"Prediction: {tree.predict(X[17:18])[0]}"


def test_a_leaf_shows_its_box_and_how_many_rows_end_there(opened):
    tree = grown_tree(12, missing=True)
    X = np.random.default_rng(2).random((50, tree.n_features))
    X[0, tree.feature[0]] = np.nan
    page = opened(tree, X=X)
    follow(page, tree, X[0])
    leaf = int(np.flatnonzero(tree.leaves() == tree.apply(X[:1])[0])[0])
    lower, upper = (bounds[leaf] for bounds in tree.boxes())
    intervals = page.locator("#selected .box li").all_inner_texts()
    assert len(intervals) == np.count_nonzero(np.isfinite(lower) | ~np.isnan(upper))
    n_here = np.count_nonzero(tree.apply(X) == tree.apply(X[:1]))
    assert f"{n_here} rows of 50 ({2 * n_here}.0\u00a0%) end here." in page.inner_text("#selected")


def test_an_input_from_a_leaf_leads_back_to_it(opened):
    page = opened(grown_tree(260))
    page.fill("#query", "class 1")
    page.click("#next")
    row = selected(page).get_attribute("id")
    page.click("#selected button:has-text('Use an input')")
    assert page.text_content("#prediction") == "Prediction: class 1"
    assert selected(page).get_attribute("id") == row


def test_a_field_that_is_no_number_is_pointed_out(opened):
    tree = grown_tree(2, n_features=1)
    page = opened(tree)
    page.fill("#field-0", "1,5")
    page.press("#field-0", "Enter")
    assert page.inner_text("#field-0-problem") == "write decimals with a point"
    assert page.text_content("#prediction") == "The next split needs measure 0."


def test_the_prediction_follows_every_key(opened):
    tree = onetree.Tree([0, -1, -1], [25.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], ["low", "high"], ("x",), [0])
    page = opened(tree)
    said = []
    page.focus("#field-0")
    for key in ("3", "0", "Backspace", "Backspace", "4", "4"):
        page.keyboard.press(key)
        said.append(page.text_content("#prediction"))
    low, high = "Prediction: low", "Prediction: high"
    assert said == [low, high, low, "The next split needs x.", low, high]


def test_a_row_that_is_edited_is_that_row_no_more(opened):
    tree = grown_tree(12)
    page = opened(tree, X=np.random.default_rng(0).random((5, 6)))
    page.click("#row-after")
    page.fill(f"#field-{tree.feature[0]}", "0.5")
    assert page.input_value("#row-number") == ""


def test_a_single_feature_that_is_not_tested_is_told_in_the_singular(opened):
    tree = onetree.Tree([0, -1, -1], [25.0, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], ["a", "b"], ("x", "y"), [0, 0])
    assert opened(tree).inner_text("#fields-note") == "The other feature never matters."


def test_an_empty_field_stops_the_path_where_it_is_needed(opened):
    page = opened(grown_tree(2, n_features=1))
    page.click("#follow button[type=submit]")
    assert page.text_content("#prediction") == "The next split needs measure 0."


@pytest.mark.parametrize("n_leaves", SIZES)
def test_the_tree_folds_and_unfolds(opened, n_leaves):
    page = opened(grown_tree(n_leaves))
    page.click("#unfold-all")
    assert n_rows(page) == 2 * n_leaves - 1
    assert page.locator(".row").count() < 100
    page.click("#fold-all")
    assert n_rows(page) == 3
    page.locator(".row .twisty").first.click()
    assert n_rows(page) == 1
    assert page.locator(".row").first.get_attribute("aria-expanded") == "false"


@pytest.mark.parametrize("n_leaves", SIZES)
def test_search_finds_every_split_of_a_feature(opened, n_leaves):
    tree = grown_tree(n_leaves)
    page = opened(tree)
    page.fill("#query", "measure 3")
    n_splits = np.count_nonzero(tree.feature == 3)
    assert page.inner_text("#found").replace(",", "").split()[0] == str(n_splits)
    page.press("#query", "Enter")
    assert page.inner_text("#found") == f"1 of {n_splits:,}"
    assert selected(page).locator(".test").text_content().startswith(("measure 3 <", "measure 3 ≤"))
    page.click("#previous")
    assert page.inner_text("#found") == f"{n_splits:,} of {n_splits:,}"


@pytest.mark.parametrize("n_leaves", SIZES)
def test_search_finds_every_leaf_of_a_class(opened, n_leaves):
    tree = grown_tree(n_leaves)
    page = opened(tree)
    page.fill("#query", "CLASS 2")
    page.click("#next")
    assert page.inner_text("#found") == f"1 of {np.count_nonzero(tree.leaf_class == 2):,}"
    assert selected(page).locator(".chip").inner_text() == "class 2"


def test_the_keyboard_walks_the_tree(opened):
    tree = grown_tree(12)
    page = opened(tree)
    page.click("#fold-all")
    page.focus("#tree")
    page.keyboard.press("ArrowLeft")
    assert n_rows(page) == 1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert selected(page).get_attribute("aria-level") == "2"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert selected(page).get_attribute("aria-level") == "1"
    page.keyboard.press("*")
    page.keyboard.press("End")
    assert n_rows(page) == 23
    assert page.get_attribute("#tree", "aria-activedescendant") == selected(page).get_attribute("id")
    assert selected(page).get_attribute("id") == page.locator(".row").last.get_attribute("id")


def test_there_is_a_rule_for_every_leaf(opened):
    tree = grown_tree(60)
    page = opened(tree)
    while page.locator("#more-rules").is_visible():
        page.click("#more-rules")
    assert page.locator("#rules > li").count() == 60
    page.select_option("#rules-class", label="class 0")
    assert f"of {np.count_nonzero(tree.leaf_class == 0)}." in page.inner_text("#rules-note")
    page.locator("#rules button[aria-label^=Show]").first.click()
    assert selected(page).locator(".chip").inner_text() == "class 0"


def test_names_from_a_hostile_model_are_text(opened):
    page = opened(grown_tree(12, feature_names=[HOSTILE] * 6, classes=[HOSTILE, "b", "c"]), title=HOSTILE)
    assert page.locator("img").count() == 0
    assert page.inner_text("h1") == HOSTILE
    assert page.locator(".row .test").first.text_content().startswith(HOSTILE)
    assert page.title() == f"{HOSTILE} · onetree report"


def test_a_tree_with_a_million_million_leaves_opens_and_is_followed(opened):
    tree = shared_tree(40)
    page = opened(tree)
    x = np.array([0.5, 7.5, 20.5, 50.5])
    assert follow(page, tree, x) == f"Prediction: {tree.predict(x[np.newaxis])[0]}"
    page.fill("#query", "odd")
    page.click("#previous")
    assert page.inner_text("#found") == f"{2**39:,} of {2**39:,}"
    page.click("#unfold-all")
    assert "Too many" in page.inner_text("#tree-message")


def test_more_leaves_than_can_be_counted_exactly_are_still_searched(opened):
    page = opened(shared_tree(1500))
    page.fill("#query", "odd")
    for button in ("#previous", "#next", "#next"):
        page.click(button)
        assert selected(page).locator(".chip").inner_text() == "odd"


def test_what_is_not_in_the_file_is_said_to_be_missing(opened, monkeypatch):
    monkeypatch.setattr(embedded, "MAX_NODES", 41)
    tree = grown_tree(260)
    page = opened(tree)
    assert "the first 41 by depth" in page.inner_text("#cut-note")
    assert follow(page, tree, np.full(6, 0.5)).startswith("The path goes on where this file ends.")


def test_a_tree_of_one_leaf_says_so(opened):
    page = opened(grown_tree(1))
    assert page.inner_text("#rules .conditions") == "always"
    assert "it says the same of every input" in page.inner_text("#fields-note")


def test_the_input_on_which_tree_and_model_differ_is_followed(opened):
    tree, model = grown_tree(12, missing=True), grown_tree(12, missing=True, seed=1)
    page = opened(tree, source=model.to_sklearn())
    assert page.inner_text("#equality .badge") == "No"
    page.click("#equality button")
    assert page.text_content("#prediction").startswith("Prediction: ")


def test_the_theme_can_be_switched(opened):
    page = opened(grown_tree(12), context={"color_scheme": "dark"})
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.click("#theme")
    assert page.evaluate(colour) != dark


@pytest.mark.parametrize("n_leaves", SIZES)
def test_nothing_is_wider_than_a_phone(opened, n_leaves):
    names = [f"{'long' * 20} {j}" for j in range(6)]
    page = opened(grown_tree(n_leaves, feature_names=names), context=PHONE, X=np.random.default_rng(0).random((99, 6)))
    page.click("#unfold-all")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("name", ["long" * 20, "several words with a space between them, one by one", "a_b" * 15])
def test_no_name_is_cut_short_on_a_phone(opened, name):
    tree = grown_tree(60, feature_names=[f"{name} {j}" for j in range(6)], classes=[name, "b", "c"])
    page = opened(tree, context=PHONE, X=np.random.default_rng(0).random((99, 6)))
    page.click("#unfold-all")
    assert page.evaluate(CUT_SHORT) == []


def test_a_printed_report_holds_the_unfolded_rows(opened):
    page = opened(grown_tree(260))
    page.click("#unfold-all")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".row").count() == 519


def test_set_tests_send_categories_and_what_is_beside_them_where_the_tree_does(opened):
    tree = categorical.random_set_tree(2)
    rows = exported.points(tree, n=40)
    page = opened(tree, X=rows)
    for number, label in enumerate(tree.predict(rows), start=1):
        page.fill("#row-number", str(number))
        page.press("#row-number", "Enter")
        assert page.text_content("#prediction") == f"Prediction: {label}"
        assert selected(page).locator(".chip").inner_text() == label


def test_a_category_is_typed_by_its_name(opened):
    tree = categorical.colour_tree(0, 2, "missing")
    page = opened(tree)
    for colour, label in (("blue", "yes"), ("2", "yes"), ("grey", "no"), ("", "yes"), ("1.5", "no")):
        page.fill("#field-0", colour)
        page.fill("#field-1", "20")
        assert page.text_content("#prediction") == f"Prediction: {label}"
    assert page.locator("#steps li").first.text_content() == "colour = 1.5 (other) not in {red, blue}"


def test_an_input_from_a_leaf_of_sets_leads_back_to_it(opened):
    page = opened(categorical.chain_of_sets((0, 1, "missing"), (1, 2, "other")))
    page.fill("#query", "class 1")
    page.click("#next")
    assert page.inner_text("#selected .box li") == "colour not in {red, green, grey}"
    page.click("#selected button:has-text('Use an input')")
    assert page.text_content("#prediction") == "Prediction: class 1"


def test_rules_and_rows_say_sets_in_words(opened):
    page = opened(categorical.colour_tree(0, 2, "missing"))
    assert page.locator(".row .test").first.text_content() == "colour in {red, blue} or missing?"
    assert page.locator("#rules .conditions").last.inner_text() == "colour not in {red, blue}"


def test_names_of_categories_from_a_hostile_model_are_text(opened):
    names = (HOSTILE, "</script><script>document.title=1</script>")
    tree = categorical.colour_tree(0, 1, kind=Categories.equal([0, 1, 2], names=(*names, "c")))
    page = opened(tree)
    assert page.locator("img").count() == 0
    test = page.locator(".row .test").first.text_content()
    assert all(name in test for name in names)


@pytest.mark.parametrize("made", [as_regression, as_probability])
def test_a_tree_with_numbers_says_them(opened, made):
    tree = made(grown_tree(12))
    tree = replace(tree, value=np.random.default_rng(0).random(tree.value.shape).round(3))
    X = np.random.default_rng(1).random((30, tree.n_features))
    page = opened(tree, X=X)
    for x in X[:3]:
        wanted = leaf_words(tree)[int(tree.apply(x[np.newaxis])[0])]
        assert follow(page, tree, x) == f"Prediction: {wanted}"
    assert page.locator("#legend .chip").count() == len(leaf_groups(tree).labels)
