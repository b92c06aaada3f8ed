"""UBJSON as XGBoost writes it: everything comes back, and no lie about a length is believed."""

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onetree import ModelFileError
from onetree.importers.xgboost.ubjson import MAX_DEPTH, parse_ubjson

TYPES = {"i": np.int8, "U": np.uint8, "I": np.int16, "l": np.int32, "L": np.int64, "d": np.float32, "D": np.float64}


def length(n):
    return b"L" + struct.pack(">q", n)


def text(value):
    return length(len(value.encode())) + value.encode()


def encode(value):
    """Write a document as XGBoost does; lists get a length, arrays a type and a length."""
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        return b"L" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"S" + text(value)
    if isinstance(value, dict):
        return b"{" + b"".join(text(key) + encode(entry) for key, entry in value.items()) + b"}"
    if isinstance(value, np.ndarray):
        marker = next(mark for mark, dtype in TYPES.items() if value.dtype == dtype).encode()
        return b"[$" + marker + b"#" + length(len(value)) + value.astype(value.dtype.newbyteorder(">")).tobytes()
    return b"[#" + length(len(value)) + b"".join(encode(entry) for entry in value)


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SMALL = encode({"a": [1, "b", {}, None], "c": np.arange(3, dtype=np.int32), "d": {"e": 0.5}})


@given(DOCUMENTS)
def test_what_is_written_comes_back(document):
    assert parse_ubjson(encode(document)) == document


@pytest.mark.parametrize("marker", TYPES)
def test_a_typed_array_comes_back_with_its_type(marker):
    array = np.array([0, 1, 100], dtype=TYPES[marker])
    found = parse_ubjson(encode(array))
    assert found.dtype == array.dtype
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    ("content", "value"), [(b"i\xff", -1), (b"U\xff", 255), (b"I\x01\x00", 256), (b"d?\x80\0\0", 1.0)]
)
def test_short_numbers_are_read(content, value):
    assert parse_ubjson(content) == value


def test_a_list_may_end_with_a_bracket_instead_of_having_a_length():
    assert parse_ubjson(b"[i\x01[]i\x02]") == [1, [], 2]


@pytest.mark.parametrize("n_bytes", range(len(SMALL)))
def test_a_file_that_is_cut_short_is_refused(n_bytes):
    with pytest.raises(ModelFileError):
        parse_ubjson(SMALL[:n_bytes])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SMALL + b"Z", "more after the end"),
        (b"[#" + length(2**62), "length .* does not fit"),
        (b"[#" + length(-1), "length -1 does not fit"),
        (b"[$d#" + length(2**62), "length .* does not fit"),
        (b"[$d#" + length(3) + bytes(8), "12 bytes should follow, but 8 are left"),
        (b"[$S#" + length(0), "typed array should say"),
        (b"[$dd" + length(0), "typed array should say"),
        (b"S" + length(2**40), "length .* does not fit"),
        (b"Si\x01a", "length should be here"),
        (b"S" + length(1) + b"\xff", "not UTF-8"),
        (b"{" + text("a") + b"Z" + text("a") + b"Z}", "'a' occurs twice"),
        (b"H" + text("1"), "begins no value"),
        (b"", "1 bytes should follow"),
    ],
)
def test_a_broken_file_is_refused_with_the_reason(content, message):
    with pytest.raises(ModelFileError, match=message):
        parse_ubjson(content)


def test_lists_in_lists_without_end_are_refused():
    with pytest.raises(ModelFileError, match=f"more than {MAX_DEPTH}"):
        parse_ubjson(b"[" * 1_000_000)


def test_very_many_empty_lists_are_refused(monkeypatch):
    monkeypatch.setattr("onetree.importers.xgboost.ubjson.MAX_CONTAINERS", 1000)
    with pytest.raises(ModelFileError, match="more than 1,000 lists and objects"):
        parse_ubjson(b"[" + b"[]" * 1000 + b"]")


@given(st.data())
def test_any_bytes_are_read_or_refused_and_nothing_else(data):
    content = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ModelFileError):
        parse_ubjson(bytes(content))
