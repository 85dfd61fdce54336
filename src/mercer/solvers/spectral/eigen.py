r"""The largest eigenvalues of a symmetric matrix, by the method that costs least.

``"dense"``
    all of the matrix through LAPACK: O(n^3), nothing can go wrong but memory;
``"lanczos"``
    block Lanczos iteration with full orthogonalisation and thick restarts, from a fixed start, until the
    residuals are small;
``"randomized"``
    the same iteration for a fixed, small number of products: randomised block Krylov.

An iteration of ours and not ARPACK's, because products with a block of vectors cost little more than with one
(the matrix is read, or computed, once), because blocks see multiple eigenvalues, and because ARPACK fails at
random on matrices with few distinct ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy import linalg

from ...engine.factorizations import eigh, multiply
from ...engine.runs import STOPPING, Convergence, conclude, stop_reason
from ...engine.threads import single_threaded_blas
from ...gram.spectrum import fix_signs
from ..solution import Solution

__all__ = ["Eigenpairs", "Operator", "choose_solver", "largest_eigenpairs", "signs"]

#: Up to this size the dense solver is the quickest.
DENSE_SIZE = 400
#: Digits that a product may take off the residuals where those before it have taken off fewer.
FAST = 1.5


class Operator(Protocol):
    """A symmetric linear operator: what the iterations need of a :class:`~mercer.solvers.Matrix`."""

    size: int
    is_held: bool  # products read it; otherwise they compute it

    def product(self, V: np.ndarray) -> np.ndarray:
        """``A @ V``."""
        ...

    def copy(self) -> np.ndarray:
        """All of it, in memory of its own."""
        ...


class Eigenpairs(NamedTuple):
    """Eigenvalues, descending; their eigenvectors as columns; and ``A @ vectors``."""

    values: np.ndarray
    vectors: np.ndarray
    images: np.ndarray


def choose_solver(n: int, k: int, is_held: bool) -> str:
    """The method of least cost: dense for few points or many values, randomised where entries are lazy."""
    # An iteration for more than this part of all eigenvalues takes longer than the dense solver.
    if n <= DENSE_SIZE or k > n / 8:
        return "dense"
    return "lanczos" if is_held else "randomized"


def largest_eigenpairs(
    A: Operator, k: int, solver: str = "auto", *, tol: float = 1e-10, max_iter: int = 200
) -> Solution[Eigenpairs]:
    """The ``k`` algebraically largest eigenvalues and their eigenvectors.

    Parameters
    ----------
    A : Operator
    k : int
        From 1 to the size of ``A``.
    solver : {"auto", "dense", "lanczos", "randomized"}
    tol : float
        Lanczos ends when ``|A v - l v| <= tol |l_1|`` for each pair.
    max_iter : int
        Most products with a block.  If they are not enough, ``"auto"`` goes on with the dense solver where
        the matrix is held; otherwise the solution says that it has not converged.

    Returns
    -------
    Solution
        ``gap`` is the largest residual norm relative to the largest eigenvalue in absolute value.
    """
    method = choose_solver(A.size, k, A.is_held) if solver == "auto" else solver
    # The randomised method carries ten columns beyond those asked for.  A product with 16 columns costs
    # little more than with one; blocks of more than 48 gain nothing.
    b = _rounded(k + 10) if method == "randomized" else min(max(_rounded(k + 4), 16), 48)
    if method == "dense" or k + 2 * b > A.size:  # the basis would not fit
        return _dense(A, k)
    if method == "randomized":
        # Residual, relative to the largest eigenvalue, up to which the randomised method counts as
        # successful.
        return _finish(_iterate(A, k, b, 0.0, 5), method, 1e-2)
    solution = _finish(_iterate(A, k, b, tol, max_iter), method, tol)
    if solver == "auto" and A.is_held and not solution.converged and not stop_reason():
        return _dense(A, k)
    return solution


def signs(columns: np.ndarray) -> np.ndarray:
    """+1 or -1 per column, which makes its largest entry (the first of nearly equal ones) positive."""
    return np.where((fix_signs(columns) * columns).sum(axis=0) < 0, -1.0, 1.0)


def _rounded(columns: int) -> int:
    """Products go by eight columns at a time."""
    return -(-columns // 8) * 8


def _dense(A: Operator, k: int) -> Solution[Eigenpairs]:
    n, M = A.size, A.copy()
    values, vectors = eigh(M, subset=None if k == n else (n - k, n - 1))
    pairs = Eigenpairs(values[::-1], vectors[:, ::-1], multiply(M, vectors[:, ::-1]))
    # Those that were not asked for may be larger, in absolute value: an entry is at most the largest one.
    gap = _gap(pairs, least=float(np.abs(M).max(initial=0.0)))
    return Solution(pairs, gap <= 1e-8, "all of the matrix, solved densely", gap, {"solver": "dense"})


def _gap(pairs: Eigenpairs, least: float = 0.0) -> float:
    """Largest residual over the largest eigenvalue, which is known to be at least ``least``."""
    scale = max(_scale(pairs.values), least)
    residuals = pairs.images / scale - pairs.vectors * (pairs.values / scale)
    return float(np.linalg.norm(residuals, axis=0).max(initial=0.0))


def _scale(values: np.ndarray) -> float:
    """The largest eigenvalue in absolute value, or 1 if it is zero or so small that it has lost digits."""
    largest = float(np.abs(values).max(initial=0.0))
    return largest if largest >= np.finfo(np.float64).tiny else 1.0


def _finish(found: tuple[Eigenpairs, int, str], method: str, tol: float) -> Solution[Eigenpairs]:
    """The solution, judged by its residuals: products of ``A`` itself, not the estimates of the iteration."""
    pairs, products, reason = found
    gap = _gap(pairs)
    converged = gap <= 2 * tol
    status = f"{method}: residuals within {gap:.1e} of the largest eigenvalue after {products} products"
    if reason and not converged:
        status = f"{method}: stopped because {reason}; residuals are {gap:.1e}, the aim was {tol:.1e}"
    elif not converged:
        remedy = "solver='lanczos'" if method == "randomized" else "more iterations (max_iter)"
        status += f", where {tol:.1e} was the aim; {remedy} or solver='dense' goes further"
    return Solution(pairs, converged, status, gap, {"solver": method, "products": products})


# -- the iteration ------------------------------------------------------------------------------
@dataclass
class _Basis:
    """Orthonormal columns ``Q``, ``W = A Q`` and ``T = Q' A Q``; the first ``m`` are in use.

    The next block is coupled to the columns from ``coupled`` on: to the block before it, and to all that a
    restart has kept.  With the others T has zeros, up to rounding.
    """

    Q: np.ndarray
    W: np.ndarray
    T: np.ndarray
    m: int = 0
    coupled: int = 0

    def extend(self, block: np.ndarray, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take in a block; return the next one and the coupling ``B`` of the last columns to it."""
        old, m = self.m, self.m + block.shape[1]
        near = slice(self.coupled, m)
        self.Q[:, old:m], self.W[:, old:m] = block, image
        C = self.Q[:, near].T @ image
        self.T[near, old:m], self.T[old:m, near] = C, C.T
        self.m, self.coupled = m, old
        return _orthogonal(_without(self.W[:, old:m].copy(order="F"), self.Q[:, near], C), self.Q[:, :m])

    def ritz(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The largest eigenvalues of ``T``, descending, and their vectors."""
        m, T = self.m, self.T[: self.m, : self.m]
        count = min(count, m)
        values, Y = linalg.eigh((T + T.T) / 2, check_finite=False, subset_by_index=[m - count, m - 1])
        return values[::-1], Y[:, ::-1]

    def restart(self, values: np.ndarray, Y: np.ndarray) -> None:
        """Keep these combinations of the columns alone."""
        Q, W = self.Q[:, : self.m] @ Y, self.W[:, : self.m] @ Y
        self.m, self.coupled = Y.shape[1], 0
        self.Q[:, : self.m], self.W[:, : self.m] = Q, W
        self.T[...] = 0.0
        self.T[: self.m, : self.m] = np.diag(values)


def _without(R: np.ndarray, Q: np.ndarray, C: np.ndarray) -> np.ndarray:
    """``R - Q @ C`` in the memory of ``R``; all are laid out by columns."""
    return np.asarray(linalg.blas.dgemm(-1.0, Q, C, beta=1.0, c=R, overwrite_c=True))


def _orthogonal(R: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns orthonormal to each other and to ``Q``, and the triangular ``B`` with R = (result) B.

    Twice is enough; where ``R`` has lost rank, the first round makes a column out of rounding and the second
    one makes it orthogonal.
    """
    # Sines of angles between columns down to which Cholesky orthogonalises them: nearly, and to rounding.
    rough_sine, fine_sine = 1e-4, 0.5
    R, first = _orthonormal(R, rough_sine)
    R, second = _orthonormal(_without(R, Q, Q.T @ R), fine_sine)
    return R, second @ first


def _orthonormal(R: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal columns and the triangular ``B`` with R = (result) B.

    B'B = R'R by Cholesky takes a third of the time of Householder reflections.  Its error is eps / sine^2
    with the least sine of the angle between a column and those before it, so that columns with a sine below
    ``least`` are left to reflections.
    """
    squares = linalg.blas.dsyrk(1.0, R, trans=1)
    lengths = np.sqrt(squares.diagonal())
    B, failed = linalg.lapack.dpotrf(squares)
    if failed or not np.isfinite(lengths).all() or (B.diagonal() < least * lengths).any():
        Q, B = linalg.qr(R, mode="economic", check_finite=False)
        return Q, B
    inverse = linalg.lapack.dtrtri(B)[0]
    return linalg.blas.dtrmm(1.0, inverse, R, side=1, overwrite_b=True), B


@dataclass
class _Tests:
    """When to check convergence, since the eigenproblem of a test may take half as long as a product.

    Residuals can be small when they have fallen twice as fast as they last did, and by ``FAST`` digits per
    product at least; or when the iteration has found all that there is.
    """

    tol: float
    most: int
    due: int = 1
    products: int = 0
    scale: float = 0.0
    residual: float = 0.0

    def is_due(self, products: int, coupling: np.ndarray) -> bool:
        """Whether residuals can be small after this number of products."""
        largest = len(coupling) * float(np.abs(coupling).max())  # residuals are no larger than that
        return products >= self.due or products == self.most or largest <= self.tol * self.scale

    def record(self, products: int, scale: float, residual: float) -> None:
        """Set the next test by how fast the residuals have fallen since the last one."""
        wait = 1
        if self.products and residual > self.tol > 0:
            rate = 2 * np.log10(self.residual / residual) / (products - self.products)
            wait = max(1, int(np.log10(residual / self.tol) / max(rate, FAST)))
        self.due = products + wait
        self.products, self.scale, self.residual = products, scale, residual


def _iterate(A: Operator, k: int, b: int, tol: float, most: int) -> tuple[Eigenpairs, int, str]:
    """Block Lanczos iteration from a fixed start; pairs, number of products, what stopped it."""
    n = A.size
    capacity = min(n - b, max(10 * b, 3 * k + b), most * b)  # the next block must have directions to be in
    Q, W = np.empty((2, capacity, n)).transpose(0, 2, 1)  # columns lie one after the other
    basis = _Basis(Q, W, np.zeros((capacity, capacity)))
    start = np.random.default_rng(0).standard_normal((n, b))
    with single_threaded_blas():
        block = _orthogonal(np.asfortranarray(start), np.zeros((n, 1), order="F"))[0]
    tests = _Tests(tol, most)
    reason = ""
    with Convergence("eigenvectors", tol) as progress:
        for products in range(1, most + 1):
            try:
                progress.update(products - 1, tests.residual)
                image = A.product(block)
            except STOPPING as error:
                if basis.m < k:  # there are not as many vectors yet
                    raise
                reason, products = conclude(error), products - 1
                values, Y = basis.ritz(k)
                break
            with single_threaded_blas():  # these are too small to share
                block, coupling = basis.extend(block, image)
                if tests.is_due(products, coupling):
                    values, Y = basis.ritz(k)
                    residuals = np.linalg.norm(coupling / _scale(values) @ Y[basis.m - b : basis.m], axis=0)
                    tests.record(products, _scale(values), float(residuals.max()))
                    if products == most or (len(values) == k and residuals.max() <= tol):
                        break
                if basis.m + b > capacity:
                    basis.restart(*basis.ritz(min(max(k + b, capacity // 2), capacity - b)))
        with single_threaded_blas():
            X, image = basis.Q[:, : basis.m] @ Y, basis.W[:, : basis.m] @ Y
    return Eigenpairs(values, X, image), products, reason
