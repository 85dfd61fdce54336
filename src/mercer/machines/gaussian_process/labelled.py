"""Labelled points, and how likely their labels are under a process with a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import memory
from ...domains import Data, size
from ...engine.runs import Stopped, current_run
from ...errors import DefinitenessError
from ...gram import Gram, PointGram
from ...gram.kernel_gram import gram_of_points
from ...kernel import Kernel
from ...solvers import LaplaceApproximation, SmoothProblem, SmoothValue, Solution, solve_smooth
from ...solvers.losses import Logistic
from ..tuning import Hyperparameters, Scales, Weights, scales_of, sums_by_name

__all__ = ["Labelled", "LabelledPosterior"]

Array: TypeAlias = NDArray[np.float64]


#: Gap up to which a mode is good: rounding may not allow for less.
GOOD = 1e-14


class LabelledPosterior(NamedTuple):
    """A process given labels, one approximation for each function.

    Attributes
    ----------
    gram : PointGram
        The (lazy) Gram matrix of the points.
    signs : array of shape (n, functions)
    approximations : list of LaplaceApproximation
    solutions : list of Solution
        How their modes were found.
    """

    gram: PointGram
    signs: Array
    approximations: list[LaplaceApproximation]
    solutions: list[Solution[SmoothValue]]

    def factored(self) -> list[LaplaceApproximation]:
        """The approximations with their factors, which files do not hold."""
        if not all(found.is_factored for found in self.approximations):
            K = np.array(self.gram.dense(), dtype=np.float64)
            for found, y in zip(self.approximations, self.signs.T, strict=True):
                rows = np.flatnonzero(y)
                found.factor(K[np.ix_(rows, rows)])
        return self.approximations

    @property
    def log_likelihood(self) -> float:
        """The mean of the functions."""
        return float(np.mean([found.log_likelihood for found in self.approximations]))


@dataclass
class Labelled:
    """Points with signs: -1 and 1, of shape (n, functions); points of sign 0 take no part in a function.

    ``caller`` is the name of the machine, for errors.  The modes found last are where the next search for
    them starts.
    """

    points: Data
    signs: Array
    caller: str
    max_iter: int
    _starts: dict[int, SmoothValue] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_starts": {}}

    def given(self, kernel: Kernel) -> LabelledPosterior:
        """Condition the process of a kernel on the labels."""
        return self._posterior(kernel)[1]

    def scales(self, start: Hyperparameters) -> Scales:
        """What is usual for the parameters of a kernel: variances around 1, the unit of log-odds."""
        return scales_of(start, self.points, squares=(1.0, 1.0), is_process=False, total=len(self.signs))

    def log_likelihood(self, kernel: Kernel) -> float:
        """The approximate log marginal likelihood; the mean of the functions."""
        return self.given(kernel).log_likelihood

    def evidence(
        self, point: Hyperparameters, wanted: NDArray[np.bool_] | None = None
    ) -> tuple[float, Array]:
        """The approximate log marginal likelihood and its gradient in the logarithms of the parameters."""
        _, posterior = self._posterior(point.kernel)
        total = np.zeros((len(self.signs), len(self.signs)))
        for y, found in zip(self.signs.T, posterior.approximations, strict=True):
            R, u, a = found.weights()
            part = np.outer(a + 2 * u, a) - R  # the tiles below take the symmetric part
            if y.all():
                total += part
            else:
                rows = np.flatnonzero(y)
                total[np.ix_(rows, rows)] += part
        total *= 0.5 / len(posterior.approximations)

        def tile(rows: slice, cols: slice) -> Array:
            return np.asarray(0.5 * (total[rows, cols] + total[cols, rows].T))

        weights = Weights(tile, len(total))
        prepared = point.kernel._prepare(self.points)
        sums = sums_by_name(point, self.points, prepared, weights, wanted)
        flat = [np.ravel(part) for part in sums.values()]
        return posterior.log_likelihood, np.concatenate(flat) if flat else np.empty(0)

    def _posterior(self, kernel: Kernel) -> tuple[Array, LabelledPosterior]:
        n = size(self.points)
        memory.require(4 * 8 * n * n, f"{self.caller}: the covariance matrix of {n} points")
        G = gram_of_points(kernel, self.points)
        K = np.array(G.dense(), dtype=np.float64)
        approximations, solutions = [], []
        try:
            for i, signs in enumerate(self.signs.T):
                rows = np.flatnonzero(signs)
                own: Gram = G
                part, y = K, signs
                if len(rows) < n:
                    own, part, y = G.select(rows), K[np.ix_(rows, rows)], signs[rows]
                problem = SmoothProblem(Logistic(), y[:, None], np.ones(len(rows)), False)
                # duality gap of the mode, relative to the objective, that Newton's method stops at.  The
                # evidence is of first order in the error of the mode, which is of the order of the root of
                # the gap.
                found = solve_smooth(
                    problem,
                    own,
                    1.0,
                    held=part,
                    start=self._starts.get(i),
                    tol=1e-20,
                    max_iter=self.max_iter,
                    name=self.caller,
                )
                run = current_run()
                if run is not None and run.is_concluded:  # a half-way mode has no evidence
                    raise Stopped if run.interrupt is None else run.interrupt
                self._starts[i] = found.value
                solutions.append(found)
                approximations.append(LaplaceApproximation(part, y, found.value.predictions[:, 0]))
        except np.linalg.LinAlgError as error:
            raise DefinitenessError(
                f"{self.caller}: {error}; {kernel!r} is not positive definite on these data, and no "
                "covariance. Use a positive definite kernel."
            ) from error
        return K, LabelledPosterior(G, self.signs, approximations, solutions)
