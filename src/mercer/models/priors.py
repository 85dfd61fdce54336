"""Conjugate priors of the parameters of models: integrals of products of likelihoods are closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from ..domains import Data, Domain, Vectors
from ..domains.regions import NONNEGATIVE
from ..errors import ParameterError
from .base import Value, numbers
from .multinomial import Multinomial
from .normal import Normal

__all__ = ["Dirichlet", "NormalMean", "Prior"]


class Prior(Value, ABC):
    """A distribution of the parameters of a model."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The observations of the model."""

    @abstractmethod
    def log_products(self, X: Data, Y: Data) -> np.ndarray:
        r"""Logarithms of :math:`\int p_\theta(x) \, p_\theta(y) \, \omega(d\theta)`, for all pairs."""

    @abstractmethod
    def log_squares(self, X: Data) -> np.ndarray:
        """The same of each observation with itself."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Any:
        """A model drawn from the prior."""


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(Prior):
    r"""Dirichlet prior of the probabilities of a :class:`Multinomial`; with two outcomes the beta prior.

    .. math:: \omega(p) \propto \prod_i p_i^{\alpha_i - 1}

    Parameters
    ----------
    alpha : array of shape (k,)
        Positive numbers.

    Examples
    --------
    >>> Dirichlet([0.5, 0.5])
    Dirichlet([0.5, 0.5])
    """

    alpha: Any

    def __post_init__(self) -> None:
        alpha = numbers(self.alpha, "Dirichlet", "alpha")
        if alpha.ndim != 1 or len(alpha) < 2 or not (alpha > 0).all():
            raise ParameterError(f"Dirichlet: `alpha` must be two or more numbers > 0. Got {self.alpha!r}.")
        self._set(alpha=alpha)

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self.alpha), region=NONNEGATIVE, dense=True)

    def _arrangements(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(gammaln(X.sum(axis=1) + 1) - gammaln(X + 1).sum(axis=1))

    def _integral(self, counts: np.ndarray) -> np.ndarray:
        """Logarithms of the integrals of ``prod p_i^c_i``, for counts in the last axis."""
        total = self.alpha.sum()
        constant = gammaln(total) - gammaln(self.alpha).sum()
        return np.asarray(
            constant + gammaln(self.alpha + counts).sum(axis=-1) - gammaln(total + counts.sum(axis=-1))
        )

    def log_products(self, X: Data, Y: Data) -> np.ndarray:
        both = np.vstack([self._integral(x + Y) for x in X]) if len(X) else np.zeros((0, len(Y)))
        return np.asarray(both + self._arrangements(X)[:, None] + self._arrangements(Y))

    def log_squares(self, X: Data) -> np.ndarray:
        return np.asarray(self._integral(2 * X) + 2 * self._arrangements(X))

    def draw(self, rng: np.random.Generator) -> Multinomial:
        return Multinomial(rng.dirichlet(self.alpha))


@dataclass(frozen=True, eq=False, repr=False)
class NormalMean(Prior):
    r"""Normal prior of the mean of a :class:`Normal` whose covariance is known.

    .. math:: \mu \sim N(m, T), \qquad x \sim N(\mu, S)

    Parameters
    ----------
    mean : array of shape (d,)
        The mean m of the prior.
    covariance : array of shape (d, d)
        The covariance T of the prior.
    noise : array of shape (d, d)
        The covariance S of an observation.

    Examples
    --------
    >>> NormalMean([0.0], [[4.0]], [[1.0]]).domain
    Vectors(dim=1, region=Box(low=-inf, high=inf, open_low=False, open_high=False), dense=True)
    """

    mean: Any
    covariance: Any
    noise: Any

    def __post_init__(self) -> None:
        prior = Normal(self.mean, self.covariance)
        noise = Normal(self.mean, self.noise)
        self._set(mean=prior.mean, covariance=prior.covariance, noise=noise.covariance)

    @cached_property
    def _sum(self) -> Normal:
        """The distribution of x + y, which is independent of x - y."""
        return Normal(2 * self.mean, 2 * self.noise + 4 * self.covariance)

    @cached_property
    def _difference(self) -> Normal:
        """The distribution of x - y."""
        return Normal(0 * self.mean, 2 * self.noise)

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self.mean), dense=True)

    def log_products(self, X: Data, Y: Data) -> np.ndarray:
        return np.array([self._joint(x + Y, x - Y) for x in X]).reshape(len(X), len(Y))

    def log_squares(self, X: Data) -> np.ndarray:
        return self._joint(2 * X, 0 * X)

    def _joint(self, sums: np.ndarray, differences: np.ndarray) -> np.ndarray:
        """Log-densities of pairs (x, y) from x + y and x - y: the change of variables has determinant 2^d."""
        jacobian = len(self.mean) * np.log(2.0)
        return np.asarray(
            self._sum._log_likelihoods(sums) + self._difference._log_likelihoods(differences) + jacobian
        )

    def draw(self, rng: np.random.Generator) -> Normal:
        return Normal(rng.multivariate_normal(self.mean, self.covariance, method="cholesky"), self.noise)
