"""What the machines with several kernels share: their weights, and how they are learned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ...contributions import Contribution, Contributions
from ...domains import Data
from ...errors import InputError, ParameterError, warn
from ...gram import Gram, PointGram
from ...gram.kernel_gram import gram_of_points
from ...kernel import Kernel
from ...parameters import Checks, check_choice, check_count, check_number
from ...solvers import (
    FamilyValue,
    Hierarchical,
    InnerMachine,
    LpNorm,
    Penalty,
    Solution,
    align_family,
    solve_weights,
    train_weights,
)
from ...solvers.watch import Watch
from ..arguments import check_fraction
from ..base import KernelMachine, len_of
from .dependence import undetermined
from .hierarchy import KernelHierarchy
from .matrices import SCALES, Matrices, UnidentifiedWeightsWarning, matrices_of
from .members import Kernels, Members, read_members

__all__ = ["MultipleKernels", "TrainingKernels"]

Vector = NDArray[np.float64]


class TrainingKernels(NamedTuple):
    """Resolved kernels, their matrices on the training points, weights of the points, one Gram matrix."""

    members: Members
    matrices: Matrices
    weight: Vector
    first: Gram


class MultipleKernels(KernelMachine):
    """Parameters ``kernels``, ``weights``, ``norm`` and ``scale``, and the attributes that follow."""

    kernels: Kernels
    weights: str
    norm: float
    scale: str | None
    store: Any
    tol: float
    max_iter: int

    #: Whether coefficients sum to zero with ``fit_intercept``, so that conditional kernels are welcome.
    _intercept_is_free: ClassVar[bool] = True

    # -- parameters -------------------------------------------------------------------------------
    def _checked_kernel(self, name: str = "kernel") -> Kernel:
        """The sum of the kernels, whose domain is that of the machine."""
        del name
        return self._members().sum()

    def _members(self) -> Members:
        """The kernels with their names."""
        given = self.kernels
        kernels = given.members() if isinstance(given, KernelHierarchy) else given
        return read_members(kernels, type(self).__name__)

    _checks: ClassVar[Checks] = {
        "weights": partial(check_choice, options=("learn", "average", "alignment")),
        "norm": partial(check_number, requirement="a finite number >= 1", least=1.0),
        "scale": partial(check_choice, options=SCALES),
        "tol": check_fraction,
        "max_iter": check_count,
    }

    def _check_weighting(self) -> None:
        """Check what concerns the weights of kernels."""
        if isinstance(self.kernels, KernelHierarchy) and (self.weights != "learn" or self.norm != 1):
            raise ParameterError(
                f"{type(self).__name__}: `kernels` may be a KernelHierarchy only with weights='learn' and "
                f"norm=1. Got weights={self.weights!r}, norm={self.norm!r}; pass "
                "kernels=hierarchy.kernels for weights without the order."
            )

    # -- kernels ----------------------------------------------------------------------------------
    def _training_kernels(
        self, points: Data, weight: Vector | None, own: Vector | None, *, intercept: bool
    ) -> TrainingKernels:
        """Resolve the kernels on the training points, check them, and bring their matrices to one scale."""
        caller = type(self).__name__
        members = self._members().resolve(points, weight, beside=intercept)
        counts = np.ones(len_of(points)) if weight is None else weight
        grams = members.grams(points, self.store, caller)
        flat = not isinstance(self.kernels, KernelHierarchy)
        merge = flat and self.norm == 1 and self.weights != "average"
        matrices = matrices_of(grams, members.names, counts, self.scale, caller, merge=merge, drop=flat)
        return TrainingKernels(members, matrices, counts if own is None else own, grams[0])

    def _weigh(
        self,
        training: TrainingKernels,
        machine: InnerMachine,
        targets: Callable[[], Vector],
        unit: float = 1.0,
    ) -> Solution[FamilyValue]:
        """Weights and the machine trained with them; sets the attributes of the weights."""
        family, p = training.matrices.family, float(self.norm)
        with closing(Watch(float(self.tol), None, (), True, type(self).__name__)) as watch:
            if self.weights == "learn":
                found = solve_weights(
                    family,
                    machine,
                    watch,
                    penalty=self._penalty(),
                    tol=float(self.tol),
                    inner_tol=1e-3 * unit,
                    max_iter=int(self.max_iter),
                )
            else:
                d = np.ones(len(family))
                if self.weights == "alignment":
                    d = align_family(family, targets(), training.weight)
                if not d.any():
                    raise InputError(
                        f"{type(self).__name__}: `y` must go with some kernel. None is aligned with it; set "
                        "weights='average'."
                    )
                d = d / float((d**p).sum()) ** (1.0 / p)
                found = train_weights(
                    family, machine, watch, d, p=p, tol=float(self.tol), inner_tol=1e-3 * unit
                )
        self._keep_weights(training, found)
        return found

    def _penalty(self) -> Penalty:
        """The set of weights to choose from."""
        if isinstance(self.kernels, KernelHierarchy):
            return Hierarchical(self.kernels.above(), self.kernels.prices())
        return LpNorm(float(self.norm))

    def _keep_weights(self, training: TrainingKernels, found: Solution[FamilyValue]) -> None:
        members, matrices = training.members, training.matrices
        self.names_ = members.names
        self.kernels_ = members.kernels
        self.scales_ = matrices.scales
        self.weights_ = matrices.spread(found.value.weights)
        self.kernel_ = members.combination(self.weights_ / self.scales_)
        self.solution_ = Solution(self.weights_, found.converged, found.status, found.gap, found.stats)
        self.gap_ = float(found.gap)
        self.objective_ = float(found.stats["objective"])
        if found.value.trained.coefficients.any():
            self._warn_of_sums(training, found.value)
            return
        warn(
            f"{type(self).__name__}: `y` is constant up to what the loss ignores, so that the function is, "
            "too. The weights of the kernels are not determined; they are equal.",
            UnidentifiedWeightsWarning,
        )

    def _warn_of_sums(self, training: TrainingKernels, value: FamilyValue) -> None:
        """Warn of kernels whose weights could be others, for the same combined matrix."""
        if self.weights != "learn" or self.norm != 1 or isinstance(self.kernels, KernelHierarchy):
            return
        family, weights = training.matrices.family, value.weights
        prices = family.prices(value.trained.coefficients)
        tied = np.flatnonzero((weights > 0) | (prices >= (1.0 - float(self.tol) ** 0.5) * prices.max()))
        if len(tied) < 2:
            return
        found = tied[undetermined(family.select(tied), weights[tied])]
        if len(found):
            names = [self.names_[i] for i in np.flatnonzero(np.isin(training.matrices.groups, found))]
            warn(
                f"{type(self).__name__}: of the kernels {', '.join(map(repr, names))} some are sums of "
                "others on these data. Other weights of them give the same machine. Leave out the sums, or "
                "their terms.",
                UnidentifiedWeightsWarning,
            )

    def _gram_of_combination(self, points: Data) -> PointGram:
        return gram_of_points(self.kernel_, points, store=self.store)

    def _solver_report(self) -> str:
        return f"machine and weights of {len(self.weights_)} kernels: {self.status_}"

    def _report_weights(self) -> None:
        """Set ``converged_`` and ``status_``; warn if the weights are not those that were asked for."""
        found = self.solution_
        self.converged_, self.status_ = found.converged, found.status
        self.n_iter_: Any = max(int(found.stats["iterations"]), 1)
        if not found.converged:
            warn(
                f"{type(self).__name__}: {found.status}. The model is usable; raise max_iter, or tol.",
                ConvergenceWarning,
            )

    def kernel_weights(self) -> Contributions:
        """The kernels that have a weight, the largest first; prints as a table.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> from mercer.machines import MultipleKernelRidge
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.1]
        >>> print(MultipleKernelRidge([Linear(), Gaussian(0.1)], alpha=0.1).fit(X, y).kernel_weights())
        weight  pattern
           1.0  'Linear()'
        """
        self._check_fitted()
        pairs = zip(self.names_, self.weights_.tolist(), strict=True)
        return Contributions(Contribution(name, weight) for name, weight in pairs if weight)
