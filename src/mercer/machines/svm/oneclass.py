"""One class: ``OneClassSVM``, and what it shares with the enclosing ball."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from ...kernels import Gaussian
from ...solvers import BoxProblem, BoxValue, LazyMatrix, Matrix, Solution
from ..arguments import read_weight
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedFunction
from ..translation import KernelLike
from .base import Limits, SupportVectorMachine, positive_rows
from .problems import check_mass
from .starts import fill_up

__all__ = ["Dual", "OneClass", "OneClassSVM"]

Vector = NDArray[np.float64]

#: Relative distance by which the boundary is moved outwards: more than the rounding error of the values.
BOUNDARY = 1e-10


class Dual(NamedTuple):
    """The dual problem of a machine of one class."""

    problem: BoxProblem
    total: float  # sum of the variables
    scale: float  # size of the gradient, to which ``tol`` is relative


class OneClass(OutlierMixin, SupportVectorMachine):
    """Points without labels; ``decision_function`` is positive inside."""

    fit_intercept = True
    _intercept_is_free = False  # it is part of the objective, and the variables have a positive sum
    warm_start = False

    def _check_parameters(self, weight: float) -> None:
        """Raise before any kernel value is computed if the problem has no solution; weights have this sum."""
        raise NotImplementedError

    def _dual(self, weight: Vector, matrix: Matrix) -> Dual:
        raise NotImplementedError

    @as_run
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the points ``X``; ``y`` is ignored.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix
        y : ignored
        sample_weight : array of shape (n,), optional
            Weight 2 is a repeated row, weight 0 an absent one.

        Returns
        -------
        self
        """
        limits = self._limits()
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = read_weight(type(self).__name__, sample_weight, n)
        self._check_parameters(float(n) if weight is None else float(weight.sum()))
        training = self._training(points, positive_rows(weight, n), weight)
        matrix = LazyMatrix(training.gram)
        problem, total, scale = self._dual(training.weight, matrix)
        tol = limits.tol * (scale or 1.0)
        solution = self._minimum(problem, matrix, limits, fill_up(total, problem.high), tol)
        beta, grad, (multiplier,) = solution.value
        support = np.flatnonzero(beta)
        self._keep(training, support, beta[None, support])
        self.n_iter_ = int(solution.stats["iterations"])
        # At the optimum -grad is at most the multiplier where beta is below its bound.  A solution up to a
        # tolerance has points of the boundary on both sides; the boundary is moved to have them inside.
        farthest = float((-grad)[beta < problem.high].max(initial=-np.inf))
        most = np.inf if (problem.high > total).all() else tol  # nobody may be outside, whatever the solution
        boundary = min(max(multiplier, farthest), multiplier + most)
        slack = BOUNDARY * float(np.abs(grad).max())
        self._set_boundary(beta, grad, problem, boundary + slack)
        self._report([solution])
        return self

    def _minimum(
        self, problem: BoxProblem, matrix: Matrix, limits: Limits, start: Vector, tol: float
    ) -> Solution[BoxValue]:
        """Solve the dual problem."""
        return limits.solve(problem, matrix, start, tol=tol)

    def _set_boundary(self, beta: Vector, grad: Vector, problem: BoxProblem, boundary: float) -> None:
        """Set the offset from the value of ``-grad`` on the boundary."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Positive inside, negative outside."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Whether points are inside (+1) or outside (-1)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class OneClassSVM(ExplainedFunction, OneClass):
    r"""One-class support vector machine: a half space in feature space with most of the points.

    .. math:: \min_{f,\, \rho} \; \tfrac12 \|f\|^2 - \nu W \rho + \sum_i w_i \max(0,\; \rho - f(x_i)),
              \qquad W = \sum_i w_i

    (scikit-learn's scaling; divide by :math:`\nu W` for the objective of the survey, with its signs
    corrected).  At most the share :math:`\nu` of the weight is outside, and at least that
    share are support vectors.  Solver, cost and promises as for :class:`SVC`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        As for :class:`SVC`.
    nu : float, default=0.5
        In (0, 1].
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which to stop, as a part of the largest
        :math:`k(x_i, x_i)` times the mean weight, or times :math:`\nu W` if that is less.
    max_iter, cache_size, verbose, indefinite, store, time_budget
        As for :class:`SVC`.

    Attributes
    ----------
    offset_ : float
        :math:`\rho`: ``decision_function = score_samples - offset_``.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As for :class:`SVC`.
    kernel_, expansion_, converged_, fit_status_, status_, gap_, kkt_violation_, solutions_, n_iter_
        As for :class:`SVC`.
    shape_fit_, n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> OneClassSVM(nu=0.5).fit([[0.0], [0.44], [0.45], [0.46], [1.0]]).predict([[0.45], [9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        nu: float = 0.5,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        verbose: bool = False,
        indefinite: str = "warn",
        store: Any = None,
        time_budget: float | None = None,
    ) -> None:
        super().__init__(kernel, tol, max_iter, cache_size, verbose, indefinite, store, time_budget)
        self.nu = nu

    def _check_parameters(self, weight: float) -> None:
        check_mass(float(self.nu) * weight, "OneClassSVM")

    def _dual(self, weight: Vector, matrix: Matrix) -> Dual:
        zeros, total = np.zeros(len(weight)), float(self.nu) * float(weight.sum())
        # f is at most the largest K_ii times the sum of the variables.
        scale = float(np.abs(matrix.diagonal()).max()) * min(float(weight.mean()), total)
        return Dual(BoxProblem(zeros, zeros, weight), total, scale)

    def _set_boundary(self, beta: Vector, grad: Vector, problem: BoxProblem, boundary: float) -> None:
        self.offset_ = -boundary
        self.intercept_ = np.array([boundary])

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Values f(x): the larger, the more typical."""
        self._check_fitted()
        return self._function(X, np.ascontiguousarray(self.dual_coef_[0]))

    def _expansion(self) -> Expansion:
        return Expansion(self.expansion_, self.dual_coef_.T, self.intercept_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Values f(x) - rho: positive inside."""
        return self.score_samples(X) - self.offset_
