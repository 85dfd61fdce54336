r"""Clusters around means in feature space: kernel k-means.

Minimise over partitions of the points into :math:`k` clusters :math:`c` with masses
:math:`s_c = \sum_{i \in c} w_i` and means :math:`m_c = \sum_{i \in c} w_i \Phi(x_i) / s_c`

.. math:: J = \sum_i w_i \, \|\Phi(x_i) - m_{c(i)}\|^2, \qquad
          \|\Phi(x_i) - m_c\|^2 = K_{ii} - 2 (K v_c)_i + v_c^\top K v_c,

where :math:`v_c` holds :math:`w_i / s_c` for the points of the cluster and 0 elsewhere.

Lloyd's steps move every point to the nearest mean: each is one product of :math:`K` with a matrix of
:math:`k` columns, and :math:`J` never rises.  Where they end, moving one point :math:`i` from :math:`a` to
:math:`b` may still help (Hartigan), for the means move with it:

.. math:: \Delta J = \frac{w_i s_b}{s_b + w_i} \|\Phi(x_i) - m_b\|^2
                   - \frac{w_i s_a}{s_a - w_i} \|\Phi(x_i) - m_a\|^2 ;

each such move costs one column of :math:`K`.  A partition that no move improves is also one that Lloyd's
steps leave alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...engine.runs import STOPPING, checkpoint, conclude, stop_reason
from ..matrix import Matrix
from ..solution import Solution
from .geometry import Index, Vector

__all__ = ["Partition", "kernel_kmeans"]

#: Differences of squared distances up to this many units of rounding are none.
ROUNDING = 256 * float(np.finfo(np.float64).eps)

#: Sums are computed anew if a cluster loses this many times the mass that is left: digits would be lost.
LOSS = 1e3


class Partition(NamedTuple):
    """Clusters and their means.

    Attributes
    ----------
    labels : array of shape (n,)
    inertia : float
        The objective J.
    coefficients : array of shape (n, k)
        The means as combinations of the points.
    squares : array of shape (k,)
        Squared norms of the means.
    remoteness : array of shape (k,)
        Squared distances of the means from that of all points, up to a constant.
    """

    labels: Index
    inertia: float
    coefficients: Vector
    squares: Vector
    remoteness: Vector

    def numbered(self, weight: Vector) -> Partition:
        """The same clusters, the heaviest first, equal ones by their nearness to the mean of all points.

        The order of the points has no say in it.
        """
        k = len(self.squares)
        mass = np.bincount(self.labels, weight, k)
        order = np.lexsort((np.arange(k), self.remoteness, -np.round(mass / mass.sum(), 12)))
        return Partition(
            np.argsort(order)[self.labels],
            self.inertia,
            self.coefficients[:, order],
            self.squares[order],
            self.remoteness[order],
        )


def kernel_kmeans(
    matrix: Matrix,
    n_clusters: int,
    weight: Vector,
    starts: Iterable[Index],
    *,
    single_moves: bool = True,
    max_iter: int = 300,
) -> Solution[Partition]:
    """Find the best local optimum from several starts.

    Parameters
    ----------
    matrix : Matrix
    n_clusters : int
        At most the number of points.
    weight : array of shape (n,)
        Positive weights.
    starts : iterable of label arrays
    single_moves : bool
        Whether moves of single points follow Lloyd's steps.
    max_iter : int
        Most steps of Lloyd's kind from each start; as many single moves as points may follow.

    Returns
    -------
    Solution
        ``gap`` is how much one more step would lower the objective, relative to it, from distances computed
        anew at the end.
    """
    scale = float(weight.max())  # masses are multiplied with each other, and must not overflow
    best = search = None
    reason = ""
    try:
        for start in starts:
            search = _Search(matrix, n_clusters, weight / scale, start)
            search.lloyd(max_iter)
            if single_moves:
                search.hartigan()
            if best is None or search.inertia < best.inertia * (1 - 1e-12):
                best = search
    except STOPPING as error:
        best = best or search
        if best is None:
            raise
        reason = conclude(error)
    reason = reason or stop_reason()  # of what makes the starts
    assert best is not None, "there is at least one start"
    found = best.solution(single_moves, max_iter)
    if reason:
        status = f"stopped because {reason}, after {best.steps} steps and {best.moves} moves of single points"
        found = replace(found, converged=False, status=status)
    return replace(found, value=found.value._replace(inertia=scale * found.value.inertia))


class _Search:
    """One descent: labels, masses, and the sums ``K (w * indicator)`` from which all distances follow."""

    def __init__(self, matrix: Matrix, k: int, weight: Vector, labels: Index) -> None:
        self.matrix, self.k, self.weight, self.diagonal = matrix, k, weight, matrix.diagonal()
        self.labels, self.steps, self.moves = labels.copy(), 0, 0
        self.level = ROUNDING * float(np.abs(self.diagonal).max())
        self.rows, self.is_whole = np.arange(len(labels)), False
        far = self.diagonal  # from the origin: enough to find members for clusters without any
        self._fill_empty(self.labels, np.broadcast_to(far[:, None], (len(far), k)))
        self.refresh()

    def refresh(self, labels: Index | None = None) -> None:
        """Compute everything anew from labels, by default the current ones."""
        labels = self.labels if labels is None else labels
        indicator = np.zeros((len(labels), self.k))
        indicator[self.rows, labels] = self.weight
        self._take(labels, self.matrix.product(indicator))
        self.is_fresh = True

    def _relabel(self, new: Index) -> None:
        """Take new labels over; where few change, only their part of the sums is computed."""
        changed = np.flatnonzero(new != self.labels)
        # Sums are updated, not computed anew, if at most one point in this number changes its cluster.
        if 3 * len(changed) > len(new):
            self.refresh(new)
            return
        mass, left = np.bincount(new, self.weight, self.k), self.labels[changed]
        if (np.bincount(left, self.weight[changed], self.k) > LOSS * mass).any():
            self.refresh(new)
            return
        delta = np.zeros((len(new), self.k))
        delta[changed, new[changed]] = self.weight[changed]
        delta[changed, left] = -self.weight[changed]
        self._take(new, self.sums + self.matrix.product(delta))
        self.is_fresh = False

    def _take(self, labels: Index, sums: Vector) -> None:
        """Set labels and sums; what Ctrl-C interrupts here is not whole, and nothing else takes long."""
        self.is_whole = False
        self.labels, self.sums = labels, sums
        self.members = np.bincount(labels, minlength=self.k)
        self.mass = np.bincount(labels, self.weight, self.k)
        self.squared, self.squares = np.empty_like(sums), np.empty(self.k)
        for c in range(self.k):
            self._measure(c)
        self.is_whole = True

    def _measure(self, c: int) -> None:
        """Distances from one mean."""
        own = self.labels == c
        inner = self.sums[:, c] / self.mass[c]  # of the points with the mean; squares of masses may underflow
        self.squares[c] = (self.weight[own] / self.mass[c]) @ inner[own]
        self.squared[:, c] = self.diagonal - 2 * inner + self.squares[c]

    @property
    def inertia(self) -> float:
        """The objective, without the rounding of distances that are none: weights may be large there."""
        squared = self.squared[self.rows, self.labels]
        return float(self.weight @ np.where(squared > self.level, squared, 0.0))

    def lloyd(self, max_iter: int) -> None:
        """Move points to their nearest means until none moves, or the objective falls no further."""
        while self.steps < max_iter:
            checkpoint()
            new = self._nearest()
            if np.array_equal(new, self.labels):
                if self.is_fresh:
                    return
                self.refresh()  # what was added up step by step may have drifted
                continue
            old, before = self.labels, self.inertia
            self._relabel(new)
            self.steps += 1
            if self.inertia > before:  # rounding, or a kernel that is not positive definite
                self.refresh(old)
                return

    def _nearest(self) -> Index:
        """The nearest mean of each point: its own if no other is nearer beyond rounding, else the first."""
        least = self.squared.min(axis=1)
        stays = self.squared[self.rows, self.labels] <= least + self.level
        new = np.where(stays, self.labels, self.squared.argmin(axis=1))
        self._fill_empty(new, self.squared)
        return new

    def _fill_empty(self, labels: Index, squared: Vector) -> None:
        """Give each empty cluster the point that is farthest from its mean and not alone there."""
        counts = np.bincount(labels, minlength=self.k)
        for c in np.flatnonzero(counts == 0):
            cost = np.where(counts[labels] > 1, self.weight * squared[self.rows, labels], -np.inf)
            i = int(cost.argmax())
            counts[labels[i]] -= 1
            counts[c], labels[i] = 1, c

    def hartigan(self) -> None:
        """Move single points while that lowers the objective, in sweeps with the best moves first."""
        while self.moves < len(self.labels):
            gain = -self._changes(self.rows).min(axis=1)
            candidates = np.flatnonzero(gain > self.level * self.weight)
            if not len(candidates):
                return
            for i in candidates[np.argsort(-gain[candidates], kind="stable")]:
                checkpoint()
                change = self._changes(np.array([i]))[0]  # as the clusters are by now
                target = int(change.argmin())
                if change[target] < -self.level * self.weight[i]:
                    self._move(int(i), target)

    def _move(self, i: int, target: int) -> None:
        source = int(self.labels[i])
        self.moves += 1
        if self.weight[i] > LOSS * (self.mass[source] - self.weight[i]):
            labels = self.labels.copy()
            labels[i] = target
            self.refresh(labels)
            return
        column = self.matrix.block(np.array([i]), slice(None))[0] * self.weight[i]
        self.is_whole = False
        self.labels[i] = target
        for c, sign in ((source, -1), (target, 1)):
            self.sums[:, c] += sign * column
            self.mass[c] += sign * self.weight[i]
            self.members[c] += sign
        self._measure(source)
        self._measure(target)
        self.is_fresh, self.is_whole = False, True

    def _changes(self, points: Index) -> Vector:
        """Changes of the objective if points move, of shape (points, clusters); none empties a cluster."""
        w, labels = self.weight[points], self.labels[points]
        squared, own = self.squared[points], self.mass[labels]
        rest = own - w
        alone = (self.members[labels] == 1) | (rest <= ROUNDING * own)
        here = np.maximum(squared[np.arange(len(points)), labels] - self.level, 0.0)
        leaving = w * (own / np.where(alone, own, rest)) * here  # a factor by which rounding would grow
        change = w[:, None] * (self.mass / (self.mass + w[:, None])) * squared
        change -= np.where(alone, -np.inf, leaving)[:, None]
        change[np.arange(len(points)), labels] = np.inf
        return np.asarray(change)

    def solution(self, single_moves: bool, max_iter: int) -> Solution[Partition]:
        """What was found, judged by distances computed anew; if the run was stopped, by those at hand."""
        if not (self.is_whole and stop_reason()):
            self.refresh()
        inertia = self.inertia
        own, least = self.squared[self.rows, self.labels], self.squared.min(axis=1)
        gain = float(self.weight @ (own - least))
        rest = float(self.weight.sum()) * self.level
        if single_moves and self.k > 1:
            gain = max(gain, -float(self._changes(self.rows).min()))
        converged = gain <= 4 * rest
        if converged:
            status = "converged: no point is nearer to another mean"
            status += ", and no move of a single point lowers the objective" if single_moves else ""
        else:
            status = f"stopped after {self.steps} steps and {self.moves} moves of single points"
            status += ". Raise max_iter" if self.steps >= max_iter else ""
        coefficients = np.zeros_like(self.sums)
        coefficients[self.rows, self.labels] = self.weight / self.mass[self.labels]
        centre = self.sums.sum(axis=1) / self.weight.sum()
        remoteness = self.squares - 2 * (coefficients.T @ centre)
        value = Partition(self.labels, inertia, coefficients, self.squares, remoteness)
        # The first of the nearest means: of several that coincide, only one is found.
        found = np.unique((self.squared <= least[:, None] + self.level).argmax(axis=1))
        stats = {"iterations": self.steps + 1, "moves": self.moves, "different_means": len(found)}
        return Solution(value, converged, status, max(0.0, gain) / inertia if inertia else 0.0, stats)
