"""Is the Gram matrix of given points what its kernel claims?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .. import memory
from ..certificate import Certificate, Claim, Property, Witness
from ..domains import Similarities
from ..engine.factorizations import eigh
from ..errors import ParameterError
from .base import Gram
from .negative import breakdown
from .point_gram import PointGram
from .spectrum import finite, rounding_level
from .witnesses import (
    ULPS,
    confirm,
    confirm_asymmetry,
    confirm_values,
    describe,
    short_coefficients,
    worst_direction,
)

__all__ = ["Check", "check", "property_of"]

#: Sizes of the subsets of points among which a short witness is looked for.
_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)

#: Eigenvalues this far beyond rounding are not confirmed in higher precision by a brief check.
_CLEAR = 1e6

#: Points among which symmetry is tested, every pair in both orders, and for a brief check.
_POINTS, _FEW_POINTS = 1024, 128

#: Points whose values are compared with more digits, to see the rounding of the kernel.
_COMPARED = 8

#: Pairs that violate Cauchy-Schwarz and are reported, at most.
_PAIRS = 10


@dataclass(frozen=True)
class Check:
    """What the Gram matrix of some points says about its kernel.  True if nothing contradicts the property.

    Attributes
    ----------
    tested : Property
        What was tested: positive or negative definiteness.
    verdict : {"consistent", "refuted", "unclear"}
        ``unclear``: an eigenvalue has the wrong sign beyond the rounding of the eigenvalue solver, but
        higher precision does not confirm it: the float values of the kernel are not good enough.  If the
        kernel's certificate proves the property, that stands: ``consistent``.
    n_points : int
    symmetric : bool
        False if some ``k(x, y)`` and ``k(y, x)`` differ by more than the rounding of both.
    asymmetry : float
        Largest ``|K_ij - K_ji|``, each order computed by itself, among at most 1024 of the points; among 8
        of them where no compiled code computes the values, so that a Python function is called for each pair
        once, and 64 times more.
    least_eigenvalue : float
        Of the matrix; against negative definiteness, of ``-HKH`` with ``H = I - 11'/n``.
    tolerance : float
        Eigenvalues down to ``-tolerance`` may be rounding.
    cauchy_schwarz : tuple of (int, int)
        The worst pairs with ``K_ij^2 > K_ii K_jj`` beyond rounding (at most 10; none looked for when
        testing negative definiteness).
    n_cauchy_schwarz : int
        Number of such pairs.
    witness : Witness or None
        Confirmed points and coefficients, if refuted.
    claim : Claim or None
        What the kernel's certificate says of the property; the statement says which of the two is wrong.
    """

    tested: Property
    verdict: Literal["consistent", "refuted", "unclear"]
    n_points: int
    symmetric: bool
    asymmetry: float
    least_eigenvalue: float
    tolerance: float
    cauchy_schwarz: tuple[tuple[int, int], ...] = ()
    n_cauchy_schwarz: int = 0
    witness: Witness | None = None
    claim: Claim | None = None

    def __bool__(self) -> bool:
        return self.verdict == "consistent"

    @property
    def statement(self) -> str:
        """The result as a sentence."""
        name = self.tested.value
        spectrum = f"least eigenvalue {self.least_eigenvalue:.6g}"
        consequence = f". {self.claim.contradicted}" if self.claim is not None and self.claim.proved else ""
        if not self.symmetric:
            return f"not symmetric: k(x, y) and k(y, x) differ by up to {self.asymmetry:.3g}{consequence}"
        if self.verdict == "refuted":
            return f"not {name} on these points ({spectrum}): {describe(self.witness)}{consequence}"
        if self.verdict == "unclear":
            return (
                f"unclear: {spectrum} is below what rounding explains "
                f"({-self.tolerance:.3g}), but higher precision does not confirm a contradiction to {name}"
            )
        if self.least_eigenvalue < -self.tolerance or self.cauchy_schwarz:
            return (
                f"consistent with {name} on these {self.n_points} points: higher precision does not confirm "
                f"the {spectrum}. It is rounding, and the certificate stands"
            )
        return (
            f"consistent with {name} on these {self.n_points} points ({spectrum}, rounding "
            f"{self.tolerance:.3g}); this proves nothing about others"
        )

    def __str__(self) -> str:
        return self.statement


def property_of(certificate: Certificate, given: Property | str | None) -> Property:
    """The property to test: the given one, else the one that the certificate claims, else the positive."""
    if given is None:
        only_negative = certificate.is_nds and not certificate.is_psd
        return Property.NEGATIVE if only_negative else Property.POSITIVE
    names = {"positive": Property.POSITIVE, "negative": Property.NEGATIVE}
    if isinstance(given, Property):
        return given
    if given not in names:
        raise ParameterError(f"`property` must be 'positive' or 'negative'. Got {given!r}.")
    return names[given]


def check(gram: Gram, given: Property | str | None = None, *, brief: bool = False) -> Check:
    """Test the Gram matrix; see :meth:`Gram.check`.

    If ``brief``, the least eigenvalue of a matrix that has a Cholesky factor is nan: it is not computed.
    Symmetry is tested among at most 128 points, and what is far beyond rounding needs no witness.
    """
    certificate = gram.kernel.certificate
    refutes = property_of(certificate, given)
    n = gram.shape[0]
    memory.require(4 * 8 * n * n, f"checking the {n} x {n} Gram matrix", "Check a subset of the points.")
    gram = gram._in_double()
    K = finite(gram.dense())
    asymmetry, unequal = gram._asymmetry(_FEW_POINTS if brief else _POINTS)
    largest = max(float(np.abs(K).max(initial=0.0)), gram._scale())
    rounding = (ULPS + float(np.sqrt(n))) * gram._eps * largest  # allowed error of every value
    given_numbers = isinstance(gram.kernel.domain, Similarities)
    symmetric = asymmetry <= 2 * rounding or not any(
        given_numbers or confirm_asymmetry(gram.kernel, *gram._points(pair)) is not None for pair in unequal
    )
    A = K
    if refutes is Property.NEGATIVE and n:
        A = -(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    norm = max(float(np.abs(K).sum(axis=1).max(initial=0.0)), n * gram._scale())
    level = max(rounding_level(n, gram._eps, norm), n * float(np.finfo(np.float64).smallest_subnormal))
    pairs = _cauchy_schwarz(K, rounding) if refutes is Property.POSITIVE else np.empty((0, 2), int)
    least, vector = 0.0, np.zeros(n)
    if brief and not len(pairs) and breakdown(A.copy(), level) is None:
        least = np.nan
    elif n:
        values, vectors = eigh(A, subset=(0, 0))
        least, vector = float(values[0]), vectors[:, 0]
    witness, clear = None, False
    suspicious = least < -level or len(pairs) > 0
    if suspicious and symmetric:
        if gram.kernel.is_precise or not brief:
            heaviest = np.argsort(-np.abs(vector), kind="stable")[:_COMPARED]
            rounding = max(rounding, gram._value_error(np.union1d(heaviest, pairs[:1])))
            level = max(level, n * rounding)
        clear = brief and least < -_CLEAR * level
        witness = None if clear else _witness(gram, K, vector, pairs, rounding, refutes)
        if witness is None:  # what more digits have shown to be rounding is nothing to report
            pairs = pairs[: len(_cauchy_schwarz(K, rounding))]
            suspicious = least < -level or len(pairs) > 0
    claim: Claim | None = certificate.positive if refutes is Property.POSITIVE else certificate.negative
    if refutes is Property.NEGATIVE and not isinstance(gram, PointGram):
        claim = None  # it speaks of the kernel, not of what was made of its values
    verdict: Literal["consistent", "refuted", "unclear"] = "consistent"
    if witness is not None or not symmetric or clear:
        verdict = "refuted"
    elif suspicious and (claim is None or claim.asserted or not claim.proved):
        verdict = "unclear"
    worst = tuple((int(i), int(j)) for i, j in pairs[:_PAIRS])
    return Check(refutes, verdict, n, symmetric, asymmetry, least, level, worst, len(pairs), witness, claim)


def _cauchy_schwarz(K: np.ndarray, rounding: float) -> np.ndarray:
    """Pairs with ``K_ij^2 > K_ii K_jj`` beyond rounding, worst first."""
    norms = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    bound = norms[:, None] * norms
    excess = np.triu(np.abs(K) - bound, 1)
    i, j = np.nonzero(excess > rounding)
    order = np.argsort(-excess[i, j], kind="stable")
    return np.stack([i[order], j[order]], axis=1)


def _witness(
    gram: Gram, K: np.ndarray, vector: np.ndarray, pairs: np.ndarray, rounding: float, refutes: Property
) -> Witness | None:
    """A confirmed witness on as few of the points as possible, else on all."""
    order = np.argsort(-np.abs(vector), kind="stable")
    subsets = [pairs[0]] if len(pairs) else []
    subsets += [order[:size] for size in _SIZES if size <= len(order)]
    precise = isinstance(gram, PointGram) and gram.kernel.is_precise
    for subset in subsets:
        part = K[np.ix_(subset, subset)]
        score, c = worst_direction(part, refutes)
        if score > -(1e-15 if precise else 1e-13) * len(subset):
            continue
        c = short_coefficients(part, c, refutes)
        used = c != 0
        points, c = gram._points(subset[used]), c[used]
        if isinstance(gram, PointGram) and not isinstance(gram.kernel.domain, Similarities):
            witness = confirm(gram.kernel, points, c.tolist(), refutes)
        else:
            witness = confirm_values(points, c, part[np.ix_(used, used)], rounding, refutes)
        if witness is not None:
            return witness
    if len(order) <= _SIZES[-1]:
        return None
    if refutes is Property.NEGATIVE:
        vector = vector - vector.mean()
    return confirm_values(gram._points(order), vector[order], K[np.ix_(order, order)], rounding, refutes)
