"""Kernels whose values are inner products of known vectors: products without the values."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import ParameterError
from mercer.features import PolynomialMap
from mercer.gram import gram
from mercer.gram.kernel_gram import KernelGram
from mercer.kernel import Kernel
from mercer.kernels import Cosine, Gaussian, Linear, Polynomial

EMBEDDED = [
    Linear(),
    2.5 * Linear() + 3.0,
    Cosine(),
    (Linear() + 1.0).normalized(),
    Linear().assume("PSD"),
    0.0 * Linear(),
    Linear() + 0.5 * Cosine(),
]
OTHERS = [Gaussian(1.0), Linear() + Gaussian(1.0), -1.0 * Linear(), Linear() - 2.0, Polynomial(2)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def no_values(monkeypatch):
    """Fail where a value is computed."""

    def fail(*args, **kwargs):
        raise AssertionError("a value was computed")

    monkeypatch.setattr(KernelGram, "_values", fail)
    monkeypatch.setattr(Kernel, "_program", fail)


@pytest.mark.parametrize("k", EMBEDDED, ids=repr)
def test_products_need_no_values(k, rng, request):
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((12, 4))
    X[3] = 0.0
    forms = (lambda A: A, scipy.sparse.csr_matrix, lambda A: A.astype(np.float32))
    grams = [(gram(k, form(X)), gram(k, form(X), form(Y))) for form in forms]
    expected = [[(K.dense(), K.dtype) for K in pair] for pair in grams]
    request.getfixturevalue("no_values")
    for pair, values, tolerance in zip(grams, expected, (1e-12, 1e-12, 1e-5), strict=True):
        for K, (dense, dtype) in zip(pair, values, strict=True):
            for V in (rng.standard_normal(dense.shape[1]), rng.standard_normal((dense.shape[1], 3))):
                V = V.astype(dtype)
                product = K @ V
                assert product.dtype == dtype
                np.testing.assert_allclose(product, dense @ V, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("k", OTHERS, ids=repr)
def test_other_kernels_have_none(k, rng):
    X = rng.standard_normal((10, 3))
    K = gram(k, X)
    assert K._embedding() is None
    np.testing.assert_allclose(K @ np.ones(10), K.dense() @ np.ones(10))


def test_a_feature_map_as_kernel(rng, no_values):
    X = rng.standard_normal((20, 3))
    product = gram(PolynomialMap(2).as_kernel(), X) @ np.ones(20)
    np.testing.assert_allclose(product, (1.0 + X @ X.T) ** 2 @ np.ones(20))


def test_a_class_that_redefines_its_values_counts(rng):
    class Squares(Linear):
        def _block(self, X, Y):
            return super()._block(X, Y) ** 2

    class Cubes(Linear):
        def formula(self, t, m):
            return t**3

    X = rng.standard_normal((10, 3))
    for k, power in ((Squares(), 2), (Cubes(), 3), (2.0 * Squares(), 2)):
        K = gram(k, X)
        assert K._embedding() is None
        factor = 2.0 if power == 2 and not isinstance(k, Squares) else 1.0
        np.testing.assert_allclose(K @ np.ones(10), factor * (X @ X.T) ** power @ np.ones(10))


def test_overflow_is_named_as_before():
    X = np.array([[1e200], [1.0]])
    with pytest.raises(ParameterError, match="has the value inf"):
        gram(Linear(), X) @ np.ones(2)
