"""What happens to damaged model files? ``python -m campaigns.mutations``.

Sound files of each format are damaged in hundreds of ways and read in a child process. Each must be refused with a
`ModelFileError` or an `UnsupportedModelError`, or be a sound model: then its structure is walked through by other code
than the importer's, it must predict, and where the library itself reads the same file, the classes of both are
compared. A crash, a hang, a small file that takes much memory, any other exception or a difference is a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import onetree
from benchmarks.memory import peak_bytes, reset_peak, resident_bytes
from campaigns.mutation_kinds import DAMAGES, mutants
from campaigns.mutation_seeds import PARTS, model_in_parts, sound_files
from onetree.importers.self_test import sample_rows

SECONDS = 5  # of processor time to read one file
PATIENCE = 60  # seconds for one file in all, on a machine that has other things to do
MEMORY = 8 << 30
MEGABYTES = 1000  # of memory to read one file, all of which are small
FORMATS = tuple(DAMAGES)
SLOWEST, LARGEST = "seconds at most", "MB at most"
FAILURES = ("crash", "hang", "much memory", "other exception", "unsound", "differs")
TRUSTED = [
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "functools.partial",
    "sklearn.utils.validation.check_array",
]


def examine(kind, path):
    """What becomes of one file, and the model if it is accepted."""
    try:
        found = READERS.get(kind, onetree.load_ensemble)(path)
    except (onetree.ModelFileError, onetree.UnsupportedModelError):
        return "refused", None
    except Exception as error:
        return f"other exception: {type(error).__name__}: {str(error)[:200]}", None
    problem = PROBLEMS.get(kind, ensemble_problem)(found)
    return (f"unsound: {problem}" if problem else "accepted"), found


def go_on(path):
    """The tree of a run that goes on from a checkpoint."""
    try:
        return onetree.born_again_in_parts(model_in_parts(), **PARTS, checkpoint=path).tree
    except onetree.InvalidInputError as error:
        raise onetree.ModelFileError(str(error)) from None  # what the run is about was damaged


def ensemble_problem(ensemble):
    """What is wrong with the structure of an ensemble, by a walk that shares no code with its own checks."""
    feature, left, right = (
        array.tolist() for array in (ensemble.feature, ensemble.children_left, ensemble.children_right)
    )
    seen, todo = [0] * len(feature), ensemble.roots.tolist()
    while todo:
        node = todo.pop()
        if not 0 <= node < len(feature):
            return "a node that does not exist"
        seen[node] += 1
        if seen[node] > 1:
            return "a node in two places"
        if feature[node] >= 0:
            todo += [left[node], right[node]]
    if min(seen) == 0:
        return "a node that nothing leads to"
    if max(feature) >= ensemble.n_features:
        return "a feature that does not exist"
    if np.isnan(ensemble.threshold).any() or not np.isfinite(ensemble.value).all():
        return "a number that is none"
    index = ensemble.predict_index(sample_rows(ensemble, np.random.default_rng(0)))
    return None if 0 <= index.min() <= index.max() < ensemble.n_classes else "a class that does not exist"


def tree_problem(tree):
    """What is wrong with the structure of a tree."""
    inner = tree.feature >= 0
    nodes = np.arange(tree.n_nodes)
    for child in (tree.children_left, tree.children_right):
        if np.any(child[inner] <= nodes[inner]) or np.any(child[inner] >= tree.n_nodes):
            return "a child that does not come after its parent"
    children = np.concatenate([tree.children_left[inner], tree.children_right[inner]])
    if set(children.tolist()) | {0} != set(nodes.tolist()):
        return "a node that nothing leads to"
    if np.any(tree.feature >= tree.n_features) or np.isnan(tree.threshold).any():
        return "a feature or threshold that does not exist"
    if np.any(tree.leaf_class[~inner] < 0) or np.any(tree.leaf_class >= tree.n_classes):
        return "a class that does not exist"
    tree.predict(np.random.default_rng(0).normal(size=(100, tree.n_features)))
    return None


def joined_problem(tree):
    """What is wrong with a tree that was put together from a checkpoint."""
    return tree_problem(tree) or (None if onetree.verify(tree, model_in_parts()) else "another function")


READERS = {"onetree tree": onetree.load_tree, "onetree checkpoint": go_on}
PROBLEMS = {"onetree tree": tree_problem, "onetree checkpoint": joined_problem}


def library_classes(kind, path, X):
    """The classes that the library gives for the same file."""
    if kind.startswith("XGBoost"):
        import xgboost

        booster = xgboost.Booster()
        booster.load_model(bytearray(path.read_bytes()))
        objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
        predicted = booster.predict(xgboost.DMatrix(X), validate_features=False)
        if objective == "multi:softmax":
            return predicted.astype(int)
        return predicted.argmax(axis=1) if predicted.ndim == 2 else (predicted > 0.5).astype(int)
    if kind == "LightGBM text":
        import lightgbm

        predicted = lightgbm.Booster(model_str=path.read_text(), params={"verbose": -1}).predict(X)
        return predicted.argmax(axis=1) if predicted.ndim == 2 else (predicted > 0.5).astype(int)
    if kind == "CatBoost JSON":
        import catboost

        model = catboost.CatBoost().load_model(str(path), format="json")
        return np.ravel(model.predict(X, prediction_type="Class", thread_count=1))
    if kind == "skops":
        import skops.io

        return skops.io.load(path, trusted=TRUSTED).predict(X)
    return None


def compare(kind, path, ensemble):
    """Whether ensemble and library give the same classes; None if the library does not read the file."""
    rows = sample_rows(ensemble, np.random.default_rng(1))
    try:
        expected = library_classes(kind, path, rows)
    except Exception:
        return None
    return None if expected is None else bool(np.array_equal(ensemble.predict(rows), expected))


def work(folder, names, with_library):
    """In the child: examine files, telling before each one that it begins, so that a crash can be laid at its door."""
    for clock in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(clock, signal.SIG_DFL)  # a hang ends the process, whatever code it is in
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    for name in names:
        kind, path = name.rsplit("-", 1)[0], folder / name
        tell(name, "begins")
        signal.alarm(PATIENCE)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        reset_peak()
        before, begun = resident_bytes(), time.process_time()
        outcome, found = examine(kind, path)
        signal.setitimer(signal.ITIMER_PROF, 0)
        tell(name, outcome)
        megabytes = (peak_bytes() - before) / 1e6
        if megabytes > MEGABYTES:
            tell(name, f"much memory: {megabytes:.0f} MB")
        tell(name, f"{LARGEST}: {megabytes:.1f}")
        tell(name, f"{SLOWEST}: {time.process_time() - begun:.3f}")
        if with_library and outcome == "accepted" and kind not in READERS:
            same = compare(kind, path, found)
            if same is not None:
                tell(name, "same as the library" if same else "differs")
        signal.alarm(0)
        tell(name, "done")


def tell(name, what):
    os.write(RESULTS, (json.dumps([name, what]) + "\n").encode())


RESULTS = 1  # standard output of the child; libraries that write there are sent elsewhere


def run_children(folder, names, with_library):
    """Outcomes by file; a child that dies is replaced by another that goes on with the next file."""
    outcomes, todo = {}, list(names)
    while todo:
        command = [sys.executable, "-m", "campaigns.mutations", "--examine", str(folder)]
        child = subprocess.run(
            command + ["--without-libraries"] * (not with_library),
            input="\n".join(todo),
            capture_output=True,
            text=True,
            check=False,
        )
        for line in child.stdout.splitlines():
            name, what = json.loads(line)
            outcomes.setdefault(name, []).append(what)
        last = next((name for name in todo if outcomes.get(name, ["done"])[-1] != "done"), None)
        if last is None and any(name not in outcomes for name in todo):
            raise SystemExit(f"the child ended before it began: {child.stderr[-2000:]}")
        if last is not None:
            how = "hang" if -child.returncode in (signal.SIGALRM, signal.SIGPROF) else "crash"
            # Once the file was accepted, it is the library that reads it.
            outcomes[last].append(how if outcomes[last] == ["begins"] else f"{how} of the library")
        todo = [name for name in todo if name not in outcomes]
    return outcomes


def campaign(formats, n_mutants, *, with_library=True, seed=0):
    """Counts of outcomes by format, and the failures with the content of their files."""
    counts, failures = {}, []
    for kind in formats:
        counts[kind], failed = campaign_of(kind, n_mutants, with_library, seed)
        failures += failed
        print(f"{kind}: {dict(counts[kind])}", file=sys.stderr, flush=True)
    return counts, failures


def campaign_of(kind, n_mutants, with_library, seed):
    """The same for one format; the counts include the most processor time that a file took."""
    counts, failures = Counter(), []
    with tempfile.TemporaryDirectory(prefix="mutations-") as name:
        folder = Path(name)
        rng = np.random.default_rng([seed, *kind.encode()])
        for i, content in enumerate(mutants(kind, sound_files(kind), n_mutants, rng)):
            (folder / f"{kind}-{i}").write_bytes(content)
        names = sorted(path.name for path in folder.iterdir())
        for name, outcomes in run_children(folder, names, with_library).items():
            counts["files"] += 1
            for outcome in outcomes:
                what, _, detail = outcome.partition(": ")
                if what in (SLOWEST, LARGEST):
                    counts[what] = max(counts[what], float(detail))
                else:
                    counts[what] += 1
            bad = [outcome for outcome in outcomes if outcome.split(":")[0] in FAILURES]
            if bad:
                failures.append((name, bad, (folder / name).read_bytes()))
    return counts, failures


def page(counts):
    """The table in Markdown."""
    columns = (
        "files",
        "refused",
        "accepted",
        "same as the library",
        "crash of the library",
        SLOWEST,
        LARGEST,
        *FAILURES,
    )
    lines = [f"| format | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for kind, found in counts.items():
        lines.append(f"| {kind} | {' | '.join(str(found[column]) for column in columns)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="python -m campaigns.mutations", description=__doc__)
    parser.add_argument("--files", type=int, default=1300, help="damaged files per format (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=FORMATS, help="a format; may be given again")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="write the files that failed to this folder")
    parser.add_argument("--without-libraries", action="store_true", help="compare with no library")
    parser.add_argument("--examine", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.examine:
        global RESULTS
        RESULTS = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        work(options.examine, sys.stdin.read().split("\n"), not options.without_libraries)
        return 0
    started = time.perf_counter()
    counts, failures = campaign(
        options.only or FORMATS, options.files, with_library=not options.without_libraries, seed=options.seed
    )
    print(page(counts))
    for name, bad, content in failures:
        print(name, bad)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / name).write_bytes(content)
    print(f"{len(failures)} failures, {time.perf_counter() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
