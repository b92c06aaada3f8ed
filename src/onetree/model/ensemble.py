"""The ensemble: trees as parallel arrays, a combination rule, and a slow, obvious reference predictor.

Every importer ends here and every later stage starts here. Nothing in this module is tuned for speed; it
is what the fast code is compared with. No step recurses on the depth of a tree.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.amounts import counted, leaves
from onetree.errors import InvalidInputError
from onetree.model.categories import Categories, SetTests
from onetree.model.columns import Columns
from onetree.model.combination import Combination
from onetree.model.forest_checks import check_forest, node_depths, refuse
from onetree.model.inputs import RowsLike, read_inputs
from onetree.model.response import Response
from onetree.model.routing import Routes
from onetree.model.stages import Member

_FEW = 16  # rows whose scores are added in one call

KINDS = ("hard", "soft", "score", "scores", "value", "combined")


@dataclass(frozen=True)
class Rule:
    """How the leaves that an input reaches become a class, or the value of a regressor.

    Parameters
    ----------
    kind : {"hard", "soft", "score", "scores", "value", "combined"}
        Votes for a class, sums of class fractions, one additive score, one additive score per class, one sum that is
        no class, sums of several members that are combined.
    dtype : {"float64", "float32"}
        Precision in which the source library adds.
    divisor : float
        The sum is divided by this before the decision.
    cut : float
        For one score: class 1 iff score > cut.
    cut_inclusive : bool
        For one score: class 1 iff score >= cut.
    softmax : bool
        For one score per class: the source library compares probabilities, so that scores which differ by next to
        nothing are a tie, which goes to the first class.
    combination : Combination or None
        For the rule "combined", which has precision, divisors and cut in it.
    """

    kind: str
    dtype: str = "float64"
    divisor: float = 1.0
    cut: float = 0.0
    cut_inclusive: bool = False
    softmax: bool = False
    combination: Combination | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidInputError(f"unknown rule {self.kind!r}; use one of {', '.join(KINDS)}")
        if self.dtype not in ("float64", "float32"):
            raise InvalidInputError(f"unknown precision {self.dtype!r} of a rule; use float64 or float32")
        if not (np.isfinite(self.divisor) and self.divisor > 0):
            raise InvalidInputError(f"the divisor of a rule must be positive and finite, not {self.divisor!r}")
        if not np.isfinite(self.cut):
            raise InvalidInputError(f"the cut of a rule must be finite, not {self.cut!r}")
        if self.softmax and self.kind != "scores":
            raise InvalidInputError(f'softmax belongs to the rule "scores", not to "{self.kind}"')
        if (self.combination is None) != (self.kind != "combined"):
            raise InvalidInputError('a combination belongs to the rule "combined", and only to that')
        if self.combination is not None and replace(self, combination=None, kind="scores") != Rule("scores"):
            raise InvalidInputError('the rule "combined" has precision, divisor and cut in its combination only')

    def n_outputs(self, n_classes: int) -> int:
        """Return the number of scores that decide between this many classes."""
        if self.combination is not None:
            return self.combination.n_outputs
        return 1 if self.kind in ("score", "value") else n_classes

    @property
    def is_value(self) -> bool:
        """Whether there is no class to decide on."""
        return self.kind == "value" or (self.combination is not None and self.combination.n_classes == 0)

    def members(self, n_outputs: int) -> tuple[Member, ...]:
        """Return the sums that belong together."""
        if self.combination is not None:
            return self.combination.members
        return (Member(n_outputs, self.dtype, self.divisor),)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees with leaf vectors, and the rule that combines them into a class, or into the value of a regressor.

    The trees lie one after another in the node arrays; each node belongs to exactly one tree. The score of an
    input is ``base`` plus the leaf vector of each tree, added in the order of ``roots`` in the precision of
    the rule, then divided by ``rule.divisor``. The class is the first largest score, or the side of the cut.
    All arrays are read-only. Entries that a node does not use (the threshold of a leaf or of a set test, the value of
    an inner node) are zero.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        Labels, of any type; none for a regressor.
    feature_names : tuple of str
        One name per feature.
    roots : int32 array of shape (n_trees,)
        Node index of each tree's root.
    feature : int32 array of shape (n_nodes,)
        Feature that the node compares; -1 at a leaf.
    threshold : float64 array of shape (n_nodes,)
        An input goes left iff float64(x) <= threshold. +inf sends only NaN right.
    children_left, children_right : int32 array of shape (n_nodes,)
        Node index of the children; -1 at a leaf.
    missing_left : bool array of shape (n_nodes,)
        Whether NaN goes left.
    value : float64 array of shape (n_nodes, n_outputs)
        Leaf vectors. A hard vote is 1.0 for one class.
    base : float64 array of shape (n_outputs,)
        Where the sum starts.
    rule : Rule
        How the sum becomes a class.
    nan_features : bool array of shape (n_features,)
        Features for which NaN is an input; elsewhere NaN is refused.
    categories : tuple of Categories or None
        What a categorical feature makes of its numbers; None is an ordinary feature. Set tests are for the former,
        thresholds for the latter. Empty if all features are ordinary.
    subset : int32 array of shape (n_nodes,)
        Row of `subsets` that a set test asks for; -1 at leaves and at thresholds.
    subsets : bool array of shape (n_subsets, n_elements)
        An input goes left iff its element (see `Categories`) is in the row. As wide as the feature with the most
        elements needs.
    columns : Columns
        What the columns of a data frame mean; unless it says otherwise, they are numbers, found by the features' names.
    response : Response or None
        How the sums become the numbers that the library returns: the probability of each class, or the value of a
        regressor. None if nothing but the class is known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> ensemble = Ensemble.from_model(forest)
    >>> ensemble.n_trees, ensemble.n_classes, ensemble.rule.kind
    (5, 3, 'soft')
    >>> bool((ensemble.predict(X) == forest.predict(X)).all())
    True
    """

    classes: NDArray[Any]
    feature_names: tuple[str, ...]
    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    children_left: NDArray[np.int32]
    children_right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float64]
    base: NDArray[np.float64]
    rule: Rule
    nan_features: NDArray[np.bool_]
    categories: tuple[Categories | None, ...] = ()
    subset: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    subsets: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))
    columns: Columns = field(default_factory=Columns)
    response: Response | None = None

    @classmethod
    def from_model(
        cls,
        model: object,
        *,
        voting: str = "auto",
        missing: str = "auto",
        data: RowsLike | None = None,
        pipelines: str = "raw",
        output: str = "auto",
        threshold: Any = None,
        bands: Sequence[float] | None = None,
    ) -> "Ensemble":
        """Read a fitted model and check the result against its own predictions.

        Parameters
        ----------
        model : fitted classifier or regressor
            For instance a scikit-learn `RandomForestClassifier`.
        voting : {"auto", "soft", "hard"}
            "auto" is what the model's `predict` does; "hard" counts each tree's class once, as the paper does.
        missing : {"auto", "follow", "refuse"}
            Whether NaN is an input: "follow" wherever the model accepts it, "auto" only if the model met NaN
            in training, since it makes every tree larger.
        data : array or data frame, optional
            Rows such as the training data. CatBoost keeps no names of categories; here they are looked up.
        pipelines : {"raw", "last-step"}
            What the features of a pipeline are: the columns that it was fitted on, or those that its last step sees.
        output : {"auto", "class", "probability", "value"}
            What is read beside the structure, and compared with the model's own numbers to the last bit: "probability"
            is the class and what `predict_proba` returns, "value" what the `predict` of a regressor returns. "auto" is
            "value" for regressors and "class" for classifiers.
        threshold : float, or mapping from a class to a float, optional
            Predict the second of two classes iff its probability, as the model's own `predict_proba` computes it, is
            at least this. With more classes, or for the first, ``threshold={"virginica": 0.3}`` names the class that is
            predicted against the rest.
        bands : sequence of float, optional
            Cut the probability of the second of two classes here. The classes are then the bands: for
            ``bands=[0.2, 0.5]``, "below 0.2", "0.2 to 0.5" and "0.5 and above".
        """
        from onetree.importers import import_model

        return import_model(
            model,
            voting=voting,
            missing=missing,
            data=data,
            pipelines=pipelines,
            output=output,
            threshold=threshold,
            bands=bands,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the project's JSON, which `onetree.load_ensemble` reads back without any loss."""
        from onetree.importers.json import write_json

        write_json(self, path)

    def __post_init__(self) -> None:
        n_nodes, n_features = len(self.feature), len(self.feature_names)
        n_outputs = self.rule.n_outputs(len(self.classes))
        self._freeze("classes", None, (len(self.classes),))
        self._freeze("roots", np.int32, (len(self.roots),))
        for name in ("feature", "children_left", "children_right"):
            self._freeze(name, np.int32, (n_nodes,))
        self._check_classes()
        check_forest(self.roots, self.feature, self.children_left, self.children_right, n_features)
        tests = SetTests.of(self.categories, self.subset, self.subsets, feature=self.feature, n_features=n_features)
        for name in ("categories", "subset", "subsets"):
            object.__setattr__(self, name, getattr(tests, name))
        leaf = self.feature < 0
        no_threshold = leaf | (self.subset >= 0)
        self._freeze("threshold", np.float64, (n_nodes,), unused=no_threshold)
        self._freeze("missing_left", np.bool_, (n_nodes,), unused=no_threshold)
        self._freeze("value", np.float64, (n_nodes, n_outputs), unused=~leaf)
        self._freeze("base", np.float64, (n_outputs,))
        self._freeze("nan_features", np.bool_, (n_features,))
        self._check_numbers(leaf)
        self._check_response()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A pickle forgets that arrays are read-only; an older one lacks fields, and calls the children left and right.
        state = {f"children_{name}" if name in ("left", "right") else name: kept for name, kept in state.items()}
        self.__init__(**{own.name: state[own.name] for own in fields(self) if own.name in state})  # type: ignore[misc]

    def _freeze(
        self, name: str, dtype: type | None, shape: tuple[int, ...], unused: NDArray[np.bool_] | None = None
    ) -> None:
        """Replace a field by a read-only array of the right type, shared only if it was read-only already."""
        given = np.asarray(getattr(self, name))
        if given.shape != shape:
            raise InvalidInputError(f"{name} of an ensemble must have shape {shape}, not {given.shape}")
        if dtype is not None and given.size and not np.can_cast(given.dtype, dtype, casting="same_kind"):
            raise InvalidInputError(f"{name} of an ensemble must hold {dtype.__name__}, not {given.dtype}")
        array = np.ascontiguousarray(given, dtype=dtype)
        if dtype is np.int32 and not np.array_equal(array, given):
            raise InvalidInputError(f"{name} of an ensemble holds a number that does not fit into int32")
        if array.flags.writeable or unused is not None:
            array = array.copy()
        if unused is not None:
            array[unused] = 0
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check_classes(self) -> None:
        n_classes = len(self.classes)
        if n_classes == 0 and not self.rule.is_value:
            raise InvalidInputError("an ensemble needs at least one class")
        if n_classes and self.rule.is_value:
            raise InvalidInputError("the rule gives a value, so there are no classes; leave them empty")
        if len(set(self.classes.tolist())) != n_classes:
            raise InvalidInputError("the class labels of an ensemble must differ from each other")
        if self.rule.kind == "score" and n_classes != 2:
            raise InvalidInputError(f"one score decides between 2 classes, not {n_classes}; use a score per class")
        combination = self.rule.combination
        if combination is not None and combination.n_classes != n_classes:
            raise InvalidInputError(f"the rule decides between {combination.n_classes} classes, not {n_classes}")
        if not all(isinstance(name, str) for name in self.feature_names):
            raise InvalidInputError("feature names must be strings")
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "columns", self.columns.of_features(self.feature_names))

    def _check_numbers(self, leaf: NDArray[np.bool_]) -> None:
        refuse(np.isnan(self.threshold), "has a threshold that is not a number")
        refuse(np.isneginf(self.threshold), "has the threshold -inf, which no input can reach")
        refuse(np.isfinite(self.value).sum(axis=1) < self.value.shape[1], "has a leaf value that is not finite")
        if not np.isfinite(self.base).all():
            raise InvalidInputError("the base scores of an ensemble must be finite")
        if self.rule.kind == "hard":
            votes = self.value[leaf]
            one_hot = ((votes == 0) | (votes == 1)).all() and (votes.sum(axis=1) == 1).all()
            if not one_hot:
                raise InvalidInputError('in a hard vote each leaf gives 1.0 to one class; use Rule("scores") otherwise')

    def _check_response(self) -> None:
        if self.response is None and self.rule.is_value:
            combination = self.rule.combination
            stages = () if combination is None else combination.stages
            object.__setattr__(self, "response", Response(self.rule.members(self.n_outputs), stages))
        if self.response is None:
            return
        if self.response.members != self.rule.members(self.n_outputs):
            raise InvalidInputError("the members of a response must be those of the rule, with precision and divisor")
        n_wanted = max(1, self.n_classes)
        if self.response.n_numbers != n_wanted:
            raise InvalidInputError(
                f"the response gives {self.response.n_numbers} numbers, but {n_wanted} are needed: one per class, or "
                "the value of a regressor"
            )
        if self.rule.is_value:  # which grows with every sum
            root, _ = node_depths(self.roots, self.feature, self.children_left, self.children_right)
            ends = np.zeros((2, len(root), self.n_outputs))
            leaf = self.feature < 0
            ends[0, self.roots], ends[1, self.roots] = np.inf, -np.inf
            np.minimum.at(ends[0], root[leaf], self.value[leaf])
            np.maximum.at(ends[1], root[leaf], self.value[leaf])
            sums = self.base + ends[:, self.roots].sum(axis=1)
            if not np.isfinite(self.response.numbers(sums / self.response.divisors())).all():
                raise InvalidInputError("the values of an ensemble must be finite, but its link makes some infinite")

    def __repr__(self) -> str:
        said = counted(self.n_classes, "class", "classes") if self.n_classes else "value"
        return (
            f"Ensemble({counted(self.n_trees, 'tree')}, {leaves(self.n_leaves)}, "
            f"{counted(self.n_features, 'feature')}, {said}, rule {self.rule.kind!r})"
        )

    def _repr_html_(self) -> str:
        from onetree.display import ensemble_html

        return ensemble_html(self)

    @property
    def n_features(self) -> int:
        """Number of features of an input."""
        return len(self.feature_names)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def output(self) -> str:
        """What is known beside the structure: "class", "probability" (and the class), or "value"."""
        return "value" if self.rule.is_value else "class" if self.response is None else "probability"

    @property
    def n_outputs(self) -> int:
        """Number of scores: one per class, or one; of a combination, those of all its members."""
        return len(self.base)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees together."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def has_subsets(self) -> bool:
        """Whether some node is a set test."""
        return bool((self.subset >= 0).any())

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """Depth of each tree; 0 for a single leaf."""
        root, depth = node_depths(self.roots, self.feature, self.children_left, self.children_right)
        deepest = np.zeros(len(self.feature), dtype=np.int64)
        np.maximum.at(deepest, root, depth)
        return deepest[self.roots]

    def apply(self, X: RowsLike) -> NDArray[np.intp]:
        """Return the leaf that each row reaches in each tree, as node indices of shape (n_rows, n_trees)."""
        rows = read_inputs(X, self)
        routes = Routes(self, rows, self.missing_left)
        start = np.empty((len(rows), self.n_trees), dtype=np.intp)
        start[:] = self.roots
        node = start.ravel()
        at = np.flatnonzero(self.feature[node] >= 0)  # those that have not come to a leaf
        while at.size:
            here = node[at]
            left = routes.go_left(at // self.n_trees, here)
            there = np.where(left, self.children_left[here], self.children_right[here])
            node[at] = there
            at = at[self.feature[there] >= 0]
        return node.reshape(len(rows), self.n_trees)

    def scores(self, X: RowsLike) -> NDArray[Any]:
        """Return the scores that decide, added in the order and precision of the source library."""
        return self.scores_at(self.apply(X))

    def scores_at(self, leaves: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Return the scores of rows that reach these leaves, as `apply` gives them."""
        if self.rule.combination is not None:
            return self._combined_scores(leaves, self.rule.combination)
        dtype = np.dtype(self.rule.dtype)
        if len(leaves) <= _FEW:  # one tree after the other, too, but in one call
            steps = np.empty((len(leaves), self.n_trees + 1, self.n_outputs), dtype=dtype)
            steps[:, 0], steps[:, 1:] = self.base, self.value[leaves]
            total = np.add.accumulate(steps, axis=1)[:, -1]
        else:
            total = np.tile(self.base.astype(dtype), (len(leaves), 1))
            value = self.value.astype(dtype)
            for tree in range(self.n_trees):
                total += value[leaves[:, tree]]
        if self.rule.divisor != 1.0:
            total /= dtype.type(self.rule.divisor)
        return total

    def _combined_scores(self, leaves: NDArray[np.integer[Any]], combination: Combination) -> NDArray[np.float64]:
        """Return the sums of all members, each in its own precision; float64 holds them all."""
        scores = np.empty((len(leaves), self.n_outputs))
        for k, (dtype, divisor) in enumerate(zip(combination.dtypes(), combination.divisors(), strict=True)):
            value = self.value[:, k].astype(dtype)
            total = np.full(len(leaves), self.base[k], dtype=dtype)
            for tree in np.flatnonzero(self._trees_of[k]):
                total += value[leaves[:, tree]]
            scores[:, k] = total if divisor == 1.0 else total / dtype.type(divisor)
        return scores

    @cached_property
    def _trees_of(self) -> NDArray[np.bool_]:
        """Which trees add to each output."""
        root_of, _ = node_depths(self.roots, self.feature, self.children_left, self.children_right)
        used = np.zeros((len(root_of), self.n_outputs), dtype=bool)
        np.logical_or.at(used, root_of, self.value != 0)
        return used[self.roots].T

    def predict_index(self, X: RowsLike) -> NDArray[np.intp]:
        """Return the index of the class of each row."""
        return self.decide(self.scores(X))

    def numbers(self, X: RowsLike) -> NDArray[Any]:
        """Return the numbers that the source library returns: a column per class, or one for a regressor.

        They are equal to the library's own to the last bit, and of its type, float32 or float64.
        """
        return self.numbers_of(self.scores(X))

    def numbers_of(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of rows of scores, as `scores` gives them."""
        if self.response is None:
            raise InvalidInputError(
                'nothing but the class of this ensemble is known; read its model with output="probability"'
            )
        return self.response.numbers(scores)

    def decide(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of the class that each row of scores, as `scores` gives them, stands for."""
        if self.rule.is_value:
            raise InvalidInputError("a regressor has no classes; use predict or numbers")
        if self.rule.combination is not None:
            return self.rule.combination.decide(scores)
        if self.rule.softmax:
            scores = _probabilities(scores)
        if self.rule.kind != "score":
            best: NDArray[np.intp] = np.argmax(scores, axis=1)
            return best
        score = scores[:, 0].astype(np.float64)
        above = score >= self.rule.cut if self.rule.cut_inclusive else score > self.rule.cut
        return above.astype(np.intp)

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """Return the class label of each row, or the value that a regressor predicts."""
        if self.rule.is_value:
            values: NDArray[Any] = self.numbers(X)[:, 0]
            return values
        labels: NDArray[Any] = self.classes[self.predict_index(X)]
        return labels

    def to_hard_vote(self) -> "Ensemble":
        """Return the ensemble in which each tree votes with weight one for its own class; ties go to the first."""
        if self.rule.kind == "hard":
            return self
        if self.rule.kind != "soft":
            raise InvalidInputError(
                "an additive score has no hard vote: its trees do not name a class; use voting='auto'"
            )
        leaf = self.feature < 0
        value = np.zeros_like(self.value)
        value[leaf, np.argmax(self.value[leaf], axis=1)] = 1.0
        return replace(self, value=value, base=np.zeros(self.n_classes), rule=Rule("hard"), response=None)


def _probabilities(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the softmax as the libraries compute it: in the precision of the scores, but summed in float64."""
    distance = scores - scores.max(axis=1, keepdims=True)
    # The C library's exp, as the libraries call it: numpy's own differs in the last place, which decides some ties.
    share = np.fromiter(map(math.exp, distance.ravel().tolist()), np.float64, distance.size)
    share = share.astype(scores.dtype).reshape(scores.shape)
    total = np.zeros(len(scores))
    for k in range(scores.shape[1]):
        total += share[:, k]
    result: NDArray[Any] = share / total.astype(scores.dtype)[:, np.newaxis]
    return result


def as_ensemble(
    source: object,
    threshold: Any = None,
    *,
    output: str = "class",
    bands: Sequence[float] | None = None,
) -> Ensemble:
    """Return an ensemble as it is, a model as `Ensemble.from_model` reads it, a file as `load_ensemble` does.

    Unless something else is asked for, a regressor is refused.
    """
    from onetree.importers import load_ensemble
    from onetree.importers.outputs import Asked, as_asked

    asked = Asked(output, threshold, bands)
    if isinstance(source, str | os.PathLike):
        return load_ensemble(source, output=output, threshold=threshold, bands=bands)
    if not isinstance(source, Ensemble):
        return Ensemble.from_model(source, output=output, threshold=threshold, bands=bands)
    if not asked.cuts_probability:
        return as_asked(source, output)
    from onetree.importers import with_cuts

    return with_cuts(source, asked)
