"""The smallest ball in feature space around the points."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...domains import Data
from ...errors import DigestError, ParameterError, brief, warn
from ...gram import PointGram
from ...guarantees import Bound, enclosing_ball_bound
from ...kernels import Gaussian
from ...parameters import Checks, check_number
from ...solvers import BoxProblem, Matrix
from ..translation import KernelLike
from .oneclass import BOUNDARY, Dual, OneClass, Vector

__all__ = ["EnclosingBall"]


class EnclosingBall(OneClass):
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
    max_iter, cache_size, verbose, indefinite, store, time_budget
        As for :class:`SVC`.

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

    _checks: ClassVar[Checks] = {
        "C": partial(
            check_number, requirement="a positive number, or inf for the hard ball", above=0.0, infinite=True
        ),
    }

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
        super().__init__(kernel, tol, max_iter, cache_size, verbose, indefinite, store, time_budget)
        self.C = C

    def _check_parameters(self, weight: float) -> None:
        if float(self.C) * weight < 1:
            raise ParameterError(
                f"EnclosingBall: `C` must be at least {1 / weight:.6g}, one over the sum of the weights: "
                f"below, the best ball is a point. Got {brief(self.C)}."
            )

    def _dual(self, weight: Vector, matrix: Matrix) -> Dual:
        diagonal = matrix.diagonal()
        high = np.minimum(float(self.C) * weight, 2.0)  # no more than 1 is reached
        # The scale does not depend on the origin: half of the largest squared distance from the first point.
        row = matrix.block(np.zeros(1, dtype=np.intp), slice(None))[0]
        spread, largest = float((row[0] - 2 * row + diagonal).max()) / 2, float(np.abs(diagonal).max())
        # squared distances below this fraction of the largest K_ii are rounding error
        scale = spread if spread > 32 * float(np.finfo(float).eps) * largest else largest
        return Dual(BoxProblem(-diagonal / 2, np.zeros(len(weight)), high), 1.0, scale)

    def _set_boundary(self, beta: Vector, grad: Vector, problem: BoxProblem, boundary: float) -> None:
        # |Phi(x_i) - c|^2 = |c|^2 - 2 grad_i, and -grad_i is the multiplier where 0 < beta_i < C.
        self.squared_norm_ = float(beta @ (grad - problem.linear))
        self.squared_radius_ = max(self.squared_norm_ + 2 * boundary, 0.0) + BOUNDARY * self.squared_norm_
        self.radius_ = float(np.sqrt(self.squared_radius_))
        self.offset_ = -self.squared_radius_
        self.intercept_ = np.array([self.squared_radius_ - self.squared_norm_])

    def _keep_selected(self, chosen: NDArray[np.intp], coefficients: NDArray[np.float64]) -> None:
        super()._keep_selected(chosen, coefficients)
        beta = self.dual_coef_[0]
        self.squared_norm_ = float(beta @ (self.expansion_._in_double() @ beta))

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
        """Minus the squared distance from the centre: the larger, the more typical."""
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
        largest = np.inf  # the norm of every point that could occur; a repaired matrix has a space of its own
        if isinstance(self.expansion_, PointGram):
            largest = float(np.sqrt(self.kernel_.diagonal_bounds.high))
        R = self._class_bound("radius", radius, largest)
        L = self._class_bound("norm_bound", norm_bound, largest)
        # relative rounding error of the norm of the centre
        if np.sqrt(self.squared_norm_) > L * (1 + 1e-9):
            raise ParameterError(
                f"EnclosingBall: `norm_bound` must be at least the norm of the centre, "
                f"{np.sqrt(self.squared_norm_):.6g}. Got {L:g}. It has to be chosen before the data are seen."
            )
        scores = min(self.squared_radius_, R**2) - self.squared_distance(points)
        trace = float(self.expansion_._self(points).sum())
        # by default the largest margin that may give a bound, times powers of two
        margins = R**2 * 2.0 ** -np.arange(0.0, 10.25, 0.25) if rho is None else [rho]
        bounds = [
            enclosing_ball_bound(scores, m, K=trace, radius=R, norm_bound=L, delta=delta, rho_max=R**2)
            for m in margins
        ]
        best = min(bounds, key=float)
        if self.kernel_ == self._checked_kernel():
            return best
        resolved = f"X is independent of the data from which {self.kernel!r} became {self.kernel_!r}"
        if self._has_support_vector(points):
            warn(
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

    def _class_bound(self, name: str, value: float | None, largest: float) -> float:
        if value is not None:
            return float(check_number("EnclosingBall", name, value, "a positive number", above=0.0))
        if np.isinf(largest):
            raise ParameterError(
                f"EnclosingBall: `{name}` must be given: nothing bounds k(x, x) for {self.kernel_!r}. "
                "Choose it before the data are seen, from what is known of their size."
            )
        return largest
