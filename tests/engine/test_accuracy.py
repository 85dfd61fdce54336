"""Promised accuracy, against exact rational arithmetic and 50 digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from mercer import _native
from mercer.engine import pairwise as engine
from mercer.engine.program import Builder, Program

pytestmark = pytest.mark.native

EPS = Fraction(np.finfo(np.float64).eps)


def exact_squared_distance(x, y):
    return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x.tolist(), y.tolist(), strict=True))


def far_from_the_origin(rng, d):
    return 1e8 + rng.normal(size=(9, d))


def clustered(rng, d):
    centres = 1e6 * rng.normal(size=(3, d))
    return np.repeat(centres, 3, axis=0) + 1e-6 * rng.normal(size=(9, d))


def neighbours_in_floating_point(rng, d):
    X = np.repeat(rng.normal(size=(1, d)) * 1e10, 9, axis=0)
    for i in range(1, 9):
        X[i] = np.nextafter(X[i - 1], np.inf)
    return X


def of_all_sizes(rng, d):
    return 10.0 ** rng.uniform(-120, 120, size=(9, d)) * rng.choice([-1, 1], size=(9, d))


@pytest.mark.parametrize("d", [1, 2, 5, 50, 131])
@pytest.mark.parametrize(
    "family", [far_from_the_origin, clustered, neighbours_in_floating_point, of_all_sizes]
)
def test_relative_error_of_squared_distances(family, d):
    X = family(np.random.default_rng(d), d)
    D = engine.squared_distances(X)
    for i in range(len(X)):
        for j in range(len(X)):
            exact = exact_squared_distance(X[i], X[j])
            assert abs(Fraction(D[i, j]) - exact) <= (d + 8) * EPS * exact


def test_the_textbook_formula_would_fail_this_bound():
    X = far_from_the_origin(np.random.default_rng(0), 5)
    expanded = (X**2).sum(1)[:, None] + (X**2).sum(1)[None, :] - 2 * X @ X.T
    exact = exact_squared_distance(X[0], X[1])
    assert abs(Fraction(expanded[0, 1]) - exact) > (5 + 8) * EPS * exact


def test_float32_distances_are_rounded_only_once():
    X = (1e4 + np.random.default_rng(1).normal(size=(8, 40))).astype(np.float32)
    D = engine.squared_distances(X)
    assert D.dtype == np.float32
    for i in range(8):
        for j in range(8):
            exact = exact_squared_distance(X[i], X[j])
            assert abs(Fraction(float(D[i, j])) - exact) <= Fraction(1, 2**24) * exact * (1 + 64 * EPS)


def in_double_precision(X):
    """Squared distances of float32 points as the steps of a program have them, before they are rounded."""
    b = Builder(len(X), len(X), symmetric=True)
    return Program.of(b, b.squared_distances(X, None)).dense(dtype=np.float64)


def near_the_origin(rng, d):
    return rng.normal(size=(12, d))


def at_an_offset(rng, d):
    return 1e4 + rng.normal(size=(12, d))


def clusters_of_all_widths(rng, d):
    """Between pairs that are far apart and pairs that are close, where one form gives way to the other."""
    return rng.normal(size=(1, d)) + 2.0 ** -np.arange(12)[:, None] * rng.normal(size=(12, d))


def duplicates(rng, d):
    return np.repeat(rng.normal(size=(4, d)), 3, axis=0)


def single_of_all_sizes(rng, d):
    return 10.0 ** rng.uniform(-18, 18, size=(12, d)) * rng.choice([-1, 1], size=(12, d))


SINGLE_FAMILIES = [near_the_origin, at_an_offset, clusters_of_all_widths, duplicates, single_of_all_sizes]


@pytest.mark.parametrize("d", [0, 1, 3, 127, 128, 129, 300])
@pytest.mark.parametrize("family", SINGLE_FAMILIES)
def test_relative_error_of_squared_distances_of_float32_points(family, d):
    X = family(np.random.default_rng(d), d).astype(np.float32)
    D, rounded = in_double_precision(X), engine.squared_distances(X)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(rounded, D.astype(np.float32))
    for i in range(len(X)):
        for j in range(i + 1):
            exact = exact_squared_distance(X[i], X[j])
            assert abs(Fraction(D[i, j]) - exact) <= (d + 1) * Fraction(1, 2**42) * exact


@pytest.mark.parametrize("d", [1, 3, 128, 129])
@pytest.mark.parametrize("family", SINGLE_FAMILIES)
def test_distances_of_float64_points_rounded_to_float32(family, d):
    X = family(np.random.default_rng(d), d)
    b = Builder(len(X), len(X), symmetric=True)
    program = Program.of(b, b.squared_distances(X, None))
    D = program.dense(dtype=np.float32)
    np.testing.assert_array_equal(D, D.T)
    for i in range(len(X)):
        for j in range(i + 1):
            exact = exact_squared_distance(X[i], X[j])
            assert abs(Fraction(float(D[i, j])) - exact) <= Fraction(1, 2**24) * exact * (
                1 + Fraction(1, 2**8)
            )


def test_distances_whose_squares_overflow_are_computed_from_differences():
    X = np.array([[1e160, 0.0], [1e160, 3.0]])
    b = Builder(2, 2, symmetric=True)
    D = Program.of(b, b.squared_distances(X, None)).dense(dtype=np.float32)
    np.testing.assert_array_equal(D, [[0.0, 9.0], [9.0, 0.0]])


@pytest.mark.parametrize("d", [1, 50, 129])
def test_squared_distances_of_float32_points_depend_on_the_pair_alone(d):
    rng = np.random.default_rng(d)
    X = np.vstack([family(rng, d) for family in SINGLE_FAMILIES]).astype(np.float32)
    D = in_double_precision(X)
    for i in range(0, len(X), 7):
        for j in range(len(X)):
            assert in_double_precision(X[[i, j]])[0, 1] == D[i, j]


def test_infinite_float32_points_are_infinitely_far_from_others():
    X = np.array([[np.inf, 1.0], [0.0, 1.0], [-3e38, 1.0], [3e38, 1.0]], dtype=np.float32)
    with np.errstate(over="ignore"):
        D = engine.squared_distances(X)
    np.testing.assert_array_equal(D[0, 1:], np.inf)
    assert D[2, 3] == np.inf
    np.testing.assert_array_equal(D[1:, 1:].diagonal(), 0)


def exact_chi_square(x, y):
    pairs = [(Fraction(a), Fraction(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True) if a + b > 0]
    return sum((a - b) ** 2 / (a + b) for a, b in pairs)


def histograms(rng, d):
    return rng.dirichlet(np.full(d, 0.5), size=9) * (rng.random((9, d)) < 0.5)


def small(rng, d):
    return 1e-70 * histograms(rng, d)


def very_small(rng, d):
    return 1e-280 * (histograms(rng, d) + 1e-3)


def very_large(rng, d):
    return 1e280 * histograms(rng, d)


def nearly_equal(rng, d):
    return rng.random((1, d)) + 1e-9 * rng.random((9, d))


def nonnegative_of_all_sizes(rng, d):
    return 10.0 ** rng.uniform(-140, 140, size=(9, d))


def equal_but_for_one_small_entry(rng, d):
    X = np.repeat(10.0 ** rng.uniform(-200, 280, size=(1, d)), 9, axis=0)
    X[:, 0] = 1e-60 * np.arange(9)
    return X


@pytest.mark.parametrize("d", [1, 3, 4, 5, 127, 130])
@pytest.mark.parametrize(
    "family",
    [
        histograms,
        small,
        very_small,
        very_large,
        nearly_equal,
        nonnegative_of_all_sizes,
        equal_but_for_one_small_entry,
    ],
)
def test_relative_error_of_chi_square(family, d):
    X = family(np.random.default_rng(d), d)
    D = engine.chi_square(X)
    np.testing.assert_array_equal(D, D.T)
    for i in range(len(X)):
        for j in range(i + 1):
            exact = exact_chi_square(X[i], X[j])
            assert abs(Fraction(D[i, j]) - exact) <= (d + 8) * EPS * exact
            assert engine.chi_square(X[[i]], X[[j]])[0, 0] == D[i, j]


def test_chi_square_where_only_the_common_divisor_overflows():
    x = np.array([[1e160, 0.5, 1e160, 0.5, 0.5, 0.5, 0.5, 0.5]])
    y = x.copy()
    y[0, [1, 4]] += [1e-15, 3e-16]
    exact = exact_chi_square(x[0], y[0])
    assert abs(Fraction(engine.chi_square(x, y)[0, 0]) - exact) <= (8 + 8) * EPS * exact


def exact_jensen(x, y):
    def h(t):
        return -t * mpmath.log(t) if t else mpmath.mpf(0)

    pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return sum(h((a + b) / 2) - (h(a) + h(b)) / 2 for a, b in pairs)


@pytest.mark.parametrize("gap", [1e-15, 1e-9, 1e-3, 0.3, 0.49, 0.51, 0.9, 1.0, 1.001, 3.0, 1e3, 1e12])
def test_jensen_keeps_its_digits_at_any_distance(gap):
    """Ratios of the entries on both sides of t = 1/3, where the native code changes its formula."""
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(size=(1, 6)))
    y = x * (1 + gap * rng.uniform(0.9, 1.1, size=x.shape))
    with mpmath.workdps(60):
        exact = exact_jensen(x[0], y[0])
        for value in (engine.jensen(x, y)[0, 0], engine.jensen(y, x)[0, 0]):
            assert abs(mpmath.mpf(value) - exact) <= (6 + 16) * float(EPS) * exact


def test_jensen_at_the_border():
    tiny = np.nextafter(0.0, 1.0)
    x = np.array([[0.0, 1.0, 0.0, 1.0, tiny, 1.0, 1e-300]])
    y = np.array([[0.0, 0.0, 1.0, tiny, tiny, 1e-310, 1.0]])
    with mpmath.workdps(400):
        exact = exact_jensen(x[0], y[0])
    np.testing.assert_allclose(engine.jensen(x, y)[0, 0], float(exact), rtol=1e-15)
    assert engine.jensen(x)[0, 0] == 0.0


def test_disjoint_distributions_are_log_two_apart():
    np.testing.assert_allclose(
        engine.jensen(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])), np.log(2), rtol=1e-15
    )


def test_chi_square_of_very_small_and_very_large_entries():
    x, y = np.array([[1e-300, 1e300, 0.0]]), np.array([[3e-300, 3e300, 0.0]])
    np.testing.assert_allclose(engine.chi_square(x, y), 1e300, rtol=1e-15)
    np.testing.assert_allclose(engine.chi_square(x[:, ::2], y[:, ::2]), 1e-300, rtol=1e-15)


@pytest.mark.parametrize("name", ["squared_distances", "l1_distances", "chi_square", "jensen"])
def test_never_negative_on_nearly_equal_rows(name):
    rng = np.random.default_rng(5)
    X = rng.random((60, 12))
    Y = X * (1 + rng.choice([-1, 0, 1], size=X.shape) * 2.0**-52)
    for D in (getattr(engine, name)(X, Y), getattr(engine, name)(X.astype(np.float32), Y)):
        assert np.all(D >= 0)


def test_infinite_results_are_infinite_not_nan():
    X = np.array([[1e200], [-1e200]])
    assert engine.squared_distances(X)[0, 1] == np.inf
    assert engine.squared_distances(X)[0, 0] == 0


def test_dot_with_and_without_the_blas_of_scipy(monkeypatch):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(150, 31)), rng.normal(size=(140, 31))
    by_blas = engine.dot(X, Y)
    assert _native.set_gemm(object(), object()) is False
    monkeypatch.setattr(engine, "_gemm_is_set", lambda: False)
    try:
        np.testing.assert_allclose(engine.dot(X, Y), by_blas, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(engine.dot(X), engine.dot(X).T)
    finally:
        monkeypatch.undo()
        engine._gemm_is_set.cache_clear()
    np.testing.assert_array_equal(engine.dot(X, Y), by_blas)
