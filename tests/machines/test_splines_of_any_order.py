"""Splines of any order and thin plates against the bordered system in exact arithmetic, and refitting."""

from fractions import Fraction
from itertools import product
from math import factorial, pi

import mpmath
import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from mercer.errors import InputError, ParameterError
from mercer.kernels import SplineRemainder, ThinPlate
from mercer.machines import SmoothingSpline, ThinPlateSpline
from mercer.machines.splines.polyharmonic import Polyharmonic, energy_factor
from mercer.solvers import spline_errors

#: Errors of double precision in well scaled problems, relative to the data.
ACCURACY = 1e-7


class OnTwoFeatures(ThinPlateSpline):
    """The checks of scikit-learn bring many features: a spline on the first two of them."""

    def _points(self, X, *, reset):
        return validate_data(self, X, reset=reset, dtype=np.float64)[:, :2].copy()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # two of the features do not explain the target
        return tags


class OnFirstFeature(SmoothingSpline):
    def _points(self, X, *, reset):
        return validate_data(self, X, reset=reset, dtype=np.float64)[:, 0].copy()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        tags.regressor_tags.poor_score = True
        return tags


ROWS_COUNT = (
    "choosing the penalty counts rows: two equal data are evidence about the noise, "
    "one datum of weight two is not"
)


def expected(estimator):
    return {} if estimator.alpha else {"check_sample_weight_equivalence_on_dense_data": ROWS_COUNT}


@parametrize_with_checks(
    [OnTwoFeatures(), OnTwoFeatures(alpha=0.5), OnFirstFeature(order=3), OnFirstFeature(order=1, alpha=0.5)],
    expected_failed_checks=expected,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def data(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 5, (n, dim))
    y = np.sin(X).sum(axis=1) + 0.2 * rng.standard_normal(n) + 3
    return X, y, rng.uniform(0.3, 3.0, n)


def laplacian(terms, dim):
    """Of a sum of c r^s (log r)^l, as a dictionary from (s, l) to c, l = 0 or 1."""
    result = {}
    for (s, log), c in terms.items():
        for key, value in (((s - 2, log), s * (s + dim - 2)), ((s - 2, 0), log * (2 * s + dim - 2))):
            result[key] = result.get(key, 0) + c * value
    return {key: c for key, c in result.items() if c}


@pytest.mark.parametrize(("order", "dim"), [(m, d) for m in range(1, 7) for d in range(1, 6) if 2 * m > d])
def test_the_factor_makes_the_kernel_a_fundamental_solution(order, dim):
    """m - 1 Laplacians lead to the fundamental solution of one, whose factor textbooks give."""
    power, sign = 2 * order - dim, ThinPlate(order=order, dim=dim)._sign
    terms = {(power, 1 - dim % 2): Fraction(sign)}
    for _ in range(order - 1):
        terms = laplacian(terms, dim)
    # (-1)^(m-1) Laplacian^(m-1) E solves -Laplacian u = delta: u = -|x|/2, -log r / 2 pi, c / r^(d - 2)
    lead = terms[2 - dim, 1 if dim == 2 else 0] * (-1) ** (order - 1) * Fraction(1)
    ball = {1: 2.0, 2: 2 * pi, 3: 4 * pi, 4: 2 * pi**2, 5: 8 * pi**2 / 3}[dim]  # area of the unit sphere
    textbook = -1 / ball if dim == 2 else 1 / ((dim - 2) * ball)
    assert energy_factor(order, dim) * float(lead) == pytest.approx(textbook, rel=1e-12)
    assert set(terms) <= {(2 - dim, 1), (2 - dim, 0)}


def bordered(X, y, w, alpha, order, Z):
    """Predictions at Z with 50 digits: kernel matrix and monomials, as the problem says."""
    n, dim = X.shape
    power = 2 * order - dim
    sign = ThinPlate(order=order, dim=dim)._sign
    with mpmath.workdps(50):
        theta = mpmath.mpf(sign)
        if dim % 2:
            theta *= abs(mpmath.gamma(mpmath.mpf(dim) / 2 - order)) / (
                mpmath.mpf(2) ** (2 * order) * mpmath.pi ** (mpmath.mpf(dim) / 2) * factorial(order - 1)
            )
        else:
            theta /= (
                mpmath.mpf(2) ** (2 * order - 1)
                * mpmath.pi ** (dim // 2)
                * factorial(order - 1)
                * factorial(order - dim // 2)
            )

        def kernel(u, v):
            r = mpmath.sqrt(
                sum((mpmath.mpf(float(a)) - mpmath.mpf(float(b))) ** 2 for a, b in zip(u, v, strict=True))
            )
            if dim % 2:
                return theta * r**power
            return theta * r**power * mpmath.log(r) if r else mpmath.mpf(0)

        degrees = [g for g in product(range(order), repeat=dim) if sum(g) < order]

        def monomials(u):
            return [
                mpmath.fprod(mpmath.mpf(float(a)) ** k for a, k in zip(u, g, strict=True)) for g in degrees
            ]

        M = len(degrees)
        A, right = mpmath.zeros(n + M, n + M), mpmath.zeros(n + M, 1)
        for i in range(n):
            right[i] = mpmath.mpf(float(y[i]))
            for j in range(n):
                A[i, j] = kernel(X[i], X[j]) + (alpha / mpmath.mpf(float(w[i])) if i == j else 0)
            for j, value in enumerate(monomials(X[i])):
                A[i, n + j] = A[n + j, i] = value
        solved = mpmath.lu_solve(A, right)
        rows = [[*(kernel(z, x) for x in X), *monomials(z)] for z in Z]
        return np.array([float(mpmath.fdot(row, solved)) for row in rows])


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("alpha", [1e-2, 1.0, 100.0])
def test_on_the_line_it_is_the_bordered_system(order, alpha):
    X, y, w = data(16, 1)
    Z = np.linspace(-4, 8, 25)[:, None]  # beyond the data too
    expected = bordered(X, y, w, alpha, order, Z)
    found = SmoothingSpline(order=order, alpha=alpha).fit(X[:, 0], y, w).predict(Z[:, 0])
    np.testing.assert_allclose(found, expected, rtol=ACCURACY, atol=ACCURACY)


@pytest.mark.parametrize(("order", "dim"), [(2, 1), (2, 2), (3, 2), (2, 3), (3, 3), (3, 4)])
@pytest.mark.parametrize("alpha", [0, 1e-2, 1.0])
def test_thin_plates_are_the_bordered_system(order, dim, alpha):
    X, y, w = data(24, dim)
    Z = np.vstack([X[:4], np.random.default_rng(1).uniform(-4, 8, (6, dim))])
    expected = bordered(X, y, w, alpha, order, Z)
    found = ThinPlateSpline(order=order, alpha=alpha).fit(X, y, w).predict(Z)
    np.testing.assert_allclose(found, expected, rtol=ACCURACY, atol=ACCURACY)


@pytest.mark.parametrize("order", [1, 3, 4])
def test_on_the_line_it_is_ridge_with_the_spline_kernel_and_free_polynomials(order):
    """Truncated powers on [0, 1] instead of powers of distances."""
    X, y, w = data(20, 1)
    x, alpha = X[:, 0], 0.3
    length = np.ptp(x)
    t = (x - x.min()) / length
    K, T = SplineRemainder(order).block(t[:, None]), np.vander(t, order, increasing=True)
    scaled = alpha / length ** (2 * order - 1)
    A = np.block([[K + scaled * np.diag(1 / w), T], [T.T, np.zeros((order, order))]])
    solved = np.linalg.solve(A, np.concatenate([y, np.zeros(order)]))
    model = SmoothingSpline(order=order, alpha=alpha).fit(x, y, w)
    np.testing.assert_allclose(model.values_, (K @ solved[:20] + T @ solved[20:])[np.argsort(x)], rtol=1e-8)


def test_order_two_is_the_recursion():
    X, y, w = data(30, 1)
    order = np.argsort(X[:, 0])
    X, y, w = X[order], y[order], w[order]
    for alpha in (1e-2, 1.0, 1e3):
        dense = Polyharmonic(X, w, 2, "test")
        model = SmoothingSpline(alpha=alpha).fit(X[:, 0], y, w)
        np.testing.assert_allclose(dense.fit(y[:, None], alpha).predict(X)[:, 0], model.values_, rtol=1e-8)
        np.testing.assert_allclose(
            ThinPlateSpline(alpha=alpha).fit(X, y, w).values_, model.values_, rtol=1e-8
        )
        for ours, theirs in zip(dense.errors(y, alpha), spline_errors(X[:, 0], y, w, alpha), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-10)
        assert dense.degrees_of_freedom(alpha) == pytest.approx(model.degrees_of_freedom_, rel=1e-8)


MACHINES = {
    "line 1": (lambda **k: SmoothingSpline(order=1, **k), 1),
    "line 3": (lambda **k: SmoothingSpline(order=3, **k), 1),
    "plane": (lambda **k: ThinPlateSpline(**k), 2),
    "space": (lambda **k: ThinPlateSpline(**k), 3),
}


@pytest.mark.parametrize("name", MACHINES)
def test_leave_one_out_is_refitting_also_of_repeated_x(name):
    make, dim = MACHINES[name]
    X, y, w = data(18, dim, seed=3)
    X[5] = X[6] = X[7]
    Y = np.column_stack([y, np.cos(y)])

    def by_refitting(alpha):
        errors = np.empty_like(Y)
        for i in range(len(X)):
            kept = np.arange(len(X)) != i
            errors[i] = Y[i] - make(alpha=alpha).fit(X[kept], Y[kept], w[kept]).predict(X[i : i + 1])[0]
        return float((w[:, None] * errors**2).sum() / w.sum())

    model = make(criterion="loo").fit(X, Y, w)
    for i in (10, 20, int(np.argmin(model.errors_)), -1):
        assert model.errors_[i] == pytest.approx(by_refitting(model.alphas_[i]), rel=1e-6)
    assert model.errors_.min() == pytest.approx(by_refitting(model.alpha_), rel=1e-6)


@pytest.mark.parametrize("name", MACHINES)
def test_gcv_is_its_definition(name):
    make, dim = MACHINES[name]
    X, _, _ = data(60, dim, seed=5)
    y = np.sin(0.3 * X[:, 0]) + 0.2 * np.random.default_rng(1).standard_normal(60)
    model = make().fit(X, y)
    assert model.alphas_[0] < model.alpha_ < model.alphas_[-1]

    def gcv(alpha):
        H = make(alpha=alpha).fit(X, np.eye(60)).predict(X)  # the map from data to fitted values
        assert make(alpha=alpha).fit(X, y).degrees_of_freedom_ == pytest.approx(np.trace(H), rel=1e-6)
        return np.mean((y - H @ y) ** 2) / (1 - np.trace(H) / 60) ** 2

    assert model.errors_.min() == pytest.approx(gcv(model.alpha_), rel=1e-6)
    assert all(gcv(model.alpha_ * f) >= model.errors_.min() * (1 - 1e-9) for f in (0.9, 1.1))


@pytest.mark.parametrize("order", [1, 3, 4])
def test_beyond_the_data_it_is_a_polynomial(order):
    X, y, w = data(25, 1)
    model = SmoothingSpline(order=order, alpha=0.1).fit(X[:, 0], y, w)
    end = X.max()
    near, far = np.linspace(end, end + 1, order + 1), np.array([end + 50.0, end + 1e4])
    polynomial = np.polynomial.Polynomial.fit(near, model.predict(near), order - 1)
    np.testing.assert_allclose(model.predict(far), polynomial(far), rtol=1e-6)
    assert model.predict([end + 1.0], derivative=order) == 0


@pytest.mark.parametrize("order", [1, 3, 4])
def test_derivatives(order):
    X, y, w = data(25, 1)
    model = SmoothingSpline(order=order, alpha=0.1).fit(X[:, 0], np.column_stack([y, -y]), w)
    z, step = np.linspace(-2.3, 5.3, 39), 1e-4
    for k in range(2 * order - 2):
        quotient = (model.predict(z + step, derivative=k) - model.predict(z - step, derivative=k)) / (
            2 * step
        )
        slope = model.predict(z, derivative=k + 1)
        np.testing.assert_allclose(slope, quotient, atol=1e-3 * np.abs(slope).max())
    with pytest.raises(ParameterError, match=f"from 0 to {2 * order - 1}"):
        model.predict(z, derivative=2 * order)
    # natural: the derivatives from order m on vanish at the ends
    for k in range(order, 2 * order - 1):
        ends = model.predict([X.min(), X.max()], derivative=k)
        np.testing.assert_allclose(ends, 0, atol=1e-6 * np.abs(model.predict(z, derivative=k)).max())


def test_polynomials_are_free():
    X, _, w = data(40, 2)
    y = 2 - X[:, 0] + 3 * X[:, 0] * X[:, 1] - X[:, 1] ** 2
    Z = np.random.default_rng(0).uniform(-9, 9, (10, 2))
    for alpha in (1.0, 1e6, np.inf):
        model = ThinPlateSpline(order=3, alpha=alpha).fit(X, y, w)
        truth = 2 - Z[:, 0] + 3 * Z[:, 0] * Z[:, 1] - Z[:, 1] ** 2
        np.testing.assert_allclose(model.predict(Z), truth, rtol=1e-6, atol=1e-6)
    assert model.degrees_of_freedom_ == 6


def test_limits_of_the_penalty_and_weights():
    X, y, _ = data(30, 2)
    np.testing.assert_allclose(ThinPlateSpline(alpha=0).fit(X, y).predict(X), y, rtol=1e-9)
    counts = np.random.default_rng(0).integers(0, 3, 30).astype(float)
    index = np.repeat(np.arange(30), counts.astype(int))
    for alpha in (0, 0.3, np.inf):
        weighted = ThinPlateSpline(alpha=alpha).fit(X, y, counts).predict(X)
        repeated = ThinPlateSpline(alpha=alpha).fit(X[index], y[index]).predict(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_moved_rotated_and_scaled_points():
    X, y, w = data(30, 2)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    plain = ThinPlateSpline(alpha=0.3).fit(X, y, w).values_
    moved = ThinPlateSpline(alpha=0.3).fit(X @ turn + 5, y, w).predict(X @ turn + 5)
    np.testing.assert_allclose(moved, ThinPlateSpline(alpha=0.3).fit(X, y, w).predict(X), rtol=1e-8)
    scaled = ThinPlateSpline(alpha=0.3 * 100.0**2).fit(100 * X, y, w).values_  # the energy has the unit 1/x^2
    np.testing.assert_allclose(scaled, plain, rtol=1e-8)


def test_points_must_determine_the_polynomials():
    line = np.column_stack([np.arange(9.0), 2 * np.arange(9.0)])
    with pytest.raises(InputError, match=r"must determine the 3 polynomials of degree < 2.*determine 2"):
        ThinPlateSpline().fit(line, np.arange(9.0))
    circle = np.column_stack([np.cos(np.arange(9.0)), np.sin(np.arange(9.0))])
    ThinPlateSpline().fit(circle, np.arange(9.0))
    with pytest.raises(InputError, match=r"must determine the 6 polynomials of degree < 3.*determine 5"):
        ThinPlateSpline(order=3).fit(circle, np.arange(9.0))
    with pytest.raises(InputError, match="Got 2 of positive weight"):
        SmoothingSpline(order=3).fit([0.0, 1.0, 1.0], [0.0, 1.0, 2.0])
    exact = SmoothingSpline(order=3).fit([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])  # as many points as polynomials
    np.testing.assert_allclose(exact.predict([3.0]), [9.0])


def test_a_point_that_is_needed_cannot_be_left_out():
    X = np.column_stack([np.arange(9.0), np.zeros(9)])
    X[4, 1] = 1.0  # the only point off the line
    y = np.sin(X[:, 0])
    with pytest.raises(InputError, match=r"criterion='loo' needs points.*\[4.0, 1.0\]"):
        ThinPlateSpline(criterion="loo").fit(X, y)
    assert np.isfinite(ThinPlateSpline().fit(X, y).predict(X)).all()


def test_dimensions_that_need_a_higher_order():
    X, y, _ = data(40, 4)
    with pytest.raises(
        ParameterError, match=r"above d / 2 = 2 for 4 features. Got 2. Set order=3, which leaves 15"
    ):
        ThinPlateSpline().fit(X, y)
    assert np.isfinite(ThinPlateSpline(order=3).fit(X, y).predict(X)).all()


def test_penalties_below_rounding_are_refused():
    x = np.linspace(0, 1, 100)
    with pytest.raises(ParameterError, match="`alpha` must be at least"):
        SmoothingSpline(order=6, alpha=0.0).fit(x, x)
    assert SmoothingSpline(order=6).fit(x, np.sin(9 * x)).predict([0.5]) == pytest.approx(
        np.sin(4.5), abs=1e-3
    )


@pytest.mark.parametrize("order", [3, 5])
def test_the_least_penalty_is_resolved(order):
    x = np.sort(np.random.default_rng(0).uniform(0, 1, 40))
    y, w, Z = np.sin(9 * x), np.ones(40), np.linspace(0, 1, 9)[:, None]
    smoother = Polyharmonic(x[:, None], w, order, "test")
    least = smoother.ridge.least / smoother._in_units(1.0)
    assert least > 0
    found = SmoothingSpline(order=order, alpha=1.001 * least).fit(x, y).predict(Z[:, 0])
    np.testing.assert_allclose(found, bordered(x[:, None], y, w, 1.001 * least, order, Z), atol=1e-4)


@pytest.mark.parametrize("order", [0, 33, 2.5, True, "2"])
def test_bad_orders_are_named(order):
    for machine in (SmoothingSpline, ThinPlateSpline):
        with pytest.raises(ParameterError, match="`order` must be a whole number from 1 to 32"):
            machine(order=order).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
