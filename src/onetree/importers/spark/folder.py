"""The folders in which Spark saves models: a line of JSON, and tables in parquet.

Says what is written there, and that it is whole; what it means for a prediction is said in `model`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onetree.errors import ModelFileError
from onetree.errors import missing as missing_package
from onetree.files.atomic import MAX_BYTES, read_whole
from onetree.files.strict_json import refuse_constant, unique_entries

_MAX_METADATA = 1 << 26
_MAX_PARTS = 10_000
_MAX_ROWS = 1 << 24


@dataclass(frozen=True)
class Metadata:
    """What the line of JSON says: the class without its package, and the parameters, defaults included."""

    name: str
    params: dict[str, Any]
    more: dict[str, Any]


def read_metadata(path: Path) -> Metadata:
    """Return what a saved stage says of itself."""
    parts = _parts(path / "metadata", "")
    text = b"".join(read_whole(part, limit=_MAX_METADATA) for part in parts)
    return parse_metadata(text)


def parse_metadata(text: bytes | str) -> Metadata:
    """Return what a line of JSON says of a stage."""
    try:
        found = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique_entries)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the metadata of a Spark model are not JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("class"), str):
        raise ModelFileError("the metadata of a Spark model must name its class")
    defaults, params = (found.get(key, {}) for key in ("defaultParamMap", "paramMap"))
    if not isinstance(defaults, dict) or not isinstance(params, dict):
        raise ModelFileError("the parameters of a Spark model must be objects")
    return Metadata(found["class"].rsplit(".", 1)[-1], {**defaults, **params}, found)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table, whose parts come in the order of their names."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_package("pyarrow", "spark") from None
    rows: list[dict[str, Any]] = []
    parts = _parts(path, ".parquet")
    if sum(part.stat().st_size for part in parts) > MAX_BYTES:
        raise ModelFileError(f"{path.name} is larger than {MAX_BYTES:,} bytes, the most that is read")
    for part in parts:
        try:
            with parquet.ParquetFile(part) as file:
                n_rows = file.metadata.num_rows
                if not 0 <= n_rows <= _MAX_ROWS - len(rows):
                    raise ModelFileError(
                        f"{path.name} says that it has {n_rows:,} rows; {_MAX_ROWS:,} at most are read"
                    )
                rows += file.read().to_pylist()
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"{part.name} is not a sound parquet file: {str(error)[:200]}") from None
    return rows


def _parts(path: Path, ending: str) -> list[Path]:
    parts = sorted(part for part in path.glob(f"part-*{ending}") if part.is_file()) if path.is_dir() else []
    if not 0 < len(parts) <= _MAX_PARTS:
        raise ModelFileError(f"the folder {path.name!r} of a Spark model is missing, or has no parts")
    return parts
