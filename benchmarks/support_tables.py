"""The table of `benchmarks.support`, with all losses, and what it amounts to."""

from __future__ import annotations

import numpy as np

LIMIT = 60  # seconds that a tree may take


def table(cases):
    """Markdown: one line per case, then the sums."""
    lines = [
        "| data / model | leaves | agreement | CART | smeared | leaves | agreement | CART | smeared | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case, found in cases.items():
        fields = []
        for size in ("32", "256"):
            at = found[size]
            fields += [str(at["leaves"]), _percent(at["agreement"])]
            fields += [_percent(at[name], lost=at["agreement"] < at[name]) for name in ("cart", "smeared_cart")]
        fields.append(f"{max(found['32']['seconds'], found['256']['seconds']):.0f}")
        lines.append(f"| {case} | {' | '.join(fields)} |")
    return "\n".join([*lines, "", *summary(cases)])


def summary(cases):
    """Means, shares of cases in which the tree does at least as well, and the promises."""
    lines = []
    for size in ("32", "256"):
        mine = np.array([found[size]["agreement"] for found in cases.values()])
        for name, words in (("cart", "CART"), ("smeared_cart", "smeared CART")):
            other = np.array([found[size][name] for found in cases.values()])
            lines.append(
                f"- at most {size} leaves against {words}: mean {mine.mean():.2%} against {other.mean():.2%}; at least "
                f"as good in {(mine >= other).sum()} of {len(mine)} cases"
            )
    runs = [found[size] for found in cases.values() for size in ("32", "256")]
    over = sum(run["seconds"] > LIMIT for run in runs)
    lines.append(
        f"- longest run: {max(run['seconds'] for run in runs):.0f} s by the clock, {over} of {len(runs)} over {LIMIT} s"
        f"; {longest_of_processor(runs)}"
    )
    checked = [found for found in cases.values() if "certified" in found]
    return lines + promises(checked) if checked else lines


def longest_of_processor(runs):
    """In words; older results do not know it."""
    known = [run["processor_seconds"] for run in runs if "processor_seconds" in run]
    return f"{max(known):.0f} s of the processor" if known else "of the processor not measured"


def promises(checked):
    """What the runs with promises have shown."""
    faithful = [found["faithful"] for found in checked]
    certified = [found["certified"] for found in checked]
    return [
        f"- fidelity=1.0: {sum(found['wrong_rows'] for found in faithful)} wrong reference rows in {len(faithful)} runs"
        f", at most {max(found['seconds'] for found in faithful):.0f} s",
        f"- certify=True: {sum(found['disagreements'] for found in certified)} disagreements on "
        f"{sum(found['points'] for found in certified):,} points in cores, at most "
        f"{max(found['seconds'] for found in certified):.0f} s; held-out rows proven: "
        f"{np.mean([found['held_out']['share'] for found in certified]):.1%} in the mean",
    ]


def _percent(share, *, lost=False):
    text = f"{100 * share:.1f}"
    return f"**{text}**" if lost else text
