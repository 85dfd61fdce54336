"""Weighted transducers as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..domains import Sequences
from ..errors import InputError, ParameterError
from .axioms import check_axioms
from .coding import Coding
from .labels import AnyExcept, Label, check_label
from .machine import Machine
from .operations import Operations, common_coding
from .semirings import Semiring, Weight, semiring_of
from .strings import all_pairs, weigh

__all__ = ["Arc", "Transducer", "check_labels", "is_state"]

# Larger machines are described rather than written down.
_MOST_SHOWN = 40

#: States are numbered in 32 bits.
MOST_STATES = 1 << 31


class Arc(NamedTuple):
    """One arc: reads ``input``, writes ``output``, and leads from ``source`` to ``target``."""

    source: int
    target: int
    input: Any
    output: Any
    weight: Weight


class Transducer(Operations):
    r"""Finite-state machine that weighs pairs of strings.

    .. math:: T(x, y) = \bigoplus_{\pi: x \to y} \lambda(\text{first state}) \otimes
              w(\pi) \otimes \rho(\text{last state})

    The sum is over all paths that read x and write y; sum and product are those of the semiring.  States are
    numbered from 0; any number of them may be initial or final, with weights; arcs form a multiset.  A
    transducer with equal labels on both tapes of every arc is an automaton and weighs single strings.

    A transducer cannot be changed; the operations give new ones.  :class:`Builder` makes one step by step.

    Parameters
    ----------
    arcs : iterable of (source, target, input, output, weight)
        Labels are any hashables, :data:`EPSILON`, :data:`ANY` or :class:`AnyExcept`; a class on both tapes
        must be the same, and means one and the same symbol on both.
    initial, final : mapping of int to weight
        The states in which paths may begin and end.
    semiring : {"real", "log", "tropical", "boolean"} or Semiring, default="real"
        What weights are and how they add up.
    n_states : int, optional
        Number of states, where it is larger than what the other arguments name.

    Examples
    --------
    >>> from mercer.automata import ANY, EPSILON, Transducer
    >>> skip = [(0, 0, ANY, EPSILON, 1.0), (1, 1, ANY, EPSILON, 1.0)]
    >>> occurrences = Transducer([*skip, (0, 1, "a", "a", 1.0)], {0: 1.0}, {1: 1.0})
    >>> occurrences("banana", "a")
    3.0
    """

    semiring: Semiring
    coding: Coding
    machine: Machine

    __array_ufunc__ = None

    def __init__(
        self,
        arcs: Iterable[tuple[int, int, Label, Label, Any]],
        initial: Mapping[int, Any],
        final: Mapping[int, Any],
        *,
        semiring: Semiring | str = "real",
        n_states: int | None = None,
    ) -> None:
        ring = semiring_of(semiring, "Transducer")
        rows = _arcs(arcs)
        for name, weights in (("initial", initial), ("final", final)):
            if not isinstance(weights, Mapping):
                raise ParameterError(
                    f"Transducer: `{name}` must be a dict from states to weights. Got {weights!r}."
                )
        named = [*initial, *final, *(q for arc in rows for q in arc[:2])]
        count = n_states if n_states is not None else _count(named)
        for state in named:
            if not is_state(state, count):
                raise ParameterError(
                    f"Transducer: a state must be an integer from 0 to {count - 1}. Got {state!r}."
                )
        for arc in rows:
            check_labels("Transducer", arc.input, arc.output)
        coding = Coding.of(label for arc in rows for label in (arc.input, arc.output))
        machine = Machine.of(
            np.array([arc.source for arc in rows], dtype=np.int32),
            np.array([arc.target for arc in rows], dtype=np.int32),
            np.array([coding.code(arc.input) for arc in rows], dtype=np.int32),
            np.array([coding.code(arc.output) for arc in rows], dtype=np.int32),
            ring.array(ring.weight(arc.weight, "Transducer") for arc in rows),
            _weights(initial, count, ring),
            _weights(final, count, ring),
        )
        if not ring.native:
            few: list[Any] = []  # three distinct weights: the axioms are checked on 27 triples
            for weight in machine.weight.tolist():
                if len(few) < 3 and weight not in few:
                    few.append(weight)
            check_axioms(ring, few)
        self._fill(ring, coding, machine)

    @classmethod
    def from_machine(cls, semiring: Semiring, coding: Coding, machine: Machine) -> Transducer:
        """The transducer of arrays that are known to be right."""
        found = cls.__new__(cls)
        found._fill(semiring, coding, machine)
        return found

    def _fill(self, semiring: Semiring, coding: Coding, machine: Machine) -> None:
        self.__dict__.update(semiring=semiring, coding=coding, machine=machine)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a transducer cannot be changed; its operations give new ones")

    # -- what it is -----------------------------------------------------------------------------
    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.machine.n_states

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return self.machine.n_arcs

    @cached_property
    def initial(self) -> Mapping[int, Weight]:
        """Weight of each initial state."""
        return self._ends(self.machine.initial)

    @cached_property
    def final(self) -> Mapping[int, Weight]:
        """Weight of each final state."""
        return self._ends(self.machine.final)

    def _ends(self, weights: np.ndarray) -> Mapping[int, Weight]:
        states = np.flatnonzero(~self.semiring.is_zero(weights)).tolist()
        return MappingProxyType({q: self.semiring.value(weights[q]) for q in states})

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The arcs, by source and then by label."""
        m, label, value = self.machine, self.coding.label, self.semiring.value
        columns = (
            m.source.tolist(),
            m.target.tolist(),
            m.input.tolist(),
            m.output.tolist(),
            m.weight.tolist(),
        )
        return tuple(Arc(s, t, label(i), label(o), value(w)) for s, t, i, o, w in zip(*columns, strict=True))

    @cached_property
    def input_alphabet(self) -> tuple[Any, ...]:
        """Symbols that arcs name on the input tape."""
        return self._symbols(self.machine.input)

    @cached_property
    def output_alphabet(self) -> tuple[Any, ...]:
        """Symbols that arcs name on the output tape."""
        return self._symbols(self.machine.output)

    @cached_property
    def alphabet(self) -> tuple[Any, ...]:
        """Symbols that arcs name on either tape."""
        return self._symbols(np.concatenate([self.machine.input, self.machine.output]))

    def _symbols(self, codes: np.ndarray) -> tuple[Any, ...]:
        return tuple(self.coding.label(c) for c in np.unique(codes[codes > 0]).tolist())

    @cached_property
    def is_automaton(self) -> bool:
        """Whether both tapes are equal on every arc, so that single strings have a weight."""
        return bool(np.array_equal(self.machine.input, self.machine.output))

    # -- values -----------------------------------------------------------------------------------
    def __call__(self, x: Any, y: Any = None) -> Weight:
        """Sum of the weights of all paths that read ``x`` and write ``y``; of an automaton, read ``x``."""
        T, second = self, y
        if y is None:
            if not self.is_automaton:
                raise InputError("T(x): a transducer with two tapes weighs pairs of strings. Got x alone.")
            T, second = self.without_output(), ()
        domain = Sequences()
        X, Y = (domain.validate([domain.point(s, name)]) for s, name in ((x, "x"), (second, "y")))
        return self.semiring.value(weigh(T, X, Y, *all_pairs(1, 1, True))[0])

    # -- as a value -------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transducer):
            return NotImplemented
        if self is other:
            return True
        if self.semiring != other.semiring or self.n_states != other.n_states or self.n_arcs != other.n_arcs:
            return False
        _, (mine, theirs) = common_coding([self, other])
        if not all(map(np.array_equal, mine.arrays[:4], theirs.arrays[:4])):
            return False
        if not self.semiring.native:
            return _equal_weights(mine, theirs)
        return all(map(np.array_equal, mine.arrays[4:], theirs.arrays[4:]))

    def __hash__(self) -> int:
        # Equal transducers may number their symbols differently: only what is free of numbers enters.
        m = self.machine
        if not self.semiring.native:  # weights need not have a hash
            return hash((self.semiring, m.starts.tobytes(), np.sort(m.target).tobytes()))
        order = np.lexsort((m.weight, m.target, m.source))
        parts = (m.starts, m.target[order], m.weight[order] + 0.0, m.initial + 0.0, m.final + 0.0)
        return hash((self.semiring, *(part.tobytes() for part in parts)))

    def __getstate__(self) -> dict[str, Any]:
        symbols, classes = self.coding.symbols.elements, self.coding.classes
        return {
            "semiring": self.semiring,
            "symbols": symbols,
            "classes": classes,
            "arrays": self.machine.arrays,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        coding = Coding.of(state["symbols"])
        self._fill(state["semiring"], Coding(coding.symbols, state["classes"]), Machine(*state["arrays"]))

    def __repr__(self) -> str:
        if self.n_arcs + self.n_states > _MOST_SHOWN:
            kind = "Automaton" if self.is_automaton else "Transducer"
            return (
                f"<{kind}: {self.n_states} states, {self.n_arcs} arcs, {len(self.initial)} initial, "
                f"{len(self.final)} final, {self.semiring.name} semiring>"
            )
        arcs = ", ".join(repr(tuple(arc)) for arc in self.arcs)
        ring = self.semiring
        options = "" if ring.name == "real" else f", semiring={ring.name if ring.native else ring!r}"
        named = [*self.initial, *self.final, *self.machine.source.tolist(), *self.machine.target.tolist()]
        if max(named, default=-1) + 1 < self.n_states:
            options += f", n_states={self.n_states}"
        return f"Transducer([{arcs}], {dict(self.initial)}, {dict(self.final)}{options})"


def is_state(state: Any, count: int) -> bool:
    """Whether this is the index of a state."""
    return isinstance(state, int | np.integer) and not isinstance(state, bool) and 0 <= int(state) < count


def check_labels(caller: str, read: Any, written: Any) -> None:
    """Refuse what cannot stand on an arc."""
    check_label(caller, "input", read)
    check_label(caller, "output", written)
    if isinstance(read, AnyExcept) and isinstance(written, AnyExcept) and read != written:
        raise ParameterError(
            f"{caller}: a class on both tapes means one symbol, copied, and must be the same on both. Got "
            f"{read!r}:{written!r}. For two independent symbols take two arcs, {read!r}:EPSILON and then "
            f"EPSILON:{written!r}."
        )


def _arcs(arcs: Any) -> list[Arc]:
    try:
        return [Arc(*arc) for arc in arcs]
    except TypeError as error:
        raise ParameterError(
            "Transducer: `arcs` must be a list of (source, target, input, output, weight). Got "
            f"{arcs!r:.60}: {error}."
        ) from None


def _count(named: list[Any]) -> int:
    """How many states there are, if the largest that is named is the last."""
    largest = int(max((q for q in named if isinstance(q, int | np.integer)), default=-1))
    if largest >= MOST_STATES:
        raise ParameterError(
            f"Transducer: a state must be an integer below {MOST_STATES:,}: states are numbered from 0 on, "
            f"without gaps. Got {largest}."
        )
    return largest + 1


def _weights(ends: Mapping[int, Any], count: int, semiring: Semiring) -> np.ndarray:
    weights = semiring.zeros(count)
    for state, weight in ends.items():
        weights[state] = semiring.weight(weight, "Transducer")
    return weights


def _equal_weights(a: Machine, b: Machine) -> bool:
    """Whether machines that differ in their weights at most are equal; parallel arcs come in any order."""
    if a.initial.tolist() != b.initial.tolist() or a.final.tolist() != b.final.tolist():
        return False
    groups: dict[tuple[int, ...], list[Any]] = {}
    keys = list(zip(*(c.tolist() for c in (a.source, a.target, a.input, a.output)), strict=True))
    for key, weight in zip(keys, a.weight.tolist(), strict=True):
        groups.setdefault(key, []).append(weight)
    for key, weight in zip(keys, b.weight.tolist(), strict=True):
        if weight not in groups[key]:
            return False
        groups[key].remove(weight)
    return True
