"""Steps over compressed rows: sums of the twins, for any width, density, index type and place in a tile."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from mercer import gram
from mercer.engine import points
from mercer.engine.program import Builder, Program
from mercer.kernels import Gaussian, Linear, Polynomial

from . import twins

pytestmark = pytest.mark.native

STEPS = {
    "SQEUCLIDEAN": Builder.squared_distances,
    "DOT": Builder.dot,
    "L1": Builder.l1_distances,
    "MIN": Builder.min_sums,
    "MAX": Builder.max_sums,
    "CHI2": Builder.chi_square,
    "JENSEN": Builder.jensen,
}
SIGNED = ("SQEUCLIDEAN", "DOT", "L1")


@pytest.fixture(autouse=True)
def _never_in_full(monkeypatch):
    monkeypatch.setattr(points, "FULL_ENOUGH", {})
    monkeypatch.setattr(points, "FULL_ENOUGH_TO_MERGE", 2.0)


def rows(n, d, density, dtype=np.float64, *, seed=0, index=np.int32, signed=True):
    """CSR rows over several orders of magnitude, some of them empty, with explicit zeros."""
    rng = np.random.default_rng(seed)
    A = np.exp(rng.normal(size=(n, d))) * (rng.random((n, d)) < density)
    if signed:
        A *= rng.choice([-1.0, 1.0], size=(n, d))
    A[rng.random(n) < 0.1] = 0.0
    csr = scipy.sparse.csr_array(A.astype(dtype))
    csr.data[rng.random(csr.nnz) < 0.05] = 0.0
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    return csr


def run(name, X, Y=None):
    b = Builder(X.shape[0], X.shape[0] if Y is None else Y.shape[0], Y is None)
    value = STEPS[name](b, X, Y)
    assert not b.blocks  # nothing is left to Python
    return Program.of(b, value).dense()


def allowance(name, X, Y, dtype):
    x, y = abs(X.toarray().astype(float)), abs(Y.toarray().astype(float))
    size = {"DOT": twins.dot, "MIN": twins.max_sums, "MAX": twins.max_sums}.get(name)
    size = twins.PAIRWISE[name](X, Y) if size is None else size(x, y)
    extra = 1e-15 * twins.max_sums(x, y) if name == "JENSEN" else 0.0
    return (X.shape[1] + 8) * np.finfo(dtype).eps * abs(size) + extra


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", STEPS)
def test_against_the_twin(name, dtype, index):
    shapes = [(0, 3, 4), (3, 0, 4), (5, 6, 0), (1, 1, 1), (40, 133, 60), (129, 7, 300), (127, 128, 17)]
    for seed, (n, m, d) in enumerate(shapes):
        for density in (0.02, 0.3, 1.0):
            signed = name in SIGNED
            X = rows(n, d, density, dtype, seed=seed, index=index, signed=signed)
            Y = rows(m, d, density, dtype, seed=seed + 50, index=index, signed=signed)
            K = run(name, X, Y)
            assert K.dtype == (dtype if K.size else np.float64)
            assert np.all(abs(K - twins.PAIRWISE[name](X, Y)) <= allowance(name, X, Y, dtype))
            own = run(name, X)
            np.testing.assert_array_equal(own, own.T)
            if name == "SQEUCLIDEAN":
                assert not np.any(np.diagonal(own))
                assert np.all(K >= 0)


@pytest.mark.parametrize("name", ["SQEUCLIDEAN", "DOT"])
def test_the_value_of_a_pair_depends_on_the_pair_alone(name):
    X, Y = rows(150, 400, 0.1, seed=1), rows(170, 400, 0.1, seed=2)
    K = run(name, X, Y)
    rng = np.random.default_rng(0)
    order, other = rng.permutation(150), rng.permutation(170)[:50]
    np.testing.assert_array_equal(run(name, X[order], Y[other]), K[np.ix_(order, other)])
    np.testing.assert_array_equal(run(name, X[:1], Y[:1]), K[:1, :1])
    np.testing.assert_array_equal(run(name, Y, X), K.T)


@pytest.mark.parametrize("name", ["SQEUCLIDEAN", "DOT"])
def test_more_entries_than_are_turned_over_at_a_time(name):
    X, Y = rows(20, 900, 0.9, seed=1), rows(128, 900, 0.9, seed=2)
    assert Y.nnz > 5 * (1 << 14)
    assert np.all(abs(run(name, X, Y) - twins.PAIRWISE[name](X, Y)) <= allowance(name, X, Y, np.float64))


def test_columns_by_the_billion():
    d = 1 << 40
    rng = np.random.default_rng(0)
    columns = np.sort(rng.choice(d >> 12, size=300, replace=False)) << 12  # the same low bits
    parts = [rows(m, 300, 0.2, seed=m) for m in (60, 140)]
    wide = [
        scipy.sparse.csr_array((A.data, columns[A.indices], A.indptr.astype(np.int64)), shape=(A.shape[0], d))
        for A in parts
    ]
    np.testing.assert_array_equal(run("DOT", *wide), run("DOT", *parts))
    np.testing.assert_allclose(run("SQEUCLIDEAN", *wide), run("SQEUCLIDEAN", *parts), rtol=1e-13)


def neighbours(rng, n, d):
    """Rows that nearly agree, far from the origin: their distances cancel."""
    centre = 1e6 * rng.normal(size=d) * (rng.random(d) < 0.3)
    return scipy.sparse.csr_array(
        centre + (centre != 0) * rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-10, 6, (n, 1))
    )


def tiny_and_huge(rng, n, d):
    values = 10.0 ** rng.uniform(-130, 150, size=(n, d)) * rng.choice([-1, 1], size=(n, d))
    return scipy.sparse.csr_array(values * (rng.random((n, d)) < 0.3))


@pytest.mark.parametrize(
    ("family", "dtype"), [(neighbours, np.float64), (neighbours, np.float32), (tiny_and_huge, np.float64)]
)
@pytest.mark.parametrize("d", [1, 7, 60])
def test_relative_error_of_squared_distances(family, dtype, d):
    X = family(np.random.default_rng(d), 12, d).astype(dtype)
    D, dense = run("SQEUCLIDEAN", X), X.toarray().astype(float)
    bound = (d + 8) * Fraction(float(np.finfo(dtype).eps))
    for i in range(12):
        for j in range(12):
            differences = (Fraction(a) - Fraction(b) for a, b in zip(dense[i], dense[j], strict=True))
            exact = sum(t * t for t in differences)
            assert abs(Fraction(float(D[i, j])) - exact) <= bound * exact


def test_distances_whose_squares_leave_the_range():
    X = scipy.sparse.csr_array([[9e153, 9e153, 0.0], [9e153, 0.0, 0.0], [9e153, 9e153, 1.0], [1e-170, 0, 0]])
    D = run("SQEUCLIDEAN", X)
    expected = [[0.0, 8.1e307, 1.0], [8.1e307, 0.0, 8.1e307], [1.0, 8.1e307, 0.0]]
    np.testing.assert_allclose(D[:3, :3], expected, rtol=1e-15)
    assert D[3, 3] == 0.0


def test_mixed_with_dense_rows_and_index_types():
    X, Y = rows(70, 50, 0.1, index=np.int64), rows(30, 50, 0.1, seed=1)
    expected = run("SQEUCLIDEAN", X, Y)
    np.testing.assert_array_equal(run("SQEUCLIDEAN", X.toarray(), Y), expected)
    np.testing.assert_array_equal(run("SQEUCLIDEAN", X, Y.toarray()), expected)
    assert run("DOT", X.astype(np.float32), Y).dtype == np.float64


@pytest.mark.parametrize("name", STEPS)
def test_dense_rows_that_are_too_many_to_compress_enter_as_opaque_values(name, monkeypatch):
    monkeypatch.setattr(points, "MOST_DENSE", 0)
    X, Y = rows(70, 50, 0.1, signed=False).toarray(), rows(30, 50, 0.1, seed=1, signed=False)
    b = Builder(70, 30, False)
    value = b.add((STEPS[name](b, X, Y), STEPS[name](b, X, Y)))
    assert len(b.blocks) == 1
    expected = 2 * twins.PAIRWISE[name](X, Y).astype(float)
    np.testing.assert_allclose(Program.of(b, value).dense(), expected, rtol=1e-12, atol=1e-12)


def test_compressed_rows_beside_an_opaque_block():
    X, Y = rows(700, 50, 0.1), rows(30, 50, 0.1, seed=1)
    b = Builder(700, 30, False)
    opaque = b.opaque(lambda A, B: (A @ B.T).toarray(), X, Y)
    K = Program.of(b, b.add((opaque, b.squared_distances(X, Y)))).dense()
    expected = (X @ Y.T).toarray() + twins.squared_distances(X, Y)
    np.testing.assert_allclose(K, expected.astype(float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_same_bits_on_any_number_of_threads(threads, monkeypatch):
    X, Y = rows(300, 200, 0.1), rows(517, 200, 0.05, seed=1)
    k = (Gaussian(3.0) * Polynomial(2) + Linear()).normalized()
    V = np.random.default_rng(0).standard_normal((517, 3))

    def values():
        return [k.block(X), k.block(X, Y), gram(k, Y) @ V, gram(k, X, Y) @ V]

    monkeypatch.setenv("MERCER_NUM_THREADS", "1")
    alone = values()
    monkeypatch.setenv("MERCER_NUM_THREADS", str(threads))
    for a, b in zip(alone, values(), strict=True):
        np.testing.assert_array_equal(a, b)
