"""Where two models differ: all of it, against every cell."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.questions.joint import joint_ensemble
from tests.cases.combined import SHAPES, random_combined
from tests.cases.oracle import brute_force
from tests.cases.questions import CASES, tries
from tests.cases.strategies import random_ensemble
from tests.unit.questions.test_checks import random_cells


def changed(rng, ensemble):
    """The same ensemble with some leaves exchanged."""
    value, leaves = ensemble.value.copy(), np.flatnonzero(ensemble.feature < 0)
    some = rng.choice(leaves, size=min(int(rng.integers(2, 9)), len(leaves)), replace=False)
    value[some] = value[some[::-1]]
    return replace(ensemble, value=value)


def inside(ensemble, box, X):
    """Which inputs are in a box, by its bounds."""
    found = np.ones(len(X), dtype=bool)
    for name, bounds in box.bounds.items():
        feature = ensemble.feature_names.index(name)
        column, kind = X[:, feature], ensemble.categories[feature]
        if kind is not None:
            numbers = np.array([math.nan if each is None else each for each in bounds], dtype=float)
            found &= np.isin(kind.element(column), kind.element(numbers))
        else:
            missing = np.isnan(column) & (bounds[-1] is None)
            found &= missing | ((bounds[0] < column) & (column <= bounds[1]) if len(bounds) > 1 else False)
    return found


@pytest.mark.parametrize("kind", ["changes", "pairs"])
@pytest.mark.parametrize("sets", CASES)
def test_every_cell_is_in_one_box_iff_the_models_differ_there(sets, kind):
    rng, n_boxes = np.random.default_rng(90 + sets), []
    for _ in range(tries(500, 25)):
        ensemble, domain, X, _ = random_cells(rng, sets)
        other = changed(rng, ensemble)
        found = onetree.difference(ensemble, other, domain=domain, X=X, tree=kind)
        one, two = ensemble.predict(X), other.predict(X)
        n_inside = np.zeros(len(X), dtype=int)
        for box in found.boxes:
            here = inside(ensemble, box, X)
            n_inside += here
            assert box.n_rows == here.sum()
            assert (one[here] == box.classes[0]).all()
            assert (two[here] == box.classes[1]).all()
        assert n_inside.tolist() == (one != two).astype(int).tolist()
        assert sum(found.changes.values()) == (one != two).sum()
        if found:
            assert found.tree_status == "optimal"
            said = found.tree.predict(X)
            words = [
                ("same" if kind == "changes" else str(a)) if a == b else f"{a} -> {b}"
                for a, b in zip(one, two, strict=True)
            ]
            assert said.tolist() == words
        n_boxes.append(len(found.boxes))
    assert n_boxes.count(0) > 0
    assert max(n_boxes) > 2


@pytest.mark.parametrize("kind", ["changes", "pairs"])
def test_the_joint_ensemble_has_the_pair_of_classes_for_its_class(kind):
    rng = np.random.default_rng(5)
    for number in range(tries(600, 60)):
        shape = SHAPES[number // 2 % len(SHAPES)]
        one = random_combined(rng, shape, max_cells=60) if number % 2 else random_ensemble(rng, max_cells=60)
        two = changed(rng, one)
        joint, pairs = joint_ensemble(one, two, kind)
        X = np.array(list(itertools.product(*axes_of(one))), dtype=float)
        for said, a, b in zip(joint.predict_index(X), one.predict_index(X), two.predict_index(X), strict=True):
            assert pairs[said] == (None if a == b and kind == "changes" else (a, b))


def axes_of(ensemble):
    """Values on and beside every threshold of each feature, and missing ones."""
    for feature in range(ensemble.n_features):
        cuts = np.unique(ensemble.threshold[ensemble.feature == feature])
        cuts = cuts[np.isfinite(cuts)]
        values = [*cuts, *np.nextafter(cuts[-1:], np.inf)] if cuts.size else [0.0]
        yield [*values, math.nan] if ensemble.nan_features[feature] else values


def test_no_smaller_tree_of_the_difference_exists():
    rng, n_found = np.random.default_rng(6), 0
    for number in range(tries(300, 40)):
        one = random_ensemble(rng, max_cells=40)
        two = changed(rng, one)
        kind = ("changes", "pairs")[number % 2]
        found = onetree.difference(one, two, tree=kind)
        if found:
            joint, _ = joint_ensemble(one, two, kind)
            assert found.tree.n_leaves == brute_force(joint, "leaves")
            n_found += 1
    assert n_found > 5


@pytest.mark.parametrize("grouped", [False, True])
def test_the_volume_is_the_share_of_all_inputs_of_a_finite_domain(grouped):
    rng = np.random.default_rng(7)
    shares = []
    for seed in range(tries(60, 8)):
        X = rng.integers(0, 4, size=(80, 5)).astype(float)
        X[:, 3:] = np.eye(2)[rng.integers(0, 2, 80)] if grouped else rng.integers(0, 2, (80, 2))
        y = rng.integers(0, 3, 80)
        old, new = (RandomForestClassifier(3, max_depth=3, random_state=2 * seed + i).fit(X, y) for i in range(2))
        domain = {0: "integer 0:3", 1: {0, 1, 2, 3}, 2: "integer 0:3"}
        domain |= {(3, 4): "one-hot"} if grouped else {3: "binary", 4: "binary"}
        found = onetree.difference(old, new, domain=domain, tree="changes")
        every = np.array([x for x in itertools.product(*[range(4)] * 3, (0, 1), (0, 1)) if not grouped or x[3] != x[4]])
        differ = old.predict(every) != new.predict(every)
        assert found.volume == pytest.approx(differ.mean(), abs=1e-12)
        assert sum(box.volume for box in found.boxes) == pytest.approx(found.volume)
        shares.append(found.volume)
    assert max(shares) > 0


def test_the_volume_of_ranges_is_that_of_the_rows_where_the_domain_has_none():
    X = np.linspace(0, 10, 101)[:, np.newaxis]
    old = onetree.Ensemble.from_model(RandomForestClassifier(1, bootstrap=False).fit(X, X[:, 0] > 4.05))
    new = onetree.Ensemble.from_model(RandomForestClassifier(1, bootstrap=False).fit(X, X[:, 0] > 6.05))
    found = onetree.difference(old, new, X=X, tree="changes")
    assert found.volume == pytest.approx(0.2, abs=1e-6)
    assert found.share == 20 / 101
    assert onetree.difference(old, new, tree="changes").volume is None
    assert onetree.difference(old, new, tree="changes", domain={0: (0, 4.25)}).volume == pytest.approx(0.2 / 4.25, 1e-5)


@pytest.fixture(scope="module")
def flowers():
    data = load_iris(as_frame=True)
    return data.data, [
        RandomForestClassifier(5, max_depth=2, random_state=i).fit(data.data, data.target) for i in (0, 1)
    ]


def test_models_trees_and_files_are_compared_alike(flowers, tmp_path):
    X, (old, new) = flowers
    trees = [onetree.born_again(each).tree for each in (old, new)]
    trees[0].save(tmp_path / "old.json")
    onetree.Ensemble.from_model(new).save(tmp_path / "new.json")
    expected = onetree.difference(old, new, X=X, tree="changes")
    for a, b in [(trees[0], new), (old, trees[1]), trees, (tmp_path / "old.json", str(tmp_path / "new.json"))]:
        found = onetree.difference(a, b, X=X, tree="changes")
        assert found.changes == expected.changes
        assert found.tree.n_leaves == expected.tree.n_leaves
    assert onetree.difference(old, tmp_path / "old.json", tree="pairs").boxes == ()


def test_two_trees_are_compared_as_compare_does(flowers):
    X, models = flowers
    trees = [onetree.born_again(each).tree for each in models]
    assert onetree.difference(*trees, X=X).comparison == onetree.compare(*trees, X)
    assert onetree.difference(*models, X=X).comparison is None


def test_a_new_version_may_have_another_feature_and_another_order(flowers):
    X, (old, _) = flowers
    y = load_iris().target
    fewer = X[[X.columns[3], X.columns[0], X.columns[2]]]
    new = RandomForestClassifier(5, max_depth=2, random_state=0).fit(fewer, y)
    found = onetree.difference(old, new, X=X, tree="changes")
    assert found.share == np.mean(old.predict(X) != new.predict(fewer))
    point = dict(zip(X.columns, found.point, strict=True))
    one = old.predict(X[:1].assign(**point))[0]
    other = new.predict(fewer[:1].assign(**{name: point[name] for name in fewer.columns}))[0]
    assert (one, other) == found.classes


def test_what_is_too_large_is_said_and_what_was_found_stays():
    X, y = load_breast_cancer(return_X_y=True)
    old, new = (RandomForestClassifier(30, max_depth=6, random_state=i).fit(X, y) for i in range(2))
    found = onetree.difference(old, new, X=X, tree="changes", work_limit=2000)
    assert found.differ is True
    assert old.predict([found.point])[0] != new.predict([found.point])[0]
    assert found.tree is None
    assert "no tree of the difference" in str(found)
    small = [RandomForestClassifier(3, max_depth=3, random_state=i).fit(X[:, :3], y) for i in range(2)]
    found = onetree.difference(*small, tree="changes", max_boxes=3)
    assert found.boxes is None
    assert "max_boxes" in found.note


def test_the_answer_reads_as_sentences(flowers):
    X, (old, new) = flowers
    said = str(onetree.difference(old, new, X=X, tree="changes"))
    assert said.startswith("they differ: ")
    assert "% of 150 rows\n" in said
    assert "% of the volume\n" in said
    assert "\n  and 9 more" in said
    assert str(onetree.difference(old, old)) == "proven: both give the same class to every input"
