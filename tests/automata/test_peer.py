"""The same machines in OpenFst, by its Python interface.  (Never import pynini and hfst into one process.)"""

import math

import numpy as np
import pytest

from mercer.automata import EPSILON, Transducer, shortest_distance

from .oracle import random_machine

pynini = pytest.importorskip("pynini")
pytestmark = pytest.mark.native

# OpenFst keeps weights as float32 and sums until they change by less than 2^-10.
RTOL = 2e-3


def labelled(label):
    return 0 if label is EPSILON else ord(label)


def openfst(T):
    """The transducer there, with a first state for the initial weights."""
    fst = pynini.Fst(arc_type="log" if T.semiring.name == "log" else "standard")
    kind = "log" if T.semiring.name == "log" else "tropical"
    fst.add_states(T.n_states + 1)
    fst.set_start(T.n_states)
    for q, w in T.initial.items():
        fst.add_arc(T.n_states, pynini.Arc(0, 0, pynini.Weight(kind, w), q))
    for q, w in T.final.items():
        fst.set_final(q, pynini.Weight(kind, w))
    for arc in T.arcs:
        weight = pynini.Weight(kind, arc.weight)
        fst.add_arc(arc.source, pynini.Arc(labelled(arc.input), labelled(arc.output), weight, arc.target))
    return fst


def distances(fst):
    return [float(w) for w in pynini.shortestdistance(fst)]


@pytest.mark.parametrize("semiring", ["log", "tropical"])
def test_distances_of_states(semiring):
    rng = np.random.default_rng(1)
    for _ in range(100):
        m = random_machine(rng, n=6, arcs=10, ring="tropical", acyclic=False)
        arcs = [(*arc[:4], arc[4] + 2) for arc in m.arcs]  # in LOG: cycles of weight e^-2 and less
        T = Transducer(arcs, m.initial, m.final, semiring=semiring, n_states=m.n)
        theirs = distances(openfst(T))[: m.n]
        theirs += [math.inf] * (m.n - len(theirs))  # OpenFst leaves out states out of reach at the end
        np.testing.assert_allclose(shortest_distance(T), theirs, rtol=RTOL, atol=RTOL)


def total(fst):
    if fst.start() < 0:
        return math.inf
    return float(pynini.shortestdistance(fst, reverse=True)[fst.start()])


def machines(rng, semiring):
    for _ in range(2):
        m = random_machine(rng, ring="tropical")
        yield Transducer(m.arcs, m.initial, m.final, semiring=semiring, n_states=m.n)


@pytest.mark.parametrize("semiring", ["log", "tropical"])
def test_composition_and_total_weight(semiring):
    rng = np.random.default_rng(0)
    finite = 0
    for _ in range(100):
        A, B = machines(rng, semiring)
        ours = (A @ B).total_weight()
        peer = total(pynini.compose(openfst(A).arcsort("olabel"), openfst(B)))
        assert ours == pytest.approx(peer, rel=RTOL, abs=RTOL)
        finite += math.isfinite(ours)
        free = openfst(A).rmepsilon()
        assert A.remove_epsilons().total_weight() == pytest.approx(total(free), rel=RTOL, abs=RTOL)
        either = pynini.union(openfst(A), openfst(B))
        assert (A | B).total_weight() == pytest.approx(total(either), rel=RTOL, abs=RTOL)
        after = pynini.concat(openfst(A), openfst(B))
        assert (A + B).total_weight() == pytest.approx(total(after), rel=RTOL, abs=RTOL)
    assert finite > 50
