"""The direct product graph of two graphs: its walks are the pairs of walks of equal length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from ...arithmetic import Arithmetic
from ...domains import Graph
from ...errors import DivergenceError
from ...kernel import Kernel
from .similarities import arc_points, node_points, similarity

__all__ = ["ProductGraph", "arcs_by_source"]


@dataclass(frozen=True, eq=False)
class ProductGraph:
    """Pairs of nodes that are similar, and what leads from one pair to another, in some arithmetic.

    Attributes
    ----------
    pairs : list of (int, int)
        Nodes u of x and v of y with a similarity other than 0.
    similarities : list of numbers
        One for each pair.
    rows : list of lists of (int, number)
        For each pair the pairs that it leads to, with the weights of both arcs times their similarity times
        the similarity of the pair: the matrix W N.
    m : Arithmetic
    """

    pairs: list[tuple[int, int]]
    similarities: list[Any]
    rows: list[list[tuple[int, Any]]]
    m: Arithmetic

    @classmethod
    def of(
        cls,
        x: Graph,
        y: Graph,
        m: Arithmetic,
        *,
        node: Kernel | None = None,
        edge: Kernel | None = None,
        weights: tuple[Sequence[Any], Sequence[Any]] | None = None,
    ) -> ProductGraph:
        """The product of two graphs, with other weights of their arcs if they are given."""
        a_weights, b_weights = weights or ([*map(m.real, x.weights)], [*map(m.real, y.weights)])
        a_points, b_points = node_points(node, x, m), node_points(node, y, m)
        a_tags, b_tags = arc_points(edge, x, m), arc_points(edge, y, m)
        found = {}
        for u, v in product(range(x.n), range(y.n)):
            value = similarity(node, a_points[u], b_points[v], m)
            if value != 0:
                found[u, v] = value
        numbers = {pair: p for p, pair in enumerate(found)}
        ours, theirs = arcs_by_source(x), arcs_by_source(y)
        rows: list[list[tuple[int, Any]]] = []
        for u, v in found:
            rows.append([])
            for (a, s), (b, t) in product(ours[u], theirs[v]):
                if (s, t) in found:
                    alike = similarity(edge, a_tags[a], b_tags[b], m)
                    weight = a_weights[a] * b_weights[b] * alike * found[s, t]
                    rows[-1].append((numbers[s, t], weight))
        return cls(list(found), list(found.values()), rows, m)

    def step(self, base: Sequence[Any], factor: Any, z: Sequence[Any]) -> list[Any]:
        """``base + factor W N z``."""
        return [
            b + factor * self.m.fsum(w * z[q] for q, w in row) for b, row in zip(base, self.rows, strict=True)
        ]

    def truncated(self, right: Sequence[Any], ratios: Sequence[Any]) -> list[Any]:
        """The sum of ``r_1 ... r_l (W N)^l right`` over all lengths l up to the number of ratios."""
        z = list(right)
        for ratio in reversed(ratios):
            z = self.step(right, ratio, z)
        return z

    def exponential(self, right: Sequence[Any], factor: Any) -> list[Any]:
        """``exp(factor W N) right``, by several steps of a norm of at most 1."""
        steps = max(1, int(np.ceil(abs(self._matrix(factor)).sum(axis=1).max(initial=0.0))))
        terms, size = 1, self.m.real(1)
        while size > self.m.eps:
            terms += 1
            size = size / terms
        ratios = [factor / steps / n for n in range(1, terms)]
        z = list(right)
        for _ in range(steps):
            z = self.truncated(z, ratios)
        return z

    def solved(self, right: Sequence[Any], factor: Any) -> list[Any]:
        """``(I - factor W N)^-1 right``, by a factorization in double precision and corrections."""
        if not self.pairs:
            return []
        factors = scipy.sparse.linalg.splu(_complement(self._matrix(factor)))
        z: list[Any] = [self.m.real(0)] * len(self.pairs)
        # Corrections of a solution: each adds about as many digits as the system leaves of sixteen.
        for _ in range(100):
            residual = [b - v for b, v in zip(self.step(right, factor, z), z, strict=True)]
            size = max(map(abs, residual))
            if size <= 32 * self.m.eps * max(map(abs, [*right, *z])):
                return z
            change = factors.solve(np.array([float(r / size) for r in residual]))
            z = [v + size * self.m.real(c) for v, c in zip(z, change.tolist(), strict=True)]
        raise DivergenceError("the linear system of a product graph is too close to a singular one.")

    def converges(self, factor: Any) -> bool:
        """Whether the spectral radius of ``factor W N`` is below 1.

        A vector z > 0 with ``M z < z`` proves it for the matrix M of absolute values (Collatz and Wielandt),
        and such is ``(I - M)^-1 1``.  Where signs differ, M only bounds the radius.
        """
        if not self.pairs:
            return True
        signed = self._matrix(factor)
        M = abs(signed)
        try:
            z = scipy.sparse.linalg.splu(_complement(M)).solve(np.ones(len(self.pairs)))
        except RuntimeError:  # exactly singular
            z = np.zeros(len(self.pairs))
        if (z > 0).all() and (M @ z < z).all():
            return True
        return bool((signed.data < 0).any()) and abs(float(factor)) * self.radius() < 1

    def radius(self) -> float:
        """Spectral radius of W N."""
        M = self._matrix(1.0)
        if M.nnz == 0:
            return 0.0
        # Pairs of nodes up to which eigenvalues are those of a dense matrix.
        if len(self.pairs) <= 1000:
            return float(np.abs(np.linalg.eigvals(M.toarray())).max())
        start = np.ones(len(self.pairs))
        values = scipy.sparse.linalg.eigs(M, k=1, which="LM", v0=start, return_eigenvectors=False)
        return float(np.abs(values[0]))

    def _matrix(self, factor: Any) -> scipy.sparse.csr_array:
        """``factor W N`` in double precision."""
        n = len(self.pairs)
        entries = [(p, q, float(factor * w)) for p, row in enumerate(self.rows) for q, w in row]
        p, q, w = zip(*entries, strict=True) if entries else ((), (), ())
        return scipy.sparse.coo_array((np.array(w, dtype=float), (p, q)), shape=(n, n)).tocsr()


def _complement(M: scipy.sparse.csr_array) -> scipy.sparse.csc_array:
    """``I - M``."""
    return (scipy.sparse.eye_array(M.shape[0], format="csr") - M).tocsc()


def arcs_by_source(graph: Graph) -> list[list[tuple[int, int]]]:
    """Number and target of each arc, by source."""
    arcs: list[list[tuple[int, int]]] = [[] for _ in range(graph.n)]
    for a, (u, v) in enumerate(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)):
        arcs[u].append((a, v))
    return arcs
