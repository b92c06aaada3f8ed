"""Loans: why an applicant was declined, and the least that would have to change, exactly.

A forest decides about loans. Its one tree decides alike, so each decision has one rule, and the nearest applicant who
gets another answer can be found by looking at every leaf: no search, no sampling, nothing missed.

The applicants are made up, with a seed. Run it: python examples/credit.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import onetree

# What an applicant can change, and what one step of it costs: the measure of "least".
STEPS = {"income": 500, "debt": 10, "years employed": 1, "late payments": 1}


def applicants(n: int = 2000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Make up applicants, in the rounded numbers of a form, and what became of their loans."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": 500 * rng.integers(2, 16, n),  # a month
            "debt": 10 * rng.integers(0, 10, n),  # % of the income
            "years employed": rng.integers(0, 12, n),
            "late payments": rng.poisson(0.8, n).clip(0, 6),
        }
    )
    risk = 0.05 * X["debt"] + 0.9 * X["late payments"] - 0.15 * X["years employed"] - X["income"] / 2500
    return X, np.where(risk + rng.logistic(0, 0.7, n) < 0.9, "paid back", "defaulted")


def least_change(tree: onetree.Tree, x: pd.Series, wanted: str) -> pd.Series:
    """Return the nearest applicant with the wanted answer, counted in steps."""
    lower, upper = tree.boxes()
    right = tree.classes[tree.leaf_class[tree.leaves()]] == wanted
    step, here = np.array(list(STEPS.values()), dtype=float), x.to_numpy(dtype=float)
    # The nearest value on the form inside each interval `lower < value <= upper`: go up to it, or down, or stay.
    up, down = np.floor(lower[right] / step) * step + step, np.floor(upper[right] / step) * step
    nearest = np.where(here <= lower[right], up, np.where(here > upper[right], down, here))
    possible = ((lower[right] < nearest) & (nearest <= upper[right]) & (nearest >= 0)).all(axis=1)
    steps = (np.abs(nearest - here) / step).sum(axis=1)
    return pd.Series(nearest[np.where(possible, steps, np.inf).argmin()], index=x.index)


def main(folder: Path) -> None:
    X, y = applicants()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X_train, y_train)
    solution = onetree.born_again(forest, objective="leaves")
    tree = solution.tree
    print(f"forest: right on {forest.score(X_test, y_test):.1%} of the test rows")
    print(f"one tree that decides alike: {tree.n_leaves} leaves, {solution.status}")

    x = X_test[tree.predict(X_test) == "defaulted"].iloc[0]
    lower, upper = tree.boxes()
    (leaf,) = np.flatnonzero(((lower < x.to_numpy()) & (x.to_numpy() <= upper)).all(axis=1))
    print("\ndeclined:", ", ".join(f"{name} {value:g}" for name, value in x.items()))
    print("  rule:  ", tree.to_rules().splitlines()[1 + leaf])  # after the heading, one rule per box
    better = least_change(tree, x, "paid back")
    changes = [f"{name} {x[name]:g} -> {better[name]:g}" for name in x.index if better[name] != x[name]]
    print("  change:", ", ".join(changes))
    assert forest.predict(better.to_frame().T)[0] == "paid back"  # noqa: S101

    path = folder / "credit-rules.txt"
    path.write_text(tree.to_rules() + "\n", encoding="utf-8")
    print(f"\nall rules: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
