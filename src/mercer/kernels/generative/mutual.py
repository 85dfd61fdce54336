"""Mutual information kernels: products of likelihoods, averaged over a prior."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from ...certificate import Certificate
from ...domains import Data, Domain, meet, size
from ...errors import ParameterError
from ...intervals import NONNEGATIVE
from ...kernel import Kernel
from ...models import Model
from ...models.base import checked_number, generator
from ...models.priors import Prior
from .scored import finite_value

__all__ = ["MutualInformation", "SampledMutualInformation"]


class _InLogs(Kernel):
    """Kernels whose logarithms are computed: values may be larger or smaller than any float."""

    _scaled: ClassVar[bool] = True

    def _logs(self, X: Data, Y: Data) -> np.ndarray:
        """Logarithms of the values of all pairs."""
        raise TypeError(f"{type(self).__name__} must define _logs")

    def _log_diagonal(self, X: Data) -> np.ndarray:
        """Logarithms of the values of points with themselves."""
        raise TypeError(f"{type(self).__name__} must define _log_diagonal")

    def log_block(self, X: Any, Y: Any = None) -> np.ndarray:
        """Natural logarithms of the values, of any size; minus infinity where k is 0."""
        X, Y = self._prepare_pair(X, Y)
        return self._logs(X, X if Y is None else Y)

    def __call__(self, x: Any, y: Any) -> float:
        with np.errstate(all="ignore"):
            a, b = (self._prepare(self.domain.validate([point], "x")) for point in (x, y))
            return finite_value(self, float(np.exp(self._logs(a, b)[0, 0])))

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return np.asarray(np.exp(self._logs(X, X if Y is None else Y)))

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.asarray(np.exp(self._log_diagonal(X)))

    def _scaled_block(self, X: Data, Y: Data | None) -> tuple[np.ndarray, np.ndarray]:
        return _scaled(self._logs(X, X if Y is None else Y))

    def _scaled_diagonal(self, X: Data) -> tuple[np.ndarray, np.ndarray]:
        return _scaled(self._log_diagonal(X))

    bounds = NONNEGATIVE


class MutualInformation(_InLogs):
    r"""Mutual information kernel: the product of two likelihoods, averaged over a prior.

    .. math:: k(x, y) = \int p_\theta(x) \, p_\theta(y) \, \omega(d\theta)

    in closed form for conjugate priors: a :class:`~mercer.models.Dirichlet` prior of a multinomial (with two
    outcomes the beta prior of a coin), and a normal prior of the mean of a normal distribution, whose
    normalised kernel is a Gaussian kernel.  Positive definite: the inner product of :math:`p_\theta(x)` and
    :math:`p_\theta(y)` as functions of :math:`\theta`.  Likelihoods of many draws are tiny: use
    ``normalized()``, or :meth:`log_block`.  :class:`~mercer.kernels.ContextTree` belongs to this family, with
    Markov chains of all context trees as its models.  Block cost: O(n m k).

    Parameters
    ----------
    prior : Prior
        A prior of :mod:`mercer.models`.

    Examples
    --------
    >>> from mercer.models import Dirichlet
    >>> k = MutualInformation(Dirichlet([1.0, 1.0]))  # a coin of which nothing is known
    >>> round(k([1, 0], [1, 0]), 12)  # the integral of p^2
    0.333333333333
    """

    prior: Any

    def _validate(self) -> None:
        if not isinstance(self.prior, Prior):
            raise ParameterError(
                f"MutualInformation: `prior` must be a prior of mercer.models, such as Dirichlet([1, 1]). "
                f"Got {self.prior!r}. For models drawn from a prior use SampledMutualInformation."
            )

    @property
    def domain(self) -> Domain:
        domain: Domain = self.prior.domain
        return domain

    def _logs(self, X: Data, Y: Data) -> np.ndarray:
        logs: np.ndarray = self.prior.log_products(X, Y)
        return logs

    def _log_diagonal(self, X: Data) -> np.ndarray:
        logs: np.ndarray = self.prior.log_squares(X)
        return logs

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "inner product in L2(prior)", "of the likelihoods of x and y as functions of the parameters"
        )


class SampledMutualInformation(_InLogs):
    r"""Mutual information kernel of models that were drawn from a prior.

    .. math:: k(x, y) = \frac1n \sum_{i=1}^n p_i(x) \, p_i(y)

    the mean over models :math:`p_1, \ldots, p_n`: an unbiased estimate of the integral over the prior, and
    for itself a kernel.  :meth:`standard_error` says how far off it may be.  Positive definite, as an inner
    product of explicit features.  Block cost: the likelihoods of each point once, and O(n) for each pair.

    Parameters
    ----------
    models : sequence of Model
        Models of the same observations; :meth:`from_prior` draws them.

    Examples
    --------
    >>> from mercer.models import Multinomial
    >>> k = SampledMutualInformation([Multinomial([0.5, 0.5]), Multinomial([0.25, 0.75])])
    >>> round(k([1, 0], [1, 0]), 12)
    0.15625
    """

    models: Any

    def _validate(self) -> None:
        models: Sequence[Any] = tuple(self.models) if isinstance(self.models, Iterable) else (self.models,)
        wrong = next((m for m in models if not isinstance(m, Model)), None)
        if wrong is not None or not models:
            raise ParameterError(
                f"SampledMutualInformation: `models` must be models of mercer.models. Got "
                f"{'none' if wrong is None else repr(wrong)}."
            )
        object.__setattr__(self, "models", models)
        meet(*(m.domain for m in models))

    @classmethod
    def from_prior(cls, prior: Any, n: int, random_state: Any = None) -> SampledMutualInformation:
        """The kernel of n models drawn from a prior.

        Parameters
        ----------
        prior : Prior, or a function of a generator of random numbers that returns a model
        n : int
        random_state : int, Generator or None
        """
        rng = generator(random_state)
        draw = prior.draw if isinstance(prior, Prior) else prior
        checked_number(n, "SampledMutualInformation.from_prior", "n", integer=True, low=1)
        if not callable(draw):
            raise ParameterError(
                "SampledMutualInformation.from_prior: `prior` must be a prior of mercer.models, or a "
                f"function of a generator of random numbers. Got {prior!r}."
            )
        return cls([draw(rng) for _ in range(n)])

    @property
    def domain(self) -> Domain:
        return meet(*(m.domain for m in self.models))

    def _prepare(self, X: Data) -> np.ndarray:
        """Logarithms of the likelihoods under each model, shape (points, models)."""
        rows = [m._log_likelihoods(X) for m in self.models]
        return np.column_stack(rows) if size(X) else np.zeros((0, len(rows)))

    def _logs(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        rows = [logsumexp(x + Y, axis=1) for x in X]
        logs = np.vstack(rows) if rows else np.zeros((0, len(Y)))
        return np.asarray(logs - math.log(len(self.models)))

    def _log_diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(logsumexp(2 * X, axis=1) - math.log(len(self.models)))

    def standard_error(self, x: Any, y: Any) -> float:
        """Standard error of ``k(x, y)`` as an estimate of the integral over the prior."""
        if len(self.models) < 2:
            return math.inf
        a, b = (self._prepare(self.domain.validate([point], "x"))[0] for point in (x, y))
        products = np.exp(a + b)
        return float(products.std(ddof=1) / math.sqrt(len(products)))

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of likelihoods under each model")


def _scaled(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers by their logarithms as ``m * 2 ** e``; 0 where the logarithm is minus infinity."""
    finite = np.where(np.isneginf(logs), 0.0, logs)
    log2 = math.log(2.0)
    e = np.floor(finite / log2)
    return np.where(np.isneginf(logs), 0.0, np.exp(finite - e * log2)), e.astype(np.int64)
