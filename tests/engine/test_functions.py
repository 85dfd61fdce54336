"""The elementwise steps against their twins, and the accuracy of exp, log1p, tanh and real powers."""

import mpmath
import numpy as np
import pytest

from mercer import _native

from . import twins

pytestmark = pytest.mark.native

#: What docs/engine.md promises.
ULPS = 4.0

EDGES = np.hstack(
    [
        [0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-17, -1e-17, 1e-8, 0.5, 1.0],
        [-1.0, 1.0 - 2**-53, -1.0 + 2**-53, 2.0, 20.0, 22.5, 708.0, 709.78, 709.79, 710.0, 1e4, 1e308],
        [-708.0, -708.5, -740.0, -745.13, -745.2, -746.0, -1e4, -1e308, np.inf, -np.inf, np.nan],
    ]
)


def run(name, a, *parameters, b=None, vectors=(), threads=1, symmetric=False):
    """One step on given matrices; the result, or None if the check failed."""
    a = np.ascontiguousarray(a, dtype=np.float64)
    op = getattr(_native, name)
    opaque = [a] if b is None else [a, np.ascontiguousarray(b)]
    second = 1 if b is not None else 0
    steps = [(_native.OPAQUE, i, 0, i, 0, 0) for i in range(len(opaque))]
    steps.append((op, 0, 0, second, 0, len(parameters)))
    n, m = a.shape
    program = _native.Program(
        np.array(steps, dtype=np.int64),
        np.array(parameters, dtype=np.float64),
        [],
        [vectors] if vectors else [],
        opaque,
        n,
        m,
        len(opaque),
        symmetric,
        32,
        1.0,
        False,
    )
    out = np.empty((n, m))
    return None if program.dense(0, program.tiles, out, threads) >= 0 else out


def in_ulps(values, exact):
    """Errors in units of the last place of the exact values; subnormal ones have that of the least."""
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(exact.astype(np.float64)), np.finfo(float).tiny))
        return np.abs((values - exact) / unit).astype(float)


CASES = {
    "EXP": (lambda rng, n: rng.uniform(-746, 710, n), (), mpmath.exp),
    "EXP near 0": (lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.uniform(-18, 0, n), (), mpmath.exp),
    "LOG1P": (lambda rng, n: 10.0 ** rng.uniform(-320, 308, n), (), mpmath.log1p),
    "LOG1P near 0": (lambda rng, n: rng.uniform(-1, 1, n) * 10.0 ** rng.uniform(-3, 0, n), (), mpmath.log1p),
    "TANH": (lambda rng, n: rng.uniform(-25, 25, n), (), mpmath.tanh),
    "TANH near 0": (lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.uniform(-300, 0, n), (), mpmath.tanh),
    "REAL_POWER": (lambda rng, n: 10.0 ** rng.uniform(-320, 308, n), (0.35,), mpmath.power),
    "REAL_POWER near 1": (lambda rng, n: rng.uniform(0.3, 3.0, n), (7.7,), mpmath.power),
    "REAL_POWER, large": (lambda rng, n: 10.0 ** rng.uniform(-4, 4, n), (63.7,), mpmath.power),
}


@pytest.mark.parametrize("name", CASES)
def test_within_4_ulp_of_extended_precision(name):
    draw, parameters, _ = CASES[name]
    a = draw(np.random.default_rng(0), 1_000_000).reshape(1000, 1000)
    with np.errstate(all="ignore"):
        exact = twins.STEPS[name.split(" ")[0].strip(",")](a.astype(np.longdouble), *parameters)
        values = run(name.split(" ")[0].strip(","), a, *parameters)
        nearest = exact.astype(np.float64)
    finite = np.isfinite(nearest)
    np.testing.assert_array_equal(values[~finite], nearest[~finite])
    assert in_ulps(values, exact)[finite].max() <= ULPS


@pytest.mark.parametrize("name", CASES)
def test_within_4_ulp_of_multiprecision(name):
    draw, parameters, function = CASES[name]
    a = draw(np.random.default_rng(1), 400).reshape(20, 20)
    values = run(name.split(" ")[0].strip(","), a, *parameters)
    with mpmath.workdps(40):
        for x, y in zip(a.ravel(), values.ravel(), strict=True):
            exact = function(mpmath.mpf(float(x)), *(mpmath.mpf(p) for p in parameters))
            if abs(exact) < mpmath.mpf(2) ** 1024 * (1 - mpmath.mpf(2) ** -54):
                unit = np.spacing(max(abs(float(exact)), np.finfo(float).tiny))
                assert abs(mpmath.mpf(float(y)) - exact) <= ULPS * unit


@pytest.mark.parametrize("name", ["EXP", "LOG1P", "TANH", "SQRT"])
def test_edge_cases_are_those_of_the_c_library(name):
    with np.errstate(all="ignore"):
        expected = twins.STEPS[name](EDGES)
    values = run(name, EDGES[None, :])[0]
    np.testing.assert_array_equal(np.isnan(values), np.isnan(expected))
    seen = ~np.isnan(expected)
    assert np.all(
        (values == expected)[seen] | (in_ulps(values, expected.astype(np.longdouble))[seen] <= ULPS)
    )
    zero = seen & (expected == 0) & (values == 0)
    np.testing.assert_array_equal(np.signbit(values[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("p", [0.1, 0.35, 1.7, 3.3, 60.5])
def test_edge_cases_of_real_powers(p):
    a = np.abs(EDGES)
    with np.errstate(all="ignore"):
        expected = np.power(a.astype(np.longdouble), np.longdouble(p))
    values = run("REAL_POWER", a[None, :], p)[0]
    np.testing.assert_array_equal(np.isnan(values), np.isnan(expected))
    with np.errstate(all="ignore"):
        same = values == expected.astype(np.float64)
    assert np.all(same | np.isnan(expected) | (in_ulps(values, expected) <= ULPS))


def test_every_step_has_a_twin_and_agrees_with_it():
    rng = np.random.default_rng(2)
    shapes = [(1, 1), (3, 5), (31, 33), (40, 70)]
    arguments = {
        "CONSTANT": (2.5,),
        "SCALE": (-1.5,),
        "SHIFT": (0.25,),
        "INTEGER_POWER": (5.0,),
        "REAL_POWER": (1.3,),
        "HORNER": (1.0, -2.0, 0.5, 3.0),
        "CLIP": (0.4, 1.2),
        "LOOKUP": (0.25, -7.0, 1e300),
    }
    for name, twin in twins.STEPS.items():
        for n, m in shapes if name != "DIAGONAL" else [(1, 1), (33, 33), (70, 70)]:
            a, b = rng.uniform(0.1, 2.0, (n, m)), rng.uniform(0.1, 2.0, (n, m))
            if name == "LOOKUP":
                a = rng.integers(0, 3, (n, m)).astype(float)
            rows, cols = rng.standard_normal(n), rng.standard_normal(m)
            if name in ("ADD", "MULTIPLY", "DIVIDE"):
                got, expected = run(name, a, b=b), twin(a, b)
            elif name == "OUTER_MULTIPLY":
                got, expected = run(name, a, vectors=(rows, cols)), twin(a, rows, cols)
            elif name == "OUTER_ADD":
                got, expected = run(name, a, -2.0, vectors=(rows, cols)), twin(a, rows, cols, -2.0)
            elif name == "DIAGONAL":
                a = a + a.T
                got, expected = run(name, a, vectors=(rows, rows), symmetric=True), twin(a, rows, rows)
            else:
                got = run(name, a, *arguments.get(name, ()))
                expected = twin(a.astype(np.longdouble), *arguments.get(name, ()))
            np.testing.assert_allclose(got, expected.astype(float), rtol=4e-15, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("where", [(0, 0), (32, 69), (39, 31)])
def test_checks_look_at_every_number_and_at_nothing_else(where):
    a = np.full((40, 70), 0.5)
    assert run("WITHIN", a, 0.0, 1.0) is not None
    assert run("NONZERO", a) is not None
    a[where] = 0.0
    assert run("NONZERO", a) is None
    for bad in (-0.1, 1.1, np.nan, np.inf):
        a[where] = bad
        assert run("WITHIN", a, 0.0, 1.0) is None
        assert not twins.CHECKS["WITHIN"](a, 0.0, 1.0)
