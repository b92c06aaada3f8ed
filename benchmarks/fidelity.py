"""Do forest, tree and exported scikit-learn tree ever disagree? ``python -m benchmarks.fidelity``.

Twenty models by soft vote and twenty by hard vote, each compared on random points and on points whose features lie on
a threshold or one float beside it, in float32 and in float64. The tests run the same campaign on fewer points.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree

VOTINGS = ("soft", "hard")
LIBRARY_DATA = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


@dataclass(frozen=True)
class Configuration:
    """A model to train: few features, so that the grid of its thresholds stays small."""

    data: str
    features: tuple[int, ...]
    model: type
    n_trees: int
    max_depth: int | None
    seed: int

    def __str__(self):
        trees = f"{self.n_trees} x d{self.max_depth or ' unlimited'}"
        return f"{self.data}, {len(self.features)} features, {self.model.__name__} {trees}"


FOREST, EXTRA = RandomForestClassifier, ExtraTreesClassifier
CONFIGURATIONS = (
    Configuration("iris", (0, 1, 2, 3), FOREST, 3, 3, 0),
    Configuration("iris", (2, 3), FOREST, 10, 3, 1),
    Configuration("iris", (1, 2, 3), EXTRA, 4, 3, 2),
    Configuration("iris", (2, 3), EXTRA, 7, None, 3),
    Configuration("wine", (0, 6, 12), FOREST, 5, 3, 4),
    Configuration("wine", (6, 9), FOREST, 10, 4, 5),
    Configuration("wine", (0, 6, 9, 12), EXTRA, 3, 3, 6),
    Configuration("breast cancer", (7, 20, 27), FOREST, 6, 3, 7),
    Configuration("breast cancer", (20, 27), FOREST, 10, 5, 8),
    Configuration("breast cancer", (1, 7, 20, 27), FOREST, 3, 3, 9),
    Configuration("breast cancer", (7, 22), EXTRA, 10, 4, 10),
    Configuration("digits", (21, 42, 43), FOREST, 6, 3, 11),  # ten classes, small integers
    Configuration("digits", (20, 28, 36, 44), EXTRA, 4, 3, 12),
    Configuration("two classes", (0, 1, 2), FOREST, 6, 3, 13),
    Configuration("two classes", (0, 1), EXTRA, 10, 4, 14),
    Configuration("two classes", (0, 1, 2, 3), FOREST, 4, 3, 15),
    Configuration("three classes", (0, 1, 2), FOREST, 5, 3, 16),
    Configuration("three classes", (0, 1), FOREST, 8, None, 17),
    Configuration("three classes", (0, 1, 2), EXTRA, 5, 4, 18),
    Configuration("close values", (0, 1, 2), FOREST, 8, 3, 19),
)


def load(configuration):
    """Training data of a configuration; the labels of some are words."""
    rng = np.random.default_rng(configuration.seed)
    if configuration.data in LIBRARY_DATA:
        bunch = LIBRARY_DATA[configuration.data]()
        return bunch.data[:, configuration.features], bunch.target_names[bunch.target]
    if configuration.data == "close values":  # thresholds fall between neighbouring float32 numbers
        X = 2.0**24 + 2 * rng.integers(0, 6, size=(200, 3)).astype(float)
        return X, (X.sum(axis=1) % 5 < 2).astype(int)
    n_classes = {"two classes": 2, "three classes": 3}[configuration.data]
    X, y = make_classification(
        n_samples=200,
        n_features=4,
        n_informative=3,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        flip_y=0.1,
        random_state=configuration.seed,
    )
    X = X.round(1) if configuration.seed % 2 else X  # rounded values tie more often
    return X[:, configuration.features], y


def train(configuration):
    """The fitted model, and its training data."""
    X, y = load(configuration)
    model = configuration.model(
        configuration.n_trees,
        max_depth=configuration.max_depth,
        max_leaf_nodes=None if configuration.max_depth else 12,
        min_samples_leaf=3,
        random_state=configuration.seed,
        n_jobs=1,
    )
    return model.fit(X, y), X


def thresholds(model, n_features):
    """All thresholds of the model, per feature."""
    found = [[] for _ in range(n_features)]
    members = [model] if isinstance(model, DecisionTreeClassifier) else model.estimators_
    for member in members:
        for feature, threshold in zip(member.tree_.feature, member.tree_.threshold, strict=True):
            if feature >= 0:
                found[feature].append(threshold)
    return [np.unique(values) for values in found]


def random_points(X, n_points, rng):
    """Points of the bounding box of the data and some way around it."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = (high - low) / 5
    return rng.uniform(low - margin, high + margin, size=(n_points, X.shape[1]))


def points_on_thresholds(model, X, n_points, rng):
    """Every value is a threshold, or one float64 or one float32 below or above it."""
    points = random_points(X, n_points, rng)
    for feature, values in enumerate(thresholds(model, X.shape[1])):
        if values.size == 0:
            continue
        single = values.astype(np.float32)
        beside = [values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)]
        beside += [f.astype(float) for f in (single, np.nextafter(single, -np.inf), np.nextafter(single, np.inf))]
        # Halfway between two float32 numbers is where the library's rounding of the input decides.
        for neighbour in beside[4:]:
            middle = (single.astype(float) + neighbour) / 2
            beside += [middle, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)]
        points[:, feature] = rng.choice(np.concatenate(beside), size=n_points)
    return points


def reference(model, voting, X):
    """What the library itself predicts; for the hard vote, from the predictions of the single trees."""
    if voting == "soft":
        return model.predict(X)
    votes = np.zeros((len(X), len(model.classes_)), dtype=int)
    for member in model.estimators_:
        votes[np.arange(len(X)), member.predict(X).astype(int)] += 1
    return model.classes_[votes.argmax(axis=1)]  # the first of equals


def count_mismatches(configuration, voting, n_points):
    """Disagreements by pair of what was compared, points compared, and the tree."""
    model, X = train(configuration)
    tree = onetree.born_again(onetree.Ensemble.from_model(model, voting=voting)).tree
    exported = tree.to_sklearn()
    rng = np.random.default_rng(configuration.seed)
    samples = [X, random_points(X, n_points, rng), points_on_thresholds(model, X, n_points, rng)]
    samples += [sample.astype(np.float32) for sample in samples]
    mismatches = {"forest and tree": 0, "forest and exported tree": 0}
    for sample in samples:
        expected = reference(model, voting, sample)
        mismatches["forest and tree"] += int(np.sum(tree.predict(sample) != expected))
        mismatches["forest and exported tree"] += int(np.sum(exported.predict(sample) != expected))
    return mismatches, sum(len(sample) for sample in samples), tree


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__)
    parser.add_argument("--points", type=int, default=100_000, help="random, and as many on thresholds, per model")
    options = parser.parse_args()
    total, n_points, started = 0, 0, time.perf_counter()
    print(f"{'vote':4}  {'model':62} {'depth':>5} {'leaves':>6} {'points':>8} {'tree':>5} {'exported':>8}")
    for voting in VOTINGS:
        for configuration in CONFIGURATIONS:
            mismatches, n_compared, tree = count_mismatches(configuration, voting, options.points)
            of_tree, of_exported = mismatches.values()
            print(
                f"{voting:4}  {configuration!s:62} {tree.depth:5} {tree.n_leaves:6} {n_compared:8} "
                f"{of_tree:5} {of_exported:8}",
                flush=True,
            )
            total += of_tree + of_exported
            n_points += n_compared
    seconds = time.perf_counter() - started
    print(f"{total} mismatches on {n_points} points of {len(VOTINGS) * len(CONFIGURATIONS)} models, {seconds:.0f} s")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
