"""Which register each value of a program lives in."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native

__all__ = ["Plan", "Shape", "allocate", "second"]

#: A step without its numbers: operation, values ``a`` and ``b``, how many parameters.
Shape: TypeAlias = tuple[int, int, int, int]

_CHECKS = frozenset((_native.WITHIN, _native.NONZERO))
_TWO_VALUES = frozenset((_native.ADD, _native.MULTIPLY, _native.DIVIDE))


class Plan(NamedTuple):
    """The steps of a program as the native core reads them."""

    steps: npt.NDArray[np.int64]
    registers: int
    needed: tuple[int, ...]  # values that the result depends on, in order
    opaque: tuple[int, ...]  # opaque blocks, as the steps count them


def second(shape: tuple[int, int, int, Any]) -> int:
    """The second value that a step takes, or -1."""
    return shape[2] if shape[0] in _TWO_VALUES else -1


@lru_cache(maxsize=256)
def allocate(shapes: tuple[Shape, ...], result: int) -> Plan:
    """Give every value a register, free again after its last use; the result gets register 0.

    Programs of the same shape are planned once, whatever their parameters and points.
    """
    needed = _needed(shapes, result)
    opaque = tuple(shapes[v][2] for v in needed if shapes[v][0] == _native.OPAQUE)
    root: dict[int, int] = {}
    for v in needed:  # a check hands on the value that it has looked at
        root[v] = root[shapes[v][1]] if shapes[v][0] in _CHECKS else v
    last: dict[int, int] = {root[result]: len(shapes)}
    for v in needed:
        for operand in (shapes[v][1], second(shapes[v])):
            if operand >= 0:
                last[root[operand]] = max(v, last.get(root[operand], -1))
    register: dict[int, int] = {}
    free: list[int] = []
    steps: list[tuple[int, ...]] = []
    registers, first = 0, 0
    for v in needed:
        op, left, right, count = shapes[v]
        other = second(shapes[v])
        a = register[root[left]] if left >= 0 else 0
        b = register[root[other]] if other >= 0 else right
        ends = {root[o] for o in (left, other) if o >= 0 and last[root[o]] == v}
        free += sorted((register[o] for o in ends), reverse=True)
        if root[v] == v:
            if not free:
                free.append(registers)
                registers += 1
            register[v] = free.pop()
        target = register[root[v]]
        if op == _native.CONSTANT:
            a = target
        if op == _native.OPAQUE:
            b = opaque.index(right)
        steps.append((op, target, a, b, first, count))
        first += count
    return Plan(_with_result_first(steps, register[root[result]]), registers, needed, opaque)


def _needed(shapes: tuple[Shape, ...], result: int) -> tuple[int, ...]:
    """Values that a value depends on, in order."""
    needed, stack = set(), [result]
    while stack:
        value = stack.pop()
        if value not in needed:
            needed.add(value)
            stack += [v for v in (shapes[value][1], second(shapes[value])) if v >= 0]
    return tuple(sorted(needed))


def _with_result_first(steps: list[tuple[int, ...]], home: int) -> npt.NDArray[np.int64]:
    """Exchange register 0 and the one of the result."""
    swap = {home: 0, 0: home}
    rows = []
    for op, target, a, b, first, count in steps:
        b = swap.get(b, b) if op in _TWO_VALUES else b
        rows.append((op, swap.get(target, target), swap.get(a, a), b, first, count))
    array = np.array(rows, dtype=np.int64)
    array.flags.writeable = False
    return array
