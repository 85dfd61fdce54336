"""Cubic smoothing splines."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InputError, ParameterError
from ..solvers import SplineFit, fit_spline, spline_errors
from .arguments import WEIGHT_RANGE, checked_weight, naming, refuse_large_targets

__all__ = ["SmoothingSpline"]

Matrix: TypeAlias = NDArray[np.float64]

#: Penalties of the first look, before the best of them is refined.
LOOKS = 40

#: From the first to the last knot: cubes of these, times penalties, are floats.
SPAN = (1e-80, 1e80)


class SmoothingSpline(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Cubic smoothing spline on the line.

    .. math:: \min_g \; \sum_i w_i \, (y_i - g(x_i))^2 + \alpha \int g''(x)^2 \, dx

    This is kernel ridge regression with the kernel :class:`~mercer.kernels.SplineRemainder` of order 2, of
    which :math:`\int (g'')^2` is the squared norm, and a free straight line.  (With the full kernel
    :class:`~mercer.kernels.Sobolev2` the line would be penalised too: that is not a smoothing spline, though
    the source says so.)  The solution is a natural cubic spline with a knot at each distinct :math:`x_i`;
    beyond the data it is straight.

    Cost: O(n) time and memory, by recursions in which nothing cancels; the result is exact to rounding for
    any penalty, also where the banded normal equations are singular in floating point.

    Parameters
    ----------
    alpha : float, optional
        The penalty :math:`\alpha`, from 0 (the natural interpolating spline; of repeated x, through their
        means) to ``inf`` (the weighted straight line).  By default the ``criterion`` chooses it.
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
    values_, curvature_ : arrays of shape (n_knots,) or (n_knots, n_targets)
        Values and second derivatives there.
    degrees_of_freedom_ : float
        Trace of the map from data to fitted values, from 2 to n_knots.

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

    def __init__(self, *, alpha: float | None = None, criterion: str = "gcv") -> None:
        self.alpha = alpha
        self.criterion = criterion

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the numbers ``X`` of shape (n,) or (n, 1) and the targets ``y`` of shape (n,) or (n, t)."""
        self._check_parameters()
        x = self._numbers(X, reset=True)
        if y is None:
            raise InputError("SmoothingSpline requires y to be passed, but the target y is None.")
        with naming("SmoothingSpline", "y"):
            targets = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if targets.ndim not in (1, 2) or len(targets) != len(x):
            raise InputError(
                "SmoothingSpline: y must have shape (n,) or (n, t), one row for each x. Found input "
                f"variables with inconsistent numbers of samples: {len(x)}, and y of shape {targets.shape}."
            )
        refuse_large_targets(targets, "SmoothingSpline")
        weight = _weights(sample_weight, len(x))
        kept = weight > 0
        _refuse_scales(x[kept])
        rows = _Rows.merged(x[kept], targets[kept].reshape(int(kept.sum()), -1), weight[kept])

        self.alpha_ = self._chosen(rows) if self.alpha is None else float(self.alpha)
        fit = fit_spline(rows.knots, rows.means, rows.weights, self.alpha_)
        self.knots_ = rows.knots
        flat = targets.ndim == 1
        self.values_ = fit.values[:, 0] if flat else fit.values
        self.curvature_ = fit.curvature[:, 0] if flat else fit.curvature
        self.degrees_of_freedom_ = self._freedom(rows)
        return self

    # -- the penalty ----------------------------------------------------------------------------
    def _chosen(self, rows: _Rows) -> float:
        """The penalty with the least criterion: the best of a wide grid, then refined."""
        from scipy.optimize import minimize_scalar

        n = len(rows.knots)
        if n < 3:
            self.alphas_, self.errors_ = np.array([np.inf]), np.array([np.nan])
            return np.inf  # one or two knots leave no curvature to choose
        # In units of the mean distance: from interpolation to a straight line, for any number of knots.
        scale = float(rows.weights.mean()) * float((rows.knots[-1] - rows.knots[0]) / (n - 1)) ** 3
        grid = scale * np.geomspace(1e-6, 1e2 * float(n) ** 4, LOOKS)
        errors = rows.criterion(grid, self.criterion)
        best = int(np.argmin(errors))
        low, high = np.log(grid[max(best - 1, 0)]), np.log(grid[min(best + 1, LOOKS - 1)])
        tried: dict[float, float] = dict(zip(grid.tolist(), errors.tolist(), strict=True))

        def error(log_alpha: float) -> float:
            alpha = float(np.exp(log_alpha))
            tried[alpha] = float(rows.criterion(alpha, self.criterion))
            return tried[alpha]

        minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
        self.alphas_ = np.array(sorted(tried))
        self.errors_ = np.array([tried[alpha] for alpha in self.alphas_.tolist()])
        return float(self.alphas_[np.argmin(self.errors_)])

    def _freedom(self, rows: _Rows) -> float:
        n = len(rows.knots)
        if n < 3 or self.alpha_ == 0:
            return float(n)
        if self.alpha_ == np.inf:
            return 2.0
        return float(spline_errors(rows.knots, rows.means[:, 0], rows.weights, self.alpha_).leverage.sum())

    # -- predicting -----------------------------------------------------------------------------
    def predict(self, X: Any, *, derivative: int = 0) -> np.ndarray:
        """Values of the spline, or of a derivative of it; beyond the knots it is straight.

        Parameters
        ----------
        X : array of shape (m,) or (m, 1)
        derivative : int, default=0
            Order of the derivative, from 0 to 3 (the third is constant between knots, from the right).
        """
        check_is_fitted(self)
        if isinstance(derivative, bool) or derivative not in (0, 1, 2, 3):
            raise ParameterError(
                f"SmoothingSpline.predict: `derivative` must be 0, 1, 2 or 3. Got {derivative!r}."
            )
        x = self._numbers(X, reset=False)
        fit = SplineFit(
            self.values_.reshape(len(self.knots_), -1), self.curvature_.reshape(len(self.knots_), -1)
        )
        values = _evaluate(self.knots_, fit, x, derivative)
        return values[:, 0] if self.values_.ndim == 1 else values

    # -- checks ---------------------------------------------------------------------------------
    def _numbers(self, X: Any, *, reset: bool) -> Matrix:
        with naming("SmoothingSpline", "X"):
            x = check_array(X, ensure_2d=False, dtype=np.float64, input_name="X")
            if x.ndim == 2:
                x = validate_data(self, X, reset=reset, dtype=np.float64)
        if x.ndim == 2 and x.shape[1] != 1:
            raise InputError(
                "SmoothingSpline: X must be numbers on a line, of shape (n,) or (n, 1). Got "
                f"{x.shape[1]} features. For several use KernelRidge with a sum of kernels over features."
            )
        return np.asarray(x, dtype=np.float64).ravel()

    def _check_parameters(self) -> None:
        alpha = self.alpha
        sound = alpha is None or (
            isinstance(alpha, numbers.Real) and not isinstance(alpha, bool) and alpha >= 0
        )
        if not sound:
            raise ParameterError(
                f"SmoothingSpline: `alpha` must be a number from 0 to inf, or None to choose it. "
                f"Got {alpha!r}. Larger alpha gives a smoother fit."
            )
        if self.criterion not in ("gcv", "loo"):
            raise ParameterError(
                f"SmoothingSpline: `criterion` must be 'gcv' or 'loo'. Got {self.criterion!r}."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # but for one column
        return tags


def _weights(sample_weight: Any, n: int) -> Matrix:
    """Weights of the rows; the recursions divide by each of them, so that none may vanish."""
    if sample_weight is None:
        return np.ones(n)
    weight = checked_weight(sample_weight, n, "SmoothingSpline")
    least = float(weight[weight > 0].min())
    if least < WEIGHT_RANGE[0]:
        raise InputError(
            f"SmoothingSpline: `sample_weight` must be 0 or at least {WEIGHT_RANGE[0]:g}. Got {least:.3g}. "
            "Set weights to 0 that do not count beside the others."
        )
    return weight


def _refuse_scales(x: Matrix) -> None:
    """Raise if cubes of distances between knots leave the range of floats."""
    span = float(x.max()) - float(x.min())
    if span > 0 and not SPAN[0] <= span <= SPAN[1]:
        raise InputError(
            f"SmoothingSpline: `X` must span between {SPAN[0]:g} and {SPAN[1]:g}: the penalty has the "
            f"unit of its third power. Got {span:.3g}. Multiply X by a constant."
        )


class _Rows(NamedTuple):
    """The data, sorted, and what is left when rows with one x are merged into their weighted mean."""

    knots: Matrix
    means: Matrix  # one row per knot
    weights: Matrix
    y: Matrix
    weight: Matrix
    knot: NDArray[np.intp]  # of each row of y

    @classmethod
    def merged(cls, x: Matrix, Y: Matrix, weight: Matrix) -> _Rows:
        knots, knot = np.unique(x, return_inverse=True)
        weights = np.bincount(knot, weight).astype(np.float64)
        sums = np.zeros((len(knots), Y.shape[1]))
        np.add.at(sums, knot, weight[:, None] * Y)
        return cls(knots, sums / weights[:, None], weights, Y, weight, knot)

    def criterion(self, alpha: Any, name: str) -> Any:
        """The criterion for one penalty or several, summed over targets.

        A row that shares its x with others has its part of their leverage.
        """
        many = np.ndim(alpha) > 0
        expand = (slice(None), None) if many else slice(None)
        share = (self.weight / self.weights[self.knot])[expand]
        weight = self.weight[expand]
        total: Any = 0.0
        for target in range(self.means.shape[1]):
            found = spline_errors(self.knots, self.means[:, target], self.weights, alpha)
            from_mean = (self.y[:, target] - self.means[self.knot, target])[expand]
            errors = from_mean + (found.complement * found.left_out)[self.knot]
            leverage, complement = found.leverage[self.knot], found.complement[self.knot]
            rest = complement + leverage * (1.0 - share)  # one minus the leverage of the row
            if name == "loo":
                errors = errors / rest
                total = total + (weight * errors**2).sum(axis=0) / self.weight.sum()
            else:
                factor = len(self.weight) / rest.sum(axis=0)
                total = total + factor**2 * (weight * errors**2).sum(axis=0) / self.weight.sum()
        return total


def _evaluate(knots: Matrix, fit: SplineFit, x: Matrix, derivative: int) -> Matrix:
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
