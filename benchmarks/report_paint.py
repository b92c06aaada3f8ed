"""How soon a report shows: ``python -m benchmarks.report_paint``. Needs playwright and a Chromium.

Trees of several sizes are written as reports and opened again and again in a fresh headless browser context. The first
column of times is the browser's own first contentful paint, the second when the drawing of the tree was on the screen;
both are in milliseconds from the start of the navigation, medians with the worst in brackets.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import onetree
from tests.cases.grown import grown_tree

_PAINTED = """() => new Promise((done) => {
  const seen = (entries) => entries.find((entry) => entry.name === "first-contentful-paint");
  const wait = () => requestAnimationFrame(() => requestAnimationFrame(() => {
    const paint = seen(performance.getEntriesByType("paint"));
    if (paint && document.querySelector("#drawing .node")) done([paint.startTime, performance.now()]);
    else wait();
  }));
  wait();
})"""


def painted(browser: Browser, path: Path) -> tuple[float, float]:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.add_init_script(f"window.painted = ({_PAINTED})()")
        page.goto(path.as_uri(), wait_until="commit")
        first, drawn = page.evaluate("window.painted")
        return first, drawn
    finally:
        context.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report_paint", description=__doc__)
    parser.add_argument("--leaves", type=int, nargs="+", default=[12, 200, 5000])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--browser", default=shutil.which("chromium"), help="program (default: chromium on the PATH)")
    options = parser.parse_args()
    print(f"{'leaves':>8}{'kB':>8}{'first paint':>18}{'drawing':>18}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.browser)
        for n_leaves in options.leaves:
            path = Path(folder, f"{n_leaves}.html")
            X = np.random.default_rng(0).random((1000, 12))
            onetree.write_report(grown_tree(n_leaves, n_features=12), path, X=X)
            times = [painted(browser, path) for _ in range(options.repeat)]
            shown = [f"{statistics.median(each):.0f} ({max(each):.0f})" for each in zip(*times, strict=True)]
            print(f"{n_leaves:8,}{path.stat().st_size / 1000:8.0f}{shown[0]:>18}{shown[1]:>18}")
        browser.close()


if __name__ == "__main__":
    main()
