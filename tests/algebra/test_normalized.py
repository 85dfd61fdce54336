"""Normalisation where squares, factors and powers leave the range of floats, or norms cancel to zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from mercer import Kernel
from mercer.algebra import tensor
from mercer.domains import Vectors
from mercer.errors import InputError, ParameterError
from mercer.kernels import (
    Cosine,
    Gaussian,
    Linear,
    LocalAlignment,
    Polynomial,
    PowerDistance,
    Spectrum,
)

ROUNDING = 1e-14
RNG = np.random.default_rng(0)
X = RNG.standard_normal((7, 3))
Y = RNG.standard_normal((5, 3))


def agree(k: Kernel, X: Any, Y: Any, want: Callable[[Any, Any], float] | None = None) -> np.ndarray:
    """Block, diagonal, blocks in Python and single pairs are one and the same; return the block of X."""
    K, cross = k.block(X), k.block(X, Y)
    n, m = K.shape[0], cross.shape[1]
    pair = np.array([[k(X[i], Y[j]) for j in range(m)] for i in range(n)])
    np.testing.assert_allclose(cross, pair, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(
        K, [[k(X[i], X[j]) for j in range(n)] for i in range(n)], rtol=0, atol=ROUNDING
    )
    assert np.array_equal(k.diagonal(X), K.diagonal())
    assert np.array_equal([k(X[i], X[i]) for i in range(n)], K.diagonal())
    prepared = k._prepare(k.domain.validate(X))
    np.testing.assert_allclose(k._tiles_of_blocks(prepared, None), K, rtol=0, atol=ROUNDING)
    if want is not None:
        exact = [[float(want(X[i], Y[j])) for j in range(m)] for i in range(n)]
        np.testing.assert_allclose(cross, exact, rtol=0, atol=ROUNDING)
    return K


@pytest.mark.parametrize("scale", [1e-300, 1e-162, 1e-160, 1.0, 1e160, 1e300])
def test_the_normalised_linear_kernel_is_the_cosine_at_every_scale(scale: float) -> None:
    K = agree(Linear().normalized(), scale * X, scale * Y, Cosine().precise)
    assert (K.diagonal() == 1.0).all()
    K = agree(Linear().normalized(), scale * X, Y, Cosine().precise)
    assert (K.diagonal() == 1.0).all()
    rows = scipy.sparse.csr_array(scale * X)
    np.testing.assert_allclose(Linear().normalized().block(rows), K, rtol=0, atol=ROUNDING)


def test_rows_of_different_scales_and_zero_rows() -> None:
    scales = np.array([1e-320, 1e-200, 1e-160, 1.0, 1e200, 1e307, 0.0])
    K = agree(Linear().normalized(), scales[:, None] * X, Y)
    assert np.array_equal(K.diagonal(), [1.0] * 6 + [0.0])
    assert np.array_equal(K[6], np.zeros(7))
    np.testing.assert_allclose(K[1:6, 1:6], Cosine().block(X)[1:6, 1:6], atol=ROUNDING)


@pytest.mark.parametrize("scale", [1e-30, 1e-22, 1e22, 1e30])
def test_single_precision(scale: float) -> None:
    small = (scale * X).astype(np.float32)
    K = Linear().normalized().block(small)
    np.testing.assert_allclose(K, Cosine().block(X), atol=1e-6)
    assert (K.diagonal() == 1.0).all()


def tiny(x: np.ndarray) -> np.ndarray:
    return 1e-120 * x


TINY: dict[str, tuple[Kernel, Kernel]] = {
    "factor": (5e-324 * Gaussian(1.0), Gaussian(1.0)),
    "factors": (1e-200 * (1e-200 * Gaussian(1.0)), Gaussian(1.0)),
    "huge factors": (1e200 * (1e200 * Gaussian(1.0)), Gaussian(1.0)),
    "square of a factor": ((1e-200 * Gaussian(1.0)) ** 2, Gaussian(1.0) ** 2),
    "real power of a factor": ((1e-300 * Gaussian(1.0)) ** 1.5, Gaussian(1.0) ** 1.5),
    "product of factors": ((1e-200 * Gaussian(1.0)) * (1e-200 * Linear()), Gaussian(1.0) * Cosine()),
    "huge power": (Polynomial(2, 0.5) ** 400, Polynomial(2, 0.5).normalized() ** 400),
    "powers of small points": (Linear().on(tiny, domain=Vectors()) ** 3, Cosine() ** 3),
    "homogeneous polynomial": (Polynomial(3, 0.0).on(tiny, domain=Vectors()), Cosine() ** 3),
}


@pytest.mark.parametrize("name", TINY)
def test_factors_and_powers_cancel(name: str) -> None:
    k, same = TINY[name]
    K = agree(k.normalized(), X, Y)
    assert (K.diagonal() == 1.0).all()
    np.testing.assert_allclose(K, same.normalized().block(X), rtol=1e-12, atol=ROUNDING)


def test_factors_cancel_in_tuples_and_strings() -> None:
    k = tensor(1e-200 * Gaussian(1.0), 1e-200 * Linear())
    pairs = [(x[:1], x[1:]) for x in X]
    K = agree(k.normalized(), pairs, pairs[:3])
    np.testing.assert_allclose(K, tensor(Gaussian(1.0), Cosine()).block(pairs), atol=ROUNDING)
    words = ["GATTACA", "GATTTACA", "CAT", "A" * 1000]  # the last has a value beyond 1e308 with itself
    k = LocalAlignment("dna", beta=1.0)
    K = (2.0 * k).normalized().block(words)
    assert np.array_equal(K, k.normalized().block(words))
    assert (2.0 * k).normalized()(words[3], words[3]) == pytest.approx(1.0)


def test_contributions_of_a_tiny_multiple() -> None:
    k = Spectrum(2)
    tiny, plain = ((c * k).normalized().contributions("banana", "bandana") for c in (1e-320, 1.0))
    assert tiny.total == pytest.approx(plain.total)


def test_gradients_by_parts_are_those_of_the_whole() -> None:
    parts = (2.0 * Gaussian(0.7) + Polynomial(2, 0.5), 3.0 * Polynomial(3, 0.3), Polynomial(2, 0.5) + 1.0)
    k = (parts[0] * (parts[1] + 1.0)) ** 2 * (2.0 * parts[2])
    got = k.normalized().gradient(X, Y)
    assert set(got) == set(k.normalized().parameters)
    for name, value in k.normalized().get_params().items():
        if name in got:
            h = 1e-6
            up, down = (k.normalized().replace(**{name: value * np.exp(s * h)}).block(X, Y) for s in (1, -1))
            np.testing.assert_allclose(got[name], (up - down) / (2 * h), atol=1e-7, err_msg=name)


# -- what cannot be normalised -------------------------------------------------------------------
def test_an_underflow_that_does_not_cancel_is_an_error() -> None:
    for k in (1e-320 * Gaussian(1.0) + 1e-320 * Linear(), 5e-324 * Gaussian(1.0) + 5e-324 * Gaussian(2.0)):
        with pytest.raises(ParameterError, match=r"normalized: k\(x, x\) underflows for .* at point 0"):
            k.normalized().block(X)
        assert k.normalized()(X[0], X[1]) == pytest.approx(float(k.normalized().precise(X[0], X[1])))


def test_a_strict_kernel_is_not_zero_on_the_diagonal() -> None:
    k = (Gaussian(1.0) - 0.0 * Linear()).assume("PSD") + Gaussian(1.0)
    assert k.certificate.positive.strict
    faint = PowerDistance(1.0).schoenberg(1.0) * 1e-200 + 1e-200 * Gaussian(1.0)
    with pytest.raises(ParameterError, match="underflows"):
        faint.polynomial([0.0, 0.0, 1.0]).normalized().block(X)


# -- norms that cancel ----------------------------------------------------------------------------
CENTRED: list[tuple[Kernel, str]] = [
    (Polynomial(2, 1.0), "polynomial"),
    (Polynomial(5, 3.0), "polynomial of degree 5"),
    (Linear(), "linear"),
    (Gaussian(1.0), "gaussian"),
    (1e-3 * Polynomial(2, 1.0) + Gaussian(0.1), "sum"),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("k", "name"), CENTRED)
def test_a_point_at_the_mean_has_norm_zero(k: Kernel, name: str, seed: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    point = (10 ** rng.uniform(-2, 2) * rng.standard_normal((1, 1 + 40 * seed))).astype(dtype)
    P = np.repeat(point, 2 + 3 * seed, axis=0)
    centred = k.centered(P).normalized()
    assert np.array_equal(centred.block(P), np.zeros((len(P), len(P))))
    assert np.array_equal(centred.diagonal(P), np.zeros(len(P)))
    assert centred(P[0], P[0]) == 0.0
    assert float(centred.precise(P[0], P[0])) == 0.0
    assert np.array_equal((centred + 2 * centred).block(P[:2]), np.zeros((2, 2)))
    both = np.vstack([P, rng.standard_normal(P.shape).astype(dtype)])
    K = centred.block(both)
    assert np.array_equal(K.diagonal(), [0.0] * len(P) + [1.0] * len(P))
    assert not K[: len(P)].any()


def test_sums_and_shifts_that_cancel() -> None:
    P = np.repeat(X[:1], 4, axis=0)
    two = (Polynomial(2, 1.0).centered(P) + Polynomial(3, 1.0).centered(P)).normalized()
    assert not two.block(P).any()
    shifted = (-Polynomial(3, 1.0)).shifted(X[0]).normalized()
    assert shifted.certificate.is_psd
    agree(shifted, X, Y)
    assert np.array_equal(shifted.diagonal(X), [0.0] + [1.0] * 6)


def test_a_kernel_that_is_not_positive_definite_is_still_refused() -> None:
    with pytest.raises(InputError, match="not positive definite"):
        (Linear() - 1.0).normalized().block(0.1 * X)
    with pytest.raises(InputError, match="not positive definite"):
        (Linear() - 1.0).normalized()(0.1 * X[0], X[1])
