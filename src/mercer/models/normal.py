"""Normal distributions, and mixtures of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.special
from scipy import linalg

from ..domains import Data, Domain, Vectors
from ..errors import InputError, ParameterError
from .base import Model, checked_number, numbers, probabilities, simplex_scores

__all__ = ["Mixture", "Normal", "full_covariances", "spread"]


@dataclass(frozen=True, eq=False, repr=False)
class Normal(Model):
    r"""Normal distribution of vectors.

    .. math:: \log p(x) = -\tfrac12 (x-\mu)^T \Sigma^{-1} (x-\mu) - \tfrac12 \log\det(2\pi\Sigma)

    The parameters are the mean and the entries :math:`\Sigma_{ij}` with :math:`i \ge j`.

    Parameters
    ----------
    mean : array of shape (d,)
    covariance : array of shape (d, d)
        Symmetric and positive definite.

    Examples
    --------
    >>> model = Normal([0.0], [[4.0]])
    >>> model.score([2.0]).tolist()  # of the mean and of the variance
    [0.5, 0.0]
    """

    mean: Any
    covariance: Any

    def __post_init__(self) -> None:
        mean, S = numbers(self.mean, "Normal", "mean"), numbers(self.covariance, "Normal", "covariance")
        if mean.ndim != 1 or not len(mean):
            raise ParameterError(f"Normal: `mean` must be a vector of numbers. Got {self.mean!r}.")
        if S.shape != (len(mean), len(mean)) or not np.allclose(S, S.T, rtol=1e-10, atol=0):
            raise ParameterError(
                f"Normal: `covariance` must be a symmetric matrix of shape {(len(mean), len(mean))}. "
                f"Got shape {S.shape}."
            )
        self._set(mean=mean, covariance=(S + S.T) / 2)
        try:
            # squared pivots are variances given the coordinates before: rounding is all that is left of them
            rounding = 4 * len(mean) * np.finfo(np.float64).eps * np.diag(self.covariance)
            left = np.diag(self._root) ** 2 > rounding
        except linalg.LinAlgError:
            left = np.array([False])
        if not left.all():
            raise ParameterError(
                "Normal: `covariance` must be positive definite. It is singular or has a negative "
                "eigenvalue: add a multiple of the identity, or fit with a `ridge`."
            )

    @cached_property
    def _root(self) -> np.ndarray:
        """The lower triangular L with ``L L' = covariance``."""
        return np.asarray(linalg.cholesky(self.covariance, lower=True))

    @classmethod
    def fit(cls, X: Any, *, ridge: float = 0.0) -> Self:
        """The maximum-likelihood model of vectors.

        Parameters
        ----------
        X : array of shape (n, d)
        ridge : float, default=0.0
            Added to the variances, on the diagonal of the covariance.
        """
        checked_number(ridge, "Normal.fit", "ridge")
        points = Vectors(dense=True).validate(X)
        if len(points) < 1:
            raise InputError("Normal.fit: X must have at least one row.")
        mean = points.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            centred = points - mean
            S = centred.T @ centred / len(points) + ridge * np.eye(points.shape[1])
        if not np.isfinite(S).all():
            raise InputError("Normal.fit: X has variances larger than any float. Scale the data.")
        return cls(mean, S)

    @property
    def parameters(self) -> np.ndarray:
        return np.concatenate([self.mean, self.covariance[np.tril_indices(len(self.mean))]])

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self.mean), dense=True)

    def _whitened(self, X: Data) -> np.ndarray:
        """Rows ``L^-1 (x - mean)``, with L the root of the covariance."""
        return np.asarray(linalg.solve_triangular(self._root, (X - self.mean).T, lower=True).T)

    def _log_likelihoods(self, X: Data) -> np.ndarray:
        half = np.log(np.diag(self._root)).sum() + 0.5 * len(self.mean) * np.log(2 * np.pi)
        with np.errstate(over="ignore"):
            return np.asarray(-0.5 * (self._whitened(X) ** 2).sum(axis=1) - half)

    def _scores(self, X: Data, parametrization: str) -> np.ndarray:
        self._check_possible(self._log_likelihoods(X))
        return self._weighted_scores(X, np.ones(len(X)))

    def _weighted_scores(self, X: Data, weights: np.ndarray) -> np.ndarray:
        """Scores times weights; 0 where the weight is 0, even if the point is impossible here."""
        z = self._whitened(X)
        inverse = linalg.solve_triangular(self._root, np.eye(len(self.mean)), lower=True)
        i, j = np.tril_indices(len(self.mean))
        with np.errstate(over="ignore", invalid="ignore"):
            means = z @ inverse  # rows S^-1 (x - mean)
            precision = inverse.T @ inverse
            entries = 0.5 * (means[:, i] * means[:, j] - precision[i, j])
            scores = np.hstack([means, np.where(i == j, 1.0, 2.0) * entries])
            return np.where(weights[:, None] > 0, weights[:, None] * scores, 0.0)

    def information(self, parametrization: str = "softmax") -> np.ndarray:
        d = len(self.mean)
        precision = np.linalg.inv(self.covariance)
        i, j = np.tril_indices(d)
        # 1/2 tr(P E_a P E_b), where E_a is the derivative of the covariance by its entry a
        pairs = (
            precision[np.ix_(i, i)] * precision[np.ix_(j, j)]
            + precision[np.ix_(i, j)] * precision[np.ix_(j, i)]
        )
        twice = np.where(i == j, 1.0, 2.0)
        entries = 0.25 * pairs * np.outer(twice, twice)
        return np.asarray(linalg.block_diag(precision, entries))

    def _sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.multivariate_normal(self.mean, self.covariance, size=n, method="cholesky")


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(Model):
    r"""Mixture of normal distributions.

    .. math:: p(x) = \sum_k w_k \, N(x; \mu_k, \Sigma_k)

    Parameters are the weights, then mean and covariance of each component.  The information has no closed
    form.

    Parameters
    ----------
    weights : array of shape (K,)
        Probabilities of the components.
    normals : sequence of K Normal

    Examples
    --------
    >>> model = Mixture([0.5, 0.5], [Normal([-2.0], [[1.0]]), Normal([2.0], [[1.0]])])
    >>> model.responsibilities([[0.0]]).tolist()
    [[0.5, 0.5]]
    """

    weights: Any
    normals: Any

    def __post_init__(self) -> None:
        weights = probabilities(self.weights, "Mixture", "weights")
        normals: Sequence[Any] = (
            tuple(self.normals) if isinstance(self.normals, list | tuple) else (self.normals,)
        )
        wrong = next((x for x in normals if not isinstance(x, Normal)), None)
        if wrong is not None or len(normals) != len(weights):
            got = f"{len(normals)} of them" if wrong is None else repr(wrong)
            raise ParameterError(
                f"Mixture: `normals` must be {len(weights)} Normal, one for each weight. Got {got}."
            )
        if len({len(x.mean) for x in normals}) > 1:
            raise ParameterError("Mixture: `normals` must have means of one length.")
        self._set(weights=weights, normals=normals)

    @classmethod
    def fit(
        cls,
        X: Any,
        n_components: int,
        *,
        covariance_type: str = "full",
        ridge: float = 1e-6,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> Self:
        """A local maximum of the likelihood, by scikit-learn's expectation maximisation.

        Parameters
        ----------
        X : array of shape (n, d)
        n_components : int
        covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        ridge : float, default=1e-6
            Added to the variances, in units of the mean variance of the columns of X.
        max_iter : int, default=200
        random_state : int, Generator or None
        """
        from sklearn.mixture import GaussianMixture

        checked_number(n_components, "Mixture.fit", "n_components", integer=True, low=1)
        checked_number(max_iter, "Mixture.fit", "max_iter", integer=True, low=1)
        checked_number(ridge, "Mixture.fit", "ridge")
        if covariance_type not in ("full", "tied", "diag", "spherical"):
            raise ParameterError(
                "Mixture.fit: `covariance_type` must be one of 'full', 'tied', 'diag', 'spherical'. "
                f"Got {covariance_type!r}."
            )
        points = Vectors(dense=True).validate(X)
        if len(points) < max(2, n_components):
            raise InputError(
                f"Mixture.fit: X must have at least {max(2, n_components)} rows for {n_components} "
                f"component(s). Got {len(points)}."
            )
        mean, unit = points.mean(axis=0), spread(points, "Mixture.fit")
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**32))
        model = GaussianMixture(
            n_components,
            covariance_type=covariance_type,
            reg_covar=ridge,
            max_iter=max_iter,
            random_state=random_state,
        ).fit((points - mean) / unit)
        S = full_covariances(model.covariances_, covariance_type, *model.means_.shape) * unit**2
        means = mean + unit * model.means_
        return cls(model.weights_, [Normal(m, s) for m, s in zip(means, S, strict=True)])

    @property
    def parameters(self) -> np.ndarray:
        return np.concatenate([self.weights, *(g.parameters for g in self.normals)])

    @property
    def domain(self) -> Domain:
        return self.normals[0].domain  # type: ignore[no-any-return]

    def _joint(self, X: Data) -> np.ndarray:
        """Logarithms of ``w_k N(x; k)``."""
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.log(self.weights) + np.column_stack([g._log_likelihoods(X) for g in self.normals])
            )

    def _log_likelihoods(self, X: Data) -> np.ndarray:
        return np.asarray(scipy.special.logsumexp(self._joint(X), axis=1))

    def responsibilities(self, X: Any) -> np.ndarray:
        """Posterior probabilities of the components, shape (n, K)."""
        return self._responsibilities(self.domain.validate(X))

    def _responsibilities(self, X: Data) -> np.ndarray:
        joint = self._joint(X)
        self._check_possible(joint.max(axis=1, initial=-np.inf))
        return np.asarray(scipy.special.softmax(joint, axis=1))

    def _scores(self, X: Data, parametrization: str) -> np.ndarray:
        q = self._responsibilities(X)
        parts = [g._weighted_scores(X, q[:, k]) for k, g in enumerate(self.normals)]
        return np.hstack([simplex_scores(q, self.weights, parametrization), *parts])

    def _sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        which = rng.choice(len(self.weights), size=n, p=self.weights)
        found = np.empty((n, len(self.normals[0].mean)))
        for k, g in enumerate(self.normals):
            found[which == k] = g._sample(int((which == k).sum()), rng)
        return found


def spread(points: np.ndarray, caller: str) -> float:
    """Root of the mean variance of the columns: the unit in which a ridge and rounding are small."""
    with np.errstate(over="ignore", invalid="ignore"):
        variance = float(points.var(axis=0).mean())
    if not np.finfo(np.float64).tiny <= variance < np.inf:
        raise InputError(
            f"{caller}: X must have rows that differ, and a variance within the range of floats. "
            f"Got the mean variance {variance:.6g}. Scale the data, or use a Normal of your own."
        )
    return float(np.sqrt(variance))


def full_covariances(given: Any, covariance_type: str, K: int, d: int) -> np.ndarray:
    """Covariances of K components, in one of the forms of scikit-learn and hmmlearn, as full matrices."""
    variances: np.ndarray = np.asarray(given)
    if covariance_type == "full":
        return variances
    if covariance_type == "tied":
        return np.broadcast_to(variances, (K, d, d))
    if covariance_type == "spherical":  # hmmlearn repeats the variance for each coordinate
        variances = np.repeat(variances.reshape(K, -1)[:, :1], d, axis=1)
    return np.array([np.diag(row) for row in variances])
