"""Spectral densities of kernels that depend on ``x - y`` alone, to sample from and to evaluate.

The convention, here and nowhere else: frequencies are angular, and all constants are in the density,

    k(x, y) = int exp(i <w, x - y>) p(w) dw,   p(-w) = p(w) >= 0,   int p = k(x, x).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.special

from .errors import DomainError, InputError, ParameterError
from .guarantees._validate import count, generator

__all__ = [
    "AtZero",
    "Convolution",
    "Discrete",
    "EllipticalNormal",
    "Gamma",
    "Independent",
    "IndependentCauchy",
    "IndependentLaplace",
    "Mixture",
    "Normal",
    "ScaleMixture",
    "SpectralDensity",
    "Stable",
    "Student",
    "Uniform",
    "no_density",
    "widths_along",
]


def no_density(kernel: object, reason: str) -> DomainError:
    """The error of a kernel without a spectral density."""
    return DomainError(
        f"{kernel!r} has no spectral density to sample from: {reason}. "
        "`mercer.features.Nystrom` takes any positive definite kernel."
    )


@dataclass(frozen=True, eq=False)
class SpectralDensity(ABC):
    r"""Spectral density p of a kernel on vectors that depends on :math:`x - y` alone (Bochner).

    .. math:: k(x, y) = \int e^{i \langle w, x - y \rangle} \, p(w) \, dw, \qquad p(-w) = p(w) \ge 0

    Frequencies are angular, and all constants are in p: its integral is :math:`k(x, x)`.  Kernels have theirs
    as ``k.spectral_density``.  A kernel of your own declares one: write ``_spectral_density(self)`` and
    return one of the classes of this module, or a subclass of :class:`ScaleMixture` for a function of the
    Euclidean distance.

    Parameters
    ----------
    mass : float, default=1.0
        The integral of p, > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> p = Gaussian(2.0).spectral_density
    >>> W = p.sample(100_000, dim=1, random_state=0)
    >>> round(float(np.cos(W @ [1.0]).mean()), 2), round(Gaussian(2.0)([0.0], [1.0]), 2)
    (0.88, 0.88)
    >>> round(float(p.value([[0.0]])[0]), 4)  # sigma / sqrt(2 pi)
    0.7979
    """

    mass: float = field(default=1.0, kw_only=True)

    @property
    def dim(self) -> int | None:
        """Number of coordinates of a frequency; None where any number will do."""
        return None

    def sample(
        self, n: int, dim: int | None = None, random_state: Any = None, *, orthogonal: bool = False
    ) -> np.ndarray:
        """Draw frequencies from p divided by its mass.

        Parameters
        ----------
        n : int
        dim : int, optional
            Number of coordinates; needed where the kernel takes vectors of any length.
        random_state : int, Generator, RandomState or None
        orthogonal : bool, default=False
            Draw blocks of ``dim`` frequencies that point in orthogonal directions before the widths are
            applied; each alone has the same distribution.  For functions of the Euclidean distance only.

        Returns
        -------
        array of shape (n, dim)
        """
        n, d = count("sample", "n", n), self._dim(dim)
        W = self._draw(n, d, generator("sample", random_state), orthogonal)
        # No frequency is larger: Student densities of small order have draws beyond the range of floats, and
        # the cosine of a phase that large is as good as random already.
        largest = 1e100
        return np.asarray(np.clip(W, -largest, largest))

    def value(self, omega: Any) -> np.ndarray:
        """Values p(w) for the rows of ``omega``; infinite where the density is.

        Raises
        ------
        DomainError
            If there are point masses, or no closed form is known.
        """
        w = np.asarray(omega, dtype=np.float64)
        if w.ndim != 2 or np.isnan(w).any():
            raise InputError(f"value: `omega` must have a row of numbers per frequency. Got shape {w.shape}.")
        self._dim(w.shape[1])
        return self._value(w)

    def second_moment(self, dim: int | None = None) -> float:
        r"""The mean of :math:`\|w\|^2` under p divided by its mass; infinite for kernels with a kink at 0."""
        return self._second_moment(self._dim(dim))

    def scaled(self, factor: float) -> Self:
        """The density of the kernel times a number > 0."""
        return replace(self, mass=self.mass * factor)

    def _dim(self, dim: int | None) -> int:
        """The number of coordinates, own or asked for."""
        if dim is None and self.dim is None:
            raise ParameterError(
                "SpectralDensity: `dim` must be given: the kernel takes vectors of any length."
            )
        if dim is not None and self.dim is not None and dim != self.dim:
            raise ParameterError(
                f"SpectralDensity: `dim` must be {self.dim}, as the kernel says. Got {dim!r}."
            )
        return count("SpectralDensity", "dim", self.dim if dim is None else dim)

    @abstractmethod
    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        """Draws of shape (n, dim)."""

    def _value(self, w: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self.mass * np.exp(self.log_value(w)))

    def log_value(self, w: np.ndarray) -> np.ndarray:
        """Logarithms of the density divided by its mass, at the rows of an array."""
        raise DomainError(f"{type(self).__name__}: no closed form of this density is known.")

    @abstractmethod
    def _second_moment(self, dim: int) -> float:
        """The mean of |w|^2."""


# -- functions of the Euclidean distance -------------------------------------------------------
@dataclass(frozen=True, eq=False)
class ScaleMixture(SpectralDensity):
    r"""Density of a kernel that is a mixture of Gaussian kernels of all widths.

    .. math:: f(D) = E\, e^{-s D / 2}, \quad D = \sum_i (x_i - y_i)^2 / \sigma_i^2 \qquad\Longrightarrow\qquad
              w_i = \sqrt{s}\, z_i / \sigma_i, \quad z_i \sim N(0, 1)

    These are all functions of the distance that are positive definite in every dimension (Schoenberg).
    Subclasses write ``scales(n, rng)``, n draws of s > 0, and ``mean_scale``, the mean of s; for values also
    ``log_radial(u, dim)``.

    Parameters
    ----------
    widths : float or array of shape (d,)
        The widths :math:`\sigma_i`.

    Examples
    --------
    >>> from mercer.kernels import Radial
    >>> class Halves(ScaleMixture):  # s is 1 or 4
    ...     mean_scale = 2.5
    ...     def scales(self, n, rng):
    ...         return rng.choice([1.0, 4.0], n)
    >>> class TwoWidths(Radial):
    ...     sigma: float = 1.0
    ...     def formula(self, D, m):
    ...         return (m.exp(-D / 2) + m.exp(-2 * D)) / 2
    ...     def _spectral_density(self):
    ...         return Halves(self.sigma)
    >>> TwoWidths().spectral_density.sample(3, dim=2, random_state=0).shape
    (3, 2)
    """

    widths: Any = 1.0

    @property
    def dim(self) -> int | None:
        return None if np.ndim(self.widths) == 0 else len(self.widths)

    def scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of s."""
        raise TypeError(f"{type(self).__name__} must define scales")

    @property
    def mean_scale(self) -> float:
        """The mean of s, which may be infinite."""
        raise TypeError(f"{type(self).__name__} must define mean_scale")

    def log_radial(self, u: np.ndarray, dim: int) -> np.ndarray:
        """Logarithm of the density for widths 1, at the squared norms ``u`` of frequencies."""
        raise DomainError(f"{type(self).__name__}: no closed form of this density is known.")

    def along(self, axes: Sequence[int]) -> Self:
        """The density of the kernel on vectors that differ along some axes alone."""
        return replace(self, widths=widths_along(self.widths, axes))

    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        Z = _normal(n, dim, rng, orthogonal)
        with np.errstate(over="ignore"):
            return np.asarray(Z * np.sqrt(self.scales(n, rng))[:, None] / self.widths)

    def log_value(self, w: np.ndarray) -> np.ndarray:
        widths = np.broadcast_to(self.widths, w.shape[1])
        with np.errstate(over="ignore", divide="ignore"):
            radial = self.log_radial(((widths * w) ** 2).sum(axis=1), len(widths))
            return np.asarray(radial + np.log(widths).sum())

    def _second_moment(self, dim: int) -> float:
        return self.mean_scale * float((1 / np.broadcast_to(self.widths, dim) ** 2).sum())


class Normal(ScaleMixture):
    """Of the Gaussian kernel: s = 1."""

    mean_scale = 1.0

    def scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.ones(n)

    def log_radial(self, u: np.ndarray, dim: int) -> np.ndarray:
        return np.asarray(-u / 2 - dim / 2 * math.log(2 * math.pi))


@dataclass(frozen=True, eq=False)
class Student(ScaleMixture):
    r"""Of the Matern kernel of order nu: :math:`\nu / s` has a gamma distribution of shape nu.

    .. math:: p(w) = \frac{\Gamma(\nu + d/2)}{\Gamma(\nu)\, \pi^{d/2}} \prod_i \sigma_i \;
              (2\nu)^\nu \, (2\nu + \|\sigma w\|^2)^{-\nu - d/2}
    """

    nu: float = 1.5

    def scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.asarray(self.nu / rng.gamma(self.nu, size=n))

    @property
    def mean_scale(self) -> float:
        return self.nu / (self.nu - 1) if self.nu > 1 else math.inf

    def log_radial(self, u: np.ndarray, dim: int) -> np.ndarray:
        nu, half = self.nu, dim / 2
        constant = math.lgamma(nu + half) - math.lgamma(nu) - half * math.log(math.pi) + nu * math.log(2 * nu)
        return np.asarray(constant - (nu + half) * np.log(2 * nu + u))


@dataclass(frozen=True, eq=False)
class Gamma(ScaleMixture):
    r"""Of the rational quadratic kernel: :math:`s / 2` has a gamma distribution of shape alpha.

    .. math:: p(w) = \frac{2 \prod_i \sigma_i}{\Gamma(\alpha) (4\pi)^{d/2}}
              \Big(\frac{r}{2}\Big)^{\alpha - d/2} K_{\alpha - d/2}(r), \qquad r = \|\sigma w\|

    Infinite at 0 unless :math:`\alpha > d/2`.
    """

    alpha: float = 1.0

    def scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(2 * rng.gamma(self.alpha, size=n))

    @property
    def mean_scale(self) -> float:
        return 2 * self.alpha

    def log_radial(self, u: np.ndarray, dim: int) -> np.ndarray:
        order, r = self.alpha - dim / 2, np.sqrt(u)
        constant = math.log(2) - math.lgamma(self.alpha) - dim / 2 * math.log(4 * math.pi)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            bessel = np.log(scipy.special.kve(order, r)) - r + order * np.log(r / 2)
        at_zero = math.lgamma(order) - math.log(2) if order > 0 else math.inf
        return np.asarray(constant + np.where(r > 0, bessel, at_zero))


@dataclass(frozen=True, eq=False)
class Stable(ScaleMixture):
    r"""Of :math:`\exp(-D^a)`, 0 < a <= 1: :math:`s / 2` has a positive stable law of index a.

    Sampled by Kanter's formula; values have no closed form but for a = 1, which is :class:`Normal` of width
    :math:`\sigma / \sqrt2`.
    """

    index: float = 0.5

    def scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        a, u, e = self.index, rng.uniform(0, math.pi, n), rng.exponential(size=n)
        with np.errstate(over="ignore", divide="ignore"):
            rest = (np.sin((1 - a) * u) / e) ** ((1 - a) / a) if a < 1 else 1.0
            return np.asarray(2 * np.sin(a * u) / np.sin(u) ** (1 / a) * rest)

    @property
    def mean_scale(self) -> float:
        return 2.0 if self.index == 1 else math.inf


@dataclass(frozen=True, eq=False)
class EllipticalNormal(SpectralDensity):
    """Of the Gaussian kernel after a linear map F: normal with covariance F'F.

    Parameters
    ----------
    factor : array of shape (r, d)
        The matrix F.
    """

    factor: Any = None

    @property
    def dim(self) -> int:
        return int(self.factor.shape[1])

    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        return np.asarray(_normal(n, self.factor.shape[0], rng, orthogonal) @ self.factor)

    def log_value(self, w: np.ndarray) -> np.ndarray:
        rank, d = self.factor.shape
        if rank < d:
            raise DomainError("EllipticalNormal: the matrix is singular, and its normal law has no density.")
        u = np.linalg.solve(self.factor.T, w.T)
        log_det = np.linalg.slogdet(self.factor)[1]
        return np.asarray(-(u**2).sum(axis=0) / 2 - d / 2 * math.log(2 * math.pi) - log_det)

    def _second_moment(self, dim: int) -> float:
        return float((self.factor**2).sum())


# -- products over coordinates -----------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Independent(SpectralDensity):
    """Density of a product of functions of the coordinates: frequencies have independent coordinates.

    Subclasses write ``draw(shape, rng)`` and ``log_standard(u)`` for width 1, and ``variance``.

    Parameters
    ----------
    widths : float or array of shape (d,)
    """

    widths: Any = 1.0

    @property
    def dim(self) -> int | None:
        return None if np.ndim(self.widths) == 0 else len(self.widths)

    @abstractmethod
    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
        """Coordinates for width 1."""

    @abstractmethod
    def log_standard(self, u: np.ndarray) -> np.ndarray:
        """Logarithm of the density of one coordinate for width 1."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance of one coordinate for width 1."""

    def along(self, axes: Sequence[int]) -> Self:
        """The density of the kernel on vectors that differ along some axes alone."""
        return replace(self, widths=widths_along(self.widths, axes))

    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        if orthogonal:
            raise _not_round(self)
        with np.errstate(over="ignore"):
            return np.asarray(self.draw((n, dim), rng) / self.widths)

    def log_value(self, w: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray((self.log_standard(self.widths * w) + np.log(self.widths)).sum(axis=1))

    def _second_moment(self, dim: int) -> float:
        return self.variance * float((1 / np.broadcast_to(self.widths, dim) ** 2).sum())


class IndependentCauchy(Independent):
    """Of the Laplacian kernel."""

    variance = math.inf

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
        return rng.standard_cauchy(shape)

    def log_standard(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(-math.log(math.pi) - np.log1p(u**2))


class IndependentLaplace(Independent):
    """Of the Cauchy kernel."""

    variance = 2.0

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
        return rng.laplace(size=shape)

    def log_standard(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(-math.log(2) - np.abs(u))


class Uniform(Independent):
    """Of products of sincs."""

    variance = 1 / 3

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-1.0, 1.0, shape)

    def log_standard(self, u: np.ndarray) -> np.ndarray:
        return np.where(np.abs(u) <= 1, -math.log(2), -math.inf)


# -- point masses, and what sums and products of kernels have ----------------------------------
@dataclass(frozen=True, eq=False)
class AtZero(SpectralDensity):
    """Of a constant kernel: all mass at the frequency 0."""

    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        if orthogonal:
            raise _not_round(self)
        return np.zeros((n, dim))

    def log_value(self, w: np.ndarray) -> np.ndarray:
        raise _point_masses(self)

    def _second_moment(self, dim: int) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class Discrete(SpectralDensity):
    """Point masses at the rows of a matrix and at their negatives.

    Parameters
    ----------
    frequencies : array of shape (J, d)
    weights : array of shape (J,)
        Their masses in any unit, >= 0.
    """

    frequencies: Any = None
    weights: Any = None

    @property
    def dim(self) -> int:
        return int(self.frequencies.shape[1])

    @property
    def _shares(self) -> np.ndarray:
        return np.asarray(self.weights / self.weights.sum())

    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        if orthogonal:
            raise _not_round(self)
        chosen = rng.choice(len(self.frequencies), n, p=self._shares)
        return np.asarray(self.frequencies[chosen] * rng.choice([-1.0, 1.0], (n, 1)))

    def log_value(self, w: np.ndarray) -> np.ndarray:
        raise _point_masses(self)

    def _second_moment(self, dim: int) -> float:
        return float(self._shares @ (self.frequencies**2).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Mixture(SpectralDensity):
    """Of a sum of kernels: each draw comes from a part, chosen with probability proportional to its mass."""

    parts: tuple[SpectralDensity, ...] = ()

    @property
    def dim(self) -> int | None:
        return next((p.dim for p in self.parts if p.dim is not None), None)

    @property
    def _shares(self) -> np.ndarray:
        masses = np.array([p.mass for p in self.parts])
        return np.asarray(masses / masses.sum())

    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        if orthogonal:
            raise _not_round(self)
        chosen = rng.choice(len(self.parts), n, p=self._shares)
        W = np.empty((n, dim))
        for i, part in enumerate(self.parts):
            rows = np.flatnonzero(chosen == i)
            W[rows] = part._draw(len(rows), dim, rng, False)
        return W

    def log_value(self, w: np.ndarray) -> np.ndarray:
        values = [p.log_value(w) for p in self.parts]
        return np.asarray(scipy.special.logsumexp(values, axis=0, b=self._shares[:, None]))

    def _second_moment(self, dim: int) -> float:
        return float(self._shares @ [p._second_moment(dim) for p in self.parts])


@dataclass(frozen=True, eq=False)
class Convolution(SpectralDensity):
    """Of a product of kernels: draws are sums of independent draws, one from each part."""

    parts: tuple[SpectralDensity, ...] = ()

    @property
    def dim(self) -> int | None:
        return next((p.dim for p in self.parts if p.dim is not None), None)

    def _draw(self, n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
        if orthogonal:
            raise _not_round(self)
        return np.asarray(sum(p._draw(n, dim, rng, False) for p in self.parts))

    def log_value(self, w: np.ndarray) -> np.ndarray:
        raise DomainError("Convolution: the density of a product of kernels is an integral; sample from it.")

    def _second_moment(self, dim: int) -> float:
        return float(sum(p._second_moment(dim) for p in self.parts))


def _normal(n: int, dim: int, rng: np.random.Generator, orthogonal: bool) -> np.ndarray:
    """Standard normal rows; orthogonal ones in blocks of ``dim``, with independent lengths."""
    if not orthogonal:
        return rng.standard_normal((n, dim))
    lengths = np.sqrt(rng.chisquare(dim, n))
    Q, R = np.linalg.qr(rng.standard_normal((-(-n // dim), dim, dim)))
    Q = Q * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]  # uniform over rotations and reflections
    return np.asarray(Q.transpose(0, 2, 1).reshape(-1, dim)[:n] * lengths[:, None])


def widths_along(widths: Any, axes: Sequence[int]) -> np.ndarray:
    """Widths along some axes, of one width for all or of one for each."""
    return np.full(len(axes), widths) if np.ndim(widths) == 0 else np.asarray(widths)[list(axes)]


def _not_round(density: SpectralDensity) -> DomainError:
    return DomainError(
        f"{type(density).__name__}: `orthogonal` must be False. Orthogonal frequencies need a kernel that "
        "is a function of the Euclidean distance, after a linear map at most."
    )


def _point_masses(density: SpectralDensity) -> DomainError:
    return DomainError(f"{type(density).__name__}: point masses have no density; sample from them.")
