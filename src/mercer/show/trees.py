"""Pictures of trees, with what the fragments at their nodes add to a value or a decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contributions import Contributions
from ..domains import Tree, Trees
from ..errors import InputError, ParameterError
from .canvas import GUIDE, INK, canvas, drawing, matplotlib
from .patterns import AGAINST, FOR, SMALL, STRONGEST, check, explained_colours, unplaced_note

__all__ = ["tree"]

#: Inches between leaves and between levels of a new figure, and its largest width and height.
LEAF, LEVEL, LARGEST = 0.85, 0.55, 14.0
#: Where an edge begins and ends, in levels from its nodes.
GAP = 0.22
#: Inches of a line of text below the picture.
LINE = 0.2


def tree(x: Any, contributions: Contributions | None = None, ax: Any = None, *, side: str = "x") -> Any:
    """Draw a tree, its nodes coloured by what the fragments add that begin there.

    Blue nodes add, vermilion ones take away, and the strongest colour is that of the node with the largest
    weight; the nodes add up to the value, but for patterns that have no place, which are named under the
    picture.

    Parameters
    ----------
    x : tree
        In any of the forms of :class:`mercer.trees.Tree`.
    contributions : Contributions, optional
        Of ``kernel.contributions(x, y)`` or of ``machine.explain(x)``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of the size that the tree needs.
    side : {"x", "y"}, default="x"
        Which of the two trees of ``kernel.contributions(x, y)`` is given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = tree("(NP (D the) (N dog))")
    >>> [text.get_text() for text in ax.texts]
    ['NP', 'D', 'the', 'N', 'dog']
    """
    found = Trees().point(x)
    if side not in ("x", "y"):
        raise ParameterError(f'tree: `side` must be "x" or "y". Got {side!r}.')
    weights = np.zeros(len(found))
    if contributions is not None:
        check("tree", contributions)
        weights = _weights(found, contributions, side)
    at = _layout(found)
    wide, deep = at[:, 0].max() + 1, 1 - at[:, 1].min()
    if ax is None:
        height = deep * LEVEL + (3 * LINE if contributions is not None else 0)
        _, ax = canvas(min(max(wide * LEAF, 2.8), LARGEST), min(height, LARGEST))
    with drawing(ax) as ax:
        ax.set(xlim=(-0.6, wide - 0.4), ylim=(0.5 - deep, 0.5), xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        _draw_edges(ax, found, at)
        largest = float(np.abs(weights).max(initial=0.0)) or 1.0
        for place, label, weight in zip(at, found.labels, weights.tolist(), strict=True):
            colour = (FOR if weight > 0 else AGAINST, STRONGEST * abs(weight) / largest)
            box = {"boxstyle": "round,pad=0.25", "facecolor": colour if weight else "none", "linewidth": 0}
            style = {"ha": "center", "va": "center", "fontsize": SMALL, "color": INK, "parse_math": False}
            ax.text(*place, str(label), bbox=box, **style)
        if contributions is not None:
            note = unplaced_note(contributions, side)
            entries = explained_colours(contributions, weights, "node")
            _legend(ax, entries | ({note: "none"} if note else {}))
    return ax


def _weights(tree: Tree, contributions: Contributions, side: str) -> np.ndarray:
    """What the fragments add that begin at each node."""
    weights, sizes = np.zeros(len(tree)), tree.sizes
    for c in contributions:
        for (first, end), weight in c.placed(side).items():
            if first >= len(tree) or end - first != sizes[first]:
                raise InputError(
                    f"tree: `contributions` must be of the tree that is drawn. Got a fragment at the nodes "
                    f"{first}:{end}, which are no subtree of it."
                )
            weights[first] += weight
    return weights


def _layout(tree: Tree) -> np.ndarray:
    """Leaves side by side, every other node above the middle of its children."""
    at, children = np.zeros((len(tree), 2)), tree.children
    for v, below in enumerate(children):
        at[below, 1] = at[v, 1] - 1
    leaves = np.flatnonzero(tree.arities == 0)
    at[leaves, 0] = np.arange(len(leaves))
    for v in reversed(range(len(tree))):
        if children[v]:
            at[v, 0] = (at[children[v][0], 0] + at[children[v][-1], 0]) / 2
    return at


def _draw_edges(ax: Any, tree: Tree, at: np.ndarray) -> None:
    gap = np.array([0.0, GAP])
    lines = [(at[v] - gap, at[c] + gap) for v, below in enumerate(tree.children) for c in below]
    collection = matplotlib("matplotlib.collections").LineCollection
    ax.add_collection(collection(lines, colors=GUIDE, linewidths=0.9, zorder=1))


def _legend(ax: Any, entries: dict[str, Any]) -> None:
    patch = matplotlib("matplotlib.patches").Patch
    handles = [patch(facecolor=colour, linewidth=0, label=text) for text, colour in entries.items()]
    place = {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderaxespad": 0, "borderpad": 0}
    legend = ax.legend(handles=handles, fontsize=SMALL, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)
