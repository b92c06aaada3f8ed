"""Which steps are read, and how: the steps that hold others, and the table of all that is known.

A step is known by its class. One of a subclass that has a `transform` of its own is not.
"""

from collections.abc import Callable, Sequence
from inspect import getattr_static
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from onetree.errors import UnsupportedModelError
from onetree.importers.sklearn.steps import category_encoders
from onetree.importers.sklearn.steps.encoders import read_one_hot, read_ordinal, read_target
from onetree.importers.sklearn.steps.gaps import read_imputer, read_indicator
from onetree.importers.sklearn.steps.number_steps import (
    read_bins,
    read_function,
    read_power,
    read_quantile,
    read_scaler,
)
from onetree.importers.sklearn.steps.tracing import REMEDY, Stage, Traced

Reader = Callable[[Any, Stage], Sequence[Traced]]


def read_steps(steps: Sequence[Any], stage: Stage) -> Stage:
    """Return what stands behind some steps."""
    for step in steps:
        stage = _read_step(step, stage)
    return stage


def _read_step(step: Any, stage: Stage) -> Stage:
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return stage
    reader = _reader(step)
    if reader is None:  # a pipeline inside
        return read_steps([inner for _, inner in step.steps], stage)
    return Stage(stage.source, lambda X: step.transform(stage.run(X)), tuple(reader(step, stage)))


def _reader(step: Any) -> Reader | None:
    name = type(step).__name__
    for family, reader in _READERS.items():
        if isinstance(step, family):
            if getattr_static(type(step), "transform") is not getattr_static(
                family, "transform"
            ) or "transform" in vars(step):
                raise UnsupportedModelError(
                    f"{name} has a transform of its own instead of that of {family.__name__}, and it is not known what "
                    f"it does to a column; {REMEDY}"
                )
            check_is_fitted(step)
            return reader
    other = category_encoders.reader_of(step)
    if other is not None:
        return other
    why = _MIXES.get(name)
    if why is not None:
        raise UnsupportedModelError(
            f"the pipeline has the step {name}, which {why}, so that no test of a raw column says the same; {REMEDY}"
        )
    raise UnsupportedModelError(
        f"the pipeline has the step {name} of {type(step).__module__.split('.')[0]}, of which it is not known what it "
        f"does to a column; leave it out, or {REMEDY}"
    )


def _read_selector(step: Any, stage: Stage) -> list[Traced]:
    return [stage.columns[at] for at in step.get_support(indices=True).tolist()]


def _read_column_transformer(step: Any, stage: Stage) -> list[Traced]:
    n_columns = max((each.stop for each in step.output_indices_.values()), default=0)
    found: list[Traced | None] = [None] * n_columns
    used: set[int] = set()
    for name, inner, _ in step.transformers_:
        if isinstance(inner, str) and inner == "drop":
            continue
        chosen = list(step._transformer_to_input_indices[name])
        if not chosen:
            continue
        used |= set(chosen)
        branch = Stage(stage.source, _chooser(stage, chosen), tuple(stage.columns[at] for at in chosen))
        places = step.output_indices_[name]
        found[places] = _of_width(_read_step(inner, branch).columns, places.stop - places.start, inner)
    if stage.is_start:
        stage.source.read = used
    return [column if column is not None else Traced(None) for column in found]


def _chooser(stage: Stage, chosen: list[int]) -> Callable[[Any], Any]:
    return lambda X: _safe_indexing(stage.run(X), chosen, axis=1)


def _read_union(step: Any, stage: Stage) -> list[Traced]:
    weights = step.transformer_weights or {}
    found: list[Traced] = []
    for name, inner in step.transformer_list:
        if not (isinstance(inner, str) and inner == "drop"):
            columns = _read_step(inner, stage).columns
            found += [column.changed() if name in weights else column for column in columns]
    stage.source.computes |= bool(weights)
    return found


def _of_width(columns: Sequence[Traced], n_columns: int, step: Any) -> Sequence[Traced]:
    if len(columns) != n_columns:
        raise UnsupportedModelError(
            f"{type(step).__name__} gives {n_columns} columns where {len(columns)} were expected; please report this "
            f"with the version of scikit-learn, and until then {REMEDY}"
        )
    return columns


_READERS: dict[Any, Reader | None] = {
    Pipeline: None,
    ColumnTransformer: _read_column_transformer,
    FeatureUnion: _read_union,
    SelectorMixin: _read_selector,
    StandardScaler: read_scaler,
    MinMaxScaler: read_scaler,
    MaxAbsScaler: read_scaler,
    RobustScaler: read_scaler,
    Binarizer: read_scaler,
    PowerTransformer: read_power,
    QuantileTransformer: read_quantile,
    KBinsDiscretizer: read_bins,
    FunctionTransformer: read_function,
    SimpleImputer: read_imputer,
    MissingIndicator: read_indicator,
    OneHotEncoder: read_one_hot,
    OrdinalEncoder: read_ordinal,
    TargetEncoder: read_target,
}

_COLUMNS = "makes each of its columns from several others"
_ROWS = "makes a value from those of other rows"
_MIXES = {
    **dict.fromkeys(("PCA", "IncrementalPCA", "KernelPCA", "SparsePCA", "TruncatedSVD", "FastICA", "NMF"), _COLUMNS),
    **dict.fromkeys(("PolynomialFeatures", "Normalizer", "LinearDiscriminantAnalysis", "FactorAnalysis"), _COLUMNS),
    **dict.fromkeys(("IterativeImputer", "Nystroem", "RBFSampler", "KMeans", "FeatureAgglomeration"), _COLUMNS),
    "KNNImputer": _ROWS,
    "SplineTransformer": "bends each column up and down",
}
