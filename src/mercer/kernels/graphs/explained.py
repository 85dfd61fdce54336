"""Which walks a sum over walks is made of: the labels along them, or their numbers of steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...contributions import Contribution
from ...domains import Graph
from .counted import label_name
from .product import ProductGraph
from .walk_sums import Series

__all__ = ["Walked", "by_length", "by_sequence", "walk_name"]

#: Steps and sequences of labels of the walks that are listed.
MOST_STEPS, MOST_SEQUENCES = 10, 1000

REST = "longer walks"


@dataclass(frozen=True, eq=False)
class Walked:
    """A graph with the factors of a walk's first node, last node and steps.

    ``nodes`` are the user's numbers of its nodes, where these stand for others.
    """

    graph: Graph
    weights: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    nodes: np.ndarray

    def begin(self) -> dict[Any, np.ndarray]:
        """Factors of first nodes by their label."""
        labels = self.graph.labels
        return {
            label: np.where([other == label for other in labels], self.starts, 0.0)
            for label in dict.fromkeys(labels)
        }

    def arcs(self) -> dict[tuple[Any, Any], np.ndarray]:
        """Numbers of arcs by their label and that of the node they lead to."""
        g = self.graph
        found: dict[tuple[Any, Any], list[int]] = {}
        for a, (label, target) in enumerate(zip(g.edge_labels, g.targets.tolist(), strict=True)):
            found.setdefault((label, g.labels[target]), []).append(a)
        return {key: np.array(numbers) for key, numbers in found.items()}

    def step(self, v: np.ndarray, arcs: np.ndarray) -> np.ndarray:
        """Factors of walks by their last node, one step further along some arcs."""
        g = self.graph
        return np.bincount(g.targets[arcs], v[g.sources[arcs]] * self.weights[arcs], g.n)

    def shares(self, v: np.ndarray) -> dict[tuple[int, int], float]:
        """Shares of a weight that belong to the last nodes of walks."""
        parts = np.bincount(self.nodes, v * self.stops)
        found, total = np.flatnonzero(parts).tolist(), float(parts.sum())
        return {(u, u + 1): float(parts[u]) / total for u in found} if total else {}


def by_sequence(x: Walked, y: Walked, series: Series, total: float) -> Iterator[Contribution]:
    """Contributions of walks by the labels along them; they add up to the total."""
    others = y.begin()
    walks: dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray]] = {
        (label,): (v, others[label]) for label, v in x.begin().items() if label in others
    }
    x_arcs, y_arcs = x.arcs(), y.arcs()
    keys = [key for key in x_arcs if key in y_arcs]
    weights, weight = [], 1.0
    for steps in range(MOST_STEPS + 1):
        for labels, (v, w) in walks.items():
            weights.append(weight * float(v @ x.stops) * float(w @ y.stops))
            ours, theirs = x.shares(v), y.shares(w)
            yield Contribution(
                walk_name(labels),
                weights[-1],
                tuple(ours),
                tuple(theirs),
                _x_parts=tuple(weights[-1] * share for share in ours.values()),
                _y_parts=tuple(weights[-1] * share for share in theirs.values()),
            )
        longer = {}
        for labels, (v, w) in walks.items():
            for key in keys:
                left, right = x.step(v, x_arcs[key]), y.step(w, y_arcs[key])
                if left.any() and right.any():
                    longer[(*labels, *key)] = left, right
        if steps == series.length or not longer:
            return
        if len(weights) + len(longer) > MOST_SEQUENCES:
            break
        walks, weight = longer, weight * series.ratio(steps + 1)
    yield Contribution(REST, total - math.fsum(weights))


def walk_name(labels: Sequence[Any]) -> str:
    """Labels of nodes and of the edges between them, in words; the number of steps if there are none."""
    nodes, edges = labels[::2], labels[1::2]
    if all(label is None for label in labels):
        return _steps(len(edges))
    name = label_name(nodes[0])
    for edge, node in zip(edges, nodes[1:], strict=True):
        name += f" {'-' if edge is None else f'-{label_name(edge)}-'} {label_name(node)}"
    return name


def _steps(steps: int) -> str:
    return f"walks of {steps} step{'' if steps == 1 else 's'}"


def by_length(product: ProductGraph, factor: float, series: Series, total: float) -> Iterator[Contribution]:
    """Contributions of walks by their number of steps; every first and last pair has the factor given."""
    z, weights, weight = [1.0] * len(product.pairs), [], factor
    for steps in range(MOST_STEPS + 1):
        weights.append(weight * math.fsum(s * v for s, v in zip(product.similarities, z, strict=True)))
        yield Contribution(_steps(steps), weights[-1])
        if steps == series.length or not any(product.rows):
            return
        z = product.step([0.0] * len(z), 1.0, z)
        weight *= series.ratio(steps + 1)
    yield Contribution(REST, total - math.fsum(weights))
