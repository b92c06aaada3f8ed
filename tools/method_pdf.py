"""Makes a PDF of the page on the method: builds the site and has a browser print the page.

Run it from the top folder: python tools/method_pdf.py [FILE.pdf]
Needs what the site needs (pip install '.[docs]') and a Chromium; ONETREE_BROWSER names it if it is not on the PATH.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


def find_browser() -> str:
    """Return the program that prints."""
    found = os.environ.get("ONETREE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        sys.exit("no Chromium found: install one, or name it in ONETREE_BROWSER")
    return found


def print_page(page: Path, pdf: Path) -> None:
    """Print one page of a site."""
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer"]
    with tempfile.TemporaryDirectory() as profile:
        command = [
            find_browser(),
            *quiet,
            f"--user-data-dir={profile}",
            f"--print-to-pdf={pdf.resolve()}",
            page.as_uri(),
        ]
        subprocess.run(command, check=True, capture_output=True)


def main(pdf: Path) -> None:
    """Build the site in a folder of its own, and print the page."""
    with tempfile.TemporaryDirectory() as site:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site]
        subprocess.run(command, cwd=ROOT, check=True)
        print_page(Path(site, "method.html"), pdf)
    print(f"{pdf}: {pdf.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "method.pdf"))
