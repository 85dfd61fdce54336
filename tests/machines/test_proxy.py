"""Proxies of indefinite similarities: the saddle point, limits, and scikit-learn's contract."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import InputError, MemoryLimitError, ParameterError
from mercer.kernels import EditDistance, Gaussian, Precomputed, Sigmoid
from mercer.machines import SVC, ProxySVC

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}

KERNEL = Sigmoid(1.0, -0.5)


@parametrize_with_checks([ProxySVC()], expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(50) > 0, "up", "down")
    return X[:40], y[:40], X[40:]


# -- the saddle point -------------------------------------------------------------------------------
@pytest.mark.parametrize("rho", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_proxy_minimises_and_the_machine_maximises(data, rho, C, intercept):
    X, y, _ = data
    S = KERNEL.block(X)
    assert np.linalg.eigvalsh(S).min() < -0.1
    model = ProxySVC(KERNEL, C=C, rho=rho, fit_intercept=intercept).fit(X, y)
    K, beta = model.proxy(), model.beta_[0]
    # K: positive semidefinite, and the gradient there is a multiplier of that constraint
    gradient = 2 * rho * (K - S) - 0.5 * np.outer(beta, beta)
    size = np.abs(gradient).max()
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.abs(K).max()
    assert np.linalg.eigvalsh(gradient).min() > -1e-10 * size * len(K)
    assert abs((gradient * K).sum()) < 1e-9 * size * np.abs(K).sum()
    # beta: feasible, and the primal objective with that matrix is no larger than the dual one
    signs = np.where(y == "up", 1.0, -1.0)
    assert (signs * beta >= 0).all()
    assert np.abs(beta).max() <= C
    assert not intercept or abs(beta.sum()) < 1e-9 * np.abs(beta).sum()
    f, dual = K @ beta, signs @ beta - 0.5 * beta @ K @ beta
    kinks = signs - f if intercept else [0.0]
    primal = 0.5 * beta @ f + C * min(np.maximum(0, 1 - signs * (f + b)).sum() for b in kinks)
    assert primal - dual <= 2e-8 * primal
    loss = np.maximum(0, 1 - signs * (f + model.intercept_)).sum()
    assert 0.5 * beta @ f + C * loss == pytest.approx(primal, rel=1e-7)
    value = signs @ beta - 0.5 * beta @ f + rho * ((K - S) ** 2).sum()
    assert model.solutions_[0].stats["objective"] == pytest.approx(value, rel=1e-9)
    assert model.distance_[0] == pytest.approx(np.linalg.norm(K - S), rel=1e-9)
    assert model.gap_[0] <= 1e-8 * (signs @ beta)


def test_no_other_matrix_is_worse_for_the_machine(data):
    """Around the proxy, the best objective of the machine plus the price of the distance is larger."""
    X, y, _ = data
    S, rho = KERNEL.block(X), 0.5
    model = ProxySVC(KERNEL, rho=rho).fit(X, y)

    def value(K):
        machine = SVC(Precomputed(), tol=1e-9).fit(K, y)
        beta = np.zeros(len(y))
        beta[machine.support_] = machine.dual_coef_[0]
        return np.abs(beta).sum() - 0.5 * beta @ K @ beta + rho * ((K - S) ** 2).sum()

    K, rng = model.proxy(), np.random.default_rng(1)
    least = value(K)
    assert least == pytest.approx(model.solutions_[0].stats["objective"], rel=1e-7)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(5):
            V = rng.standard_normal((len(y), 3))
            assert value(K + size * V @ V.T) > least
            assert value((1 - size) * K) > least


# -- limits -----------------------------------------------------------------------------------------
def test_a_large_rho_clips(data):
    X, y, new = data
    proxy = ProxySVC(KERNEL, rho=1e9, C=3.0).fit(X, y)
    clipped = SVC(KERNEL, indefinite="clip", C=3.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(proxy.decision_function(new), clipped.decision_function(new), atol=1e-5)
    np.testing.assert_array_equal(proxy.predict(new), clipped.predict(new))


def test_a_large_rho_leaves_a_positive_definite_kernel_alone(data):
    X, y, new = data
    proxy, plain = ProxySVC(Gaussian(1.0), rho=1e9).fit(X, y), SVC(Gaussian(1.0), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(proxy.decision_function(new), plain.decision_function(new), atol=1e-5)


def test_new_points_are_projected(data):
    X, y, new = data
    model = ProxySVC(KERNEL, rho=0.2).fit(X, y)
    beta = model.beta_[0]
    values, U = np.linalg.eigh(KERNEL.block(X) + np.outer(beta, beta) / (4 * 0.2))
    P = U[:, values > 0] @ U[:, values > 0].T
    expected = KERNEL.block(new, X) @ P @ beta + model.intercept_
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-9)
    # on a training point, what is missing is its own share of the rank-one part
    own = beta * (beta @ P @ beta) / (4 * 0.2)
    np.testing.assert_allclose(model.decision_function(X) + own, model.proxy() @ beta + model.intercept_)


# -- weights and classes ----------------------------------------------------------------------------
def test_zero_weight_is_absence_and_integer_weight_is_repetition(data):
    X, y, new = data
    w = np.random.default_rng(2).integers(0, 4, len(y))
    index = np.repeat(np.arange(len(y)), w)
    weighted = ProxySVC(KERNEL, rho=0.3).fit(X, y, sample_weight=w)
    repeated = ProxySVC(KERNEL, rho=0.3).fit(X[index], y[index])
    np.testing.assert_allclose(weighted.decision_function(new), repeated.decision_function(new), atol=1e-5)
    first = np.unique(index, return_index=True)[1]
    np.testing.assert_allclose(weighted.proxy(), repeated.proxy()[np.ix_(first, first)], atol=1e-5)


def test_several_classes_have_a_proxy_each(data):
    X, _, new = data
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = ProxySVC(KERNEL).fit(X, y)
    assert model.decision_function(new).shape == (10, 3)
    one = ProxySVC(KERNEL).fit(X, y == "b")
    np.testing.assert_allclose(model.decision_function(new)[:, 1], one.decision_function(new), atol=1e-6)
    np.testing.assert_allclose(model.proxy("b"), one.proxy(), atol=1e-6)
    with pytest.raises(ParameterError, match="`label` must be one of the classes"):
        model.proxy()
    with pytest.raises(ParameterError, match="`label` must be one of"):
        model.proxy("d")
    assert model.score(X, y) > 0.8


def test_similarities_of_strings_and_precomputed_ones(data):
    words = ["abba", "abab", "baba", "bbaa", "aaaa", "bbbb", "aabb", "ab", "ba", "bab"]
    y = [w.startswith("a") for w in words]
    model = ProxySVC(-EditDistance(), C=100.0).fit(words, y)
    assert model.score(words, y) == 1.0
    X, y, new = data
    K, cross = KERNEL.block(X), KERNEL.block(new, X)
    direct = ProxySVC(KERNEL).fit(X, y).decision_function(new)
    np.testing.assert_allclose(ProxySVC(Precomputed()).fit(K, y).decision_function(cross), direct)


# -- errors -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["C", "rho", "tol", "max_iter"])
@pytest.mark.parametrize("value", [0, -1.0, "1", np.nan, True])
def test_parameters_out_of_range(data, name, value):
    with pytest.raises(ParameterError, match=f"ProxySVC: `{name}` must be"):
        ProxySVC(KERNEL, **{name: value}).fit(*data[:2])


def test_asymmetric_similarities_are_refused(data):
    K = np.triu(KERNEL.block(data[0]))
    with pytest.raises(InputError, match="symmetric"):
        ProxySVC(Precomputed()).fit(K, data[1])


def test_memory_is_asked_for(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "50MB")
    with pytest.raises(MemoryLimitError, match="7 matrices of 1000 x 1000"):
        ProxySVC(KERNEL).fit(np.random.default_rng(0).standard_normal((1000, 2)), np.arange(1000) % 2)


def test_a_limit_is_told(data):
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        ProxySVC(KERNEL, rho=1e-3, C=100.0, max_iter=1).fit(*data[:2])


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_similarities_of_any_scale(data, scale):
    """Similarities times c, with C over c and rho over c^3, have the same decisions."""
    X, y, new = data
    plain = ProxySVC(KERNEL, C=2.0, rho=0.5).fit(X, y).decision_function(new)
    scaled = ProxySVC(scale * KERNEL, C=2.0 / scale, rho=0.5 / scale**3).fit(X, y).decision_function(new)
    np.testing.assert_allclose(scaled, plain, atol=1e-5)
