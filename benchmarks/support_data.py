"""Real data and models for `benchmarks.support`: more kinds than the paper has, as they come, split 70/30."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from benchmarks.paper_data import data_path

AS_THEY_COME = ("adult", "german_credit", "ionosphere", "magic", "spambase", "winequality_red")
OF_SCIKIT_LEARN = ("breast_cancer", "digits", "wine")
BINNED = ("Pima-Diabetes", "HTRU2", "FICO", "COMPAS-ProPublica", "Seeds")  # the paper's
DATA_SETS = AS_THEY_COME + OF_SCIKIT_LEARN + BINNED
MODELS = {
    "forest 10 x d3": lambda seed: RandomForestClassifier(10, max_depth=3, random_state=seed),
    "forest 100 x d6": lambda seed: RandomForestClassifier(100, max_depth=6, random_state=seed),
    "forest 100": lambda seed: RandomForestClassifier(100, random_state=seed),
    "boosting 100 x d3": lambda seed: GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=seed),
}


def load(name, data, paper_data, max_rows, seed):
    """Training rows, held-out rows, and the classes of both."""
    if name in OF_SCIKIT_LEARN:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    elif name in BINNED:
        X, y = _read(paper_data / "datasets" / name / f"{name}.full.csv")
    else:
        X, y = _read(data_path(data, name))
    if len(X) > max_rows:
        chosen = np.random.RandomState(seed).choice(len(X), max_rows, replace=False)
        X, y = X[chosen], y[chosen]
    return train_test_split(X, y, test_size=0.3, random_state=seed)


def _read(path):
    """Features and classes of a file; columns of words become one column per word."""
    if not Path(path).is_file():
        raise SystemExit(f"there is no {path}: name the folders of the data with --data DIR and --paper-data DIR")
    with Path(path).open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    columns = []
    for column in np.array([row[:-1] for row in rows]).T:
        try:
            columns.append(column.astype(np.float64))
        except ValueError:
            columns += [(column == word).astype(np.float64) for word in np.unique(column)]
    return np.column_stack(columns), np.unique([row[-1] for row in rows], return_inverse=True)[1]
