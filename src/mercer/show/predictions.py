"""Pictures of what a model predicts, and of how sure it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from .canvas import COLOURS, GUIDE, INK, drawing

__all__ = ["prediction", "prediction_band"]


def prediction(
    model: Any,
    X: Any,
    y: Any,
    ax: Any = None,
    *,
    target: int | None = None,
    data: str = "data",
    feature: str | None = None,
    name: str | None = None,
) -> Any:
    """Draw the predictions of a fitted model against the truth.

    With one feature: the curve of the model over the range of the data, and the data.  Otherwise (many
    features, strings, sets, graphs...): predicted against true values, and the diagonal on which they agree.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``predict``.
    X, y :
        Points and their true values.  The plot cannot know whether the model has seen them: say so in
        ``data``.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    target : int, optional
        Which column of a ``y`` with several.
    data : str, default="data"
        What the points are, for the legend: ``"training data"``, ``"held-out data"``...
    feature, name : str, optional
        Names of the feature and of the target, for the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelRidge
    >>> X = np.linspace(0, 6, 20)[:, None]
    >>> model = KernelRidge(Gaussian(1.0), alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> ax = prediction(model, X, np.sin(X[:, 0]), data="training data", feature="x", name="sin x")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'sin x')
    """
    truth = _column("prediction", y, target, "y")
    values = _single_feature(X)
    with drawing(ax) as ax:
        if values is not None:
            grid = _grid("prediction", values, truth)
            curve = _column("prediction", model.predict(grid[:, None]), target, "model.predict")
            _curve(ax, grid, curve, values, truth, data)
            ax.set_xlabel(feature or "x")
            ax.set_ylabel(name or "y")
        else:
            predicted = _column("prediction", model.predict(X), target, "model.predict(X)")
            _agreement(ax, predicted, truth, data)
            ax.set_xlabel(f"true {name}" if name else "true value")
            ax.set_ylabel(f"predicted {name}" if name else "predicted value")
        ax.legend(loc="best")
    return ax


def prediction_band(
    model: Any,
    X: Any,
    y: Any,
    ax: Any = None,
    *,
    target: int | None = None,
    noise: bool = False,
    data: str = "data",
    feature: str | None = None,
    name: str | None = None,
) -> Any:
    """Draw the mean of a model over one feature, two standard deviations around it, and the data.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``predict(X, return_std=True)``.
    X, y :
        Points with one feature, and their values.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    target : int, optional
        Which column of a ``y`` with several.
    noise : bool, default=False
        Whether the band is that of new observations: the model's ``noise_variance_`` is added.
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
    >>> from mercer.machines import KernelRidge
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> model = KernelRidge(Gaussian(1.0), alpha=0.01).fit(X, [0.0, 1.0, 0.0])
    >>> ax = prediction_band(model, X, [0.0, 1.0, 0.0], feature="time")
    >>> ax.get_xlabel()
    'time'
    """
    x = _single_feature(X)
    if x is None:
        raise InputError("prediction_band: `X` must have one feature, as an array of shape (n, 1).")
    truth = _column("prediction_band", y, target, "y")
    grid = _grid("prediction_band", x, truth)
    mean, std = (
        _column("prediction_band", part, target, "model.predict")
        for part in model.predict(grid[:, None], return_std=True)
    )
    if noise:
        level = np.atleast_1d(model.noise_variance_)
        std = np.sqrt(std**2 + level[target if len(level) > 1 else 0])
    with drawing(ax) as ax:
        band = "± 2 std of a new value" if noise else "± 2 std"
        ax.fill_between(
            grid, mean - 2 * std, mean + 2 * std, color=COLOURS["blue"], alpha=0.2, linewidth=0, label=band
        )
        _curve(ax, grid, mean, x, truth, data)
        ax.set_xlabel(feature or "x")
        ax.set_ylabel(name or "y")
        ax.legend(loc="best")
    return ax


def _grid(caller: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Places to predict at, a little beyond the data on both sides."""
    if len(x) != len(y):
        raise InputError(f"{caller}: {len(x)} points in `X` for {len(y)} values of `y`.")
    reach = 0.05 * float(np.ptp(x)) or 1.0
    return np.linspace(x.min() - reach, x.max() + reach, 400)


def _curve(ax: Any, grid: np.ndarray, curve: np.ndarray, x: np.ndarray, y: np.ndarray, data: str) -> None:
    ax.plot(x, y, "o", color=GUIDE, markersize=3.5, alpha=0.7, markeredgewidth=0, label=f"{data} ({len(x)})")
    ax.plot(grid, curve, "-", color=COLOURS["vermilion"], linewidth=2, label="prediction")


def _agreement(ax: Any, predicted: np.ndarray, truth: np.ndarray, data: str) -> None:
    if predicted.shape != truth.shape:
        raise InputError(f"prediction: {len(predicted)} predictions for {len(truth)} values of `y`.")
    ends = np.array([min(truth.min(), predicted.min()), max(truth.max(), predicted.max())])
    ax.plot(ends, ends, "--", color=INK, linewidth=1, label="predicted = true")
    variance = float(((truth - truth.mean()) ** 2).sum())
    score = f", R² = {1 - float(((truth - predicted) ** 2).sum()) / variance:.3f}" if variance > 0 else ""
    ax.plot(
        truth,
        predicted,
        "o",
        color=COLOURS["blue"],
        markersize=4,
        alpha=0.7,
        markeredgewidth=0,
        label=f"{data} ({len(truth)}{score})",
    )
    ax.set_aspect("equal", adjustable="datalim")


def _single_feature(X: Any) -> np.ndarray | None:
    """The values of the only feature, or None if points are not single numbers."""
    shape = getattr(X, "shape", None)
    if shape is None and not (isinstance(X, list | tuple) and all(isinstance(x, list | tuple) for x in X)):
        return None
    if shape is not None and (len(shape) != 2 or shape[1] != 1):
        return None
    try:
        array = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    except (TypeError, ValueError):  # points that are not numbers
        return None
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 and len(array) else None


def _column(caller: str, given: Any, target: int | None, what: str) -> np.ndarray:
    values = np.asarray(given, dtype=float)
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return values.reshape(-1)
    if values.ndim != 2:
        raise InputError(f"{caller}: `{what}` must have shape (n,) or (n, t). Got {values.shape}.")
    if target is None:
        raise ParameterError(
            f"{caller}: `{what}` has {values.shape[1]} columns; choose one with target=0, 1, ..."
        )
    if not -values.shape[1] <= target < values.shape[1]:
        raise ParameterError(
            f"{caller}: `target` must be a column from 0 to {values.shape[1] - 1}. Got {target}."
        )
    return np.asarray(values[:, target])
