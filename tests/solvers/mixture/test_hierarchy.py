"""Weights of kernels on a graph: a general cone solver is the judge."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers.matrix import HeldMatrix
from mercer.solvers.mixture import Hierarchical, KernelFamily, RidgeMachine, solve_weights
from mercer.solvers.watch import Watch

from .hierarchy_cone import hierarchy_optimum
from .test_weights import margin

N = 16


def watch():
    return Watch(1e-6, None, (), False, "test")


def subsets(d=3, n=N, growth=1.5):
    """Products of Gaussian kernels over the nonempty sets of coordinates, and who is above whom."""
    X = np.random.default_rng(0).standard_normal((n, d))
    single = [np.exp(-0.5 * (X[:, [j]] - X[:, j]) ** 2) for j in range(d)]
    nodes = [set(s) for size in range(1, d + 1) for s in itertools.combinations(range(d), size)]
    Ks = [np.prod([single[j] for j in node], axis=0) for node in nodes]
    above = np.array([[v <= w for v in nodes] for w in nodes], dtype=float)
    return X, Ks, above, np.array([growth ** len(node) for node in nodes])


def chain(n=N):
    """Powers of a linear kernel, each the child of the one before."""
    x = np.random.default_rng(1).standard_normal(n)
    Ks = [np.outer(x, x) ** degree for degree in (1, 2, 3, 4)]
    return x[:, None], [K * (n / np.trace(K)) for K in Ks], np.tril(np.ones((4, 4))), np.ones(4)


def diamond(n=N):
    """Two roots that share a child, a node without relatives, and one kernel that is zero."""
    X, Ks, _, _ = subsets(3, n)
    above = np.eye(5)
    above[2, :2] = above[4, :3] = 1.0
    return X, [Ks[0], Ks[1], Ks[3], Ks[2], 0.0 * Ks[0]], above, np.array([1.0, 2.0, 1.0, 1.5, 1.0])


GRAPHS = {"subsets": subsets, "chain": chain, "diamond": diamond}
TARGETS = {
    "first": lambda X: X[:, 0],
    "product": lambda X: 2 * X[:, 0] * X[:, -1] + 0.3 * X[:, 0],
    "noise": lambda X: np.random.default_rng(5).standard_normal(len(X)),
}


def solved(Ks, above, delta, machine, tol=1e-7):
    family = KernelFamily([HeldMatrix(K) for K in Ks])
    penalty = Hierarchical(sparse.csr_array(above), delta)
    return solve_weights(family, machine, watch(), penalty=penalty, tol=tol)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("loss", ["ridge", "margin"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_optimum_is_that_of_a_cone_solver(graph, loss, target):
    X, Ks, above, delta = GRAPHS[graph]()
    score = TARGETS[target](X)
    score = score - np.median(score)
    if loss == "ridge":
        machine = RidgeMachine(score[:, None], 0.2, np.ones(N), True)
        least, norms = hierarchy_optimum(Ks, above, delta, score, alpha=0.2)
    else:
        machine, _, _ = margin(score, 2.0)
        least, norms = hierarchy_optimum(Ks, above, delta, np.where(score > 0, 1.0, -1.0), C=2.0)
    found = solved(Ks, above, delta, machine)
    assert found.converged
    assert found.gap <= 1e-7
    assert found.stats["objective"] == pytest.approx(least, rel=5e-7)
    A = found.value.trained.coefficients[:, 0]
    ours = [d * np.sqrt(max(A @ K @ A, 0.0)) for d, K in zip(found.value.weights, Ks, strict=True)]
    np.testing.assert_allclose(ours, norms, atol=2e-3 * norms.max())


def test_a_kernel_has_weight_only_with_its_ancestors():
    X, Ks, above, delta = subsets(7, 80)
    y = 2 * X[:, 0] * X[:, 1] + X[:, 2]
    found = solved(Ks, above, delta, RidgeMachine((y - y.mean())[:, None], 0.2, np.ones(80), True), 1e-5)
    used = found.value.weights > 0
    assert found.converged
    assert 4 <= used.sum() < 20
    assert used[[0, 1, 2, 7]].all()  # x0, x1, x2 and x0 with x1
    assert not (above[used] @ ~used).any()
    np.testing.assert_array_equal(used, found.value.theta > 0)


def test_any_point_of_the_simplex_bounds_the_sum_of_prices():
    _, _, above, delta = subsets(4)
    penalty, rng = Hierarchical(sparse.csr_array(above), delta), np.random.default_rng(0)
    prices = rng.exponential(size=15)
    sums = [prices @ penalty.weights(rng.dirichlet(np.full(15, 0.3))) for _ in range(2000)]
    for _ in range(20):
        theta = penalty.initial(15) if rng.random() < 0.3 else rng.dirichlet(np.ones(15))
        assert penalty.dual(prices, theta) >= max(sums)


def test_derivatives():
    _, _, above, delta = subsets(3)
    penalty, rng = Hierarchical(sparse.csr_array(above), delta), np.random.default_rng(0)
    theta, slopes = rng.dirichlet(np.ones(7)), -rng.exponential(size=7)
    first, second = penalty.model(theta, slopes, np.zeros((7, 7)))
    for v, e in enumerate(1e-6 * np.eye(7)):
        high, low = (penalty.model(theta + s * e, slopes, np.zeros((7, 7)))[0] for s in (1, -1))
        change = slopes @ (penalty.weights(theta + e) - penalty.weights(theta - e))
        np.testing.assert_allclose(first[v], change / 2e-6, rtol=1e-6)
        np.testing.assert_allclose(second[v], (high - low) / 2e-6, rtol=1e-5, atol=1e-6)
