"""Machines whose models with one point more or less are known in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...domains import Similarities
from ..base import KernelMachine
from ..gaussian_process import GaussianProcessRegressor
from ..gaussian_process.noise import separate
from ..ridge import KernelRidge

__all__ = ["chosen_with_targets", "is_pairwise", "no_closed_form"]


def no_closed_form(machine: Any, method: str) -> str:
    """Why a machine has no closed form of ``"full"`` or ``"jackknife+"``; empty if it has one."""
    if isinstance(machine, GaussianProcessRegressor):
        if machine.normalize_y:
            return "normalize_y makes every model depend on all targets (fit_intercept=True does not)"
        if np.ndim(machine.alpha) and method == "full":
            return "with one alpha for each observation that of a new point is not known"
        if method == "full" and not machine.alpha and not separate(machine._checked_kernel()).noise:
            return "without noise the model of all points fits every target"
    elif not isinstance(machine, KernelRidge):
        return f"{type(machine).__name__} has no closed form for models with one point more or less"
    elif machine.approximation is not None:
        return "the machine has an approximation"
    elif not isinstance(machine.alpha, str) and not (np.ndim(machine.alpha) == 0 and machine.alpha > 0):
        return "the machine's alpha is not one positive number"
    if method == "full" and is_pairwise(machine):
        return "a precomputed matrix does not hold the values of new points with themselves"
    return ""


def is_pairwise(machine: Any) -> bool:
    """Whether the machine takes a precomputed matrix."""
    return isinstance(machine, KernelMachine) and isinstance(machine._checked_kernel().domain, Similarities)


def chosen_with_targets(machine: Any) -> str:
    """Which argument of a machine with a closed form makes it choose parameters with y; empty if none."""
    is_process = isinstance(machine, GaussianProcessRegressor)
    if machine.tune is not None:
        parameters = machine._checked_kernel().parameters.values()
        if not is_process or any(p.scale == "log" for p in parameters):  # otherwise there is nothing to tune
            return f"tune={machine.tune!r}"
    return f"alpha={machine.alpha!r}" if isinstance(machine.alpha, str) and not is_process else ""
