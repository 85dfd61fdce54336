"""Pictures of Gram matrices: their entries and their eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..gram import Gram
from ..gram.spectrum import rounding_level
from .canvas import COLOURS, GUIDE, INK, drawing

__all__ = ["heatmap", "spectrum"]


def heatmap(G: Any, labels: Any = None, ax: Any = None, *, max_points: int = 500) -> Any:
    """Draw a Gram matrix as a heat map, its points ordered by class.

    Classes are set apart by lines and named at both axes.  Colours run from the least to the largest value;
    if there are negative values, zero is white and the two signs have different colours.

    Parameters
    ----------
    G : Gram or array-like of shape (n, n)
        The matrix of one set of points.  A lazy Gram is evaluated only where it is shown.
    labels : array-like of shape (n,), optional
        Class of each point.  Without it the points stay in their order.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    max_points : int, default=500
        With more points than this only every k-th (of the ordered ones) is shown, and the axis says so.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.gram import gram
    >>> ax = heatmap(gram(Gaussian(1.0), [[0.0], [1.0], [0.1]]), ["a", "b", "a"])
    >>> ax.get_xlabel()
    'points, ordered by class'
    """
    if not _is_count(max_points):
        raise ParameterError(f"heatmap: `max_points` must be an integer >= 1. Got {max_points!r}.")
    source = G if isinstance(G, Gram) else _square(G, "heatmap")
    n = source.shape[0]
    if source.shape != (n, n):
        raise InputError(
            f"heatmap: `G` must be the Gram matrix of one set of points. Got shape {source.shape}."
        )
    classes = None if labels is None else np.asarray(labels)
    if classes is not None and classes.shape != (n,):
        raise InputError(f"heatmap: `labels` must be {n} labels, one per point. Got shape {classes.shape}.")
    order = np.arange(n) if classes is None else np.argsort(classes, kind="stable")
    step = max(1, -(-n // max_points))
    shown = order[::step]
    K = source.block(shown, shown) if isinstance(source, Gram) else source[np.ix_(shown, shown)]

    with drawing(ax) as ax:
        _draw_matrix(ax, K, classes if classes is None else classes[shown], n, step)
    return ax


def _draw_matrix(ax: Any, K: np.ndarray, classes: np.ndarray | None, n: int, step: int) -> None:
    low, high = (float(K.min()), float(K.max())) if K.size else (0.0, 1.0)
    limit = max(-low, high)
    signed = low < -1e-9 * limit  # less is rounding, and does not change the colour scale
    image = ax.imshow(
        K,
        cmap="RdBu_r" if signed else "cividis",
        vmin=-limit if signed else low,
        vmax=limit if signed else high,
        interpolation="none",
        extent=(0, len(K), len(K), 0),
    )
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.85, pad=0.02)
    bar.set_label("k(x, y)")
    bar.outline.set_visible(False)
    ax.spines[:].set_visible(False)
    if classes is None:
        # ticks count points of the data, not rows of the picture
        positions = np.unique(np.linspace(0, max(len(K) - 1, 0), min(len(K), 6)).astype(int))
        names = [str(min(int(i) * step, n - 1)) for i in positions]
        ax.set_xticks(positions + 0.5, names)
        ax.set_yticks(positions + 0.5, names)
    else:
        _class_ticks(ax, classes, INK if signed else "white")
    text = "points" if classes is None else "points, ordered by class"
    suffix = "th" if 10 <= step % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(step % 10, "th")
    ax.set_xlabel(text + (f"\nevery {step}{suffix} of {n} points shown" if step > 1 else ""))
    ax.set_ylabel(text)


def spectrum(G: Any, ax: Any = None, *, k: int | None = None, label: str | None = None) -> Any:
    """Draw the eigenvalues of a Gram matrix on a logarithmic scale, the negative ones marked.

    Eigenvalues stand in descending order; a negative one is drawn as a cross at its absolute value.  The
    dashed line is the size that rounding alone can give to an eigenvalue that is zero: what lies below it,
    crosses too, means nothing.

    Parameters
    ----------
    G : Gram or array-like of shape (n, n)
        Symmetric.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    k : int, optional
        Only the ``k`` largest eigenvalues; all by default.
    label : str, optional
        Name for the legend, to compare several matrices on the same axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = spectrum([[0.0, 1.0], [1.0, 0.0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 positive', '1 negative, drawn at |λ|', 'rounding level']
    """
    values, level, n = _eigenvalues(G, k)
    with drawing(ax) as ax:
        _draw_eigenvalues(ax, values, level, label)
        ax.set_xlabel("rank" if k is None else f"rank (the {len(values)} largest of {n})")
    return ax


def _draw_eigenvalues(ax: Any, values: np.ndarray, level: float, label: str | None) -> None:
    rank = np.arange(1, len(values) + 1)
    negative = values < 0
    positive = values > 0
    zeros = len(values) - int(negative.sum() + positive.sum())
    prefix = f"{label}: " if label else ""
    colour = None if label else COLOURS["blue"]
    name = f"{prefix}{int(positive.sum())} positive" + (f", {zeros} exactly zero" if zeros else "")
    (dots,) = ax.plot(rank[positive], values[positive], ".", color=colour, markersize=4.5, label=name)
    if negative.any():
        ax.plot(
            rank[negative],
            -values[negative],
            "x",
            color=dots.get_color() if label else COLOURS["vermilion"],
            markersize=4.5,
            markeredgewidth=1.1,
            label=f"{prefix}{int(negative.sum())} negative, drawn at |λ|",
        )
    if level > 0:
        existing = [line for line in ax.get_lines() if line.get_label() == "rounding level"]
        ax.axhline(
            level, color=GUIDE, linestyle="--", linewidth=1, label="_" if existing else "rounding level"
        )
    if positive.any() or negative.any():
        ax.set_yscale("log")
    ax.set_ylabel("eigenvalue λ of the Gram matrix")
    ax.grid(axis="y", color=GUIDE, alpha=0.25, linewidth=0.6)
    ax.legend(loc="best")


def _eigenvalues(G: Any, k: int | None) -> tuple[np.ndarray, float, int]:
    """Eigenvalues in descending order, the size that rounding can give them, and how many there are."""
    if isinstance(G, Gram):
        values, n, eps = np.asarray(G.spectrum(k)), G.shape[0], G._eps
    else:
        A = _square(G, "spectrum")
        asymmetry = float(np.abs(A - A.T).max(initial=0.0))
        if asymmetry > 1e-8 * float(np.abs(A).max(initial=0.0)):  # more than rounding makes
            raise InputError(f"spectrum: `G` must be symmetric. Entries differ by up to {asymmetry:.6g}.")
        n, eps = len(A), float(np.finfo(A.dtype).eps)
        if k is not None and not _is_count(k, n):
            raise ParameterError(f"spectrum: `k` must be an integer from 1 to {n}. Got {k!r}.")
        values = np.linalg.eigvalsh(A)[::-1][:k]
    return values, rounding_level(n, eps, float(np.abs(values).max(initial=0.0))), n


def _is_count(value: Any, most: float = np.inf) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(1 <= value <= most)


def _square(G: Any, caller: str) -> np.ndarray:
    A = np.asarray(G, dtype=float)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"{caller}: `G` must be a Gram or a square matrix. Got shape {A.shape}.")
    if not np.isfinite(A).all():
        i, j = (int(v) for v in np.argwhere(~np.isfinite(A))[0])
        raise InputError(f"{caller}: `G` must be finite. Got {A[i, j]} in row {i}, column {j}.")
    return A


def _class_ticks(ax: Any, classes: np.ndarray, line: str) -> None:
    """Lines between classes, and their names at the middle of each."""
    names, starts = np.unique(classes, return_index=True)
    edges = np.append(starts, len(classes))
    for edge in edges[1:-1]:
        ax.axhline(edge, color=line, linewidth=0.7)
        ax.axvline(edge, color=line, linewidth=0.7)
    if len(names) > 24:  # there is no place for more names
        ax.set_xticks([])
        ax.set_yticks([])
        return
    middles = (edges[1:] + edges[:-1]) / 2
    text = [str(name) for name in names]
    ax.set_xticks(middles, text, rotation=90 if max(map(len, text), default=0) > 4 else 0)
    ax.set_yticks(middles, text)
    ax.tick_params(length=0)
