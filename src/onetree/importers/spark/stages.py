"""The stages of a Spark pipeline before its trees: functions of single columns, in float64 as Spark computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import ModelFileError, UnsupportedModelError
from onetree.importers.pipeline import Break, Column, Raw
from onetree.importers.spark.folder import Metadata, read_rows
from onetree.model.columns import Labels

Matrix = NDArray[np.float64]
_MAX_COLUMNS = 1_000_000
_MAX_LABELS = 1_000_000


@dataclass
class _Made:
    """A column of the frame that a stage has made: its inputs, how, and what each of its numbers depends on."""

    inputs: tuple[str, ...]
    run: Callable[..., Matrix]
    columns: tuple[Column, ...]


@dataclass
class Stages:
    """Columns by name, from the columns of the frame that the pipeline gets to those that stages have made."""

    needed: set[str]  # columns that the trees depend on
    raw: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)  # what raw columns of texts are compared with
    closed: set[str] = field(default_factory=set)  # raw columns in which other texts are an error
    no_gaps: set[int] = field(default_factory=set)  # raw columns in which a missing value is an error
    fills_gaps: set[int] = field(default_factory=set)
    made: dict[str, _Made] = field(default_factory=dict)

    def columns(self, name: str) -> tuple[Column, ...]:
        """Return what a column depends on; a name that no stage has made is a raw column."""
        if name in self.made:
            return self.made[name].columns
        if name not in self.raw:
            self.raw.append(name)
        return (Column(self.raw.index(name)),)

    def add(self, path: Path, metadata: Metadata) -> None:
        """Take in a stage."""
        read = _STAGES.get(metadata.name)
        if read is None:
            raise UnsupportedModelError(
                f"the trees depend on the stage {metadata.name[:80]}, which is not read; save the trees alone"
            )
        read(self, path, metadata)

    def evaluate(self, name: str) -> Callable[[Matrix], Matrix]:
        """Return the function from rows of raw numbers and codes to the numbers of a column."""

        def run(X: Matrix) -> Matrix:
            known: dict[str, Matrix] = {raw: X[:, at : at + 1] for at, raw in enumerate(self.raw) if at < X.shape[1]}
            todo = [name]
            while todo:
                current = todo[-1]
                if current in known:
                    todo.pop()
                    continue
                lacking = [each for each in self.made[current].inputs if each not in known]
                if lacking:
                    todo += lacking
                else:
                    known[current] = self.made[current].run(*(known[each] for each in self.made[current].inputs))
            return known[name]

        return run

    def raw_columns(self, takes_nan: Callable[[int], bool]) -> list[Raw]:
        """Return the raw columns."""
        found = []
        for at, name in enumerate(self.raw):
            gaps = at not in self.no_gaps and takes_nan(at)
            if name in self.texts:
                labels = Labels(tuple(self.texts[name]), unknown="refuse" if name in self.closed else -1.0)
                found.append(Raw(name, labels, takes_nan=gaps))
            else:
                found.append(Raw(name, takes_nan=gaps))
        return found

    def put(self, name: str, inputs: Sequence[str], columns: Sequence[Column], run: Callable[..., Matrix]) -> None:
        """Note a column that a stage makes."""
        if name in self.made or name in self.raw:
            raise UnsupportedModelError(f"the pipeline makes the column {name[:80]!r} twice")
        self.made[name] = _Made(tuple(inputs), run, tuple(columns))


def names(metadata: Metadata, which: str) -> list[str]:
    """Return the columns that a stage gets ("input") or makes ("output")."""
    one, several = metadata.params.get(f"{which}Col"), metadata.params.get(f"{which}Cols")
    names = several if several is not None else [one] if one is not None else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelFileError(f"the {which} columns of a {metadata.name[:80]} must be names")
    return names


def _pairs(stages: Stages, metadata: Metadata) -> list[tuple[str, str]]:
    inputs, outputs = names(metadata, "input"), names(metadata, "output")
    if not inputs or len(inputs) != len(outputs):
        raise ModelFileError(f"a {metadata.name[:80]} must have as many output columns as input columns")
    pairs = list(zip(inputs, outputs, strict=True))
    for given, made in pairs:
        if made in stages.needed and len(stages.columns(given)) != 1:
            raise UnsupportedModelError(f"a {metadata.name[:80]} on a column of vectors is not read")
    return pairs


def _row(path: Path) -> Mapping[str, Any]:
    rows = read_rows(path / "data")
    if len(rows) != 1:
        raise ModelFileError(f"a stage of the pipeline has {len(rows)} rows of data, not one")
    return rows[0]


def _index_texts(stages: Stages, path: Path, metadata: Metadata) -> None:
    labels = _row(path).get("labelsArray")
    pairs = _pairs(stages, metadata)
    invalid = metadata.params.get("handleInvalid", "error")
    if not isinstance(labels, list) or len(labels) != len(pairs) or sum(map(len, labels)) > _MAX_LABELS:
        raise ModelFileError("a StringIndexerModel must have labels for each of its columns")
    for (given, made), own in zip(pairs, labels, strict=True):
        if made not in stages.needed:
            continue
        if given in stages.made:
            raise UnsupportedModelError(f"the column {given[:80]!r} is made by another stage, and indexed as text")
        if not own or not all(isinstance(label, str) for label in own) or len(set(own)) != len(own):
            raise ModelFileError("the labels of a StringIndexerModel must be different texts")
        known = stages.texts.setdefault(given, [])
        known += [label for label in own if label not in known]
        if invalid != "keep":
            stages.closed.add(given)
            stages.no_gaps.add(stages.raw.index(given))
        index = {label: float(i) for i, label in enumerate(own)}

        def run(x: Matrix, known: list[str] = known, index: dict[str, float] = index) -> Matrix:
            table = np.array([*(index.get(text, float(len(index))) for text in known), float(len(index))])
            codes = x[:, 0]
            inside = np.isin(codes, np.arange(len(known)))
            return np.asarray(table[np.where(inside, codes, len(known)).astype(int)][:, np.newaxis])

        stages.put(made, [given], stages.columns(given), run)


def _spread(stages: Stages, path: Path, metadata: Metadata) -> None:
    sizes = _row(path).get("categorySizes")
    pairs = _pairs(stages, metadata)
    drop, keep = metadata.params.get("dropLast", True), metadata.params.get("handleInvalid", "error") == "keep"
    if not isinstance(sizes, list) or len(sizes) != len(pairs) or not all(type(n) is int and n > 0 for n in sizes):
        raise ModelFileError("a OneHotEncoderModel must have a size for each of its columns")
    if sum(sizes) > _MAX_COLUMNS or type(drop) is not bool:
        raise ModelFileError("a OneHotEncoderModel has too many columns, or a broken dropLast")
    for (given, made), size in zip(pairs, sizes, strict=True):
        if made not in stages.needed:
            continue
        if given not in stages.made:
            raise UnsupportedModelError(f"a OneHotEncoder on the raw column {given[:80]!r} is not read; index it first")
        width = size + int(keep) - int(drop)

        def run(x: Matrix, size: int = size, width: int = width) -> Matrix:
            return np.asarray(np.minimum(x, size) == np.arange(width)).astype(np.float64)

        source = stages.made[given].columns[0]
        points = np.arange(size + 1, dtype=np.float64)
        column = replace(source, breaks=(*source.breaks, Break(stages.evaluate(given), 0, points)))
        stages.put(made, [given], [column] * width, run)


def _impute(stages: Stages, path: Path, metadata: Metadata) -> None:
    values = _row(path)
    missing = metadata.params.get("missingValue", "NaN")
    number = float("nan") if missing == "NaN" else missing
    if type(number) not in (int, float):
        raise ModelFileError("the missingValue of an ImputerModel must be a number")
    for given, made in _pairs(stages, metadata):
        if made not in stages.needed:
            continue
        fill = values.get(given)
        if type(fill) is not float or not np.isfinite(fill):
            raise ModelFileError(f"an ImputerModel has no number for the column {given[:80]!r}")
        (source,) = stages.columns(given)
        if np.isnan(number):
            if source.raw is not None:
                stages.fills_gaps.add(source.raw)
        else:
            if source.raw is not None:  # null is replaced, NaN is not, and a gap is one thing here
                stages.no_gaps.add(source.raw)
            source = replace(
                source, breaks=(*source.breaks, Break(stages.evaluate(given), 0, np.array([float(number)])))
            )

        def run(x: Matrix, fill: float = fill) -> Matrix:
            return np.where(np.isnan(x) if np.isnan(number) else x == number, fill, x)

        stages.put(made, [given], [source], run)


def _bucket(stages: Stages, path: Path, metadata: Metadata) -> None:
    splits = metadata.params.get("splits")
    numbers = [float(x) if type(x) in (int, float) or x in ("Inf", "-Inf") else None for x in splits or []]
    pairs = _pairs(stages, metadata)
    if len(pairs) != 1 or len(numbers) < 3 or None in numbers:
        raise UnsupportedModelError("a Bucketizer of several columns, or without numbers as splits, is not read")
    ends = np.array(numbers, dtype=np.float64)
    if not (np.diff(ends) > 0).all() or ends[0] != -np.inf or ends[-1] != np.inf:
        raise UnsupportedModelError("a Bucketizer whose splits do not go from -Infinity to Infinity is not read")
    ((given, made),) = pairs
    (source,) = stages.columns(given)
    keeps = metadata.params.get("handleInvalid", "error") == "keep"
    if source.raw is not None and not keeps and source.raw not in stages.fills_gaps:
        stages.no_gaps.add(source.raw)

    def run(x: Matrix) -> Matrix:
        found = np.clip(np.searchsorted(ends, x, side="right") - 1, 0, len(ends) - 2).astype(np.float64)
        return np.where(np.isnan(x), float(len(ends) - 1), found)

    stages.put(made, [given], [source], run)


def _assemble(stages: Stages, path: Path, metadata: Metadata) -> None:
    inputs, outputs = names(metadata, "input"), names(metadata, "output")
    if not inputs or len(outputs) != 1:
        raise ModelFileError("a VectorAssembler must have input columns and one output column")
    columns = [column for name in inputs for column in stages.columns(name)]
    if len(columns) > _MAX_COLUMNS:
        raise ModelFileError("a VectorAssembler has too many columns")
    if metadata.params.get("handleInvalid", "error") != "keep":
        raws = {column.raw for column in columns if column.raw is not None}
        texts = {stages.raw.index(name) for name in stages.texts}
        stages.no_gaps |= raws - stages.fills_gaps - texts  # texts have become numbers
    stages.put(outputs[0], inputs, columns, lambda *parts: np.concatenate(parts, axis=1))


_STAGES: dict[str, Callable[[Stages, Path, Metadata], None]] = {
    "StringIndexerModel": _index_texts,
    "OneHotEncoderModel": _spread,
    "ImputerModel": _impute,
    "Bucketizer": _bucket,
    "VectorAssembler": _assemble,
}
