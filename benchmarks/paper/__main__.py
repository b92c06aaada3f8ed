"""Every table and figure of the paper, beside ours: ``python -m benchmarks.paper --paper-data DIR --out DIR``.

Runs on the published folds and forests and writes to ``--out``: ``units/``, what was measured, one file per unit of
work; ``tables/``, as CSV and Markdown; ``figures/``, as SVG; and ``paper.md``, all of it as one page. A run that was
broken off goes on where it stopped; delete the file of a unit to have it measured again. ``--quick`` takes a few
minutes: fewer folds and no Breast-Cancer. Ends with status 1 if something that must equal the paper does not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from benchmarks import paper_data
from benchmarks.paper import figures, page, tables, units


def parse():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    paper_data.add_option(parser)
    parser.add_argument("--data", type=Path, default=paper_data.MORE_DATA, metavar="DIR", help="further data, unbinned")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--quick", action="store_true", help="a few minutes: fewer folds, no Breast-Cancer")
    parser.add_argument(
        "--memory-limit",
        type=float,
        default=4.0,
        metavar="GB",
        help="for the table of the published DL search; 15 for all of Breast-Cancer (default: %(default)s)",
    )
    parser.add_argument("--only", nargs="+", choices=units.WORK, default=tuple(units.WORK), help="kinds of work")
    parser.add_argument(
        "--docs", type=Path, metavar="DIR", help="also write paper-tables.md and images/paper_*.svg there"
    )
    parser.add_argument("--report-only", action="store_true", help="no work: tables and figures of what is there")
    return parser.parse_args()


def work(scope, options):
    names = [unit for unit in units.units(scope) if unit[0] in options.only]
    missing = [unit for unit in names if units.done(options.out, unit) is None]
    with tqdm(total=len(names), initial=len(names) - len(missing), unit="unit", smoothing=0) as bar:
        for unit in missing:
            bar.set_description_str(" ".join(map(str, unit)))
            units.do(scope, options.out, unit)
            bar.update()


def main():
    options = parse()
    if options.quick:
        scope = units.Scope.quick(options.paper_data, options.data, options.memory_limit)
    else:
        scope = units.Scope(options.paper_data, options.data, memory_limit=options.memory_limit)
    if not options.report_only:
        work(scope, options)
    results = tables.Results(scope, options.out)
    figures.draw_all(results, options.out / "figures")
    checks = tables.checks(results)
    page.write(results, checks, options.out)
    if options.docs:
        page.install(results, checks, options.docs)
        figures.draw_all(results, options.docs / "images")
    for check in checks:
        print(f"{'equal  ' if check['equal'] else 'DIFFERS'}  {check['what']}")
    return 0 if all(check["equal"] for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
