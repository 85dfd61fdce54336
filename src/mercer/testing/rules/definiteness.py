"""Laws of definiteness: claims against spectra, precise elimination and recomputed witnesses."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arithmetic import multiprecision
from ...certificate import Claim, Property, Status
from ..trial import BLOCK_TOL, Skip, Trial, broken, polynomials, require
from .table import law


def _centred(K: np.ndarray) -> np.ndarray:
    """``-P K P`` on vectors that sum to zero, plus the size of K in the other direction."""
    n = len(K)
    P = np.eye(n) - 1.0 / n
    return np.asarray(-P @ K @ P + np.abs(K).max() / n)


def _annihilating(K: np.ndarray, P: np.ndarray) -> np.ndarray:
    """``Z' K Z``, Z a basis of the vectors orthogonal to the columns of P, and the size of K for scale."""
    U, values, _ = np.linalg.svd(P)
    rank = int((values > len(P) * np.finfo(float).eps * values.max(initial=0.0)).sum())
    Z = U[:, rank:]
    F = np.zeros((Z.shape[1] + 1, Z.shape[1] + 1))
    F[:-1, :-1] = Z.T @ K @ Z
    F[-1, -1] = np.linalg.norm(K, 2) if K.size else 0.0
    return F


def _spectrum(t: Trial, form: Callable[[np.ndarray, list[int]], np.ndarray], sign: str) -> None:
    def least(index: list[int]) -> float:
        # the least eigenvalue in units of 256 n eps |K|: below -1 it is not rounding
        K = form(t.block[np.ix_(index, index)], index)
        eigenvalues = np.linalg.eigvalsh(K)
        size = float(np.abs(eigenvalues).max()) if len(K) else 0.0
        unit = 256 * len(K) * np.finfo(np.float64).eps * size
        return float(eigenvalues[0]) / unit if unit else 0.0

    everything = list(range(t.n))
    if least(everything) < -1:
        points = t.shrink(everything, lambda index: least(index) < -1)
        value = np.linalg.eigvalsh(form(t.block, everything))[0]
        broken(f"the quadratic form takes the {sign} value {abs(value):.6g} on a unit vector", points)


@law
def positive(t: Trial) -> None:
    """A certified positive definite kernel has no negative eigenvalue beyond rounding."""
    require(t.kernel.certificate.positive, "positive definite")
    _spectrum(t, lambda K, index: K, "negative")


@law
def negative(t: Trial) -> None:
    """A certified negative definite kernel has c'Kc <= 0 on sum(c) = 0, beyond rounding."""
    require(t.kernel.certificate.negative, "negative definite")
    _spectrum(t, lambda K, index: _centred(K), "positive")


@law
def conditional(t: Trial) -> None:
    """Conditionally PD of order m: c'Kc >= 0 if sum_i c_i p(x_i) = 0 for all polynomials p of degree < m."""
    claim = t.kernel.certificate.conditional
    require(claim, "conditionally positive definite")
    order = min(claim.order, t.n)  # polynomials of degree n - 1 tell n points apart
    X = t.dense if order > 1 else np.zeros((t.n, 0))
    if math.comb(order + X.shape[1], order) > 10_000:
        raise Skip("too many polynomials")
    P = polynomials(X, order)
    _spectrum(t, lambda K, index: _annihilating(K, P[index]), "negative")


@law
def strict(t: Trial) -> None:
    """Distinct points of a strictly positive definite kernel have a nonsingular Gram matrix."""
    claim = t.kernel.certificate.positive
    require(claim, "positive definite")
    if not claim.strict:
        raise Skip("not certified strict")
    if not t.kernel.is_precise:
        raise Skip("the definition has float precision only")
    chosen = t.distinct[:4]

    def singular(index: list[int]) -> bool:
        return not any(_pivots_positive(t, index, digits) for digits in (50, 400))

    if singular(chosen):
        broken("the Gram matrix of distinct points is singular or worse", t.shrink(chosen, singular))


def _pivots_positive(t: Trial, index: list[int], digits: int) -> bool:
    """Gaussian elimination on the precise Gram matrix: positive definite iff all pivots are positive."""
    A = [[t.kernel.precise(t.points[i], t.points[j], digits) for j in index] for i in index]
    tiny = multiprecision(digits).real(10) ** (10 - digits)
    for s in range(len(A)):
        if not A[s][s] > tiny * max(abs(A[s][j]) for j in range(s, len(A))):
            return False
        for i in range(s + 1, len(A)):
            ratio = A[i][s] / A[s][s]
            A[i] = [a - ratio * b for a, b in zip(A[i], A[s], strict=True)]
    return True


@law
def refuted(t: Trial) -> None:
    """The witness of a refuted claim, recomputed with fifty digits, has the forbidden sign."""
    certificate = t.kernel.certificate
    claims = [c for c in (certificate.positive, certificate.negative) if c.witness is not None]
    if not claims:
        raise Skip("no witness")
    for claim in claims:
        _recompute(t, claim)


def _recompute(t: Trial, claim: Claim) -> None:
    w = claim.witness
    assert w is not None
    if claim.status is not Status.REFUTED or w.refutes is not claim.about:
        broken(f"a witness against {w.refutes.value} on a claim that is {claim.status.value}", w.points)
    c = [multiprecision(50).real(v) for v in w.coefficients]
    if w.refutes is Property.NEGATIVE:
        mean = sum(c) / len(c)
        if abs(mean) > 1e-12 * max(map(abs, c)):
            broken(f"the coefficients sum to {float(sum(c)):.3g}, not to zero", w.points)
        c = [v - mean for v in c]
    value = sum(a * b * t.kernel.precise(x, y) for a, x in zip(c, w.points, strict=True)
                for b, y in zip(c, w.points, strict=True))  # fmt: skip
    if not (value < 0 if w.refutes is Property.POSITIVE else value > 0):
        broken(f"c'Kc = {float(value):.6g} for c = {w.coefficients}", w.points)
    if not abs(float(value) - w.value) <= 1e-6 * abs(w.value):
        broken(f"c'Kc = {float(value)!r}, but the witness says {w.value!r}", w.points)


@law
def cauchy_schwarz(t: Trial) -> None:
    """k(x, y)^2 <= k(x, x) k(y, y) for a positive definite kernel."""
    require(t.kernel.certificate.positive, "positive definite")
    K, d = t.block, np.maximum(t.block.diagonal(), 0.0)
    over = np.abs(K) - np.sqrt(np.outer(d, d)) > BLOCK_TOL * t.scale
    if over.any():
        i, j = (int(v) for v in np.argwhere(over)[0])
        broken(
            f"k(x, y) = {K[i, j]!r}, k(x, x) = {K[i, i]!r}, k(y, y) = {K[j, j]!r}", [t.points[i], t.points[j]]
        )


@law
def infinitely_divisible(t: Trial) -> None:
    """The powers k^t, t > 0, of an infinitely divisible kernel are positive definite."""
    claim = t.kernel._infinitely_divisible()
    if claim is None:
        raise Skip("not certified infinitely divisible")
    if (t.block < 0).any():
        i, j = (int(v) for v in np.argwhere(t.block < 0)[0])
        broken(f"k(x, y) = {t.block[i, j]!r} < 0 has no real powers", [t.points[i], t.points[j]])
    for power in (0.3, 1.7):
        _spectrum(t, lambda K, index, power=power: K**power, f"negative (t = {power})")  # type: ignore[misc]


@law
def certificate(t: Trial) -> None:
    """A decided claim names its subject and rule; a verdict summarises its claims; the proof can be shown."""
    proof = t.kernel.certificate
    for claim in (*proof.positive.walk(), *proof.negative.walk(), *proof.conditional.walk()):
        if claim.status is not Status.UNKNOWN and not (claim.rule and claim.subject):
            broken(f"a {claim.status.value} claim without a rule or a subject: {claim}")
        if claim.proved and not all(premise.proved for premise in claim.premises):
            broken(f"{claim.subject} is proved by `{claim.rule}` from premises that are not")
    if proof.positive.proved and not proof.is_cpd(0):
        broken("positive definite, but not conditionally positive definite of order 0")
    if proof.positive.proved and proof.positive.strict and proof.negative.proved and len(t.distinct) > 1:
        broken("strictly positive definite and negative definite at once")
    if str(proof.verdict) not in proof.explain() or proof.to_dict()["verdict"] != proof.verdict.value:
        broken(f"explain() or to_dict() do not show the verdict {proof.verdict}")
