"""What small trees of strong models are worth: ``python -m benchmarks.frontier --data DIR --paper-data DIR``.

For each data set, model and split (70 % to train on, 30 % held out, which nobody sees): `onetree.frontier`, so the tree
for the data and tuned CART at 8 to 64 leaves, and as a third *smeared CART*: scikit-learn's CART on 20,000 rows mixed
among neighbours and labelled by the model. Accuracy, agreement with the model, and seconds of the processor. Results
are kept as they come; a second run goes on where the first one ended. Single-threaded.

``--grid-search`` looks at CART instead: whether the quick tuning of `frontier` is weaker than a full grid search that
also prunes by cost and complexity.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks import paper_data, runs
from benchmarks.frontier_tables import grid_search_summary, tables
from benchmarks.support_data import MODELS, load
from onetree import Ensemble, frontier, support_tree
from onetree.support.frontier.cart import CRITERIA, LEAST_ROWS, N_FOLDS, tuned_carts

DATA_SETS = (
    *("adult", "german_credit", "ionosphere", "magic", "spambase", "winequality_red"),
    *("breast_cancer", "digits", "wine"),
    *("COMPAS-ProPublica", "FICO", "HTRU2", "Pima-Diabetes", "Seeds"),
)
STRONG = ("forest 100", "boosting 100 x d3")
SIZES = (8, 16, 32, 64)
N_SMEARED = 20_000
N_NEAR = 10


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="real data as they come")
    paper_data.add_option(parser)
    parser.add_argument("--only", nargs="+", choices=DATA_SETS, default=DATA_SETS, help="some of the data sets")
    parser.add_argument("--max-rows", type=int, default=6_000, help="larger data are subsampled (default: 6000)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="of splits and models (default: 0 1)")
    parser.add_argument("--grid-search", action="store_true", help="compare two ways to tune CART instead")
    parser.add_argument("--out", type=Path, default=Path("frontier.json"), help="file of the results")
    options = parser.parse_args()
    cases = json.loads(options.out.read_text())["cases"] if options.out.is_file() else {}
    for seed in options.seeds:
        for name in options.only:
            data = load(name, options.data, options.paper_data, options.max_rows, seed)
            for model in STRONG[:1] if options.grid_search else STRONG:
                case = f"{name} / {model} / {seed}"
                if case not in cases:
                    cases[case] = searched(*data, seed) if options.grid_search else measured(model, *data, seed)
                    runs.save(options.out, {"cases": cases})
    print(grid_search_summary(cases) if options.grid_search else tables(cases, SIZES))


def measured(model_name, train, test, y, y_test, seed):
    """One case: all trees at all sizes."""
    model = MODELS[model_name](seed).fit(train, y)
    ensemble = Ensemble.from_model(model)
    found, seconds = timed(lambda: frontier(ensemble, train, y, leaves=SIZES, held_out=(test, y_test), progress=False))
    _, trees_seconds = timed(lambda: frontier(ensemble, train, leaves=SIZES, held_out=test, progress=False))
    _, one_seconds = timed(lambda: support_tree(ensemble, train, held_out=test, max_leaves=32, progress=False))
    smeared, smeared_seconds = timed(lambda: smeared_carts(model, train, seed))
    wanted = model.predict(test)
    return found.to_dict() | {
        "features": train.shape[1],
        "processor_seconds": seconds,
        "trees_seconds": trees_seconds,
        "one_seconds": one_seconds,
        "smeared_seconds": smeared_seconds,
        "smeared": [
            {
                "accuracy": float((cart.predict(test) == y_test).mean()),
                "agreement": float((cart.predict(test) == wanted).mean()),
            }
            for cart in smeared
        ],
    }


def smeared_carts(model, rows, seed):
    """CART on rows each value of which is, with probability 0.5, that of one of the ten nearest rows."""
    random = np.random.default_rng(seed)
    scaled = StandardScaler().fit_transform(rows)
    n_near = min(N_NEAR, len(rows) - 1)
    near = NearestNeighbors(n_neighbors=n_near + 1).fit(scaled).kneighbors(scaled, return_distance=False)[:, 1:]
    copied = random.integers(len(rows), size=max(0, N_SMEARED - len(rows)))
    other = near[copied[:, np.newaxis], random.integers(n_near, size=(len(copied), rows.shape[1]))]
    others = np.take_along_axis(rows, other, axis=0)
    mixed = np.concatenate([rows, np.where(random.random(others.shape) < 0.5, others, rows[copied])])
    classes = model.predict(mixed)
    return [DecisionTreeClassifier(max_leaf_nodes=size, random_state=0).fit(mixed, classes) for size in SIZES]


def searched(train, test, y, y_test, seed):
    """Accuracy of the two tuned CARTs at each size, and what they take."""
    quick, quick_seconds = timed(lambda: tuned_carts(train, y, SIZES, seed, lambda share: None))
    grid = {"criterion": CRITERIA, "min_samples_leaf": LEAST_ROWS, "ccp_alpha": [0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2]}
    full, full_seconds = timed(
        lambda: [
            GridSearchCV(DecisionTreeClassifier(max_leaf_nodes=size, random_state=seed), grid, cv=N_FOLDS).fit(train, y)
            for size in SIZES
        ]
    )
    return {
        "quick": [float(cart.score(test, y_test)) for cart in quick],
        "full": [float(cart.score(test, y_test)) for cart in full],
        "quick_seconds": quick_seconds,
        "full_seconds": full_seconds,
    }


def timed(job):
    """What a job gives, and the seconds of the processor that it takes."""
    start = time.process_time()
    return job(), time.process_time() - start


if __name__ == "__main__":
    main()
