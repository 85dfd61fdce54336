"""Places in the plane for the nodes of a graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.spatial
from scipy.sparse.csgraph import connected_components, shortest_path

from ..domains import Graph
from ..errors import InputError

__all__ = ["layout"]


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
    if graph.n > 3000:
        raise InputError(
            "layout: `graph` must have at most 3000 nodes, for all distances are held. It has "
            f"{graph.n}. Draw a part of it, or pass places of your own."
        )
    ends = (graph.sources, graph.targets)
    links = scipy.sparse.csr_array((np.ones(len(graph.sources)), ends), shape=(graph.n, graph.n))
    count, component = connected_components(links, directed=False)
    parts = [np.flatnonzero(component == c) for c in range(count)]
    places = np.zeros((graph.n, 2))
    margin = 0.7  # free space around a component, in lengths of an edge
    boxes = []
    for part in parts:
        distances = shortest_path(links[part][:, part], directed=False, unweighted=True)
        found = _majorized(_scaled(distances), distances)
        centred = found - found.mean(axis=0)
        _, _, axes = np.linalg.svd(centred, full_matrices=True)  # the longest extent goes across the page
        signs = np.sign(axes[range(2), np.abs(axes).argmax(axis=1)])
        places[part] = centred @ (axes * signs[:, None]).T
        boxes.append(places[part].max(axis=0) - places[part].min(axis=0) + 2 * margin)
    # Components go into rows, the tallest first, on a page that is wider than high.
    wide = 1.4 * float(np.sqrt(sum(box.prod() for box in boxes)))
    left = top = height = 0.0
    for c in sorted(range(count), key=lambda c: -boxes[c][1]):
        if left and left + boxes[c][0] > wide:
            left, top, height = 0.0, top - height, 0.0
        corner = places[parts[c]].min(axis=0) - margin
        places[parts[c]] += np.array([left, top - boxes[c][1]]) - corner
        left, height = left + boxes[c][0], max(height, float(boxes[c][1]))
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
    for _ in range(300):
        apart = scipy.spatial.distance.cdist(places, places)
        stress = float((weights * (apart - distances) ** 2).sum())
        if last - stress <= 1e-3 * stress:
            break
        last = stress
        pull = np.divide(inverse, apart, where=off & (apart > 0), out=np.zeros((n, n)))
        places = solve @ (pull.sum(axis=1)[:, None] * places - pull @ places)
    return places
