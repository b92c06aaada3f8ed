"""A rule of two levels in the making: members as ensembles, and stages after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onetree.importers.pipeline import aligned
from onetree.model.combination import Combination
from onetree.model.ensemble import Ensemble, Rule
from onetree.model.links import LINKS
from onetree.model.response import Response
from onetree.model.stages import Member, Stage


@dataclass(frozen=True, eq=False)
class Signal:
    """What a member or a stage gives: of a member, some outputs of its ensemble; of a stage, what it takes."""

    ensemble: Ensemble | None = None
    outputs: tuple[int, ...] = ()
    stage: Stage | None = None
    of: tuple[Signal, ...] = ()

    def then(self, kind: str, *, numbers: ArrayLike = (), places: ArrayLike = (), dtype: str = "") -> Signal:
        """Return the signal after one more stage."""
        return stage(kind, self, numbers=numbers, places=places, dtype=dtype)

    def dtype(self) -> np.dtype[Any]:
        """Return the precision of the signal."""
        return self._example().dtype

    def width(self) -> int:
        """Return the number of columns of the signal."""
        return int(self._example().shape[1])

    def _example(self) -> NDArray[Any]:
        """Return the signal of some input."""
        if self.ensemble is not None:
            return np.zeros((1, len(self.outputs)), dtype=member_of(self.ensemble).dtype)
        if self.stage is None:
            raise AssertionError("a signal is a member or a stage")
        with np.errstate(all="ignore"):
            return LINKS[self.stage.kind]([part._example() for part in self.of], self.stage)

    def only(self, place: int) -> Signal:
        """Return one column, where nobody asks for the others."""
        if self.ensemble is not None:
            return replace(self, outputs=(self.outputs[place],))
        return self.then("columns", places=[place])


def stage(kind: str, *of: Signal, numbers: ArrayLike = (), places: ArrayLike = (), dtype: str = "") -> Signal:
    """Return the signal of a stage."""
    floats = tuple(np.asarray(numbers, dtype=np.float64).ravel().tolist())
    return Signal(stage=Stage(kind, (), floats, tuple(np.asarray(places, dtype=int).ravel().tolist()), dtype), of=of)


def sums_of(ensemble: Ensemble) -> Signal:
    """Return the sums of an ensemble with a rule of one level, or with one member."""
    return Signal(ensemble=ensemble, outputs=tuple(range(ensemble.n_outputs)))


def member_of(ensemble: Ensemble) -> Member:
    """Return the one member of an ensemble."""
    (member,) = ensemble.rule.members(ensemble.n_outputs)
    return member


def composed(
    signal: Signal,
    classes: ArrayLike,
    *,
    cut: float | None = None,
    cut_inclusive: bool = False,
    last_wins: bool = False,
    response: Signal | None = None,
) -> Ensemble:
    """Return the ensemble of all members that a signal needs, with the rule that the signal decides.

    Parameters
    ----------
    signal : Signal
    classes : labels
        None for a regressor, whose value is the signal.
    cut, cut_inclusive, last_wins
        As in `Combination`.
    response : Signal, optional
        The numbers that the library returns.
    """
    if response is not None:
        signal, response = _sharing([signal, response])
    order: list[Signal] = []
    for each in (signal, response):
        if each is not None:
            _visit(each, order)
    members = [each for each in order if each.ensemble is not None]
    ensembles = alike([each.ensemble for each in members if each.ensemble is not None])
    own = tuple(
        replace(member_of(ensemble), n_outputs=len(each.outputs))
        for each, ensemble in zip(members, ensembles, strict=True)
    )
    combination = Combination(own, _stages(signal, members), cut, cut_inclusive, last_wins)
    made = joined(ensembles, [each.outputs for each in members], classes, Rule("combined", combination=combination))
    return made if response is None else replace(made, response=Response(own, _stages(response, members)))


def response_of(ensemble: Ensemble) -> Signal:
    """Return what the library returns of a model that was read with its numbers."""
    if ensemble.response is None:
        raise AssertionError("the model was read without its numbers")
    return after(ensemble, ensemble.response.stages)


def after(ensemble: Ensemble, stages: Sequence[Stage]) -> Signal:
    """Return what stages make of the sums of an ensemble."""
    signals = [sums_of(ensemble)]
    for each in stages:
        signals.append(Signal(stage=replace(each, of=()), of=tuple(signals[number] for number in each.of)))
    return signals[-1]


def _stages(signal: Signal, members: list[Signal]) -> tuple[Stage, ...]:
    """Return the stages that a signal needs, after these members."""
    order: list[Signal] = []
    _visit(signal, order)
    stages = [each for each in order if each.stage is not None]
    number = {id(each): i for i, each in enumerate([*members, *stages])}
    if signal.ensemble is not None and len(members) > 1:
        raise AssertionError("a single member of several is no signal")
    return tuple(
        replace(each.stage, of=tuple(number[id(part)] for part in each.of)) for each in stages if each.stage is not None
    )


def _sharing(signals: list[Signal]) -> list[Signal]:
    """Return the signals with one member for each ensemble, where some take other outputs of it."""
    order: list[Signal] = []
    for each in signals:
        _visit(each, order)
    widest: dict[int, Signal] = {}
    for each in order:
        known = widest.get(id(each.ensemble))
        if each.ensemble is not None and (known is None or len(known.outputs) < len(each.outputs)):
            widest[id(each.ensemble)] = each
    changed: dict[int, Signal] = {}
    for each in order:
        if each.ensemble is None:
            changed[id(each)] = replace(each, of=tuple(changed[id(part)] for part in each.of))
            continue
        whole = widest[id(each.ensemble)]
        places = [whole.outputs.index(output) for output in each.outputs]
        changed[id(each)] = whole if each.outputs == whole.outputs else whole.then("columns", places=places)
    return [changed[id(each)] for each in signals]


def _visit(signal: Signal, order: list[Signal]) -> None:
    """Append the signal after all that it needs, once."""
    if any(each is signal for each in order):
        return
    for part in signal.of:
        _visit(part, order)
    order.append(signal)


def alike(ensembles: list[Ensemble]) -> list[Ensemble]:
    """Return the ensembles over the same features, which they may have already."""
    first = ensembles[0]
    if all(_has_same_features(first, other) for other in ensembles[1:]):
        return ensembles
    return aligned(ensembles)


def _has_same_features(one: Ensemble, other: Ensemble) -> bool:
    kinds = (each.categories or (None,) * each.n_features for each in (one, other))
    return (
        one.feature_names == other.feature_names
        and one.columns == other.columns
        and all(a is b is None or repr(a) == repr(b) for a, b in zip(*kinds, strict=True))
    )


def joined(ensembles: list[Ensemble], outputs: list[tuple[int, ...]], classes: ArrayLike, rule: Rule) -> Ensemble:
    """Return the trees of all ensembles one after another, with the outputs of each beside those of the others."""
    first = next((each for each in ensembles if each.columns.named), ensembles[0])
    sizes = [len(each.feature) for each in ensembles]
    starts = np.cumsum([0, *sizes[:-1]])
    widths = [len(each) for each in outputs]
    columns = np.cumsum([0, *widths])
    value = np.zeros((sum(sizes), int(columns[-1])))
    n_elements = max(each.subsets.shape[1] for each in ensembles)
    subsets: list[NDArray[np.bool_]] = []
    subset, n_subsets = [], 0
    for i, (each, own) in enumerate(zip(ensembles, outputs, strict=True)):
        value[starts[i] : starts[i] + sizes[i], columns[i] : columns[i + 1]] = each.value[:, list(own)]
        subset.append(np.where(each.subset >= 0, each.subset + n_subsets, -1))
        subsets.append(np.pad(each.subsets, ((0, 0), (0, n_elements - each.subsets.shape[1]))))
        n_subsets += len(each.subsets)

    def shifted(name: str) -> NDArray[Any]:
        return np.concatenate(
            [
                np.where(getattr(e, name) < 0, -1, getattr(e, name) + start)
                for e, start in zip(ensembles, starts, strict=True)
            ]
        )

    return Ensemble(
        classes=np.array(classes),
        feature_names=first.feature_names,
        roots=np.concatenate([each.roots + start for each, start in zip(ensembles, starts, strict=True)]),
        feature=np.concatenate([each.feature for each in ensembles]),
        threshold=np.concatenate([each.threshold for each in ensembles]),
        children_left=shifted("children_left"),
        children_right=shifted("children_right"),
        missing_left=np.concatenate([each.missing_left for each in ensembles]),
        value=value,
        base=np.concatenate([each.base[list(own)] for each, own in zip(ensembles, outputs, strict=True)]),
        rule=rule,
        nan_features=np.all([each.nan_features for each in ensembles], axis=0),
        categories=next((each.categories for each in ensembles if each.categories), ()),
        subset=np.concatenate(subset).astype(np.int32),
        subsets=np.concatenate(subsets),
        columns=first.columns,
    )
