"""What the documentation shows of the rest of the repository: changes, ways of contributing, examples.

The pages link to these files where they are, so that the links work in a checkout too; here the files become part of
the site, and the links follow.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
WIDE = {"index.md", "gallery.md"}  # pages with more to look at than to read
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def shown() -> dict[str, str]:
    """Return the files outside of docs/ that the site shows, and their places in it."""
    pages = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
    examples = sorted(path for kind in ("*.py", "*.ipynb") for path in (ROOT / "examples").glob(kind))
    return pages | {f"examples/{path.name}": f"examples/{path.name}" for path in examples}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Say at the foot of every page which version it describes."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    config.copyright = f"onetree {version}, MIT licence"
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files that lie elsewhere."""
    for source, place in shown().items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn the links to files of the repository into links to their places in the site."""
    place = page.file.src_uri
    if place in WIDE:
        page.meta["hide"] = ["navigation", "toc"]
    places = shown()
    origin = next((source for source, there in places.items() if there == place), f"docs/{place}")

    def follow(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match[1]))
        there = places.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(there, posixpath.dirname(place) or ".")

    return LINK.sub(follow, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Give the theme's search a name, and make no heading of the empty corner of a table."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">').replace("<th></th>", "<td></td>")
