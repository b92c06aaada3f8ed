"""The certificate against HiGHS, box by box: ``python -m benchmarks.certificate``.

The boxes are grown around points of the data set, one side after the other, for as long as they are of one class:
the boxes asked about on the way are just about of one class, or just not, and so as hard as the leaves of a smallest
tree. Both are asked whether the box has the class of its point; exit code 1 if they disagree anywhere. The programs are
built in Python, so the ratio counts only the time inside HiGHS; boxes that need no program, only bounds, cost it none.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from onetree import Ensemble
from onetree.model.ensemble import Rule
from onetree.search.solve import _core
from onetree.verify import milp


def boosted(model, X):
    """A fitted GradientBoostingClassifier as an additive ensemble of float64 inputs; of one score for two classes."""
    trees = model.estimators_  # (n_stages, n_outputs)
    n_outputs = trees.shape[1]
    roots, feature, threshold, left, right, value = [], [], [], [], [], []
    for stage in trees:
        for output, regressor in enumerate(stage):
            tree, start = regressor.tree_, len(feature)
            roots.append(start)
            feature += np.where(tree.feature < 0, -1, tree.feature).tolist()
            threshold += np.where(tree.feature < 0, 0.0, tree.threshold).tolist()
            left += np.where(tree.feature < 0, -1, tree.children_left + start).tolist()
            right += np.where(tree.feature < 0, -1, tree.children_right + start).tolist()
            scores = np.zeros((tree.node_count, n_outputs))
            scores[:, output] = model.learning_rate * tree.value[:, 0, 0]
            value += np.where((tree.feature < 0)[:, np.newaxis], scores, 0.0).tolist()
    rule = Rule("score", cut_inclusive=True) if n_outputs == 1 else Rule("scores")
    return Ensemble(
        classes=model.classes_, feature_names=tuple(f"x{j}" for j in range(X.shape[1])), roots=roots, feature=feature,
        threshold=threshold, children_left=left, children_right=right, missing_left=[False] * len(feature), value=value,
        base=model._raw_predict_init(X[:1]).ravel(), rule=rule, nan_features=[False] * X.shape[1],
    )  # fmt: skip


def models(n_trees, max_depth, seed):
    """Name, ensemble and data of every model."""
    synthetic = make_classification(2000, 20, n_informative=8, n_classes=3, random_state=seed)
    sets = {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "synthetic": synthetic,
    }
    for name, (X, y) in sets.items():
        forest = RandomForestClassifier(n_trees, max_depth=max_depth, random_state=seed).fit(X, y)
        boosting = GradientBoostingClassifier(n_estimators=n_trees, max_depth=max_depth, random_state=seed)
        yield name, "hard", Ensemble.from_model(forest, voting="hard"), X
        yield name, "soft", Ensemble.from_model(forest, voting="soft"), X
        yield name, "boosted", boosted(boosting.fit(X, y), X), X


def certify(ensemble, lower, upper, classes):
    """Whether each box has its class, the seconds that took, and the nodes of the searches."""
    begin = time.perf_counter()
    holds, _, counts = _core.certify_boxes(ensemble, lower, upper, np.asarray(classes, dtype=np.int32), 0.0, None)
    return holds.astype(bool), time.perf_counter() - begin, counts.nodes


def ask_highs(ensemble, lower, upper, classes):
    """Return the same answers, the seconds, and those of them spent in HiGHS, by a program for each box."""
    in_solver, solve = 0.0, milp.milp

    def timed(*arguments, **options):
        nonlocal in_solver
        begin = time.perf_counter()
        result = solve(*arguments, **options)
        in_solver += time.perf_counter() - begin
        return result

    milp.milp = timed
    begin = time.perf_counter()
    boxes = zip(lower, upper, classes, strict=True)
    found = [milp.counterexample(ensemble, low, high, label, max_cells=10**6) for low, high, label in boxes]
    seconds = time.perf_counter() - begin
    milp.milp = solve
    return np.array([point is None for point in found]), seconds, in_solver


def grown_boxes(rng, ensemble, X, n_boxes):
    """Yield lower, upper and class of the boxes asked about while boxes grow around points."""
    levels = [np.unique(ensemble.threshold[ensemble.feature == j]) for j in range(ensemble.n_features)]

    def bounds(first, last):  # slabs, inclusive
        lower = [cuts[a - 1] if a > 0 else -np.inf for cuts, a in zip(levels, first, strict=True)]
        upper = [cuts[b] if b < len(cuts) else np.inf for cuts, b in zip(levels, last, strict=True)]
        return np.array(lower), np.array(upper)

    while True:
        x = X[rng.integers(len(X))].astype(np.float32).astype(np.float64)
        label = int(ensemble.predict_index(x[np.newaxis])[0])
        first = np.array([np.searchsorted(cuts, value) for cuts, value in zip(levels, x, strict=True)])
        last = first.copy()
        sides = [(j, down) for j, cuts in enumerate(levels) if cuts.size for down in (True, False)]
        for at in rng.permutation(len(sides)):
            j, down = sides[at]
            end = first if down else last
            near, far = end[j], 0 if down else len(levels[j])  # near is known to be of one class
            while near != far:
                end[j] = (near + far) // 2 if down else (near + far + 1) // 2
                box = bounds(first, last)
                yield *box, label
                n_boxes -= 1
                if n_boxes == 0:
                    return
                if certify(ensemble, *np.stack(box)[:, np.newaxis], [label])[0][0]:
                    near = end[j]
                else:
                    far = end[j] + 1 if down else end[j] - 1
            end[j] = near


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificate", description=__doc__)
    parser.add_argument("--boxes", type=int, default=100, help="per model")
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print(f"{'data set':15}{'model':9}{'boxes':>8}{'one class':>11}{'differ':>8}{'nodes':>9}", end="")
    print(f"{'certificate ms':>16}{'program ms':>12}{'HiGHS ms':>10}{'ratio':>8}")
    total = np.zeros(6)  # boxes, of one class, disagreements, seconds of the certificate, of the programs, of HiGHS
    for name, kind, ensemble, X in models(options.trees, options.depth, options.seed):
        lower, upper, classes = zip(*grown_boxes(rng, ensemble, X, options.boxes), strict=True)
        lower, upper = np.array(lower), np.array(upper)
        holds, fast, n_nodes = certify(ensemble, lower, upper, classes)
        expected, slow, in_solver = ask_highs(ensemble, lower, upper, classes)
        sums = np.array([len(holds), holds.sum(), (holds != expected).sum(), fast, slow, in_solver])
        show(name, kind, sums, f"{n_nodes / len(holds):9.1f}")
        total += sums
    show("all", "", total, " " * 9)
    return 1 if total[2] else 0


def show(name, kind, sums, nodes):
    n, n_one, n_differ, *seconds = sums
    fast, slow, in_solver = (1e3 * total / n for total in seconds)
    print(
        f"{name:15}{kind:9}{n:8.0f}{n_one:11.0f}{n_differ:8.0f}{nodes}{fast:16.4f}{slow:12.3f}{in_solver:10.3f}"
        f"{in_solver / fast:8.1f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
