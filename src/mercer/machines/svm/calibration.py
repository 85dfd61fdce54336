"""Cross-validated decision values, and the probabilities fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ...engine.runs import STOPPING, conclude, stop_reason, until
from ...engine.threads import single_threaded_blas
from ...errors import InputError, warn
from ...parameters import check_random
from ...solvers import Matrix
from .base import Fit, Limits, Training, run_of_fit
from .folds import Fold, distinct_points, make_folds
from .multiclass import Task
from .probability import PiecewiseLogistic, Temperature

if TYPE_CHECKING:
    from .classifier import Classifier

__all__ = ["calibrate", "folds_of"]


def folds_of(machine: Classifier, training: Training, codes: NDArray[np.intp], groups: Any) -> list[Fold]:
    """Folds of the training points; copies of a point and points of one group stay together."""
    caller, shape = type(machine).__name__, machine.shape_fit_[:1]
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != shape:
            raise InputError(
                f"{caller}: `groups` must have one entry per point, shape {shape}. Got {groups.shape}."
            )
        names: dict[Any, int] = {}  # any hashable names a group
        groups = np.array([names.setdefault(group, len(names)) for group in groups.tolist()])
        groups = groups[training.rows]
    points = distinct_points(machine.kernel_.domain, training.points, len(codes))
    return make_folds(codes, points, groups, check_random(caller, "random_state", machine.random_state))


def calibrate(
    machine: Classifier,
    folds: Sequence[Fold],
    fits: Sequence[Fit],
    training: Training,
    codes: NDArray[np.intp],
    matrix: Matrix,
    limits: Limits,
) -> None:
    """Fit probabilities to decision values of points left out; none, with a warning, if stopped first."""

    def report(message: str) -> None:
        warn(f"{type(machine).__name__}: {message}.", ConvergenceWarning)

    if any(fit.solution.stats["stopped"] for fit in fits):
        if all(fit.solution.converged for fit in fits):  # otherwise the machine has reported the stop
            report(f"stopped before the calibration because {stop_reason()}. There are no probabilities")
        return
    try:
        tasks = machine._tasks(codes)
        betas = [_spread(task, fit, len(codes)) for task, fit in zip(tasks, fits, strict=True)]
        values, fits = left_out_values(machine, folds, betas, training, codes, matrix, limits)
    except InputError as error:
        raise InputError(f"in the calibration, without a fifth of the points: {error}") from error
    except STOPPING as error:
        report(f"stopped in the calibration because {conclude(error)}. There are no probabilities")
        return
    missed = [fit.solution for fit in fits if not fit.solution.converged]
    stopped = [solution for solution in missed if solution.stats["stopped"]]
    if stopped:
        report(f"in the calibration: {stopped[0].status}. There are no probabilities")
        return
    if missed:
        report(f"{len(missed)} of the {len(fits)} fits of the calibration: {missed[0].status}")
    used = np.sort(np.concatenate([fold.left_out for fold in folds]))
    scores = machine._scores(values[used])
    kind: type[PiecewiseLogistic | Temperature] = PiecewiseLogistic if scores.ndim == 1 else Temperature
    machine.calibration_ = kind.fit(scores, codes[used], training.weight[used])


def left_out_values(
    machine: Classifier,
    folds: Sequence[Fold],
    betas: Sequence[NDArray[np.float64]],
    training: Training,
    codes: NDArray[np.intp],
    matrix: Matrix,
    limits: Limits,
) -> tuple[NDArray[np.float64], list[Fit]]:
    """Decision values of each point by the model without its fold, and the fits of these models.

    They start from ``betas``, the dual variables of the model of all points, which saves about a fifth of the
    steps.
    """
    n, each = len(codes), len(betas)
    tasks = [
        Task(fold.rest[task.index], task.y) for fold in folds for task in machine._tasks(codes[fold.rest])
    ]
    starts = [betas[t % each][task.index] for t, task in enumerate(tasks)]
    fits = machine._solve_tasks(tasks, training.weight, matrix, limits, starts)
    values = np.zeros((n, each))
    for f, fold in enumerate(folds):
        mine = slice(f * each, (f + 1) * each)
        parts = zip(tasks[mine], fits[mine], strict=True)
        table = np.column_stack([_spread(task, fit, n) for task, fit in parts])
        support = np.flatnonzero(table.any(axis=1))
        height = max((1 << 23) // max(len(support), 1), 1)  # rows whose kernel values are held at a time
        with single_threaded_blas(), until(run_of_fit().is_over):
            for start in range(0, len(fold.left_out), height):
                rows = fold.left_out[start : start + height]
                values[rows] = matrix.block(rows, support) @ table[support]
        values[fold.left_out] += [fit.bias for fit in fits[mine]]
    return values, fits


def _spread(task: Task, fit: Fit, n: int) -> NDArray[np.float64]:
    """Dual variables of all n points, zero for those that are not part of the problem."""
    result = np.zeros(n)
    result[task.index] = fit.beta
    return result
