"""Operations on transducers: methods of :class:`Transducer`, and functions of several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from ..errors import ParameterError
from . import algebra, sums
from .coding import Coding
from .labels import Label, symbols_of
from .machine import Machine
from .semirings import Semiring, Weight, convert, semiring_of

__all__ = ["Operations", "common_coding", "compose", "concat", "n_way", "total_weight", "union"]


class Operations(ABC):
    """What can be made of a transducer."""

    semiring: Semiring
    coding: Coding
    machine: Machine

    @classmethod
    @abstractmethod
    def from_machine(cls, semiring: Semiring, coding: Coding, machine: Machine) -> Self:
        """The transducer of arrays that are known to be right."""

    def __matmul__(self, other: Any) -> Self:
        return compose(self, other) if isinstance(other, type(self)) else NotImplemented

    def __or__(self, other: Any) -> Self:
        return union(self, other) if isinstance(other, type(self)) else NotImplemented

    def __add__(self, other: Any) -> Self:
        return concat(self, other) if isinstance(other, type(self)) else NotImplemented

    def concat(self, other: Self) -> Self:
        """First this one, then the other: weighs xx', yy' by all ways to cut them in two."""
        return concat(self, other)

    def inverse(self) -> Self:
        """The transducer with its tapes swapped: T^-1(x, y) = T(y, x)."""
        return self._with(algebra.inverse(self.machine))

    def reverse(self) -> Self:
        """The transducer that reads and writes from right to left."""
        sums.require_commutative(self.semiring, "reverse")
        return self._with(algebra.reverse(self.machine))

    def star(self) -> Self:
        """Any number of times, none among them: the closure of Kleene."""
        return self._with(algebra.star(self.machine, self.semiring))

    def plus(self) -> Self:
        """Any number of times, at least once."""
        return self._with(algebra.plus(self.machine, self.semiring))

    def project(self, tape: str) -> Self:
        """The automaton of one tape, ``"input"`` or ``"output"``: sums T(x, y) over what is on the other."""
        if tape not in ("input", "output"):
            raise ParameterError(f"project: `tape` must be 'input' or 'output'. Got {tape!r}.")
        m = self.machine
        kept, dropped = (m.input, m.output) if tape == "input" else (m.output, m.input)
        unseen = np.where(kept < 0, 0, dropped)  # a class that is copied still shows on the tape that is kept
        lost = Machine.of(**{**m.columns, "input": unseen, "output": unseen})
        sums.refuse_classes(lost, self.semiring, "project")
        return self._with(Machine.of(**{**m.columns, "input": kept, "output": kept}))

    def without_output(self) -> Self:
        """The transducer that reads the same and writes nothing."""
        m = self.machine
        return self._with(Machine.of(**{**m.columns, "output": np.zeros_like(m.output)}))

    def over(self, symbols: Iterable[Label]) -> Self:
        """The transducer over a known alphabet: arcs with classes become one arc for each symbol."""
        coding, machine = sums.over(self.machine, self.coding, symbols_of(symbols, "over"))
        return self.from_machine(self.semiring, coding, machine)

    def trim(self) -> Self:
        """Leave out states and arcs that lie on no accepting path, and arcs of weight zero."""
        return self._with(sums.trim(self.machine, self.semiring))

    def remove_epsilons(self) -> Self:
        """An equal transducer with no arc that has epsilon on both tapes.

        Raises
        ------
        DivergenceError
            Such arcs form a cycle whose weights have no sum.
        """
        return self._with(self.epsilon_free)

    @cached_property
    def epsilon_free(self) -> Machine:
        """The arrays of :meth:`remove_epsilons`, kept for evaluating many strings."""
        return sums.remove_epsilons(self.machine, self.semiring)

    def in_semiring(self, semiring: Semiring | str, *, by: Callable[[Any], Any] | None = None) -> Self:
        """The transducer with its weights written in another semiring.

        LOG and TROPICAL hold -log of what REAL holds, BOOLEAN whether it is zero.  Only from REAL to LOG and
        back (and, for nonnegative weights, to BOOLEAN) do the sums over paths agree as well.  To and from
        other semirings, except to BOOLEAN, ``by`` is needed: the function from old to new weights.
        """
        new, m = semiring_of(semiring, "in_semiring"), self.machine
        weights = {
            name: convert(getattr(m, name), self.semiring, new, by) for name in ("weight", "initial", "final")
        }
        return self.from_machine(new, self.coding, Machine.of(**{**m.columns, **weights}))

    @cached_property
    def is_acyclic(self) -> bool:
        """Whether no accepting path comes twice to one state, so that there are finitely many."""
        return sums.is_acyclic(self.machine, self.semiring)

    def total_weight(self) -> Weight:
        r"""Sum of the weights of all accepting paths, whatever they read and write.

        Linear in the size of the machine if it has no cycles.  Cycles are solved for, component by
        component, O(m^3) for m states on common cycles.

        Raises
        ------
        DivergenceError
            The sum does not converge absolutely, or is too close to that; in the tropical semiring, a cycle
            has a negative cost.  In a semiring of your own: powers of a cycle have no star.

        Examples
        --------
        >>> from mercer.automata import Transducer
        >>> Transducer([(0, 0, "a", "a", 0.5)], {0: 1}, {0: 1}).total_weight()
        2.0
        """
        return sums.total_weight(self.machine, self.semiring)

    def _with(self, machine: Machine) -> Self:
        return self.from_machine(self.semiring, self.coding, machine)


T = TypeVar("T", bound=Operations)


def union(A: T, B: T) -> T:
    """Either of two transducers: (A | B)(x, y) = A(x, y) + B(x, y)."""
    coding, (a, b) = common_coding([A, B])
    return A.from_machine(A.semiring, coding, algebra.union(a, b))


def concat(A: T, B: T) -> T:
    """First A, then B: the sum of A(x', y') B(x'', y'') over all x = x'x'', y = y'y''."""
    coding, (a, b) = common_coding([A, B])
    return A.from_machine(A.semiring, coding, algebra.concat(a, b, A.semiring))


def compose(A: T, B: T, *, connect: bool = True) -> T:
    r"""What B makes of what A writes.

    .. math:: (A \circ B)(x, y) = \bigoplus_z A(x, z) \otimes B(z, y)

    Each pair of paths that agree on z counts once, also where they pass through epsilon (a filter of three
    states sees to that).  The filter has nothing to do where A writes no epsilon or B reads none: the
    condition concerns the output of A and the input of B, not the input of A and the output of B as Mohri,
    Rostamizadeh and Talwalkar (2018), section 6.5.1, print it.  Cost O(n_arcs of A times n_arcs of B) at
    worst; only states that can be reached are made.

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


def n_way(*transducers: T, connect: bool = True) -> T:
    """Composition of several transducers at once.

    The same as composing from left to right, but what the first few write and the next does not read is never
    built.
    """
    if not transducers:
        raise ParameterError("n_way: at least one transducer is needed. Got none.")
    first = transducers[0]
    if len(transducers) == 1:
        return first.trim() if connect else first
    coding, machines = common_coding(transducers)
    return first.from_machine(first.semiring, *sums.compose(machines, coding, first.semiring, connect))


def total_weight(A: Operations) -> Weight:
    """Sum of the weights of all accepting paths: see :meth:`Transducer.total_weight`."""
    return A.total_weight()


def common_coding(transducers: Sequence[Operations]) -> tuple[Coding, list[Machine]]:
    """Transducers of one semiring in one coding of their labels."""
    first = transducers[0]
    coding, machines = first.coding, [first.machine]
    for other in transducers[1:]:
        if other.semiring != first.semiring:
            raise ParameterError(
                f"mercer.automata: the semirings of transducers must agree. Got {first.semiring.name} and "
                f"{other.semiring.name}; bring one into the other's with in_semiring."
            )
        coding, table = coding.joined(other.coding)
        machine = other.machine
        if table is not None:
            labels = {
                "input": other.coding.recode(machine.input, table),
                "output": other.coding.recode(machine.output, table),
            }
            machine = Machine.of(**{**machine.columns, **labels})
        machines.append(machine)
    return coding, machines
