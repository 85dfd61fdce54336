"""Risk of ridge regression: bounded targets make its loss bounded and Lipschitz."""

from __future__ import annotations

import math
from typing import NamedTuple

from mercer.guarantees._validate import count, nonnegative, positive, probability
from mercer.guarantees.bound import Bound

__all__ = ["RidgeRange", "ridge_bound", "ridge_range"]


class RidgeRange(NamedTuple):
    """What is known of ridge regression before the sample is seen.

    Attributes
    ----------
    norm : float
        Largest norm of the solution.
    lipschitz : float
        Of the squared loss, on the values that it can have.
    loss : float
        Largest squared loss.
    """

    norm: float
    lipschitz: float
    loss: float


def ridge_range(radius: float, *, penalty: float, target_bound: float) -> RidgeRange:
    r"""Norm, Lipschitz constant and largest loss of ridge regression with targets in [-B, B].

    The minimiser of :math:`\frac1m \sum_i (y_i - f(x_i))^2 + \lambda \|f\|^2` is not worse than 0, so that
    :math:`\|f\| \le L = B / \sqrt\lambda` and :math:`|f| \le r L`.

    Examples
    --------
    >>> ridge_range(1.0, penalty=0.25, target_bound=1.0)
    RidgeRange(norm=2.0, lipschitz=6.0, loss=9.0)
    """
    caller = "ridge_range"
    r, B = nonnegative(caller, "radius", radius), nonnegative(caller, "target_bound", target_bound)
    norm = B / math.sqrt(positive(caller, "penalty", penalty))
    largest = B + r * norm
    return RidgeRange(norm, 2 * largest, largest**2)


def ridge_bound(
    loss: float,
    trace: float,
    *,
    n: int,
    radius: float,
    penalty: float,
    target_bound: float,
    delta: float = 0.05,
) -> Bound:
    r"""Bound the squared error of ridge regression by the Rademacher complexity of its ball.

    .. math:: R(f) \le \widehat R(f) + 4 (B + r L) \frac{L \sqrt{\mathrm{Tr} K}}{m}
              + 3 (B + r L)^2 \sqrt{\frac{\log(2/\delta)}{2m}}, \qquad L = \frac{B}{\sqrt\lambda}

    with probability :math:`1 - \delta`, for targets in [-B, B] and no free intercept.  Cost: O(1).  Source:
    Mohri et al. (2018), theorems 3.3 and 6.12, with Talagrand's contraction lemma.

    Parameters
    ----------
    loss : float
        Mean squared error on the training sample, nonnegative.
    trace : float
        Trace of the Gram matrix.
    n : int
        m, the sample size.
    radius : float
        r with k(x, x) <= r^2 for every x that can occur.
    penalty : float
        :math:`\lambda`, positive: the factor of the squared norm beside the *mean* loss.
    target_bound : float
        B, nonnegative.
    delta : float, default=0.05
        Probability of failure, in (0, 1).

    Examples
    --------
    >>> from mercer.guarantees import ridge_bound
    >>> bound = ridge_bound(0.01, 1e6, n=10**6, radius=1.0, penalty=1.0, target_bound=1.0)
    >>> round(bound.value, 3), bound.vacuous
    (0.034, False)
    """
    caller = "ridge_bound"
    m, mean = count(caller, "n", n), nonnegative(caller, "loss", loss)
    delta = probability(caller, "delta", delta)
    known = ridge_range(radius, penalty=penalty, target_bound=target_bound)
    terms = {
        "training loss": mean,
        "complexity": 2 * known.lipschitz * known.norm * math.sqrt(nonnegative(caller, "trace", trace)) / m,
        "confidence": 3 * known.loss * math.sqrt(math.log(2 / delta) / (2 * m)),
    }
    value = math.fsum(terms.values())
    trivial = float(target_bound) ** 2
    return Bound(
        value=value,
        name="squared error R(f), Rademacher bound",
        formula="R(f) <= R_S(f) + 4 (B + r L) L sqrt(Tr K) / m + 3 (B + r L)^2 sqrt(log(2 / delta) / 2 m)",
        assumptions=(
            "the sample is independent and identically distributed, and so is the new point",
            "targets lie in [-B, B], and K(x, x) <= radius^2 for every x that can occur",
            "there is no free intercept; kernel, penalty and delta were fixed before the sample was seen",
        ),
        holds_with_probability=1.0 - delta,
        vacuous=value >= trivial,
        terms=terms,
        inputs={
            "n": m,
            "radius": float(radius),
            "penalty": float(penalty),
            "target_bound": float(target_bound),
        },
        vacuous_because=f"predicting 0 has an error of at most {trivial:.4g}" if value >= trivial else "",
    )
