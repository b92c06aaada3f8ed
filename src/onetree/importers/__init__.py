"""From a fitted model, or a file, to an `Ensemble`; one module per source.

A model is recognised by its class, a file by its content. Files are never unpickled. Libraries other than
scikit-learn are imported only when a model of theirs arrives.
"""

import os

from onetree.ensemble import Ensemble
from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.files import read_whole
from onetree.importers.ba_text import parse_ba_text
from onetree.importers.json import FORMAT, parse_json

VOTINGS = ("auto", "soft", "hard")
MISSING = ("auto", "follow", "refuse")

_PICKLE_STARTS = (
    *(b"\x80" + bytes([protocol]) for protocol in range(2, 6)),
    *(b"x" + bytes([level]) for level in (0x01, 0x5E, 0x9C, 0xDA)),  # zlib, as joblib compresses
    b"\x1f\x8b",  # gzip
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\x5d\x00\x00",  # lzma
    b"\x04\x22\x4d\x18",  # lz4
)
_OLD_PICKLE_STARTS = (b"(", b"c", b"]", b"}")  # protocols 0 and 1, which end with a full stop

__all__ = ["import_model", "load_ensemble"]


def import_model(model: object, *, voting: str = "auto", missing: str = "auto") -> Ensemble:
    """Read a fitted model; see `Ensemble.from_model`."""
    _check_option("voting", voting, VOTINGS)
    _check_option("missing", missing, MISSING)
    if isinstance(model, type):
        raise UnsupportedModelError(f"{model.__name__} is a class, not a fitted model; create one and call fit(X, y)")
    if any(base.__module__.startswith("sklearn.") for base in type(model).__mro__):
        from onetree.importers.sklearn import import_sklearn

        return import_sklearn(model, voting=voting, missing=missing)
    raise UnsupportedModelError(
        f"cannot read a model of type {type(model).__module__}.{type(model).__qualname__}; "
        "give a fitted scikit-learn tree or forest, or an Ensemble"
    )


def load_ensemble(path: str | os.PathLike[str], *, voting: str = "auto") -> Ensemble:
    """Read an ensemble from a file, recognised by its content.

    Parameters
    ----------
    path : path
        A file in the BA-Trees text format or in the project's own JSON.
    voting : {"auto", "soft", "hard"}
        "auto" is what the file says; "hard" makes each tree vote for its own class.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is of no known kind, or its structure is broken.
    """
    _check_option("voting", voting, VOTINGS)
    content = read_whole(path)
    try:
        ensemble = _parse(content)
    except (ModelFileError, InvalidInputError) as error:
        raise ModelFileError(f"{path}: {error}") from None
    if voting == "hard":
        return ensemble.to_hard_vote()
    if voting == "soft" and ensemble.rule.kind != "soft":
        raise InvalidInputError(
            f'voting="soft" needs class fractions, but {path} holds a "{ensemble.rule.kind}" rule; use voting="auto"'
        )
    return ensemble


def _parse(content: bytes) -> Ensemble:
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if _is_pickle(content):
        raise ModelFileError(
            "this is a pickle or joblib file; opening one runs whatever code is in it, so it is refused. Load it "
            "yourself where you trust it and call Ensemble.from_model(model).save(path); to share scikit-learn models "
            "as files, skops is the safe format"
        )
    if start.startswith(b"DATASET_NAME:"):
        return parse_ba_text(content)
    if start.startswith(b"{") and f'"{FORMAT}"'.encode() in content:
        return parse_json(content)
    raise ModelFileError(
        "not a model file that is known here: neither the BA-Trees text format (begins with DATASET_NAME:) "
        f'nor the project\'s JSON ("format": "{FORMAT}")'
    )


def _is_pickle(content: bytes) -> bool:
    """Whether the content looks like a pickle, bare or compressed as joblib does; nothing of it is opened."""
    return content.startswith(_PICKLE_STARTS) or (content.endswith(b".") and content.startswith(_OLD_PICKLE_STARTS))


def _check_option(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InvalidInputError(f"unknown {name}={given!r}; use one of {', '.join(known)}")
