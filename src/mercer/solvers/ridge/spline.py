r"""Cubic smoothing splines in linear time.

Minimise over functions with square-integrable second derivative

.. math:: \sum_i w_i (y_i - g(x_i))^2 + \lambda \int g''(x)^2 \, dx , \qquad x_1 < \dots < x_n .

The minimiser is a natural cubic spline.  It is also the posterior mean of a state-space model: the slope
:math:`g'` is a Brownian motion of intensity :math:`1 / \lambda` with a diffuse start, and :math:`y_i` is
observed with variance :math:`1 / w_i`.  All that the data on one side of a knot say about :math:`(g, g')`
there amounts to two observations: a value at some distance before the knot, and a slope.  One pass from the
left and one from the right carry them along; added without the knot's own datum they predict it.  That is its
leave-one-out error, and

.. math:: y_i - g(x_i) = (1 - H_{ii}) \, (y_i - g^{(-i)}(x_i)), \qquad
          1 - H_{ii} = \det I^{(-i)} / \det I

with the information matrices :math:`I` of value and slope.  Weights and determinants are sums of nonnegative
terms, so that nothing cancels, whatever the penalty and however close some knots are; the banded normal
equations of the spline lose all digits there.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

__all__ = ["SplineErrors", "SplineFit", "fit_spline", "spline_errors"]

Array: TypeAlias = NDArray[np.float64]


class SplineFit(NamedTuple):
    """Values and second derivatives at the knots: arrays of shape (n, t)."""

    values: Array
    curvature: Array


class SplineErrors(NamedTuple):
    """What leaving out a knot does.

    Attributes
    ----------
    left_out : array of shape (n, ...)
        Datum minus the prediction of the spline without it.
    leverage, complement : arrays
        :math:`H_{ii}` and :math:`1 - H_{ii}`, both to rounding.
    """

    left_out: Array
    leverage: Array
    complement: Array


def fit_spline(x: Array, Y: Array, weight: Array, lam: float) -> SplineFit:
    """Fit a smoothing spline.

    Parameters
    ----------
    x : array of shape (n,)
        Strictly increasing.
    Y : array of shape (n, t)
    weight : array of shape (n,)
        Positive.
    lam : float
        From 0 (natural interpolating spline) to infinity (weighted straight line).
    """
    if len(x) < 3 or lam == np.inf:
        return SplineFit(_line(x, Y, weight), np.zeros_like(Y))
    unit = _unit(x)
    h = np.diff(x) / unit
    # A penalty below this part of the weights, for knots at a mean distance of one, changes nothing that
    # double precision can see.
    if lam / unit**3 < 1e-30 * float(weight.min()):
        # The natural spline through the data: its second derivatives solve a tridiagonal system.
        right = np.diff(np.diff(Y, axis=0) / h[:, None], axis=0)
        _, _, inner, info = lapack.dptsv((h[:-1] + h[1:]) / 3, h[1:-1] / 6, right)
        if info:
            raise np.linalg.LinAlgError(f"dptsv failed with info={info}")
        return SplineFit(Y.copy(), np.pad(inner, ((1, 1), (0, 0))) / unit**2)
    values, curvature = np.empty_like(Y), np.empty_like(Y)
    for target in range(Y.shape[1]):
        found = spline_errors(x, Y[:, target], weight, lam)
        errors = found.complement * found.left_out
        # the third derivative jumps by w_i (y_i - g_i) / lam at each knot, and both ends are straight
        jumps = weight * errors / (lam / unit**3)
        curvature[:, target] = np.concatenate([[0.0], np.cumsum(h * np.cumsum(jumps)[:-1])[:-1], [0.0]])
        values[:, target] = Y[:, target] - errors
    return SplineFit(values, curvature / unit**2)


def spline_errors(x: Array, y: Array, weight: Array, lam: Any) -> SplineErrors:
    """Leave-one-out errors and leverages for a finite penalty > 0, or for several at once.

    Parameters
    ----------
    x, y, weight : arrays of shape (n,), n >= 2
        Knots, strictly increasing; data; positive weights.
    lam : float or array of shape (p,)
        With an array all results have shape (n, p).
    """
    unit = _unit(x)
    h = np.diff(x) / unit
    noise = unit**3 / lam
    rest = y - _line(x, y[:, None], weight)[:, 0]  # a straight line costs nothing: numbers stay small
    left = _Side.carried(h, rest, weight, noise)
    right = _Side(*(part[::-1] for part in _Side.carried(h[::-1], rest[::-1], weight[::-1], noise)))
    total = left.a + right.a
    between, reach = left.a * right.a / total, left.u + right.u
    slopes = left.e + right.e + between * reach**2
    without = total * slopes  # the determinant of what the others say
    column = (slice(None), *(None,) * np.ndim(lam))
    own = weight[column] * (left.e + right.e + left.a * left.u**2 + right.a * right.u**2)
    with np.errstate(invalid="ignore"):  # of two knots neither predicts the other: 0 / 0
        slope = (left.e * left.nu - right.e * right.nu + between * reach * (right.mu - left.mu)) / slopes
    value = (left.a * (left.mu + left.u * slope) + right.a * (right.mu - right.u * slope)) / total
    return SplineErrors(rest[column] - value, own / (without + own), without / (without + own))


class _Side(NamedTuple):
    """What the knots before each knot say about it: arrays with one row per knot.

    A value ``mu`` at the distance ``u`` before the knot with weight ``a``, and a slope ``nu`` with weight
    ``e``.
    """

    a: Any
    u: Any
    e: Any
    mu: Any
    nu: Any

    @classmethod
    def carried(cls, h: Array, y: Array, weight: Array, noise: Any) -> _Side:
        """One pass over the knots; ``noise`` is 1 / lam.

        Plain numbers are faster than arrays of one element: a single penalty is passed as a number.
        """
        zero = 0.0 if np.ndim(noise) == 0 else np.zeros(np.shape(noise))
        a, u, e, mu, nu = zero + float(weight[0]), zero, zero, zero + float(y[0]), zero
        rows = [(zero,) * 5]
        for w, datum, step in zip(weight[1:].tolist(), y[1:].tolist(), h.tolist(), strict=True):
            # the way to the next knot: the slope wanders, by q22 in itself and by q12 together with the value
            q22 = noise * step
            keep = 1.0 + e * q22
            spread = q22 * (u * u + u * step + step * step / 3)
            a = a * keep / (keep + a * spread + a * e * q22 * q22 * step * step / 12)
            far = u + step
            u = (far + e * (q22 * step / 2)) / keep
            e = e / keep
            mu = mu + (far - u) * nu
            rows.append((a, u, e, mu, nu))
            # the datum there
            share = w * a / (a + w)
            e_new = e + share * u * u
            nu = (e * nu + share * u * (datum - mu)) / e_new
            mu, u = (a * mu + w * datum) / (a + w), a * u / (a + w)
            a, e = a + w, e_new
        return cls(*(np.array(part) for part in zip(*rows, strict=True)))


def _unit(x: Array) -> float:
    """The mean distance of knots: in this unit all numbers have the size of one."""
    return float((x[-1] - x[0]) / (len(x) - 1))


def _line(x: Array, Y: Array, weight: Array) -> Array:
    """The weighted straight line (a constant for one knot)."""
    total = weight.sum()
    t = x - weight @ x / total
    mean = weight @ Y / total
    spread = weight @ t**2
    slope = (weight * t) @ (Y - mean) / spread if spread > 0 else np.zeros(Y.shape[1])
    return np.asarray(mean + t[:, None] * slope)
