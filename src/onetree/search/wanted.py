"""What a tree is asked to say, its output, and how near: from the arguments of the functions that find trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onetree.base.limits import check_choice, flag, is_integer
from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.model.ensemble import Ensemble, as_ensemble
from onetree.search.scoring import Scoring

OUTPUTS = ("auto", "class", "probability", "value")
MAX_CLASSES = 1 << 16  # a class is two bytes in the native core

Threshold = float | Mapping[Any, float]


@dataclass(frozen=True, eq=False)
class Wanted:
    """An ensemble, and what its tree is to say.

    Parameters
    ----------
    ensemble : Ensemble
    output : {"class", "probability", "value"}
    """

    ensemble: Ensemble
    output: str

    def scoring(
        self, tolerance: float | None, *, relative: bool, keep_class: bool, max_leaves: int | None = None
    ) -> Scoring | None:
        """Return how near its numbers must be; None for a tree of classes."""
        if self.output == "class":
            named = {
                "tolerance": tolerance is not None,
                "max_leaves": max_leaves is not None,
                "relative": relative,
                "keep_class": not keep_class,
            }
            for name in (name for name, is_given in named.items() if is_given):
                raise InvalidInputError(
                    f'{name}= is about numbers, and this tree has classes; ask for output="probability"'
                )
            return None
        any_tolerance = 0.0 if max_leaves is not None else tolerance
        scoring = self.numbers(any_tolerance, relative=relative, keep_class=keep_class)
        if max_leaves is None:
            check_promise(scoring)
        return scoring

    def numbers(self, tolerance: float | None, *, relative: bool, keep_class: bool) -> Scoring:
        """Return how near the numbers of the tree must be."""
        if tolerance is None:
            raise InvalidInputError(
                f'output="{self.output}" needs a tolerance: how far, at most, the numbers of the tree may be from '
                "those of the model; 0 means equal. tolerance_front(model) shows what each tolerance costs in leaves"
            )
        relative, keep_class = flag("relative", relative), flag("keep_class", keep_class)
        if self.output == "value" and not keep_class:
            raise InvalidInputError("keep_class=False is about classes, and a regressor has none")
        return Scoring.of(self.ensemble, tolerance, relative=relative, keep_class=keep_class)


def wanted_of(
    source: object,
    output: str = "auto",
    *,
    threshold: Threshold | None = None,
    bands: Sequence[float] | None = None,
) -> Wanted:
    """Return a source as an ensemble and what its tree is to say; what the model does not have is an error."""
    check_choice("output", output, OUTPUTS)
    ensemble = as_ensemble(source, threshold, output=output, bands=bands)
    if ensemble.n_classes > MAX_CLASSES:
        raise UnsupportedModelError(
            f"the model has {ensemble.n_classes} classes and at most {MAX_CLASSES} are supported; merge rare classes"
        )
    if output == "auto":
        return Wanted(ensemble, "value" if ensemble.output == "value" else "class")
    if output == "value" and ensemble.output != "value":
        raise InvalidInputError('output="value" is for regressors; this model has classes: use output="probability"')
    if output != "value" and ensemble.output == "value":
        raise InvalidInputError(f'a regressor has no classes, so output="{output}" is not there; use output="value"')
    if output == "probability" and ensemble.output == "class":
        raise InvalidInputError(
            'nothing but the class of this ensemble is known, so output="probability" is not there: its trees vote, or '
            'it was read with output="class"'
        )
    return Wanted(ensemble, output)


def check_promise(scoring: Scoring) -> None:
    """Raise if the tolerance is less than what the library's own numbers are uncertain by."""
    if scoring.promise < scoring.slack:
        raise InvalidInputError(
            "the last bit of this model's numbers depends on how many rows it predicts at once, so equal ones "
            f"cannot be promised; use a small tolerance, such as {scoring.slack:g}"
        )


def check_max_leaves(max_leaves: int | None, tolerance: float | None, objective: str) -> None:
    """Raise unless the least tolerance with so many leaves can be asked for."""
    if max_leaves is None:
        return
    if not is_integer(max_leaves, 1):
        raise InvalidInputError(f"max_leaves must be a positive integer, not {max_leaves!r}")
    if tolerance is not None:
        raise InvalidInputError(
            "max_leaves= asks for the least tolerance with so many leaves, and tolerance= for the fewest leaves with "
            "that tolerance; give one of them"
        )
    if not objective.startswith("leaves"):
        raise InvalidInputError(f'max_leaves= goes with objective="leaves" or "leaves-depth", not {objective!r}')
