"""Pictures of how a penalty was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError
from .canvas import COLOURS, drawing

__all__ = ["leave_one_out_curve"]


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
    if hasattr(model, "loo_errors_"):
        curves = {"leave-one-out": model.loo_errors_, "generalised cross-validation": model.gcv_errors_}
    elif hasattr(model, "alphas_") and len(model.alphas_) > 1:
        label = "leave-one-out" if model.criterion == "loo" else "generalised cross-validation"
        curves = {label: model.errors_}
    else:
        raise ParameterError(
            "leave_one_out_curve: `model` must be a fitted KernelRidge with alpha='loo' or 'gcv', or a "
            f"fitted SmoothingSpline with alpha=None. Got {model!r}, which has chosen no penalty."
        )
    with drawing(ax) as ax:
        for (label, errors), colour in zip(curves.items(), ("blue", "green"), strict=False):
            total = errors.sum(axis=1) if errors.ndim == 2 else errors
            ax.plot(
                model.alphas_, total, "o-", color=COLOURS[colour], markersize=3, linewidth=1.5, label=label
            )
        choices = np.unique(model.alpha_)
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
        ax.set_xlabel("penalty alpha")
        ax.set_ylabel("mean squared error")
        ax.legend(loc="best")
    return ax
