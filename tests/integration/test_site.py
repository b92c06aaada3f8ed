"""The documentation as a site: it is built without a warning, its links lead somewhere, and everybody can read it.

What it needs is in the extra `docs`; pages are looked at in a Chromium, opened as files, without a network.
"""

import os
import re
import runpy
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
# One page of each kind; axe takes minutes for the long tables, which hold nothing that these do not.
LOOKED_AT = [
    "index",
    "tutorial",
    "gallery",
    "report",
    "models",
    "how-to/xgboost",
    "export",
    "objectives",
    "beside-others",
    "method",
]
CONTEXTS = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": PHONE}


@pytest.fixture(scope="module")
def built(repository, tmp_path_factory):
    """The site, built as strictly as it can be, and what was said meanwhile."""
    for module in ("material", "mkdocstrings_handlers.python"):
        pytest.importorskip(module, reason="the site needs: pip install '.[docs]'")
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # of the theme, about the future of another program
    ran = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    return site, ran.stderr


@pytest.fixture(scope="module")
def pages(built):
    """All pages that the theme made, by path, with what they hold. Reports are pages of their own."""
    site, _ = built
    paths = [path for path in sorted(site.rglob("*.html")) if path.parent.name != "live" and path.name != "404.html"]
    return {path: Page(path) for path in paths}


class Page(HTMLParser):
    """What the tests ask of a page: links, targets, headings, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.ids, self.headings, self.unnamed = [], [], [], [], []
        self.attributes = {}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.attributes.setdefault(tag, values)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in {"img", "script", "iframe", "source"} and "src" in values:
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") in {"stylesheet", "icon", "preconnect", "preload"}:
            self.loaded.append(values["href"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if (tag == "img" and "alt" not in values) or (tag == "iframe" and not values.get("title")):
            self.unnamed.append(values)


def test_the_site_is_built_without_a_warning(built):
    site, said = built
    assert "WARNING" not in said
    # Every page is in the navigation, so that a reader finds it.
    assert "not included in the" not in said, said
    assert "born_again" in (site / "api.html").read_text(encoding="utf-8")


def test_every_link_inside_of_the_site_leads_to_a_page_and_a_place_in_it(built, pages):
    site, _ = built
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            inside = target.is_relative_to(site) and target.is_file()
            anchored = not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].ids
            if not (inside and anchored):
                broken.append((path.name, link))
    assert broken == []


def test_links_to_elsewhere_are_well_formed(pages):
    outside = {link for page in pages.values() for link in page.links if urlsplit(link).scheme or urlsplit(link).netloc}
    assert outside
    wrong = [link for link in outside if not re.fullmatch(r"https://[\w-]+(\.[\w-]+)+(/[\w./%+~()&?=#,-]*)?", link)]
    assert wrong == []


def test_pages_load_nothing_from_elsewhere(pages):
    loaded = {source for page in pages.values() for source in page.loaded}
    assert {source for source in loaded if urlsplit(source).scheme not in {"", "data"}} == set()


def test_headings_of_a_page_form_a_tree(pages):
    wrong = []
    for path, page in pages.items():
        steps = zip(page.headings, page.headings[1:], strict=False)
        if page.headings.count(1) != 1 or any(after > before + 1 for before, after in steps):
            wrong.append((path.name, page.headings))
    assert wrong == []


def test_places_pictures_and_frames_of_a_page_have_names(pages):
    assert {path.name: page.unnamed for path, page in pages.items() if page.unnamed} == {}
    twice = {path.name: [name for name, n in Counter(page.ids).items() if n > 1] for path, page in pages.items()}
    assert {name: ids for name, ids in twice.items() if ids} == {}
    assert all(page.attributes["html"].get("lang") == "en" for page in pages.values())


def test_the_first_page_holds_a_report_that_was_just_made(built, pages):
    site, _ = built
    assert "live/tumours.html" in pages[site / "index.html"].loaded
    assert "Tumours: a forest as one tree" in (site / "live" / "tumours.html").read_text(encoding="utf-8")


def test_the_tutorial_shows_what_its_code_prints_and_hands_out_the_notebook_with_it(built):
    site, _ = built
    assert "optimal Tree(" in (site / "tutorial.html").read_text(encoding="utf-8")
    assert '"execute_result"' in (site / "examples" / "tutorial.ipynb").read_text(encoding="utf-8")


def test_the_reference_shows_defaults_as_they_are(built):
    page = re.sub("<[^>]+>", "", (built[0] / "api.html").read_text(encoding="utf-8"))
    assert "objective=&#39;leaves-depth&#39;" in page or 'objective="leaves-depth"' in page
    assert "DEFAULT_OBJECTIVE" not in page


@pytest.fixture
def visit(browser):
    """Open pages one after another; at the end, nothing may have gone wrong in one or asked for the network."""
    complaints, contexts = [], []

    def start(**options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append((page.url, message.text)))
        page.on("pageerror", lambda error: complaints.append((page.url, str(error))))
        ours = ("file:", "data:", "blob:")
        page.on("request", lambda request: request.url.startswith(ours) or complaints.append((page.url, request.url)))
        return page

    yield start
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("name", LOOKED_AT)
@pytest.mark.parametrize("context", CONTEXTS)
def test_axe_finds_no_violation(context, name, built, visit):
    axe = pytest.importorskip("axe_playwright_python", reason="this test needs: pip install axe-playwright-python")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    page = visit(**CONTEXTS[context])
    page.goto((built[0] / f"{name}.html").as_uri(), wait_until="domcontentloaded")
    page.evaluate(script)
    found = page.evaluate("axe.run(document, {iframes: false, preload: false, resultTypes: ['violations']})")[
        "violations"
    ]
    assert [(each["id"], [node["target"] for node in each["nodes"]][:5]) for each in found] == []


def test_no_page_is_wider_than_a_phone(pages, visit):
    page = visit(**PHONE)
    wide = []
    for path in pages:
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        width = page.evaluate("document.scrollingElement.scrollWidth")
        if width > PHONE["viewport"]["width"]:
            wide.append((path.name, width))
    assert wide == []


def test_search_finds_a_page_in_a_site_that_is_opened_as_a_file(built, visit):
    page = visit()
    page.goto((built[0] / "index.html").as_uri())
    page.click("input[name=query]")
    page.keyboard.type("pareto")
    page.wait_for_selector(".md-search-result__link")
    links = page.eval_on_selector_all(".md-search-result__link", "all => all.map(link => link.href)")
    assert any("objectives.html" in link for link in links)


@pytest.mark.browser
def test_the_page_on_the_method_is_printed_as_a_pdf(built, repository, tmp_path):
    tool = runpy.run_path(str(repository / "tools" / "method_pdf.py"), run_name="tool")
    try:
        tool["find_browser"]()
    except SystemExit as error:
        pytest.skip(str(error))
    tool["print_page"](built[0] / "method.html", tmp_path / "method.pdf")
    content = (tmp_path / "method.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert max(int(count) for count in re.findall(rb"/Count (\d+)", content)) > 3  # pages


def test_the_report_in_the_first_page_answers(built, visit):
    page = visit(viewport={"width": 1360, "height": 900})
    page.goto((built[0] / "index.html").as_uri())
    page.locator("iframe.live").scroll_into_view_if_needed()
    report = page.frame_locator("iframe.live")
    report.locator("#view-list").click()
    assert "100 trees" in report.locator("body").inner_text()
