"""Samples of the kernels from probability models."""

from __future__ import annotations

import numpy as np

from mercer.kernels import (
    Fisher,
    FisherVector,
    Marginalized,
    MutualInformation,
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
    *(Case(Marginalized(HIDDEN, order=order), STRINGS) for order in (1, 2)),
]
