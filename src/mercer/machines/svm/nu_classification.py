"""Support vector classification with a bound on margin errors: ``NuSVC``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...kernels import Gaussian
from ...solvers import Matrix
from ..translation import KernelLike
from .base import Fit, Limits
from .classifier import Classifier, Codes
from .problems import check_mass, check_nu, most_nu, solve_nu_classification

__all__ = ["NuSVC"]

Vector = NDArray[np.float64]


class NuSVC(Classifier):
    r"""Support vector classification with a bound on margin errors instead of a price.

    .. math:: \min_{f,\, b,\, r \ge 0} \; \tfrac12 \|f\|^2 - \nu r
              + \frac{1}{W} \sum_i w_i \max(0,\; r - y_i (f(x_i) + b)), \qquad W = \sum_i w_i

    divided by :math:`r` at the end, so that the margin is at :math:`\pm 1` as in :class:`SVC`.  At most the
    share :math:`\nu` of the weight lies inside the margin, and at least that share are support vectors.  For
    two classes :math:`\nu` is at most twice the share of the smaller one; more is refused at once.

    Solver, cost and promises as for :class:`SVC`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        As for :class:`SVC`.
    nu : float, default=0.5
        In (0, 1].
    tol, max_iter, cache_size, verbose, class_weight, multiclass
        As for :class:`SVC`.
    decision_function_shape, break_ties, warm_start, indefinite, store, probability, random_state, time_budget
        As for :class:`SVC`.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As for :class:`SVC`.
    kernel_, expansion_, converged_, fit_status_, status_, gap_, kkt_violation_, solutions_, n_iter_
        As for :class:`SVC`.
    shape_fit_, n_features_in_, feature_names_in_, calibration_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> model = NuSVC(Linear(), nu=0.5).fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> model.predict([[-3.0], [0.5]])
    array([0, 1])
    """

    fit_intercept = True

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        nu: float = 0.5,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        verbose: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = True,
        warm_start: bool = False,
        indefinite: str = "warn",
        store: Any = None,
        probability: bool = False,
        random_state: Any = 0,
        time_budget: float | None = None,
    ) -> None:
        super().__init__(kernel, tol, max_iter, cache_size, verbose, indefinite, store, time_budget)
        self.nu = nu
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.warm_start = warm_start
        self.probability = probability
        self.random_state = random_state

    def _check_labels(self, codes: Codes, weight: Vector) -> None:
        check_mass(float(self.nu) * float(weight.sum()), "NuSVC")
        for task in self._tasks(codes):
            check_nu(task.y, float(self.nu), weight[task.index])

    def _check_fits(self, fits: Sequence[Fit]) -> None:
        if not all(fit.beta.any() for fit in fits):
            raise InputError(
                f"NuSVC: with nu={self.nu:g} the margin vanishes: the reduced hulls of the classes overlap. "
                "Raise nu, which reduces them further, or take a richer kernel."
            )

    def _solve(self, y: Vector, weight: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        # nu was checked to be feasible for the model; without a fold it may fall just short.
        nu = min(float(self.nu), most_nu(y, weight))
        return solve_nu_classification(y, nu, weight, matrix, limits, start)
