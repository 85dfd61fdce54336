r"""The dual problems of the machines, each stated as a :class:`~mercer.solvers.BoxProblem`.

``beta`` are signed dual variables, :math:`y_i \alpha_i` of a classifier or :math:`\alpha_i - \alpha_i^*` of a
regression; ``grad`` is the gradient of the objective, ``bias`` the intercept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, ParameterError
from ...solvers import BoxProblem, BoxValue, Matrix, RepeatedMatrix
from .base import Fit, Limits
from .starts import balanced, fill_up, scaled

__all__ = [
    "check_mass",
    "check_nu",
    "classification",
    "most_nu",
    "solve_hard_margin",
    "solve_nu_classification",
    "solve_nu_regression",
    "solve_regression",
]

Vector = NDArray[np.float64]


def classification(y: Vector, C: Vector, intercept: bool = True) -> BoxProblem:
    r"""Soft margin: :math:`\min \frac12 \|f\|^2 + \sum_i C_i \max(0, 1 - y_i (f(x_i) + b))`."""
    low, high = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return BoxProblem(-y, low, high, constraint="sum" if intercept else "free")


def solve_hard_margin(y: Vector, matrix: Matrix, limits: Limits) -> Fit:
    r"""Hard margin, by the nearest points of the two convex hulls.

    With :math:`w` the difference of the nearest points, :math:`p = \min_{y_i = 1} \langle w, x_i \rangle` and
    :math:`q = \max_{y_i = -1} \langle w, x_i \rangle`, the widest margin is that of
    :math:`(2 \langle w, x \rangle - p - q) / (p - q)`.  The problem has a solution whether or not the classes
    can be separated; they cannot if :math:`p \le q`.
    """
    positive = y > 0
    start = np.zeros(len(y))
    start[np.argmax(positive)], start[np.argmin(positive)] = 1.0, -1.0
    problem = BoxProblem(np.zeros(len(y)), np.minimum(y, 0.0), np.maximum(y, 0.0), constraint="signed")
    scale = float(np.abs(matrix.diagonal()).max())
    tol, touching = limits.tol * scale, 1e-12 * scale  # the squared distance of convex hulls that touch
    while True:  # the tolerance is relative to the margin, which is known at the end
        solution = limits.solve(problem, matrix, start, tol=max(tol, touching))
        beta, grad, _ = solution.value
        p, q = float(grad[positive].min()), float(grad[~positive].max())
        squared = max(float(beta @ grad), 0.0)  # an upper bound of the squared distance of the hulls
        if not solution.converged or tol <= limits.tol * (p - q) / 2:
            break
        if min(tol, squared) <= touching:
            break
        start, tol = beta, 0.1 * tol
    if p - q > touching:
        return Fit(2 * beta / (p - q), -(p + q) / (p - q), solution)
    if solution.converged or squared <= touching:
        raise InputError(
            "C=inf asks for classes that can be separated, and in the feature space of this kernel these "
            f"cannot be, as far as double precision can tell: the distance of their hulls is at most "
            f"{np.sqrt(squared):.3g}, with points of norm up to {np.sqrt(scale):.3g}. "
            "Set a finite C, take a richer kernel, or scale the data."
        )
    return Fit(2 * beta / squared, -(p + q) / squared, solution)  # stopped early: the margin is an estimate


def solve_nu_classification(
    y: Vector,
    nu: float,
    weight: Vector,
    matrix: Matrix,
    limits: Limits,
    start: Vector | None = None,
) -> Fit:
    r"""Margin errors at most :math:`\nu`: :math:`\min \frac12 \|f\|^2 - \nu r + \frac1W \sum_i w_i \xi_i`."""
    check_nu(y, nu, weight)
    half, positive = nu * float(weight.sum()) / 2, y > 0
    alpha = np.zeros(len(y)) if start is None else np.maximum(y * start, 0.0)
    beta = np.zeros(len(y))
    for side, sign in ((positive, 1.0), (~positive, -1.0)):
        beta[side] = sign * scaled(alpha[side], half, weight[side])
    low, high = np.where(positive, 0.0, -weight), np.where(positive, weight, 0.0)
    problem = BoxProblem(np.zeros(len(y)), low, high, constraint="signed")
    largest = float(np.abs(matrix.diagonal()).max(initial=0.0))
    # a margin below this fraction of the largest possible value of f is rounding error
    rounding = 1e-9 * 2 * half * largest
    tol, steps = limits.tol * (largest * float(weight.mean()) or 1.0), 0
    while True:  # the tolerance is relative to the margin, which is known at the end
        solution = limits.solve(problem, matrix, beta, tol=tol)
        beta = solution.value.coefficients
        above, below = _margins(solution.value, y, weight, rounding)
        margin, bias = (above - below) / 2, -(above + below) / 2
        enough = max(limits.tol * margin, rounding)
        if not solution.converged or solution.stats["kkt_violation"] <= enough:
            break
        steps += solution.stats["iterations"]
        tol = max(enough, 0.1 * tol)
    if margin > rounding:
        fit = Fit(beta / margin, bias / margin, solution)
    elif solution.converged:  # the reduced hulls of the classes overlap
        fit = Fit(np.zeros_like(beta), 0.0, solution)
    else:  # stopped early: the margin is not known
        fit = Fit(beta, bias, solution)
    return fit.after(steps)


def _margins(value: BoxValue, y: Vector, weight: Vector, rounding: float) -> tuple[float, float]:
    """Values of f at the margins of the positive and of the negative class, before f is scaled."""
    above, below = (-t for t in value.multipliers)
    beta, spread = value.coefficients, float(np.ptp(value.gradient))
    if above - below <= 2 * rounding and (np.abs(beta) >= weight)[y > 0].all():
        above = below + spread  # nu is all that this class allows: any larger margin is as good
    if above - below <= 2 * rounding and (np.abs(beta) >= weight)[y <= 0].all():
        below = above - spread
    return above, below


def check_mass(total: float, caller: str) -> None:
    """Raise if dual variables with this sum would overflow the objective, which is quadratic in them."""
    # sums of dual variables above this overflow when they are squared and multiplied by kernel values
    if total > 1e120:
        raise InputError(
            f"{caller}: `sample_weight` must be smaller: with the price of errors and the share of points, "
            f"its sum gives {total:.3g}, whose square overflows. Divide all weights by their largest."
        )


def most_nu(y: Vector, weight: Vector) -> float:
    """Twice the share of the smaller class."""
    return 2 * float(min(weight[y > 0].sum(), weight[y <= 0].sum())) / float(weight.sum())


def check_nu(y: Vector, nu: float, weight: Vector) -> None:
    """Raise unless nu is feasible: at most twice the share of the smaller class."""
    most = most_nu(y, weight)
    # relative rounding error of sums of weights
    if nu > most * (1 + 1e-12):
        raise ParameterError(
            f"NuSVC: specified nu is infeasible: nu={nu:g}, but the smaller of two classes allows at most "
            f"{most:.6g}, twice its share. Lower nu."
        )


def solve_regression(
    y: Vector,
    C: Vector,
    epsilon: float,
    matrix: Matrix,
    limits: Limits,
    intercept: bool = True,
    start: Vector | None = None,
) -> Fit:
    r"""Insensitive loss: :math:`\min \frac12 \|f\|^2 + \sum_i C_i \max(0, |y_i - f(x_i) - b| - \epsilon)`."""
    if start is not None:
        start = np.clip(start, -C, C)
        start = balanced(start) if intercept else start
    problem = BoxProblem(-y, -C, C, epsilon, "sum" if intercept else "free")
    solution = limits.solve(problem, matrix, start)
    return Fit(solution.value.coefficients, solution.value.multipliers[0] if intercept else 0.0, solution)


def solve_nu_regression(
    y: Vector,
    C: Vector,
    nu: float,
    matrix: Matrix,
    limits: Limits,
    start: Vector | None = None,
) -> Fit:
    r"""At most the share nu outside: :math:`\min \frac12 \|f\|^2 + \sum_i C_i (\nu\epsilon + \xi_i)`.

    Two variables for each point, :math:`0 \le \alpha_i, \alpha_i^* \le C_i`, with
    :math:`\sum_i \alpha_i = \sum_i \alpha_i^* = \frac\nu2 \sum_i C_i`; :math:`\beta = \alpha - \alpha^*`.
    """
    n, zeros, half = len(y), np.zeros(len(y)), nu * float(C.sum()) / 2
    if start is None:  # the largest targets are above the tube, the smallest below
        order = np.argsort(-y, kind="stable")
        up, down = np.empty(n), np.empty(n)
        up[order], down[order[::-1]] = fill_up(half, C[order]), fill_up(half, C[order[::-1]])
    else:
        start = np.clip(start, -C, C)
        up, down = (scaled(np.maximum(side, 0.0), half, C) for side in (start, -start))
    low, high = np.concatenate([zeros, -C]), np.concatenate([C, zeros])
    problem = BoxProblem(np.tile(-y, 2), low, high, constraint="signed")
    solution = limits.solve(problem, RepeatedMatrix(matrix), np.concatenate([up, -down]))
    both, grad, (above, below) = solution.value
    value = BoxValue(both[:n] + both[n:], grad[:n], (above, below))
    return Fit(value.coefficients, (above + below) / 2, replace(solution, value=value))
