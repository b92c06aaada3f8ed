"""Files are read within limits and written whole or not at all."""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import BinaryIO

from onetree.errors import InvalidInputError, ModelFileError

MAX_BYTES = 1 << 29
"""Largest file that is read unless the caller says otherwise."""

_CHUNK_BYTES = 1 << 20


def read_whole(path: str | os.PathLike[str], *, limit: int = MAX_BYTES) -> bytes:
    """Return the content of a file that holds at most `limit` bytes."""
    try:
        with Path(path).open("rb") as file:
            content = _read(file, limit + 1)
    except OSError as error:
        raise ModelFileError(
            f"cannot read {path}: {error.strerror or error}; check the path and its permissions"
        ) from error
    if len(content) > limit:
        raise ModelFileError(f"{path} is larger than {limit:,} bytes, the most that is read; is it the right file?")
    return content


def _read(file: BinaryIO, most: int) -> bytes:
    """Read so many bytes, or all if there are fewer; memory is taken for what is there, not for what may be."""
    chunk_bytes = max(os.fstat(file.fileno()).st_size, _CHUNK_BYTES)
    chunks = []
    while most > 0 and (chunk := file.read(min(most, chunk_bytes))):
        chunks.append(chunk)
        most -= len(chunk)
    return b"".join(chunks)


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file so that at any moment it is the old one or the whole new one.

    Text is written as UTF-8. Devices and pipes are written to directly.
    """
    data = content.encode() if isinstance(content, str) else content
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe must not be replaced; a folder raises
        else:
            _replace(Path(os.path.realpath(target)), data)  # a link stays a link
    except OSError as error:
        raise InvalidInputError(
            f"cannot write {path}: {error.strerror or error}; choose a file in a writable folder"
        ) from error


def _replace(target: Path, data: bytes) -> None:
    partial = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.partial")
    # Windows has O_BINARY, and would otherwise write line ends of its own.
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if target.exists():
                partial.chmod(stat.S_IMODE(target.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.chmod(0o600)  # Windows removes no file that may not be written
            partial.unlink()
        raise
