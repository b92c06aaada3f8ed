"""Options that several subcommands share, and values checked as they are parsed."""

from __future__ import annotations

import argparse
import csv
import math

from onetree.base.limits import DEFAULT_OBJECTIVE, OBJECTIVES
from onetree.importers import MISSING, PIPELINES, VOTINGS, load_ensemble
from onetree.model.ensemble import Ensemble

MODEL_HELP = (
    "file of the model, recognised by its content: XGBoost JSON or UBJ, LightGBM text, CatBoost JSON or cbm, ONNX, "
    "skops, BA-Trees text, or JSON of Ensemble.save; or a folder of Spark or YDF"
)

Subparsers = argparse._SubParsersAction  # the type has no public name


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model file and how it is read."""
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how the trees of the model vote, and whether it takes missing values."""
    parser.add_argument(
        "--voting",
        choices=VOTINGS,
        default="auto",
        help="auto: as the file says; hard: every tree votes for one class (default: %(default)s)",
    )
    parser.add_argument(
        "--missing",
        choices=MISSING,
        default="auto",
        help="missing values (NaN). auto: inputs if the model met any in training; follow: wherever the model takes "
        "them; refuse: never (default: %(default)s)",
    )
    parser.add_argument(
        "--pipelines",
        choices=PIPELINES,
        default="raw",
        help="features of a pipeline. raw: the columns that it was fitted on; last-step: those that its last step sees "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--classes",
        type=labels,
        metavar="LABELS",
        help="labels of the classes 0, 1, ... in this order, for files that do not hold them, such as LightGBM's text: "
        "no,yes; quote a label with a comma",
    )
    cuts = parser.add_mutually_exclusive_group()
    cuts.add_argument(
        "--threshold",
        type=threshold,
        metavar="P",
        help="of two classes, predict the second iff its probability is at least P; CLASS=P for a class by its label, "
        "against the rest",
    )
    cuts.add_argument(
        "--bands",
        type=bands,
        metavar="P,P",
        help="of two classes, cut the probability of the second here, and predict the band: 0.2,0.5",
    )


def read_model(arguments: argparse.Namespace, output: str = "class") -> Ensemble:
    """Read the model file as the options say; `output` is what of it is needed."""
    return load_ensemble(
        arguments.model,
        voting=arguments.voting,
        missing=arguments.missing,
        pipelines=arguments.pipelines,
        classes=arguments.classes,
        output=output,
        threshold=arguments.threshold,
        bands=arguments.bands,
    )


def given_classes(arguments: argparse.Namespace) -> list[str]:
    """Return the options for the labels, the threshold and pipelines again, as words of a command."""
    words = [] if arguments.classes is None else [f"--classes={arguments.classes}"]
    words += [] if arguments.threshold is None else [f"--threshold={_threshold_words(arguments.threshold)}"]
    words += [] if arguments.bands is None else [f"--bands={','.join(map(repr, arguments.bands))}"]
    return words if arguments.pipelines == "raw" else [*words, "--pipelines", arguments.pipelines]


def add_objective(parser: argparse.ArgumentParser) -> None:
    """Add what is to be minimised."""
    parser.add_argument(
        "--objective",
        choices=OBJECTIVES,
        default=DEFAULT_OBJECTIVE,
        help="what to minimise; leaves-depth: the leaves, then the depth among trees with that many leaves "
        "(default: %(default)s)",
    )


def add_random_state(parser: argparse.ArgumentParser) -> None:
    """Add the seed."""
    parser.add_argument(
        "--random-state", type=natural_number, default=0, metavar="N", help="seed of the heuristic (default: 0)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the switch for machine-readable results."""
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


class ClassLabels(list[str | int]):
    """Class labels, which show as they were given."""

    def __init__(self, text: str) -> None:
        words = [word.strip() for word in next(csv.reader([text], skipinitialspace=True), [])]
        integers = all(word.removeprefix("-").isdecimal() and word.isascii() and len(word) < 19 for word in words)
        super().__init__([int(word) for word in words] if integers else words)
        self._text = text

    def __str__(self) -> str:
        return self._text


def labels(text: str) -> ClassLabels:
    """Read class labels, separated by commas: integers if all of them are, otherwise text."""
    found = ClassLabels(text)
    if len(found) < 2 or "" in found or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{text!r} does not hold different labels separated by commas, such as no,yes")
    return found


def threshold(text: str) -> float | dict[str | int, float]:
    """Read a threshold: a probability, or the label of a class, an equals sign, and a probability."""
    label, sign, number = text.rpartition("=")
    if not sign:
        return probability(text)
    plain = label.strip()
    is_integer = plain.removeprefix("-").isdecimal() and plain.isascii() and len(plain) < 19
    return {int(plain) if is_integer else plain: probability(number)}


def _threshold_words(given: float | dict[str | int, float]) -> str:
    if isinstance(given, dict):
        ((label, level),) = given.items()
        return f"{label}={level!r}"
    return repr(given)


def bands(text: str) -> list[float]:
    """Read the cuts between bands."""
    return [probability(word) for word in text.split(",")]


def probability(text: str) -> float:
    """Read a probability."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return number


def positive_number(text: str) -> float:
    """Read a positive number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (number > 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def natural_number(text: str) -> int:
    """Read a non-negative integer."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative integer")
    return int(text)


def positive_integer(text: str) -> int:
    """Read a positive integer; 2e6 is one."""
    number = positive_number(text)
    if number != int(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(number)
