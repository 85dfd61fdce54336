"""Explicit features of kernels between graphs: inner products are values, also of new graphs; names."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mercer.errors import DomainError
from mercer.features import Explicit
from mercer.graphs import Graph
from mercer.kernels import (
    Categorical,
    Constant,
    EdgeHistogram,
    RandomWalk,
    ShortestPath,
    WeisfeilerLehman,
    WLOptimalAssignment,
)


def random_graph(rng: np.random.Generator) -> Graph:
    n = int(rng.integers(1, 7))
    edges = [(i, j) for i in range(n) for j in range(n) if rng.random() < 0.3]
    return Graph(
        n,
        edges,
        labels=rng.choice(["C", "N", 1], n).tolist(),
        edge_labels=rng.choice(["-", "="], len(edges)).tolist(),
        weights=rng.integers(1, 4, len(edges)),
        directed=bool(rng.random() < 0.5),
    )


RNG = np.random.default_rng(0)
OLD, NEW = [random_graph(RNG) for _ in range(8)], [*(random_graph(RNG) for _ in range(8)), Graph(0), Graph(2)]

KERNELS = [
    WLOptimalAssignment(2),
    WLOptimalAssignment(2).normalized(),
    WeisfeilerLehman(2, base=ShortestPath()),
    WeisfeilerLehman(1, base=EdgeHistogram()),
    RandomWalk(0.3, length=3),
    RandomWalk(0.3, length=3, form="uniform"),
    RandomWalk(0.3, length=2, series="exponential").normalized(),
    RandomWalk(0.3, length=3, node=Constant(1.0)),
    RandomWalk(0.3, length=3, edge=Constant(1.0)),
    RandomWalk(0.3, length=0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_inner_products_are_values(kernel: Any) -> None:
    features = Explicit(kernel).fit(OLD)
    A, B = features.transform(OLD).toarray(), features.transform(NEW).toarray()
    np.testing.assert_allclose(A @ A.T, kernel.block(OLD), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(B @ A.T, kernel.block(NEW, OLD), rtol=1e-13, atol=1e-14)
    names = features.get_feature_names_out()
    assert len(names) == features.dim == A.shape[1]
    assert len(set(names)) == len(names)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(NEW).toarray(), B)


def test_features_of_walks_by_enumeration() -> None:
    """Every walk of up to three steps, in exact arithmetic."""
    kernel = RandomWalk(0.25, length=3)  # 1/2 is the root of 1/4
    features = Explicit(kernel).fit(OLD)
    names = features.get_feature_names_out().tolist()
    for x, row in zip(OLD, features.transform(OLD).toarray(), strict=True):
        arcs = list(zip(x.sources.tolist(), x.targets.tolist(), x.edge_labels, x.weights, strict=True))
        want: Counter[str] = Counter()
        for steps in range(4):
            for walk in itertools.product(arcs, repeat=steps) if steps else [()]:
                if any(a[1] != b[0] for a, b in itertools.pairwise(walk)):
                    continue
                for first in [walk[0][0]] if walk else range(x.n):
                    name, weight = str(x.labels[first]), Fraction(1, 2) ** steps
                    for _, v, tag, w in walk:
                        name += f" -{tag}- {x.labels[v]}"
                        weight *= int(w)
                    want[name.replace("--- ", "-'-'- ")] += weight  # type: ignore[assignment]
        found = {name.replace("'", ""): value for name, value in zip(names, row, strict=True) if value}
        assert found == {name.replace("'", ""): float(value) for name, value in want.items()}


def test_an_optimal_assignment_says_how_often() -> None:
    x, y = Graph(3, [(0, 1), (1, 2)], labels="CCO"), Graph(2, [(0, 1)], labels="CO")
    features = Explicit(WLOptimalAssignment(0)).fit([x, y])
    assert features.get_feature_names_out().tolist() == ["0: C", "0: C, 2 times", "0: O"]
    three = Graph(4, [], labels="CCCO")  # of the third C nothing is known
    assert features.transform([x, y, three]).toarray().tolist() == [[1, 1, 1], [1, 0, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    "kernel",
    [
        RandomWalk(0.1),
        RandomWalk(-0.1, length=2),
        RandomWalk(0.1, length=2, node=Categorical(0.5)),
        RandomWalk(0.1, length=1_000_000),
    ],
    ids=repr,
)
def test_what_has_no_finite_features_says_so(kernel: Any) -> None:
    with pytest.raises(DomainError, match="no finite features"):
        Explicit(kernel).fit([Graph(2, [(0, 1)], labels="CO")])
