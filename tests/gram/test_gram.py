import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError, MemoryLimitError, ParameterError
from mercer.gram import base, gram
from mercer.kernels import Gaussian, Linear, Precomputed

from .kernels import Brownian, Distance, Letters, Tanh

EPS = np.finfo(float).eps
WORDS = ["anna", "nan", "banana", "", "cab", "bac", "zz"]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def small_bands(monkeypatch):
    monkeypatch.setattr(base, "BAND_BYTES", 1)  # sixteen rows at a time


def naive(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X])


# -- blocks -------------------------------------------------------------------------------------
def test_dense_and_blocks_are_the_definition(rng):
    X, Y = rng.standard_normal((9, 3)), rng.standard_normal((5, 3))
    for k in (Gaussian(1.3), Linear(), Gaussian(2.0) * Linear() + 0.5):
        full = naive(k, X, Y)
        K = gram(k, X, Y)
        assert K.shape == (9, 5)
        assert K.nbytes == 9 * 5 * 8
        np.testing.assert_allclose(K.dense(), full, rtol=32 * EPS, atol=32 * EPS)
        selections = [2, -1, slice(1, 8, 3), slice(None), [4, 0, 4], np.array([-2, 3]), slice(5, 2)]
        for rows in selections:
            expected = full[[rows] if isinstance(rows, int) else rows]
            np.testing.assert_allclose(K.block(rows), expected, rtol=32 * EPS, atol=32 * EPS)
        mask = np.array([True, False, True, True, False])
        np.testing.assert_allclose(K.block([1], mask), full[[1]][:, mask], rtol=32 * EPS, atol=32 * EPS)


@pytest.mark.parametrize("bad", ["a", 1.5, [0, 9], -10, np.zeros(3, bool), [[0]]])
def test_bad_selections_are_named(rng, bad):
    with pytest.raises(InputError, match="`rows`"):
        gram(Linear(), rng.standard_normal((9, 2))).block(bad)


def test_any_objects():
    K = gram(Letters(), WORDS)
    np.testing.assert_array_equal(K.dense(), naive(Letters(), WORDS, WORDS))
    np.testing.assert_array_equal(K @ np.arange(7.0), naive(Letters(), WORDS, WORDS) @ np.arange(7.0))
    np.testing.assert_array_equal(np.asarray(K.cross(["ann"])), naive(Letters(), ["ann"], WORDS))
    assert gram(Letters(), WORDS, ["ann"]).shape == (7, 1)


def test_sparse_rows_and_data_dependent_widths(rng):
    X = scipy.sparse.random_array((20, 6), density=0.4, rng=rng).tocsr()
    K = gram(Gaussian("median"), X)
    assert K.kernel == Gaussian("median").resolve(X)
    np.testing.assert_allclose(K.dense(), gram(K.kernel, X.toarray()).dense(), rtol=1e-12)
    np.testing.assert_allclose(K.block([3, 1], [0, 5]), K.dense()[np.ix_([3, 1], [0, 5])], rtol=1e-12)


def test_dtype(rng):
    X = rng.standard_normal((6, 2)).astype(np.float32)
    assert gram(Gaussian(1.0), X).dtype == np.float32
    assert gram(Gaussian(1.0), X).dense().dtype == np.float32
    assert gram(Gaussian(1.0), X.astype(float), dtype=np.float32).dense().dtype == np.float32
    double = gram(Gaussian(1.0), X, dtype=np.float64)
    np.testing.assert_allclose(
        double.dense(), naive(Gaussian(1.0), X, X), rtol=8 * EPS
    )  # truly computed in double
    np.testing.assert_allclose(double.cross(X).dense(), naive(Gaussian(1.0), X, X), rtol=8 * EPS)
    with pytest.raises(ParameterError, match="`dtype`"):
        gram(Gaussian(1.0), X, dtype=int)


def test_empty_and_single_points():
    assert gram(Linear(), np.empty((0, 2))).dense().shape == (0, 0)
    assert (gram(Linear(), np.empty((0, 2)), [[1.0, 2.0]]) @ [1.0]).shape == (0,)
    K = gram(Linear(), [[3.0]])
    assert K.trace() == 9.0
    np.testing.assert_array_equal(K.spectrum(), [9.0])
    assert gram(Linear(), np.empty((0, 2))).check()


def test_a_kernel_is_needed():
    with pytest.raises(ParameterError, match="`store` must be a path"):
        gram(Linear(), [[1.0]], store=3)
    with pytest.raises(ParameterError, match="`k` must be a Kernel"):
        gram("rbf", [[1.0]])


# -- products -----------------------------------------------------------------------------------
@pytest.mark.parametrize("m", [None, 40])
def test_products_never_need_the_matrix(rng, small_bands, monkeypatch, m):
    X = rng.standard_normal((70, 3))
    Y = None if m is None else rng.standard_normal((m, 3))
    K = gram(Gaussian(1.0), X, Y)
    full = naive(Gaussian(1.0), X, X if Y is None else Y)
    monkeypatch.setenv("MERCER_MEMORY", "1000")
    v, V, W = (
        rng.standard_normal(full.shape[1]),
        rng.standard_normal((full.shape[1], 4)),
        rng.standard_normal((2, 70)),
    )
    np.testing.assert_allclose(K @ v, full @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(K @ V, full @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(W @ K, W @ full, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(W[0] @ K, W[0] @ full, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(K.linear_operator().rmatvec(W[0]), W[0] @ full, rtol=1e-12, atol=1e-12)
    with pytest.raises(MemoryLimitError):
        K.dense()


def test_products_of_the_wrong_shape(rng):
    K = gram(Linear(), rng.standard_normal((4, 2)))
    for bad in (np.ones(3), np.ones((4, 1, 1)), ["a"] * 4):
        with pytest.raises(InputError, match="one row per column"):
            K @ bad
    with pytest.raises(TypeError):
        np.ones((4, 4)) + K


def test_dense_is_refused_with_the_need_in_gib(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1GiB")
    K = gram(Linear(), np.zeros((100_000, 1)))
    assert K.nbytes == 8 * 10**10
    with pytest.raises(MemoryLimitError, match=r"100000 x 100000 Gram matrix needs 74\.51 GiB .* 1\.00 GiB"):
        K.dense()
    with pytest.raises(MemoryLimitError, match="GiB"):
        K.spectrum()
    with pytest.raises(MemoryLimitError, match="GiB"):
        K.check()
    with pytest.raises(MemoryLimitError, match="GiB"):
        K.block(slice(0, 50_000))
    assert "GiB if dense" in repr(K)


# -- centring and normalising -------------------------------------------------------------------
def test_centring_is_subtraction_of_the_mean_feature(rng, small_bands):
    X, Z = rng.standard_normal((30, 4)) + 5.0, rng.standard_normal((7, 4))
    C = gram(Linear(), X).center()
    centred, new = X - X.mean(axis=0), Z - X.mean(axis=0)
    np.testing.assert_allclose(C.dense(), centred @ centred.T, atol=1e-12)
    np.testing.assert_allclose(C.diagonal(), (centred**2).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(C.cross(Z).dense(), new @ centred.T, atol=1e-12)
    np.testing.assert_allclose(C.cross(X).dense(), C.dense(), atol=1e-12)
    np.testing.assert_allclose(C @ np.ones(30), 0.0, atol=4e-12)
    np.testing.assert_allclose(C.block([3, 1], [2]), (centred @ centred.T)[[3, 1]][:, [2]], atol=1e-12)


def test_normalising_gives_cosines(rng):
    X, Z = rng.standard_normal((12, 3)), rng.standard_normal((4, 3))
    X[5] = 0.0
    N = gram(Linear(), X).normalize()
    norms = np.linalg.norm(X, axis=1)
    norms[5] = 1.0
    cosines = X / norms[:, None]
    np.testing.assert_allclose(N.dense(), cosines @ cosines.T, atol=1e-15)
    assert N.dense()[5, 5] == 0.0
    np.testing.assert_allclose(N.diagonal(), np.diag(N.dense()))
    np.testing.assert_allclose(
        N.cross(Z).dense(), (Z / np.linalg.norm(Z, axis=1)[:, None]) @ cosines.T, atol=1e-15
    )


def test_centred_then_normalised_extends_too(rng):
    X, Z = rng.standard_normal((12, 3)), rng.standard_normal((4, 3))
    N = gram(Linear(), X).center().normalize()
    A, B = X - X.mean(axis=0), Z - X.mean(axis=0)
    A, B = A / np.linalg.norm(A, axis=1)[:, None], B / np.linalg.norm(B, axis=1)[:, None]
    np.testing.assert_allclose(N.dense(), A @ A.T, atol=1e-12)
    np.testing.assert_allclose(N.cross(Z).dense(), B @ A.T, atol=1e-12)


def test_equal_points_centre_and_normalise_to_zero():
    N = gram(Gaussian(1.0) * 0.3, np.full((5, 2), 0.1)).center().normalize()
    np.testing.assert_array_equal(N.dense(), np.zeros((5, 5)))


def test_a_negative_diagonal_cannot_be_normalised():
    with pytest.raises(InputError, match="at point 0"):
        gram(Linear() - 1.0, [[0.0], [2.0]]).normalize()


def test_float32_stays_float32_when_centred(rng):
    X = rng.standard_normal((10, 2)).astype(np.float32)
    assert gram(Gaussian(1.0), X).center().dense().dtype == np.float32
    assert gram(Gaussian(1.0), X).normalize().dense().dtype == np.float32


@pytest.mark.parametrize(
    "operation",
    [
        "trace",
        "center",
        "normalize",
        "spectrum",
        "check",
        "diagonal",
        lambda K: K.effective_dimension(1.0),
        lambda K: K.alignment([1, -1]),
        lambda K: K.repair("clip"),
    ],
)
def test_two_sets_of_points_are_refused_where_symmetry_is_needed(operation):
    K = gram(Linear(), [[1.0], [2.0]], [[3.0]])
    with pytest.raises(InputError, match=r"one set of points. This one is 2 x 1"):
        operation(K) if callable(operation) else getattr(K, operation)()


# -- numbers ------------------------------------------------------------------------------------
def test_alignment(rng):
    X, y = rng.standard_normal((40, 2)), np.repeat(["no", "yes"], [10, 30])
    k = naive(Gaussian(1.0), X, X)
    t = np.where(y == "yes", 1.0, -1.0)
    T = np.outer(t, t)
    H = np.eye(40) - 1 / 40
    plain = (k * T).sum() / np.linalg.norm(k) / np.linalg.norm(T)
    centred = np.sum((H @ k @ H) * T) / np.linalg.norm(H @ k @ H) / np.linalg.norm(H @ T @ H)
    K = gram(Gaussian(1.0), X)
    assert K.alignment(y) == pytest.approx(plain, rel=1e-12)
    assert K.alignment(t * 3 + 1) == pytest.approx(plain, rel=1e-12)
    assert K.alignment(y, centered=True) == pytest.approx(centred, rel=1e-12)
    three = np.array(["a", "b", "c", "a"] * 10)
    onehot = (three[:, None] == np.array(["a", "b", "c"])).astype(float)
    T = onehot @ onehot.T
    assert K.alignment(three) == pytest.approx(
        (k * T).sum() / np.linalg.norm(k) / np.linalg.norm(T), rel=1e-12
    )
    assert K.alignment(onehot) == pytest.approx(K.alignment(three), rel=1e-12)
    z = rng.standard_normal(40)
    assert gram(Linear(), z[:, None]).alignment(z) == pytest.approx(1.0, rel=1e-12)
    assert gram(Linear(), np.zeros((3, 1))).alignment([1, 2, 3]) == 0.0
    with pytest.raises(InputError, match="`y`"):
        K.alignment(y[:-1])


def test_effective_dimension(rng):
    X = rng.standard_normal((25, 3))
    k = naive(Gaussian(1.0), X, X)
    K = gram(Gaussian(1.0), X)
    for lam in (1e-3, 0.1, 10.0):
        assert K.effective_dimension(lam) == pytest.approx(
            np.trace(np.linalg.solve(k + lam * np.eye(25), k)), rel=1e-9
        )
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError, match="`alpha`"):
            K.effective_dimension(bad)
    with pytest.raises(np.linalg.LinAlgError, match="least eigenvalue"):
        gram(Distance(), X).effective_dimension(1.0)


def test_trace_and_diagonal(rng):
    x = rng.random(30)
    K = gram(Brownian(), x)
    assert K.trace() == pytest.approx(x.sum(), rel=1e-14)
    np.testing.assert_array_equal(K.diagonal(), x)
    assert not np.array_equal(gram(Tanh(), x[:, None]).diagonal(), x)


# -- given matrices -----------------------------------------------------------------------------
def test_products_of_a_given_matrix_widen_a_band_at_a_time(monkeypatch):
    """A copy of all of a matrix in single precision would take twice its memory."""
    monkeypatch.setattr(base, "BAND_BYTES", 1 << 18)
    n = 1500
    K = gram(Gaussian(1.0), np.linspace(0.0, 9.0, n)[:, None]).dense().astype(np.float32)
    G, v = gram(Precomputed(), K), np.linspace(-1.0, 1.0, n)
    G @ v
    tracemalloc.start()
    product = G @ v
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < K.nbytes / 4
    np.testing.assert_allclose(product, K.astype(np.float64) @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(G.cross(K[:7]) @ v, product[:7], rtol=1e-12)
    assert (G.cross(K[:0]) @ v).shape == (0,)
