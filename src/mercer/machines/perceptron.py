"""The kernel perceptron: last, averaged and voted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ..domains import size
from ..errors import ParameterError, brief
from ..kernels import Gaussian
from ..parameters import Checks, check_choice, check_random
from .arguments import naming
from .callbacks import as_run
from .labels import validate_labels
from .online import OnlineClassifier
from .translation import KernelLike

__all__ = ["KernelPerceptron"]

#: Values of versions at new points that voting holds at a time; few enough to stay in cache.
VOTING_VALUES = 1 << 18

_VARIANTS = ("last", "averaged", "voted")


class KernelPerceptron(OnlineClassifier):
    r"""Perceptron in feature space, with the averaged and the voted rule.

    Starting from version :math:`w_0 = 0`, each example in turn is tested, in one or more passes:

    .. math:: y_i \langle w_t, \Phi(x_i) \rangle \le 0: \; w_{t+1} = w_t + y_i \Phi(x_i), \; v_{t+1} = 1;
        \qquad > 0: \; v_t \leftarrow v_t + 1,

    until a whole pass makes no mistake.  Version :math:`w_t` is the classifier after :math:`t` mistakes, its
    votes :math:`v_t` count the examples that it survived.  The rules are the sign of

    ==============  ====================================================================================
    ``"last"``      :math:`\langle w_t, \Phi(x) \rangle` for the last version
    ``"averaged"``  :math:`\sum_t v_t \langle w_t, \Phi(x) \rangle / \sum_t v_t`
    ``"voted"``     :math:`\sum_t v_t \operatorname{sign} \langle w_t, \Phi(x) \rangle / \sum_t v_t`
    ==============  ====================================================================================

    Some lecture notes start at :math:`t = 1`, also vote where the product is zero, and print the averaged
    rule under the name of the voted one (Freund and Schapire 1999); here they start at 0, and zero is a
    mistake, so that :math:`w_0` has no votes.

    **Mistakes.**  If the features have norm at most :math:`R` and some unit vector separates the data with
    margin :math:`\rho`, at most :math:`(R / \rho)^2` mistakes are made, in any order and over all passes
    together (Novikoff): see :meth:`mistake_bound`.  The bound needs a positive definite kernel; the algorithm
    itself runs with any (see ``indefinite``).

    Cost: one kernel row per mistake (all rows are computed once and held if they fit the memory limit); a
    prediction takes one kernel value per support vector, the voted rule also one addition per mistake.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    variant : {"averaged", "voted", "last"}, default="averaged"
        The rule for prediction.  All come from the same training: it may be changed afterwards.
    max_iter : int, default=10
        Passes over the data, at most.
    shuffle : bool, default=True
        Whether each pass has a random order of its own.
    random_state : int, RandomState or None, default=None
    fit_intercept : bool, default=False
        Whether the features have a further component, the constant 1: the kernel is then :math:`k + 1`.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue.  The repairs
        exclude a later ``partial_fit``.
    time_budget : float, optional
        Seconds after which ``fit`` stops, at its best state and with a ``ConvergenceWarning``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved (without the constant of ``fit_intercept``).
    classes_ : array of shape (n_classes,)
    mistakes_ : int, or array of shape (n_classes,)
        Number of mistakes: of the one problem of two classes, or of each class against the rest.
    radius_ : float
        Largest norm :math:`R` of the features seen, the constant included.
    dual_coef_ : array of shape (n_problems, n_support)
        Coefficients of the support points: of the averaged vector, or of the last version (also for "voted").
    intercept_ : float, or array of shape (n_classes,)
    support_ : array of shape (n_support,)
        Positions among all points seen of those on which a mistake was made.
    support_vectors_ : the support points
    n_support_ : array of shape (n_classes,)
        Number of support points of each class.
    gram_ : Gram
        The (lazy) Gram matrix of the support points; of all points if it was repaired.
    n_iter_ : int
        Number of passes.
    n_seen_ : int
        Number of points given so far.
    status_ : {"converged", "completed", "stopped"}
        "converged": the last pass made no mistake, the last version separates its points.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Notes
    -----
    Ctrl-C ends the training with a warning and leaves the model as it is.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> X, y = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], [1, -1, -1, 1]
    >>> model = KernelPerceptron(Polynomial(2), random_state=0).fit(X, y)     # exclusive or
    >>> model.predict(X).tolist(), model.status_
    ([1, -1, -1, 1], 'converged')
    >>> model.mistakes_ <= model.mistake_bound(margin=2**0.5)
    True
    """

    _checks: ClassVar[Checks] = {"variant": partial(check_choice, options=_VARIANTS)}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        variant: str = "averaged",
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = False,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.variant = variant
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.indefinite = indefinite
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the points ``X`` and their labels ``y``, from the start."""
        points = self._validate_X(X, reset=True)
        labels = validate_labels(self, y, size(points))
        self._set_classes(labels, "y")
        self._begin(points, self._encode(labels))
        rng, n = check_random("KernelPerceptron", "random_state", self.random_state), len(labels)
        passes = (rng.permutation(n) if self.shuffle else np.arange(n) for _ in range(self.max_iter))
        return self._train(passes, self.max_iter * n, slice(0, n))

    @as_run
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make one more pass, over these points in their order, from the version that is there.

        Points of earlier calls take part through their coefficients; those without one are gone.

        Parameters
        ----------
        X : points
        y : labels
        classes : array-like, optional
            All labels that will ever come; needed at the first call.
        """
        new = self._take_more(X, y, classes)
        order = np.arange(new.start, new.stop)
        return self._train(iter([order]), len(order), new)

    def mistake_bound(self, margin: Any) -> Any:
        r"""Novikoff's bound :math:`(R / \rho)^2` on ``mistakes_``, with :math:`R` = ``radius_``.

        It holds if a unit vector separates all the data seen with margin ``margin`` in feature space (with
        ``fit_intercept``, in the one with the constant feature).  For a bound from the coefficients of a
        separator, and for its assumptions in words, see :mod:`mercer.guarantees`.

        Parameters
        ----------
        margin : float, or array of one per problem
            :math:`\rho > 0`.
        """
        self._check_fitted()
        with naming("KernelPerceptron.mistake_bound", "margin"):
            rho = np.asarray(margin, dtype=np.float64)
        if not (rho > 0).all():
            raise ParameterError(f"KernelPerceptron: `margin` must be positive. Got {brief(margin)}.")
        bound = (self.radius_ / rho) ** 2
        return float(bound) if bound.ndim == 0 else bound

    # -- training -------------------------------------------------------------------------------
    def _begin(self, *args: Any) -> None:
        super()._begin(*args)
        self._log: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.n_iter_, self.radius_ = 0, 0.0

    def _train(self, passes: Iterator[np.ndarray], total: int, new: slice) -> Self:
        squared = max(0.0, float(self._rows.gram.diagonal()[new].max()) + self._offset)
        self.radius_ = max(self.radius_, float(np.sqrt(squared)))
        before = len(self._log)

        def finished() -> bool:
            nonlocal before
            self.n_iter_ += 1
            faultless, before = len(self._log) == before, len(self._log)
            return faultless

        try:
            self.status_ = self._walk(passes, total, finished)
        finally:  # an error, too, leaves the model of the steps that were taken
            kept, q = self._keep_support(), self._n_problems
            # one entry of the log: (points, changes, steps) of the mistakes that the state contains
            empty = (np.empty(0, np.intp), np.empty((0, q)), np.empty(0, np.intp))
            points, changes, steps = (np.concatenate(parts) for parts in zip(empty, *self._log, strict=True))
            done = steps <= self._state.steps  # an interruption may have come between the note and the state
            self._log = [(np.searchsorted(kept, points[done]), changes[done], steps[done])]
            counts = np.count_nonzero(changes[done], axis=0)
            self.mistakes_ = int(counts[0]) if q == 1 else counts
        return self

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support points, of shape (n_problems, n_support)."""
        self._check_fitted()
        one, steps = np.eye(self._n_problems), self._state.steps
        rule = np.vstack([one, 0 * one])  # from the columns (beta, gamma)
        if self.variant == "averaged":  # a mistake at step s is part of the versions after s, ..., T
            rule = np.vstack([(steps + 1) * one, -one]) / max(steps, 1)
        return np.asarray((self._state.coef @ rule).T)

    @property
    def intercept_(self) -> Any:
        """Value of the constant feature in the rule: a float, or an array of shape (n_classes,)."""
        values = self._offset * self.dual_coef_.sum(axis=1)
        return float(values[0]) if self._n_problems == 1 else values

    def _fails(self, margins: np.ndarray, steps: np.ndarray) -> np.ndarray:
        return np.asarray(margins <= 0)

    def _ticks(self, steps: np.ndarray) -> np.ndarray:
        return np.ones(len(steps))  # every step is one vote for the version after it

    def _note(self, points: np.ndarray, changes: np.ndarray, steps: np.ndarray) -> None:
        self._log.append((points, changes, steps))

    @property
    def _offset(self) -> float:
        return 1.0 if self.fit_intercept else 0.0

    # -- voting ---------------------------------------------------------------------------------
    def _decide(self, X: Any) -> np.ndarray:
        if self.variant != "voted":
            return super()._decide(X)
        cross = self.gram_._cross(self._validate_X(X, reset=False))
        n, width = cross.shape[0], max(1, len(self._log[0][0]), len(self._columns))
        height = max(1, VOTING_VALUES // width)
        bands = [slice(i, min(i + height, n)) for i in range(0, n, height)]
        return np.concatenate([self._vote(cross._values(band, self._columns)) for band in bands])

    def _vote(self, K: np.ndarray) -> np.ndarray:
        """Shares of the votes at new points, (b, q), from their values with the support points."""
        points, changes, steps = self._log[0]
        total = self._state.steps
        shares = np.zeros((len(K), self._n_problems))
        for problem, signs in enumerate(changes.T):
            made = np.flatnonzero(signs)
            values = (np.take(K, points[made], axis=1) + self._offset) * signs[made]
            versions = np.cumsum(values, axis=1, out=values)  # one column per mistake
            votes = np.diff(steps[made], append=total + 1)
            shares[:, problem] = np.sign(versions, out=versions) @ votes / max(total, 1)
        return shares
