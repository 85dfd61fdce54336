import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import mercer
from mercer.certificate import Verdict
from mercer.errors import DefinitenessError, ParameterError
from mercer.features.empirical import EmpiricalMap
from mercer.kernels import Gaussian, Linear


def overlap(x, y):
    return float(len(set(x) & set(y)))


OVERLAP = mercer.kernel(overlap)
WORDS = ["ab", "bc", "abc", "", "cd", "ab"]  # a repeated word and an empty one: a singular Gram matrix


def inner(features, X):
    Z = features.transform(X)
    return Z @ Z.T


@pytest.mark.parametrize(
    ("kernel", "points"), [(Gaussian(1.0), np.arange(12.0).reshape(6, 2)), (OVERLAP, WORDS)]
)
def test_the_three_gram_matrices(kernel, points):
    K = kernel.block(points)
    expected = {"phi": K @ K, "psi": K, "omega": K @ np.linalg.pinv(K)}
    for form, matrix in expected.items():
        features = EmpiricalMap(kernel, form).fit(points)
        np.testing.assert_allclose(inner(features, points), matrix, atol=1e-9)
        assert features.dim == len(points)
        assert features.rank_ == (len(points) if form == "phi" else np.linalg.matrix_rank(K))


def test_new_points_by_the_formulas():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((7, 2)), rng.standard_normal((3, 2))
    k = Gaussian(1.0)
    values, U = np.linalg.eigh(k.block(X))
    rows = k.block(Z, X)
    np.testing.assert_allclose(EmpiricalMap(k, "phi").fit(X).transform(Z), rows)
    np.testing.assert_allclose(
        EmpiricalMap(k, "psi").fit(X).transform(Z), rows @ U / np.sqrt(values) @ U.T, atol=1e-8
    )
    np.testing.assert_allclose(
        EmpiricalMap(k, "omega").fit(X).transform(Z), rows @ U / values @ U.T, atol=1e-8
    )


def test_fit_transform_is_transform_even_when_singular():
    X = np.repeat([[1.0, 2.0]], 20, axis=0)
    for form in ("phi", "psi", "omega"):
        features = EmpiricalMap(Gaussian(1.0), form)
        np.testing.assert_array_equal(features.fit_transform(X), features.transform(X))
    assert EmpiricalMap(Gaussian(1.0)).fit(X).rank_ == 1


def test_as_kernel_is_certified_and_agrees():
    features = EmpiricalMap(OVERLAP).fit(WORDS)
    k = features.as_kernel()
    assert k.certificate.verdict is Verdict.PSD
    np.testing.assert_allclose(k.block(WORDS), OVERLAP.block(WORDS), atol=1e-10)
    assert k("ab", "bcd") == pytest.approx(k.block(["ab"], ["bcd"])[0, 0], abs=1e-12)
    features.fit(["zz"])  # the kernel keeps what it was made from
    np.testing.assert_allclose(k.block(WORDS), OVERLAP.block(WORDS), atol=1e-10)
    assert k == EmpiricalMap(OVERLAP).fit(WORDS).as_kernel()
    assert k != EmpiricalMap(OVERLAP).fit(WORDS[:3]).as_kernel()
    assert pickle.loads(pickle.dumps(k)) == k
    assert "fit(<6 points>)" in repr(k)


def test_kernels_of_vectors_compose_further():
    X = np.random.default_rng(0).standard_normal((8, 2))
    k = EmpiricalMap(Gaussian("median"), "phi").fit(X).as_kernel() + Linear()
    assert k.certificate.is_psd
    K = Gaussian("median").resolve(X).block(X)
    np.testing.assert_allclose(k.block(X), K @ K + X @ X.T, atol=1e-12)


def test_scikit_learn_contract():
    features = EmpiricalMap(Gaussian(2.0), "omega", tol=1e-6)
    assert clone(features).get_params(deep=False) == features.get_params(deep=False)
    assert features.set_params(kernel__sigma=3.0).kernel == Gaussian(3.0)
    with pytest.raises(NotFittedError):
        features.transform([[0.0]])
    assert features.target == Gaussian(3.0)


def test_cutoff():
    X = np.array([[0.0], [1e-3], [2.0]])
    k = Gaussian(1.0)
    largest = np.linalg.eigvalsh(k.block(X))[-1]
    features = EmpiricalMap(k, tol=1e-3).fit(X)
    assert features.rank_ == 2
    assert features.cutoff_ == pytest.approx(1e-3 * largest)


def test_errors():
    with pytest.raises(ParameterError, match="`form`"):
        EmpiricalMap(Linear(), "chi").fit([[1.0]])
    with pytest.raises(ParameterError, match="`tol`"):
        EmpiricalMap(Linear(), tol=-1).fit([[1.0]])
    with pytest.raises(DefinitenessError, match="positive semidefinite"):
        EmpiricalMap(Linear() - 1.0).fit([[0.0], [1.0]])
    EmpiricalMap(Linear() - 1.0, "phi").fit([[0.0], [1.0]])
