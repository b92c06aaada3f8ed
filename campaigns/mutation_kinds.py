"""Damage done to model files: at the level of bytes, of numbers, and of the structure that a format has.

Every function takes the content of a file and a random generator, and gives the content of a damaged one.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import struct
import tempfile
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np

HOSTILE = (0, 1, -1, 2, 3, 7, 255, 65536, 999_999_999, 2**31 - 1, -(2**31), 2**63, 10**400)
HOSTILE_TEXT = (
    "0",
    "-1",
    "1",
    "7",
    "0.5",
    "-0.25",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "2147483648",
    "9" * 400,
    "",
    "x",
    "1_0",
)
HOSTILE_VALUES = (
    *HOSTILE,
    0.5,
    1e300,
    -1e300,
    float("nan"),
    float("inf"),
    None,
    True,
    "",
    "x",
    "0",
    [],
    {},
    [0],
    {"a": 0},
)
NUMBER = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
TYPED_ARRAY = re.compile(rb"\[\$([iUIlLdD])#L(.{8})", re.DOTALL)
UBJ_NUMBERS = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}


def damage_bytes(content, rng):
    """Flip, replace, insert, remove or repeat bytes, or cut the file short."""
    damaged, place = bytearray(content), int(rng.integers(len(content)))
    kind = rng.integers(6)
    if kind == 0:
        damaged[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        for at in rng.integers(len(content), size=int(rng.integers(1, 6))).tolist():
            damaged[at] = int(rng.integers(256))
    elif kind == 2:
        del damaged[place:]
    elif kind == 3:
        del damaged[place : place + int(rng.integers(1, 40))]
    elif kind == 4:
        damaged[place:place] = rng.bytes(int(rng.integers(1, 9)))
    else:
        damaged[place:place] = damaged[place : place + int(rng.integers(1, 200))]
    return bytes(damaged)


def damage_number(content, rng):
    """Put another number, or what is none, in the place of a number in a text."""
    numbers = list(NUMBER.finditer(content))
    chosen = numbers[int(rng.integers(len(numbers)))]
    return content[: chosen.start()] + str(rng.choice(HOSTILE_TEXT)).encode() + content[chosen.end() :]


def damage_json(content, rng):
    """Remove, change, move or repeat an entry of a JSON document."""
    document = json.loads(content)
    edit(document, rng)
    return json.dumps(document).encode()


def edit(document, rng):
    containers = [document]
    for container in containers:  # grows while it is walked
        items = container.values() if isinstance(container, dict) else container
        containers += [item for item in items if isinstance(item, dict | list) and item]
    container = containers[int(rng.integers(len(containers)))]
    keys = list(container) if isinstance(container, dict) else list(range(len(container)))
    key, other = (keys[int(i)] for i in rng.integers(len(keys), size=2))
    kind = rng.integers(6)
    if kind == 0:
        del container[key]
    elif kind == 1 and isinstance(container, list):
        del container[key:]
    elif kind == 2:
        container[key], container[other] = container[other], container[key]
    elif kind == 3 and isinstance(container, list):
        container.insert(key, container[other])
    elif kind == 4 and type(container[key]) in (int, float):
        container[key] += int(rng.choice([-2, -1, 1, 2]))
    else:
        container[key] = HOSTILE_VALUES[int(rng.integers(len(HOSTILE_VALUES)))]


def damage_lightgbm(content, rng):
    """Put another number into a tree and correct the sizes that the header announces, so that it is read at all."""
    start, end = content.index(b"Tree=0"), content.index(b"end of trees")
    content = content[:start] + damage_number(content[start:end], rng) + content[end:]
    starts = [match.start() for match in re.finditer(rb"^Tree=", content, re.MULTILINE)]
    bounds = [*starts, content.index(b"end of trees")]
    sizes = " ".join(str(high - low) for low, high in pairwise(bounds)).encode()
    return re.sub(rb"tree_sizes=[0-9 ]*", b"tree_sizes=" + sizes, content)


def damage_ubj(content, rng):
    """Put another number into a typed array, or into the length of one."""
    arrays = list(TYPED_ARRAY.finditer(content))
    chosen = arrays[int(rng.integers(len(arrays)))]
    (length,) = struct.unpack(">q", chosen[2])
    damaged = bytearray(content)
    if length == 0 or rng.random() < 0.1:
        damaged[chosen.end() - 8 : chosen.end()] = struct.pack(">q", int(rng.choice([-1, 0, 1, length + 1, 2**40])))
        return bytes(damaged)
    code = UBJ_NUMBERS[chosen[1]]
    size = struct.calcsize(code)
    at = chosen.end() + size * int(rng.integers(length))
    if code in (">f", ">d"):
        new = float(rng.choice([0.5, -1.0, 1e30, np.nan, np.inf]))
    else:
        new = int(rng.integers(-3, 12)) if code != ">B" else int(rng.integers(256))
    damaged[at : at + size] = struct.pack(code, new)
    return bytes(damaged)


def damage_skops(content, rng):
    """Damage the description or an array inside the archive, and pack it again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in members if name.endswith(".npy")]
    if rng.random() < 0.5:
        members["schema.json"] = damage_json(members["schema.json"], rng)
    else:
        name = arrays[int(rng.integers(len(arrays)))]
        members[name] = damage_bytes(members[name], rng) if rng.random() < 0.3 else damage_array(members[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def damage_array(content, rng):
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if array.size:
        flat = array.reshape(-1)
        field = flat if array.dtype.names is None else flat[str(rng.choice(array.dtype.names))]
        new = (
            int(rng.integers(-3, 12))
            if field.dtype.kind in "iu"
            else float(rng.choice([0.5, -1, np.nan, np.inf, 1e300]))
        )
        if field.dtype.kind in "iuf":
            field[int(rng.integers(field.size))] = np.array(new).astype(field.dtype)
    packed = io.BytesIO()
    np.save(packed, array, allow_pickle=False)
    return packed.getvalue()


def damage_checkpoint(content, rng):
    """Damage a record and correct its checksum, so that it is read at all."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        path.write_bytes(content)
        database = sqlite3.connect(path)
        rows = database.execute("SELECT key, value FROM record").fetchall()
        key, value = rows[int(rng.integers(len(rows)))]
        damaged = damage_record(value, rng).decode(errors="replace")
        checksum = hashlib.sha256(f"{key}\n{damaged}".encode()).hexdigest()
        database.execute("UPDATE record SET value = ?, sha256 = ? WHERE key = ?", (damaged, checksum, key))
        database.commit()
        database.close()
        return path.read_bytes()


def damage_record(value, rng):
    """Damage a record anywhere, or the tree in it, which is a text."""
    record = json.loads(value)
    if isinstance(record, dict) and "tree" in record and rng.random() < 0.6:
        record["tree"] = damage_json(record["tree"], rng).decode()
        return json.dumps(record).encode()
    kinds = (damage_json, damage_number, damage_bytes) if isinstance(record, dict) else (damage_bytes,)
    return kinds[int(rng.integers(len(kinds)))](value.encode(), rng)


DAMAGES = {
    "BA-Trees text": (damage_bytes, damage_number),
    "onetree ensemble": (damage_bytes, damage_number, damage_json),
    "onetree tree": (damage_bytes, damage_number, damage_json),
    "onetree checkpoint": (damage_bytes, damage_checkpoint, damage_checkpoint),
    "XGBoost JSON": (damage_bytes, damage_number, damage_json),
    "XGBoost UBJ": (damage_bytes, damage_ubj),
    "LightGBM text": (damage_bytes, damage_number, damage_lightgbm),
    "CatBoost JSON": (damage_bytes, damage_number, damage_json),
    "skops": (damage_bytes, damage_skops, damage_skops),
}


def mutants(kind, seeds, n_mutants, rng):
    """So many damaged files of a format, from sound ones."""
    ways = DAMAGES[kind]
    made = []
    for i in range(n_mutants):
        content = seeds[int(rng.integers(len(seeds)))]
        for _ in range(1 + (rng.random() < 0.2)):
            try:
                content = ways[i % len(ways)](content, rng)
            except (ValueError, IndexError, KeyError, TypeError, struct.error, zipfile.BadZipFile):
                break  # damaged too much to be damaged once more in this way
        made.append(content)
    return made
