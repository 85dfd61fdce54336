"""Gaussian-process classification."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from ...domains import Data, Similarities, size, take
from ...errors import InputError, warn
from ...gram.kernel_gram import gram_of_points
from ...gram.point_gram import widened
from ...kernels import Gaussian
from ...parameters import Checks, check_choice
from ...solvers import Solution, expected_logistic
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedClassifier
from ..indefinite import refuse_distance
from ..labels import read_labels
from ..translation import KernelLike
from .evidence import EvidenceTuned
from .labelled import GOOD, Labelled, LabelledPosterior
from .methods.base import bands

__all__ = ["GaussianProcessClassifier"]

Array: TypeAlias = NDArray[np.float64]


class GaussianProcessClassifier(ClassifierMixin, ExplainedClassifier, EvidenceTuned):
    r"""Gaussian-process classification by Laplace's approximation.

    .. math:: f \sim GP(0, k), \qquad P(y_i = 1 | f) = \frac{1}{1 + e^{-f(x_i)}}

    for two classes, coded -1 and 1.  The posterior of f is approximated by a Gaussian process with its mode

    .. math:: \hat f = \arg\min_f \; \sum_i \log\big(1 + e^{-y_i f(x_i)}\big) + \tfrac12 \|f\|^2

    (:class:`KernelLogistic` without an intercept and with ``alpha=1``) and the curvature there.
    Probabilities are means of the logistic function over that process, so that they tend to one half where
    there are no data.  More than two classes are compared each with all others, by processes with the
    same kernel, and the probabilities divided by their sum; or in pairs.

    Cost: O(n^3) for each class, 8 n^2 bytes for a few matrices.

    Parameters
    ----------
    kernel : Kernel, default=1.0 * Gaussian("scale")
        Positive definite, on any domain; ``X`` is then whatever that domain accepts.  The factor, the
        variance of the log-odds, says how sure the process may be; a kernel without one states it.
    tune : {"evidence"} or None, default="evidence"
        Whether to choose all parameters of the kernel that have a logarithmic scale by maximal evidence:
        L-BFGS on their logarithms, from ``kernel``, and from usual widths too where its own are not within a
        factor of 4 of the median distance.  One kernel serves all classes; the evidence is
        then the mean over them.
    n_restarts : int, default=0
        Further random starts of that search.
    multiclass : {"ovr", "ovo"}, default="ovr"
        How more than two classes are compared: each with the rest, or each with each.  Pairs take part with
        their own points only; their probabilities :math:`r_{ij}` are coupled to
        :math:`p_i \propto 1 / (\sum_{j \ne i} 1 / r_{ij} - (n_{classes} - 2))` (Price and others 1995).
    max_iter : int, default=100
        Newton steps at most, in each search for a mode.
    random_state : int or RandomState, optional
        Of the restarts.
    time_budget : float, optional
        Seconds after which ``fit`` stops, with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved, and tuned.
    dual_coef_ : array of shape (n_functions, n)
        Coefficients of the modes, for one function (two classes, positive for ``classes_[1]``), one per
        class, or with ``"ovo"`` one for each pair i < j, positive for class i.
    gram_ : Gram
        The (lazy) Gram matrix of the training points.
    log_marginal_likelihood_value_ : float
        The approximate evidence at ``theta_``.
    theta_, theta_names_ : array and tuple of str
        Logarithms of the parameters of the kernel, and their names.
    tuning_ : Solution
        How the search for them ended; with ``tune`` and a kernel that has parameters only.
    solution_ : Solution
        How the modes were found; ``gap`` is the largest of their duality gaps, relative to the objective.
    n_iter_ : int
        Evaluations of the evidence; 1 without a search.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Notes
    -----
    At a fixed kernel modes, variances and evidence are those of scikit-learn's class of this name.  It
    approximates the mean of the logistic function by five error functions (to some 1e-4); here it is computed
    to rounding.  It tunes a kernel for each class.

    Source: Rasmussen and Williams (2006), section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> model = GaussianProcessClassifier(1.0 * Gaussian(1.0)).fit(X, np.abs(X[:, 0]) < 1)
    >>> model.predict([[0.0], [2.0]])
    array([ True, False])
    >>> bool(abs(model.predict_proba([[50.0]])[0, 1] - 0.5) < 1e-6)  # far from the data nothing is known
    True
    """

    _checks: ClassVar[Checks] = {"multiclass": partial(check_choice, options=("ovr", "ovo"))}

    def __init__(
        self,
        kernel: KernelLike = 1.0 * Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        tune: str | None = "evidence",
        n_restarts: int = 0,
        multiclass: str = "ovr",
        max_iter: int = 100,
        random_state: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.tune = tune
        self.n_restarts = n_restarts
        self.multiclass = multiclass
        self.max_iter = max_iter
        self.random_state = random_state
        self.time_budget = time_budget

    # -- fitting --------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any) -> Self:
        """Condition on the labels ``y``, of two or more classes, at the points ``X``."""
        self._prepare(X, y)
        self.n_iter_ = self._search()
        self._keep(self._observed.given(self.kernel_))
        return self

    def _prepare(self, X: Any, y: Any) -> None:
        """Check everything; set the kernel, and what was observed."""
        points = widened(self._validate_X(X, reset=True))
        labels = read_labels(self, y, len_of(points))
        self.classes_ = labels.classes
        self.kernel_ = self._checked_kernel().resolve(points, None)
        refuse_distance(self.kernel_, "error", type(self).__name__)
        self._observed = Labelled(points, self._signs(labels.codes), type(self).__name__, int(self.max_iter))

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """Pairs of classes that have a function each; empty if classes are compared with the rest."""
        count = len(self.classes_)
        return list(combinations(range(count), 2)) if self.multiclass == "ovo" and count > 2 else []

    def _signs(self, codes: NDArray[np.intp]) -> Array:
        """Which points each function should be positive and negative at; of shape (n, n_functions)."""
        if self._pairs:
            return np.column_stack([1.0 * (codes == i) - (codes == j) for i, j in self._pairs])
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return np.column_stack([np.where(codes == c, 1.0, -1.0) for c in positive])

    def _keep(self, posterior: LabelledPosterior) -> None:
        """Keep what was found."""
        self._posterior, self.gram_ = posterior, posterior.gram
        self.dual_coef_ = np.zeros(posterior.signs.T.shape)
        for row, y, found in zip(self.dual_coef_, posterior.signs.T, posterior.approximations, strict=True):
            row[y != 0] = found.coefficients
        self.log_marginal_likelihood_value_ = posterior.log_likelihood
        self._keep_theta()
        worst = max(posterior.solutions, key=lambda found: found.gap / found.stats["objective"])
        gap = float(worst.gap / worst.stats["objective"])
        converged = gap <= GOOD
        status = "converged" if converged else worst.status
        steps = sum(int(found.stats["iterations"]) for found in posterior.solutions)
        stats = {"method": worst.stats["method"], "iterations": steps}
        self.solution_: Solution[LabelledPosterior] = Solution(
            posterior, converged=converged, status=status, gap=gap, stats=stats
        )
        if not converged:
            warn(f"{type(self).__name__}: the mode: {status}.", ConvergenceWarning)

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        r"""Logarithm of the approximate evidence of the labels; of several classes the mean.

        .. math:: \log p(y | \hat f) - \tfrac12 \hat f^\top K^{-1} \hat f
                  - \tfrac12 \log\det(I + W^{1/2} K W^{1/2})

        with the curvatures :math:`W_{ii} = p_i (1 - p_i)` at the mode.

        Parameters
        ----------
        theta : array, optional
            Logarithms of the parameters of the kernel in the order of ``theta_names_``; by default
            ``theta_``.
        eval_gradient : bool, default=False
            Whether to return the gradient in ``theta`` too.

        Returns
        -------
        float, or (float, array)
        """
        return self._log_marginal_likelihood(theta, eval_gradient)

    # -- predictions ----------------------------------------------------------------------------
    def latent_mean_and_variance(self, X: Any) -> tuple[Array, Array]:
        """Means and variances of the process, given the labels, at new points.

        Returns
        -------
        mean, variance : arrays of shape (m,), or (m, n_functions) for more than two classes
        """
        self._check_fitted()
        mean, variance = self._latent(widened(self._validate_X(X, reset=False)))
        return (mean[:, 0], variance[:, 0]) if len(self.classes_) == 2 else (mean, variance)

    def _latent(self, points: Data) -> tuple[Array, Array]:
        if isinstance(self.kernel_.domain, Similarities):
            raise InputError(
                f"{type(self).__name__}: a precomputed matrix does not hold the values of new points with "
                "themselves, which probabilities need. Use the kernel itself."
            )
        found = self._posterior.factored()
        own = np.asarray(gram_of_points(self.kernel_, points).diagonal(), dtype=np.float64)
        mean, variance = np.empty((len(own), len(found))), np.empty((len(own), len(found)))
        for rows in bands(size(points)):
            V = np.asarray(self.gram_._cross(take(points, rows)).dense(), dtype=np.float64).T
            mean[rows] = V.T @ self.dual_coef_.T
            for c, (approximation, y) in enumerate(zip(found, self._posterior.signs.T, strict=True)):
                explained = approximation.explained(V if y.all() else V[y != 0])
                variance[rows, c] = np.maximum(own[rows] - explained, 0.0)
        return mean, variance

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of shape (m, n_classes)."""
        self._check_fitted()
        return self._probabilities(*self._latent(widened(self._validate_X(X, reset=False))))

    def _probabilities(self, mean: Array, variance: Array) -> Array:
        if len(self.classes_) == 2:  # the smaller one keeps its digits
            return np.column_stack([expected_logistic(s * mean[:, 0], variance[:, 0]) for s in (-1, 1)])
        values = np.column_stack([expected_logistic(m, v) for m, v in zip(mean.T, variance.T, strict=True)])
        if self._pairs:
            values = coupled(values, len(self.classes_))
        total = values.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, values / np.where(total > 0, total, 1.0), 1 / values.shape[1]))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        self._check_fitted()
        points = widened(self._validate_X(X, reset=False))
        if len(self.classes_) == 2:
            mean = np.asarray(self.gram_._cross(points) @ self.dual_coef_[0], dtype=np.float64)
            return np.asarray(self.classes_[(mean > 0).astype(np.intp)])
        return np.asarray(self.classes_[self._probabilities(*self._latent(points)).argmax(axis=1)])

    def leave_one_out(self) -> Array:
        """Probabilities of the classes at each training point, given all other labels, to first order.

        One Newton step from the mode takes a label out of the approximate posterior; hyper-parameters stay as
        they are.  The error is of second order in the influence of one label.

        Returns
        -------
        array of shape (n, n_classes)
        """
        self._check_fitted()
        if self._pairs:
            raise InputError(
                f"{type(self).__name__}.leave_one_out: a label takes part in some of the pairs only. "
                "Use multiclass='ovr'."
            )
        found = [approximation.leave_one_out() for approximation in self._posterior.factored()]
        return self._probabilities(*(np.column_stack(part) for part in zip(*found, strict=True)))

    def _contest(self, values: Array) -> tuple[int, int, Array]:
        if not self._pairs:
            return super()._contest(values)
        # the class that wins most pairs, and the rival that is closest to it
        margins = np.full((len(self.classes_), len(self.classes_)), np.inf)
        for (i, j), value in zip(self._pairs, values, strict=True):
            margins[i, j], margins[j, i] = value, -value
        winner = int((margins > 0).sum(axis=1).argmax())
        rival = int(np.abs(margins[winner]).argmin())
        direction = np.zeros(len(values))
        direction[self._pairs.index((min(winner, rival), max(winner, rival)))] = 1 if winner < rival else -1
        return winner, rival, direction

    def _expansion(self) -> Expansion:
        return Expansion(self.gram_, self.dual_coef_.T, np.zeros(len(self.dual_coef_)))


def coupled(pairs: Array, count: int) -> Array:
    """Probabilities of the classes, up to a factor, from those of the first class of each pair.

    Exact where pairs agree, as ``p_i / (p_i + p_j)`` do.
    """
    inverse = np.zeros((len(pairs), count))
    with np.errstate(divide="ignore"):
        for (i, j), r in zip(combinations(range(count), 2), pairs.T, strict=True):
            inverse[:, i] += 1 / r
            inverse[:, j] += 1 / (1 - r)
        return np.asarray(1 / (inverse - (count - 2)))
