"""All tables and figures as one page: words that hold whatever the numbers are, and the numbers."""

from __future__ import annotations

import statistics

from benchmarks import runs
from benchmarks.paper import tables, units
from benchmarks.paper.figures import trend
from onetree.files.atomic import write_whole

INTRODUCTION = """# The paper, table by table

Thibaut Vidal, Toni Pacheco, Maximilian Schiffer: *Born-Again Tree Ensembles*, ICML 2020, with its supplement. Every
number on this page comes from one command, run on the folds and forests that the authors published:

    python -m benchmarks.paper --paper-data DIR --out DIR

It takes {minutes}; with `--quick`, a few minutes. A run that was interrupted resumes where it stopped.

Machine: {machine}. The paper: one thread of an Intel Xeon E5-2620v4, 2.1 GHz. Ours is one thread as well.

**How to read the tables.** Numbers are averages over the ten folds, with minimum and maximum, or with the standard
deviation. Below the paper's numbers stand ours: *published* is the tree that the published search and extraction
give, run again here in Python; *onetree* is the tree that this package gives. `=` means equal in everything that the
paper prints (average, minimum and maximum, or average and deviation); otherwise the difference of the averages stands
in brackets.
"""

CHECKS = """## What must be equal

{equal} of {all} comparisons are equal: the least depth (D), the fewest leaves (L), depth and leaves of the published
DL recursion, the leaves of the forests, accuracy and F1 of forests and trees to three decimals, and the sizes and
scores of pruned trees where the published choice of tree could be run.
"""

WHY = """## Why some numbers differ

**Which optimal tree.** A forest has many trees of least depth, or of fewest leaves. How many leaves the shallowest
tree has, how deep the one with fewest leaves is, and what pruning leaves of either depends on which one is taken. The
published extraction takes, box by box, the first split in the order of features and levels that adds up; for D also
only among the boxes that its search happened to meet. This package takes others. The rows *published* make the
published choice, and are to equal the paper in every number; the rows *onetree* only in those that the objective
determines. For D on Breast-Cancer the published search meets too many boxes for a Python program, so there is no such
row.

**The published DL recursion is not the DL optimum.** It forces every subtree to its own least depth, although a
subtree that does not lie on the longest path could be deeper and have fewer leaves. `objective="depth-leaves"` is the
optimum: the fewest leaves among all trees of least depth.
"""

STOP = """**And its search can stop too early.** The published search of a box ends when one side of a split is worth
as much as the best split so far. That is right for D and for L, where a part of a box never needs more than the box.
In the DL recursion a part can need more leaves than the whole, and then better splits are never tried. {worst} The
rows *published* follow the search with its stop wherever a table of all boxes fits into `--memory-limit`: {without}.
"""

PRUNING = """## Post-pruning

`onetree.prune(tree, X)` is the paper's: from the bottom up, a split one side of which holds no training sample gives
way to the other side; then leaves of one class below the same split merge. The pruned tree is marked as no longer
exact. How much it changes: the share of the cells, into which the thresholds of the tree cut the space, that get
another class, and the share of test samples with the same class as before. Averages over the folds.
"""

GROWTH = """## Growth with samples, features and trees

Objective D on FICO. As in the paper, a random part of the samples and features, ten folds, forests of depth 3 with
half of the features to choose from at each split; what is not varied is n = 2500, p = 10, T = 10. The drawing of
samples and features is ours, so single values cannot equal the paper's, which prints no numbers here.

![Box plots of the time over the number of samples, features and trees]({images}/paper_growth.svg)

The paper sees three trends. Time grows exponentially with the number of features: {features}. It grows much less with
the number of trees: {trees}. It falls with the number of samples, since forests trained on more data are more alike
and have fewer distinct hyperplanes: {samples}.
"""

HEURISTIC = """## Heuristic: times and gaps

The paper's heuristic has no objective; its gaps are those of one tree. Ours minimises what it is asked for: T_H is
given for depth / leaves, the gap in depth is that of the tree for depth, and the gap in leaves that of the tree for
leaves. The gap is that of the averages over the folds. Our heuristic hands a grid that is small enough to the exact
engine, and so finds the optimum there.
"""

LARGE = """## Large data

The paper's heuristic was run on Ionosphere, Spambase and MiniBooNE (130,000 samples, 50 features), less than a minute
each. MiniBooNE is not among the data that come with this project; in its place stand MAGIC (19,020 samples, 10
features) and a synthetic set of 145,000 samples and 50 features. Forests of ten trees of depth 3, features binned to
ten levels, as in the paper.
"""


def write(results, checks, out):
    """Write the page, and every table as CSV and Markdown of its own."""
    folder = out / "tables"
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name, header, rows):
        write_whole(folder / f"{name}.csv", tables.as_csv(header, rows))
        write_whole(folder / f"{name}.md", tables.markdown(header, rows) + "\n")

    write_whole(out / "paper.md", text(results, checks, "figures", keep))


def install(results, checks, docs):
    """Write the page for the documentation, whose figures are in ``images``."""
    write_whole(docs / "paper-tables.md", text(results, checks, "images", lambda *_: None))


def text(results, checks, images, keep):
    """Return the page; `images` is where its figures are, and ``keep(name, header, rows)`` sees every table."""

    def table(name, content):
        header, rows = content
        if not rows:
            return "*Not run.*"
        keep(name, header, rows)
        return tables.markdown(header, rows)

    machine = runs.machine()
    parts = [
        INTRODUCTION.format(
            machine=f"{machine['processor']}, {machine['n_processors']} processors, Python {machine['python']}",
            minutes="some hours, nearly all of them for the published recursions on Breast-Cancer",
        )
    ]
    if checks:
        parts.append(CHECKS.format(equal=sum(check["equal"] for check in checks), all=len(checks)))
        parts += [f"Not equal: {check['what']}." for check in checks if not check["equal"]]
    else:
        parts.append("*Fewer than ten folds were run, so nothing here can be compared with the paper's averages.*")
    missing = [unit for unit in units.units(results.scope) if results.one(*unit) is None]
    if missing:
        kinds = ", ".join(sorted({f"{unit[0]} {unit[1]}" for unit in missing}))
        parts.append(f"*{len(missing)} units of work are not done yet, and their rows are missing: {kinds}.*")
    parts += ["## Data sets", table("data_sets", tables.data_sets(results))]
    for objective, letter in tables.LETTERS.items():
        parts += [f"## Size, objective {letter}", table(f"sizes_{letter}", tables.sizes(results, objective))]
    parts += [WHY, table("depth_leaves", tables.depth_leaves(results)), _stop(results)]
    for objective, letter in tables.LETTERS.items():
        parts += [
            f"## Accuracy and F1, objective {letter}",
            table(f"scores_{letter}", tables.scores(results, objective)),
        ]
    parts += [PRUNING, table("pruning", tables.pruning(results)), "## Times"]
    parts.append(f"![Box plots of the time per data set and objective]({images}/paper_times.svg)")
    parts += [HEURISTIC, table("heuristic", tables.heuristic(results))]
    growth = tables.growth(results)
    parts += [GROWTH.format(images=images, **_trends(results)), table("growth", growth)]
    parts += [LARGE, table("large", tables.large(results)), "## A worked example and an illustration"]
    parts.append(f"![A forest on Seeds, its tree, and the pruned tree]({images}/paper_seeds.svg)")
    parts.append(f"![Three trees, their cells, and the one tree]({images}/paper_illustration.svg)")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _stop(results):
    """Where the stop of the published search matters most, and where it could not be followed."""
    found = {
        (name, fold): result
        for name in results.data_sets
        for fold in results.scope.folds
        if (result := results.one("published", name, fold, "depth-leaves"))
    }
    unstopped = [f"{tables.SHORT_NAMES[name]} {fold}" for (name, fold), result in found.items() if not result["stops"]]
    where = f"for all but {', '.join(unstopped)}, where it does not" if unstopped else "here for all forests"
    early = {each: result for each, result in found.items() if result["leaves"] > result["leaves_without_stop"]}
    worst = f"It happens in {len(early)} of the {len(found) - len(unstopped)} forests looked at."
    if early:
        name, fold = max(early, key=lambda each: early[each]["leaves"] / early[each]["leaves_without_stop"])
        result, best = early[name, fold], results.one("tree", name, fold, "depth-leaves")
        worst += (
            f" On {name}, fold {fold}, the search gives {result['leaves']} leaves, the recursion without stop "
            f"{result['leaves_without_stop']}, and the optimum is {best['leaves'] if best else tables.NONE}."
        )
    return STOP.format(worst=worst, without=where)


def _trends(results):
    """One phrase per factor: how the median time changes over its range."""
    phrases = dict.fromkeys(units.GROWTH, "not run")
    for factor, values in results.scope.growth.items():
        found = {value: results.one("growth", factor, value) for value in values}
        if None in found.values():
            continue
        seconds, cells = (
            {value: statistics.median(run[key] for run in each) for value, each in found.items()}
            for key in ("seconds", "cells")
        )
        ends = values[0], values[-1]
        slope = trend(seconds, is_exponential=factor == "features")
        speed = f"a factor of {slope:.2f} per feature" if factor == "features" else f"as the power {slope:+.2f}"
        phrases[factor] = "here from {} ms at {} to {} ms at {}".format(
            *(text for end in ends for text in (f"{1000 * seconds[end]:.3f}", end))
        )
        phrases[factor] += f", {speed}, with {cells[ends[0]]:,.0f} and {cells[ends[1]]:,.0f} cells"
    return phrases
