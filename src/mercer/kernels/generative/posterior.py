"""Scores of the ratio of two likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificate import Certificate
from ...domains import Data, Domain, meet
from ...models.base import PARAMETRIZATIONS
from ...parameters import parameter
from .scored import Scored, model_of

__all__ = ["TangentPosterior"]


class TangentPosterior(Scored):
    r"""Scores of the likelihood ratio of two models, one for each class.

    .. math:: \phi(x) = \nabla_{(\theta_1, \theta_2)} \log\frac{p_{\theta_1}(x)}{p_{\theta_2}(x)}, \qquad
              k(x, y) = \phi(x)^T \phi(y)

    With ``log_odds`` the ratio itself, :math:`\log p_{\theta_1}(x) - \log p_{\theta_2}(x)`, is a feature too:
    the tangent vectors of posterior log-odds (Tsuda and others, 2002), up to the prior odds, a constant.
    Positive definite, as an inner product of explicit features.  Block cost: the scores of each point once,
    and a matrix product.

    Parameters
    ----------
    positive, negative : Model
        The models of the two classes, on the same observations.
    log_odds : bool, default=False
        Whether the logarithm of the ratio is a feature.
    parametrization : {"softmax", "tangent", "raw"}, default="softmax"
        How probabilities are parameters: see :meth:`mercer.models.Model.score`.

    Examples
    --------
    >>> from mercer.models import Multinomial
    >>> k = TangentPosterior(Multinomial([0.5, 0.5]), Multinomial([0.25, 0.75]))
    >>> round(k([1, 0], [1, 0]), 12)
    1.625
    """

    positive: Any
    negative: Any
    log_odds: bool = parameter(default=False, choices=(False, True), kw_only=True)
    parametrization: str = parameter(default="softmax", choices=PARAMETRIZATIONS, kw_only=True)

    def _validate(self) -> None:
        model_of(self.positive, self, "positive")
        model_of(self.negative, self, "negative")
        meet(self.positive.domain, self.negative.domain)

    @property
    def domain(self) -> Domain:
        return meet(self.positive.domain, self.negative.domain)

    def _features(self, X: Data) -> np.ndarray:
        parts = [
            self.positive.scores(X, self.parametrization),
            -self.negative.scores(X, self.parametrization),
        ]
        if self.log_odds:
            odds = self.positive.log_likelihoods(X) - self.negative.log_likelihoods(X)
            parts.insert(0, odds[:, None])
        return np.hstack(parts)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of scores of the likelihood ratio"
        )
