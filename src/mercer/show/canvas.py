"""Figures and colours; the only place that imports matplotlib."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakSet

from ..errors import MissingExtraError

__all__ = [
    "COLOURS",
    "GUIDE",
    "INK",
    "STYLE",
    "canvas",
    "drawing",
    "follows_theme",
    "matplotlib",
]

#: Text and axes.  In a page it becomes the colour of the text around the figure.
INK: Final = "#1d2329"
#: Grids, guides and what rounding alone could produce.
GUIDE: Final = "#8a929b"
#: Okabe and Ito's colours, distinct to all forms of colour vision.  In a page they become its variables.
COLOURS: Final = {
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "green": "#009e73",
    "purple": "#cc79a7",
}

#: Settings for figures that :func:`canvas` makes; axes given by the caller keep their own.
STYLE: Final[dict[str, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.formatter.use_locale": False,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.facecolor": "none",
    "font.size": 9.5,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "mercer",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.major.width": 0.8,
    "ytick.color": INK,
    "ytick.major.width": 0.8,
}


def matplotlib(module: str = "matplotlib") -> Any:
    """Import matplotlib (or a module of it), or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            "mercer.show draws with matplotlib, which is not installed: pip install mercer[show]"
        ) from error


#: Figures made by :func:`canvas`; what is drawn on them later has their style too.
_ours: WeakSet[Any] = WeakSet()


def canvas(
    width: float = 5.2,
    height: float = 4.2,
    columns: int = 1,
    rows: int = 1,
    *,
    heights: Sequence[float] | None = None,
) -> tuple[Any, Any]:
    """Make a figure in the style of the report, outside of pyplot: no window opens.

    Parameters
    ----------
    width, height : float
        Size of the whole figure in inches.
    columns, rows : int, default=1
        Number of axes, side by side and one above the other.
    heights : sequence of float, optional
        Heights of the rows, one relative to the other.

    Returns
    -------
    (Figure, Axes or array of Axes)
    """
    mpl = matplotlib()
    with mpl.rc_context(STYLE):
        figure = matplotlib("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, height_ratios=heights)
    _ours.add(figure)
    return figure, axes


def follows_theme(figure: Any) -> bool:
    """Whether a figure was made by :func:`canvas`, with colours that may change with the page."""
    return figure in _ours


@contextmanager
def drawing(ax: Any) -> Iterator[Any]:
    """Give the axes to draw on (by default new ones of a pyplot figure), in the style they were made in."""
    mpl = matplotlib()
    if ax is None:
        _, ax = matplotlib("matplotlib.pyplot").subplots(layout="constrained")
    with mpl.rc_context(STYLE if ax.figure in _ours else None):
        yield ax
