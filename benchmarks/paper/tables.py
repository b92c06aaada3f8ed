"""What was measured, put beside what the paper reports: tables, and what must be equal."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from pathlib import Path

from benchmarks import paper_data
from benchmarks.paper import units

REPORTED = json.loads((Path(__file__).parent / "reported.json").read_text())
SHORT_NAMES = {
    "Breast-Cancer-Wisconsin": "BC",
    "COMPAS-ProPublica": "CP",
    "FICO": "FI",
    "HTRU2": "HT",
    "Pima-Diabetes": "PD",
    "Seeds": "SE",
}
LETTERS = {"depth": "D", "leaves": "L", "depth-leaves": "DL"}
SIZES = {
    "forest_leaves": "forest leaves",
    "depth": "depth",
    "leaves": "leaves",
    "pruned_depth": "pruned depth",
    "pruned_leaves": "pruned leaves",
}
SCORES = {
    f"{model}_{score}": f"{model} {text}"
    for model in ("forest", "tree", "pruned")
    for score, text in (("accuracy", "acc."), ("f1", "F1"))
}
# Where our trees come from: the published search and extraction, and the package itself.
SOURCES = {"published": "published", "tree": "onetree"}
OVERALL = "overall"
NONE = "–"


class Results:
    """The units that are there."""

    def __init__(self, scope, out):
        self.scope, self.out = scope, out
        self.data_sets = [name for name in SHORT_NAMES if name in scope.data_sets]

    def one(self, *unit):
        return units.done(self.out, unit)

    def folds(self, kind, name, *words):
        """The results of all folds; empty unless every fold that was asked for is there."""
        found = [self.one(kind, name, fold, *words) for fold in self.scope.folds]
        return [] if None in found else found

    @property
    def is_whole(self):
        return self.scope.folds == paper_data.FOLDS and set(self.data_sets) == set(SHORT_NAMES)

    def values(self, source, name, objective, quantity):
        """One value per fold."""
        model, _, score = quantity.rpartition("_")
        if quantity == "forest_leaves":
            return [found["leaves"] for found in self.folds("forest", name)]
        if model == "forest":
            return [found["scores"][score] for found in self.folds("forest", name)]
        found = self.folds(source, name, objective)
        if quantity in SCORES:
            return [each["scores" if model == "tree" else "pruned_scores"][score] for each in found]
        return [each[quantity] for each in found]

    def size(self, source, name, objective, quantity):
        """Average, minimum, maximum; None if a fold is missing."""
        if name == OVERALL:
            parts = [self.size(source, each, objective, quantity) for each in SHORT_NAMES]
            if not self.is_whole or None in parts:
                return None
            averages, least, most = zip(*parts, strict=True)
            return statistics.fmean(averages), min(least), max(most)
        values = self.values(source, name, objective, quantity)
        return (statistics.fmean(values), min(values), max(values)) if values else None

    def score(self, source, name, objective, quantity):
        """Average and standard deviation; None if a fold is missing."""
        if name == OVERALL:
            parts = [self.score(source, each, objective, quantity) for each in SHORT_NAMES]
            if not self.is_whole or None in parts:
                return None
            return tuple(statistics.fmean(each) for each in zip(*parts, strict=True))
        values = self.values(source, name, objective, quantity)
        return (statistics.fmean(values), statistics.stdev(values)) if len(values) > 1 else None


def is_equal(ours, reported, digits):
    """Whether a number is the reported one as far as that was printed."""
    return math.isclose(ours, reported, abs_tol=0.5 * 10**-digits + 1e-9, rel_tol=0)


def difference(ours, reported, digits):
    return "=" if is_equal(ours, reported, digits) else f"{ours - reported:+.{digits}f}"


def size_text(values):
    return NONE if values is None else f"{values[0]:.1f} ({values[1]}–{values[2]})"


def score_text(values):
    return NONE if values is None else f"{values[0]:.3f} ± {values[1]:.3f}"


def beside(results, objective, quantities, ours, text, digits, reported):
    """Rows: for each data set the paper's numbers, then ours from either source with the differences of averages."""
    rows = []
    whole = results.scope.folds == paper_data.FOLDS
    for name in [*results.data_sets, *([OVERALL] if results.is_whole else [])]:
        paper = reported[objective][name]
        rows.append([SHORT_NAMES.get(name, "all"), "paper", *(text(paper[quantity]) for quantity in quantities)])
        for source, title in SOURCES.items():
            row = []
            for quantity in quantities:
                values = ours(source, name, objective, quantity)
                cell = text(values)
                if values is not None and whole:
                    same = all(is_equal(*pair, digits) for pair in zip(values, paper[quantity], strict=True))
                    cell += " =" if same else f" [{difference(values[0], paper[quantity][0], digits)}]"
                row.append(cell)
            if any(cell != NONE for cell, quantity in zip(row, quantities, strict=True) if "forest" not in quantity):
                rows.append(["", title, *row])
    return rows


def sizes(results, objective):
    header = ["", "tree", *SIZES.values()]
    return header, beside(results, objective, SIZES, results.size, size_text, 1, REPORTED["sizes"])


def scores(results, objective):
    header = ["", "tree", *SCORES.values()]
    return header, beside(results, objective, SCORES, results.score, score_text, 3, REPORTED["scores"])


def data_sets(results):
    rows = []
    for name in results.data_sets:
        ours, paper = results.one("data", name), REPORTED["data_sets"][name]
        if ours:
            facts = ("samples", "features", "classes", "distribution")
            rows.append(
                [f"{SHORT_NAMES[name]}: {name}"]
                + [str(ours[fact]) + (" =" if ours[fact] == paper[fact] else f" [{paper[fact]}]") for fact in facts]
            )
    return ["data set", "n", "p", "K", "class distribution, %"], rows


def depth_leaves(results):
    """Leaves at least depth: the published search, the recursion that it stands for, and the optimum."""
    header = ["", "paper", "published search", "recursion without its stop", "optimum", "folds with fewer"]
    rows = []
    for name in results.data_sets:
        published, best = results.folds("published", name, "depth-leaves"), results.folds("tree", name, "depth-leaves")
        if published and best:
            searched = statistics.fmean(each["leaves"] for each in published)
            unstopped = statistics.fmean(each["leaves_without_stop"] for each in published)
            least = statistics.fmean(each["leaves"] for each in best)
            fewer = sum(a["leaves"] > b["leaves"] for a, b in zip(published, best, strict=True))
            row = [SHORT_NAMES[name], f"{REPORTED['sizes']['depth-leaves'][name]['leaves'][0]:.1f}"]
            row += [f"{searched:.1f}", f"{unstopped:.1f}", f"{least:.1f} ({least / searched - 1:+.1%})"]
            rows.append([*row, f"{fewer} of {len(published)}"])
    return header, rows


def pruning(results):
    """What pruning changes, beyond the sizes."""
    header = [
        "",
        *(f"{LETTERS[o]}: {what}" for o in units.OBJECTIVES for what in ("cells changed", "test rows agreeing")),
    ]
    rows = []
    for name in results.data_sets:
        row = []
        for objective in units.OBJECTIVES:
            found = results.folds("tree", name, objective)
            for fact in ("changed_cells", "test_agreement"):
                values = [each[fact] for each in found]
                row.append(f"{statistics.fmean(values):.1%}" if values and None not in values else NONE)
        rows.append([SHORT_NAMES[name], *row])
    return header, rows


def heuristic(results):
    """Times and gaps: the paper's numbers, ours below."""
    header = ["", "", "T_D, s", "T_L, s", "T_H, s", "gap in depth, %", "gap in leaves, %"]
    rows, ours = [], {}
    for name in results.data_sets:
        rows.append([SHORT_NAMES[name], "paper", *(f"{value:.2f}" for value in REPORTED["heuristic"][name].values())])
        found = _times_and_gaps(results, name)
        if found:
            ours[name] = found
            rows.append(["", "onetree", *_heuristic_cells(found, REPORTED["heuristic"][name])])
    if results.is_whole and len(ours) == len(SHORT_NAMES):
        means = {key: statistics.fmean(each[key] for each in ours.values()) for key in found}
        rows.append(["all", "paper", *(f"{value:.2f}" for value in REPORTED["heuristic"][OVERALL].values())])
        rows.append(["", "onetree", *_heuristic_cells(means, REPORTED["heuristic"][OVERALL])])
    return header, rows


def _times_and_gaps(results, name):
    """Means over the folds; the gap is that of the means, as in the paper."""
    found, means = results.folds("heuristic", name), {}
    for objective in ("depth", "leaves"):
        exact = results.folds("tree", name, objective)
        if not found or not exact:
            return None
        means[f"{objective}_seconds"] = statistics.fmean(each["seconds"] for each in exact)
        means[f"{objective}_heuristic_seconds"] = statistics.fmean(each[objective]["seconds"] for each in found)
        value = statistics.fmean(each[objective][objective] for each in found)
        means[f"{objective}_gap"] = 100 * (value / statistics.fmean(each[objective] for each in exact) - 1)
    return means


def _heuristic_cells(ours, paper):
    cells = [f"{ours[f'{objective}_seconds']:.4f}" for objective in ("depth", "leaves")]
    cells.append(" / ".join(f"{ours[f'{objective}_heuristic_seconds']:.4f}" for objective in ("depth", "leaves")))
    gaps = ("depth_gap", "leaves_gap")
    return cells + [f"{ours[gap]:.2f} [{difference(ours[gap], paper[gap], 2)}]" for gap in gaps]


def growth(results):
    header = ["", "value", "levels", "cells", "depth", "median ms", "least ms", "most ms"]
    rows = []
    for factor, values in results.scope.growth.items():
        for value in values:
            found = results.one("growth", factor, value)
            if found:
                middle = {key: statistics.median(each[key] for each in found) for key in ("levels", "cells", "depth")}
                times = [1000 * each["seconds"] for each in found]
                row = [factor, value, *(f"{each:g}" for each in middle.values()), f"{statistics.median(times):.3f}"]
                rows.append([*row, f"{min(times):.3f}", f"{max(times):.3f}"])
    return header, rows


def large(results):
    header = ["", "leaves", "depth", "nodes held", "time, s", "proof, s", "equal everywhere"]
    rows = []
    for name in results.scope.large:
        found = results.one("large", name)
        if found and "leaves" in found:
            row = [name, f"{found['leaves']:,}", found["depth"], f"{found['nodes']:,}"]
            row += [f"{found['seconds']:.2f}", f"{found['verify_seconds']:.2f}"]
            rows.append([*row, "proven" if found["verified"] else "NO"])
        elif found:
            rows.append([name, found["status"], *[NONE] * 4, found.get("message", "")])
    return header, rows


def checks(results):
    """What must be equal to the paper, wherever all ten folds are there."""
    found = []

    def check(what, ours, reported, digits):
        if ours is not None and results.scope.folds == paper_data.FOLDS:
            same = all(is_equal(*pair, digits) for pair in zip(ours, reported, strict=True))
            found.append({"what": what, "equal": same})

    musts = [("tree", "depth", "forest_leaves"), ("tree", "depth", "depth"), ("tree", "leaves", "leaves")]
    musts.append(("tree", "depth-leaves", "depth"))
    of_trees = [size for size in SIZES if size != "forest_leaves"]
    musts += [("published", objective, size) for objective in units.OBJECTIVES for size in of_trees]
    for source, objective, quantity in musts:
        for name in [*results.data_sets, OVERALL]:
            what = f"{name}, {LETTERS[objective]}, {SIZES[quantity]}, {SOURCES[source]}"
            ours = results.size(source, name, objective, quantity)
            check(what, ours, REPORTED["sizes"][objective][name][quantity], 1)
    for objective in units.OBJECTIVES:
        for quantity, title in SCORES.items():
            if quantity.startswith("forest") and objective != "depth":
                continue  # the same forests for every objective
            for name in [*results.data_sets, OVERALL]:
                source = "published" if quantity.startswith("pruned") else "tree"
                what = f"{name}, {LETTERS[objective]}, {title}, {SOURCES[source]}"
                ours = results.score(source, name, objective, quantity)
                check(what, ours, REPORTED["scores"][objective][name][quantity], 3)
    return found


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def as_csv(header, rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
