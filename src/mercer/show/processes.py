"""Pictures of Gaussian processes: functions drawn from them, and which features matter to them."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..selection.tuning.result import relevances_of
from .canvas import COLOURS, GUIDE, INK, drawing
from .predictions import _grid, _single_feature, prediction_band

__all__ = ["posterior_samples", "relevances"]


def posterior_samples(
    model: Any,
    X: Any,
    y: Any,
    ax: Any = None,
    *,
    n_samples: int = 5,
    random_state: Any = 0,
    feature: str | None = None,
    name: str | None = None,
) -> Any:
    """Draw functions from a process given its data, its mean and two standard deviations around that.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``predict(X, return_std=True)`` and ``sample_y``, of one target.
    X, y :
        Points with one feature, and their values.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    n_samples : int, default=5
        How many functions.
    random_state : int or RandomState, default=0
    feature, name : str, optional
        Names of the feature and of the target, for the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import GaussianProcessRegressor
    >>> X, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 0.0]
    >>> model = GaussianProcessRegressor(Gaussian(1.0), alpha=0.01, tune=None).fit(X, y)
    >>> ax = posterior_samples(model, X, y, n_samples=3)
    >>> len(ax.get_lines())  # three functions, the mean, the data
    5
    """
    x = _single_feature(X)
    if x is None:
        raise InputError("posterior_samples: `X` must have one feature, as an array of shape (n, 1).")
    if not (isinstance(n_samples, numbers.Integral) and n_samples >= 1):
        raise ParameterError(f"posterior_samples: `n_samples` must be an integer >= 1. Got {n_samples!r}.")
    truth = np.asarray(y, dtype=float).reshape(len(x), -1)
    if truth.shape[1] != 1:
        raise InputError(f"posterior_samples: `y` must be one target. Got {truth.shape[1]}.")
    wide = _grid("posterior_samples", x, truth[:, 0])
    grid = np.linspace(wide[0], wide[-1], 200)  # their covariance matrix is decomposed
    draws = model.sample_y(grid[:, None], n_samples, random_state).reshape(len(grid), n_samples)
    with drawing(ax) as ax:
        for i, draw in enumerate(draws.T):
            label = f"samples ({n_samples})" if i == 0 else None
            ax.plot(grid, draw, "-", color=COLOURS["green"], linewidth=0.9, alpha=0.8, label=label)
    return prediction_band(model, X, y, ax, feature=feature, name=name)


def relevances(
    model: Any, ax: Any = None, *, names: Sequence[str] | None = None, parameter: str | None = None
) -> Any:
    """Draw how relevant each feature is to a kernel with one width for each.

    The relevance of a feature is one over its width: by how much the function varies along it.  It is
    comparable between features of the same scale only: standardise them before.

    Parameters
    ----------
    model : fitted estimator
        With ``kernel_``; ``feature_names_in_`` if there is one.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    names : sequence of str, optional
        Names of the features.
    parameter : str, optional
        Which widths, as ``kernel__sigma``, if the kernel has several vectors of them.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, WhiteNoise
    >>> from mercer.machines import GaussianProcessRegressor
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> model = GaussianProcessRegressor(1.0 * Gaussian([1.0, 1.0]) + WhiteNoise(0.1)).fit(X, np.sin(X[:, 1]))
    >>> ax = relevances(model, names=["left", "right"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['right', 'left']
    """
    found = relevances_of(model.kernel_)
    if parameter is None and len(found) == 1:
        parameter = next(iter(found))
    if parameter not in found:
        listed = ", ".join(found) or "none: give the kernel a vector of widths, as Gaussian([1.0, 1.0])"
        raise ParameterError(
            f"relevances: `parameter` must be one of the kernel's widths per feature. Got {parameter!r}. "
            f"There are: {listed}."
        )
    values = found[parameter]
    if names is None:
        names = getattr(model, "feature_names_in_", [f"feature {i}" for i in range(len(values))])
    if len(names) != len(values):
        raise InputError(f"relevances: {len(names)} `names` for {len(values)} features.")
    order = np.argsort(-values, kind="stable")
    with drawing(ax) as ax:
        places = np.arange(len(values))
        ax.hlines(places, 0.0, values[order], color=GUIDE, linewidth=1)
        ax.plot(values[order], places, "o", color=COLOURS["blue"], markersize=6)
        ax.set_yticks(places, [str(names[i]) for i in order])
        ax.invert_yaxis()
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_xlabel("relevance, 1 / width")
    return ax
