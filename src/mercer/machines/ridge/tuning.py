"""The search for hyper-parameters: L-BFGS on their logarithms, from several starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ... import memory
from ...domains import Data, size, take
from ...errors import GradientError, MercerError
from ...kernel import Kernel
from ...solvers import Solution

__all__ = ["Hyperparameters", "Slopes", "block_and_slopes", "has_gradient", "maximise"]

Matrix: TypeAlias = NDArray[np.float64]
#: From ``G`` (see ``objectives``) and ``s`` to the gradient in theta.
Slopes: TypeAlias = Callable[[Matrix, Matrix], Matrix]

#: Hyper-parameters move by at most this factor from where they start, in either direction.
REACH = 1e5

#: A gradient of at most this size, relative to the objective, is that of a stationary point.
STATIONARY = 1e-3

#: Step of finite differences in a logarithm, where a kernel has no derivative: the cube root of the rounding
#: error balances the error of the difference, of order step^2, with rounding divided by the step.
STEP = float(np.finfo(np.float64).eps ** (1 / 3))

#: Further starts are drawn within this factor of the first.
SPREAD = 1e2


class Hyperparameters(NamedTuple):
    """A kernel and a penalty as one vector of logarithms.

    Every parameter of the kernel with a logarithmic scale takes part (a vector with each of its entries),
    the penalty comes last.
    """

    kernel: Kernel
    alpha: float

    def _shapes(self) -> dict[str, np.ndarray]:
        values = {name: p.value for name, p in self.kernel.parameters.items() if p.scale == "log"}
        arrays = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        return {name: array for name, array in arrays.items() if (array > 0).all()}

    @property
    def names(self) -> tuple[str, ...]:
        """One name per entry, as ``set_params`` knows it."""
        names: list[str] = []
        for name, value in self._shapes().items():
            names += (
                [f"kernel__{name}[{i}]" for i in range(value.size)] if value.ndim else [f"kernel__{name}"]
            )
        return (*names, "alpha")

    @property
    def theta(self) -> Matrix:
        """The logarithms."""
        parts = [np.log(value).ravel() for value in self._shapes().values()]
        return np.concatenate([*parts, [np.log(self.alpha)]])

    def at(self, theta: Matrix) -> Hyperparameters:
        """The same with other values."""
        changes: dict[str, Any] = {}
        start = 0
        for name, value in self._shapes().items():
            entries = np.exp(theta[start : start + value.size]).reshape(value.shape)
            changes[name] = entries if value.ndim else float(entries)
            start += value.size
        kernel = self.kernel.replace(**changes) if changes else self.kernel
        return Hyperparameters(kernel, float(np.exp(theta[-1])))

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Where the search may go: the range of each parameter, and not too far from here."""
        low, high = self.theta - np.log(REACH), self.theta + np.log(REACH)
        start = 0
        for name, value in self._shapes().items():
            part = slice(start, start + value.size)
            least, most = self.range_of(name)
            low[part], high[part] = np.maximum(low[part], least), np.minimum(high[part], most)
            start += value.size
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def range_of(self, name: str) -> tuple[float, float]:
        """Logarithms of the bounds of a parameter of the kernel."""
        parameter = self.kernel.parameters[name]
        return (
            float(np.log(parameter.low)) if parameter.low > 0 else -np.inf,
            float(np.log(parameter.high)) if np.isfinite(parameter.high) else np.inf,
        )


def block_and_slopes(point: Hyperparameters, data: Data) -> tuple[Matrix, Slopes]:
    """The Gram matrix at some hyper-parameters, and how to get from ``G`` to the gradient there."""
    kernel, n = point.kernel, size(data)
    memory.require(
        8 * n * n * (len(point.theta) + 4), f"the gradients of {len(point.theta)} hyper-parameters"
    )
    try:
        K, gradients = kernel._gradient(kernel._prepare(data), None)
    except GradientError:
        K, gradients = _block(kernel, data), _differences(point, data)

    def slopes(G: Matrix, root: Matrix) -> Matrix:
        scaled = root[:, None] * G * root
        parts = [np.tensordot(scaled, gradients[name], axes=2).ravel() for name in point._shapes()]
        return np.concatenate([*parts, [point.alpha * float(np.trace(G))]])

    return np.asarray(K, dtype=np.float64), slopes


def has_gradient(kernel: Kernel, data: Data) -> bool:
    """Whether derivatives are in closed form; otherwise they are finite differences."""
    try:
        kernel._gradient(kernel._prepare(take(data, slice(0, 1))), None)
    except GradientError:
        return False
    return True


def _block(kernel: Kernel, data: Data) -> Matrix:
    return np.asarray(kernel._tiles(kernel._prepare(data), None), dtype=np.float64)


def _differences(point: Hyperparameters, data: Data) -> dict[str, Matrix]:
    """Derivatives of the Gram matrix in the logarithms, by central differences: two matrices for each.

    At the end of its range a parameter moves to one side only.
    """
    gradients: dict[str, Matrix] = {}
    theta, start = point.theta, 0
    for name, value in point._shapes().items():
        low, high = point.range_of(name)
        slopes = []
        for i in range(start, start + value.size):
            up, down = theta.copy(), theta.copy()
            up[i], down[i] = min(theta[i] + STEP, high), max(theta[i] - STEP, low)
            change = _block(point.at(up).kernel, data) - _block(point.at(down).kernel, data)
            slopes.append(change / (up[i] - down[i]))
        gradients[name] = np.stack(slopes, axis=-1) if value.ndim else slopes[0]
        start += value.size
    return gradients


def maximise(
    objective: Callable[[Hyperparameters], tuple[float, Matrix]],
    start: Hyperparameters,
    n_restarts: int,
    seed: Any,
) -> Solution[Hyperparameters]:
    """Maximise an objective over hyper-parameters; the best of all starts is returned."""
    from scipy.optimize import minimize

    bounds = np.array(start.bounds)
    rng = check_random_state(seed)
    starts = [start.theta]
    for _ in range(n_restarts):
        shift = rng.uniform(-np.log(SPREAD), np.log(SPREAD), len(start.theta))
        starts.append(np.clip(start.theta + shift, bounds[:, 0], bounds[:, 1]))
    evaluations = 0

    def negative(theta: Matrix) -> tuple[float, Matrix]:
        nonlocal evaluations
        evaluations += 1
        try:
            value, slope = objective(start.at(theta))
        except (np.linalg.LinAlgError, MercerError):
            if evaluations == 1:  # the start itself must be sound
                raise
            return np.inf, np.zeros_like(theta)
        return -value, -slope

    runs = [minimize(negative, theta, method="L-BFGS-B", jac=True, bounds=bounds) for theta in starts]
    best = min(runs, key=lambda run: run.fun)
    found = start.at(best.x)
    at_bound = [
        name
        for name, x, (low, high) in zip(start.names, best.x, bounds, strict=True)
        if min(x - low, high - x) < 1e-6
    ]
    # whether the end is stationary is judged anew, within the bounds
    value, slope = objective(found)
    gap = float(np.abs(np.clip(best.x + slope, bounds[:, 0], bounds[:, 1]) - best.x).max())
    converged = bool(best.success) and gap <= STATIONARY * max(1.0, abs(value))
    status = f"converged after {evaluations} evaluations from {len(starts)} start(s)"
    if not converged:
        status = (
            f"the search ended with a gradient of {gap:.2g} ({best.message}); "
            "try n_restarts, or other starting values"
        )
    if at_bound:
        status += f"; at the end of the range of {', '.join(at_bound)}"
    stats = {
        "objective": value,
        "evaluations": evaluations,
        "starts": len(starts),
        "at_bound": at_bound,
    }
    return Solution(found, converged=converged, status=status, gap=gap, stats=stats)
