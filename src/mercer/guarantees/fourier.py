"""How well random Fourier features approximate a shift-invariant kernel, uniformly over a compact set."""

from __future__ import annotations

import math

from mercer.errors import ParameterError
from mercer.guarantees._validate import count, finite_size, positive, probability
from mercer.guarantees.bound import Bound

__all__ = ["fourier_features_deviation", "fourier_features_error_probability", "fourier_features_needed"]

_ASSUMPTIONS = (
    "the kernel is continuously differentiable and shift-invariant on R^dim, with K(x, x) = 1",
    "the D frequencies are independent draws from its spectral density",
    "cosine and sine of each frequency are features, 2 D coordinates in all",
    "sigma_p^2 is the mean of |w|^2 under that density and is finite",
    "all points lie in a ball of the given radius",
)

_INFINITE = "The bound does not apply to kernels of infinite sigma_p, such as the Laplacian."


def fourier_features_error_probability(
    n_frequencies: int, *, dim: int, radius: float, sigma_p: float, eps: float, tight: bool = False
) -> Bound:
    r"""Bound the probability that random Fourier features err by eps anywhere.

    .. math::
        P\Big[\sup_{x, x'} |\Psi(x) \cdot \Psi(x') - K(x, x')| \ge \epsilon\Big]
        \le \Big(\frac{48 R \sigma_p}{\epsilon}\Big)^2 \exp\Big(-\frac{D \epsilon^2}{4(N+2)}\Big)

    for :math:`\epsilon \le 24 R \sigma_p`, with D frequencies in dimension N over a ball of radius R.
    Cost: O(1).  Source: Mohri et al. (2018), lemma 6.26 to theorem 6.28, where the Lipschitz term is printed
    unsquared, r with the exponent 2/(N+2) for 1/(N+2), the condition with 32 for 24, and the map in D for 2 D
    coordinates.

    Parameters
    ----------
    n_frequencies : int
        D, the number of frequencies (the feature map has 2 D coordinates).
    dim : int
        N, the dimension of the points.
    radius : float
        R, positive.
    sigma_p : float
        Root of the mean squared norm of a frequency.  Gaussian kernel: ``sqrt(dim) / sigma``.  The Laplacian
        kernel's is infinite, so the theorem says nothing about it.
    eps : float
        Uniform error, in (0, 24 R sigma_p].
    tight : bool, default=False
        Use the sharper factor :math:`2^{1+2/(N+2)} (24 R \sigma_p/\epsilon)^{2N/(N+2)}` from inside the
        proof.

    Notes
    -----
    The differences lie in a ball of radius 2R, which has an r-net of at most
    :math:`(1 + 4R/r)^N \le (6R/r)^N` points for r <= 2R, and of one point above.  If the error is below
    :math:`\epsilon/2` on the net and its gradient below :math:`\epsilon/2r`, it is below :math:`\epsilon`
    everywhere; Hoeffding on the net and Markov on the squared gradient (mean at most :math:`4\sigma_p^2`)
    give

    .. math:: P \le 2 (6R/r)^N e^{-D\epsilon^2/8} + (4 r \sigma_p/\epsilon)^2 = a r^{-N} + b r^2.

    Equal terms at :math:`r = (a/b)^{1/(N+2)}` add to :math:`2 a^{2/(N+2)} b^{N/(N+2)}`, the ``tight`` form.
    It is at most the stated one when :math:`24 R\sigma_p \ge \epsilon`; an r above 6R would make it exceed
    2.

    Examples
    --------
    >>> from mercer.guarantees import fourier_features_error_probability
    >>> bound = fourier_features_error_probability(92_426, dim=10, radius=1.0, sigma_p=10**0.5, eps=0.1)
    >>> bound.value <= 0.01, bound.vacuous
    (True, False)
    """
    caller = "fourier_features_error_probability"
    D = count(caller, "n_frequencies", n_frequencies)
    factor, N, inputs = _log_factor(caller, dim, radius, sigma_p, eps, tight)
    log_value = factor - D * (float(eps) * float(eps) / (4 * (N + 2)))
    value = math.exp(log_value) if log_value < 700.0 else math.inf
    return Bound(
        value=value,
        name="probability that random Fourier features err by eps somewhere",
        formula=f"P[sup error >= eps] <= {_formula(tight)} exp(-D eps^2 / (4 (N + 2)))",
        assumptions=_ASSUMPTIONS,
        holds_with_probability=None,
        vacuous=value >= 1.0,
        terms={"probability": value},
        inputs={"n_frequencies": D} | inputs,
        vacuous_because="a probability never exceeds 1; more frequencies are needed" if value >= 1.0 else "",
    )


def fourier_features_needed(
    dim: int, radius: float, sigma_p: float, eps: float, delta: float, *, tight: bool = False
) -> Bound:
    r"""Number of random Fourier frequencies that make the kernel right to eps everywhere.

    .. math:: D \ge \frac{4(N+2)}{\epsilon^2} \log\frac{(48 R\sigma_p/\epsilon)^2}{\delta}

    :func:`fourier_features_error_probability` solved for D.  It is sufficient, seldom necessary.  Cost: O(1).

    Parameters
    ----------
    dim, radius, sigma_p, eps, tight
        As for :func:`fourier_features_error_probability`.
    delta : float
        Probability of failure, in (0, 1).

    Returns
    -------
    Bound
        ``int(bound)`` is D, the number of frequencies; the feature map has 2 D coordinates.

    Examples
    --------
    >>> from mercer.guarantees import fourier_features_needed
    >>> int(fourier_features_needed(dim=10, radius=1.0, sigma_p=10**0.5, eps=0.1, delta=0.01))
    92426
    """
    caller = "fourier_features_needed"
    delta = probability(caller, "delta", delta)
    factor, N, inputs = _log_factor(caller, dim, radius, sigma_p, eps, tight)
    D = finite_size(caller, 4 * (N + 2) * (factor - math.log(delta)) / eps / eps, eps)
    return Bound(
        value=D,
        name="number of random Fourier frequencies",
        formula=f"D >= 4 (N + 2) / eps^2 * log({_formula(tight)} / delta)",
        assumptions=_ASSUMPTIONS,
        holds_with_probability=1.0 - delta,
        vacuous=False,
        terms={"frequencies": D},
        inputs=inputs | {"delta": delta},
    )


def fourier_features_deviation(
    n_frequencies: int,
    *,
    dim: int,
    radius: float,
    sigma_p: float,
    delta: float,
    theorem: str = "rahimi-recht",
) -> Bound:
    r"""Bound the error of random Fourier features, uniformly over a ball.

    ``"rahimi-recht"`` is :func:`fourier_features_error_probability` solved for eps, with Lambert's W:

    .. math:: \epsilon^2 = \frac{4(N+2)}{D} \, W\Big(\frac{D\,(48 R \sigma_p)^2}{4 (N+2)\, \delta}\Big)

    ``"sriperumbudur-szabo"`` has the best possible rate in D, without the logarithm, and large constants:

    .. math::
        \epsilon = \frac{h + \sqrt{2 \log(1/\delta)}}{\sqrt{D}}, \qquad
        h = 32 \sqrt{2N \log(4R + 1)} + 32 \sqrt{2N \log(\sigma_p + 1)} + 16 \sqrt{2N / \log(4R + 1)}

    Either holds with probability :math:`1 - \delta`.  Cost: O(1).  Sources: Mohri et al. (2018), theorem 6.28
    with the corrections named in :func:`fourier_features_error_probability`; Sriperumbudur and Szabo, Optimal
    rates for random Fourier features (2015), theorem 1, for a set of diameter 2R.

    Parameters
    ----------
    n_frequencies, dim, radius, sigma_p
        As for :func:`fourier_features_error_probability`.
    delta : float
        Probability of failure, in (0, 1).
    theorem : {"rahimi-recht", "sriperumbudur-szabo"}

    Examples
    --------
    >>> from mercer.guarantees import fourier_features_deviation
    >>> bound = fourier_features_deviation(92_426, dim=10, radius=1.0, sigma_p=10**0.5, delta=0.01)
    >>> round(float(bound), 6)
    0.1
    """
    caller = "fourier_features_deviation"
    D, N = count(caller, "n_frequencies", n_frequencies), count(caller, "dim", dim)
    R, sigma = positive(caller, "radius", radius), positive(caller, "sigma_p", sigma_p, _INFINITE)
    delta = probability(caller, "delta", delta)
    if theorem == "rahimi-recht":
        log_argument = math.log(D / (4 * (N + 2)) / delta) + 2 * (math.log(48 * R) + math.log(sigma))
        value = math.sqrt(4 * (N + 2) / D * _lambert_of_exp(log_argument))
        if value > 24 * R * sigma:
            value = math.inf  # beyond what the theorem covers
        formula = "eps^2 = 4 (N + 2) / D * W(D (48 R sigma_p)^2 / (4 (N + 2) delta))"
    elif theorem == "sriperumbudur-szabo":
        spread = math.log(4 * R + 1)
        h = 32 * math.sqrt(2 * N * spread) + 32 * math.sqrt(2 * N * math.log(sigma + 1))
        h += 16 * math.sqrt(2 * N / spread)
        value = (h + math.sqrt(-2 * math.log(delta))) / math.sqrt(D)
        formula = "eps = (h(N, 2 R, sigma_p) + sqrt(2 log(1 / delta))) / sqrt(D)"
    else:
        raise ParameterError(
            f"`{caller}`: `theorem` must be 'rahimi-recht' or 'sriperumbudur-szabo'. Got {theorem!r}."
        )
    return Bound(
        value=value,
        name="largest error of random Fourier features",
        formula=formula,
        assumptions=_ASSUMPTIONS,
        holds_with_probability=1.0 - delta,
        vacuous=value >= 2.0,
        terms={"deviation": value},
        inputs={"n_frequencies": D, "dim": N, "radius": R, "sigma_p": sigma, "delta": delta},
        vacuous_because="the kernel and its estimate lie in [-1, 1]; more frequencies are needed"
        if value >= 2.0
        else "",
    )


def _lambert_of_exp(log_x: float) -> float:
    """Lambert's W of exp(log_x): the w with w + log w = log_x, by Newton's method."""
    w = log_x - math.log(log_x) if log_x > 1 else math.exp(log_x) / (1 + math.exp(log_x))
    for _ in range(50):
        step = (w + math.log(w) - log_x) / (1 + 1 / w)
        w = max(w - step, w / 10)
        if abs(step) <= 1e-15 * w:
            break
    return w


def _log_factor(
    caller: str, dim: int, radius: float, sigma_p: float, eps: float, tight: bool
) -> tuple[float, int, dict[str, object]]:
    N = count(caller, "dim", dim)
    R = positive(caller, "radius", radius)
    sigma = positive(caller, "sigma_p", sigma_p, _INFINITE)
    error = positive(caller, "eps", eps)
    log_ratio = math.log(24.0) + math.log(R) + math.log(sigma) - math.log(error)  # of 24 R sigma_p / eps
    if log_ratio < -1e-12:
        raise ParameterError(
            f"`{caller}`: `eps` must be at most 24 * radius * sigma_p = {24.0 * R * sigma:.6g}. Got {eps!r}."
            " The bound holds up to there."
        )
    inputs: dict[str, object] = {"dim": N, "radius": R, "sigma_p": sigma, "eps": error}
    if tight:
        return (1 + 2 / (N + 2)) * math.log(2.0) + 2 * N / (N + 2) * log_ratio, N, inputs
    return 2 * (math.log(2.0) + log_ratio), N, inputs


def _formula(tight: bool) -> str:
    return "2^(1 + 2/(N+2)) (24 R sigma_p / eps)^(2N/(N+2))" if tight else "(48 R sigma_p / eps)^2"
