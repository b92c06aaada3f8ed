"""Some rounds of the soak, one JSON line each: ``python -m campaigns.soak_one FIRST_SEED N_ROUNDS SECONDS``.

A round trains a model drawn from its seed, converts it with options and limits drawn as well, proves the tree twice,
compares it with the library itself and takes it through a file. Ends after so many rounds or seconds.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import monotonic, perf_counter

import numpy as np

import onetree
from benchmarks.memory import give_back, peak_bytes, reset_peak, resident_bytes
from campaigns.fidelity_models import TYPES
from campaigns.fidelity_points import accepted, samples
from campaigns.soak_models import ALLOWED, CATEGORICAL_TRAINERS, N_MEMBERS, TRAINERS, Draw, draw_round, fitting
from onetree.errors import GridTooLargeError, InvalidInputError, LimitReachedError
from onetree.export.json import to_json

N_POINTS = 2_000
MAX_LEAVES = 100_000  # larger trees are not worth the time of a soak
FEW_CELLS = 200_000  # proven cell by cell; beyond, by integer programs if there are few leaves
FEW_LEAVES = 60
PROOF_SECONDS = 20


class Measured:
    """The time and memory that the statements inside take."""

    def __enter__(self):
        give_back()
        reset_peak()
        self._resident, self._waited, self._start = resident_bytes(), waited_seconds(), perf_counter()
        return self

    def __exit__(self, *failure):
        self.seconds = perf_counter() - self._start
        self.waited = min(waited_seconds() - self._waited, self.seconds)
        self.peak = max(0, peak_bytes() - self._resident)

    def facts(self):
        return {"seconds": self.seconds, "waited": self.waited, "peak_bytes": self.peak}


def waited_seconds():
    """How long this thread was ready to run while others had the processors."""
    counters = Path("/proc/thread-self/schedstat")
    return int(counters.read_text().split()[1]) / 1e9 if counters.exists() else 0.0


def play(seed):
    drawn = draw_round(seed)
    configuration = drawn.configuration
    facts = {"seed": seed, "family": configuration.family, "model": str(configuration), "options": drawn.options}
    model, X = configuration.fit()
    ensemble = configuration.ensemble(model)
    drawn = fitting(drawn, ensemble)
    facts |= {"categorical": ensemble.has_subsets, "group": configuration.group, "domain": drawn.domain is not None}
    rng = np.random.default_rng([seed, 1])
    if drawn.support is not None:
        return facts | follow_data(ensemble, X, drawn.support)
    most = MAX_LEAVES if drawn.parts is None else MAX_LEAVES // 10
    if (drawn.domain is None or drawn.parts) and onetree.estimate(ensemble, budget=0.2).leaves > most:
        return facts | {"status": "too large"}
    measured = Measured()
    try:
        with measured:
            if drawn.parts is None:
                solution = onetree.born_again(ensemble, domain=drawn.domain, verify=False, **drawn.options)
            else:
                solution = begun_again(ensemble, drawn)
    except (LimitReachedError, GridTooLargeError) as error:
        return facts | measured.facts() | {"status": type(error).__name__}
    facts |= measured.facts() | {"status": solution.status}
    if not solution.lower_bound <= solution.value:
        raise AssertionError(f"the bound {solution.lower_bound} is over the value {solution.value}")
    facts["proofs"] = prove_twice(solution.tree, ensemble)
    read_back = through_a_file(solution.tree)
    n_rows = Counter()
    for kind, rows in samples(ensemble, X, N_POINTS, rng).items():
        inputs = inside(rows, configuration, solution.tree.domain, rng)
        expected = configuration.reference(model, inputs) if len(inputs) else np.array([])
        for what, predictor in (("the tree", solution.tree), ("the tree of a file", read_back), ("ensemble", ensemble)):
            if len(inputs) and not np.array_equal(predictor.predict(inputs), expected):
                raise AssertionError(f"{what} and the library differ on an input of the kind {kind}")
        n_rows[kind] += len(inputs)
    facts["resumed"] = drawn.parts is not None
    if solution.status == "optimal":
        check_optimum(solution, ensemble, drawn)
    return facts | {"rows": n_rows.total()}


class EndedError(Exception):
    """The work is ended in the middle."""


def begun_again(ensemble, drawn):
    """A tree in parts, ended after some of them and begun again from the checkpoint; the same as at one stretch."""

    def end(progress):
        if progress.phase == "parts" and progress.done >= drawn.parts["ended_after"]:
            raise EndedError

    asked = drawn.parts["asked"] | {"domain": drawn.domain}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        with suppress(EndedError):
            onetree.born_again_in_parts(ensemble, **asked, checkpoint=path, progress=end)
        resumed = onetree.born_again_in_parts(ensemble, **asked, checkpoint=path)
    if to_json(resumed.tree) != to_json(onetree.born_again_in_parts(ensemble, **asked).tree):
        raise AssertionError("the tree of the work that was begun again is another one")
    return resumed


def follow_data(ensemble, X, promise):
    """A tree that follows the model where the data are; what it promises is counted anew."""
    rows = accepted(ensemble, X)
    with Measured() as measured:
        solution = onetree.support_tree(ensemble, rows, **promise)
    n_same = np.count_nonzero(solution.tree.predict(rows) == ensemble.predict(rows))
    if n_same < promise.get("fidelity", 0) * len(rows):
        raise AssertionError(f"{n_same} of {len(rows)} rows have their class, but {promise} was promised")
    if solution.tree.n_leaves > promise.get("max_leaves", np.inf) or solution.tree.exact:
        raise AssertionError(f"{solution!r} breaks {promise}")
    facts = {key: value for key, value in measured.facts().items() if key != "peak_bytes"}
    return facts | {"status": solution.status, "rows": len(rows)}


def prove_twice(tree, ensemble):
    """The methods that proved it; raises if one refutes it."""
    proven = []
    for method in ("search", "cells", "milp"):
        if (method == "milp" and "cells" in proven) or (method == "milp" and tree.n_leaves > FEW_LEAVES):
            continue
        try:
            verdict = onetree.verify(tree, ensemble, method=method, max_cells=FEW_CELLS, time_limit=PROOF_SECONDS)
        except (LimitReachedError, InvalidInputError) as error:
            if isinstance(error, InvalidInputError) and "max_cells" not in str(error):
                raise
            continue
        if not verdict:
            raise AssertionError(f"{method} refutes the tree at {verdict.counterexample}")
        proven.append(method)
    return proven


def through_a_file(tree):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.json"
        tree.save(path)
        return onetree.load_tree(path)


def inside(rows, configuration, domain, rng):
    """The rows, moved into the domain where that is easy, and those that are inside it then."""
    if domain is None:
        return rows
    rows = rows.copy()
    if configuration.group:
        rows[:, :N_MEMBERS] = rng.choice(ALLOWED[configuration.group], size=len(rows))
    for feature, values in enumerate(domain.values):
        if values is not None and values.choices is not None and feature not in range(N_MEMBERS * bool(domain.groups)):
            rows[:, feature] = rng.choice(values.choices, size=len(rows))
        elif values is not None and values.integer:
            rows[:, feature] = np.round(rows[:, feature])
    return rows[domain.contains(rows)]


def check_optimum(solution, ensemble, drawn):
    """Another engine must find the same optimum, if it finds one."""
    try:
        again = onetree.born_again(
            ensemble, objective=solution.objective, method="exact", domain=drawn.domain, time_limit=2, verify=False
        )
    except (LimitReachedError, GridTooLargeError):
        return
    if again.status == "optimal" and again.value != solution.value:
        raise AssertionError(f"two optima: {solution.value} and {again.value}")


def warm_up():
    """Let every library come into memory before that is measured."""
    for family, (trainer, _, files) in TRAINERS.items():
        for file in files or ("",):
            use_once(Draw(family, "0", trainer(2, 2), 2, 4, file=file))
    for family, (trainer, files) in CATEGORICAL_TRAINERS.items():
        for file in files:
            use_once(Draw(family, "0", trainer(2, 2), 2, len(TYPES), n_categories=3, file=file))


def use_once(configuration):
    model, X = configuration.fit()
    ensemble = configuration.ensemble(model)
    tree = onetree.born_again(ensemble, time_limit=1).tree
    for method in ("search", "cells", "milp"):
        onetree.verify(tree, ensemble, method=method)
    if not ensemble.has_subsets:
        onetree.support_tree(ensemble, X, max_leaves=4, certify=True)


def main():
    first, n_rounds, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    end = monotonic() + seconds
    warm_up()
    for seed in range(first, first + n_rounds):
        if monotonic() > end:
            break
        try:
            facts = play(seed)
        except Exception as error:
            facts = {"seed": seed, "status": "failed", "message": f"{type(error).__name__}: {error}"}
        give_back()
        print(json.dumps(facts | {"resident_bytes": resident_bytes()}), flush=True)


if __name__ == "__main__":
    main()
