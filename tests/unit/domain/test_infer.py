"""Domains that are made from data, or around an input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from onetree import InvalidInputError, born_again, domain_around, domain_of
from onetree.domain.values import Values
from tests.unit.domain.test_domain import stumps


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def forest(iris):
    return RandomForestClassifier(10, max_depth=3, random_state=0).fit(*iris)


def test_the_domain_of_data_is_what_the_columns_show():
    n = np.arange(40)
    rows = np.column_stack([n % 2, n, n / 8, np.where(n % 3, n % 4, np.nan), np.full(40, 7.5), np.full(40, np.nan)])
    domain = domain_of(rows)
    assert domain.to_dict() == {
        0: "0,1",
        1: "integer 0:39",
        2: "0:4.875",
        3: "0,1,2,3 or missing",
        4: "7.5",
        5: "missing",
    }
    assert domain.contains(rows).all()
    assert domain.origin == "inferred from 40 rows"


def test_few_rows_do_not_make_a_finite_set():
    assert domain_of([[0.5], [1.5], [2.5]]).to_dict() == {0: "0.5:2.5"}
    assert domain_of(np.arange(30)[:, np.newaxis] % 3, max_choices=2).to_dict() == {0: "integer 0:2"}


def test_that_a_domain_was_inferred_is_said_in_the_tree(forest, iris):
    tree = born_again(forest, domain=domain_of(iris[0])).tree
    assert tree.domain.origin == "inferred from 150 rows"
    assert "inferred from 150 rows" in tree.to_text()
    assert (tree.predict(iris[0]) == forest.predict(iris[0])).all()


@pytest.mark.parametrize("rows", [np.empty((0, 2)), [1.0, 2.0], [["a"]]])
def test_data_without_a_domain_are_refused(rows):
    with pytest.raises(InvalidInputError):
        domain_of(rows)


def test_the_neighbourhood_of_an_input_has_a_radius_for_each_feature():
    domain = domain_around([1.0, 2.0, 3.0, math.nan], [0.5, 0.0, math.inf, 1.0])
    assert domain.to_dict() == {0: "0.5:1.5", 1: "2", 2: ":", 3: "missing"}


def test_the_neighbourhood_of_an_input_in_cells_ends_at_thresholds():
    ensemble = stumps([1.0, 2.0, 3.0, 4.0])
    just_above = np.nextafter(1.0, 2.0)
    assert domain_around([2.5, 0], source=ensemble, cells=0).values[0] == Values(float(np.nextafter(2.0, 3.0)), 3.0)
    assert domain_around([2.0, 0], source=ensemble, cells=0).values[0] == Values(float(just_above), 2.0)
    assert domain_around([2.5, 0], source=ensemble, cells=1).values[0] == Values(float(just_above), 4.0)
    assert domain_around([2.5, 0], source=ensemble, cells=2).values[0] == Values()


def test_the_cell_of_an_input_has_its_class_alone(forest, iris):
    for x in iris[0][::30]:
        tree = born_again(forest, domain=domain_around(x, source=forest, cells=0)).tree
        assert tree.n_leaves == 1
        assert tree.predict([x]) == forest.predict([x])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"radius": -1},
        {"radius": math.nan},
        {"radius": [1, 2, 3]},
        {"radius": "wide"},
        {"cells": 1},
        {"source": stumps([1.0])},
        {"radius": 1, "source": stumps([1.0]), "cells": 1},
        {"source": stumps([1.0]), "cells": -1},
        {"source": stumps([1.0]), "cells": 0.5},
        {"source": stumps([1.0], names=("age",), nan=(False,)), "cells": 1},
    ],
)
def test_a_neighbourhood_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(InvalidInputError):
        domain_around([1.0, 2.0], **arguments)
