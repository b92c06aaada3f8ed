"""How much is tried: a sample in the default tier, more with ``--full``, all random cases with ``--campaign``."""

import os
from typing import Any

from hypothesis import settings

VARIABLE = "ONETREE_TEST_TIER"  # set by conftest.py before any test module is imported, and inherited by workers
_SHARE, _LEAST = 4, 12


def is_full() -> bool:
    """Whether this run has the slow tests and all examples of Hypothesis."""
    return os.environ.get(VARIABLE) in ("full", "campaign")


def at_length(n: int, least: int = 1) -> int:
    """Give `n` in a campaign, which has the time, an eighth of it in the full tier and `least` in the default one."""
    if os.environ.get(VARIABLE) == "campaign":
        return n
    return max(least, n // 8) if is_full() else least


def share(n: int, least: int = 1) -> int:
    """Give `n` in the full tier and a tenth of it in the default one, but `least` at least."""
    return n if is_full() else min(n, max(least, n // 10))


def examples(n: int, **more: Any) -> settings:
    """Give the settings for `n` random examples in the full tier, and for a share of them in the default one."""
    return settings(max_examples=n if is_full() else min(n, max(_LEAST, n // _SHARE)), **more)
