"""What `born_again(model)` answers by default, and how soon: ``python -m benchmarks.defaults``.

Small models that need more than a moment: how long until a faithful tree is known, and its gap when the call returns.
Then default forests and boosted models of all libraries: which answer comes, and when. Times are of this machine, as
busy as it is: the load beside them is the mean number of running and waiting processes in the last minute.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import onetree
from benchmarks import paper_data, runs, support_data
from onetree.errors import LimitReachedError, TooLargeError
from onetree.search.request import Request

DATA_SETS = ("breast_cancer", "german_credit", "magic", "spambase", "winequality_red")
MAX_ROWS = 4000
SEEDS = (0, 1)


def small_models(options):
    """Models whose optimum is not found at once, by name."""
    X, y = load(options, "german_credit")
    for seed in SEEDS:
        yield f"german credit, {X.shape[1]} columns, 5 x 3, seed {seed}", forest(5, 3, seed).fit(X, y)
    for name, X, y in (
        ("breast cancer", *load_breast_cancer(return_X_y=True)),
        ("magic", *load(options, "magic")),
    ):
        for n_trees in (5, 10, 20):
            yield f"{name}, 4 features, {n_trees} x 4", forest(n_trees, 4, 0).fit(X[:, :4], y)
    X, y = load_wine(return_X_y=True)
    for n_trees in (8, 10, 12):
        yield f"wine, {n_trees} x 3", forest(n_trees, 3, 0).fit(X, y)


def forest(n_trees, max_depth, seed):
    return RandomForestClassifier(n_trees, max_depth=max_depth, random_state=seed)


def default_models():
    """Makers of models as people train them, by name."""
    models = {
        "forest 100": lambda: RandomForestClassifier(random_state=0),
        "forest 300": lambda: RandomForestClassifier(300, random_state=0),
        "extra trees 100": lambda: ExtraTreesClassifier(random_state=0),
        "boosting 100": lambda: GradientBoostingClassifier(random_state=0),
        "hist boosting 100": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    try:
        import xgboost

        models["xgboost 100"] = lambda: xgboost.XGBClassifier(n_jobs=1)
        models["xgboost 300"] = lambda: xgboost.XGBClassifier(n_estimators=300, n_jobs=1)
    except ImportError:
        pass
    try:
        import lightgbm

        models["lightgbm 100"] = lambda: lightgbm.LGBMClassifier(n_jobs=1, verbose=-1)
    except ImportError:
        pass
    try:
        import catboost

        models["catboost 300"] = lambda: catboost.CatBoostClassifier(
            iterations=300, verbose=0, thread_count=1, allow_writing_files=False
        )
    except ImportError:
        pass
    return models


def load(options, name):
    train, _, classes, *_ = support_data.load(name, options.data, options.paper_data, MAX_ROWS, 0)
    return train, classes


class FirstTree:
    """Notes when the first faithful tree of a call was known."""

    def __init__(self, monitored=("heuristic", "exact_table")):
        self.seconds, self._started = None, time.perf_counter()
        for name in monitored:
            setattr(Request, name, self._noting(getattr(Request, name)))

    def _noting(self, search):
        search = getattr(search, "plain", search)

        def noting(request, *arguments, **options):
            found = search(request, *arguments, **options)
            self.seconds = self.seconds or time.perf_counter() - self._started
            return found

        noting.plain = search
        return noting


def answer(model):
    """What the call gives, in words, and the seconds until the first tree and until the end."""
    first, started, worked = FirstTree(), time.perf_counter(), time.process_time()
    try:
        found = onetree.born_again(model, progress=False)
        leaves = f"{found.tree.n_leaves:,} leaves"
        words = f"{leaves}, proven" if found.status == "optimal" else f"{leaves}, gap {found.gap:.0%}"
    except LimitReachedError as error:
        words = str(error)
    except TooLargeError as error:
        helpful = "; ".join(map(str, error.proposals)) or "nothing helps"
        words = f"too large: {error.estimate.leaves_in_words} ({helpful})"
    return words, first.seconds, time.perf_counter() - started, time.process_time() - worked


def table(title, header, rows):
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR")
    parser.add_argument("--data-sets", nargs="+", default=DATA_SETS, metavar="NAME")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="beginnings of the names of default models")
    parser.add_argument("--part", choices=("small", "default"), help="one of the two tables only")
    paper_data.add_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{runs.machine()['processor']}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    if options.part != "default":
        table(
            "Small models",
            ("model", "first faithful tree", "in all", "of a processor", "answer"),
            (
                (name, "-" if first is None else f"{first:.1f} s", f"{seconds:.1f} s", f"{worked:.1f} s", words)
                for name, model in small_models(options)
                for words, first, seconds, worked in [answer(model)]
            ),
        )
    if options.part == "small":
        return
    chosen = {
        name: make
        for name, make in default_models().items()
        if not options.models or name.startswith(tuple(options.models))
    }
    slowest = 0.0

    def rows():
        nonlocal slowest
        for data_set in options.data_sets:
            X, y = load(options, data_set)
            for name, make in chosen.items():
                words, _, seconds, worked = answer(make().fit(X, y))
                slowest = max(slowest, seconds)
                yield data_set, name, f"{seconds:.1f} s", f"{worked:.1f} s", words

    table("Default models", ("data", "model", "in all", "of a processor", "answer"), rows())
    print(f"\nslowest answer {slowest:.1f} s, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
