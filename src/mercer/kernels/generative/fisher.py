"""The Fisher kernel of a model."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...certificate import Certificate
from ...domains import Data, Domain
from ...errors import InputError, ParameterError
from ...models import Model
from ...models.base import PARAMETRIZATIONS, numbers
from ...parameters import parameter
from .scored import Scored, model_of

__all__ = ["Fisher"]

#: Eigenvalues of the information that are rounding, relative to the largest and to the number of parameters.
ROUNDING = 1e-12


class Fisher(Scored):
    r"""Fisher kernel: scores of two observations under the metric of the Fisher information.

    .. math:: k(x, y) = U_x^T J^{-1} U_y, \qquad U_x = \nabla_\theta \log p_\theta(x)

    The score :math:`U_x` is that of the whole observation; :math:`J = E[U U^T]` is the information of one
    draw: one count, one vector, one sequence.  Where J is singular, its pseudo-inverse is meant:
    probabilities have a direction that changes nothing.  With the full J the kernel is the same for the
    parametrisations ``"softmax"`` and ``"tangent"``; the others depend on it.  Multinomial and normal models
    have a J in closed form; for the others estimate it by :meth:`from_data`, or use
    ``information="identity"``.

    Positive definite, as an inner product of explicit features.  The Gaussian form of the source is
    ``Fisher(model).gaussian(sigma)``.  Block cost: the scores of each point once, and a matrix product.

    Parameters
    ----------
    model : Model
        A model of :mod:`mercer.models`.
    parametrization : {"softmax", "tangent", "raw"}, default="softmax"
        How probabilities are parameters: see :meth:`mercer.models.Model.score`.
    information : {"full", "diagonal", "identity"}, default="full"
        The matrix J, its diagonal alone, or the identity in its place.
    shrinkage : float, default=0.0
        J, or its estimate, is mixed with a multiple of the identity of the same trace, with this weight.
    estimate : array of shape (p, p), optional
        An estimate of J, as :meth:`from_data` makes it.

    Examples
    --------
    >>> from mercer.models import Multinomial
    >>> k = Fisher(Multinomial([0.5, 0.25, 0.25]))
    >>> round(k([2, 0, 0], [2, 0, 0]), 12)  # sum of (x_i - N p_i) (y_i - N p_i) / p_i
    4.0
    >>> round(k([2, 0, 0], [0, 1, 1]), 12)
    -4.0
    """

    model: Any
    parametrization: str = parameter(default="softmax", choices=PARAMETRIZATIONS, kw_only=True)
    information: str = parameter(default="full", choices=("full", "diagonal", "identity"), kw_only=True)
    shrinkage: float = parameter(default=0.0, low=0.0, high=1.0, kw_only=True)
    estimate: Any = field(default=None, kw_only=True)

    def _validate(self) -> None:
        model_of(self.model, self, "model")
        if self.information == "identity":
            return
        if self.estimate is None and self.model.information(self.parametrization) is None:
            raise ParameterError(
                f"Fisher: the information of a {type(self.model).__name__} has no closed form. Estimate it "
                "by Fisher.from_data(model, X), or use information='identity'."
            )
        if self.estimate is not None:
            J = numbers(self.estimate, "Fisher", "estimate")
            if J.ndim != 2 or J.shape[0] != J.shape[1]:
                raise ParameterError(f"Fisher: `estimate` must be a square matrix. Got shape {J.shape}.")
            if not np.allclose(J, J.T, rtol=ROUNDING, atol=ROUNDING * np.abs(J).max(initial=0.0)):
                raise ParameterError(
                    "Fisher: `estimate` must be symmetric: it is a matrix of second moments."
                )
            values = np.linalg.eigvalsh(J)
            if len(J) and values[0] < -ROUNDING * len(J) * np.abs(values).max():
                raise ParameterError(
                    f"Fisher: `estimate` must be positive semidefinite. Got the eigenvalue {values[0]:.6g}."
                )
            J.flags.writeable = False
            object.__setattr__(self, "estimate", J)

    @classmethod
    def from_data(
        cls,
        model: Model,
        X: Any,
        *,
        parametrization: str = "softmax",
        information: str = "full",
        shrinkage: float = 0.1,
    ) -> Self:
        r"""The Fisher kernel with the information estimated from observations.

        .. math:: \hat J = (1 - \lambda) \frac1n \sum_i U_i U_i^T + \lambda \frac{\mathrm{tr}}{p} I

        Parameters
        ----------
        model : Model
        X : observations
        parametrization, information
            As of the class.
        shrinkage : float, default=0.1
            The weight :math:`\lambda` of the identity, 0 to 1.  It is a parameter of the kernel, and printed.

        Examples
        --------
        >>> from mercer.models import MarkovChain
        >>> chain = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], "ab")
        >>> k = Fisher.from_data(chain, ["aab", "abb", "bba", "aaa"])
        >>> k.shrinkage
        0.1
        """
        model_of(model, cls.__new__(cls), "model")
        U = model.scores(X, parametrization)
        if not len(U):
            raise InputError("Fisher.from_data: X must have at least one observation.")
        return cls(
            model,
            parametrization=parametrization,
            information=information,
            estimate=U.T @ U / len(U),
            shrinkage=shrinkage,
        )

    @property
    def domain(self) -> Domain:
        domain: Domain = self.model.domain
        return domain

    @cached_property
    def _metric(self) -> np.ndarray | None:
        """A root of the (pseudo-)inverse of the information: features are scores times it."""
        if self.information == "identity":
            return None
        J = self.model.information(self.parametrization) if self.estimate is None else self.estimate
        J = (1 - self.shrinkage) * J + self.shrinkage * np.trace(J) / len(J) * np.eye(len(J))
        if self.information == "diagonal":
            J = np.diag(np.diag(J))
        values, vectors = np.linalg.eigh(J)
        kept = values > ROUNDING * len(values) * max(float(values[-1]), 0.0)
        return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))

    def _features(self, X: Data) -> np.ndarray:
        U = self.model.scores(X, self.parametrization)
        if self._metric is None:
            return np.asarray(U)
        if U.shape[1] != len(self._metric):
            raise ParameterError(
                f"Fisher: `estimate` must be a matrix for the {U.shape[1]} parameters of the model. Got "
                f"{len(self._metric)}."
            )
        return np.asarray(U @ self._metric)

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of J^(-1/2) times the scores")
