"""Pictures of automata and transducers with matplotlib: PNG, PDF, or a panel of a figure."""

from __future__ import annotations

from typing import Any

from ..automata import Transducer
from ..automata.drawing import arc_texts, picture, state_text
from ..automata.layout import LINE, RADIUS
from .canvas import GUIDE, INK, canvas, drawing, matplotlib

__all__ = ["automaton"]


def automaton(T: Transducer, ax: Any = None) -> Any:
    """Draw the states and arcs of an automaton or transducer.

    The picture is the one that notebooks show (:func:`mercer.automata.to_svg`), in inches and points: an
    initial state is bold, a final one has a double circle.  Without `ax` it gets a figure of its own size.

    Parameters
    ----------
    T : Transducer
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.automata import from_regex
    >>> automaton(from_regex("(ab)+")).figure.savefig("machine.png")  # doctest: +SKIP
    """
    found = picture(T)
    pixels = 96.0  # of the layout per inch
    if ax is None:
        _, ax = canvas(max(found.width / pixels, 0.5), max(found.height / pixels, 0.5))
    with drawing(ax) as axes:
        axes.set(xlim=(0, found.width), ylim=(found.height, 0), aspect="equal")
        axes.set_axis_off()
        texts = arc_texts(T)
        circle, path = matplotlib("matplotlib.patches").Circle, matplotlib("matplotlib.path").Path
        for pair, curve in found.curves.items():
            codes = [path.MOVETO, *[path.CURVE4] * (len(curve.points) - 1)]
            arrow = matplotlib("matplotlib.patches").FancyArrowPatch(
                path=path(curve.points, codes), arrowstyle="-|>", mutation_scale=9, color=GUIDE, linewidth=0.9
            )
            axes.add_patch(arrow)
            x, y = curve.text
            for i, text in enumerate(texts[pair]):
                axes.text(
                    x,
                    y + LINE * (i - (len(texts[pair]) - 1) / 2),
                    text,
                    ha="center",
                    va="center",
                    fontsize=9,
                    color=INK,
                )
        for q, (x, y) in enumerate(found.states):
            axes.add_patch(
                circle((x, y), RADIUS, fill=False, edgecolor=INK, linewidth=2.2 if q in T.initial else 0.9)
            )
            if q in T.final:
                axes.add_patch(circle((x, y), RADIUS - 3, fill=False, edgecolor=INK, linewidth=0.9))
            axes.text(x, y, state_text(T, q), ha="center", va="center", fontsize=9, color=INK)
    return axes
