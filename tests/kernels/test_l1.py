"""Laplacian, Cauchy, periodic kernels and white noise against their definitions and exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from scipy.integrate import quad
from sklearn.gaussian_process.kernels import ExpSineSquared
from sklearn.metrics.pairwise import laplacian_kernel

from mercer.certificate import Verdict
from mercer.domains import Similarities
from mercer.errors import DomainError, ParameterError
from mercer.kernel import Kernel
from mercer.kernels.l1 import Cauchy, Laplacian, Periodic
from mercer.kernels.noise import WhiteNoise, equality, same
from mercer.kernels.radial import Gaussian

from .vectors import assert_gradients, in_single, storages

TOL = 1e-12
SINGLE_TOL = 1e-5
WIDTHS = np.array([0.7, 3.0, 1.1])
KERNELS: list[Kernel] = [
    Laplacian(1.3),
    Laplacian(WIDTHS),
    Cauchy(1.3),
    Cauchy(WIDTHS),
    Periodic(1.7, 0.8),
    WhiteNoise(0.3),
]


@pytest.fixture
def X() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((10, 3))
    X[np.abs(X) < 0.3] = 0.0
    X[3] = X[7]
    X[5] = 0.0
    return X


def test_against_scikit_learn(X: np.ndarray) -> None:
    np.testing.assert_allclose(Laplacian(1.3).block(X), laplacian_kernel(X, gamma=1 / 1.3), rtol=TOL)
    x = X[:, :1]
    np.testing.assert_allclose(Periodic(1.7, 0.8).block(x), ExpSineSquared(0.8, 1.7)(x), rtol=TOL)


def test_cauchy_in_fractions() -> None:
    x, y, s = [1, 2, -3], [4, 2, 5], Fraction(3, 2)
    exact = math.prod(1 / (1 + Fraction(a - b) ** 2 / s**2) for a, b in zip(x, y, strict=True))
    assert Cauchy(1.5)(x, y) == pytest.approx(float(exact), rel=TOL)
    assert Cauchy(1.5).block([x], [y])[0, 0] == pytest.approx(float(exact), rel=TOL)


def test_cauchy_and_its_density_are_a_pair() -> None:
    # The normalised pair of the errata: 1/(1 + d^2) is the transform of exp(-|w|)/2.
    for d in (0.0, 0.4, 2.0):
        value, _ = quad(lambda w, d=d: math.exp(-w) * math.cos(w * d), 0, np.inf)
        assert Cauchy()([0.0], [d]) == pytest.approx(value, rel=1e-8)


def test_periodic_repeats_far_away() -> None:
    k = Periodic(0.75)
    x = np.array([[0.1], [0.3], [0.52]])
    shifted = x + 0.75 * 2**20  # a whole number of periods
    moved = shifted - 0.75 * 2**20  # what is left of x after rounding
    np.testing.assert_allclose(k.block(shifted, x), k.block(moved, x), rtol=TOL)
    assert k(shifted[1], x[0]) == pytest.approx(k(moved[1], x[0]), rel=TOL)
    assert not k.certificate.positive.strict
    assert k.certificate.verdict is Verdict.PSD


def test_verdicts() -> None:
    for k in (Laplacian(), Cauchy(2.0), WhiteNoise()):
        assert k.certificate.verdict is Verdict.STRICT
    for k in (Laplacian(), Cauchy(), Periodic()):
        assert k._infinitely_divisible() is not None


@pytest.mark.parametrize("k", KERNELS)
def test_storage_does_not_matter(k: Kernel, X: np.ndarray, tmp_path: Path) -> None:
    want = np.array([[k(x, y) for y in X] for x in X])
    with_zeros = scipy.sparse.csr_array((X.ravel(), np.tile(np.arange(3), 10), np.arange(0, 31, 3)), X.shape)
    for form in (*storages(X, tmp_path), scipy.sparse.csr_array(X), with_zeros):
        data = scipy.sparse.csr_array(form) if scipy.sparse.issparse(form) else np.asarray(form)
        prepared, other = k._prepare(data), k._prepare(X[:3])
        np.testing.assert_allclose(k._block(prepared, None), want, rtol=TOL, atol=TOL)
        np.testing.assert_allclose(k._block(prepared, other), want[:, :3], rtol=TOL, atol=TOL)
        np.testing.assert_allclose(k._block(other, prepared), want[:3], rtol=TOL, atol=TOL)
    for single in in_single(X):
        prepared = k._prepare(single)
        assert k._block(prepared, None).dtype == np.float32
        assert k._diagonal(prepared).dtype == np.float32
        np.testing.assert_allclose(k._block(prepared, None), want, rtol=SINGLE_TOL, atol=SINGLE_TOL)


@pytest.mark.parametrize("k", KERNELS[:4])
def test_error_does_not_grow_with_the_offset(k: Kernel, X: np.ndarray) -> None:
    far = np.vstack([X + 1e8, X[:2]])
    want = [[float(k.precise(x, y)) for y in far] for x in far]
    np.testing.assert_allclose(k.block(far), want, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("sigma", [1.3, np.linspace(0.1, 2.0, 40)], ids=["one", "many"])
def test_cauchy_of_sparse_rows(sigma: object) -> None:
    S = scipy.sparse.random(12, 40, density=0.2, format="csr", random_state=0)
    X = S.toarray()
    k = Cauchy(sigma)
    want = np.array([[k(a, b) for b in X] for a in X])
    for A, B in ((S, None), (S, S[:5]), (S, X[:5]), (X, S[:5])):
        np.testing.assert_allclose(k.block(A, B), want[:, : 12 if B is None else 5], rtol=1e-12)
    far = scipy.sparse.csr_array(np.array([[1e200, 1e200], [0.0, 1.0], [1e200, 1e200]]))
    np.testing.assert_array_equal(Cauchy().block(far), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


def test_extreme_entries_give_zero() -> None:
    X = np.array([[1e200, 0.0, 1.0], [-1e200, 0.0, 0.0], [0.0, 1e300, 0.0]])
    for k in KERNELS[:4]:
        np.testing.assert_allclose(k.block(X), np.eye(3), atol=1e-300)
        assert k(X[0], X[1]) == pytest.approx(0.0, abs=1e-300)


@pytest.mark.parametrize("k", KERNELS)
def test_gradients_against_differences_of_the_definition(k: Kernel, X: np.ndarray) -> None:
    assert_gradients(k, X, atol=1e-8)


# -- white noise --------------------------------------------------------------------------------
def test_equality_of_objects() -> None:
    class Opaque:
        __hash__ = None  # type: ignore[assignment]

        def __init__(self, value: int) -> None:
            self.value = value

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Opaque) and self.value == other.value

    nan = float("nan")
    a, b = np.array([1.0, 2.0]), np.array([1, 2])
    for points, pairs in [
        (["x", "y", "x"], {(0, 2)}),
        ([1, 1.0, True, 2], {(0, 1), (0, 2), (1, 2)}),
        ([a, b, np.array([[1.0, 2.0]]), [1.0, 2.0], (1.0, 2.0)], {(0, 1)}),
        ([{1, 2}, frozenset({2, 1}), {1}], {(0, 1)}),
        ([{"k": a.tolist()}, {"k": [1.0, 2.0]}, {}], {(0, 1)}),
        ([Opaque(1), Opaque(1), Opaque(2), "x"], {(0, 1)}),
        ([("s", a), ("s", b), ("t", a)], {(0, 1)}),
        ([nan, nan, 1.0], {(0, 1)}),
        ([None, None, 0], {(0, 1)}),
    ]:
        want = np.array(
            [
                [i == j or (min(i, j), max(i, j)) in pairs for j in range(len(points))]
                for i in range(len(points))
            ]
        )
        np.testing.assert_array_equal(equality(points, points), want)
        assert [[same(x, y) for y in points] for x in points] == want.tolist()
        np.testing.assert_array_equal(WhiteNoise(2.0).block(points), 2.0 * want)


def test_noise_on_vectors_with_another_kernel(X: np.ndarray) -> None:
    k = Gaussian(1.0) + WhiteNoise(0.5)
    want = Gaussian(1.0).block(X) + 0.5 * np.array([[np.array_equal(x, y) for y in X] for x in X])
    np.testing.assert_allclose(k.block(X), want, rtol=TOL)
    np.testing.assert_allclose(k.block(scipy.sparse.csr_array(X), X), want, rtol=TOL)
    assert k.certificate.verdict is Verdict.STRICT


def test_rows_of_matrices_without_another_kernel(X: np.ndarray) -> None:
    want = 0.5 * np.array([[np.array_equal(x, y) for y in X] for x in X])
    S = scipy.sparse.csr_array(X)
    for A, B in ((X, None), (S, None), (X, S), (S, X), (X.tolist(), None), (list(X), X.copy()), (X, list(X))):
        np.testing.assert_array_equal(WhiteNoise(0.5).block(A, B), want)


def test_signed_zeros_and_explicit_zeros_are_equal() -> None:
    dense = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert equality(dense, dense).all()
    explicit = scipy.sparse.csr_array((np.array([0.0, 1.0, 1.0]), [0, 1, 1], [0, 2, 3]), (2, 2))
    assert equality(explicit, dense).all()
    assert equality(explicit, dense.astype(np.float32)).all()
    assert not equality(dense, dense + np.array([1e-300, 0.0])).any()


def test_noise_does_not_know_precomputed_points() -> None:
    rows = Similarities().validate(np.eye(2))
    with pytest.raises(DomainError, match="WhiteNoise"):
        WhiteNoise()._block(rows, None)


@pytest.mark.parametrize("level", [0.0, -1.0, math.inf])
def test_bad_level(level: float) -> None:
    with pytest.raises(ParameterError, match="WhiteNoise: `level` must be"):
        WhiteNoise(level)
