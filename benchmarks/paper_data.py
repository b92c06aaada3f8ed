"""Where the paper's forests and their optima are: ``--paper-data DIR``, or ONETREE_PAPER_DATA, or ../shared/paper.

Imports nothing but the standard library: a driver that stays small does not blur the peak memory of what it starts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

DATA_SETS = ("HTRU2", "COMPAS-ProPublica", "FICO", "Seeds", "Pima-Diabetes", "Breast-Cancer-Wisconsin")
FOLDS = tuple(range(1, 11))


def add_option(parser):
    default = os.environ.get("ONETREE_PAPER_DATA") or Path(__file__).parents[2] / "shared" / "paper"
    parser.add_argument("--paper-data", type=Path, default=Path(default), metavar="DIR", help="the paper's forests")


def forest_path(paper_data, name, fold):
    path = paper_data / "forests" / name / f"{name}.RF{fold}.txt"
    if not path.is_file():
        raise SystemExit(f"no forest at {path}: give the folder of the paper's data with --paper-data DIR")
    return path


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
