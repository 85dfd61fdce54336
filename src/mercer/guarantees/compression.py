"""Error of a machine that a few of its training points determine: sample compression, leave-one-out."""

from __future__ import annotations

import math

from mercer.errors import ParameterError
from mercer.guarantees._validate import count, probability
from mercer.guarantees.binomial import largest_probability, log_binomial
from mercer.guarantees.bound import Bound

__all__ = ["compression_bound", "support_vector_bound"]

_SAME = "training on the support vectors alone gives the same function, as for an SVM with fixed C"
_IID = "the sample is independent and identically distributed, and so is the point to be classified"


def compression_bound(n: int, size: int, errors: int, *, delta: float = 0.05) -> Bound:
    r"""Bound the error probability of a machine that d of its m training points determine.

    With probability :math:`1 - \delta`, for all d and all sets of d points at once,

    .. math:: kl\Big(\frac{e}{m - d} \;\Big\|\; R(h)\Big)
              \le \frac{\log\binom{m}{d} + \log m + \log(1/\delta)}{m - d} ,

    where e of the other m - d points are misclassified: a Chernoff bound for each set, and a union bound over
    sets and sizes.  Cost: O(1).  Sources: Littlestone and Warmuth 1986; Floyd and Warmuth 1995.

    Parameters
    ----------
    n : int
        m, the sample size.
    size : int
        d, the number of points that determine the machine: support vectors.
    errors : int
        e, misclassified points among the others; 0 for support vector machines.
    delta : float, default=0.05
        Probability of failure, in (0, 1).

    Examples
    --------
    >>> from mercer.guarantees import compression_bound
    >>> bound = compression_bound(10_000, 100, 0)
    >>> round(bound.value, 3), bound.vacuous
    (0.056, False)
    """
    caller = "compression_bound"
    m, d = count(caller, "n", n), count(caller, "size", size, minimum=0)
    e = count(caller, "errors", errors, minimum=0)
    delta = probability(caller, "delta", delta)
    if d > m:
        raise ParameterError(f"`{caller}`: `size` must be at most n = {m}. Got {d}.")
    if e > m - d:
        raise ParameterError(f"`{caller}`: `errors` must be at most n - size = {m - d}. Got {e}.")
    value = 1.0
    if d < m:
        entropy = (log_binomial(m, d) + math.log(m) - math.log(delta)) / (m - d)
        value = largest_probability(e / (m - d), entropy)
    vacuous = value >= 0.5
    return Bound(
        value=value,
        name="probability of error R(h), compression bound",
        formula="kl(e / (m - d), R(h)) <= (log C(m, d) + log m + log(1 / delta)) / (m - d)",
        assumptions=(_IID, _SAME, "the kernel, C and delta were fixed before the sample was seen"),
        holds_with_probability=1.0 - delta,
        vacuous=vacuous,
        terms={"compression": value},
        inputs={"n": m, "size": d, "errors": e, "delta": delta},
        vacuous_because=f"a coin errs as often; {d} of {m} points determine the machine" if vacuous else "",
    )


def support_vector_bound(n: int, n_support: int) -> Bound:
    r"""Leave-one-out bound of a support vector machine by the number of its support vectors.

    .. math:: E[R(h_{m-1})] \le E\Big[\frac{n_{SV}}{m}\Big]

    A point that is no support vector has margin 1 or more, and without it the machine is the same: it is not
    misclassified when it is left out.  The leave-one-out error is therefore at most the share of support
    vectors, and it is an unbiased estimate of the error of a machine of m - 1 points.  The value is that
    share on this sample; the statement is about its mean over samples.  Cost: O(1).  Source: Mohri et
    al. (2018), theorem 5.4; Vapnik 1998.

    Parameters
    ----------
    n : int
        m, the sample size.
    n_support : int
        Number of support vectors.

    Examples
    --------
    >>> from mercer.guarantees import support_vector_bound
    >>> float(support_vector_bound(200, 30))
    0.15
    """
    caller = "support_vector_bound"
    m, d = count(caller, "n", n), count(caller, "n_support", n_support, minimum=0)
    if d > m:
        raise ParameterError(f"`{caller}`: `n_support` must be at most n = {m}. Got {d}.")
    value = d / m
    return Bound(
        value=value,
        name="expected error of m - 1 points, share of support vectors",
        formula="E R(h of m - 1 points) <= E n_support / m",
        assumptions=(_IID, _SAME, "the bound is on the mean over samples; the value is that of this sample"),
        holds_with_probability=None,
        vacuous=value >= 0.5,
        terms={"share of support vectors": value},
        inputs={"n": m, "n_support": d},
        vacuous_because="a coin errs as often" if value >= 0.5 else "",
    )
