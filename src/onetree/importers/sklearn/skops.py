"""skops files of scikit-learn models, read without trusting them.

A skops file is a zip archive of arrays and a description of the objects that hold them. Only the classes that tree
ensembles, and the steps before them, are made of are built, from a list of our own; nothing is imported because a file
names it. Whatever else is described (a random state) becomes a placeholder with nothing but its name. The
library skops is not needed. Tree structure is checked before scikit-learn's native code walks along it.
"""

import functools
import io
import json
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onetree.errors import FidelityError, ModelFileError, OnetreeError, UnsupportedModelError
from onetree.files.atomic import MAX_BYTES
from onetree.files.strict_json import unique_entries
from onetree.importers.sklearn import import_sklearn, split, unwrap
from onetree.importers.sklearn.nodes import DamagedModelError
from onetree.importers.sklearn.skops_classes import encoder_classes, known_classes
from onetree.importers.sklearn.steps import import_pipeline
from onetree.model.ensemble import Ensemble

_SCHEMA = "schema.json"
_ENCODER = "_preprocessor"  # attribute of HistGradientBoosting: what encodes its categorical features
_PROTOCOLS = (0, 1, 2)
_MAX_MEMBERS = 1_000_000
_ALWAYS_UNPACKED = 1 << 26  # bytes; beyond, what is unpacked may not be too many times the file
_MAX_RATIO = 100
_MAX_SCHEMA_BYTES = 1 << 27
_MAX_ARRAY_BYTES = MAX_BYTES
_MAX_CLASSES = 100_000
_NUMPY_TYPES = {kind.__name__: kind for kind in (np.float64, np.float32, np.int64, np.int32, np.bool_, np.object_)}
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def parse_skops(content: bytes, *, missing: str = "auto", pipelines: str = "raw", output: str = "auto") -> Ensemble:
    """Read the scikit-learn model in the content of a skops file, and check it against its own `predict`."""
    try:
        whole = _model(content)
        model, steps = split(whole)
        if isinstance(model, _Placeholder):
            raise UnsupportedModelError(
                f"the file holds a {type(model).__name__}, which is not one of scikit-learn's tree ensembles; "
                "models of other libraries are read from the files that those write themselves"
            )
        ensemble = import_sklearn(model, missing=missing, output=output)
        unknown = next((type(step).__name__ for step in steps if isinstance(step, _Placeholder)), None)
        if unknown is not None and pipelines == "raw":
            raise UnsupportedModelError(
                f"the pipeline has the step {unknown}, which is not read from a file; leave it out, or use "
                'pipelines="last-step" for the tree of the last step, on what the earlier ones produce'
            )
        if steps and pipelines == "raw":
            return import_pipeline(whole, steps, ensemble, missing=missing)
        _, around = unwrap(whole)
        return ensemble if around is None else around.name(ensemble)
    except (DamagedModelError, FidelityError) as error:
        raise ModelFileError(str(error)) from None
    except (OnetreeError, RecursionError, MemoryError):
        raise
    except Exception as error:
        # Contradictions between attributes come to light wherever scikit-learn happens to use them.
        raise ModelFileError(f"not a sound skops file: {type(error).__name__}: {str(error)[:300]}") from error


def _model(content: bytes) -> Any:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            n_bytes = sum(member.file_size for member in members)
            most = min(MAX_BYTES, max(_ALWAYS_UNPACKED, _MAX_RATIO * len(content)))
            if n_bytes > most or len(members) > _MAX_MEMBERS:
                raise ModelFileError(
                    f"unpacks to {n_bytes:,} bytes in {len(members):,} parts, more than is read; is it the right file?"
                )
            if _SCHEMA not in archive.namelist():
                raise ModelFileError(f"a zip archive without {_SCHEMA}, so not a skops file")
            if archive.getinfo(_SCHEMA).file_size > _MAX_SCHEMA_BYTES:
                raise ModelFileError(f"{_SCHEMA} is larger than {_MAX_SCHEMA_BYTES:,} bytes, the most that is read")
            schema = json.loads(archive.read(_SCHEMA), object_pairs_hook=unique_entries)
            if not isinstance(schema, dict) or schema.get("protocol") not in _PROTOCOLS:
                raise ModelFileError("the protocol of this skops file is unknown; update onetree")
            return _Builder(archive).build(schema)
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ModelFileError(f"a broken zip archive: {error}") from None


class _Placeholder:
    """Stands for an object that is not built; its class has the name of the object's class."""


class _Builder:
    """Builds the objects that a schema describes; each entry says by `__loader__` how it was taken apart."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._arrays: dict[str, NDArray[Any]] = {}  # one array may be used in several places
        self._bytes_used = 0
        self._known = known_classes()
        self._inside_encoder = False

    def build(self, entry: Any) -> Any:
        if not isinstance(entry, dict):
            raise ModelFileError(f"{_SCHEMA} has {str(entry)[:40]!r} where the description of an object should be")
        loader, name = entry.get("__loader__"), str(entry.get("__class__"))
        if loader == "JsonNode":
            return _json_value(entry["content"])
        if loader in ("ListNode", "TupleNode"):
            items = [self.build(item) for item in entry["content"]]
            return items if loader == "ListNode" else tuple(items)
        if loader == "DictNode":
            return self._dictionary(entry)
        if loader == "NdArrayNode":
            return self._array(entry)
        if loader == "TreeNode" and name == "Tree":
            return self._tree(entry)
        if loader == "ObjectNode" and name in self._known and str(entry.get("__module__")).startswith("sklearn."):
            return self._object(self._known[name], entry)
        if loader == "PartialNode" and self._inside_encoder:
            return self._check_of_numbers(entry["content"])
        if entry.get("__module__") == "numpy" and loader in ("TypeNode", "FunctionNode"):
            found = _NUMPY_TYPES.get(name) if loader == "TypeNode" else getattr(np, name, None)
            if loader == "TypeNode" or isinstance(found, np.ufunc):
                return found
        if loader == "SliceNode":
            return _slice(entry["content"])
        if loader == "DTypeNode":
            return self.build(entry["content"]).dtype
        return type(name.replace("\0", ""), (_Placeholder,), {"__module__": str(entry.get("__module__"))})()

    def _dictionary(self, entry: dict[str, Any]) -> dict[Any, Any]:
        content = entry["content"]
        whole = {key["__class__"] == "int" for key in entry.get("key_types", {}).get("content", [])} == {True}
        return {
            int(key) if whole else key: self._encoder(value) if key == _ENCODER else self.build(value)
            for key, value in content.items()
        }

    def _encoder(self, entry: Any) -> Any:
        """Build what stands in front of a model's trees; elsewhere such objects are steps before the model."""
        outside = self._known, self._inside_encoder
        self._known, self._inside_encoder = encoder_classes(), True
        try:
            return self.build(entry)
        finally:
            self._known, self._inside_encoder = outside

    def _check_of_numbers(self, content: dict[str, Any]) -> Any:
        """Build the one function that such an encoder calls, which looks at the columns that are numbers."""
        from sklearn.utils import check_array

        function = content["func"]
        if (function["__module__"], function["__class__"]) != ("sklearn.utils.validation", "check_array"):
            raise ModelFileError(f"the encoder of a model calls {str(function['__class__'])[:40]!r}, which is not run")
        return functools.partial(check_array, *self.build(content["args"]), **self.build(content["kwds"]))

    def _object(self, cls: type, entry: dict[str, Any]) -> Any:
        built: Any = object.__new__(cls)
        state = (self.build(entry["content"]) if "content" in entry else None) or {}
        if not isinstance(state, dict):
            raise ModelFileError(f"the attributes of a {cls.__name__} are missing")
        # How many processes to start and what to print is not for a file to say.
        state.update({name: value for name, value in (("n_jobs", None), ("verbose", 0)) if name in state})
        if hasattr(built, "__setstate__"):
            built.__setstate__(state)
        else:
            built.__dict__.update(state)
        return built

    def _tree(self, entry: dict[str, Any]) -> Any:
        """Build the native tree, which itself trusts its arguments to agree with each other."""
        from sklearn.tree._tree import Tree

        n_features, n_classes, n_outputs = self.build(entry["__reduce__"]["args"])
        state = self.build(entry["content"])
        nodes, values = state["nodes"], state["values"]
        n_features, n_outputs = _whole(n_features, "n_features"), _whole(n_outputs, "n_outputs")
        n_nodes = _whole(state["node_count"], "node_count")
        if n_outputs != 1 or np.shape(n_classes) != (1,) or n_classes.dtype.kind not in "iu":
            raise UnsupportedModelError("the file holds a tree of several outputs; save one model per output")
        if not 1 <= int(n_classes[0]) <= _MAX_CLASSES:
            raise ModelFileError(f"a tree has {int(n_classes[0])} classes, outside 1..{_MAX_CLASSES}")
        if np.shape(nodes) != (n_nodes,) or np.shape(values) != (n_nodes, 1, int(n_classes[0])) or n_nodes == 0:
            raise ModelFileError(
                f"a tree says that it has {n_nodes} nodes, but its arrays have the shapes {np.shape(nodes)} and "
                f"{np.shape(values)}"
            )
        tree = Tree(n_features, n_classes.astype(np.intp), n_outputs)
        try:
            tree.__setstate__({**state, "max_depth": _whole(state["max_depth"], "max_depth"), "node_count": n_nodes})
        except ValueError as error:
            raise ModelFileError(
                f"a tree does not fit the installed scikit-learn; was it saved with another version? {str(error)[:200]}"
            ) from None
        return tree

    def _array(self, entry: dict[str, Any]) -> Any:
        if entry["type"] == "json":
            array = self._objects(entry["content"], self.build(entry["shape"]))
        else:
            file = entry["file"]
            if file not in self._arrays:
                self._arrays[file] = _read_npy(self._archive.read(file), file)
            array = self._arrays[file]
            self._bytes_used += array.nbytes
            if self._bytes_used > _MAX_ARRAY_BYTES:  # arrays that are used again and again, and copied each time
                raise ModelFileError(f"the arrays it uses have more than {_MAX_ARRAY_BYTES:,} bytes together")
        return array if entry["__class__"] == "ndarray" else array[()]  # a numpy scalar is an array of no dimension

    def _objects(self, items: list[Any], shape: Any) -> NDArray[Any]:
        """Return an array of objects; in more than one dimension its items are lists."""
        built = [self.build(item) for item in items]
        for _ in shape[1:]:
            built = [item for part in built for item in part]
        array = np.empty(len(built), dtype=object)
        array[:] = built
        return array.reshape(shape)


def _read_npy(data: bytes, name: str) -> NDArray[Any]:
    """Return an array of numbers or text whose size is that of the data, whatever its header says."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ModelFileError(f"{name} is not an array in a known version of numpy's format")
    n_bytes = int.from_bytes(stream.read(2 if version == (1, 0) else 4), "little")  # of the header
    begin = stream.tell() + n_bytes
    shape, fortran_order, dtype = _header(version, data[:begin])
    if dtype.hasobject:
        raise ModelFileError(f"{name} holds pickled objects, which are not read")
    n_left = len(data) - begin
    # Values of no bytes could be as many as the header likes.
    if any(n < 0 for n in shape) or math.prod(shape) * max(dtype.itemsize, 1) != n_left:
        raise ModelFileError(f"{name} should hold {shape} values of {dtype}, but has {n_left:,} bytes")
    flat = np.frombuffer(data, dtype=dtype, offset=begin).copy() if n_left else np.empty(math.prod(shape), dtype=dtype)
    return flat.reshape(shape, order="F" if fortran_order else "C")


@functools.lru_cache(maxsize=1024)  # the trees of a forest have many arrays of the same kind and shape
def _header(version: tuple[int, int], beginning: bytes) -> Any:
    stream = io.BytesIO(beginning)
    np.lib.format.read_magic(stream)
    return _HEADERS[version](stream)


def _json_value(text: Any) -> Any:
    # Most are short, and the same in every tree; what can be changed must not be shared.
    return _short_value(text) if isinstance(text, str) and text[:1] not in ("[", "{", " ") else json.loads(text)


@functools.lru_cache(maxsize=1024)
def _short_value(text: str) -> Any:
    return json.loads(text)


def _slice(content: dict[str, Any]) -> slice:
    ends = [content.get(key) for key in ("start", "stop", "step")]
    if any(end is not None and type(end) is not int for end in ends):
        raise ModelFileError("a slice must have integers, or nothing, at its ends")
    return slice(*ends)


def _whole(number: Any, what: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < 2**31:
        raise ModelFileError(f"{what} of a tree must be a non-negative integer, not {str(number)[:40]!r}")
    return int(number)
