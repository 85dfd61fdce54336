"""Observations of a process, and how likely they are under a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...domains import Data, size
from ...errors import DefinitenessError, ParameterError
from ...kernel import Kernel
from ...solvers import Conditioned
from ..tuning import Hyperparameters, Scales, mean_squares, scales_of
from .methods import Method, choose
from .noise import Separated, separate

__all__ = ["Observations", "Posterior"]

Array: TypeAlias = NDArray[np.float64]


class Posterior(NamedTuple):
    """A process given its observations.

    Attributes
    ----------
    method : Method
        With the kernel of the function, the points and the noise.
    fit : Conditioned
        Coefficients, intercepts and the log likelihood.
    noise : float
        The part of the variances of the noise that the kernel states.
    """

    method: Method
    fit: Conditioned
    noise: float


@dataclass(frozen=True)
class Observations:
    """Points, targets of shape (n, t) and variances of the noise of shape (n,).

    ``caller`` is the name of the machine, for errors; ``choose`` picks the method.
    """

    points: Data
    Y: Array
    alpha: Array
    intercept: bool
    caller: str
    choose: Callable[[Kernel, Data, Array], Method] = choose

    def scales(self, start: Hyperparameters) -> Scales:
        """What is usual for the parameters of a kernel on these data."""
        squares = mean_squares(self.Y, self.intercept)
        freedom = (len(self.Y) - self.intercept) * self.Y.shape[1]
        return scales_of(
            start,
            self.points,
            squares=squares,
            intercept=self.intercept,
            origin=-0.5 * freedom * float(np.log(squares[0])),
            total=freedom,
        )

    def given(self, kernel: Kernel) -> Posterior:
        """Condition the process of a kernel on the observations."""
        with self.explaining(kernel):
            method, parts = self._method(kernel)
            return Posterior(method, method.condition(self.Y, self.intercept), parts.variance)

    def log_likelihood(self, kernel: Kernel) -> float:
        """The log marginal likelihood."""
        with self.explaining(kernel):
            return self._method(kernel)[0].log_likelihood(self.Y, self.intercept)

    def _method(self, kernel: Kernel) -> tuple[Method, Separated]:
        """The method for a kernel, and the noise apart; of one that is nothing but noise, none of it is."""
        parts = separate(kernel)
        if parts.kernel is None:
            parts = Separated(kernel, {name: name for name in kernel.parameters}, ())
        else:
            kernel = parts.kernel
        return self.choose(kernel, self.points, self.alpha + parts.variance), parts

    @contextmanager
    def explaining(self, kernel: Kernel) -> Iterator[None]:
        """Explain matrices that are singular to working precision."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            if kernel.certificate.positive.refuted:
                raise DefinitenessError(
                    f"{self.caller}: {kernel!r} is not positive definite, and no covariance ({error}). Use a "
                    "positive definite kernel; `certificate.explain()` of this one says why it is none."
                ) from error
            raise ParameterError(
                f"{self.caller}: the covariance matrix of the {size(self.points)} observations is singular "
                f"to working precision ({error}), with the kernel {kernel!r}. Equal or close points need "
                "noise: raise `alpha`, or add WhiteNoise(level) to the kernel."
            ) from error

    def evidence(
        self, point: Hyperparameters, wanted: NDArray[np.bool_] | None = None
    ) -> tuple[float, Array]:
        """The log marginal likelihood and its gradient in the logarithms of the parameters.

        ``wanted`` says which entries of the gradient are needed; all of them are computed.
        """
        with self.explaining(point.kernel):
            method, parts = self._method(point.kernel)
            value, inner, noise_slope = method.evidence(self.Y, self.intercept)
        slopes = {parts.names[name]: slope for name, slope in inner.items()}
        for variance, names in parts.noise:
            for name in names:
                slopes[name] = slopes.get(name, np.zeros(())) + variance * noise_slope
        flat = [np.ravel(slopes[name]) for name in point.shapes]
        return value, np.concatenate(flat) if flat else np.empty(0)
