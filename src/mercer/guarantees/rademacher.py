"""Empirical Rademacher complexity of a ball in the RKHS: how well it can fit random signs on this sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DefinitenessError, InputError
from mercer.guarantees._validate import (
    GramLike,
    as_gram,
    count,
    generator,
    machine_epsilon,
    nonnegative,
    trace_and_size,
)
from mercer.guarantees.bound import Bound

__all__ = [
    "ComplexityEstimate",
    "rademacher_complexity",
    "rademacher_lower",
    "rademacher_upper",
    "rademacher_upper_from_radius",
]

_BATCH_ENTRIES = 1 << 22  # signs held at once: 32 MiB in float64

_BALL = "the hypotheses are the functions of RKHS norm at most norm_bound, without an offset"
_PSD = "K is the Gram matrix of a positive definite kernel on the sample"


@dataclass(frozen=True)
class ComplexityEstimate:
    """Monte Carlo estimate of an empirical Rademacher complexity.

    ``exact`` says that all sign vectors were enumerated; then ``standard_error`` is 0 and ``n_draws``
    counts them.
    """

    value: float
    standard_error: float
    n_draws: int
    exact: bool

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        how = "all sign vectors, up to a common sign" if self.exact else "random sign vectors"
        return f"{self.value:.6g} +- {self.standard_error:.2g} ({self.n_draws} {how})"


def rademacher_complexity(
    K: GramLike | ArrayLike,
    norm_bound: float,
    *,
    n_draws: int = 2000,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> ComplexityEstimate:
    r"""Estimate the empirical Rademacher complexity of a ball in the RKHS.

    .. math::
        \widehat R_S(H) = \frac1m E_s \sup_{\|h\| \le L} \sum_i s_i h(x_i) = \frac{L}{m} E_s \sqrt{s^\top K s}

    with independent fair signs :math:`s_i` (the supremum is Cauchy-Schwarz with equality).  When
    :math:`2^{m-1}` is at most ``n_draws`` all sign vectors are enumerated instead (:math:`s` and :math:`-s`
    give the same value) and the result is exact.  Negative round-off in :math:`s^\top K s` counts as zero;
    anything below round-off is an error.

    Only ``K.shape`` and ``K @ S`` are used, so lazy Gram operators work.  Cost: ``n_draws`` products with K,
    O(m^2 n_draws), in blocks of columns.  Source: Mohri, Rostamizadeh, Talwalkar (2018), theorem 6.12.

    Parameters
    ----------
    K : array or Gram operator of shape (m, m)
    norm_bound : float
        L, nonnegative.
    n_draws : int, default=2000
        Number of sign vectors, at least 2.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    ComplexityEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.guarantees import rademacher_complexity
    >>> estimate = rademacher_complexity(np.ones((2, 2)), norm_bound=1.0)
    >>> estimate.value, estimate.exact
    (0.5, True)
    """
    caller = "rademacher_complexity"
    gram = as_gram(caller, K)
    norm = nonnegative(caller, "norm_bound", norm_bound)
    n_draws = count(caller, "n_draws", n_draws, minimum=2)
    m = int(gram.shape[0])
    exact = m - 1 < n_draws.bit_length() and 1 << (m - 1) <= n_draws
    dtype = np.dtype(np.float32 if getattr(gram, "dtype", None) == np.float32 else np.float64)
    rng = None if exact else generator(caller, random_state)
    total, step = 1 << (m - 1) if exact else n_draws, max(1, _BATCH_ENTRIES // m)
    energies = np.empty(total)  # s' K s, one per draw
    for start in range(0, total, step):
        stop = min(start + step, total)
        if rng is None:  # row m-1 is always 0: the common sign is fixed
            bits = (np.arange(start, stop) >> np.arange(m)[:, None]) & 1
        else:
            bits = rng.integers(0, 2, size=(m, stop - start), dtype=np.int8)
        signs = (1 - 2 * bits).astype(dtype)
        energies[start:stop] = np.einsum("ij,ij->j", signs, np.asarray(gram @ signs), dtype=np.float64)
    if not np.isfinite(energies).all():
        raise InputError(f"`{caller}`: `K` must be finite. Got a quadratic form that is not.")
    # The mean of s'Ks over the signs is Tr K, the natural scale of a Gram matrix's rounding.
    if energies.min() < -8 * m * machine_epsilon(gram) * float(np.abs(energies).mean()):
        raise DefinitenessError(
            f"`{caller}`: `K` must be positive semidefinite. Got s'Ks = {energies.min():.6g} for signs s."
        )
    lengths = np.sqrt(np.maximum(energies, 0.0))
    spread = 0.0 if exact else float(lengths.std(ddof=1)) / math.sqrt(len(lengths))
    return ComplexityEstimate(norm / m * float(lengths.mean()), norm / m * spread, len(lengths), exact)


def rademacher_upper(K: GramLike | ArrayLike | float, norm_bound: float, *, n: int | None = None) -> Bound:
    r"""Upper bound of the empirical Rademacher complexity by the trace of the Gram matrix.

    .. math:: \widehat R_S(H) \le \frac{L \sqrt{\mathrm{Tr} K}}{m}

    Jensen: :math:`E\sqrt{s^\top K s} \le \sqrt{E s^\top K s} = \sqrt{\mathrm{Tr} K}`.  Equality for diagonal
    K. Cost: the diagonal of K.  Source: Mohri et al. (2018), (6.16).

    Parameters
    ----------
    K : array, Gram operator or float
        The Gram matrix, or its trace (then ``n`` is needed).
    norm_bound : float
        L, nonnegative.
    n : int, optional
        The sample size m.

    Examples
    --------
    >>> from mercer.guarantees import rademacher_upper
    >>> float(rademacher_upper(100.0, norm_bound=2.0, n=100))
    0.2
    """
    caller = "rademacher_upper"
    trace, m = trace_and_size(caller, K, n)
    norm = nonnegative(caller, "norm_bound", norm_bound)
    return _complexity(norm * math.sqrt(trace) / m, "<= L sqrt(Tr K) / m", norm_bound=norm, trace=trace, n=m)


def rademacher_lower(K: GramLike | ArrayLike | float, norm_bound: float, *, n: int | None = None) -> Bound:
    r"""Lower bound of the empirical Rademacher complexity by the trace of the Gram matrix.

    .. math:: \widehat R_S(H) \ge \frac{1}{\sqrt 2} \frac{L \sqrt{\mathrm{Tr} K}}{m}

    Khintchine-Kahane with its best constant; two equal points attain it.  So the trace alone fixes the
    complexity up to a factor of 1.42.  Cost: the diagonal of K.  Source: Mohri et al. (2018), after theorem
    6.12.

    Parameters
    ----------
    K, norm_bound, n
        As for :func:`rademacher_upper`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.guarantees import rademacher_lower
    >>> round(float(rademacher_lower(np.ones((2, 2)), norm_bound=1.0)), 12)
    0.5
    """
    caller = "rademacher_lower"
    trace, m = trace_and_size(caller, K, n)
    norm = nonnegative(caller, "norm_bound", norm_bound)
    value = norm * math.sqrt(trace / 2.0) / m
    return _complexity(value, ">= L sqrt(Tr K / 2) / m", norm_bound=norm, trace=trace, n=m)


def rademacher_upper_from_radius(radius: float, norm_bound: float, *, n: int) -> Bound:
    r"""Upper bound of the Rademacher complexity from the radius of the features, for every sample.

    .. math:: \widehat R_S(H) \le \sqrt{r^2 L^2 / m}, \qquad K(x, x) \le r^2

    From :math:`\mathrm{Tr} K \le m r^2`.  As it holds for all samples it also bounds the expected complexity.
    Cost: O(1).  Source: Mohri et al. (2018), (6.16).

    Parameters
    ----------
    radius : float
        r, nonnegative: at least the feature norm of every point.
    norm_bound : float
        L, nonnegative.
    n : int
        The sample size m.

    Examples
    --------
    >>> from mercer.guarantees import rademacher_upper_from_radius
    >>> float(rademacher_upper_from_radius(1.0, norm_bound=2.0, n=100))
    0.2
    """
    caller = "rademacher_upper_from_radius"
    r = nonnegative(caller, "radius", radius)
    norm = nonnegative(caller, "norm_bound", norm_bound)
    m = count(caller, "n", n)
    return _complexity(r * norm / math.sqrt(m), "<= r L / sqrt(m)", norm_bound=norm, radius=r, n=m)


def _complexity(value: float, relation: str, **inputs: float) -> Bound:
    from_radius = "radius" in inputs
    return Bound(
        value=value,
        name="Rademacher complexity of a ball in the RKHS",
        formula=f"R_S(H) {relation}",
        assumptions=(_BALL, "K(x, x) <= radius^2 at every point of the sample" if from_radius else _PSD),
        holds_with_probability=None,
        vacuous=False,
        terms={"complexity": value},
        inputs=inputs,
    )
