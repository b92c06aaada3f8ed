"""The few groups that leaves are counted, listed and coloured by: classes or, of a regression tree, bands of values.

Beside its group, a leaf with numbers has words and a shade of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.export.shades import on_scale, outcome_colours
from onetree.export.words.leaf_words import number_words, outcome_words
from onetree.export.words.wording import label_words
from onetree.report.drawing import class_colours
from onetree.tree.leaf_values import Outcomes, outcomes
from onetree.tree.tree import Tree

N_BANDS = 8
_BAND_DIGITS = 4


@dataclass(frozen=True, eq=False)
class LeafGroups:
    """The groups of the leaves of a tree.

    Parameters
    ----------
    labels : list of str
    of_node : int32 array of shape (n_nodes,)
        The group of each leaf, -1 at inner nodes.
    colours : list of str
        One for each group.
    """

    labels: list[str]
    of_node: NDArray[np.int32]
    colours: list[str]


def leaf_groups(tree: Tree) -> LeafGroups:
    """Return the groups of a tree: its classes, or up to eight bands of equal width from the least value on."""
    if tree.output != "value":
        return LeafGroups(label_words(tree), tree.leaf_class, class_colours(tree.n_classes))
    said = outcomes(tree)
    band, labels, places = _bands(said)
    index = said.index[0]
    colours = [on_scale(place) for place in places]
    return LeafGroups(labels, np.where(index < 0, -1, band[index]).astype(np.int32), colours)


def _bands(said: Outcomes) -> tuple[NDArray[np.intp], list[str], list[float]]:
    """Return the band of each value, and the label and the place on the scale of each band."""
    if said.value is None:
        raise ValueError("the leaves of the tree have no values")
    numbers = said.value[:, 0].astype(np.float64)
    distinct, band = np.unique(numbers, return_inverse=True)
    low, high = float(distinct[0]), float(distinct[-1])
    if len(distinct) <= N_BANDS:
        width = (high / 2 - low / 2) or 1.0
        places = [(each / 2 - low / 2) / width if len(distinct) > 1 else 0.5 for each in distinct.tolist()]
        return band.ravel(), [number_words(each) for each in distinct.tolist()], places
    edges = low + (high / 2 - low / 2) * np.linspace(0.0, 2.0, N_BANDS + 1)
    of = (np.searchsorted(edges[1:-1], numbers, side="left")).astype(np.intp)
    used, band = np.unique(of, return_inverse=True)
    words = [number_words(edge, _BAND_DIGITS) for edge in edges.tolist()]
    labels = [f"{words[at]} to {words[at + 1]}" for at in used.tolist()]
    return band.ravel(), labels, [(at + 0.5) / N_BANDS for at in used.tolist()]


def embed_said(tree: Tree, order: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return what the leaves among these nodes say, if that is more than a class.

    ``of`` has an entry per leaf, in the order of the nodes: an index into ``words``, ``exact``, which has all digits,
    and ``colours``.
    """
    if tree.value is None:
        return None
    said = outcomes(tree)
    index = said.index[0][order]
    return {
        "of": index[index >= 0].tolist(),
        "words": outcome_words(tree, said),
        "exact": outcome_words(tree, said, None),
        "colours": outcome_colours(tree, said, class_colours(tree.n_classes)),
    }
