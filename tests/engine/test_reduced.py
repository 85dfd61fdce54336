"""Reduced precision: functions of a squared distance or an inner product in single precision throughout."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.domains import take
from mercer.engine import reduced
from mercer.engine.runs import Stopped, until
from mercer.gram import gram
from mercer.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, RationalQuadratic

pytestmark = pytest.mark.native

#: Rounding of sums over 130 features in single precision, also without fused multiplications.
SINGLE = 5e-6


def fill(k, X, rows, slots, out):
    """Whether there is a reduced form; then it has written the rows."""
    prepared = k._prepare(X)
    return k._program(take(prepared, rows), prepared).fill(slots, out, reduced=True)


def is_reduced(k, X):
    """Whether reduced precision changes a bit of the rows of a Gram matrix."""
    every, G = np.arange(len(X)), gram(k, X)._in_single()
    plain, reduced = np.empty((2, len(X), len(X)), dtype=np.float32)
    G._fill_slots(every, every, plain)
    G._fill_slots(every, every, reduced, reduced=True)
    return not np.array_equal(plain, reduced)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100, 129])
@pytest.mark.parametrize("d", [1, 5, 130])
def test_values_of_scattered_rows_in_scattered_places(n, d):
    rng = np.random.default_rng(n + d)
    X = 3.0 + rng.standard_normal((n, d))
    k = Gaussian(np.sqrt(d))
    rows, slots = rng.permutation(n)[:37], rng.permutation(40)[: min(n, 37)]
    out = np.full((40, n), -1.0, dtype=np.float32)
    assert fill(k, X, rows, slots, out)
    exact = gram(k, X).dense()[rows]
    np.testing.assert_allclose(out[slots], exact, rtol=5e-6, atol=2e-7)
    assert np.abs(out[slots, rows] - 1.0).max() < 2e-6  # without a bias: rounding goes up and down
    untouched = np.setdiff1d(np.arange(40), slots)
    assert (out[untouched] == -1.0).all()


def test_small_values_fade_to_zero_and_no_value_exceeds_one_but_for_rounding():
    X = np.linspace(0.0, 9.0, 200)[:, None]
    out = np.empty((200, 200), dtype=np.float32)
    every = np.arange(200)
    assert fill(Gaussian(0.5), X, every, every, out)
    exact = gram(Gaussian(0.5), X).dense()
    assert (out == np.clip(out, 0.0, 1.0 + 2.0**-22)).all()
    np.testing.assert_allclose(out, exact, rtol=1e-4, atol=2e-7)
    assert (out[0][exact[0] < 1e-31] == 0.0).all()


def test_bits_depend_on_the_pair_alone(monkeypatch):
    X = np.random.default_rng(0).standard_normal((150, 7))
    every = np.arange(150)
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        out = np.empty((150, 150), dtype=np.float32)
        assert fill(Gaussian(2.0), X, every, every, out)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[0].T)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    one = np.empty((1, 150), dtype=np.float32)
    assert fill(Gaussian(2.0), X, np.array([77]), np.array([0]), one)
    np.testing.assert_array_equal(one[0], results[0][77])


def test_widths_per_feature():
    X = np.random.default_rng(2).standard_normal((50, 3))
    k = Gaussian(np.array([0.5, 2.0, 8.0]))
    out = np.empty((50, 50), dtype=np.float32)
    assert fill(k, X, np.arange(50), np.arange(50), out)
    np.testing.assert_allclose(out, gram(k, X).dense(), rtol=2e-5, atol=2e-7)
    assert is_reduced(k, X)


FUNCTIONS = {
    "matern 3/2": Matern(1.5, 2.0),
    "matern 5/2": Matern(2.5, 2.0),
    "rational quadratic": RationalQuadratic(sigma=2.0),
    "sum": 2.0 * Gaussian(2.0) + Gaussian(5.0) + 1.0,
    "product": Gaussian(2.0) * Matern(1.5, 3.0),
    "power": RationalQuadratic(sigma=2.0) ** 3,
    "linear": Linear(),
    "polynomial": Polynomial(3),
    "sum of dot products": Polynomial(2) + 0.5 * Linear(),
    "exponential of a dot product": (0.1 * Linear()).exp(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("d", [1, 6, 130])
def test_functions_of_one_distance_or_inner_product(name, d):
    k, X = FUNCTIONS[name], np.random.default_rng(d).standard_normal((70, d)) * (6 / d) ** 0.5
    every = np.arange(70)
    out = np.empty((70, 70), dtype=np.float32)
    assert fill(k, X, every, every, out)
    assert is_reduced(k, X)
    exact = gram(k, X).dense()
    # Rounding of a sum is relative to the longest points; a typical value is that of one with itself.
    unit = np.abs(exact) + np.median(exact.diagonal())
    assert (np.abs(out - exact) / unit).max() < SINGLE
    np.testing.assert_array_equal(out, out.T)


@pytest.mark.parametrize("name", ["matern 3/2", "polynomial"])
def test_single_precision_points_and_rows_beyond_the_columns(name):
    rng = np.random.default_rng(3)
    X, k = rng.standard_normal((40, 5)).astype(np.float32), FUNCTIONS[name]
    every, out = np.arange(40), np.empty((40, 40), dtype=np.float32)
    assert fill(k, X, every, every, out)
    np.testing.assert_allclose(out, gram(k, X.astype(np.float64)).dense(), rtol=20 * SINGLE, atol=SINGLE)
    rows = k._prepare(3.0 * X)  # longer than all columns: rows in full precision
    plain = np.empty_like(out)
    assert k._program(rows, k._prepare(X)).fill(every, plain)
    assert k._program(rows, k._prepare(X)).fill(every, out, reduced=True)
    np.testing.assert_array_equal(out, plain)


def test_columns_are_prepared_once_for_a_gram_matrix(monkeypatch):
    G = gram(Gaussian(2.0), np.random.default_rng(0).standard_normal((60, 4)))._in_single()
    made, out = [], np.empty((8, 60), dtype=np.float32)
    before = reduced._interpolate
    monkeypatch.setattr(reduced, "_interpolate", lambda f: made.append(1) or before(f))
    for first in (0, 8, 16):
        G._fill_slots(np.arange(first, first + 8), np.arange(8), out, reduced=True)
        np.testing.assert_allclose(out, G.dense()[first : first + 8], rtol=1e-5)
    assert len(made) == 1


def test_a_function_that_polynomials_do_not_reach_is_refused():
    wave = reduced._interpolate(lambda s: np.append(1.0, np.sin(1000.0 * s)))
    step = reduced._interpolate(lambda s: np.append(1.0, np.where(s < 0.3, 0.0, 1.0)))
    smooth = reduced._interpolate(lambda s: np.append(1.0, np.exp(-s)))
    assert wave is None
    assert step is None
    assert smooth is not None
    assert reduced._interpolate(lambda s: None) is None


@pytest.mark.parametrize(
    ("k", "X"),
    [
        (Laplacian(1.0), np.random.default_rng(0).standard_normal((30, 4))),
        (Gaussian(1.0) * Polynomial(2), np.random.default_rng(0).standard_normal((30, 4))),
        (Polynomial(2).normalized(), np.random.default_rng(0).standard_normal((30, 4))),
        (Matern(0.5, 1.0), 5.0 * np.random.default_rng(0).standard_normal((30, 4))),  # not smooth at zero
        (Gaussian(1e-3), np.random.default_rng(0).standard_normal((30, 4))),  # far from each other
        (Gaussian(1.0), np.array([[1e300], [-1e300]])),
    ],
    ids=["laplacian", "two sums", "normalized", "exponential", "narrow", "huge"],
)
def test_other_kernels_and_points_far_apart_ignore_the_request(k, X):
    assert not is_reduced(k, X)


def test_several_calls_may_be_stopped(monkeypatch):
    monkeypatch.setattr("mercer.engine.reduced.CALL_OPERATIONS", 1.0)
    X, every = np.random.default_rng(0).standard_normal((50, 5)), np.arange(50)
    out, asked = np.empty((50, 50), dtype=np.float32), []
    with pytest.raises(Stopped), until(lambda: asked.append(1) or len(asked) == 2):
        fill(Gaussian(2.0), X, every, every, out)
    assert len(asked) == 2
