"""The project's JSON files: parsed strictly, so that a document means one thing or is refused."""

import json
from itertools import chain
from typing import Any

from onetree.errors import ModelFileError

MAX_CONTAINERS = 4_000_000
"""Lists and objects of a file: an empty one takes 2 bytes there and 64 in memory. XGBoost has some 16 per tree."""


def parse_document(
    content: bytes,
    *,
    format: str,  # noqa: A002
    versions: tuple[int, ...],
    keys: set[str],
    optional: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the JSON object in `content` if it is of this format and one of these versions and has no other keys.

    Its "version" is left in it; the keys are besides that.
    """
    check_containers(content)
    try:
        document = json.loads(content.decode(), parse_constant=refuse_constant, object_pairs_hook=unique_entries)
    except (ValueError, RecursionError) as error:  # ValueError: bad JSON, bad UTF-8, an absurdly long number
        raise ModelFileError(f"not a JSON file, or cut short: {error}") from None
    if not isinstance(document, dict) or document.get("format") != format:
        raise ModelFileError(f'"format" is not "{format}"; is it the right file?')
    if type(document.get("version")) is not int or document["version"] not in versions:
        known = " and ".join(map(str, versions))
        raise ModelFileError(f"version {document.get('version')!r} is not known, only {known}; update onetree")
    del document["format"]
    require_keys(document, {"version"} | keys, "the file", optional=optional)
    return document


def check_containers(content: bytes) -> None:
    """Refuse a JSON file that would take many times its own size in memory, before it is parsed."""
    if content.count(b"[") + content.count(b"{") > MAX_CONTAINERS:
        raise ModelFileError(f"more than {MAX_CONTAINERS:,} lists and objects are more than can be held")


def require_keys(document: object, keys: set[str], what: str, *, optional: frozenset[str] = frozenset()) -> None:
    """Refuse anything but an object with exactly these keys, and perhaps optional ones."""
    if not isinstance(document, dict):
        raise ModelFileError(f"{what} must be a JSON object")
    wrong = (set(document) - optional) ^ keys
    if wrong:
        listed = ", ".join(repr(key[:40]) for key in sorted(wrong)[:8]) + (", ..." if len(wrong) > 8 else "")
        raise ModelFileError(f"{what} has missing or unknown entries: {listed}")


def list_of(values: object, types: tuple[type, ...], name: str) -> list[Any]:
    """Return `values` if it is a list of these very types (True is no int)."""
    if not isinstance(values, list) or not set(map(type, values)) <= set(types):
        raise ModelFileError(f'"{name}" must be a list of {" or ".join(kind.__name__ for kind in types)}')
    return values


def lists_of(values: object, types: tuple[type, ...], name: str) -> tuple[list[int], list[Any]]:
    """Return the lengths of the lists in a list of lists, and their entries one after another, all of these types."""
    rows = list_of(values, (list,), name)
    return [len(row) for row in rows], list_of(list(chain.from_iterable(rows)), types, name)


def refuse_constant(name: str) -> float:
    """Refuse NaN and Infinity, which Python would read though they are not JSON; for `json.loads`."""
    raise ValueError(f"{name} is not a JSON number")


def unique_entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the entries of an object, none of which may occur twice; for `json.loads`."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an entry occurs twice")
    return found
