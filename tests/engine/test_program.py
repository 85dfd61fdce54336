"""Compiled kernels against the one-pair definition, and against their own blocks."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse
import threadpoolctl

from mercer import gram, kernel
from mercer.engine.program import Builder, Program
from mercer.errors import InputError, ParameterError
from mercer.kernels import (
    Anova,
    Cauchy,
    Exponential,
    ExponentialDot,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    PowerDistance,
)

pytestmark = pytest.mark.native

COMPOSITE = (Gaussian(2.0) * Polynomial(3) + 0.5 * Linear()).normalized() + Matern(1.0)


@pytest.mark.parametrize("k", [Gaussian(2.0), COMPOSITE, Anova(3), Laplacian(1.0) + Linear()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits_on_any_number_of_threads(k, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((517, 11)).astype(dtype), rng.standard_normal((300, 11)).astype(dtype)
    v, V = rng.standard_normal(517), rng.standard_normal((517, 5))
    results = set()
    for threads in (1, 2, 3, 7):
        monkeypatch.setenv("MERCER_NUM_THREADS", str(threads))
        G = gram(k, X)
        values = k.block(X), k.block(X, Y), G @ v, G @ V, gram(k, Y, X) @ V
        results.add(tuple(a.tobytes() for a in values))
    assert len(results) == 1


def _user(x, y):
    return 1.0 / (1.0 + abs(float(x[0]) - float(y[0])))


def test_products_with_an_opaque_part_have_the_same_bits_too(monkeypatch):
    """Band by band, several of them, and with BLAS told to use any number of threads."""
    rng = np.random.default_rng(0)
    X, V = rng.standard_normal((260, 3)), rng.standard_normal((260, 40))
    k = Gaussian(1.0) * kernel(_user) + Matern(1.0)
    monkeypatch.setattr(sys.modules["mercer.gram.base"], "BAND_BYTES", 8 * 260 * 100)
    results = set()
    for threads in (1, 2, 3, 7):
        monkeypatch.setenv("MERCER_NUM_THREADS", str(threads))
        with threadpoolctl.threadpool_limits(threads, user_api="blas"):
            values = gram(k, X) @ V, gram(k, X[:50], X) @ V, V.T @ gram(k, X, X[:50])
        results.add(tuple(a.tobytes() for a in values))
    assert len(results) == 1
    np.testing.assert_allclose(values[0], k.block(X) @ V, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17, 23, 32, 33])
def test_products_with_any_number_of_columns(width):
    rng = np.random.default_rng(width)
    X, V = rng.standard_normal((300, 3)), rng.standard_normal((300, width))
    k = Gaussian(1.0)
    program = k._program(k._prepare(X), None)
    np.testing.assert_allclose(program.product(V), gram(k, X).dense() @ V, atol=1e-12)
    each = np.column_stack([program.product(V[:, [c, c]])[:, 0] for c in range(width)])
    np.testing.assert_array_equal(program.product(np.column_stack([V, V]))[:, :width], each)


@pytest.mark.parametrize(("n", "m", "width"), [(1, 5000, 1), (100, 3001, 2), (129, 130, 1), (300, 1, 3)])
def test_few_rows_are_cut_from_left_to_right(n, m, width, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y, V = rng.standard_normal((n, 3)), rng.standard_normal((m, 3)), rng.standard_normal((m, width))
    G = gram(Gaussian(1.0), X, Y)
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")
    alone = G @ V
    np.testing.assert_allclose(alone, G.dense() @ V, rtol=1e-10, atol=1e-10)
    monkeypatch.setenv("MERCER_NUM_THREADS", "3")
    np.testing.assert_array_equal(G @ V, alone)
    monkeypatch.setattr("mercer.engine.program._FIRST_CALL", 1.0)
    monkeypatch.setattr("mercer.engine.program.CALL_SECONDS", 0.0)
    np.testing.assert_array_equal(G @ V, alone)


def test_chosen_rows_without_the_whole_matrix():
    """The values of a pair are the same in any selection; 80 GB are never asked for."""
    X = np.random.default_rng(0).standard_normal((100_000, 3))
    k = (Gaussian(1.0) * Polynomial(2)).normalized()
    rows, cols = np.array([99_999, 5, 5, 70_001]), np.arange(0, 100_000, 997)
    K = gram(k, X)
    chosen = K.block(rows, cols)
    np.testing.assert_array_equal(chosen, k.block(X[rows], X[cols]))
    np.testing.assert_array_equal(K.block(rows)[:, cols], chosen)
    np.testing.assert_array_equal(K.block(5, 5), K.block([5], [5]))


@pytest.mark.parametrize("k", [Gaussian(2.0), COMPOSITE, Anova(3), Cauchy(1.0), Laplacian(1.0) + Linear()])
def test_the_diagonal_needs_no_matrix_and_agrees_with_it(k):
    X = np.random.default_rng(0).standard_normal((150, 4))
    np.testing.assert_allclose(k.diagonal(X), np.diagonal(k.block(X)), rtol=1e-13)


MEMORY = """
import resource, sys
import numpy as np
from mercer import gram
from mercer.kernels import Gaussian, Polynomial
from mercer.engine.threads import num_threads

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

rng = np.random.default_rng(0)
X, Y = (rng.standard_normal((50_000, 20)).astype(np.float32) for _ in range(2))
k = (Gaussian(5.0) * Polynomial(3)).normalized()
k.block(X[:200], Y[:200]), gram(k, X[:200], Y[:200]) @ np.ones(200)
before = peak()
K = k.block(X[:4000], Y[:6000])
extra = peak() - before - K.nbytes
assert extra <= 64 * 2**20 * num_threads(), extra
before = peak()
gram(k, X[:2000], Y) @ np.ones(50_000)
gram(k, X[:12_000]) @ np.ones(12_000)
extra = peak() - before
assert extra <= 300e6, extra
"""


def test_peak_memory():
    """A block takes its output and at most 64 MiB per thread, a product never the matrix (576 MB here)."""
    pytest.importorskip("resource")
    subprocess.run([sys.executable, "-c", MEMORY], check=True)


def test_how_the_calls_are_cut_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, v = rng.standard_normal((700, 3)), rng.standard_normal(700)
    k = Gaussian(1.0) + Linear()
    whole = k.block(X), gram(k, X) @ v
    monkeypatch.setattr("mercer.engine.program._FIRST_CALL", 1.0)
    monkeypatch.setattr("mercer.engine.program.CALL_SECONDS", 0.0)
    np.testing.assert_array_equal(k.block(X), whole[0])
    np.testing.assert_array_equal(gram(k, X) @ v, whole[1])


def test_equal_primitives_are_computed_once():
    X = np.random.default_rng(0).standard_normal((10, 3))
    k = Gaussian(1.0) * Gaussian(2.0) + Polynomial(2) * Linear() + Exponential(1.0)
    program = k._program(k._prepare(X), None)
    fills = [step for step in program.steps.tolist() if step[0] <= 6]
    assert len(fills) == 2  # one of squared distances, one of dot products
    assert program.registers <= 4


def test_many_terms_need_few_registers():
    X = np.random.default_rng(0).standard_normal((10, 3))
    k = sum((Gaussian(float(s)) for s in range(1, 200)), Linear())
    assert k._program(k._prepare(X), None).registers <= 4


def test_subclasses_that_change_their_blocks_are_not_compiled():
    class Doubled(Gaussian):
        def _block(self, X, Y):
            return 2 * super()._block(X, Y)

    class Halved(Gaussian):
        def _define(self, x, y, m):
            return super()._define(x, y, m) / 2

    X = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_allclose(Doubled(1.0).block(X), 2 * Gaussian(1.0).block(X))
    np.testing.assert_allclose((Halved(1.0) + Linear()).block(X), (0.5 * Gaussian(1.0) + Linear()).block(X))


@pytest.mark.parametrize(
    ("k", "error", "name"),
    [
        (Polynomial(400), ParameterError, "degree"),
        (Linear() ** 300, ParameterError, "exponent"),
        (Linear().exp(), ParameterError, "base"),
        (Linear().power_series("geometric"), InputError, "radius of convergence"),
        (1 / Linear(), InputError, "divides by zero"),
        (PowerDistance(160.0), ParameterError, "p="),
        (PowerDistance(100.3), ParameterError, "p="),
    ],
)
def test_checks_end_in_the_words_of_the_kernel(k, error, name):
    X = 1e4 * np.eye(150)
    with pytest.raises(error, match=name):
        k.block(X)
    with pytest.raises(error, match=name):
        (k + Gaussian(1.0)).block(X)
    with pytest.raises(error, match=name):
        gram(k, X) @ np.ones(150)


def test_single_precision_overflow_is_found():
    X = np.full((3, 2), 1e15, dtype=np.float32)
    with pytest.raises(ParameterError, match="degree"):
        Polynomial(2).block(X)
    assert np.isfinite(Polynomial(2).block(X.astype(np.float64))).all()


def test_sparse_rows_equal_dense_rows():
    rng = np.random.default_rng(0)
    A = scipy.sparse.random_array((140, 30), density=0.2, rng=rng, format="csr")
    B = scipy.sparse.random_array((33, 30), density=0.2, rng=rng, format="csr")
    k = (Gaussian(1.0) * Polynomial(2) + Laplacian(2.0)).normalized()
    np.testing.assert_allclose(k.block(A, B), k.block(A.toarray(), B.toarray()), rtol=1e-12)
    np.testing.assert_allclose(k.block(A), k.block(A.toarray()), rtol=1e-12)
    v = rng.standard_normal(140)
    np.testing.assert_allclose(gram(k, A) @ v, gram(k, A.toarray()) @ v, rtol=1e-10)


def test_clustered_points_far_away_keep_their_distances():
    rng = np.random.default_rng(0)
    offset = 1e8
    Z = rng.integers(0, 64, (200, 7)) / 64.0  # exact after the shift
    np.testing.assert_array_equal(Gaussian(0.7).block(Z + offset), Gaussian(0.7).block(Z))
    assert np.all(np.diagonal(Gaussian(0.7).block(Z + offset)) == 1.0)


def test_out_may_be_part_of_another_array():
    X = np.random.default_rng(0).standard_normal((150, 3))
    program = Gaussian(1.0)._program(X, None)
    expected = Gaussian(1.0).block(X)
    frame = np.full((160, 400), np.nan)
    for out in (frame[5:155, 7:157], frame[3:153, 2:302:2]):
        assert program.dense(out=out) is out
        np.testing.assert_array_equal(out, expected)
        out[...] = np.nan
    assert np.isnan(frame).all()


def test_opaque_values_compose():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((150, 4)), rng.standard_normal((40, 4))
    b = Builder(150, 40, False)
    value = b.exp(b.add((b.opaque(lambda X, Y: 0.1 * X @ Y.T, A, B), b.scale(b.dot(A, B), 0.2))))
    np.testing.assert_allclose(Program.of(b, value).dense(), np.exp(0.3 * A @ B.T), rtol=1e-13)


def test_ctrl_c_stops_a_long_product(monkeypatch):
    """Pressed while the native core is at work: no further part of it is begun."""
    X = np.random.default_rng(0).standard_normal((20_000, 40))
    G = gram(Gaussian(3.0), X)
    gram(Gaussian(3.0), X[:9]) @ np.ones(9)  # imports what is imported late, where an interrupt may be lost
    calls, at_work, begun = Program._calls, threading.Event(), []

    def press():
        at_work.wait()
        os.kill(os.getpid(), signal.SIGINT)

    def watched(self, count, *rest):
        for first, last in calls(self, count, *rest):
            begun.append((first, last, count))
            at_work.set()
            yield first, last
            presser.join()  # in case it was slower than the core

    monkeypatch.setattr(Program, "_calls", watched)
    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        G @ np.ones(20_000)
    ((first, last, count),) = begun
    assert first == 0
    assert last < count


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 40, 700])  # 700 rows of 20,000 numbers are written past the cache
def test_rows_to_chosen_places(n, dtype):
    rng = np.random.default_rng(n)
    width = 20_000 if n == 700 else 61
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((width, 2))
    k = Gaussian(1.0)
    slots = rng.permutation(n + 5)[:n]
    out = np.full((n + 5, width), -1.0, dtype=dtype)
    program = k._program(k._prepare(X), k._prepare(Y))
    assert program.fill(slots, out)
    np.testing.assert_array_equal(out[slots], program.dense(dtype))
    assert (out[np.setdiff1d(np.arange(n + 5), slots)] == -1.0).all()


def test_rows_that_fail_a_check_are_not_written_as_if_they_were_right():
    k = ExponentialDot(0.01)
    X = np.random.default_rng(0).standard_normal((5, 3))
    out = np.zeros((5, 5))
    assert not k._program(k._prepare(X), k._prepare(X)).fill(np.arange(5), out)
