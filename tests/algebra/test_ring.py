"""Sums, products, scaling and powers mean exactly what is written."""

import math

import numpy as np
import pytest

from mercer import Kernel
from mercer.algebra import Constant, Power, Product, Scaled, Sum
from mercer.certificate import Verdict
from mercer.errors import DomainError, ParameterError
from mercer.kernels import (
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    PowerDistance,
    RationalQuadratic,
    SetIntersection,
)

X = np.random.default_rng(0).standard_normal((7, 3))
A, B, C = Gaussian(1.5), Linear(), Laplacian(2.0)
a, b, c = A.block(X), B.block(X), C.block(X)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (A + B * C, a + b * c),
        ((A + B) * C, (a + b) * c),
        (A * B + C, a * b + c),
        (A * (B + C), a * (b + c)),
        (A * B * C, a * b * c),
        (A - B - C, a - b - c),
        (A - (B - C), a - (b - c)),
        (2 * A + 3 * B, 2 * a + 3 * b),
        (2 * (A + B) ** 2, 2 * (a + b) ** 2),
        ((A * B) ** 3 + 1, (a * b) ** 3 + 1),
        (1 - A / 2, 1 - a / 2),
        (-A + B, -a + b),
        (A**0, np.ones_like(a)),
        (0.5 * A * 4, 0.5 * a * 4),
        ((A + B) + (C + A), a + b + c + a),
        (A / (B**2 + 1), a / (b**2 + 1)),
    ],
    ids=lambda value: repr(value) if isinstance(value, Kernel) else "",
)
def test_expressions_mean_what_is_written(kernel, expected):
    np.testing.assert_allclose(kernel.block(X), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(expected), rtol=1e-13, atol=1e-14)
    assert kernel(X[0], X[1]) == pytest.approx(expected[0, 1], rel=1e-12)


def test_only_their_own_kind_is_flattened():
    assert (A + B + C).terms == (A, B, C)
    assert (A + (B + C)).terms == (A, B, C)
    assert (A * (B * C)).factors == (A, B, C)
    assert isinstance((A + B * C).terms[1], Product)
    assert isinstance(((A + B) * C).factors[0], Sum)
    assert sum([A, B, C]) == A + B + C
    assert A + B != A * B
    assert A + B != B + A  # equal functions, different expressions


def test_scalars_of_all_kinds():
    for two in (2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0)):
        assert two * A == A * two == Scaled(A, 2.0)
        assert two + A == Sum((Constant(2.0), A))
    for wrong in (np.array([1, 2]), np.ones((2, 2))):
        for operation in (lambda k, w: w * k, lambda k, w: k * w, lambda k, w: w + k, lambda k, w: k**w):
            with pytest.raises(TypeError, match="array"):
                operation(A, wrong)
    for wrong in (math.inf, math.nan):
        with pytest.raises(ParameterError, match="finite"):
            wrong * A
    with pytest.raises(TypeError):
        A + "text"
    with pytest.raises(ParameterError, match="c != 0"):
        A / 0
    with pytest.raises(ParameterError, match="exponent"):
        A ** (-1)


def test_kernels_without_common_points_are_refused_at_once():
    with pytest.raises(DomainError, match="no common points"):
        Gaussian(1.0) + SetIntersection()


@pytest.mark.parametrize(
    ("kernel", "verdict"),
    [
        (A + B, Verdict.STRICT),
        (B + B, Verdict.PSD),
        (A * B, Verdict.PSD),  # k(0, 0) = 0
        (A * (B + 1), Verdict.STRICT),
        (A * C, Verdict.STRICT),
        (A**3, Verdict.STRICT),
        (B**2, Verdict.PSD),
        (2 * A, Verdict.STRICT),
        (0 * A, Verdict.PSD),
        (A + 1, Verdict.STRICT),
        (Constant(1.0), Verdict.PSD),
        (Constant(-1.0), Verdict.NDS),
        (-B, Verdict.NDS),
        (-2 * (A + B), Verdict.NDS),
        (1 - B, Verdict.NDS),  # exercise 6.9
        (-3 - A * C, Verdict.NDS),
        (-1 * (-2 * A), Verdict.STRICT),
        (A - B, Verdict.CPD),  # of order 2
        (A - C, Verdict.REFUTED),
        (A - RationalQuadratic(), Verdict.REFUTED),
        (A - A * C, Verdict.UNKNOWN),
        (A - 0.5, Verdict.CPD),
        (2 * A - A, Verdict.STRICT),
        (A - 0.5 * A, Verdict.STRICT),
        (A + B - (B - 1), Verdict.STRICT),
        (A - A, Verdict.PSD),
        (-(B - A) - A, Verdict.NDS),
        (Constant(2.0) * PowerDistance(1.0), Verdict.NDS),
        (Constant(-2.0) * A, Verdict.NDS),
        ((-A) ** 2, Verdict.STRICT),
        ((-A - B) ** 4, Verdict.STRICT),
        ((-B) ** 3, Verdict.NDS),
        ((-A) * (-C), Verdict.STRICT),
        (PowerDistance(1.0) ** 1, Verdict.NDS),
        (PowerDistance(1.0) ** 0, Verdict.PSD),
        (PowerDistance(1.0) + PowerDistance(2.0), Verdict.NDS),
        (3 * PowerDistance(1.0), Verdict.NDS),
        (PowerDistance(1.0) - B, Verdict.NDS),
        (PowerDistance(1.0) * PowerDistance(1.0), Verdict.UNKNOWN),
        (-PowerDistance(1.0), Verdict.CPD),
        (-1 * (-PowerDistance(1.0)), Verdict.NDS),
        (Polynomial(2) - 1, Verdict.CPD),
    ],
)
def test_verdicts(kernel, verdict):
    assert kernel.certificate.verdict is verdict
    assert eval(repr(kernel), vars(__import__("mercer.kernels").kernels) | {"Constant": Constant}) == kernel


def test_constants_are_both_and_strict_kernels_are_not_negative_definite():
    both = Constant(2.0).certificate
    assert both.positive.proved
    assert both.negative.proved
    assert Constant(-2.0).certificate.positive.refuted
    assert A.certificate.negative.refuted
    assert (-A).certificate.positive.refuted
    assert (A - A).certificate.negative.proved


def test_overflow_names_the_parameter():
    big = np.full((2, 380), 1e12)
    with pytest.raises(ParameterError, match="exponent=30"):
        (Linear() ** 30).block(big)
    with pytest.raises(ParameterError, match="overflow"):
        Linear().exp().block(big)


def test_power_by_squaring_matches_numpy():
    K = np.random.default_rng(1).uniform(-2, 2, (4, 4))
    from mercer.algebra.products import integer_power

    for n in range(12):
        np.testing.assert_allclose(integer_power(K, n), K**n, rtol=1e-13)
    assert Power(A, 2).exponent == 2
