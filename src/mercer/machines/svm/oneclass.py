"""One class: the region where the points are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from ...errors import ParameterError
from ...kernel import Kernel
from ...kernels import Gaussian
from ...solvers import BoxProblem, GramMatrix
from ..base import len_of
from .base import SupportVectorMachine, Training, fill_up, positive_rows

__all__ = ["EnclosingBall", "OneClassSVM"]

Vector = NDArray[np.float64]

#: Points on the boundary count as inside: it gives way by this part of the values, more than rounding.
BOUNDARY = 1e-10


class _OneClass(OutlierMixin, SupportVectorMachine):
    """Points without labels; ``decision_function`` is positive inside."""

    fit_intercept = True

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _problem(self, training: Training, diagonal: Vector) -> tuple[BoxProblem, float]:
        """The problem and the sum of its variables."""
        raise NotImplementedError

    def _check_total(self, weight: Vector) -> None:
        """Raise before any kernel work if the problem has no solution."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        time_budget: float | None = None,
        callbacks: Any = (),
    ) -> Self:
        """Fit to the points ``X``; ``y`` is ignored.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix
        y : ignored
        sample_weight : array of shape (n,), optional
            Weight 2 is a repeated row, weight 0 an absent one.
        time_budget : float, optional
            Seconds after which to stop; the model is usable and says how far it is from the optimum.
        callbacks : callable or sequence of callables
            Called with a :class:`~mercer.solvers.Progress` about twenty times a second; True stops.
        """
        control = self._control(time_budget, callbacks)
        self._check_parameters()
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = self._validate_weight(sample_weight, n)
        kept = positive_rows(weight, n)
        self._check_total(np.ones(n) if weight is None else weight[kept])
        training = self._train_on(points, kept, weight)
        matrix = GramMatrix(training.gram)
        problem, total = self._problem(training, matrix.diagonal())
        solution = control.solve(problem, matrix, fill_up(total, problem.high))
        b, f, offsets = solution.value
        support = np.flatnonzero(b)
        self._keep(training, support, b[None, support])
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self.n_iter_ = int(solution.stats["iterations"])
        self._set_offset(b, f, problem, offsets[0])
        self._tell([solution])
        return self

    def _set_offset(self, b: Vector, f: Vector, problem: BoxProblem, multiplier: float) -> None:
        raise NotImplementedError

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Positive inside, negative outside."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Whether points are inside (+1) or outside (-1)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class OneClassSVM(_OneClass):
    r"""One-class support vector machine: a half space in feature space with most of the points.

    .. math:: \min_{f,\, \rho} \; \tfrac12 \|f\|^2 - \nu W \rho + \sum_i w_i \max(0,\; \rho - f(x_i)),
              \qquad W = \sum_i w_i

    (scikit-learn's scaling; divide by :math:`\nu W` for the objective of the survey, whose printed signs are
    corrected in the catalogue).  At most the share :math:`\nu` of the weight is outside, and at least that
    share are support vectors.  Solver, cost and promises as for :class:`SVC`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
    nu : float, default=0.5
        In (0, 1].
    tol, max_iter, cache_size, shrinking, verbose, indefinite, store
        As for :class:`SVC`.

    Attributes
    ----------
    offset_ : float
        :math:`\rho`: ``decision_function = score_samples - offset_``.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As for :class:`SVC`.
    kernel_, converged_, status_, gap_, kkt_violation_, solutions_, n_iter_
        As for :class:`SVC`.

    Examples
    --------
    >>> OneClassSVM(nu=0.5).fit([[0.0], [0.44], [0.45], [0.46], [1.0]]).predict([[0.45], [9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        nu: float = 0.5,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        shrinking: bool = True,
        verbose: bool = False,
        indefinite: str = "warn",
        store: Any = None,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.shrinking = shrinking
        self.verbose = verbose
        self.indefinite = indefinite
        self.store = store

    def _check_parameters(self) -> None:
        self._require("nu", self.nu, lambda v: 0 < v <= 1, "a number in (0, 1]")

    def _problem(self, training: Training, diagonal: Vector) -> tuple[BoxProblem, float]:
        zeros, weight = np.zeros(len(diagonal)), training.weight
        return BoxProblem(zeros, zeros, weight), float(self.nu) * float(weight.sum())

    def _set_offset(self, b: Vector, f: Vector, problem: BoxProblem, multiplier: float) -> None:
        self.offset_ = -multiplier - BOUNDARY * float(np.abs(f).max())
        self.intercept_ = np.array([-self.offset_])

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Values f(x): the larger, the more at home."""
        self._check_fitted()
        return self._function(X, np.ascontiguousarray(self.dual_coef_[0]))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Values f(x) - rho: positive inside."""
        return self.score_samples(X) - self.offset_


class EnclosingBall(_OneClass):
    r"""The smallest ball in feature space around the points, hard or soft.

    .. math:: \min_{c,\, r} \; r^2 + C \sum_i w_i \max(0,\; \|\Phi(x_i) - c\|^2 - r^2)

    ``C=inf`` is the hard ball, which has all points inside.  The centre is a convex combination of points,
    :math:`c = \sum_i \alpha_i \Phi(x_i)` with :math:`0 \le \alpha_i \le C w_i`.  The soft ball needs
    :math:`C W \ge 1`, :math:`W = \sum_i w_i`; at most the share :math:`1 / (C W)` of the weight is outside.

    For a kernel with constant :math:`k(x, x)` the ball is the half space of :class:`OneClassSVM` with
    :math:`\nu = 1 / (C W)`.  Solver, cost and promises as for :class:`SVC`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
    C : float, default=inf
        Price of a squared distance outside.
    tol : float, default=1e-3
        Of the optimality conditions; the squared radius is right to about twice that.
    max_iter, cache_size, shrinking, verbose, indefinite, store
        As for :class:`SVC`.

    Attributes
    ----------
    radius_ : float
    squared_radius_ : float
    squared_norm_ : float
        :math:`\|c\|^2`.
    offset_ : float
        ``decision_function = score_samples - offset_``, with minus the squared radius.
    support_, support_vectors_, n_support_, dual_coef_, kernel_
        As for :class:`SVC`.
    converged_, status_, gap_, kkt_violation_, solutions_, n_iter_
        As for :class:`SVC`; ``dual_coef_`` are the :math:`\alpha_i` of the centre.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> ball = EnclosingBall(Linear()).fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> round(ball.radius_, 6), ball.distance([[1.0, 3.0]]).round(6).tolist()
    (1.0, [3.0])
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        C: float = np.inf,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        shrinking: bool = True,
        verbose: bool = False,
        indefinite: str = "warn",
        store: Any = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.shrinking = shrinking
        self.verbose = verbose
        self.indefinite = indefinite
        self.store = store

    def _check_parameters(self) -> None:
        self._require("C", self.C, lambda v: v > 0, "a positive number, or inf for the hard ball")

    def _check_total(self, weight: Vector) -> None:
        total = float(self.C) * float(weight.sum())
        if total < 1:
            raise ParameterError(
                f"EnclosingBall: `C` must be at least {1 / float(weight.sum()):.6g}, one over the sum of the "
                f"weights: below, the best ball is a point. Got {self.C!r}."
            )

    def _problem(self, training: Training, diagonal: Vector) -> tuple[BoxProblem, float]:
        zeros = np.zeros(len(diagonal))
        high = np.minimum(float(self.C) * training.weight, 1.0)
        return BoxProblem(-diagonal / 2, zeros, high), 1.0

    def _set_offset(self, b: Vector, f: Vector, problem: BoxProblem, multiplier: float) -> None:
        # |Phi(x_i) - c|^2 = |c|^2 - 2 f_i, and -f_i is the multiplier where 0 < b_i < C.
        self.squared_norm_ = float(b @ (f - problem.linear))
        reach = float((-f[b > 0]).max()) if np.isinf(self.C) else multiplier
        slack = BOUNDARY * (self.squared_norm_ + 2 * float(np.abs(f).max()))
        self.squared_radius_ = max(self.squared_norm_ + 2 * reach, 0.0) + slack
        self.radius_ = float(np.sqrt(self.squared_radius_))
        self.offset_ = -self.squared_radius_
        self.intercept_ = np.array([self.squared_radius_ - self.squared_norm_])

    def _keep_selected(self, chosen: NDArray[np.intp], coefficients: NDArray[np.float64]) -> None:
        super()._keep_selected(chosen, coefficients)
        b = self.dual_coef_[0]
        self.squared_norm_ = float(b @ (self.expansion_._in_double() @ b))

    def squared_distance(self, X: Any) -> NDArray[np.float64]:
        r"""Squared distances from the centre, :math:`\|\Phi(x) - c\|^2`."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        inner = np.asarray(self.expansion_.cross(points) @ np.ascontiguousarray(self.dual_coef_[0]))
        squared = self.expansion_._self(points) - 2 * inner + self.squared_norm_
        return np.asarray(np.maximum(squared, 0.0))

    def distance(self, X: Any) -> NDArray[np.float64]:
        """Distances from the centre."""
        return np.sqrt(self.squared_distance(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Minus the squared distance from the centre: the larger, the more at home."""
        return -self.squared_distance(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        r"""Values :math:`r^2 - \|\Phi(x) - c\|^2`: positive inside."""
        return self.score_samples(X) - self.offset_
