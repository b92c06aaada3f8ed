"""Models that the tests of several commands use."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from onetree import Ensemble
from tests.cases.commands import TEXT


@pytest.fixture
def model(tmp_path):
    """A small model file in the authors' format."""
    path = tmp_path / "model.txt"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture(scope="module")
def wide():
    """An ensemble with a grid of more cells than anyone can visit."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, size=(400, 16))
    forest = RandomForestClassifier(30, max_depth=6, max_features=2, random_state=0).fit(x, rng.integers(0, 2, 400))
    return Ensemble.from_model(forest, voting="hard")
