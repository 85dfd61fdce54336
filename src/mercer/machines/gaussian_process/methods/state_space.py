"""Kernels on the line whose process has a state of a few numbers, by Kalman's filter."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....algebra import Constant, Scaled, Sum
from ....domains import Data
from ....kernel import Kernel
from ....kernels import Exponential, Laplacian, Linear, Matern, Min
from ....solvers import Conditioned, LineComponent, LineCovariance, condition
from ....solvers.processes.line import MOST_STATES, STATES
from .base import Method, Slopes

__all__ = ["StateSpace", "Term", "terms_of"]

Array: TypeAlias = NDArray[np.float64]


class Term(NamedTuple):
    """A component, and which parameters of the kernel it has.

    Attributes
    ----------
    component : LineComponent
    factors : tuple of str
        Names of the parameters whose product is the variance.
    width : str or None
        The name of the parameter that is inversely proportional to the rate.
    """

    component: LineComponent
    factors: tuple[str, ...] = ()
    width: str | None = None


def terms_of(kernel: Kernel) -> list[Term] | None:
    """The components of a kernel on the line; None if it has other parts.

    Examples
    --------
    >>> [term.component.kind for term in terms_of(2.0 * Matern(1.5, 0.5) + Min())]
    ['matern32', 'brownian']
    """
    if isinstance(kernel, Sum):
        result: list[Term] = []
        for name, child in kernel._children:
            inner = terms_of(child)
            if inner is None:
                return None
            result += [_within(name, term) for term in inner]
        return result
    if isinstance(kernel, Scaled):
        inner = terms_of(kernel.base) if kernel.factor > 0 else None
        return (
            None
            if inner is None
            else [
                Term(
                    term.component._replace(variance=kernel.factor * term.component.variance),
                    ("factor", *term.factors),
                    term.width,
                )
                for term in (_within("base", term) for term in inner)
            ]
        )
    # Subclasses of the following may have other values: they have no components.
    if type(kernel) is Min:
        return [Term(LineComponent("brownian", 1.0))]
    if type(kernel) is Linear:
        return [Term(LineComponent("linear", 1.0))]
    if type(kernel) is Constant and kernel.value > 0:
        return [Term(LineComponent("constant", kernel.value), ("value",))]
    if isinstance(kernel, Exponential | Laplacian) and type(kernel) in (Exponential, Laplacian):
        order = 0.5
    elif isinstance(kernel, Matern) and type(kernel) is Matern:
        order = kernel.nu
    else:
        return None
    kinds: dict[float, Any] = {0.5: "matern12", 1.5: "matern32", 2.5: "matern52"}
    width = np.asarray(kernel.sigma, dtype=np.float64)
    if order not in kinds or width.size != 1:
        return None
    rate = float(np.sqrt(2 * order) / width.reshape(()))
    return [Term(LineComponent(kinds[order], 1.0, rate), (), "sigma")]


def _within(name: str, term: Term) -> Term:
    factors = tuple(f"{name}__{factor}" for factor in term.factors)
    return Term(term.component, factors, None if term.width is None else f"{name}__{term.width}")


class StateSpace(Method):
    """Sums of Matern kernels of order 1/2, 3/2 and 5/2, Brownian motion, constants and trends on the line."""

    name: ClassVar[str] = "state space"
    structure: ClassVar[str] = "a semiseparable kernel on the line"
    cost: ClassVar[str] = "O(n) time and memory (Kalman filter)"

    covariance: LineCovariance
    _terms: list[Term]

    @classmethod
    def of(cls, kernel: Kernel, points: Data, noise: Array) -> Self | None:
        """The method, if the kernel and the points have this structure."""
        if not (isinstance(points, np.ndarray) and points.ndim == 2 and points.shape[1] == 1):
            return None
        terms = terms_of(kernel)
        if terms is None or sum(STATES[term.component.kind] for term in terms) > MOST_STATES:
            return None
        method = cls(kernel, points, noise)
        method._terms = terms
        return method

    def _factor(self) -> LineCovariance:
        return LineCovariance([term.component for term in self._terms], self.points[:, 0], self.noise)

    def slopes(self, Y: Array, fit: Conditioned) -> tuple[Slopes, float]:
        """Gradient of the log likelihood."""
        return self.evidence(Y, fit.along is not None)[1:]

    def log_likelihood(self, Y: Array, intercept: bool) -> float:
        """The log likelihood, without coefficients unless there is an intercept."""
        if intercept:
            return super().log_likelihood(Y, intercept)
        n, t = Y.shape
        quadratic = float(np.trace(self.covariance.quadratic(Y)))
        constant = self.covariance.log_determinant + n * math.log(2 * math.pi)
        return -0.5 * (quadratic + float(t * constant))

    def evidence(self, Y: Array, intercept: bool) -> tuple[float, Slopes, float]:
        """The log likelihood and its gradient, by one pass; coefficients would take two more."""
        value, flat = self._evidence(Y, intercept)
        result: Slopes = {}
        for j, term in enumerate(self._terms):
            for name in term.factors:
                result[name] = result.get(name, np.zeros(())) + flat[2 * j]
            if term.width is not None:  # the rate is a constant over the width, of shape () or (1,)
                result[term.width] = np.array(-flat[2 * j + 1])
        return value, result, float(flat[-1])

    def _evidence(self, Y: Array, intercept: bool) -> tuple[float, Array]:
        n, t = Y.shape
        determinant = self.covariance.log_determinant
        if not intercept:
            found = self.covariance.slopes(Y)
            quadratic = np.trace(found.product_slopes, axis1=1, axis2=2)
            value = np.trace(found.products) + t * (determinant + n * np.log(2 * np.pi))
            return -0.5 * float(value), np.asarray(-0.5 * (quadratic + t * found.determinant_slopes))
        # The constant is a further target 1: minus y' N y is -(y' M^-1 y - (1' M^-1 y)^2 / 1' M^-1 1).
        estimate = condition(self.covariance, Y, True).intercepts  # so that nothing cancels
        found = self.covariance.slopes(np.column_stack([np.ones(n), Y - estimate]))
        W, dW = found.products, found.product_slopes
        shift = W[0, 1:] / W[0, 0]
        quadratic = (
            np.trace(dW[:, 1:, 1:], axis1=1, axis2=2)
            - 2 * dW[:, 0, 1:] @ shift
            + dW[:, 0, 0] * (shift @ shift)
        )
        value = np.trace(W[1:, 1:]) - W[0, 0] * (shift @ shift)
        value += t * (determinant + np.log(W[0, 0]) + (n - 1) * np.log(2 * np.pi))
        slopes = -0.5 * (quadratic + t * (found.determinant_slopes + dW[:, 0, 0] / W[0, 0]))
        return -0.5 * float(value), np.asarray(slopes)

    # -- predictions ----------------------------------------------------------------------------
    def mean(self, points: Data, fit: Conditioned) -> Array:
        """Posterior means: O(n + m)."""
        return self.covariance.product(fit.coefficients, points[:, 0]) + fit.intercepts

    def variance(self, points: Data, fit: Conditioned) -> Array:
        """Posterior variances: O(n + m)."""
        at = points[:, 0]
        result = np.maximum(self.covariance.variances(at), 0.0)
        if fit.along is None:
            return result
        explained = self.covariance.product(fit.along[:, None], at)[:, 0]
        return np.asarray(result + (1.0 - explained) ** 2 / fit.precision)
