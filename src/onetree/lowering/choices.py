"""Objectives as the native core knows them."""

from onetree import _core

_OBJECTIVE = {
    "depth": _core.Objective.DEPTH,
    "leaves": _core.Objective.LEAVES,
    "depth-leaves": _core.Objective.DEPTH_LEAVES,
    "leaves-depth": _core.Objective.LEAVES_DEPTH,
}


def objective_of(name: str) -> _core.Objective:
    """Return the core's objective of this name, one of `onetree.base.limits.OBJECTIVES`."""
    return _OBJECTIVE[name]
