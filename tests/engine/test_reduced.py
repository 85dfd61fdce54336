"""Reduced precision: rows of Gaussian kernels in single precision throughout."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.engine.runs import Stopped, until
from mercer.gram import gram
from mercer.kernels import Gaussian, Laplacian

pytestmark = pytest.mark.native


def fill(k, X, rows, slots, out):
    """Whether there is a reduced form; then it has written the rows."""
    prepared = k._prepare(X)
    return k._program(prepared[rows], prepared).fill(slots, out, reduced=True)


def is_reduced(k, X):
    """Whether reduced precision changes a bit of the rows."""
    every, prepared = np.arange(len(X)), k._prepare(X)
    plain, reduced = np.empty((2, len(X), len(X)), dtype=np.float32)
    assert k._program(prepared, prepared).fill(every, plain)
    assert k._program(prepared, prepared).fill(every, reduced, reduced=True)
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
    np.testing.assert_allclose(out[slots], exact, rtol=5e-6, atol=1e-30)
    untouched = np.setdiff1d(np.arange(40), slots)
    assert (out[untouched] == -1.0).all()


def test_small_values_fade_to_zero_and_no_value_exceeds_one():
    X = np.linspace(0.0, 9.0, 200)[:, None]
    out = np.empty((200, 200), dtype=np.float32)
    every = np.arange(200)
    assert fill(Gaussian(0.5), X, every, every, out)
    exact = gram(Gaussian(0.5), X).dense()
    assert (out == np.clip(out, 0.0, 1.0)).all()
    np.testing.assert_allclose(out, exact, rtol=1e-4, atol=1e-37)
    assert (out[0][exact[0] < 1e-38] == 0.0).all()


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
    np.testing.assert_allclose(out, gram(k, X).dense(), rtol=2e-5)
    assert is_reduced(k, X)


@pytest.mark.parametrize(
    ("k", "X"),
    [
        (Laplacian(1.0), np.random.default_rng(0).standard_normal((30, 4))),
        (2.0 * Gaussian(1.0) + 1.0, np.random.default_rng(0).standard_normal((30, 4))),
        (Gaussian(1e-3), np.random.default_rng(0).standard_normal((30, 4))),  # far from each other
        (Gaussian(1.0), np.array([[1e300], [-1e300]])),
    ],
    ids=["laplacian", "sum", "narrow", "huge"],
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
