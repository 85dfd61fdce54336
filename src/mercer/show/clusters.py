"""Pictures of clusters, and of labels that spread from few points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from .canvas import COLOURS, INK, drawing

__all__ = ["clusters"]


def clusters(model: Any, X: Any, ax: Any = None, *, labels: Any = None, given: Any = None) -> Any:
    """Draw points of the plane in the colours of their clusters or classes.

    If the model predicts new points, its regions are shaded.

    Parameters
    ----------
    model : fitted estimator
        With ``labels_`` (clusters) or ``predict``.
    X : array of shape (n, 2)
        The points.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    labels : array of shape (n,), optional
        The groups to draw; by default ``model.labels_`` if these are labels of as many points, else
        ``model.predict(X)``.
    given : array of shape (n,), optional
        The labels that the model was given, -1 where it was given none: those points are circled.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelKMeans
    >>> X = [[0.0, 0.0], [0.2, 0.1], [3.0, 3.0], [3.1, 2.8], [3.0, 2.7]]
    >>> ax = clusters(KernelKMeans(Gaussian(1.0), n_clusters=2).fit(X), X)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0 (3 points)', '1 (2 points)']
    """
    try:
        points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"clusters: `X` must be points of the plane: {error}.") from error
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise InputError(f"clusters: `X` must have shape (n, 2). Got {points.shape}.")
    groups = _groups(model, X, labels, len(points))
    names = np.unique(groups)
    marks = "osD^vP"  # another one for clusters beyond the number of colours
    with drawing(ax) as ax:
        palette = list(COLOURS.values())
        if hasattr(model, "predict"):
            _regions(ax, model, points, names, palette)
        for c, name in enumerate(names):
            own = groups == name
            size = int(own.sum())
            ax.plot(
                *points[own].T,
                marks[c // len(palette) % len(marks)],
                color=palette[c % len(palette)],
                markersize=4.5,
                markeredgewidth=0,
                alpha=0.85,
                label=f"{name} ({size} point{'s' * (size != 1)})",
            )
        if given is not None:
            marked = np.array(
                [not (isinstance(v, int | float | np.number) and (v == -1 or v != v)) for v in given]
            )
            if marked.shape != (len(points),):
                raise InputError(f"clusters: `given` must have {len(points)} labels. Got {len(marked)}.")
            ax.plot(
                *points[marked].T,
                "o",
                markersize=9,
                markerfacecolor="none",
                markeredgecolor=INK,
                markeredgewidth=1.4,
                linestyle="none",
                label=f"labelled ({int(marked.sum())})",
            )
        ax.set_aspect("equal", adjustable="box")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _regions(ax: Any, model: Any, points: np.ndarray, names: np.ndarray, palette: list[str]) -> None:
    # The picture reaches beyond the data by this part of their range.
    reach = 0.08 * np.ptp(points, axis=0)
    reach[reach == 0] = 1.0
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    count = 120  # points of the grid along each side
    x, y = np.linspace(low, high, count).T
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    found = np.asarray(model.predict(grid)).reshape(count, count)
    for c, name in enumerate(names):
        inside = (found == name).astype(float)
        if inside.any():
            ax.contourf(x, y, inside, levels=[0.5, 1.5], colors=[palette[c % len(palette)]], alpha=0.15)


def _groups(model: Any, X: Any, labels: Any, n: int) -> np.ndarray:
    if labels is None:
        labels = getattr(model, "labels_", None)
        if labels is None or len(labels) != n:
            if not hasattr(model, "predict"):
                raise ParameterError("clusters: the model has no labels of these points; give `labels`.")
            labels = model.predict(X)
    groups = np.asarray(labels)
    if groups.shape != (n,):
        raise InputError(
            f"clusters: `labels` must have one entry for each of {n} points. Got {groups.shape}."
        )
    return groups
