"""Tree and ensemble with one axis per block, for proofs that have to know which values of a block go together.

The axis of a block has the number of its first feature. Its values are the inputs of the block, by number, and a node
names by number the test that it makes, which sends some of the values left. Nodes keep their places in the ensemble, so
that its leaves can be named; those that every value passes in the same direction are passed over.

Shares no code with `onetree.lowering.axes`, whose results it is there to prove.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onetree.model.arrays import AxisEnsemble
from onetree.model.ensemble import Ensemble
from onetree.tree.tree import Tree
from onetree.verify.blocks import Block, outcomes
from onetree.verify.inside import shortened

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Index = NDArray[np.int32]
_DECIDED = -1  # number of a test that all values pass in the same direction


class Translated:
    """A tree and an ensemble on axes.

    Parameters
    ----------
    tree : Tree
    ensemble : Ensemble
    blocks : tuple of Block
        Without any, both stay what they are.
    """

    def __init__(self, tree: Tree, ensemble: Ensemble, blocks: tuple[Block, ...]) -> None:
        self.tree = tree  # also on axes, with set tests for thresholds
        self.ensemble: Ensemble | AxisEnsemble = ensemble
        self.sets: tuple[NDArray[np.uint8] | None, ...] = (None,) * ensemble.n_features
        self._blocks = blocks
        if blocks:
            tests = {block.features[0]: _Tests() for block in blocks}
            of_ensemble = _Nodes(ensemble, ensemble.children_left, ensemble.children_right)
            of_tree = _Nodes(tree, tree.children_left, tree.children_right)
            for block in blocks:
                for nodes in (of_ensemble, of_tree):
                    nodes.translate(block, tests[block.features[0]])
            self.sets = tuple(tests[axis].matrix() if axis in tests else None for axis in range(ensemble.n_features))
            self.ensemble = self._translated_ensemble(ensemble, of_ensemble)
            self.tree = self._translated_tree(tree, of_tree)

    def point(self, on_axes: Floats) -> Floats:
        """Return the input that stands behind a point on the axes."""
        point = on_axes.copy()
        for block in self._blocks:
            inputs = block.inputs
            at = int(on_axes[block.features[0]]) if self.sets[block.features[0]] is not None else 0
            point[list(block.features)] = inputs[at]
        return point

    def _translated_ensemble(self, ensemble: Ensemble, nodes: _Nodes) -> AxisEnsemble:
        end = np.where(nodes.passed >= 0, nodes.passed, np.arange(len(nodes.passed)))
        while not np.array_equal(end, end[end]):
            end = end[end]
        inner = (ensemble.feature >= 0) & (nodes.passed < 0)
        nan_features = ensemble.nan_features.copy()
        for block in self._blocks:
            nan_features[list(block.features)] = False
        return AxisEnsemble(
            roots=end[ensemble.roots].astype(np.int32),
            feature=np.where(inner, nodes.feature, -1).astype(np.int32),
            threshold=np.where(inner, nodes.threshold, 0.0),
            children_left=np.where(inner, end[nodes.left], -1).astype(np.int32),
            children_right=np.where(inner, end[nodes.right], -1).astype(np.int32),
            missing_left=inner & ensemble.missing_left & nan_features[nodes.feature],
            value=ensemble.value,
            base=ensemble.base,
            rule=ensemble.rule,
            nan_features=nan_features,
            n_classes=ensemble.n_classes,
            sets=self.sets,
            response=ensemble.response,
        )

    def _translated_tree(self, tree: Tree, nodes: _Nodes) -> Tree:
        kept, left, right = shortened(nodes.left, nodes.right, nodes.passed)
        nan_features = tree.nan_features.copy()
        for block in self._blocks:
            nan_features[list(block.features)] = False
        return replace(
            tree,
            feature=nodes.feature[kept],
            threshold=nodes.threshold[kept],
            children_left=left,
            children_right=right,
            leaf_class=tree.leaf_class[kept],
            value=None if tree.value is None else tree.value[kept],
            nan_features=nan_features,
            domain=None,
            categories=(),
            subset=np.full(np.count_nonzero(kept), -1, dtype=np.int32),
            subsets=np.zeros((0, 0), dtype=bool),
        )


class _Tests:
    """The tests of an axis, numbered as they come; a test and its complement are one."""

    def __init__(self) -> None:
        self._number: dict[bytes, int] = {}
        self._rows: list[Bools] = []

    def number(self, goes_left: Bools) -> tuple[int, bool]:
        """Return the number of a test, and whether it is the complement of the one with that number."""
        if goes_left.all() or not goes_left.any():
            return _DECIDED, False
        known = self._number.get(goes_left.tobytes())
        if known is not None:
            return known, False
        known = self._number.get((~goes_left).tobytes())
        if known is not None:
            return known, True
        self._rows.append(goes_left)
        return self._number.setdefault(goes_left.tobytes(), len(self._rows) - 1), False

    def matrix(self) -> NDArray[np.uint8] | None:
        """Return tests x values; None if there is no test, and so no axis."""
        return np.array(self._rows, dtype=np.uint8) if self._rows else None


class _Nodes:
    """The nodes of one side, while its blocks become axes."""

    def __init__(self, side: Tree | Ensemble, left: Index, right: Index) -> None:
        self._side = side
        self.feature, self.threshold = side.feature.copy(), side.threshold.copy()
        self.left, self.right = left.copy(), right.copy()
        self.passed = np.full(len(left), -1)  # the child that all inputs go to

    def translate(self, block: Block, tests: _Tests) -> None:
        for column, feature in enumerate(block.features):
            nodes, which, goes_left = outcomes(self._side, feature, block.inputs[:, column])
            numbered = [tests.number(row) for row in goes_left]
            number = np.array([each for each, _ in numbered], dtype=np.intp)[which]
            turned = np.array([each for _, each in numbered], dtype=bool)[which]
            self.feature[nodes], self.threshold[nodes] = block.features[0], np.maximum(number, 0)
            decided = number == _DECIDED
            here = nodes[decided]
            to_left = goes_left[:, 0][which[decided]]
            self.passed[here] = np.where(to_left, self.left[here], self.right[here])
            here = nodes[turned]
            self.left[here], self.right[here] = self.right[here], self.left[here]
