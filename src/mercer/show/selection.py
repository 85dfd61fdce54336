"""Pictures of how a penalty was chosen, and of how sure a model is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from .canvas import COLOURS, GUIDE, drawing
from .predictions import GRID, MARGIN, _column, _single_feature

__all__ = ["leave_one_out_curve", "prediction_band"]


def leave_one_out_curve(model: Any, ax: Any = None) -> Any:
    """Draw the errors of all penalties that a model has tried, and mark its choice.

    Parameters
    ----------
    model : fitted estimator
        A :class:`~mercer.machines.KernelRidge` with ``alpha="loo"`` or ``"gcv"``, for which both criteria are
        drawn (of several targets, their sum), or a :class:`~mercer.machines.SmoothingSpline` that chose
        its penalty.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelRidge
    >>> X = np.linspace(0, 6, 20)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(40 * X[:, 0])
    >>> ax = leave_one_out_curve(KernelRidge(Gaussian(1.0), alpha="loo").fit(X, y))
    >>> ax.get_xlabel(), ax.get_xscale()
    ('penalty alpha', 'log')
    """
    penalties, curves, chosen, name = _path(model)
    with drawing(ax) as ax:
        for (label, errors), colour in zip(curves.items(), ("blue", "green"), strict=False):
            total = errors.sum(axis=1) if errors.ndim == 2 else errors
            ax.plot(penalties, total, "o-", color=COLOURS[colour], markersize=3, linewidth=1.5, label=label)
        choices = np.unique(chosen)
        for i, value in enumerate(choices):
            text = f"chosen: {value:.3g}" if len(choices) == 1 else "chosen"
            ax.axvline(
                value,
                color=COLOURS["vermilion"],
                linewidth=1.5,
                linestyle="--",
                label=text if i == 0 else None,
            )
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel(f"penalty {name}")
        ax.set_ylabel("mean squared error")
        ax.legend(loc="best")
    return ax


def _path(model: Any) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray, str]:
    """The penalties, the errors by name, the choice, and what the penalty is called."""
    if hasattr(model, "loo_errors_"):
        curves = {"leave-one-out": model.loo_errors_, "generalised cross-validation": model.gcv_errors_}
        return model.alphas_, curves, np.atleast_1d(model.alpha_), "alpha"
    if hasattr(model, "lams_") and len(model.lams_) > 1:
        label = "leave-one-out" if model.criterion == "loo" else "generalised cross-validation"
        return model.lams_, {label: model.errors_}, np.atleast_1d(model.lam_), "lam"
    raise ParameterError(
        "leave_one_out_curve: `model` must be a fitted KernelRidge with alpha='loo' or 'gcv', or a fitted "
        f"SmoothingSpline with lam=None. Got {model!r}, which has chosen no penalty."
    )


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
    truth = _column(np.asarray(y, dtype=float), target, "y")
    if len(x) != len(truth):
        raise InputError(f"prediction_band: {len(x)} points in `X` for {len(truth)} values of `y`.")
    reach = MARGIN * float(np.ptp(x)) or 1.0
    grid = np.linspace(x.min() - reach, x.max() + reach, GRID)
    mean, std = (
        _column(np.asarray(part, dtype=float), target, "model.predict")
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
        ax.plot(
            x,
            truth,
            "o",
            color=GUIDE,
            markersize=3.5,
            alpha=0.7,
            markeredgewidth=0,
            label=f"{data} ({len(x)})",
        )
        ax.plot(grid, mean, "-", color=COLOURS["vermilion"], linewidth=2, label="prediction")
        ax.set_xlabel(feature or "x")
        ax.set_ylabel(name or "y")
        ax.legend(loc="best")
    return ax
