"""A kernel known only by its values."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Domain, MatrixRows, Similarities
from ..errors import InputError
from ..kernel import Gradient, Kernel, Prepared

__all__ = ["Precomputed"]


class Precomputed(Kernel):
    r"""A given matrix of kernel values.

    .. math:: k(x_i, x_j) = K_{ij}

    The data are the matrix itself: ``X`` is the square, symmetric matrix of the training points, and for new
    points the matrix ``n_new x n_train`` of their values with the training points, as in
    ``Precomputed().block(K_new, K_train)``.  Nothing is known about its definiteness before the numbers are
    seen: check them with ``mercer.gram(Precomputed(), K).check()``, or assert what you know with
    ``.assume("PSD")``.  It takes part in sums and products like any other kernel; operations that need
    ``k(x, x)`` of new points (``.normalized()``, ``.distance()``) cannot have it and say so.  There is no
    value on one pair.  Block cost: a copy.

    Examples
    --------
    >>> K = [[2.0, 1.0], [1.0, 3.0]]
    >>> (2 * Precomputed() + 1).block(K)
    array([[5., 3.],
           [3., 7.]])
    >>> Precomputed().block([[0.5, 0.25]], K)
    array([[0.5 , 0.25]])
    """

    @property
    def domain(self) -> Domain:
        return Similarities()

    def __call__(self, x: Any, y: Any) -> float:
        """Raise: a precomputed kernel has no value on one pair."""
        self._no_pair()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        self._no_pair()

    is_precise = False

    def _no_pair(self) -> NoReturn:
        raise InputError(
            "Precomputed: k(x, y) has no meaning for one pair of rows; the values are the entries of the "
            "matrix. Use block(K) or block(K_new, K_train)."
        )

    def _prepare(self, X: MatrixRows) -> Prepared:
        """Find the diagonal where the rows are training points; it is NaN where it cannot be known."""
        known = X.total == X.width and X.asymmetry[0] == 0
        diagonal = X.matrix[X.rows, X.ids] if known else np.full(len(X), np.nan)
        return Prepared((X,), (diagonal,))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        rows, columns = X.parts[0], (X if Y is None else Y).parts[0]
        return np.array(rows.columns(columns.ids))

    def _given(self, X: Prepared, Y: Prepared | None) -> np.ndarray | None:
        rows: MatrixRows = X.parts[0]
        return rows.view((X if Y is None else Y).parts[0].ids)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        diagonal = X.arrays[0]
        if np.isnan(diagonal).any():
            raise InputError(
                "Precomputed: the values k(x, x) of new points are not in the matrix n_new x n_train. "
                "Normalise or centre the matrices before, or use a kernel on the data."
            )
        return diagonal.copy()

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {}

    def _certify(self) -> Certificate:
        return Certificate.unknown(self, "a given matrix: check the numbers with Gram.check()")
