"""Many automata in a few arrays, and the weights of their intersections.

A kernel T o T^-1 weighs x and y by the strings that T writes for both: the automaton of what T writes for x
is made once per point, and pairs of these automata are intersected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _native
from ..caches import Cache
from ..domains import EncodedSequences, Sequences, Vocabulary
from ..engine.runs import checkpoint
from ..engine.threads import num_threads
from ..errors import DivergenceError, ParameterError
from .coding import Coding
from .literals import string
from .machine import Machine
from .operations import common_coding, n_way
from .semirings import Semiring
from .strings import all_pairs
from .sums import checked
from .transducer import Transducer

__all__ = ["Automata", "intersect_weights", "output_automata", "pack"]


@dataclass(frozen=True, eq=False)
class _Pool:
    """Automata without epsilon and classes, one after the other, as native/automata/intersect.hpp has them.

    States of machines without cycles are in topological order; arcs of a state are sorted by label; states
    with the same past or the same future have been made one.
    """

    semiring: Semiring
    alphabet: Vocabulary  # the symbol of label number i + 1
    arrays: tuple[np.ndarray, ...]  # states, starts, target, label, weight, initial, final, acyclic
    recoded: Cache = field(default_factory=Cache, repr=False)

    def coded_like(self, other: _Pool) -> _Pool:
        """The same automata in the numbers of another pool's labels; remembered, for tiles ask again."""
        if other.alphabet is self.alphabet:
            return self
        return self.recoded.of(other.alphabet, self._recode)

    def _recode(self, alphabet: Vocabulary) -> _Pool:
        table = alphabet.numbers_of(self.alphabet) + np.int32(1)
        states, starts, target, label, weight, initial, final, acyclic = self.arrays
        label = table[label - 1]
        state = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((target, label, state))
        arcs = (target[order], label[order], weight[order])
        return _Pool(self.semiring, self.alphabet, (states, starts, *arcs, initial, final, acyclic))


@dataclass(frozen=True, eq=False)
class _Listed:
    """Automata of a semiring that is not built in, as a list."""

    semiring: Semiring
    automata: list[Transducer]


@dataclass(frozen=True, eq=False)
class Automata:
    """A sequence of automata for :func:`intersect_weights`; see :func:`output_automata` and :func:`pack`."""

    pool: _Pool | _Listed
    index: np.ndarray

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Transducer]:
        return (self._automaton(i) for i in self.index.tolist())

    @property
    def semiring(self) -> Semiring:
        """The semiring of all of them."""
        return self.pool.semiring

    @property
    def n_arcs(self) -> int:
        """Number of arcs of all of them."""
        if isinstance(self.pool, _Listed):
            return sum(T.n_arcs for T in self)
        states, starts = self.pool.arrays[:2]
        return int((starts[states[self.index + 1]] - starts[states[self.index]]).sum())

    @property
    def acyclic(self) -> np.ndarray:
        """Which of them have no cycle."""
        if isinstance(self.pool, _Listed):
            return np.array([T.is_acyclic for T in self], dtype=bool)
        found: np.ndarray = self.pool.arrays[7][self.index] != 0
        return found

    def take(self, index: slice | np.ndarray) -> Automata:
        """Select automata; the arrays are shared."""
        return Automata(self.pool, self.index[index])

    def _automaton(self, i: int) -> Transducer:
        if isinstance(self.pool, _Listed):
            return self.pool.automata[i]
        states, starts, target, label, weight, initial, final, _ = self.pool.arrays
        first, last = states[i], states[i + 1]
        arcs = slice(starts[first], starts[last])
        machine = Machine.of(
            np.repeat(np.arange(last - first), np.diff(starts[first : last + 1])),
            target[arcs],
            label[arcs],
            label[arcs],
            weight[arcs],
            initial[first:last],
            final[first:last],
        )
        return Transducer.from_machine(self.semiring, Coding(self.pool.alphabet, ()), machine)


def output_automata(T: Transducer, X: Any) -> Automata:
    """For each string x the automaton of what T writes for it: A_x(z) = T(x, z).

    Composed with x, projected on the output, freed of epsilon, and with states of equal past or future made
    one; natively, on several threads.

    Parameters
    ----------
    T : Transducer
        On its output tape classes may stand only where they copy the input.
    X : sequence of strings, or EncodedSequences
        The strings.

    Raises
    ------
    DivergenceError
        T writes infinitely many symbols, or passes infinitely often through a cycle that reads and writes
        nothing.

    Examples
    --------
    >>> from mercer.automata import ANY, EPSILON, Transducer, intersect_weights, output_automata
    >>> loops = [(q, q, ANY, EPSILON, 1.0) for q in (0, 1)]
    >>> letters = Transducer([*loops, (0, 1, ANY, ANY, 1.0)], {0: 1.0}, {1: 1.0})
    >>> A = output_automata(letters, ["banana", "band"])
    >>> [automaton("a") for automaton in A]
    [3.0, 1.0]
    >>> intersect_weights(A)
    array([[14.,  6.],
           [ 6.,  4.]])
    """
    if ((T.machine.output < 0) & (T.machine.input >= 0)).any():
        raise DivergenceError(
            "output_automata: T writes any symbol, whatever it reads: infinitely many strings. Name the "
            'symbols there are: T.over("abc").'
        )
    data: EncodedSequences = Sequences().validate(X)
    if not T.semiring.native:
        composed = (n_way(string(x, semiring=T.semiring), T) for x in data)
        return _listed(T.semiring, [C.project("output").remove_epsilons().trim() for C in composed])
    x = T.coding.encode(data, data, "X")
    arrays = _native.automata_outputs(
        T.machine.arrays, T.coding.exclusions, T.semiring.code, x, num_threads(), checkpoint
    )
    # As Coding.encode numbers them: first the symbols of T, then the others in the order of the data.
    alphabet = Vocabulary([*T.coding.symbols.elements, *data.alphabet.elements])
    return _automata(T.semiring, alphabet, checked(arrays, "output_automata"))


def pack(automata: Sequence[Transducer]) -> Automata:
    """Automata made ready for :func:`intersect_weights`."""
    if not automata:
        raise ParameterError("pack: at least one automaton is needed. Got none.")
    coding, machines = common_coding(automata)
    for i, (T, machine) in enumerate(zip(automata, machines, strict=True)):
        if not T.is_automaton:
            raise ParameterError(
                f"pack: automata[{i}] must have equal labels on both tapes; project it on one."
            )
        if (machine.input < 0).any():
            raise ParameterError(
                f"pack: automata[{i}] must name its symbols. Got ANY or AnyExcept; spell them out: "
                'T.over("abc").'
            )
    ring = automata[0].semiring
    if not ring.native:
        return _listed(ring, [T.remove_epsilons().trim() for T in automata])
    arrays = _native.automata_prepare([m.arrays for m in machines], ring.code, num_threads(), checkpoint)
    return _automata(ring, coding.symbols, checked(arrays, "pack"))


def intersect_weights(A: Automata, B: Automata | None = None, *, elementwise: bool = False) -> np.ndarray:
    r"""Total weights of all intersections: the matrix of :math:`\bigoplus_z A_i(z) \otimes B_j(z)`.

    Two automata cost at most the product of their numbers of arcs; pairs are spread over threads.

    Parameters
    ----------
    A, B : Automata
        Of one semiring; ``B=None`` means ``B = A``, where half of the pairs are computed.
    elementwise : bool, default=False
        Intersect only automata of equal position, and return a vector.
    """
    other = A if B is None else B
    if other.semiring != A.semiring:
        raise ParameterError(
            f"intersect_weights: A and B must have one semiring. Got {A.semiring.name} and "
            f"{other.semiring.name}."
        )
    rows, cols = all_pairs(len(A), len(other), elementwise)
    mirrored = B is None and not elementwise
    if mirrored:
        rows, cols = np.tril_indices(len(A))
    if isinstance(A.pool, _Listed) or isinstance(other.pool, _Listed):
        first, second = list(A), list(other)
        values = (n_way(first[i], second[j]).total_weight() for i, j in zip(rows, cols, strict=True))
        return _matrix(A.semiring.array(values), rows, cols, len(A), len(other), elementwise, mirrored)
    out = np.empty(len(rows))
    pools = A.pool.arrays, other.pool.coded_like(A.pool).arrays
    pairs = np.ascontiguousarray(A.index[rows]), np.ascontiguousarray(other.index[cols])
    code, threads = A.semiring.code, num_threads()
    checked(
        _native.automata_intersect_weights(*pools, code, *pairs, out, threads, checkpoint),
        "intersect_weights",
    )
    return _matrix(out, rows, cols, len(A), len(other), elementwise, mirrored)


def _matrix(
    values: np.ndarray, rows: np.ndarray, cols: np.ndarray, n: int, m: int, elementwise: bool, mirrored: bool
) -> np.ndarray:
    if elementwise:
        return values
    if not mirrored:
        return values.reshape(n, m)
    matrix = np.empty((n, n), dtype=values.dtype)
    matrix[rows, cols] = matrix[cols, rows] = values
    return matrix


def _listed(semiring: Semiring, automata: list[Transducer]) -> Automata:
    return Automata(_Listed(semiring, automata), np.arange(len(automata)))


def _automata(semiring: Semiring, alphabet: Vocabulary, arrays: tuple[np.ndarray, ...]) -> Automata:
    return Automata(_Pool(semiring, alphabet, arrays), np.arange(len(arrays[0]) - 1))
