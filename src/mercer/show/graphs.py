"""Pictures of graphs, with what their nodes add to a value or a decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.spatial

from ..contributions import Contributions
from ..domains import Graph
from ..errors import InputError, ParameterError
from ..graphs import as_graph, layout
from .canvas import GUIDE, INK, canvas, drawing, matplotlib
from .patterns import (
    AGAINST,
    FOR,
    SMALL,
    STRONGEST,
    check,
    explained_colours,
    letter,
    spread,
    unplaced_note,
)

__all__ = ["graph", "legend"]

#: Radius of a node in edges.
RADIUS = 0.27
#: Most nodes with text; beyond, they are dots.
MOST_TEXTS = 150


class Stroke(NamedTuple):
    """An edge on paper: the nodes, how far it bends, whether it is an arrow, its label and its width."""

    u: int
    v: int
    bend: float
    arrow: bool
    label: Any
    width: float


def graph(
    x: Any,
    contributions: Contributions | None = None,
    ax: Any = None,
    *,
    side: str = "x",
    classes: Sequence[Hashable] | None = None,
    places: Any = None,
) -> Any:
    """Draw a graph, its nodes coloured by what the patterns at them add.

    Blue nodes add, vermilion ones take away, and the strongest colour is that of the node with the largest
    weight; the nodes add up to the value, but for patterns that have no place, which are named under the
    picture.  Nodes carry their labels, or their numbers if they have none; edges carry theirs if they differ,
    and are wider the larger their weights.  Arcs without a reverse are arrows.

    Parameters
    ----------
    x : graph
        One of mercer or of networkx, or anything else that :func:`mercer.graphs.as_graph` reads.
    contributions : Contributions, optional
        Of ``kernel.contributions(x, y)`` or of ``machine.explain(x)``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of the size that the graph needs.
    side : {"x", "y"}, default="x"
        Which of the two graphs of ``kernel.contributions(x, y)`` is given.
    classes : sequence of n hashables, optional
        Colours the nodes by class instead.
    places : array of shape (n, 2), optional
        Where the nodes stand, by default as :func:`mercer.graphs.layout` puts them.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = graph((3, [(0, 1), (1, 2)], "CCO"))
    >>> [text.get_text() for text in ax.texts]
    ['C', 'C', 'O']
    """
    found = as_graph(x)
    if side not in ("x", "y"):
        raise ParameterError(f'graph: `side` must be "x" or "y". Got {side!r}.')
    weights = np.zeros(found.n)
    if contributions is not None:
        check("graph", contributions)
        weights = spread(found.n, contributions, side, "graph", "the graph given has {} nodes")
    colours = _colours(weights, classes, contributions)
    if places is None:
        at = layout(found)
    else:  # in lengths of the median edge
        at = np.asarray(places, dtype=np.float64)
        if at.shape != (found.n, 2) or not np.isfinite(at).all():
            raise InputError(f"graph: `places` must be finite, of shape ({found.n}, 2). Got {at.shape}.")
        lengths = np.linalg.norm(at[found.sources] - at[found.targets], axis=1)
        at = at / np.median(lengths[lengths > 0]) if (lengths > 0).any() else at
    low, high = (at.min(axis=0), at.max(axis=0)) if found.n else (np.zeros(2), np.zeros(2))
    margin = 2.4 * RADIUS  # a loop fits there
    extent = high - low + 2 * margin
    # The distance to the nearest node leaves this much to the radius.
    radius = min(RADIUS, max(0.38 * _nearest(at), float(extent.max()) / 200))
    if ax is None:
        # Inches of an edge, and of the largest width and height; a line of text below takes 0.2.
        inches = extent * min(0.55, 9.0 / float(extent.max()))
        lines = 1 + int((weights > 0).any()) + int((weights < 0).any())
        lines = lines if classes is None else len(set(classes))
        _, ax = canvas(max(float(inches[0]), 2.8), max(float(inches[1]), 0.6) + lines * 0.2)
    with drawing(ax) as ax:
        ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
        ax.set(aspect="equal", xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        # a letter fits into a node
        box, (wide, tall) = ax.get_position(), ax.figure.get_size_inches()
        scale = min(wide * box.width / extent[0], tall * box.height / extent[1])
        size = float(np.clip(72 * scale * radius * 1.15, 3.0, 10.0))
        circles = _draw_nodes(ax, found, at, radius, colours, size)
        _draw_edges(ax, _strokes(found), at, circles, size)
        if contributions is not None:
            note = unplaced_note(contributions, side)
            entries = explained_colours(contributions, weights, "node")
            legend(ax, entries | ({note: "none"} if note else {}))
        elif classes is not None:
            legend(ax, {str(c): colour for c, colour in zip(classes, colours, strict=True)})
    return ax


def _nearest(at: np.ndarray) -> float:
    """A distance on paper that nine of ten nodes keep from all others."""
    if len(at) < 2:
        return 1.0
    distances, _ = scipy.spatial.cKDTree(at).query(at, k=2)
    return float(np.quantile(distances[:, 1], 0.1))


# -- colours -----------------------------------------------------------------------------------------------
def _colours(
    weights: np.ndarray, classes: Sequence[Hashable] | None, contributions: Any
) -> list[tuple[str, float] | str]:
    """Colours of the nodes: of their classes if there are any, else of their weights."""
    if classes is None:
        largest = float(np.abs(weights).max(initial=0.0))
        return [
            (FOR if w > 0 else AGAINST, STRONGEST * abs(w) / largest) if w else "none"
            for w in weights.tolist()
        ]
    if contributions is not None:
        raise ParameterError("graph: nodes are coloured by `contributions` or by `classes`. Pass one.")
    if len(classes) != len(weights):
        raise InputError(
            f"graph: `classes` must have a class for each of {len(weights)} nodes. Got {len(classes)}."
        )
    number = {c: i for i, c in enumerate(dict.fromkeys(classes))}
    palette = matplotlib("matplotlib").colormaps["tab10" if len(number) <= 10 else "tab20"]
    to_hex = matplotlib("matplotlib.colors").to_hex
    return [(to_hex(palette(number[c] % palette.N)), STRONGEST) for c in classes]


def legend(ax: Any, entries: dict[str, Any]) -> None:
    """Colours and what they say, under a picture."""
    patch = matplotlib("matplotlib.patches").Patch
    handles = [patch(facecolor=colour, linewidth=0, label=text) for text, colour in entries.items()]
    if handles:
        shown = ax.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0, 0),
            borderaxespad=0,
            borderpad=0,
            fontsize=SMALL,
        )
        for text in shown.get_texts():
            text.set_parse_math(False)


# -- nodes and edges ---------------------------------------------------------------------------------------
def _draw_nodes(
    ax: Any, graph: Graph, at: np.ndarray, radius: float, colours: list[Any], size: float
) -> list[Any]:
    circle = matplotlib("matplotlib.patches").Circle
    labelled = any(label is not None for label in graph.labels)
    texts = [letter(label) for label in graph.labels] if labelled else [str(v) for v in range(graph.n)]
    circles = []
    for place, text, colour in zip(at, texts, colours, strict=True):
        circles.append(circle(place, radius, facecolor=colour, edgecolor=INK, linewidth=0.8, zorder=2))
        ax.add_patch(circles[-1])
        if graph.n <= MOST_TEXTS:
            fitted = size * min(1.0, 2.2 / max(len(text), 1))
            ax.text(
                *place, text, ha="center", va="center_baseline", fontsize=fitted, color=INK, parse_math=False
            )
    return circles


def _strokes(graph: Graph) -> list[Stroke]:
    """What is drawn: an edge for two arcs, if all have their reverses, and arcs otherwise."""
    undirected = graph.is_symmetric
    sizes = np.abs(graph.weights)
    widths = np.full(len(sizes), 0.9) if len(set(sizes.tolist())) < 2 else 0.4 + 2.2 * sizes / sizes.max()
    widths *= min(1.0, (500 / max(len(sizes), 1)) ** 0.5)  # thinner where there are more arcs than these
    parallel = defaultdict(list)
    columns = (graph.sources.tolist(), graph.targets.tolist(), graph.edge_labels, widths.tolist())
    for u, v, label, width in zip(*columns, strict=True):
        if u <= v or not undirected:
            parallel[min(u, v), max(u, v)].append((u, v, label, width))
    # How far parallel edges bend, in parts of their length.
    return [
        Stroke(u, v, (i - (len(group) - 1) / 2) * 0.22 * (1 if u < v else -1), not undirected, label, width)
        for group in parallel.values()
        for i, (u, v, label, width) in enumerate(group)
    ]


def _draw_edges(ax: Any, strokes: list[Stroke], at: np.ndarray, circles: list[Any], size: float) -> None:
    named = len({s.label for s in strokes}) > 1 and len(strokes) <= MOST_TEXTS
    straight = [s for s in strokes if s.u != s.v and not s.bend and not s.arrow]
    _draw_lines(ax, straight, at, circles)
    patches = matplotlib("matplotlib.patches")
    for s in strokes:
        if s.u == s.v:
            # a small circle on the side of the node that looks away from the others
            radius = circles[s.u].radius
            away = at[s.u] - at.mean(axis=0)
            away = away / np.linalg.norm(away) if np.linalg.norm(away) > 1e-9 else np.array([0.0, 1.0])
            centre = at[s.u] + away * 1.55 * radius
            ax.add_patch(
                patches.Circle(centre, 0.6 * radius, fill=False, edgecolor=GUIDE, linewidth=s.width, zorder=1)
            )
        elif s.bend or s.arrow:
            style = {"arrowstyle": "-|>" if s.arrow else "-", "connectionstyle": f"arc3,rad={s.bend}"}
            ends = {"patchA": circles[s.u], "patchB": circles[s.v], "shrinkA": 0, "shrinkB": 0}
            ax.add_patch(
                patches.FancyArrowPatch(
                    at[s.u],
                    at[s.v],
                    **style,
                    **ends,
                    mutation_scale=7,
                    color=GUIDE,
                    linewidth=s.width,
                    zorder=1,
                )
            )
        if named and s.u != s.v:
            across = at[s.v] - at[s.u]
            x, y = (at[s.u] + at[s.v]) / 2 + (s.bend / 2 + 0.1) * np.array([across[1], -across[0]])
            text = letter(s.label)
            ax.text(
                x,
                y,
                text,
                ha="center",
                va="center",
                fontsize=size * min(0.8, 3.0 / max(len(text), 1)),
                color=GUIDE,
                parse_math=False,
            )


def _draw_lines(ax: Any, strokes: list[Stroke], at: np.ndarray, circles: list[Any]) -> None:
    """Straight edges, from circle to circle, in one collection."""
    if not strokes:
        return
    ends = np.array([(s.u, s.v) for s in strokes])
    a, b, radius = at[ends[:, 0]], at[ends[:, 1]], circles[0].radius
    length = np.linalg.norm(b - a, axis=1, keepdims=True)
    step = (b - a) * np.minimum(radius / np.maximum(length, 1e-12), 0.5)
    lines = matplotlib("matplotlib.collections").LineCollection(
        np.stack([a + step, b - step], axis=1), colors=GUIDE, linewidths=[s.width for s in strokes], zorder=1
    )
    ax.add_collection(lines)
