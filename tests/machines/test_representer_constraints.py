"""Infinite and joint losses of the representer machine, against conic programs and hand computations."""

import pickle
import warnings

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer.errors import InfeasibleError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.machines import SVC, KernelRidge, RepresenterMachine
from mercer.solvers.constraints import Constrained, HardMargin, Interpolation, Interval, JointLoss
from mercer.solvers.losses import Huber, Root, SmoothLoss, Squared

KERNEL = Gaussian(0.6)
ACCURACY = 1e-6
XOR = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (40, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(40)


def conic(K, low, high, y=None, alpha=1.0, intercept=False):
    """min alpha/2 |c|^2 (+ 1/2 |F - y|^2), F = R c + b between low and high; returns F and |c|."""
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    R = np.column_stack([vectors * np.sqrt(np.maximum(values, 0)), np.full(n, float(intercept))])
    P = np.diag(np.append(np.full(n, alpha), 0.0))
    q = np.zeros(n + 1)
    if y is not None:
        P, q = P + R.T @ R, -R.T @ y
    rows, right, cones = [], [], []
    equal = low == high
    for lines, ends, cone in [
        (R[equal], low[equal], clarabel.ZeroConeT),
        (-R[np.isfinite(low) & ~equal], -low[np.isfinite(low) & ~equal], clarabel.NonnegativeConeT),
        (R[np.isfinite(high) & ~equal], high[np.isfinite(high) & ~equal], clarabel.NonnegativeConeT),
    ]:
        if len(lines):
            rows.append(lines), right.append(ends), cones.append(cone(len(lines)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-11
    solved = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)),
        q,
        sparse.csc_matrix(np.vstack(rows)),
        np.concatenate(right),
        cones,
        settings,
    ).solve()
    x = np.array(solved.x)
    return R @ x, np.linalg.norm(x[:-1])


# -- constraints alone ------------------------------------------------------------------------------
@pytest.mark.parametrize("penalty", ["squared", "norm", 3.0, lambda t: (np.log1p(t), 1 / (1 + t))])
def test_xor_by_hand(penalty):
    """Coefficients 1/8, margin sqrt 2, no bias: f(x) = x_1 x_2."""
    y = XOR.prod(axis=1)
    model = RepresenterMachine(Polynomial(2), loss="hard_margin", penalty=penalty, fit_intercept=True)
    model.fit(XOR, y)
    np.testing.assert_allclose(model.dual_coef_, y / 8, atol=1e-9)
    assert model.intercept_ == pytest.approx(0, abs=1e-9)
    assert 1 / model.norm_ == pytest.approx(np.sqrt(2))
    np.testing.assert_allclose(model.decision_function([[0.5, 3.0]]), 1.5, atol=1e-8)
    assert model.solution_.converged
    g = {"squared": lambda t: t**2 / 2, "norm": lambda t: t, 3.0: lambda t: t**3 / 3}.get(penalty, np.log1p)
    assert model.solution_.stats["objective"] == pytest.approx(g(np.sqrt(0.5)))


@pytest.mark.parametrize("intercept", [False, True])
def test_hard_margin_is_svc_with_infinite_C(data, intercept):
    X, y = data
    ours = RepresenterMachine(KERNEL, loss="hard_margin", fit_intercept=intercept).fit(X, y > 0)
    theirs = SVC(KERNEL, C=np.inf, fit_intercept=intercept, tol=1e-9).fit(X, y > 0)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert ours.solution_.converged
    assert ((2 * (y > 0) - 1) * ours.decision_function(X)).min() >= 1 - ACCURACY
    assert (ours.predict(X) == (y > 0)).all()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_interpolation_is_ridge_without_penalty(data, intercept, scale):
    X, y = data[0], scale * data[1]
    ours = RepresenterMachine(KERNEL, loss="interpolation", fit_intercept=intercept).fit(X, y)
    theirs = KernelRidge(KERNEL, alpha=0.0, fit_intercept=intercept).fit(X, y)
    new = X + 0.1
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=0, atol=ACCURACY * scale)
    np.testing.assert_allclose(ours.predict(X), y, rtol=0, atol=1e-8 * scale)
    assert ours.solution_.converged


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_intervals_against_a_conic_program(data, intercept, scale):
    X, y = data
    rng = np.random.default_rng(1)
    low, high = y - rng.uniform(0, 0.4, 40), y + rng.uniform(0, 0.4, 40)
    low[:5], high[5:10], low[10:13] = -np.inf, np.inf, high[10:13]
    low[13], high[13] = -np.inf, np.inf
    model = RepresenterMachine(KERNEL, loss="interval", fit_intercept=intercept)
    model.fit(X, scale * np.column_stack([low, high]))
    F, norm = conic(KERNEL.block(X), low, high, intercept=intercept)
    np.testing.assert_allclose(model.predict(X) / scale, F, atol=1e-5)
    assert model.norm_ / scale == pytest.approx(norm, rel=1e-7)
    assert model.solution_.converged
    assert model.solution_.stats["violation"] <= 1e-8 * scale
    wide = scale * np.column_stack([low - 1e-6, high + 1e-6])
    assert model.score(X, wide) == 1.0


def test_weights_of_constraints_do_not_matter_but_zero_does(data):
    X, y = data
    w = np.random.default_rng(2).integers(0, 3, 40).astype(float)
    weighted = RepresenterMachine(KERNEL, loss="interpolation").fit(X, y, w)
    without = RepresenterMachine(KERNEL, loss="interpolation").fit(X[w > 0], y[w > 0])
    np.testing.assert_allclose(weighted.dual_coef_, without.dual_coef_)


# -- infeasibility -------------------------------------------------------------------------------------
@pytest.mark.parametrize("intercept", [False, True])
def test_contradictory_equalities_are_named(intercept):
    X, y = np.array([[0.0], [3.0], [0.0], [1.0]]), np.array([1.0, 5.0, 2.0, 0.0])
    with pytest.raises(InfeasibleError, match="rows 0, 2 contradict") as caught:
        RepresenterMachine(KERNEL, loss="interpolation", fit_intercept=intercept).fit(X, y)
    assert caught.value.rows.tolist() == [0, 2]
    np.testing.assert_allclose(caught.value.certificate, [-1, 0, 1, 0], atol=1e-9)  # f(x_2) - f(x_0) >= 1
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.rows.tolist() == [0, 2]


def test_rows_are_those_of_the_data_with_their_absent_ones():
    X, y = np.array([[5.0], [0.0], [0.0]]), np.array([1.0, 1.0, 2.0])
    with pytest.raises(InfeasibleError) as caught:
        RepresenterMachine(KERNEL, loss="interpolation").fit(X, y, sample_weight=[0.0, 1.0, 1.0])
    assert caught.value.rows.tolist() == [1, 2]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("case", ["random", "xor", "duplicate"])
def test_inseparable_classes_have_a_certificate(intercept, case):
    rng = np.random.default_rng(3)
    X = XOR if case == "xor" else rng.standard_normal((60, 2))
    y = XOR.prod(axis=1) if case == "xor" else rng.choice([-1.0, 1.0], len(X))
    kernel = Linear()
    if case == "duplicate":
        kernel, X, y = KERNEL, np.vstack([X, X[:1]]), np.append(y, -y[0])
    with pytest.raises(InfeasibleError) as caught:
        RepresenterMachine(kernel, loss="hard_margin", fit_intercept=intercept).fit(X, y)
    d = caught.value.certificate
    # orthogonal to all functions, and of the sign of the labels: sum |d_i| y_i f(x_i) >= 1 cannot hold
    np.testing.assert_allclose(d @ kernel.block(X), 0, atol=ACCURACY)
    assert not intercept or abs(d.sum()) <= ACCURACY
    assert (d * y >= 0).all()
    assert np.abs(d).sum() == pytest.approx(1)


def test_a_matrix_that_is_nearly_singular_is_no_contradiction():
    """Distinct points: some function interpolates, though double precision hardly finds it."""
    X = np.random.default_rng(5).uniform(-1, 1, (60, 1))
    y = np.random.default_rng(6).standard_normal(60)
    kernel = Gaussian(0.05)
    condition = np.linalg.cond(kernel.block(X))
    assert 1e8 < condition < 1e14
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RepresenterMachine(kernel, loss="interpolation").fit(X, y)
    exact = model.solution_.stats["violation"] <= 1e-8 * np.abs(y).max()
    assert model.solution_.converged == exact
    with pytest.raises(InfeasibleError, match="If these points are distinct, some function does"):
        RepresenterMachine(Gaussian(1.0), loss="interpolation").fit(X, y)


def test_linear_systems_without_a_solution(data):
    X, y = data
    with pytest.raises(InfeasibleError):
        RepresenterMachine(Linear(), loss="interpolation").fit(X, y)
    exact = RepresenterMachine(Linear(), loss="interpolation").fit(X, X @ [1.0, -2.0])
    assert exact.norm_ == pytest.approx(np.sqrt(5))
    with pytest.raises(InputError, match=r"low <= high.*row 1"):
        RepresenterMachine(KERNEL, loss="interval").fit([[0.0], [1.0]], [[0, 1], [2, 1]])
    with pytest.raises(InputError, match="shape"):
        RepresenterMachine(KERNEL, loss="interval").fit(X, y)


# -- smooth losses with constraints ---------------------------------------------------------------------
def squared(y, f):
    return 0.5 * ((f - y) ** 2).sum(), f - y


@pytest.mark.parametrize("loss", ["squared", Squared(), squared], ids=["name", "value", "function"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_least_squares_within_bounds(data, loss, intercept, scale):
    X, y = data
    low, high = np.full(40, -0.5), np.full(40, 0.6)
    model = RepresenterMachine(
        KERNEL, loss=Constrained(loss, (-0.5 * scale, 0.6 * scale)), alpha=0.05, fit_intercept=intercept
    ).fit(X, scale * y)
    F, norm = conic(KERNEL.block(X), low, high, y, 0.05, intercept)
    np.testing.assert_allclose(model.predict(X) / scale, F, atol=1e-4)
    objective = 0.5 * ((F - y) ** 2).sum() + 0.025 * norm**2
    assert model.solution_.stats["objective"] / scale**2 == pytest.approx(objective, rel=1e-6)
    assert model.solution_.converged
    assert model.solution_.gap <= 1e-8 * objective * scale**2


def test_a_domain_by_the_targets(data):
    """Some values are known exactly, the others are measured."""
    X, y = data
    known = np.arange(40) < 5
    loss = Constrained("squared", lambda t: (np.where(known, t, -np.inf), np.where(known, t, np.inf)))
    model = RepresenterMachine(KERNEL, loss=loss, alpha=0.1).fit(X, y)
    F, _ = conic(KERNEL.block(X), np.where(known, y, -np.inf), np.where(known, y, np.inf), y, 0.1)
    assert model.solution_.converged
    np.testing.assert_allclose(model.predict(X), F, atol=1e-4)
    np.testing.assert_allclose(model.predict(X)[:5], y[:5], atol=1e-7)
    free = RepresenterMachine(KERNEL, loss=Constrained("squared", (-np.inf, np.inf)), alpha=0.1).fit(X, y)
    plain = RepresenterMachine(KERNEL, loss="squared", alpha=0.1).fit(X, y)
    np.testing.assert_allclose(free.predict(X), plain.predict(X), atol=1e-4)


class Identity(SmoothLoss):
    """Poisson counts with mean f itself: f - y log f, finite where f > 0."""

    def value(self, y, f):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(f > 0, f - y * np.log(f), np.inf)[:, 0]

    def gradient(self, y, f):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(f > 0, 1 - y / f, 0.0)

    def root(self, y, f):
        return Root(np.sqrt(y) / np.maximum(f, 1e-300))

    def conjugate(self, y, s):
        raise NotImplementedError


class IdentityWithDomain(Identity):
    def domain(self, y):
        return np.full(len(y), 1e-6), np.full(len(y), np.inf)


def test_a_loss_that_states_its_domain():
    rng = np.random.default_rng(4)
    X = rng.uniform(-2, 2, (40, 1))
    y = rng.poisson(5 + 2 * np.sin(2 * X[:, 0])).astype(float) + 1
    model = RepresenterMachine(KERNEL, loss=IdentityWithDomain(), alpha=0.1, fit_intercept=True).fit(X, y)
    assert model.solution_.converged
    f = model.predict(X)
    # stationary: alpha a = -slopes up to what K does not see, and slopes of sum zero
    slopes = 1 - y / f
    assert abs(slopes.sum()) <= 1e-3
    np.testing.assert_allclose(f - model.intercept_, -KERNEL.block(X) @ slopes / 0.1, atol=1e-2)


# -- infinite losses that do not say so --------------------------------------------------------------------
def test_infinite_losses_without_a_domain_are_refused(data):
    X, y = data
    with pytest.raises(ParameterError, match="Constrained"):
        RepresenterMachine(KERNEL, loss=Identity(), alpha=0.1).fit(X, np.abs(y) + 1)

    def equal(y, f):
        return (0.0 if np.array_equal(y, f) else np.inf), np.zeros_like(f)

    def margin(y, f):
        return (0.0 if (y * f >= 1).all() else np.inf), np.zeros_like(f)

    def barrier(y, f):  # finite at zero; the minimum is outside
        return (np.inf, f) if f.max() > 0.01 else (0.5 * ((f - y) ** 2).sum(), f - y)

    for loss in (equal, margin, barrier):
        with pytest.raises(ParameterError, match=r"infinite.*Constrained\(loss, \(low, high\)\)"):
            RepresenterMachine(KERNEL, loss=loss, alpha=0.1).fit(X, np.sign(y))


@pytest.mark.parametrize(
    "loss", [Constrained("hinge", (0, 1)), Constrained(HardMargin(), (0, 1)), Constrained(3, (0, 1))]
)
def test_what_can_be_constrained(data, loss):
    with pytest.raises(ParameterError, match="must be smooth"):
        RepresenterMachine(KERNEL, loss=loss).fit(*data)


def test_bad_domains_are_named(data):
    with pytest.raises(ParameterError, match="two numbers"):
        RepresenterMachine(KERNEL, loss=Constrained("squared", 3.0)).fit(*data)
    with pytest.raises(InputError, match="low <= high"):
        RepresenterMachine(KERNEL, loss=Constrained("squared", (1.0, 0.0))).fit(*data)


@pytest.mark.parametrize("loss", [HardMargin(), Interpolation(), Interval()], ids=lambda v: type(v).__name__)
def test_conjugates_of_constraints(loss):
    """The largest of s f over the domain, which is at an end of it."""
    y = {HardMargin: np.array([[1.0], [-1.0]]), Interval: np.array([[-1.0, 2.0], [0.5, 0.5]])}.get(
        type(loss), np.array([[0.3], [-2.0]])
    )
    low, high = loss.domain(y)
    for f, inside in ((low, True), (high, True), (low - 0.1, False), (high + 0.1, False)):
        f = np.where(np.isfinite(f), f, 0.5 * y[:, 0])
        expected = np.where((f >= low) & (f <= high), 0.0, np.inf)
        np.testing.assert_array_equal(loss.value(y, f[:, None]), expected)
        assert not inside or np.isfinite(expected).any()
    for s in (-0.7, 0.0, 0.4):
        conjugate = loss.conjugate(y, np.full((2, 1), s))
        at = np.array(loss.domain(y))
        best = np.where(np.isfinite(at), s * np.where(np.isfinite(at), at, 0.0), -np.inf).max(axis=0)
        unbounded = ((s > 0) & (at[1] == np.inf)) | ((s < 0) & (at[0] == -np.inf))
        np.testing.assert_allclose(conjugate, np.where(unbounded, np.inf, 0.0 if s == 0 else best))


# -- functions of predictions and norm --------------------------------------------------
def test_a_joint_loss_that_is_a_sum_is_the_sum(data):
    X, y = data

    def psi(y, f, t):
        return 0.5 * ((f - y) ** 2).sum() + 0.2 * t**2, f - y, 0.4 * t

    named = RepresenterMachine(KERNEL, loss="squared", alpha=0.4).fit(X, y)
    alone = RepresenterMachine(KERNEL, loss=JointLoss(psi), penalty=None).fit(X, y)
    np.testing.assert_allclose(alone.predict(X), named.predict(X), atol=1e-4)
    assert alone.solution_.converged
    assert alone.solution_.stats["objective"] == pytest.approx(named.solution_.stats["objective"], rel=1e-8)
    with_more = RepresenterMachine(KERNEL, loss=JointLoss(psi), alpha=0.6).fit(X, y)
    named = RepresenterMachine(KERNEL, loss="squared", alpha=1.0).fit(X, y)
    np.testing.assert_allclose(with_more.predict(X), named.predict(X), atol=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_the_root_of_a_sum_of_squares(data, intercept, scale):
    """sqrt(|f - y|^2 + t^2) is no sum; its minimiser is that of the squares."""
    X, y = data

    def psi(y, f, t):
        size = np.sqrt(((f - y) ** 2).sum() + t**2)
        return size, (f - y) / size, t / size

    joint = RepresenterMachine(KERNEL, loss=JointLoss(psi), penalty=None, fit_intercept=intercept)
    joint.fit(X, scale * y)
    ridge = KernelRidge(KERNEL, alpha=1.0, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(joint.predict(X) / scale, ridge.predict(X), atol=1e-4)
    assert joint.solution_.converged


def test_a_joint_loss_with_kinks(data):
    """The larger of the error and of the norm: at the minimum both are equal, on the path of the ridge."""
    X, y = data

    def psi(y, f, t):
        size = np.linalg.norm(f - y)
        return (size, (f - y) / size, 0.0) if size > t else (t, np.zeros_like(f), 1.0)

    model = RepresenterMachine(KERNEL, loss=JointLoss(psi), penalty=None, tol=1e-6).fit(X, y)
    assert model.solution_.converged
    K = KERNEL.block(X)

    def both(alpha):
        a = np.linalg.solve(K + alpha * np.eye(40), y)
        return np.linalg.norm(K @ a - y), np.sqrt(a @ K @ a)

    from scipy.optimize import brentq

    alpha = brentq(lambda v: np.subtract(*both(v)), 1e-6, 1e6)
    assert model.solution_.stats["objective"] == pytest.approx(both(alpha)[0], rel=1e-5)


def test_a_norm_that_is_too_expensive_in_a_joint_loss(data):
    X, y = data

    def psi(y, f, t):
        return 0.5 * ((f - y) ** 2).sum() + 1e3 * t, f - y, 1e3

    model = RepresenterMachine(KERNEL, loss=JointLoss(psi), penalty=None).fit(X, y)
    assert model.norm_ == 0.0
    assert model.solution_.converged


@pytest.mark.parametrize("slope", [-1.0, 0.0], ids=["derivative", "value"])
def test_a_joint_loss_must_not_decrease_with_the_norm(data, slope):
    def psi(y, f, t):
        return 0.5 * ((f - y) ** 2).sum() - t, f - y, slope

    with pytest.raises(ParameterError, match="must not decrease with the norm"):
        RepresenterMachine(KERNEL, loss=JointLoss(psi)).fit(*data)


def test_no_penalty_needs_a_joint_loss(data):
    with pytest.raises(ParameterError, match="`penalty` must be"):
        RepresenterMachine(KERNEL, loss="squared", penalty=None).fit(*data)
    with pytest.raises(ParameterError, match="must return a number, a gradient and a derivative"):
        RepresenterMachine(KERNEL, loss=JointLoss(lambda y, f, t: (1.0, f)), penalty=None).fit(*data)


# -- scales ----------------------------------------------------------------------
@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e20, 1e140])
@pytest.mark.parametrize("penalty", ["squared", "norm", 1.5])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("make", [lambda s: Squared(), lambda s: Huber(0.5 * s)], ids=["squared", "huber"])
def test_the_scale_of_the_targets_does_not_matter(data, scale, penalty, intercept, make):
    X, y = data
    power = {"squared": 2.0, "norm": 1.0}.get(penalty, penalty)
    with np.errstate(all="raise"):
        plain = RepresenterMachine(
            KERNEL, loss=make(1.0), penalty=penalty, alpha=0.1, fit_intercept=intercept
        )
        scaled = RepresenterMachine(
            KERNEL,
            loss=make(scale),
            penalty=penalty,
            alpha=0.1 * scale ** (2 - power),
            fit_intercept=intercept,
        )
        f = plain.fit(X, y).predict(X)
        np.testing.assert_allclose(scaled.fit(X, scale * y).predict(X) / scale, f, atol=1e-7)
    assert scaled.solution_.converged
    expected = plain.solution_.stats["objective"]
    assert scaled.solution_.stats["objective"] / scale**2 == pytest.approx(expected)
