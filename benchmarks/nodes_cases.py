"""Diffusion on the nodes of large graphs, against SciPy's action of the matrix exponential."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import eigsh, expm_multiply

from mercer import gram
from mercer.graphs import laplacian
from mercer.kernels import Diffusion

from .harness import Case

#: Time, in units of one over the largest eigenvalue; columns; relative error.
REACH, COLUMNS, TOL = 100.0, 10, 1e-8
TARGET = 5.0


class Problem(NamedTuple):
    kernel: Diffusion
    generator: Any  # -t L
    V: np.ndarray


def problem(A: Any) -> Problem:
    L = laplacian(A)
    start = np.random.default_rng(1).standard_normal(A.shape[0])  # constants are eigenvectors of 0
    largest = float(eigsh(L, k=1, v0=start, tol=1e-3, return_eigenvectors=False)[0])
    t = 1.01 * REACH / largest
    V = np.random.default_rng(0).standard_normal((A.shape[0], COLUMNS))
    return Problem(Diffusion(A, t, tol=TOL), (-t * L).tocsr(), V)


def grid(side: int = 300) -> Problem:
    line = scipy.sparse.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    eye = scipy.sparse.eye_array(side)
    return problem((scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line)).tocsr())


def random_graph(n: int = 100_000, edges: int = 1_000_000) -> Problem:
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, n, (2, edges))
    A = scipy.sparse.coo_array((np.ones(edges), (i, j)), shape=(n, n)).tocsr()
    return problem((A + A.T).tocsr())


def ours(p: Problem) -> np.ndarray:
    return gram(p.kernel, range(p.kernel.graph.n)) @ p.V


def scipy_action(p: Problem) -> np.ndarray:
    return np.asarray(expm_multiply(p.generator, p.V))


def agree(a: np.ndarray, b: np.ndarray) -> bool:
    length = np.linalg.norm(np.random.default_rng(0).standard_normal(a.shape), axis=0)
    return bool((np.linalg.norm(a - b, axis=0) <= TOL * length).all())


def _case(name: str, what: str, setup: Callable[[], Problem]) -> Case:
    work = f"diffusion, {what}, t lambda_max = {REACH:.0f}, {COLUMNS} columns, 1e-8"
    return Case(name, work, "SciPy `expm_multiply`", setup, ours, scipy_action, agree, 3, TARGET)


CASES: list[Case] = [
    _case("diffusion_grid", "grid 300 x 300", grid),
    _case("diffusion_random", "10^5 nodes, 10^6 edges", random_graph),
]
