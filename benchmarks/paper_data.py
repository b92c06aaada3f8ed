"""Where the paper's data, forests and optima are: ``--paper-data DIR``, or ONETREE_PAPER_DATA, or ../shared/paper.

Imports nothing but the standard library: a driver that stays small does not blur the peak memory of what it starts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

DATA_SETS = ("HTRU2", "COMPAS-ProPublica", "FICO", "Seeds", "Pima-Diabetes", "Breast-Cancer-Wisconsin")
FOLDS = tuple(range(1, 11))
MORE_DATA = Path(__file__).parents[2] / "shared" / "data"  # real data as they come, features not binned


def add_option(parser):
    default = os.environ.get("ONETREE_PAPER_DATA") or Path(__file__).parents[2] / "shared" / "paper"
    parser.add_argument("--paper-data", type=Path, default=Path(default), metavar="DIR", help="the paper's forests")


def forest_path(paper_data, name, fold):
    return _existing(paper_data / "forests" / name / f"{name}.RF{fold}.txt", "--paper-data")


def fold_path(paper_data, name, fold):
    return _existing(paper_data / "datasets" / name / f"{name}.train{fold}.csv", "--paper-data")


def data_path(data, name):
    return _existing(data / f"{name}.csv", "--data")


def _existing(path, option):
    if not path.is_file():
        raise SystemExit(f"there is no {path}: name the folder of the data with {option} DIR")
    return path.absolute()


def optima(paper_data):
    """Per data set and fold, the optimum of each objective in the form of ``Solution.value``."""
    published = json.loads((paper_data / "optima.json").read_text())
    return {
        (name, int(fold)): {
            "depth": best["min_depth"],
            "leaves": best["min_leaves"],
            "depth-leaves": (best["min_depth"], best["min_leaves_at_min_depth"]),
        }
        for name, folds in published.items()
        for fold, best in folds.items()
    }
