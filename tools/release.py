"""Check that a tag, the package and the pages about it name the same version: ``python tools/release.py v0.2.0``."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The version is stated in pyproject.toml; these repeat it for readers who have no Python.
REPEATED = {
    "CITATION.cff": r"^version: (\S+)$",
    "CHANGELOG.md": r"^## \[?(\d[\w.]*)\]?",
    "packaging/conda/recipe.yaml": r'^  version: "(\S+)"$',
}


def version() -> str:
    """Return the version of the package."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def repeated() -> dict[str, str | None]:
    """Return the version that each other file names first."""
    found = {
        name: re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name, pattern in REPEATED.items()
    }
    return {name: match and match[1] for name, match in found.items()}


def main(tag: str) -> int:
    """Say what does not agree."""
    named = {"the tag": tag.removeprefix("v")} | repeated()
    wrong = [f"{name} says {said}" for name, said in named.items() if said != version()]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(rf"^## \[?{re.escape(version())}\]?(.*)$", changes, re.MULTILINE)
    if heading and "unreleased" in heading[1]:
        wrong.append("CHANGELOG.md calls it unreleased: write the date")
    for line in wrong:
        print(f"pyproject.toml says {version()}, {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"{__doc__}\nA tag is missing.")
    sys.exit(main(sys.argv[1]))
