"""Kernels on nodes against matrix functions of SciPy, and exact counts of walks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from mercer import gram
from mercer.domains import Adjacency
from mercer.graphs import operators
from mercer.kernels import (
    Diffusion,
    ExponentialDiffusion,
    GraphMatern,
    Heat,
    InverseCosine,
    LaplacianKernel,
    OneStep,
    PathKernel,
    Regularized,
    SeriesKernel,
    Steps,
    VonNeumann,
)

TOL = 1e-10


def weights(n: int, seed: int = 0, density: float = 0.3) -> np.ndarray:
    """A random symmetric matrix of weights with some self-loops and an isolated node."""
    rng = np.random.default_rng(seed)
    B = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density))
    B[-1] = B[:, -1] = 0.0
    return np.asarray(B + np.triu(B, 1).T)


def laplacian(B: np.ndarray, normalized: bool) -> np.ndarray:
    d = B.sum(axis=1)
    L = np.diag(d) - B
    if not normalized:
        return L
    s = np.array([1 / np.sqrt(x) if x else 0.0 for x in d])
    return np.asarray(s[:, None] * L * s)


def inverse_power(M: np.ndarray) -> np.ndarray:
    return np.asarray(scipy.linalg.fractional_matrix_power(0.75 * np.eye(len(M)) + M, -1.5))


B = weights(12)
L, N = laplacian(B, False), laplacian(B, True)
I = np.eye(12)  # noqa: E741 - the identity
FULL = "combinatorial"

CASES: list[tuple[Callable[[Any], Any], np.ndarray]] = [
    (lambda g: Diffusion(g, 0.8), scipy.linalg.expm(-0.8 * L)),
    (lambda g: Diffusion(g, 30.0), scipy.linalg.expm(-30.0 * L)),
    (lambda g: Diffusion(g, 3.0, laplacian="normalized"), scipy.linalg.expm(-3.0 * N)),
    (lambda g: ExponentialDiffusion(g, 0.4), scipy.linalg.expm(0.4 * B)),
    (lambda g: ExponentialDiffusion(g, -2.0), scipy.linalg.expm(-2.0 * B)),
    (lambda g: VonNeumann(g, 0.3), np.linalg.inv(I - 0.3 * B)),
    (lambda g: VonNeumann(g, -0.3), np.linalg.inv(I + 0.3 * B)),
    (lambda g: PathKernel(g, 5), np.linalg.matrix_power(B, 5)),
    (lambda g: SeriesKernel(g, [0.5, 0.0, -1.0, 2.0]), 0.5 * I - B @ B + 2 * B @ B @ B),
    (lambda g: LaplacianKernel(g, Regularized(0.2)), np.linalg.inv(N + 0.2 * I)),
    (lambda g: LaplacianKernel(g, Regularized(0.2), laplacian=FULL), np.linalg.inv(L + 0.2 * I)),
    (lambda g: LaplacianKernel(g, Heat(4.0)), scipy.linalg.expm(-4.0 * N)),
    (lambda g: LaplacianKernel(g, OneStep(2.5)), 2.5 * I - N),
    (lambda g: LaplacianKernel(g, Steps(2.5, 3)), np.linalg.matrix_power(2.5 * I - N, 3)),
    (lambda g: LaplacianKernel(g, InverseCosine()), scipy.linalg.cosm(np.pi / 4 * N)),
    (lambda g: LaplacianKernel(g, GraphMatern(1.5, 2.0)), inverse_power(N)),
    (
        lambda g: LaplacianKernel(g, lambda x: 1 / (1 + x) ** 2),
        np.linalg.matrix_power(np.linalg.inv(I + N), 2),
    ),
]


@pytest.fixture(params=["eigenvectors", "actions"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to the values: diagonalise, or act on columns as for a large graph."""
    if request.param == "actions":
        monkeypatch.setattr(operators.GraphOperator, "is_small", False)
    return str(request.param)


@pytest.mark.parametrize(("make", "want"), CASES, ids=range(len(CASES)))
def test_values_are_those_of_the_matrix_function(
    make: Callable[[Any], Any], want: np.ndarray, way: str
) -> None:
    k = make(B.copy())  # a graph of its own: what is known of a graph is kept
    assert k._is_small == (way == "eigenvectors")
    scale = np.abs(want).max()
    np.testing.assert_allclose(k.block(range(12)), want, rtol=0, atol=TOL * scale)
    rows, columns = [3, 11, 3], [0, 5, 5, 7]
    np.testing.assert_allclose(k.block(rows, columns), want[np.ix_(rows, columns)], rtol=0, atol=TOL * scale)
    np.testing.assert_allclose(k.diagonal(rows), want[rows, rows], rtol=0, atol=TOL * scale)
    assert k(4, 9) == pytest.approx(want[4, 9], abs=TOL * scale)


@pytest.mark.parametrize(("make", "want"), CASES, ids=range(len(CASES)))
def test_products_are_those_of_the_matrix(make: Callable[[Any], Any], want: np.ndarray, way: str) -> None:
    k, V = make(B.copy()), np.random.default_rng(1).standard_normal((12, 20))
    tol = {"rtol": 0.0, "atol": 10 * TOL * np.abs(want).max()}
    nodes, others = [2, 2, 9, 0], [1, 3, 3]
    np.testing.assert_allclose(gram(k, range(12)) @ V, want @ V, **tol)
    np.testing.assert_allclose(gram(k, range(12)) @ V[:, 0], want @ V[:, 0], **tol)
    both = gram(k + 0.5 * Diffusion(k.graph, 0.8), nodes)
    total = (want + 0.5 * scipy.linalg.expm(-0.8 * L))[np.ix_(nodes, nodes)]
    np.testing.assert_allclose(both @ V[:4], total @ V[:4], **tol)
    np.testing.assert_allclose(gram(k, nodes) @ V[:4], want[np.ix_(nodes, nodes)] @ V[:4], **tol)
    np.testing.assert_allclose(gram(k, nodes, others) @ V[:3], want[np.ix_(nodes, others)] @ V[:3], **tol)


@pytest.mark.parametrize("length", [1, 2, 3, 8, 20])
def test_walks_are_counted_exactly(length: int, way: str) -> None:
    A = (weights(9, 3) > 0).astype(int)
    exact = np.linalg.matrix_power(A.astype(object), length)  # whole numbers of any size
    assert exact.max() < 2**53
    np.testing.assert_array_equal(PathKernel(A, length).block(range(9)), exact.astype(float))
    value = PathKernel(A, length).precise(0, 1)
    assert int(value) == exact[0, 1]


def test_a_graph_without_edges_is_the_identity(way: str) -> None:
    for k in (Diffusion((3, []), 2.0), VonNeumann((3, []), 5.0), ExponentialDiffusion((3, []), 2.0)):
        np.testing.assert_allclose(k.block(range(3)), np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(PathKernel((3, []), 2).block(range(3)), np.zeros((3, 3)))


def test_permuting_the_nodes_permutes_the_values(way: str) -> None:
    order = np.random.default_rng(0).permutation(12)
    moved = B[np.ix_(order, order)]
    K = Diffusion(B, 1.3).block(order)
    np.testing.assert_allclose(Diffusion(moved, 1.3).block(range(12)), K, atol=1e-13)


def test_names_stand_for_numbers() -> None:
    names = [f"node {i}" for i in range(12)]
    graph = Adjacency._of(Adjacency.of(B).matrix, names)
    K = Diffusion(graph, 0.8).block(["node 3", "node 0"], names)
    np.testing.assert_array_equal(K, Diffusion(B, 0.8).block([3, 0], range(12)))


def test_heat_spreads_over_a_component() -> None:
    K = Diffusion((5, [(0, 1), (1, 2), (3, 4)]), 1e6).block(range(5))
    want = scipy.linalg.block_diag(np.full((3, 3), 1 / 3), np.full((2, 2), 1 / 2))
    np.testing.assert_allclose(K, want, atol=1e-9)
    assert K.min() == 0.0
