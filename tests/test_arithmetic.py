"""All arithmetics offer the same functions, agree to rounding, and saturate instead of raising."""

import math
import threading

import mpmath
import numpy as np
import pytest

from mercer.arithmetic import ARRAYS, FLOAT, Arithmetic, integer_power, multiprecision
from mercer.engine.formulas import COMPILER
from mercer.errors import InputError

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
    "sinc",
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
    for arithmetic in (FLOAT, ARRAYS, COMPILER):  # Python floats stay Python floats
        value = getattr(arithmetic, name)(t)
        assert type(value) is float
        assert value == pytest.approx(float(precise), rel=1e-14)
    for dtype, rel in ((np.float64, 1e-14), (np.float32, 1e-5)):
        values = getattr(ARRAYS, name)(np.array([t, t], dtype=dtype))
        assert values.dtype == dtype
        assert values.tolist() == pytest.approx([float(precise)] * 2, rel=rel)


def test_every_function_of_the_protocol_is_there() -> None:
    names = [name for name in vars(Arithmetic) if not name.startswith("_")]
    assert set(FUNCTIONS) | {"pi", "real", "fsum", "matern"} <= set(names)
    for m in (FLOAT, ARRAYS, COMPILER, multiprecision(30)):
        assert all(hasattr(m, name) for name in names)


@pytest.mark.parametrize("nu", [0.5, 1.0, 3.3, 50.0])
def test_matern_function(nu: float) -> None:
    m = multiprecision(50)
    z = [0.0, 0.3, 7.0]
    want = [1.0]
    with mpmath.workdps(50):
        for t in map(mpmath.mpf, z[1:]):
            exact = 2 ** (1 - mpmath.mpf(nu)) / mpmath.gamma(nu) * t**nu * mpmath.besselk(nu, t)
            assert abs(mpmath.mpf(str(m.matern(nu, m.real(t)))) - exact) < mpmath.mpf(10) ** -40
            want.append(float(exact))
    assert [FLOAT.matern(nu, t) for t in z] == pytest.approx(want, rel=1e-14)
    assert ARRAYS.matern(nu, np.array(z)).tolist() == pytest.approx(want, rel=1e-13)


def test_sums() -> None:
    m = multiprecision(50)
    assert FLOAT.fsum([1e16, 1.0, -1e16]) == 1.0
    assert m.fsum([m.real(1) / 3] * 3) == 1
    assert float(m.pi) == FLOAT.pi == math.pi


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, -2, 0.5, 1.0, 2.5, -0.75])
def test_powers(exponent: float) -> None:
    m = multiprecision(50)
    for t in (0.3, 4.0):
        want = float(mpmath.power(t, exponent))
        assert FLOAT.power(t, exponent) == pytest.approx(want, rel=1e-15)
        assert float(m.power(m.real(t), exponent)) == pytest.approx(want, rel=1e-15)
        for dtype, rel in ((np.float64, 1e-15), (np.float32, 1e-6)):
            got = ARRAYS.power(np.array([t], dtype=dtype), exponent)
            assert got.dtype == dtype
            assert got[0] == pytest.approx(want, rel=rel)
    assert integer_power(np.array([-3.0, 2.0]), 3).tolist() == [-27.0, 8.0]


def test_powers_saturate() -> None:
    assert FLOAT.power(1e200, 2) == FLOAT.power(-1e200, 2) == FLOAT.power(0.0, -1.5) == math.inf
    assert FLOAT.power(-1e200, 3) == -math.inf


def test_choices() -> None:
    t = np.array([-1.0, 0.5, 2.0])
    assert ARRAYS.maximum(t, 0.0).tolist() == [FLOAT.maximum(v, 0.0) for v in t.tolist()] == [0.0, 0.5, 2.0]
    assert ARRAYS.minimum(t, 1.0).tolist() == [FLOAT.minimum(v, 1.0) for v in t.tolist()] == [-1.0, 0.5, 1.0]
    assert ARRAYS.where(t < 0, 1.0, t).tolist() == [FLOAT.where(v < 0, 1.0, v) for v in t.tolist()]
    m = multiprecision(20)
    assert [m.maximum(m.real(2), 1), m.minimum(m.real(2), 1), m.where(m.real(2) > 1, 3, 4)] == [2, 1, 3]


def test_bounded_numbers_have_squares() -> None:
    for t in (FLOAT.bounded(math.inf), *ARRAYS.bounded(np.array([math.inf, 1e300])).tolist()):
        assert math.isfinite(t * t * t)
        assert FLOAT.exp(-t) == 0
    single = ARRAYS.bounded(np.array([np.inf], dtype=np.float32))
    assert single.dtype == np.float32
    assert np.isfinite(single**3).all()
    assert FLOAT.bounded(3.0) == 3.0


def test_numbers_outside_of_a_range_are_errors() -> None:
    def error(value: float) -> InputError:
        return InputError(f"got {value}")

    m = multiprecision(20)
    assert FLOAT.within(1.0, 0.0, 1.0, error) == m.within(m.real(1), 0.0, 1.0, error) == 1
    assert ARRAYS.within(np.ones(2), 0.0, 1.0, error).tolist() == [1.0, 1.0]
    for a, t in ((FLOAT, -2.0), (m, m.real(-2)), (ARRAYS, np.array([1.0, -1.0, -2.0]))):
        with pytest.raises(InputError, match=r"got -2\.0"):
            a.within(t, 0.0, 1.0, error)
    for a, t in ((FLOAT, 0.0), (m, m.real(0)), (ARRAYS, np.array([1.0, 0.0]))):
        assert np.all(a.nonzero(t + 1, error) == t + 1)
        with pytest.raises(InputError, match="got 0"):
            a.nonzero(t, error)
    with pytest.raises(InputError, match="got nan"):
        FLOAT.within(math.nan, 0.0, 1.0, error)


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
