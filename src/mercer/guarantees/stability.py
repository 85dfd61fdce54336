"""Error of a machine that changes little when one training point changes: uniform stability."""

from __future__ import annotations

import math

from mercer.guarantees._validate import count, nonnegative, positive, probability
from mercer.guarantees.bound import Bound

__all__ = ["kernel_stability", "stability_bound"]


def kernel_stability(radius: float, *, penalty: float, lipschitz: float, n: int) -> float:
    r"""Uniform stability of the minimiser of a mean loss with a squared norm.

    For :math:`\min_f \frac1m \sum_i \ell(f(x_i), y_i) + \lambda \|f\|^2` with a convex loss of Lipschitz
    constant :math:`\sigma` and :math:`k(x, x) \le r^2`, leaving out one point changes every value of f by at
    most :math:`\sigma r^2 / (2 \lambda m)` and every loss by at most

    .. math:: \beta = \frac{\sigma^2 r^2}{2 \lambda m} .

    There is no free intercept.  Source: Bousquet and Elisseeff 2002, theorem 22.

    Parameters
    ----------
    radius : float
        r, nonnegative: at least the feature norm of every point that can occur.
    penalty : float
        :math:`\lambda`, positive: the factor of the squared norm beside the *mean* loss.
    lipschitz : float
        :math:`\sigma`, nonnegative.
    n : int
        m, the sample size.

    Examples
    --------
    >>> from mercer.guarantees import kernel_stability
    >>> kernel_stability(1.0, penalty=0.1, lipschitz=1.0, n=100)
    0.05
    """
    caller = "kernel_stability"
    r, sigma = nonnegative(caller, "radius", radius), nonnegative(caller, "lipschitz", lipschitz)
    return (sigma * r) ** 2 / (2 * positive(caller, "penalty", penalty) * count(caller, "n", n))


def stability_bound(
    loss: float,
    beta: float,
    *,
    n: int,
    loss_bound: float = 1.0,
    trivial: float | None = None,
    delta: float = 0.05,
) -> Bound:
    r"""Bound the risk of a uniformly stable machine by its training loss.

    .. math:: R(h) \le \widehat R(h) + 2\beta + (4 m \beta + M) \sqrt{\frac{\log(1/\delta)}{2m}}

    with probability :math:`1 - \delta`, where leaving out one training point changes no loss by more than
    :math:`\beta`, and losses are between 0 and M.  Cost: O(1).  Source: Bousquet and Elisseeff 2002, theorem
    12.

    Parameters
    ----------
    loss : float
        Mean loss on the training sample, nonnegative.
    beta : float
        Uniform stability, nonnegative; see :func:`kernel_stability`.
    n : int
        m, the sample size.
    loss_bound : float, default=1.0
        M, positive.
    trivial : float, optional
        The risk that is known without the bound, from which it is vacuous; M by default.
    delta : float, default=0.05
        Probability of failure, in (0, 1).

    Examples
    --------
    >>> from mercer.guarantees import stability_bound
    >>> bound = stability_bound(0.05, 1e-5, n=10_000)
    >>> round(bound.value, 3), bound.vacuous
    (0.067, False)
    """
    caller = "stability_bound"
    m = count(caller, "n", n)
    mean, change = nonnegative(caller, "loss", loss), nonnegative(caller, "beta", beta)
    largest, delta = positive(caller, "loss_bound", loss_bound), probability(caller, "delta", delta)
    known = largest if trivial is None else positive(caller, "trivial", trivial)
    terms = {
        "training loss": mean,
        "stability": 2 * change,
        "confidence": (4 * m * change + largest) * math.sqrt(-math.log(delta) / (2 * m)),
    }
    value = math.fsum(terms.values())
    return Bound(
        value=value,
        name="risk R(h), stability bound",
        formula="R(h) <= R_S(h) + 2 beta + (4 m beta + M) sqrt(log(1 / delta) / 2 m)",
        assumptions=(
            "the sample is independent and identically distributed, and so is the new point",
            "leaving out a training point changes no loss by more than beta; losses lie in [0, M]",
            "beta and M do not depend on the sample",
        ),
        holds_with_probability=1.0 - delta,
        vacuous=value >= known,
        terms=terms,
        inputs={"n": m, "beta": change, "loss_bound": largest, "delta": delta},
        vacuous_because=f"{known:.4g} is known without it" if value >= known else "",
    )
