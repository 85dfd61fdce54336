"""Probability product kernels: of histograms, and of models."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ...algebra.simple import checked
from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...domains import Data, Domain, size
from ...engine import pairwise
from ...engine.program import Builder, Value
from ...errors import GradientError, ParameterError
from ...intervals import NONNEGATIVE
from ...kernel import Gradient
from ...models import HMM, MarkovChain, Mixture, Model
from ...models.base import probabilities
from ...models.domain import Distributions, ModelBatch
from ...parameters import parameter
from ..inner import squared_norms
from ..sums import Summed
from .overlaps import Weights, log_overlaps, log_squares, overlap

__all__ = ["ProbabilityProduct"]


class ProbabilityProduct(Summed):
    r"""Probability product kernel of distributions: histograms, or models of :mod:`mercer.models`.

    .. math:: k(p, q) = \int p(z)^\beta \, q(z)^\beta \, dz, \qquad k(x, y) = \sum_i x_i^\beta \, y_i^\beta

    Positive definite for every :math:`\beta > 0`: the inner product of :math:`p^\beta` and :math:`q^\beta` in
    L2.  :math:`\beta = 1/2` is the Bhattacharyya affinity, 1 between equal distributions;
    :math:`\beta = 1` the expected likelihood of one under the other.

    - Histograms, rows of nonnegative numbers, are taken as they are; a row of zeros has k = 0 with all.
      A :class:`~mercer.models.Multinomial` is the histogram of one draw.
    - A :class:`~mercer.models.Normal` has the closed form of :class:`GaussianProduct` for every
      :math:`\beta`, a :class:`~mercer.models.Mixture` for :math:`\beta = 1` a sum over pairs of components.
    - A :class:`~mercer.models.MarkovChain` is a distribution of the sequences of a ``length``, for every
      :math:`\beta`; an :class:`~mercer.models.HMM` too, for :math:`\beta = 1`, by the forward recursion over
      pairs of states.  Symbols that only one of two alphabets has are impossible for the other model.

    A power of a sum over components or hidden states has no closed form: any other :math:`\beta` is an error.
    Between models fitted to data, this is a kernel on data sets.  Values of long sequences are tiny; they are
    computed in logarithms: ``normalized()`` and :meth:`log_block` do not underflow.

    Block cost: O(n m d) for histograms, one matrix product; O(n m d^3) for each pair of normal distributions;
    O(n m T S^3) for sequences of length T and S states.

    Parameters
    ----------
    power : float, default=0.5
        The exponent :math:`\beta`, > 0.
    length : int or array, optional
        The length of sequences, for chains; or the probabilities of the lengths 0, 1, 2, ..., with which the
        distribution of a model is :math:`p(x) = P(|x|) \, p(x \mid |x|)`.

    Examples
    --------
    >>> ProbabilityProduct()([0.25, 0.75, 0.0], [0.25, 0.0, 0.75])
    0.25
    >>> from mercer.models import MarkovChain, Normal
    >>> round(ProbabilityProduct()(Normal([0.0], [[1.0]]), Normal([2.0], [[1.0]])), 12)  # exp(-1/2)
    0.606530659713
    >>> coin = MarkovChain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    >>> sticky = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> k = ProbabilityProduct(1.0, length=10).normalized()
    >>> k.block([coin, sticky]).round(6)[0].tolist()
    [1.0, 0.107945]
    """

    power: float = parameter(default=0.5, low=0.0, open_low=True, scale="log")
    length: Any = field(default=None, kw_only=True)
    _overflow: ClassVar[str | None] = "power"
    _sum = "dot"

    def _validate(self) -> None:
        if self.length is None:
            return
        if np.ndim(self.length):
            lengths = probabilities(self.length, "ProbabilityProduct", "length")
            lengths.flags.writeable = False
            object.__setattr__(self, "length", lengths)
            return
        whole = isinstance(self.length, int | np.integer) and not isinstance(self.length, bool)
        # Steps of the longest sequences: a recursion of so many takes seconds for each block.
        longest = 10**5
        if not whole or not 0 <= self.length <= longest:
            raise ParameterError(
                f"ProbabilityProduct: `length` must be an integer from 0 to {longest}, or the "
                f"probabilities of the lengths 0, 1, 2, .... Got {self.length!r}."
            )
        object.__setattr__(self, "length", int(self.length))

    @property
    def domain(self) -> Domain:
        return Distributions()

    @cached_property
    def _weights(self) -> Weights | None:
        """Lengths that occur, with the logarithms of their factors ``P(t)^(2 power)``."""
        if self.length is None:
            return None
        if isinstance(self.length, int):
            return [(self.length, 0.0)]
        return [(t, 2 * self.power * float(np.log(p))) for t, p in enumerate(self.length.tolist()) if p > 0]

    def _check(self, kind: type | None) -> None:
        """Raise unless the parameters are for distributions of this kind; None stands for histograms."""
        chains = kind in (MarkovChain, HMM)
        if chains and self.length is None:
            raise ParameterError(
                f"ProbabilityProduct: `length` must be given for models of sequences. A {kind.__name__} is a "  # type: ignore[union-attr]
                "distribution of sequences of one length: pass length=10, or the probabilities of lengths."
            )
        if not chains and self.length is not None:
            shown = "histograms" if kind is None else kind.__name__
            raise ParameterError(
                f"ProbabilityProduct: `length` belongs to models of sequences. Leave it out for {shown}."
            )
        if kind in (Mixture, HMM) and self.power != 1:
            raise ParameterError(
                f"ProbabilityProduct: `power` must be 1 for a {kind.__name__}. Got {self.power!r}. Another "
                "power of a sum over hidden states or components has no closed form."
            )

    # -- one pair -------------------------------------------------------------------------------
    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        return m.power(a, self.power) * m.power(b, self.power)

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        self._check(type(x) if isinstance(x, Model) else None)
        if isinstance(x, Model):
            return (overlap(x, y, self.power, self._weights, m),)
        return super()._pair(x, y, m)

    # -- many pairs -----------------------------------------------------------------------------
    def _prepare(self, X: Data) -> Data:
        if isinstance(X, ModelBatch) or size(X):
            self._check(X.kind if isinstance(X, ModelBatch) else None)
        if isinstance(X, ModelBatch):
            return X
        if not scipy.sparse.issparse(X):
            return self._powers(X)
        P = X.copy()
        P.data = self._powers(X.data)
        return P

    def _powers(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return checked(np.power(values, values.dtype.type(self.power)), self, "power")

    def _rescale(self, X: Data) -> Data:
        if not isinstance(X, ModelBatch):
            return X
        self._check(X.kind)
        own = log_squares(X, self.power, self._weights)
        return ModelBatch(X.kind, X.models, np.where(np.isneginf(own), 0.0, -own / 2))

    def _logs(self, X: ModelBatch, Y: ModelBatch | None) -> np.ndarray:
        return log_overlaps(X, Y, self.power, self._weights)

    def log_block(self, X: Any, Y: Any = None) -> np.ndarray:
        """Natural logarithms of the values on models, of any size; minus infinity where k is 0."""
        X, Y = self._prepare_pair(X, Y)
        if isinstance(X, ModelBatch):
            return self._logs(X, Y)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._block(X, Y)))

    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray]:
        return (np.exp(self._logs(X, Y)),) if isinstance(X, ModelBatch) else super()._pairs(X, Y)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value] | None:  # type: ignore[override]
        return None if ModelBatch in (type(X), type(Y)) else super()._steps(b, X, Y)

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        return None if isinstance(X, ModelBatch) else X

    def _diagonal(self, X: Data) -> np.ndarray:
        if isinstance(X, ModelBatch):
            return checked(np.exp(log_squares(X, self.power, self._weights)), self, "power")
        return checked(squared_norms(X), self, "power")

    # -- derivatives ----------------------------------------------------------------------------
    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        _require_histograms(X)
        # beta x^beta log x = p log p with p = x^beta, so the prepared data are enough.
        columns = X if Y is None else Y
        slope = pairwise.dot(_times_log(X), columns) + pairwise.dot(X, _times_log(columns))
        return self._block(X, Y), {"power": slope}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        _require_histograms(X)
        product = X * _times_log(X)
        return self._diagonal(X), {"power": 2 * np.asarray(product.sum(axis=1)).ravel()}

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "inner product in L2", "of p^beta and q^beta, or of x^beta and y^beta")

    bounds = NONNEGATIVE


def _require_histograms(X: Data) -> None:
    if isinstance(X, ModelBatch):
        raise GradientError(
            f"ProbabilityProduct has no closed-form gradient for models such as {X.kind.__name__}; use "
            "finite differences of block."
        )


def _times_log(P: Data) -> Data:
    """Return ``p log p`` for every entry, 0 at 0."""
    if scipy.sparse.issparse(P):
        Q = P.copy()
        Q.data = _times_log(P.data)
        return Q
    return P * np.log(np.where(P > 0, P, 1.0)).astype(P.dtype)
