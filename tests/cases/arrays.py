"""The arrays that make an ensemble, its set tests apart."""

ARRAYS = (
    "roots",
    "feature",
    "threshold",
    "children_left",
    "children_right",
    "missing_left",
    "value",
    "base",
    "nan_features",
    "classes",
)
