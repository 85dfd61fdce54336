"""Both arithmetics offer the same functions, agree to rounding, and saturate instead of raising."""

import math
import threading

import mpmath
import pytest

from mercer.arithmetic import FLOAT, Arithmetic, multiprecision

FUNCTIONS = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "sin",
    "cos",
    "acos",
    "asin",
    "sinh",
    "cosh",
    "tanh",
    "erf",
    "gamma",
]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("t", [0.125, 0.5, 0.9])
def test_functions_agree(name: str, t: float) -> None:
    m = multiprecision(50)
    precise = getattr(m, name)(m.real(t))
    with mpmath.workdps(50):
        independent = getattr(mpmath, name)(mpmath.mpf(t))
        assert abs(mpmath.mpf(str(precise)) - independent) < mpmath.mpf(10) ** -45
    assert getattr(FLOAT, name)(t) == pytest.approx(float(precise), rel=1e-14)


def test_every_function_of_the_protocol_is_there() -> None:
    names = [name for name in vars(Arithmetic) if not name.startswith("_")]
    assert set(FUNCTIONS) | {"pi", "real", "fsum", "besselk"} <= set(names)
    for m in (FLOAT, multiprecision(30)):
        assert all(hasattr(m, name) for name in names)


def test_bessel_and_sums() -> None:
    m = multiprecision(50)
    half = math.sqrt(math.pi / 4) * math.exp(-2.0)  # K_{1/2}(2) = sqrt(pi/4) exp(-2)
    assert FLOAT.besselk(0.5, 2.0) == pytest.approx(half, rel=1e-14)
    assert float(m.besselk(0.5, m.real(2))) == pytest.approx(half, rel=1e-14)
    assert FLOAT.fsum([1e16, 1.0, -1e16]) == 1.0
    assert m.fsum([m.real(1) / 3] * 3) == 1
    assert float(m.pi) == FLOAT.pi == math.pi


def test_floats_saturate() -> None:
    assert FLOAT.exp(1e4) == FLOAT.expm1(1e4) == FLOAT.cosh(-1e4) == FLOAT.gamma(200.0) == math.inf
    assert FLOAT.sinh(-1e4) == -math.inf
    assert FLOAT.fsum([1e308, 1e308]) == math.inf
    assert math.isnan(FLOAT.fsum([math.inf, -math.inf]))


def test_nan_stays_nan() -> None:
    for name in ("exp", "expm1", "sinh", "cosh", "gamma", "tanh"):
        assert math.isnan(getattr(FLOAT, name)(math.nan))


def test_arccosine_forgives_rounding() -> None:
    m = multiprecision(50)
    for a in (FLOAT, m):
        assert a.acos(a.real(1.0 + 1e-15)) == 0
        assert float(a.acos(a.real(-1.0 - 1e-15))) == pytest.approx(math.pi)


def test_digits_are_kept_apart() -> None:
    third = [multiprecision(digits).real(1) / 3 for digits in (20, 80)]
    assert abs(third[0] - third[1]) > 1e-30
    assert abs(multiprecision(80).real(1) / 3 - third[1]) == 0


def test_every_thread_has_its_own_context() -> None:
    seen = []
    thread = threading.Thread(target=lambda: seen.append(multiprecision(50)))
    thread.start()
    thread.join()
    assert seen[0] is not multiprecision(50)
    assert multiprecision(50) is multiprecision(50)
