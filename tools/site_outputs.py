"""What the code of a page prints, shown beneath it: the page is run while the site is built.

The tests run every page and say whether it is true; this shows a reader what comes out. The notebook is run likewise,
and handed out with what its cells printed.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import json
import logging
import os
import re
import shlex
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import onetree.cli

LOG = logging.getLogger("mkdocs.hooks.site_outputs")
ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = "examples/tutorial.ipynb"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"(index|tutorial|support|questions|how-to/[\w-]+)\.md")  # others show in comments what comes out
MOST_LINES = 30


class Session:
    """An empty folder, a namespace, and what was said in it."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__"}

    def python(self, code: str) -> tuple[str, object]:
        """Run code; return what it printed and the value of its last line, if that is an expression."""
        tree = ast.parse(code)
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(tree, "page", "exec"), self.namespace)  # noqa: S102 - the project's own pages
            value = None if last is None else eval(compile(last, "page", "eval"), self.namespace)  # noqa: S307
        return printed.getvalue(), value

    def shell(self, text: str) -> str:
        """Run the commands of onetree; return what they print."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            for line in text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] != ["onetree"] or ">" in words:
                    continue
                onetree.cli.main(words[1:])
        return printed.getvalue()


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Run in a folder that is gone afterwards; figures go nowhere."""
    before, backend = Path.cwd(), os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = "Agg"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.pop("MPLBACKEND") if backend is None else os.environ.update(MPLBACKEND=backend)


@functools.cache
def outputs(blocks: tuple[tuple[str, str], ...]) -> list[str]:
    """Return what each block prints; those after one whose library is absent print nothing."""
    session, found = Session(), []
    with empty_folder():
        for language, code in blocks:
            try:
                found.append(session.python(code)[0] if language == "python" else session.shell(code))
            except ImportError as error:
                LOG.info("the page is shown without some output: %s", error)
                break
    return found + [""] * (len(blocks) - len(found))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Put the output of each block beneath it."""
    if not SHOWN.fullmatch(page.file.src_uri):
        return markdown
    said = iter(outputs(tuple(BLOCK.findall(markdown))))

    def beneath(match: re.Match[str]) -> str:
        lines = next(said).rstrip().splitlines()
        if len(lines) > MOST_LINES:
            lines = [*lines[:MOST_LINES], f"... and {len(lines) - MOST_LINES} more lines"]
        return match[0] + ("\n```{ .text .output }\n" + "\n".join(lines) + "\n```\n" if lines else "")

    return BLOCK.sub(beneath, markdown)


@functools.cache
def executed_notebook() -> str:
    """Return the notebook with the outputs of its cells."""
    notebook = json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8"))
    session, count = Session(), 0
    with empty_folder():
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            count += 1
            printed, value = session.python("".join(cell["source"]))
            cell["execution_count"], cell["outputs"] = count, []
            if printed:
                cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": printed})
            if value is not None:
                data = {"text/plain": repr(value)}
                if hasattr(value, "_repr_html_") and (page := value._repr_html_()) is not None:
                    data["text/html"] = page
                cell["outputs"].append(
                    {"output_type": "execute_result", "execution_count": count, "data": data, "metadata": {}}
                )
    return json.dumps(notebook, indent=1)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Hand out the notebook as it is after a run."""
    if (plain := files.get_file_from_path(NOTEBOOK)) is not None:
        files.remove(plain)
    files.append(File.generated(config, NOTEBOOK, content=executed_notebook()))
    return files
