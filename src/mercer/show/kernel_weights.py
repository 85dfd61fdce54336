"""Pictures of the weights of several kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError
from .canvas import COLOURS, GUIDE, canvas, drawing
from .matrices import _is_count
from .patterns import shortened

__all__ = ["kernel_weights"]


def kernel_weights(model: Any, n: int = 20, ax: Any = None) -> Any:
    r"""Draw the weights of the kernels of a machine as bars, the largest on top.

    Kernels without weight are counted under the picture, not drawn.

    Parameters
    ----------
    model : fitted estimator
        With several kernels: :class:`~mercer.machines.MultipleKernelSVC` and its relatives.
    n : int, default=20
        The most kernels to name; the others have one bar together.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> from mercer.machines import MultipleKernelRidge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.1]
    >>> ax = kernel_weights(MultipleKernelRidge([Linear(), Gaussian(0.1)], alpha=0.1).fit(X, y))
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()
    (['Linear()'], 'weight\n1 of 2 kernels have none')
    """
    if not (hasattr(model, "weights_") and hasattr(model, "names_")):
        raise ParameterError(
            "kernel_weights: `model` must be a fitted machine with several kernels, such as "
            f"MultipleKernelSVC(kernels).fit(X, y). Got {model!r}."
        )
    if not _is_count(n):
        raise ParameterError(f"kernel_weights: `n` must be an integer >= 1. Got {n!r}.")
    weights = np.asarray(model.weights_)
    order = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
    names, values = [shortened(model.names_[i], 36) for i in order[:n]], weights[order[:n]].tolist()
    colours = [COLOURS["blue"]] * len(names)
    if len(order) > n:
        names.append(f"{len(order) - n} more")
        values.append(float(weights[order[n:]].sum()))
        colours.append(GUIDE)
    if ax is None:
        _, ax = canvas(5.6, 1.0 + 0.26 * len(names))
    with drawing(ax) as ax:
        rows = np.arange(len(names))
        ax.barh(rows, values, color=colours, height=0.72)
        ax.set_yticks(rows, labels=names, parse_math=False)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.grid(axis="x", color=GUIDE, alpha=0.25, linewidth=0.6)
        zero = len(weights) - len(order)
        ax.set_xlabel("weight" + (f"\n{zero} of {len(weights)} kernels have none" if zero else ""))
    return ax
