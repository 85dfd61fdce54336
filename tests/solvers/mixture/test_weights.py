"""Weights of general kernels together with a machine: a general cone solver is the judge."""

import numpy as np
import pytest

from mercer.solvers.matrix import HeldMatrix
from mercer.solvers.mixture import (
    BoxMachine,
    BoxTask,
    KernelFamily,
    LpNorm,
    RidgeMachine,
    solve_weights,
)
from mercer.solvers.svm import BoxProblem
from mercer.solvers.watch import Watch

from .cone import cone_optimum

N = 30


def watch(tol=1e-6, callbacks=()):
    return Watch(tol, None, callbacks, False, "test")


def kernels(m=6, n=N, seed=0):
    """Gaussian kernels on single columns and on all of them, and a linear one; trace n."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m))
    squares = [(X[:, [j]] - X[:, j]) ** 2 for j in range(m - 2)]
    Ks = [np.exp(-0.5 * D) for D in squares] + [np.exp(-0.1 * sum(squares)), X @ X.T]
    score = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(n)
    return [K * (n / np.trace(K)) for K in Ks], score


def margin(score, C=1.0):
    y = np.where(score > 0, 1.0, -1.0)
    problem = BoxProblem(-y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0))
    bounds = {"low": problem.low, "high": problem.high, "total": 0.0}
    return BoxMachine([BoxTask(np.arange(len(y)), problem)], len(y)), -y, bounds


def homogeneous(score, C=1.0):
    machine, linear, bounds = margin(score, C)
    task = machine.tasks[0]
    problem = BoxProblem(task.problem.linear, task.problem.low, task.problem.high, constraint="free")
    return BoxMachine([BoxTask(task.index, problem)], len(score)), linear, {**bounds, "total": None}


def tube(score, C=1.0, epsilon=0.1):
    bound = np.full(len(score), C)
    problem = BoxProblem(-score, -bound, bound, epsilon)
    bounds = {"low": -bound, "high": bound, "total": 0.0, "epsilon": epsilon}
    return BoxMachine([BoxTask(np.arange(len(score)), problem)], len(score)), -score, bounds


def one_class(score, nu=0.3):
    n, total = len(score), nu * len(score)
    start = np.clip(total - np.arange(n), 0.0, 1.0)
    problem = BoxProblem(np.zeros(n), np.zeros(n), np.ones(n))
    bounds = {"low": np.zeros(n), "high": np.ones(n), "total": total}
    return BoxMachine([BoxTask(np.arange(n), problem, start)], n), np.zeros(n), bounds


def ridge(score, alpha=0.5, intercept=True):
    weight = 1.0 + (np.arange(len(score)) % 2)
    machine = RidgeMachine(score[:, None], alpha, weight, intercept)
    return machine, -score, {"noise": alpha / weight, "total": 0.0 if intercept else None}


MACHINES = {
    "margin": margin,
    "large-C": lambda score: margin(score, 100.0),
    "no-intercept": homogeneous,
    "tube": tube,
    "one-class": one_class,
    "ridge": ridge,
    "ridge-small": lambda score: ridge(score, 0.01, False),
}


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("name", MACHINES)
def test_the_optimum_is_that_of_a_cone_solver(name, p):
    Ks, score = kernels()
    machine, linear, options = MACHINES[name](score)
    family = KernelFamily([HeldMatrix(K) for K in Ks])
    found = solve_weights(family, machine, watch(), penalty=LpNorm(p), tol=1e-7)
    expected = cone_optimum(Ks, linear, p=p, **options)
    assert found.converged
    assert found.gap <= 1e-7
    assert found.stats["objective"] == pytest.approx(expected.objective, rel=3e-7 if p == 1 else 1e-6)
    assert found.stats["bound"] <= found.stats["objective"]
    np.testing.assert_allclose(found.value.weights, expected.weights, atol=2e-3)
    assert (found.value.weights**p).sum() == pytest.approx(1.0)
    assert found.stats["iterations"] <= 30
