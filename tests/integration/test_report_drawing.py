"""The drawing and the map of the HTML report in a real browser."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from tests.cases.grown import grown_tree, shared_tree

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def rows_for(tree, n=500):
    return np.random.default_rng(0).random((n, tree.n_features))


def labels(page):
    return [node.get_attribute("aria-label") for node in page.locator("#drawing .node").all()]


def zoom(page):
    """Read how much the drawing is enlarged, and where it is."""
    moved = page.get_attribute("#drawing-svg > g", "transform")
    x, y, scale = map(float, re.fullmatch(r"translate\((\S+) (\S+)\) scale\((\S+)\)", moved).groups())
    return scale, x, y


def wait_for_zoom(page, before):
    seen = "document.querySelector('#drawing-svg > g').getAttribute('transform')"
    page.wait_for_function(f"!{seen}.includes('scale({before})')")


def middle(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pinch(page, x, y, *distances):
    """Put two fingers down, so far from each other, move them, and lift them."""
    session = page.context.new_cdp_session(page)
    for at, distance in enumerate(distances):
        fingers = [{"x": x + side * distance / 2, "y": y, "id": side + 1} for side in (-1, 1)]
        kind = "touchMove" if at else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def test_a_small_tree_is_drawn_whole(opened):
    page = opened(grown_tree(12), view="drawing")
    assert page.locator("#drawing .node").count() == 23
    assert page.locator("#drawing .node.leaf").count() == 12


def test_a_drawn_node_tells_how_many_rows_reach_it(opened):
    tree = grown_tree(12)
    X = rows_for(tree)
    page = opened(tree, view="drawing", X=X, y=tree.predict(X))
    page.click("#zoom-fit")
    counts = np.bincount(tree.apply(X), minlength=tree.n_nodes)
    drawn = sorted(int(re.search(r"(\d+) row", label)[1]) for label in labels(page) if "correct" in label)
    assert drawn == sorted(counts[counts > 0].tolist())
    assert sum("no rows" in label for label in labels(page)) == np.count_nonzero(counts[tree.leaves()] == 0)
    assert "500 rows (100\u00a0%)" in labels(page)[0]


def test_edges_are_as_wide_as_their_rows(opened):
    tree = grown_tree(2, n_features=1)
    X = np.where(np.arange(100) < 80, tree.threshold[0], 1.0)[:, np.newaxis]
    page = opened(tree, view="drawing", X=X)
    widths = page.evaluate(
        """[...document.querySelectorAll("#drawing .edge")].map((edge) => [...edge.querySelectorAll("path")]
             .reduce((sum, path) => sum + Number(path.getAttribute("stroke-width")), 0))"""
    )
    assert widths[0] / widths[1] == pytest.approx(4.0)


def test_a_split_shows_how_the_rows_spread_over_its_feature(opened):
    tree = grown_tree(2, n_features=1)
    cut = tree.threshold[0]
    page = opened(tree, view="drawing", X=[[cut]] * 30 + [[cut + 0.1]] * 10, y=["class 0"] * 35 + ["class 1"] * 5)
    bars = page.locator("#drawing .node").first.locator("xpath=./*[name()='g']/*[name()='rect']").all()
    heights = [float(bar.get_attribute("height")) for bar in bars]
    assert len(heights) == 3  # one class on the left of the cut, two on the right
    assert heights[0] / heights[1] == pytest.approx(6.0)
    assert heights[1] == heights[2]


def test_of_a_large_tree_only_where_most_rows_go_is_unfolded(opened):
    tree = grown_tree(2000)
    page = opened(tree, view="drawing", X=rows_for(tree))
    assert 5 < page.locator("#drawing .node").count() < 60
    assert page.locator("#drawing .fold rect").count() > 2


def test_an_unfolded_drawing_holds_only_what_is_in_the_window(opened):
    page = opened(grown_tree(2000), view="drawing")
    page.click("#unfold-all")
    assert page.locator("#drawing .node").count() < 400
    page.click("#zoom-fit")
    assert page.locator("#drawing .node").count() < 2500


def test_buttons_and_keys_zoom(opened):
    page = opened(grown_tree(260), view="drawing")
    before = zoom(page)[0]
    page.click("#zoom-in")
    assert zoom(page)[0] > before
    page.click("#zoom-out")
    assert zoom(page)[0] == pytest.approx(before)
    page.focus("#drawing")
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert zoom(page)[0] == pytest.approx(before * 1.3**2)
    page.keyboard.press("-")
    assert zoom(page)[0] == pytest.approx(before * 1.3)
    page.keyboard.press("0")
    assert zoom(page)[0] <= before


def test_the_wheel_scrolls_the_page_until_the_drawing_has_the_focus(opened):
    page = opened(grown_tree(260), view="drawing")
    before = zoom(page)
    page.locator("#drawing").scroll_into_view_if_needed()
    page.mouse.move(*middle(page, "#drawing"))
    page.mouse.wheel(0, -100)
    page.wait_for_timeout(100)
    assert zoom(page) == before
    page.focus("#drawing")
    page.mouse.move(*middle(page, "#drawing"))
    page.mouse.wheel(0, -100)
    wait_for_zoom(page, before[0])
    assert zoom(page)[0] > before[0]


def test_the_wheel_with_ctrl_zooms_around_the_pointer(opened):
    page = opened(grown_tree(12), view="drawing")
    scale, _, _ = zoom(page)
    page.locator("#drawing").scroll_into_view_if_needed()
    page.mouse.move(*middle(page, "#drawing"))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -40)
    page.keyboard.up("Control")
    wait_for_zoom(page, scale)
    assert zoom(page)[0] == pytest.approx(scale * np.exp(0.4))


def test_two_fingers_zoom_the_drawing(opened):
    page = opened(grown_tree(12), view="drawing", context=PHONE)
    page.locator("#drawing").scroll_into_view_if_needed()
    page.focus("#drawing")
    x, y = middle(page, "#drawing")
    before = zoom(page)[0]
    pinch(page, x, y, 80, 100, 120, 140, 160)
    assert zoom(page)[0] / before == pytest.approx(2.0, rel=0.15)


def test_dragging_moves_the_drawing(opened):
    page = opened(grown_tree(260), view="drawing")
    page.locator("#drawing").scroll_into_view_if_needed()
    page.click("#zoom-in")
    _, x, y = zoom(page)
    at = middle(page, "#drawing")
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] - 30, at[1] - 20, steps=4)
    page.mouse.up()
    assert zoom(page)[1:] == pytest.approx((x - 30, y - 20), abs=6)


def test_a_click_selects_a_node_and_its_handle_folds_it(opened):
    page = opened(grown_tree(12), view="drawing")
    page.click("#zoom-fit")
    node = page.locator("#drawing .node.split").nth(1)
    label = node.get_attribute("aria-label")
    node.locator("text[font-weight='600']").first.click()
    assert page.locator("#drawing .node[aria-selected=true]").get_attribute("aria-label") == label
    n = page.locator("#drawing .node").count()
    page.locator("#drawing .node[aria-selected=true] .fold").click()
    assert page.locator("#drawing .node").count() < n
    assert page.locator("#drawing .node[aria-selected=true]").get_attribute("aria-expanded") == "false"
    page.locator("#drawing .node[aria-selected=true] .fold").click()
    assert page.locator("#drawing .node").count() == n


def test_the_keyboard_walks_the_drawing(opened):
    page = opened(grown_tree(260), view="drawing")
    page.focus("#drawing")
    selected = page.locator("#drawing .node[aria-selected=true]")
    levels = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        levels.append(int(selected.get_attribute("aria-level")))
        assert page.get_attribute("#drawing", "aria-activedescendant") == selected.get_attribute("id")
    assert levels[:2] == [2, 3]
    assert levels[-1] == 1
    page.keyboard.press("Enter")
    assert page.locator("#drawing .node").count() == 1


def test_a_followed_input_is_marked_in_the_drawing(opened):
    tree = grown_tree(12)
    page = opened(tree, view="drawing", X=rows_for(tree))
    page.click("#row-after")
    page.click("#zoom-fit")
    x = rows_for(tree)[:1]
    marked = page.locator("#drawing .node[aria-selected=true]")
    assert marked.get_attribute("aria-level") == str(1 + page.locator("#steps li").count())
    assert tree.predict(x)[0] in marked.get_attribute("aria-label")


def test_the_drawing_takes_the_colours_of_the_theme(opened):
    page = opened(grown_tree(12), view="drawing")
    fill = "document.querySelector('#drawing .node rect').getAttribute('fill')"
    light = page.evaluate(fill)
    page.click("#theme")
    assert page.evaluate(fill) != light


def test_the_drawing_is_saved_as_svg(opened):
    tree = grown_tree(12, feature_names=["<b> & 'c'"] + [f"measure {j}" for j in range(5)])
    page = opened(tree, view="drawing", X=rows_for(tree), title="A tree: of / twelve")
    with page.expect_download() as saved:
        page.click("#save-svg")
    assert saved.value.suggested_filename == "A-tree-of-twelve-onetree-report.svg"
    text = saved.value.path().read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds == {"svg", "g", "rect", "path", "text", "circle"}
    words = "".join(root.itertext())
    assert "<b> & 'c'" in words or 0 not in tree.feature
    assert words.count("rows") >= 12
    assert "var(" not in text


def test_the_drawing_is_saved_as_png(opened):
    page = opened(grown_tree(12), view="drawing")
    with page.expect_download() as saved:
        page.click("#save-png")
    content = saved.value.path().read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    assert width > 1000
    assert height > 700
    assert len(content) > 20_000  # something is on it


def test_too_much_for_one_picture_is_said(opened):
    page = opened(grown_tree(3000), view="drawing")
    page.click("#unfold-all")
    page.click("#save-svg")
    assert "Too many" in page.inner_text("#tree-message")


def test_the_map_shows_every_leaf_in_the_colour_of_its_class(opened):
    tree = grown_tree(12, classes=["a", "b"], n_classes=2)
    page = opened(tree, view="map")
    seen = page.evaluate(
        """async () => {
          await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
          const canvas = document.querySelector("#map-canvas");
          const pen = canvas.getContext("2d");
          const column = pen.getImageData(canvas.width - 4, 0, 1, canvas.height).data;
          return Array.from({ length: canvas.height }, (_, y) => [...column.slice(4 * y, 4 * y + 3)]);
        }"""
    )
    blue = [red < 100 and blue > 150 for red, _, blue in seen]
    leaves = tree.leaf_class[tree.leaves()]
    expected = np.repeat(leaves == 0, 100)
    sampled = np.asarray(blue)[(np.arange(1200) + 0.5).astype(int) * len(blue) // 1200]
    assert np.mean(sampled == expected) > 0.95


def test_heights_on_the_map_are_shares_of_the_rows(opened):
    tree = grown_tree(2, n_features=1)
    X = np.where(np.arange(100) < 80, tree.threshold[0], 1.0)[:, np.newaxis]
    page = opened(tree, view="map", X=X, context={"viewport": {"width": 1200, "height": 1600}})
    box = page.locator("#map").bounding_box()
    right = box["x"] + box["width"] - 10

    def label_at(share):
        page.mouse.click(right, box["y"] + share * box["height"])
        return page.inner_text("#selected-content .what")

    first, second = tree.classes[tree.leaf_class[1]], tree.classes[tree.leaf_class[2]]
    assert [label_at(share) for share in (0.02, 0.78, 0.82)] == [first, first, second]
    page.select_option("#map-size", "leaves")
    assert [label_at(share) for share in (0.48, 0.52)] == [first, second]


def test_without_data_the_map_says_that_its_heights_are_leaves(opened):
    page = opened(grown_tree(12), view="map")
    assert page.inner_text("#map-note") == "Heights are shares of the leaves, not of any rows."
    assert not page.locator("#map-by").is_visible()
    assert page.inner_text("#legend .note") == "No data were given, so no rows are counted."


def test_the_map_of_a_million_million_leaves_is_walked_and_zoomed(opened):
    page = opened(shared_tree(40), view="map")
    page.focus("#map")
    for _ in range(39):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert "Leaf at depth 40" in page.inner_text("#selected-content")
    page.click("#map-fit")
    page.mouse.dblclick(*middle(page, "#map"))
    page.click("#map-out")
    page.focus("#map")
    page.keyboard.press("Home")
    assert "Split at depth 0" in page.inner_text("#selected-content")


def test_what_is_selected_on_the_map_is_shown_in_the_other_views(opened):
    tree = grown_tree(2000)
    page = opened(tree, view="map", X=rows_for(tree))
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 5, box["y"] + box["height"] / 3)
    what = page.inner_text("#selected-content .what")
    page.click("#view-list")
    row = page.locator(".row[aria-selected=true]")
    assert row.locator(".test, .chip").inner_text() == what
    page.click("#view-drawing")
    selected = "document.querySelector('#drawing .node[aria-selected=true]')"  # drawn with the next frame
    page.wait_for_function(f"what => {selected}?.getAttribute('aria-label').includes(what)", arg=what.removesuffix("?"))
