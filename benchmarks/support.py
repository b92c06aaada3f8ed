"""Trees that follow the data against CART: ``python -m benchmarks.support --data DIR --paper-data DIR``.

For each data set and model, a tree of at most 32 and 256 leaves from 70 % of the rows, and its agreement with the model
on the other 30 %. For comparison, scikit-learn's CART with as many leaves: trained on the model's classes of the same
rows, and on ten times as many rows, nine of ten smeared (each value replaced with probability 0.5 by that of another
row). Then the promises, unless ``--agreement-only``: ``fidelity=1.0`` on every reference row, and no disagreement
inside the cores of ``certify=True`` on sampled points. Results are kept as they come; a second run goes on where the
first one ended. Single-threaded; seconds are taken by the clock, and of the processor, which other work on the machine
does not lengthen.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks import paper_data, runs
from benchmarks.support_data import DATA_SETS, MODELS, load
from benchmarks.support_tables import table
from onetree.lowering.native_predict import Labeller
from onetree.model.ensemble import Ensemble
from onetree.support import support_tree

SIZES = (32, 256)
N_SMEARED = 10


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.support", description=__doc__)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="real data as they come")
    paper_data.add_option(parser)
    parser.add_argument("--only", nargs="+", choices=DATA_SETS, default=DATA_SETS, help="some of the data sets")
    parser.add_argument("--max-rows", type=int, default=6_000, help="larger data are subsampled (default: 6000)")
    parser.add_argument("--seed", type=int, default=0, help="of the 70/30 split and the models (default: 0)")
    parser.add_argument("--points", type=int, default=20_000, help="sampled in the cores of each case (default: 20000)")
    parser.add_argument("--agreement-only", action="store_true", help="leave the promises to a later run")
    parser.add_argument("--out", type=Path, default=Path("support.json"), help="file of the results")
    options = parser.parse_args()
    results = json.loads(options.out.read_text()) if options.out.is_file() else {"cases": {}}
    for name in options.only:
        train, test, classes, _ = load(name, options.data, options.paper_data, options.max_rows, options.seed)
        for model_name, new_model in MODELS.items():
            found = results["cases"].setdefault(f"{name} / {model_name}", {})
            missing = [] if found else [agreement]
            if "certified" not in found and not options.agreement_only:
                missing.append(lambda *case: promises(*case, options.points))
            if not missing:
                continue
            ensemble = Ensemble.from_model(new_model(options.seed).fit(train, classes))
            for measure in missing:
                found |= measure(ensemble, train, test)
            runs.save(options.out, {"cases": results["cases"]})
    print(table(results["cases"]))


def agreement(ensemble, train, test):
    """How the trees of one case do on held-out rows, and how CART does."""
    labeller = Labeller(ensemble)
    found = {"rows": len(train), "features": train.shape[1], "model_leaves": ensemble.n_leaves}
    wanted, classes = labeller.classes(test), labeller.classes(train)
    smeared = smear(train)
    smeared_classes = labeller.classes(smeared)
    for size in SIZES:
        solution, seconds = timed(ensemble, train, held_out=test, max_leaves=size)
        n_leaves = solution.tree.n_leaves
        found[str(size)] = {
            "leaves": n_leaves,
            **seconds,
            "agreement": solution.held_out.share,
            "cart": cart(train, classes, n_leaves, test, wanted),
            "smeared_cart": cart(smeared, smeared_classes, n_leaves, test, wanted),
            "box": solution.box.share,
        }
    return found


def promises(ensemble, train, test, n_points):
    """Whether what is promised for one case is kept."""
    found = {}
    faithful, seconds = timed(ensemble, train, held_out=test, fidelity=1.0)
    found["faithful"] = {
        "leaves": faithful.tree.n_leaves,
        **seconds,
        "wrong_rows": int((faithful.tree.predict_index(train) != ensemble.predict_index(train)).sum()),
        "agreement": faithful.held_out.share,
    }
    certified, seconds = timed(ensemble, train, held_out=test, max_leaves=32, certify=True)
    found["certified"] = {
        **seconds,
        **certified.report()["proven"],
        **sampled(certified, ensemble, train, n_points),
    }
    return found


def timed(*data, **request):
    """The tree, and how long it took."""
    by_clock, of_processor = time.perf_counter(), time.process_time()
    solution = support_tree(*data, **request)
    return solution, {
        "seconds": time.perf_counter() - by_clock,
        "processor_seconds": time.process_time() - of_processor,
    }


def cart(rows, classes, n_leaves, test, wanted):
    """Agreement of a CART tree on the held-out rows."""
    if n_leaves == 1:
        return float((np.bincount(classes).argmax() == wanted).mean())
    model = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(rows, classes)
    return float((model.predict(test) == wanted).mean())


def smear(rows):
    random = np.random.default_rng(0)
    copies = [rows]
    for _ in range(N_SMEARED - 1):
        others = np.take_along_axis(rows, random.integers(len(rows), size=rows.shape), axis=0)
        copies.append(np.where(random.random(rows.shape) < 0.5, others, rows))
    return np.concatenate(copies)


def sampled(solution, ensemble, rows, n_points):
    """Points drawn inside the cores, and how many of them have another class than the leaf."""
    cores, tree, random = solution.cores, solution.tree, np.random.default_rng(0)
    real = np.flatnonzero((cores.lower != cores.upper).any(axis=1))
    if not len(real):
        return {"points": 0, "disagreements": 0}
    chosen = random.choice(real, size=n_points)
    width = np.ptp(rows, axis=0) + 1.0
    lower = np.maximum(cores.lower[chosen], rows.min(axis=0) - width)  # open sides get an end outside the data
    upper = np.minimum(cores.upper[chosen], rows.max(axis=0) + width)
    points = upper - random.random(lower.shape) * (upper - lower)  # the upper end belongs to the core
    inside = cores.contain(tree, points)
    wrong = Labeller(ensemble).classes(points[inside]) != tree.predict_index(points[inside])
    return {"points": int(inside.sum()), "disagreements": int(wrong.sum())}


if __name__ == "__main__":
    main()
