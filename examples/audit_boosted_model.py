"""An audit: questions to a boosted model, answered by proof and not by trying some inputs.

The model is HistGradientBoosting, which needs nothing but scikit-learn; a model of XGBoost, LightGBM or CatBoost is
audited in the same way. Its one tree equals it everywhere: what holds for the leaves of the tree holds for the model.

The data are made up, with a seed. Run it: python examples/audit_boosted_model.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import onetree

GOOD, BAD = "granted", "refused"


def customers(n: int = 3000, seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    """Make up customers; whoever decided about them before looked at income, debt and years, not at the district."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.gamma(4, 700, n).round(-2),
            "debt": rng.gamma(2, 4000, n).round(-3),
            "years": rng.integers(0, 30, n).astype(float),
            "district": rng.integers(1, 9, n).astype(float),
        }
    )
    score = X["income"] / 1000 - X["debt"] / 6000 + np.minimum(X["years"], 10) / 5
    return X, np.where(score + rng.normal(0, 0.4, n) > 2.2, GOOD, BAD)


def turned_by_more(tree: onetree.Tree, feature: str, before: str, after: str) -> np.ndarray | None:
    """Return two inputs that differ in one feature alone, of which the one with more of it is `after`, or None.

    Every pair of leaves is looked at: None is a proof that there are no such inputs.
    """
    at = tree.feature_names.index(feature)
    lower, upper = tree.boxes()
    labels = tree.classes[tree.leaf_class[tree.leaves()]]
    for less in np.flatnonzero(labels == before):
        more = np.flatnonzero((labels == after) & (upper[:, at] > upper[less, at]))
        low, high = np.maximum(lower[more], lower[less]), np.minimum(upper[more], upper[less])
        meet = low < high  # in all other features
        meet[:, at] = True
        for found in np.flatnonzero(meet.all(axis=1))[:1]:
            pair = np.array([inside(low[found], high[found])] * 2)
            pair[:, at] = inside(lower[[less, more[found]], at], upper[[less, more[found]], at])
            return pair
    return None


def inside(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return a point with low < x <= high, a rounded one where there is room."""
    point = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 1, 0.0))
    rounded = np.floor(point)
    return np.where((low < rounded) & (rounded <= high), rounded, point)


def main(folder: Path) -> None:
    X, y = customers()
    model = HistGradientBoostingClassifier(max_iter=20, max_depth=3, max_bins=12, learning_rate=0.4).fit(X, y)
    solution = onetree.born_again(model, objective="leaves")
    tree = solution.tree
    print(f"{model.n_iter_} boosted trees, right on {model.score(X, y):.1%}; one tree: {tree.n_leaves} leaves")
    assert onetree.verify(tree, model)  # noqa: S101

    print("\nWhat does the model look at? A feature that no split of the smallest tree asks for never matters.")
    for index, name in enumerate(tree.feature_names):
        n_splits = int((tree.feature == index).sum())
        print(f"  {name:9} {n_splits} splits" if n_splits else f"  {name:9} never matters, for any customer")

    print("\nDoes it ever decide the wrong way round?")
    for name, before, after in (("income", GOOD, BAD), ("debt", BAD, GOOD)):
        pair = turned_by_more(tree, name, before, after)
        if pair is None:
            print(f"  more {name} never turns {before} into {after}: proven, for all customers that there can be")
            continue
        answers = model.predict(pd.DataFrame(pair, columns=X.columns))
        assert answers.tolist() == [before, after]  # noqa: S101
        print(f"  more {name} can turn {before} into {after}:")
        for row, answer in zip(pair, answers, strict=True):
            print("   ", ", ".join(f"{key} {value:g}" for key, value in zip(X.columns, row, strict=True)), "->", answer)

    lower, upper = tree.boxes()
    rows = X.to_numpy()[:, np.newaxis]
    seen = ((lower < rows) & (rows <= upper)).all(axis=2).any(axis=0)
    print(f"\nWhere does it guess? {np.count_nonzero(~seen)} of {len(seen)} leaves hold no customer so far.")

    path = folder / "audit.html"
    onetree.write_report(solution, path, source=model, X=X, title="Audit of a boosted model")
    print(f"the whole tree, to search and to follow: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
