"""Any loss of the predictions with any increasing penalty of the norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, column_or_1d
from sklearn.utils.metaestimators import available_if

from ..domains import check_numbers, take
from ..errors import DefinitenessError, InfeasibleError, InputError, ParameterError, warn
from ..gram.kernel_gram import gram_of_points
from ..kernels import Gaussian
from ..parameters import Checks, check_number
from ..solvers import Solution
from ..solvers.constraints import Constrained, Constraint, Interval, JointLoss, check_domain
from ..solvers.losses import Loss, Poisson, Ranking, SmoothLoss
from ..solvers.ranking import concordance
from ..solvers.representer import (
    Ball,
    BuiltIn,
    NoPenalty,
    Penalty,
    Power,
    RepresenterValue,
    UserLoss,
    UserPenalty,
    solve_constraints,
    solve_representer,
    unit_of,
)
from .arguments import check_fraction, check_positive, naming, read_targets, read_weight, refuse_large_targets
from .base import KernelMachine, len_of
from .callbacks import as_run
from .indefinite import beside_intercept, screen
from .labels import read_labels
from .losses import UserFunction, WeightedLoss, base_of, check_loss, domain_of_loss, ranking_of
from .translation import KernelLike

__all__ = ["RepresenterMachine"]

Vector = NDArray[np.float64]


def _is_of_margins(machine: Any) -> bool:
    loss = base_of(machine.loss)
    if not (isinstance(loss, Loss) and loss.of_margins):
        raise AttributeError(
            "RepresenterMachine: decision_function needs a loss of margins, such as 'hinge'."
        )
    return True


class RepresenterMachine(KernelMachine):
    r"""Minimise any loss of the predictions plus any increasing function of the norm.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; L\big(f(x_1) + b, \dots, f(x_n) + b\big)
              + \alpha \, g(\|f\|)

    (:math:`b = 0` unless ``fit_intercept``).  The loss may be infinite: then it is a constraint.  Whatever
    the loss and however g increases, by the representer theorem :math:`f = \sum_i a_i k(x_i, \cdot)`.  The
    built-in losses are sums :math:`\sum_i w_i \ell(y_i, f(x_i) + b)`:

    =========================  ===============================================  ==========================
    ``loss``                   :math:`\ell(y, f)`                               ``predict``
    =========================  ===============================================  ==========================
    ``"squared"``              :math:`\frac12 (y - f)^2`                        f
    ``"huber"``                the same up to an error of 1, then linear        f
    ``"epsilon_insensitive"``  :math:`\max(0, |y - f| - 0.1)`                   f
    ``"pinball"``              :math:`\frac12 |y - f|`: the median              f
    ``"poisson"``              :math:`e^f - y f - y + y \log y`, for counts     :math:`e^f`
    ``"logistic"``             :math:`\log(1 + e^{-y f})`, labels coded -1, 1   a label, by the sign of f
    ``"hinge"``                :math:`\max(0, 1 - y f)`, labels coded -1, 1     a label, by the sign of f
    ``"hard_margin"``          0 if :math:`y f \ge 1`, else infinite            a label, by the sign of f
    ``"interpolation"``        0 if :math:`f = y`, else infinite                f
    ``"interval"``             0 if :math:`l \le f \le h`, else infinite; the    f
                               two columns of y, which may be infinite
    =========================  ===============================================  ==========================

    and ``"ranking"`` is a sum over the pairs with :math:`y_i > y_j` of :math:`w_i w_j \max(0, 1 - (f(x_i) -
    f(x_j)))^2`; ``predict`` gives f.  An intercept is zero: it cancels.  :class:`KernelRanker` has groups.

    Other widths and quantiles come as values: ``Huber(2.0)``, ``EpsilonInsensitive(0.01)``,
    ``Pinball(0.9)``, ``Ranking("hinge")`` of :mod:`mercer.solvers.losses`.  A loss of your own is a function
    ``loss(y, f)`` of all targets and all predictions that returns its value and its gradient (or a
    subgradient) in f; it need not be a sum over points.  ``predict`` then gives f.  It must be finite; where
    it is met to be infinite and no minimum is found, it is refused.

    **Constraints.**  ``Constrained(loss, (low, high))`` of :mod:`mercer.solvers.constraints` adds bounds of
    the predictions to a smooth loss, built in or your own; a ``SmoothLoss`` of your own may define
    ``domain(y)`` instead.  Constraints that no function satisfies raise an
    :class:`~mercer.errors.InfeasibleError` that names the rows and holds a certificate.

    **A joint function.**  ``JointLoss(psi)`` takes ``psi(y, f, norm)``, a convex function of all predictions
    and of the norm that does not decrease in the norm, and returns the value, the gradient in f and the
    derivative in the norm; :math:`\alpha g(\|f\|)` is added unless ``penalty=None``.  Monotonicity is checked
    where the function is evaluated, and at some norms around the solution; convexity is not.

    With ``penalty="squared"`` this is :class:`KernelRidge` (``"squared"``, the same alpha),
    :class:`KernelLogistic` (``"logistic"``, the same alpha), :class:`SVC` (``"hinge"``, ``alpha=1/C``) and
    :class:`SVR` (``"epsilon_insensitive"``, ``alpha=1/C``).  They are faster and offer more; this machine is
    for what they do not cover.

    ``penalty=Ball(r)`` minimises the loss alone among the functions with :math:`\|f\| \le r`.

    Smooth losses are minimised by Newton's method, piecewise linear ones by the solver of support vector
    machines, your own by L-BFGS and, if that shows them to have kinks, by a bundle method.  Constraints alone
    are a quadratic problem of support vector machines with infinite bounds, whatever the penalty; constraints
    with a loss are met by the method of multipliers.  Another penalty
    than the squared norm is found along the path of its solutions, of which it is one; that takes some dozen
    fits.  Cost: as for the machines named; your own losses take the eigenvectors of the Gram matrix, O(n^3).

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    loss : str, Loss, Ranking, Constrained, JointLoss or callable, default="squared"
        As above.
    penalty : {"squared", "norm"}, float, Ball, callable or None, default="squared"
        The function g: :math:`t^2 / 2`, :math:`t`, :math:`t^p / p` for a number p from 1 to 100, ``Ball(r)``
        of :mod:`mercer.solvers.representer` for the smallest loss with :math:`\|f\| \le r`, or your own
        increasing ``g(t)`` that returns the value and the derivative.  It may jump, have kinks, and be
        infinite beyond some norm.  None, for no such term, needs a ``JointLoss``.
    alpha : float, default=1.0
        Factor of the penalty, > 0.  It must be within 50 orders of magnitude of the loss, in the units of the
        data; with constraints alone it does not matter.
    fit_intercept : bool, default=False
        Whether to fit the unpenalised constant :math:`b`.
    tol : float, default=1e-8
        The gap to stop at, relative to the objective.
    max_iter : int, default=1000
        Steps of the solver at most, per fit of the path.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue: say so,
        refuse, or repair the spectrum.
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.  Of a kernel that is only conditionally positive
        definite, as ``-PowerDistance(1.0)``, the intercept needs no more: this is then the positive definite
        kernel ``k.centered(X[:1])``, which gives the same functions.
    dual_coef_ : array of shape (n_kept,)
        Coefficients of the training points of positive weight.
    intercept_ : float
    gram_ : Gram
        The (lazy) Gram matrix of the training points of positive weight; ``gram_.cross`` compares new ones.
    n_iter_ : int
        Steps of the solver in the last fit of the path.
    norm_ : float
        :math:`\|f\|`.
    classes_ : array of shape (2,)
        The labels, for losses of margins; f is positive for the second.
    solution_ : Solution
        How it was solved.  ``gap`` bounds how far ``stats["objective"]`` is above the minimum: a duality gap
        for built-in losses; for your own it supposes that the loss is convex.  For a ball and a penalty of
        your own it is by a lower bound of the objective at many norms, up to twice the largest that was
        tried, or to where the penalty is infinite.  With
        constraints, ``stats["violation"]`` is the largest violation of one; ``converged`` says that it is at
        most ``tol``, relative to their size.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.solvers.losses import Pinball
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).exponential(0.3, 80)
    >>> high = RepresenterMachine(Gaussian(1.0), loss=Pinball(0.9), alpha=0.1, fit_intercept=True).fit(X, y)
    >>> round(float((y <= high.predict(X)).mean()), 1)
    0.9

    A loss of all points together, the largest error:

    >>> def largest(y, f):
    ...     i = np.abs(f - y).argmax()
    ...     return abs(f[i] - y[i]), np.sign(f[i] - y[i]) * np.eye(len(y))[i]
    >>> model = RepresenterMachine(Gaussian(1.0), loss=largest, alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> model.solution_.status
    'converged'

    The smoothest function through some intervals:

    >>> bands = np.column_stack([np.sin(X[:, 0]) - 0.1, np.sin(X[:, 0]) + 0.1])
    >>> model = RepresenterMachine(Gaussian(1.0), loss="interval").fit(X, bands)
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.1 + 1e-6)
    True
    """

    _checks: ClassVar[Checks] = {"alpha": check_positive, "tol": check_fraction}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        loss: str | Loss | Ranking | Constrained | JointLoss | Callable[..., Any] = "squared",
        penalty: str | float | Ball | Callable[..., Any] | None = "squared",
        alpha: float = 1.0,
        fit_intercept: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.indefinite = indefinite
        self.time_budget = time_budget

    # -- fit ------------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the targets ``y`` (labels for losses of margins).

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Weights of a built-in loss: weight 2 is a repeated row, weight 0 an absent one.
        """
        check_loss(self.loss)
        loss = base_of(self.loss)
        penalty = self._checked_penalty(loss)
        alpha = float(self.alpha)
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = read_weight(type(self).__name__, sample_weight, n)
        targets = self._targets(y, n, loss, weight)
        if weight is not None and not isinstance(loss, Loss | Ranking):
            raise InputError(
                "RepresenterMachine: `sample_weight` needs a built-in loss: what a weight means for one of "
                "your own only you can say. Put the weights into the loss."
            )
        kept = np.arange(n) if weight is None else np.flatnonzero(weight)
        if weight is not None and len(kept) < n:  # a row of weight zero is as if absent
            points, targets, weight = take(points, kept), targets[kept], weight[kept]
        self.kernel_ = self._checked_kernel().resolve(points, weight)
        if self.fit_intercept:
            self.kernel_ = beside_intercept(self.kernel_, points)
        G = gram_of_points(self.kernel_, points)
        self.gram_ = screen(G, self.indefinite, type(self).__name__, remedy="fit_intercept=True")
        try:
            self.solution_ = self._solve(loss, penalty, alpha, targets, weight)
        except InfeasibleError as error:
            raise self._infeasible(kept[error.rows], error.certificate) from None
        except np.linalg.LinAlgError as error:
            raise DefinitenessError(
                f"RepresenterMachine: {error}; {self.kernel_!r} is not positive definite on these data. "
                "Raise alpha, or repair the kernel with indefinite='clip', 'flip' or 'shift'."
            ) from error
        self._keep()
        return self

    def _solve(
        self, loss: Any, penalty: Penalty, alpha: float, targets: Vector, weight: Vector | None
    ) -> Solution[RepresenterValue]:
        limits: dict[str, Any] = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        intercept, tol = bool(self.fit_intercept), float(self.tol)
        if isinstance(loss, Constraint):
            low, high = loss.domain(targets.reshape(len(targets), -1))
            return solve_constraints(
                low, high, self.gram_, alpha, penalty, intercept=intercept, tol=tol, name=type(self).__name__
            )
        if isinstance(loss, Ranking):
            ranking = ranking_of(loss, targets, weight, self.gram_, **limits)
            return solve_representer(ranking, alpha, penalty, tol)
        domain, largest = domain_of_loss(self.loss, targets), float(np.abs(targets).max()) or 1.0
        if not isinstance(loss, Loss):
            function = UserFunction(loss, targets)
            user = UserLoss(function, self.gram_, intercept, domain=domain, inset=largest, **limits)
            solution = solve_representer(user, alpha, penalty, tol)
            if function.reached_infinity and not solution.converged:
                function.refuse_infinity()
            a, b, norm = solution.value
            function.check_increase(self.gram_ @ a + b, norm)
            return solution
        weight = np.ones(len(targets)) if weight is None else weight
        solver: BuiltIn | UserLoss
        if domain is None or not isinstance(loss, SmoothLoss):
            solver = BuiltIn(loss, targets, weight, self.gram_, intercept, **limits)
        else:
            unit = unit_of(loss, targets)
            low, high = domain
            solver = UserLoss(
                WeightedLoss(loss.in_units(unit), targets[:, None] / unit, weight),
                self.gram_,
                intercept,
                domain=(low / unit, high / unit),
                inset=largest / unit,
                unit=unit,
                degree=loss.degree or 0,
                **limits,
            )
        solution = solve_representer(solver, alpha, penalty, tol)
        if not np.isfinite(solution.stats["objective"]):
            raise ParameterError(
                f"RepresenterMachine: `loss` {loss!r} is infinite where the search for its minimum "
                "began or ended. A loss that is infinite outside an interval must state it: define its "
                "method `domain(y)`, or pass Constrained(loss, (low, high))."
            )
        return solution

    def _keep(self) -> None:
        self.dual_coef_, self.intercept_, self.norm_ = self.solution_.value
        self.n_iter_ = max(1, int(self.solution_.stats["iterations"]))
        if not self.solution_.converged:
            warn(
                f"RepresenterMachine: {self.solution_.status}. The model is usable; its gap is "
                f"{self.solution_.gap:.3g}.",
                ConvergenceWarning,
            )

    def _infeasible(self, rows: NDArray[np.intp], certificate: Vector) -> InfeasibleError:
        listed = ", ".join(map(str, rows[:10])) + ("" if len(rows) <= 10 else ", ...")
        strict = "If these points are distinct, some function does, but its norm is beyond double precision. "
        known = strict if self.kernel_.certificate.positive.strict else ""
        return InfeasibleError(
            f"RepresenterMachine: no function of the space of {self.kernel_!r} satisfies all constraints, "
            f"in double precision: those of the {len(rows)} rows {listed} contradict each "
            f"other. {known}Widen or drop some of them, take a richer kernel, or a finite loss such as "
            "'hinge' or 'squared'.",
            rows,
            certificate,
        )

    # -- parameters and targets -----------------------------------------------------------------
    def _checked_penalty(self, loss: Any) -> Penalty:
        if self.penalty is None and isinstance(loss, JointLoss):
            return NoPenalty()
        words = {"squared": Power(2.0), "norm": Power(1.0)}
        if isinstance(self.penalty, str) and self.penalty in words:
            return words[self.penalty]
        if isinstance(self.penalty, Ball):
            return self.penalty
        if callable(self.penalty):
            return UserPenalty(self.penalty)
        wanted = (
            "'squared', 'norm', a power between 1 and 100, Ball(radius), or a function of the norm that "
            "returns value and derivative (or None with a JointLoss)"
        )
        # higher powers of a norm overflow, or are zero, for all but a few norms around one
        return Power(
            check_number("RepresenterMachine", "penalty", self.penalty, wanted, least=1.0, most=100.0)
        )

    def _targets(self, y: Any, n: int, loss: Any, weight: Vector | None) -> Vector:
        if isinstance(loss, Loss) and loss.of_margins:
            return self._signs(y, n, weight)
        if isinstance(loss, Interval):
            return self._intervals(y, n)
        targets = read_targets(type(self).__name__, y, n, numeric=True)
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = column_or_1d(targets, warn=True)
        if targets.ndim != 1:
            raise InputError(f"RepresenterMachine: y must be of shape (n,). Got {targets.shape}.")
        if isinstance(loss, Poisson) and (targets < 0).any():
            raise InputError(
                f"RepresenterMachine: the Poisson loss needs y >= 0. Got {targets.min():g} in row "
                f"{int(targets.argmin())}."
            )
        if isinstance(loss, Poisson) and self.fit_intercept and not targets.any():
            raise InputError(
                "RepresenterMachine: the Poisson loss with an intercept needs a y > 0. All are zero, and the "
                "best intercept is minus infinity. Fit without one."
            )
        return targets

    def _intervals(self, y: Any, n: int) -> Vector:
        """The two columns of y, which may be infinite."""
        check_numbers(y, "RepresenterMachine: `y`", dense=True)
        with naming("RepresenterMachine", "y"):
            columns = np.asarray(y, dtype=np.float64)
        if columns.shape != (n, 2):
            raise InputError(
                "RepresenterMachine: with loss='interval', `y` must hold the least and the largest "
                f"prediction of each point, of shape ({n}, 2). Got shape {columns.shape}."
            )
        check_domain(columns[:, 0], columns[:, 1], type(self).__name__)
        refuse_large_targets(np.where(np.isinf(columns), 0.0, columns), type(self).__name__)
        return columns

    def _signs(self, y: Any, n: int, weight: Vector | None) -> Vector:
        """-1 and 1 for the two classes of positive weight, 0 for points without weight."""
        labels = read_labels(self, y, n, weight)
        self.classes_ = labels.classes
        if len(self.classes_) > 2:
            raise InputError(
                "RepresenterMachine: Only binary classification is supported. The loss is one of margins and "
                f"y has {len(self.classes_)} classes; take sklearn.multiclass.OneVsRestClassifier, or "
                "KernelLogistic or SVC."
            )
        signs = np.zeros(n)
        signs[labels.kept] = 2.0 * labels.codes - 1.0
        return signs

    # -- predictions ----------------------------------------------------------------------------
    def _function(self, X: Any) -> Vector:
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        return np.asarray(self.gram_._cross(points) @ self.dual_coef_ + self.intercept_, dtype=np.float64)

    @available_if(_is_of_margins)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Vector:
        """Values f(x) + b, for losses of margins; positive for ``classes_[1]``."""
        return self._function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels for losses of margins, the mean exp(f) for the Poisson loss, else the values f(x) + b."""
        values = self._function(X)
        loss = base_of(self.loss)
        if isinstance(loss, Poisson):
            return np.asarray(np.exp(values))
        if isinstance(loss, Loss) and loss.of_margins:
            return np.asarray(self.classes_[(values > 0).astype(np.intp)])
        return values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy for losses of margins, else the coefficient of determination of the predictions.

        For a ranking, the concordance: the share of the pairs with different targets that have the right
        order.
        For ``loss="interval"``, the share of the predictions that are within the intervals ``y``.
        """
        if isinstance(base_of(self.loss), Interval):
            low, high = self._intervals(y, len(y)).T
            f = self.predict(X)
            return float(np.average((low <= f) & (f <= high), weights=sample_weight))
        if isinstance(base_of(self.loss), Ranking):
            f = self.predict(X)
            weight = (
                np.ones(len(f))
                if sample_weight is None
                else read_weight(type(self).__name__, sample_weight, len(f))
            )
            groups = np.zeros(len(f), dtype=np.intp)
            return concordance(self._targets(y, len(f), base_of(self.loss), None), f, groups, weight)
        measure = accuracy_score if self.__sklearn_tags__().estimator_type == "classifier" else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        loss = base_of(self.loss)
        tags.target_tags.required = True
        if isinstance(loss, Loss) and loss.of_margins:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(multi_class=False)
        elif not isinstance(loss, Ranking):
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.positive_only = isinstance(loss, Poisson)
        return tags
