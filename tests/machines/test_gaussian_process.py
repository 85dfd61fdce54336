"""Gaussian-process regression, against scikit-learn, the definition, and refitting."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as theirs
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Peer
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import DefinitenessError, InputError, MemoryLimitError, ParameterError
from mercer.kernels import (
    Gaussian,
    Linear,
    Matern,
    Min,
    Precomputed,
    SetIntersection,
    Sigmoid,
    Spectrum,
    WhiteNoise,
)
from mercer.machines import GaussianProcessRegressor, KernelRidge


@parametrize_with_checks([GaussianProcessRegressor(Gaussian("scale") + WhiteNoise(0.1), tune=None)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(40)


NEW = np.array([[0.0, 0.0], [1.0, -1.0], [4.0, 4.0], [0.5, 0.2]])

OURS = 1.5 * Gaussian([1.3, 0.7]) + 0.5 * Matern(1.5, 2.0) + WhiteNoise(0.1)
THEIRS = 1.5 * theirs.RBF([1.3, 0.7]) + 0.5 * theirs.Matern(2.0, nu=1.5) + theirs.WhiteKernel(0.1)

#: Where the parameters of ours are among those of theirs: (1.5, [1.3, 0.7], 0.5, 2.0, 0.1) for both.
NAMES = (
    "kernel__term0__factor",
    "kernel__term0__base__sigma[0]",
    "kernel__term0__base__sigma[1]",
    "kernel__term1__factor",
    "kernel__term1__base__sigma",
    "kernel__term2__level",
)


# -- against scikit-learn -----------------------------------------------------------------------
@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("targets", [1, 2])
def test_equals_scikit_learn_without_tuning(data, normalize_y, targets):
    X, y = data
    Y = y if targets == 1 else np.column_stack([y, 3 + 10 * np.cos(y)])
    alpha = np.linspace(0.01, 0.2, 40)
    options = {"alpha": alpha, "normalize_y": normalize_y}
    ours = GaussianProcessRegressor(OURS, tune=None, fit_intercept=False, **options).fit(X, Y)
    peer = Peer(THEIRS, optimizer=None, **options).fit(X, Y)
    mean, std = ours.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, peer.predict(NEW), rtol=1e-9)
    scale = np.std(Y, axis=0) if normalize_y else 1.0  # their deviations have the noise of the kernel in them
    np.testing.assert_allclose(
        np.sqrt(std**2 + 0.1 * scale**2), peer.predict(NEW, return_std=True)[1], rtol=1e-9
    )
    assert ours.theta_names_ == NAMES
    np.testing.assert_allclose(ours.theta_, peer.kernel_.theta, rtol=1e-12)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(
        peer.log_marginal_likelihood_value_, rel=1e-10
    )
    theta = ours.theta_ + 0.3
    value, slope = ours.log_marginal_likelihood(theta, eval_gradient=True)
    expected, expected_slope = peer.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-10)
    assert ours.log_marginal_likelihood(theta) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(slope, expected_slope, rtol=1e-7, atol=1e-9)


def test_covariances_and_noise_equal_scikit_learns(data):
    X, y = data
    ours = GaussianProcessRegressor(OURS, tune=None, fit_intercept=False, alpha=1e-10).fit(X, y)
    peer = Peer(THEIRS, optimizer=None).fit(X, y)
    _, covariance = ours.predict(NEW, return_cov=True, include_noise=True)
    np.testing.assert_allclose(covariance, peer.predict(NEW, return_cov=True)[1], rtol=1e-8, atol=1e-10)
    assert ours.noise_variance_ == pytest.approx(0.1)
    _, std = ours.predict(NEW, return_std=True, include_noise=True)
    np.testing.assert_allclose(std, np.sqrt(np.diagonal(covariance)), rtol=1e-9)


def test_tuning_reaches_the_evidence_of_scikit_learn(data):
    X, y = data
    kernel = 1.0 * Gaussian([1.0, 1.0]) + WhiteNoise(1.0)
    ours = GaussianProcessRegressor(kernel, fit_intercept=False).fit(X, y)
    peer = Peer(1.0 * theirs.RBF([1.0, 1.0]) + theirs.WhiteKernel(1.0)).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= peer.log_marginal_likelihood_value_ - 1e-4
    assert ours.tuning_.converged
    assert ours.n_iter_ == ours.tuning_.stats["evaluations"] > 1
    assert np.abs(ours.log_marginal_likelihood(eval_gradient=True)[1]).max() < 1e-2


def test_samples_have_the_moments_of_the_posterior(data):
    X, y = data
    ours = GaussianProcessRegressor(OURS, tune=None).fit(X, np.column_stack([y, -2 * y]))
    draws = ours.sample_y(NEW, n_samples=20000, random_state=1)
    mean, covariance = ours.predict(NEW, return_cov=True)
    assert draws.shape == (4, 2, 20000)
    np.testing.assert_allclose(draws.mean(axis=2), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws[:, 1]), covariance[..., 1], atol=0.05)
    assert GaussianProcessRegressor(OURS, tune=None).fit(X, y).sample_y(NEW, 3).shape == (4, 3)


# -- against the definition and refitting -------------------------------------------------------
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_mean_is_ridge_regression(data, fit_intercept):
    X, y = data
    ours = GaussianProcessRegressor(Gaussian(1.0), alpha=0.1, tune=None, fit_intercept=fit_intercept).fit(
        X, y + 5
    )
    ridge = KernelRidge(Gaussian(1.0), alpha=0.1, fit_intercept=fit_intercept).fit(X, y + 5)
    for a, b in zip(ours.predict(NEW, return_std=True), ridge.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_, ridge.dual_coef_, rtol=1e-8, atol=1e-12)
    assert ours.intercept_ == pytest.approx(ridge.intercept_, abs=1e-12)
    assert ours.log_marginal_likelihood() == pytest.approx(ridge.log_marginal_likelihood(), rel=1e-10)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_gradients_are_differences_of_values(data, fit_intercept):
    X, y = data
    model = GaussianProcessRegressor(OURS, tune=None, fit_intercept=fit_intercept).fit(X, np.c_[y, y**2])
    _, slope = model.log_marginal_likelihood(eval_gradient=True)
    step = 1e-5
    for i in range(len(slope)):
        move = step * np.eye(len(slope))[i]
        up, down = (model.log_marginal_likelihood(model.theta_ + s * move) for s in (1, -1))
        assert slope[i] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_leave_one_out_is_refitting(data, fit_intercept):
    X, y = data
    Y, alpha = np.column_stack([y, 7 + np.cos(y)]), np.linspace(0.01, 0.3, 40)
    options = {"tune": None, "fit_intercept": fit_intercept}
    model = GaussianProcessRegressor(OURS, alpha=alpha, **options).fit(X, Y)
    mean, std = model.leave_one_out()
    _, wide = model.leave_one_out(include_noise=True)
    np.testing.assert_allclose(wide**2 - std**2, np.c_[alpha, alpha] + 0.1, rtol=1e-9)
    for i in (0, 17, 39):
        rest = np.arange(40) != i
        other = GaussianProcessRegressor(OURS, alpha=alpha[rest], **options).fit(X[rest], Y[rest])
        expected, deviation = other.predict(X[[i]], return_std=True)
        np.testing.assert_allclose(mean[i], expected[0], rtol=1e-9)
        np.testing.assert_allclose(std[i], deviation[0], rtol=1e-8)


@pytest.mark.parametrize("normalize_y", [False, True])
def test_update_is_refitting(data, normalize_y):
    X, y = data
    y = y - y[:30].mean()
    y /= y[:30].std()  # so that normalisation by the first thirty changes nothing
    options = {"alpha": 0.05, "tune": None, "fit_intercept": True}
    model = GaussianProcessRegressor(OURS, normalize_y=normalize_y, **options).fit(X[:30], y[:30])
    for i in range(30, 40):
        assert model.update(X[i], y[i]) is model
    whole = GaussianProcessRegressor(OURS, **options).fit(X, y)
    for a, b in zip(model.predict(NEW, return_std=True), whole.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    assert model.log_marginal_likelihood() == pytest.approx(whole.log_marginal_likelihood(), rel=1e-10)
    assert len(model.dual_coef_) == 40


def test_update_of_strings_and_of_many_noises():
    words = ["abba", "baba", "cab", "bac", "abc"]
    options = {"tune": None}
    model = GaussianProcessRegressor(Spectrum(2).normalized(), alpha=[0.1, 0.2, 0.3, 0.4], **options)
    model.fit(words[:4], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ParameterError, match="`alpha` must be the variance of the noise of the new"):
        model.update(words[4], 5.0)
    model.update(words[4], 5.0, alpha=0.5)
    whole = GaussianProcessRegressor(
        Spectrum(2).normalized(), alpha=[0.1, 0.2, 0.3, 0.4, 0.5], **options
    ).fit(words, [1.0, 2.0, 3.0, 4.0, 5.0])
    np.testing.assert_allclose(model.predict(["abab"]), whole.predict(["abab"]), rtol=1e-9)
    with pytest.raises(InputError, match=r"update: `y` must be 1 finite number"):
        model.update("aa", [1.0, 2.0], alpha=0.1)


# -- noise --------------------------------------------------------------------------------------
def test_noise_is_independent_for_equal_points():
    X, y = np.repeat(np.linspace(0, 1, 5), 4)[:, None], np.random.default_rng(0).standard_normal(20)
    ours = GaussianProcessRegressor(Gaussian(1.0) + WhiteNoise(0.5), tune=None).fit(X, y)
    plain = GaussianProcessRegressor(Gaussian(1.0), alpha=0.5, tune=None).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), plain.predict(X), rtol=1e-9)
    assert ours.log_marginal_likelihood() == pytest.approx(plain.log_marginal_likelihood(), rel=1e-12)


def test_a_kernel_of_noise_alone_and_one_without_parameters():
    X, y = np.linspace(1, 2, 10)[:, None], np.ones(10)
    only = GaussianProcessRegressor(WhiteNoise(0.5), tune=None, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(only.predict(X), y, rtol=1e-9)
    np.testing.assert_allclose(only.predict(X + 3.0), 0.0)
    model = GaussianProcessRegressor(Min(), alpha=0.1).fit(X, y)
    assert model.theta_.shape == (0,)
    assert not hasattr(model, "tuning_")
    assert model.log_marginal_likelihood(np.zeros(0), eval_gradient=True)[1].shape == (0,)


def test_any_objects():
    sets = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "c"}, set(), {"b"}]
    model = GaussianProcessRegressor(1.0 * SetIntersection() + WhiteNoise(0.1)).fit(
        sets, [len(s) for s in sets]
    )
    mean, std = model.predict([{"a", "b", "c"}], return_std=True)
    assert abs(mean[0] - 3) < 0.2
    assert std[0] < 1


# -- bad input ----------------------------------------------------------------------------------
@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "loo", True, [0.1, -0.2, 0.1], None])
def test_alpha_out_of_range(alpha):
    with pytest.raises(ParameterError, match="`alpha`, the variance of the noise, must be a number"):
        GaussianProcessRegressor(alpha=alpha).fit(np.eye(3), np.arange(3))


def test_bad_arguments(data):
    X, y = data
    with pytest.raises(
        ParameterError, match=r"one for each of the 40 observations. Got an array of shape \(3"
    ):
        GaussianProcessRegressor(alpha=[0.1, 0.2, 0.3]).fit(X, y)
    with pytest.raises(ParameterError, match=r"`tune` must be 'evidence' or None. Got 'loo'"):
        GaussianProcessRegressor(tune="loo").fit(X, y)
    with pytest.raises(ParameterError, match="`n_restarts` must be an integer >= 0"):
        GaussianProcessRegressor(n_restarts=-1).fit(X, y)
    model = GaussianProcessRegressor(Gaussian(1.0), alpha=np.full(40, 0.1), tune=None).fit(X, y)
    with pytest.raises(ParameterError, match="`return_std` or for `return_cov`"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ParameterError, match="the noise of a new one is not known"):
        model.predict(X, return_std=True, include_noise=True)
    with pytest.raises(InputError, match=r"`theta` must be 1 logarithms, of kernel__sigma. Got shape \(2,\)"):
        model.log_marginal_likelihood([0.0, 1.0])
    for n_samples in (0, 2.5, True):
        with pytest.raises(ParameterError, match="`n_samples` must be an integer >= 1"):
            model.sample_y(X, n_samples)
    for target in ("one", [1.0, 2.0], np.nan):
        with pytest.raises(InputError, match=r"update: `y` must be 1 finite number\(s\)"):
            model.update(X[0], target, alpha=0.1)
    with pytest.raises(InputError, match="at least 2 points"):
        GaussianProcessRegressor(tune=None).fit(X[:1], y[:1]).leave_one_out()


def test_duplicates_without_noise_are_an_error_with_a_remedy():
    X = np.array([[0.0], [0.0], [1.0]])
    with pytest.raises(
        ParameterError, match=r"singular to working precision.*raise `alpha`, or add WhiteNoise"
    ):
        GaussianProcessRegressor(Gaussian(1.0), alpha=0.0, tune=None).fit(X, [1.0, 2.0, 3.0])
    model = GaussianProcessRegressor(Gaussian(1.0), alpha=0.0, tune=None).fit(X[1:], [2.0, 3.0])
    with pytest.raises(ParameterError, match="the 3 observations is singular"):
        model.update(X[0], 1.0)
    np.testing.assert_allclose(model.predict(X[1:]), [2.0, 3.0])  # as it was


def test_indefinite_kernels_are_refused(data):
    X, y = data
    with pytest.raises(DefinitenessError, match="positive definite"):
        GaussianProcessRegressor(Gaussian(1.0).distance()).fit(X, y)
    with pytest.raises(DefinitenessError, match=r"is not positive definite, and no covariance"):
        GaussianProcessRegressor(Sigmoid(1.0, 0.0), tune=None).fit(X, y)
    with pytest.raises((ParameterError, DefinitenessError), match="leading minor"):
        GaussianProcessRegressor(Linear() - 3 * Gaussian(1.0), tune=None).fit(X, y)


def test_constant_targets():
    X = np.linspace(0, 1, 20)[:, None]
    model = GaussianProcessRegressor(Gaussian(1.0) + WhiteNoise(0.1), normalize_y=True, tune=None)
    mean, std = model.fit(X, np.full(20, 3.0)).predict(X, return_std=True)
    np.testing.assert_allclose(mean, 3.0, rtol=1e-12)
    assert (std > 0).all()
    zero = GaussianProcessRegressor(1.0 * Gaussian(1.0) + WhiteNoise(0.1)).fit(X, np.zeros(20))
    assert "at the end of the range of" in zero.tuning_.status
    np.testing.assert_allclose(zero.predict(X), 0.0)


def test_flat_evidence_is_said():
    """Points that are all equal say nothing about a width."""
    X, y = np.ones((10, 2)), np.arange(10.0)
    kernel = 1.0 * Gaussian(1.0) + WhiteNoise(1.0)
    model = GaussianProcessRegressor(kernel, fit_intercept=False).fit(X, y)
    assert model.tuning_.stats["flat"] == ["kernel__term0__base__sigma"]
    assert "the criterion does not depend on kernel__term0__base__sigma" in model.tuning_.status
    assert model.kernel_.parameters["term0__base__sigma"].value == 1.0
    np.testing.assert_allclose(model.predict(X), 4.5, rtol=0.05)


@pytest.mark.parametrize("tune", [None, "evidence"])
@pytest.mark.parametrize("kernel", [1.0 * Gaussian(1.0), Matern(1.5, 1.0), 1.0 * Linear()], ids=str)
def test_duplicates_without_noise(kernel, tune):
    """On each way through: dense, on the line, and features that are fewer than points."""
    X = np.repeat(np.arange(1.0, 7.0), 2)[:, None]
    model = GaussianProcessRegressor(kernel, alpha=0.0, tune=tune)
    with pytest.raises(ParameterError, match=r"singular to working precision.*raise `alpha`"):
        model.fit(X, np.arange(12.0))
    noisy = GaussianProcessRegressor(kernel + WhiteNoise(0.1), alpha=0.0, tune=tune).fit(X, np.sin(X[:, 0]))
    assert np.isfinite(noisy.predict(X)).all()


def test_constant_targets_are_tuned_without_an_accident():
    X = np.linspace(0, 1, 20)[:, None]
    for options in ({}, {"normalize_y": True}, {"fit_intercept": False}):
        model = GaussianProcessRegressor(1.0 * Gaussian(1.0) + WhiteNoise(0.1), **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the likelihood has no maximum
            mean, std = model.fit(X, np.full(20, 3.0)).predict(X, return_std=True)
        np.testing.assert_allclose(mean, 3.0, rtol=1e-3)
        assert np.isfinite(std).all()


def test_precomputed_matrices(data):
    X, y = data
    K = Gaussian(1.0).block(X)
    ours = GaussianProcessRegressor(Precomputed(), alpha=0.1).fit(K, y)
    np.testing.assert_allclose(
        ours.predict(K),
        GaussianProcessRegressor(Gaussian(1.0), alpha=0.1, tune=None).fit(X, y).predict(X),
        rtol=1e-8,
    )
    with pytest.raises(InputError, match="values of new points"):
        ours.predict(K, return_std=True)


@pytest.mark.parametrize(("tune", "matrices"), [(None, 2), ("evidence", 4)])
def test_memory_is_stated_before_it_is_taken(data, tune, matrices, monkeypatch):
    X, y = np.tile(data[0], (10, 1)), np.tile(data[1], 10)
    model = GaussianProcessRegressor(Gaussian(1.0) + WhiteNoise(0.1), tune=tune, fit_intercept=True)
    needed = matrices * 8 * len(X) ** 2
    monkeypatch.setenv("MERCER_MEMORY", str(needed - 1))
    with pytest.raises(MemoryLimitError, match="of 400 "):
        model.fit(X, y)
    monkeypatch.setenv("MERCER_MEMORY", str(needed))
    assert model.fit(X, y).method_ == "Cholesky"


def test_pickles(data):
    X, y = data
    model = GaussianProcessRegressor(OURS, tune=None).fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    for a, b in zip(model.predict(NEW, return_std=True), other.predict(NEW, return_std=True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_solution_states_its_method_and_its_error(data):
    X, y = data
    model = GaussianProcessRegressor(OURS, tune=None).fit(X, y)
    assert model.method_ == "Cholesky"
    assert model.solution_.status.startswith("exact by Cholesky, for any kernel: O(n^3)")
    assert model.solution_.gap < 1e-13
    model._posterior.fit.coefficients[:] *= 1.001
    with pytest.warns(ConvergenceWarning, match="the equations of the coefficients hold to"):
        model._keep(model._posterior)


def test_one_width_for_columns_of_very_different_units_is_warned_of(data):
    X, y = data
    rng = np.random.default_rng(0)
    wide = np.column_stack([X[:, 0], 1e6 * rng.standard_normal(len(X))])
    with pytest.warns(UserWarning, match=r"standard deviations from .* one width for all.*StandardScaler"):
        GaussianProcessRegressor().fit(wide, y)
    GaussianProcessRegressor(1.0 * Gaussian(wide.std(axis=0)) + WhiteNoise(0.1)).fit(wide, y)
    GaussianProcessRegressor().fit(wide / wide.std(axis=0), y)
