"""The project's JSON files: parsed strictly, so that a document means one thing or is refused.

Knows nothing of trees or ensembles.
"""

import json
from typing import Any

from onetree.errors import ModelFileError


def parse_document(
    content: bytes,
    *,
    format: str,  # noqa: A002
    version: int,
    keys: set[str],
    optional: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the JSON object in `content` if it is of this format and version and has these keys and no others."""
    try:
        document = json.loads(content.decode(), parse_constant=refuse_constant, object_pairs_hook=unique_entries)
    except (ValueError, RecursionError) as error:  # ValueError: bad JSON, bad UTF-8, an absurdly long number
        raise ModelFileError(f"not a JSON file, or cut short: {error}") from None
    if not isinstance(document, dict) or document.get("format") != format:
        raise ModelFileError(f'"format" is not "{format}"; is it the right file?')
    if type(document.get("version")) is not int or document["version"] != version:
        raise ModelFileError(f"version {document.get('version')!r} is not known, only {version}; update onetree")
    del document["format"], document["version"]
    require_keys(document, keys | (optional & set(document)), "the file")
    return document


def require_keys(document: object, keys: set[str], what: str) -> None:
    """Refuse anything but an object with exactly these keys."""
    if not isinstance(document, dict):
        raise ModelFileError(f"{what} must be a JSON object")
    if set(document) != keys:
        raise ModelFileError(f"{what} has missing or unknown entries: {', '.join(sorted(set(document) ^ keys))}")


def list_of(values: object, types: tuple[type, ...], name: str) -> list[Any]:
    """Return `values` if it is a list of these very types (True is no int)."""
    if not isinstance(values, list) or not {type(value) for value in values} <= set(types):
        raise ModelFileError(f'"{name}" must be a list of {" or ".join(kind.__name__ for kind in types)}')
    return values


def refuse_constant(name: str) -> float:
    """Refuse NaN and Infinity, which Python would read though they are not JSON; for `json.loads`."""
    raise ValueError(f"{name} is not a JSON number")


def unique_entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the entries of an object, none of which may occur twice; for `json.loads`."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an entry occurs twice")
    return found
