"""Pictures of Shapley values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..machines import ShapleyValues
from .canvas import COLOURS, GUIDE, INK, canvas, drawing
from .matrices import _is_count

__all__ = ["shapley_bars"]


def shapley_bars(
    values: ShapleyValues, row: Any = None, ax: Any = None, *, n: int = 15, function: int | None = None
) -> Any:
    """Draw how much each coordinate moved one prediction, or all of them in the mean.

    Of one prediction, bars of coordinates that raise it are blue and point to the right, of those that lower
    it vermilion and to the left; they add up to the prediction less its mean over the background.  Of all
    predictions, bars are mean absolute values.  The coordinates that are left out share the last bar.

    Parameters
    ----------
    values : ShapleyValues
        Of :func:`mercer.shapley`.
    row : int, optional
        The prediction to explain; by default all of them.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    n : int, default=15
        The most coordinates to name.
    function : int, optional
        Which function of a machine that has several, such as one for each class.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import shapley
    >>> from mercer.kernels import Linear
    >>> from mercer.machines import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> model = KernelRidge(Linear(), alpha=1e-3).fit(X, X @ [1.0, -3.0, 0.0])
    >>> ax = shapley_bars(shapley(model, X, background=X))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x1', 'x0', 'x2']
    """
    table, base, predictions = _of_one_function(values, function)
    if not _is_count(n):
        raise ParameterError(f"shapley_bars: `n` must be an integer >= 1. Got {n!r}.")
    if row is None:
        heights, text = np.abs(table).mean(axis=0), f"mean absolute Shapley value, {len(table)} points"
    else:
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < len(table):
            raise ParameterError(
                f"shapley_bars: `row` must be an integer from 0 to {len(table) - 1}. Got {row!r}."
            )
        heights = table[row]
        text = f"from the mean {base:.4g} to the prediction {predictions[row]:.4g}"
    order = np.argsort(-np.abs(heights), kind="stable")
    names, bars = [values.names[j] for j in order[:n]], list(heights[order[:n]])
    colours = [COLOURS["blue"] if value >= 0 else COLOURS["vermilion"] for value in bars]
    if len(order) > n:
        names.append(f"{len(order) - n} more")
        bars.append(float(heights[order[n:]].sum()))
        colours.append(GUIDE)
    if ax is None:
        _, ax = canvas(5.6, 0.9 + 0.26 * len(names))
    with drawing(ax) as ax:
        rows = np.arange(len(names))
        ax.barh(rows, bars, color=colours, height=0.72)
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_yticks(rows, labels=names, parse_math=False)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.grid(axis="x", color=GUIDE, alpha=0.25, linewidth=0.6)
        ax.set_xlabel(text, parse_math=False)
    return ax


def _of_one_function(values: Any, function: int | None) -> tuple[np.ndarray, float, np.ndarray]:
    if not isinstance(values, ShapleyValues):
        raise InputError(
            "shapley_bars: `values` must be those of mercer.shapley(machine, X, background=...). "
            f"Got a {type(values).__name__}."
        )
    if values.values.ndim == 2:
        return values.values, float(values.base), values.predictions
    count = values.values.shape[2]
    if function is None or not 0 <= function < count:
        raise ParameterError(
            f"shapley_bars: the machine has {count} functions; `function` must be one of 0 to {count - 1}. "
            f"Got {function!r}."
        )
    return values.values[..., function], float(values.base[function]), values.predictions[:, function]
