"""Options and fixtures that all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("onetree", deadline=None, print_blob=True)
settings.load_profile("onetree")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--paper-data",
        metavar="DIR",
        default=os.environ.get("ONETREE_PAPER_DATA"),
        help="folder with the paper's data (default: $ONETREE_PAPER_DATA, then ../shared/paper)",
    )


@pytest.fixture(scope="session")
def paper_data(request: pytest.FixtureRequest) -> Path:
    """The folder with the paper's own data; tests that use it are skipped where it is not there."""
    given = request.config.getoption("--paper-data")
    folder = Path(given) if given else ROOT.parent / "shared" / "paper"
    if not (folder / "optima.json").is_file():
        if given:
            pytest.fail(f"--paper-data {folder} does not hold optima.json")
        pytest.skip("the paper's data are not here; give --paper-data DIR or set ONETREE_PAPER_DATA")
    return folder


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return ROOT
