"""The nodes of YDF's trees, which come depth first, the child for "no" before the one for "yes"."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onetree.errors import UnsupportedModelError
from onetree.importers.ydf.features import Feature


@dataclass
class FlatTrees:
    """Trees as parallel lists: left is "no", right is "yes"; a number says yes iff it is at least the threshold."""

    roots: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)  # +inf asks for missing values alone
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    missing_positive: list[bool] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    leaves: list[tuple[int, list[float], float] | None] = field(default_factory=list)  # top class, counts, their sum
    # The codes that say yes, whether texts that are not in the dictionary do, and whether missing values do.
    sets: dict[int, tuple[set[int], bool, bool]] = field(default_factory=dict)

    def add(self, feature: int = -1, threshold: float = 0.0, missing_positive: bool = False) -> int:
        """Append a node without children and without a value; return its number."""
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.left.append(-1)
        self.right.append(-1)
        self.missing_positive.append(missing_positive)
        self.scores.append(0.0)
        self.leaves.append(None)
        return len(self.feature) - 1

    def add_leaf(self) -> None:
        """Append a tree of one leaf."""
        self.roots.append(self.add())


def read_nodes(trees: Iterable[Sequence[Any]], columns: Mapping[int, int], features: Sequence[Feature]) -> FlatTrees:
    """Return the trees; `columns` gives the feature for the number of a column."""
    flat = FlatTrees()
    for nodes in trees:
        flat.roots.append(len(flat.feature))
        waiting: list[tuple[int, bool]] = []  # nodes that lack a child, and whether it is the one for "yes"
        for proto in nodes:
            inner = proto.HasField("condition")
            number = _add_inner(flat, proto.condition, columns, features) if inner else _add_leaf(flat, proto)
            if waiting:
                parent, yes = waiting.pop()
                (flat.right if yes else flat.left)[parent] = number
            if inner:
                waiting += [(number, True), (number, False)]
        if waiting:
            raise UnsupportedModelError("a tree of this YDF model ends too early")
    return flat


def _add_leaf(flat: FlatTrees, proto: Any) -> int:
    number = flat.add()
    if proto.HasField("classifier"):
        given = proto.classifier
        flat.leaves[number] = (given.top_value, list(given.distribution.counts), float(given.distribution.sum))
    else:
        flat.scores[number] = float(proto.regressor.top_value)
    return number


def _add_inner(flat: FlatTrees, condition: Any, columns: Mapping[int, int], features: Sequence[Feature]) -> int:
    at = columns.get(condition.attribute)
    if at is None:
        raise UnsupportedModelError("a tree of this YDF model asks for a column that is not one of its inputs")
    feature, asked, missing = features[at], condition.condition, bool(condition.na_value)
    kind = asked.WhichOneof("type")
    if kind == "na_condition":
        number = flat.add(at, float("inf"), True)
        if feature.kind == "CATEGORICAL":
            flat.sets[number] = (set(), False, True)
        return number
    if kind == "higher_condition" and feature.kind == "NUMERICAL":
        return flat.add(at, float(asked.higher_condition.threshold), missing)
    if kind == "true_value_condition" and feature.kind == "BOOLEAN":
        return flat.add(at, 0.5, missing)
    if kind in ("contains_condition", "contains_bitmap_condition") and feature.kind == "CATEGORICAL":
        if kind == "contains_condition":
            codes = set(asked.contains_condition.elements)
        else:
            bits = asked.contains_bitmap_condition.elements_bitmap
            codes = {
                code
                for code in range(len(feature.values) + 1)
                if code < 8 * len(bits) and bits[code // 8] >> code % 8 & 1
            }
        number = flat.add(at, 0.0, missing)
        flat.sets[number] = (codes - {0}, 0 in codes, missing)
        return number
    raise UnsupportedModelError(
        f"a tree of this YDF model has a {str(kind)[:60]} on the feature {feature.name!r}, which is not read"
    )
