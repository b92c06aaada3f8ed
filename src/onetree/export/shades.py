"""Colours of leaves: of a class, paler the less probable it is, or along a scale for the numbers of a regression tree.

Colours are written #rrggbb, as graphs, figures and pages all read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from onetree.tree.leaf_values import Outcomes

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

# From few to many: lightness falls all the way, so that the order is seen in grey and by the colour-blind as well.
SCALE = ("#ffffcc", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0")
_PALEST = 0.25  # of the colour of a class that is no more probable than the others


def outcome_colours(tree: Tree, said: Outcomes, class_colours: Sequence[str]) -> list[str]:
    """Return a colour for each of the things that the leaves of a tree say.

    Parameters
    ----------
    tree : Tree
    said : Outcomes
        Of this tree.
    class_colours : sequence of str
        The full colour of each class; taken in turn if there are more classes.
    """
    if said.value is None or tree.output == "probability":
        own = [class_colours[index % len(class_colours)] for index in said.leaf_class.tolist()]
        if said.value is None:
            return own
        sure = said.value[np.arange(len(own)), said.leaf_class].astype(np.float64).clip(0.0, 1.0)
        chance = 1.0 / max(2, tree.n_classes)
        strength = _PALEST + (1.0 - _PALEST) * ((sure - chance) / (1.0 - chance)).clip(0.0, 1.0)
        return [_mixed("#ffffff", colour, share) for colour, share in zip(own, strength.tolist(), strict=True)]
    numbers = said.value[:, 0].astype(np.float64)
    low, high = numbers.min() / 2, numbers.max() / 2  # halves, whose distance is finite
    places = (numbers / 2 - low) / (high - low) if high > low else np.full(len(numbers), 0.5)
    return [on_scale(place) for place in places.tolist()]


def on_scale(place: float) -> str:
    """Return the colour at a place between 0 and 1."""
    at = min(max(place, 0.0), 1.0) * (len(SCALE) - 1)
    step = min(int(at), len(SCALE) - 2)
    return _mixed(SCALE[step], SCALE[step + 1], at - step)


def text_colour(background: str) -> str:
    """Black or white, whichever is easier to read on a colour."""
    red, green, blue = (part / 255 for part in _parts(background))
    return "#000000" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18 else "#ffffff"


def _mixed(first: str, second: str, share: float) -> str:
    """Return a colour between two; `share` is that of the second."""
    pairs = zip(_parts(first), _parts(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
