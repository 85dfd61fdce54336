"""Thin-plate smoothing splines."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from ...domains import check_numbers
from ...errors import InputError, ParameterError
from ..arguments import naming
from .base import Rows, SplineMachine
from .polyharmonic import Polyharmonic, count_polynomials

__all__ = ["ThinPlateSpline"]

Matrix: TypeAlias = NDArray[np.float64]


class ThinPlateSpline(SplineMachine):
    r"""Thin-plate smoothing spline in d dimensions.

    .. math:: \min_f \; \sum_i w_i \, (y_i - f(x_i))^2
              + \alpha \sum_{|\nu| = m} \frac{m!}{\nu!} \int_{\mathbb{R}^d} (D^\nu f)^2 \, dx, \qquad 2m > d

    In the plane with :math:`m = 2` the penalty is :math:`\int f_{xx}^2 + 2 f_{xy}^2 + f_{yy}^2`, the energy
    of a bent plate.  Polynomials of degree below :math:`m` are free.  The solution is a combination of the
    conditionally positive definite kernel :class:`~mercer.kernels.ThinPlate` at the points, with coefficients
    that annihilate these polynomials, and such a polynomial: the solution of the bordered linear system of
    kernel matrix and polynomials (Duchon 1977; Wahba 1990).  It does not change when the points are rotated
    or moved; features in different units should be scaled first.

    Cost: O(n^3) once for all penalties, O(n^2) memory.

    Parameters
    ----------
    order : int, default=2
        The order :math:`m` of the derivatives, 2 m > d, at most 32.  :math:`\binom{m-1+d}{d}` polynomials are
        free; the points must determine them.
    alpha : float, optional
        The penalty :math:`\alpha`, from 0 (interpolation; of repeated x, through their means) to ``inf`` (the
        weighted polynomial).  By default the ``criterion`` chooses it.
    criterion : {"gcv", "loo"}, default="gcv"
        What the chosen penalty minimises: generalised cross-validation, or the weighted mean of squared
        leave-one-out errors.  Both are exact.  Rows count, not weights, and repeated x are several rows.

    Attributes
    ----------
    alpha_ : float
        The penalty that was used.
    alphas_, errors_ : arrays
        The penalties that were tried, ascending, and their criterion; if ``alpha`` is None.
    knots_ : array of shape (n_knots, d)
        The distinct x of positive weight.
    values_ : array of shape (n_knots,) or (n_knots, n_targets)
        Values there.
    degrees_of_freedom_ : float
        Trace of the map from data to fitted values, from the number of polynomials to n_knots.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (100, 2))
    >>> y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.05 * rng.standard_normal(100)
    >>> model = ThinPlateSpline().fit(X, y)
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - np.sin(1.0) * 0.5) < 0.05)
    True
    """

    def __init__(self, *, order: int = 2, alpha: float | None = None, criterion: str = "gcv") -> None:
        self.order = order
        self.alpha = alpha
        self.criterion = criterion

    def predict(self, X: Any) -> np.ndarray:
        """Values of the spline at the points ``X`` of shape (m, d), inside the data or outside."""
        check_is_fitted(self)
        values = self._fit.predict(self._points(X, reset=False))
        return values[:, 0] if self.values_.ndim == 1 else values

    def _points(self, X: Any, *, reset: bool) -> Matrix:
        check_numbers(X, "ThinPlateSpline: `X`", dense=True)
        with naming("ThinPlateSpline", "X"):
            points = np.asarray(validate_data(self, X, reset=reset, dtype=np.float64))
        dim = points.shape[1]
        if 2 * self.order <= dim:
            least = dim // 2 + 1
            raise ParameterError(
                f"ThinPlateSpline: `order` must be above d / 2 = {dim / 2:g} for {dim} features. Got "
                f"{self.order}. Set order={least}, which leaves {count_polynomials(least, dim)} polynomials "
                "free, or use KernelRidge."
            )
        return points

    def _smoother(self, rows: Rows) -> Polyharmonic:
        return Polyharmonic(rows.knots, rows.weights, int(self.order), "ThinPlateSpline")

    def _chosen(self, smoother: Polyharmonic, rows: Rows) -> float:  # type: ignore[override]
        alone = np.bincount(rows.knot) == 1
        needed = np.flatnonzero(smoother.ridge.needed & alone)
        if self.criterion == "loo" and len(needed) and len(rows.knots) > self._count_free(rows):
            raise InputError(
                f"ThinPlateSpline: criterion='loo' needs points that determine the polynomials of degree < "
                f"{self.order} without any one of them. Got {rows.knots[needed[0]].tolist()}, which is "
                "needed. Use criterion='gcv' or set alpha."
            )
        return super()._chosen(smoother, rows)

    def _count_free(self, rows: Rows) -> int:
        return count_polynomials(int(self.order), rows.knots.shape[1])

    def _keep(self, smoother: Polyharmonic, rows: Rows, *, flat: bool) -> None:
        self._fit = smoother.fit(rows.means, self.alpha_)
        values = self._fit.predict(rows.knots)
        self.values_ = values[:, 0] if flat else values
