"""Weighted transducers against OpenFst, by its Python interface pynini."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from mercer.automata import ANY, EPSILON, Builder, Transducer, compose, intersect_weights, output_automata

from . import openfst
from .harness import Case

# -- composition ------------------------------------------------------------------------------------
STATES, ARCS_PER_STATE, LETTERS, ENDS = 2000, 8, 40, 10


def random_arcs(rng: np.random.Generator) -> list[tuple[int, int, int, int, float]]:
    shape = (STATES, ARCS_PER_STATE)
    targets = rng.integers(STATES, size=shape)
    inputs, outputs = rng.integers(1, LETTERS + 1, size=(2, *shape))
    weights = rng.random(shape)
    return [
        (q, int(targets[q, i]), int(inputs[q, i]), int(outputs[q, i]), float(weights[q, i]))
        for q in range(STATES)
        for i in range(ARCS_PER_STATE)
    ]


def machines() -> dict[str, Any]:
    """Two random machines with weights in the log semiring, built by both libraries."""
    import pynini

    rng = np.random.default_rng(2)
    data: dict[str, Any] = {"ours": [], "peer": []}
    ends = range(STATES - ENDS, STATES)
    for _ in range(2):
        arcs = random_arcs(rng)
        data["ours"].append(Transducer(arcs, {0: 0.0}, dict.fromkeys(ends, 0.0), semiring="log"))
        peer = pynini.Fst(arc_type="log")
        peer.add_states(STATES)
        peer.set_start(0)
        for q in ends:
            peer.set_final(q)
        for source, target, read, written, weight in arcs:
            peer.add_arc(source, pynini.Arc(read, written, pynini.Weight("log", weight), target))
        data["peer"].append(peer)
    data["peer"][0].arcsort("olabel")
    data["peer"][1].arcsort("ilabel")
    return data


def compose_ours(data: dict[str, Any]) -> Transducer:
    return compose(*data["ours"])


def compose_peer(data: dict[str, Any]) -> Any:
    import pynini

    return pynini.compose(*data["peer"])


def same_size(ours: Transducer, peer: Any) -> bool:
    arcs = sum(peer.num_arcs(q) for q in peer.states())
    return ours.n_states == peer.num_states() > 0 and ours.n_arcs == arcs


# -- bigrams ----------------------------------------------------------------------------------------
PAIRS, LENGTH, ALPHABET = 100, 200, "abcdefgh"


def bigrams() -> Transducer:
    """Writes every two neighbouring symbols of what it reads."""
    b = Builder("log")
    before, within, after = b.state(initial=0.0), b.state(), b.state(final=0.0)
    for q in (before, after):
        b.arc(q, q, ANY, EPSILON)
    b.arc(before, within, ANY)
    b.arc(within, after, ANY)
    return b.build()


def pairs() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list(ALPHABET), LENGTH)) for _ in range(2 * PAIRS)]
    return {"x": texts[:PAIRS], "y": texts[PAIRS:], "ours": bigrams(), "peer": openfst.bigrams(ALPHABET)}


def values_ours(data: dict[str, Any]) -> np.ndarray:
    first, second = (output_automata(data["ours"], data[side]) for side in "xy")
    return intersect_weights(first, second, elementwise=True)


def values_peer(data: dict[str, Any]) -> np.ndarray:
    both = zip(data["x"], data["y"], strict=True)
    return np.array([openfst.common_weight(data["peer"], x, y) for x, y in both])


CASES: list[Case] = []

if find_spec("pynini"):
    CASES += [
        Case(
            "compose",
            f"composition of two random machines of {STATES:,} states and {STATES * ARCS_PER_STATE:,} arcs",
            "`pynini.compose`",
            machines,
            compose_ours,
            compose_peer,
            same_size,
            repeats=3,
            target=1,
        ),
        Case(
            "bigrams",
            f"bigram values of {PAIRS} random pairs of length {LENGTH}, log semiring",
            "`pynini` composition and shortest distance",
            pairs,
            values_ours,
            values_peer,
            lambda ours, peer: np.allclose(ours, peer, rtol=1e-5),  # OpenFst keeps float32
            target=5,
        ),
    ]
