"""The option ``--domain``: what features can be, alone or together, given one by one, in a file, or by data."""

from __future__ import annotations

import argparse
import csv
import io
import json
from typing import Any

import onetree
from onetree.cli.table import read_inputs
from onetree.domain.groups import is_word
from onetree.errors import InvalidInputError
from onetree.files.atomic import read_whole
from onetree.files.strict_json import refuse_constant, unique_entries

HELP = (
    "what can occur, for a smaller tree that is exact for these inputs only; may be repeated. Features: age=18:99, "
    "'age=integer 18:99', sex=0,1, sex=binary, each with ' or missing', by name or number. Columns of zeros and ones "
    "that belong together: one-hot=red,green,blue, 'at most one=a,b', 'implies=age:<21,age:<26', equal=a,b; quote a "
    "name with a comma. FILE: the same as JSON, or CSV data to infer it from; groups=FILE also infers what belongs "
    "together"
)


def add_domain(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument("--domain", action="append", default=[], metavar="NAME=VALUES|WORD=NAMES|FILE", help=HELP)


def read_domain(arguments: argparse.Namespace, ensemble: onetree.Ensemble | onetree.Tree) -> onetree.Domain | None:
    """Return the domain that the options describe; of a feature described twice, the last counts; all groups do."""
    if not arguments.domain:
        return None
    found: dict[Any, Any] = {}
    groups: list[Any] = []
    origins = []
    for given in arguments.domain:
        domain = _one(given, ensemble)
        origins += [domain.origin] if domain.origin else []
        groups += [{said.word: said.features} for said in domain.declarations]
        found |= {key: text for key, text in domain.to_dict().items() if not isinstance(key, tuple)}
    return onetree.Domain.from_dict(found | {"groups": groups}, ensemble.feature_names, origin=", ".join(origins))


def words(domain: onetree.Domain, ensemble: onetree.Ensemble | onetree.Tree) -> str:
    """Return a domain for people, on one line."""
    origin = f" ({domain.origin})" if domain.origin else ""
    return "; ".join(domain.describe(ensemble.feature_names)) + origin


def _one(given: str, ensemble: onetree.Ensemble | onetree.Tree) -> onetree.Domain:
    """Return what one option says. A name may hold "=", values and words never do; a feature's own name comes first."""
    name, is_pair, text = given.rpartition("=")
    if not is_pair:
        return _from_file(given, ensemble)
    word, _, rest = given.partition("=")
    if name not in ensemble.feature_names and word == "groups":
        return _from_file(rest, ensemble, groups=True)
    if name not in ensemble.feature_names and is_word(word) and not word.isdigit():
        return onetree.Domain.from_dict({_names(rest): word}, ensemble.feature_names)
    return onetree.Domain.from_dict({name: text}, ensemble.feature_names)


def _names(text: str) -> tuple[str, ...]:
    """Return the names of a list as in CSV: a name with a comma stands in quotation marks."""
    try:
        return tuple(name.strip() for line in csv.reader([text], skipinitialspace=True, strict=True) for name in line)
    except csv.Error as error:
        raise InvalidInputError(f"{text!r} is not a list of names: {error}; use a JSON file for such names") from None


def _from_file(path: str, ensemble: onetree.Ensemble | onetree.Tree, *, groups: bool = False) -> onetree.Domain:
    if not path:
        raise InvalidInputError("--domain needs NAME=VALUES, WORD=NAMES or a file")
    content = read_whole(path)
    if not content.lstrip().startswith(b"{"):
        _check_header(path, content, ensemble)
        return onetree.domain_of(read_inputs(path, ensemble, label=None, by_position=False), groups=groups)
    try:
        document = json.loads(content.decode(), parse_constant=refuse_constant, object_pairs_hook=unique_entries)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not a JSON file, or cut short: {error}") from None
    if not all(isinstance(text, str) for name, text in document.items() if name != "groups"):
        raise InvalidInputError(f'{path}: each feature needs its values as text, such as "18:99" or "integer"')
    try:
        return onetree.Domain.from_dict(document, ensemble.feature_names)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from None


def _check_header(path: str, content: bytes, ensemble: onetree.Ensemble | onetree.Tree) -> None:
    """Refuse a table that does not name the features, before any other error."""
    try:
        header = next(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path} is neither JSON nor CSV: {error}") from None
    known = {name.strip() for name in header}
    absent = [name for name in ensemble.feature_names if name not in known]
    if absent:
        raise InvalidInputError(
            f"{path} has no column {absent[0]!r}; a table for --domain begins with a line of names, those of the "
            "model's features among them. A single feature is given as NAME=VALUES"
        )
