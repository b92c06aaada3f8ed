"""Live reports in the site: made anew with every build, shown where the pages have a picture of one.

The pages keep the picture, so that they read well in a checkout, too.
"""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import onetree

PICTURE = re.compile(r"^!\[(?P<said>[^\]]*)\]\((?P<up>(?:\.\./)*)images/report\.png\)$", re.MULTILINE)


def tumours(path: Path) -> None:
    """Write the report on a forest of 100 trees and the tree of 8 leaves that follows it."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X, X_test, y, y_test = train_test_split(data.data, labels, test_size=0.4, random_state=3, stratify=labels)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    found = onetree.support_tree(forest, X, held_out=X_test, max_leaves=8)
    onetree.write_report(found, path, source=forest, X=X_test, y=y_test, title="Tumours: a forest as one tree")


def iris(path: Path) -> None:
    """Write the report on the smallest tree that equals a forest of ten."""
    data = load_iris(as_frame=True)
    labels = data.target_names[data.target]
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(data.data, labels)
    found = onetree.born_again(forest)
    onetree.write_report(found, path, source=forest, X=data.data, y=labels, title="Iris: the smallest equal tree")


LIVE: dict[str, Callable[[Path], None]] = {"tumours": tumours, "iris": iris}


@functools.cache
def written(name: str) -> bytes:
    """Return a report, which is made once however often the site is built."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        LIVE[name](path)
        return path.read_bytes()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reports."""
    for name in LIVE:
        files.append(File.generated(config, f"live/{name}.html", content=written(name)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Put the report itself in the place of its picture."""

    def live(match: re.Match[str]) -> str:
        place = f"{match['up']}live/tumours.html"
        return (
            f'<iframe class="live" src="{place}" title="{match["said"]}" loading="lazy"></iframe>\n\n'
            f'<p class="beneath"><a href="{place}">The same report on a page of its own</a></p>'
        )

    return PICTURE.sub(live, markdown)
