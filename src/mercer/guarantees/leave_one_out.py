"""Leave-one-out errors of support vector machines, bounded by one training: radius and margin, spans."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import InputError, ParameterError
from mercer.guarantees._validate import as_vector, count, nonnegative
from mercer.guarantees.bound import Bound

__all__ = ["radius_margin_bound", "span_bound"]

_OPTIMAL = "the machine is trained to the optimum, with n points of weight 1"
_FREE = (
    "with finite C and an offset: every machine on the way from n to n - 1 points has a support vector with "
    "0 < alpha < C, which determines the offset; not checked"
)


def radius_margin_bound(
    norm: float, radius: float, *, n: int, C: float = math.inf, slack: float = 0.0, offset: bool = True
) -> Bound:
    r"""Bound the share of leave-one-out errors of a support vector machine by radius and margin.

    .. math:: \mathrm{loo} \le \frac{1}{n} \Big( 4 R^2 \big(\|f\|^2 + C \sum_i \xi_i\big) + \sum_i \xi_i \Big)

    with an offset, R the radius of a ball around all points in feature space; without one :math:`\max_i
    k(x_i, x_i)` is in place of :math:`4 R^2`.  For the hard margin (``C=inf``, no slack) this is :math:`4 R^2
    \|f\|^2 / n`.  Without the factor 4 it is no bound: on the four points of XOR with the kernel :math:`(1 +
    \langle x, y \rangle)^2` all are misclassified when they are left out, and :math:`R^2 \|f\|^2 / n = 3/4`
    (in some texts this is printed).  Cost: O(1).  Source: Vapnik 1998; Jaakkola and Haussler 1999 (without
    offset); Joachims 2000 (slack).

    Parameters
    ----------
    norm : float
        :math:`\|f\|`, nonnegative.
    radius : float
        R with an offset, else the root of the largest k(x, x); nonnegative.
    n : int
        The number of training points.
    C : float, default=inf
        Price of errors, positive.
    slack : float, default=0.0
        :math:`\sum_i \xi_i`, nonnegative; 0 if C is infinite.
    offset : bool, default=True
        Whether the machine has a free offset.

    Notes
    -----
    Let :math:`\alpha_p` fall to zero, with all other variables optimal all the way.  The margin :math:`y_p
    f(x_p)` falls at the rate :math:`S^2`, the squared distance of :math:`\Phi(x_p)` from what the free
    support vectors span.  That is at most :math:`(2R)^2` if there is one of them, and :math:`k(x_p, x_p)`
    without an offset.  The margin starts at :math:`1 - \xi_p` or more, so that an error needs
    :math:`\alpha_p S^2 + \xi_p \ge 1`; and :math:`\sum \alpha_p = \|f\|^2 + C \sum \xi_p`.

    Examples
    --------
    >>> from mercer.guarantees import radius_margin_bound
    >>> bound = radius_margin_bound(norm=2.0, radius=1.0, n=200)
    >>> bound.value, bound.vacuous
    (0.08, False)
    """
    caller = "radius_margin_bound"
    f, R, m = nonnegative(caller, "norm", norm), nonnegative(caller, "radius", radius), count(caller, "n", n)
    xi = nonnegative(caller, "slack", slack)
    if not C > 0:
        raise ParameterError(f"`{caller}`: `C` must be a positive number or inf. Got {C!r}.")
    if math.isinf(C) and xi > 0:
        raise ParameterError(f"`{caller}`: `slack` must be 0 for the hard margin, C=inf. Got {slack!r}.")
    squared = (4.0 if offset else 1.0) * R * R
    price = 0.0 if xi == 0 else float(C) * xi
    terms = {"radius and margin": squared * (f * f + price) / m, "slack": xi / m}
    place = "4 R^2" if offset else "max k(x, x)"
    return _bound(
        math.fsum(terms.values()),
        name="share of leave-one-out errors, radius and margin",
        formula=f"loo <= ({place} (|f|^2 + C sum xi) + sum xi) / n",
        offset=offset and not math.isinf(C),
        terms=terms,
        inputs={"n": m, "norm": f, "radius": R, "C": float(C), "slack": xi},
    )


def span_bound(
    coefficients: ArrayLike,
    spans: ArrayLike,
    distances: ArrayLike,
    *,
    n: int,
    slacks: ArrayLike | None = None,
    offset: bool = True,
) -> Bound:
    r"""Bound the share of leave-one-out errors of a support vector machine by the spans of support vectors.

    .. math:: \mathrm{loo} \le \frac{1}{n} \#\{p : \alpha_p S_p D_p + \xi_p \ge 1\}

    :math:`S_p` is the distance of :math:`\Phi(x_p)` from combinations :math:`\sum_i \lambda_i \Phi(x_i)` of
    free support vectors with :math:`\sum_i \lambda_i = 1` (without an offset: any sum) whose variables stay
    between 0 and C when :math:`\alpha_p` is handed over to them; any upper bound of it will do.
    :math:`D_p` is the largest distance of :math:`\Phi(x_p)` from a point, without an offset its norm.  Cost:
    O(number of support vectors).  Source: Vapnik and Chapelle 2000, with per-point distances and slack.

    Parameters
    ----------
    coefficients : array of shape (n_support,)
        :math:`\alpha_p`, positive.
    spans, distances : arrays of shape (n_support,)
        :math:`S_p` and :math:`D_p`, nonnegative.
    n : int
        The number of training points.
    slacks : array of shape (n_support,), optional
        :math:`\xi_p`; zero by default.
    offset : bool, default=True
        Whether the machine has a free offset.

    Notes
    -----
    Let :math:`\alpha_p` fall from its value to t, with all other variables optimal; the dual objective is a
    concave function of t with derivative :math:`m(t) = 1 - y_p f(x_p)`, which rises from :math:`\xi_p` to
    m(0), and m' is at least :math:`-D_p^2`.  Handing :math:`\alpha_p` over shows that the objective falls by
    at most :math:`\alpha_p \xi_p + \frac12 \alpha_p^2 S_p^2`; with the slope bounded it falls by at least
    :math:`\alpha_p \xi_p + \frac12 (m(0) - \xi_p)^2 / D_p^2`.  So :math:`m(0) \le \xi_p + \alpha_p S_p D_p`,
    and an error has :math:`m(0) \ge 1`.

    Examples
    --------
    >>> from mercer.guarantees import span_bound
    >>> span_bound([0.5, 2.0], [0.3, 0.4], [1.4, 1.4], n=10).value
    0.1
    """
    caller = "span_bound"
    m = count(caller, "n", n)
    alpha = as_vector(caller, "coefficients", coefficients)
    given = {"coefficients": alpha}
    for name, values in (("spans", spans), ("distances", distances), ("slacks", slacks)):
        given[name] = np.zeros(len(alpha)) if values is None else as_vector(caller, name, values)
        if len(given[name]) != len(alpha):
            raise InputError(
                f"`{caller}`: `{name}` must have one number per support vector ({len(alpha)}). "
                f"Got {len(given[name])}."
            )
    for name, values in given.items():
        if (values < 0).any():
            raise InputError(f"`{caller}`: `{name}` must be nonnegative. Got {values.min():g}.")
    if len(alpha) > m:
        raise ParameterError(f"`{caller}`: `n` must be at least the {len(alpha)} support vectors. Got {m}.")
    reach = alpha * given["spans"] * given["distances"] + given["slacks"]
    value = float((reach >= 1).sum()) / m
    return _bound(
        value,
        name="share of leave-one-out errors, spans of support vectors",
        formula="loo <= #{p : alpha_p S_p D_p + xi_p >= 1} / n",
        offset=offset,
        terms={"spans": value},
        inputs={"n": m, "n_support": len(alpha)},
    )


def _bound(
    value: float,
    *,
    name: str,
    formula: str,
    offset: bool,
    terms: dict[str, float],
    inputs: dict[str, object],
) -> Bound:
    vacuous = value >= 0.5
    return Bound(
        value=value,
        name=name,
        formula=formula,
        assumptions=(_OPTIMAL, _FREE) if offset else (_OPTIMAL,),
        holds_with_probability=None,
        vacuous=vacuous,
        terms=terms,
        inputs=inputs,
        vacuous_because="a coin errs as often" if vacuous else "",
    )
