"""Random ensembles whose rule has two levels: the outputs of a random one, divided among members and combined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from onetree.model.combination import Combination
from onetree.model.ensemble import Rule
from onetree.model.stages import Member, Stage
from tests.cases.strategies import ensembles, random_ensemble

LINKS = ("expit", "xgboost-sigmoid", "sigmoid", "sigmoid-calibration", "isotonic")
SHAPES = ("average", "mean", "votes", "linear", "threshold", "rest", "softmax", "calibrated", "temperature")


class _Stages:
    """Stages in the making."""

    def __init__(self, members):
        self.members, self.stages = members, []

    def add(self, kind, *of, numbers=(), places=(), dtype=""):
        numbers = tuple(float(number) for number in numbers)
        self.stages.append(Stage(kind, tuple(of), numbers, tuple(places), dtype))
        return len(self.members) + len(self.stages) - 1


def _link(stages, rng, signal, dtype, kinds=LINKS):
    """A probability of a single sum, as one of the libraries would make it."""
    kind = kinds[rng.integers(len(kinds))]
    if kind == "xgboost-sigmoid" and dtype != "float32":
        kind = "expit"
    if kind == "sigmoid-calibration":
        return stages.add(kind, signal, numbers=[-rng.choice([0.5, 1, 3]), rng.choice([-1, 0, 0.5])], dtype="float64")
    if kind == "isotonic":
        n = int(rng.integers(1, 5))
        x = np.sort(rng.choice(np.arange(-4, 5) / 2, n, replace=False))
        y = np.sort(rng.choice([0, 0, 0.25, 0.5, 1, 1], n))
        return stages.add(kind, signal, numbers=[*x, *y], dtype="float64")
    return stages.add(kind, signal, numbers=() if kind == "xgboost-sigmoid" else [rng.choice([0.5, 1, 2])])


def combined(plain, shape, rng):
    """Return the ensemble with its outputs combined; `plain` has a score per class."""
    n = plain.n_outputs
    alone = shape not in ("softmax", "calibrated", "temperature")
    dtypes = rng.choice(["float64", "float32"], n if alone else 1)
    divisors = rng.choice([1.0, 1.0, 3.0, plain.n_trees], n if alone else 1)
    members = tuple(Member(1 if alone else n, str(d), float(v)) for d, v in zip(dtypes, divisors, strict=True))
    stages = _Stages(members)
    cut, inclusive, last_wins, n_classes = None, False, False, 2
    if shape in ("average", "mean"):
        parts = [stages.add("pair", _link(stages, rng, k, dtypes[k])) for k in range(n)]
        weights = rng.choice([1, 2, 0.1], n) if shape == "average" and rng.integers(2) else ()
        stages.add(shape, *parts, numbers=weights)
    elif shape == "votes":
        parts = [stages.add("winner", k, numbers=[rng.choice([0, 0.5]), rng.integers(2)]) for k in range(n)]
        stages.add("votes", *parts, numbers=rng.choice([[1] * n, rng.choice([1, 2, 0.1], n)]))
    elif shape == "linear":
        parts = [_link(stages, rng, k, dtypes[k]) for k in range(n)]
        n_classes = int(rng.choice([2, 3]))
        n_rows, cut = (1, 0.0) if n_classes == 2 else (3, None)
        numbers = rng.choice([-2, -1, 0, 0.5, 1], n_rows * (n + 1))
        stages.add("linear", stages.add("join", *parts), numbers=numbers, places=[n_rows], dtype="float64")
    elif shape == "threshold":
        parts = [stages.add("pair", _link(stages, rng, k, dtypes[k])) for k in range(n)]
        stages.add("columns", stages.add("average", *parts), places=[1])
        cut, inclusive = float(rng.choice([0.3, 0.5, 0.75])), bool(rng.integers(2))
    elif shape == "rest":
        stages.add("join", *[_link(stages, rng, k, dtypes[k]) for k in range(n)])
        last_wins, n_classes = bool(rng.integers(2)), n
    elif shape == "softmax":
        stages.add("mean", stages.add("softmax", 0), stages.add("numpy-softmax", 0))
        n_classes = n
    elif shape == "calibrated":
        shares, dtype = stages.add("softmax", 0), str(dtypes[0])
        kinds = ("isotonic", "sigmoid-calibration")
        parts = [_link(stages, rng, stages.add("columns", shares, places=[k]), dtype, kinds) for k in range(n)]
        stages.add("clip", stages.add("normalise", stages.add("join", *parts)))
        n_classes = n
    else:
        scaled = stages.add("scale", stages.add("log", stages.add("softmax", 0)), numbers=[rng.choice([0.5, 3])])
        stages.add("numpy-softmax", scaled)
        n_classes = n
    rule = Rule("combined", combination=Combination(members, tuple(stages.stages), cut, inclusive, last_wins))
    return replace(plain, classes=np.arange(n_classes), rule=rule)


@st.composite
def combined_ensembles(draw, max_cells=60, max_classes=4, shapes=SHAPES, **limits):
    """Ensembles with rules of two levels."""
    plain = draw(ensembles(max_cells=max_cells, max_classes=max_classes, kinds=("scores",), **limits))
    return combined(plain, draw(st.sampled_from(shapes)), np.random.default_rng(draw(st.integers(0, 2**32))))


def random_combined(rng, shape, max_cells=60, max_classes=4, **limits):
    """One such ensemble from a numpy random generator."""
    plain = random_ensemble(rng, max_cells=max_cells, max_classes=max_classes, kinds=("scores",), **limits)
    return combined(plain, shape, rng)
