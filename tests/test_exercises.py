"""Exercises 6.2, 6.4 - 6.10, 6.15 and 6.16 of the foundations text, and the errata: the verdicts.

Each kernel is also compared with the formula as it stands in the exercise.
"""

import math

import numpy as np
import pytest

from mercer.certificate import Property, Verdict
from mercer.kernels import (
    BrownianBridge,
    Cosine,
    CosineDifference,
    CosineOfSquares,
    DerivedSubsets,
    Epanechnikov,
    EventCovariance,
    Exponential,
    ExponentialSum,
    Gaussian,
    InformationDiffusion,
    Intersection,
    InverseRoot,
    InverseSum,
    Linear,
    LogSum,
    MinExponential,
    PowerDistance,
    PowerExponential,
    RationalQuadratic,
    Sigmoid,
    SinSquared,
    SymmetricDifference,
    WhiteNoise,
)

V, W = [0.3, -0.2], [-0.1, 0.4]
COIN = {"hh": 0.25, "ht": 0.25, "th": 0.25, "tt": 0.25}
POSITIVE, NEGATIVE, REFUTED = "positive", "negative", "refuted"

EXERCISES = [
    ("6.2a", CosineDifference(), 0.4, 1.1, math.cos(0.7), POSITIVE),
    ("6.2b", CosineOfSquares(1), [0.4], [1.1], math.cos(0.4**2 - 1.1**2), POSITIVE),
    ("6.2c", CosineOfSquares(3), V, W, math.cos(0.09 - 0.01) ** 3 + math.cos(0.04 - 0.16) ** 3, POSITIVE),
    ("6.2d", InverseSum(), 0.4, 1.1, 1 / 1.5, POSITIVE),
    ("6.2e", Cosine(), V, W, -0.11 / math.sqrt(0.13 * 0.17), POSITIVE),
    ("6.2f", SinSquared().schoenberg(2.5), 0.4, 1.1, math.exp(-2.5 * math.sin(0.7) ** 2), POSITIVE),
    ("6.2g", Exponential(2.0), V, W, math.exp(-math.sqrt(0.52) / 2), POSITIVE),
    ("6.2h", BrownianBridge(), 0.4, 0.7, 0.4 - 0.28, POSITIVE),
    ("6.2i", InverseRoot(), V, W, 1 / math.sqrt(1.11), POSITIVE),
    ("6.2j", RationalQuadratic(2.0), V, W, 1 / (1 + 0.52 / 4), POSITIVE),
    ("6.2k", MinExponential(2.0), V, W, math.exp((0.1 + 0.2) / 4), POSITIVE),
    ("6.4", SymmetricDifference(0.5), {1, 2, 3}, {3, 4}, math.exp(-1.5), POSITIVE),
    ("6.5", DerivedSubsets(Gaussian(1.0)), [(0.0,), (1.0,)], [(1.0,)], 1 + math.exp(-0.5), POSITIVE),
    ("6.6a", SinSquared(), 0.4, 1.1, math.sin(0.7) ** 2, NEGATIVE),
    ("6.6b", LogSum(), 0.4, 1.1, math.log(1.5), NEGATIVE),
    ("6.7", PowerDistance(1.0), [0.4], [1.1], 0.7, NEGATIVE),
    ("6.8", PowerDistance(1.5), V, W, 0.52**0.75, NEGATIVE),
    ("6.9", 1 - Linear(), V, W, 1.11, NEGATIVE),
    ("6.10", ExponentialSum(0.5), 0.4, 1.1, math.exp(-math.sqrt(1.5)), POSITIVE),
    ("6.10", ExponentialSum(1.0), 0.4, 1.1, math.exp(-1.5), POSITIVE),
    ("6.10", ExponentialSum(1.2), 0.4, 1.1, math.exp(-(1.5**1.2)), REFUTED),
    ("6.10", ExponentialSum(2.0), 0.4, 1.1, math.exp(-2.25), REFUTED),
    ("6.15", Intersection(0.5), V, W, math.sqrt(0.1) + math.sqrt(0.2), POSITIVE),
    ("6.15", Intersection(2.0), V, W, 0.01 + 0.04, POSITIVE),
    ("6.16", EventCovariance(COIN), {"hh", "ht"}, {"hh"}, 0.25 - 0.5 * 0.25, POSITIVE),
    ("6.18b", PowerExponential(2.0), V, W, math.exp(-0.52), POSITIVE),
    ("6.18b", PowerExponential(0.7), V, W, math.exp(-(0.52**0.35)), POSITIVE),
    ("6.18b", PowerExponential(2.5), V, W, math.exp(-(0.52**1.25)), REFUTED),
    ("6.18c", Sigmoid(1.0, 0.0), V, W, math.tanh(-0.11), REFUTED),
    ("6.18c", Sigmoid(0.5, -1.0), V, W, math.tanh(-0.055 - 1), REFUTED),
    ("6.18c", Sigmoid(-1.0, 2.0), V, W, math.tanh(0.11 + 2), REFUTED),
    ("S 2.1", Epanechnikov(1.0), [0.0], [0.5], 0.75 * 0.75, REFUTED),
    (
        "S (9)",
        InformationDiffusion(20.0),
        [1.0, 0, 0],
        [0.5, 0.5, 0],
        math.exp(-((math.pi / 4) ** 2) / 20),
        REFUTED,
    ),
    ("S (9)", PowerDistance(3.0), [0.0], [2.0], 8.0, REFUTED),
]


@pytest.mark.parametrize(
    ("kernel", "x", "y", "value", "expected"),
    [case[1:] for case in EXERCISES],
    ids=[f"{number} {kernel!r}" for number, kernel, *_ in EXERCISES],
)
def test_verdict_and_formula(kernel, x, y, value, expected):
    assert kernel(x, y) == pytest.approx(value, rel=1e-12)
    certificate = kernel.certificate
    if expected == POSITIVE:
        assert certificate.verdict in (Verdict.PSD, Verdict.STRICT)
    elif expected == NEGATIVE:
        assert certificate.verdict is Verdict.NDS
        assert not certificate.positive.proved
    else:
        assert certificate.positive.refuted
        assert certificate.verdict in (Verdict.REFUTED, Verdict.CPD)
        witness = certificate.positive.witness
        total = sum(
            kernel.precise(a, b) * ca * cb
            for a, ca in zip(witness.points, witness.coefficients, strict=True)
            for b, cb in zip(witness.points, witness.coefficients, strict=True)
        )
        assert total < 0
        assert witness.refutes is Property.POSITIVE


def test_the_errata_of_the_survey_by_its_own_numbers():
    points = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]]
    K = InformationDiffusion(20.0).block(points)
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(-0.0012, abs=1e-4)
    c = np.array([-1, 4, 4, -7])
    assert c @ K @ c < 0
    E = Epanechnikov(1.0).block([[0.0], [0.5], [1.0]])
    assert np.linalg.eigvalsh(E)[0] == pytest.approx(-0.0455, abs=1e-4)
    S = Sigmoid(1.0, 0.0).block([[1.0], [0.1]])
    assert np.linalg.eigvalsh(S)[0] == pytest.approx(-0.0030, abs=1e-4)


def test_equality_is_strictly_positive_definite():
    assert WhiteNoise().certificate.verdict is Verdict.STRICT
