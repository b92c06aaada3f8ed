"""What all figures share: matplotlib only when it is needed, colours of classes, text that is nothing but text.

Names come from models and files, so they are never read as markup, and never so long that they push out the rest.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onetree.errors import InvalidInputError, missing
from onetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# Eight colours that are distinct for all kinds of colour blindness, on white and on black: those of Okabe and Ito,
# with grey for their black. Neighbours in the list differ in lightness too.
PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#0072b2", "#d55e00", "#999999")
_MAX_NAME = 32


def new_figure(width: float, height: float, n_columns: int = 1) -> tuple[Figure, Any]:
    """Return a figure of that size in inches, and its axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise missing("matplotlib", "plot") from None
    figure, axes = plt.subplots(1, n_columns, figsize=(width, height), layout="constrained")
    return figure, axes


def as_tree(source: object) -> Tree:
    """Return the tree of a `Tree`, a `Solution` or a fitted `BornAgainTreeClassifier`."""
    for found in (source, getattr(source, "tree", None), getattr(source, "tree_", None)):
        if isinstance(found, Tree):
            return found
    raise InvalidInputError(
        f"expected a Tree, a Solution or a fitted BornAgainTreeClassifier, not {type(source).__name__}"
    )


def class_colours(n_classes: int) -> list[str]:
    """Return a colour per class: `PALETTE`, and beyond it hues that are hard to distinguish by eye."""
    colours = list(PALETTE[:n_classes])
    for extra in range(n_classes - len(colours)):
        red, green, blue = colorsys.hls_to_rgb(extra * 0.618034 % 1.0, 0.45 + 0.3 * (extra % 2), 0.5)
        colours.append(f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}")
    return colours


def foreground() -> str:
    """Colour of lines and text in the user's style: black in a light one, white in a dark one."""
    import matplotlib as mpl

    return str(mpl.rcParams["text.color"])


def shown(name: object, limit: int = _MAX_NAME) -> str:
    """Return a name as it is drawn: one line, printable, not too long."""
    text = str(name)
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= limit else text[: limit - 1] + "…"


def labels_of(classes: Sequence[object]) -> list[str]:
    """Return class labels as they are drawn."""
    return [shown(label) for label in classes]


def plain_legend(axes: Axes | Figure, colours: Sequence[str], labels: Sequence[str], **options: Any) -> Legend:
    """Add a legend of coloured squares whose labels are plain text and may begin with an underscore."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, edgecolor=foreground(), linewidth=0.5) for colour in colours]
    legend = axes.legend(handles, [str(i) for i in range(len(handles))], **options)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_parse_math(False)
        text.set_text(label)
    return legend


def plain_ticks(labels: Sequence[Any]) -> None:
    """Make tick labels nothing but text."""
    for label in labels:
        label.set_parse_math(False)
