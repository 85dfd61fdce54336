"""How values of rational kernels are computed: three plans, and what each of them costs.

===============  =========================================================================================
``features``     list what T writes for each string, if that is not too much; multiply weights of equal
                 outputs.  For T o T^-1 only
``automata``     make the automaton of what T writes for each string; intersect pairs of them
``composition``  sum over the paths of the composed machine for each pair, position by position
===============  =========================================================================================

Costs are estimated once per kernel by a trial on random strings.  All plans give the same values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ...automata import (
    ANY,
    Automata,
    Transducer,
    intersect_weights,
    output_automata,
    pack,
    string,
    weight_between,
    weights_between,
)
from ...automata.outputs import Outputs, list_outputs, listable
from ...domains import Data, EncodedSequences, Sequences, items, size
from ...engine.runs import checkpoint
from ...errors import ParameterError

__all__ = ["PLANS", "Evaluation", "Points"]

PLANS = ("features", "automata", "composition")

#: The trial: strings of this many symbols, and how many steps listing may take for one of them.
TRIAL_STRINGS, TRIAL_LENGTH, TRIAL_STEPS = 4, 64, 100_000

#: Number of points of the Gram matrix for which plans are compared.
POINTS = 100

_T = TypeVar("_T")

#: Held while something is made of a data set, which takes all cores anyway.
_making = threading.RLock()


@dataclass(frozen=True)
class Cost:
    """Seconds that a plan is expected to take, or why it cannot be followed."""

    plan: str
    seconds: float | None
    reason: str


class Source:
    """One data set with what has been made of it, each thing at most once."""

    def __init__(self, evaluation: Evaluation, data: EncodedSequences | list[Any]) -> None:
        self.evaluation, self.data = evaluation, data
        self._made: dict[Any, Any] = {}

    @property
    def strings(self) -> EncodedSequences | None:
        """The data, if there are no automata among them."""
        return self.data if isinstance(self.data, EncodedSequences) else None

    @property
    def outputs(self) -> Outputs | None:
        """What T writes, listed; None if there are too many outputs, or automata among the points."""
        strings = self.strings
        if strings is None:
            return None
        return self._once("outputs", lambda: list_outputs(self.evaluation.T, strings))

    @property
    def left(self) -> Automata:
        """For each point the automaton of what T writes for it."""
        return self._once("left", lambda: _written(self.evaluation.T, self.data))

    @property
    def right(self) -> Automata:
        """What the automata on the left are intersected with: the same, or for k = U the points as such."""
        if self.evaluation.squared:
            return self.left
        copy = Transducer([(0, 0, ANY, ANY, 1.0)], {0: 1.0}, {0: 1.0})  # writes what it reads
        return self._once("right", lambda: _written(copy, self.data))

    def _once(self, key: Any, make: Callable[[], _T]) -> _T:
        with _making:
            if key not in self._made:
                self._made[key] = make()
            found: _T = self._made[key]
            return found


@dataclass(frozen=True, eq=False)
class Points:
    """Some of the points of a data set."""

    source: Source
    index: np.ndarray = field(repr=False)

    def __len__(self) -> int:
        return len(self.index)

    def take(self, index: slice | np.ndarray) -> Points:
        """Select points."""
        return Points(self.source, self.index[index])

    @cached_property
    def strings(self) -> EncodedSequences | None:
        """The points, if they are strings."""
        strings = self.source.strings
        return None if strings is None else strings.take(self.index)

    @property
    def points(self) -> list[Any]:
        """The points one by one."""
        every = items(self.source.data)
        return [every[i] for i in self.index.tolist()]


class Evaluation:
    """The machine of a rational kernel, made ready, and the plan for it.

    Attributes
    ----------
    T : Transducer
        Without useless states, and without arcs that have epsilon on both tapes.
    squared : bool
        Whether the kernel is T o T^-1 rather than T.
    requested : str
        The plan asked for, or "auto".
    """

    def __init__(self, T: Transducer, squared: bool, requested: str) -> None:
        self.T, self.squared, self.requested = T, squared, requested

    @cached_property
    def composed(self) -> Transducer:
        """The transducer that weighs pairs of strings."""
        return self.T @ self.T.inverse() if self.squared else self.T

    # -- values -------------------------------------------------------------------------------
    def prepare(self, data: Data) -> Points:
        points = Points(Source(self, data), np.arange(size(data)))
        # Made now, on all cores, and not in the first tile that asks for it; listing is part of the choice.
        if self._plan_for(points, points) == "automata":
            _ = points.source.left, points.source.right
        return points

    def block(self, X: Points, Y: Points | None) -> np.ndarray:
        other = X if Y is None else Y
        plan = self._plan_for(X, other)
        if plan == "features":
            return _listed(X).inner_products(X.index, _listed(other), other.index)
        if plan == "composition":
            if X.strings is not None and other.strings is not None:
                return weights_between(X.strings, self.composed, other.strings)
            return np.array([[self._weight(x, y) for y in other.points] for x in X.points])
        mirrored = Y is None and self.squared
        right = None if mirrored else other.source.right.take(other.index)
        return intersect_weights(X.source.left.take(X.index), right)

    def diagonal(self, X: Points) -> np.ndarray:
        plan = self._plan_for(X, X)
        if plan == "features":
            return _listed(X).squared_norms(X.index)
        if plan == "composition":
            if X.strings is not None:
                return weights_between(X.strings, self.composed, X.strings, elementwise=True)
            return np.array([self._weight(x, x) for x in X.points])
        return intersect_weights(X.source.left.take(X.index), X.source.right.take(X.index), elementwise=True)

    def _weight(self, x: Any, y: Any) -> float:
        checkpoint()
        return float(weight_between(x, self.composed, y))

    def _plan_for(self, X: Points, Y: Points) -> str:
        """The plan, unless automata among the points, or more outputs than can be listed, need another."""
        if X.source.strings is None or Y.source.strings is None:
            return self.plan if self.plan != "features" else "automata"
        if self.plan != "features" or None not in (X.source.outputs, Y.source.outputs):
            return self.plan
        if self.requested == "features":
            raise ParameterError(
                "Rational: `plan='features'` needs outputs that can be listed, and a string has too many of "
                "them. Use plan='auto' or plan='automata'."
            )
        return "automata"

    # -- choice -------------------------------------------------------------------------------
    @cached_property
    def plan(self) -> str:
        """The plan asked for, or the cheapest one."""
        if self.requested == "auto":
            possible = [cost for cost in self.costs if cost.seconds is not None]
            return min(possible, key=lambda cost: cost.seconds or 0.0).plan
        problem = {"features": self._no_features, "automata": self._no_automata}.get(self.requested)
        if problem is not None:
            raise ParameterError(f"Rational: `plan={self.requested!r}` cannot be followed: {problem}.")
        return self.requested

    @cached_property
    def _no_features(self) -> str | None:
        """Why there are no features to list."""
        return listable(self.T) if self.squared else "a kernel U has no features; only T o T^-1 has"

    @cached_property
    def _no_automata(self) -> str | None:
        """Why what T writes for a string is no automaton of named symbols."""
        m = self.T.machine
        if ((m.output < 0) & (m.input != m.output)).any():
            return "an arc writes any symbol of a class without reading it"
        return None

    @cached_property
    def trial_strings(self) -> EncodedSequences:
        """Random strings of symbols that the machine names, and of some that it does not."""
        named = self.T.input_alphabet[:20]
        symbols = [*named, *(("unnamed", i) for i in range(4 if (self.T.machine.input < 0).any() else 1))]
        rng = np.random.default_rng(0)
        chosen = rng.integers(0, len(symbols), (TRIAL_STRINGS, TRIAL_LENGTH))
        return Sequences().validate([[symbols[i] for i in row] for row in chosen.tolist()])

    @cached_property
    def trial_outputs(self) -> Outputs | None:
        """Outputs of the trial strings; None if they cannot be listed, or not in the time given."""
        if self._no_features is not None:
            return None
        return list_outputs(self.T, self.trial_strings, TRIAL_STEPS)

    @cached_property
    def costs(self) -> list[Cost]:
        """Expected cost of each plan for a Gram matrix of POINTS strings like those of the trial."""
        pairs = POINTS * (POINTS + 1) / 2
        return [self._features_cost(pairs), self._automata_cost(pairs), self._composition_cost(pairs)]

    def _features_cost(self, pairs: float) -> Cost:
        if self._no_features is not None:
            return Cost("features", None, self._no_features)
        found = self.trial_outputs
        if found is None:
            slow = f"a string of {TRIAL_LENGTH} symbols takes more than {TRIAL_STEPS:,} steps to list"
            return Cost("features", None, slow)
        outputs, steps = found.count / TRIAL_STRINGS, found.steps / TRIAL_STRINGS
        reason = f"{outputs:.0f} outputs per string, listed in {steps:.0f} steps"
        # Nanoseconds, about: 60 to take a path along an arc, 1.5 to multiply two weights.
        return Cost("features", 1e-9 * (POINTS * steps * 60.0 + pairs * outputs * 1.5), reason)

    def _automata_cost(self, pairs: float) -> Cost:
        if self._no_automata is not None:
            return Cost("automata", None, self._no_automata)
        arcs = output_automata(self.T, self.trial_strings).n_arcs / TRIAL_STRINGS
        others = arcs if self.squared else TRIAL_LENGTH
        matched = arcs * others / len(self.trial_strings.alphabet)
        written = POINTS * TRIAL_LENGTH * self.T.n_arcs
        seconds = 20e-9 * (written + pairs * matched)  # to follow two arcs with one label
        return Cost("automata", seconds, f"{arcs:.0f} arcs per automaton")

    def _composition_cost(self, pairs: float) -> Cost:
        # Not composed for this: that may be the most expensive part of all.
        arcs = self.T.n_arcs**2 / len(self.trial_strings.alphabet) if self.squared else self.T.n_arcs
        reason = f"about {arcs:.0f} arcs in the machine for pairs"
        seconds = 5e-9 * pairs * TRIAL_LENGTH**2 * max(arcs, 1.0)  # to take an arc at two positions
        return Cost("composition", seconds, reason)


def _listed(points: Points) -> Outputs:
    outputs = points.source.outputs
    assert outputs is not None
    return outputs


def _written(T: Transducer, data: EncodedSequences | list[Any]) -> Automata:
    """For each point the automaton of what T writes for it."""
    if isinstance(data, EncodedSequences):
        return output_automata(T, data)
    machines = [x if isinstance(x, Transducer) else string(x) for x in data]
    return pack([(A @ T).project("output").remove_epsilons() for A in machines])
