"""Symmetric matrices as the tiles of their lower half, against all of them; also run under every ISA."""

import numpy as np
import pytest

from mercer import gram, kernel
from mercer.engine.packed import TILE, PackedTiles
from mercer.engine.program import Builder, Program
from mercer.gram import base
from mercer.kernels import Gaussian, Linear, Polynomial

from . import twins

pytestmark = pytest.mark.native

#: One row; around one tile; an odd and an even number of rows of tiles, with and without a ragged end.
SIZES = [1, TILE - 1, TILE, TILE + 1, 3 * TILE, 3 * TILE + 7, 4 * TILE, 5 * TILE - 1]


def whole_numbers(*shape, seed=0):
    """Numbers whose products and sums are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float64)


def symmetric(n):
    K = whole_numbers(n, n)
    return K + K.T


def packed_of(K):
    result = PackedTiles(len(K))
    result.tiles.fill(np.nan)  # whatever was in memory before
    result.fill(0, 0, K)
    return result


@pytest.mark.parametrize("n", SIZES)
def test_the_tiles_are_all_of_the_matrix(n):
    K = symmetric(n)
    packed = packed_of(K)
    np.testing.assert_array_equal(packed.dense(), K)
    assert packed.tiles.nbytes == PackedTiles.nbytes_of(n)
    assert np.isfinite(packed.tiles).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 16, 17, 24, 40])
def test_products_are_exact_where_sums_are(n, width):
    K, V = symmetric(n), whole_numbers(n, width, seed=1)
    np.testing.assert_array_equal(packed_of(K) @ V, K @ V)


def test_products_are_as_exact_as_sums_can_be():
    n, width = 3 * TILE + 5, 16
    rng = np.random.default_rng(0)
    K, V = rng.standard_normal((n, n)), rng.standard_normal((n, width))
    K += K.T
    packed = packed_of(K)
    exact = twins.packed_product(packed.tiles, V)
    np.testing.assert_allclose(exact, K.astype(np.longdouble) @ V, rtol=1e-12)
    bound = n * np.finfo(float).eps * (np.abs(K) @ np.abs(V))
    assert (np.abs(packed @ V - exact) <= bound).all()


@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "reversed"])
def test_any_layout_of_the_columns(layout):
    n = 2 * TILE + 3
    K, V = symmetric(n), whole_numbers(n, 5, seed=1)
    laid_out = {
        "rows": V,
        "columns": np.asfortranarray(V),
        "strided": np.repeat(np.repeat(V, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": V[::-1, ::-1].copy()[::-1, ::-1],
    }[layout]
    np.testing.assert_array_equal(packed_of(K) @ laid_out, K @ V)


def test_no_rows_and_no_columns():
    assert (PackedTiles(0) @ np.empty((0, 3))).shape == (0, 3)
    assert (packed_of(symmetric(5)) @ np.empty((5, 0))).shape == (5, 0)


def test_infinities_and_nan_reach_their_rows_alone():
    n = 2 * TILE + 3
    K = symmetric(n)
    K[n - 1, 2] = K[2, n - 1] = np.inf
    K[TILE, TILE] = np.nan
    product = packed_of(K) @ np.ones((n, 2))
    assert np.flatnonzero(~np.isfinite(product[:, 0])).tolist() == [2, TILE, n - 1]


@pytest.mark.parametrize("n", [TILE, 4 * TILE, 5 * TILE - 1])
def test_the_same_bits_on_any_number_of_threads(n, monkeypatch):
    rng = np.random.default_rng(0)
    K, V = rng.standard_normal((n, n)), rng.standard_normal((n, 16))
    packed = packed_of(K + K.T)
    results = set()
    for threads in ("1", "2", "3", "7"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        results.add((packed @ V).tobytes())
    assert len(results) == 1


# -- from kernels -------------------------------------------------------------------------------
def _user(x, y):
    return 1.0 / (1.0 + abs(float(x[0]) - float(y[0])))


KERNELS = {
    "compiled": Gaussian(2.0) * Polynomial(2) + 0.5 * Linear(),
    "opaque": Gaussian(2.0) + kernel(_user),
    "python": kernel(_user),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [3, TILE + 1, 2 * TILE])
def test_the_half_of_a_gram_matrix_has_its_very_values(name, n, monkeypatch):
    monkeypatch.setattr(base, "BAND_BYTES", 1)  # a row of tiles at a time
    X = np.random.default_rng(0).standard_normal((n, 4))
    G = gram(KERNELS[name], X)
    packed = G._packed()
    np.testing.assert_array_equal(packed.dense(), G.dense())
    assert np.isfinite(packed.tiles).all()


def test_derived_matrices_and_single_precision_have_halves_too():
    X = np.random.default_rng(0).standard_normal((TILE + 9, 4))
    single = gram(Gaussian(1.0), X, dtype=np.float32)
    assert single.dense().dtype == np.float32
    for G in (single, gram(Polynomial(2), X).center(), gram(Polynomial(2), X).normalize()):
        # centring is symmetric up to rounding only
        np.testing.assert_array_equal(np.tril(G._packed().dense()), np.tril(G.dense()))


def test_stored_values_are_looked_up(tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((TILE + 9, 4))
    first = gram(Gaussian(1.0), X, store=tmp_path)._packed().dense()
    monkeypatch.setattr(Gaussian, "_block", None)
    np.testing.assert_array_equal(gram(Gaussian(1.0), X, store=tmp_path)._packed().dense(), first)


def test_a_failed_check_leaves_the_half_to_python():
    b = Builder(3, 3, True)
    X = np.array([[1e200], [1.0], [2.0]])
    program = Program.of(b, b.kernel(Polynomial(3), X, None))
    assert program.packed() is None
