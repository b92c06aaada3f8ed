"""Are printed rules true? ``python -m campaigns.printed_rules``.

Sixty models of all libraries, on data of integers, of two and of six significant digits, become trees. Their printed
rules and texts are read back by a parser of its own, applied as decimal arithmetic, and compared with the library's
``predict`` on

- the training data, in the decimals that a file holds, as float64 and as float32 arrays;
- float32 numbers with their exact values: a third random, a third on the thresholds and one float32 beside them, and
  a third from the training data;
- integers.

German credit is tried, too, if ``--german FILE`` names its file.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import onetree
from tests.cases import printed

N_POINTS = 100_000
FAMILIES = (
    "forest",
    "extra trees",
    "gradient boosting",
    "hist gradient boosting",
    "xgboost",
    "xgboost exact",
    "lightgbm",
    "catboost",
)
KINDS = ("integers", "two digits", "six digits")
IN_FLOAT64 = ("LGBMClassifier", "HistGradientBoostingClassifier")
"""Models that compare in float64: to them 0.8 and float32(0.8) are two numbers, which may go to different sides."""

NAMES = ("age", "petal width (cm)", "income", "x0 <", "n")


def decimals(kind, n_rows, rng):
    """Return numbers as text: what a file of data holds."""
    scale = rng.choice([1.0, 30.0, 1000.0], size=len(NAMES))
    values = rng.normal(size=(n_rows, len(NAMES))) * scale + scale
    if kind == "integers":
        return [[str(round(x)) for x in row] for row in values.tolist()]
    return [[f"{x:.{2 if kind == 'two digits' else 6}g}" for x in row] for row in values.tolist()]


def labels_of(X, rng):
    """Return three classes that depend on the features, with noise."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    score = Z[:, 0] * Z[:, 1] + Z[:, 2] - 0.5 * Z[:, 3] + 0.3 * rng.normal(size=len(X))
    return np.array(["low", "middle", "high"])[np.digitize(score, [-0.5, 0.5])]


def untrained(family, seed):
    """Return a model of a family."""
    if family.startswith("xgboost"):
        from xgboost import XGBClassifier

        method = "exact" if "exact" in family else "hist"
        return XGBClassifier(n_estimators=2, max_depth=2, learning_rate=1.0, tree_method=method, random_state=seed)
    if family == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=2, num_leaves=4, verbose=-1, random_state=seed)
    if family == "catboost":
        from catboost import CatBoostClassifier

        return CatBoostClassifier(iterations=2, depth=2, verbose=0, random_seed=seed, allow_writing_files=False)
    return {
        "forest": RandomForestClassifier(4, max_depth=3, random_state=seed),
        "extra trees": ExtraTreesClassifier(4, max_depth=3, random_state=seed),
        "gradient boosting": GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=seed),
        "hist gradient boosting": HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, random_state=seed),
    }[family]


@dataclass
class Inputs:
    """Rows as the library gets them, and as a reader has them."""

    what: str
    rows: np.ndarray
    columns: dict[str, printed.Column]


def inputs(model, tree, texts, rng, n_points):
    """Return all that the rules are tried on."""
    data = np.array([[float(x) for x in row] for row in texts])
    as_text = {
        name: printed.column_of_decimals(column) for name, column in zip(NAMES, zip(*texts, strict=True), strict=True)
    }
    yield Inputs("data", data, as_text)
    if type(model).__name__ not in IN_FLOAT64:
        yield Inputs("data as float32", data.astype(np.float32), as_text)
    points = float32_points(tree, data.astype(np.float32), rng, n_points)
    yield Inputs("float32 points", points, exact_columns(points))
    low, high = np.floor(data.min(axis=0)), np.ceil(data.max(axis=0)) + 1
    whole = rng.integers(low.astype(int), high.astype(int), size=(len(data), len(NAMES))).astype(np.float64)
    yield Inputs("integers", whole, exact_columns(whole))


def float32_points(tree, data, rng, n_points):
    """Return float32 rows: random, from the data, and next to thresholds as close as float32 comes."""
    columns = []
    for feature in range(tree.n_features):
        near = tree.threshold[(tree.feature == feature) & np.isfinite(tree.threshold)].astype(np.float32)
        near = np.concatenate([near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))])
        random = rng.uniform(data[:, feature].min(), data[:, feature].max(), size=n_points).astype(np.float32)
        choice = rng.integers(3, size=n_points)
        own = rng.choice(data[:, feature], size=n_points)
        columns.append(np.choose(choice, [random, own, rng.choice(near, size=n_points) if near.size else random]))
    return np.stack(columns, axis=1)


def exact_columns(rows):
    """Return rows of floats as a reader has them who sees their exact values."""
    return {name: printed.column_of_numbers(rows[:, at]) for at, name in enumerate(NAMES)}


def wrong(model, tree, given):
    """Count the rows on which rules or text say something else than the library."""
    expected = np.array([str(label) for label in np.ravel(model.predict(given.rows))], dtype=object)
    rules, text = printed.by_rules(tree.to_rules(), given.columns), printed.by_text(tree.to_text(), given.columns)
    return int(((rules != expected) | (text != expected)).sum())


def compare(family, kind, seed, n_points=N_POINTS, n_rows=400):
    """Train one model, print its tree, and count what is wrong, by the kind of input: wrong rows and all rows."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    texts = decimals(kind, n_rows, rng)
    data = np.array([[float(x) for x in row] for row in texts])
    model, y = untrained(family, seed), labels_of(data, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # XGBoost and LightGBM have opinions about names and labels
        if "xgboost" in family:
            y = np.unique(y, return_inverse=True)[1]
        model.fit(data, y)
        ensemble = onetree.Ensemble.from_model(model)
        tree = onetree.born_again(replace(ensemble, feature_names=NAMES), objective="leaves", method="heuristic").tree
        return {
            each.what: (wrong(model, tree, each), len(each.rows)) for each in inputs(model, tree, texts, rng, n_points)
        }


def german_credit(path):
    """Count the rows of German credit that the printed rules of XGBoost 8x2 put into another class."""
    from xgboost import XGBClassifier

    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    numeric = [name for name in rows[0] if name != "class" and all(row[name].isdigit() for row in rows)]
    X = np.array([[float(row[name]) for name in numeric] for row in rows])
    y = np.array([int(row["class"]) - 1 for row in rows])
    model = XGBClassifier(n_estimators=8, max_depth=2, learning_rate=1.0).fit(X, y)
    ensemble = replace(onetree.Ensemble.from_model(model), feature_names=tuple(numeric))
    tree = onetree.born_again(ensemble, objective="leaves", method="heuristic").tree
    columns = {name: printed.column_of_decimals([row[name] for row in rows]) for name in numeric}
    expected = np.array([str(label) for label in model.predict(X)], dtype=object)
    return int((printed.by_rules(tree.to_rules(), columns) != expected).sum()), len(rows), len(numeric), tree.n_leaves


def main(argv=None):
    """Run all, print a line per model, and return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=N_POINTS, help="float32 points per model (default: %(default)s)")
    parser.add_argument("--models", type=int, default=60, help="models in all (default: %(default)s)")
    parser.add_argument("--german", metavar="FILE", help="file of German credit")
    arguments = parser.parse_args(argv)
    cases = [(family, kind, seed) for seed in range(100) for kind in KINDS for family in FAMILIES]
    n_wrong = n_rows = 0
    for family, kind, seed in cases[: arguments.models]:
        found = compare(family, kind, seed, arguments.points)
        n_wrong += sum(bad for bad, _ in found.values())
        n_rows += sum(rows for _, rows in found.values())
        print(
            f"{family:24}{kind:12}{seed:3}  "
            + ", ".join(f"{what}: {bad} of {rows:,}" for what, (bad, rows) in found.items())
        )
    print(f"{len(cases[: arguments.models])} models, {n_rows:,} rows: {n_wrong} wrong")
    if arguments.german:
        bad, rows, n_features, n_leaves = german_credit(arguments.german)
        print(f"German credit, {n_features} columns, XGBoost 8x2, {n_leaves} leaves: {bad} of {rows:,} wrong")
        n_wrong += bad
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
