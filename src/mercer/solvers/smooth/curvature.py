r"""The linear system of a Newton step in a reproducing kernel Hilbert space.

The step minimises the quadratic model of a smooth loss plus :math:`\frac\alpha2 \|f\|^2`.  With a root
:math:`S_i S_i^\top` of the curvature at each point (weights included) its unknown is :math:`u = S^\top \Delta
f`, one row per point and one column per function, and its matrix

.. math:: M = \alpha I + S^\top (K \otimes I) S

is positive definite whatever the rank of K, with eigenvalues from :math:`\alpha` on.  An unpenalised
intercept is the constraint :math:`\sum_i S_i u_i = 0`.

The system is solved by conjugate gradients with one of two approximate inverses of M.  ``Nystrom`` replaces K
by its projection on some of its columns.  ``Factors`` is the inverse itself: for several functions, where
:math:`S_i = \mathrm{diag}(d_i) (I - r_i r_i^\top)`, made of the inverses of the blocks :math:`M_c = \alpha I
+ d_c K d_c` and of one matrix more that takes the projections into account.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.factorizations import cholesky, cholesky_inverse
from ..losses import Root

__all__ = [
    "APPROXIMATE_SHIFTS",
    "Factors",
    "Inverse",
    "Nystrom",
    "Preconditioner",
    "Solved",
    "factor",
    "solve_step",
]

Array: TypeAlias = NDArray[np.float64]
Product: TypeAlias = Callable[[Array], Array]
Inverse: TypeAlias = Callable[[Array], Array]

#: What may be added to the diagonal of M, relative to its trace, where rounding hides that it is definite.
ROUNDING = (0.0, 1e-15, 1e-13)
#: The same for other matrices, of which an approximate factor is enough.
APPROXIMATE_SHIFTS = (1e-13, 1e-10, 1e-7, 1e-4, 1.0)


class Preconditioner(Protocol):
    """Gives approximate inverses of M."""

    def at(self, root: Root, alpha: float) -> Inverse:
        """The approximate inverse for this curvature and penalty."""


class Nystrom:
    r"""Approximate inverses of M from a low-rank factor of K.

    With :math:`K \approx L L^\top`, for each function

    .. math:: (\alpha I + d L L^\top d)^{-1}
              = \tfrac1\alpha \big( I - d L (\alpha I + L^\top d^2 L)^{-1} L^\top d \big) .

    Parameters
    ----------
    factor : array of shape (n, r)
        L; of known features, these, and for two classes the inverse is exact.
    """

    def __init__(self, factor: Array) -> None:
        self.factor = factor

    @classmethod
    def of_columns(cls, columns: Array, chosen: NDArray[np.intp]) -> Nystrom:
        """From K between all points and those that are chosen, of shape (n, r)."""
        own = factor(columns[chosen], APPROXIMATE_SHIFTS)
        return cls(linalg.solve_triangular(own, columns.T, lower=True, check_finite=False).T)

    def at(self, root: Root, alpha: float) -> Inverse:
        """The approximate inverse for this curvature and penalty."""
        L, d = self.factor, root.scale
        inner = []
        for column in d.T:
            scaled = column[:, None] * L
            A = scaled.T @ scaled
            A[np.diag_indices(len(A))] += alpha
            inner.append((factor(A, APPROXIMATE_SHIFTS), True))

        def inverse(x: Array) -> Array:
            x = root.project(x)
            moments = L.T @ (d * x)
            for c, lower in enumerate(inner):
                moments[:, c] = linalg.cho_solve(lower, moments[:, c], check_finite=False)
            return root.project((x - d * (L @ moments)) / alpha)

        return inverse


def factor(A: Array, shifts: Sequence[float]) -> Array:
    """The lower Cholesky factor of a matrix, with the least of some shifts of its diagonal that allows one.

    Shifts are relative to the trace.  Raises LinAlgError if none does.
    """
    scale = max(float(np.abs(A.diagonal()).sum()), np.finfo(float).tiny)
    for shift in shifts:
        shifted = A.copy()
        shifted[np.diag_indices(len(A))] += shift * scale
        try:
            return cholesky(shifted)
        except linalg.LinAlgError:
            continue
    raise linalg.LinAlgError("the matrix of the Newton step is indefinite")


class Blocks(NamedTuple):
    """The inverses of the blocks of M, and a factor of what the projections add (None without them)."""

    inverses: list[Array]
    coupling: tuple[Array, bool] | None


class Factors:
    """Inverses of M by Cholesky factors of its blocks; holds a matrix of the size of K per function."""

    def __init__(self, K: Array) -> None:
        self.K = K

    def blocks(self, root: Root, alpha: float) -> Blocks:
        """Factor M; raises LinAlgError if K is indefinite beyond what alpha makes up for."""
        inverses = [self._inverse(d, alpha) for d in root.scale.T]
        if root.unit is None:
            return Blocks(inverses, None)
        total = np.zeros_like(self.K)
        for r, inverse in zip(root.unit.T, inverses, strict=True):
            total += r[:, None] * inverse * r
        return Blocks(inverses, (factor(total, ROUNDING), True))

    def _inverse(self, d: Array, alpha: float) -> Array:
        M = d[:, None] * self.K * d
        M[np.diag_indices(len(M))] += alpha
        return cholesky_inverse(factor(M, ROUNDING))

    def at(self, root: Root, alpha: float) -> Inverse:
        """The inverse for this curvature and penalty."""
        if root.unit is None and root.scale.shape[1] == 1:
            return self._single(root.scale, alpha)
        blocks = self.blocks(root, alpha)

        def apply(x: Array) -> Array:
            return np.stack([B @ column for B, column in zip(blocks.inverses, x.T, strict=True)], axis=1)

        def inverse(x: Array) -> Array:
            if root.unit is None or blocks.coupling is None:
                return apply(x)
            z = apply(root.project(x))
            along = (root.unit * z).sum(axis=1)
            return root.project(
                z - apply(root.unit * linalg.cho_solve(blocks.coupling, along, check_finite=False)[:, None])
            )

        return inverse

    def _single(self, d: Array, alpha: float) -> Inverse:
        M = d * self.K * d.T
        M[np.diag_indices(len(M))] += alpha
        lower = factor(M, ROUNDING)
        return lambda x: linalg.cho_solve((lower, True), x, check_finite=False)


class Solved(NamedTuple):
    """An approximate solution ``u``, and whether it is accurate enough."""

    u: Array
    is_accurate: bool


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not accurate
def solve_step(
    product: Product,
    root: Root,
    alpha: float,
    right: Array,
    inverse: Inverse,
    *,
    constrained: bool,
    allowed: float,
    most: int,
) -> Solved:
    r"""Solve :math:`M u = S^\top v` by preconditioned conjugate gradients.

    A residual :math:`\rho` of this system is the residual :math:`S \rho` of the optimality conditions of the
    Newton step (times the penalty); the iteration checks it, and its norm
    :math:`\sqrt{\rho^\top S^\top K S \rho}` in feature space is what decides.

    Parameters
    ----------
    product : callable
        Multiplies by K.
    root, alpha
        What M is made of.
    right : array of shape (n, m)
        The right side :math:`S^\top v`.
    inverse : callable
        An approximate inverse of M.
    constrained : bool
        Keep :math:`\sum_i S_i u_i = 0`.
    allowed : float
        The norm in feature space to stop at.
    most : int
        Products at most.
    """
    precondition = _Projection(inverse, root) if constrained else _Plain(inverse)
    u = np.zeros_like(right)
    r, z = precondition(right)
    p, energy = z, float(np.vdot(r, z))
    plain_norm = float(np.linalg.norm(root.times(r)))
    goal, spent = 1e-2 * plain_norm, 0
    while spent < most:
        if plain_norm <= goal or not energy > 0.0:
            residual = root.times(r)
            found = max(float(np.vdot(residual, product(residual))), 0.0) ** 0.5
            spent += 1
            if found <= allowed or not energy > 0.0:
                return Solved(u, found <= allowed)
            goal = plain_norm * min(0.1, 0.3 * allowed / found)
        Mp = alpha * p + root.transposed_times(product(root.times(p)))
        spent += 1
        curvature = float(np.vdot(p, Mp))
        if not 0.0 < curvature < np.inf:  # K is indefinite, or all is rounding, or numbers overflow
            break
        length = energy / curvature
        u = u + length * p
        r, z = precondition(r - length * Mp)
        last, energy = energy, float(np.vdot(r, z))
        p = z + max(energy, 0.0) / last * p
        plain_norm = float(np.linalg.norm(root.times(r)))
    return Solved(u, False)


class _Plain:
    """The residual as it is, and the approximate inverse applied to it."""

    def __init__(self, inverse: Inverse) -> None:
        self.inverse = inverse

    def __call__(self, r: Array) -> tuple[Array, Array]:
        return r, self.inverse(r)


class _Projection:
    """The same on the subspace where ``sum_i S_i u_i = 0``.

    Normals of the subspace, in the geometry of the inverse, are taken out of the residual: they are what the
    constraint bears.
    """

    def __init__(self, inverse: Inverse, root: Root) -> None:
        m = root.scale.shape[1]
        normals = [root.transposed_times(np.broadcast_to(e, root.scale.shape)) for e in np.eye(m)]
        self.inverse = inverse
        self.normals = np.stack([normal.ravel() for normal in normals], axis=1)
        self.solved = np.stack([inverse(normal).ravel() for normal in normals], axis=1)
        # of several classes, a constant added to all changes nothing: hence the pseudo-inverse
        self.inner = np.linalg.pinv(self.normals.T @ self.solved, rcond=1e-10, hermitian=True)

    def __call__(self, r: Array) -> tuple[Array, Array]:
        z = self.inverse(r)
        multipliers = self.inner @ (self.normals.T @ z.ravel())
        taken = (self.normals @ multipliers).reshape(r.shape)
        return r - taken, z - (self.solved @ multipliers).reshape(r.shape)
