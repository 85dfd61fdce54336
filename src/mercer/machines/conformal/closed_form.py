"""Machines whose models with one point more or less are known in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...domains import Similarities
from ..base import KernelMachine
from ..gaussian_process import GaussianProcessRegressor
from ..gaussian_process.noise import separate
from ..ridge import KernelRidge
from .ridge import RidgeIntervals

__all__ = ["chosen_with_targets", "intervals_of", "is_pairwise", "no_closed_form"]


def no_closed_form(machine: Any, method: str) -> str:
    """Why a machine has no closed form of ``"full"`` or ``"jackknife+"``; empty if it has one."""
    if isinstance(machine, GaussianProcessRegressor):
        return _of_process(machine, method)
    if not isinstance(machine, KernelRidge):
        return f"{type(machine).__name__} has no closed form for models with one point more or less"
    if machine.approximation is not None:
        return "the machine has an approximation"
    if not isinstance(machine.alpha, str) and not (np.ndim(machine.alpha) == 0 and machine.alpha > 0):
        return "the machine's alpha is not one positive number"
    return _of_matrix(machine, method)


def _of_process(machine: GaussianProcessRegressor, method: str) -> str:
    if machine.normalize_y:
        return "normalize_y makes every model depend on all targets (fit_intercept=True does not)"
    if np.ndim(machine.alpha) and method == "full":
        return "with one alpha for each observation that of a new point is not known"
    if method == "full" and not machine.alpha and not separate(machine._checked_kernel()).noise:
        return "without noise the model of all points fits every target"
    return _of_matrix(machine, method)


def _of_matrix(machine: Any, method: str) -> str:
    if method == "full" and is_pairwise(machine):
        return "a precomputed matrix does not hold the values of new points with themselves"
    return ""


def is_pairwise(machine: Any) -> bool:
    """Whether the machine takes a precomputed matrix."""
    return isinstance(machine, KernelMachine) and isinstance(machine._checked_kernel().domain, Similarities)


def chosen_with_targets(machine: Any) -> str:
    """Which argument of a machine with a closed form makes it choose parameters with y; empty if none."""
    if machine.tune is not None and not (_is_process(machine) and _has_nothing_to_tune(machine)):
        return f"tune={machine.tune!r}"
    is_chosen = isinstance(machine.alpha, str) and not _is_process(machine)
    return f"alpha={machine.alpha!r}" if is_chosen else ""


def _is_process(machine: Any) -> bool:
    return isinstance(machine, GaussianProcessRegressor)


def _has_nothing_to_tune(machine: Any) -> bool:
    """Whether no parameter of the kernel has a logarithmic scale."""
    return not any(p.scale == "log" for p in machine._checked_kernel().parameters.values())


def intervals_of(machine: Any) -> RidgeIntervals:
    """Intervals of a fitted machine."""
    if isinstance(machine, GaussianProcessRegressor):
        noise = machine._posterior.method.noise  # with the noise of the kernel
        return RidgeIntervals(machine.gram_, machine._observed.Y[:, 0], noise, bool(machine.fit_intercept))
    targets, noise = machine._Y[:, 0], np.full(len(machine._Y), float(machine.alpha_))
    return RidgeIntervals(machine.gram_, targets, noise, bool(machine.fit_intercept))
