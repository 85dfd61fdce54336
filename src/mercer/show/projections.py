"""Pictures of components: how much each explains, and where the points are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from .canvas import COLOURS, GUIDE, INK, drawing

__all__ = ["projections", "scree"]


def scree(model: Any, ax: Any = None, *, most: int = 30) -> Any:
    """Draw the eigenvalues of a fitted :class:`~mercer.machines.KernelPCA` and their cumulated share.

    Bars are eigenvalues (left axis); the line is the share of the total variance that the components up to
    each explain (right axis, from 0 to 1).  The total is exact even if only some components were computed.

    Parameters
    ----------
    model : fitted estimator
        With ``eigenvalues_`` and ``explained_variance_ratio_``.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    most : int, default=30
        Components drawn; what is left out is said under the axis.

    Returns
    -------
    matplotlib Axes
        That of the bars; the line is on its twin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.machines import KernelPCA
    >>> ax = scree(KernelPCA(Linear()).fit(np.random.default_rng(0).standard_normal((20, 3))))
    >>> len(ax.patches)
    3
    """
    values, shares = np.asarray(model.eigenvalues_), np.asarray(model.explained_variance_ratio_)
    if not len(values):
        raise InputError("scree: the model has no components; its points are all the same.")
    count = min(len(values), most)
    with drawing(ax) as ax:
        position = np.arange(1, count + 1)
        ax.bar(position, values[:count], width=0.75, color=COLOURS["blue"])
        ax.set_xlim(0.4, count + 0.6)
        left_out = f" (the first {count} of {len(values)})" if count < len(values) else ""
        ax.set_xlabel(f"component{left_out}")
        ax.set_ylabel("eigenvalue", color=COLOURS["blue"])
        ax.xaxis.get_major_locator().set_params(integer=True)
        twin = ax.twinx()
        cumulated = np.cumsum(shares)[:count]
        twin.plot(
            position, cumulated, "o-", color=COLOURS["vermilion"], markersize=4, label="cumulated share"
        )
        twin.set_ylim(0, max(1.0, float(cumulated.max())) * 1.03)
        twin.set_ylabel("cumulated share of the variance", color=COLOURS["vermilion"])
        twin.spines["right"].set_visible(True)
    return ax


def projections(
    coordinates: Any,
    labels: Any = None,
    ax: Any = None,
    *,
    components: tuple[int, int] = (0, 1),
    names: tuple[str, str] | None = None,
) -> Any:
    """Draw points in the plane of two components, coloured by their labels.

    Parameters
    ----------
    coordinates : array-like of shape (n, n_components)
        What ``transform`` gives; of :class:`~mercer.machines.KernelCCA`, one view, or the first components of
        two views side by side.
    labels : array-like of shape (n,), optional
        Classes (strings, whole numbers or truth values: colours and a legend, at most 12) or real numbers
        (a colour bar).
    ax : matplotlib Axes, optional
    components : pair of int, default=(0, 1)
        The columns to draw.
    names : pair of str, optional
        Names of the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelPCA
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> ax = projections(KernelPCA(Gaussian(1.0), n_components=2).fit_transform(X), X[:, 0] > 0)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['False (17)', 'True (13)']
    """
    Z = np.asarray(coordinates, dtype=float)
    if Z.ndim != 2 or not all(-Z.shape[1] <= c < Z.shape[1] for c in components):
        raise InputError(
            f"projections: `coordinates` must have two dimensions and the columns {components}. "
            f"Got shape {Z.shape}."
        )
    x, y = Z[:, components[0]], Z[:, components[1]]
    with drawing(ax) as ax:
        if labels is None:
            ax.plot(x, y, "o", color=COLOURS["blue"], markersize=4, alpha=0.7, markeredgewidth=0)
        else:
            _coloured(ax, x, y, np.asarray(labels))
        ax.axhline(0, color=GUIDE, linewidth=0.6, zorder=0)
        ax.axvline(0, color=GUIDE, linewidth=0.6, zorder=0)
        first, second = names or tuple(f"component {c % Z.shape[1] + 1}" for c in components)
        ax.set_xlabel(first)
        ax.set_ylabel(second)
    return ax


def _coloured(ax: Any, x: np.ndarray, y: np.ndarray, labels: np.ndarray) -> None:
    if labels.shape != x.shape:
        raise InputError(f"projections: {len(x)} points for `labels` of shape {labels.shape}.")
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels)):
        dots = ax.scatter(x, y, c=labels, s=16, alpha=0.8, linewidths=0)
        ax.figure.colorbar(dots, ax=ax)
        return
    classes, markers = np.unique(labels), ("o", "s", "^")
    palette = [*COLOURS.values()]
    most = len(palette) * len(markers)
    if len(classes) > most:
        raise ParameterError(
            f"projections: `labels` has {len(classes)} classes; a plot distinguishes {most}. "
            "Group them, or pass real numbers for a colour scale."
        )
    for i, c in enumerate(classes):
        of_class = labels == c
        ax.plot(
            x[of_class],
            y[of_class],
            markers[i // len(palette)],
            color=palette[i % len(palette)],
            markersize=4.5,
            alpha=0.75,
            markeredgewidth=0.3,
            markeredgecolor=INK,
            label=f"{c} ({int(of_class.sum())})",
        )
    if len(classes) <= len(palette):
        ax.legend(loc="best")
    else:  # a long list would cover the points
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
