"""Kernels as expressions that are found by greedy search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..certificate import Certificate
from ..domains import check_numbers
from ..errors import InputError
from ..kernel import Kernel
from ..machines import GaussianProcessRegressor
from ..parameters import check_count
from .bases import bases_of
from .expressions import EvidenceSearch, best, candidates

__all__ = ["Discovery", "DiscoveryStep", "discover"]


class DiscoveryStep(NamedTuple):
    """The best expression of one step.

    Attributes
    ----------
    structure : str
        The expression without its parameters.
    kernel : Kernel
        The expression, with the noise.
    evidence : float
        Its log marginal likelihood, at the best parameters found.
    score : float
        The evidence less half the logarithm of n for each parameter and each base kernel.
    candidates : int
        How many expressions were tried in this step.
    """

    structure: str
    kernel: Kernel
    evidence: float
    score: float
    candidates: int


@dataclass(frozen=True, eq=False, repr=False)
class Discovery:
    """A kernel that was found by :func:`discover`.

    Attributes
    ----------
    machine : GaussianProcessRegressor
        Fitted with the kernel.
    history : tuple of DiscoveryStep
        One for each step that raised the score; evidence and score never fall.
    """

    machine: GaussianProcessRegressor
    history: tuple[DiscoveryStep, ...]

    @property
    def kernel(self) -> Kernel:
        """The expression with its parameters, and the noise as its last term."""
        return self.machine.kernel_

    @property
    def structure(self) -> str:
        """The expression without its parameters and the noise."""
        return self.history[-1].structure

    @property
    def evidence(self) -> float:
        """The log marginal likelihood."""
        return self.history[-1].evidence

    @property
    def certificate(self) -> Certificate:
        """Why the kernel is positive definite."""
        return self.kernel.certificate

    def __repr__(self) -> str:
        return f"<kernel found: {self.structure}; evidence {self.evidence:.4g}>"

    def __str__(self) -> str:
        rows = [f"{s.evidence:9.2f}  {s.score:9.2f}  {s.structure}" for s in self.history]
        return "\n".join([" evidence      score  expression", *rows])


def discover(X: Any, y: Any, *, kernels: Any = None, max_steps: Any = 4) -> Discovery:
    r"""Search for a kernel among sums of products of base kernels, by evidence.

    .. math:: k = \sum_t c_t \prod_{b \in A_t} k_b + \text{noise}

    The search starts with a constant and noise.  In each step it tries to add each base kernel to the sum and
    to multiply each term by it, and tunes all parameters of each candidate by the evidence of a Gaussian
    process.  The score of a candidate is its evidence less :math:`\tfrac12 \log n` for each parameter
    (Schwarz 1978) and each base kernel.  The best is extended in the next step (of the first step the three
    best), and the search ends when no candidate raises the score.  It is greedy: another order of steps might
    find another expression.

    The kernel is positive definite, as a sum of products of positive definite kernels: its certificate has
    the proof, term by term.

    Cost: some tens of factorizations, O(n^3), for each candidate; a few hundred points take seconds to
    minutes.  For more, search on a sample of them.

    Parameters
    ----------
    X : array of shape (n, d), table, or any points for ``kernels``
        One feature: linear, Gaussian and periodic kernels are tried.  A table: these for each column of
        numbers, and a categorical one for the others.  An array with several columns: linear and Gaussian
        kernels of all of them.
    y : array of shape (n,)
        Numbers.
    kernels : list of Kernel, optional
        Base kernels instead of these, on any domain, with parameters to start from.
    max_steps : int, default=4
        The most base kernels in the expression, >= 1.

    Returns
    -------
    Discovery
        ``kernel``, ``structure``, ``certificate``, ``history`` and the fitted ``machine``.

    References
    ----------
    Duvenaud, Lloyd, Grosse, Tenenbaum and Ghahramani 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear, Periodic
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, 40)
    >>> y = 0.5 * x + np.sin(2 * np.pi * x / 2.5) + 0.1 * rng.standard_normal(40)
    >>> found = discover(x[:, None], y, kernels=[Linear(), Periodic(2.4)], max_steps=2)
    >>> found.structure, found.certificate.is_psd
    ('Linear + Periodic', True)
    """
    max_steps = check_count("discover", "max_steps", max_steps)
    targets = _targets(y)
    bases = bases_of(X, kernels)
    search = EvidenceSearch(X, targets)
    states = [search.noise(bases[0].starts[0])]
    history = [DiscoveryStep(states[0].structure, *states[0][1:], 1)]
    while len(history) <= max_steps:
        found = [search.tuned(candidate) for candidate in candidates(states, bases)]
        # Of the first step three are extended, of later ones the best: a Gaussian kernel of small width fits
        # everything a little, and hides sums and products of other kernels if it is extended alone.
        ranked = best(found, 3 if len(history) == 1 else 1)
        if not ranked or ranked[0].score <= states[0].score:
            break
        first = search.finished(ranked[0])
        states = [first, *ranked[1:]]
        history.append(DiscoveryStep(first.structure, *first[1:], len(found)))
    return Discovery(search.fit(states[0].kernel, None), tuple(history))


def _targets(y: Any) -> np.ndarray:
    check_numbers(y, "discover: `y`", dense=True)
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"discover: `y` must be numbers. Got {type(y).__name__}.") from error
    if targets.ndim != 1 or len(targets) < 3:
        raise InputError(f"discover: `y` must be of shape (n,), n >= 3. Got {targets.shape}.")
    if not np.isfinite(targets).all():
        raise InputError("discover: `y` must be finite. Got NaN or infinity.")
    if (targets == targets[0]).all():
        raise InputError("discover: `y` must have two different values at least.")
    return targets
