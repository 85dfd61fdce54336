"""Rational kernels: functions of two strings that a weighted transducer computes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...automata import REAL, StringsAndAutomata, Transducer, weight_between, weights_between
from ...automata.outputs import list_outputs, listable
from ...automata.weighing import inner_weight, output_weights, pair_weight
from ...certificate import Certificate, Witness
from ...contributions import Contribution
from ...domains import Data, Domain, Sequences
from ...errors import DivergenceError, DomainError, ParameterError
from ...intervals import NONNEGATIVE, REAL_LINE, Interval
from ...kernel import Kernel
from ...parameters import parameter
from .plans import PLANS, POINTS, TRIAL_LENGTH, Evaluation, Points

__all__ = ["Rational"]


class Rational(Kernel):
    r"""Rational kernel: the weight that a transducer gives to two strings.

    .. math:: k(x, y) = U(x, y), \qquad\text{or}\qquad
              k(x, y) = (T \circ T^{-1})(x, y) = \sum_z T(x, z)\, T(y, z)

    The second form, ``Rational.pds(T)``, is positive definite for every T, as the limit of inner products
    over the strings z up to a length (Cortes, Haffner and Mohri): T(x, z) is the feature z of x.  The sum has
    to converge: it is finite unless T has a cycle that reads nothing, and then weights along it have to
    decay, which is checked at construction.  For a transducer U of the user's the definiteness is unknown
    unless short strings refute it; :func:`mercer.refute` may find other witnesses.  U must be symmetric,
    which is tried on short strings.

    Points are strings of any symbols, or automata A, B, which stand for all their strings with weights:
    :math:`k(A, B) = \sum_{x, y} A(x)\, k(x, y)\, B(y)`.

    Values are computed by one of three plans, see :meth:`explain`.  Cost with lengths n: listing features
    takes O(n) per string for counting transducers of bounded patterns; intersecting automata or composing
    takes O(n^2) per pair.

    Parameters
    ----------
    transducer : Transducer
        U or T, with real weights.
    squared : bool, default=False
        Whether the kernel is T o T^-1 rather than U.
    plan : {"auto", "features", "automata", "composition"}, default="auto"
        How to compute; the cheapest way by default.  All give the same values.

    Examples
    --------
    >>> from mercer.automata import counting, from_regex
    >>> bigrams = Rational.pds(counting(from_regex(".{2}")))
    >>> bigrams("aab", "aab"), bigrams("aab", "abab")
    (2.0, 2.0)
    >>> gappy = Rational.pds(counting(from_regex(".{2}"), gap=0.5))
    >>> gappy("aab", "aab")  # aa once; ab once, and once over a gap
    3.25
    >>> print(bigrams.contributions("aab", "abab"))
    weight  pattern
       2.0  'ab'  [1:3 | 0:2 2:4]
    """

    transducer: Transducer
    squared: bool = False
    plan: str = parameter(default="auto", choices=("auto", *PLANS), kw_only=True)

    @classmethod
    def pds(cls, T: Transducer, *, plan: str = "auto") -> Rational:
        """The positive definite kernel T o T^-1: the sum of T(x, z) T(y, z) over all strings z."""
        return cls(T, True, plan=plan)

    def _validate(self) -> None:
        if not isinstance(self.transducer, Transducer):
            raise ParameterError(f"Rational: `transducer` must be a Transducer. Got {self.transducer!r}.")
        if self.transducer.semiring is not REAL:
            raise ParameterError(
                "Rational: `transducer` must have real weights, of the semiring REAL. Got "
                f'{self.transducer.semiring!r}; T.in_semiring("real") brings them over (with `by` from a '
                "semiring of your own)."
            )
        if not isinstance(self.squared, bool):
            raise ParameterError(f"Rational: `squared` must be True or False. Got {self.squared!r}.")
        if self.squared:
            _check_convergence(self._evaluation.T)
        else:
            _check_symmetry(self._evaluation.T)
        if self.plan != "auto":
            _ = self._evaluation.plan

    @cached_property
    def _evaluation(self) -> Evaluation:
        try:
            ready = self.transducer.trim().remove_epsilons().trim()
        except DivergenceError as error:
            raise ParameterError(
                "Rational: the weights of cycles of `transducer` that neither read nor write must add up to "
                f"less than one. {error}"
            ) from error
        return Evaluation(ready, self.squared, self.plan)

    @property
    def domain(self) -> Domain:
        return StringsAndAutomata()

    # -- values -------------------------------------------------------------------------------
    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        T = self._evaluation.T
        automata = [z for z in (x, y) if isinstance(z, Transducer)]
        if any((A.machine.input <= 0).any() for A in automata):
            # Classes and epsilons in the points: what they stand for is left to composition.
            machines = (T, T.inverse()) if self.squared else (T,)
            return m.real(weight_between(x, *machines, y))
        if not self.squared:
            return pair_weight(T, x, y, m)
        if automata or self._evaluation.trial_outputs is None:
            return inner_weight(T, x, y, m)
        of_x, of_y = output_weights(T, x, m), output_weights(T, y, m)
        return m.fsum([weight * of_y[z][0] for z, (weight, _) in of_x.items() if z in of_y])

    def _prepare(self, X: Data) -> Points:
        return self._evaluation.prepare(X)

    def _block(self, X: Points, Y: Points | None) -> np.ndarray:
        return self._evaluation.block(X, Y)

    def _diagonal(self, X: Points) -> np.ndarray:
        return self._evaluation.diagonal(X)

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        T, name = self._evaluation.T, type(self).__name__
        if not self.squared:
            raise DomainError(
                f"{name}: a transducer U weighs pairs of strings as they are; T o T^-1 has patterns."
            )
        if isinstance(x, Transducer) or isinstance(y, Transducer):
            raise DomainError(f"{name}: contributions are those of two strings. Got an automaton.")
        strings = Sequences().validate([x, y])
        # Steps after which the patterns of a string are too many to be named.
        if listable(T) is not None or list_outputs(T, strings, 200_000) is None:
            raise DomainError(f"{name}: the two strings share more patterns than can be listed.")
        of_x, of_y = (output_weights(T, tuple(s), FLOAT, places=True) for s in (x, y))
        for z, (weight, places) in of_x.items():
            if z in of_y:
                other, there = of_y[z]
                pattern = Sequences().point(z)
                yield Contribution(pattern, weight * other, tuple(sorted(places)), tuple(sorted(there)))

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        if self.squared:
            return Certificate.psd(
                self,
                "T o T^-1",
                "the sum of T(x, z) T(y, z) over strings z is an inner product, and converges absolutely",
            )
        witness = _short_witness(self)
        if witness is not None:
            return Certificate.refuted(self, "witness", "short strings refute it", witness=witness)
        return Certificate.unknown(
            self, "a transducer of the user's: Rational.pds(T) is positive definite for every T"
        )

    @property
    def diagonal_bounds(self) -> Interval:
        # Of the other values nothing is known: automata among the points may have negative weights.
        return NONNEGATIVE if self.squared else REAL_LINE

    def explain(self) -> str:
        """How values are computed, and why so: the plans with their expected costs."""
        e = self._evaluation
        formula = "sum of T(x, z) T(y, z) over z" if self.squared else "U(x, y)"
        chosen = "as asked for" if self.plan != "auto" else "the cheapest"
        lines = [
            f"k(x, y) = {formula}, with {e.T.n_states} states and {e.T.n_arcs} arcs",
            f"plan: {e.plan}, {chosen}",
            f"expected seconds for a Gram matrix of {POINTS} random strings of {TRIAL_LENGTH} symbols:",
        ]
        for cost in e.costs:
            seconds = "-" if cost.seconds is None else f"{cost.seconds:.2g}"
            lines.append(f"  {cost.plan:<12} {seconds:>8}  {cost.reason}")
        return "\n".join(lines)

    def _digest_form(self) -> bytes:
        # Plans give the same values: one store serves them all.
        return super()._digest_form() if self.plan == "auto" else self.replace(plan="auto")._digest_form()


def _check_convergence(T: Transducer) -> None:
    """Raise unless the sum over all outputs converges, whatever is read."""
    m = T.machine
    silent = m.input == 0
    if ((m.output < 0) & (m.input != m.output)).any():
        raise ParameterError(
            "Rational.pds: `T` must not write any symbol of a class without reading it: the sum over all "
            'outputs would be infinite. Name the symbols there are: T.over("abc").'
        )
    if listable(T) is None:
        return
    # Pairs of paths within arcs that read nothing, from and to wherever: if those have a finite sum, all
    # have.
    ones = dict.fromkeys(range(T.n_states), 1.0)
    arcs = [
        arc._replace(weight=abs(arc.weight))
        for arc, is_silent in zip(T.arcs, silent, strict=True)
        if is_silent
    ]
    cycles = Transducer(arcs, ones, ones, n_states=T.n_states)
    try:
        (cycles @ cycles.inverse()).total_weight()
    except DivergenceError as error:
        raise ParameterError(
            "Rational.pds: `T` has cycles that read nothing, and the squares of their weights must add up to "
            f"less than one for the sum over all outputs to converge. {error}"
        ) from error


def _short_witness(kernel: Rational) -> Witness | None:
    """Few short strings on which a transducer U is not positive definite, if there are any."""
    U = kernel._evaluation.T
    strings = [s for n in range(5) for s in itertools.product(U.alphabet[:2], repeat=n)]
    K = weights_between(strings, U)
    size = np.where(np.diagonal(K) != 0, np.sqrt(np.abs(np.diagonal(K))), np.abs(K).max(axis=1))
    scale = 1 / np.where(size > 0, size, 1.0)
    K = scale[:, None] * K * scale
    kept = np.arange(len(strings))

    def least(index: np.ndarray) -> float:
        return float(np.linalg.eigvalsh(K[np.ix_(index, index)])[0])

    # An eigenvalue of normalised values that is negative beyond rounding; fifty digits then decide.
    negative = 1e-9
    if not least(kept) < -negative:
        return None
    for i in kept[::-1]:  # long strings first: what is not needed goes
        without = kept[kept != i]
        if len(without) and least(without) < -negative:
            kept = without
    vector = np.linalg.eigh(K[np.ix_(kept, kept)])[1][:, 0] * scale[kept]
    points = [Sequences().point(strings[i]) for i in kept]
    witness = Witness.of(kernel, points, (vector / np.abs(vector).max()).tolist())
    return witness if witness.value < -witness.error else None


def _check_symmetry(U: Transducer) -> None:
    """Raise if two short strings show that U(x, y) is not U(y, x)."""
    symbols = [*U.alphabet[:2], ("unnamed",)]
    strings = [(), *((a,) for a in symbols), *((a, b) for a in symbols for b in symbols)]
    rng = np.random.default_rng(0)
    strings += [tuple(symbols[i] for i in rng.integers(0, len(symbols), 5)) for _ in range(8)]
    try:
        K = weights_between(strings, U)
    except DivergenceError as error:
        raise ParameterError(f"Rational: `transducer` must give finite weights. {error}") from error
    # Values whose difference is beyond rounding, relative to the larger of them.
    if not np.allclose(K, K.T, rtol=1e-9, atol=0.0):
        i, j = np.unravel_index(np.argmax(np.abs(K - K.T)), K.shape)
        raise ParameterError(
            f"Rational: `transducer` must be symmetric. Got U(x, y) = {K[i, j]:g} and U(y, x) = {K[j, i]:g} "
            f"for x = {strings[i]!r}, y = {strings[j]!r}. For T o T^-1 use Rational.pds(T)."
        )
