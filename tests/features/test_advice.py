"""Advice on feature maps, against errors and effective dimensions by their definitions."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer import memory
from mercer.errors import DefinitenessError, InputError, MercerError, ParameterError
from mercer.features import Nystrom, advise
from mercer.kernels import ExponentialDot, Gaussian, Intersection, MinMax, NGram, Polynomial, Sigmoid
from mercer.machines import KernelRidge
from mercer.show import advice as draw

K = Gaussian(1.5)
X = np.random.default_rng(0).standard_normal((400, 2))


@pytest.fixture(scope="module")
def found():
    return advise(K, X)


def test_errors_and_effective_dimension_by_definition(found):
    order = np.random.default_rng(0).permutation(400)
    unseen, seen = X[np.sort(order[:200])], X[np.sort(order[200:])]
    exact = K.block(unseen)
    for trial in found.trials:
        F = clone(trial.map).fit(seen).transform(unseen)
        assert trial.dim == F.shape[1]
        np.testing.assert_allclose(
            trial.error, np.linalg.norm(exact - F @ F.T) / np.linalg.norm(exact), atol=1e-12
        )
        assert trial.nbytes == 8 * 400 * trial.dim
        assert trial.row_seconds > 0
    M = K.block(X)
    expected = np.trace(np.linalg.solve(M + np.eye(400), M))
    np.testing.assert_allclose(found.effective_dimension, expected, rtol=1e-6)  # the sample is all of them


def test_the_recommendation(found):
    assert {trial.name for trial in found.trials} == {"Nystrom", "RandomFourier"}
    assert isinstance(found.best, Nystrom)
    assert found.best is not found.best
    assert found.best.fit(X).dim == found.chosen.dim >= found.effective_dimension
    assert "<- take this" in str(found)
    assert "62" in repr(found)
    assert {"Explicit", "Homogeneous", "PositiveRandom", "TensorSketch", "Sampled"} == set(found.refused)
    again = advise(K, X)
    assert [t[1:3] for t in again.trials] == [t[1:3] for t in found.trials]
    assert advise(K, X, random_state=1).trials[0].error != found.trials[0].error


@pytest.mark.parametrize("labels", [False, True])
def test_the_error_of_targets(labels):
    value = np.sin(2 * X[:, 0])
    y = np.where(value > 0, "up", "down") if labels else value
    found = advise(K, X, y, alpha=0.5)
    order = np.random.default_rng(0).permutation(400)
    test, train = np.sort(order[:200]), np.sort(order[200:])
    Y = np.column_stack([y == "down", y == "up"]).astype(float) if labels else value[:, None]
    mean = Y[train].mean(axis=0)

    def error(F, G):  # by least squares with rows for the penalty, 0.5 of all points
        A = np.vstack([F, np.sqrt(0.25) * np.eye(F.shape[1])])
        B = np.vstack([Y[train] - mean, np.zeros((F.shape[1], Y.shape[1]))])
        left = Y[test] - mean - G @ np.linalg.lstsq(A, B, rcond=None)[0]
        return np.linalg.norm(left) / np.linalg.norm(Y[test] - mean)

    for trial in found.trials:
        map = clone(trial.map).fit(X[train])
        expected = error(map.transform(X[train]), map.transform(X[test]))
        np.testing.assert_allclose(trial.target_error, expected, rtol=1e-6)
    model = KernelRidge(K, alpha=0.25).fit(X[train], Y[train] - mean)
    expected = np.linalg.norm(Y[test] - mean - model.predict(X[test])) / np.linalg.norm(Y[test] - mean)
    np.testing.assert_allclose(found.target_error, expected, rtol=1e-6)
    assert "error of y" in str(found)
    with pytest.raises(InputError, match="`y` must have shape"):
        advise(K, X, y[:10])


def test_the_budget_and_the_tolerance():
    assert advise(K, X, budget=1e9).chosen.error < 0.01
    assert advise(K, X, tol=1e-15).chosen.error == min(t.error for t in advise(K, X).trials)
    most = 8 * 400 * 62
    assert advise(K, X, budget=str(most)).chosen.nbytes <= most
    for budget in ("1kB", 1e-12):
        with pytest.raises(ParameterError, match="`budget` must be larger"):
            advise(K, X, budget=budget)


@pytest.mark.parametrize(
    ("kernel", "points", "names"),
    [
        (NGram(2), ["banana", "bandana", "ananas", "cabana", "canna", "ban"], {"Explicit", "Nystrom"}),
        (Polynomial(2), X[:60], {"Explicit", "Nystrom", "TensorSketch"}),
        (ExponentialDot(2.0), X[:60], {"Nystrom", "PositiveRandom"}),
        (MinMax(), np.abs(X[:60]), {"Nystrom", "Sampled"}),
        (Intersection(), np.abs(X[:60]), {"Nystrom", "Homogeneous"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_maps_by_kernel(kernel, points, names):
    found = advise(kernel, points)
    assert names <= {trial.name for trial in found.trials}
    assert found.best.fit(points).target == kernel
    rows = [line.split() for line in str(found).splitlines()[1 : len(found.trials) + 2]]
    assert all(len(row) >= 5 for row in rows)  # columns do not run into each other


def test_data_dependent_parameters_are_those_of_all_points():
    assert advise(Gaussian("median"), X).kernel == Gaussian("median").resolve(X)


def test_what_to_do(monkeypatch):
    assert "can be held" in advise(K, X).solver
    monkeypatch.setattr(memory, "HELD_BYTES", 8 * 400 * 100)
    assert "`approximation`" in advise(K, X).solver


def test_the_picture(found):
    ax = draw(found)
    labels = [line.get_label() for line in ax.get_lines()]
    assert labels == ["Nystrom", "RandomFourier", "recommended"]
    np.testing.assert_allclose(
        ax.get_lines()[1].get_ydata(), [t.error for t in found.trials if t.name == labels[1]]
    )
    with pytest.raises(ParameterError, match="`found` must be the result"):
        draw(K)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "rbf"}, "`kernel` must be a kernel"),
        ({"budget": -1}, "`budget` must be a positive number of seconds"),
        ({"budget": "a lot"}, "advise: `budget` must be a positive number of seconds, or memory"),
        ({"alpha": 0}, "`alpha` must be a positive number"),
        ({"tol": "small"}, "`tol` must be a positive number"),
        ({"random_state": None}, "`random_state` must be an integer"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(MercerError, match=message):
        advise(**{"kernel": K, "X": X, **arguments})
    with pytest.raises(DefinitenessError, match="advise: `kernel` must be positive definite"):
        advise(Sigmoid(1.0, -1.0), X)
    with pytest.raises(InputError, match="at least 4 points"):
        advise(K, X[:3])


def test_exact_features_that_are_sparse_come_first():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(600)]
    found = advise(NGram(2), words)
    explicit = next(trial for trial in found.trials if trial.name == "Explicit")
    assert found.chosen is explicit
    assert explicit.dim > 200
    assert "train on them by themselves" in found.solver
