"""Options and fixtures that all tests share."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.tiers import VARIABLE

# Every processor has a test process of its own. The libraries' threads would only get in each other's way, and wait for
# each other in loops that count as work. Set before any of them is imported; test processes inherit it.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

ROOT = Path(__file__).resolve().parent.parent

# Markers that say what a test needs, by the fixture that provides it and skips the test where it is not there.
NEEDED = {"browser": "browser", "client": "cluster", "database": "database", "paper_data": "paper_data"}

# Nothing here looks at the clock: on a busy machine, examples take long to draw.
settings.register_profile(
    "always", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow], max_examples=100
)
settings.register_profile("quick", settings.get_profile("always"), max_examples=25)
settings.register_profile("full", settings.get_profile("always"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="slow tests too, and all random examples")
    parser.addoption("--campaign", action="store_true", help="the same, with random cases by the thousand: an hour")
    parser.addoption(
        "--paper-data",
        metavar="DIR",
        default=os.environ.get("ONETREE_PAPER_DATA"),
        help="folder with the paper's data (default: $ONETREE_PAPER_DATA, then ../shared/paper)",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--campaign"):
        config.option.full = True
    os.environ[VARIABLE] = "campaign" if config.getoption("--campaign") else "full" if config.option.full else "quick"
    settings.load_profile("full" if config.option.full else "quick")


@pytest.hookimpl(tryfirst=True)  # before pytest selects by ``-m``
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in NEEDED.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(NEEDED[fixture])
    if config.getoption("--full"):
        # The longest first, so that no worker is left alone with them at the end.
        items.sort(key=lambda item: item.get_closest_marker("sanitizers") is None)
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("compiler") and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")


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
