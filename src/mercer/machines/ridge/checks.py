"""What the parameters of kernel ridge regression may be."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from ...solvers import SOLVERS
from ..approximation import check_approximation
from ..arguments import PENALTY_RANGE

__all__ = ["check_parameters", "signal_rule"]

#: Parameters that belong to the system of all points, with the values that ask for nothing.
FULL_ONLY = {
    "tune": None,
    "signal_variance": None,
    "solver": "auto",
    "warm_start": False,
    "indefinite": "warn",
}


def check_parameters(machine: Any) -> None:
    """Raise :class:`~mercer.errors.ParameterError` for the first parameter that is out of its range."""
    _check_alpha(machine.alpha)
    if machine.alphas is not None:
        _check_grid(machine.alphas)
    if machine.tune is not None:
        _check_tune(machine.tune, machine.alpha)
    if machine.signal_variance is not None and machine.signal_variance != "evidence":
        _check_positive("signal_variance", machine.signal_variance, " or 'evidence'")
    _check_positive("tol", machine.tol)
    if machine.solver not in SOLVERS:
        options = ", ".join(map(repr, SOLVERS))
        raise ParameterError(f"KernelRidge: `solver` must be one of {options}. Got {machine.solver!r}.")
    if (
        machine.solver in ("cg", "askotch")
        and not isinstance(machine.alpha, str)
        and not _all(np.asarray(machine.alpha) > 0)
    ):
        raise ParameterError(
            f"KernelRidge: solver={machine.solver!r} needs `alpha` > 0. Got 0: without a penalty the system "
            "may be singular, and iterations need not end. Use solver='eigen'."
        )
    if machine.solver == "askotch" and (
        machine.fit_intercept or isinstance(machine.alpha, str) or np.ndim(machine.alpha)
    ):
        raise ParameterError(
            "KernelRidge: solver='askotch' needs fit_intercept=False and one number `alpha`. Subtract the "
            "mean of y, or use solver='cg'."
        )
    if machine.approximation is not None:
        check_approximation(machine, FULL_ONLY)
        if isinstance(machine.alpha, str) or np.ndim(machine.alpha) != 0 or not machine.alpha > 0:
            raise ParameterError(
                "KernelRidge: `alpha` must be one positive number with `approximation`. "
                f"Got {machine.alpha!r}. Without a penalty the features may be dependent, and the weights "
                "are not determined."
            )
    _check_count("max_iter", machine.max_iter, 1)
    _check_count("n_restarts", machine.n_restarts, 0)


def signal_rule(machine: Any, Y: NDArray[np.float64]) -> float | str:
    """The signal variance, or ``"evidence"``.

    If it is not given, the latter where the evidence is tuned, unless a target of ``Y`` does not vary.
    """
    if machine.signal_variance is None:
        varies = np.ptp(Y, axis=0) if machine.fit_intercept else Y.any(axis=0)
        return "evidence" if machine.tune == "evidence" and varies.all() else 1.0
    return "evidence" if machine.signal_variance == "evidence" else float(machine.signal_variance)


def _check_alpha(alpha: Any) -> None:
    if isinstance(alpha, str) and alpha in ("loo", "gcv"):
        return
    array = np.asarray(alpha)
    if not (array.ndim <= 1 and array.dtype.kind in "iuf" and _all(_in_range(array) | (array == 0))):
        raise ParameterError(
            f"KernelRidge: `alpha` must be 0 or a number between 1e-100 and 1e100, one for each target, "
            f"'loo' or 'gcv'. Got {alpha!r}. Larger alpha gives a smoother fit."
        )


def _check_grid(alphas: Any) -> None:
    grid = np.asarray(alphas)
    numeric = grid.ndim == 1 and grid.size and grid.dtype.kind in "iuf"
    if not (numeric and _all(_in_range(grid))):
        raise ParameterError(
            f"KernelRidge: `alphas` must be a list of numbers between 1e-100 and 1e100. Got {alphas!r}."
        )


def _check_tune(tune: Any, alpha: Any) -> None:
    if tune not in ("evidence", "loo"):
        raise ParameterError(f"KernelRidge: `tune` must be 'evidence', 'loo' or None. Got {tune!r}.")
    if isinstance(alpha, str) or np.ndim(alpha) != 0 or not alpha > 0:
        raise ParameterError(
            f"KernelRidge: with `tune`, `alpha` must be a positive number: the search starts from it. "
            f"Got {alpha!r}."
        )


def _check_positive(name: str, value: Any, otherwise: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
        raise ParameterError(
            f"KernelRidge: `{name}` must be a positive finite number{otherwise}. Got {value!r}."
        )


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ParameterError(f"KernelRidge: `{name}` must be an integer >= {least}. Got {value!r}.")


def _in_range(values: Any) -> Any:
    low, high = PENALTY_RANGE
    return (values >= low) & (values <= high)


def _all(*conditions: Any) -> bool:
    return all(bool(np.all(condition)) for condition in conditions)
