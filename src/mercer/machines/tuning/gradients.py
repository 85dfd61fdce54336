r"""Gradients of functions of a Gram matrix in the logarithms of the parameters.

If :math:`df = \langle W, dK \rangle`, the gradient is the sum of :math:`W_{ij} \partial K_{ij} / \partial
\log \theta_l` over all pairs.  Tiles on and below the diagonal are added up: each takes the adjoint of the
kernel, so that memory does not grow with the number of parameters.  Parameters without a closed form are
moved along central finite differences: two more Gram matrices for each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import memory
from ...domains import Data, size, take
from ...engine.threads import single_threaded_blas
from ...engine.tiles import collect
from ...kernel import Kernel
from ...kernel_gradients import Gradient
from .hyperparameters import Hyperparameters
from .objectives import Weights

__all__ = ["Sums", "block_and_sums", "sums_by_name"]

Matrix: TypeAlias = NDArray[np.float64]
#: From the weights of the entries to the gradient in all logarithms.
Sums: TypeAlias = Callable[[Weights], Matrix]


def block_and_sums(
    point: Hyperparameters, data: Data, wanted: NDArray[np.bool_] | None = None
) -> tuple[Matrix, Sums]:
    """The Gram matrix at some hyper-parameters, and how to get from weights to the gradient there.

    Parameters
    ----------
    point : Hyperparameters
    data : validated points
    wanted : array of bool, optional
        Which entries of the gradient are needed; finite differences are not taken for others, which are zero.
    """
    n = size(data)
    memory.require(4 * 8 * n * n, f"the gradients of hyper-parameters on {n} points")
    prepared = point.kernel._prepare(data)
    K = np.asarray(point.kernel._tiles(prepared, None), dtype=np.float64)

    def sums(weights: Weights) -> Matrix:
        parts = sums_by_name(point, data, prepared, weights, wanted)
        flat = [np.ravel(part) for part in parts.values()]
        if point.penalty is not None:
            flat.append(np.array([point.alpha * weights.ridge]))
        return np.concatenate(flat) if flat else np.empty(0)

    return K, sums


def sums_by_name(
    point: Hyperparameters,
    data: Data,
    prepared: Data,
    weights: Weights,
    wanted: NDArray[np.bool_] | None = None,
) -> dict[str, Matrix]:
    """Sums for each parameter of the kernel that takes part, in their order, by name."""

    def tile(rows: slice, cols: slice) -> Gradient:
        same = rows == cols
        _, adjoint = point.kernel._adjoint(take(prepared, rows), None if same else take(prepared, cols))
        return adjoint(weights.tile(rows, cols) * (1.0 if same else 2.0))

    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        pieces = collect(tile, size(prepared), tile_size=256)  # temporary arrays fit into the cache of a core
    found = {name: sum((piece[name] for piece in pieces[1:]), pieces[0][name]) for name in pieces[0]}
    parts: dict[str, Matrix] = {}
    start = 0
    for name, value in point.shapes.items():
        if name in found:
            parts[name] = np.asarray(found[name])
        else:
            entries = range(start, start + value.size)
            parts[name] = _differences(point, data, weights, entries, name, wanted).reshape(value.shape)
        start += value.size
    return parts


def _differences(
    point: Hyperparameters,
    data: Data,
    weights: Weights,
    entries: range,
    name: str,
    wanted: NDArray[np.bool_] | None,
) -> Matrix:
    """Sums for the entries of one parameter by central differences.

    At the end of its range a parameter moves to one side only.
    """
    theta, (low, high) = point.theta, point.range_of(name)
    # balances the error of the difference, of order step^2, with rounding divided by the step
    step = float(np.finfo(np.float64).eps ** (1 / 3))
    slopes = np.zeros(len(entries))
    for place, i in enumerate(entries):
        if wanted is not None and not wanted[i]:
            continue
        up, down = theta.copy(), theta.copy()
        up[i], down[i] = min(theta[i] + step, high), max(theta[i] - step, low)
        change = _block(point.at(up).kernel, data)
        change -= _block(point.at(down).kernel, data)
        slopes[place] = weights.dot(change) / (up[i] - down[i])
    return slopes


def _block(kernel: Kernel, data: Data) -> Matrix:
    return np.array(kernel._tiles(kernel._prepare(data), None), dtype=np.float64)
