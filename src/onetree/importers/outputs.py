"""What is asked of a model: its class, its probabilities, or the value of a regressor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from onetree.errors import InvalidInputError, UnsupportedModelError
from onetree.model.ensemble import Ensemble
from onetree.model.response import chained
from onetree.model.stages import Member, Stage

Threshold = float | Mapping[Any, float]


@dataclass(frozen=True)
class Asked:
    """What is asked of a model.

    Parameters
    ----------
    output : {"auto", "class", "probability", "value"}
    threshold : float, mapping from a class to a float, or None
        The class wins iff its probability is at least this; without a name, the second of two.
    bands : sequence of float or None
        Where the probability of the second of two classes is cut; the bands are the classes.
    """

    output: str = "auto"
    threshold: Threshold | None = None
    bands: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.output not in OUTPUTS:
            raise InvalidInputError(f"unknown output={self.output!r}; use one of {', '.join(OUTPUTS)}")
        if self.threshold is not None and self.bands is not None:
            raise InvalidInputError("give threshold= or bands=, not both: a threshold is one cut, bands are several")
        if isinstance(self.threshold, Mapping) and len(self.threshold) != 1:
            raise InvalidInputError(
                f'threshold={dict(self.threshold)!r} must name one class, as in threshold={{"yes": 0.3}}'
            )
        if self.threshold is not None and not _is_probability(self.level):
            raise InvalidInputError(f"threshold must be a probability between 0 and 1, not {self.level!r}")
        if self.bands is not None:
            self._check_bands()
        if self.cuts_probability and self.output == "value":
            raise InvalidInputError('threshold= and bands= are for classifiers; output="value" is for regressors')
        if self.bands is not None and self.output == "probability":
            raise InvalidInputError(
                'bands= makes classes of the probability; leave it out for output="probability", or use output="class"'
            )

    @property
    def cuts_probability(self) -> bool:
        """Whether a threshold or bands make the classes."""
        return self.threshold is not None or self.bands is not None

    @property
    def level(self) -> Any:
        """The number of the threshold."""
        return next(iter(self.threshold.values())) if isinstance(self.threshold, Mapping) else self.threshold

    @property
    def named(self) -> Any:
        """The class that the threshold is for, or None for the second of two."""
        return next(iter(self.threshold)) if isinstance(self.threshold, Mapping) else None

    def _check_bands(self) -> None:
        bands = self.bands
        listed: list[Any] | None = list(bands) if isinstance(bands, list | tuple | np.ndarray) else None
        if not listed or not all(_is_probability(each) for each in listed):
            raise InvalidInputError(f"bands must be a list of probabilities between 0 and 1, not {bands!r}")
        if any(float(a) >= float(b) for a, b in pairwise(listed)):
            raise InvalidInputError(f"bands must ascend, without repeats, but they are {listed!r}")


def _is_probability(number: object) -> bool:
    is_number = isinstance(number, int | float | np.number) and not isinstance(number, bool)
    return is_number and 0 <= float(number) <= 1  # type: ignore[arg-type]


OUTPUTS = ("auto", "class", "probability", "value")


def wanted(output: str, *, is_regressor: bool, name: str) -> str:
    """Return what "auto" stands for, or say that the model does not have what is asked for.

    Parameters
    ----------
    output : {"auto", "class", "probability", "value"}
    is_regressor : bool
    name : str
        Of the model, for errors.
    """
    if output == "auto":
        return "value" if is_regressor else "class"
    if is_regressor and output != "value":
        raise UnsupportedModelError(
            f"{name} is a regressor: it predicts a number, and has no classes and no probabilities; use "
            'output="value", or train a classifier'
        )
    if output == "value" and not is_regressor:
        raise UnsupportedModelError(
            f'{name} is a classifier and predicts no value; use output="class" or output="probability"'
        )
    return output


def no_probabilities(name: str, reason: str) -> UnsupportedModelError:
    """Return the error for a model whose probabilities are not read."""
    return UnsupportedModelError(f'{reason}, so the probabilities of this {name} are not read; use output="class"')


def with_stages(ensemble: Ensemble, stages: Sequence[Stage], name: str) -> Ensemble:
    """Return the ensemble with the response of these stages, each of which takes what the one before it gives."""
    rule = ensemble.rule
    if rule.combination is not None:
        raise no_probabilities(name, "its rule has two levels")
    member = Member(ensemble.n_outputs, rule.dtype, rule.divisor)
    try:
        return replace(ensemble, response=chained(member, stages))
    except InvalidInputError as error:
        raise UnsupportedModelError(f"this {name} has numbers that cannot be read: {error}") from None


def as_asked(ensemble: Ensemble, output: str) -> Ensemble:
    """Return an ensemble, given or from a file, if it has what is asked for; for the class alone, without the rest."""
    if output == "auto" or output == ensemble.output:
        return ensemble
    if output == "class" and ensemble.output == "probability":
        return replace(ensemble, response=None)
    if ensemble.output == "value":
        raise InvalidInputError(
            f'output={output!r} needs classes, but this ensemble is a regressor; use output="value"'
        )
    if output == "value":
        raise InvalidInputError('output="value" is for regressors, but this ensemble has classes')
    raise InvalidInputError(
        'nothing but the class of this ensemble is known; read its model with output="probability", and save that'
    )
