"""What the parameters of kernel ridge regression may be."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...errors import ParameterError, brief
from ...parameters import Checks, check_choice
from ...solvers import SOLVERS
from ..approximation import check_approximation
from ..arguments import PENALTY_RANGE, check_positive

__all__ = ["CHECKS", "check_parameters"]

#: Parameters that belong to the system of all points, with the values that ask for nothing.
FULL_ONLY = {
    "tune": None,
    "signal_variance": 1.0,
    "solver": "auto",
    "warm_start": False,
    "indefinite": "warn",
}


def _check_alpha(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a penalty, an array of them, or a rule to choose one."""
    if isinstance(value, str) and value in ("loo", "gcv"):
        return
    array = _as_array(value)
    low, high = PENALTY_RANGE
    sound = array.ndim <= 1 and array.dtype.kind in "iuf"
    if not (sound and ((array == 0) | ((array >= low) & (array <= high))).all()):
        raise ParameterError(
            f"{caller}: `{name}` must be 0 or a number between 1e-100 and 1e100, one for each target, "
            f"'loo' or 'gcv'. Got {brief(value)}. Larger alpha gives a smoother fit."
        )


def _check_grid(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a list of penalties, or None."""
    if value is None:
        return
    grid = _as_array(value)
    low, high = PENALTY_RANGE
    numeric = grid.ndim == 1 and grid.size and grid.dtype.kind in "iuf"
    if not (numeric and ((grid >= low) & (grid <= high)).all()):
        raise ParameterError(
            f"{caller}: `{name}` must be a list of numbers between 1e-100 and 1e100. Got {brief(value)}."
        )


def _as_array(value: Any) -> np.ndarray:
    """The value as an array, an int beyond 64 bits as a float; of type object if there is none."""
    try:
        array = np.asarray(value)
        return array.astype(np.float64) if isinstance(value, int) and array.dtype == object else array
    except (TypeError, ValueError, OverflowError):  # such as a ragged list
        return np.asarray(None)


CHECKS: Checks = {
    "alpha": _check_alpha,
    "alphas": _check_grid,
    "tune": partial(check_choice, options=("evidence", "loo", None)),
    "signal_variance": partial(
        check_positive, requirement="a positive finite number or 'evidence'", unless=("evidence",)
    ),
    "solver": partial(check_choice, options=SOLVERS),
    "tol": check_positive,
}


def check_parameters(machine: Any) -> None:
    """Raise :class:`~mercer.errors.ParameterError` for the first two parameters that do not go together."""
    is_rule, alpha = isinstance(machine.alpha, str), brief(machine.alpha)
    if machine.tune is not None and (is_rule or np.ndim(machine.alpha) != 0 or not machine.alpha > 0):
        raise ParameterError(
            "KernelRidge: with `tune`, `alpha` must be a positive number: the search starts from it. "
            f"Got {alpha}."
        )
    if machine.solver in ("cg", "askotch") and not is_rule and not (np.asarray(machine.alpha) > 0).all():
        raise ParameterError(
            f"KernelRidge: solver={machine.solver!r} needs `alpha` > 0. Got 0: without a penalty the system "
            "may be singular, and iterations need not end. Use solver='eigen'."
        )
    if machine.solver == "askotch" and (machine.fit_intercept or is_rule or np.ndim(machine.alpha)):
        raise ParameterError(
            "KernelRidge: solver='askotch' needs fit_intercept=False and one number `alpha`. Subtract the "
            "mean of y, or use solver='cg'."
        )
    if machine.approximation is not None:
        check_approximation(machine, FULL_ONLY)
        if is_rule or np.ndim(machine.alpha) != 0 or not machine.alpha > 0:
            raise ParameterError(
                "KernelRidge: `alpha` must be one positive number with `approximation`. "
                f"Got {alpha}. Without a penalty the features may be dependent, and the weights "
                "are not determined."
            )
