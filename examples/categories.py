"""Categories: given to a model as columns of zeros and ones, or as they are.

A forest that sees "region" as five columns has an opinion about policies of two regions and of none. Its exact tree
repeats them all, unless it is told which columns belong together: then only what can occur is left, and the tree is a
fraction of the size. A boosted model that splits by sets of categories needs no such help: its tree asks for sets too.

The policies are made up, with a seed. Run it: python examples/categories.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import onetree

REGIONS = ("north", "east", "south", "west", "coast")
BOUNDS = (25, 35, 60)  # of the age, as a form may ask for it


def policies(n: int = 3000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Make up drivers, and whether they had an accident."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"region": rng.integers(0, len(REGIONS), n), "age": rng.integers(18, 80, n)})
    risky = frame["region"].isin([REGIONS.index("south"), REGIONS.index("coast")])
    risk = 1.5 * risky + 1.2 * (frame["age"] < 25) + 0.6 * (frame["age"] > 60) - 1.4
    return frame, np.where(risk + rng.logistic(0, 0.4, n) > 0, "accident", "none")


def in_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same as zeros and ones: one column per region, one per bound of the age."""
    regions = {name: frame["region"] == number for number, name in enumerate(REGIONS)}
    ages = {f"under {bound}": frame["age"] < bound for bound in BOUNDS}
    return pd.DataFrame(regions | ages).astype(int)


def one_hot(frame: pd.DataFrame, y: np.ndarray) -> None:
    X = in_columns(frame)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    together = {REGIONS: "one-hot", tuple(f"under {bound}" for bound in BOUNDS): "implies"}
    everywhere = onetree.born_again(forest, objective="leaves").tree
    solution = onetree.born_again(forest, objective="leaves", domain=together)
    assert (solution.tree.predict(X) == forest.predict(X)).all()  # noqa: S101
    assert onetree.verify(solution.tree, forest)  # noqa: S101
    print(f"forest on {X.shape[1]} columns of zeros and ones: one tree of {everywhere.n_leaves} leaves")
    print(f"with the columns that belong together declared: {solution.tree.n_leaves} leaves, {solution.status}\n")
    print(solution.tree.to_text(), "\n")

    # Data can show what belongs together; whether it must be so is for people to say.
    for line in onetree.domain_of(X, groups=True).describe(tuple(X.columns)):
        print("the data show:", line)


def as_they_are(frame: pd.DataFrame, y: np.ndarray) -> onetree.Tree:
    model = HistGradientBoostingClassifier(max_iter=4, max_depth=2, categorical_features=["region"])
    model.fit(frame, y)
    solution = onetree.born_again(model, objective="leaves")
    assert (solution.tree.predict(frame) == model.predict(frame)).all()  # noqa: S101
    unknown = pd.DataFrame({"region": [len(REGIONS)], "age": [30]})  # a region that the model never saw
    assert solution.tree.predict(unknown) == model.predict(unknown)  # noqa: S101
    tree = solution.tree
    print(f"\nboosted model with a categorical feature: one tree of {tree.n_leaves} leaves, {solution.status}\n")
    print(tree.to_text())
    return tree


def main(folder: Path) -> None:
    frame, y = policies()
    one_hot(frame, y)
    tree = as_they_are(frame, y)
    path = folder / "accidents.sql"
    path.write_text(tree.to_code("sql", table="policies") + "\n", encoding="utf-8")
    print(f"\nthe same as a query: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
