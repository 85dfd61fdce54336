"""Spectral densities are the Fourier transforms of their kernels, in samples and in values."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate

from mercer.errors import DomainError, InputError, ParameterError, UnresolvedError
from mercer.kernel import Kernel
from mercer.kernels import (
    Cauchy,
    Constant,
    CosineDifference,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Mahalanobis,
    Matern,
    PowerExponential,
    Radial,
    RationalQuadratic,
    Sinc,
    SpectralMixture,
    Wendland,
)
from mercer.spectral_density import ScaleMixture

CLOSED = [
    Gaussian(0.7),
    Gaussian([0.5, 2.0]),
    Mahalanobis([[2.0, 1.0], [1.0, 2.0]]),
    Laplacian([1.3, 0.4]),
    Cauchy([0.6, 1.0]),
    Matern(1.5, 0.8),
    Matern(2.2, [1.4, 0.5]),
    Exponential(1.7),
    RationalQuadratic(1.2, 2.5),
    2.0 * Gaussian(0.7) + 0.5 * Matern(2.5, [1.0, 2.0]),
]
SAMPLED = [
    *CLOSED,
    Matern(0.3),
    RationalQuadratic(0.5, 0.4),
    PowerExponential(1.3, 0.9),
    PowerExponential(2.0),
    PowerExponential(0.5, [1.0, 2.0]),
    SpectralMixture([[1.0, 0.0], [0.3, 2.0]], weights=[0.5, 0.25]),
    Gaussian(1.0) + 2 * Laplacian(2.0) + 0.5,
    Gaussian(1.0) * Cauchy(2.0),
    Gaussian(2.0) ** 3,
    Exponential(1.0) ** 0,
    (3 * Matern(2.5)).normalized(),
    Mahalanobis([[1.0, 1.0], [1.0, 1.0]]),
]
POINTS = np.array([[0.3, -0.4], [1.0, 0.2], [0.0, 2.0]])


@pytest.mark.parametrize("k", SAMPLED, ids=repr)
def test_samples_have_the_kernel_as_their_characteristic_function(k: Kernel) -> None:
    p = k.spectral_density
    W = p.sample(40_000, dim=2, random_state=1)
    assert W.shape == (40_000, 2)
    assert np.isfinite(W).all()
    for x in POINTS:
        values = p.mass * np.exp(1j * (W @ x))
        error = 4 * values.std() / math.sqrt(len(W)) + 1e-12
        assert abs(values.mean() - k(x, np.zeros(2))) < error
    moment = p.second_moment(2)
    if moment < math.inf and not isinstance(k, Matern):  # fourth moments of Student's law are infinite
        squares = (W**2).sum(axis=1)
        assert abs(squares.mean() - moment) <= 4 * squares.std() / math.sqrt(len(W)) + 1e-12


@pytest.mark.parametrize("k", CLOSED, ids=repr)
def test_values_in_the_plane(k: Kernel) -> None:
    """The integral of p cos<w, x> is k, by Gauss-Legendre nodes t, w = tan t; heavy tails at x = 0 only."""
    p = k.spectral_density
    t, weight = np.polynomial.legendre.leggauss(200)
    t, weight = t * math.pi / 2, weight * math.pi / 2
    w, weight = np.tan(t), weight / np.cos(t) ** 2
    grid = np.stack(np.meshgrid(w, w, indexing="ij"), axis=-1).reshape(-1, 2)
    mass = np.multiply.outer(weight, weight).ravel() * p.value(grid)
    assert mass.sum() == pytest.approx(k([0.0, 0.0], [0.0, 0.0]), rel=1e-3)
    for x in () if "Matern" in repr(k) or p.second_moment(2) == math.inf else POINTS[:2]:
        assert mass @ np.cos(grid @ x) == pytest.approx(k(x, [0.0, 0.0]), abs=2e-3)


LINE = [
    Gaussian(0.7),
    Laplacian(1.3),
    Cauchy(0.6),
    Exponential(1.7),
    Matern(2.2, 1.4),
    RationalQuadratic(0.8, 0.7),
    RationalQuadratic(1.1, 0.3),
    Sinc(2.0),
]


@pytest.mark.parametrize("k", LINE, ids=repr)
def test_values_on_the_line(k: Kernel) -> None:
    p = k.spectral_density

    def density(w: float) -> float:
        return 2 * float(p.value([[w]])[0])

    edge = 2.0 if isinstance(k, Sinc) else math.inf
    mass = sum(integrate.quad(density, a, b)[0] for a, b in ((0, 1.0), (1.0, edge)))
    assert mass == pytest.approx(1.0, abs=1e-6)
    for x in (0.5, 2.0):
        options: Any = {"limlst": 200} if edge == math.inf else {}
        near, _ = integrate.quad(lambda w, x=x: density(w) * math.cos(w * x), 0, 1)
        far, _ = integrate.quad(density, 1, edge, weight="cos", wvar=x, **options)
        assert near + far == pytest.approx(k([x], [0.0]), abs=1e-6)


def test_closed_forms() -> None:
    """Against formulas written out, in fifty digits."""
    mpmath.mp.dps = 50
    w = [0.3, -1.2, 0.7]
    r2 = mpmath.fsum(mpmath.mpf(v) ** 2 for v in w)
    nu, alpha = mpmath.mpf("2.2"), mpmath.mpf("0.7")
    wanted = {
        Gaussian(1.0): mpmath.exp(-r2 / 2) / (2 * mpmath.pi) ** 1.5,
        Laplacian(1.0): mpmath.fprod(1 / (mpmath.pi * (1 + mpmath.mpf(v) ** 2)) for v in w),
        Cauchy(1.0): mpmath.fprod(mpmath.exp(-abs(v)) / 2 for v in w),
        Matern(2.2): mpmath.gamma(nu + 1.5)
        / (mpmath.gamma(nu) * mpmath.pi**1.5)
        * (2 * nu) ** nu
        * (2 * nu + r2) ** (-nu - 1.5),
        RationalQuadratic(1.0, 0.7): mpmath.quad(
            lambda t: t ** (alpha - 1) * mpmath.exp(-t - r2 / (4 * t)) / (4 * mpmath.pi * t) ** 1.5,
            [0, 0.1, 1, 10, mpmath.inf],
        )
        / mpmath.gamma(alpha),
    }
    for k, value in wanted.items():
        assert k.spectral_density.value([w])[0] == pytest.approx(float(value), rel=1e-12)
    at_zero = RationalQuadratic(1.0, 1.5).spectral_density
    assert at_zero.value([[0.0, 0.0]])[0] == pytest.approx(at_zero.value([[1e-7, 0.0]])[0], rel=1e-5)
    assert RationalQuadratic(1.0, 0.5).spectral_density.value([[0.0, 0.0]])[0] == math.inf


def test_orthogonal_frequencies() -> None:
    """Directions are orthogonal within a block, and each frequency alone has the same law."""
    for k in (Gaussian(0.5), Matern(2.5, 2.0), Mahalanobis([[2.0, 1.0], [1.0, 3.0]])):
        p = k.spectral_density
        W = p.sample(30_001, dim=2, random_state=3, orthogonal=True)
        if isinstance(k, Mahalanobis):
            Z = np.linalg.solve(k.factor.T, W.T).T
        else:
            Z = W
        assert np.abs((Z[0::2][:15_000] * Z[1::2]).sum(axis=1)).max() < 1e-9 * np.abs(Z).max() ** 2
        for x in POINTS:
            values = np.cos(W @ x)
            assert abs(values.mean() - k(x, np.zeros(2))) < 4 * values.std() / math.sqrt(15_000)
    for k in (Laplacian(1.0), Gaussian(1.0) + Gaussian(2.0), Constant(1.0), Gaussian(1.0) * Matern(1.5)):
        with pytest.raises(DomainError, match=r"`orthogonal` must be False.*Euclidean distance"):
            k.spectral_density.sample(4, dim=2, orthogonal=True)


def test_a_kernel_of_ones_own() -> None:
    class Two(ScaleMixture):
        mean_scale = 2.5

        def scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
            return rng.choice([1.0, 4.0], n)

    class TwoWidths(Radial):
        sigma: float = 1.0

        def formula(self, D: Any, m: Any) -> Any:
            return (m.exp(-D / 2) + m.exp(-2 * D)) / 2

        def _spectral_density(self) -> Two:
            return Two(self.sigma)

    class Other(TwoWidths):
        def formula(self, D: Any, m: Any) -> Any:
            return m.exp(-D)

    k = TwoWidths(0.8)
    W = k.spectral_density.sample(40_000, dim=2, random_state=0)
    values = np.cos(W @ POINTS[0])
    assert abs(values.mean() - k(POINTS[0], np.zeros(2))) < 4 * values.std() / 200
    with pytest.raises(DomainError, match="no closed form"):
        k.spectral_density.value([[1.0]])
    with pytest.raises(DomainError, match="has no spectral density"):  # other values, other density
        _ = Other().spectral_density


@pytest.mark.parametrize(
    ("k", "reason"),
    [
        (Linear(), r"Linear\(\) has no spectral density.*Nystrom"),
        (Wendland(2), "hard to sample from.*Nystrom"),
        (Gaussian(1.0) + Linear(), r"Linear\(\) has no"),
        (Gaussian(1.0) * Linear(), r"Linear\(\) has no"),
        (-1.0 * Gaussian(1.0), "not positive"),
        (PowerExponential(3.0), "not positive definite"),
        (SpectralMixture([[1.0]], weights=0.0), "all weights are zero"),
        (Constant(0.0), "not positive"),
    ],
)
def test_kernels_without_one(k: Kernel, reason: str) -> None:
    with pytest.raises(DomainError, match=reason):
        _ = k.spectral_density


def test_errors() -> None:
    with pytest.raises(UnresolvedError):
        _ = Gaussian("median").spectral_density
    p = Gaussian([1.0, 2.0]).spectral_density
    with pytest.raises(ParameterError, match=r"`dim` must be 2.*Got 3"):
        p.sample(5, dim=3)
    with pytest.raises(ParameterError, match="`dim` must be 2"):
        p.value([[1.0]])
    with pytest.raises(ParameterError, match="`dim` must be given"):
        Gaussian(1.0).spectral_density.sample(5)
    with pytest.raises(ParameterError, match="`n` must be an integer of at least 1"):
        p.sample(0)
    with pytest.raises(InputError, match="`omega`"):
        p.value([1.0, 2.0])
    with pytest.raises(DomainError, match="point masses"):
        CosineDifference().spectral_density.value([[1.0]])
    with pytest.raises(DomainError, match="product of kernels"):
        (Gaussian(1.0) * Gaussian(2.0)).spectral_density.value([[1.0]])
    with pytest.raises(DomainError, match="singular"):
        Mahalanobis([[1.0, 1.0], [1.0, 1.0]]).spectral_density.value([[1.0, 0.0]])


def test_draws_are_reproducible() -> None:
    p = Matern(0.01).spectral_density  # draws beyond the range of floats
    W = p.sample(1000, dim=3, random_state=5)
    assert np.isfinite(W).all()
    assert (p.sample(1000, dim=3, random_state=np.random.default_rng(5)) == W).all()
