r"""The approximate leave-one-out loss of logistic regression for two classes, with its derivatives.

With the weighted slopes :math:`g_i` and curvatures :math:`h_i` of the losses at the fitted values f, one
Newton step without point i leads to

.. math:: f_{-i}(x_i) \approx f_i - \frac{g_i}{h_i} + \frac{g_i}{\alpha N_{ii}}, \qquad
          N = (K + \alpha \, \mathrm{diag}(h)^{-1})^{-1}

(with an intercept N is restricted as in :mod:`.objectives`): the closed form of ridge regression for the last
weighted least-squares problem.  f itself moves by :math:`df = \alpha \, \mathrm{diag}(h)^{-1} N \, dK \, c`,
where :math:`c = -g / \alpha` are the coefficients.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ...engine.factorizations import multiply
from .objectives import Inverse, Weights

__all__ = ["logistic_loo_loss"]

Array: TypeAlias = NDArray[np.float64]


def logistic_loo_loss(
    K: Array, alpha: float, f: Array, signs: Array, weight: Array, intercept: bool
) -> tuple[float, Weights]:
    """The weighted mean log loss of points that are left out, and the weights of its differential.

    Parameters
    ----------
    K : array of shape (n, n)
        Overwritten.
    alpha : float
        The penalty.
    f : array of shape (n,)
        Fitted values, with the intercept.
    signs, weight : arrays of shape (n,)
        Labels -1 and 1, and weights of the losses.
    intercept : bool
    """
    s, t = expit(signs * f), expit(-signs * f)
    # curvatures below this are those of points that are decided to the last digit
    root = np.sqrt(np.maximum(weight * s * t, 1e-200))
    ratio, tilt = -signs / s, signs * (t - s)  # g / h, and h' / h
    scaled = signs * np.sqrt(weight * t / s) / alpha  # c over the root of h
    inverse = Inverse.of(K, alpha, root, intercept)
    N = inverse.matrix  # of S K S + alpha: the N of the formula is S N S
    stretch = 1.0 / (alpha * np.diagonal(N))
    left = f + ratio * (stretch - 1.0)
    total = float(weight.sum())
    value = float(weight @ np.logaddexp(0.0, -signs * left)) / total

    by_left = -weight * signs * expit(-signs * left) / total
    by_diagonal = -by_left * ratio * alpha * stretch**2  # by N_ii, times h_i
    squares = by_diagonal @ N**2
    by_f = by_left * (1.0 - t / s + stretch) + alpha * tilt * squares
    G = -multiply(N * by_diagonal, N)
    outer = np.outer(alpha * (N @ (by_f / root)), scaled)
    G += 0.5 * (outer + outer.T)
    back = alpha * (N @ scaled) / root - signs / (alpha * s)
    ridge = -float(by_left @ (ratio * stretch)) / alpha - float(squares.sum()) + float(by_f @ back)
    weights = Weights.of(G, root)
    return value, Weights(weights.tile, weights.size, ridge)
