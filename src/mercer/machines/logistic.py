"""Kernel logistic regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from .. import memory
from ..batches import Batches
from ..domains import Data, Vectors, take
from ..engine.runs import STOPPING, conclude, stop_reason
from ..errors import DefinitenessError, InputError, ParameterError, warn
from ..features import FeatureMap
from ..gram import Gram, PointGram
from ..gram.kernel_gram import gram_of_points
from ..kernels import Gaussian, Linear
from ..parameters import Checks
from ..solvers import (
    SmoothProblem,
    SmoothValue,
    Solution,
    hold,
    leave_one_out,
    solve_smooth,
    solve_sparse,
)
from ..solvers.losses import Logistic, Softmax
from .approximation import Approximated, check_approximation
from .arguments import (
    check_fraction,
    check_path,
    check_penalties,
    check_penalty,
    read_weight,
    refuse_large_values,
)
from .base import len_of
from .callbacks import as_run
from .explanation import Expansion, ExplainedClassifier
from .indefinite import beside_intercept, screen
from .labels import WeightedLabels, read_labels
from .logistic_stream import fit_batches
from .translation import KernelLike

__all__ = ["KernelLogistic"]

Vector = NDArray[np.float64]

#: Attributes that only some fits set: first those of the exact machine.
FITTED = ("support_", "dual_coef_", "expansion_", "support_vectors_", "_fitted", "_sample_size")

#: Rows of a batch of points in memory.
ROWS = 1 << 16

#: Penalties that ``alpha="loo"`` tries by default.
ALPHAS = tuple(10.0 ** (k / 2) for k in range(-8, 7))


class KernelLogistic(ClassifierMixin, ExplainedClassifier, Approximated):
    r"""Kernel logistic regression: a model of probabilities with a penalty on its norm.

    For two classes, coded -1 and 1,

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \sum_i w_i \log\big(1 + e^{-y_i (f(x_i) + b)}\big)
              + \frac\alpha2 \|f\|^2, \qquad P(y = 1 | x) = \frac{1}{1 + e^{-f(x) - b}},

    and for more the multinomial model, with a function and an intercept per class,

    .. math:: \min \; \sum_i w_i \Big( \log \sum_c e^{f_c(x_i) + b_c} - f_{y_i}(x_i) - b_{y_i} \Big)
              + \frac\alpha2 \sum_c \|f_c\|^2, \qquad P(c | x) \propto e^{f_c(x) + b_c} .

    (:math:`b = 0` unless ``fit_intercept``).  By the representer theorem :math:`f = \sum_i a_i k(x_i,
    \cdot)`.  With ``l1`` the penalty is

    .. math:: \frac\alpha2 a^\top K a + \ell_1 \sum_i |a_i|

    for each function: most coefficients are then zero.  With ``alpha=0`` the second term stands alone, and
    the kernel need not be positive definite.  With the linear kernel and ``l1=0`` this is scikit-learn's
    ``LogisticRegression(C=1/alpha)``; without an intercept :math:`f` is the mode of a Gaussian process
    classifier with covariance :math:`k / \alpha`.

    The probabilities are those of the model, fitted by maximum penalised likelihood; ``predict`` is the most
    probable class.

    ``l1=0`` is solved by Newton's method with a line search (iteratively reweighted least squares), each step
    by conjugate gradients preconditioned with some columns of the Gram matrix, or by Cholesky factors where
    that is cheaper.  Where the Gram matrix exceeds half of the memory limit it is never formed: products
    recompute its values.  Cost: O(n^2) per product, some dozens of them unless alpha is tiny, plus O(n^3) for
    steps that are factored.  ``l1 > 0`` takes Newton steps on the coefficients that are not zero.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    alpha : float or "loo", default=1.0
        Penalty on the squared norm, between 1e-100 and 1e100, or 0 if ``l1`` is positive.  ``"loo"`` takes
        that of ``alphas`` whose approximate leave-one-out log loss is least (``l1=0`` only).
    l1 : float, default=0.0
        Penalty on the absolute values of the coefficients: 0, or between 1e-100 and 1e100.
    fit_intercept : bool, default=True
        Whether to fit the unpenalised constants :math:`b`.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of each class; ``"balanced"`` makes the classes weigh the same.  A class of
        factor 0, or whose points all have weight 0, is absent.
    alphas : sequence of float, optional
        What ``alpha="loo"`` chooses from; by default 15 values from 1e-4 to 1e3.
    tol : float, default=1e-8
        Accuracy.  ``l1=0``: the duality gap, relative to the objective, is at most ``tol**2``.  ``l1 > 0``:
        the optimality conditions are violated by at most ``tol``, relative to the slopes of the penalties,
        :math:`\ell_1 + \alpha \max_i |f(x_i)|`.
    max_iter : int, default=1000
        Newton steps at most.
    approximation : FeatureMap or "auto", optional
        Train on the features of this map, such as ``Nystrom(kernel, 1000)``, instead of the kernel: O(n r)
        memory for r features, and predictions that do not depend on n.  The map's kernel counts, and
        ``kernel`` is left out (or the same).  ``"auto"`` is exact while the Gram matrix can be held (2 GiB),
        then takes what :func:`~mercer.features.advise` recommends.  ``l1``, ``alpha="loo"`` and leave-one-out
        errors need the exact machine, and are refused.  ``fit`` then takes :class:`~mercer.Batches` too.
        Features that exceed the memory (2 GiB) are not held but computed again in each of some ten passes.
    checkpoint : path, optional
        With batches, a file where each pass leaves its coefficients.  A fit of the same problem goes on from
        them; one that converges removes the file.
    random_state : int, RandomState or None
        Of the sample of the batches to which the map is fitted.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        With ``alpha > 0``, what to do if the kernel is not certified and its Gram matrix has a negative
        eigenvalue: say so, refuse, or repair the spectrum.
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.  Of a kernel that is only conditionally positive
        definite, as ``-PowerDistance(1.0)``, the intercept needs no more: this is then the positive definite
        kernel ``k.centered(X[:1])``, which gives the same functions.
    alpha_ : float
        The penalty used.
    support_ : array of shape (n_support,)
        Positions of the training points in the model: those of positive weight, and with ``l1 > 0`` of these
        the ones with a coefficient that is not zero.
    dual_coef_ : array of shape (n_functions, n_support)
        Their coefficients, for one function (two classes, positive for ``classes_[1]``) or one per class.
    intercept_ : array of shape (n_functions,)
    expansion_ : Gram
        The (lazy) Gram matrix of these points; it holds them and knows how to compare new ones.
    support_vectors_ : array of shape (n_support, n_features)
        The points themselves, for vectors.
    coef_ : array of shape (n_functions, n_features)
        Weights of the features, for the linear kernel or of ``approximation``.  With the latter there are no
        ``support_``, ``dual_coef_``, ``expansion_`` and ``support_vectors_``.
    approximation_ : FeatureMap or None
        The fitted map; None if ``"auto"`` was exact.  This and the next: with ``approximation`` only.
    approximation_error_ : float
        Frobenius norm of the error of the map's kernel on 500 training points, relative to the kernel's.
    solution_ : Solution
        How it was solved.  ``gap`` is the duality gap (``l1=0``), or the largest relative violation of the
        optimality conditions (``l1 > 0``), computed from the coefficients alone.
    n_iter_ : int
        Newton steps.
    loo_decision_ : array of shape (n_support,) or (n_support, n_classes)
        Decision values of each training point by the model without it, to first order: one Newton step from
        the full solution.  Computed when first asked for, in O(n^3) per function; ``l1=0`` only.  A point of
        weight 2 is left out as a whole.
    loo_log_loss_ : float
        Their weighted mean log loss.
    loo_path_ : array of shape (n_alphas,)
        With ``alpha="loo"``, the log loss for each of ``alphas``.
    n_samples_seen_ : int
        Rows of the batches.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> model = KernelLogistic(Gaussian(1.0), alpha=0.1).fit(X, np.abs(X[:, 0]) < 1)
    >>> model.predict([[0.0], [2.0]])
    array([ True, False])
    >>> model.predict_proba([[0.0], [1.0]])[:, 1].round(2)
    array([0.99, 0.51])
    >>> sparse = KernelLogistic(Gaussian(1.0), alpha=0.0, l1=0.1).fit(X, np.abs(X[:, 0]) < 1)
    >>> len(model.support_), len(sparse.support_)
    (60, 2)
    """

    support_vectors_: Any
    _full_only: ClassVar[dict[str, Any]] = {"indefinite": "warn", "l1": 0}
    _reads_batches: ClassVar[bool] = True

    _checks: ClassVar[Checks] = {
        "tol": check_fraction,
        "alphas": check_penalties,
        "checkpoint": check_path,
        "l1": partial(
            check_penalty,
            requirement="0 or a number between 1e-100 and 1e100",
            zero=True,
            advice="Larger l1 gives fewer coefficients that are not zero.",
        ),
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        alpha: float | Literal["loo"] = 1.0,
        l1: float = 0.0,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        alphas: Any = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        approximation: FeatureMap | Literal["auto"] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        random_state: Any = None,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.l1 = l1
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.alphas = alphas
        self.tol = tol
        self.max_iter = max_iter
        self.approximation = approximation
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.indefinite = indefinite
        self.time_budget = time_budget

    # -- fit ------------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the labels ``y`` of two or more classes.

        Or to :class:`~mercer.Batches` ``X`` of both, with ``approximation``.  In a first pass the classes are
        found and ``batches.sample`` rows are drawn, to which the map is fitted unless it is already; each
        Newton step is one more pass, in O(r^2) memory for two classes and r features.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix; or Batches
        y : array of shape (n,)
            Labels of any type.
        sample_weight : array of shape (n,), optional
            Weights of the losses: weight 2 is a repeated row, weight 0 an absent one.
        """
        alphas = self._check_parameters()
        if isinstance(X, Batches):
            if y is not None or sample_weight is not None:
                raise InputError(
                    "KernelLogistic: `y` and `sample_weight` must be in the batches. Got them beside."
                )
            self._fit_batches(X)
            return self
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        resolving = read_weight(type(self).__name__, sample_weight, n)
        labels = read_labels(self, y, n, resolving, self.class_weight)
        self.classes_, self.class_weight_, kept = labels.classes, labels.factors, labels.kept
        if len(kept) < n:
            points = take(points, kept)
            resolving = None if resolving is None else resolving[kept]
        features = getattr(self.approximation, "n_components", None) or 1
        if isinstance(self.approximation, FeatureMap) and not memory.can_hold(8.0 * len(kept) * features):
            self._fit_batches(self._as_batches(points, labels))
            return self
        G: Gram | None = self._approximate(points, resolving)
        if G is None:
            G = self._exact(points, resolving)
        weight = np.ones(len(kept)) if labels.weight is None else labels.weight
        loss: Logistic | Softmax = Softmax()
        targets = np.eye(len(self.classes_))[labels.codes]
        if len(self.classes_) == 2:
            loss, targets = Logistic(), np.where(labels.codes[:, None] == 1, 1.0, -1.0)
        problem = SmoothProblem(loss, targets, weight, bool(self.fit_intercept))
        self._solve(problem, G, alphas)
        self._keep(points, kept, G, problem)
        self._warn()
        return self

    def _as_batches(self, points: Data, labels: WeightedLabels) -> Batches:
        """The points by slices, with weights that the classes have gone into already."""
        n = len(labels.codes)
        y = labels.classes[labels.codes]

        def read() -> Iterator[Any]:
            for start in range(0, n, ROWS):
                rows = slice(start, min(start + ROWS, n))
                weight = (
                    ()
                    if labels.weight is None
                    else (labels.weight[rows] / labels.factors[labels.codes[rows]],)
                )
                yield (take(points, rows), y[rows], *weight)

        return Batches(read, total=-(-n // ROWS))

    def _fit_batches(self, batches: Batches) -> None:
        """Minimise by passes over the batches, and keep the weights of the features."""
        self._clear()
        found = fit_batches(self, batches)
        self._weights, self.intercept_ = found.value
        self.alpha_, self.n_iter_ = float(self.alpha), int(found.stats["iterations"])
        status = f"{found.status}, over {self.n_samples_seen_} rows"
        if hasattr(self, "_sample_size"):
            status = f"{status}, the map fitted to {self._sample_size} of them"
        self.solution_: Solution[Any] = replace(found, status=self._said(status))
        self._warn()

    def _clear(self) -> None:
        """Nothing of an earlier fit stays."""
        for name in FITTED:
            self.__dict__.pop(name, None)

    def _exact(self, points: Data, weight: Vector | None) -> Gram:
        """Resolve the kernel and make the Gram matrix."""
        self.kernel_ = self._checked_kernel().resolve(points, weight)
        if self.fit_intercept and not self.l1:
            self.kernel_ = beside_intercept(self.kernel_, points)
        G: Gram = gram_of_points(self.kernel_, points)
        refuse_large_values(G, type(self).__name__)
        if self.alpha == 0:
            return G
        remedy = "fit_intercept=True" + (" and l1=0" if self.l1 else "")
        return screen(G, self.indefinite, type(self).__name__, remedy=remedy)

    def _check_parameters(self) -> list[float]:
        """Raise unless the parameters make sense; return the penalties to try."""
        check_approximation(self, self._full_only)
        l1 = float(self.l1)
        if not isinstance(self.alpha, str) or self.alpha != "loo":
            wanted = "0 or a number between 1e-100 and 1e100 with `l1`"
            if not l1:
                wanted = "a number between 1e-100 and 1e100, or 'loo'"
            advice = "Larger alpha gives a smoother model."
            return [check_penalty("KernelLogistic", "alpha", self.alpha, wanted, zero=l1 > 0, advice=advice)]
        if l1 or self.approximation is not None:
            needs = "l1=0" if l1 else "approximation=None"
            raise ParameterError(f"KernelLogistic: alpha='loo' needs {needs}. Set a number for alpha.")
        return [float(value) for value in (ALPHAS if self.alphas is None else self.alphas)]

    def _solve(self, problem: SmoothProblem, G: Gram, alphas: list[float]) -> None:
        """Set the penalty and the solution; of several penalties, the best by leave-one-out."""
        held = None if self._is_approximate else hold(G)
        if len(alphas) > 1 and held is None:
            self._refuse_leave_one_out(len(G))
        start, losses = None, {}
        solutions = {}
        for alpha in sorted(set(alphas), reverse=True):  # each from the solution for the one before
            solutions[alpha] = self._solve_one(problem, G, held, alpha, start)
            if stop_reason():
                break
            if self.alpha == "loo" and held is not None:
                start = solutions[alpha].value
                try:
                    losses[alpha] = _log_loss(problem, leave_one_out(problem, held, alpha, start.predictions))
                except STOPPING as error:
                    conclude(error)
                    break
        self.alpha_ = min(losses, key=lambda a: losses[a]) if losses else next(iter(solutions))
        self.solution_ = solutions[self.alpha_]
        self.solution_ = replace(self.solution_, status=self._said(self.solution_.status))
        if self.alpha == "loo":
            self.loo_path_ = np.array([losses.get(alpha, np.nan) for alpha in alphas])

    def _solve_one(
        self,
        problem: SmoothProblem,
        G: Gram,
        held: Vector | None,
        alpha: float,
        start: SmoothValue | None,
    ) -> Solution[SmoothValue]:
        limits: dict[str, Any] = {"held": held, "max_iter": int(self.max_iter), "name": type(self).__name__}
        if self.l1:
            return solve_sparse(problem, G, float(self.l1), alpha=alpha, tol=float(self.tol), **limits)
        try:
            return solve_smooth(problem, G, alpha, start=start, tol=float(self.tol) ** 2, **limits)
        except np.linalg.LinAlgError as error:
            raise DefinitenessError(
                f"KernelLogistic: {error}; {self.kernel_!r} is not positive definite on these data. "
                "Raise alpha, or repair the kernel with indefinite='clip', 'flip' or 'shift'."
            ) from error

    def _keep(self, points: Data, kept: NDArray[np.intp], G: Gram, problem: SmoothProblem) -> None:
        """Keep the points of the model and let go of the rest."""
        coefficients, intercepts, predictions = self.solution_.value
        self.intercept_, self.n_iter_ = intercepts, int(self.solution_.stats["iterations"])
        for name in FITTED[:4]:
            self.__dict__.pop(name, None)
        if self._is_approximate:
            assert isinstance(G, PointGram)
            self._weights = np.asarray(G._X.T @ coefficients, dtype=np.float64)
            return
        support = np.flatnonzero(coefficients.any(axis=1)) if self.l1 else np.arange(len(kept))
        self.support_ = kept[support]
        self.dual_coef_ = np.ascontiguousarray(coefficients[support].T)
        self.expansion_ = G if len(support) == len(kept) else G.select(support)
        if isinstance(self.kernel_.domain, Vectors):
            self.support_vectors_ = take(points, support)
        self._fitted = None if self.l1 else (problem, predictions)
        self._loo: Vector | None = None

    def _warn(self) -> None:
        if stop_reason() and self.alpha == "loo":
            tried = np.isfinite(self.loo_path_).sum()
            warn(
                f"KernelLogistic: stopped because {stop_reason()}; {tried} of {len(self.loo_path_)} "
                "values of `alphas` were compared. The model is usable; raise time_budget to compare all.",
                ConvergenceWarning,
            )
        elif not self.solution_.converged:
            warn(
                f"KernelLogistic: {self.solution_.status}. The model is usable; its gap is "
                f"{self.solution_.gap:.3g}.",
                ConvergenceWarning,
            )

    # -- leave one out --------------------------------------------------------------------------
    def _refuse_leave_one_out(self, n: int) -> None:
        memory.require(
            2 * 8 * n * n,
            f"leave-one-out on a {n} x {n} Gram matrix",
            "Fit without alpha='loo' and loo_decision_: products do without the matrix.",
        )

    @property
    def loo_decision_(self) -> Vector:
        """Decision values of each training point by the model without it, to first order."""
        self._check_fitted()
        if self._is_approximate:
            raise AttributeError("KernelLogistic: loo_decision_ is only available without approximation.")
        if self._fitted is None:
            raise AttributeError("KernelLogistic: loo_decision_ is only available with l1=0.")
        if self._loo is None:
            problem, predictions = self._fitted
            self._refuse_leave_one_out(len(predictions))
            K = np.asarray(self.expansion_._in_double().dense(), dtype=np.float64)
            self._loo = leave_one_out(problem, K, self.alpha_, predictions)
        return self._loo[:, 0] if len(self.classes_) == 2 else self._loo

    @property
    def loo_log_loss_(self) -> float:
        """Weighted mean log loss of ``loo_decision_``."""
        values = self.loo_decision_
        assert self._fitted is not None
        return _log_loss(self._fitted[0], values.reshape(len(values), -1))

    # -- predictions ----------------------------------------------------------------------------
    def decision_function(self, X: Any) -> Vector:
        """Log-odds of ``classes_[1]``, of shape (n,); for more classes one score each, (n, n_classes)."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        values = np.tile(self.intercept_, (len_of(points), 1))
        if self._is_approximate:
            values = values + self._feature_function()(points)
        elif len(self.support_):
            values = values + np.asarray(self.expansion_._cross(points) @ self.dual_coef_.T, dtype=np.float64)
        return values[:, 0] if len(self.classes_) == 2 else values

    def _solver_report(self) -> str:
        return f"{self.solution_.stats['method']}: {self.solution_.status}"

    def _expansion(self) -> Expansion:
        if self._is_approximate:
            return Expansion(*self._landmark_sum(), np.asarray(self.intercept_))
        return Expansion(self.expansion_, self.dual_coef_.T, np.asarray(self.intercept_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        values = self.decision_function(X)
        winners = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of the classes, of shape (n, n_classes)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> Vector:
        """Logarithms of the probabilities; finite even where :meth:`predict_proba` rounds to zero."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([log_expit(-values), log_expit(values)])
        return np.asarray(log_softmax(values, axis=1))

    @property
    def coef_(self) -> Vector:
        """Weights of the features, for the linear kernel or of ``approximation``."""
        if self._is_approximate:
            return self._weights.T
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        return np.asarray(self.dual_coef_ @ self.support_vectors_)


def _log_loss(problem: SmoothProblem, values: Vector) -> float:
    return problem.value(values) / float(problem.weight.sum())
