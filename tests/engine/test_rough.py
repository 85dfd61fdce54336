"""Rows of Gaussian kernels in single precision throughout."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.engine.rough import RoughRows
from mercer.engine.runs import Stopped, until
from mercer.engine.single import SingleRows
from mercer.gram import gram
from mercer.kernels import Gaussian, Laplacian

pytestmark = pytest.mark.native


def rough(k, X):
    return RoughRows.of(k._program(k._prepare(X), None))


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100, 129])
@pytest.mark.parametrize("d", [1, 5, 130])
def test_values_of_scattered_rows_in_scattered_places(n, d):
    rng = np.random.default_rng(n + d)
    X = 3.0 + rng.standard_normal((n, d))
    k = Gaussian(np.sqrt(d))
    rows, slots = rng.permutation(n)[:37], rng.permutation(40)[: min(n, 37)]
    out = np.full((40, n), -1.0, dtype=np.float32)
    rough(k, X).fill(rows, slots, out)
    exact = gram(k, X).dense()[rows]
    np.testing.assert_allclose(out[slots], exact, rtol=5e-6, atol=1e-30)
    untouched = np.setdiff1d(np.arange(40), slots)
    assert (out[untouched] == -1.0).all()


def test_small_values_fade_to_zero_and_no_value_exceeds_one():
    X = np.linspace(0.0, 9.0, 200)[:, None]
    out = np.empty((200, 200), dtype=np.float32)
    every = np.arange(200)
    rough(Gaussian(0.5), X).fill(every, every, out)
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
        rough(Gaussian(2.0), X).fill(every, every, out)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[0].T)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    one = np.empty((1, 150), dtype=np.float32)
    rough(Gaussian(2.0), X).fill(np.array([77]), np.array([0]), one)
    np.testing.assert_array_equal(one[0], results[0][77])


def test_products_are_those_of_the_rows(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((77, 6))
    rows, factors = rng.permutation(77)[:50], rng.standard_normal(50)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        results.append(rough(Gaussian(2.0), X).product(rows, factors))
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], factors @ gram(Gaussian(2.0), X).dense()[rows], atol=1e-5)
    assert not rough(Gaussian(2.0), X).product(rows[:0], factors[:0]).any()
    apart = np.column_stack([factors, factors])[:, 1]  # numbers that do not lie side by side
    np.testing.assert_array_equal(rough(Gaussian(2.0), X).product(rows, apart), results[0])


def test_widths_per_feature():
    X = np.random.default_rng(2).standard_normal((50, 3))
    k = Gaussian(np.array([0.5, 2.0, 8.0]))
    out = np.empty((50, 50), dtype=np.float32)
    rough(k, X).fill(np.arange(50), np.arange(50), out)
    np.testing.assert_allclose(out, gram(k, X).dense(), rtol=2e-5)


@pytest.mark.parametrize("kind", [RoughRows, SingleRows])
@pytest.mark.parametrize(
    ("k", "X"),
    [
        (Laplacian(1.0), np.eye(3)),
        (2.0 * Gaussian(1.0) + 1.0, np.eye(3)),
        (Gaussian(1e-3), np.eye(3)),  # far from each other
        (Gaussian(1.0), np.array([[1e300], [-1e300]])),
        (Gaussian(1.0), np.zeros((3, 0))),
    ],
    ids=["laplacian", "sum", "narrow", "huge", "no-features"],
)
def test_not_for_other_kernels_or_points_far_apart(k, X, kind):
    assert kind.of(k._program(k._prepare(X), None)) is None


@pytest.mark.parametrize("n", [1, 32, 47, 49, 200])
def test_squares_on_and_below_the_diagonal(n, monkeypatch):
    monkeypatch.setattr("mercer.engine.rough.CALL_OPERATIONS", 5 * 60 * n)  # several calls
    X = np.random.default_rng(n).standard_normal((250, 5))
    some = rough(Gaussian(2.0), X)
    index = np.sort(np.random.default_rng(1).permutation(250)[:n])
    whole = np.empty((250, 250), dtype=np.float32)
    some.fill(np.arange(250), np.arange(250), whole)
    below = np.tri(n, dtype=bool)
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        out = np.full((n, n), np.nan, dtype=np.float32)
        some.square(index, out)
        np.testing.assert_array_equal(out[below], whole[np.ix_(index, index)][below])


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("n", [1, 31, 32, 95, 96, 97, 192, 200, 400])
def test_the_whole_matrix(n, threads, monkeypatch):
    """By half, with the same bits as row by row; in one call and in several."""
    monkeypatch.setenv("MERCER_NUM_THREADS", threads)
    some = rough(Gaussian(2.0), np.random.default_rng(n).standard_normal((n, 5)))
    out = np.empty((n, n), dtype=np.float32)
    some.fill(np.arange(n), np.arange(n), out)
    np.testing.assert_array_equal(some.whole(), out)
    monkeypatch.setattr("mercer.engine.rough.CALL_OPERATIONS", 1.0)
    np.testing.assert_array_equal(some.whole(), out)


def test_the_whole_matrix_may_be_stopped(monkeypatch):
    monkeypatch.setattr("mercer.engine.rough.CALL_OPERATIONS", 1.0)
    some = rough(Gaussian(2.0), np.random.default_rng(0).standard_normal((500, 5)))
    asked = []
    with pytest.raises(Stopped), until(lambda: asked.append(1) or len(asked) == 2):
        some.whole()
    assert len(asked) == 2
