"""Lints the script of the HTML report: ``python tools/lint_report_script.py``. Needs Node, whose npx brings oxlint.

Its files share one scope, as the page puts them together, so a linter has to see them together too: only then does it
know which names are defined and which nobody uses. What it finds is told with the file and line where it stands.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from onetree.report import page

ROOT = Path(__file__).resolve().parents[1]
ASSETS = Path("src", "onetree", "report", "assets")
LINTER = ("--yes", "oxlint@1.93.0")
ABSENT = 77  # exit status where there is no linter to be had
FOUND = re.compile(r"^[^\s:]*\.js:(\d+):(\d+:.*)$", re.MULTILINE)


def joined() -> tuple[str, list[int]]:
    """Give the script as the page has it, and the line before each file's first, then the last line of all."""
    script, before = '"use strict";\n(() => {\n', []
    for name in page._SCRIPTS:
        before.append(script.count("\n"))
        script += (ROOT / ASSETS / name).read_text(encoding="utf-8")
    return script + "})();\n", [*before, script.count("\n")]


def located(said: str, before: list[int]) -> str:
    """Put file names and their own lines into what the linter said of the joined script."""

    def place(found: re.Match[str]) -> str:
        line = int(found[1])
        for name, (start, end) in zip(page._SCRIPTS, pairwise(before), strict=True):
            if start < line <= end:
                return f"{(ASSETS / name).as_posix()}:{line - start}:{found[2]}"
        return found[0]

    return FOUND.sub(place, said)


def main() -> int:
    """Lint; the exit status is the linter's, or 77 without one."""
    npx = shutil.which("npx")
    if npx is None or subprocess.run([npx, *LINTER, "--version"], capture_output=True, check=False).returncode:
        print("The script of the report was not linted: that needs Node, and npm's registry the first time.")
        return ABSENT
    script, before = joined()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "script.js").write_text(script, encoding="utf-8")
        done = subprocess.run(
            [npx, *LINTER, "--config", str(ROOT / ".oxlintrc.json"), "--format", "unix", "script.js"],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    print(located(done.stdout, before).strip())
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
