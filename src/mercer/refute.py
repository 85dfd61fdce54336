"""The search for witnesses against positive (or negative) definiteness.

Numbers can refute, they cannot prove: a search that finds nothing says so, and nothing more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .candidates import Given, Sampled
from .certificate import Claim, Property, Witness
from .domains import Region, Similarities, Vectors, size, take
from .engine.runs import Stopped, running
from .errors import DomainError, InputError, ParameterError
from .gram import gram
from .gram.check import check, property_of
from .gram.witnesses import clarity, describe, worst_direction
from .kernel import Kernel
from .point_sets import moved, point_sets

__all__ = ["Refutation", "refute"]

#: Points of a given sample that are tested together, at most: then a matrix takes 128 MiB.
MOST_TOGETHER = 4096


@dataclass(frozen=True)
class Refutation:
    """Outcome of a search for a witness; true exactly if one was found and confirmed.

    Attributes
    ----------
    kind : {"indefinite", "asymmetry", "none"}
    tested : Property
        The property that was attacked.
    witness : Witness or None
        Confirmed points and coefficients (``kind="indefinite"``).
    pair : tuple or None
        Two points with ``k(x, y) != k(y, x)`` (``kind="asymmetry"``).
    values : tuple of float or None
        Those two values.
    claim : Claim or None
        What the kernel's certificate says of that property; the statement says which of the two is wrong.
    n_sets, n_points : int
        Number of sets of points tried, and of points in them.
    seconds : float
        Time taken.
    """

    kind: Literal["indefinite", "asymmetry", "none"]
    tested: Property
    witness: Witness | None = None
    pair: tuple[Any, Any] | None = None
    values: tuple[float, float] | None = None
    n_sets: int = 0
    n_points: int = 0
    seconds: float = 0.0
    claim: Claim | None = None

    def __bool__(self) -> bool:
        return self.kind != "none"

    @property
    def statement(self) -> str:
        """The outcome as a sentence."""
        consequence = f". {self.claim.contradicted}" if self.claim is not None and self.claim.proved else ""
        if self.kind == "indefinite":
            return f"not {self.tested.value}: {describe(self.witness)}{consequence}"
        if self.kind == "asymmetry" and self.pair is not None and self.values is not None:
            (x, y), (a, b) = self.pair, self.values
            points = f"x = {_show(x)}, y = {_show(y)}"
            return f"not symmetric: k(x, y) = {a!r} but k(y, x) = {b!r} for {points}{consequence}"
        return (
            f"no witness against {self.tested.value} among {self.n_sets} point sets "
            f"({self.n_points} points, {self.seconds:.1f} s): this proves nothing"
        )

    def __str__(self) -> str:
        return self.statement


def refute(
    k: Kernel,
    X: Any = None,
    *,
    budget: float = 2.0,
    n_trials: int | None = None,
    max_points: int = 32,
    random_state: int = 0,
    property: Property | Literal["positive", "negative"] | None = None,
) -> Refutation:
    """Search for points and coefficients that contradict the definiteness of a kernel.

    Looks for ``c'Kc < 0``, or for ``c'Kc > 0`` with ``sum(c) = 0`` against negative definiteness, and for
    pairs with ``k(x, y) != k(y, x)``.  Point sets are drawn from the domain (grids, clusters, lattices,
    scattered points, in several dimensions and scales) and the most suspicious are improved by random
    descent on the least eigenvalue.  What is found counts only after it is confirmed in higher precision:
    fifty digits where the kernel has them, else exact rational arithmetic with an allowance of 64 units in
    the last place per kernel value.

    Parameters
    ----------
    k : Kernel
    X : points, optional
        Search among these only: all together first, as ``gram(k, X).check()`` does (as far as the budget
        allows, and up to 4096 points), then subsets.  Needed where the domain cannot be sampled (arbitrary
        objects).  A parameter that depends on data is resolved from them.
    budget : float, default=2.0
        Seconds; the search ends earlier when it has found a witness, and in the middle of a set of points if
        it must.
    n_trials : int, optional
        Number of point sets to try instead of a time budget: the outcome is then reproducible exactly.
    max_points : int, default=32
        Largest number of points in a set drawn from the domain.
    random_state : int, default=0
    property : {"positive", "negative"}, optional
        What to attack.  By default negative definiteness if the certificate claims that and not positive
        definiteness, else positive definiteness.

    Returns
    -------
    Refutation

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> print(refute(Gaussian(1.0) - 2.0, n_trials=50))
    not positive definite: points [...], c = (1): c'Kc = -1 < 0
    >>> bool(refute(Gaussian(1.0), n_trials=50))
    False
    """
    if not isinstance(k, Kernel):
        raise ParameterError(f"refute: `k` must be a Kernel. Got {type(k).__name__}.")
    if not budget > 0 or max_points < 2 or (n_trials is not None and n_trials < 1):
        raise ParameterError("refute: `budget` and `n_trials` must be positive, `max_points` at least 2.")
    k = k if X is None else k.resolve(X)
    k._require_resolved()
    search = _Search(
        k, property_of(k.certificate, property), budget, n_trials, np.random.default_rng(random_state)
    )
    with running("refute", budget if n_trials is None else None):
        try:
            return search.among(X) if X is not None else search.everywhere(max_points)
        except Stopped:  # in the middle of a set of points
            return search.result()


class _Search:
    """One search: the kernel, what it attacks, and what it has spent."""

    def __init__(
        self, k: Kernel, tested: Property, budget: float, n_trials: int | None, rng: np.random.Generator
    ) -> None:
        self.k, self.tested, self.rng = k, tested, rng
        self.start = time.monotonic()
        self.deadline = np.inf if n_trials is not None else self.start + budget
        self.trials_left = n_trials if n_trials is not None else -1
        self.n_sets = self.n_points = 0
        # A scaled least eigenvalue below this (times the number of points) makes a set of points a candidate.
        self.threshold = 1e-11

    def result(self, kind: Literal["indefinite", "asymmetry", "none"] = "none", **found: Any) -> Refutation:
        certificate = self.k.certificate
        return Refutation(
            kind,
            self.tested,
            n_sets=self.n_sets,
            n_points=self.n_points,
            seconds=time.monotonic() - self.start,
            claim=certificate.positive if self.tested is Property.POSITIVE else certificate.negative,
            **found,
        )

    def goes_on(self) -> bool:
        if self.trials_left == 0 or time.monotonic() > self.deadline:
            return False
        self.trials_left -= 1
        return True

    # -- among given points -------------------------------------------------------------------
    def among(self, X: Any) -> Refutation:
        """Search among the points of a sample."""
        data = self.k.domain.validate(X, "X")
        self.k.domain.match(data, None)
        if size(data) == 0:
            raise InputError("refute: X must have at least one point.")
        prepared = self.k._prepare(data)
        for index in self._subsets(size(data)):
            part = take(prepared, index)
            with np.errstate(all="ignore"):
                F = np.asarray(self.k._block(part, take(part, np.arange(len(index)))), dtype=np.float64)
                K = np.asarray(self.k._block(part, None), dtype=np.float64)
            found = self._judge(F, K, Given(self.k, data, index))
            if found is None and len(index) == size(data):  # its tolerances are finer, for a whole sample
                witness = check(gram(self.k, data), self.tested).witness
                found = None if witness is None else self.result("indefinite", witness=witness)
            if found is not None:
                return found
        return self.result()

    def _subsets(self, n: int) -> Iterator[np.ndarray]:
        """All points, or subsets that grow while time allows, until all are seen; then small ones."""
        most = min(n, MOST_TOGETHER)
        # Points that a search with a time budget begins with.
        size = most if np.isinf(self.deadline) else min(most, 40)
        seen, order = 0, self.rng.permutation(n)
        while seen < n and self.goes_on():
            begun = time.monotonic()
            yield order[seen : seen + size]
            seen += size
            # The time for three times as many points is up to 27 times as long.
            if size < most and 27 * (time.monotonic() - begun) < self.deadline - time.monotonic():
                size, seen = min(most, 3 * size), 0  # pairs across the small subsets are still unseen
        while n > 2 and self.goes_on():
            most = min(n, int(self.rng.choice([2, 3, 4, 6, 10, 30, 100])))
            yield self.rng.choice(n, size=most, replace=False)

    # -- in the whole domain ------------------------------------------------------------------
    def everywhere(self, max_points: int) -> Refutation:
        """Search by sampling the domain and improving what looks suspicious."""
        if isinstance(self.k.domain, Similarities):
            raise DomainError("refute: a precomputed kernel needs its matrix: refute(k, X=matrix)")
        best: list[tuple[float, Any]] = []
        for trial, points in enumerate(point_sets(self.k.domain, self.rng, max_points)):
            if not self.goes_on():
                break
            values = self._values(points)
            if values is None:
                continue
            found = self._judge(*values, Sampled(self.k, points))
            if found is not None:
                return found
            if 2 <= len(points) <= 8:
                best.append((worst_direction(values[1], self.tested)[0], points))
            if trial % 25 == 24 and best:
                best = sorted(best, key=lambda entry: entry[0])[:12]
                points = self._descend(best[int(self.rng.integers(len(best)))][1])
                values = self._values(points)
                found = None if values is None else self._judge(*values, Sampled(self.k, points))
                if found is not None:
                    return found
        return self.result()

    def _values(self, points: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """All values, each order of a pair by itself, and the symmetric block; None if refused."""
        try:
            with np.errstate(all="ignore"):
                F, K = self.k.block(points, points.copy()), self.k.block(points)
        except (InputError, ParameterError, ArithmeticError):
            return None
        if not (np.isfinite(F).all() and np.isfinite(K).all()):
            return None
        return np.asarray(F, dtype=np.float64), np.asarray(K, dtype=np.float64)

    def _descend(self, points: Any, steps: int = 120) -> Any:
        """Lower the least eigenvalue by random changes, with a step that adapts to success."""
        score, step = self._score(points), 0.5
        region = self.k.domain.region if isinstance(self.k.domain, Vectors) else None
        for _ in range(steps):
            if time.monotonic() > self.deadline:
                break
            other = self._changed(points, step, region)
            new = self._score(other)
            if new < score:
                points, score, step = other, new, min(2.0, 1.6 * step)
            else:
                step = max(1e-3, 0.93 * step)
        return points

    def _changed(self, points: Any, step: float, region: Region | None) -> Any:
        if region is not None:
            return moved(region, points, step, self.rng)
        other = list(points)
        other[int(self.rng.integers(len(other)))] = self.k.domain.sample(1, self.rng)[0]
        return other

    def _score(self, points: Any) -> float:
        try:
            with np.errstate(all="ignore"):
                K = np.asarray(self.k.block(points), dtype=np.float64)
        except (InputError, ParameterError, ArithmeticError):
            return np.inf
        return worst_direction(K, self.tested)[0] if np.isfinite(K).all() else np.inf

    # -- judging ------------------------------------------------------------------------------
    def _judge(self, F: np.ndarray, K: np.ndarray, source: Given | Sampled) -> Refutation | None:
        """Confirm what a set of points suggests."""
        self.n_sets += 1
        self.n_points += len(F)
        if not (np.isfinite(F).all() and np.isfinite(K).all()):
            return None
        gap = np.abs(F - F.T)
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        if gap[i, j] > 1e-12 * np.abs(F).max():
            found = source.asymmetric(int(i), int(j))
            if found is not None:
                return self.result("asymmetry", pair=found[0], values=found[1])
        score, c = worst_direction(K, self.tested)
        if not (score < -self.threshold * len(K) and clarity(K, c, self.tested) > 1e-13):
            return None
        witness = source.witness(K, c, self.tested)
        if witness is None:
            self.threshold *= 10  # rounding, larger than it should be for this kernel: look only at more
            return None
        return self.result("indefinite", witness=witness)


def _show(point: Any) -> str:
    return repr(point.tolist()) if isinstance(point, np.ndarray) else repr(point)
