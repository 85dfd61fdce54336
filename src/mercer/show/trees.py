"""Pictures of trees, with what the fragments at their nodes add to a value or a decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contributions import Contributions
from ..domains import Tree, Trees
from ..errors import InputError, ParameterError
from .canvas import GUIDE, INK, canvas, drawing, matplotlib
from .graphs import legend
from .patterns import AGAINST, FOR, SMALL, STRONGEST, check, explained_colours, unplaced_note

__all__ = ["tree"]


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
        for c in contributions:
            for (first, end), weight in c.placed(side).items():
                if first >= len(found) or end - first != found.sizes[first]:
                    raise InputError(
                        "tree: `contributions` must be of the tree that is drawn. Got a fragment at the "
                        f"nodes {first}:{end}, which are no subtree of it."
                    )
                weights[first] += weight
    at = _layout(found)
    wide, deep = at[:, 0].max() + 1, 1 - at[:, 1].min()
    if ax is None:
        # Inches between leaves and between levels, of three lines of text, and at most.
        width, height = wide * 0.85, deep * 0.55 + (3 * 0.2 if contributions is not None else 0)
        _, ax = canvas(min(max(width, 2.8), 14.0), min(height, 14.0))
    with drawing(ax) as ax:
        ax.set(xlim=(-0.6, wide - 0.4), ylim=(0.5 - deep, 0.5), xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        gap = np.array([0.0, 0.22])  # in levels, from a node to the ends of its edges
        lines = [(at[v] - gap, at[c] + gap) for v, below in enumerate(found.children) for c in below]
        collection = matplotlib("matplotlib.collections").LineCollection
        ax.add_collection(collection(lines, colors=GUIDE, linewidths=0.9, zorder=1))
        largest = float(np.abs(weights).max(initial=0.0)) or 1.0
        for place, label, weight in zip(at, found.labels, weights.tolist(), strict=True):
            colour = (FOR if weight > 0 else AGAINST, STRONGEST * abs(weight) / largest)
            box = {"boxstyle": "round,pad=0.25", "facecolor": colour if weight else "none", "linewidth": 0}
            style = {"ha": "center", "va": "center", "fontsize": SMALL, "color": INK, "parse_math": False}
            ax.text(*place, str(label), bbox=box, **style)
        if contributions is not None:
            note = unplaced_note(contributions, side)
            entries = explained_colours(contributions, weights, "node")
            legend(ax, entries | ({note: "none"} if note else {}))
    return ax


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
