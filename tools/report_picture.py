"""Takes the picture of the report for the README: a forest of 100 trees for tumours, followed by one tree of 8 leaves.

Run it from the top folder: python tools/report_picture.py [FILE.png]
Needs playwright and a Chromium, as the browser tests do; ONETREE_BROWSER names the program if it is not on the PATH.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import onetree

SIZE = {"width": 1360, "height": 1000}


def write(path: Path) -> None:
    """Write the report."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X, X_test, y, y_test = train_test_split(data.data, labels, test_size=0.4, random_state=3, stratify=labels)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    found = onetree.support_tree(forest, X, held_out=X_test, max_leaves=8)
    onetree.write_report(found, path, source=forest, X=X_test, y=y_test, title="Tumours: a forest as one tree")


def main(picture: str) -> None:
    """Open it in a browser and take the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder, "report.html")
        write(report)
        program = os.environ.get("ONETREE_BROWSER") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program)
        page = browser.new_page(viewport=SIZE)
        page.goto(report.as_uri())
        page.click("#row-after")  # follows the first row
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.wait_for_selector("#drawing .node")
        drawing = page.locator("#drawing").bounding_box()
        clip = {"x": 0, "y": 0, "width": SIZE["width"], "height": drawing["y"] + drawing["height"] + 10}
        page.screenshot(path=picture, full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent.parent / "docs" / "images" / "report.png"))
