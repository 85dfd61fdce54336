"""Gaussian-process classification, against scikit-learn, finite differences, refitting and quadrature."""

import pickle

import mpmath
import numpy as np
import pytest
import sklearn.gaussian_process.kernels as theirs
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as Peer
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Matern, Min, Precomputed, Spectrum, WhiteNoise
from mercer.machines import GaussianProcessClassifier, KernelLogistic
from mercer.machines.gaussian_process.classification import coupled
from mercer.solvers import expected_logistic


@parametrize_with_checks([GaussianProcessClassifier(2.0 * Gaussian("scale"), tune=None)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    score = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(60)
    return X, score > 0, np.digitize(score, [-0.7, 0.5])


NEW = np.array([[0.0, 0.0], [1.0, -1.0], [4.0, 4.0], [0.5, 0.2]])

OURS = 2.5 * Gaussian([1.3, 0.7]) + 0.5 * Matern(1.5, 2.0)
THEIRS = 2.5 * theirs.RBF([1.3, 0.7]) + 0.5 * theirs.Matern(2.0, nu=1.5)


# -- against scikit-learn -----------------------------------------------------------------------
def test_two_classes_equal_scikit_learn(data):
    X, y, _ = data
    ours = GaussianProcessClassifier(OURS, tune=None).fit(X, y)
    peer = Peer(THEIRS, optimizer=None, max_iter_predict=1000).fit(X, y)
    for a, b in zip(ours.latent_mean_and_variance(NEW), peer.latent_mean_and_variance(NEW), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    # their integral over the logistic function is approximate
    np.testing.assert_allclose(ours.predict_proba(NEW), peer.predict_proba(NEW), atol=2e-4)
    np.testing.assert_allclose(ours.theta_, peer.kernel_.theta, rtol=1e-12)
    for theta in (ours.theta_, ours.theta_ + 0.3):
        value, slope = ours.log_marginal_likelihood(theta, eval_gradient=True)
        expected, expected_slope = peer.log_marginal_likelihood(theta, eval_gradient=True)
        assert value == pytest.approx(expected, rel=1e-7)
        assert ours.log_marginal_likelihood(theta) == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(slope, expected_slope, rtol=1e-4, atol=1e-5)  # their mode is less exact
    assert ours.log_marginal_likelihood() == ours.log_marginal_likelihood_value_


def test_three_classes_equal_scikit_learn(data):
    X, _, y = data
    ours = GaussianProcessClassifier(OURS, tune=None).fit(X, y)
    peer = Peer(THEIRS, optimizer=None, max_iter_predict=1000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(NEW), peer.predict_proba(NEW), atol=2e-4)
    assert ours.log_marginal_likelihood() == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-7)
    assert ours.latent_mean_and_variance(NEW)[1].shape == (4, 3)
    np.testing.assert_array_equal(ours.predict(X), ours.classes_[ours.predict_proba(X).argmax(axis=1)])


def test_tuning_reaches_the_evidence_of_scikit_learn(data):
    X, y, _ = data
    ours = GaussianProcessClassifier(1.0 * Gaussian([1.0, 1.0])).fit(X, y)
    peer = Peer(1.0 * theirs.RBF([1.0, 1.0]), max_iter_predict=1000).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= peer.log_marginal_likelihood_value_ - 1e-4
    assert ours.tuning_.converged
    assert ours.n_iter_ == ours.tuning_.stats["evaluations"] > 1


# -- against the definition ---------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
def test_gradients_are_differences_of_values(data, classes):
    X, y = data[0], data[classes - 1]
    model = GaussianProcessClassifier(OURS + 0.2 * WhiteNoise(0.5), tune=None).fit(X, y)
    _, slope = model.log_marginal_likelihood(eval_gradient=True)
    step = 1e-4
    for i in range(len(slope)):
        move = step * np.eye(len(slope))[i]
        up, down = (model.log_marginal_likelihood(model.theta_ + s * move) for s in (1, -1))
        assert slope[i] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-7)


def test_the_mode_is_logistic_regression(data):
    X, y, _ = data
    ours = GaussianProcessClassifier(OURS, tune=None).fit(X, y)
    logistic = KernelLogistic(OURS, alpha=1.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_, logistic.dual_coef_, rtol=1e-6, atol=1e-8)
    assert ours.solution_.converged
    assert ours.solution_.gap < 1e-16


def test_the_evidence_is_that_of_the_definition(data):
    """By the determinant of the whole Hessian of the log posterior."""
    X, y, _ = data
    model = GaussianProcessClassifier(OURS, tune=None).fit(X, y)
    K, s = OURS.block(X), np.where(y, 1.0, -1.0)
    f = K @ model.dual_coef_[0]
    p = 1 / (1 + np.exp(-f))
    hessian = np.linalg.inv(K) + np.diag(p * (1 - p))
    expected = (
        -np.logaddexp(0, -s * f).sum()
        - 0.5 * f @ np.linalg.solve(K, f)
        - 0.5 * (np.linalg.slogdet(K)[1] + np.linalg.slogdet(hessian)[1])
    )
    assert model.log_marginal_likelihood() == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("variance", [1e-12, 0.1, 0.99, 1.01, 9.0, 100.0, 1e4])
@pytest.mark.parametrize("mean", [0.0, 0.3, -5.0, 30.0])
def test_expected_logistic(mean, variance):
    with mpmath.workdps(25):
        s = mpmath.sqrt(variance)
        bends = [float((d - mean) / s) for d in (-40, -10, 0, 10, 40)]
        nodes = sorted({-14.0, 14.0, *range(-12, 13, 3), *(b for b in bends if abs(b) < 14)})
        density = 1 / mpmath.sqrt(2 * mpmath.pi)
        expected = mpmath.quad(
            lambda t: density * mpmath.exp(-t * t / 2) / (1 + mpmath.exp(-mean - s * t)), nodes
        )
    found = expected_logistic(np.array([mean]), np.array([variance]))[0]
    assert found == pytest.approx(float(expected), abs=5e-14)


@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_out_is_refitting_to_first_order(data, classes):
    X, y = data[0], data[classes - 1]
    model = GaussianProcessClassifier(OURS, tune=None).fit(X, y)
    found, fitted = model.leave_one_out(), model.predict_proba(X)
    assert found.shape == (60, classes)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    errors, influences = [], []
    for i in range(0, 60, 6):
        rest = np.arange(60) != i
        other = GaussianProcessClassifier(OURS, tune=None).fit(X[rest], y[rest])
        expected = other.predict_proba(X[[i]])[0]
        errors.append(np.abs(found[i] - expected).max())
        influences.append(np.abs(fitted[i] - expected).max())
    assert max(errors) < 0.1 * max(influences)


# -- pairs of classes ---------------------------------------------------------------------------
def test_pairs_are_machines_of_their_own(data):
    X, _, y = data
    ours = GaussianProcessClassifier(OURS, tune=None, multiclass="ovo").fit(X, y)
    mean, variance = ours.latent_mean_and_variance(NEW)
    evidence = []
    for c, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        some = (y == i) | (y == j)
        single = GaussianProcessClassifier(OURS, tune=None).fit(X[some], y[some] == i)
        for a, b in zip((mean, variance), single.latent_mean_and_variance(NEW), strict=True):
            np.testing.assert_allclose(a[:, c], b, rtol=1e-8)
        evidence.append(single.log_marginal_likelihood())
    assert ours.log_marginal_likelihood() == pytest.approx(np.mean(evidence), rel=1e-10)
    _, slope = ours.log_marginal_likelihood(eval_gradient=True)
    move = 1e-4 * np.eye(len(slope))[1]
    up, down = (ours.log_marginal_likelihood(ours.theta_ + s * move) for s in (1, -1))
    assert slope[1] == pytest.approx((up - down) / 2e-4, rel=1e-5)
    peer = Peer(THEIRS, optimizer=None, multi_class="one_vs_one", max_iter_predict=1000).fit(X, y)
    assert ours.log_marginal_likelihood() == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-7)
    assert np.mean(ours.predict(X) == peer.predict(X)) > 0.95  # they count votes
    other = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(ours.predict_proba(NEW), other.predict_proba(NEW))
    with pytest.raises(InputError, match="Use multiclass='ovr'"):
        ours.leave_one_out()


def test_coupling_is_exact_where_pairs_agree():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 5)
    pairs = np.column_stack([p[:, i] / (p[:, i] + p[:, j]) for i in range(4) for j in range(i + 1, 4)])
    np.testing.assert_allclose(coupled(pairs, 4), p, rtol=1e-12)


# -- other data ---------------------------------------------------------------------------------
def test_strings_and_explanations():
    words = ["abba", "baba", "abab", "bab", "ccd", "dcd", "cdd", "dccd"]
    labels = ["ab"] * 4 + ["cd"] * 4
    model = GaussianProcessClassifier(4.0 * Spectrum(2).normalized()).fit(words, labels)
    assert model.predict(["ababab", "cdcd"]).tolist() == ["ab", "cd"]
    explanation = model.explain("ab")
    assert explanation.prediction == "ab"
    np.testing.assert_allclose(model.predict_proba(["zz"]), 0.5)
    three = [*labels[:4], "c", "c", "d", "d"]
    pairs = GaussianProcessClassifier(4.0 * Spectrum(2).normalized(), tune=None, multiclass="ovo")
    assert pairs.fit(words, three).explain("abab").prediction == "ab"


def test_precomputed_matrices(data):
    X, y, z = data
    K = OURS.block(X)
    model = GaussianProcessClassifier(Precomputed()).fit(K, y)
    np.testing.assert_array_equal(
        model.predict(K), GaussianProcessClassifier(OURS, tune=None).fit(X, y).predict(X)
    )
    with pytest.raises(InputError, match="values of new points with themselves"):
        model.predict_proba(K)
    with pytest.raises(InputError, match="values of new points with themselves"):
        GaussianProcessClassifier(Precomputed()).fit(K, z).predict(K)


def test_pickles(data):
    X, y, _ = data
    model = GaussianProcessClassifier(OURS, tune=None).fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict_proba(NEW), other.predict_proba(NEW))


# -- bad input ----------------------------------------------------------------------------------
def test_bad_arguments(data):
    X, y, _ = data
    with pytest.raises(ParameterError, match=r"`tune` must be 'evidence' or None. Got 'loo'"):
        GaussianProcessClassifier(tune="loo").fit(X, y)
    with pytest.raises(ParameterError, match="`n_restarts` must be an integer >= 0"):
        GaussianProcessClassifier(n_restarts=1.5).fit(X, y)
    with pytest.raises(ParameterError, match=r"`multiclass` must be 'ovr' or 'ovo'\. Got 'all'"):
        GaussianProcessClassifier(multiclass="all").fit(X, y)
    with pytest.raises(ParameterError, match="`max_iter` must be an integer >= 1"):
        GaussianProcessClassifier(max_iter=0).fit(X, y)
    with pytest.raises(InputError, match=r"at least two classes\. Got one class only"):
        GaussianProcessClassifier().fit(X, np.ones(60))
    with pytest.raises(InputError, match=r"`theta` must be 1 logarithms, of kernel__sigma. Got shape \(2,\)"):
        GaussianProcessClassifier(Gaussian(1.0), tune=None).fit(X, y).log_marginal_likelihood([0.0, 1.0])
    with pytest.raises(DefinitenessError, match="positive definite"):
        GaussianProcessClassifier(Gaussian(1.0).distance()).fit(X, y)
    with pytest.raises(DefinitenessError, match="not positive definite on these data"):
        GaussianProcessClassifier(Linear() - 30 * Gaussian(1.0), tune=None).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="the mode: stopped after max_iter=1 Newton steps"):
        GaussianProcessClassifier(100.0 * Gaussian(1.0), tune=None, max_iter=1).fit(X, y)


def test_a_kernel_without_parameters():
    X = np.linspace(0.1, 2, 12)[:, None]
    model = GaussianProcessClassifier(Min()).fit(X, X[:, 0] > 1)
    assert model.theta_.shape == (0,)
    assert not hasattr(model, "tuning_")
    assert model.log_marginal_likelihood(np.zeros(0), eval_gradient=True)[1].shape == (0,)


def test_labels_that_tell_nothing(data):
    """Equal points of both classes: the most likely signal has no variance, and all are at a half."""
    X = np.repeat(data[0][:15], 2, axis=0)
    y = np.tile([0, 1], 15)
    model = GaussianProcessClassifier(1.0 * Gaussian(1.0)).fit(X, y)
    assert model.kernel_.factor < 1e-4  # the start is 1, and nothing warns of the little that is left
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=1e-6)
