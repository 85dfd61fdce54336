"""Sobolev and spline kernels: the reproducing property by quadrature, exact values; thin plates."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

from mercer.arithmetic import FLOAT, multiprecision
from mercer.certificate import Property, Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels.splines import Sobolev1, Sobolev1HalfLine, Sobolev2, Spline, SplineRemainder
from mercer.kernels.thinplate import ThinPlate

RTOL = 1e-13
QUAD_TOL = 1e-7
#: Step of the central differences that stand for the derivative of a kernel.
STEP = 1e-5


# -- first order ----------------------------------------------------------------------------------
#: Functions of the space with their derivatives; the third is unbounded at 0.
FUNCTIONS = [
    (lambda x: 1.0 + 0.0 * x, lambda x: 0.0 * x),
    (lambda x: x**2 - 3 * x, lambda x: 2 * x - 3),
    (lambda x: x**-0.25, lambda x: -0.25 * x**-1.25),
    (lambda x: math.cos(3 * x), lambda x: -3 * math.sin(3 * x)),
]


@pytest.mark.parametrize("b", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("part", [0.2, 0.7])
@pytest.mark.parametrize("index", range(len(FUNCTIONS)))
def test_sobolev1_reproduces(b, part, index):
    """The inner product with k_y is the value at y: integrated exactly in u = x f, where k_y is elementary.

    With u = x f and G = x y k / y the norm is int (u G + u' G') - u(b) G(b) / b; here the original form
    int (f k + f' k') x^2 is integrated, with the derivative of k written out independently of the library.
    """
    f, df = FUNCTIONS[index]
    y = part * b
    kernel = Sobolev1(b)

    def psi(x):
        return b * math.cosh(b - x) - math.sinh(b - x)

    def dpsi(x):
        return math.cosh(b - x) - b * math.sinh(b - x)

    wronskian = b * math.cosh(b) - math.sinh(b)

    def slope(x):  # derivative of k(x, y) in x
        if x < y:
            return psi(y) / (wronskian * y) * (math.cosh(x) / x - math.sinh(x) / x**2)
        return math.sinh(y) / (wronskian * y) * (dpsi(x) / x - psi(x) / x**2)

    def integrand(x):
        return (f(x) * kernel(x, y) + df(x) * slope(x)) * x**2

    value = sum(scipy.integrate.quad(integrand, s, t, limit=400)[0] for s, t in ((1e-14, y), (y, b)))
    assert math.isclose(value, f(y), rel_tol=QUAD_TOL, abs_tol=QUAD_TOL)
    # and the slope above is that of the kernel
    for x in (0.5 * y, 0.5 * (y + b)):
        h = STEP * x
        assert math.isclose((kernel(x + h, y) - kernel(x - h, y)) / (2 * h), slope(x), rel_tol=1e-6)


@pytest.mark.parametrize("y", [0.4, 2.0])
def test_sobolev1_half_line_reproduces(y):
    kernel = Sobolev1HalfLine()

    def f(x):
        return math.exp(-x) * (1 + x)

    def df(x):
        return -x * math.exp(-x)

    def slope(x):
        if x < y:
            return math.exp(-y) / y * (math.cosh(x) / x - math.sinh(x) / x**2)
        return math.sinh(y) / y * math.exp(-x) * (-1 / x - 1 / x**2)

    def integrand(x):
        return (f(x) * kernel(x, y) + df(x) * slope(x)) * x**2

    value = sum(scipy.integrate.quad(integrand, s, t, limit=400)[0] for s, t in ((1e-14, y), (y, 60.0)))
    assert math.isclose(value, f(y), rel_tol=QUAD_TOL)


def test_sobolev1_on_the_unit_interval_has_the_simple_form():
    x = np.array([1e-3, 0.2, 0.5, 0.99, 1.0])
    lo, hi = np.minimum.outer(x, x), np.maximum.outer(x, x)
    np.testing.assert_allclose(Sobolev1().block(x), np.exp(hi) * np.sinh(lo) / (lo * hi), rtol=1e-14)


def test_long_intervals_tend_to_the_half_line():
    x = np.array([0.1, 1.0, 3.0])
    np.testing.assert_allclose(Sobolev1(60.0).block(x), Sobolev1HalfLine().block(x), rtol=1e-14)


@pytest.mark.parametrize("b", [1e-8, 1e-3, 0.999, 1.001, 40.0, 5e3])
def test_sobolev1_keeps_its_digits(b):
    """b cosh b - sinh b cancels for short intervals and overflows for long ones; eighty digits decide."""
    m = multiprecision(80)
    for s, t in ((0.1, 0.5), (0.3, 1.0), (1.0, 1.0)):
        x, y, end = m.real(s * b), m.real(t * b), m.real(b)
        psi = end * m.cosh(end - y) - m.sinh(end - y)
        want = m.sinh(x) * psi / ((end * m.cosh(end) - m.sinh(end)) * x * y)
        assert math.isclose(Sobolev1(b)(s * b, t * b), float(want), rel_tol=1e-13)
        assert math.isclose(Sobolev1(b).block([s * b], [t * b])[0, 0], float(want), rel_tol=1e-13)


def test_the_printed_form_with_swapped_indicators_is_indefinite():
    x = np.array([0.2, 0.5, 0.9])
    lo, hi = np.minimum.outer(x, x), np.maximum.outer(x, x)
    assert np.linalg.eigvalsh(np.exp(-lo) * np.sinh(hi) / (lo * hi))[0] < -0.01


# -- splines --------------------------------------------------------------------------------------
def test_exact_values_of_the_second_order_kernel():
    one, half = Fraction(1), Fraction(1, 2)
    for kernel in (Sobolev2(), Spline(2)):
        assert kernel.formula(one, one, FLOAT) == Fraction(7, 3)
        assert kernel.formula(half, one, FLOAT) == Fraction(77, 48)
        assert kernel.formula(Fraction(0), one, FLOAT) == 1


def test_sobolev2_is_the_spline_of_order_two():
    x = np.linspace(0, 1, 9)
    np.testing.assert_allclose(Sobolev2().block(x), Spline(2).block(x), rtol=1e-15)


def test_remainder_of_order_one_is_the_minimum():
    x = np.linspace(0, 1, 9)
    np.testing.assert_array_equal(SplineRemainder(1).block(x), np.minimum.outer(x, x))


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_splines_against_quadrature(order):
    """Gauss-Legendre is exact here: the integrand is a polynomial on [0, min(x, y)]."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    scale = math.factorial(order - 1) ** 2
    for x, y in ((0.0, 0.5), (0.3, 0.3), (0.25, 1.0), (1.0, 1.0)):
        lo = min(x, y)
        t = lo * (nodes + 1) / 2
        integral = lo / 2 * np.sum(weights * (x - t) ** (order - 1) * (y - t) ** (order - 1)) / scale
        polynomial = sum((x * y) ** k / math.factorial(k) ** 2 for k in range(order))
        assert math.isclose(SplineRemainder(order)(x, y), integral, rel_tol=1e-13, abs_tol=1e-16)
        assert math.isclose(Spline(order)(x, y), polynomial + integral, rel_tol=1e-13)


def interpolate(f, nodes):
    """Coefficients, lowest first, of the polynomial through the values of ``f``; exact on fractions."""
    total = [Fraction(0)] * len(nodes)
    for x in nodes:
        basis = [f(x)]
        for z in nodes:
            if z != x:  # multiply by (t - z) / (x - z)
                shifted, scaled = [Fraction(0), *basis], [*(-z * c for c in basis), Fraction(0)]
                basis = [(a + b) / (x - z) for a, b in zip(shifted, scaled, strict=True)]
        total = [a + b for a, b in zip(total, basis, strict=True)]
    return total


def derivative(coefficients, times):
    for _ in range(times):
        coefficients = [k * c for k, c in enumerate(coefficients)][1:]
    return coefficients


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("y", [Fraction(1, 3), Fraction(1)])
def test_the_spline_kernel_reproduces_exactly(order, y):
    """sum_k f^(k)(0) k_y^(k)(0) + int f^(m) k_y^(m) = f(y), where k_y is a polynomial on each side of y."""
    kernel = Spline(order)

    def section(x):
        return kernel.formula(*sorted((x, y)), FLOAT)

    below = interpolate(section, [y * j / (2 * order) for j in range(2 * order)])
    above = (
        interpolate(section, [y + (1 - y) * (j + 1) / order for j in range(order)]) if y < 1 else [section(y)]
    )
    assert section(y / 7) == sum(c * (y / 7) ** k for k, c in enumerate(below))
    assert section((1 + y) / 2) == sum(c * ((1 + y) / 2) ** k for k, c in enumerate(above))
    f = [Fraction(k + 1, 2 * k + 1) * (-1) ** k for k in range(7)]
    boundary = sum(math.factorial(k) ** 2 * f[k] * below[k] for k in range(order))
    # above y the m-th derivative of the kernel vanishes, for its degree is m - 1
    integral = sum(
        a * b * y ** (i + j + 1) / (i + j + 1)
        for i, a in enumerate(derivative(f, order))
        for j, b in enumerate(derivative(below, order))
    )
    assert boundary + integral == sum(c * y**k for k, c in enumerate(f))


@pytest.mark.parametrize("order", [1, 2, 5, 32])
def test_spline_bounds_are_attained(order):
    for kernel in (Spline(order), SplineRemainder(order)):
        assert math.isclose(kernel.bounds.high, kernel(1.0, 1.0), rel_tol=1e-14)
        assert kernel(0.0, 0.3) == kernel.bounds.low


def test_null_spaces():
    assert SplineRemainder(3).null_space_degree == 2
    assert ThinPlate(3, 2).null_space_degree == 2


@pytest.mark.parametrize(
    ("kernel", "verdict"),
    [
        (Sobolev1(), Verdict.STRICT),
        (Sobolev1(7.0), Verdict.STRICT),
        (Sobolev1HalfLine(), Verdict.STRICT),
        (Sobolev2(), Verdict.STRICT),
        *((Spline(m), Verdict.STRICT) for m in (1, 2, 4)),
        *((SplineRemainder(m), Verdict.PSD) for m in (1, 2, 4)),
    ],
)
def test_verdicts(kernel, verdict):
    assert kernel.certificate.verdict is verdict


def test_the_remainder_is_singular_at_zero_only():
    assert (SplineRemainder(2).block([0.0], [0.0, 0.5, 1.0]) == 0.0).all()


@pytest.mark.parametrize("t", [0.3, 1.7])
@pytest.mark.parametrize("kernel", [Sobolev1(0.9), Sobolev1(5.0), Sobolev1HalfLine()])
def test_first_order_kernels_are_infinitely_divisible(kernel, t):
    K = kernel.block(np.array([0.05, 0.2, 0.4, 0.7, 0.9])) ** t
    assert np.linalg.eigvalsh(K)[0] > 0


@pytest.mark.parametrize(
    ("kernel", "point"),
    [(Sobolev1(), 0.0), (Sobolev1(), 1.5), (Sobolev1HalfLine(), 0.0), (Spline(2), 1.5), (Sobolev2(), -0.5)],
)
def test_points_outside_the_domain_are_refused(kernel, point):
    with pytest.raises(InputError, match="row 0"):
        kernel.block([point])


# -- thin plates ----------------------------------------------------------------------------------
ORDERS = [(m, d) for d in range(1, 6) for m in range(d // 2 + 1, d // 2 + 5)]


def monomials(X, degree):
    """Values of all monomials of degree at most ``degree``: shape (n, number)."""
    n, d = X.shape
    columns = [np.ones(n)]
    for q in range(1, degree + 1):
        columns += [np.prod(X[:, list(c)], axis=1) for c in combinations_with_replacement(range(d), q)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize(("order", "dim"), ORDERS)
def test_thin_plates_against_the_formula(order, dim):
    rng = np.random.default_rng(dim)
    X = rng.standard_normal((6, dim))
    kernel = ThinPlate(order, dim)
    q = 2 * order - dim
    for i in range(6):
        for j in range(6):
            r = math.dist(X[i], X[j])
            if r == 0:
                want = 0.0
            elif dim % 2:
                want = (-1) ** ((q + 1) // 2) * r**q
            else:
                want = (-1) ** (q // 2 + 1) * r**q * math.log(r)
            assert math.isclose(kernel(X[i], X[j]), want, rel_tol=1e-12, abs_tol=1e-12)
            assert math.isclose(kernel.block(X)[i, j], want, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize(("order", "dim"), [(m, d) for m, d in ORDERS if m <= 4 and d <= 3])
def test_thin_plates_are_conditionally_positive_definite(order, dim):
    """On coefficients that annihilate polynomials of degree < order all eigenvalues are positive."""
    rng = np.random.default_rng(order)
    X = rng.uniform(-1, 1, (2 * math.comb(order - 1 + dim, dim) + 4, dim))
    Z = scipy.linalg.null_space(monomials(X, order - 1).T)
    eigenvalues = np.linalg.eigvalsh(Z.T @ ThinPlate(order, dim).block(X) @ Z)
    assert eigenvalues[0] > 0


def least_order(order, dim):
    return math.floor(order - dim / 2) + 1


@pytest.mark.parametrize(("order", "dim"), [(m, d) for m, d in [*ORDERS, (1, 1), (2, 3), (3, 4)] if m <= 3])
def test_the_order_of_conditional_definiteness_is_the_least(order, dim):
    least = least_order(order, dim)
    X = np.random.default_rng(order).uniform(-1, 1, (40, dim))
    lowest = []
    for degree in (least - 1, least - 2):
        Z = scipy.linalg.null_space(monomials(X, degree).T) if degree >= 0 else np.eye(len(X))
        lowest.append(np.linalg.eigvalsh(Z.T @ ThinPlate(order, dim).block(X) @ Z)[0])
    assert lowest[0] > 0 > lowest[1]
    assert (-1.0 * ThinPlate(order, dim)).certificate.is_nds == (least == 1)


@pytest.mark.parametrize(("order", "dim"), [*ORDERS, (1, 1), (20, 1), (20, 2), (12, 23)])
def test_thin_plates_are_refuted_with_both_witnesses(order, dim):
    certificate = ThinPlate(order, dim).certificate
    assert certificate.verdict is Verdict.CPD
    assert certificate.positive.refuted
    assert certificate.conditional_order == least_order(order, dim)
    positive, negative = certificate.positive.witness, certificate.negative.witness
    assert positive is not None
    assert negative is not None
    assert positive.value < -1.0
    assert negative.refutes is Property.NEGATIVE
    assert sum(negative.coefficients) == 0
    assert negative.value > 1.0


def test_order_one_on_the_line_is_minus_the_distance():
    plate = ThinPlate(1, 1)
    assert plate([0.0], [3.0]) == -3.0
    assert (-1.0 * plate).certificate.is_nds
    assert not (-1.0 * ThinPlate(2, 1)).certificate.is_nds
    assert not (-1.0 * ThinPlate(2, 2)).certificate.is_nds


def test_thin_plates_need_enough_derivatives():
    with pytest.raises(ParameterError, match="ThinPlate: `order` must be above dim / 2 = 2"):
        ThinPlate(2, 4)
    with pytest.raises(InputError, match="2 column"):
        ThinPlate().block([[1.0]])


def test_overflow_is_an_error():
    with pytest.raises(InputError, match="ThinPlate"):
        ThinPlate(4, 1).block([[0.0], [1e100]])
