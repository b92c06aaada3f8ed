"""What LightGBM's objectives make of the scores: a class, probabilities, or the value of a regressor."""

import math

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.cut import last_score
from onetree.importers.lightgbm.text import TextModel
from onetree.model.combination import Combination
from onetree.model.ensemble import Rule
from onetree.model.stages import Member, Stage

_NO_SIGMOID = "the sigmoid of the objective must be a positive number, not {!r}"
_IDENTITY = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
_EXPONENTIAL = ("poisson", "gamma", "tweedie")
_LOGISTIC = ("cross_entropy",)
REGRESSION = (*_IDENTITY, *_EXPONENTIAL, *_LOGISTIC)


def objective_of(model: TextModel) -> tuple[str, dict[str, str]]:
    """Return the objective and its options; "custom" if it is the user's own."""
    words = model.objective or ("custom",)
    return words[0], dict(part.partition(":")[::2] for part in words[1:])


def rule_of(model: TextModel, output: str) -> tuple[Rule, int]:
    """Return the rule and the number of classes."""
    if not model.trees:
        raise UnsupportedModelError("this LightGBM model has no trees; train it for at least one iteration")
    n_iterations, rest = divmod(len(model.trees), model.n_trees_per_iteration)
    if rest:
        raise ModelFileError(f"{len(model.trees)} trees cannot be {model.n_trees_per_iteration} per iteration")
    divisor = float(n_iterations) if model.average_output else 1.0
    name, options = objective_of(model)
    if output == "value":
        if model.n_classes != 1 or model.n_trees_per_iteration != 1:
            raise ModelFileError(f"the objective {name!r} has one score, but the model has {model.n_classes}")
        return Rule("value", divisor=divisor), 0
    if name == "binary":
        if model.n_classes != 1 or model.n_trees_per_iteration != 1:
            raise ModelFileError(
                'the objective "binary" has one score, but num_class or num_tree_per_iteration is not 1'
            )
        return Rule("score", divisor=divisor, cut=_cut(options.get("sigmoid", ""))), 2
    if name in ("multiclass", "multiclassova"):
        if not 2 <= model.n_classes == model.n_trees_per_iteration or options.get("num_class") != str(model.n_classes):
            raise ModelFileError("num_class, num_tree_per_iteration and the number in the objective do not agree")
        if name == "multiclass":
            return Rule("scores", divisor=divisor, softmax=True), model.n_classes
        # The first largest of rounded sigmoids: large scores are all 1.
        sigmoid = Stage("sigmoid", (0,), (_factor(options.get("sigmoid", "")),))
        members = (Member(model.n_classes, divisor=divisor),)
        return Rule("combined", combination=Combination(members, (sigmoid,))), model.n_classes
    raise UnsupportedModelError(
        f'the objective "{name[:40]}" does not name a class; train with objective="binary" or "multiclass"'
    )


def stages_of(model: TextModel, output: str) -> list[Stage]:
    """Return the stages from the sums to what `predict` returns: probabilities, or a value."""
    name, options = objective_of(model)
    if name == "binary":
        sigmoid = Stage("sigmoid", (), (_factor(options.get("sigmoid", "")),))
        return [sigmoid] if output == "value" else [sigmoid, Stage("pair", ())]
    if name == "multiclass":
        return [Stage("softmax", ())]
    if "sqrt" in options:
        raise UnsupportedModelError(
            "this LightGBM model squares what it has learnt from square roots (reg_sqrt=True), which is not read; "
            "train it with reg_sqrt=False"
        )
    if name in _IDENTITY:
        return []
    if name in _EXPONENTIAL:
        return [Stage("exp", ())]
    if name in _LOGISTIC:
        return [Stage("sigmoid", (), (1.0,))]
    raise UnsupportedModelError(
        f'the objective "{name[:40]}" of this LightGBM model does not say what its scores mean; train a regressor with '
        f"one of {', '.join(REGRESSION)}"
    )


def _cut(sigmoid: str) -> float:
    """Return the largest score that is class 0: the last whose probability, as LightGBM rounds it, is 0.5."""
    factor = _factor(sigmoid)
    cut = last_score(lambda score: 1.0 / (1.0 + math.exp(-factor * score)) <= 0.5, lowest=0.0)
    if cut is None:
        raise ModelFileError(_NO_SIGMOID.format(sigmoid[:40]))
    return cut


def _factor(sigmoid: str) -> float:
    try:
        factor = float(sigmoid)
    except ValueError:
        factor = math.nan
    if not 0 < factor < math.inf:
        raise ModelFileError(_NO_SIGMOID.format(sigmoid[:40]))
    return factor
