"""Raw inputs as a pipeline takes them, made from numbers; and what of them it accepts.

What a pipeline takes is asked of the pipeline: each value of a category, other values, missing ones, large numbers.
"""

import importlib
import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import UnsupportedModelError
from onetree.importers.pipeline import Raw
from onetree.importers.pipeline.columns import Evaluate, Matrix
from onetree.importers.pipeline.float_order import keys, numbers
from onetree.importers.sklearn.steps.tracing import REFUSED, REMEDY, Notes
from onetree.model.columns import Labels

_UNSEEN = "\0 not a category"
UNKNOWN, NONE = -1.0, -2.0  # numbers of what is not a category, in columns of texts
_SIZES = (1e307, 1e300, 1e250, 1e150, 1e30)
_EXAMPLES = (1.0, 0.0, 0.5, 10.0, 100.0, 1000.0, -1.0)


@dataclass(eq=False)
class RawInputs:
    """Makes raw inputs from matrices of numbers.

    Parameters
    ----------
    names : tuple of str or None
        Names of all raw columns, if the pipeline knows them; then inputs are frames.
    n_columns : int
        Number of all raw columns.
    kept : list of int
        The raw columns that a matrix has; the others are not used by the pipeline.
    texts : dict
        By raw column, its values if it holds texts: the numbers are their places.
    none_is_missing : set of int
        The columns of texts in which None stands for NaN.
    """

    names: tuple[str, ...] | None
    n_columns: int
    kept: list[int]
    texts: dict[int, list[str]] = field(default_factory=dict)
    none_is_missing: set[int] = field(default_factory=set)

    def decode(self, rows: Matrix) -> Any:
        """Return a frame, or an array if the columns have no names."""
        place = {raw: at for at, raw in enumerate(self.kept)}
        columns = [
            self._column(raw, rows[:, place[raw]]) if raw in place else np.zeros(len(rows))
            for raw in range(self.n_columns)
        ]
        if self.names is None:
            dtype = object if self.texts else np.float64
            return np.stack([column.astype(dtype) for column in columns], axis=1)
        named = list(zip(self.names, columns, strict=True))
        if importlib.util.find_spec("pandas") is not None:
            pd: Any = importlib.import_module("pandas")
            return pd.DataFrame({name: pd.Series(each, dtype=each.dtype) for name, each in named})
        return importlib.import_module("polars").DataFrame({name: column.tolist() for name, column in named})

    def _column(self, raw: int, codes: NDArray[np.float64]) -> NDArray[Any]:
        if raw not in self.texts:
            return codes
        gap = None if raw in self.none_is_missing else np.nan
        values = np.array([*self.texts[raw], _UNSEEN, None, gap], dtype=object)
        n_values = len(self.texts[raw])
        known = np.isin(codes, np.arange(n_values))
        index = np.select([known, codes == NONE, np.isnan(codes)], [codes, n_values + 1, n_values + 2], n_values)
        return values[index.astype(np.intp)]


@dataclass(frozen=True, eq=False)
class Acceptance:
    """Asks a pipeline what it takes.

    Parameters
    ----------
    evaluate : function
        From a matrix of raw inputs to what the steps produce.
    inputs : RawInputs
    notes : sequence of Notes
        For all raw columns.
    """

    evaluate: Evaluate
    inputs: RawInputs
    notes: Sequence[Notes]

    def raw_columns(self) -> list[Raw]:
        """Return the raw columns, with the numbers and values that are accepted; nothing is known of NaN yet."""
        names = self.inputs.names or tuple(f"x{at}" for at in range(self.inputs.n_columns))
        raw = []
        for at in self.inputs.kept:
            note = self.notes[at]
            if note.texts:
                raw.append(Raw(names[at], Labels(tuple(self.inputs.texts[at]), unknown=UNKNOWN)))
            elif note.closed:
                codes = sorted(note.numbers)
                values = tuple(note.numbers[code] for code in codes)
                raw.append(Raw(names[at], Labels(values, tuple(codes)), example=codes[0]))
            else:
                raw.append(Raw(names[at], low=note.lowest))
        raw = self._with_examples(raw)
        return self._limited(raw, self._accepted_values(raw))

    def takes(self, raw: Sequence[Raw], probes: Sequence[tuple[int, float]]) -> list[bool]:
        """Whether each of these numbers is accepted in its column, the others being at their examples."""
        try:
            self.at(raw, probes)
        except REFUSED:
            if len(probes) == 1:
                return [False]
            half = len(probes) // 2
            return self.takes(raw, probes[:half]) + self.takes(raw, probes[half:])
        return [True] * len(probes)

    def at(self, raw: Sequence[Raw], probes: Sequence[tuple[int, float]]) -> Matrix:
        """Return what the steps produce there."""
        rows = np.tile(np.array([each.example for each in raw]), (len(probes), 1))
        rows[np.arange(len(probes)), [at for at, _ in probes]] = [number for _, number in probes]
        return self.evaluate(rows)

    def _with_examples(self, raw: list[Raw]) -> list[Raw]:
        error: Exception | None = None
        for number in _EXAMPLES:
            tried = [each if each.labels is not None else replace(each, example=number) for each in raw]
            try:
                self.evaluate(np.array([[each.example for each in tried]]))
            except REFUSED as refusal:
                error = error or refusal
            else:
                return tried
        raise UnsupportedModelError(
            f"the steps of the pipeline take none of the inputs that were tried: {error}; if it is fitted and "
            f"predicts, please report this, and until then {REMEDY}"
        )

    def _accepted_values(self, raw: Sequence[Raw]) -> list[Raw]:
        """Return the raw columns; those of finitely many values with the ones that are accepted."""
        finite = [(at, each.labels) for at, each in enumerate(raw) if each.labels is not None]
        probes = [(at, code) for at, labels in finite for code in (*labels.codes, UNKNOWN)]
        taken = dict(zip(probes, self.takes(raw, probes), strict=True)) if probes else {}
        found = list(raw)
        for at, labels in finite:
            pairs = zip(labels.values, labels.codes, strict=True)
            fine = [(value, code) for value, code in pairs if taken[at, code]]
            unknown = "refuse" if isinstance(labels.unknown, str) or not taken[at, UNKNOWN] else UNKNOWN
            values, codes = tuple(value for value, _ in fine), tuple(code for _, code in fine)
            found[at] = replace(raw[at], labels=Labels(values, codes, unknown))
        return found

    def _limited(self, raw: Sequence[Raw], found: list[Raw]) -> list[Raw]:
        """Return the raw columns; those of numbers with about the smallest and the largest that is accepted."""
        ends = [(at, end) for at, each in enumerate(found) if each.labels is None for end in (each.low, each.high)]
        left = [probe for probe, taken in zip(ends, self.takes(raw, ends) if ends else [], strict=True) if not taken]
        for size in _SIZES:  # most often a scaler makes the largest numbers infinite
            tried = [(at, math.copysign(size, end)) for at, end in left if abs(end) > size]
            taken = dict(zip(tried, self.takes(raw, tried) if tried else [], strict=True))
            for at, limit in (probe for probe, fine in taken.items() if fine):
                found[at] = _ending(found[at], limit)
            left = [(at, end) for at, end in left if not taken.get((at, math.copysign(size, end)))]
        for at, end in left:
            found[at] = _ending(found[at], self._furthest(raw, at, end), lower=end == found[at].low)
        return found

    def _furthest(self, raw: Sequence[Raw], at: int, end: float) -> float:
        inside, outside = int(keys([raw[at].example])[0]), int(keys([end])[0])
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            if self.takes(raw, [(at, float(numbers(np.array([middle]))[0]))])[0]:
                inside = middle
            else:
                outside = middle
        return float(numbers(np.array([inside]))[0])


def _ending(raw: Raw, limit: float, *, lower: bool | None = None) -> Raw:
    return replace(raw, low=limit) if (limit < 0 if lower is None else lower) else replace(raw, high=limit)
