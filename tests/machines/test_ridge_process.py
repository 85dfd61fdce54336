"""Kernel ridge regression as a Gaussian process, and the choice of its hyper-parameters."""

import pickle

import numpy as np
import pytest
import scipy.optimize
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import parameter
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection, Sigmoid
from mercer.machines import KernelRidge
from mercer.machines.tuning import Hyperparameters

ROWS = (
    "leave-one-out counts rows: a copy of a row tells about the other, a row of weight two is left out whole"
)

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.
EXPECTED_FAILED_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": ROWS,
    "check_sample_weight_equivalence_on_sparse_data": ROWS,
}


@parametrize_with_checks(
    [KernelRidge(alpha="loo", fit_intercept=True)], expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(40), rng.uniform(0.3, 2.5, 40)


NEW = np.array([[0.0, 0.0], [1.0, -1.0], [4.0, 4.0], [0.5, 0.2]])


# -- the penalty ----------------------------------------------------------------------------------
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_leave_one_out_is_refitting(data, fit_intercept):
    X, y, w = data
    w[7] = 0.0
    Y = np.column_stack([y, np.cos(y)])
    kept = np.flatnonzero(w)
    machine = KernelRidge(Gaussian(1.1), alpha=[0.05, 2.0], fit_intercept=fit_intercept)
    residuals = machine.fit(X, Y, w).loo_residuals()
    for row, i in enumerate(kept):
        others = w.copy()
        others[i] = 0.0
        refitted = KernelRidge(Gaussian(1.1), alpha=[0.05, 2.0], fit_intercept=fit_intercept).fit(
            X, Y, others
        )
        np.testing.assert_allclose(residuals[row], Y[i] - refitted.predict(X[[i]])[0], rtol=1e-9)


@pytest.mark.parametrize("rule", ["loo", "gcv"])
def test_the_path_chooses_the_least_error(data, rule):
    X, y, w = data
    Y = np.column_stack([y, np.random.default_rng(1).standard_normal(40)])  # signal and noise
    common = KernelRidge(Gaussian(1.0), alpha=rule, fit_intercept=True).fit(X, Y, w)
    apart = KernelRidge(Gaussian(1.0), alpha=rule, fit_intercept=True, alpha_per_target=True).fit(X, Y, w)
    assert common.loo_errors_.shape == common.gcv_errors_.shape == (30, 2)
    errors = getattr(common, f"{rule}_errors_")
    assert common.alpha_ == common.alphas_[errors.sum(axis=1).argmin()]
    np.testing.assert_array_equal(apart.alpha_, apart.alphas_[errors.argmin(axis=0)])
    assert apart.alpha_[0] < apart.alpha_[1]
    assert (np.diff(common.degrees_of_freedom_) < 0).all()
    fixed = KernelRidge(Gaussian(1.0), alpha=apart.alpha_, fit_intercept=True).fit(X, Y, w)
    np.testing.assert_allclose(apart.predict(NEW), fixed.predict(NEW), rtol=1e-9)
    expected = w @ common.loo_residuals() ** 2 / w.sum()
    np.testing.assert_allclose(common.loo_errors_[common.alphas_ == common.alpha_][0], expected, rtol=1e-8)


def test_the_linear_path_is_ridge_cv(data):
    X, y, _ = data
    alphas = np.geomspace(1e-2, 1e2, 9)
    ours = KernelRidge(Linear(), alpha="loo", alphas=alphas, fit_intercept=True).fit(X, y)
    theirs = sklearn.linear_model.RidgeCV(alphas, store_cv_results=True).fit(X, y)
    np.testing.assert_allclose(ours.loo_errors_, theirs.cv_results_.mean(axis=0), rtol=1e-8)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=1e-8)


def test_any_objects_choose_their_penalty():
    X = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "c"}, set(), {"b"}, {"a", "b", "c"}] * 3
    model = KernelRidge(SetIntersection(), alpha="loo").fit(X, [len(x) for x in X])
    assert model.alpha_ == model.alphas_[0]  # without noise, the least
    K = SetIntersection().block(X)
    given = KernelRidge(Precomputed(), alpha="loo").fit(K, [len(x) for x in X])
    np.testing.assert_allclose(given.loo_errors_, model.loo_errors_, rtol=1e-6, atol=1e-12)


# -- the posterior --------------------------------------------------------------------------------
def test_equals_scikit_learns_process(data):
    X, y, w = data
    for targets in (y, np.column_stack([y, y**2])):
        ours = KernelRidge(Gaussian(1.3), alpha=0.1).fit(X, targets, w)
        theirs = GaussianProcessRegressor(RBF(1.3), alpha=0.1 / w, optimizer=None).fit(X, targets)
        for option in ("return_std", "return_cov"):
            for a, b in zip(
                ours.predict(NEW, **{option: True}), theirs.predict(NEW, **{option: True}), strict=True
            ):
                np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-12)
    ours = KernelRidge(Gaussian(1.3), alpha=0.1).fit(X, y)
    theirs = GaussianProcessRegressor(RBF(1.3) + WhiteKernel(0.1), alpha=0, optimizer=None).fit(X, y)
    value, slope = theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)
    found, gradient = ours.log_marginal_likelihood(eval_gradient=True)
    assert ours.theta_names_ == ("kernel__sigma", "alpha")
    assert found == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(gradient, slope, rtol=1e-8)


def test_alpha_is_noise_over_signal(data):
    X, y, _ = data
    ours = KernelRidge(Gaussian(1.3), alpha=0.04, signal_variance=2.5).fit(X, y)
    theirs = GaussianProcessRegressor(ConstantKernel(2.5) * RBF(1.3), alpha=0.1, optimizer=None).fit(X, y)
    assert ours.noise_variance_ == pytest.approx(0.1)
    for a, b in zip(ours.predict(NEW, return_std=True), theirs.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    assert ours.log_marginal_likelihood() == pytest.approx(
        theirs.log_marginal_likelihood(theirs.kernel_.theta), rel=1e-10
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_an_intercept_has_a_flat_prior(data, weighted):
    """The limit of a constant kernel whose factor c grows: its density falls as 1 / sqrt(2 pi c)."""
    X, y, w = data
    w, c = (w if weighted else None), 1e8
    flat = KernelRidge(Gaussian(1.0), alpha=0.2, fit_intercept=True).fit(X, y, w)
    wide = KernelRidge(Gaussian(1.0) + c, alpha=0.2).fit(X, y, w)
    for a, b in zip(flat.predict(NEW, return_std=True), wide.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)
    np.testing.assert_allclose(
        flat.predict(NEW, return_cov=True)[1], wide.predict(NEW, return_cov=True)[1], rtol=1e-4, atol=1e-5
    )
    expected = wide.log_marginal_likelihood() + 0.5 * np.log(2 * np.pi * c)
    assert flat.log_marginal_likelihood() == pytest.approx(expected, rel=1e-5)


def test_the_evidence_is_a_density():
    X, w = np.array([[0.0], [0.7]]), np.array([0.5, 2.0])

    def density(v, u):
        model = KernelRidge(Gaussian(1.0), alpha=0.5, signal_variance=0.7).fit(X, [u, v], w)
        return np.exp(model.log_marginal_likelihood())

    grid = np.linspace(-5, 5, 17)  # sums of a smooth function that vanishes at the ends converge quickly
    total = sum(density(v, u) for v in grid for u in grid) * (grid[1] - grid[0]) ** 2
    assert total == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_most_likely_signal_variance(data, fit_intercept):
    X, y, w = data
    best = KernelRidge(Gaussian(1.0), signal_variance="evidence", fit_intercept=fit_intercept).fit(X, y, w)

    def negative(log_variance):
        machine = KernelRidge(
            Gaussian(1.0), signal_variance=np.exp(log_variance), fit_intercept=fit_intercept
        )
        return -machine.fit(X, y, w).log_marginal_likelihood()

    found = scipy.optimize.minimize_scalar(negative, bounds=(-5, 5), method="bounded")
    assert best.signal_variance_ == pytest.approx(np.exp(found.x), rel=1e-3)
    assert best.log_marginal_likelihood() == pytest.approx(-found.fun, rel=1e-6)


def test_samples_have_the_moments_of_the_posterior(data):
    X, y, _ = data
    model = KernelRidge(Gaussian(1.0), alpha=0.1).fit(X, np.column_stack([y, -y]))
    draws = model.sample_y(NEW, 20_000, random_state=0)
    mean, covariance = model.predict(NEW, return_cov=True)
    assert draws.shape == (4, 2, 20_000)
    np.testing.assert_allclose(draws.mean(axis=-1), mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws[:, 1]), covariance[..., 1], atol=0.03)
    single = KernelRidge(Gaussian(1.0)).fit(X, y)
    assert single.sample_y(NEW, 3).shape == (4, 3)
    np.testing.assert_array_equal(
        single.sample_y(NEW, 3, random_state=1), single.sample_y(NEW, 3, random_state=1)
    )


def test_variances_are_never_negative(data):
    X, y, _ = data
    for points in (X, X.astype(np.float32)):
        model = KernelRidge(Gaussian(2.0), alpha=1e-10).fit(points, y)
        std = model.predict(points, return_std=True)[1]
        assert (std >= 0).all()
        assert (std < 1e-2).all()
        assert (np.diagonal(model.predict(points, return_cov=True)[1]) >= 0).all()
    with pytest.warns(UserWarning, match="not positive definite"):
        bad = KernelRidge(Linear() - Gaussian(3.0), alpha=100.0).fit(X, y)
    with pytest.raises(DefinitenessError, match="variance"):
        bad.predict([[0.0, 0.0]], return_std=True)  # k(x, x) = -1
    good = KernelRidge(Sigmoid(1.0, -1.0), alpha=0.1, indefinite="clip").fit(X, y)
    assert (good.predict(X, return_std=True)[1] >= 0).all()


def test_what_the_posterior_cannot_know_is_said(data):
    X, y, _ = data
    model = KernelRidge(Precomputed()).fit(Gaussian(1.0).block(X), y)
    with pytest.raises(InputError, match="precomputed"):
        model.predict(Gaussian(1.0).block(NEW, X), return_std=True)
    with pytest.raises(ParameterError, match="not for both"):
        KernelRidge().fit(X, y).predict(NEW, return_std=True, return_cov=True)
    with pytest.raises(InputError, match="return_cov"):
        KernelRidge(Sigmoid(1.0, -1.0), indefinite="clip").fit(X, y).predict(NEW, return_cov=True)
    copies = KernelRidge(Gaussian(1.0), alpha=0.0).fit(np.vstack([X, X]), np.r_[y, y])
    with pytest.raises(ParameterError, match="Raise alpha"):
        copies.predict(NEW, return_std=True)
    with pytest.raises(ParameterError, match="one penalty"):
        KernelRidge(alpha=[1.0, 2.0]).fit(X, np.column_stack([y, y])).log_marginal_likelihood()
    with pytest.raises(InputError, match="`theta` must be 2"):
        KernelRidge().fit(X, y).log_marginal_likelihood([0.0])


# -- tuning ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("signal", [1.0, "evidence"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("tune", ["evidence", "loo"])
def test_gradients_are_differences(data, tune, fit_intercept, signal):
    X, y, w = data
    kernel = Gaussian([1.3, 2.0]) + 0.3 * Gaussian(4.0)
    machine = KernelRidge(kernel, alpha=0.1, fit_intercept=fit_intercept, signal_variance=signal)
    model = machine.fit(X, np.column_stack([y, y**2]), w)
    criterion = model._criterion(tune)
    point = Hyperparameters(kernel, 0.1)
    assert point.names == (
        "kernel__term0__sigma[0]",
        "kernel__term0__sigma[1]",
        *point.names[2:4],
        "alpha",
    )

    def objective(theta):
        return criterion(point.at(theta))[0]

    gradient = criterion(point)[1]
    expected = scipy.optimize.approx_fprime(point.theta, objective, 1e-6)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)


def test_tuning_by_evidence_finds_what_scikit_learn_finds(data):
    X, y, _ = data
    ours = KernelRidge(Gaussian(1.0), alpha=0.1, tune="evidence", signal_variance="evidence").fit(X, y)
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
    theirs = GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=2, random_state=0).fit(X, y)
    assert ours.tuning_.converged
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-5)
    assert ours.kernel_.sigma == pytest.approx(theirs.kernel_.k1.k2.length_scale, rel=1e-2)
    assert ours.kernel == Gaussian(1.0)  # the one that was passed stays as it is
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=1e-2, atol=1e-2)


def test_tuning_by_leave_one_out_lowers_it(data):
    X, _, w = data
    y = np.sin(3 * X[:, 0]) + 0.3 * np.random.default_rng(2).standard_normal(40)
    start = KernelRidge(Gaussian(0.3), alpha=0.01, fit_intercept=True).fit(X, y, w)
    tuned = KernelRidge(
        Gaussian(0.3), alpha=0.01, fit_intercept=True, tune="loo", n_restarts=1, random_state=0
    ).fit(X, y, w)
    error = [w @ m.loo_residuals() ** 2 / w.sum() for m in (start, tuned)]
    assert error[1] < 0.8 * error[0]
    assert tuned.tuning_.stats["objective"] == pytest.approx(-np.log(error[1]), rel=1e-8)
    assert tuned.tuning_.gap < 1e-3
    near = tuned.alpha_ * np.array([0.8, 0.9, 1.1, 1.25])
    path = KernelRidge(tuned.kernel_, alpha="loo", alphas=near, fit_intercept=True).fit(X, y, w)
    assert (path.loo_errors_ > error[1]).all()


def test_tuning_says_where_it_ended():
    X = np.linspace(0, 1, 12)[:, None]
    model = KernelRidge(Gaussian(1.0), tune="evidence").fit(X, np.zeros(12))  # no signal: ever less of it
    assert "end of the range" in model.tuning_.status
    assert model.tuning_.stats["gradient"] == "closed form"


HEIGHT = parameter(2.0, low=1.5, high=2.0, scale="log")


@mercer.kernel(assume="PSD", reason="the Gaussian kernel")
def own_gaussian(x, y, *, width=1.0, height=HEIGHT):
    return height * np.exp(-np.sum((x - y) ** 2) / (2 * width**2))


class OwnWidths(mercer.Kernel):
    """A Gaussian with a width for each coordinate."""

    widths: np.ndarray = parameter(low=0.0, open_low=True, scale="log", ndim=(1,))

    def __call__(self, x, y):
        return float(np.exp(-np.sum((np.subtract(x, y) / self.widths) ** 2) / 2))


def evidence_and_slopes(kernel, X, y, w):
    model = KernelRidge(kernel, alpha=0.3).fit(X, y, w)
    value, slopes = model.log_marginal_likelihood(eval_gradient=True)
    return value, dict(zip(model.theta_names_, slopes, strict=True))


def test_finite_differences_agree_with_closed_forms(data):
    """A Gaussian kernel and its twin; `height` stands at the end of its range, and moves to one side."""
    X, y, w = data
    value, slopes = evidence_and_slopes(own_gaussian(width=0.7), [*X], y, w)
    expected, closed = evidence_and_slopes(2.0 * Gaussian(0.7), X, y, w)
    assert value == pytest.approx(expected, rel=1e-12)
    assert slopes["kernel__width"] == pytest.approx(closed["kernel__base__sigma"], rel=1e-7)
    assert slopes["kernel__height"] == pytest.approx(closed["kernel__factor"], rel=1e-4)
    assert slopes["alpha"] == pytest.approx(closed["alpha"], rel=1e-10)


def test_finite_differences_of_vectors(data):
    X, y, w = data
    value, slopes = evidence_and_slopes(OwnWidths([0.7, 1.2]), [*X], y, w)
    expected, closed = evidence_and_slopes(Gaussian([0.7, 1.2]), X, y, w)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(list(slopes.values()), list(closed.values()), rtol=1e-6)


@pytest.mark.parametrize("tune", ["evidence", "loo"])
def test_own_kernels_are_tuned(data, tune):
    X, y, _ = data
    y = y + np.random.default_rng(1).standard_normal(len(y))  # enough noise for a penalty of some size
    plain = mercer.kernel(lambda x, y, width=1.0: float(np.exp(-np.sum((x - y) ** 2) / (2 * width**2))))
    own = KernelRidge(plain.assume("PSD"), alpha=0.1, tune=tune).set_params(kernel__base__width=0.5)
    own.fit([*X], y)
    twin = KernelRidge(Gaussian(0.5), alpha=0.1, tune=tune).fit(X, y)
    assert own.tuning_.stats["gradient"] == "finite differences"
    assert own.tuning_.converged
    assert own.kernel_.base.width == pytest.approx(twin.kernel_.sigma, rel=1e-3)
    assert own.alpha_ == pytest.approx(twin.alpha_, rel=1e-2)


@pytest.mark.parametrize("tune", ["evidence", "loo"])
def test_nothing_to_tune_is_said(data, tune):
    X, _, _ = data
    with pytest.raises(InputError, match=r"without variation|nothing to tune"):
        KernelRidge(Gaussian(1.0), tune=tune, signal_variance="evidence").fit(X, np.zeros(40))


# -- odds and ends --------------------------------------------------------------------------------
def test_unconverged_iterations_warn(data):
    X, y, _ = data
    many = np.random.default_rng(0).standard_normal((200, 2))  # the preconditioner does not know all of them
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = KernelRidge(Gaussian(0.2), alpha=1e-6, solver="cg", max_iter=2).fit(many, many[:, 0])
    assert not model.solution_.converged
    good = KernelRidge(Gaussian(1.0), alpha=0.1, solver="cg", tol=1e-10).fit(X, y)
    exact = KernelRidge(Gaussian(1.0), alpha=0.1).fit(X, y)
    np.testing.assert_allclose(good.predict(NEW), exact.predict(NEW), rtol=1e-6)


def test_a_new_fit_forgets_the_old_one(data):
    X, y, _ = data
    model = KernelRidge(Gaussian(1.0), alpha="loo").fit(X, y)
    model.set_params(alpha=[1.0, 2.0]).fit(X, np.column_stack([y, y]))
    assert not any(hasattr(model, name) for name in ("alphas_", "loo_errors_", "theta_", "tuning_"))


def test_pickling_leaves_the_factor_behind(data):
    X, y, _ = data
    model = KernelRidge(Gaussian(1.0)).fit(X, y)
    before = model.predict(NEW, return_std=True)[1]
    small = pickle.loads(pickle.dumps(model))
    assert small._posteriors == {}
    np.testing.assert_array_equal(small.predict(NEW, return_std=True)[1], before)


@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_constant_targets(data, constant):
    X, _, _ = data
    y = np.full(40, constant)
    for options in ({"alpha": "loo"}, {"alpha": "gcv"}, {"signal_variance": "evidence"}):
        model = KernelRidge(Gaussian(1.0), fit_intercept=True, **options).fit(X, y)
        np.testing.assert_allclose(model.predict(NEW), constant, atol=1e-12)
    assert (model.predict(NEW, return_std=True)[1] < 1e-12).all()


def test_one_sample():
    model = KernelRidge(Gaussian(1.0), alpha=1.0, fit_intercept=True).fit([[0.0]], [2.0])
    mean, std = model.predict([[0.0], [9.0]], return_std=True)
    np.testing.assert_allclose(mean, 2.0)
    assert std[1] > std[0]
    with pytest.raises(InputError, match="2 samples"):
        model.loo_residuals()
    with pytest.raises(InputError, match="2 samples"):
        KernelRidge(alpha="loo").fit([[0.0]], [2.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": "best"}, "`alpha` must be"),
        ({"alpha": np.inf}, "`alpha` must be"),
        ({"alpha": [1.0, 2.0]}, "each of the 1 targets"),
        ({"alphas": [0.0, 1.0]}, "`alphas` must be"),
        ({"alphas": []}, "`alphas` must be"),
        ({"tune": "aic"}, "`tune` must be"),
        ({"tune": "loo", "alpha": "loo"}, "starts from it"),
        ({"signal_variance": -1.0}, "`signal_variance` must be"),
        ({"solver": "lu"}, "`solver` must be"),
        ({"solver": "cg", "alpha": 0.0}, "needs `alpha` > 0"),
        ({"tol": 0.0}, "`tol` must be"),
        ({"max_iter": 0}, "`max_iter` must be"),
        ({"n_restarts": -1}, "`n_restarts` must be"),
    ],
    ids=lambda value: "-".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else "",
)
def test_bad_parameters_are_named(data, options, message):
    X, y, _ = data
    with pytest.raises(ParameterError, match=message):
        KernelRidge(**options).fit(X, y)
