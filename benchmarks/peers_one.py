"""Explains one forest in several ways, in a process of its own: ``python -m benchmarks.peers_one TRAIN.csv TEST.csv``.

The ways are this package and what one might take instead; all get the same scikit-learn forest, trained as the paper
trains its own, and its training rows. Prints size, agreement with the forest and time as JSON. A library that is not
there is a result too, with the command that installs it.

Without TEST.csv every tenth row of a seeded permutation is held out.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import time
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree
from benchmarks.train_one import read

N_RANDOM_POINTS = 100_000
CONVERT_SECONDS = 20.0
SEED_OF_TEACHING_POINTS, SEED_OF_TEST_POINTS = 1, 2  # not the same points, for a fair examination


def convert(forest, X, labels):
    tree, status = smallest_tree(forest)
    return tree.predict, tree.n_leaves, "leaves, smallest" if status == "optimal" else "leaves"


def convert_and_prune(forest, X, labels):
    pruned = onetree.prune(smallest_tree(forest)[0], X)
    return pruned.predict, pruned.n_leaves, "leaves"


def smallest_tree(forest):
    """The smallest tree by leaves, verified; on grids that nobody can enumerate a faithful tree."""
    solution = onetree.born_again(forest, objective="leaves", memory_limit=2.0, time_limit=CONVERT_SECONDS)
    return solution.tree, solution.status


def fit_labels(forest, X, labels):
    tree = DecisionTreeClassifier(random_state=0).fit(X, labels)
    return tree.predict, tree.get_n_leaves(), "leaves"


def fit_labels_of_random_points(forest, X, labels):
    """As Breiman and Shang did: the forest labels as many made-up points as one likes."""
    made_up = random_points(X, SEED_OF_TEACHING_POINTS)
    return fit_labels(forest, np.concatenate([X, made_up]), np.concatenate([labels, forest.predict(made_up)]))


def mine_rules(forest, X, labels):
    from te2rules.explainer import ModelExplainer

    names = [f"x{j}" for j in range(X.shape[1])]
    explainer = ModelExplainer(forest, names)
    rules = explainer.explain(X, np.searchsorted(forest.classes_, labels).tolist())
    return lambda points: forest.classes_[np.asarray(explainer.predict(points))], len(rules), "rules"


def distill_to_figs(forest, X, labels):
    from imodels import FIGSRegressor

    return distill(forest, X, FIGSRegressor(), lambda student: sum(count_leaves(tree) for tree in student.trees_))


def distill_to_shrunk_tree(forest, X, labels):
    from imodels import HSTreeRegressor

    return distill(forest, X, HSTreeRegressor(), lambda student: student.estimator_.get_n_leaves())


def distill(forest, X, student, size):
    from imodels.util.distillation import DistilledRegressor

    distilled = DistilledRegressor(AlreadyFitted(forest), student).fit(X, forest.predict(X))
    # The student estimates the probability of the second class; scikit-learn takes the first of equals.
    return lambda points: forest.classes_[(distilled.predict(points) > 0.5).astype(int)], size(student), "leaves"


class AlreadyFitted(ClassifierMixin, BaseEstimator):
    """A teacher that is not trained again."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def count_leaves(root):
    waiting, n_leaves = [root], 0
    while waiting:
        node = waiting.pop()
        if node.left is None:
            n_leaves += 1
        else:
            waiting += [node.left, node.right]
    return n_leaves


# Function, module of another library that it needs, whether it takes more than two classes.
METHODS = {
    "onetree": (convert, None, True),
    "onetree, pruned": (convert_and_prune, None, True),
    "CART on labels": (fit_labels, None, True),
    "CART on labels of random points": (fit_labels_of_random_points, None, True),
    "te2rules": (mine_rules, "te2rules.explainer", False),
    "imodels distillation, FIGS": (distill_to_figs, "imodels", False),
    "imodels distillation, HSTree": (distill_to_shrunk_tree, "imodels", False),
}


def random_points(X, seed):
    """Points of the bounding box of the data, all equally likely."""
    return np.random.default_rng(seed).uniform(X.min(axis=0), X.max(axis=0), size=(N_RANDOM_POINTS, X.shape[1]))


def split(X, y, seed):
    rows = np.random.default_rng(seed).permutation(len(X))
    held_out = np.arange(len(X)) % 10 == 0
    return X[rows[~held_out]], y[rows[~held_out]], X[rows[held_out]]


@contextmanager
def stopped_after(seconds):
    """Raise TimeoutError in what still runs then; the slow ones of the libraries are written in Python."""

    def stop(*_):
        raise TimeoutError(f"stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def explain(method, forest, X, X_test, time_limit):
    """Size, agreement and time of one method; says so where it cannot be asked or did not answer."""
    function, module, takes_many_classes = METHODS[method]
    library = (module or "").partition(".")[0]
    if library and find_spec(library) is None:
        return {"status": "missing", "message": f"not installed: pip install {library}"}
    if len(forest.classes_) > 2 and not takes_many_classes:
        return {"status": "unsuited", "message": f"takes two classes, not {len(forest.classes_)}"}
    if module:
        import_module(module)  # not part of the time
    labels = forest.predict(X)
    started = time.perf_counter()
    try:
        with stopped_after(time_limit):
            predict, size, unit = function(forest, X, labels)
    except (onetree.OnetreeError, TimeoutError) as error:
        return {"status": "failed", "message": str(error)}
    seconds = time.perf_counter() - started
    points = {"training": X, "held_out": X_test, "random": random_points(X, SEED_OF_TEST_POINTS)}
    return {"status": "done", "size": int(size), "unit": unit, "seconds": seconds} | {
        f"agreement_{name}": float(np.mean(predict(sample) == forest.predict(sample)))
        for name, sample in points.items()
    }


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers_one", description=__doc__)
    parser.add_argument("train")
    parser.add_argument("test", nargs="?")
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=60.0, help="of each way, in seconds")
    options = parser.parse_args()
    # Some libraries print while they work; the result has standard output for itself.
    answer, sys.stdout = sys.stdout, sys.stderr
    logging.disable(logging.WARNING)
    os.environ.setdefault("TQDM_DISABLE", "1")
    X, y = read(options.train)
    X, y, X_test = (X, y, read(options.test)[0]) if options.test else split(X, y, options.seed)
    forest = RandomForestClassifier(
        options.trees, max_depth=options.depth, max_features=0.5, random_state=options.seed
    ).fit(X, y)
    result = {
        "status": "done",
        "forest_leaves": int(sum(tree.get_n_leaves() for tree in forest.estimators_)),
        "n_features": X.shape[1],
        "n_classes": len(forest.classes_),
        "methods": {},
    }
    for method in METHODS:
        found = explain(method, forest, X, X_test, options.time_limit)
        result["methods"][method] = found
        took = f"{found['size']} {found['unit']}, {found['seconds']:.3g} s" if "size" in found else found["message"]
        print(f"    {method}: {took}", file=sys.stderr, flush=True)
    json.dump(result, answer)


if __name__ == "__main__":
    main()
