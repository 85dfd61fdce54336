r"""Which patterns spoke for a prediction.

The decisions here are sums :math:`f(x) = \sum_i a_i k(x_i, x) + b`.  A kernel that names the patterns behind
its values, :math:`k(x_i, x) = \sum_p w_p(x_i, x)`, thereby names those behind the decision: pattern p adds
:math:`\sum_i a_i w_p(x_i, x)`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, overload
from weakref import WeakKeyDictionary

import numpy as np

from ..contributions import Contribution, Contributions
from ..domains import Data, Vectors, items, take
from ..errors import InputError, brief
from ..features import Explicit
from ..gram import Gram, PointGram
from ..guarantees.facts import MachineFacts
from .base import KernelMachine

__all__ = [
    "INTERCEPT",
    "Expansion",
    "ExplainedClassifier",
    "ExplainedFunction",
    "Explanation",
    "FeatureWeights",
]


#: The function that a machine explained last: its Gram matrix, coefficients, and patterns of a point.
_LAST: WeakKeyDictionary[Any, tuple[PointGram, np.ndarray, Callable[[Any], Iterable[Contribution]]]]
_LAST = WeakKeyDictionary()


class _Intercept:
    """The pattern of what a machine adds whatever the point."""

    def __repr__(self) -> str:
        return "(intercept)"

    def __reduce__(self) -> str:
        return "INTERCEPT"


INTERCEPT = _Intercept()


class Explanation(Contributions):
    """The patterns behind one decision, the strongest first; their weights add up to ``value``.

    Attributes
    ----------
    value : float
        The decision value.
    prediction : object
        What the machine predicts: a class, or ``value`` for functions.
    against : object
        The class that came closest, which ``value`` compares with; None for functions.

    Examples
    --------
    >>> print(Explanation([Contribution("free", 1.5), Contribution(INTERCEPT, -0.25)], 1.25, "spam", "ham"))
    'spam' against 'ham': 1.25
    weight  pattern
       1.5  'free'
     -0.25  (intercept)
    """

    def __init__(
        self, contributions: Iterable[Contribution], value: float, prediction: Any, against: Any = None
    ) -> None:
        super().__init__(contributions)
        self.value, self.prediction, self.against = value, prediction, against

    def _title(self) -> str:
        rival = "" if self.against is None else f" against {self.against!r}"
        return f"{self.prediction!r}{rival}: {self.value:.6g}" if rival else f"value {self.value:.6g}"

    def __repr__(self) -> str:
        return f"<{self._title()}, from {len(self)} contributions>"

    def __str__(self) -> str:
        return f"{self._title()}\n{super().__str__()}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self._title())}</p>{super()._repr_html_()}"


class Expansion(NamedTuple):
    """Functions ``sum_i a_i k(x_i, .) + b``, one per column of the coefficients."""

    gram: Gram
    coefficients: np.ndarray  # (n, functions)
    intercepts: np.ndarray  # (functions,)


class FeatureWeights(NamedTuple):
    r"""The functions of a machine by weights of features: :math:`f(x) = \sum_p w_p \phi_p(x) + b`.

    Attributes
    ----------
    names : array of shape (n_features,)
        The features in words.
    weights : array of shape (n_features, n_functions)
    intercepts : array of shape (n_functions,)
    """

    names: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray

    def largest(self, count: int = 10, function: int = 0) -> Contributions:
        """The features of the largest weights of one function, in absolute value."""
        column = self.weights[:, function]
        order = np.argsort(-np.abs(column), kind="stable")[:count]
        return Contributions([Contribution(self.names[p], float(column[p])) for p in order])


class _Explained(KernelMachine):
    def feature_weights(self) -> FeatureWeights:
        """The whole model as weights of the kernel's explicit features, where it has finitely many.

        For kernels that count patterns (n-grams, words, colours of graphs), for sums, multiples and
        normalised forms of them, and for linear kernels: whatever
        :class:`~mercer.features.Explicit` accepts.  Scores of patterns can be stored and applied without
        the training points.

        Returns
        -------
        FeatureWeights
            ``names``, ``weights`` with a column for each function of :meth:`decision_function` or target,
            and ``intercepts``.
        """
        self._check_fitted()
        found = self._expansion()
        if not isinstance(found.gram, PointGram):
            raise InputError(
                f"{type(self).__name__}.feature_weights: the machine was trained on a repaired matrix, which "
                "has no features. Train it with a kernel that is positive definite."
            )
        features = Explicit(found.gram.kernel)
        rows = features.fit_transform(found.gram._X)
        weights = np.asarray(rows.T @ found.coefficients)
        return FeatureWeights(features.get_feature_names_out(), weights, found.intercepts)

    def _expansion(self) -> Expansion:
        """The functions that decide."""
        raise NotImplementedError

    def _bound_facts(self, X: Any, y: Any) -> MachineFacts:
        """Fit a copy and return the numbers of its learning bounds."""
        from .bounds import bound_facts  # the machines that it knows are built on this class

        return bound_facts(self, X, y)

    def _functions_at(self, x: Any) -> tuple[Any, Expansion, np.ndarray]:
        """A validated point, the functions, and their values there."""
        self._check_fitted()
        found = self._expansion()
        if not isinstance(found.gram, PointGram):
            raise InputError(
                f"{type(self).__name__}.explain: the machine was trained on a repaired matrix, whose values "
                "are no longer those of the kernel. Train it with a kernel that is positive definite."
            )
        several = isinstance(self.kernel_.domain, Vectors) and np.ndim(x) > 1
        data = None if several else self._validate_X([x], reset=False)
        if several or _is_several(items(data)[0], found.gram._X):
            raise InputError(
                f"{type(self).__name__}.explain: `x` must be one point, of the kind that the machine was "
                f"trained on. Got a {type(x).__name__} of several items. Call explain for each of them."
            )
        values = np.asarray(found.gram._cross(data) @ found.coefficients, dtype=np.float64)
        return items(data)[0], found, (values + found.intercepts)[0]

    def _patterns(self, x: Any, found: Expansion, direction: np.ndarray) -> list[Contribution]:
        """What each pattern adds to a combination of the functions."""
        G = found.gram
        assert isinstance(G, PointGram)
        a, b = found.coefficients @ direction, float(found.intercepts @ direction)
        sign = -1.0 if a.any() and a[a != 0][0] < 0 else 1.0  # either class of two has the same sums
        a, last = sign * a, _LAST.get(self)
        if last is None or last[0] is not G or not np.array_equal(last[1], a):
            kept = np.flatnonzero(a)
            spoken = G.kernel._collapse(items(take(G._X, kept)), a[kept])
            last = _LAST[self] = G, a, spoken
        patterns = [c.scaled(sign) for c in last[2](x)]
        return [*patterns, Contribution(INTERCEPT, b)] if b else patterns


def _is_several(x: Any, trained: Data) -> bool:
    """Whether a sequence of symbols is one of points instead: of strings, or of sequences of symbols.

    Any hashable may be a symbol, a string among others; what the machine was trained on tells them apart.
    """
    if not isinstance(x, tuple):
        return False
    known = items(trained)
    if all(isinstance(point, str) for point in known):
        return True
    nested = (isinstance(point, tuple) and any(isinstance(s, tuple) for s in point) for point in (x, *known))
    return next(nested) and not any(nested)


class ExplainedFunction(_Explained):
    """A machine that predicts the value of a function, or its sign."""

    @overload
    def explain(self) -> str: ...
    @overload
    def explain(self, x: Any, target: int = 0) -> Explanation: ...
    def explain(self, x: Any = None, target: int = 0) -> str | Explanation:
        """Which patterns made the value at one point; without a point, which method has solved the problem.

        Parameters
        ----------
        x : point, optional
            One point, not a sequence of them; the kernel must name patterns, as those on strings do.
        target : int, default=0
            Which of several targets.

        Returns
        -------
        Explanation or str
            The weights add up to the value of the function, intercept included.  Without a point, a sentence.
        """
        if x is None:
            self._check_fitted()
            return self._solver_report()
        x, found, values = self._functions_at(x)
        if not 0 <= target < len(values):
            raise InputError(
                f"{type(self).__name__}.explain: `target` must be from 0 to {len(values) - 1}. "
                f"Got {brief(target)}."
            )
        direction = np.zeros(len(values))
        direction[target] = 1.0
        value = float(values[target])
        return Explanation(self._patterns(x, found, direction), value, value)


class ExplainedClassifier(_Explained):
    """A machine that predicts one of several classes."""

    classes_: np.ndarray

    def _contest(self, values: np.ndarray) -> tuple[int, int, np.ndarray]:
        """The class that wins, its closest rival, and the combination of the functions between the two.

        By default one function speaks for ``classes_[1]``, several are one score for each class.
        """
        if len(values) == 1:
            winner = int(values[0] > 0)
            return winner, 1 - winner, np.array([1.0 if winner else -1.0])
        order = np.argsort(-values, kind="stable")
        direction = np.zeros(len(values))
        direction[order[:2]] = 1.0, -1.0
        return int(order[0]), int(order[1]), direction

    @overload
    def explain(self) -> str: ...
    @overload
    def explain(self, x: Any) -> Explanation: ...
    def explain(self, x: Any = None) -> str | Explanation:
        """Which patterns spoke for the predicted class of one point, and which against it.

        With more than two classes the explanation is of the predicted class against its closest rival.  The
        kernel must name patterns, as those on strings do.  Without a point, which method has solved the
        problem.

        Parameters
        ----------
        x : point, optional
            One point, not a sequence of them.

        Returns
        -------
        Explanation or str
            Positive weights spoke for ``prediction``, negative ones for ``against``; they add up to the
            decision value between the two, intercept included.  Without a point, a sentence.
        """
        if x is None:
            self._check_fitted()
            return self._solver_report()
        x, found, values = self._functions_at(x)
        winner, rival, direction = self._contest(values)
        prediction, against = self.classes_[[winner, rival]].tolist()
        value = float(values @ direction)
        return Explanation(self._patterns(x, found, direction), value, prediction, against)
