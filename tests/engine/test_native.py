"""Native functions against their twins.  test_isa.py runs this file again under every instruction set."""

import os

import numpy as np
import pytest
from scipy import sparse

from mercer import _native
from mercer.engine import pairwise as engine
from mercer.engine.program import Builder, Program

from . import twins

pytestmark = pytest.mark.native

EPS = np.finfo(np.float64).eps
HALF_ULP_32 = 2.0**-24 * (1 + 1e-6)  # rounding a nearly exact double to float32
DTYPES = [np.float64, np.float32]
ENGINE = {
    "SQEUCLIDEAN": engine.squared_distances,
    "L1": engine.l1_distances,
    "MIN": engine.min_sums,
    "MAX": engine.max_sums,
    "CHI2": engine.chi_square,
    "JENSEN": engine.jensen,
    "DOT": engine.dot,
}
MERGED = [name for name in ENGINE if name != "DOT"]
SIGNED = {"SQEUCLIDEAN", "L1", "MIN", "MAX", "DOT"}
ZERO_DIAGONAL = ["SQEUCLIDEAN", "L1", "CHI2", "JENSEN"]

# Around the register block (2..16), the tile (128) and the slice of features (128); zero, one and primes.
SHAPES = [
    (0, 0, 0),
    (0, 3, 2),
    (3, 0, 2),
    (3, 4, 0),
    (1, 1, 1),
    (1, 17, 5),
    (7, 1, 3),
    (15, 16, 17),
    (16, 31, 127),
    (127, 129, 2),
    (128, 128, 5),
    (8, 9, 128),
    (129, 127, 3),
    (130, 257, 1),
    (13, 11, 257),
]
SMALL_SHAPES = [(0, 3, 2), (1, 1, 1), (7, 5, 0), (17, 9, 6), (129, 130, 7), (33, 8, 131)]


def draw(shape, dtype, *, signed=False, seed=0, density=1.0):
    """Values over several orders of magnitude, some of them zero."""
    rng = np.random.default_rng(seed)
    values = np.exp(rng.normal(scale=2.0, size=shape)) * (rng.random(shape) < 0.9 * density)
    if signed:
        values *= rng.choice([-1.0, 1.0], size=shape)
    return values.astype(dtype)


def bound(name, X, Y, dtype):
    """How far the native value may be from the exact one: rounding of d terms, relative to their sizes."""
    d = X.shape[1]
    if name in ("MIN", "MAX"):
        size = twins.max_sums(abs(X), abs(Y))
    elif name == "DOT":
        size = twins.dot(abs(X), abs(Y))
        if dtype == np.float32:
            return (d + 8) * np.finfo(np.float32).eps * size
    else:
        size = twins.PAIRWISE[name](X, Y)
    factor = (d + 8) * EPS
    if name == "JENSEN":
        # The twin subtracts, in extended precision, numbers of the size of h; that is its own error.
        reach = np.sum(abs(X) * (1 + abs(np.log(np.where(X == 0, 1, abs(X))))), axis=1, dtype=np.longdouble)
        other = np.sum(abs(Y) * (1 + abs(np.log(np.where(Y == 0, 1, abs(Y))))), axis=1, dtype=np.longdouble)
        own = 8 * np.finfo(np.longdouble).eps * (reach[:, None] + other[None, :])
        return own + (factor + 16 * EPS + (HALF_ULP_32 if dtype == np.float32 else 0)) * size
    return (factor + (HALF_ULP_32 if dtype == np.float32 else 0)) * size


def test_the_forced_instruction_set_is_the_one_in_use():
    assert _native.isa() == os.environ.get("MERCER_ISA", _native.available_isas()[-1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ENGINE)
def test_dense_against_twin(name, dtype):
    for seed, (n, m, d) in enumerate(SHAPES):
        signed = name in SIGNED
        X = draw((n, d), dtype, signed=signed, seed=seed)
        Y = draw((m, d), dtype, signed=signed, seed=seed + 100)
        K = ENGINE[name](X, Y)
        assert K.dtype == dtype
        assert K.shape == (n, m)
        assert np.all(abs(K - twins.PAIRWISE[name](X, Y)) <= bound(name, X, Y, dtype)), (n, m, d)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ENGINE)
def test_symmetric_equals_general_and_is_symmetric_to_the_bit(name, dtype):
    for n, d in [(0, 3), (1, 4), (9, 5), (128, 3), (129, 7), (141, 130), (300, 2)]:
        X = draw((n, d), dtype, signed=name in SIGNED, seed=n)
        K = ENGINE[name](X)
        np.testing.assert_array_equal(K, K.T)
        if name == "DOT":
            assert np.all(abs(K - twins.dot(X)) <= bound(name, X, X, dtype))
        else:
            np.testing.assert_array_equal(K, ENGINE[name](X, X))
        if name in ZERO_DIAGONAL:
            assert not np.any(np.diagonal(K))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ENGINE)
def test_sparse_against_twin(name, dtype, index):
    for seed, (n, m, d) in enumerate(
        [(0, 3, 4), (3, 0, 4), (5, 6, 0), (1, 1, 1), (40, 133, 60), (130, 7, 300)]
    ):
        signed = name in SIGNED
        X = draw((n, d), dtype, signed=signed, seed=seed, density=0.2)
        Y = draw((m, d), dtype, signed=signed, seed=seed + 50, density=0.3)
        x, y = sparse.csr_array(X), sparse.csr_array(Y)
        for a in (x, y):
            a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
        K = ENGINE[name](x, y)
        assert K.dtype == dtype
        assert K.shape == (n, m)
        assert np.all(abs(K - twins.PAIRWISE[name](X, Y)) <= bound(name, X, Y, dtype)), (n, m, d)
        mixed = ENGINE[name](X, sparse.csr_matrix(Y))
        np.testing.assert_array_equal(mixed, K)
        np.testing.assert_array_equal(ENGINE[name](x, Y), K)
        own = ENGINE[name](x)
        np.testing.assert_array_equal(own, own.T)
        if name in ZERO_DIAGONAL:
            assert not np.any(np.diagonal(own))


@pytest.mark.parametrize("name", MERGED)
def test_indices_of_different_widths_and_many_rows(name):
    X, Y = draw((141, 20), np.float64, density=0.4), draw((7, 20), np.float64, seed=1, density=0.4)
    x, y = sparse.csr_array(X), sparse.csr_array(Y)
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    assert np.all(abs(ENGINE[name](x, y) - twins.PAIRWISE[name](X, Y)) <= bound(name, X, Y, np.float64))
    K = ENGINE[name](x)
    assert np.all(abs(K - twins.PAIRWISE[name](X, X)) <= bound(name, X, X, np.float64))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 6, 8])
def test_anova_against_every_subset(degree, dtype):
    for seed, (n, m, d) in enumerate([(0, 3, 2), (1, 1, 1), (7, 5, 0), (17, 9, 6), (129, 3, 7), (2, 131, 9)]):
        X = draw((n, d), dtype, signed=True, seed=seed)
        Y = draw((m, d), dtype, signed=True, seed=seed + 9)
        w = np.random.default_rng(seed).random(d)
        c = np.random.default_rng(degree).random(degree + 1)
        exact, size = twins.anova(X, Y, w, c), twins.anova(abs(X), abs(Y), w, c)
        rounding = 4 * (d + degree + 4) * EPS + (HALF_ULP_32 if dtype == np.float32 else 0)
        K = engine.anova(X, Y, w, c)
        assert K.dtype == dtype
        assert np.all(abs(K - exact) <= rounding * size), (n, m, d)
        sparse_K = engine.anova(sparse.csr_array(X), sparse.csr_array(Y), w, c)
        assert np.all(abs(sparse_K - exact) <= rounding * size), (n, m, d)
        own = engine.anova(X, None, w, c)
        np.testing.assert_array_equal(own, own.T)
        np.testing.assert_array_equal(own, engine.anova(X, X, w, c))


def test_anova_goes_on_from_slice_to_slice_of_features():
    d = 300
    X, Y = draw((5, d), np.float64, seed=3), draw((6, d), np.float64, seed=4)
    z = X[:, None] * Y[None]
    for degree in (2, 7):
        c = np.zeros(degree + 1)
        c[2] = 1.0
        c[degree] = 1.0 if degree == 2 else 0.0
        expected = (z.sum(2) ** 2 - (z**2).sum(2)) / 2  # Newton's identity for e_2
        np.testing.assert_allclose(engine.anova(X, Y, np.ones(d), c), expected, rtol=1e-10)


def test_anova_ignores_degrees_that_do_not_count():
    X = np.full((2, 4), 1e100)
    K = engine.anova(X, None, np.ones(4), np.array([1.0, 1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(K, 4e200)
    K = engine.anova(X, None, np.ones(4), np.zeros(3))
    assert not np.any(K)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_subsets_against_twin(dtype):
    for seed, (n, m, d) in enumerate(SMALL_SHAPES):
        rng = np.random.default_rng(seed)
        X = (rng.random((n, d)) * (rng.random((n, d)) < 0.7)).astype(dtype)
        Y = (rng.random((m, d)) * (rng.random((m, d)) < 0.7)).astype(dtype)
        w = rng.random(d)
        exact = twins.all_subsets(X, Y, w)
        rounding = 4 * (d + 4) * EPS + (HALF_ULP_32 if dtype == np.float32 else 0)
        assert np.all(abs(engine.all_subsets(X, Y, w) - exact) <= rounding * exact), (n, m, d)
        K = engine.all_subsets(sparse.csr_array(X), Y, w)
        assert np.all(abs(K - exact) <= rounding * exact), (n, m, d)
        own = engine.all_subsets(X, None, w)
        np.testing.assert_array_equal(own, own.T)


def test_products_of_wide_sparse_rows_need_no_dense_rows():
    d = 1 << 40
    rows = sparse.csr_array(
        (np.array([2.0, 3.0, 5.0]), np.array([0, d - 1, d - 1]), np.array([0, 2, 3])), shape=(2, d)
    )

    np.testing.assert_array_equal(engine.l1_distances(rows), [[0, 4], [4, 0]])
    narrow = sparse.csr_array(
        (np.array([2.0, 3.0, 5.0]), np.array([0, 999_999, 999_999]), np.array([0, 2, 3])),
        shape=(2, 1_000_000),
    )
    np.testing.assert_array_equal(
        engine.all_subsets(narrow, None, np.ones(1_000_000)), [[5 * 10, 16], [16, 26]]
    )


@pytest.mark.parametrize("name", ENGINE)
def test_any_memory_layout(name):
    X, Y = draw((40, 9), np.float64), draw((23, 9), np.float64, seed=1)
    expected = ENGINE[name](X, Y)
    wide = np.zeros((80, 27))
    wide[::2, ::3] = X
    frozen = Y.copy()
    frozen.flags.writeable = False
    big_endian = X.astype(">f8")
    for other in (np.asfortranarray(X), wide[::2, ::3], X[::-1][::-1], big_endian):
        np.testing.assert_array_equal(ENGINE[name](other, frozen), expected)
    assert ENGINE[name](X.astype(np.float32), Y).dtype == np.float64


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("dtype", DTYPES)
def test_out_with_a_row_stride_and_any_number_of_threads(threads, dtype):
    X, Y = draw((201, 33), dtype, seed=1), draw((317, 33), dtype, seed=2)
    frame = np.full((201, 400), 7, dtype=dtype)
    for name in MERGED:
        op = getattr(_native, name)
        alone = np.empty((201, 317), dtype=dtype)
        _native.pairwise(op, X, Y, alone, 1)
        frame[:] = 7
        _native.pairwise(op, X, Y, frame[:, 50:367], threads)
        np.testing.assert_array_equal(frame[:, 50:367], alone)
        assert np.all(frame[:, :50] == 7)
        assert np.all(frame[:, 367:] == 7)


def test_the_twins_name_every_operation():
    others = {"TILE", "MOST_VECTORS", "SET_SIZE", "FACTOR_BLOCK", "SUM", "SIGNED", "FREE"}
    endings = {"CONVERGED", "LIMIT", "STOPPED", "UNBOUNDED", "STALLED", "NOT_FINITE"}
    polynomials = {"BINADES", "SEGMENTS_PER_BINADE", "DEGREE"}
    elsewhere = {"DTW", "DIVISIBLE", "GAUSSIAN", "LOG_DIVISIBLE", "LOG_GAUSSIAN"}
    elsewhere |= {"LARGEST_COMPONENT", "MOST_STATES"}
    graphs = {"CHEBYSHEV_COLUMNS", "WALKS_EXPONENTIAL", "WALKS_SOLVED", "WALKS_TRUNCATED"}
    names = {name for name in dir(_native) if name.isupper() or name == "L1"}
    constants = names - others - endings - elsewhere - polynomials - graphs
    assert set(twins.PAIRWISE) == set(ENGINE)
    products = {"ANOVA", "ALL_SUBSETS", "CAUCHY", "OPAQUE"}
    assert constants == {*twins.PAIRWISE, *twins.STEPS, *twins.CHECKS, *products}
    assert sorted(getattr(_native, name) for name in constants) == list(range(len(constants)))


def test_types_that_do_not_agree_are_refused():
    X = np.zeros((2, 2))
    with pytest.raises(TypeError):
        _native.pairwise(_native.L1, X, X.astype(np.float32), np.empty((2, 2)), 1)
    with pytest.raises(TypeError):
        _native.pairwise(_native.L1, X, np.asfortranarray(np.ones((2, 2))), np.empty((2, 2)), 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_product_of_cauchy_against_twin(dtype):
    for seed, (n, m, d) in enumerate([*SMALL_SHAPES, (3, 4, 300)]):
        X, Y = draw((n, d), dtype, signed=True, seed=seed), draw((m, d), dtype, signed=True, seed=seed + 9)
        w = 0.02 * np.random.default_rng(seed).random(d)
        b = Builder(n, m, False)
        K = Program.of(b, b.cauchy(X, Y, w)).dense(np.float64)
        exact = twins.cauchy(X, Y, w)
        assert np.all(abs(K - exact) <= 4 * (d + 4) * EPS * exact), (n, m, d)
