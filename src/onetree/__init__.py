"""One decision tree that predicts exactly the same class as a whole tree ensemble, everywhere.

The pipeline, one package per stage::

    model -> importers -> Ensemble -> (domain) -> lowering -> search -> Tree -> verify -> export

A fitted model (or a file) is read by an importer into an `Ensemble`: trees with leaf vectors, and the rule that
combines them. Its thresholds and sets of categories cut the space into a grid of cells, in each of which the class is
constant; a `Domain` leaves only those that inputs can reach. `born_again` finds the smallest `Tree` with the same class
in every cell and returns it in a `Solution`, with what was proven about its size. `verify` proves that tree and
ensemble are the same function, or gives an input on which they differ.

    >>> import onetree
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> solution = onetree.born_again(forest, objective="leaves")
    >>> solution.status
    'optimal'
    >>> bool((solution.tree.predict(X) == forest.predict(X)).all())
    True
    >>> bool(onetree.verify(solution.tree, forest))
    True
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from onetree.auditing.audit import Audit, audit
from onetree.base.progress import Progress, StopSearch
from onetree.domain.domain import Domain
from onetree.domain.groups import Group
from onetree.domain.infer import domain_around, domain_of
from onetree.errors import (
    FidelityError,
    GridTooLargeError,
    InvalidInputError,
    LimitReachedError,
    MissingDependencyError,
    ModelFileError,
    OnetreeError,
    SomeFailedError,
    TooLargeError,
    UnsupportedModelError,
)
from onetree.importers import load_ensemble
from onetree.model.categories import Categories
from onetree.model.ensemble import Ensemble, Rule
from onetree.questions.checks import (
    Check,
    check_fair,
    check_irrelevant,
    check_monotone,
    check_reachable,
    check_stable,
)
from onetree.questions.contrast import Contrast
from onetree.questions.counterfactual import Counterfactual, counterfactual
from onetree.questions.difference import DifferenceBox, ModelDifference, difference
from onetree.questions.reason import SufficientReason, explain
from onetree.report import write_report
from onetree.scale.many import born_again_many
from onetree.scale.parts import born_again_in_parts
from onetree.search.estimate import Estimate, estimate
from onetree.search.solution import Solution
from onetree.search.solve import born_again, pareto_front
from onetree.search.tolerance_front import tolerance_front
from onetree.support import SupportSolution, support_tree
from onetree.support.frontier import Frontier, frontier
from onetree.tree.comparison import Comparison, compare
from onetree.tree.prune import prune
from onetree.tree.tree import Tree, load_tree
from onetree.verify import Deviation, Verdict, verify, worst_deviation

if _TYPE_CHECKING:
    from onetree.estimators import BornAgainTreeClassifier, BornAgainTreeRegressor

    __version__: str

__all__ = [
    "Audit",
    "BornAgainTreeClassifier",
    "BornAgainTreeRegressor",
    "Categories",
    "Check",
    "Comparison",
    "Contrast",
    "Counterfactual",
    "Deviation",
    "DifferenceBox",
    "Domain",
    "Ensemble",
    "Estimate",
    "FidelityError",
    "Frontier",
    "GridTooLargeError",
    "Group",
    "InvalidInputError",
    "LimitReachedError",
    "MissingDependencyError",
    "ModelDifference",
    "ModelFileError",
    "OnetreeError",
    "Progress",
    "Rule",
    "Solution",
    "SomeFailedError",
    "StopSearch",
    "SufficientReason",
    "SupportSolution",
    "TooLargeError",
    "Tree",
    "UnsupportedModelError",
    "Verdict",
    "audit",
    "born_again",
    "born_again_in_parts",
    "born_again_many",
    "check_fair",
    "check_irrelevant",
    "check_monotone",
    "check_reachable",
    "check_stable",
    "compare",
    "counterfactual",
    "difference",
    "domain_around",
    "domain_of",
    "estimate",
    "explain",
    "frontier",
    "load_ensemble",
    "load_tree",
    "pareto_front",
    "prune",
    "support_tree",
    "tolerance_front",
    "verify",
    "worst_deviation",
    "write_report",
]


def __getattr__(name: str) -> object:
    # What takes long to import is imported when it is asked for: scikit-learn, for the estimators, most of all.
    if name == "__version__":
        from importlib.metadata import version

        return version("onetree")
    if name in ("BornAgainTreeClassifier", "BornAgainTreeRegressor"):
        from onetree import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
