"""Where two models differ: an input, or a proof that there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.base.progress import ProgressOption, reporting
from onetree.domain.domain import DomainLike, as_domain
from onetree.errors import InvalidInputError
from onetree.model.ensemble import Ensemble
from onetree.questions.ask import Asker, unconfirmed
from onetree.questions.pairs import Pair
from onetree.questions.sources import source_of
from onetree.tree.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelDifference:
    """Whether two models differ; true in a condition iff they do.

    Parameters
    ----------
    differ : bool or None
        Refuted if False: the models are proven equal. None: not decided before a limit.
    point : float64 array of shape (n_features,), or None
        An input on which they differ.
    classes : tuple of two labels, or None
        What they predict there.
    share : float or None
        Of the rows that were given, how many get different classes.
    """

    differ: bool | None
    point: Floats | None = None
    classes: tuple[Any, Any] | None = None
    share: float | None = None

    def __bool__(self) -> bool:
        return self.differ is True

    def __repr__(self) -> str:
        word = {True: "they differ", False: "equal, proven", None: "not decided"}[self.differ]
        if self.classes is not None:
            word += f": {self.classes[0]!s} and {self.classes[1]!s}"
        return f"ModelDifference({word}{'' if self.share is None else f', on {self.share:.2%} of the rows'})"


def difference(
    a: Any,
    b: Any,
    *,
    domain: DomainLike | None = None,
    X: Any = None,
    time_limit: float | None = None,
    work_limit: int | None = None,
    progress: ProgressOption = None,
) -> ModelDifference:
    """Find an input to which two models give different classes, or prove that there is none.

    Parameters
    ----------
    a, b : fitted models, paths, Ensembles or Trees
        With the same features in the same order.
    domain : Domain or mapping, optional
        Compare inside this domain, as in `born_again`; by default inside that of a tree, or for every input that both
        take. ``{}`` is everywhere.
    X : array or frame, optional
        Rows, of which to count those that get different classes.
    time_limit, work_limit : optional
        Seconds and boxes.
    progress : callable, False or None
        As in `born_again`, with the phase "question".

    Examples
    --------
    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> old = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> new = RandomForestClassifier(5, max_depth=2, random_state=1).fit(X, y)
    >>> bool(onetree.difference(old, new))
    True
    >>> onetree.difference(old, onetree.born_again(old).tree)
    ModelDifference(equal, proven)
    """
    first, second = source_of(a), source_of(b)
    _check_alike(first, second)
    if domain is None:  # a tree is made for its own domain
        domain = next((each.domain for each in (a, b) if isinstance(each, Tree) and each.domain is not None), None)
    pair = Pair(first, second, as_domain(domain, first))
    labels = (first.classes.tolist(), second.classes.tolist())
    wanted = np.array([[one != other for other in labels[1]] for one in labels[0]], dtype=bool)
    with reporting(progress) as reporter:
        status, point = Asker(pair.options, time_limit, work_limit, None, reporter).differing(pair.voters, wanted)
    share = None if X is None else float(np.mean(first.predict(X) != second.predict(X)))
    if point is None:
        return ModelDifference(None if status == "limit" else False, share=share)
    found = tuple(each.predict(point[np.newaxis])[0] for each in (first, second))
    if found[0] == found[1]:
        raise unconfirmed(point)
    return ModelDifference(True, point, (found[0], found[1]), share)


def _check_alike(first: Ensemble, second: Ensemble) -> None:
    if first.feature_names != second.feature_names:
        raise InvalidInputError(
            f"the models have different features, or in another order: {list(first.feature_names[:5])} and "
            f"{list(second.feature_names[:5])}; fit both on the same columns"
        )
    for name, one, other in zip(first.feature_names, first.categories, second.categories, strict=True):
        if one != other:
            raise InvalidInputError(
                f"{name!r} does not have the same categories in both models, so they cannot be compared"
            )
