"""Expressions that grow by one base kernel at a time, and their evidence on given data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..algebra import Product, Scaled, Sum
from ..engine.runs import checkpoint
from ..errors import ParameterError
from ..kernel import Kernel
from ..kernels import WhiteNoise
from ..machines import GaussianProcessRegressor
from ..machines.tuning import Hyperparameters
from .bases import Base

__all__ = ["Candidate", "EvidenceSearch", "State", "best", "candidates"]


class Term(NamedTuple):
    """A factor times a product of kernels (a ``Scaled``), and their names."""

    names: tuple[str, ...]
    kernel: Any


class State(NamedTuple):
    """A sum of terms, with noise as the last one of ``kernel``, after its parameters were tuned."""

    terms: tuple[Term, ...]
    kernel: Sum
    evidence: float
    score: float

    @property
    def structure(self) -> str:
        """The expression without parameters and noise."""
        return " + ".join(" * ".join(term.names) for term in self.terms) or "noise"


class Candidate(NamedTuple):
    """Terms that stay, the names of a new one, and kernels to start it from."""

    kept: tuple[Term, ...]
    names: tuple[str, ...]
    starts: tuple[Kernel, ...]


def candidates(states: list[State], bases: list[Base]) -> Iterator[Candidate]:
    """All expressions with one base kernel more; those that several states lead to have several starts."""
    for state, base in product(states, bases):
        yield Candidate(state.terms, (base.name,), base.starts)
        for i, term in enumerate(state.terms):
            # two Gaussian factors are one
            if not (base.name.startswith("Gaussian") and base.name in term.names):
                kept = state.terms[:i] + state.terms[i + 1 :]
                starts = tuple(Product.of(term.kernel.base, k) for k in base.starts)
                yield Candidate(kept, (*term.names, base.name), starts)


def best(states: Iterable[State | None], count: int) -> list[State]:
    """The best of different expressions, whatever the order of their terms and factors."""
    found: dict[Any, State] = {}
    for state in sorted((s for s in states if s is not None), key=lambda s: -s.score):
        found.setdefault(tuple(sorted(tuple(sorted(term.names)) for term in state.terms)), state)
    return list(found.values())[:count]


class EvidenceSearch:
    """Evidence of expressions on given data, as Gaussian processes with noise and an unknown constant."""

    def __init__(self, X: Any, y: np.ndarray) -> None:
        self._X, self._y, self._variance = X, y, float(y.var())

    def noise(self, kernel: Kernel) -> State:
        """No term at all: zero times a kernel, which says what points are, and noise."""
        machine = self.fit(Sum.of(Scaled(kernel, 0.0), self._noise()), "evidence")
        return self._state((), machine.kernel_, float(machine.log_marginal_likelihood_value_))

    def tuned(self, candidate: Candidate) -> State | None:
        """A candidate with good parameters, from the best of its starts; None if all are singular."""
        checkpoint()
        names = [term.names for term in candidate.kept] + [candidate.names]
        machines = []
        for kernel in candidate.starts:
            terms = [term.kernel for term in candidate.kept] + [self._scaled(kernel)]
            try:
                machines.append(self.fit(Sum.of(*terms, self._noise()), None))
            except ParameterError:  # singular to working precision
                continue
        if not machines:
            return None
        first = max(machines, key=lambda m: float(m.log_marginal_likelihood_value_))
        return self._climb(first, names, evaluations=40, gain=1e-2)

    def _climb(
        self, machine: GaussianProcessRegressor, names: list[tuple[str, ...]], evaluations: int, gain: float
    ) -> State:
        """Steps of L-BFGS on the logarithms of the parameters, until one gains less than ``gain`` nats."""
        from scipy.optimize import minimize

        point = Hyperparameters(machine.kernel_, 1.0, penalty=None)

        def minus(theta: np.ndarray) -> tuple[float, np.ndarray]:
            try:
                value, slope = machine.log_marginal_likelihood(theta, eval_gradient=True)
            except ParameterError:  # singular
                return math.inf, np.zeros_like(theta)
            return -value, -slope

        scale = max(1.0, abs(float(machine.log_marginal_likelihood_value_)))
        # Parameters stay within a factor of their start, periods within a small one: a period beyond the data
        # makes any smooth function, and its kernel says nothing about periods.
        reach = np.log([1.3 if name.endswith("period") else 1e3 for name in point.names])
        low = np.maximum(point.theta - reach, point.bounds[:, 0])
        high = np.minimum(point.theta + reach, point.bounds[:, 1])
        found = minimize(
            minus,
            point.theta,
            method="L-BFGS-B",
            jac=True,
            bounds=np.column_stack([low, high]),
            options={"maxfun": evaluations, "ftol": gain / scale},
        )
        return self._state(names, point.at(found.x).kernel, -float(found.fun))

    def finished(self, state: State) -> State:
        """The same expression, tuned to the end."""
        names = [term.names for term in state.terms]
        return self._climb(self.fit(state.kernel, None), names, evaluations=400, gain=1e-5)

    def fit(self, kernel: Kernel, tune: str | None) -> GaussianProcessRegressor:
        """A Gaussian process with a kernel that has its noise."""
        # So much noise, relative to the variance of the targets, keeps covariance matrices regular.
        machine = GaussianProcessRegressor(kernel, alpha=1e-6 * self._variance, tune=tune, fit_intercept=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # along a flat ridge: any value will do
            return machine.fit(self._X, self._y)

    def _state(self, names: Iterable[tuple[str, ...]], kernel: Kernel, evidence: float) -> State:
        assert isinstance(kernel, Sum)
        terms = tuple(Term(name, k) for name, k in zip(names, kernel.terms, strict=False))
        size = 1  # the noise
        if terms:
            parameters = Hyperparameters(kernel, 1.0, penalty=None)
            size = len(parameters.theta) + sum(len(term.names) for term in terms)
        return State(terms, kernel, evidence, evidence - 0.5 * size * math.log(len(self._y)))

    def _noise(self) -> Kernel:
        # Where each search starts.  The level of a simpler expression, which takes for noise what the new
        # term explains, leads to multiples of a period.
        return WhiteNoise(0.1 * self._variance)

    def _scaled(self, kernel: Kernel) -> Scaled:
        """A multiple with the variance of the targets, in the mean over the points."""
        points = kernel.domain.validate(self._X, "X")
        size = float(np.mean(kernel.diagonal(points)))
        return Scaled(kernel, self._variance / size if size > 0 else 1.0)
