"""Leave-one-out in closed form: one fit to all points gives the prediction of each point without it.

=============================  =====================================================================
``KernelRidge``                exactly what refitting would give (``loo_residuals``)
``GaussianProcessRegressor``   the same, with the parameters of the kernel as tuned on all points
``KernelLogistic``             to first order (``loo_decision_``)
=============================  =====================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError, brief
from ...machines import GaussianProcessRegressor, KernelLogistic, KernelRidge

__all__ = ["left_out", "require_closed_form"]

Vector = NDArray[np.float64]


class _Ridge(KernelRidge):
    """Predictions of the points that the machine was fitted to, each without itself."""

    values_: Vector

    def predict(self, X: Any) -> Vector:  # type: ignore[override]
        """Values of all points."""
        return self.values_


class _Process(GaussianProcessRegressor):
    """The same for a Gaussian process."""

    values_: Vector

    def predict(self, X: Any) -> Vector:  # type: ignore[override]
        """Values of all points."""
        return self.values_


class _Logistic(KernelLogistic):
    """The same for log-odds."""

    values_: Vector

    def decision_function(self, X: Any) -> Vector:
        """Values of all points."""
        return self.values_

    def _check_fitted(self) -> None:
        """Nothing to check."""


def left_out(machine: Any, y: Any) -> Any:
    """A machine whose predictions of all points are those that leave out the point."""
    params = machine.get_params(deep=False)
    model: _Ridge | _Process | _Logistic
    if isinstance(machine, KernelRidge):
        model = _Ridge(**params)
        model.values_ = np.asarray(y) - machine.loo_residuals()
    elif isinstance(machine, GaussianProcessRegressor):
        model = _Process(**params)
        model.values_ = machine.leave_one_out()[0]
    else:
        model = _Logistic(**params)
        model.values_, model.classes_ = machine.loo_decision_, machine.classes_
    return model


def require_closed_form(machine: Any, *, sees_points: bool, train: bool, caller: str) -> None:
    """Raise unless a search with ``cv="loo"`` can be done without refits."""
    if not isinstance(machine, KernelRidge | GaussianProcessRegressor | KernelLogistic):
        raise ParameterError(
            f"{caller}: `cv='loo'` needs a machine with leave-one-out in closed form: KernelRidge, "
            f"GaussianProcessRegressor or KernelLogistic. Got {type(machine).__name__}. "
            "cv=LeaveOneOut() of scikit-learn refits for each point."
        )
    if getattr(machine, "approximation", None) is not None:
        raise ParameterError(
            f"{caller}: `cv='loo'` needs a machine without `approximation`. Got {brief(machine)}. "
            "Use folds: cv=5."
        )
    if sees_points or train:
        which = "a plain function as `scoring`" if sees_points else "`return_train_score=True`"
        raise ParameterError(
            f"{caller}: `cv='loo'` has predictions of the points that were left out and no other, so that "
            f"{which} is not possible. Use a metric's name or make_scorer, or cv=5."
        )
