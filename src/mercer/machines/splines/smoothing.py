"""Smoothing splines on the line."""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from ...domains import check_numbers
from ...errors import InputError, ParameterError, brief
from ...solvers import SplineErrors, SplineFit, fit_spline, spline_errors
from ..arguments import naming
from .base import Rows, SplineMachine
from .polyharmonic import Polyharmonic, PolyharmonicFit

__all__ = ["SmoothingSpline"]

Matrix: TypeAlias = NDArray[np.float64]


class SmoothingSpline(SplineMachine):
    r"""Smoothing spline on the line, of any order.

    .. math:: \min_g \; \sum_i w_i \, (y_i - g(x_i))^2 + \alpha \int g^{(m)}(x)^2 \, dx

    This is kernel ridge regression with the kernel :class:`~mercer.kernels.SplineRemainder` of order m, of
    which :math:`\int (g^{(m)})^2` is the squared norm, and a free polynomial of degree below m.  (With the
    full kernel :class:`~mercer.kernels.Spline` the polynomial would be penalised too, and that is not a
    smoothing spline.)  The solution is a natural spline of degree 2m - 1 with a knot at each distinct
    :math:`x_i`; beyond the data it is a polynomial of degree below m.  The usual :math:`m = 2` gives
    natural cubic splines, which are straight beyond the data.

    Cost for m = 2: O(n) time and memory, by recursions in which nothing cancels; the result is exact to
    rounding for any penalty, also where the banded normal equations are singular in floating point.  Other
    orders take O(n^3) time and O(n^2) memory, and refuse penalties below their rounding errors.

    Parameters
    ----------
    order : int, default=2
        The order :math:`m` of the derivative, from 1 to 32.
    alpha : float, optional
        The penalty :math:`\alpha`, from 0 (the natural interpolating spline; of repeated x, through their
        means) to ``inf`` (the weighted polynomial).  By default the ``criterion`` chooses it.
    criterion : {"gcv", "loo"}, default="gcv"
        What the chosen penalty minimises: generalised cross-validation, or the weighted mean of squared
        leave-one-out errors.  Both are exact.  Rows count, not weights, and repeated x are several rows.

    Attributes
    ----------
    alpha_ : float
        The penalty that was used.
    alphas_, errors_ : arrays
        The penalties that were tried, ascending, and their criterion; if ``alpha`` is None.
    knots_ : array of shape (n_knots,)
        The distinct x of positive weight.
    values_ : array of shape (n_knots,) or (n_knots, n_targets)
        Values there.
    curvature_ : array of the same shape
        Second derivatives there; for order 2.
    degrees_of_freedom_ : float
        Trace of the map from data to fitted values, from m to n_knots.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 6, 50)
    >>> noise = 0.1 * np.random.default_rng(0).standard_normal(50)
    >>> spline = SmoothingSpline().fit(x, np.sin(x) + noise)
    >>> bool(abs(spline.predict([1.5])[0] - np.sin(1.5)) < 0.1)
    True
    >>> bool(abs(spline.predict([1.5], derivative=1)[0] - np.cos(1.5)) < 0.2)
    True
    """

    def __init__(self, *, order: int = 2, alpha: float | None = None, criterion: str = "gcv") -> None:
        self.order = order
        self.alpha = alpha
        self.criterion = criterion

    def _smoother(self, rows: Rows) -> Any:
        if self.order == 2:
            return _Cubic(rows.knots, rows.weights)
        return Polyharmonic(rows.knots[:, None], rows.weights, int(self.order), "SmoothingSpline")

    def _count_free(self, rows: Rows) -> int:
        return int(self.order)

    def _keep(self, smoother: Any, rows: Rows, *, flat: bool) -> None:
        fit = self._fit = smoother.fit(rows.means, self.alpha_)
        if isinstance(fit, SplineFit):
            self.values_ = fit.values[:, 0] if flat else fit.values
            self.curvature_ = fit.curvature[:, 0] if flat else fit.curvature
        else:
            values = _evaluate(self.knots_, fit, self.knots_, 0)
            self.values_ = values[:, 0] if flat else values

    # -- predicting -----------------------------------------------------------------------------
    def predict(self, X: Any, *, derivative: int = 0) -> np.ndarray:
        """Values of the spline, or of a derivative of it; beyond the knots a polynomial of degree < order.

        Parameters
        ----------
        X : array of shape (m,) or (m, 1)
        derivative : int, default=0
            Its order, from 0 to 2 ``order`` - 1 (the last is constant between knots, from the right).
        """
        check_is_fitted(self)
        cubic = isinstance(self._fit, SplineFit)
        most = 3 if cubic else 2 * self._fit.space.order - 1
        whole = isinstance(derivative, numbers.Integral) and not isinstance(derivative, bool)
        if not whole or not 0 <= derivative <= most:
            raise ParameterError(
                f"SmoothingSpline.predict: `derivative` must be a whole number from 0 to {most}. "
                f"Got {brief(derivative)}."
            )
        x = self._points(X, reset=False)
        evaluate: Any = _evaluate_cubic if cubic else _evaluate
        values = evaluate(self.knots_, self._fit, x, int(derivative))
        return np.asarray(values[:, 0] if self.values_.ndim == 1 else values)

    # -- checks ---------------------------------------------------------------------------------
    def _points(self, X: Any, *, reset: bool) -> Matrix:
        check_numbers(X, "SmoothingSpline: `X`", dense=True)
        with naming("SmoothingSpline", "X"):
            x = check_array(X, ensure_2d=False, dtype=np.float64, input_name="X")
            if x.ndim == 2:
                x = validate_data(self, X, reset=reset, dtype=np.float64)
        if x.ndim == 2 and x.shape[1] != 1:
            raise InputError(
                "SmoothingSpline: X must be numbers on a line, of shape (n,) or (n, 1). Got "
                f"{x.shape[1]} features. For several use ThinPlateSpline, or KernelRidge with a sum of "
                "kernels over features."
            )
        return np.asarray(x, dtype=np.float64).ravel()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # but for one column
        return tags


class _Cubic(NamedTuple):
    """Cubic splines, by recursions in linear time."""

    knots: Matrix
    weights: Matrix

    def grid(self) -> Matrix:
        n = len(self.knots)
        # In units of the mean distance: from interpolation to a straight line, for any number of knots.
        scale = float(self.weights.mean()) * float((self.knots[-1] - self.knots[0]) / (n - 1)) ** 3
        # number of penalties on the first grid, before the best of them is refined
        return scale * np.geomspace(1e-6, 1e2 * float(n) ** 4, 40)

    def errors(self, y: Matrix, alpha: Any) -> SplineErrors:
        return spline_errors(self.knots, y, self.weights, alpha)

    def fit(self, Y: Matrix, alpha: float) -> SplineFit:
        return fit_spline(self.knots, Y, self.weights, alpha)

    def degrees_of_freedom(self, alpha: float) -> float:
        n = len(self.knots)
        if n < 3 or alpha == 0:
            return float(n)
        if alpha == np.inf:
            return 2.0
        return float(self.errors(np.zeros(n), alpha).leverage.sum())


def _evaluate(knots: Matrix, fit: PolyharmonicFit, x: Matrix, derivative: int) -> Matrix:
    """A derivative of a natural spline; beyond the knots by Taylor's formula, where nothing cancels."""
    order = fit.space.order
    inside = np.clip(x, knots[0], knots[-1])
    values = _derivative(fit, inside, derivative)
    for end, beyond in ((knots[0], x < knots[0]), (knots[-1], x > knots[-1])):
        steps = (x[beyond] - end)[:, None]
        terms = [
            _derivative(fit, np.array([end]), k) * steps ** (k - derivative) / math.factorial(k - derivative)
            for k in range(derivative, order)
        ]
        values[beyond] = sum(terms, start=np.zeros((int(beyond.sum()), values.shape[1])))
    return values


def _derivative(fit: PolyharmonicFit, x: Matrix, derivative: int) -> Matrix:
    """A derivative between the knots; of the highest order the one from the right."""
    space = fit.space
    power, scaled = 2 * space.order - 1, (x - space.centre[0]) / space.scale
    distance = scaled[:, None] - fit.knots[:, 0]
    side = np.where(distance < 0, -1.0, 1.0) ** derivative
    factor = (-1) ** space.order * math.perm(power, derivative)
    functions = factor * side * np.abs(distance) ** (power - derivative)
    polynomial = chebyshev.chebder(fit.polynomial, derivative) if derivative else fit.polynomial
    values = functions @ fit.coefficients + chebyshev.chebval(scaled, polynomial).T
    return np.asarray(values / space.scale**derivative)


def _evaluate_cubic(knots: Matrix, fit: SplineFit, x: Matrix, derivative: int) -> Matrix:
    """A derivative of the natural spline with given values and second derivatives at the knots."""
    if len(knots) == 1:
        return np.repeat(fit.values if derivative == 0 else np.zeros_like(fit.values), len(x), axis=0)
    inside = np.clip(x, knots[0], knots[-1])
    j = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    h = (knots[j + 1] - knots[j])[:, None]
    v = (inside - knots[j])[:, None] / h
    u = (knots[j + 1] - inside)[:, None] / h
    g0, g1, c0, c1 = fit.values[j], fit.values[j + 1], fit.curvature[j], fit.curvature[j + 1]
    slope = (g1 - g0) / h + h * ((3 * v**2 - 1) * c1 - (3 * u**2 - 1) * c0) / 6
    beyond = (x - inside)[:, None]
    if derivative == 0:
        value = u * g0 + v * g1 + h**2 * ((u**3 - u) * c0 + (v**3 - v) * c1) / 6
        return np.asarray(value + beyond * slope)
    if derivative == 1:
        return np.asarray(slope)
    bend = u * c0 + v * c1 if derivative == 2 else (c1 - c0) / h
    return np.asarray(np.where(beyond == 0, bend, 0.0))
