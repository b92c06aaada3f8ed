"""Tables and the figure of `benchmarks.peers`, from its rows; runs nothing."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.exact import OBJECTIVES, geometric_mean

NAMES = {
    "Breast-Cancer-Wisconsin": "Breast-Cancer",
    "COMPAS-ProPublica": "COMPAS",
    "Pima-Diabetes": "Pima-Diabetes",
}


def write(rows, folder):
    """Write peers.md and peers.svg; gives the text of the tables."""
    text = "\n\n".join(
        part for part in (authors_table(rows["authors"]), alternatives_table(rows["alternatives"])) if part
    )
    (Path(folder) / "peers.md").write_text(text + "\n", encoding="utf-8")
    draw(rows, Path(folder) / "peers.svg")
    return text


def table(header, lines):
    """A Markdown table; all columns but the first are numbers."""
    rule = "|".join(["---"] + ["---:"] * (len(header) - 1))
    return "\n".join(f"| {' | '.join(cells)} |" if cells else f"|{rule}|" for cells in [header, None, *lines])


def in_order(names):
    return list(dict.fromkeys(names))


def seconds(value):
    """Two digits that count, in the unit that fits."""
    value, unit = (value, "s") if value >= 1 else (1e3 * value, "ms")
    return f"{value:.0f} {unit}" if value >= 10 else f"{value:.2g} {unit}"


def size(values):
    """Mean of counts; thousands are grouped."""
    mean = statistics.fmean(values)
    return f"{mean:,.1f}" if mean < 1000 else f"{mean:,.0f}"


def authors_table(rows):
    """One line per data set and objective, one per objective over all: means, and ratios as geometric means."""
    if not rows:
        return ""
    rows = [row for row in rows if "seconds" in row["ours"]]
    with_peer = any("peer" in row for row in rows)
    header = ["data set, objective", "forests", "depth", "leaves", "time", "memory"]
    if with_peer:
        header += ["authors: depth", "leaves", "time", "memory", "time ×", "least", "first solve ×", "memory ×"]
    lines = []
    for objective in OBJECTIVES:
        chosen = [row for row in rows if row["objective"] == objective]
        groups = {
            name: [row for row in chosen if row["data_set"] == name] for name in in_order(r["data_set"] for r in chosen)
        }
        lines += [
            authors_line(f"{NAMES.get(name, name)}, {objective}", group, with_peer) for name, group in groups.items()
        ]
        if len(groups) > 1:
            lines.append(authors_line(f"**all, {objective}**", chosen, with_peer))
    if len(lines) > 1:
        lines.append(authors_line("**all**", rows, with_peer))
    return table(header, lines)


def authors_line(title, rows, with_peer):
    ours = [row["ours"] for row in rows]
    line = [title, str(len(rows)), *measures(ours, "peak_bytes_of_solve")]
    if not with_peer:
        return line
    pairs = [row for row in rows if "ratio" in row]
    unsolved = [row["peer"]["status"] for row in rows if "peer" in row and "ratio" not in row]
    if not pairs:
        return [*line, *([unsolved[0] if unsolved else "not run"] + [""] * 7)]
    theirs = measures([row["peer"] for row in pairs], "peak_bytes")
    if len(pairs) < len(rows):
        theirs[0] += f" ({len(pairs)} of {len(rows)})"
    ratios = [row["ratio"] for row in pairs]
    means = [geometric_mean(ratios), min(ratios)]
    means += [geometric_mean([row[name] for row in pairs]) for name in ("first_ratio", "memory_ratio")]
    return [*line, *theirs, *(f"{mean:.1f}" for mean in means)]


def measures(results, memory):
    """Mean depth, leaves, time and peak memory, as texts."""
    megabytes = statistics.fmean(result[memory] for result in results) / 1e6
    return [
        size([result["depth"] for result in results]),
        size([result["leaves"] for result in results]),
        seconds(statistics.fmean(result["seconds"] for result in results)),
        f"{megabytes:.0f} MB",
    ]


def answers(rows):
    """Per data set and method the results that came out, and what was said where none did."""
    done, refusals = {}, {}
    for row in rows:
        for method, result in row.get("methods", {}).items():
            if result["status"] == "done":
                done.setdefault((row["data_set"], method), []).append(result)
            else:
                refusals[row["data_set"], method] = result["message"]
    return done, refusals


def alternatives_table(rows):
    """One line per data set and method: means over the folds."""
    done, refusals = answers(rows)
    header = ["data set, method", "forests", "size", "training rows", "held-out rows", "random points", "time"]
    lines = []
    for name in in_order(row["data_set"] for row in rows):
        leaves = [row["forest_leaves"] for row in rows if row["data_set"] == name and "forest_leaves" in row]
        if leaves:
            lines.append(
                [f"**{NAMES.get(name, name)}**: the forest", str(len(leaves)), f"{size(leaves)} leaves", *[""] * 4]
            )
        for method in in_order(method for _, method in [*done, *refusals]):
            results = done.get((name, method))
            if results is None:
                if (name, method) in refusals:
                    lines.append([method, "0", refusals[name, method], *[""] * 4])
                continue
            units = {result["unit"] for result in results}
            unit = units.pop() if len(units) == 1 else "leaves"
            line = [method, str(len(results)), f"{size([result['size'] for result in results])} {unit}"]
            for sample in ("training", "held_out", "random"):
                share = statistics.fmean(result[f"agreement_{sample}"] for result in results)
                # Never rounded up to all.
                line.append("100 %" if share == 1 else f"{min(100 * share, 99.99):.2f} %")
            lines.append([*line, seconds(statistics.fmean(result["seconds"] for result in results))])
    return table(header, lines) if lines else ""


def draw(rows, path):
    """Left: how many times longer the authors' program takes. Right: what a smaller explanation costs."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "onetree"
    import matplotlib.pyplot as plt

    ratios = [row for row in rows["authors"] if "ratio" in row]
    done, _ = answers(rows["alternatives"])
    panels = [panel for panel, there in ((draw_ratios, ratios), (draw_alternatives, done)) if there]
    if not panels:
        return
    figure, axes = plt.subplots(1, len(panels), figsize=(5.6 * len(panels), 4.4), squeeze=False, layout="constrained")
    for panel, ax in zip(panels, axes[0], strict=True):
        panel(ax, ratios if panel is draw_ratios else done)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_ratios(axes, rows):
    names = in_order(row["data_set"] for row in rows)
    for number, objective in enumerate(OBJECTIVES):
        points = [(names.index(row["data_set"]), row["ratio"]) for row in rows if row["objective"] == objective]
        if points:
            places, ratios = zip(*points, strict=True)
            label = f"{objective}: {geometric_mean(ratios):.0f} times (geometric mean)"
            axes.plot(
                [place + 0.22 * (number - 1) for place in places], ratios, "o", markersize=4, alpha=0.7, label=label
            )
    axes.set(yscale="log", ylabel="authors' time / ours", title="The authors' program beside ours, forest by forest")
    axes.set_xticks(range(len(names)), labels=[NAMES.get(name, name).replace("-", "-\n") for name in names], fontsize=8)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8)


def draw_alternatives(axes, done):
    least = 1e-5  # of a share on a logarithmic axis: one of 100,000 points
    axes.set(xscale="log", yscale="log", ylim=(least / 2, 1))
    for number, method in enumerate(in_order(method for _, method in done)):
        results = [results for (_, each), results in done.items() if each == method]
        sizes = [statistics.fmean(result["size"] for result in group) for group in results]
        missed = [1 - statistics.fmean(result["agreement_random"] for result in group) for group in results]
        marker = "*" if method == "onetree" else "osD^vPX"[number % 7]
        axes.plot(sizes, [max(share, least) for share in missed], marker, markersize=8, alpha=0.75, label=method)
    axes.set(xlabel="leaves or rules", ylabel="share of random points with another class")
    axes.set_title("What a smaller explanation costs, by data set")
    ticks = [1e-1, 1e-2, 1e-3, 1e-4, least]
    axes.set_yticks(ticks, labels=["10 %", "1 %", "0.1 %", "0.01 %", "none"])
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper right")
