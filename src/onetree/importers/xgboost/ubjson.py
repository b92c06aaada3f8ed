"""A reader for the part of UBJSON in which XGBoost writes its models.

Trusts no length that the file states before the bytes are there, keeps its own stack
instead of recursing, and raises nothing but `ModelFileError`.
"""

import struct
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from onetree.errors import ModelFileError
from onetree.files.strict_json import MAX_CONTAINERS

MAX_DEPTH = 100
"""Lists and objects within each other; a model of XGBoost has 8."""

_NUMBERS = {  # marker: how Python unpacks it; big-endian, as the format says
    b"i": ">b",
    b"U": ">B",
    b"I": ">h",
    b"l": ">i",
    b"L": ">q",
    b"d": ">f",
    b"D": ">d",
}
_CONSTANTS = {b"Z": None, b"T": True, b"F": False}


def parse_ubjson(content: bytes) -> Any:
    """Return what a UBJSON file holds: dict, list, str, numbers, and an array where the file has a typed array.

    Raises
    ------
    ModelFileError
        If the file is cut short, states a wrong length, or holds anything that XGBoost does not write.
    """
    reader = _Reader(content)
    result = reader.value()
    while reader.open:
        reader.step()
    if reader.position < len(content):
        reader.fail("there is more after the end of the model")
    return result


@dataclass
class _Container:
    """A list or dict that is still being filled."""

    filled: list[Any] | dict[str, Any]
    n_missing: int | None  # entries still to come, or None if an end marker tells


@dataclass
class _Reader:
    content: bytes
    position: int = 0
    n_containers: int = 0
    open: list[_Container] = field(default_factory=list)

    def fail(self, what: str) -> NoReturn:
        raise ModelFileError(f"byte {self.position}: {what}")

    def take(self, n_bytes: int) -> bytes:
        start, end = self.position, self.position + n_bytes
        if n_bytes < 0 or end > len(self.content):
            self.fail(
                f"{n_bytes} bytes should follow, but {len(self.content) - start} are left; is the file cut short?"
            )
        self.position = end
        return self.content[start:end]

    def peek(self) -> bytes:
        return self.content[self.position : self.position + 1]

    def length(self) -> int:
        """Return a length, which XGBoost always writes as a 64-bit number."""
        if self.take(1) != b"L":
            self.fail('a length should be here, with the marker "L"')
        (n,) = struct.unpack(">q", self.take(8))
        # Whatever is counted takes a byte or more, so nothing is reserved for what cannot be there.
        if not 0 <= n <= len(self.content) - self.position:
            self.fail(f"the length {n} does not fit into the file; is it cut short?")
        return int(n)

    def text(self) -> str:
        try:
            return self.take(self.length()).decode()
        except UnicodeDecodeError:
            self.fail("a text is not UTF-8")

    def step(self) -> None:
        """Read the next entry of the innermost container, or its end."""
        container = self.open[-1]
        if isinstance(container.filled, dict):
            if self.peek() == b"}":
                self.take(1)
                self.open.pop()
                return
            key = self.text()
            if key in container.filled:
                self.fail(f"the entry {key[:40]!r} occurs twice")
            container.filled[key] = self.value()
        elif container.n_missing is None and self.peek() == b"]":
            self.take(1)
            self.open.pop()
        elif container.n_missing == 0:
            self.open.pop()
        else:
            if container.n_missing is not None:
                container.n_missing -= 1
            container.filled.append(self.value())

    def value(self) -> Any:
        """Return the next value; a container is still empty and is filled by the steps that follow."""
        marker = self.take(1)
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker in _NUMBERS:
            code = _NUMBERS[marker]
            return struct.unpack(code, self.take(struct.calcsize(code)))[0]
        if marker == b"S":
            return self.text()
        if marker == b"{":
            return self.enter({}, None)
        if marker != b"[":
            self.position -= 1
            self.fail(f"{marker!r} begins no value that XGBoost writes")
        if self.peek() == b"$":
            return self.typed_array()
        if self.peek() == b"#":
            self.take(1)
            return self.enter([], self.length())
        return self.enter([], None)

    def count_container(self) -> None:
        self.n_containers += 1
        if self.n_containers > MAX_CONTAINERS:
            self.fail(f"more than {MAX_CONTAINERS:,} lists and objects are more than can be held")

    def enter(self, container: list[Any] | dict[str, Any], n_entries: int | None) -> Any:
        self.count_container()
        if len(self.open) >= MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} lists and objects within each other; this is not a model")
        self.open.append(_Container(container, n_entries))
        return container

    def typed_array(self) -> Any:
        """Return an array whose entries have one type and no markers of their own."""
        self.count_container()
        self.take(1)
        code = _NUMBERS.get(self.take(1))
        if code is None or self.take(1) != b"#":
            self.fail("a typed array should say the type of its numbers and how many there are")
        dtype = np.dtype(code)
        array = np.frombuffer(self.take(self.length() * dtype.itemsize), dtype=dtype)
        return array.astype(dtype.newbyteorder("="))
