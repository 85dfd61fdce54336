"""Generalisation error of a kernel classifier from its margins on the training sample."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import ParameterError
from mercer.guarantees._validate import (
    GramLike,
    as_vector,
    nonnegative,
    positive,
    probability,
    trace_and_size,
)
from mercer.guarantees.bound import Bound

__all__ = ["margin_bound", "margin_loss"]


def margin_loss(margins: ArrayLike, rho: float) -> float:
    r"""Empirical margin loss: 1 below zero, 0 above rho, linear in between.

    .. math:: \widehat R_{S,\rho}(h) = \frac1m \sum_i \min(1, \max(0, 1 - y_i h(x_i) / \rho))

    It is at least the training error and at most the fraction of margins below ``rho``.  Cost: O(m).

    Parameters
    ----------
    margins : array of shape (m,)
        ``y_i h(x_i)``, not divided by the norm of h.
    rho : float
        Margin, positive.

    Examples
    --------
    >>> from mercer.guarantees import margin_loss
    >>> margin_loss([-1.0, 0.25, 0.5, 2.0], rho=0.5)
    0.375
    """
    values = as_vector("margin_loss", "margins", margins)
    rho = positive("margin_loss", "rho", rho)
    with np.errstate(over="ignore"):  # a margin far beyond a tiny rho is an honest infinity before the clip
        return float(np.clip(1.0 - values / rho, 0.0, 1.0).mean())


def margin_bound(
    margins: ArrayLike,
    rho: float,
    *,
    norm_bound: float,
    K: GramLike | ArrayLike | float | None = None,
    radius: float | None = None,
    delta: float = 0.05,
    rho_max: float | None = None,
) -> Bound:
    r"""Bound the error probability of a kernel classifier by its margins.

    With :math:`R(h) = P[y h(x) \le 0]`, a ball :math:`\|h\| \le L`, and probability :math:`1 - \delta`,

    .. math::
        R(h) &\le \widehat R_{S,\rho}(h) + \frac{2 L r}{\rho \sqrt m} + \sqrt{\frac{\log(1/\delta)}{2m}}
        \quad (\text{radius}) \\
        R(h) &\le \widehat R_{S,\rho}(h) + \frac{2 L \sqrt{\mathrm{Tr} K}}{\rho m}
        + 3 \sqrt{\frac{\log(2/\delta)}{2m}} \quad (\text{K})

    at once for all h in the ball, with rho fixed in advance.  With ``rho_max`` the bound holds at once for
    all rho in (0, rho_max] as well, so that rho may be chosen by looking at the margins.  The complexity term
    doubles, the last logarithm becomes :math:`\log(2/\delta)`, and
    :math:`c\sqrt{\log\log_2(2\rho_{max}/\rho)/m}` is added with c = 1 (radius) or c = 3 (K).

    Cost: O(m).  Source: Mohri et al. (2018), corollary 6.13; their (6.18) prints the complexity term as
    :math:`2\sqrt{\mathrm{Tr}[K] L^2 / (\rho^2 m)}`, a factor :math:`\sqrt m` above what (6.16) gives.

    Parameters
    ----------
    margins : array of shape (m,)
        ``y_i h(x_i)`` on the training sample.
    rho : float
        Margin, positive.
    norm_bound : float
        L, nonnegative, at least the RKHS norm of h.
    K : array, Gram operator or float, optional
        Gram matrix of the sample, or its trace.  Exactly one of ``K`` and ``radius``.
    radius : float, optional
        r with K(x, x) <= r^2 for every x that can occur, not just on the sample.
    delta : float, default=0.05
        Probability of failure, in (0, 1).
    rho_max : float, optional
        Largest margin of the uniform form.

    Notes
    -----
    The ramp is 1/rho-Lipschitz, so by contraction its class has complexity at most :math:`R_S(H)/\rho`;
    twice that is what symmetrisation asks for, and (6.16) bounds it.  The empirical form applies McDiarmid
    to :math:`\sup_h (R - \widehat R_{S,\rho}) - 2 R_S(\text{ramp} \circ H)`, which one point moves by at
    most 3/m (so 1 for 2 in its logarithm would do).

    Uniform form: take :math:`\rho_k = \rho_{max} 2^{-k}` and deviations
    :math:`\epsilon + \sqrt{\log k / m}` (three times that for K).  The failures sum to at most
    :math:`\sum_k k^{-2} e^{-2m\epsilon^2} \le 2 e^{-2m\epsilon^2}`; and some k has
    :math:`\rho_k < \rho \le 2 \rho_k`, hence :math:`k \le \log_2(2\rho_{max}/\rho)`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.guarantees import margin_bound
    >>> bound = margin_bound(np.ones(10_000), rho=1.0, norm_bound=2.0, K=10_000.0)
    >>> round(bound.terms["complexity"], 12), bound.vacuous
    (0.04, False)
    >>> margin_bound(np.ones(10), rho=1.0, norm_bound=2.0, K=10.0).vacuous
    True
    """
    caller = "margin_bound"
    values = as_vector(caller, "margins", margins)
    rho = positive(caller, "rho", rho)
    norm = nonnegative(caller, "norm_bound", norm_bound)
    delta = probability(caller, "delta", delta)
    rho_max = checked_rho_max(caller, rho, rho_max)
    m = values.size
    inputs: dict[str, object] = {"n": m, "rho": rho, "norm_bound": norm, "delta": delta}
    if K is not None and radius is None:
        trace, _ = trace_and_size(caller, K, m, n_name="margins")
        complexity = norm * math.sqrt(trace) / m
        inputs["trace"] = trace
        symbol, scope = "L sqrt(Tr K) / m", "K is the Gram matrix of the sample and positive semidefinite"
    elif radius is not None and K is None:
        complexity = nonnegative(caller, "radius", radius) * norm / math.sqrt(m)
        inputs["radius"] = float(radius)
        symbol, scope = "L r / sqrt(m)", "K(x, x) <= radius^2 for every x that can occur"
    else:
        both = "both" if K is not None else "neither"
        raise ParameterError(f"`{caller}`: exactly one of `K` and `radius` must be given. Got {both}.")
    if rho_max is not None:
        inputs["rho_max"] = rho_max
    terms, tail = margin_terms(margin_loss(values, rho), complexity, rho, m, delta, rho_max, radius is None)
    return error_bound(
        delta,
        name="probability of error R(h), margin bound",
        formula=f"R(h) <= R_rho(h) + {tail}, with C = {symbol}",
        assumptions=(
            "the sample is independent and identically distributed, and so is the point to be classified",
            "h lies in the RKHS, has norm at most norm_bound, and has no offset outside the RKHS",
            scope,
            fixed_in_advance("norm_bound", rho_max),
        ),
        terms=terms,
        inputs=inputs,
    )


def checked_rho_max(caller: str, rho: float, rho_max: float | None) -> float | None:
    """Return ``rho_max`` as a float of at least ``rho``, or None."""
    if rho_max is None:
        return None
    top = positive(caller, "rho_max", rho_max)
    if rho > top:
        raise ParameterError(f"`{caller}`: `rho` must be in (0, rho_max] = (0, {top}]. Got {rho}.")
    return top


def margin_terms(
    loss: float,
    complexity: float,
    rho: float,
    m: int,
    delta: float,
    rho_max: float | None,
    empirical: bool,
) -> tuple[dict[str, float], str]:
    """Return the addends of a margin bound and their formula.

    ``empirical`` says that the complexity is that of the sample, and not one that holds for every sample.
    """
    c = 3 if empirical else 1
    factor = "3 " if empirical else ""
    if rho_max is None:
        odds = (2.0 if empirical else 1.0) / delta
        confidence = c * math.sqrt(math.log(odds) / (2 * m))
        terms = {"margin loss": loss, "complexity": 2 * complexity / rho, "confidence": confidence}
        return terms, f"2 C / rho + {factor}sqrt(log({odds * delta:.0f} / delta) / 2 m)"
    # log2(2 rho_max / rho) by a difference of logarithms: the ratio itself can overflow.
    doublings = max(1.0, 1.0 + math.log2(rho_max) - math.log2(rho))
    terms = {
        "margin loss": loss,
        "complexity": 4 * complexity / rho,
        "all rho at once": c * math.sqrt(math.log(doublings) / m),
        "confidence": c * math.sqrt(math.log(2.0 / delta) / (2 * m)),
    }
    every = f"{factor}sqrt(log log2(2 rho_max / rho) / m)"
    return terms, f"4 C / rho + {every} + {factor}sqrt(log(2 / delta) / 2 m)"


def fixed_in_advance(names: str, rho_max: float | None) -> str:
    """Return the assumption about what was chosen before the data were seen."""
    if rho_max is None:
        return f"{names}, rho and delta were fixed before the sample was seen"
    return f"{names}, rho_max and delta were fixed before the sample was seen; rho may depend on it"


def error_bound(
    delta: float,
    *,
    name: str,
    formula: str,
    assumptions: tuple[str, ...],
    terms: dict[str, float],
    inputs: dict[str, object],
) -> Bound:
    """Return a bound on an error probability, vacuous from 1 on."""
    value = math.fsum(terms.values())
    largest = max(terms, key=lambda term: terms[term])
    reason = f"a probability never exceeds 1; the largest addend is {largest} = {terms[largest]:.4g}"
    return Bound(
        value=value,
        name=name,
        formula=formula,
        assumptions=assumptions,
        holds_with_probability=1.0 - delta,
        vacuous=value >= 1.0,
        terms=terms,
        inputs=inputs,
        vacuous_because=reason if value >= 1.0 else "",
    )
