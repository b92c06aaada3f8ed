"""The errors that onetree raises; every message says what is wrong and what to do next.

Imports nothing from onetree, so that every stage can use it.
"""

from collections.abc import Sequence


class OnetreeError(Exception):
    """Base of all errors that onetree raises on purpose."""


class UnsupportedModelError(OnetreeError, ValueError):
    """The model is of a kind, or in a state, that cannot be converted."""


class ModelFileError(OnetreeError, ValueError):
    """The file is not a model, or its structure is broken."""


class InvalidInputError(OnetreeError, ValueError):
    """An argument or an input array cannot be used."""


class GridTooLargeError(OnetreeError, MemoryError):
    """The grid of the ensemble does not fit into the memory limit."""


class TooLargeError(OnetreeError):
    """The tree would be too large: `estimate` says how large, and `proposals` what would make it smaller."""

    def __init__(self, message: str = "", estimate: object = None, proposals: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.estimate = estimate
        self.proposals = list(proposals)


class MissingDependencyError(OnetreeError, ImportError):
    """A package that is not installed is needed for what was asked."""


class FidelityError(OnetreeError):
    """A tree, an ensemble and a model that must predict the same class do not."""


class LimitReachedError(OnetreeError):
    """A limit was reached before any faithful tree was found, or before it was proven: then `solution` holds it."""

    def __init__(self, message: str = "", solution: object = None) -> None:
        super().__init__(message)
        self.solution = solution


class SomeFailedError(OnetreeError):
    """Some of many conversions failed; `results` holds the solutions and the errors, in the order of the sources."""

    def __init__(self, message: str, results: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.results = list(results)


def missing(package: str, extra: str | None = None) -> MissingDependencyError:
    """Return the error that says how to get a package: as an extra of onetree, or by its own name.

    Examples
    --------
    >>> print(missing("matplotlib", "plot"))
    this needs matplotlib, which is not installed; run: pip install 'onetree[plot]'
    """
    wanted = package if extra is None else f"'onetree[{extra}]'"
    return MissingDependencyError(
        f"this needs {package}, which is not installed; run: pip install {wanted}", name=package
    )
