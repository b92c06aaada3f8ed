"""How large a model in a file may be, so that a small file cannot ask for much time or memory.

A number in a file can stand for a million features or classes of which the file says nothing more, and a leaf has one
number in most files but one per class in an `Ensemble`.
"""

MAX_CLASSES = 100_000
"""Most classes; what is held for a class need not be in the file."""

_MAX_VALUES = 1 << 26  # entries of the value array, 512 MiB
_MANY_CLASSES = 1000
_MAX_VALUES_OF_MANY_CLASSES = 1 << 24  # a leaf of some bytes would else be a vector of many kilobytes


def too_many_values(n_nodes: int, n_outputs: int) -> bool:
    """Return whether this many nodes with this many scores each are too many to hold."""
    return n_nodes * n_outputs > (_MAX_VALUES if n_outputs <= _MANY_CLASSES else _MAX_VALUES_OF_MANY_CLASSES)
