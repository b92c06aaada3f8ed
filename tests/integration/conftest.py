"""A browser for the tests of the HTML report.

Needs the package `playwright` and a Chromium: the one that ``playwright install chromium`` fetched, one on the PATH, or
the one that the environment variable ``ONETREE_BROWSER`` names. Tests that ask for it are skipped without.
"""

import os
import shutil
from pathlib import Path

import pytest

import onetree

QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]


def find_browser(playwright):
    if named := os.environ.get("ONETREE_BROWSER"):
        return named
    if Path(own := playwright.chromium.executable_path).exists():
        return own
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="the browser tests need: pip install playwright")
    with sync_api.sync_playwright() as playwright:
        path = find_browser(playwright)
        if path is None:
            pytest.skip("no Chromium found: install one, or name it in ONETREE_BROWSER")
        with playwright.chromium.launch(executable_path=path, args=QUIET) as running:
            yield running


@pytest.fixture
def opened(browser, tmp_path):
    """Write a report and open it; at the end, nothing may have gone wrong in the page or asked for the network."""
    complaints, contexts = [], []

    def open_report(found, *, view="list", context=None, place="", **options):
        path = tmp_path / "report.html"
        onetree.write_report(found, path, **options)
        contexts.append(browser.new_context(**(context or {})))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        ours = ("file:", "data:", "blob:")
        page.on("request", lambda request: request.url.startswith(ours) or complaints.append(request.url))
        page.goto(path.as_uri() + place)
        page.click(f"#view-{view}")
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert complaints == []
