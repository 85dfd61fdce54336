"""Learning how much each pattern of a kernel on strings should count."""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..contributions import Contribution, Contributions
from ..domains import Sequences, check_numbers
from ..errors import InputError, ParameterError, warn
from ..gram.alignment import targets
from ..kernel import Kernel
from ..kernels.strings import Rational
from ..kernels.strings.patterns import Patterns, list_patterns, pattern_transducer, weighted_patterns
from ..machines.arguments import check_callbacks, check_positive, check_time_budget
from ..parameters import check_choice, check_count
from ..solvers import (
    LargeMargin,
    LeastSquares,
    MixtureProblem,
    Progress,
    Solution,
    solve_alignment,
    solve_mixture,
)
from ..solvers.watch import Watch

__all__ = ["LearnedWeights", "learn_weights"]

Array: TypeAlias = NDArray[np.float64]
_T = TypeVar("_T")

NAME = "learn_weights"


@dataclass(frozen=True)
class LearnedWeights:
    """What :func:`learn_weights` found; prints as a table.

    Attributes
    ----------
    kernel : Rational
        The kernel with the learned weights, positive definite, for use in any machine.  Patterns that are not
        listed, those that were never seen among them, count nothing.
    shares : Contributions
        The patterns with their shares of the trace of the Gram matrix of the training strings, the largest
        first; they add up to one.
    solution : Solution
        ``value`` maps patterns to their weights; ``converged``, ``status``, ``gap`` and ``stats`` say how
        good they are.
    """

    kernel: Rational
    shares: Contributions = field(repr=False)
    solution: Solution[Mapping[Any, float]] = field(repr=False)

    @property
    def weights(self) -> Mapping[Any, float]:
        """The weight of each pattern, in the order of the shares."""
        return self.solution.value

    def _title(self) -> str:
        return f"{len(self.shares)} of {self.solution.stats['patterns']} patterns; {self.solution.status}"

    def __str__(self) -> str:
        return f"{self._title()}\n{self.shares}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self._title())}</p>{self.shares._repr_html_()}"


def learn_weights(
    kernel: Kernel,
    X: Any,
    y: Any,
    *,
    criterion: str = "margin",
    C: float | None = None,
    alpha: float | None = None,
    trace: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    time_budget: float | None = None,
    callbacks: Sequence[Callable[[Progress], Any]] = (),
) -> LearnedWeights:
    r"""Learn a weight for each pattern that a kernel on strings counts.

    .. math:: k_\mu(x, y) = \sum_z \mu(z) \, T(x, z) \, T(y, z), \qquad
              \mu \ge 0, \quad \sum_z \mu(z) \sum_i T(x_i, z)^2 \le \Lambda

    where T(x, z) is what the kernel counts of the pattern z in x.  The weights minimise, over functions f of
    the space of :math:`k_\mu` and an intercept,

    * ``"margin"``: :math:`\; \frac12 \|f\|_\mu^2 + C \sum_i \max(0, 1 - y_i (f(x_i) + b))`, as
      :class:`~mercer.machines.SVC` does for a given kernel.  More than two classes are each set against all
      others, and share the weights;
    * ``"ridge"``: :math:`\; \frac12 \|f\|_\mu^2 + \frac{1}{2\alpha} \sum_i (y_i - f(x_i) - b)^2`, as
      :class:`~mercer.machines.KernelRidge` with an intercept;

    or maximise

    * ``"alignment"``: the cosine between the centred Gram matrix and that of the targets (see
      :meth:`mercer.gram.Gram.alignment`).

    Machine and weights together are one convex problem (Cortes, Mohri and Rostamizadeh), equivalent to a
    machine on the counts with the penalty :math:`\frac{1}{2 \Lambda} (\sum_z |w_z| \, s_z)^2`, where
    :math:`s_z^2 = \sum_i T(x_i, z)^2`; so most weights are zero.  It is solved to a duality gap that is
    computed from the answer alone.  Patterns that go together in all strings cannot be distinguished, and
    share evenly.

    Cost: some 20 Newton steps with a system of the size of n or of the number of patterns, whichever is less;
    for the alignment, systems of the size of the number of patterns in use.

    Parameters
    ----------
    kernel : Kernel
        One on strings that lists its patterns: :class:`~mercer.kernels.Rational` of the form T o T^-1, or
        what :func:`~mercer.kernels.as_rational` makes one of; also sums of such without common patterns.
    X : sequence of strings
    y : array of shape (n,)
        Labels.  For ``"ridge"`` and ``"alignment"`` also numbers: two different values are two classes, more
        are targets as they are; a matrix holds several targets.
    criterion : {"margin", "ridge", "alignment"}, default="margin"
    C : float, default=1.0
        Price of an error, > 0, for ``"margin"``.
    alpha : float, default=1.0
        Penalty, > 0, for ``"ridge"``.
    trace : float, optional
        The bound :math:`\Lambda` > 0.  By default the number of strings: then k(x, x) is one on average.
    tol : float, default=1e-6
        Gap to stop at: relative to the objective, or of the squared cosine.
    max_iter : int, default=200
        Newton steps at most.
    time_budget : float, optional
        Seconds after which to stop.
    callbacks : sequence of callables
        Called with a :class:`~mercer.solvers.Progress`, whose violation is the gap; True stops.

    Returns
    -------
    LearnedWeights

    Examples
    --------
    >>> from mercer.kernels import NGram
    >>> learned = learn_weights(NGram(2), ["abcabd", "dab", "dcb", "bacd", "cdc"], [1, 1, 0, 0, 0], tol=1e-9)
    >>> print(learned.shares)
      weight  pattern
    0.690983  'ab'
    0.309017  'da'
    >>> learned.solution.converged, round(learned.kernel("abab", "ab"), 4)
    (True, 1.382)
    """
    _check_arguments(criterion, C, alpha, trace, tol, max_iter, time_budget, callbacks)
    T, strings = pattern_transducer(kernel, NAME), Sequences().validate(X, "X")
    Y = _targets(y, len(strings), criterion)
    patterns = _informative(list_patterns(T, strings, NAME))
    bound = float(len(strings) if trace is None else trace)
    squares = _squares(patterns.counts)
    units = (patterns.counts @ scipy.sparse.diags_array(1.0 / np.sqrt(squares))).tocsc()
    first, alike = _alike(units)
    with closing(Watch(tol, time_budget, list(callbacks), True, NAME)) as watch:
        if criterion == "alignment":
            solution = _align(units[:, first], Y, watch, tol)
        else:
            loss = LargeMargin(_or_one(C)) if criterion == "margin" else LeastSquares(_or_one(alpha))
            problem = MixtureProblem(units[:, first] * np.sqrt(bound), Y, loss)
            found = solve_mixture(problem, watch, tol=tol, max_iter=max_iter)
            solution = _with_value(found, found.value.weights)
    if not solution.converged:
        warn(f"{NAME}: {solution.status}.", ConvergenceWarning)
    shares = (solution.value / np.bincount(alike))[alike]
    kept = np.flatnonzero(shares)
    names = [patterns.names[i] for i in kept.tolist()]
    weights = dict(zip(names, (bound * shares / squares)[kept].tolist(), strict=True))
    table = Contributions(map(Contribution, names, shares[kept].tolist()))
    value: Mapping[Any, float] = {c.pattern: weights[c.pattern] for c in table}
    stats = {**solution.stats, "patterns": len(patterns.names)}
    return LearnedWeights(
        weighted_patterns(T, weights), table, replace(_with_value(solution, value), stats=stats)
    )


def _align(units: Any, Y: Array, watch: Watch, tol: float) -> Solution[Array]:
    """Shares of the trace that align best with the targets."""
    found = solve_alignment(units, Y - Y.mean(axis=0), watch, tol=tol)
    if not found.value.any():
        raise InputError(f"{NAME}: `y` must go with some pattern. None is correlated with it on `X`.")
    return _with_value(found, found.value / found.value.sum())


def _with_value(found: Solution[Any], value: _T) -> Solution[_T]:
    """The same solution in other words."""
    return Solution(value, found.converged, found.status, found.gap, found.stats)


# -- data ----------------------------------------------------------------------------------------
def _targets(y: Any, n: int, criterion: str) -> Array:
    """Targets of shape (n, c): of classes for the margin, else as alignments have them."""
    if criterion == "margin":
        check_numbers(y, f"{NAME}: `y`", dense=True)
        labels = np.asarray(y)
        if labels.shape != (n,):
            raise InputError(f"{NAME}: `y` must have one label per string ({n}). Got shape {labels.shape}.")
        if labels.dtype.kind == "f" and not (labels == np.rint(labels)).all():
            raise InputError(
                f"{NAME}: `y` must hold labels for criterion='margin'. Got numbers with fractions; "
                "criterion='ridge' and criterion='alignment' take them as targets."
            )
        # 1 for the members of a class and -1 for the others: one column for two classes, else one for each
        classes, codes = np.unique(labels, return_inverse=True)
        members = np.arange(len(classes)) if len(classes) != 2 else np.array([1])
        Y = np.where(codes[:, None] == members, 1.0, -1.0)
    else:
        Y = targets(y, n, NAME)
    if len(Y) == 0 or (Y[0] == Y).all():
        raise InputError(f"{NAME}: `y` must have two different values at least. Got {np.unique(y).tolist()}.")
    return Y


def _alike(units: scipy.sparse.csc_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Columns that differ from each other, and for each column the one among them that it equals.

    Patterns that go together in all strings cannot be distinguished: as one column they leave the solvers
    independent ones.
    """
    digits = np.round(units.data, 12)  # columns of unit length that agree in these are equal
    pairs = list(itertools.pairwise(units.indptr.tolist()))
    keys = [(units.indices[a:b].tobytes(), digits[a:b].tobytes()) for a, b in pairs]
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    alike = np.array([number[key] for key in keys])
    return np.unique(alike, return_index=True)[1], alike


def _informative(patterns: Patterns) -> Patterns:
    """The patterns that do not occur equally often in all strings; an error if there are none."""
    counts, n = patterns.counts, patterns.counts.shape[0]
    squares, means = _squares(counts), np.asarray(counts.mean(axis=0)).ravel()
    kept = np.flatnonzero(squares - n * means**2 > 1e-12 * squares)  # others are constant up to rounding
    if not len(kept):
        raise InputError(
            f"{NAME}: `X` must have strings that differ in how often a pattern of `kernel` occurs. Got {n} "
            f"strings with {len(patterns.names)} patterns, each equally often in all of them."
        )
    return Patterns(tuple(patterns.names[i] for i in kept.tolist()), counts[:, kept])


def _squares(counts: scipy.sparse.csc_array) -> Array:
    """Squared lengths of columns."""
    return np.asarray(counts.multiply(counts).sum(axis=0)).ravel()


# -- arguments -------------------------------------------------------------------------------------
def _check_arguments(
    criterion: str, C: Any, alpha: Any, trace: Any, tol: Any, max_iter: Any, time_budget: Any, callbacks: Any
) -> None:
    check_choice(NAME, "criterion", criterion, ("margin", "ridge", "alignment"))
    for name, value, owner in (("C", C, "margin"), ("alpha", alpha, "ridge")):
        if value is not None and criterion != owner:
            raise ParameterError(
                f"{NAME}: `{name}` belongs to criterion={owner!r}. Got it with criterion={criterion!r}: "
                "leave it out."
            )
    for name, value in (("C", C), ("alpha", alpha), ("trace", trace)):
        check_positive(NAME, name, value, unless=(None,))
    check_positive(NAME, "tol", tol)
    check_count(NAME, "max_iter", max_iter)
    check_time_budget(NAME, "time_budget", time_budget)
    check_callbacks(NAME, "callbacks", callbacks)


def _or_one(value: float | None) -> float:
    return 1.0 if value is None else float(value)
