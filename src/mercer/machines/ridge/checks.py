"""What the parameters of kernel ridge regression may be."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError, brief
from ...parameters import Checks, check_choice
from ...solvers import SOLVERS
from ..approximation import check_approximation
from ..arguments import check_path, check_penalties, check_penalty, check_positive

__all__ = ["CHECKS", "check_parameters", "signal_rule"]


def _check_alpha(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a penalty, an array of them, or a rule to choose one."""
    if isinstance(value, str) and value in ("loo", "gcv"):
        return
    wanted = "0 or a number between 1e-100 and 1e100, one for each target, 'loo' or 'gcv'"
    advice = "Larger alpha gives a smoother fit."
    given = np.asarray(value).tolist() if hasattr(value, "__array__") else value
    for penalty in given if isinstance(given, list | tuple) else [given]:
        check_penalty(caller, name, penalty, wanted, zero=True, advice=advice)


CHECKS: Checks = {
    "alpha": _check_alpha,
    "alphas": check_penalties,
    "checkpoint": check_path,
    "tune": partial(check_choice, options=("evidence", "loo", None)),
    "signal_variance": partial(
        check_positive, requirement="a positive finite number or 'evidence'", unless=("evidence", None)
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
        check_approximation(
            machine,
            {
                "tune": None,
                "signal_variance": None,
                "solver": "auto",
                "warm_start": False,
                "indefinite": "warn",
            },
        )
        if is_rule or np.ndim(machine.alpha) != 0 or not machine.alpha > 0:
            raise ParameterError(
                "KernelRidge: `alpha` must be one positive number with `approximation`. "
                f"Got {alpha}. Without a penalty the features may be dependent, and the weights "
                "are not determined."
            )


def signal_rule(machine: Any, Y: NDArray[np.float64]) -> float | str:
    """The signal variance, or ``"evidence"``.

    If it is not given, the latter where the evidence is tuned, unless a target of ``Y`` does not vary.
    """
    if machine.signal_variance is None:
        varies = np.ptp(Y, axis=0) if machine.fit_intercept else Y.any(axis=0)
        return "evidence" if machine.tune == "evidence" and varies.all() else 1.0
    return "evidence" if machine.signal_variance == "evidence" else float(machine.signal_variance)
