"""Samples of the kernels from probability models."""

from __future__ import annotations

import numpy as np

from mercer.kernels import (
    Fisher,
    FisherVector,
    Marginalized,
    MutualInformation,
    ProbabilityProduct,
    SampledMutualInformation,
    TangentPosterior,
)
from mercer.models import HMM, Dirichlet, MarkovChain, Mixture, Multinomial, Normal, NormalMean

from ..cases import Case

__all__ = ["CASES"]

COUNTS = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [3, 1, 2], [0, 0, 7], [20, 5, 1]])
VECTORS = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, -1.0], [3.0, 0.5], [1e-6, 2.0], [-2.0, 1.0]])
STRINGS = ["", "a", "ab", "ab", "bbba", "aabbab"]
SETS = [
    np.array([[0.0]]),
    np.array([[1.0], [2.0]]),
    np.array([[2.0], [1.0]]),
    np.array([[-1.0], [0.5], [3.0]]),
    np.array([[0.0], [0.0]]),
    np.array([[5.0]]),
]

DICE, COIN = Multinomial([0.5, 0.2, 0.3]), Multinomial([0.2, 0.2, 0.6])
CHAIN = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], "ab")
HIDDEN = HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], "ab")
MIXTURE = Mixture([0.4, 0.6], [Normal([0.0], [[1.0]]), Normal([2.0], [[0.5]])])

NORMALS = [
    Normal([0.0, 1.0], [[1.0, 0.3], [0.3, 2.0]]),
    Normal([0.0, 1.0], [[1.0, 0.3], [0.3, 2.0]]),
    Normal([0.0, 0.0], np.eye(2)),
    Normal([30.0, -10.0], 1e-3 * np.eye(2)),
    Normal([1.0, -1.0], 100 * np.eye(2)),
    Normal([1e-6, 0.0], np.diag([1e-2, 1e2])),
]
MIXTURES = [
    MIXTURE,
    MIXTURE,
    Mixture([1.0, 0.0], MIXTURE.normals),
    Mixture([1.0], [Normal([0.0], [[1.0]])]),
    Mixture([0.2, 0.3, 0.5], [Normal([m], [[0.1]]) for m in (-5.0, 0.0, 5.0)]),
    Mixture([0.5, 0.5], [Normal([m], [[1e-3]]) for m in (50.0, 51.0)]),
]
CHAINS = [
    CHAIN,
    CHAIN,
    MarkovChain([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], "ab"),
    MarkovChain([0.0, 1.0], [[0.0, 1.0], [1.0, 0.0]], "ba"),
    MarkovChain([0.2, 0.3, 0.5], [[0.2, 0.3, 0.5]] * 3, "abc"),
    MarkovChain([1.0], [[1.0]], "z"),
]
HIDDENS = [
    HIDDEN,
    HIDDEN,
    HMM([1.0], [[1.0]], [[0.5, 0.5]], "ab"),
    HMM([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], np.eye(2), "ab"),
    HMM([0.2, 0.3, 0.5], [[0.2, 0.3, 0.5]] * 3, [[0.1, 0.9, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], "bac"),
    HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[1.0], [1.0]], "z"),
]
VECTOR_HMMS = [
    HMM(h.start, h.transitions, [Normal([s * i], [[1.0 + s]]) for s in range(len(h.start))])
    for i, h in enumerate(HIDDENS)
]

CASES: list[Case] = [
    *(Case(Fisher(DICE, parametrization=p), COUNTS) for p in ("softmax", "tangent", "raw")),
    *(Case(Fisher(DICE, information=i), COUNTS) for i in ("diagonal", "identity")),
    Case(Fisher(Normal([0.0, 1.0], [[1.0, 0.3], [0.3, 2.0]])), VECTORS),
    *(Case(Fisher(model, information="identity"), STRINGS) for model in (CHAIN, HIDDEN)),
    Case(Fisher.from_data(HIDDEN, STRINGS), STRINGS),
    Case(TangentPosterior(DICE, COIN), COUNTS),
    Case(TangentPosterior(CHAIN, HIDDEN, log_odds=True), STRINGS),
    *(Case(FisherVector(MIXTURE, improved=improved), SETS) for improved in (False, True)),
    Case(MutualInformation(Dirichlet([1.0, 0.5, 2.0])), COUNTS),
    Case(MutualInformation(NormalMean([0.0, 1.0], [[1.0, 0.3], [0.3, 2.0]], np.eye(2))), VECTORS),
    Case(SampledMutualInformation([DICE, COIN]), COUNTS),
    *(Case(ProbabilityProduct(power), NORMALS) for power in (0.3, 0.5, 1.0)),
    Case(ProbabilityProduct(0.7), [DICE, COIN, DICE, *(Multinomial(p) for p in np.eye(3))]),
    Case(ProbabilityProduct(1.0), MIXTURES),
    *(Case(ProbabilityProduct(power, length=[0.1, 0.4, 0.0, 0.5]), CHAINS) for power in (0.5, 1.0)),
    *(Case(ProbabilityProduct(1.0, length=length), HIDDENS) for length in (0, 5)),
    Case(ProbabilityProduct(1.0, length=4), VECTOR_HMMS),
    *(Case(Marginalized(HIDDEN, order=order), STRINGS) for order in (1, 2)),
]
