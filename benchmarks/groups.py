"""COMPAS and FICO of the paper with what their features say of each other: ``python -m benchmarks.groups``.

Their features are answers about a few quantities, so most combinations of them never occur: nobody is under 21 and not
under 23. For each of the 20 forests the least depth and the fewest leaves are found with and without that knowledge, by
both engines, and each tree is compared with its forest in every cell that can be reached. Prints a table in Markdown.
Ends with status 1 if the engines differ, if a tree was not proven smallest or not verified, if the optimum without
groups is not the known one, if groups make a tree larger, or if a row of the data contradicts what is declared.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from pathlib import Path

import numpy as np

from benchmarks import paper_data, runs
from onetree import Domain, born_again, load_ensemble, verify
from onetree.domain.domain import as_domain
from onetree.lowering.grid import Grid
from onetree.search.solve import ENGINES

DATA_SETS = ("COMPAS-ProPublica", "FICO")
MEASURES = ("depth", "leaves")


def parse():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.groups", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--data-sets", nargs="+", choices=DATA_SETS, default=DATA_SETS)
    parser.add_argument("--folds", nargs="+", type=int, choices=paper_data.FOLDS, default=paper_data.FOLDS)
    parser.add_argument("--out", type=Path, help="write all results to this file, as JSON")
    return parser.parse_args()


def read_rows(path):
    with path.open(newline="") as file:
        names, *rows = csv.reader(file)
    return names[:-1], np.array(rows, dtype=np.float64)[:, :-1]  # the last column is the class


def declared(name, features):
    """What the features say of each other, from their names; all are 0 or 1."""
    everything = dict.fromkeys(features, "binary")
    if name == "FICO":
        return everything | chains(features)
    age = [feature for feature in features if feature.startswith("age:<")]
    priors = [feature for feature in features if feature.startswith("priors:")]
    clean = "juvenile-crimes:=0"
    implied = {(clean, f"juvenile-{kind}:=0"): "implies" for kind in ("felonies", "misdemeanors")}
    return everything | {tuple(age): "implies", tuple(priors): "one-hot"} | implied


def chains(features):
    """Thresholds of the same quantity: to be below one is to be below the next."""
    levels = {}
    for feature in features:
        quantity, _, level = feature.partition("<")
        levels.setdefault(quantity, []).append((float(level), feature))
    return {tuple(each for _, each in sorted(found)): "implies" for found in levels.values() if len(found) > 1}


def optimum(forest, domain, measure):
    """The least depth or number of leaves that all engines prove, with trees that are verified; None otherwise."""
    values = set()
    for engine in ENGINES:
        solution = born_again(forest, objective=measure, domain=domain, engine=engine, verify=False)
        verdict = verify(solution.tree, forest, domain=domain, method="cells")
        values.add(solution.value if solution.status == "optimal" and verdict else None)
    return values.pop() if len(values) == 1 else None


def measure_forest(options, name, fold, known):
    forest = load_ensemble(paper_data.forest_path(options.paper_data, name, fold))
    features, rows = read_rows(paper_data.fold_path(options.paper_data, name, fold))
    groups = Domain.from_dict(declared(name, features), features)
    row = {"data_set": name, "fold": fold, "data_inside": bool(groups.contains(rows).all())}
    for place, domain in (("without", Domain(groups.values)), ("with", groups)):
        row[place] = {measure: optimum(forest, domain, measure) for measure in MEASURES}
        row[place]["cells"] = Grid.of(forest, as_domain(domain, forest)).n_cells
    # A number that is missing is no number to compare.
    found = [row[place][measure] for place in ("without", "with") for measure in MEASURES]
    row["correct"] = (
        row["data_inside"]
        and None not in found
        and all(row["without"][measure] == known[measure] for measure in MEASURES)
        and all(row["with"][measure] <= row["without"][measure] for measure in MEASURES)
    )
    return row


def print_table(rows):
    print("| data set | fold | cells | of which reachable | depth without | with | leaves without | with |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        before, after = row["without"], row["with"]
        numbers = (before["cells"], after["cells"], *(side[name] for name in MEASURES for side in (before, after)))
        print(f"| {row['data_set']} | {row['fold']} | " + " | ".join(map(str, numbers)) + " |")
    for name in dict.fromkeys(row["data_set"] for row in rows):
        own = [row for row in rows if row["data_set"] == name and row["correct"]]
        if own:
            means = [
                statistics.fmean(row[side][column] for row in own)
                for column in ("cells", *MEASURES)
                for side in ("without", "with")
            ]
            print(f"| **{name}** | mean | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")


def main():
    options = parse()
    known = paper_data.optima(options.paper_data)
    rows = []
    for name in options.data_sets:
        for fold in options.folds:
            rows.append(measure_forest(options, name, fold, known[name, fold]))
            if options.out:
                runs.save(options.out, {"rows": rows})
    print_table(rows)
    n_right = sum(row["correct"] for row in rows)
    n_fewer = sum(row["correct"] and row["with"]["leaves"] < row["without"]["leaves"] for row in rows)
    print(
        f"\n{n_right} of {len(rows)} forests: the engines agree, all trees are proven smallest and verified on every "
        f"reachable cell; {n_fewer} have fewer leaves with groups"
    )
    return 0 if n_right == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
