"""Ranking: scores that order pairs of points."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d

from ..domains import take
from ..errors import DefinitenessError, InputError, warn
from ..gram.kernel_gram import gram_of_points
from ..kernels import Gaussian
from ..parameters import Checks, check_choice
from ..solvers.ranking import MARGINS, Pairs, RankingProblem, concordance, ordered_pairs, solve_ranking
from .arguments import check_fraction, check_penalty, read_targets, read_weight
from .base import KernelMachine, len_of
from .callbacks import as_run
from .indefinite import beside_intercept, screen
from .translation import KernelLike

__all__ = ["KernelRanker"]

Vector = NDArray[np.float64]

#: What the largest weight may be: weights of pairs are products of two.
WEIGHTS = (1e-50, 1e10)


class KernelRanker(KernelMachine):
    r"""Ranking by pairs: a function that is larger where the target is larger.

    .. math:: \min_{f \in \mathcal{H}_k} \; \sum_{(i, j):\; y_i > y_j} w_i w_j \,
              \ell\big(f(x_i) - f(x_j)\big) + \frac\alpha2 \|f\|^2

    over the pairs of points of the same group with different targets; equal targets, and points of different
    groups, make no pair.  Only the order of the targets within a group matters, not their values.

    =====================  ================================
    ``loss``               :math:`\ell(m)`
    =====================  ================================
    ``"squared_hinge"``    :math:`\max(0, 1 - m)^2`
    ``"hinge"``            :math:`\max(0, 1 - m)`
    ``"logistic"``         :math:`\log(1 + e^{-m})`
    =====================  ================================

    With the hinge loss this is the ranking support vector machine (Herbrich, Graepel and Obermayer 2000;
    Joachims 2002): a support vector machine without an intercept on the differences of pairs, with the kernel
    :math:`k(a, c) - k(a, d) - k(b, c) + k(b, d)` and ``C = 1 / alpha``.  For two values of the target the
    sum over pairs is a convex bound of one minus the area under the ROC curve.

    There is no intercept: it would cancel.  The coefficients of each group sum to zero, so that a
    conditionally positive definite kernel, as ``-PowerDistance(1.0)``, will do.

    Cost: the variables of the pairs are eliminated, and what is solved in each step is a system of the size
    of the points: O(p + n r^2) for p pairs and a Gram matrix of rank r, at most O(p + n^3).  The smooth
    losses take some ten Newton steps, the hinge loss some thirty steps of an interior-point method.  Memory:
    the Gram matrix and 128 bytes for each pair; without groups there are up to n(n - 1)/2 pairs.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        The loss of a difference.
    alpha : float, default=1.0
        Factor of the penalty, > 0.  The loss is a sum over pairs: with n points in one group it grows like
        the square of n.
    tol : float, default=1e-8
        The duality gap to reach, relative to the objective.
    max_iter : int, default=200
        Steps of the solver at most.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue: say so,
        refuse, or repair the spectrum.
    time_budget : float, optional
        Seconds after which ``fit`` stops at its best state, with a ``ConvergenceWarning``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.  Of a kernel that is only conditionally positive
        definite, this is the positive definite kernel ``k.centered(X[:1])``.
    dual_coef_ : array of shape (n_kept,)
        Coefficients of the training points of positive weight.
    gram_ : Gram
        The (lazy) Gram matrix of these points; ``gram_.cross`` compares new ones.
    n_pairs_ : int
        Number of ordered pairs.
    norm_ : float
        :math:`\|f\|`.
    n_iter_ : int
        Steps of the solver.
    solution_ : Solution
        How it was solved; ``gap`` is the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    See Also
    --------
    RepresenterMachine : the same losses of pairs with other penalties of the norm.

    Examples
    --------
    Four queries with five answers each; grades are comparable within a query only:

    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.standard_normal((20, 2)), np.repeat([0, 1, 2, 3], 5)
    >>> grade = np.round(X[:, 0]) + 10 * query
    >>> model = KernelRanker(Gaussian(2.0), alpha=0.01).fit(X, grade, groups=query)
    >>> model.n_pairs_, model.score(X, grade, groups=query)
    (31, 1.0)
    """

    _checks: ClassVar[Checks] = {
        "loss": partial(check_choice, options=tuple(MARGINS)),
        "alpha": partial(check_penalty, requirement="a positive number, from 1e-100 to 1e100"),
        "tol": check_fraction,
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        loss: str = "squared_hinge",
        alpha: float = 1.0,
        tol: float = 1e-8,
        max_iter: int = 200,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.indefinite = indefinite
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the order of the targets.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix
        y : array of shape (n,)
            Numbers, of which larger ones rank above smaller ones of the same group.
        groups : array of shape (n,), optional
            The group (the query) of each point: labels of any type; all points are one group by default.
        sample_weight : array of shape (n,), optional
            A pair has the product of two weights: weight 2 is a repeated point, weight 0 an absent one.
        """
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        targets, codes = self._order(y, n), _codes(groups, n, type(self).__name__)
        weight = read_weight(type(self).__name__, sample_weight, n, WEIGHTS)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            points, targets, codes, weight = take(points, kept), targets[kept], codes[kept], weight[kept]
        pairs = self._pairs(targets, codes, weight)
        self.kernel_ = beside_intercept(self._checked_kernel().resolve(points, weight), points)
        self.gram_ = screen(gram_of_points(self.kernel_, points), self.indefinite, type(self).__name__)
        try:
            self.solution_ = solve_ranking(
                RankingProblem(pairs, MARGINS[self.loss], self.gram_),
                float(self.alpha),
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                name=type(self).__name__,
            )
        except np.linalg.LinAlgError as error:
            raise DefinitenessError(
                f"{type(self).__name__}: {error}; {self.kernel_!r} is not positive definite on these data. "
                "Repair the kernel with indefinite='clip', 'flip' or 'shift'."
            ) from error
        self._keep(pairs)
        return self

    def _keep(self, pairs: Pairs) -> None:
        a, F, _ = self.solution_.value
        self.dual_coef_, self.n_pairs_ = a, len(pairs.first)
        self.norm_ = float(np.sqrt(max(float(a @ F), 0.0)))
        self.n_iter_ = max(1, int(self.solution_.stats["iterations"]))
        if not self.solution_.converged:
            warn(
                f"{type(self).__name__}: {self.solution_.status}. The model is usable; its gap is "
                f"{self.solution_.gap:.3g}.",
                ConvergenceWarning,
            )

    # -- targets --------------------------------------------------------------------------------
    def _order(self, y: Any, n: int) -> Vector:
        targets = read_targets(type(self).__name__, y, n, numeric=True)
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = np.asarray(column_or_1d(targets, warn=True))
        if targets.ndim != 1:
            raise InputError(f"{type(self).__name__}: `y` must be of shape (n,). Got {targets.shape}.")
        return targets

    def _pairs(self, targets: Vector, codes: NDArray[np.intp], weight: Vector | None) -> Pairs:
        pairs = ordered_pairs(targets, codes, weight, type(self).__name__)
        if not len(pairs.first):
            raise InputError(
                f"{type(self).__name__}: `y` must have two different values within a group at least. Got "
                f"{len(targets)} sample(s) in {len(np.unique(codes))} group(s) and no pair to order."
            )
        return pairs

    # -- predictions ----------------------------------------------------------------------------
    def predict(self, X: Any) -> Vector:
        """Scores f(x); larger ones rank first.  Only their differences have a meaning."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        return np.asarray(self.gram_._cross(points) @ self.dual_coef_, dtype=np.float64)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Concordance: the share of the ordered pairs whose scores have the same order.

        Equal scores count one half.  For two values of ``y`` in one group this is the area under the ROC
        curve.  NaN if there is no pair.
        """
        scores = self.predict(X)
        n = len(scores)
        weight = read_weight(type(self).__name__, sample_weight, n, WEIGHTS)
        codes = _codes(groups, n, type(self).__name__)
        return concordance(self._order(y, n), scores, codes, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _codes(groups: Any, n: int, caller: str) -> NDArray[np.intp]:
    """Numbers of the groups of n points."""
    if groups is None:
        return np.zeros(n, dtype=np.intp)
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(
            f"{caller}: `groups` must be of shape ({n},), one for each point. Got {labels.shape}."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.isnan(labels).argmax())
        raise InputError(f"{caller}: `groups` must hold no NaN. Got one in row {row}.")
    try:
        return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)
    except TypeError as error:
        raise InputError(
            f"{caller}: `groups` must hold labels of one kind, numbers or strings. {error}."
        ) from error
