"""Counts of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.special

from ..domains import Data, Domain, Vectors
from ..domains.regions import NONNEGATIVE
from ..errors import InputError
from .base import Model, checked_number, probabilities, simplex_scores

__all__ = ["Multinomial"]


@dataclass(frozen=True, eq=False, repr=False)
class Multinomial(Model):
    r"""Counts of independent draws, each with outcome i with probability :math:`p_i`.

    .. math:: \log p(x) = \log\frac{N!}{x_1! \cdots x_k!} + \sum_i x_i \log p_i, \qquad N = \sum_i x_i

    One draw is one count: the information is that of N = 1.

    Parameters
    ----------
    p : array of shape (k,)
        Probabilities of the outcomes.

    Examples
    --------
    >>> model = Multinomial([0.5, 0.25, 0.25])
    >>> model.score([2, 1, 1]).tolist()
    [0.0, 0.0, 0.0]
    """

    p: Any

    def __post_init__(self) -> None:
        self._set(p=probabilities(self.p, "Multinomial", "p"))

    @classmethod
    def fit(cls, X: Any, *, pseudocount: float = 0.0) -> Self:
        """The maximum-likelihood model of rows of counts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, k)
        pseudocount : float, default=0.0
            Added to the total count of each outcome; with 0, outcomes that do not occur have probability 0.
        """
        checked_number(pseudocount, "Multinomial.fit", "pseudocount")
        totals = np.asarray(Vectors(region=NONNEGATIVE).validate(X).sum(axis=0)).ravel() + float(pseudocount)
        if not totals.sum() > 0:
            raise InputError("Multinomial.fit: X has no counts. Pass a pseudocount, or other data.")
        return cls(totals / totals.sum())

    @property
    def parameters(self) -> np.ndarray:
        return np.asarray(self.p)

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self.p), region=NONNEGATIVE, dense=True)

    def _log_likelihoods(self, X: Data) -> np.ndarray:
        arrangements = scipy.special.gammaln(X.sum(axis=1) + 1) - scipy.special.gammaln(X + 1).sum(axis=1)
        return np.asarray(arrangements + scipy.special.xlogy(X, self.p).sum(axis=1))

    def _scores(self, X: Data, parametrization: str) -> np.ndarray:
        self._check_possible(self._log_likelihoods(X))
        return simplex_scores(np.asarray(X, dtype=np.float64), self.p, parametrization)

    def information(self, parametrization: str = "softmax") -> np.ndarray:
        """The covariance of the scores of one count."""
        if parametrization == "raw":
            return np.diag(np.divide(1.0, self.p, out=np.zeros_like(self.p), where=self.p > 0))
        scores = simplex_scores(np.diag((self.p > 0).astype(float)), self.p, parametrization)
        return np.asarray(scores.T @ (self.p[:, None] * scores))

    def _sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Single draws, as rows with one count."""
        return rng.multinomial(1, self.p, size=n).astype(np.float64)
