"""One class: the region where the points are."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from ...domains import Data
from ...errors import DigestError, ParameterError
from ...gram import PointGram
from ...guarantees import Bound, enclosing_ball_bound
from ...kernels import Gaussian
from ...solvers import BoxProblem, LazyMatrix
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedFunction
from ..notices import tell
from ..translation import KernelLike
from .base import SupportVectorMachine, Training, fill_up, positive_rows
from .problems import check_mass

__all__ = ["EnclosingBall", "OneClassSVM"]

Vector = NDArray[np.float64]

#: The boundary gives way by this part of the values, more than their rounding.
BOUNDARY = 1e-10

#: Margins that are tried for the best bound: the largest, times these powers of two.
MARGINS = 2.0 ** -np.arange(0.0, 10.25, 0.25)

#: Squared distances below this part of the largest K_ii are rounding.
SAME = 32 * float(np.finfo(float).eps)

#: Rounding may put a centre outside of its ball by this part of the radius.
ROUNDING = 1e-9


class _OneClass(OutlierMixin, SupportVectorMachine):
    """Points without labels; ``decision_function`` is positive inside."""

    fit_intercept = True

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _problem(self, training: Training, diagonal: Vector) -> tuple[BoxProblem, float]:
        """The problem and the sum of its variables."""
        raise NotImplementedError

    def _unit(self, training: Training, matrix: LazyMatrix) -> float:
        """The size of the gradient, of which ``tol`` is a part: the problem has no other unit."""
        raise NotImplementedError

    def _check_total(self, weight: Vector) -> None:
        """Raise before any kernel work if the problem has no solution."""

    @as_run
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
    ) -> Self:
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
        control = self._control()
        self._check_parameters()
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = self._validate_weight(sample_weight, n)
        kept = positive_rows(weight, n)
        self._check_total(np.ones(n) if weight is None else weight[kept])
        training = self._train_on(points, kept, weight, control)
        matrix = LazyMatrix(training.gram)
        problem, total = self._problem(training, matrix.diagonal())
        tol = control.tol * (self._unit(training, matrix) or 1.0)
        solution = control.solve(problem, matrix, fill_up(total, problem.high), tol=tol)
        b, f, offsets = solution.value
        support = np.flatnonzero(b)
        self._keep(training, support, b[None, support])
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self.n_iter_ = int(solution.stats["iterations"])
        slack = BOUNDARY * float(np.abs(f).max()) + solution.stats["rounding"]
        spare = np.inf if (problem.high > total).all() else tol  # nobody is outside, whatever the solution
        self._set_offset(b, f, problem, _outermost(b, f, problem, offsets[0], spare) + slack)
        self._tell([solution])
        return self

    def _set_offset(self, b: Vector, f: Vector, problem: BoxProblem, reach: float) -> None:
        """Set the boundary at the value ``reach`` of -f."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Positive inside, negative outside."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Whether points are inside (+1) or outside (-1)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


def _outermost(b: Vector, f: Vector, problem: BoxProblem, multiplier: float, spare: float) -> float:
    """The value of -f on the boundary: its multiplier, or more, by at most ``spare``.

    At the optimum, points whose variable is below its bound have -f_i at most the multiplier.  A solution up
    to a tolerance has those on the boundary on both sides of it; they are put inside.  What is left outside
    is at its bound, and has at most the weight that may be outside.
    """
    inside = float((-f)[b < problem.high].max(initial=-np.inf))
    return min(max(multiplier, inside), multiplier + spare)


class OneClassSVM(ExplainedFunction, _OneClass):
    r"""One-class support vector machine: a half space in feature space with most of the points.

    .. math:: \min_{f,\, \rho} \; \tfrac12 \|f\|^2 - \nu W \rho + \sum_i w_i \max(0,\; \rho - f(x_i)),
              \qquad W = \sum_i w_i

    (scikit-learn's scaling; divide by :math:`\nu W` for the objective of the survey, whose printed signs are
    corrected in the catalogue).  At most the share :math:`\nu` of the weight is outside, and at least that
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
    max_iter, cache_size, verbose, indefinite, store
        As for :class:`SVC`.
    time_budget : float, optional
        Seconds after which ``fit`` stops, at its best state and with a ``ConvergenceWarning``.

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
        self.kernel = kernel
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose
        self.indefinite = indefinite
        self.store = store
        self.time_budget = time_budget

    def _check_parameters(self) -> None:
        self._require("nu", self.nu, lambda v: 0 < v <= 1, "a number in (0, 1]")

    def _check_total(self, weight: Vector) -> None:
        check_mass(float(self.nu) * float(weight.sum()), "OneClassSVM")

    def _problem(self, training: Training, diagonal: Vector) -> tuple[BoxProblem, float]:
        zeros, weight = np.zeros(len(diagonal)), training.weight
        return BoxProblem(zeros, zeros, weight), float(self.nu) * float(weight.sum())

    def _unit(self, training: Training, matrix: LazyMatrix) -> float:
        # f is at most the largest K_ii times the sum of the variables.
        total = float(self.nu) * float(training.weight.sum())
        return float(np.abs(matrix.diagonal()).max()) * min(float(training.weight.mean()), total)

    def _set_offset(self, b: Vector, f: Vector, problem: BoxProblem, reach: float) -> None:
        self.offset_ = -reach
        self.intercept_ = np.array([-self.offset_])

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Values f(x): the larger, the more at home."""
        self._check_fitted()
        return self._function(X, np.ascontiguousarray(self.dual_coef_[0]))

    def _expansion(self) -> Expansion:
        return Expansion(self.expansion_, self.dual_coef_.T, self.intercept_)

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
    :math:`\nu = 1 / (C W)`.  How often new points of the same kind fall outside is bounded by
    :meth:`false_alarm_bound`.  Solver, cost and promises as for :class:`SVC`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        As for :class:`SVC`.
    C : float, default=inf
        Price of a squared distance outside; at least 1 / W, inf for the hard ball.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which to stop, as a part of half the largest squared
        distance from the first point, which is at most twice the squared radius and at least half of it.
    max_iter, cache_size, verbose, indefinite, store
        As for :class:`SVC`.
    time_budget : float, optional
        Seconds after which ``fit`` stops, at its best state and with a ``ConvergenceWarning``.

    Attributes
    ----------
    radius_, squared_radius_ : float
        :math:`r` and :math:`r^2`, larger than the optimum by a part of about 1e-10, so that points on the
        boundary are inside.
    squared_norm_ : float
        :math:`\|c\|^2`.
    offset_ : float
        ``decision_function = score_samples - offset_``, with minus the squared radius.
    intercept_ : array of shape (1,)
        :math:`r^2 - \|c\|^2`, the part of the decision that does not depend on x.
    support_, support_vectors_, n_support_, dual_coef_, coef_
        As for :class:`SVC`; ``dual_coef_`` are the :math:`\alpha_i` of the centre, ``coef_`` its coordinates.
    kernel_, expansion_, converged_, fit_status_, status_, gap_, kkt_violation_, solutions_, n_iter_
        As for :class:`SVC`.
    shape_fit_, n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> ball = EnclosingBall(Linear()).fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> round(ball.radius_, 6), ball.distance([[1.0, 3.0]]).round(6).tolist()
    (1.0, [3.0])
    """

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        C: float = np.inf,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        verbose: bool = False,
        indefinite: str = "warn",
        store: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose
        self.indefinite = indefinite
        self.store = store
        self.time_budget = time_budget

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
        high = np.minimum(float(self.C) * training.weight, 2.0)  # no more than 1 is reached
        return BoxProblem(-diagonal / 2, zeros, high), 1.0

    def _unit(self, training: Training, matrix: LazyMatrix) -> float:
        # Where the ball is does not matter: half of the largest squared distance from one of the points.
        diagonal = matrix.diagonal()
        row = matrix.block(np.zeros(1, dtype=np.int64), slice(None), np.float64)[0]
        spread, largest = float((row[0] - 2 * row + diagonal).max()) / 2, float(np.abs(diagonal).max())
        return spread if spread > SAME * largest else largest

    def _set_offset(self, b: Vector, f: Vector, problem: BoxProblem, reach: float) -> None:
        # |Phi(x_i) - c|^2 = |c|^2 - 2 f_i, and -f_i is the multiplier where 0 < b_i < C.
        self.squared_norm_ = float(b @ (f - problem.linear))
        slack = BOUNDARY * self.squared_norm_
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
        inner = np.asarray(self.expansion_._cross(points) @ np.ascontiguousarray(self.dual_coef_[0]))
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

    def false_alarm_bound(
        self,
        X: Any,
        *,
        rho: float | None = None,
        delta: float = 0.05,
        radius: float | None = None,
        norm_bound: float | None = None,
    ) -> Bound:
        r"""Bound the probability that a point like those of ``X`` is outside.

        .. math::
            P[x \text{ outside}] \le \widehat R_\rho
            + \frac4\rho \Big(\frac{R^2 + L^2}{\sqrt m} + \frac{2 L \sqrt{\mathrm{Tr} K}}{m}\Big)
            + 3\sqrt{\frac{\log\log_2(2 R^2/\rho)}{m}} + 3\sqrt{\frac{\log(2/\delta)}{2m}}

        with probability :math:`1 - \delta`, at once for all balls of radius at most R whose centre has norm
        at most L, and all margins :math:`\rho \le R^2`; see :func:`~mercer.guarantees.enclosing_ball_bound`.
        Nothing is said about outliers that are inside.  It takes thousands of points, and R and L that fit
        the data, for the bound to be below 1.  Cost: the decision values of ``X``.

        Parameters
        ----------
        X : points
            m independent normal points.  Those of ``fit`` will do if the kernel was chosen before they were
            seen, as the bound holds for all balls at once; not if its parameters were taken from them, as
            ``Gaussian("scale")`` does.  Then fit to one part of the sample and pass the other; a warning says
            if a support vector is among them.
        rho : float, optional
            Margin, a squared distance; by default the one with the least bound.
        delta : float, default=0.05
            Probability that the bound fails, in (0, 1).
        radius, norm_bound : float, optional
            R and L, chosen before the data were seen.  By default both are the root of the largest
            :math:`k(x, x)`, where the kernel has one.  A ball larger than R is judged by the one of radius R
            inside it.

        Returns
        -------
        Bound
            A number with its addends and assumptions; ``vacuous`` if it is 1 or more.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import Linear
        >>> X, held_out = np.random.default_rng(0).uniform(-1, 1, (2, 4000, 1))
        >>> ball = EnclosingBall(Linear()).fit(X)
        >>> bound = ball.false_alarm_bound(held_out, radius=1.0, norm_bound=0.1)
        >>> round(float(bound), 2), bound.holds_with_probability
        (0.39, 0.95)
        """
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        largest = self._largest_norm()
        R = self._class_bound("radius", radius, largest)
        L = self._class_bound("norm_bound", norm_bound, largest)
        if np.sqrt(self.squared_norm_) > L * (1 + ROUNDING):
            raise ParameterError(
                f"EnclosingBall: `norm_bound` must be at least the norm of the centre, "
                f"{np.sqrt(self.squared_norm_):.6g}. Got {L:g}. It has to be chosen before the data are seen."
            )
        scores = min(self.squared_radius_, R**2) - self.squared_distance(points)
        trace = float(self.expansion_._self(points).sum())
        margins = R**2 * MARGINS if rho is None else [rho]
        bounds = [
            enclosing_ball_bound(scores, m, K=trace, radius=R, norm_bound=L, delta=delta, rho_max=R**2)
            for m in margins
        ]
        best = min(bounds, key=float)
        if self.kernel_ == self._checked_kernel():
            return best
        resolved = f"X is independent of the data from which {self.kernel!r} became {self.kernel_!r}"
        if self._has_support_vector(points):
            tell(
                f"EnclosingBall: X holds points of fit, so an assumption of the bound fails: {resolved}. "
                "Fit to one part of the sample and pass the other.",
                UserWarning,
            )
        return dataclasses.replace(best, assumptions=(*best.assumptions, resolved))

    def _has_support_vector(self, points: Data) -> bool:
        """Whether a support vector is among the points, as far as points can be named by their content."""
        domain = self.kernel_.domain
        try:
            names = domain.digests(self.expansion_._points(np.arange(len(self.support_))))
            return not set(names).isdisjoint(domain._digests(points))
        except DigestError:
            return False

    def _largest_norm(self) -> float:
        """A bound on the norm of every point of the feature space that could occur."""
        if not isinstance(self.expansion_, PointGram):  # a repaired matrix has a feature space of its own
            return np.inf
        return float(np.sqrt(self.kernel_.diagonal_bounds.high))

    def _class_bound(self, name: str, value: float | None, largest: float) -> float:
        if value is not None:
            return self._require(name, value, lambda v: 0 < v < np.inf, "a positive number")
        if np.isinf(largest):
            raise ParameterError(
                f"EnclosingBall: `{name}` must be given: nothing bounds k(x, x) for {self.kernel_!r}. "
                "Choose it before the data are seen, from what is known of their size."
            )
        return largest
