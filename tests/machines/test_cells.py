"""Cells: every point has the machine of its cell, and the cells are those of the nearest centres."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.domains import take
from mercer.errors import ParameterError
from mercer.kernels import Gaussian, Linear, NGram, Precomputed
from mercer.machines import SVC, Cells, KernelRidge

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (600, 2))
LABELS = np.where(np.sin(5 * X[:, 0]) > X[:, 1], "above", "below")


def test_each_cell_has_the_machine_of_its_points():
    model = Cells(SVC(Gaussian(0.4), C=5.0), max_size=100, random_state=0).fit(X, LABELS)
    cells = model.apply(X)
    np.testing.assert_array_equal(np.bincount(cells), model.cell_sizes_)
    assert model.cell_sizes_.max() <= 100
    Z = RNG.uniform(-1, 1, (200, 2))
    where, predicted = model.apply(Z), model.predict(Z)
    for cell in np.unique(where):
        inside, labels = X[cells == cell], LABELS[cells == cell]
        if len(np.unique(labels)) == 1:
            assert model.machines_[cell] is None
            expected = np.repeat(labels[:1], (where == cell).sum())
        else:
            expected = SVC(Gaussian(0.4), C=5.0).fit(inside, labels).predict(Z[where == cell])
        np.testing.assert_array_equal(predicted[where == cell], expected)
    assert model.score(X, LABELS) > 0.95


def test_points_go_to_the_nearest_centre_in_feature_space():
    model = Cells(KernelRidge(Linear(), alpha=1.0), max_size=250, random_state=1).fit(X, X[:, 0])
    centres = np.asarray(model._root.centres)
    squared = ((X[:, None] - centres) ** 2).sum(axis=2)
    nearest = squared.argmin(axis=1)
    for c, child in enumerate(model._root.children):
        if isinstance(child, int):
            np.testing.assert_array_equal(model.apply(X[nearest == c]), child)


def test_one_cell_is_the_machine_itself():
    y = np.cos(3 * X[:, 0])
    weight = RNG.uniform(0.5, 2.0, len(X))
    alone = KernelRidge(Gaussian("scale"), alpha=0.1).fit(X, y, weight)
    model = Cells(KernelRidge(Gaussian("scale"), alpha=0.1), max_size=1000).fit(X, y, weight)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=0, atol=1e-12)
    assert model.kernel_ == alone.kernel_


@pytest.mark.parametrize(
    "machine", [SVC(Gaussian("scale"), C=5.0), KernelRidge(Gaussian("median"), alpha=0.1)]
)
def test_points_without_weight_are_as_if_absent(machine):
    weight = RNG.integers(0, 3, len(X)).astype(float)
    weight[LABELS == "below"] *= X[LABELS == "below", 0] > 0  # cells of one label, once these are gone
    y = LABELS if isinstance(machine, SVC) else np.cos(3 * X[:, 0])
    kept = weight > 0
    all_points = Cells(machine, max_size=60, random_state=0).fit(X, y, weight)
    without = Cells(machine, max_size=60, random_state=0).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(all_points.cell_sizes_, without.cell_sizes_)
    assert all_points.cell_sizes_.sum() == kept.sum()
    assert all_points.kernel_ == without.kernel_
    np.testing.assert_array_equal(all_points.apply(X), without.apply(X))
    np.testing.assert_array_equal(all_points.predict(X), without.predict(X))


def test_strings_equal_points_and_grids():
    words = ["".join(RNG.choice(list("abc"), RNG.integers(3, 8))) for _ in range(150)]
    y = np.array(["ab" in word for word in words])
    model = Cells(SVC(NGram(2)), max_size=40, random_state=0).fit(words, y)
    assert model.score(words, y) > 0.95
    np.testing.assert_array_equal(model.predict(take(words, np.arange(5))), model.predict(words)[:5])
    same = Cells(KernelRidge(Gaussian(1.0)), max_size=10).fit(np.zeros((30, 1)), np.arange(30.0))
    assert same.cell_sizes_.tolist() == [30]
    search = GridSearchCV(
        Cells(SVC(Gaussian(0.1)), max_size=100, random_state=0), {"machine__kernel__sigma": [0.01, 0.4]}, cv=2
    )
    assert search.fit(X, LABELS).best_params_ == {"machine__kernel__sigma": 0.4}


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match="`machine` must be a classifier or regressor"):
        Cells(3).fit(X, LABELS)
    with pytest.raises(ParameterError, match="`max_size` must be an integer >= 2"):
        Cells(SVC(), max_size=1).fit(X, LABELS)
    with pytest.raises(ParameterError, match="precomputed"):
        Cells(SVC(Precomputed())).fit(np.eye(3), [0, 1, 0])


@parametrize_with_checks(
    [Cells(KernelRidge(Gaussian(1.0)), random_state=0), Cells(SVC(Gaussian(1.0)), random_state=0)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
