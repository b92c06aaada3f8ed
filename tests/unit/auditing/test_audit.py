"""An audit: what it finds, against the questions and every cell, and what its page says."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

import onetree
from onetree.auditing.rules import rules_of_model, rules_of_tree
from onetree.auditing.words import percent
from tests.cases.questions import tries
from tests.unit.questions.test_checks import random_cells
from tests.unit.questions.test_reason import inside

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Checks that elements are closed in order, and collects what a reader can follow."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen, self.ids, self.links, self.words = [], set(), [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.words.append(text)


@pytest.fixture(scope="module")
def flowers():
    data = load_iris(as_frame=True)
    kinds = data.target_names[data.target]
    return (
        data.data,
        kinds,
        [RandomForestClassifier(5, max_depth=2, random_state=i).fit(data.data, kinds) for i in (0, 1)],
    )


@pytest.fixture(scope="module")
def audited(flowers):
    X, y, (model, previous) = flowers
    names = list(X.columns)
    return onetree.audit(
        model,
        X,
        y=y,
        protected=[names[1], names[2:]],
        monotone={names[3]: "increasing", names[0]: "decreasing"},
        stable=0.1,
        previous=previous,
        title="Flowers",
        path=None,
    )


def test_an_audit_says_what_the_questions_say(flowers, audited):
    X, y, (model, previous) = flowers
    names, domain = list(X.columns), onetree.domain_of(X)
    found = {(check.kind, check.about): check for check in audited.checks}
    for features in (names[1:2], names[2:]):
        check = found["fair", ", ".join(features)]
        assert check.everywhere.holds == onetree.check_fair(model, features, domain=domain).holds
        assert check.rows.rows.tolist() == onetree.check_fair(model, features, X=X, domain=domain).rows.tolist()
    for name, increasing in ((names[3], True), (names[0], False)):
        expected = onetree.check_monotone(model, name, increasing=increasing, domain=domain)
        assert found["monotone", name].everywhere.holds == expected.holds
    stable = onetree.check_stable(model, X, 0.1, data=X, domain=domain)
    assert found["stable", "0.1"].rows.rows.tolist() == stable.rows.tolist()
    assert [found["reachable", str(label)].holds for label in model.classes_] == [True] * 3
    assert audited.accuracy == np.mean(model.predict(X) == y)
    assert audited.difference.share == np.mean(model.predict(X) != previous.predict(X))
    assert onetree.verify(audited.tree, model)
    assert not audited


def test_every_witness_is_confirmed_by_the_library(flowers, audited):
    X, _, (model, _) = flowers
    n_witnesses = 0
    for check in audited.checks:
        for each in (check.everywhere, check.rows):
            if each is not None and each.witness is not None:
                pair = model.predict(X[:2].assign(**dict(zip(X.columns, np.transpose(each.witness), strict=True))))
                assert pair.tolist() == list(each.witness_classes)
                n_witnesses += 1
    assert n_witnesses > 5


def test_a_check_is_refuted_by_any_witness_and_proven_only_by_all_proofs(audited):
    check = audited.checks[0]
    proven, refuted, undecided = (replace(check.rows, holds=state) for state in (True, False, None))
    for everywhere, rows, holds in [
        (proven, proven, True),
        (proven, None, True),
        (undecided, proven, None),
        (undecided, refuted, False),
        (refuted, proven, False),
        (None, undecided, None),
    ]:
        assert replace(check, everywhere=everywhere, rows=rows).holds is holds


def met(ensemble, bounds, X):
    found = np.ones(len(X), dtype=bool)
    for name, ends in bounds.items():
        feature = ensemble.feature_names.index(name)
        missing = np.isnan(X[:, feature]) & (len(ends) == 3 and ensemble.categories[feature] is None)
        found &= missing | inside(
            ensemble,
            feature,
            X[:, feature],
            ends[:2] if len(ends) == 3 and ensemble.categories[feature] is None else ends,
        )
    return found


@pytest.mark.parametrize("sets", [False, True])
def test_a_rule_holds_in_every_cell_and_counts_its_rows(sets):
    rng, n_rules = np.random.default_rng(11 + sets), 0
    for _ in range(tries(200, 20)):
        ensemble, domain, X, _ = random_cells(rng, sets)
        classes = ensemble.predict(X)
        tree = onetree.born_again(ensemble, domain=domain).tree
        y = rng.permutation(classes)
        of_tree = rules_of_tree(tree, ensemble, X, y, 5)
        of_model = rules_of_model(ensemble, domain, X, y, 5, 10, 10.0)
        assert [rule.n_rows for rule in of_tree] == sorted((rule.n_rows for rule in of_tree), reverse=True)
        for rule in [*of_tree, *of_model]:
            here = met(ensemble, rule.bounds, X)
            assert (classes[here] == rule.label).all()
            assert rule.n_rows == here.sum()
            assert rule.n_right == (y[here] == rule.label).sum()
            n_rules += 1
    assert n_rules > 20


def test_the_page_is_whole_and_leads_to_every_check(audited):
    outline = Outline(audited.html)
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)
    assert not outline.seen & {"script", "iframe", "img", "object", "form"}
    assert [link for link in outline.links if not link.startswith("#")] == ["data:,"]
    assert "http" not in audited.html.replace("http-equiv", "")
    words = " ".join(outline.words)
    for said in (
        "Flowers",
        "Proven",
        "Refuted",
        "the model itself confirms both decisions",
        "Signed",
        audited.fingerprint,
    ):
        assert said in words
    for number in range(1, len(audited.checks) + 1):
        assert f"check-{number}" in outline.ids


def test_names_and_labels_cannot_leave_their_place(flowers):
    X, y, _ = flowers
    evil = '<script>alert("1")</script>&amp;'
    frame = X.set_axis([evil, *X.columns[1:]], axis=1)
    model = RandomForestClassifier(3, max_depth=2, random_state=0).fit(frame, np.where(y == "setosa", evil, y))
    found = onetree.audit(model, frame, protected=[evil], title=evil, previous=model, path=None)
    outline = Outline(found.html)
    assert "script" not in outline.seen
    assert any(evil in words for words in outline.words)


def test_the_page_of_a_model_without_a_tree_has_rules_of_the_model(tmp_path):
    data = load_breast_cancer(as_frame=True)
    model = RandomForestClassifier(20, max_depth=5, random_state=0).fit(data.data, data.target)
    found = onetree.audit(model, data.data, path=tmp_path / "audit.html", max_rows=20, time_limit=1.0, reachable=[1])
    assert found.tree is None
    assert found.n_checked == 20
    assert found.rules
    page = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert page == found.html
    assert "proven for the model itself" in page
    assert "As one tree</dt><dd>none: " in page


def test_an_audit_in_a_domain_leaves_out_other_rows(flowers):
    X, _, (model, _) = flowers
    domain = {X.columns[2]: (0, 2.5)}
    found = onetree.audit(model, X, protected=[X.columns[3]], domain=domain, path=None)
    assert found.n_checked == (X[X.columns[2]] <= 2.5).sum()
    assert "Proofs hold for inputs of this domain" in found.html
    assert "every input that the model takes" in onetree.audit(model, X, domain=None, path=None).html


def test_an_audit_of_a_tree_and_with_a_tree(flowers):
    X, _, (model, _) = flowers
    tree = onetree.born_again(model).tree
    assert onetree.audit(tree, X, path=None).tree is tree
    assert onetree.audit(model, X, tree=tree, path=None).tree is tree
    other = onetree.born_again(flowers[2][1]).tree
    with pytest.raises(onetree.FidelityError, match="not equal"):
        onetree.audit(model, X, tree=other, path=None)


def test_features_of_a_group_are_checked_together():
    rng = np.random.default_rng(0)
    X = np.concatenate([np.eye(3)[rng.integers(0, 3, 200)], rng.random((200, 1))], axis=1)
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, (X[:, 0] > 0) ^ (X[:, 3] > 0.5))
    found = onetree.audit(model, X, protected=[0], domain={(0, 1, 2): "one-hot", 3: (0, 1)}, path=None)
    assert found.checks[0].about == "x0, x1, x2"
    assert found.checks[0].holds is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protected": ["height"]}, "not a feature"),
        ({"monotone": {0: "up"}}, "increasing"),
        ({"reachable": ["rose"]}, "not a class"),
        ({"y": [1, 2]}, "2 labels for 150 rows"),
        ({"time_limit": 0}, "must be positive"),
        ({"domain": {0: (100, 200)}}, "no row belongs"),
    ],
)
def test_what_cannot_be_audited_is_refused(flowers, options, message):
    X, _, (model, _) = flowers
    with pytest.raises(onetree.InvalidInputError, match=message):
        onetree.audit(model, X, path=None, **options)
    with pytest.raises(onetree.InvalidInputError, match="needs rows"):
        onetree.audit(model, X[:0], path=None)


def test_a_share_is_only_all_or_nothing_if_it_is():
    assert [percent(part, 100_000) for part in (0, 1, 99_999, 100_000)] == ["0 %", "0.1 %", "99.9 %", "100 %"]


def test_an_audit_reads_as_lines(audited):
    lines = str(audited).splitlines()
    assert lines[0] == "Flowers: 8 checks, 150 rows"
    assert re.match(r"  refuted: .* alone never changes the class; holds for \d+ of 150 rows", lines[1])
    assert lines[-1].startswith("  previous version: they differ")
