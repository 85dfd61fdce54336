"""Supervised dimension reduction against its definition, its special cases and scikit-learn's contract."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection, Sigmoid
from mercer.machines import (
    IndefiniteKernelWarning,
    KernelDiscriminant,
    KernelRidge,
    SupervisedReduction,
    hsic,
)

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks([SupervisedReduction()], expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@mercer.kernel(assume="PSD", reason="an indicator of equality is an inner product of indicators")
def same(x, y):
    return float(x == y)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 3))
    return X, np.column_stack([X[:, 0] ** 2, X[:, 1]]) + 0.1 * rng.standard_normal((25, 2))


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def parallel(a, b, tol):
    assert abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b) == pytest.approx(1.0, abs=tol)


def test_solves_the_generalised_eigenproblem_of_the_definition(data):
    X, Y = data
    kx, ky, lam = Gaussian(1.5), Gaussian(0.8), 0.4
    model = SupervisedReduction(kx, kernel_y=ky, n_components=3, alpha=lam).fit(X, Y)
    K, L = centred(kx.block(X)), centred(ky.block(Y))
    values, U = scipy.linalg.eigh(K)
    span = U[:, values > 1e-10]
    largest = scipy.linalg.eigvalsh(span.T @ K @ L @ K @ span, span.T @ (K @ K + lam * K) @ span)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, largest[:3], rtol=1e-6)
    a, f = model.dual_coef_, model.transform(X)
    np.testing.assert_allclose(f, K @ a, atol=1e-9)
    np.testing.assert_allclose((f.T @ f + lam * a.T @ K @ a) / 25, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(np.diag(f.T @ L @ f) / 25, model.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(model.explained_ratio_, model.eigenvalues_ / np.trace(L), rtol=1e-9)
    assert model.explained_ratio_.sum() < 1


def test_the_criterion_is_a_sum_of_squared_covariances(data):
    """With a linear kernel on Y the basis of its functions is the coordinates."""
    X, Y = data
    model = SupervisedReduction(Gaussian(1.0), kernel_y=Linear(), n_components=1, alpha=0.3).fit(X, Y)
    f = model.transform(X)[:, 0]
    covariances = np.array([np.mean((f - f.mean()) * (y - y.mean())) for y in Y.T])
    assert 25 * (covariances**2).sum() == pytest.approx(model.eigenvalues_[0], rel=1e-8)


def test_one_linear_target_is_ridge_regression(data):
    X, Y = data
    model = SupervisedReduction(Gaussian(1.0), kernel_y=Linear(), n_components=1, alpha=0.3).fit(X, Y[:, 0])
    ridge = KernelRidge(Gaussian(1.0), alpha=0.3, fit_intercept=True).fit(X, Y[:, 0])
    parallel(model.dual_coef_[:, 0], ridge.dual_coef_, 1e-9)


def test_two_classes_are_the_kernel_discriminant(data):
    X, Y = data
    labels = np.where(Y[:, 1] > 0, "up", "down")
    model = SupervisedReduction(Gaussian(1.0), kernel_y=same, alpha=0.3).fit(X, list(labels))
    discriminant = KernelDiscriminant(Gaussian(1.0), alpha=0.3).fit(X, labels)
    assert model.dual_coef_.shape == (25, 1)
    parallel(model.dual_coef_[:, 0], discriminant.dual_coef_[:, 0], 1e-9)


def test_all_directions_together_keep_the_dependence():
    """Without penalty and with all functions, nothing of Y that X can tell is lost."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 2))
    Y = X @ rng.standard_normal((2, 2))
    model = SupervisedReduction(Linear(), kernel_y=Linear(), n_components=2, alpha=0.0).fit(X, Y)
    assert model.explained_ratio_.sum() == pytest.approx(1.0, rel=1e-10)


def test_directions_without_influence_are_dropped():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 4))
    y = np.sin(1.5 * X[:, 0]) + 0.05 * rng.standard_normal(300)
    model = SupervisedReduction(Gaussian(2.0), kernel_y=Gaussian("median"), n_components=1, alpha=0.1)
    model.fit(X[:200], y[:200])
    f = model.transform(X[200:])
    assert abs(np.corrcoef(f[:, 0], y[200:])[0, 1]) > 0.9
    whole = hsic(Gaussian("median"), Gaussian("median"), X[200:], y[200:, None])
    assert hsic(Gaussian("median"), Gaussian("median"), f, y[200:, None]) > 3 * whole


def test_a_share_chooses_the_number(data):
    X, Y = data
    every = (
        SupervisedReduction(Gaussian(1.0), kernel_y=Gaussian(1.0), n_components=0.999999)
        .fit(X, Y)
        .eigenvalues_
    )
    for share in (0.3, 0.9):
        model = SupervisedReduction(Gaussian(1.0), kernel_y=Gaussian(1.0), n_components=share).fit(X, Y)
        p = len(model.eigenvalues_)
        assert every[:p].sum() >= share * every.sum() * (1 - 1e-5)
        assert every[: p - 1].sum() < share * every.sum()
    assert model.get_feature_names_out()[0] == "supervisedreduction0"


def test_zero_weight_is_absence_and_integer_weight_is_repetition(data):
    X, Y = data
    w = np.random.default_rng(3).integers(0, 4, 25).astype(float)
    index = np.repeat(np.arange(25), w.astype(int))
    machine = SupervisedReduction(Gaussian("median"), kernel_y=Gaussian("median"), n_components=3, alpha=0.2)
    weighted = machine.fit(X, Y, sample_weight=w).transform(X)
    np.testing.assert_allclose(weighted, machine.fit(X[index], Y[index]).transform(X), atol=1e-7)


def test_any_domains(data):
    X = data[0]
    sets = [set(np.flatnonzero(row > 0).tolist()) for row in X]
    model = SupervisedReduction(SetIntersection(), kernel_y=SetIntersection(), n_components=1).fit(
        sets, sets[::-1]
    )
    K = SetIntersection().block(sets)
    given = SupervisedReduction(Precomputed(), kernel_y=Precomputed(), n_components=1).fit(K, K[::-1, ::-1])
    np.testing.assert_allclose(given.transform(K), model.transform(sets), atol=1e-9)


def test_signs_do_not_depend_on_the_order_of_the_rows(data):
    X, Y = data
    order = np.random.default_rng(4).permutation(25)
    machine = SupervisedReduction(Gaussian(1.0), kernel_y=Gaussian(1.0), n_components=2)
    one = machine.fit(X, Y).transform(X)
    np.testing.assert_allclose(machine.fit(X[order], Y[order]).transform(X), one, atol=1e-8)


def test_hard_data_are_named(data):
    X, Y = data
    with pytest.raises(InputError, match="must vary together"):
        SupervisedReduction().fit(X, np.ones(25))
    with pytest.raises(InputError, match="must vary together"):
        SupervisedReduction().fit(np.ones((25, 2)), Y)
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        SupervisedReduction().fit(X, Y[:-1])
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        SupervisedReduction(Gaussian(1.0), kernel_y=same).fit(X, ["a"] * 24)
    with pytest.raises(InputError, match=r"`y` must hold finite numbers .* as `kernel_y`"):
        SupervisedReduction().fit(X, ["a"] * 25)
    with pytest.raises(InputError, match=r"`y` must hold finite numbers .*NaN"):
        SupervisedReduction().fit(X, np.full(25, np.nan))
    with pytest.raises(InputError, match="minimum of 2"):
        SupervisedReduction().fit(X, Y, sample_weight=np.eye(25)[0])
    with pytest.raises(InputError, match="target y is None"):
        SupervisedReduction().fit(X, None)
    with (
        pytest.warns(IndefiniteKernelWarning),
        pytest.raises(DefinitenessError, match="not positive definite on these data"),
    ):
        SupervisedReduction(Sigmoid(1.0, -1.0)).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "`n_components` must be an integer >= 1"),
        ({"n_components": 1.0}, "`n_components` must be an integer >= 1 or a share between 0 and 1"),
        ({"n_components": "all"}, "`n_components` must be"),
        ({"n_components": 30}, "`n_components` must be at most"),
        ({"alpha": -1}, "`alpha` must be a finite number >= 0"),
        ({"kernel_y": "gauss"}, "`kernel_y` must be a mercer Kernel"),
    ],
)
def test_bad_parameters_are_named(data, parameters, message):
    with pytest.raises(ParameterError, match=message):
        SupervisedReduction(**parameters).fit(*data)
