from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

import onetree.model.arrays


class LimitReached(Exception):
    pass

class GridTooLarge(Exception):
    pass

class Objective(enum.Enum):
    DEPTH = 0

    LEAVES = 1

    DEPTH_LEAVES = 2

    LEAVES_DEPTH = 3

class Engine(enum.Enum):
    AUTO = 0

    INTERVAL_DP = 1

    BRANCH_AND_BOUND = 2

    COMBINED = 3

    QUICK_TABLE = 4

class Measure(enum.Enum):
    DEPTH = 0

    LEAVES = 1

    LEAVES_DEPTH = 2

class FlatTree:
    @property
    def feature(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]: ...

    @property
    def children_left(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def children_right(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def leaf_class(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

class Found:
    @property
    def tree(self) -> FlatTree: ...

    @property
    def depth(self) -> int: ...

    @property
    def leaves(self) -> int: ...

    @property
    def depth_bound(self) -> int: ...

    @property
    def leaves_bound(self) -> int: ...

    @property
    def optimal(self) -> bool: ...

class Statistics:
    @property
    def cells(self) -> float: ...

    @property
    def boxes(self) -> float: ...

    @property
    def states(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def work(self) -> int: ...

    @property
    def peak_bytes(self) -> int: ...

    @property
    def engine(self) -> str: ...

class Outcome:
    @property
    def solutions(self) -> list[Found]: ...

    @property
    def statistics(self) -> Statistics: ...

    @property
    def is_complete(self) -> bool: ...

    @property
    def leaf_least(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]: ...

    @property
    def leaf_most(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]: ...

class TreeBounds:
    @property
    def leaves(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def work(self) -> int: ...

    @property
    def peak_bytes(self) -> int: ...

    @property
    def feature(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def cells(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), writable=False)]: ...

class Quantity:
    @property
    def mean(self) -> float: ...

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

class Estimate:
    @property
    def leaves(self) -> Quantity: ...

    @property
    def seconds(self) -> Quantity: ...

    @property
    def bytes(self) -> Quantity: ...

    @property
    def is_exact(self) -> bool: ...

    @property
    def is_beyond(self) -> bool: ...

    @property
    def boxes(self) -> float: ...

    @property
    def n_probes(self) -> int: ...

class RowSplit:
    @property
    def feature(self) -> int: ...

    @property
    def below(self) -> int: ...

    @property
    def above(self) -> int: ...

    @property
    def gain(self) -> float: ...

def solve(ensemble: onetree.model.arrays.EnsembleArrays, objective: Objective, engine: Engine, time_limit: float, work_limit: int, memory_limit: float, n_threads: int, progress: onetree.model.arrays.Callback | None) -> Outcome: ...

def pareto_front(ensemble: onetree.model.arrays.EnsembleArrays, time_limit: float, memory_limit: float, n_threads: int, progress: onetree.model.arrays.Callback | None) -> Outcome: ...

def heuristic(ensemble: onetree.model.arrays.EnsembleArrays, objective: Objective, max_boxes: float, seed: int, time_limit: float, work_limit: int, memory_limit: float, n_threads: int, progress: onetree.model.arrays.Callback | None) -> Outcome: ...

def tree_bounds(ensemble: onetree.model.arrays.EnsembleArrays, tree: FlatTree, time_limit: float, work_limit: int, memory_limit: float, n_threads: int, progress: onetree.model.arrays.Callback | None) -> TreeBounds: ...

def estimate(ensemble: onetree.model.arrays.EnsembleArrays, objective: Objective, max_boxes: float, seconds: float, seed: int, progress: onetree.model.arrays.Callback | None) -> Estimate: ...

def levels(ensemble: onetree.model.arrays.EnsembleArrays) -> list[numpy.typing.NDArray[numpy.float64]]: ...

def essential_levels(ensemble: onetree.model.arrays.EnsembleArrays, time_limit: float) -> list[numpy.typing.NDArray[numpy.float64]]: ...

def share_nodes(feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> FlatTree: ...

def exp32(numbers: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float32]: ...

def exp64(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

def simd() -> str: ...

def available_simd() -> list[str]: ...

def box_values(slabs: Sequence[int], classes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], measure: Measure, element_bytes: int, simd: str, n_threads: int = 1) -> NDArray[numpy.uint32]: ...

class Counts:
    @property
    def boxes(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def fragile(self) -> int: ...

def certify_boxes(ensemble: onetree.model.arrays.EnsembleArrays, lower: numpy.typing.NDArray[numpy.float64], upper: numpy.typing.NDArray[numpy.float64], expected_class: numpy.typing.NDArray[numpy.int32], time_limit: float, progress: onetree.model.arrays.Callback | None, max_nodes: int = ...) -> tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.float64], Counts]: ...

def certify_tree(ensemble: onetree.model.arrays.EnsembleArrays, feature: numpy.typing.NDArray[numpy.int32], threshold: numpy.typing.NDArray[numpy.float64], left: numpy.typing.NDArray[numpy.int32], right: numpy.typing.NDArray[numpy.int32], leaf_class: numpy.typing.NDArray[numpy.int32], time_limit: float, progress: onetree.model.arrays.Callback | None) -> tuple[numpy.typing.NDArray[numpy.float64], Counts]: ...

def certify_ranges(ensemble: onetree.model.arrays.EnsembleArrays, response: onetree.model.arrays.SumsLike, feature: numpy.typing.NDArray[numpy.int32], threshold: numpy.typing.NDArray[numpy.float64], left: numpy.typing.NDArray[numpy.int32], right: numpy.typing.NDArray[numpy.int32], number: numpy.typing.NDArray[numpy.float64], relative: bool, known: float, allowed: float, evaluate: onetree.model.arrays.Evaluate, time_limit: float, progress: onetree.model.arrays.Callback | None) -> tuple[float, numpy.typing.NDArray[numpy.float64], int, Counts]: ...

class NearestOutcome(enum.Enum):
    OPTIMAL = 0

    NONE = 1

    LIMIT = 2

class Questions:
    def __init__(self, ensemble: onetree.model.arrays.EnsembleArrays, n_options: numpy.typing.NDArray[numpy.int32]) -> None: ...

    def nearest(self, costs: numpy.typing.NDArray[numpy.float64], wanted: numpy.typing.NDArray[numpy.bool_], largest: bool, at_most: float, any: bool, time_limit: float, work_limit: int, memory_limit: float, progress: onetree.model.arrays.Callback | None) -> tuple[NearestOutcome, numpy.typing.NDArray[numpy.int32], float, float, int]: ...

    def differing(self, first: onetree.model.arrays.EnsembleArrays, second: onetree.model.arrays.EnsembleArrays, costs: numpy.typing.NDArray[numpy.float64], wanted: numpy.typing.NDArray[numpy.bool_], below: int, above: int, time_limit: float, work_limit: int, memory_limit: float, progress: onetree.model.arrays.Callback | None) -> tuple[NearestOutcome, numpy.typing.NDArray[numpy.int32], float, float, int]: ...

def score_heuristic(ensemble: onetree.model.arrays.EnsembleArrays, scoring: onetree.model.arrays.ScoringLike, objective: Objective, max_boxes: float, seed: int, time_limit: float, work_limit: int, memory_limit: float, n_threads: int, progress: onetree.model.arrays.Callback | None) -> Outcome: ...

def score_estimate(ensemble: onetree.model.arrays.EnsembleArrays, scoring: onetree.model.arrays.ScoringLike, objective: Objective, max_boxes: float, seconds: float, seed: int, progress: onetree.model.arrays.Callback | None) -> Estimate: ...

def solve_scores(ensemble: onetree.model.arrays.EnsembleArrays, n_columns: int, admit: onetree.model.arrays.Admit, objective: Objective, engine: Engine, time_limit: float, work_limit: int, memory_limit: float, n_threads: int, progress: onetree.model.arrays.Callback | None) -> Outcome: ...

def score_front(ensemble: onetree.model.arrays.EnsembleArrays, n_columns: int, admit: onetree.model.arrays.Admit, time_limit: float, memory_limit: float, n_threads: int, progress: onetree.model.arrays.Callback | None) -> Outcome: ...

def distinct_sums(ensemble: onetree.model.arrays.EnsembleArrays, time_limit: float, memory_limit: float, progress: onetree.model.arrays.Callback | None) -> numpy.typing.NDArray[numpy.float64]: ...

def score_box_values(slabs: Sequence[int], cells: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], least: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], measure: Measure, element_bytes: int, simd: str, n_threads: int = 1) -> NDArray[numpy.uint32]: ...

def least_impurity(slabs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, reference: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], synthetic: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], synthetic_weight: float, faithful: bool) -> RowSplit: ...

def largest_gain(slabs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], least: float) -> RowSplit: ...

class SlabScores32:
    def __init__(self, roots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, n_slabs: int, open: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cut: float) -> None: ...

    def of_rows(self, slabs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu', writable=False)]) -> NDArray[numpy.float32]: ...

class SlabScores64:
    def __init__(self, roots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, n_slabs: int, open: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cut: float) -> None: ...

    def of_rows(self, slabs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

def mix_rows(slabs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu')], origin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], copied: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, n_new: int, seed: int) -> None: ...

def slab_leaves(nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], root: int, slabs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]: ...

def smallest(numbers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_smallest: int) -> NDArray[numpy.int32]: ...

class Wanted(enum.Enum):
    NODE = 0

    VALUE = 1

class Defect(enum.Enum):
    NONE = 0

    FEATURE = 1

    LEFT = 2

    RIGHT = 3

    THRESHOLD = 4

    INNER_CLASS = 5

    LEAF_CHILD = 6

    LEAF_CLASS = 7

    UNREACHABLE = 8

class FoundDefect:
    @property
    def defect(self) -> Defect: ...

    @property
    def node(self) -> int: ...

def find_defect(feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, n_classes: int) -> FoundDefect: ...

def lay_out(roots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf_value: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missing_left: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, subset: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, width: int, steps: Annotated[NDArray[numpy.uint64], dict(shape=(None, 2), order='C', device='cpu')]) -> None: ...

@overload
def walk_tree(steps: Annotated[NDArray[numpy.uint64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], is_plain: bool, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], wanted: Wanted) -> tuple[NDArray[numpy.int32], bool]: ...

@overload
def walk_tree(steps: Annotated[NDArray[numpy.uint64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], is_plain: bool, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], wanted: Wanted) -> tuple[NDArray[numpy.int32], bool]: ...

@overload
def walk_trees(steps: Annotated[NDArray[numpy.uint64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], is_plain: bool, n_trees: int, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)]) -> NDArray[numpy.int32]: ...

@overload
def walk_trees(steps: Annotated[NDArray[numpy.uint64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], is_plain: bool, n_trees: int, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)]) -> NDArray[numpy.int32]: ...
