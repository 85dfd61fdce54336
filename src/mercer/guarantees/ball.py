"""False alarms of an enclosing sphere in feature space (one-class detection)."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from mercer.guarantees._validate import (
    GramLike,
    as_vector,
    nonnegative,
    positive,
    probability,
    trace_and_size,
)
from mercer.guarantees.bound import Bound
from mercer.guarantees.margin import checked_rho_max, error_bound, fixed_in_advance, margin_loss, margin_terms

__all__ = ["enclosing_ball_bound", "enclosing_ball_complexity"]

_CLASS = "the hypotheses are r^2 - |Phi(x) - c|^2 with 0 < r <= radius and |c| <= norm_bound"
_PSD = "K is the Gram matrix of a positive definite kernel on the sample"


def enclosing_ball_complexity(
    K: GramLike | ArrayLike | float, *, radius: float, norm_bound: float, n: int | None = None
) -> Bound:
    r"""Upper bound of the empirical Rademacher complexity of spheres in feature space.

    .. math:: \widehat R_S(H) \le \frac{R^2 + L^2}{\sqrt m} + \frac{2 L \sqrt{\mathrm{Tr} K}}{m}

    for :math:`H = \{x \mapsto r^2 - \|\Phi(x) - c\|^2 : 0 < r \le R, \|c\| \le L\}`.
    Cost: the diagonal of K.  Source: Mohri et al. (2018), exercise 6.22(c), which prints the last term as
    :math:`L \sqrt{\mathrm{Tr} K}`.

    Parameters
    ----------
    K : array, Gram operator or float
        The Gram matrix, or its trace (then ``n`` is needed).
    radius : float
        R, positive, the largest radius allowed.
    norm_bound : float
        L, nonnegative, the largest norm of the centre.
    n : int, optional
        The sample size m.

    Notes
    -----
    :math:`h(x) = (r^2 - \|c\|^2) + 2\langle c, \Phi(x)\rangle - K(x, x)`.  Against random signs s the last
    part is the same for all h and has mean zero; the first gives at most :math:`(R^2 + L^2)|\sum s_i|`,
    whose mean is at most :math:`(R^2 + L^2)\sqrt m`; the second gives :math:`2 L \sqrt{s^\top K s}`, at most
    :math:`2 L \sqrt{\mathrm{Tr} K}` in the mean.  Divide by m.  (Half of the first term would suffice: the
    constant ranges over an interval of length :math:`R^2 + L^2`, and :math:`\sum s_i` is symmetric.)

    Examples
    --------
    >>> from mercer.guarantees import enclosing_ball_complexity
    >>> float(enclosing_ball_complexity(100.0, radius=1.0, norm_bound=1.0, n=100))
    0.4
    """
    terms, inputs = _complexity("enclosing_ball_complexity", K, radius, norm_bound, n)
    return Bound(
        value=math.fsum(terms.values()),
        name="Rademacher complexity of spheres in feature space",
        formula="R_S(H) <= (R^2 + L^2) / sqrt(m) + 2 L sqrt(Tr K) / m",
        assumptions=(_CLASS, _PSD),
        holds_with_probability=None,
        vacuous=False,
        terms=terms,
        inputs=inputs,
    )


def enclosing_ball_bound(
    scores: ArrayLike,
    rho: float,
    *,
    K: GramLike | ArrayLike | float,
    radius: float,
    norm_bound: float,
    delta: float = 0.05,
    rho_max: float | None = 1.0,
) -> Bound:
    r"""Bound the probability that a sphere rejects a normal point.

    With :math:`h(x) = r^2 - \|\Phi(x) - c\|^2`, :math:`R(h) = P[h(x) < 0]` and probability
    :math:`1 - \delta`,

    .. math::
        R(h) \le \widehat R_{S,\rho}(h)
        + \frac4\rho \Big(\frac{R^2 + L^2}{\sqrt m} + \frac{2 L \sqrt{\mathrm{Tr} K}}{m}\Big)
        + 3\sqrt{\frac{\log\log_2(2\rho_{max}/\rho)}{m}} + 3\sqrt{\frac{\log(2/\delta)}{2m}}

    at once for all spheres of the class and all rho in (0, rho_max].  With ``rho_max=None`` rho is fixed in
    advance, 4 becomes 2 and the log log term goes.  Nothing is said about outliers that the sphere accepts.

    Cost: O(m).  Source: Mohri et al. (2018), exercise 6.22(c); its complexity is printed with
    :math:`L\sqrt{\mathrm{Tr} K}`, and its log log term without the 3 that the union over rho costs when the
    complexity is that of the sample (derivation: notes of :func:`margin_bound`).

    Parameters
    ----------
    scores : array of shape (m,)
        h(x_i) on the training sample; negative outside the sphere.
    rho : float
        Margin in units of squared distance, positive.
    K : array, Gram operator or float
        The Gram matrix of the sample, or its trace.
    radius : float
        R, positive.  If all feature norms are at most M, the smallest enclosing sphere has radius at most M.
    norm_bound : float
        L, nonnegative; M will do in the same case.
    delta : float, default=0.05
        Probability of failure, in (0, 1).
    rho_max : float or None, default=1.0
        Largest margin of the uniform form.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.guarantees import enclosing_ball_bound
    >>> m = 10**6
    >>> bound = enclosing_ball_bound(np.full(m, 0.5), rho=0.5, K=float(m), radius=1.0, norm_bound=1.0)
    >>> round(bound.terms["complexity"], 12), round(bound.value, 4)
    (0.032, 0.0386)
    """
    caller = "enclosing_ball_bound"
    values = as_vector(caller, "scores", scores)
    rho = positive(caller, "rho", rho)
    delta = probability(caller, "delta", delta)
    rho_max = checked_rho_max(caller, rho, rho_max)
    m = values.size
    parts, inputs = _complexity(caller, K, radius, norm_bound, m, n_name="scores")
    inputs |= {"rho": rho, "delta": delta} | ({} if rho_max is None else {"rho_max": rho_max})
    complexity = math.fsum(parts.values())
    terms, tail = margin_terms(margin_loss(values, rho), complexity, rho, m, delta, rho_max, True)
    return error_bound(
        delta,
        name="probability of a false alarm R(h), enclosing sphere",
        formula=f"R(h) <= R_rho(h) + {tail}, with C = (R^2 + L^2) / sqrt(m) + 2 L sqrt(Tr K) / m",
        assumptions=(
            "the sample and the point to be judged are independent normal points of one distribution",
            _CLASS,
            _PSD,
            fixed_in_advance("radius, norm_bound", rho_max),
        ),
        terms=terms,
        inputs=inputs,
    )


def _complexity(
    caller: str,
    K: GramLike | ArrayLike | float,
    radius: float,
    norm_bound: float,
    n: int | None,
    n_name: str = "n",
) -> tuple[dict[str, float], dict[str, object]]:
    trace, m = trace_and_size(caller, K, n, n_name)
    r = positive(caller, "radius", radius)
    norm = nonnegative(caller, "norm_bound", norm_bound)
    terms = {"constant": (r * r + norm * norm) / math.sqrt(m), "centre": 2 * norm * math.sqrt(trace) / m}
    return terms, {"n": m, "trace": trace, "radius": r, "norm_bound": norm}
