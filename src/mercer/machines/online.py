r"""What the online machines share: a walk over examples that changes the classifier at its failures only.

A linear classifier in feature space starts at :math:`\theta = 0`.  Step :math:`t` takes one example; if
the machine says that the classifier fails there, :math:`\theta` gains :math:`y_i \Phi(x_i)`.  So
:math:`\theta = \sum_j \beta_j \Phi(x_j)` with integers :math:`\beta_j`.  Sums over the steps cost nothing
extra: with a clock :math:`c_t` that advances by the weight of each step, a change made at step :math:`s`
counts :math:`c_T - c_s` at the end, so that

.. math:: \sum_j (c_T \beta_j - \gamma_j)\, \Phi(x_j), \qquad \gamma_j = \sum_{s \text{ at } j} c_s\, y_j

is the weighted sum of the iterates.  Beside the columns :math:`(\beta, \gamma)` the iteration updates their
scores :math:`K (\beta, \gamma)`, from which margins, norms and objectives are read off.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from .. import memory
from ..domains import Data, Similarities, join, owned, size, take
from ..engine.runs import STOPPING, Task, checkpoint, conclude
from ..errors import InputError, ParameterError, warn
from ..gram import Gram, PointGram
from ..gram.kernel_gram import gram_of_points
from .base import KernelMachine
from .indefinite import screen
from .labels import require_classes, validate_labels

__all__ = ["OnlineClassifier"]

#: Steps between two updates of the scores of all points; those of a batch are updated in every step.
BATCH = 64


@dataclass(frozen=True)
class State:
    """Where the walk is.  Immutable, so that an interruption finds a whole state: the old one or the new."""

    steps: int
    clock: float
    coef: np.ndarray  # (m, 2q): the columns beta of q classifiers, then their gamma
    scores: np.ndarray  # (m, 2q): K @ coef


class Rows:
    """Kernel values of the points from ``start`` on with all points; held in memory if they fit."""

    def __init__(self, G: Gram, start: int, offset: float) -> None:
        self.gram, self._start, self._offset = G, start, offset
        n, m = G.shape[0] - start, G.shape[1]
        self._held: np.ndarray | None = None
        if 8 * n * m <= memory.memory_limit():
            self._held = G._values(slice(start, start + n), slice(0, m), progress=True)
            self._held += offset

    def block(self, rows: np.ndarray, cols: slice | np.ndarray) -> np.ndarray:
        """Values between selected points; both go by their position among all points."""
        if self._held is None:
            return self.gram._values(rows, cols) + self._offset
        rows = rows - self._start
        return self._held[rows, cols] if isinstance(cols, slice) else self._held[np.ix_(rows, cols)]

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """Scores of the points from ``start`` on, given coefficients of the points before it."""
        index = np.arange(self._start, self.gram.shape[0])
        bands = [index[i : i + 1024] for i in range(0, len(index), 1024)]
        return np.concatenate([self.block(band, slice(0, self._start)) @ coef for band in bands])


class OnlineClassifier(ClassifierMixin, KernelMachine):
    """Base of the online machines: labels, points, the walk over batches of steps, prediction.

    Two classes make one problem with labels -1 and 1, more make one problem per class against the rest; all
    problems see the same examples at the same steps and share the kernel values.
    """

    indefinite: str
    gram_: Gram

    # -- what a machine defines -----------------------------------------------------------------
    @abstractmethod
    def _fails(self, margins: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Whether margins ``y_i <theta, Phi(x_i)>`` (b, q) are too small, each at its step (b, 1)."""

    @abstractmethod
    def _ticks(self, steps: np.ndarray) -> np.ndarray:
        """How much each step advances the clock."""

    @property
    def _offset(self) -> float:
        """What is added to the kernel: the square of a constant feature, if the machine has one."""
        return 0.0

    def _note(self, points: np.ndarray, changes: np.ndarray, steps: np.ndarray) -> None:
        """Take note of changes (v, q) of theta at some points; the state has them a moment later."""

    # -- parameters and labels ------------------------------------------------------------------
    def _set_classes(self, labels: Any, name: str) -> None:
        self.classes_ = np.unique(labels)
        require_classes(type(self).__name__, self.classes_, len(labels), argument=name)

    def _encode(self, labels: np.ndarray) -> np.ndarray:
        """Position of each label among the classes."""
        position = {label: i for i, label in enumerate(self.classes_.tolist())}
        try:
            return np.array([position[label] for label in labels.tolist()], dtype=np.intp)
        except KeyError as error:
            raise InputError(
                f"{type(self).__name__}: `y` must hold labels among {list(position)}. Got {error}."
            ) from error

    @property
    def _n_problems(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @property
    def _signs(self) -> np.ndarray:
        """Labels -1 and 1 of all points in each problem, of shape (m, q)."""
        positive = np.arange(self._n_problems) if self._n_problems > 1 else np.array([1])
        return np.where(self._codes[:, None] == positive, 1.0, -1.0)

    # -- points ---------------------------------------------------------------------------------
    def _begin(self, points: Data, codes: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Start at zero with the points of ``fit``, or of the first ``partial_fit``."""
        self.kernel_ = self._checked_kernel().resolve(points, weight)
        K = gram_of_points(self.kernel_, points, dtype=np.float64)
        self._rows = Rows(screen(K, self.indefinite, type(self).__name__), 0, self._offset)
        self._points, self._codes, self.support_ = points, codes, np.arange(len(codes))
        shape = (len(codes), 2 * self._n_problems)
        self._state = State(0, 0.0, np.zeros(shape), np.zeros(shape))
        self.n_seen_ = len(codes)

    def _resume(self, points: Data, codes: np.ndarray) -> None:
        """Put new points behind the support points of earlier calls."""
        name = type(self).__name__
        if self.indefinite not in ("warn", "error"):
            raise ParameterError(
                f"{name}: `indefinite` must be 'warn' or 'error' to continue with partial_fit. Got "
                f"{self.indefinite!r}: a repair needs all points, and those without a coefficient are gone."
            )
        screen(gram_of_points(self.kernel_, points, dtype=np.float64), self.indefinite, name)
        if isinstance(self.kernel_.domain, Similarities):
            raise InputError(
                "partial_fit cannot continue with a precomputed matrix: it holds no values between the "
                "points of two calls. Use a kernel on the data, or fit the whole matrix."
            )
        state, points = self._state, join(self.kernel_.domain, self._points, points)
        rows = Rows(gram_of_points(self.kernel_, points, dtype=np.float64), len(state.coef), self._offset)
        coef = np.concatenate([state.coef, np.zeros((len(codes), state.coef.shape[1]))])
        scores = np.concatenate([state.scores, rows.scores(state.coef)])
        self._state = State(state.steps, state.clock, coef, scores)
        self._rows, self._points = rows, points
        self._codes = np.concatenate([self._codes, codes])
        self.support_ = np.concatenate([self.support_, self.n_seen_ + np.arange(len(codes))])
        self.n_seen_ += len(codes)

    def _take_more(self, X: Any, y: Any, classes: Any) -> slice:
        """Validate the arguments of ``partial_fit`` and add the points; return where they stand."""
        first = not hasattr(self, "_state")
        if first and classes is None:
            raise InputError(
                f"{type(self).__name__}: `classes` must be passed on the first call to partial_fit: all the "
                "labels that will ever come."
            )
        points = owned(self._validate_X(X, reset=first), X)
        labels = validate_labels(self, y, size(points))
        if first:
            self._set_classes(classes, "classes")
            self._begin(points, self._encode(labels))
        else:
            if classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
                raise InputError(
                    f"{type(self).__name__}: `classes` must be those of the first call, "
                    f"{self.classes_.tolist()}. Got {np.unique(classes).tolist()}."
                )
            self._resume(points, self._encode(labels))
        return slice(len(self._codes) - len(labels), len(self._codes))

    def _keep_support(self) -> np.ndarray:
        """Drop the points without a coefficient; return the positions of the others."""
        state = self._state
        kept = np.flatnonzero(state.coef.any(axis=1))
        self._state = State(state.steps, state.clock, state.coef[kept], state.scores[kept])
        self._points = take(self._points, kept)
        self._codes, self.support_ = self._codes[kept], self.support_[kept]
        self.n_support_ = np.bincount(self._codes, minlength=len(self.classes_))
        if isinstance(self._rows.gram, PointGram):
            self.gram_ = gram_of_points(self.kernel_, self._points, dtype=np.float64)
            self._columns = np.arange(len(kept))
        else:  # a repaired matrix extends to new points through all of its own
            self.gram_, self._columns = self._rows.gram, kept
        del self._rows
        return kept

    @property
    def support_vectors_(self) -> Data:
        """The support points, as the kernel's domain stores them: an array, a sparse array, a list..."""
        self._check_fitted()
        return self._points

    # -- the walk -------------------------------------------------------------------------------
    def _walk(self, passes: Iterable[np.ndarray], total: int, finished: Callable[[], bool]) -> str:
        """Take a step at each point of each pass, until ``finished()`` after a pass; return how it ended."""
        signs, name = self._signs, type(self).__name__
        try:
            with Task(name, total, "step") as task, np.errstate(over="ignore", invalid="ignore"):
                for order in passes:
                    for start in range(0, len(order), BATCH):
                        checkpoint()
                        batch = order[start : start + BATCH]
                        self._state = self._advance(self._state, batch, signs[batch])
                        task.update(len(batch))
                    if finished():
                        return "converged"
        except STOPPING as error:
            reason = conclude(error)
            warn(
                f"{name}: stopped after {self._state.steps} steps because {reason}; the model is the one "
                "they led to.",
                ConvergenceWarning,
            )
            return "stopped"
        return "completed"

    def _advance(self, state: State, batch: np.ndarray, signs: np.ndarray) -> State:
        """State after one step at each point of the batch, whose labels are ``signs`` of shape (b, q)."""
        steps = state.steps + 1 + np.arange(len(batch))
        clock = np.cumsum(np.concatenate([[state.clock], self._ticks(steps)]))
        changes = self._changes(state.scores[batch, : signs.shape[1]], batch, signs, steps[:, None])
        coef, scores = state.coef, state.scores
        failed = np.flatnonzero(changes.any(axis=1))
        if failed.size:
            points, changes = batch[failed], changes[failed]
            self._note(points, changes, steps[failed])
            columns = np.hstack([changes, clock[1 + failed, None] * changes])
            coef = coef.copy()
            np.add.at(coef, points, columns)  # a point may come twice
            scores = scores + self._rows.block(points, slice(0, len(coef))).T @ columns
            if not np.isfinite(scores).all():
                raise InputError(f"{type(self).__name__}: sums of kernel values overflow. Scale X down.")
        return State(int(steps[-1]), float(clock[-1]), coef, scores)

    def _changes(
        self, scores: np.ndarray, batch: np.ndarray, signs: np.ndarray, steps: np.ndarray
    ) -> np.ndarray:
        """What each step of the batch adds to theta, (b, q); jumps from failure to failure."""
        K = self._rows.block(batch, batch)
        changes = np.zeros_like(scores)
        start = 0
        while start < len(batch):
            fails = self._fails(signs[start:] * scores[start:], steps[start:])
            jump = int(np.argmax(fails.any(axis=1)))
            if not fails[jump].any():
                break
            here, start = start + jump, start + jump + 1
            changes[here] = signs[here] * fails[jump]
            scores[start:] += K[start:, here, None] * changes[here]
        return changes

    # -- prediction -----------------------------------------------------------------------------
    def _decide(self, X: Any) -> np.ndarray:
        """Scores of new points, of shape (n, q)."""
        cross = self.gram_._cross(self._validate_X(X, reset=False))
        coef = np.zeros((cross.shape[1], self._n_problems))
        coef[self._columns] = self.dual_coef_.T
        return np.asarray(cross @ coef + self._offset * coef.sum(axis=0))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of shape (n,) for two classes (positive for ``classes_[1]``), else (n, n_classes)."""
        self._check_fitted()
        scores = self._decide(X)
        return scores[:, 0] if self._n_problems == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Labels of new points: those of the largest score."""
        scores = self.decision_function(X)
        return np.asarray(
            self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        )
