"""Small files that ask for much: numbers that stand for millions of things, things that are shared, deep trees."""

import io
import json
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree as NativeTree

import onetree
from onetree import ModelFileError, UnsupportedModelError, load_ensemble, load_tree
from onetree.importers.ba_text import write_ba_text
from tests.cases.deep import DEEP
from tests.unit.importers.test_hostile import BA_TEXT, data
from tests.unit.importers.test_ubjson import encode
from tests.unit.model.test_ensemble import chain
from tests.unit.tree.test_tree import chain as chain_tree


@pytest.fixture
def saved(tmp_path):
    def save(content):
        path = tmp_path / "model"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return save


def test_a_line_of_the_ba_text_cannot_ask_for_millions_of_classes(saved):
    text = BA_TEXT.replace("THRESHOLD", "0.5").replace("NB_CLASSES: 2", "NB_CLASSES: 40000000")
    with pytest.raises(ModelFileError, match=r"line 5: NB_CLASSES is 40000000, outside 1\.\.100000"):
        load_ensemble(saved(text))


def test_leaves_of_a_few_bytes_are_not_vectors_of_many_kilobytes(saved):
    n_trees = 1000
    head = BA_TEXT.partition("[TREE 0]")[0].replace("NB_CLASSES: 2", "NB_CLASSES: 100000")
    trees = "".join(f"[TREE {tree}]\nNB_NODES: 1\n0 LN -1 -1 -1 -1 0 0\n\n" for tree in range(n_trees))
    with pytest.raises(ModelFileError, match="100000 classes at 168 nodes are more than can be held"):
        load_ensemble(saved(head.replace("NB_TREES: 1", f"NB_TREES: {n_trees}") + trees))


def xgboost_document():
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 2}, xgboost.DMatrix(*data()), 1)
    return json.loads(bytes(booster.save_raw("json")))


def test_an_entry_of_an_xgboost_file_cannot_ask_for_millions_of_classes(saved):
    document = xgboost_document()
    document["learner"]["learner_model_param"]["num_class"] = "900000000"
    with pytest.raises(ModelFileError, match=r'"num_class" is 900000000, outside 0\.\.100000'):
        load_ensemble(saved(json.dumps(document)))


def lightgbm_text(n_splits, n_words):
    """A chain of splits by the same set of categories, which is in the file once."""
    tree = "\n".join(
        [
            "Tree=0",
            f"num_leaves={n_splits + 1}",
            f"num_cat={n_splits}",
            f"split_feature={' '.join(['0'] * n_splits)}",
            f"threshold={' '.join(['0'] * n_splits)}",
            f"decision_type={' '.join(['1'] * n_splits)}",
            f"left_child={' '.join(map(str, [*range(1, n_splits), -1]))}",
            f"right_child={' '.join(str(-2 - node) for node in range(n_splits))}",
            f"cat_boundaries=0 {' '.join([str(n_words)] * n_splits)}",
            f"cat_threshold={' '.join(['4294967295'] * n_words)}",
            f"leaf_value={' '.join(['0.5'] * (n_splits + 1))}",
            "is_linear=0",
            "\n\n",
        ]
    )
    head = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=binary sigmoid:1\n"
    return f"{head}feature_names=a\nfeature_infos=0:1\ntree_sizes={len(tree)}\n\n{tree}end of trees\n"


def test_splits_by_one_set_of_many_categories_are_counted_each(saved):
    assert load_ensemble(saved(lightgbm_text(3, 2))).categories[0].n_elements == 2 + 64
    with pytest.raises(UnsupportedModelError, match="3,000 tests name 288,000,000 categories, more than can be held"):
        load_ensemble(saved(lightgbm_text(3000, 3000)))


def with_sets(n_categories, n_sets, tmp_path):
    """The project's file of a tree with so many categories, and sets of which only the first is asked for."""
    codes = list(range(n_categories))
    ends = {"codes": codes, "low": [code - 1 for code in codes], "high": codes, "names": []}
    tree = onetree.Tree([0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], [0, 1], ("a",), [False])
    path = tmp_path / "tree.json"
    tree.save(path)
    document = json.loads(path.read_text())
    document["nodes"] |= {"subset": [0, -1, -1], "threshold": [0, 0, 0]}
    return json.dumps(document | {"version": 2, "categories": [ends], "subsets": [[]] * n_sets})


def test_empty_sets_over_many_categories_are_counted_before_they_are_made(saved, tmp_path):
    assert load_tree(saved(with_sets(3, 2, tmp_path))).has_subsets
    with pytest.raises(ModelFileError, match="100,000 sets over 20,002 elements are more than can be held"):
        load_tree(saved(with_sets(20_000, 100_000, tmp_path)))


def test_very_many_sets_are_read_each_as_it_is(saved, tmp_path):
    sets = [[]] * 500_000 + [[2, 4], [0, 1, 3], []]
    document = json.loads(with_sets(3, 1, tmp_path)) | {"subsets": sets}
    subsets = load_tree(saved(json.dumps(document))).subsets
    assert not subsets[:500_000].any()
    assert [np.flatnonzero(row).tolist() for row in subsets[500_000:]] == [[2, 4], [0, 1, 3], []]


@pytest.mark.parametrize("wrong", [[1, 1], [2, 1], [-1, 0], [0, 5], [10**30], [True]])
def test_a_set_among_very_many_that_is_not_ascending_or_not_known_is_refused(wrong, saved, tmp_path):
    document = json.loads(with_sets(3, 1, tmp_path)) | {"subsets": [[3], *[[]] * 1000, wrong, [0, 1]]}
    with pytest.raises(ModelFileError, match="subsets"):
        load_tree(saved(json.dumps(document)))


def with_groups(groups, n_features, tmp_path):
    """The project's file of a tree with so many features and these groups in its domain."""
    names = tuple(f"x{feature}" for feature in range(n_features))
    tree = onetree.Tree([-1], [0], [-1], [-1], [0], [0, 1], names, [False] * n_features)
    tree.save(tmp_path / "tree.json")
    document = json.loads((tmp_path / "tree.json").read_text())
    domain = {"values": [None] * n_features, "origin": "", "groups": groups}
    return json.dumps(document | {"version": 2, "domain": domain})


def test_tens_of_thousands_of_groups_are_read(saved, tmp_path):
    n_groups = 20_000
    said = [{("one-hot", "implies")[at % 2]: [2 * at, 2 * at + 1]} for at in range(n_groups)]
    groups = load_tree(saved(with_groups(said, 2 * n_groups, tmp_path))).domain.groups
    assert [group.features for group in groups] == [(2 * at, 2 * at + 1) for at in range(n_groups)]
    assert {group.allowed.tobytes() for group in groups[::2]} == {bytes([0, 1, 1, 0])}
    assert {group.allowed.tobytes() for group in groups[1::2]} == {bytes([0, 0, 0, 1, 1, 1])}


@pytest.mark.parametrize(
    ("groups", "n_features"),
    [
        ([{"implies": [at, at + 1]} for at in range(4000)], 4001),
        ([{"equal": [at, other]} for at in range(200) for other in range(200) if at != other], 200),
        ([{word: list(range(2000))} for word in ("one-hot", "at most one") * 80], 2000),
        ([{"one-hot": list(range(4000 * at, 4000 * at + 4000))} for at in range(40)], 160_000),
    ],
    ids=["chain", "pairs", "the same features", "wide tables"],
)
def test_groups_of_a_file_that_ask_for_much_work_are_refused(groups, n_features, saved, tmp_path):
    with pytest.raises(ModelFileError, match=r"groups are too large: .* over 536,870,912 zeros and ones"):
        load_tree(saved(with_groups(groups, n_features, tmp_path)))


@pytest.mark.parametrize("mark", ['"format": "onetree-ensemble"', '"learner": 0', '"oblivious_trees": 0'])
def test_lists_within_lists_are_counted_before_they_are_made(mark, saved, monkeypatch):
    monkeypatch.setattr("onetree.files.strict_json.MAX_CONTAINERS", 1000)
    with pytest.raises(ModelFileError, match="more than 1,000 lists and objects"):
        load_ensemble(saved(f'{{{mark}, "a": [{"[]," * 1000}[]]}}'))


def changed(content, change):
    """A skops file with other members, packed tightly."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return packed.getvalue()


def skops_content(model):
    return pytest.importorskip("skops.io").dumps(model)


@pytest.fixture(scope="module")
def stump():
    return skops_content(DecisionTreeClassifier(max_depth=1, random_state=0).fit(*data()))


def replace_first_array(header, body):
    def change(members):
        stream = io.BytesIO()
        np.lib.format.write_array_header_1_0(stream, header | {"fortran_order": False})
        members[next(name for name in members if name.endswith(".npy"))] = stream.getvalue() + body

    return change


def test_an_array_of_values_without_bytes_is_refused(stump, saved):
    change = replace_first_array({"descr": "<U0", "shape": (10**9,)}, b"")
    with pytest.raises(ModelFileError, match=r"should hold \(1000000000,\) values of <U0, but has 0 bytes"):
        load_ensemble(saved(changed(stump, change)))


def test_an_archive_that_unpacks_to_a_thousand_times_its_size_is_refused(stump, saved):
    n = 1 << 27
    change = replace_first_array({"descr": "|u1", "shape": (n,)}, bytes(n))
    with pytest.raises(ModelFileError, match=r"unpacks to 134,.* bytes in .* parts, more than is read"):
        load_ensemble(saved(changed(stump, change)))


def test_an_entry_that_a_skops_schema_has_twice_is_refused(stump, saved):
    def change(members):
        members["schema.json"] = members["schema.json"].replace(b'"protocol":', b'"protocol": 0, "protocol":')

    with pytest.raises(ModelFileError, match="an entry occurs twice"):
        load_ensemble(saved(changed(stump, change)))


def test_a_file_does_not_say_how_many_processes_are_started(saved, monkeypatch):
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=1), 3, n_jobs=3, verbose=3, random_state=0).fit(*data())
    used = []
    monkeypatch.setattr(
        "onetree.importers.sklearn.skops.import_sklearn",
        lambda model, missing, output: used.append((model.n_jobs, model.verbose)) or onetree.Ensemble.from_model(model),
    )
    load_ensemble(saved(skops_content(model)))
    assert used == [(None, 0)]


def deep_classifier():
    """A tree of scikit-learn whose every left child is a leaf."""
    model = DecisionTreeClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1])
    state = model.tree_.__getstate__()
    inner = np.arange(0, 2 * DEEP, 2)
    nodes = np.zeros(2 * DEEP + 1, state["nodes"].dtype)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"] = nodes["threshold"] = -2
    nodes["left_child"][inner], nodes["right_child"][inner] = inner + 1, inner + 2
    nodes["feature"][inner], nodes["threshold"][inner] = 0, np.arange(DEEP) + 0.5
    values = np.zeros((len(nodes), 1, 2))
    values[np.arange(len(nodes)), 0, np.arange(len(nodes)) // 2 % 2] = 1
    native = NativeTree(1, np.array([2], dtype=np.intp), 1)
    native.__setstate__({"max_depth": DEEP, "node_count": len(nodes), "nodes": nodes, "values": values})
    model.tree_ = native
    return model


def deep_xgboost():
    document = xgboost_document()
    node = np.arange(2 * DEEP + 1)
    inner = (node % 2 == 0) & (node < 2 * DEEP)
    parent = np.where(node == 0, 2**31 - 1, (node - 1) // 2 * 2)
    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    tree |= {key: np.zeros(len(node), np.float32) for key in ("base_weights", "loss_changes", "sum_hessian")}
    tree |= {
        "left_children": np.where(inner, node + 1, -1).astype(np.int32),
        "right_children": np.where(inner, node + 2, -1).astype(np.int32),
        "parents": parent.astype(np.int32),
        "split_indices": np.zeros(len(node), np.int32),
        "split_conditions": np.where(inner, node, node % 2).astype(np.float32),
        "split_type": np.zeros(len(node), np.uint8),
        "default_left": np.zeros(len(node), np.uint8),
    }
    tree["tree_param"]["num_nodes"] = str(len(node))
    return document


def test_a_very_deep_tree_is_read_from_the_ba_text(tmp_path):
    write_ba_text(chain(DEEP), tmp_path / "model.txt")
    assert load_ensemble(tmp_path / "model.txt").depths.tolist() == [DEEP]


def test_a_very_deep_tree_is_read_from_the_file_of_an_ensemble(tmp_path):
    chain(DEEP).save(tmp_path / "model.json")
    assert load_ensemble(tmp_path / "model.json").depths.tolist() == [DEEP]


def test_a_very_deep_tree_is_read_from_the_file_of_a_tree(tmp_path):
    chain_tree(DEEP).save(tmp_path / "tree.json")
    assert load_tree(tmp_path / "tree.json").depth == DEEP


def test_a_very_deep_tree_is_read_from_xgboost(saved):
    assert load_ensemble(saved(json.dumps(deep_xgboost(), default=np.ndarray.tolist))).depths.tolist() == [DEEP]


def test_a_very_deep_tree_is_read_from_the_ubjson_of_xgboost(saved):
    assert load_ensemble(saved(encode(deep_xgboost()))).depths.tolist() == [DEEP]


@pytest.mark.parametrize("level", [b"[", b"{L\0\0\0\0\0\0\0\1a", b"[#L\0\0\0\0\0\0\0\1"])
def test_very_many_levels_of_ubjson_are_refused(level, saved):
    begin = b"{L\0\0\0\0\0\0\0\7learner"
    with pytest.raises(ModelFileError, match="within each other"):
        load_ensemble(saved(begin + level * DEEP))


def test_a_very_deep_tree_is_read_from_skops(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert load_ensemble(saved(skops_content(deep_classifier()))).depths.tolist() == [DEEP]


def test_a_very_deep_tree_is_refused_from_catboost(saved, tmp_path):
    catboost = pytest.importorskip("catboost")
    given = {"iterations": 1, "depth": 1, "verbose": False, "allow_writing_files": False}
    catboost.CatBoostClassifier(**given).fit(*data()).save_model(str(tmp_path / "model.json"), format="json")
    document = json.loads((tmp_path / "model.json").read_text())
    split = json.dumps(document.pop("oblivious_trees")[0]["splits"][0])
    deep = f'{{"split": {split}, "left": {{"value": 0}}, "right": ' * DEEP + '{"value": 1}' + "}" * DEEP
    text = json.dumps(document | {"trees": ["HERE"]}).replace('"HERE"', deep)
    with pytest.raises(ModelFileError, match="recursion"):
        load_ensemble(saved(text))
