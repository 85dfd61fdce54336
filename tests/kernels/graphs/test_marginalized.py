"""Marginalised walks against the probabilities of all walks, one by one."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mercer.domains import Graph
from mercer.errors import InputError, ParameterError
from mercer.kernels import MarginalizedWalk

from .walks_by_hand import probability

pytestmark = pytest.mark.native

PATH = Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels=[1, 2])
STAR = Graph(4, [(0, 1), (0, 2), (0, 3)], labels="COCC", edge_labels=[2, 1, 1], weights=[0.5, 2.0, 1.0])
ARCS = Graph(3, [(0, 1), (1, 2), (2, 0)], labels="CCO", edge_labels=[1, 2, 1], directed=True)
LOOPED = Graph(2, [(0, 0), (0, 1), (0, 1)], labels="CO", edge_labels=[1, 2, 1])
ALONE = Graph(2, labels="CO")
EMPTY = Graph(0)
GRAPHS = [PATH, STAR, ARCS, LOOPED, ALONE, EMPTY]

#: Walks of both graphs go on for as many steps with a probability below 0.3^8.
STEPS, STOP = 4, 0.7


def morgan(g: Graph, steps: int) -> list[tuple[object, int]]:
    A = np.zeros((g.n, g.n), dtype=int)
    np.add.at(A, (g.sources, g.targets), 1)
    indices = np.linalg.matrix_power(A, steps).sum(axis=1) if g.n else np.zeros(0, dtype=int)
    return list(zip(g.labels, indices.tolist(), strict=True))


@pytest.mark.parametrize("tottering", [True, False])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_values_are_probabilities_of_reading_the_same_labels(tottering: bool, steps: int) -> None:
    k = MarginalizedWalk(STOP, tottering=tottering, morgan=steps)
    remaining = (1 - STOP) ** (2 * STEPS + 2)
    for x in GRAPHS:
        for y in GRAPHS:
            labels = (morgan(x, steps), morgan(y, steps)) if steps else None
            want = float(probability(x, y, Fraction(STOP), STEPS, tottering, labels))
            assert want - 1e-12 <= k(x, y) <= want + remaining
    definition = [[k(x, y) for y in GRAPHS] for x in GRAPHS]
    np.testing.assert_allclose(k.block(GRAPHS), definition, rtol=1e-12)
    np.testing.assert_allclose(k.block(GRAPHS[:2], GRAPHS), definition[:2], rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(GRAPHS), np.diagonal(definition), rtol=1e-12)


def test_without_cycles_and_tottering_walks_end() -> None:
    # On a tree they have at most as many steps as it is deep: the enumeration is complete.
    k = MarginalizedWalk(0.25, tottering=False)
    for x, y in ((PATH, PATH), (PATH, STAR), (STAR, STAR)):
        want = probability(x, y, Fraction(1, 4), 3, tottering=False)
        assert k(x, y) == pytest.approx(float(want), rel=1e-14)


def test_by_hand() -> None:
    node = Graph(1, labels="O")
    assert MarginalizedWalk(0.5)(node, node) == 1.0  # it stops for certain
    assert MarginalizedWalk(0.5)(ALONE, node) == 0.5
    edge = Graph(2, [(0, 1)], labels="CO")
    # Start alike: 1/2.  Then both stop at once, or both go on, which is alike again.
    assert MarginalizedWalk(0.5)(edge, edge) == pytest.approx(0.5 * 0.25 / (1 - 0.25), rel=1e-14)
    # Without tottering a walk stops for certain after one step.
    assert MarginalizedWalk(0.5, tottering=False)(edge, edge) == pytest.approx(0.5 * (0.25 + 0.25), rel=1e-14)


@pytest.mark.parametrize("stop", [0.01, 0.3, 1.0])
def test_without_labels_it_is_constant(stop: float) -> None:
    rings = [Graph(n, [(i, (i + 1) % n) for i in range(n)]) for n in (3, 4, 7)]
    K = MarginalizedWalk(stop).block([*rings, Graph(4, [(0, 1), (0, 2), (0, 3)])])
    np.testing.assert_allclose(K, stop / (2 - stop), rtol=1e-12)


def test_contributions_add_up() -> None:
    for k in (MarginalizedWalk(0.3), MarginalizedWalk(0.3, tottering=False), MarginalizedWalk(0.3, morgan=1)):
        for x, y in [*pairwise(GRAPHS), (PATH, PATH)]:
            assert k.contributions(x, y).total == pytest.approx(k(x, y), rel=1e-12, abs=1e-15)
    found = {c.pattern: c.weight for c in MarginalizedWalk(0.5).contributions(PATH, PATH)}
    assert found["C"] == pytest.approx((2 / 3 * 0.5) ** 2)
    whole = MarginalizedWalk(0.5, tottering=False).contributions(PATH, PATH)
    assert {c.pattern: c.x_places for c in whole}["C -1- C -2- O"] == ((2, 3),)
    assert found["C -2- O"] == pytest.approx((1 / 3 * 0.5 * 0.5 * 0.5) ** 2)


def test_parameters_and_weights_are_checked() -> None:
    for stop in (0.0, 1.5, -1.0):
        with pytest.raises(ParameterError, match="MarginalizedWalk: `stop` must be"):
            MarginalizedWalk(stop)
    with pytest.raises(ParameterError, match="`tottering` must be True or False"):
        MarginalizedWalk(0.5, tottering="no")  # type: ignore[arg-type]
    negative = Graph(2, [(0, 1)], weights=[-1.0])
    for k in (MarginalizedWalk(0.5), MarginalizedWalk(0.5, tottering=False)):
        with pytest.raises(InputError, match=r"weights of edges must be positive.* from node 0 to 1\."):
            k(negative, negative)
        with pytest.raises(InputError, match=r"Got -1\.0 from node 0 to 1 of graph 1\."):
            k.block([PATH, negative])
