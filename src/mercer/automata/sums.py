"""Sums over all paths: composition, total weight, epsilon removal.

Built-in semirings are computed by the native core, others by :mod:`generic`.

Machines in, machines or numbers out; what cannot be computed is an error that says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from ..domains import Vocabulary
from ..engine.runs import checkpoint
from ..errors import DivergenceError, ParameterError
from . import generic
from .coding import Coding
from .labels import AnyExcept
from .machine import Machine
from .semirings import Semiring, Weight

__all__ = [
    "checked",
    "compose",
    "infinite_classes",
    "is_acyclic",
    "over",
    "refuse_classes",
    "remove_epsilons",
    "require_commutative",
    "total_weight",
    "trim",
]

#: States that the message of an error lists; there may be thousands.
_MOST_NAMED = 10


def compose(
    machines: Sequence[Machine], coding: Coding, semiring: Semiring, connect: bool
) -> tuple[Coding, Machine]:
    """Machines one after the other, the output of each being the input of the next."""
    if not semiring.native:
        require_commutative(semiring, "compose")
        if len(machines) > 2 and not generic.are_numbered(machines):
            coding, first = compose(machines[:-1], coding, semiring, connect)
            return compose([first, machines[-1]], coding, semiring, connect)
        found = generic.compose(machines, coding.exclusions, semiring, connect)
    else:
        arrays = [m.arrays for m in machines]
        found = _native.automata_compose(arrays, coding.exclusions, semiring.code, connect, checkpoint)
    result, excluded = checked(found, "compose")
    new = [AnyExcept(map(coding.label, codes)) for codes in excluded[len(coding.classes) :]]
    if new:
        coding = Coding(coding.symbols, coding.classes + tuple(new))
    return coding, Machine(*result)


def require_commutative(semiring: Semiring, caller: str) -> None:
    """Raise if the operation would reorder products that do not commute."""
    if not semiring.commutative:
        raise ParameterError(
            f"{caller}: the product of the semiring must be commutative, for the weights of a path are "
            f"reordered. Got {semiring!r}."
        )


def trim(machine: Machine, semiring: Semiring) -> Machine:
    """Leave out states and arcs that lie on no accepting path, and arcs of weight zero."""
    if not semiring.native:
        return generic.trim(machine, semiring)
    return Machine(*_native.automata_trim(machine.arrays, semiring.zero))


def is_acyclic(machine: Machine, semiring: Semiring) -> bool:
    """Whether accepting paths never come back to a state."""
    if not semiring.native:
        return generic.is_acyclic(machine, semiring)
    return _native.automata_is_acyclic(machine.arrays, semiring.code)


def remove_epsilons(machine: Machine, semiring: Semiring) -> Machine:
    """Do without arcs that neither read nor write."""
    if not ((machine.input == 0) & (machine.output == 0)).any():
        return machine
    if not semiring.native:
        return generic.remove_epsilons(machine, semiring)
    found = _native.automata_remove_epsilons(machine.arrays, semiring.code, checkpoint)
    return Machine(*checked(found, "remove_epsilons"))


def total_weight(machine: Machine, semiring: Semiring) -> Weight:
    """Sum of the weights of all accepting paths."""
    refuse_classes(machine, semiring, "total_weight")
    if not semiring.native:
        return generic.total_weight(machine, semiring)
    found = _native.automata_total_weight(machine.arrays, semiring.code, checkpoint)
    return semiring.value(checked(found, "total_weight"))


def refuse_classes(machine: Machine, semiring: Semiring, caller: str) -> None:
    """Raise if accepting paths pass through classes, and each of their symbols would count."""
    if semiring.idempotent or not ((machine.input < 0) | (machine.output < 0)).any():
        return
    used = trim(machine, semiring)
    if ((used.input < 0) | (used.output < 0)).any():
        raise infinite_classes(caller)


def checked(found: Any, caller: str) -> Any:
    """What the native core has found, or the error that it reports."""
    if not (isinstance(found, tuple) and found and isinstance(found[0], str)):
        return found
    if found[0] == "classes":
        raise infinite_classes(caller)
    if found[0] == "component":
        raise ParameterError(
            f"{caller}: {found[1]} states lie on cycles through each other. Equations are solved for at most "
            f"{_native.LARGEST_COMPONENT}; trim the machine, or cut it into smaller ones."
        )
    states = ", ".join(map(str, found[1][:_MOST_NAMED])) + (", ..." if len(found[1]) > _MOST_NAMED else "")
    raise DivergenceError(
        f"{caller}: the sum over all paths diverges, or is too close to that, on the cycles through the "
        f"states {states}. Rounds along them must weigh less than one in all, in absolute value (in the "
        "tropical semiring: no cycle may have a negative cost)."
    )


def infinite_classes(caller: str) -> DivergenceError:
    """The error of a sum over the symbols of a class."""
    return DivergenceError(
        f"{caller}: the sum runs over every symbol of ANY or AnyExcept, which are infinitely many. Name the "
        'symbols there are: T.over("abc").'
    )


def over(machine: Machine, coding: Coding, symbols: Sequence[Any]) -> tuple[Coding, Machine]:
    """Replace each arc with a class by one arc for each of its symbols among the given ones."""
    known = dict.fromkeys((*coding.symbols.index, *symbols))
    spelled = Coding(Vocabulary(known), ())
    codes = [spelled.code(s) for s in dict.fromkeys(symbols)]
    columns = machine.columns
    ends = {name: columns.pop(name) for name in ("initial", "final")}
    plain = (machine.input >= 0) & (machine.output >= 0)
    parts = [{name: column[plain] for name, column in columns.items()}]
    for number, label in enumerate(coding.classes):
        members = np.array([c for c in codes if spelled.label(c) in label], dtype=np.int32)
        here = np.flatnonzero((machine.input == -1 - number) | (machine.output == -1 - number))
        arcs = {name: np.repeat(column[here], len(members)) for name, column in columns.items()}
        symbol = np.tile(members, len(here))
        for tape in ("input", "output"):
            arcs[tape] = np.where(arcs[tape] < 0, symbol, arcs[tape])
        parts.append(arcs)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in columns}
    return spelled, Machine.of(**joined, **ends)
