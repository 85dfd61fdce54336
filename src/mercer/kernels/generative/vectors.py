"""Fisher vectors: sets of vectors under a mixture."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ...certificate import Certificate
from ...domains import Domain, Series, SeriesData
from ...errors import ParameterError
from ...models import Mixture
from ...parameters import parameter
from .scored import Scored, model_of

__all__ = ["FisherVector"]


class FisherVector(Scored):
    r"""Fisher vectors: what the vectors of a set say about means and variances of a mixture.

    .. math:: u_k = \frac{1}{N\sqrt{w_k}} \sum_t q_{tk} \frac{x_t - \mu_k}{s_k}, \qquad
              v_k = \frac{1}{N\sqrt{2 w_k}} \sum_t q_{tk} \left(\frac{(x_t - \mu_k)^2}{s_k^2} - 1\right)

    for N vectors :math:`x_t` with posterior probabilities :math:`q_{tk}` of components of weight
    :math:`w_k`, mean :math:`\mu_k` and standard deviations :math:`s_k`: the scores of the set under an
    approximation of the information.  A point is a set of vectors, an array of shape (N, d); their order does
    not matter.  Positive definite, as an inner product of explicit features.  Block cost: O(N K d) for each
    point, and a matrix product.

    Parameters
    ----------
    mixture : Mixture
        With diagonal covariances: ``Mixture.fit(X, K, covariance_type="diag")``.
    improved : bool, default=False
        Whether features are replaced by their signed square roots, and then divided by their norm.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.models import Mixture, Normal
    >>> k = FisherVector(Mixture([1.0], [Normal([0.0], [[1.0]])]))
    >>> k([[1.0], [-1.0]], [[2.0], [0.0]])  # u = 0 and 1, v = 0 and 1 / sqrt(2)
    0.0
    """

    mixture: Any
    improved: bool = parameter(default=False, choices=(False, True), kw_only=True)

    def _validate(self) -> None:
        model_of(self.mixture, self, "mixture", Mixture)
        if any(np.count_nonzero(g.covariance - np.diag(np.diag(g.covariance))) for g in self.mixture.normals):
            raise ParameterError(
                "FisherVector: `mixture` must have diagonal covariances. Fit it with covariance_type='diag'."
            )
        if not (self.mixture.weights > 0).all():
            raise ParameterError("FisherVector: `mixture` must have positive weights.")

    @property
    def domain(self) -> Domain:
        return Series(channels=len(self.mixture.normals[0].mean))

    def _features(self, X: SeriesData) -> np.ndarray:
        steps, n = X.steps, len(X)
        q = self.mixture._responsibilities(steps)
        owner = np.repeat(np.arange(n), X.lengths)
        mean_of = scipy.sparse.csr_array(
            (1 / np.repeat(X.lengths, X.lengths), (owner, np.arange(len(steps)))), shape=(n, len(steps))
        )
        parts: list[np.ndarray] = []
        for k, g in enumerate(self.mixture.normals):
            z = (steps - g.mean) / np.sqrt(np.diag(g.covariance))
            weight = np.sqrt(self.mixture.weights[k])
            parts += [
                mean_of @ (q[:, [k]] * z) / weight,
                mean_of @ (q[:, [k]] * (z**2 - 1)) / (np.sqrt(2) * weight),
            ]
        features = np.hstack(parts)
        if not self.improved:
            return features
        features = np.sign(features) * np.sqrt(np.abs(features))
        norms = np.linalg.norm(features, axis=1, keepdims=True)
        return np.asarray(features / np.where(norms > 0, norms, 1))

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of Fisher vectors")
