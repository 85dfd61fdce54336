"""The problems of the single machines: how each is stated as a :class:`~mercer.solvers.BoxProblem`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, ParameterError
from ...solvers import BoxProblem, BoxValue, Matrix, RepeatedMatrix, Solution
from .base import Control, Fit, balanced, fill_up, scaled

__all__ = [
    "check_mass",
    "check_nu",
    "most_nu",
    "separate",
    "solve_classifier",
    "solve_classifiers",
    "solve_nu_classifier",
    "solve_nu_regression",
    "solve_regression",
]

Vector = NDArray[np.float64]

#: The hulls of two classes touch when their squared distance is below this part of the largest K_ii.
TOUCHING = 1e-12

#: A margin below this part of the largest value that f could have is rounding.
VANISHING = 1e-9

#: Sums of dual variables beyond this overflow when they are squared and multiplied by kernel values.
MOST_MASS = 1e120

#: Sums may fall short by this part of them.
ROUNDING = 1e-12


def solve_classifier(
    y: Vector,
    C: Vector,
    matrix: Matrix,
    control: Control,
    intercept: bool = True,
    start: Vector | None = None,
) -> Fit:
    r"""Soft margin: :math:`\min \frac12 \|f\|^2 + \sum_i C_i \max(0, 1 - y_i (f(x_i) + b))`."""
    if intercept and np.isinf(C).all():
        return separate(y, matrix, control)
    solution = control.solve(pose_classifier(y, C, intercept), matrix, start)
    offset = solution.value.offsets[0] if intercept else 0.0
    return Fit(solution.value.coefficients, offset, solution)


def solve_classifiers(
    y: Vector, weight: Vector, Cs: Sequence[float], matrix: Matrix, control: Control, intercept: bool
) -> list[Fit]:
    """The soft margin for one C after the other, times the weights."""
    problem = pose_classifier(y, weight, intercept)
    return [
        Fit(solution.value.coefficients, solution.value.offsets[0] if intercept else 0.0, solution)
        for solution in control.solve_along(problem, Cs, matrix)
    ]


def pose_classifier(y: Vector, C: Vector, intercept: bool = True) -> BoxProblem:
    """The dual problem of the soft margin."""
    low, high = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return BoxProblem(-y, low, high, constraint="sum" if intercept else "free")


def separate(y: Vector, matrix: Matrix, control: Control) -> Fit:
    r"""Hard margin, by the nearest points of the two convex hulls.

    With :math:`w` the difference of the nearest points, :math:`p = \min_{y_i = 1} \langle w, x_i \rangle` and
    :math:`q = \max_{y_i = -1} \langle w, x_i \rangle`, the widest margin is that of
    :math:`(2 \langle w, x \rangle - p - q) / (p - q)`.  The problem has a solution whether or not the classes
    can be separated, and :math:`p \le q` says that they cannot.
    """
    positive = y > 0
    start = np.zeros(len(y))
    start[np.argmax(positive)], start[np.argmin(positive)] = 1.0, -1.0
    problem = BoxProblem(
        np.zeros(len(y)), np.where(positive, 0.0, -1.0), np.where(positive, 1.0, 0.0), constraint="signed"
    )
    scale = float(np.abs(matrix.diagonal()).max())
    tol = control.tol * scale
    while True:
        solution = control.solve(problem, matrix, start, tol=max(tol, TOUCHING * scale))
        b, f, _ = solution.value
        low, high = float(f[positive].min()), float(f[~positive].max())
        if not solution.converged or tol <= control.tol * (low - high) / 2:
            break
        if tol <= TOUCHING * scale or float(b @ f) <= TOUCHING * scale:
            break
        start, tol = b, 0.1 * tol
    squared = max(float(b @ f), 0.0)  # the squared distance of the hulls is at most this
    if low - high <= TOUCHING * scale:
        if solution.converged or squared <= TOUCHING * scale:
            raise InputError(
                "C=inf asks for classes that can be separated, and in the feature space of this kernel these "
                f"cannot be, as far as double precision can tell: the distance of their hulls is at most "
                f"{np.sqrt(squared):.3g}, with points of norm up to {np.sqrt(scale):.3g}. "
                "Set a finite C, take a richer kernel, or scale the data."
            )
        return Fit(2 * b / squared, -(low + high) / squared, solution)  # stopped before it is known
    return Fit(2 * b / (low - high), -(low + high) / (low - high), solution)


def solve_nu_classifier(
    y: Vector,
    nu: float,
    weight: Vector,
    matrix: Matrix,
    control: Control,
    start: Vector | None = None,
) -> Fit:
    r"""Margin errors at most :math:`\nu`: :math:`\min \frac12 \|f\|^2 - \nu r + \frac1W \sum_i w_i \xi_i`."""
    check_nu(y, nu, weight)
    half = nu * float(weight.sum()) / 2
    signed = np.zeros(len(y)) if start is None else np.maximum(y * start, 0.0)
    sides = (np.where(side, signed, 0.0) for side in (y > 0, y <= 0))
    rooms = (np.where(side, weight, 0.0) for side in (y > 0, y <= 0))
    upper, lower = (scaled(b, half, room) for b, room in zip(sides, rooms, strict=True))
    problem = BoxProblem(
        np.zeros(len(y)), np.where(y > 0, 0.0, -weight), np.where(y > 0, weight, 0.0), constraint="signed"
    )
    first, largest = upper - lower, float(np.abs(matrix.diagonal()).max(initial=0.0))
    rounding = VANISHING * 2 * half * largest
    # The tolerance is a part of the margin, which is known at the end; until then, of the matrix.
    tol = control.tol * (largest * float(weight.mean()) or 1.0)
    steps = 0
    while True:
        solution = control.solve(problem, matrix, first, tol=tol)
        above, below = _margins(solution.value, y, weight)
        width = (above - below) / 2
        enough = max(control.tol * width, rounding)
        if not solution.converged or solution.stats["kkt_violation"] <= enough:
            break
        steps += solution.stats["iterations"]
        first, tol = solution.value.coefficients, max(enough, 0.1 * tol)
    b = solution.value.coefficients
    if width > rounding:
        return Fit(b / width, -(above + below) / 2 / width, solution).after(steps)
    if not solution.converged:  # stopped before it is known
        return Fit(b, -(above + below) / 2, solution).after(steps)
    return Fit(np.zeros_like(b), 0.0, solution).after(steps)  # the reduced hulls of the classes overlap


def _margins(value: BoxValue, y: Vector, weight: Vector) -> tuple[float, float]:
    """Where f begins to be of the one class, and ends to be of the other, before it is scaled."""
    above, below = (-t for t in value.offsets)
    b, f = value.coefficients, value.gradient
    spread = float(np.ptp(f)) or 1.0
    if above <= below and (np.abs(b) >= weight)[y > 0].all():
        above = below + spread  # nu is all that this class allows: any larger margin is as good
    if above <= below and (np.abs(b) >= weight)[y <= 0].all():
        below = above - spread
    return above, below


def check_mass(total: float, caller: str) -> None:
    """Raise if variables with this sum would overflow the objective, which is of second order in them."""
    if total > MOST_MASS:
        raise InputError(
            f"{caller}: `sample_weight` must be smaller: with the price of errors and the share of points, "
            f"its sum gives {total:.3g}, whose square overflows. Divide all weights by their largest."
        )


def most_nu(y: Vector, weight: Vector) -> float:
    """Twice the share of the smaller class."""
    return 2 * float(min(weight[y > 0].sum(), weight[y <= 0].sum())) / float(weight.sum())


def check_nu(y: Vector, nu: float, weight: Vector) -> None:
    """Raise unless both classes have the weight that nu asks for."""
    most = most_nu(y, weight)
    if nu > most * (1 + ROUNDING):
        raise ParameterError(
            f"NuSVC: specified nu is infeasible: nu={nu:g}, but the smaller of two classes allows at most "
            f"{most:.6g}, twice its share. Lower nu."
        )


def solve_regression(
    y: Vector,
    C: Vector,
    epsilon: float,
    matrix: Matrix,
    control: Control,
    intercept: bool = True,
    start: Vector | None = None,
) -> Fit:
    r"""Insensitive loss: :math:`\min \frac12 \|f\|^2 + \sum_i C_i \max(0, |y_i - f(x_i) - b| - \epsilon)`."""
    problem = BoxProblem(-y, -C, C, epsilon, "sum" if intercept else "free")
    solution = control.solve(problem, matrix, start)
    offset = solution.value.offsets[0] if intercept else 0.0
    return Fit(solution.value.coefficients, offset, solution)


def solve_nu_regression(
    y: Vector,
    C: Vector,
    nu: float,
    matrix: Matrix,
    control: Control,
    start: Vector | None = None,
) -> Fit:
    r"""At most the share nu outside: :math:`\min \frac12 \|f\|^2 + \sum_i C_i (\nu\epsilon + \xi_i)`.

    The sum of the :math:`|b_i|` is at most :math:`\nu \sum_i C_i`; where it is less, the tube has width zero.
    Otherwise the positive and the negative variables have half of that sum each, and a stationary point of
    that kind is optimal unless its tube has negative width.  Such points are no convex set: where all
    variables are at a bound, for example, none can change its sign.  Then :math:`b = \alpha - \alpha^*` with
    two variables in [0, C] for each point, which may both be positive on the way.
    """
    total = nu * float(C.sum())
    near = None if start is None else balanced(np.clip(start, -C, C))
    upper, lower = _cold_sides(y, total / 2, C) if near is None else _warm_sides(near, total / 2, C)
    first, steps = upper - lower, 0
    if (upper * lower).any():  # no variable can be on both sides: whether the bound is reached is open
        fit = solve_regression(y, C, 0.0, matrix, control, start=near)
        size = float(np.abs(fit.coefficients).sum())
        if size <= total:
            return fit
        first, steps = fit.coefficients * (total / size), fit.solution.stats["iterations"]
        control = control.after(fit.solution)
    solution = control.solve(BoxProblem(-y, -C, C, constraint="signed"), matrix, first)
    b, _, (above, below) = solution.value
    if above < below and not solution.stats["reason"]:  # the tube would have negative width
        steps += solution.stats["iterations"]
        fit = solve_regression(y, C, 0.0, matrix, control, start=balanced(b))
        if float(np.abs(fit.coefficients).sum()) <= total:
            return fit.after(steps)
        steps += fit.solution.stats["iterations"]
        solution = _solve_two_sided(y, C, matrix, control.after(fit.solution), b)
        b, _, (above, below) = solution.value
    return Fit(b, (above + below) / 2, solution).after(steps)


def _solve_two_sided(y: Vector, C: Vector, matrix: Matrix, control: Control, b: Vector) -> Solution[BoxValue]:
    """The problem of nu in alpha and alpha*, from a point with the sums that both keep."""
    n, zeros = len(y), np.zeros(len(y))
    low, high = np.concatenate([zeros, -C]), np.concatenate([C, zeros])
    problem = BoxProblem(np.tile(-y, 2), low, high, constraint="signed")
    start = np.concatenate([np.maximum(b, 0.0), np.minimum(b, 0.0)])
    solution = control.solve(problem, RepeatedMatrix(matrix), start)
    both, gradient, offsets = solution.value
    return replace(solution, value=BoxValue(both[:n] + both[n:], gradient[:n], offsets))


def _cold_sides(y: Vector, half: float, C: Vector) -> tuple[Vector, Vector]:
    """Positive and negative parts of the variables with the sum ``half`` each: the largest targets above."""
    order = np.argsort(-y, kind="stable")
    upper, lower = np.zeros(len(y)), np.zeros(len(y))
    upper[order] = fill_up(half, C[order])
    lower[order[::-1]] = fill_up(half, C[order[::-1]])
    return upper, lower


def _warm_sides(near: Vector, half: float, C: Vector) -> tuple[Vector, Vector]:
    """The same in the proportions of a point near by; without room for that on both sides, they overlap."""
    upper = scaled(np.maximum(near, 0.0), half, np.where(near < 0, 0.0, C))
    lower = scaled(np.maximum(-near, 0.0), half, np.where(upper > 0, 0.0, C))
    if min(upper.sum(), lower.sum()) < half * (1 - ROUNDING):
        return C, C
    return upper, lower
