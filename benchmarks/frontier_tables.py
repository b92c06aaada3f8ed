"""The tables of `benchmarks.frontier`, with all losses, and what they amount to."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.stats import wilcoxon

RIVALS = {"cart": "CART", "smeared": "smeared"}


def tables(cases, sizes):
    """Markdown: what it amounts to, then accuracy and agreement case by case, means over the splits."""
    merged = means(cases)
    lines = [*summary(merged, sizes), "", "### Accuracy", "", *_table(merged, sizes, "accuracy", ("cart", "smeared"))]
    lines += ["", "### Agreement with the model", "", *_table(merged, sizes, "agreement", ("smeared",))]
    return "\n".join([*lines, "", "### Seconds", "", *_seconds(merged)])


def means(cases):
    """One entry per data set and model, the mean over its splits: (n_sizes,) arrays by name."""
    groups = defaultdict(list)
    for case, found in cases.items():
        groups[case.rsplit(" / ", 1)[0]].append(_arrays(found))
    return {
        case: {name: np.mean([each[name] for each in group], axis=0) for name in group[0]}
        for case, group in groups.items()
    }


def _arrays(found):
    points, smeared = found["points"], found["smeared"]
    return {
        "accuracy": np.array([point["accuracy"] for point in points]),
        "agreement": np.array([point["agreement"] for point in points]),
        "cart accuracy": np.array([point["cart_accuracy"] for point in points]),
        "smeared accuracy": np.array([point["accuracy"] for point in smeared]),
        "smeared agreement": np.array([point["agreement"] for point in smeared]),
        "balanced": np.array([point["balanced_accuracy"] - point["cart_balanced_accuracy"] for point in points]),
        "model": np.array(found["model_accuracy"]),
        **{
            name: np.array(found[name])
            for name in ("rows", "features", "processor_seconds", "trees_seconds", "one_seconds", "smeared_seconds")
        },
    }


def summary(merged, sizes):
    """Mean leads in points, in how many cases the tree is better, level and worse, and Wilcoxon's p.

    Models on the same data are no independent cases, so p is about the means of the data sets.
    """
    lines = [
        "| leaves | measure | against | mean lead | p | better | level | worse |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for at, size in enumerate(sizes):
        for measure, rival in (("accuracy", "cart"), ("accuracy", "smeared"), ("agreement", "smeared")):
            leads = {case: found[measure][at] - found[f"{rival} {measure}"][at] for case, found in merged.items()}
            lines.append(f"| {size} | {measure} | {RIVALS[rival]} | {_lead(leads)} |")
        leads = {case: found["balanced"][at] for case, found in merged.items()}
        lines.append(f"| {size} | balanced accuracy | CART | {_lead(leads)} |")
    return lines


def _lead(leads):
    lead = np.round(100 * np.array(list(leads.values())), 6)  # what is the same in both is the same
    by_data = defaultdict(list)
    for case, each in zip(leads, lead, strict=True):
        by_data[case.split(" / ")[0]].append(each)
    of_data = np.array([np.mean(each) for each in by_data.values()])
    p = wilcoxon(of_data).pvalue if of_data.any() else 1.0
    return f"{lead.mean():+.2f} | {p:.3f} | {(lead > 0).sum()} | {(lead == 0).sum()} | {(lead < 0).sum()}"


def _table(merged, sizes, measure, rivals):
    head = " | ".join(f"{size} | {' | '.join(RIVALS[rival] for rival in rivals)}" for size in sizes)
    of_model = measure == "accuracy"
    columns = 1 + of_model + len(sizes) * (1 + len(rivals))
    lines = [f"| data / model | {'model | ' if of_model else ''}{head} |", "|---" * columns + "|"]
    for case, found in merged.items():
        fields = [f"{100 * found['model']:.1f}"] if of_model else []
        for at in range(len(sizes)):
            own = found[measure][at]
            fields.append(f"{100 * own:.1f}")
            for rival in rivals:
                other = found[f"{rival} {measure}"][at]
                fields.append(f"**{100 * other:.1f}**" if other > own + 1e-9 else f"{100 * other:.1f}")
        lines.append(f"| {case} | {' | '.join(fields)} |")
    return lines


def _seconds(merged):
    lines = [
        "| data / model | rows | features | one tree of 32 | four trees | with CART, tuned | smeared CART, four |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, found in merged.items():
        times = (found[name] for name in ("one_seconds", "trees_seconds", "processor_seconds", "smeared_seconds"))
        fields = [f"{found['rows']:.0f}", f"{found['features']:.0f}", *(f"{each:.2f}" for each in times)]
        lines.append(f"| {case} | {' | '.join(fields)} |")
    return lines


def grid_search_summary(cases):
    """How the two ways to tune CART compare, in the mean over all cases and sizes."""
    quick = 100 * np.array([found["quick"] for found in cases.values()])
    full = 100 * np.array([found["full"] for found in cases.values()])
    seconds = [sum(found[f"{way}_seconds"] for found in cases.values()) for way in ("quick", "full")]
    lead = (quick - full).mean(axis=1)
    return (
        f"{len(cases)} cases: quick {quick.mean():.2f} %, grid search {full.mean():.2f} %, lead of quick "
        f"{lead.mean():+.2f} +- {lead.std() / len(lead) ** 0.5:.2f}; {seconds[0]:.0f} s and {seconds[1]:.0f} s"
    )
