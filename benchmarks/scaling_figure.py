"""Fitted power laws and the figure of `benchmarks.scaling`, from its rows; runs nothing."""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.scaling import FACTORS, SERIES

# Where growth begins: below, time and memory are those of setting up.
LEAST = {"seconds": 1e-4, "megabytes": 2.0, "states": 2, "leaves": 2}
TITLES = {
    "seconds": "seconds",
    "megabytes": "peak memory of the solve, MB",
    "states": "boxes, states or regions",
    "leaves": "leaves of the tree",
}
MARKERS = {"interval-dp": "o", "branch-and-bound": "s", "heuristic": "^"}


def fit(xs, ys, least):
    """The power law y = scale x^exponent; None where there are too few points.

    Counted are all points from the first that reaches `least` on. Dropping every point below it would keep those that
    happen to lie high, and flatten the line.
    """
    first = next((index for index, y in enumerate(ys) if y >= least), len(ys))
    xs, ys = np.array(xs[first:], dtype=float), np.array(ys[first:], dtype=float)
    if len(xs) < 3 or ys.min() <= 0:
        return None
    log_x, log_y = np.log(xs), np.log(ys)
    exponent, constant = np.polyfit(log_x, log_y, 1)
    spread = np.sum((log_y - log_y.mean()) ** 2)
    missed = np.sum((log_y - exponent * log_x - constant) ** 2)
    return {
        "exponent": float(exponent),
        "scale": float(np.exp(constant)),
        "r_squared": float(1 - missed / spread) if spread > 0 else 1.0,
        "from": float(xs[0]),
        "to": float(xs[-1]),
        "n_points": len(xs),
    }


def curves(rows, measure):
    """Per factor and series: values, medians, and the line through them."""
    groups = {}
    for row in sorted(rows, key=lambda row: row["value"]):
        groups.setdefault((row["factor"], row["series"]), []).append((row["value"], row[measure]))
    found = {}
    for key, points in groups.items():
        xs, ys = zip(*points, strict=True)
        found[key] = xs, ys, fit(xs, ys, LEAST[measure])
    return found


def fits(rows):
    return [
        {"measure": measure, "factor": factor, "series": series} | power
        for measure in LEAST
        for (factor, series), (_, _, power) in curves(rows, measure).items()
        if power
    ]


def table(found):
    """Exponents as a Markdown table: a line per factor and series, a column per measure; R² in brackets."""
    cells = {}
    for each in found:
        key = each["factor"], each["series"]
        cells.setdefault(key, {})[each["measure"]] = f"{each['exponent']:z.1f} ({each['r_squared']:.2f})"
    lines = [f"| grows with | | {' | '.join(LEAST)} |", f"|---|---|{'---:|' * len(LEAST)}"]
    for factor, series in product(FACTORS, SERIES):
        row = cells.get((factor, series), {})
        lines += [f"| {factor} | {series} | {' | '.join(row.get(measure, '') for measure in LEAST)} |"] if row else []
    return "\n".join(lines)


def draw(rows, path):
    """Small multiples: a row per measure, a column per factor; the exponent of each line in the legend."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "onetree"
    import matplotlib.pyplot as plt

    factors = [factor for factor in FACTORS if any(row["factor"] == factor for row in rows)]
    if not factors:
        return
    size = (3.1 * len(factors), 2.5 * len(LEAST))
    figure, grid = plt.subplots(
        len(LEAST), len(factors), figsize=size, squeeze=False, sharey="row", sharex="col", layout="constrained"
    )
    for line, measure in zip(grid, LEAST, strict=True):
        found = curves(rows, measure)
        for axes, factor in zip(line, factors, strict=True):
            for number, (series, marker) in enumerate(MARKERS.items()):
                if (factor, series) in found:
                    plot(axes, *found[factor, series], series, marker, f"C{number}")
            ticks = sorted({row["value"] for row in rows if row["factor"] == factor})
            axes.set(xscale="log", yscale="log")
            axes.set_xticks(ticks, labels=map(str, ticks))
            axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
            axes.grid(alpha=0.3)
            axes.legend(fontsize=7, handletextpad=0.2, borderpad=0.3)
        line[0].set_ylabel(TITLES[measure])
    for axes, factor in zip(grid[-1], factors, strict=True):
        axes.set_xlabel(factor)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def plot(axes, xs, ys, power, series, marker, colour):
    label = series
    if power:
        label += f": ^{power['exponent']:z.1f}"
        ends = np.array([power["from"], power["to"]])
        axes.plot(ends, power["scale"] * ends ** power["exponent"], color=colour, linewidth=0.8)
    axes.plot(xs, ys, marker, color=colour, markersize=4, alpha=0.8, label=label)
