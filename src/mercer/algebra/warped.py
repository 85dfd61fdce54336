"""Kernels deformed by data: the norm of the space gets a further penalty on values at given points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse
from scipy import linalg

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Data, check_sparse, items, size
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import DefinitenessError, ParameterError
from ..kernel import Prepared
from ..parameters import show
from .nodes import WithPoints, cancelled, frozen, wrap

__all__ = ["WarpedKernel"]


class WarpedKernel(WithPoints):
    r"""Kernel warped by a penalty on the values at given points: ``k.warped(X, M)``.

    .. math:: \tilde k(x, z) = k(x, z) - k_x^\top (I + M K)^{-1} M \, k_z,
              \qquad k_x = (k(x, x_i))_i, \quad K = (k(x_i, x_j))_{ij}

    It is the reproducing kernel of the same functions with the norm
    :math:`\|f\|_\sim^2 = \|f\|^2 + \mathbf{f}^\top M \mathbf{f}`, :math:`\mathbf{f} = (f(x_i))_i` (Sindhwani,
    Niyogi and Belkin), for a symmetric positive semidefinite :math:`M`, and therefore positive definite if
    ``k`` is: strictly, if ``k`` is strictly, for both spaces hold the same functions.  With :math:`M` a
    multiple of a graph Laplacian, functions that change along the graph become expensive: the kernel follows
    the shape of the data, labelled or not, and extends to new points.  Any machine can use it; kernel ridge
    regression with it is :class:`~mercer.machines.LaplacianRLS`.

    The points and the matrix are kept in the kernel.  Cost: O(n^3) once for n points; a block costs that of
    ``k``, plus one row of ``k`` with the points and n products per new point.

    Parameters
    ----------
    base : Kernel
        Data-dependent parameters are resolved from ``points``.
    points : the n points
    penalty : array or sparse matrix of shape (n, n)
        :math:`M`, such as :func:`~mercer.graphs.laplacian` times a factor.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> M = [[3.0, -3.0], [-3.0, 3.0]]          # an edge between the two points
    >>> k = Gaussian(1.0)
    >>> warped = k.warped([[0.0], [2.0]], M)
    >>> warped.certificate.verdict == k.certificate.verdict
    True
    >>> warped([0.0], [2.0]) / warped([0.0], [0.0]) > 5 * k([0.0], [2.0])     # they have come closer
    True
    """

    penalty: Any

    if TYPE_CHECKING:  # computed once, from the points
        _map: ClassVar[np.ndarray]

    def _validate(self) -> None:
        points = self.base.domain.validate(self.points, "points")
        base = self.base.resolve(points)
        points = frozen(points)
        penalty = _penalty(self.penalty, size(points))
        reference = base._prepare(points)
        for name, value in (("base", base), ("points", points), ("penalty", penalty)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_reference", reference)
        object.__setattr__(self, "_map", self._correction(base._tiles(reference, None)))

    def _correction(self, K: np.ndarray) -> np.ndarray:
        """Matrix B with ``(I + M K)^-1 M = B B'``: with M = R R', B = R (I + R' K R)^(-1/2)."""
        K = K.astype(np.float64, copy=False)
        R = _root(self.penalty)
        with np.errstate(over="ignore", invalid="ignore"):
            inner = R.T @ K @ R
        if not np.isfinite(inner).all():
            raise ParameterError(
                f"WarpedKernel: `penalty` times the values of {self.base!r} on `points` overflows. Scale one."
            )
        inner[np.diag_indices_from(inner)] += 1.0
        try:
            L = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError as error:
            raise DefinitenessError(
                f"WarpedKernel: {self.base!r} is not positive definite on `points`: I + M K has a negative "
                "eigenvalue. Take a positive definite kernel."
            ) from error
        return np.ascontiguousarray(linalg.solve_triangular(L, R.T, lower=True, check_finite=False).T)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self.base._define(x, y, m) - self._corrections(x, y, m)

    def _self_value(self, x: Any, m: Arithmetic) -> Any:
        return cancelled(self.base._define(x, x, m), -self._corrections(x, x, m))

    def _corrections(self, x: Any, y: Any, m: Arithmetic) -> Any:
        points = [self.base.domain.to_arithmetic(p, m) for p in items(self.points)]
        columns = [[m.real(value) for value in column] for column in self._map.T.tolist()]

        def features(z: Any) -> list[Any]:
            row = [self.base._define(z, p, m) for p in points]
            return [m.fsum(a * b for a, b in zip(row, column, strict=True)) for column in columns]

        return m.fsum(a * b for a, b in zip(features(x), features(y), strict=True))

    def _prepare(self, X: Data) -> Prepared:
        part = self.base._prepare(X)
        rows = self.base._tiles(part, self._reference)
        return Prepared((part,), (np.ascontiguousarray(rows @ self._map.astype(rows.dtype)),))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        correction = pairwise.dot(X.arrays[0], None if Y is None else Y.arrays[0])
        return np.asarray(self._blocks(X, Y)[0] - correction)

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value | None:
        if not self._map.shape[1]:
            return next(self._compiled(b, X, Y))
        correction = b.dot(X.arrays[0], None if Y is None else Y.arrays[0])
        return b.subtract(next(self._compiled(b, X, Y)), correction)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        corrections = np.einsum("ij,ij->i", X.arrays[0], X.arrays[0])
        return np.asarray(cancelled(self._diagonals(X)[0], -corrections, eps=np.finfo(corrections.dtype).eps))

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the base is not known to be positive definite", [positive])
        return Certificate.psd(
            self,
            "warping",
            "the reproducing kernel of the same functions with the norm |f|^2 + f'Mf, M = RR' >= 0",
            strict=positive.strict,
            premises=[positive],
        )

    def __repr__(self) -> str:
        n = len(self.penalty)
        # Points up to which ``repr`` shows them, and the matrix.
        if n > 16:
            return f"{wrap(self.base)}.warped(<{n} points>, <{n} x {n} matrix>)"
        return f"{wrap(self.base)}.warped({show(self.points)}, {show(self.penalty)})"


def _penalty(M: Any, n: int) -> np.ndarray:
    """Return the matrix as a read-only symmetric array, or raise naming the argument."""
    if scipy.sparse.issparse(M):
        check_sparse(M, "WarpedKernel: `penalty`")
    try:
        array = np.array(M.toarray() if scipy.sparse.issparse(M) else M, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"WarpedKernel: `penalty` must be a matrix of numbers: {error}.") from error
    if array.shape != (n, n) or not np.isfinite(array).all():
        got = f"shape {array.shape}" if array.shape != (n, n) else "an entry that is not finite"
        raise ParameterError(
            f"WarpedKernel: `penalty` must be a finite {n} x {n} matrix, a row per point. Got {got}."
        )
    gap = float(np.abs(array - array.T).max(initial=0.0))
    if gap > 1e-8 * float(np.abs(array).max(initial=0.0)):
        raise ParameterError(
            f"WarpedKernel: `penalty` must be symmetric. The largest asymmetry is {gap:.6g}."
        )
    array.flags.writeable = False
    return array


def _root(M: np.ndarray) -> np.ndarray:
    """Factor R of shape (n, rank) with ``M = R R'``, by Cholesky decomposition with pivots."""
    n = len(M)
    scale = float(np.abs(M).max(initial=0.0))
    if scale == 0:
        return np.zeros((n, 0))
    factor, pivots, rank, _ = linalg.lapack.dpstrf(M, lower=1)
    R = np.zeros((n, rank))
    R[pivots - 1] = np.tril(factor[:, :rank])
    # Random products by which a factor is compared with its matrix.
    probes = np.random.default_rng(0).standard_normal((n, 4))
    error = float(np.abs(M @ probes - R @ (R.T @ probes)).max())
    if error > 1e-10 * n * scale:  # far above the rounding of a decomposition that exists
        raise ParameterError(
            "WarpedKernel: `penalty` must be positive semidefinite, as a graph Laplacian is: it has a "
            "negative eigenvalue."
        )
    return R
