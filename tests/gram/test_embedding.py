"""Kernels whose values are inner products of known vectors: products without the values."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import ParameterError
from mercer.features import PolynomialMap
from mercer.gram import gram
from mercer.gram.kernel_gram import KernelGram
from mercer.kernel import Kernel
from mercer.kernels import (
    Autocorrelation,
    BagOfWords,
    Cosine,
    DualWords,
    GappyNGram,
    Gaussian,
    Linear,
    NGram,
    Polynomial,
    ProbabilityProduct,
    SetIntersection,
    Spectrum,
    Transitions,
)
from mercer.machines import SVC, KernelRidge

EMBEDDED = [
    Linear(),
    2.5 * Linear() + 3.0,
    Cosine(),
    (Linear() + 1.0).normalized(),
    Linear().assume("PSD"),
    0.0 * Linear(),
    Linear() + 0.5 * Cosine(),
    Polynomial(3, 0.5, 2.0),
    Polynomial(2, 0.0),
    (Polynomial(2) + 0.1 * Linear()).normalized(),
]
OTHERS = [
    Gaussian(1.0),
    Linear() + Gaussian(1.0),
    -1.0 * Linear(),
    Linear() - 2.0,
    Polynomial(2, -1.0),
    Polynomial(11),
    Polynomial(3) * Linear(),
]


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


def words(rng, n, letters="abc", longest=12):
    return ["".join(rng.choice(list(letters), rng.integers(0, longest))) for _ in range(n)]


def texts(rng, n):
    return [" ".join(words(rng, 6, longest=3)) for _ in range(n)]


def sets(rng, n):
    return [frozenset(rng.choice(9, rng.integers(0, 6)).tolist()) for _ in range(n)]


def series(rng, n):
    return [rng.standard_normal((rng.integers(4, 9), 1)) for _ in range(n)]


def histograms(rng, n):
    return rng.dirichlet(np.ones(5), n)


def several(rng, n):
    return rng.choice(list("abcdef"), n).tolist()


OF_OBJECTS = [
    (Spectrum(3), words),
    (Spectrum(2).normalized(), words),
    (3.0 * NGram(2) + Spectrum(1).normalized(), words),
    (Spectrum(20), words),
    (GappyNGram(2, decay=0.5, max_gap=2), words),
    (BagOfWords(), texts),
    (BagOfWords(ngrams=(1, 2), tf="log").normalized() + 1.0, texts),
    (SetIntersection(), sets),
    (SetIntersection({1: 0.5, 2: 3.0, 3: 0.0}), sets),
    (DualWords([{"a", "b"}, {"b", "c", "d"}, {"a", "e"}], weights=[2.0, 0.5, 0.0]), several),
    (Transitions([-0.5, 0.5]), series),
    (Autocorrelation(3), series),
    (ProbabilityProduct(0.5), histograms),
]


@pytest.mark.parametrize(("k", "points"), OF_OBJECTS, ids=lambda v: repr(v) if isinstance(v, Kernel) else "")
def test_products_of_objects_need_no_values(k, points, rng, request):
    X, Y = points(rng, 25), points(rng, 12)
    symmetric, cross, back = gram(k, X), gram(k, X, Y), gram(k, Y).cross(X)
    one_by_one = np.array([[k(x, y) for y in Y] for x in X])
    expected = [K.dense() for K in (symmetric, cross, back)]
    np.testing.assert_allclose(expected[1], one_by_one, rtol=1e-10, atol=1e-12)
    request.getfixturevalue("no_values")
    for K, values in zip((symmetric, cross, back), expected, strict=True):
        V = rng.standard_normal((K.shape[1], 3))
        np.testing.assert_allclose(K @ V, values @ V, rtol=1e-10, atol=1e-12)
    A = symmetric._embedding()
    inner = A @ A.T
    dense = inner.toarray() if scipy.sparse.issparse(inner) else inner
    np.testing.assert_allclose(dense, expected[0], rtol=1e-10, atol=1e-12)


def test_machines_on_strings_are_those_of_the_matrix(rng):
    X = words(rng, 60)
    y = np.array([x.count("a") > x.count("b") for x in X])
    k = Spectrum(2) + 1.0
    K = k.block(X)
    ridge = KernelRidge(k, alpha=0.5, solver="cg").fit(X, y.astype(float))
    np.testing.assert_allclose(ridge.predict(X), K @ np.linalg.solve(K + 0.5 * np.eye(60), y), atol=1e-4)
    by_matrix = SVC("precomputed", C=1.0).fit(K, y)
    np.testing.assert_allclose(
        SVC(k, C=1.0).fit(X, y).decision_function(X), by_matrix.decision_function(K), atol=1e-2
    )
