"""Cases of rational kernels, against compositions in pynini (OpenFst)."""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from mercer.automata import counting, from_regex
from mercer.kernels import Rational

from .harness import Case, Skipped

PAIRS, LENGTH = 100, 200

LETTERS = "ACGT"


@cache
def kernel() -> Rational:
    return Rational.pds(counting(from_regex(".{2}")))


def pairs() -> list[tuple[str, str]]:
    """Random strings over four letters, two by two."""
    rng = np.random.default_rng(0)
    drawn = rng.choice(list(LETTERS), (PAIRS, 2, LENGTH))
    return [("".join(x), "".join(y)) for x, y in drawn]


def with_peer() -> Any:
    """The pairs, and the bigram transducer in OpenFst's log semiring; symbols are bytes there."""
    if find_spec("pynini") is None:
        raise Skipped("pynini is not installed")
    import pynini

    skip = pynini.Fst("log")
    for _ in range(3):
        skip.add_state()
    skip.set_start(0)
    skip.set_final(2)
    one = pynini.Weight.one("log")
    for letter in map(ord, LETTERS):
        for state in (0, 2):
            skip.add_arc(state, pynini.Arc(letter, 0, one, state))
        for state in (0, 1):
            skip.add_arc(state, pynini.Arc(letter, letter, one, state + 1))
    skip.arcsort("ilabel")
    return pairs(), skip


def ours_by_pair(data: Any) -> np.ndarray:
    """One block per pair, as somebody would who asks for a value now and then."""
    k = kernel()
    return np.array([k.block([x], [y])[0, 0] for x, y in data[0]])


def ours_by_definition(data: Any) -> np.ndarray:
    """The values k(x, y), in Python."""
    k = kernel()
    return np.array([k(x, y) for x, y in data[0]])


def ours_at_once(data: Any) -> np.ndarray:
    """The block of all first with all second strings, a hundred times as many values as asked for."""
    k = kernel()
    return k.block([x for x, _ in data[0]], [y for _, y in data[0]]).diagonal()


def peer(data: Any, smaller: bool = False) -> np.ndarray:
    """X o T and Y o T without epsilons, and their composition, whose shortest distance is the sum."""
    import pynini

    strings, T = data
    values = []
    for pair in strings:
        written = [pynini.compose(pynini.accep(s, arc_type="log"), T).project("output") for s in pair]
        x, y = (pynini.determinize(w.rmepsilon()) if smaller else w.rmepsilon() for w in written)
        both = pynini.compose(x.arcsort("olabel"), y)
        total = pynini.shortestdistance(both, reverse=True)[both.start()]
        values.append(math.exp(-float(total)))
    return np.array(values)


def tuned_peer(data: Any) -> np.ndarray:
    """The same with deterministic machines, which are much smaller here."""
    return peer(data, smaller=True)


def agree(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return bool(np.allclose(ours, theirs, rtol=1e-4))  # OpenFst's log weights are in single precision


def case(name: str, what: str, ours: Any, theirs: Any, target: float | None) -> Case:
    peers = {peer: "compose", tuned_peer: "determinize, compose"}
    return Case(
        f"rational-{name}",
        f"bigram Rational, {PAIRS} pairs of length {LENGTH}, {what}",
        f"pynini {peers[theirs]}, shortestdistance (log)",
        with_peer,
        ours,
        theirs,
        agree,
        repeats=5,
        target=target,
    )


CASES = [
    case("pairs", "a block for each pair", ours_by_pair, peer, 5.0),
    case("pairs-tuned", "a block for each pair", ours_by_pair, tuned_peer, None),
    case("values", "k(x, y) in Python", ours_by_definition, peer, None),
    case("block-tuned", "one block, 10,000 values", ours_at_once, tuned_peer, 5.0),
]
