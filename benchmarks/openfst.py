"""The bigram kernel as somebody would write it with pynini (OpenFst): the peer of several cases."""

from __future__ import annotations

from typing import Any


def bigrams(letters: str) -> Any:
    """The machine that writes every two neighbouring symbols of what it reads; symbols are bytes."""
    import pynini

    fst = pynini.Fst(arc_type="log")
    fst.add_states(3)
    fst.set_start(0)
    fst.set_final(2)
    one = pynini.Weight.one("log")
    for letter in map(ord, letters):
        for q in (0, 2):
            fst.add_arc(q, pynini.Arc(letter, 0, one, q))
        for q in (0, 1):
            fst.add_arc(q, pynini.Arc(letter, letter, one, q + 1))
    return fst.arcsort("ilabel")


def common_weight(machine: Any, x: str, y: str, *, determinize: bool = False) -> float:
    """Both strings through the machine, the two results composed, and the sum over all paths, as -log.

    Epsilons are removed in between: otherwise this takes a hundred times as long.  Deterministic machines are
    much smaller here, for who thinks of it.
    """
    import pynini

    def written(text: str) -> Any:
        outputs = pynini.compose(pynini.accep(text, arc_type="log"), machine).project("output").rmepsilon()
        return pynini.determinize(outputs) if determinize else outputs

    both = pynini.compose(written(x).arcsort("olabel"), written(y))
    return float(pynini.shortestdistance(both, reverse=True)[both.start()])
