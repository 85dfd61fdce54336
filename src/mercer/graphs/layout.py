"""Places in the plane for the nodes of a graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.spatial
from scipy.sparse.csgraph import connected_components, shortest_path

from ..domains import Graph
from ..errors import InputError

__all__ = ["layout"]

#: All distances between nodes are in memory.
MOST_NODES = 3000

#: Steps of stress majorization, and the relative improvement at which they end.
STEPS, ENOUGH = 300, 1e-3

#: Free space around a component, in lengths of an edge.
MARGIN = 0.7


def layout(graph: Graph) -> np.ndarray:
    r"""Places of the nodes, such that distances on paper are those along the edges, as far as possible.

    Minimises the stress :math:`\sum_{u < v} (\|p_u - p_v\| - d_{uv})^2 / d_{uv}^2`, with the numbers of edges
    between nodes as distances d, by majorization (Gansner, Koren and North 2005), from the start that
    classical scaling gives.  Components stand side by side.  No random numbers: one graph has one picture.
    Cost: O(n^3) and memory O(n^2), up to 3,000 nodes.

    Returns
    -------
    array of shape (n, 2)
        In lengths of an edge.

    Examples
    --------
    >>> places = layout(Graph(3, [(0, 1), (1, 2)]))
    >>> abs(places[0] - places[2]).round(1).tolist()
    [2.0, 0.0]
    """
    if graph.n > MOST_NODES:
        raise InputError(
            f"layout: `graph` must have at most {MOST_NODES} nodes, for all distances are held. It has "
            f"{graph.n}. Draw a part of it, or pass places of your own."
        )
    ends = (graph.sources, graph.targets)
    links = scipy.sparse.csr_array((np.ones(len(graph.sources)), ends), shape=(graph.n, graph.n))
    count, component = connected_components(links, directed=False)
    parts = [np.flatnonzero(component == c) for c in range(count)]
    places = np.zeros((graph.n, 2))
    for part in parts:
        distances = shortest_path(links[part][:, part], directed=False, unweighted=True)
        places[part] = _upright(_majorized(_scaled(distances), distances))
    _side_by_side(places, parts)
    return places


def _scaled(distances: np.ndarray) -> np.ndarray:
    """Classical scaling to two coordinates; a small spiral keeps nodes of equal distances apart."""
    n = len(distances)
    centred = distances**2 - (distances**2).mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1)[:, None]))
    top = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    places = np.zeros((n, 2))
    places[:, : top.shape[1]] = top * np.sign(top[np.abs(top).argmax(axis=0), range(top.shape[1])])
    angles = 2.4 * np.arange(n)
    return places + 0.05 * np.column_stack([np.cos(angles), np.sin(angles)])


def _majorized(places: np.ndarray, distances: np.ndarray) -> np.ndarray:
    n, off = len(places), ~np.eye(len(places), dtype=bool)
    inverse = np.divide(1.0, distances, where=off, out=np.zeros((n, n)))
    weights = inverse**2
    solve = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1.0 / n)
    last = np.inf
    for _ in range(STEPS):
        apart = scipy.spatial.distance.cdist(places, places)
        stress = float((weights * (apart - distances) ** 2).sum())
        if last - stress <= ENOUGH * stress:
            break
        last = stress
        pull = np.divide(inverse, apart, where=off & (apart > 0), out=np.zeros((n, n)))
        places = solve @ (pull.sum(axis=1)[:, None] * places - pull @ places)
    return places


def _upright(places: np.ndarray) -> np.ndarray:
    """The longest extent across the page."""
    centred = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=True)
    signs = np.sign(axes[range(2), np.abs(axes).argmax(axis=1)])
    return np.asarray(centred @ (axes * signs[:, None]).T)


def _side_by_side(places: np.ndarray, parts: list[np.ndarray]) -> None:
    """Move components into rows, the tallest first, on a page that is wider than high."""
    boxes = [places[part].max(axis=0) - places[part].min(axis=0) + 2 * MARGIN for part in parts]
    wide = 1.4 * float(np.sqrt(sum(box.prod() for box in boxes)))
    left = top = height = 0.0
    for c in sorted(range(len(parts)), key=lambda c: -boxes[c][1]):
        if left and left + boxes[c][0] > wide:
            left, top, height = 0.0, top - height, 0.0
        corner = places[parts[c]].min(axis=0) - MARGIN
        places[parts[c]] += np.array([left, top - boxes[c][1]]) - corner
        left, height = left + boxes[c][0], max(height, float(boxes[c][1]))
