"""Rules as JSON values and back, without any loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onetree.errors import ModelFileError
from onetree.files.strict_json import list_of, require_keys
from onetree.model.combination import Combination
from onetree.model.ensemble import Rule
from onetree.model.stages import Member, Stage

_KEYS = {"kind", "dtype", "divisor", "cut", "cut_inclusive", "softmax"}
_COMBINED_KEYS = {"kind", "members", "stages", "cut", "cut_inclusive", "last_wins"}
_MEMBER_KEYS = {"n_outputs", "dtype", "divisor"}
_STAGE_KEYS = {"kind", "of", "numbers", "places", "dtype"}


def rule_to_json(rule: Rule) -> dict[str, Any]:
    """Return the rule as values that `json` writes exactly."""
    combination = rule.combination
    if combination is None:
        return {
            "kind": rule.kind,
            "dtype": rule.dtype,
            "divisor": float(rule.divisor),
            "cut": float(rule.cut),
            "cut_inclusive": bool(rule.cut_inclusive),
            "softmax": bool(rule.softmax),
        }
    return {
        "kind": rule.kind,
        "members": [
            {"n_outputs": int(member.n_outputs), "dtype": member.dtype, "divisor": float(member.divisor)}
            for member in combination.members
        ],
        "stages": stages_to_json(combination.stages),
        "cut": None if combination.cut is None else float(combination.cut),
        "cut_inclusive": bool(combination.cut_inclusive),
        "last_wins": bool(combination.last_wins),
    }


def stages_to_json(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Return stages as values that `json` writes exactly."""
    return [
        {
            "kind": stage.kind,
            "of": list(stage.of),
            "numbers": list(stage.numbers),
            "places": list(stage.places),
            "dtype": stage.dtype,
        }
        for stage in stages
    ]


def stages_from_json(document: Any, where: str) -> tuple[Stage, ...]:
    """Return the stages that `stages_to_json` described."""
    if not isinstance(document, list):
        raise ModelFileError(f'"stages" of "{where}" must be a list')
    return tuple(_stage(each) for each in document)


def rule_from_json(document: Any) -> Rule:
    """Return the rule that `rule_to_json` described."""
    if isinstance(document, dict) and document.get("kind") == "combined":
        return Rule("combined", combination=_combination(document))
    require_keys(document, _KEYS, '"rule"')
    kind, dtype = list_of([document["kind"], document["dtype"]], (str,), "rule")
    divisor, cut = list_of([document["divisor"], document["cut"]], (float, int), "rule")
    cut_inclusive, softmax = list_of([document["cut_inclusive"], document["softmax"]], (bool,), "rule")
    return Rule(kind, dtype, float(divisor), float(cut), cut_inclusive, softmax)


def _combination(document: Any) -> Combination:
    require_keys(document, _COMBINED_KEYS, '"rule"')
    if not isinstance(document["members"], list):
        raise ModelFileError('"members" of "rule" must be a list')
    cut = document["cut"]
    inclusive, last_wins = list_of([document["cut_inclusive"], document["last_wins"]], (bool,), "rule")
    return Combination(
        tuple(_member(each) for each in document["members"]),
        stages_from_json(document["stages"], "rule"),
        None if cut is None else float(list_of([cut], (float, int), "cut")[0]),
        inclusive,
        last_wins,
    )


def _member(document: Any) -> Member:
    require_keys(document, _MEMBER_KEYS, 'a member of "rule"')
    (n_outputs,) = list_of([document["n_outputs"]], (int,), "n_outputs")
    (dtype,) = list_of([document["dtype"]], (str,), "dtype")
    (divisor,) = list_of([document["divisor"]], (float, int), "divisor")
    return Member(n_outputs, dtype, float(divisor))


def _stage(document: Any) -> Stage:
    require_keys(document, _STAGE_KEYS, "a stage")
    kind, dtype = list_of([document["kind"], document["dtype"]], (str,), "stage")
    return Stage(
        kind,
        tuple(list_of(document["of"], (int,), "of")),
        tuple(float(number) for number in list_of(document["numbers"], (float, int), "numbers")),
        tuple(list_of(document["places"], (int,), "places")),
        dtype,
    )
