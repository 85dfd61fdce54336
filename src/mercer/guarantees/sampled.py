"""How well a kernel is estimated by averaging over randomly drawn features."""

from __future__ import annotations

import math

from mercer.guarantees._validate import count, finite_size, positive, probability
from mercer.guarantees.bound import Bound

__all__ = ["sampled_kernel_deviation", "sampled_kernel_error_probability", "sampled_kernel_size"]

_ASSUMPTIONS = (
    "K(x, z) is the mean of phi_i(x) phi_i(z) over a distribution of features i",
    "its estimate is the plain mean over independent draws from that distribution, the same for all entries",
    "every feature satisfies |phi_i(x)| <= bound",
)

# One derivation serves the three functions.  A product of two features lies in [-c^2, c^2], so exchanging
# one of the N draws moves the mean by at most 2 c^2 / N.  McDiarmid, both sides: P[|k' - k| >= eps] <= 2
# exp(-2 eps^2 / (N (2 c^2 / N)^2)) = 2 exp(-N eps^2 / (2 c^4)), and a symmetric matrix on n points has n (n
# + 1) / 2 different entries for the union bound.


def sampled_kernel_error_probability(
    n_features: int, *, bound: float, eps: float, n: int | None = None
) -> Bound:
    r"""Bound the probability that a sampled kernel is off by eps.

    .. math:: P[|k'(x, z) - k(x, z)| \ge \epsilon] \le 2 \exp\Big(-\frac{N \epsilon^2}{2 c^4}\Big)

    for one pair; times n(n+1)/2 for the event that any entry of an n by n Gram matrix is off.  Cost: O(1).
    Source: Mohri et al. (2018), exercise 6.13(a), (6.28)-(6.29), which prints the square of the bound for its
    fourth power and an extra weight in the mean.

    Parameters
    ----------
    n_features : int
        N, the number of draws.
    bound : float
        c, positive, with \|phi_i(x)\| <= c for all features and points.
    eps : float
        Deviation, positive.
    n : int, optional
        Number of points of the Gram matrix; None for a single pair.

    Examples
    --------
    >>> from mercer.guarantees import sampled_kernel_error_probability
    >>> sampled_kernel_error_probability(2444, bound=1.0, eps=0.1, n=100).value <= 0.05
    True
    """
    caller = "sampled_kernel_error_probability"
    N = count(caller, "n_features", n_features)
    c, error = positive(caller, "bound", bound), positive(caller, "eps", eps)
    ratio = error / c / c
    value = math.exp(_log_events(caller, n) - N * ratio * ratio / 2)
    return Bound(
        value=value,
        name="probability that a sampled kernel is off by eps",
        formula=("2" if n is None else "n (n + 1)") + " exp(-N eps^2 / (2 c^4))",
        assumptions=_ASSUMPTIONS,
        holds_with_probability=None,
        vacuous=value >= 1.0,
        terms={"probability": value},
        inputs={"n_features": N, "bound": c, "eps": error, "n": n},
        vacuous_because="a probability never exceeds 1; more features are needed" if value >= 1.0 else "",
    )


def sampled_kernel_deviation(n_features: int, *, bound: float, delta: float, n: int | None = None) -> Bound:
    r"""Bound the error of a sampled kernel, on one pair or on a whole Gram matrix.

    .. math:: \max_{ij} |K'_{ij} - K_{ij}| \le c^2 \sqrt{\frac{2}{N} \log\frac{n(n+1)}{\delta}}

    with probability :math:`1 - \delta`; for one pair n(n+1) becomes 2.  Cost: O(1).

    Parameters
    ----------
    n_features, bound, n
        As for :func:`sampled_kernel_error_probability`.
    delta : float
        Probability of failure, in (0, 1).

    Examples
    --------
    >>> from mercer.guarantees import sampled_kernel_deviation
    >>> round(float(sampled_kernel_deviation(2444, bound=1.0, delta=0.05, n=100)), 4)
    0.1
    """
    caller = "sampled_kernel_deviation"
    N = count(caller, "n_features", n_features)
    c, delta = positive(caller, "bound", bound), probability(caller, "delta", delta)
    relative = math.sqrt(2 * (_log_events(caller, n) - math.log(delta)) / N)  # in units of c^2
    reason = "both the kernel and its estimate lie in [-c^2, c^2] and never differ by more than 2 c^2"
    return Bound(
        value=c * c * relative,
        name="largest error of a sampled kernel",
        formula=f"c^2 sqrt(2 / N * log({'2' if n is None else 'n (n + 1)'} / delta))",
        assumptions=_ASSUMPTIONS,
        holds_with_probability=1.0 - delta,
        vacuous=relative >= 2.0,
        terms={"deviation": c * c * relative},
        inputs={"n_features": N, "bound": c, "delta": delta, "n": n},
        vacuous_because=reason if relative >= 2.0 else "",
    )


def sampled_kernel_size(bound: float, eps: float, delta: float, n: int) -> Bound:
    r"""Number of sampled features that make a whole Gram matrix right to eps.

    .. math:: N \ge \frac{2 c^4}{\epsilon^2} \log\frac{n(n+1)}{\delta}

    Cost: O(1).  Source: Shawe-Taylor and Cristianini (2004), computation 9.46, which prints :math:`c^2` for
    :math:`c^4`; Mohri et al. (2018), exercise 6.13(b), which also lacks the factor 2.

    Parameters
    ----------
    bound : float
        c, positive, with \|phi_i(x)\| <= c for all features and points.
    eps : float
        Largest error of an entry, positive.
    delta : float
        Probability of failure, in (0, 1).
    n : int
        Number of points of the Gram matrix.

    Returns
    -------
    Bound
        ``int(bound)`` is the number of features N.

    Examples
    --------
    >>> from mercer.guarantees import sampled_kernel_size
    >>> int(sampled_kernel_size(bound=1.0, eps=0.1, delta=0.05, n=100))
    2444
    """
    caller = "sampled_kernel_size"
    c, error = positive(caller, "bound", bound), positive(caller, "eps", eps)
    delta = probability(caller, "delta", delta)
    ratio = c / error * c
    events = _log_events(caller, count(caller, "n", n)) - math.log(delta)
    N = finite_size(caller, 2 * ratio * ratio * events, eps)
    return Bound(
        value=N,
        name="number of sampled features",
        formula="N >= 2 c^4 / eps^2 * log(n (n + 1) / delta)",
        assumptions=_ASSUMPTIONS,
        holds_with_probability=1.0 - delta,
        vacuous=False,
        terms={"features": N},
        inputs={"bound": c, "eps": error, "delta": delta, "n": int(n)},
    )


def _log_events(caller: str, n: int | None) -> float:
    """Return the logarithm of twice the number of entries that the union bound covers."""
    if n is None:
        return math.log(2.0)
    points = count(caller, "n", n)
    return math.log(points) + math.log(points + 1)
