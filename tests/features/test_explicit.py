"""Explicit feature maps reproduce their kernels; the Taylor map keeps its error bound."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.features.base import FeatureKernel, FeatureMap
from mercer.features.explicit import AllSubsetsMap, AnovaMap, GaussianTaylorMap, PolynomialMap

TOL = 1e-13
WEIGHTS = np.array([1.0, 0.5, 0.0, 2.0])
EXACT = [
    PolynomialMap(1),
    PolynomialMap(2),
    PolynomialMap(4, 0.3),
    PolynomialMap(3, 0.0),
    AllSubsetsMap(),
    AllSubsetsMap(WEIGHTS),
    AnovaMap(0),
    AnovaMap(2),
    AnovaMap(3, WEIGHTS),
    AnovaMap(5),
]


@pytest.fixture
def X() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((9, 4))
    X[X < -1] = 0.0
    X[2] = 0.0
    return X


@pytest.mark.parametrize("features", EXACT)
def test_inner_products_are_the_kernel(features: FeatureMap, X: np.ndarray) -> None:
    features = clone(features)
    for data in (X, scipy.sparse.csr_array(X), np.asfortranarray(X)):
        Z = features.fit_transform(data)
        assert Z.shape == (9, features.dim)
        K = features.target.block(X)
        np.testing.assert_allclose(Z @ Z.T, K, rtol=TOL, atol=TOL * np.abs(K).max(initial=1.0))
    assert features.transform(X.astype(np.float32)).dtype == np.float32
    assert len(features.get_feature_names_out()) == features.dim


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 2), (3, 4), (5, 1)])
def test_dimensions(n: int, d: int) -> None:
    X = np.ones((1, n))
    assert PolynomialMap(d).fit(X).dim == math.comb(n + d, d)
    assert PolynomialMap(d, 0.0).fit(X).dim == math.comb(n + d - 1, d)
    assert AllSubsetsMap().fit(X).dim == 2**n
    assert AnovaMap(d).fit(X).dim == math.comb(n, d)
    assert GaussianTaylorMap(1.0, d).fit(X).dim == math.comb(n + d, d)
    for features in (PolynomialMap(d), PolynomialMap(d, 0.0), AnovaMap(d), GaussianTaylorMap(1.0, d)):
        assert features.fit_transform(X).shape[1] == features.dim


def test_features_written_out() -> None:
    Z = PolynomialMap(2, 3.0).fit_transform([[2.0, 5.0]])[0]
    r = math.sqrt
    want = [3.0, r(6) * 2, r(6) * 5, 4.0, r(2) * 10, 25.0]  # 1, x1, x2, x1^2, x1 x2, x2^2
    np.testing.assert_allclose(Z, want, rtol=TOL)
    assert AllSubsetsMap().fit_transform([[2.0, 3.0, 5.0]]).tolist() == [[1, 2, 3, 6, 5, 10, 15, 30]]
    assert AnovaMap(2).fit_transform([[2.0, 3.0, 5.0]]).tolist() == [[6, 10, 15]]


@pytest.mark.parametrize("sigma", [0.8, 2.0])
@pytest.mark.parametrize("degree", [0, 1, 3, 8, 15])
def test_taylor_error_is_within_its_bound(sigma: float, degree: int) -> None:
    rng = np.random.default_rng(1)
    radius = 1.5
    X = rng.standard_normal((40, 2))
    X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
    X[20:] *= rng.uniform(0, 1, (20, 1))
    features = GaussianTaylorMap(sigma, degree)
    Z = features.fit_transform(X)
    error = np.abs(Z @ Z.T - features.target.block(X)).max()
    bound = features.error_bound(radius)
    assert error <= bound + 1e-15
    assert error >= 0.2 * bound or bound < 1e-13  # attained on the diagonal: the bound is not idle
    t = (radius / sigma) ** 2
    poisson = 1 - math.exp(-t) * math.fsum(t**s / math.factorial(s) for s in range(degree + 1))
    assert bound == pytest.approx(poisson, abs=1e-14)


def test_taylor_features_do_not_overflow() -> None:
    Z = GaussianTaylorMap(1.0, 200).fit_transform([[30.0], [1e5]])
    assert np.isfinite(Z).all()
    assert (Z[1] == 0).all()


@pytest.mark.parametrize("features", [*EXACT, GaussianTaylorMap(1.3, 3)])
def test_as_kernel(features: FeatureMap, X: np.ndarray) -> None:
    k = features.as_kernel()
    Z = clone(features).fit_transform(X)
    np.testing.assert_allclose(k.block(X), Z @ Z.T, rtol=TOL, atol=TOL)
    np.testing.assert_allclose(k.block(X, scipy.sparse.csr_array(X[:3])), Z @ Z[:3].T, rtol=TOL, atol=TOL)
    np.testing.assert_allclose(k.diagonal(X), np.sum(Z * Z, axis=1), rtol=TOL, atol=TOL)
    assert k(X[0], X[1]) == pytest.approx(Z[0] @ Z[1], abs=1e-12)
    assert k.certificate.verdict is Verdict.PSD
    assert pickle.loads(pickle.dumps(k)) == k
    scope = {type(features).__name__: type(features)}
    assert eval(repr(k), scope) == k
    assert hash(eval(repr(k), scope)) == hash(k)


def test_kernels_of_other_maps_differ(X: np.ndarray) -> None:
    features = PolynomialMap(2)
    k = features.as_kernel()
    features.set_params(degree=3)
    assert k == PolynomialMap(2).as_kernel()  # the kernel keeps the map as it was
    assert k != features.as_kernel()
    assert (k + k).certificate.verdict is Verdict.PSD
    with pytest.raises(ParameterError, match="FeatureKernel: `map` must be"):
        FeatureKernel(3)


def test_in_a_pipeline(X: np.ndarray) -> None:
    Z = make_pipeline(StandardScaler(), PolynomialMap(2)).fit_transform(X)
    assert Z.shape == (9, 15)


def test_errors(X: np.ndarray) -> None:
    with pytest.raises(NotFittedError):
        PolynomialMap(2).transform(X)
    with pytest.raises(InputError, match="expecting 4 features"):
        PolynomialMap(2).fit(X).transform(X[:, :2])
    with pytest.raises(ParameterError, match="PolynomialMap: `offset`"):
        PolynomialMap(2, -1.0).fit(X)
    with pytest.raises(ParameterError, match=r"more than .*Use the kernel itself: AllSubsets"):
        AllSubsetsMap().fit(np.ones((1, 40)))
    with pytest.raises(ParameterError, match="more than"):
        PolynomialMap(30).as_kernel().block(np.ones((1, 380)))
    with pytest.raises(ParameterError, match="GaussianTaylorMap: `degree`"):
        GaussianTaylorMap(1.0, -1).fit(X)
    with pytest.raises(ParameterError, match="GaussianTaylorMap: `sigma`"):
        GaussianTaylorMap("median").fit(X)
    with pytest.raises(ParameterError, match="radius"):
        GaussianTaylorMap().error_bound(-1.0)
