"""Pictures of prediction intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .canvas import COLOURS, GUIDE, INK, drawing
from .predictions import _column, _grid, _single_feature

__all__ = ["intervals"]


def intervals(
    model: Any,
    X: Any,
    y: Any,
    ax: Any = None,
    *,
    alpha: float = 0.1,
    data: str = "data",
    feature: str | None = None,
    name: str | None = None,
) -> Any:
    """Draw prediction intervals, and whether they hold the truth.

    With one feature: the band of the intervals over the range of the data, and the data.  Otherwise: an
    interval for each point, in the order of their middles, and the true value in it or outside of it.  The
    share of hits is in the legend.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``predict_interval(X, alpha)``, such as :class:`~mercer.machines.Conformal`.
    X, y :
        Points and their true values; the guarantee is for points that the model has not seen.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    alpha : float, default=0.1
        The share of misses that is allowed.
    data : str, default="data"
        What the points are, for the legend.
    feature, name : str, optional
        Names of the feature and of the target, for the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import Conformal, KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(40 * X[:, 0])
    >>> model = Conformal(KernelRidge(Gaussian(1.0), alpha=0.1)).fit(X, y)
    >>> ax = intervals(model, X, y, data="training data", feature="time")
    >>> ax.get_xlabel()
    'time'
    """
    truth = _column("intervals", y, None, "y")
    if not hasattr(model, "predict_interval"):
        raise InputError(
            "intervals: `model` must have predict_interval(X, alpha), as Conformal of a regressor. "
            f"Got {type(model).__name__}."
        )
    low, high = np.asarray(model.predict_interval(X, alpha)).T
    if len(low) != len(truth):
        raise InputError(f"intervals: {len(low)} points in `X` for {len(truth)} values of `y`.")
    hit = (low <= truth) & (truth <= high)
    share = f"{hit.mean():.0%} of {len(truth)} inside"
    values = _single_feature(X)
    with drawing(ax) as ax:
        if values is not None:
            grid = _grid("intervals", values, truth)
            lower, upper = np.asarray(model.predict_interval(grid[:, None], alpha)).T
            bottom, top = _finite(lower, upper, truth)
            ax.fill_between(
                grid,
                bottom,
                top,
                color=COLOURS["blue"],
                alpha=0.2,
                linewidth=0,
                label=f"{1 - alpha:.0%} intervals",
            )
            curve = np.asarray(model.predict(grid[:, None]))
            ax.plot(
                values,
                truth,
                "o",
                color=GUIDE,
                markersize=3.5,
                alpha=0.7,
                markeredgewidth=0,
                label=f"{data}: {share}",
            )
            ax.plot(grid, curve, "-", color=COLOURS["vermilion"], linewidth=2, label="prediction")
            ax.set_xlabel(feature or "x")
        else:
            _sorted(ax, *_finite(low, high, truth), truth, hit, f"{data}: {share}", alpha)
            ax.set_xlabel("points, in the order of the middles of their intervals")
        ax.set_ylabel(name or "y")
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)  # above: bands fill the axes
    return ax


def _finite(low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends that can be drawn: infinite ones lie beyond the data by their range."""
    reach = float(np.ptp(truth)) or 1.0
    return (
        np.where(np.isinf(low), truth.min() - reach, low),
        np.where(np.isinf(high), truth.max() + reach, high),
    )


def _sorted(
    ax: Any, low: np.ndarray, high: np.ndarray, truth: np.ndarray, hit: np.ndarray, data: str, alpha: float
) -> None:
    """One vertical line for each interval."""
    order = np.argsort(low + high, kind="stable")
    bottom, top, truth, hit, rank = low[order], high[order], truth[order], hit[order], np.arange(len(order))
    width = min(3.0, 300.0 / len(order))  # points: neighbours do not hide each other
    ax.vlines(
        rank,
        bottom,
        top,
        color=COLOURS["blue"],
        alpha=0.3,
        linewidth=width,
        label=f"{1 - alpha:.0%} intervals",
    )
    ax.plot(rank[hit], truth[hit], "o", color=INK, markersize=2.5, markeredgewidth=0, label=data)
    ax.plot(rank[~hit], truth[~hit], "x", color=COLOURS["vermilion"], markersize=5, label="outside")
    ax.grid(axis="y", color=GUIDE, alpha=0.25, linewidth=0.6)
