"""Error of a kernel classifier from the angles to its boundary: a PAC-Bayes bound."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from mercer.errors import InputError
from mercer.guarantees._validate import as_vector, positive, probability
from mercer.guarantees.binomial import largest_probability
from mercer.guarantees.bound import Bound

__all__ = ["pac_bayes_bound"]


def pac_bayes_bound(cosines: ArrayLike, *, delta: float = 0.05, scale: float | None = None) -> Bound:
    r"""Bound the error probability of a kernel classifier by PAC-Bayes with a Gaussian prior.

    Draw the classifier :math:`g` from the isonormal process with mean :math:`\mu h / \|h\|`.  It errs at
    :math:`(x, y)` with probability :math:`\Phi(-\mu z)`, :math:`z = y h(x) / (\|h\| \sqrt{k(x, x)})`.  With
    probability :math:`1 - \delta` its mean error R(Q) satisfies, at once for all :math:`\mu` and h,

    .. math:: kl\Big(\frac1m \sum_i \Phi(-\mu z_i) \;\Big\|\; R(Q)\Big)
              \le \frac{\mu^2 / 2 + \log(2 \sqrt m / \delta)}{m} ,

    and :math:`R(h) \le 2 R(Q)`: where h errs, at least half of the g do.  No number has to be fixed in
    advance but delta and the kernel.

    Cost: O(m) for each :math:`\mu`.  Sources: Langford and Shawe-Taylor 2003; Maurer 2004 for
    :math:`2 \sqrt m`.

    Parameters
    ----------
    cosines : array of shape (m,)
        ``z_i``, the cosines of the angles between h and ``y_i phi(x_i)``, in [-1, 1].
    delta : float, default=0.05
        Probability of failure, in (0, 1).
    scale : float, optional
        :math:`\mu`, positive; by default the one that gives the least bound.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.guarantees import pac_bayes_bound
    >>> bound = pac_bayes_bound(np.full(10_000, 0.5))
    >>> bound.vacuous, round(bound.value, 3)
    (False, 0.008)
    >>> pac_bayes_bound(np.full(10, 0.1)).vacuous
    True
    """
    caller = "pac_bayes_bound"
    z = as_vector(caller, "cosines", cosines)
    worst = float(np.abs(z).max())
    if worst > 1 + 1e-6:  # more than rounding
        raise InputError(f"`{caller}`: `cosines` must be in [-1, 1]. Got one of size {worst:.6g}.")
    delta = probability(caller, "delta", delta)
    m = z.size
    extra = math.log(2 * math.sqrt(m) / delta)

    def value(mu: float) -> float:
        return 2 * largest_probability(float(ndtr(-mu * z).mean()), (mu * mu / 2 + extra) / m)

    if scale is not None:
        best = positive(caller, "scale", scale)
    else:  # the best of a grid, refined between its neighbours
        scales = np.geomspace(1e-2, 1e4, 61)
        values = [value(mu) for mu in scales]
        i = int(np.argmin(values))
        limits = scales[max(i - 1, 0)], scales[min(i + 1, len(scales) - 1)]
        refined = float(minimize_scalar(value, bounds=limits, method="bounded").x)
        best = refined if value(refined) < values[i] else float(scales[i])
    result = value(best)
    return Bound(
        value=result,
        name="probability of error R(h), PAC-Bayes bound",
        formula="R(h) <= 2 p, kl(mean of Phi(-mu z), p) = (mu^2 / 2 + log(2 sqrt(m) / delta)) / m",
        assumptions=(
            "the sample is independent and identically distributed, and so is the point to be classified",
            "the kernel and delta were fixed before the sample was seen",
        ),
        holds_with_probability=1.0 - delta,
        vacuous=result >= 1.0,
        terms={"twice the Gibbs error": result},
        inputs={"n": m, "delta": delta, "scale": best, "mean cosine": float(z.mean())},
        vacuous_because="a probability never exceeds 1; the angles are too small" if result >= 1.0 else "",
    )
