"""Matrices as solvers see them."""

import numpy as np
import pytest
from scipy import sparse

from mercer import gram
from mercer.kernels import Gaussian, Linear
from mercer.solvers import HeldMatrix, LazyMatrix, RepeatedMatrix

X = np.random.default_rng(0).standard_normal((7, 3))


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()], ids=repr)
@pytest.mark.parametrize("is_dense", [False, True])
def test_every_row_and_column_twice(kernel, is_dense):
    K = kernel.block(X)
    twice, expected = (
        RepeatedMatrix(HeldMatrix(K) if is_dense else LazyMatrix(gram(kernel, X))),
        np.tile(K, (2, 2)),
    )
    rng = np.random.default_rng(1)
    rows, cols, b = np.array([1, 8, 13, 0]), np.array([3, 10, 2]), rng.standard_normal(14)
    about = {"rtol": 1e-5, "atol": 1e-5}
    assert twice.size == 14
    np.testing.assert_allclose(twice.dense(np.float64), expected)
    np.testing.assert_allclose(twice.diagonal(), expected.diagonal())
    np.testing.assert_allclose(twice.block(rows, slice(None), np.float64), expected[rows])
    np.testing.assert_allclose(twice.block(rows, cols, np.float64), expected[np.ix_(rows, cols)])
    np.testing.assert_allclose(twice.product(b), expected @ b)
    np.testing.assert_allclose(twice.product(b, reduced=True), expected @ b, **about)
    out = np.zeros((6, 14))
    twice.rows(rows, np.array([5, 0, 2, 3]), out)
    np.testing.assert_allclose(out[[5, 0, 2, 3]], expected[rows])


def test_features_twice():
    for points in (X, sparse.csr_array(X)):
        features = RepeatedMatrix(LazyMatrix(gram(Linear(), points))).features()
        features = features.toarray() if sparse.issparse(features) else features
        np.testing.assert_allclose(features @ features.T, np.tile(X @ X.T, (2, 2)))
    assert RepeatedMatrix(HeldMatrix(X @ X.T)).features() is None
