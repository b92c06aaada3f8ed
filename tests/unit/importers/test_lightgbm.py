"""LightGBM's models are read so that every prediction is the same, bit for bit, and broken files are refused."""

import math
import re

import numpy as np
import pytest

from onetree import Ensemble, FidelityError, InvalidInputError, ModelFileError, UnsupportedModelError, load_ensemble
from onetree.importers.lightgbm import splits
from onetree.importers.lightgbm.model import import_lightgbm, parse_lightgbm_text
from onetree.importers.lightgbm.splits import ZERO_BAND
from tests.cases.damage import damaged

lightgbm = pytest.importorskip("lightgbm")

PIECES = [b"9", b"-", b" ", b"\n", b"1e999", b"nan", b"=", b"99999999999"]
N_MUTATIONS = 400
TINY = np.array([ZERO_BAND, np.nextafter(ZERO_BAND, 0), np.nextafter(ZERO_BAND, 1), 1e-40, 5e-324, 0.0])


def data(n_classes, *, gaps=False, zeros=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 4))
    X[:, 3] = rng.choice([0, 1e-36, -1e-36, 1e-34, -1e-34, 1, -1], 300)
    y = np.floor(n_classes / 2 + X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(300))
    if zeros:
        X[rng.random(X.shape) < 0.2] = 0
    if gaps:
        X[:, 1:3][rng.random((300, 2)) < 0.2] = np.nan
    return X, np.clip(y, 0, n_classes - 1).astype(int)


def classifier(**options):
    defaults = {"n_estimators": 6, "min_child_samples": 5, "learning_rate": 0.5, "random_state": 0, "n_jobs": 1}
    return lightgbm.LGBMClassifier(verbose=-1, **{**defaults, **options})


def rows_around(ensemble, *, gaps, n_rows=3000):
    """Random rows, and rows on and next to the thresholds and zero, among float64 and float32 values."""
    rng = np.random.default_rng(1)
    random = rng.standard_normal((n_rows, ensemble.n_features))
    adjacent = random.copy()
    for feature in range(ensemble.n_features):
        cuts = ensemble.threshold[(ensemble.feature == feature) & np.isfinite(ensemble.threshold)]
        single = cuts.astype(np.float32)
        points = [cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), TINY, -TINY, [np.inf, -np.inf, 3e38]]
        points += [single, np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))]
        adjacent[:, feature] = rng.choice(np.concatenate(points), n_rows)
    rows = np.concatenate([random, adjacent])
    return np.where(rng.random(rows.shape) < 0.2, np.nan, rows) if gaps else rows


def text_of(*trees, n_scores=1, objective="binary sigmoid:1"):
    """A model text of trees that are lists of leaf values, divided at 0.5, 1.5, ..."""
    blocks = []
    for index, values in enumerate(trees):
        inner = range(len(values) - 1)
        lines = [
            f"Tree={index}",
            f"num_leaves={len(values)}",
            "num_cat=0",
            "split_feature=" + " ".join("0" for _ in inner),
            "threshold=" + " ".join(repr(k + 0.5) for k in inner),
            "decision_type=" + " ".join("2" for _ in inner),
            "left_child=" + " ".join(str(-k - 1) for k in inner),
            "right_child=" + " ".join(str(k + 1 if k + 2 < len(values) else -len(values)) for k in inner),
            "leaf_value=" + " ".join(f"{value:.17g}" for value in values),
            "is_linear=0",
            "shrinkage=1",
        ]
        blocks.append("\n".join(lines) + "\n\n\n")
    head = [
        "tree",
        "version=v4",
        f"num_class={n_scores}",
        f"num_tree_per_iteration={n_scores}",
        "label_index=0",
        "max_feature_idx=0",
        f"objective={objective}",
        "feature_names=height",
        "feature_infos=[0:1]",
        "tree_sizes=" + " ".join(str(len(block)) for block in blocks),
    ]
    return "\n".join([*head, "", "".join(blocks) + "end of trees", "", "parameters:", "", "end of parameters", ""])


def resized(text):
    """The text with the sizes of its trees put right."""
    blocks = re.split(r"^(?=Tree=)", text[: text.index("end of trees")], flags=re.MULTILINE)[1:]
    return re.sub(r"tree_sizes=.*", "tree_sizes=" + " ".join(str(len(block)) for block in blocks), text)


@pytest.mark.parametrize("boosting_type", ["gbdt", "dart", "goss", "rf"])
@pytest.mark.parametrize(("n_classes", "depth"), [(2, 1), (2, 6), (3, 3), (5, 2)])
def test_the_class_of_every_row_is_that_of_the_classifier(boosting_type, n_classes, depth):
    X, y = data(n_classes)
    bagging = {"subsample": 0.7, "subsample_freq": 1} if boosting_type == "rf" else {}
    model = classifier(boosting_type=boosting_type, max_depth=depth, num_leaves=2**depth, **bagging).fit(X, y)
    ensemble = Ensemble.from_model(model)
    rows = rows_around(ensemble, gaps=False)
    for given in (rows, rows.astype(np.float32), X):
        np.testing.assert_array_equal(ensemble.predict(given), model.predict(given))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"zero_as_missing": True}, {"use_missing": False}])
def test_missing_values_and_zeros_go_the_way_of_the_library(n_classes, options):
    X, y = data(n_classes, gaps=True, zeros=True)
    model = classifier(**options).fit(X, y)
    ensemble = import_lightgbm(model, missing="follow")
    rows = rows_around(ensemble, gaps=True)
    for given in (rows, X, np.where(np.isnan(X), 0, X)):
        np.testing.assert_array_equal(ensemble.predict(given), model.predict(given))


def test_a_zero_that_is_missing_is_told_apart_on_both_sides_of_the_threshold():
    text = text_of([1.0, -1.0])
    for threshold, decision_type in ((-2.5, 6), (2.5, 4), (-2.5, 4), (2.5, 6), (1e-40, 4), (-1e-40, 6)):
        changed = text.replace("threshold=0.5", f"threshold={threshold}").replace("type=2", f"type={decision_type}")
        booster = lightgbm.Booster(model_str=resized(changed))
        ensemble = import_lightgbm(booster, missing="follow")
        rows = np.concatenate([TINY, -TINY, [-3.0, -2.5, -2.0, 2.0, 2.5, 3.0, np.nan, np.inf, -np.inf]])[:, np.newaxis]
        np.testing.assert_array_equal(ensemble.scores(rows)[:, 0], booster.predict(rows, raw_score=True))


def test_nan_is_an_input_where_it_was_met_in_training():
    X, y = data(2, gaps=True)
    model = classifier(n_estimators=20).fit(X, y)
    assert import_lightgbm(model).nan_features.tolist() == [False, True, True, False]
    assert import_lightgbm(model, missing="follow").nan_features.all()
    assert not import_lightgbm(model, missing="refuse").nan_features.any()


def test_a_feature_without_a_split_may_have_gaps_if_another_one_has():
    X, y = data(2, gaps=True)
    model = classifier(n_estimators=20).fit(np.column_stack([X, np.zeros(len(X))]), y)
    assert import_lightgbm(model).nan_features.tolist() == [False, True, True, False, True]


def test_a_split_between_numbers_and_nan_is_read():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.where(y[:, np.newaxis] == 1, np.nan, rng.standard_normal((200, 1)))
    model = classifier().fit(X, y)
    ensemble = import_lightgbm(model)
    assert np.isposinf(ensemble.threshold).any()
    rows = np.array([[np.nan], [np.inf], [-np.inf], [1.7e308], [0.0]])
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


@pytest.mark.parametrize("sigmoid", ["1", "0.5", "0.1", "3", "7.25", "0.001", "100000", "0.7"])
def test_the_cut_is_where_the_rounded_probability_leaves_one_half(sigmoid):
    cut = parse_lightgbm_text(text_of([0.0], objective=f"binary sigmoid:{sigmoid}").encode()).rule.cut
    values = [cut, 0.0, -cut, cut / 2, cut * 2, 1.0, -1.0]
    for direction in (math.inf, -math.inf):
        values.append(math.nextafter(cut, direction))
        for _ in range(20):
            values.append(math.nextafter(values[-1], direction))
    text = text_of(values, objective=f"binary sigmoid:{sigmoid}")
    rows = np.arange(len(values))[:, np.newaxis]
    probability = lightgbm.Booster(model_str=text).predict(rows)
    np.testing.assert_array_equal(parse_lightgbm_text(text.encode()).predict(rows), probability > 0.5)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_near_ties_are_decided_by_the_rounded_softmax(n_classes):
    rng = np.random.default_rng(n_classes)
    near = rng.choice([-1, 0, 1], (400, n_classes)) * 2.0 ** rng.integers(-56, -50, (400, n_classes))
    far = 5.0 + rng.integers(-9, 9, (400, n_classes)) * np.spacing(5.0)
    scores = np.concatenate([near, far, far - rng.choice([0, 1], (1, n_classes))])
    text = text_of(*scores.T, n_scores=n_classes, objective=f"multiclass num_class:{n_classes}")
    rows = np.arange(len(scores))[:, np.newaxis]
    expected = np.argmax(lightgbm.Booster(model_str=text).predict(rows), axis=1)
    assert np.any(np.argmax(scores, axis=1) != expected)
    np.testing.assert_array_equal(parse_lightgbm_text(text.encode()).predict(rows), expected)


def test_a_booster_that_stopped_early_is_read_up_to_its_best_iteration():
    X, y = data(2)
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.3)
    booster = lightgbm.train(
        {"objective": "binary", "learning_rate": 0.5, "verbose": -1, "num_threads": 1},
        lightgbm.Dataset(X[:200], y[:200]),
        100,
        valid_sets=[lightgbm.Dataset(X[200:], y[200:])],
        callbacks=[lightgbm.early_stopping(3, verbose=False)],
        keep_training_booster=True,
    )
    assert import_lightgbm(booster).n_trees == booster.best_iteration < booster.num_trees()


@pytest.mark.parametrize("labels", [["no", "yes", "maybe"], [7, -1, 3], [2.0, 4.0, 8.0]])
def test_labels_are_carried_through(labels):
    X, y = data(3)
    model = classifier().fit(X, np.array(labels)[y])
    ensemble = import_lightgbm(model)
    assert ensemble.classes.tolist() == sorted(labels)
    np.testing.assert_array_equal(ensemble.predict(X[:, :4]), model.predict(X))


@pytest.mark.parametrize("labels", [["no", "yes", "maybe"], [7, -1, 3], ["a", 1, 2.5]])
def test_a_file_takes_the_labels_that_it_does_not_hold(tmp_path, labels):
    X, y = data(3)
    path = tmp_path / "model.txt"
    classifier().fit(X, y).booster_.save_model(path)
    named, bare = load_ensemble(path, classes=labels), load_ensemble(path)
    assert named.classes.tolist() == labels
    assert [type(label) for label in named.classes.tolist()] == [type(label) for label in labels]
    assert named.predict(X).tolist() == [labels[index] for index in bare.predict(X).tolist()]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["no", "yes"], "holds 3 classes, but 2 labels were given"),
        (["a", "b", "a"], "must differ"),
        ("abc", "must be a list of labels"),
        ([["a"], ["b"], ["c"]], "must be a list of labels"),
    ],
)
def test_labels_that_do_not_fit_a_file_are_refused(tmp_path, classes, message):
    path = tmp_path / "model.txt"
    classifier().fit(*data(3)).booster_.save_model(path)
    with pytest.raises(InvalidInputError, match=message):
        load_ensemble(path, classes=classes)


def test_labels_that_a_file_holds_are_not_overruled(tmp_path):
    X, y = data(2)
    path = tmp_path / "model.json"
    import_lightgbm(classifier().fit(X, np.array(["no", "yes"])[y])).save(path)
    assert load_ensemble(path, classes=["no", "yes"]).classes.tolist() == ["no", "yes"]
    with pytest.raises(InvalidInputError, match="names its classes: no, yes"):
        load_ensemble(path, classes=["yes", "no"])


def test_feature_names_are_carried_through_without_a_warning():
    pandas = pytest.importorskip("pandas")
    X, y = data(2)
    model = classifier().fit(pandas.DataFrame(X, columns=["height", "weight", "größe", "d"]), y)
    assert import_lightgbm(model).feature_names == ("height", "weight", "größe", "d")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_booster_predicts_classes_from_zero_on_and_its_file_is_the_same(tmp_path, n_classes):
    X, y = data(n_classes, gaps=True)
    model = classifier().fit(X, y)
    path = tmp_path / "model.txt"
    model.booster_.save_model(path)
    booster, file = import_lightgbm(model.booster_), load_ensemble(path)
    assert booster.classes.tolist() == list(range(n_classes))
    for name in (
        "feature",
        "threshold",
        "children_left",
        "children_right",
        "value",
        "missing_left",
        "nan_features",
        "roots",
    ):
        np.testing.assert_array_equal(getattr(booster, name), getattr(file, name))
    assert booster.rule == file.rule


def test_a_file_with_windows_line_ends_is_read():
    text = text_of([1.0, -1.0], [0.5, -0.5])
    np.testing.assert_array_equal(
        parse_lightgbm_text(text.replace("\n", "\r\n").encode()).value, parse_lightgbm_text(text.encode()).value
    )


def test_a_chain_of_100_000_splits_is_read():
    ensemble = parse_lightgbm_text(text_of([float(k % 2) for k in range(100_001)]).encode())
    assert ensemble.depths.tolist() == [100_000]


def test_a_zero_band_that_would_need_too_many_nodes_is_refused(monkeypatch):
    monkeypatch.setattr(splits, "_MAX_NODES", 1000)
    depth = 40  # three splits for one, at each level
    text = text_of([float(k) for k in range(depth + 1)])
    text = text.replace("decision_type=" + " ".join(["2"] * depth), "decision_type=" + " ".join(["4"] * depth))
    with pytest.raises(UnsupportedModelError, match="zero_as_missing=False"):
        parse_lightgbm_text(resized(text).encode())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"linear_tree": True}, "linear_tree=False"),
        ({"pred_early_stop": True}, "pred_early_stop"),
        ({"sigmoid": 0.123456789}, "train with sigmoid=0.123457"),
        ({"objective": "cross_entropy"}, "is a regressor"),
    ],
)
def test_models_that_are_not_read_are_refused_with_the_reason(options, message):
    X, y = data(3 if "num_class" in options else 2)
    with pytest.raises(UnsupportedModelError, match=message):
        import_lightgbm(classifier(**options).fit(X, y))


def test_other_objectives_and_states_are_refused():
    X, y = data(2)
    with pytest.raises(UnsupportedModelError, match="not fitted"):
        import_lightgbm(classifier())
    with pytest.raises(UnsupportedModelError, match="LGBMRegressor is a regressor"):
        import_lightgbm(lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(X, y))
    with pytest.raises(UnsupportedModelError, match="Booster is a regressor"):
        import_lightgbm(lightgbm.train({"objective": "regression", "verbose": -1}, lightgbm.Dataset(X, y), 2))
    own = classifier(objective=lambda y, score: (score - y, np.ones_like(y))).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="custom"):
        import_lightgbm(own)
    with pytest.raises(UnsupportedModelError, match="1 classes"):
        import_lightgbm(classifier().fit(X, np.zeros(len(X), dtype=int)))


def test_a_classifier_whose_predict_is_not_the_librarys_is_refused():
    class Contrary(lightgbm.LGBMClassifier):
        def predict(self, X, **options):
            return 1 - super().predict(X, **options)

    X, y = data(2)
    with pytest.raises(FidelityError):
        import_lightgbm(Contrary(n_estimators=2, verbose=-1).fit(X, y))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("left_child=-1 -2", "left_child=-1 7", "child that does not exist"),
        ("left_child=-1 -2", "left_child=-1 -9", "child that does not exist"),
        ("left_child=-1 -2", "left_child=-1 -1", "not a tree"),
        ("left_child=-1 -2", "left_child=-1 1", "not a tree"),
        ("left_child=-1 -2", "left_child=-1", "should hold 2 numbers, not 1"),
        ("left_child=-1 -2", "left_child=-1 x", "integers"),
        ("threshold=0.5 1.5", "threshold=0.5 nan", "finite"),
        ("threshold=0.5 1.5", "threshold=0.5 -inf", "finite"),
        ("threshold=0.5 1.5", "threshold=0.5 1e999", "finite"),
        ("leaf_value=1 2 3", "leaf_value=1 2 inf", "finite"),
        ("leaf_value=1 2 3", "leaf_value=1 2", "should hold 3 numbers"),
        ("split_feature=0 0", "split_feature=0 1", "feature that does not exist"),
        ("decision_type=2 2", "decision_type=2 14", "decision_type"),
        ("decision_type=2 2", "decision_type=2 1", "announces 0 categorical"),
        ("num_leaves=3", "num_leaves=4", "should hold 3 numbers"),
        ("Tree=0", "Tree=1", "should stand"),
        ("shrinkage=1", "num_leaves=3", "twice"),
    ],
)
def test_a_broken_tree_is_refused_with_what_is_wrong(old, new, message):
    text = text_of([1.0, 2.0, 3.0])
    assert text.count(old) == 1
    with pytest.raises(ModelFileError, match=message):
        parse_lightgbm_text(resized(text.replace(old, new)).encode())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version=v4", "version=v9", "version 'v9'"),
        ("tree\n", "", 'begins with the line "tree"'),
        ("num_class=1", "num_class=2", "num_class"),
        ("num_class=1", "num_class=0", r"1\.\.100000"),
        ("max_feature_idx=0", "max_feature_idx=3", "names 1 features"),
        ("max_feature_idx=0", "max_feature_idx=999999999", "max_feature_idx"),
        ("binary sigmoid:1", "binary sigmoid:-1", "positive"),
        ("binary sigmoid:1", "multiclass num_class:3", "do not agree"),
        ("tree_sizes=", "tree_sizes=7", "tree_sizes"),
        ("end of trees", "", "end of trees"),
        ("end of parameters", "", "end of parameters"),
    ],
)
def test_a_broken_header_is_refused_with_what_is_wrong(old, new, message):
    with pytest.raises(ModelFileError, match=message):
        parse_lightgbm_text(text_of([1.0, 2.0, 3.0]).replace(old, new).encode())


def test_a_mutated_file_is_a_model_or_an_error_that_says_so():
    X, y = data(3, gaps=True)
    content = classifier(n_estimators=2, num_leaves=4).fit(X, y).booster_.model_to_string().encode()
    content = content[: content.index(b"end of trees") + 40]
    rng = np.random.default_rng(0)
    n_refused = 0
    for _ in range(N_MUTATIONS):
        try:
            assert isinstance(parse_lightgbm_text(damaged(content, rng, PIECES)), Ensemble)
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert n_refused > N_MUTATIONS // 2


def test_a_file_cut_short_within_its_trees_is_always_refused():
    content = text_of([1.0, 2.0, 3.0], [4.0, 5.0]).encode()
    for length in range(content.index(b"end of trees") + len(b"end of tree")):
        with pytest.raises(ModelFileError):
            parse_lightgbm_text(content[:length])
