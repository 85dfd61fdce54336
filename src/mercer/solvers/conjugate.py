"""Conjugate gradients for several right sides at once, with a preconditioner that may be inexact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engine.runs import STOPPING, checkpoint, conclude

__all__ = ["Iterations", "conjugate_gradients"]

Matrix: TypeAlias = NDArray[np.float64]
#: A linear map of columns; the second argument says which columns these are.
Operator: TypeAlias = Callable[[Matrix, NDArray[np.intp]], Matrix]


class Iterations(NamedTuple):
    """Where conjugate gradients ended.

    Attributes
    ----------
    value : array of shape (n, t)
    products : int
        Products with the operator.
    reason : str
        Why they ended: ``"tol"``, ``"max_iter"`` or, where the run was stopped, a sentence.
    residual : array of shape (n, t)
        As the iteration carries it along.
    """

    value: Matrix
    products: int
    reason: str
    residual: Matrix

    @property
    def is_stopped(self) -> bool:
        """Whether the run was stopped."""
        return self.reason not in ("tol", "max_iter")


def conjugate_gradients(
    operator: Operator,
    right: Matrix,
    precondition: Operator,
    *,
    scale: Matrix,
    tol: float,
    max_iter: int,
    progress: Any = None,
    keep: Callable[[Matrix], None] | None = None,
) -> Iterations:
    """Solve ``A X = right`` for a positive definite operator, each column on its own, products in common.

    The step along the last direction is chosen by the change of the residual (Polak and Ribiere), which
    forgives a preconditioner that is symmetric only up to its own rounding.  Columns that have arrived take
    no further part.  If the run is stopped, what has been reached is returned.

    Parameters
    ----------
    operator, precondition : callables
        Take columns and their positions.
    right : array of shape (n, t)
    scale : array of shape (t,)
        A column has arrived when the norm of its residual is at most ``tol`` times this.
    tol : float
    max_iter : int
    progress : callable, optional
        Told the number of products and the worst relative residual.
    keep : callable, optional
        Given the columns after each step.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the operator turns out not to be positive definite.
    """
    n, t = right.shape
    X, R = np.zeros((n, t)), right.copy()
    goal = tol * scale
    active = np.flatnonzero(np.linalg.norm(R, axis=0) > goal)
    direction = rest = np.zeros((n, t))
    rho = np.ones(t)
    count = 0
    try:
        while active.size and count < max_iter:
            checkpoint()
            r = R[:, active]
            z = precondition(r, active)
            new = np.einsum("ij,ij->j", r, z)
            if count == 0:
                p = z
            else:
                beta = np.einsum("ij,ij->j", r - rest, z) / rho
                p = z + np.maximum(beta, 0.0) * direction
            q = operator(p, active)
            count += 1
            curvature = np.einsum("ij,ij->j", p, q)
            if not (curvature > 0).all():
                raise np.linalg.LinAlgError("the system is indefinite: a direction of curvature <= 0 was met")
            step = np.einsum("ij,ij->j", p, r) / curvature
            better, left = X.copy(), R.copy()  # both change at once, whenever Ctrl-C comes
            better[:, active] += step * p
            left[:, active] = r - step * q
            X, R = better, left
            if keep is not None:
                keep(X)
            norms = np.linalg.norm(R[:, active], axis=0)
            going = norms > goal[active]
            if progress is not None:
                progress(count, float((norms / scale[active]).max()))
            active, rho = active[going], new[going]
            direction, rest = p[:, going], r[:, going]
    except STOPPING as error:
        return Iterations(X, count, conclude(error), R)
    return Iterations(X, count, "max_iter" if active.size else "tol", R)
