"""The representer machine against the specialised machines, optimisers and scikit-learn's contract."""

import pickle

import clarabel
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from scipy.special import xlogy
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, PoissonRegressor, QuantileRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection
from mercer.machines import SVC, SVR, KernelLogistic, KernelRidge, RepresenterMachine
from mercer.solvers.constraints import Constrained
from mercer.solvers.losses import EpsilonInsensitive, Huber, Pinball
from mercer.solvers.representer import Ball

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}

KERNEL = Gaussian(1.3)


@parametrize_with_checks(
    [RepresenterMachine(), RepresenterMachine(loss="hinge", fit_intercept=True)],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(50), rng.uniform(0.5, 2, 50)


# -- the specialised machines -----------------------------------------------------------------------
@pytest.mark.parametrize("intercept", [False, True])
def test_squared_is_kernel_ridge(data, intercept):
    X, y, w = data
    ours = RepresenterMachine(loss="squared", kernel=KERNEL, alpha=0.4, fit_intercept=intercept).fit(X, y, w)
    theirs = KernelRidge(KERNEL, alpha=0.4, fit_intercept=intercept).fit(X, y, w)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_logistic_is_kernel_logistic(data, intercept):
    X, y, w = data
    ours = RepresenterMachine(loss="logistic", kernel=KERNEL, alpha=0.4, fit_intercept=intercept).fit(
        X, y > 0, w
    )
    theirs = KernelLogistic(KERNEL, alpha=0.4, fit_intercept=intercept).fit(X, y > 0, w)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-7)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("intercept", [False, True])
def test_hinge_is_svc(data, intercept):
    X, y, w = data
    ours = RepresenterMachine(loss="hinge", kernel=KERNEL, alpha=0.4, fit_intercept=intercept).fit(
        X, y > 0, w
    )
    theirs = SVC(KERNEL, C=2.5, fit_intercept=intercept, tol=1e-10).fit(X, y > 0, w)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_epsilon_insensitive_is_svr(data, intercept):
    X, y, w = data
    loss = EpsilonInsensitive(0.05)
    ours = RepresenterMachine(loss=loss, kernel=KERNEL, alpha=0.4, fit_intercept=intercept).fit(X, y, w)
    theirs = SVR(KERNEL, C=2.5, epsilon=0.05, fit_intercept=intercept, tol=1e-10).fit(X, y, w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


# -- linear twins -----------------------------------------------------------------------------------
def test_linear_poisson_is_scikit_learns(data):
    X, _, w = data
    counts = np.random.default_rng(1).poisson(np.exp(0.5 * X[:, 0] + 1))
    ours = RepresenterMachine(loss="poisson", kernel=Linear(), alpha=0.3, fit_intercept=True).fit(
        X, counts, w
    )
    # scikit-learn takes the mean of the losses
    theirs = PoissonRegressor(alpha=0.3 / w.sum(), tol=1e-10, max_iter=1000, solver="newton-cholesky")
    np.testing.assert_allclose(ours.predict(X), theirs.fit(X, counts, w).predict(X), rtol=1e-7)


def test_linear_pinball_of_no_penalty_is_quantile_regression(data):
    X, y, _ = data
    ours = RepresenterMachine(loss=Pinball(0.8), kernel=Linear(), alpha=1e-7, fit_intercept=True).fit(X, y)
    theirs = QuantileRegressor(quantile=0.8, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_linear_huber_is_scikit_learns(data):
    X, y, _ = data
    y = np.where(np.arange(50) % 10 == 0, y + 20, y)
    theirs = HuberRegressor(epsilon=1.5, alpha=0.1, tol=1e-10, max_iter=2000).fit(X, y)
    # it also fits the scale s: at its solution the loss is ours of width 1.5 s, its penalty ours times 2 s
    s = theirs.scale_
    ours = RepresenterMachine(loss=Huber(1.5 * s), kernel=Linear(), alpha=0.1 * s, fit_intercept=True).fit(
        X, y
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)


# -- penalties of the norm ------------------------------------------------------------------------------
def definition(loss, g, X, y, w, intercept):
    """The stated objective as a function of coordinates of the range of K."""
    K = KERNEL.block(X)
    R = np.linalg.cholesky(K + 1e-12 * np.eye(len(y)))

    def value(v):
        F = R @ v[:-1] + v[-1] * intercept
        return w @ loss(y, F) + g(np.linalg.norm(v[:-1]))

    return value


LOSSES = {
    "squared": lambda y, f: 0.5 * (y - f) ** 2,
    "huber": lambda y, f: np.where(np.abs(y - f) < 1, 0.5 * (y - f) ** 2, np.abs(y - f) - 0.5),
    "logistic": lambda y, f: np.log1p(np.exp(-y * f)),
    "poisson": lambda y, f: np.exp(f) - y * f - y + xlogy(y, y),
}


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [("squared", "norm"), ("squared", 1.5), ("huber", 3.0), ("logistic", "norm"), ("poisson", 1.5)],
)
def test_powers_of_the_norm_against_an_optimiser(data, loss, penalty):
    X, y, w = data
    y = {"logistic": np.where(y > 0, 1.0, -1.0), "poisson": np.round(np.exp(y))}.get(loss, y)
    p = 1.0 if penalty == "norm" else penalty
    model = RepresenterMachine(KERNEL, loss=loss, penalty=penalty, alpha=0.7, fit_intercept=True).fit(X, y, w)
    value = definition(LOSSES[loss], lambda t: 0.7 * t**p / p, X, y, w, True)
    start = np.full(len(y) + 1, 0.01)
    found = scipy.optimize.minimize(value, start, method="L-BFGS-B", options={"maxfun": 10**5})
    objective = model.solution_.stats["objective"]
    assert objective <= found.fun + 1e-8
    assert objective == pytest.approx(found.fun, rel=1e-4)
    assert model.solution_.converged
    assert 0 <= model.solution_.gap <= 1e-8 * abs(objective)
    K = KERNEL.block(X)
    assert model.norm_ == pytest.approx(np.sqrt(model.dual_coef_ @ K @ model.dual_coef_), rel=1e-6)


@pytest.mark.parametrize("loss", ["squared", "hinge", "pinball", "logistic", "epsilon_insensitive"])
def test_a_norm_that_is_too_expensive_is_zero(data, loss):
    X, y, _ = data
    y = y > 0 if loss in ("hinge", "logistic") else y
    model = RepresenterMachine(KERNEL, loss=loss, penalty="norm", alpha=1e3, fit_intercept=True).fit(X, y)
    assert model.norm_ == 0.0
    assert (model.dual_coef_ == 0).all()
    assert model.solution_.converged
    if loss == "squared":
        np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "pinball"])
def test_piecewise_linear_losses_with_the_norm(data, loss):
    X, y, _ = data
    y = np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y
    model = RepresenterMachine(KERNEL, loss=loss, penalty="norm", alpha=2.0).fit(X, y)
    assert model.solution_.converged
    # the squared norm leads to the same function with this factor
    twin = RepresenterMachine(KERNEL, loss=loss, penalty="squared", alpha=2.0 / model.norm_).fit(X, y)
    np.testing.assert_allclose(twin.dual_coef_, model.dual_coef_, atol=1e-6)


def test_penalties_of_ones_own(data):
    X, y, _ = data
    own = RepresenterMachine(KERNEL, loss="squared", penalty=lambda t: (t**3 / 3, t**2), alpha=0.7).fit(X, y)
    named = RepresenterMachine(KERNEL, loss="squared", penalty=3.0, alpha=0.7).fit(X, y)
    np.testing.assert_allclose(own.predict(X), named.predict(X), atol=1e-7)
    assert own.solution_.converged

    # log(1 + t) is not convex: a small norm costs much, a large one little more
    concave = RepresenterMachine(
        KERNEL, loss="squared", penalty=lambda t: (np.log1p(t), 1 / (1 + t)), alpha=0.7
    ).fit(X, y)
    value = definition(LOSSES["squared"], lambda t: 0.7 * np.log1p(t), X, y, np.ones(50), False)
    starts = [np.full(51, s) for s in (0.01, 0.3, 1.0)]
    found = min(scipy.optimize.minimize(value, s, method="L-BFGS-B").fun for s in starts)
    assert concave.solution_.stats["objective"] <= found + 1e-6


# -- any increasing function of the norm, against a conic solver -----------------------------------------
def least_loss(loss, y, radius, intercept):
    """The smallest loss of functions of this norm at most, by clarabel; variables: coordinates, b, errors."""
    n = len(y)
    values, vectors = np.linalg.eigh(KERNEL.block(POINTS[:n]))
    R = vectors * np.sqrt(np.maximum(values, 0.0))
    r = R.shape[1]
    F = np.hstack([R, np.full((n, 1), float(intercept)), np.zeros((n, n))])
    E = np.hstack([np.zeros((n, r + 1)), np.eye(n)])
    P, q = np.zeros(2 * (r + n + 1,)), np.append(np.zeros(r + 1), np.ones(n))
    if loss == "squared":
        P[r + 1 :, r + 1 :], q = np.eye(n), 0 * q
        rows, right, cones = F - E, y, [clarabel.ZeroConeT(n)]
    elif loss == "hinge":
        rows, right = np.vstack([-y[:, None] * F - E, -E]), np.append(-np.ones(n), np.zeros(n))
        cones = [clarabel.NonnegativeConeT(2 * n)]
    elif loss == "logistic":  # exp(-e) + exp(-y F - e) <= 1, with two more variables for each point
        F, E = (np.hstack([M, np.zeros((n, 2 * n))]) for M in (F, E))
        P, q = np.pad(P, (0, 2 * n)), np.pad(q, (0, 2 * n))
        u, v = np.eye(len(q))[-2 * n : -n], np.eye(len(q))[-n:]
        triples = [
            np.vstack([-row, 0 * row, -bound])
            for rows, bounds in ((E, u), (y[:, None] * F + E, v))
            for row, bound in zip(-rows, bounds, strict=True)
        ]
        rows = np.vstack([u + v, *triples])
        right = np.append(np.ones(n), np.tile([0.0, 1.0, 0.0], 2 * n))
        cones = [clarabel.NonnegativeConeT(n), *(2 * n * [clarabel.ExponentialConeT()])]
    else:
        width, q = {"epsilon_insensitive": (0.1, q), "pinball": (0.0, 0.5 * q)}[loss]
        rows = np.vstack([F - E, -F - E, -E])
        right = np.concatenate([y + width, width - y, np.zeros(n)])
        cones = [clarabel.NonnegativeConeT(3 * n)]
    ball = np.zeros((r + 1, len(q)))
    ball[1:, :r] = -np.eye(r)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    A, b = np.vstack([rows, ball]), np.concatenate([right, [radius], np.zeros(r)])
    cones = [*cones, clarabel.SecondOrderConeT(r + 1)]
    csc = scipy.sparse.csc_matrix
    return clarabel.DefaultSolver(csc(P), q, csc(A), b, cones, settings).solve().obj_val


POINTS = np.random.default_rng(3).standard_normal((24, 2))
POINTS[20:] = POINTS[:4]  # with different targets: the ball may be too large to matter
VALUES = np.sin(2 * POINTS[:, 0]) + 0.3 * np.random.default_rng(4).standard_normal(24)
SUMS = {
    "squared": LOSSES["squared"],
    "logistic": lambda y, f: np.logaddexp(0, -y * f),
    "hinge": lambda y, f: np.maximum(0, 1 - y * f),
    "epsilon_insensitive": lambda y, f: np.maximum(0, np.abs(y - f) - 0.1),
    "pinball": lambda y, f: 0.5 * np.abs(y - f),
}


def hand_written_ball(radius):
    return lambda t: (0.0, 0.0) if t <= radius else (np.inf, np.inf)


@pytest.mark.parametrize("radius", [0.2, 2.0, 6.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", SUMS)
def test_the_smallest_loss_within_a_ball(loss, intercept, radius):
    y = np.sign(VALUES) if loss in ("hinge", "logistic") else VALUES
    best, K = least_loss(loss, y, radius, intercept), KERNEL.block(POINTS)
    for penalty in (Ball(radius), hand_written_ball(radius)):
        model = RepresenterMachine(KERNEL, loss=loss, penalty=penalty, fit_intercept=intercept).fit(POINTS, y)
        f = K @ model.dual_coef_
        assert model.norm_ <= radius
        assert np.sqrt(model.dual_coef_ @ f) <= radius * (1 + 1e-9)
        assert SUMS[loss](y, f + model.intercept_).sum() == pytest.approx(best, rel=1e-6, abs=1e-7)
        assert model.solution_.converged
        assert model.solution_.gap <= 1e-8 * max(1.0, model.solution_.stats["objective"])


STEPS = {
    "jumps": (lambda t: (float(t > 0.5) + 2.0 * (t > 1.5) + (t > 4), 0.0), [0.5, 1.5, 4.0]),
    "open jump": (lambda t: (4.0 * (t >= 1), 0.0), [1.0]),
    "jump of a square": (lambda t: (t * t / 10 + 2.0 * (t > 1.2), t / 5), [1.2]),
    "kink": (lambda t: (0.2 * t, 0.2) if t <= 2 else (9 * t - 17.6, 9.0), [2.0]),
    "concave kink": (lambda t: (9 * t, 9.0) if t <= 0.3 else (2.67 + 0.1 * t, 0.1), [0.3]),
    "ends at 3": (lambda t: (t, 1.0) if t <= 3 else (np.inf, np.inf), [3.0]),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_penalties_with_jumps_and_kinks(loss, name):
    g, places = STEPS[name]
    X, y = POINTS[:20], np.sign(VALUES[:20]) if loss == "hinge" else VALUES[:20]
    norms = np.unique(np.concatenate([np.geomspace(0.01, 2000, 60), np.array(places) * (1 - 1e-12)]))
    values = [least_loss(loss, y, t, False) + 0.3 * g(t)[0] for t in norms]
    i = int(np.argmin(values))
    ends = norms[max(i - 1, 0)], norms[i + 1 if np.isfinite(values[i + 1]) else i]
    near = scipy.optimize.minimize_scalar(
        lambda t: least_loss(loss, y, t, False) + 0.3 * g(t)[0], bounds=ends, method="bounded"
    )
    model = RepresenterMachine(KERNEL, loss=loss, penalty=g, alpha=0.3).fit(X, y)
    objective = SUMS[loss](y, KERNEL.block(X) @ model.dual_coef_).sum() + 0.3 * g(model.norm_)[0]
    assert objective == pytest.approx(model.solution_.stats["objective"], rel=1e-9)
    assert objective == pytest.approx(min(near.fun, values[i]), rel=1e-6)
    assert model.solution_.converged


def test_a_ball_for_losses_of_ones_own_and_rankings():
    def absolute(y, f):
        return 0.5 * np.abs(f - y).sum(), 0.5 * np.sign(f - y)

    own = RepresenterMachine(KERNEL, loss=absolute, penalty=Ball(2.0)).fit(POINTS, VALUES)
    assert own.norm_ <= 2
    assert own.solution_.converged
    best = least_loss("pinball", VALUES, 2.0, False)
    assert own.solution_.stats["objective"] == pytest.approx(best, rel=1e-7)
    ranked = RepresenterMachine(KERNEL, loss="ranking", penalty=Ball(2.0)).fit(POINTS, VALUES)
    lam = ranked.solution_.stats["lambda"]  # the same function, by its multiplier
    twin = RepresenterMachine(KERNEL, loss="ranking", alpha=lam).fit(POINTS, VALUES)
    assert ranked.norm_ == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(ranked.predict(POINTS), twin.predict(POINTS), atol=1e-3)


def test_a_ball_is_a_value_and_too_small_ones_are_refused():
    assert pickle.loads(pickle.dumps(Ball(2.0))) == Ball(2.0)
    assert eval(repr(Ball(2.0))) == Ball(2.0)
    for radius in (0.0, -1.0, np.inf, np.nan, "2"):
        with pytest.raises(ParameterError, match="`radius` must be a positive finite number"):
            Ball(radius)
    bands = np.column_stack([VALUES + 1.0, VALUES + 9.0])
    with pytest.raises(ParameterError, match="infinite for every function that the loss allows"):
        RepresenterMachine(KERNEL, loss="interval", penalty=Ball(0.01)).fit(POINTS, bands)
    loss = Constrained("squared", (1.0, 2.0))
    with pytest.raises(ParameterError, match="infinite for every function that the loss allows"):
        RepresenterMachine(KERNEL, loss=loss, penalty=Ball(0.01)).fit(POINTS, VALUES)


@pytest.mark.parametrize("g", [lambda t: (-t, 1.0), lambda t: (np.nan, 0.0), lambda t: (t, -1.0)])
def test_penalties_that_decrease_are_refused(g):
    with pytest.raises(ParameterError, match="not decrease"):
        RepresenterMachine(KERNEL, penalty=g).fit(POINTS, VALUES)


# -- losses of one's own ----------------------------------------------------------------------------------
@pytest.mark.parametrize("intercept", [False, True])
def test_smooth_losses_of_ones_own(data, intercept):
    X, y, _ = data

    def squared(y, f):
        return 0.5 * ((f - y) ** 2).sum(), f - y

    own = RepresenterMachine(loss=squared, kernel=KERNEL, alpha=0.4, fit_intercept=intercept).fit(X, y)
    named = RepresenterMachine(loss="squared", kernel=KERNEL, alpha=0.4, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(own.predict(X), named.predict(X), atol=1e-4)
    assert own.solution_.converged
    assert own.solution_.stats["objective"] == pytest.approx(named.solution_.stats["objective"], rel=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
def test_kinked_losses_of_ones_own(data, intercept):
    X, y, _ = data

    def absolute(y, f):
        return 0.5 * np.abs(f - y).sum(), 0.5 * np.sign(f - y)

    own = RepresenterMachine(loss=absolute, kernel=KERNEL, alpha=1.0, fit_intercept=intercept).fit(X, y)
    named = RepresenterMachine(loss="pinball", kernel=KERNEL, alpha=1.0, fit_intercept=intercept).fit(X, y)
    assert own.solution_.converged
    assert own.solution_.stats["objective"] == pytest.approx(named.solution_.stats["objective"], rel=1e-7)
    np.testing.assert_allclose(own.predict(X), named.predict(X), atol=1e-3)


def test_a_loss_of_pairs(data):
    """Ranking: the loss looks at differences, so it has no form as a sum over points."""
    X, y, _ = data
    i, j = np.nonzero(y[:, None] > y[None, :] + 0.5)

    def ranking(y, f):
        margin = f[i] - f[j]
        slopes = -1 / (1 + np.exp(margin))
        gradient = np.bincount(i, slopes, len(f)) - np.bincount(j, slopes, len(f))
        return np.log1p(np.exp(-margin)).sum(), gradient

    model = RepresenterMachine(loss=ranking, kernel=KERNEL, alpha=1.0).fit(X, y)
    f = model.predict(X)
    assert (f[i] > f[j]).mean() > 0.9
    # stationary: alpha a = -gradient, up to what K does not see
    np.testing.assert_allclose(f, -KERNEL.block(X) @ ranking(y, f)[1], atol=1e-3)


@pytest.mark.parametrize(
    "loss",
    [lambda y, f: 1.0, lambda y, f: (1.0, f[:-1]), lambda y, f: (1.0, f * np.nan)],
    ids=["no gradient", "short gradient", "nan"],
)
def test_what_a_loss_returns_is_checked(data, loss):
    with pytest.raises(ParameterError, match=r"`loss\(y, f\)` must return"):
        RepresenterMachine(loss=loss).fit(*data[:2])


# -- contract ---------------------------------------------------------------------------------------------
def test_regressor_or_classifier_by_the_loss(data):
    X, y, _ = data
    regressor, classifier = RepresenterMachine(loss="huber"), RepresenterMachine(loss="hinge")
    assert is_regressor(regressor)
    assert is_classifier(classifier)
    assert not hasattr(regressor, "decision_function")
    names = np.where(y > 0, "up", "down")
    classifier.fit(X, names)
    assert (classifier.predict(X) == np.where(classifier.decision_function(X) > 0, "up", "down")).all()
    assert classifier.score(X, names) == (classifier.predict(X) == names).mean()
    assert regressor.fit(X, y).score(X, y) < 1


@pytest.mark.parametrize("loss", ["squared", "hinge", "huber", "pinball"])
def test_zero_weight_is_absence_and_integer_weight_is_repetition(data, loss):
    X, y, _ = data
    y = np.where(y > 0, 1, -1) if loss == "hinge" else y
    w = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    index = np.repeat(np.arange(len(y)), w.astype(int))
    model = RepresenterMachine(loss=loss, kernel=Gaussian("median"))
    weighted = model.fit(X, y, sample_weight=w)._function(X)
    repeated = model.fit(X[index], y[index])._function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


def test_sets_and_precomputed_matrices(data):
    X = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "c"}, set(), {"b"}, {"a", "b", "c"}]
    y = np.array([len(x) for x in X], dtype=float)
    model = RepresenterMachine(loss="huber", kernel=SetIntersection(), alpha=1e-6).fit(X, y)
    np.testing.assert_allclose(model.predict([{"a", "b"}, {"d"}]), [2.0, 0.0], atol=1e-4)
    X, y, _ = data
    K = KERNEL.block(X)
    direct = RepresenterMachine(loss="huber", kernel=KERNEL).fit(X, y).predict(X[:5])
    np.testing.assert_allclose(
        RepresenterMachine(loss="huber", kernel=Precomputed()).fit(K, y).predict(K[:5]), direct
    )


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive", "pinball", "poisson"])
def test_constant_targets_and_equal_points(loss):
    model = RepresenterMachine(loss=loss, kernel=KERNEL, fit_intercept=True).fit(
        np.ones((6, 2)), np.full(6, 3.0)
    )
    np.testing.assert_allclose(model.predict(np.ones((1, 2))), 3.0, atol=0.11)


def test_a_limit_is_told(data):
    X, y, _ = data
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = RepresenterMachine(loss="logistic", kernel=KERNEL, alpha=1e-6, max_iter=1).fit(X, y > 0)
    assert not model.solution_.converged


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "cubic"}, "`loss` must be one of"),
        ({"loss": 3}, "`loss` must be one of"),
        ({"penalty": "cubic"}, "`penalty` must be"),
        ({"penalty": 0.5}, "`penalty` must be"),
        ({"alpha": 0.0}, "`alpha` must be"),
        ({"alpha": np.inf}, "`alpha` must be"),
        ({"tol": 2.0}, "`tol` must be"),
        ({"max_iter": 0}, "`max_iter` must be"),
    ],
    ids=lambda v: str(v) if isinstance(v, dict) else "",
)
def test_bad_parameters_are_named(data, parameters, message):
    with pytest.raises(ParameterError, match=message):
        RepresenterMachine(**parameters).fit(*data[:2])


@pytest.mark.parametrize("make", [lambda: Huber(0.0), lambda: Pinball(1.0), lambda: EpsilonInsensitive(-1.0)])
def test_bad_losses_are_named(make):
    with pytest.raises(ParameterError, match="must be"):
        make()


def test_bad_data_are_named(data):
    X, y, w = data
    with pytest.raises(InputError, match="y >= 0"):
        RepresenterMachine(loss="poisson").fit(X, y)
    with pytest.raises(InputError, match="minus infinity"):
        RepresenterMachine(loss="poisson", fit_intercept=True).fit(X, np.zeros(50))
    with pytest.raises(InputError, match="binary"):
        RepresenterMachine(loss="hinge").fit(X, np.arange(50) % 3)
    with pytest.raises(InputError, match="positive weight"):
        RepresenterMachine(loss="hinge").fit(X, y > 0, sample_weight=(y > 0).astype(float))
    with pytest.raises(InputError, match="built-in loss"):
        RepresenterMachine(loss=lambda y, f: (0.0, f)).fit(X, y, w)
