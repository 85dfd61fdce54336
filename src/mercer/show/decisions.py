"""Pictures of what a classifier decides in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from .canvas import COLOURS, INK, drawing, matplotlib

__all__ = ["decision_regions"]


def decision_regions(
    model: Any,
    X: Any,
    y: Any,
    ax: Any = None,
    *,
    grid: int = 160,
    data: str = "data",
    features: tuple[str, str] = ("x1", "x2"),
) -> Any:
    """Draw what a classifier decides over two features, and the data.

    Regions have the colour of their class; the shade says how sure the model is: by its probabilities if it
    has any, else by decision values, else it is even.  The boundary between classes is drawn as a line, and
    for two classes with decision values the margin, where they are -1 and 1, as dashed lines.  Points that
    of ``support_`` (support vectors, or relevant points of a sparse model) are circled, if they are some but
    not all.

    Parameters
    ----------
    model : fitted classifier
        Of this library or any with scikit-learn's ``predict``.
    X : array of shape (n, 2)
        Points; for circles, those that the model was fitted to, in the same order.
    y : array of shape (n,)
        Their labels.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    grid : int, default=160
        Points of the grid along each axis.
    data : str, default="data"
        What the points are, for the legend: ``"training data"``, ``"held-out data"``...
    features : pair of str
        Names of the features, for the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelLogistic
    >>> X = np.random.default_rng(0).standard_normal((80, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = KernelLogistic(Gaussian(1.0), alpha=0.0, l1=0.3).fit(X, y)
    >>> ax = decision_regions(model, X, y, data="training data")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['False', 'True', '... support vectors']
    """
    points, labels = _checked(X, y)
    if grid < 2:
        raise ParameterError(f"decision_regions: `grid` must be a whole number >= 2. Got {grid!r}.")
    classes = np.unique(np.concatenate([np.asarray(getattr(model, "classes_", labels)), labels]))
    reach = 0.08 * np.ptp(points, axis=0)  # the regions go beyond the data
    reach[reach == 0] = 1.0
    horizontal, vertical = np.linspace(points.min(axis=0) - reach, points.max(axis=0) + reach, grid).T
    mesh = np.column_stack([a.ravel() for a in np.meshgrid(horizontal, vertical)])
    shape = (grid, grid)
    winners = np.searchsorted(classes, np.asarray(model.predict(mesh))).reshape(shape)
    with drawing(ax) as ax:
        palette = [*COLOURS.values(), "#e69f00", "#56b4e9", "#f0e442"]  # the rest are Okabe and Ito's, too
        colours = [palette[c % len(palette)] for c in range(len(classes))]
        sure = _confidence(model, mesh).reshape(shape)
        to_rgb = matplotlib("matplotlib.colors").to_rgb
        image = np.empty((*winners.shape, 4))
        image[..., :3] = np.array([to_rgb(colour) for colour in colours])[winners]
        image[..., 3] = 0.45 * (0.15 + 0.85 * sure)  # at most this opaque: the points stay legible
        dx, dy = (horizontal[1] - horizontal[0]) / 2, (vertical[1] - vertical[0]) / 2
        ends = (horizontal[0] - dx, horizontal[-1] + dx, vertical[0] - dy, vertical[-1] + dy)
        ax.imshow(image, extent=ends, origin="lower", aspect="auto", interpolation="nearest", zorder=0)
        _boundaries(ax, model, mesh, horizontal, vertical, winners)
        for c, name in enumerate(classes.tolist()):
            mine = points[labels == classes[c]]
            ax.plot(
                *mine.T,
                "o",
                color=colours[c],
                markersize=5,
                markeredgecolor="white",
                markeredgewidth=0.6,
                label=str(name),
            )
        _circles(ax, model, points)
        ax.set_xlabel(features[0])
        ax.set_ylabel(features[1])
        ax.legend(title=data, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=min(4, len(classes) + 1))
    return ax


def _checked(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if points.ndim != 2 or points.shape[1] != 2 or points.dtype.kind not in "biuf" or not len(points):
        raise InputError(
            f"decision_regions: `X` must be numbers of shape (n, 2), one column per axis. Got shape "
            f"{points.shape} of type {points.dtype}."
        )
    labels = np.asarray(y)
    if labels.shape != points.shape[:1]:
        raise InputError(f"decision_regions: {len(points)} points in `X` for labels of shape {labels.shape}.")
    return points.astype(np.float64), labels


def _confidence(model: Any, mesh: np.ndarray) -> np.ndarray:
    """How sure the model is of its class, from 0 to 1."""
    if hasattr(model, "predict_proba"):
        P = np.asarray(model.predict_proba(mesh))
        least = 1.0 / P.shape[1]
        return np.asarray((P.max(axis=1) - least) / (1.0 - least))
    if hasattr(model, "decision_function"):
        values = np.asarray(model.decision_function(mesh))
        if values.ndim == 1:
            lead = np.abs(values)
        else:
            ordered = np.sort(values, axis=1)
            lead = ordered[:, -1] - ordered[:, -2]
        return np.asarray(np.minimum(lead, 1.0))
    return np.ones(len(mesh))


def _boundaries(
    ax: Any, model: Any, mesh: np.ndarray, x: np.ndarray, y: np.ndarray, winners: np.ndarray
) -> None:
    """Where the decision changes: the zero line of two classes, else the edges of the regions."""
    values = np.asarray(model.decision_function(mesh)) if hasattr(model, "decision_function") else None
    if values is not None and values.ndim == 1:
        values = values.reshape(winners.shape)
        for level, style, width in ((-1.0, "dashed", 0.8), (0.0, "solid", 1.4), (1.0, "dashed", 0.8)):
            if values.min() < level < values.max():
                ax.contour(x, y, values, levels=[level], colors=INK, linewidths=width, linestyles=style)
        return
    for c in np.unique(winners)[1:]:
        ax.contour(x, y, winners >= c, levels=[0.5], colors=INK, linewidths=1.4)


def _circles(ax: Any, model: Any, points: np.ndarray) -> None:
    support = getattr(model, "support_", None)
    if support is None or not 0 < len(support) < len(points) or np.max(support) >= len(points):
        return
    ax.plot(
        *points[np.asarray(support)].T,
        "o",
        markersize=9,
        markerfacecolor="none",
        markeredgecolor=INK,
        markeredgewidth=0.9,
        label=f"{len(support)} support vectors",
    )
