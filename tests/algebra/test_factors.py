"""Factors beyond the range of floats: no product of them may make, lose or change a claim."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mercer import Kernel
from mercer.algebra import Constant
from mercer.certificate import Claim
from mercer.errors import ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, PowerDistance, PowerExponential, Sigmoid

EXTREMES = [5e-324, 1e-320, 1e-200, 1e-160, 1e160, 1e200, 1e308]
KERNELS = [
    Gaussian(1.0),
    Linear(),
    Polynomial(2, 1.0),
    PowerDistance(1.0),
    PowerDistance(3.0),
    PowerExponential(3.0),
    Sigmoid(1.0, 0.0),
    Constant(2.0),
    1 + PowerDistance(1.0),
]
#: Expressions in a positive factor ``c``, applied up to three times.
EXPRESSIONS: dict[str, Callable[[float, Kernel], Kernel]] = {
    "c k": lambda c, k: c * k,
    "-c k": lambda c, k: -c * k,
    "c c k": lambda c, k: c * (c * k),
    "-c -c k": lambda c, k: -c * (-c * k),
    "-c -c -c k": lambda c, k: -c * (-c * (-c * k)),
    "-c c k": lambda c, k: -c * (c * k),
    "c -c k": lambda c, k: c * (-c * k),
    "c k + c k": lambda c, k: c * k + c * k,
    "c k * c k": lambda c, k: (c * k) * (c * k),
    "gaussian * c k": lambda c, k: Gaussian(1.0) * (c * k),
    "(c k)^2": lambda c, k: (c * k) ** 2,
    "(c k)^101": lambda c, k: (c * k) ** 101,
    "(c k)^0.5": lambda c, k: (c * k) ** 0.5,
    "(c k)^50.5": lambda c, k: (c * k) ** 50.5,
    "exp(c k)": lambda c, k: (c * k).exp(),
    "exp(-c -c k)": lambda c, k: (-c * (-c * k)).exp(),
    "exp(-c c k)": lambda c, k: (c * k).schoenberg(c),
    "polynomial": lambda c, k: (c * k).polynomial([c, c, c]),
    "cosh": lambda c, k: (c * k).power_series("cosh"),
    "normalized": lambda c, k: (c * (c * k)).normalized(),
    "shifted": lambda c, k: c * k if isinstance(k, Constant) else (c * k).shifted([0.0]),
    "distance": lambda c, k: (c * (c * k)).distance(),
    "sqrt": lambda c, k: (c * (c * k)).sqrt(),
    "log1p": lambda c, k: (c * (c * k)).log1p(),
    "1 / c k": lambda c, k: 1 / (c * k),
    "1 / (1 + c k)": lambda c, k: 1 / (1 + c * k),
    "c / (c + k)": lambda c, k: c / (c + k),
    "1 / c": lambda c, k: 1 / Constant(c) + k,
    "1 / -c": lambda c, k: 1 / Constant(-c) + k,
}


def claims(k: Kernel) -> list[tuple[str, bool]]:
    """What is claimed; the other numbers that certificates rest on are computed too."""
    claimed: list[Claim] = [k.certificate.positive, k.certificate.negative, k.certificate.conditional]
    k.certificate.explain()
    assert k.bounds.low <= k.bounds.high
    assert k.diagonal_bounds.low <= k.diagonal_bounds.high
    return [(c.status.name, c.strict) for c in claimed]


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("k", KERNELS)
def test_claims_depend_on_the_sign_of_a_factor_alone(k: Kernel, name: str) -> None:
    want = claims(EXPRESSIONS[name](2.0, k))
    for c in EXTREMES:
        expression = EXPRESSIONS[name](c, k)
        assert claims(expression) == want, expression.certificate.explain()


def test_a_lower_bound_that_underflows_weakens_a_claim_and_never_strengthens_one() -> None:
    """That c * c * k(x, x) > 0 is proved by a bound; the float below it is 0."""
    k = Gaussian(1.0) * (1e-200 * (1e-200 * Polynomial(2, 1.0)))
    assert claims(k)[0] == ("PROVED", False)


def test_witnesses_of_extreme_multiples_keep_their_sign() -> None:
    for c in EXTREMES:
        for k in (c * PowerDistance(3.0), -c * (-c * PowerDistance(3.0))):
            for claim in (k.certificate.positive, k.certificate.negative):
                assert claim.refuted
                assert claim.witness is None or claim.witness.value != 0
                assert any(inner.witness is not None for inner in claim.walk())


def test_an_underflow_does_not_certify() -> None:
    k = -1e-200 * (-1e-200 * PowerDistance(1.0))
    assert not k.certificate.is_psd
    assert k.certificate.positive.refuted
    assert k.certificate.is_nds


@pytest.mark.parametrize("c", [0.0, 5e-324, -1e-320])
def test_division_by_a_number_without_a_float_reciprocal_names_it(c: float) -> None:
    with pytest.raises(ParameterError, match=r"k / c needs c != 0 with a finite 1 / c. Got c = "):
        Gaussian(1.0) / c


@pytest.mark.parametrize("sigma", [0.0, -1.0, 1e-200, 1e200])
def test_a_width_without_a_float_square_is_named(sigma: float) -> None:
    with pytest.raises(ParameterError, match=r"gaussian: `sigma` must"):
        Linear().gaussian(sigma)
