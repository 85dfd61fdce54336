"""Weighted transducers as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..domains import Sequences
from ..errors import ParameterError
from . import algebra, sums
from .coding import Coding
from .evaluation import weight_of
from .labels import AnyExcept, Label, check_label
from .machine import Machine
from .semirings import Semiring, convert, semiring_of

__all__ = ["Arc", "Transducer", "compose", "concat", "n_way", "total_weight", "union"]

# Larger machines are described rather than written down.
_MOST_SHOWN = 40


class Arc(NamedTuple):
    """One arc: reads ``input``, writes ``output``, and leads from ``source`` to ``target``."""

    source: int
    target: int
    input: Any
    output: Any
    weight: float


class Transducer:
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
        rows = [Arc(*arc) for arc in arcs]
        named = [*initial, *final, *(q for arc in rows for q in arc[:2])]
        count = n_states if n_states is not None else max(named, default=-1) + 1
        for state in named:
            if isinstance(state, bool) or not isinstance(state, int | np.integer) or not 0 <= state < count:
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
            np.array([ring.weight(arc.weight, "Transducer") for arc in rows], dtype=np.float64),
            _weights(initial, count, ring),
            _weights(final, count, ring),
        )
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
    def initial(self) -> Mapping[int, float]:
        """Weight of each initial state."""
        return self._ends(self.machine.initial)

    @cached_property
    def final(self) -> Mapping[int, float]:
        """Weight of each final state."""
        return self._ends(self.machine.final)

    def _ends(self, weights: np.ndarray) -> Mapping[int, float]:
        states = np.flatnonzero(weights != self.semiring.zero).tolist()
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

    @cached_property
    def is_acyclic(self) -> bool:
        """Whether no accepting path comes twice to one state, so that there are finitely many."""
        return _native.automata_is_acyclic(self.machine.arrays, self.semiring.code)

    @cached_property
    def epsilon_free(self) -> Machine:
        """The arrays of :meth:`remove_epsilons`, kept for evaluating many strings."""
        return sums.remove_epsilons(self.machine, self.semiring)

    # -- values -----------------------------------------------------------------------------------
    def __call__(self, x: Any, y: Any = None) -> float:
        """Sum of the weights of all paths that read ``x`` and write ``y``; of an automaton, that read ``x``."""
        return weight_of(self, x, y)

    def total_weight(self) -> float:
        r"""Sum of the weights of all accepting paths, whatever they read and write.

        Linear in the size of the machine if it has no cycles.  Cycles are solved for, component by
        component, O(m^3) for m states on common cycles.

        Raises
        ------
        DivergenceError
            The sum does not converge absolutely, or is too close to that; in the tropical semiring, a cycle
            has a negative cost.

        Examples
        --------
        >>> Transducer([(0, 0, "a", "a", 0.5)], {0: 1}, {0: 1}).total_weight()
        2.0
        """
        return sums.total_weight(self.machine, self.semiring)

    # -- operations -------------------------------------------------------------------------------
    def __matmul__(self, other: object) -> Transducer:
        return compose(self, other) if isinstance(other, Transducer) else NotImplemented

    def __or__(self, other: object) -> Transducer:
        return union(self, other) if isinstance(other, Transducer) else NotImplemented

    def __add__(self, other: object) -> Transducer:
        return concat(self, other) if isinstance(other, Transducer) else NotImplemented

    def concat(self, other: Transducer) -> Transducer:
        """First this one, then the other: weighs xx', yy' by all ways to cut them in two."""
        return concat(self, other)

    def inverse(self) -> Transducer:
        """The transducer with its tapes swapped: T^-1(x, y) = T(y, x)."""
        return self._with(algebra.inverse(self.machine))

    def reverse(self) -> Transducer:
        """The transducer that reads and writes from right to left."""
        return self._with(algebra.reverse(self.machine))

    def star(self) -> Transducer:
        """Any number of times, none among them: the closure of Kleene."""
        return self._with(algebra.star(self.machine, self.semiring))

    def plus(self) -> Transducer:
        """Any number of times, at least once."""
        return self._with(algebra.plus(self.machine, self.semiring))

    def project(self, tape: str) -> Transducer:
        """The automaton of one tape, ``"input"`` or ``"output"``: sums T(x, y) over what is on the other."""
        if tape not in ("input", "output"):
            raise ParameterError(f"project: `tape` must be 'input' or 'output'. Got {tape!r}.")
        m = self.machine
        kept, dropped = (m.input, m.output) if tape == "input" else (m.output, m.input)
        unseen = np.where(kept < 0, 0, dropped)  # a class that is copied still shows on the tape that is kept
        lost = Machine.of(**{**m.columns, "input": unseen, "output": unseen})
        sums.refuse_classes(lost, self.semiring, "project")
        return self._with(Machine.of(**{**m.columns, "input": kept, "output": kept}))

    def without_output(self) -> Transducer:
        """The transducer that reads the same and writes nothing."""
        m = self.machine
        return self._with(Machine.of(**{**m.columns, "output": np.zeros_like(m.output)}))

    def over(self, symbols: Iterable[Label]) -> Transducer:
        """The transducer over a known alphabet: arcs with classes become one arc for each symbol."""
        coding, machine = sums.over(self.machine, self.coding, AnyExcept(symbols).excluded)
        return Transducer.from_machine(self.semiring, coding, machine)

    def trim(self) -> Transducer:
        """Leave out states and arcs that lie on no accepting path, and arcs of weight zero."""
        return self._with(sums.trim(self.machine, self.semiring))

    def remove_epsilons(self) -> Transducer:
        """An equal transducer with no arc that has epsilon on both tapes.

        Raises
        ------
        DivergenceError
            Such arcs form a cycle whose weights have no sum.
        """
        return self._with(self.epsilon_free)

    def in_semiring(self, semiring: Semiring | str) -> Transducer:
        """The transducer with its weights written in another semiring.

        LOG and TROPICAL hold -log of what REAL holds, BOOLEAN whether it is zero.  Only from REAL to LOG and
        back (and, for nonnegative weights, to BOOLEAN) do the sums over paths agree as well.
        """
        new, m = semiring_of(semiring, "in_semiring"), self.machine
        weights = {
            name: convert(getattr(m, name), self.semiring, new) for name in ("weight", "initial", "final")
        }
        return Transducer.from_machine(new, self.coding, Machine.of(**{**m.columns, **weights}))

    def _with(self, machine: Machine) -> Transducer:
        return Transducer.from_machine(self.semiring, self.coding, machine)

    # -- as a value -------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transducer):
            return NotImplemented
        if self is other:
            return True
        if self.semiring != other.semiring or self.n_states != other.n_states or self.n_arcs != other.n_arcs:
            return False
        _, (mine, theirs) = common_coding([self, other])
        return all(map(np.array_equal, mine.arrays, theirs.arrays))

    def __hash__(self) -> int:
        # Equal transducers may number their symbols differently: only what is free of numbers enters.
        m = self.machine
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
        options = "" if self.semiring.name == "real" else f", semiring={self.semiring.name!r}"
        named = [*self.initial, *self.final, *self.machine.source.tolist(), *self.machine.target.tolist()]
        if max(named, default=-1) + 1 < self.n_states:
            options += f", n_states={self.n_states}"
        return f"Transducer([{arcs}], {dict(self.initial)}, {dict(self.final)}{options})"


def union(A: Transducer, B: Transducer) -> Transducer:
    """Either of two transducers: (A | B)(x, y) = A(x, y) + B(x, y)."""
    coding, (a, b) = common_coding([A, B])
    return Transducer.from_machine(A.semiring, coding, algebra.union(a, b))


def concat(A: Transducer, B: Transducer) -> Transducer:
    """First A, then B: the sum of A(x', y') B(x'', y'') over all x = x'x'', y = y'y''."""
    coding, (a, b) = common_coding([A, B])
    return Transducer.from_machine(A.semiring, coding, algebra.concat(a, b, A.semiring))


def compose(A: Transducer, B: Transducer, *, connect: bool = True) -> Transducer:
    r"""What B makes of what A writes.

    .. math:: (A \circ B)(x, y) = \bigoplus_z A(x, z) \otimes B(z, y)

    Each pair of paths that agree on z counts once, also where they pass through epsilon (a filter of three
    states sees to that).  Cost O(n_arcs of A times n_arcs of B) at worst; only states that can be reached
    are made.

    Parameters
    ----------
    A, B : Transducer
        Of one semiring.
    connect : bool, default=True
        Leave out what lies on no accepting path.

    Raises
    ------
    DivergenceError
        A writes any symbol, B reads any symbol, and neither says which: the sum over z is infinite.
    """
    return n_way(A, B, connect=connect)


def n_way(*transducers: Transducer, connect: bool = True) -> Transducer:
    """Composition of several transducers at once.

    The same as composing from left to right, but what the first few write and the next does not read is never
    built.
    """
    if not transducers:
        raise ParameterError("n_way: at least one transducer is needed. Got none.")
    coding, machines = common_coding(transducers)
    ring = transducers[0].semiring
    if len(machines) == 1:
        machine = sums.trim(machines[0], ring) if connect else machines[0]
        return Transducer.from_machine(ring, coding, machine)
    return Transducer.from_machine(ring, *sums.compose(machines, coding, ring, connect))


def weight_between(x: Any, *transducers_and_y: Any) -> float:
    """Total weight of X o T1 o T2 o ... o Y: ``weight_between(x, T1, T2, ..., y)``.

    Of two strings x and y it is the weight that the composition of the transducers gives them.  Either may be
    an automaton instead, which stands for all its strings with their weights.  For many pairs of strings,
    compose once and use :func:`weights_between`.

    Examples
    --------
    >>> double = Transducer([(0, 0, "a", "a", 2.0)], {0: 1.0}, {0: 1.0})
    >>> weight_between("aa", double, double, "aa")
    16.0
    """
    *transducers, y = transducers_and_y
    if not transducers or not all(isinstance(T, Transducer) for T in transducers):
        raise ParameterError("weight_between: pass x, at least one transducer, and y.")
    if not isinstance(x, Transducer) and not isinstance(y, Transducer):
        return n_way(*transducers)(x, y)
    ring = transducers[0].semiring
    ends = [
        end if isinstance(end, Transducer) else _copies(end, name, ring) for end, name in ((x, "x"), (y, "y"))
    ]
    return n_way(ends[0], *transducers, ends[1]).total_weight()


def _copies(x: Any, name: str, semiring: Semiring) -> Transducer:
    """The automaton of one string."""
    symbols = tuple(Sequences().point(x, name))
    arcs = [(i, i + 1, symbol, symbol, semiring.one) for i, symbol in enumerate(symbols)]
    return Transducer(arcs, {0: semiring.one}, {len(symbols): semiring.one}, semiring=semiring)


def total_weight(T: Transducer) -> float:
    """Sum of the weights of all accepting paths: see :meth:`Transducer.total_weight`."""
    return T.total_weight()


def common_coding(transducers: Sequence[Transducer]) -> tuple[Coding, list[Machine]]:
    """Transducers of one semiring in one coding of their labels."""
    first = transducers[0]
    coding, machines = first.coding, [first.machine]
    for other in transducers[1:]:
        if other.semiring != first.semiring:
            raise ParameterError(
                f"mercer.automata: the semirings of two transducers must agree. Got {first.semiring.name} and "
                f"{other.semiring.name}; bring one into the other's with in_semiring."
            )
        coding, table = coding.joined(other.coding)
        machines.append(other.machine if table is None else _recoded(other, table))
    return coding, machines


def _recoded(T: Transducer, table: np.ndarray) -> Machine:
    return T.machine.with_labels(lambda codes: T.coding.recode(codes, table))


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


def _weights(ends: Mapping[int, Any], count: int, semiring: Semiring) -> np.ndarray:
    weights = np.full(count, semiring.zero)
    for state, weight in ends.items():
        weights[state] = semiring.weight(weight, "Transducer")
    return weights
