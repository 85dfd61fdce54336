"""What regression and classification share: the evidence, and kernels tuned by it."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...domains import Data
from ...errors import InputError
from ...kernel import Kernel
from ...parameters import Checks, check_choice
from ...solvers import Solution
from ..base import KernelMachine
from ..tuning import Hyperparameters, Scales, SearchSpace, tune_parameters

__all__ = ["Evidence", "EvidenceTuned"]

Array: TypeAlias = NDArray[np.float64]


class Evidence(Protocol):
    """Data whose likelihood under a kernel is known."""

    points: Data

    def scales(self, start: Hyperparameters) -> Scales:
        """What is usual for the parameters of a kernel on these data."""

    def log_likelihood(self, kernel: Kernel) -> float:
        """The log marginal likelihood."""

    def evidence(self, point: Hyperparameters, wanted: Any = None) -> tuple[float, Array]:
        """The same and its gradient in the logarithms of the parameters."""


class EvidenceTuned(KernelMachine):
    """A machine with ``tune``, ``n_restarts`` and ``random_state``."""

    _checks: ClassVar[Checks] = {"tune": partial(check_choice, options=("evidence", None))}

    tune: str | None
    n_restarts: int
    random_state: Any
    log_marginal_likelihood_value_: float
    _observed: Any
    kernel_: Kernel

    def _search(self) -> int:
        """Tune the kernel, if asked to; return how often the evidence was evaluated."""
        self.__dict__.pop("tuning_", None)
        start = Hyperparameters(self.kernel_, 1.0, penalty=None)
        if self.tune is None or not len(start.theta):
            return 1
        observed, caller = self._observed, type(self).__name__
        space = SearchSpace.around(start, observed.scales(start))
        self.tuning_: Solution[Any] = tune_parameters(
            observed.evidence, space, observed.points, int(self.n_restarts), self.random_state, caller
        )
        self.kernel_ = self.tuning_.value.kernel
        return int(self.tuning_.stats["evaluations"])

    def _keep_theta(self) -> None:
        point = Hyperparameters(self.kernel_, 1.0, penalty=None)
        self.theta_, self.theta_names_ = point.theta, point.names

    def _log_marginal_likelihood(self, theta: Any, eval_gradient: bool) -> Any:
        self._check_fitted()
        if theta is None and not eval_gradient:
            return self.log_marginal_likelihood_value_
        point = Hyperparameters(self.kernel_, 1.0, penalty=None)
        if theta is not None:
            theta = np.asarray(theta, dtype=np.float64)
            if theta.shape != self.theta_.shape or not np.isfinite(theta).all():
                raise InputError(
                    f"{type(self).__name__}.log_marginal_likelihood: `theta` must be {len(self.theta_)} "
                    f"logarithms, of {', '.join(self.theta_names_) or 'nothing'}. Got shape {theta.shape}."
                )
            point = point.at(theta)
        if not eval_gradient:
            return self._observed.log_likelihood(point.kernel)
        return self._observed.evidence(point)
