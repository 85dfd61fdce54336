"""Broken kernels: one or more per law, each wrong in the one way that the law must notice.

They are what the laws are tested with.  A law that lets its mutant pass is a law without teeth.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse

from mercer.algebra import Sum
from mercer.arithmetic import FLOAT, Arithmetic
from mercer.certificate import Certificate, Claim, Property, Status, Witness
from mercer.domains import Data, Domain, Vectors
from mercer.intervals import Interval
from mercer.kernel import Gradient, Kernel, Prepared
from mercer.kernel_gradients import Adjoint
from mercer.kernels import Gaussian, Linear, ThinPlate

from .cases import Case

__all__ = ["MUTANTS"]

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [3.0, 2.0], [-2.0, 0.5], [1.0, 1.0]])


def _proved(about: Property, k: Kernel) -> Claim:
    return Claim(about, Status.PROVED, repr(k), "a false proof", "for the laws to find")


class Lopsided(Kernel):
    """Not symmetric."""

    def __call__(self, x: Any, y: Any) -> float:
        return float(x[0] + 2 * y[1])

    @property
    def domain(self) -> Domain:
        return Vectors()


class SumAsProduct(Sum):
    """A sum whose blocks are products."""

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        first, *rest = self._blocks(X, Y)
        return np.asarray(np.prod([first, *rest], axis=0))


class LostRow(Linear):
    """Forgets how to handle a single row."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        K = super()._block(X, Y)
        return np.asarray(2 * K if K.shape[0] == 1 < K.shape[1] else K)


class Nugget(Linear):
    """Adds noise to the diagonal, but only if Y is not given."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        K = super()._block(X, Y)
        return K + 1e-6 * np.eye(len(K)) if Y is None else K


class WrongDiagonal(Linear):
    """Norms where squared norms belong."""

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.asarray(np.sqrt(super()._diagonal(X)))


class Alias(Linear):
    """Hands out a view of the caller's data as its diagonal."""

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.asarray(X[:, 0])


class Positional(Linear):
    """Weighs points by their position in the batch."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        weight = 1 + 1e-3 * np.arange(X.shape[0])
        return super()._block(X, Y) * weight[:, None]


class BatchMean(Linear):
    """Centres each batch at its own mean."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        centre = X.mean(axis=0)
        return super()._block(X - centre, None if Y is None else Y - centre)


class OutOfBounds(Linear):
    """Claims values in [0, 1]."""

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, 1.0)


class OutOfDiagonal(Linear):
    """Claims k(x, x) = 1."""

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(1.0, 1.0)


class RoundedInwards(Gaussian):
    """Claims k(x, y) <= the float below the largest value."""

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, math.nextafter(1.0, 0.0))


class OtherDigits(Linear):
    """Another kernel in high precision."""

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        value = super()._define(x, y, m)
        return value if m is FLOAT else value + m.real(1) / 1000


class FalselyPositive(Linear):
    """A hyperbolic tangent with a proof of positive definiteness."""

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.tanh(super()._define(x, y, m))

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return np.asarray(np.tanh(super()._block(X, Y)))

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.asarray(np.tanh(super()._diagonal(X)))


class FalselyNegative(Linear):
    """The linear kernel with a proof of negative definiteness."""

    def _certify(self) -> Certificate:
        return Certificate(Certificate.unknown(self).positive, _proved(Property.NEGATIVE, self))


class FalselyConditional(Linear):
    """The opposite of the linear kernel, said to be conditionally positive definite."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return -super()._block(X, Y)

    def _certify(self) -> Certificate:
        return Certificate.unknown(self)

    def _conditional_rule(self, sign: int) -> Claim:
        return replace(_proved(Property.CONDITIONAL, self), order=1)


class OrderTooLow(ThinPlate):
    """A thin plate that needs one order more than it says."""

    def _certify(self) -> Certificate:
        known = super()._certify()
        return replace(known, conditional=replace(known.conditional, order=known.conditional.order - 1))


class FalselyStrict(Linear):
    """The linear kernel, said to be strict."""

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "a false proof", "for the laws to find", strict=True)


class FalselyRefuted(Linear):
    """The linear kernel with a witness that does not hold."""

    def _certify(self) -> Certificate:
        witness = Witness(([1.0, 0.0], [0.0, 1.0]), (1.0, -1.0), -0.5)
        return Certificate.refuted(self, "a false proof", "for the laws to find", witness=witness)


class UnbalancedWitness(Linear):
    """A witness against negative definiteness whose coefficients do not sum to zero."""

    def _certify(self) -> Certificate:
        witness = Witness(([1.0, 0.0],), (1.0,), 1.0, Property.NEGATIVE)
        negative = Claim(Property.NEGATIVE, Status.REFUTED, repr(self), "a false proof", witness=witness)
        return Certificate(super()._certify().positive, negative)


class FalselyDivisible(Linear):
    """The linear kernel, said to have positive definite roots."""

    def _infinitely_divisible(self) -> Claim:
        return _proved(Property.NEGATIVE, self)


class HollowProof(Linear):
    """A proof that rests on a claim that nobody has proved."""

    def _certify(self) -> Certificate:
        premise = Certificate.unknown(self).positive
        return Certificate.psd(self, "a hollow proof", "for the laws to find", premises=[premise])


class WrongGradient(Gaussian):
    """The derivative with respect to sigma, not to log sigma."""

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        K, gradient = super()._gradient(X, Y)
        return K, {name: g / self.sigma for name, g in gradient.items()}


class MissingGradient(Gaussian):
    """Leaves a parameter out of its gradient."""

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return super()._gradient(X, Y)[0], {}


class WrongAdjoint(Gaussian):
    """Sums of the derivatives with respect to sigma, not to log sigma."""

    def _adjoint(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Adjoint]:
        K, adjoint = super()._adjoint(X, Y)
        return K, lambda W: {name: g / self.sigma for name, g in adjoint(W).items()}


class ShortName(Gaussian):
    """Does not say its width."""

    def __repr__(self) -> str:
        return "ShortName()"


class Forgetful(Gaussian):
    """Loses its width when it is pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {"sigma": 1.0}


class RestlessHash(Gaussian):
    """Has another hash every time."""

    _count: ClassVar[Any] = itertools.count()

    def __hash__(self) -> int:
        return int(next(self._count))


class Unaltered(Gaussian):
    """Does not take another width."""

    def replace(self, **params: Any) -> Self:
        return self


class Restless(Gaussian):
    """Resolves into a wider kernel each time."""

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        return self.replace(sigma=2 * self.sigma)


class FalseFeatures(Linear):
    """Claims features with other inner products."""

    def _embedding(self, X: Data) -> Any:
        return 2.0 * X


class SparseSigns(Linear):
    """Takes absolute values of sparse data."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        if scipy.sparse.issparse(X):
            X, Y = abs(X), None if Y is None else abs(Y)
        return super()._block(X, Y)


class Cancelling(Gaussian):
    """Squared distances from norms and inner products, in the precision of the input."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        Y = X if Y is None else Y
        D = (X * X).sum(axis=1)[:, None] - 2 * X @ Y.T + (Y * Y).sum(axis=1)
        return self._evaluate(np.maximum(D, 0))


class MemoryOrder(Linear):
    """Reads the array in the order of its memory."""

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        rows = X.ravel(order="K").reshape(X.shape)
        return super()._block(rows, None if Y is None else Y.ravel(order="K").reshape(Y.shape))


#: Pairs of a law and a case that it must catch.
MUTANTS: list[tuple[str, Case]] = [
    ("symmetry", Case(Lopsided(), POINTS)),
    ("block", Case(SumAsProduct((Linear(), Gaussian(1.0))), POINTS)),
    ("block", Case(LostRow(), POINTS)),
    ("square", Case(Nugget(), POINTS)),
    ("product", Case(FalseFeatures(), POINTS)),
    ("diagonal", Case(WrongDiagonal(), POINTS)),
    ("purity", Case(Alias(), POINTS)),
    ("permutation", Case(Positional(), POINTS)),
    ("slices", Case(BatchMean(), POINTS)),
    ("bounds", Case(OutOfBounds(), POINTS)),
    ("bounds", Case(OutOfDiagonal(), POINTS)),
    ("bounds", Case(RoundedInwards(1.0), POINTS)),
    ("precise", Case(OtherDigits(), POINTS)),
    ("positive", Case(FalselyPositive(), POINTS)),
    ("negative", Case(FalselyNegative(), POINTS)),
    ("conditional", Case(FalselyConditional(), POINTS)),
    ("conditional", Case(OrderTooLow(2, 2), POINTS)),
    ("conditional", Case(OrderTooLow(3, 2), np.vstack([POINTS, [[2.0, 1.0], [0.5, 3.0]]]))),
    ("strict", Case(FalselyStrict(), POINTS)),
    ("refuted", Case(FalselyRefuted(), POINTS)),
    ("refuted", Case(UnbalancedWitness(), POINTS)),
    ("cauchy_schwarz", Case(FalselyPositive(), POINTS)),
    ("infinitely_divisible", Case(FalselyDivisible(), POINTS[1:4])),
    ("certificate", Case(HollowProof(), POINTS)),
    ("gradient", Case(WrongGradient(2.0), POINTS)),
    ("gradient", Case(MissingGradient(2.0), POINTS)),
    ("gradient", Case(WrongAdjoint(2.0), POINTS)),
    ("representation", Case(ShortName(2.0), POINTS)),
    ("pickling", Case(Forgetful(2.0), POINTS)),
    ("value", Case(RestlessHash(2.0), POINTS)),
    ("parameters", Case(Unaltered(2.0), POINTS)),
    ("resolve", Case(Restless(2.0), POINTS)),
    ("sparse", Case(SparseSigns(), POINTS)),
    ("single", Case(Cancelling(1.0), POINTS + 3000.0)),
    ("layout", Case(MemoryOrder(), POINTS)),
]
