"""Cases of rational kernels, against compositions in pynini (OpenFst)."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from mercer.automata import counting, from_regex
from mercer.kernels import Rational

from . import openfst
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
    """The pairs, and the bigram transducer in OpenFst's log semiring."""
    if find_spec("pynini") is None:
        raise Skipped("pynini is not installed")
    return pairs(), openfst.bigrams(LETTERS)


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


def peer(data: Any, determinize: bool = False) -> np.ndarray:
    strings, machine = data
    weights = [openfst.common_weight(machine, x, y, determinize=determinize) for x, y in strings]
    return np.exp(-np.array(weights))


def tuned_peer(data: Any) -> np.ndarray:
    return peer(data, determinize=True)


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
