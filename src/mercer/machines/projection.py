"""What machines share that project points on functions learned from a Gram matrix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from .. import memory
from ..domains import Data, take
from ..errors import DefinitenessError, ParameterError, warn
from ..gram import Gram
from ..gram.kernel_gram import gram_of_points
from ..gram.spectrum import finite, fix_signs
from ..kernel import Kernel
from ..parameters import Checks, check_count, check_number
from ..solvers import Solution
from .base import KernelMachine, len_of
from .indefinite import screen

__all__ = ["KernelProjection", "Training", "keep"]


class Training(NamedTuple):
    """Rows of positive weight."""

    kept: np.ndarray  # their positions in the input
    weight: np.ndarray
    K: np.ndarray  # their Gram matrix


class KernelProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine):
    """Base of machines that learn functions ``f_j = sum_i dual_coef_[i, j] k(x_i, .) + intercept_[j]``."""

    alpha: float
    indefinite: str
    gram_: Gram
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    solution_: Solution[Any]

    _checks: ClassVar[Checks] = {
        "alpha": partial(
            check_number,
            requirement="a finite number >= 0",
            least=0.0,
            advice="A larger alpha gives smoother functions.",
        ),
        "n_components": partial(check_count, unless=(None,)),
    }

    def transform(self, X: Any) -> np.ndarray:
        """Values of the functions at the points ``X``, of shape (n, n_components)."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        return np.asarray(self.gram_._cross(points) @ self.dual_coef_ + self.intercept_)

    @property
    def _n_features_out(self) -> int:
        return int(self.dual_coef_.shape[1])

    # -- steps of fit ---------------------------------------------------------------------------
    def _train_on(self, points: Data, weight: np.ndarray | None, *, any_kernel: bool = False) -> Training:
        """Fix the kernel's parameters on the rows of positive weight and compute their Gram matrix."""
        n = len_of(points)
        kept = np.arange(n) if weight is None else np.flatnonzero(weight)
        if len(kept) < n:
            points, weight = take(points, kept), None if weight is None else weight[kept]
        # matrices of the size of the Gram matrix that an eigendecomposition and what follows it hold at a
        # time
        memory.require(6 * 8 * len(kept) ** 2, f"{type(self).__name__} on {len(kept)} points")
        self.kernel_ = self._checked_kernel().resolve(points, weight)
        G = gram_of_points(self.kernel_, points)._in_double()
        self.gram_ = screen(G, self.indefinite, type(self).__name__, any_kernel=any_kernel)
        return Training(kept, np.ones(len(kept)) if weight is None else weight, finite(self.gram_.dense()))

    @contextmanager
    def _explaining(self, kernel: Kernel, singular: str = "") -> Iterator[None]:
        """Say what it means that a solver fails: an indefinite kernel, or a denominator that is singular."""
        caller = type(self).__name__
        try:
            yield
        except DefinitenessError as error:
            raise DefinitenessError(
                f"{caller}: {kernel!r} is not positive definite on these data: {error}. "
                "Repair it with indefinite='clip', 'flip' or 'shift'."
            ) from error
        except LinAlgError as error:
            raise ParameterError(
                f"{caller}: `alpha` must be larger. Got {self.alpha!r}: {singular}, so that the quotient "
                "has no maximum."
            ) from error

    def _keep_functions(self, coefficients: np.ndarray, training: Training) -> np.ndarray:
        """Keep functions, shifted to the mean zero on the training points; return their values there."""
        values = np.asarray(training.K @ coefficients)
        mean = training.weight @ values / training.weight.sum()
        self.dual_coef_, self.intercept_ = coefficients, -mean
        return np.asarray(values - mean)

    def _turn(self, reference: np.ndarray) -> np.ndarray:
        """Fix the sign of each function by its column of ``reference``: the largest entry is positive."""
        signs = np.where((fix_signs(reference) != reference).any(axis=0), -1.0, 1.0)
        self.dual_coef_ = self.dual_coef_ * signs
        self.intercept_ = self.intercept_ * signs
        return signs

    def _warn(self, solution: Solution[Any]) -> None:
        self.solution_ = solution
        if not solution.converged:
            warn(
                f"{type(self).__name__}: {solution.status}, which is not accurate. Raise `alpha`.",
                ConvergenceWarning,
            )


def keep(wanted: Any, found: int, caller: str, reason: str) -> int:
    """Number of components to keep of those that were found."""
    if wanted is None:
        return found
    count = int(wanted)
    if count > found:
        raise ParameterError(f"{caller}: `n_components` must be at most {found}. Got {count}: {reason}.")
    return count
