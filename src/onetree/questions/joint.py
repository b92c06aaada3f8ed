"""Two models as one ensemble whose class is the pair of theirs, so that the engines find the smallest tree of both.

The rule has two levels: each model decides as it always does, and the pairs are counted. A pair that occurs has both
of its classes, any other at most one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onetree.importers.composed.parts import joined
from onetree.model.combination import Combination
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.stages import Member, Stage

SAME = "same"
KINDS = ("changes", "pairs")
Pairs = list[tuple[int, int] | None]  # of each class of the joint ensemble; None where both say the same


def joint_ensemble(first: Ensemble, second: Ensemble, kind: str = "changes") -> tuple[Ensemble, Pairs]:
    """Return two ensembles over the same features as one, and the pair that each of its classes stands for.

    Parameters
    ----------
    first, second : Ensemble
    kind : {"changes", "pairs"}
        "changes": one class for all inputs on which they agree, and one for each pair of different classes. "pairs":
        one class for each pair, also of equal classes.
    """
    labels = (first.classes.tolist(), second.classes.tolist())
    n_first, n_second = len(labels[0]), len(labels[1])
    all_pairs = [(i, j) for i in range(n_first) for j in range(n_second)]
    pairs: Pairs = [(i, j) for i, j in all_pairs if kind == "pairs" or labels[0][i] != labels[1][j]]
    coefficients = np.zeros((len(pairs), n_first + n_second))
    for row, pair in enumerate(pairs):
        assert pair is not None  # noqa: S101 - for the type checker
        coefficients[row, [pair[0], n_first + pair[1]]] = 1.0
    intercepts = np.zeros(len(pairs))
    if kind == "changes":  # a pair that occurs gets 0.5, any other at most -0.5
        pairs, intercepts = [None, *pairs], np.append(0.0, intercepts - 1.5)
        coefficients = np.concatenate([np.zeros((1, n_first + n_second)), coefficients])
    if len(pairs) == 1:  # there is nothing to decide
        return first, pairs
    rule = Rule("combined", combination=_combination((first, second), coefficients, intercepts))
    outputs = [tuple(range(each.n_outputs)) for each in (first, second)]
    return joined([first, second], outputs, _words(pairs, labels), rule), pairs


def _combination(
    ensembles: tuple[Ensemble, Ensemble], coefficients: NDArray[np.float64], intercepts: NDArray[np.float64]
) -> Combination:
    own = [_winner(each) for each in ensembles]
    members = [member for each, _ in own for member in each]
    stages: list[Stage] = []
    winners = []
    n_before = 0
    for each, decides in own:

        def moved(number: int, start: int = n_before, n: int = len(each), after: int = len(stages)) -> int:
            return start + number if number < n else len(members) + after + number - n

        stages += [replace(stage, of=tuple(map(moved, stage.of))) for stage in decides]
        winners.append(len(members) + len(stages) - 1)
        n_before += len(each)
    stages.append(Stage("join", tuple(winners)))
    numbers = (*coefficients.ravel().tolist(), *intercepts.tolist())
    stages.append(Stage("linear", (len(members) + len(stages) - 1,), numbers, (len(intercepts),), "float64"))
    return Combination(tuple(members), tuple(stages))


def _winner(ensemble: Ensemble) -> tuple[tuple[Member, ...], list[Stage]]:
    """Return members, and stages of which the last has a 1 for the class that the ensemble predicts."""
    rule = ensemble.rule
    members: tuple[Member, ...] = (Member(ensemble.n_outputs, rule.dtype, rule.divisor),)
    stages = [Stage("softmax", (0,))] if rule.softmax else []
    cut = (rule.cut, float(rule.cut_inclusive)) if rule.kind == "score" else ()
    backwards: tuple[int, ...] = ()
    if rule.combination is not None:
        given = rule.combination
        members, stages = given.members, list(given.stages)
        cut = () if given.cut is None else (given.cut, float(given.cut_inclusive))
        backwards = tuple(range(given.n_decisive - 1, -1, -1)) if given.last_wins else ()
    if ensemble.n_classes == 1:
        return members, [*stages, Stage("constant", (0,), (1.0,))]

    def last() -> tuple[int]:
        return (len(members) + len(stages) - 1,)

    if backwards:
        stages.append(Stage("columns", last(), places=backwards))
    stages.append(Stage("winner", last(), cut))
    if backwards:
        stages.append(Stage("columns", last(), places=backwards))
    return members, stages


def _words(pairs: Pairs, labels: tuple[list[object], list[object]]) -> list[str]:
    """Return a label for each pair; all differ."""
    found = []
    for pair in pairs:
        if pair is None:
            found.append(SAME)
            continue
        one, other = labels[0][pair[0]], labels[1][pair[1]]
        found.append(f"{one}" if one == other else f"{one} -> {other}")
    if len(set(found)) == len(found):
        return found
    return [f"{word} ({number})" for number, word in enumerate(found)]
