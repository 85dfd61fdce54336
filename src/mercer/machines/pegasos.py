"""The soft-margin support vector machine by averaged stochastic subgradient steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ..domains import size, take
from ..errors import ParameterError, brief
from ..kernels import Gaussian
from ..parameters import Checks, check_count, check_random
from .arguments import check_penalty, read_weight
from .callbacks import as_run
from .labels import read_labels
from .online import OnlineClassifier
from .translation import KernelLike

__all__ = ["PegasosSVC"]


class PegasosSVC(OnlineClassifier):
    r"""Soft-margin support vector classifier by averaged stochastic subgradient descent in feature space.

    .. math:: \min_{w} \; P(w) = \frac{\alpha}{2} \|w\|^2
        + \frac{1}{\sum_i s_i} \sum_i s_i \max(0,\; 1 - y_i \langle w, \Phi(x_i) \rangle)

    without offset; :math:`s_i` are the sample weights times the class weights.  For :math:`t = 1, \dots, T`
    draw :math:`i` with probability proportional to :math:`s_i`, and with :math:`\theta^{(1)} = 0`,

    .. math:: w^{(t)} = \frac{\theta^{(t)}}{\alpha t}, \qquad \theta^{(t+1)} = \theta^{(t)} +
        y_i \Phi(x_i)\, [\, y_i \langle w^{(t)}, \Phi(x_i) \rangle < 1 \,], \qquad
        \bar w = \frac1T \sum_{t=1}^T w^{(t)}.

    These are subgradient steps of length :math:`1/(\alpha (t + 1))` for the objective with
    :math:`\alpha / 2`; some printings have :math:`\lambda \|w\|^2`, which they do not minimise.
    :math:`P(\bar w)` exceeds the minimum by :math:`O(\max_x k(x, x) \log T / (\alpha T))` in expectation,
    whatever the number of points.  There is no test of convergence, for these steps yield no lower bound;
    for the exact optimum solve the dual, with :math:`C_i = s_i / (\alpha \sum_j s_j)`.

    The kernel must be positive definite, otherwise the problem is not convex (see ``indefinite``).

    Cost: one kernel row for each step whose example violates the margin (all rows are computed once and held
    if they fit the memory limit), one per support vector and prediction; the average is O(1) per step.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    alpha : float, default=1e-3
        Penalty :math:`\alpha`, between 1e-100 and 1e100, the :math:`\lambda` of Shalev-Shwartz, Singer and
        Srebro (2007); the name and the meaning are those of scikit-learn's ``SGDClassifier``.  Smaller values
        need more steps.
    max_iter : int or None, default=None
        Number :math:`T` of steps.  None takes 20 per point.
    average : bool, default=True
        Whether to predict with :math:`\bar w` or with the last iterate :math:`w^{(T+1)}`.  Both are stored;
        it may be changed after training.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" gives all classes the same total weight.  A class of weight 0, or
        whose points all have weight 0, is absent.
    random_state : int, RandomState or None, default=None
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue.  The repairs
        exclude a later ``partial_fit``.
    time_budget : float, optional
        Seconds after which ``fit`` stops, at its best state and with a ``ConvergenceWarning``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_problems, n_support)
        Coefficients of the support points for prediction: one problem for two classes, else one per class
        against the rest, all with the same draws.
    last_coef_, average_coef_ : array of shape (n_problems, n_support)
        Those of :math:`w^{(T+1)}` and of :math:`\bar w`; ``dual_coef_`` is one of them.
    support_ : array of shape (n_support,)
        Positions of the support points among all points seen.
    support_vectors_ : the support points
    n_support_ : array of shape (n_classes,)
        Number of support points of each class.
    gram_ : Gram
        The (lazy) Gram matrix of the support points; of all points if it was repaired.
    objective_path_ : array of shape (n_records, 3)
        Step, :math:`P(w^{(t+1)})` and :math:`P(\bar w)`, after as many steps as there are points, again and
        again, and at the end; exact, on the points of the call, summed over the problems.
    objective_ : float
        The last record, for the iterate that ``average`` selects.
    n_iter_ : int
        Number of steps taken.
    n_seen_ : int
        Number of points given so far.
    status_ : {"completed", "stopped"}
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Notes
    -----
    Weights act on the draws.  A point of weight zero is as if absent.  Integer weights have exactly the law
    of repeated points, for the same ``max_iter``; the very same draws come if the copies stand next to each
    other.  Only ratios of weights matter.

    Ctrl-C ends the training with a warning and leaves the model as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = ["out", "in", "in", "out"]
    >>> model = PegasosSVC(Gaussian(0.5), alpha=0.01, random_state=0).fit(X, y)
    >>> model.predict([[0.1], [1.5], [2.9]]).tolist()
    ['out', 'in', 'out']
    """

    _checks: ClassVar[Checks] = {
        "alpha": partial(
            check_penalty,
            requirement="a number between 1e-100 and 1e100",
            advice="Smaller alpha fits the training data more closely and needs more steps.",
        ),
        "max_iter": partial(check_count, unless=(None,)),
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        alpha: float = 1e-3,
        max_iter: int | None = None,
        average: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: Any = None,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.max_iter = max_iter
        self.average = average
        self.class_weight = class_weight
        self.random_state = random_state
        self.indefinite = indefinite
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and their labels ``y``, from the start."""
        points = self._validate_X(X, reset=True)
        n = size(points)
        given = read_weight(type(self).__name__, sample_weight, n)
        labels = read_labels(self, y, n, given, self.class_weight)
        self.classes_, kept = labels.classes, labels.kept
        weight = np.ones(len(kept)) if labels.weight is None else labels.weight
        self._begin(take(points, kept), labels.codes, None if given is None else given[kept])
        self.support_, self.n_seen_ = kept, n

        # draws per point when ``max_iter`` is not given
        steps = 20 * len(kept) if self.max_iter is None else int(self.max_iter)
        self.objective_path_ = np.empty((0, 3))
        return self._train(self._draws(weight, steps), steps, weight)

    @as_run
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Take one more step at each of the points, in their order: the stream is what is random.

        Continues the count of steps, and with it the lengths of the steps.  Points of earlier calls take part
        through their coefficients; those without one are gone.

        Parameters
        ----------
        X : points
        y : labels
        classes : array-like, optional
            All labels that will ever come; needed at the first call.
        """
        if self.class_weight is not None:
            raise ParameterError(
                f"PegasosSVC: `class_weight` must be None for partial_fit. Got {brief(self.class_weight)}: "
                "weights act on random draws, and partial_fit takes each point once."
            )
        if not hasattr(self, "_state"):
            self.objective_path_ = np.empty((0, 3))
        new = self._take_more(X, y, classes)
        weight = np.zeros(len(self._codes))
        weight[new] = 1.0
        order = np.arange(new.start, new.stop)
        return self._train(iter([order]), len(order), weight)

    def _train(self, passes: Iterator[np.ndarray], total: int, weight: np.ndarray) -> Self:
        signs = self._signs

        def record() -> bool:
            values = [self._objective(M, signs, weight) for M in self._iterates()]
            self.objective_path_ = np.vstack([self.objective_path_, [self._state.steps, *values]])
            return False

        try:
            self.status_ = self._walk(passes, total, record)
        finally:  # an error, too, leaves the model of the steps that were taken
            if not len(self.objective_path_) or self.objective_path_[-1, 0] != self._state.steps:
                record()
            self._keep_support()
            self.n_iter_ = self._state.steps
        return self

    @property
    def last_coef_(self) -> np.ndarray:
        """Coefficients of the last iterate, of shape (n_problems, n_support)."""
        self._check_fitted()
        return np.asarray((self._state.coef @ self._iterates()[0]).T)

    @property
    def average_coef_(self) -> np.ndarray:
        """Coefficients of the averaged iterate, of shape (n_problems, n_support)."""
        self._check_fitted()
        return np.asarray((self._state.coef @ self._iterates()[1]).T)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the iterate that predicts, of shape (n_problems, n_support)."""
        return self.average_coef_ if self.average else self.last_coef_

    @property
    def objective_(self) -> float:
        """The primal objective at the end, of the iterate that predicts."""
        self._check_fitted()
        return float(self.objective_path_[-1, 2 if self.average else 1])

    # -- the algorithm --------------------------------------------------------------------------
    def _draws(self, weight: np.ndarray, steps: int) -> Iterator[np.ndarray]:
        """Independent draws in proportion to the weights; a pass is as many as there are points."""
        rng = check_random("PegasosSVC", "random_state", self.random_state)
        ends = np.cumsum(weight)
        for start in range(0, steps, len(weight)):
            u = rng.random_sample(min(len(weight), steps - start))
            yield np.searchsorted(ends[:-1], u * ends[-1], side="right")

    def _fails(self, margins: np.ndarray, steps: np.ndarray) -> np.ndarray:
        return np.asarray(margins < float(self.alpha) * steps)  # y <w, Phi(x)> < 1, times alpha t

    def _ticks(self, steps: np.ndarray) -> np.ndarray:
        return np.asarray(1.0 / steps)  # the sum of theta^(t) / t makes the average

    def _iterates(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrices (2q, q) from the columns (beta, gamma) to the last and to the averaged iterate."""
        one, t = np.eye(self._n_problems), self._state.steps
        last = np.vstack([one, 0 * one]) / (float(self.alpha) * (t + 1))
        average = np.vstack([self._state.clock * one, -one]) / (float(self.alpha) * max(t, 1))
        return last, average

    def _objective(self, iterate: np.ndarray, signs: np.ndarray, weight: np.ndarray) -> float:
        coef, scores = self._state.coef @ iterate, self._state.scores @ iterate
        hinge = np.maximum(0.0, 1.0 - signs * scores).sum(axis=1)
        return float(float(self.alpha) / 2 * np.vdot(coef, scores) + weight @ hinge / weight.sum())
