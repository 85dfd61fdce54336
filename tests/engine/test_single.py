"""Single rows of Gaussian kernels, against values in double precision; also run under every ISA."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import _native
from mercer.engine.single import MOST_FEATURES, SingleRows
from mercer.gram import gram
from mercer.kernels import Gaussian
from mercer.solvers.svm.precision import ROUNDING_OF_SINGLE

pytestmark = pytest.mark.native


def rows(k, X):
    return SingleRows.of(k._program(k._prepare(X), None))


def row(single, i, first, count):
    out = np.full(count, -1.0, dtype=np.float32)
    single.native.fill(i, first, out)
    return out


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100, 129])
@pytest.mark.parametrize("d", [1, 5, MOST_FEATURES])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_values_are_rounded_once(n, d, shift):
    rng = np.random.default_rng(n + d)
    X = shift + 20 * rng.standard_normal((n, d))
    k = Gaussian(np.sqrt(d))
    exact, single = gram(k, X).dense(), rows(k, X)
    for i, first in ((0, 0), (n - 1, n // 3), (n // 2, n - 1)):
        values = row(single, i, first, n - first).astype(np.float64)
        wrong = np.abs(values - exact[i, first:])
        assert (wrong <= ROUNDING_OF_SINGLE * exact[i, first:] + 1e-45).all()


def test_float32_points():
    X = np.random.default_rng(5).standard_normal((50, 3)).astype(np.float32)
    k = Gaussian(1.0)
    exact = gram(k, X.astype(np.float64)).dense()[7]
    np.testing.assert_allclose(row(rows(k, X), 7, 0, 50), exact, rtol=ROUNDING_OF_SINGLE)


def test_bits_depend_on_the_pair_alone():
    X = np.random.default_rng(0).standard_normal((150, 7))
    single = rows(Gaussian(2.0), X)
    K = np.array([row(single, i, 0, 150) for i in range(150)])
    np.testing.assert_array_equal(K, K.T)
    assert (K <= 1.0).all()
    assert (K.diagonal() == 1.0).all()
    for first, count in ((0, 1), (31, 2), (32, 32), (40, 33), (149, 1), (5, 0)):
        np.testing.assert_array_equal(row(single, 77, first, count), K[77, first : first + count])


def test_not_for_many_features():
    X = np.random.default_rng(0).random((3, MOST_FEATURES + 1))
    assert rows(Gaussian(1.0), X[:, 1:]) is not None
    assert rows(Gaussian(1.0), X) is None


@pytest.mark.parametrize(("i", "first", "count"), [(-1, 0, 1), (3, 0, 1), (0, -1, 1), (0, 2, 2)])
def test_points_that_are_not_there(i, first, count):
    single = _native.SingleRows(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="points"):
        single.fill(i, first, np.empty(count, dtype=np.float32))
