"""From a fitted model, or a file, to an `Ensemble`; one module per source.

A model is recognised by its class, a file by its content. Files are never unpickled. Libraries other than
scikit-learn are imported only when a model of theirs arrives.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onetree.errors import InvalidInputError, ModelFileError, UnsupportedModelError
from onetree.files.atomic import read_whole
from onetree.importers.ba_text import parse_ba_text
from onetree.importers.json import FORMAT, parse_json
from onetree.importers.outputs import Asked, Threshold, as_asked
from onetree.model.ensemble import Ensemble
from onetree.model.inputs import RowsLike

VOTINGS = ("auto", "soft", "hard")
MISSING = ("auto", "follow", "refuse")
PIPELINES = ("raw", "last-step")

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

# In UBJ a brace is followed by the type of the length of a key, or of all values; in JSON by a quote or a space.
_UBJ_AFTER_BRACE = tuple(bytes([mark]) for mark in b"iUIlL$#")

_OTHER_FORMATS = {
    b"binf": "this is XGBoost's old binary format; load it with that version and save it as .json or .ubj",
}
_UNKNOWN = (
    "not a known model file: XGBoost JSON or UBJ, LightGBM text, CatBoost JSON or cbm, ONNX, skops, the BA-Trees text "
    f'format (begins with DATASET_NAME:) or the project\'s JSON ("format": "{FORMAT}")'
)

__all__ = ["import_model", "load_ensemble"]


def import_model(
    model: object,
    *,
    voting: str = "auto",
    missing: str = "auto",
    data: RowsLike | None = None,
    pipelines: str = "raw",
    output: str = "auto",
    threshold: Threshold | None = None,
    bands: Sequence[float] | None = None,
) -> Ensemble:
    """Read a fitted model; see `Ensemble.from_model`."""
    _check_option("voting", voting, VOTINGS)
    _check_option("missing", missing, MISSING)
    _check_option("pipelines", pipelines, PIPELINES)
    asked = Asked(output, threshold, bands)
    _check_voting(voting, asked)
    if isinstance(model, type):
        raise UnsupportedModelError(f"{model.__name__} is a class, not a fitted model; create one and call fit(X, y)")
    given, around = model, None
    if _is_from("sklearn", model):
        from onetree.importers.imblearn import check_bagging, without_samplers
        from onetree.importers.sklearn import split, unwrap

        model = without_samplers(model)
        if pipelines == "raw":
            inner, steps = split(model)
            if steps:
                return _import_pipeline(given, inner, steps, voting, missing, asked)
        model, around = unwrap(model)
    ensemble = _import_bare(model, voting, missing, data, asked)
    if _is_from("imblearn", given) and voting != "hard" and not asked.cuts_probability:
        check_bagging(ensemble, given)
    return ensemble if around is None else around.name(ensemble)


def _import_pipeline(
    pipeline: object, inner: object, steps: Sequence[Any], voting: str, missing: str, asked: Asked
) -> Ensemble:
    """Read a pipeline on its raw columns."""
    from onetree.importers.sklearn.steps import import_pipeline

    return import_pipeline(
        pipeline,
        steps,
        _import_bare(inner, voting, missing, None, asked),
        missing=missing,
        absent_is_missing=_is_from("xgboost", inner),
        compare=voting != "hard" and not asked.cuts_probability,
    )


def _import_bare(model: object, voting: str, missing: str, data: RowsLike | None, asked: Asked) -> Ensemble:
    """Read a model without wrappers."""
    output = asked.output
    if asked.cuts_probability or (_is_from("sklearn", model) and _is_composed(model)):
        from onetree.importers.composed.model import import_composed

        if voting != "auto":
            raise UnsupportedModelError(f'{type(model).__name__} is read as it predicts; use voting="auto"')
        return import_composed(model, partial(import_model, data=data), asked, missing=missing)
    # The classes of these libraries also inherit from scikit-learn's, so scikit-learn comes last.
    boosted = next((name for name in ("xgboost", "lightgbm", "catboost") if _is_from(name, model)), None)
    if boosted is not None and voting != "auto":
        raise UnsupportedModelError(
            f'{type(model).__name__} adds scores; its trees name no class to vote for. Use voting="auto"'
        )
    if boosted == "xgboost":
        from onetree.importers.xgboost.model import import_xgboost

        return import_xgboost(model, missing=missing, output=output)
    if boosted == "lightgbm":
        from onetree.importers.lightgbm.model import import_lightgbm

        return import_lightgbm(model, missing=missing, output=output)
    if boosted == "catboost":
        from onetree.importers.catboost.model import import_catboost

        return import_catboost(model, missing=missing, data=data, output=output)
    if _is_from("ydf", model):
        from onetree.importers.ydf.model import import_ydf

        return _class_only(import_ydf(model, missing=missing), output, "YDF")
    if _is_from("onnx", model):
        from onetree.importers.onnx.model import import_onnx

        return _class_only(import_onnx(model, missing=missing), output, "ONNX")
    if _is_from("sklearn", model):
        from onetree.importers.sklearn import import_sklearn

        return import_sklearn(model, voting=voting, missing=missing, output=output)
    raise UnsupportedModelError(
        f"cannot read a model of type {type(model).__module__}.{type(model).__qualname__}; give a fitted tree ensemble "
        "of scikit-learn, XGBoost, LightGBM or CatBoost, an ONNX model, or an Ensemble"
    )


def _is_composed(model: object) -> bool:
    from onetree.importers.composed.composites import is_composed

    return is_composed(model)


def _class_only(ensemble: Ensemble, output: str, library: str) -> Ensemble:
    """Return an ensemble of a library whose numbers are not read."""
    if output == "probability":
        raise UnsupportedModelError(f'probabilities of {library} models are not read; use output="class"')
    return as_asked(ensemble, output)


def _check_voting(voting: str, asked: Asked) -> None:
    if voting == "hard" and (asked.cuts_probability or asked.output == "probability"):
        what = "threshold=" if asked.threshold is not None else "bands=" if asked.bands is not None else "output="
        raise InvalidInputError(f'{what} needs probabilities, which a hard vote does not have; use voting="auto"')


def _is_from(library: str, model: object) -> bool:
    """Whether the model's class, or one that it inherits from, belongs to the library."""
    return any(base.__module__.split(".")[0] == library for base in type(model).__mro__)


def load_ensemble(
    path: str | os.PathLike[str],
    *,
    voting: str = "auto",
    missing: str = "auto",
    classes: ArrayLike | None = None,
    data: RowsLike | None = None,
    pipelines: str = "raw",
    output: str = "auto",
    threshold: Threshold | None = None,
    bands: Sequence[float] | None = None,
) -> Ensemble:
    """Read an ensemble from a file, recognised by its content.

    Parameters
    ----------
    path : path
        XGBoost JSON or UBJ, LightGBM text, CatBoost JSON or cbm, ONNX, skops with a scikit-learn model, the BA-Trees
        text format, the project's own JSON, or a folder of Spark ML or YDF.
    voting : {"auto", "soft", "hard"}
        "auto" is what the file says; "hard" makes each tree vote for its own class.
    missing : {"auto", "follow", "refuse"}
        Whether NaN is an input: "follow" wherever the model accepts it, "auto" only if the model met NaN in
        training. A file that `Ensemble.save` wrote says itself where NaN is an input; "refuse" then takes it away.
    classes : sequence of labels, optional
        The labels of the classes 0, 1, ... in this order, for files that do not hold them: LightGBM's text, XGBoost's
        files and the BA-Trees format. A classifier has them in `classes_`.
    data : array or data frame, optional
        Rows such as the training data, for the names of the categories in a file of CatBoost, which does not hold them.
    pipelines : {"raw", "last-step"}
        Whether a pipeline in a skops file is read on its raw columns, or as its last step alone.
    output : {"auto", "class", "probability", "value"}
        What is read beside the structure, as in `Ensemble.from_model`. Files of XGBoost, LightGBM and CatBoost, skops
        files and those that `Ensemble.save` wrote say how scores become probabilities.
    threshold : float, or mapping from a class to a float, optional
        Predict the second of two classes, or the class that is named, iff its probability is at least this.
    bands : sequence of float, optional
        Cut the probability of the second of two classes here, and predict the band.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is of no known kind, or its structure is broken.
    UnsupportedModelError
        If the file is sound, but its model is of a kind that cannot be converted.
    """
    _check_option("voting", voting, VOTINGS)
    _check_option("missing", missing, MISSING)
    _check_option("pipelines", pipelines, PIPELINES)
    asked = Asked(output, threshold, bands)
    _check_voting(voting, asked)
    content = None if Path(path).is_dir() else read_whole(path)
    try:
        ensemble = (
            _parse(content, missing, data, pipelines, asked)
            if content is not None
            else _class_only(_parse_folder(Path(path), missing), output, "Spark and YDF")
        )
    except UnsupportedModelError as error:
        raise UnsupportedModelError(f"{path}: {error}") from None
    except (ModelFileError, InvalidInputError) as error:
        raise ModelFileError(f"{path}: {error}") from None
    except RecursionError:
        raise ModelFileError(f"{path}: nested more deeply than any model; is it the right file?") from None
    except MemoryError:
        raise ModelFileError(f"{path}: does not fit into memory; is it the right file?") from None
    if classes is not None:
        ensemble = _with_classes(ensemble, classes, path)
    if voting == "hard":
        return ensemble.to_hard_vote()
    if voting == "soft" and ensemble.rule.kind != "soft":
        raise InvalidInputError(
            f'voting="soft" needs class fractions, but {path} holds a "{ensemble.rule.kind}" rule; use voting="auto"'
        )
    return with_cuts(ensemble, asked) if asked.cuts_probability else as_asked(ensemble, output)


def with_cuts(ensemble: Ensemble, asked: Asked) -> Ensemble:
    """Return an ensemble whose classes are what a threshold or bands make of its probabilities."""
    from onetree.importers.composed.thresholds import at_cuts

    return at_cuts(ensemble, asked)


def _parse_folder(path: Path, missing: str) -> Ensemble:
    """Recognise a folder by the files that only its library writes."""
    if (path / "data_spec.pb").is_file() and (path / "header.pb").is_file():
        from onetree.importers.ydf.model import load_ydf

        return load_ydf(path, missing=missing)
    if (path / "metadata").is_dir():
        from onetree.importers.spark.model import parse_spark

        return parse_spark(path, missing=missing)
    raise ModelFileError("not a known folder of a model; folders that Spark and YDF saved can be read")


def _parse(content: bytes, missing: str, data: RowsLike | None, pipelines: str, asked: Asked) -> Ensemble:
    output = "probability" if asked.cuts_probability else asked.output
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if _is_pickle(content):
        raise ModelFileError(
            "this is a pickle or joblib file; opening one runs whatever code is in it, so it is refused. Load it "
            "yourself where you trust it and call Ensemble.from_model(model).save(path); to share scikit-learn models "
            "as files, skops is the safe format"
        )
    if start.startswith(b"DATASET_NAME:"):
        return _class_only(_with_missing(parse_ba_text(content), missing), asked.output, "BA-Trees")
    if start.startswith((b"tree\n", b"tree\r\n")):
        from onetree.importers.lightgbm.model import parse_lightgbm_text

        return parse_lightgbm_text(content, missing=missing, output=output)
    if content.startswith(b"\x08") and content[1:2] < b"\x40":  # the version of a protocol buffer
        from onetree.importers.onnx.model import parse_onnx

        return _class_only(parse_onnx(content, missing=missing), asked.output, "ONNX")
    if content.startswith(b"PK\x03\x04"):
        from onetree.importers.sklearn.skops import parse_skops

        return parse_skops(content, missing=missing, pipelines=pipelines, output=output)
    if content[:1] == b"{" and content[1:2] in _UBJ_AFTER_BRACE:
        from onetree.importers.xgboost.model import parse_xgboost_ubj

        return parse_xgboost_ubj(content, missing=missing, output=output)
    if start.startswith(b"{"):
        return _parse_json_of_some_library(content, missing, data, output)
    if content.startswith(b"CBM1"):
        from onetree.importers.catboost.binary import json_of_binary
        from onetree.importers.catboost.model import parse_catboost_json

        return parse_catboost_json(json_of_binary(content), missing=missing, data=data, output=output)
    for mark, remedy in _OTHER_FORMATS.items():
        if start.startswith(mark):
            raise ModelFileError(remedy)
    raise ModelFileError(_UNKNOWN)


def _parse_json_of_some_library(content: bytes, missing: str, data: RowsLike | None, output: str) -> Ensemble:
    """Recognise a JSON file by the entries that only its format has."""
    if f'"{FORMAT}"'.encode() in content:
        return _with_missing(parse_json(content), missing)  # what it says is compared with what is asked later
    if b'"learner"' in content:
        from onetree.importers.xgboost.model import parse_xgboost_json

        return parse_xgboost_json(content, missing=missing, output=output)
    if b'"oblivious_trees"' in content or b'"features_info"' in content:
        from onetree.importers.catboost.model import parse_catboost_json

        return parse_catboost_json(content, missing=missing, data=data, output=output)
    if b'"tree_info"' in content:
        raise ModelFileError("LightGBM's JSON dump does not hold the exact model; use booster.save_model(path)")
    if b'"onetree-tree"' in content:
        raise ModelFileError("this is a tree that onetree made, not an ensemble; give the ensemble it was made from")
    raise ModelFileError(_UNKNOWN)


def _with_missing(ensemble: Ensemble, missing: str) -> Ensemble:
    """Return an ensemble whose file says where NaN is an input, without these inputs if they are to be refused."""
    if missing == "follow" and not ensemble.nan_features.any():
        raise InvalidInputError(
            'this file says that no feature takes missing values, so there is nothing that missing="follow" could '
            'follow; read the model itself with missing="follow" and save that'
        )
    return replace(ensemble, nan_features=np.zeros_like(ensemble.nan_features)) if missing == "refuse" else ensemble


def _with_classes(ensemble: Ensemble, classes: ArrayLike, path: str | os.PathLike[str]) -> Ensemble:
    """Return the ensemble with labels that its file does not hold; labels that it does hold are not overruled."""
    given = np.asarray(classes, dtype=object)
    if given.ndim != 1:
        raise InvalidInputError(f"classes must be a list of labels, such as ['no', 'yes'], not {classes!r}")
    if len({type(label) for label in given}) == 1:  # otherwise each stays what it is
        given = np.array(given.tolist())
    held = ensemble.classes.tolist()
    if held != list(range(ensemble.n_classes)):
        if held == given.tolist():
            return ensemble
        raise InvalidInputError(
            f"{path} names its classes: {', '.join(map(str, held[:10]))}; leave out the classes, or give the same"
        )
    if len(given) != ensemble.n_classes:
        raise InvalidInputError(f"{path} holds {ensemble.n_classes} classes, but {len(given)} labels were given")
    return replace(ensemble, classes=given)


def _is_pickle(content: bytes) -> bool:
    """Whether the content looks like a pickle, bare or compressed by joblib; nothing is unpickled."""
    return content.startswith(_PICKLE_STARTS) or (content.endswith(b".") and content.startswith(_OLD_PICKLE_STARTS))


def _check_option(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InvalidInputError(f"unknown {name}={given!r}; use one of {', '.join(known)}")
