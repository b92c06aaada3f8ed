"""The nearest input of another class, against every cell; and what the answer says."""

import math

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import onetree
from onetree.model.categories import OTHER
from onetree.questions.costs import NORMS
from tests.cases.combined import SHAPES, combined, random_combined
from tests.cases.questions import CASES, COMBINED, PLAIN, SETS, cells_near, distances, everything, tries
from tests.cases.set_cases import random_set_case
from tests.cases.strategies import random_ensemble


def random_case(rng, sets):
    """An ensemble of one of the `CASES`, and a domain or None."""
    shape = SHAPES[rng.integers(len(SHAPES))]
    if sets == PLAIN:
        return random_ensemble(rng, max_cells=60), None
    if sets == COMBINED and rng.random() < 0.5:
        return random_combined(rng, shape), None
    while True:
        ensemble, domain = random_set_case(rng)
        if sets == SETS:
            return ensemble, domain
        if ensemble.rule.kind == "scores":
            return combined(ensemble, shape, rng), domain


def random_question(rng, sets):
    """An ensemble, a domain, an input of it, and how the question is put."""
    while True:
        ensemble, domain = random_case(rng, sets)
        known = everything(ensemble) if domain is None else domain
        X = cells_near(ensemble, known, np.zeros(ensemble.n_features))
        if X is None or not len(X):
            continue
        # Many combinations of random members are constant, which makes every question easy.
        if sets != COMBINED or rng.random() < 0.1 or len(np.unique(ensemble.predict_index(X))) > 1:
            break
    row = X[rng.integers(len(X))]
    if domain is None and rng.random() < 0.5:
        row = np.where(np.isnan(row), row, row + rng.normal(size=row.shape))
    options = {
        "norm": NORMS[rng.integers(3)],
        "costs": rng.integers(0, 4, size=ensemble.n_features).astype(float),
        "missing_cost": (None, 0.5, 2.0)[rng.integers(3)],
    }
    if rng.random() < 0.4:
        options["target"] = ensemble.classes[rng.integers(ensemble.n_classes)]
    for name in ("fixed", "increasing", "decreasing"):
        chosen = np.flatnonzero(rng.random(ensemble.n_features) < 0.12).tolist()
        options[name] = [each for each in chosen if name == "fixed" or ensemble.categories[each] is None]
    return ensemble, domain, known, row, options


def allowed(ensemble, known, row, X, options):
    """Which inputs keep to what must not change, and to known categories where the domain does not say otherwise."""
    keeps = np.ones(len(X), dtype=bool)
    for feature, x in enumerate(row.tolist()):
        column, kind = X[:, feature], ensemble.categories[feature]
        same = np.isnan(column) if math.isnan(x) else column == x
        if kind is not None:
            same = kind.element(column) == kind.element(x)
            keeps &= same | (kind.element(column) != OTHER) | (known.values[feature] is not None)
        keeps &= same | (feature not in options["fixed"])
        keeps &= same | (column >= x) | (feature not in options["increasing"])
        keeps &= same | (column <= x) | (feature not in options["decreasing"])
    return keeps


def check(rng, sets):
    """Ask a random question; return whether there was an answer, or None if it is too large for brute force."""
    ensemble, domain, known, row, options = random_question(rng, sets)
    X = cells_near(ensemble, known, row)
    if X is None:
        return None
    own = ensemble.predict(row[np.newaxis])[0]
    found = onetree.counterfactual(ensemble, row, domain=domain, **options)
    classes = ensemble.predict(X)
    wanted = classes == options["target"] if "target" in options else classes != own
    wanted &= allowed(ensemble, known, row, X, options)
    least, most = distances(ensemble, row, X[wanted], options["norm"], options["costs"], options["missing_cost"])
    shortest = min(most, default=math.inf)
    if math.isinf(shortest):
        assert (found.status, found.point) == ("none", None)
        return False
    assert found.status == "optimal"
    assert least.min() * (1 - 1e-12) <= found.distance <= shortest * (1 + 1e-12)
    assert found.lower_bound == found.distance
    label = ensemble.predict(found.point[np.newaxis])[0]
    assert label == found.point_class
    assert label == options["target"] if "target" in options else label != own
    assert known.contains(found.point[np.newaxis])[0]
    assert allowed(ensemble, known, row, found.point[np.newaxis], options)[0]
    low, high = distances(
        ensemble, row, found.point[np.newaxis], options["norm"], options["costs"], options["missing_cost"]
    )
    assert low[0] * (1 - 1e-12) <= found.distance <= high[0] * (1 + 1e-12)
    return True


@pytest.mark.parametrize("sets", CASES)
def test_the_answer_is_the_nearest_of_all_cells(sets):
    rng = np.random.default_rng(20 + sets)
    answers = [check(rng, sets) for _ in range(tries(2000, 100))]
    assert answers.count(True) > len(answers) / 4
    assert answers.count(False) > len(answers) / 20


@pytest.fixture(scope="module")
def breast():
    X, y = load_breast_cancer(return_X_y=True)
    return X, RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)


@pytest.mark.parametrize("norm", NORMS)
def test_the_library_confirms_the_answer(breast, norm):
    X, forest = breast
    for row in X[:3]:
        found = onetree.counterfactual(forest, row, norm=norm, data=X, work_limit=3000)
        for dtype in (np.float64, np.float32):
            assert forest.predict(found.point[np.newaxis].astype(dtype))[0] == found.point_class != found.x_class


def test_every_class_of_a_boosted_model_can_be_asked_for():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, y)
    for target in (0, 1, 2):
        found = onetree.counterfactual(model, X[75], target)
        assert found.status == "optimal"
        assert model.predict(found.point[np.newaxis])[0] == target


def test_at_a_limit_the_bound_is_below_the_distance(breast):
    X, forest = breast
    found = onetree.counterfactual(forest, X[0], data=X, work_limit=40)
    proven = onetree.counterfactual(forest, X[0], data=X)
    assert found.status == "limit"
    assert 0 < found.lower_bound <= proven.distance <= found.distance
    assert "lower bound" in repr(found)


def test_a_tree_is_asked_like_a_model(breast):
    X, forest = breast
    single = RandomForestClassifier(1, max_depth=4, random_state=0).fit(X, forest.predict(X))
    tree = onetree.born_again(single).tree
    of_tree, of_model = (onetree.counterfactual(each, X[0]) for each in (tree, single))
    assert of_tree.distance == of_model.distance


def test_the_answer_reads_as_a_sentence():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    found = onetree.counterfactual(forest, X[0], target=2, norm="l0")
    assert str(found).startswith("2 instead of 0, if\n  ")
    assert set(found.changes) == {
        name
        for name, old, new in zip(onetree.Ensemble.from_model(forest).feature_names, X[0], found.point, strict=True)
        if old != new
    }
    assert str(onetree.counterfactual(forest, X[0], target=0)) == "0 already; nothing has to change"
    assert "every allowed case" in str(onetree.counterfactual(forest, X[0], fixed=range(4)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": "l2"}, "unknown norm"),
        ({"target": "no such class"}, "not a class"),
        ({"fixed": ["height"]}, "not a feature"),
        ({"costs": [1.0]}, "costs"),
        ({"costs": {0: -1}}, "not negative"),
        ({"domain": {0: (90, 99)}}, "does not belong to the domain"),
        ({"missing_cost": -1}, "missing_cost"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    with pytest.raises(onetree.InvalidInputError, match=message):
        onetree.counterfactual(forest, X[0], **options)


def test_a_pipeline_is_asked_on_its_raw_columns_and_only_categories_that_it_takes_are_proposed():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 200), "job": rng.choice(["none", "clerk", "boss"], 200)})
    y = np.where((X.age > 40) & (X.job != "none"), "yes", "no")
    steps = ColumnTransformer([("number", StandardScaler(), ["age"]), ("word", OneHotEncoder(), ["job"])])
    model = make_pipeline(steps, RandomForestClassifier(5, max_depth=3, random_state=0)).fit(X, y)
    row = X[model.predict(X) == "no"].iloc[0]
    found = onetree.counterfactual(model, row, data=X, domain={"age": "integer 18:99"})
    answer = pd.DataFrame([row.to_dict() | {name: new for name, (_, new) in found.changes.items()}])
    assert model.predict(answer)[0] == "yes" == found.point_class
    check = onetree.check_irrelevant(model, "job")
    assert check.holds is False
    codes = onetree.Ensemble.from_model(model).categories[1].codes
    assert {each[1] for each in check.witness} <= set(codes)


def models_of_models():
    """Fitted models whose rule has two levels, as scikit-learn has them."""
    y = load_iris().target
    forests = [(str(seed), RandomForestClassifier(3, max_depth=2, random_state=seed)) for seed in range(3)]
    boosted = ("boosted", GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0))
    two = y > 0
    return {
        "soft vote": (VotingClassifier([*forests, boosted], voting="soft", weights=[1, 2, 1, 3]), y),
        "vote of forests": (VotingClassifier(forests, voting="soft"), y),
        "hard vote": (VotingClassifier([*forests, boosted]), y),
        "sigmoid": (CalibratedClassifierCV(forests[0][1], cv=2), y),
        "isotonic": (CalibratedClassifierCV(boosted[1], method="isotonic", cv=2), y),
        "threshold": (FixedThresholdClassifier(forests[0][1], threshold=0.7), two),
        "stack": (StackingClassifier(forests[:2], LogisticRegression(), cv=2), two),
    }


@pytest.mark.parametrize("name", models_of_models())
def test_a_model_of_models_confirms_the_answers(name):
    model, y = models_of_models()[name]
    X = load_iris().data
    model.fit(X, y)
    tree = onetree.born_again(model).tree
    for row in X[::30]:
        found = onetree.counterfactual(model, row)
        assert found.status == "optimal"
        assert model.predict([found.point])[0] == found.point_class != model.predict([row])[0]
        assert found.distance == pytest.approx(onetree.counterfactual(tree, row).distance, rel=1e-6)
        assert onetree.explain(model, row).status == "minimal"
    assert onetree.difference(model, tree).differ is False
    check = onetree.check_irrelevant(model, 2)
    if check.holds is False:
        assert model.predict(check.witness[:1])[0] != model.predict(check.witness[1:])[0]
