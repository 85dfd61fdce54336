"""Kernels as expressions that are found by greedy search."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..algebra import Product, Scaled, Sum
from ..certificate import Certificate
from ..engine.runs import checkpoint
from ..errors import InputError, ParameterError
from ..kernel import Kernel
from ..kernels import WhiteNoise
from ..machines import GaussianProcessRegressor
from .bases import Base, bases_of

__all__ = ["Discovery", "DiscoveryStep", "discover"]

#: Expressions of a step that are extended in the next.  With one, a Gaussian kernel of small width, which
#: fits everything a little, hides sums and products of other kernels; three found all planted ones.
BEAM = 3

#: Variance of the noise at least, relative to that of the targets: covariance matrices stay regular.
LEAST_NOISE = 1e-6

#: Variance of the noise where each search starts, relative to that of the targets.  The level of a simpler
#: expression, which takes for noise what the new term explains, leads to multiples of a period.
FIRST_NOISE = 0.1


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


class _Term(NamedTuple):
    """A factor times a product of kernels, and their names."""

    names: tuple[str, ...]
    kernel: Scaled


class _State(NamedTuple):
    """A sum of terms and noise, after its parameters were tuned."""

    terms: tuple[_Term, ...]
    machine: GaussianProcessRegressor
    score: float

    @property
    def structure(self) -> str:
        return " + ".join(" * ".join(term.names) for term in self.terms) or "noise"


def discover(X: Any, y: Any, *, kernels: Any = None, max_steps: int = 4) -> Discovery:
    r"""Search for a kernel among sums of products of base kernels, by evidence.

    .. math:: k = \sum_t c_t \prod_{b \in A_t} k_b + \text{noise}

    The search starts with a constant and noise.  In each step it tries to add each base kernel to the sum and
    to multiply each term by it, and tunes all parameters of each candidate by the evidence of a Gaussian
    process.  The score of a candidate is its evidence less :math:`\tfrac12 \log n` for each parameter
    (Schwarz 1978) and each base kernel.  The three best are extended in the next step, and the search ends
    when no candidate raises the score.  It is greedy: another order of steps might find another expression.

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
    >>> found = discover(x[:, None], y, kernels=[Linear(), Periodic(2.4)])
    >>> found.structure, found.certificate.is_psd
    ('Linear + Periodic', True)
    """
    if isinstance(max_steps, bool) or not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise ParameterError(f"discover: `max_steps` must be an integer >= 1. Got {max_steps!r}.")
    targets = _targets(y)
    bases = bases_of(X, kernels)
    search = _Search(X, targets)
    states = [search.noise(bases[0].starts[0])]
    history = [_step(states[0], 1)]
    while len(history) <= max_steps:
        found = [search.tuned(candidate) for candidate in _candidates(states, bases)]
        ranked = _best(found)
        if not ranked or ranked[0].score <= states[0].score:
            break
        states = ranked
        history.append(_step(states[0], len(found)))
    return Discovery(states[0].machine, tuple(history))


def _step(state: _State, candidates: int) -> DiscoveryStep:
    evidence = float(state.machine.log_marginal_likelihood_value_)
    return DiscoveryStep(state.structure, state.machine.kernel_, evidence, state.score, candidates)


def _targets(y: Any) -> np.ndarray:
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


class _Candidate(NamedTuple):
    """Terms that stay, the names of a new one, and kernels to start it from."""

    kept: tuple[_Term, ...]
    names: tuple[str, ...]
    starts: tuple[Kernel, ...]


def _candidates(states: list[_State], bases: list[Base]) -> Iterator[_Candidate]:
    """All expressions with one base kernel more; those that several states lead to have several starts."""
    for state, base in product(states, bases):
        yield _Candidate(state.terms, (base.name,), base.starts)
        for i, term in enumerate(state.terms):
            if not (base.absorbs_itself and base.name in term.names):
                kept = state.terms[:i] + state.terms[i + 1 :]
                starts = tuple(Product.of(term.kernel.base, k) for k in base.starts)
                yield _Candidate(kept, (*term.names, base.name), starts)


def _best(states: Iterable[_State | None]) -> list[_State]:
    """The best of different expressions, whatever the order of their terms and factors."""
    found: dict[Any, _State] = {}
    for state in sorted((s for s in states if s is not None), key=lambda s: -s.score):
        found.setdefault(tuple(sorted(tuple(sorted(term.names)) for term in state.terms)), state)
    return list(found.values())[:BEAM]


class _Search:
    """Evidence of expressions on given data."""

    def __init__(self, X: Any, y: np.ndarray) -> None:
        self._X, self._y, self._variance = X, y, float(y.var())

    def noise(self, kernel: Kernel) -> _State:
        """No term at all; nothing times a kernel says what points are."""
        return self._state((), self._fit((_Term((), Scaled(kernel, 0.0)),), "evidence"))

    def tuned(self, candidate: _Candidate) -> _State | None:
        """Tune a candidate from the best of its starts; None if its covariance matrix is singular."""
        checkpoint()
        starts = []
        for kernel in candidate.starts:
            terms = (*candidate.kept, _Term(candidate.names, self._scaled(kernel)))
            machine = self._fit(terms, None)
            if machine is not None:
                starts.append((float(machine.log_marginal_likelihood_value_), terms))
        if not starts:
            return None
        terms = max(starts, key=lambda pair: pair[0])[1]
        machine = self._fit(terms, "evidence")
        if machine is None:
            return None
        return self._state(terms, machine)

    def _state(self, terms: tuple[_Term, ...], machine: Any) -> _State:
        tuned = machine.kernel_.terms  # and the noise
        found = tuple(_Term(term.names, kernel) for term, kernel in zip(terms, tuned, strict=False))
        size = len(machine.theta_) + sum(len(term.names) for term in terms) if terms else 1
        score = float(machine.log_marginal_likelihood_value_) - 0.5 * size * math.log(len(self._y))
        return _State(found, machine, score)

    def _scaled(self, kernel: Kernel) -> Scaled:
        """A multiple with the variance of the targets, in the mean over the points."""
        points = kernel.domain.validate(self._X, "X")
        size = float(np.mean(kernel.diagonal(points)))
        return Scaled(kernel, self._variance / size if size > 0 else 1.0)

    def _fit(self, terms: tuple[_Term, ...], tune: str | None) -> Any:
        kernel = Sum.of(*(term.kernel for term in terms), WhiteNoise(FIRST_NOISE * self._variance))
        machine = GaussianProcessRegressor(
            kernel, alpha=LEAST_NOISE * self._variance, tune=tune, fit_intercept=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # a flat end is an end; the history has values
            try:
                return machine.fit(self._X, self._y)
            except ParameterError:  # singular to working precision
                return None
