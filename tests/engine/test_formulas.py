"""Formulas on terms: steps agree with mpmath, constants are folded, what has no step is left to blocks."""

import math

import mpmath
import numpy as np
import pytest

from mercer import _native, parameter
from mercer.engine.builder import Builder
from mercer.engine.formulas import COMPILER, compile_formula
from mercer.engine.program import Program
from mercer.errors import InputError, ParameterError
from mercer.kernels import DotProduct, Gaussian, Linear, Matern, Polynomial, Radial, Scalar

T = np.concatenate([np.linspace(0.0, 3.0, 31), [1e-9, 17.25]])


def run(formula, t=T):
    """Values of a compiled formula at numbers, and the opcodes of its steps."""
    b = Builder(len(t), 1, False)
    value = compile_formula(b, formula, b.dot(t[:, None], np.ones((1, 1))))
    assert value is not None
    program = Program.of(b, value)
    return program.dense()[:, 0], [step[0] for step in program.steps.tolist()]


FORMULAS = {
    "exp": (lambda t, m: m.exp(-t / 2), lambda t: mpmath.exp(-t / 2)),
    "log1p": (lambda t, m: m.log1p(t), mpmath.log1p),
    "sqrt": (lambda t, m: m.sqrt(t), mpmath.sqrt),
    "tanh": (lambda t, m: m.tanh(2 * t - 1), lambda t: mpmath.tanh(2 * t - 1)),
    "rational": (lambda t, m: 3 / (1 + t) - t / (t + 2), lambda t: 3 / (1 + t) - t / (t + 2)),
    "subtract": (lambda t, m: 1 - (t - 0.5), lambda t: 1 - (t - mpmath.mpf(0.5))),
    "integer power": (lambda t, m: (t - 1) ** 3, lambda t: (t - 1) ** 3),
    "real power": (lambda t, m: m.power(t, 1.7), lambda t: t ** mpmath.mpf(1.7)),
    "inverse power": (lambda t, m: m.power(1 + t, -1.5), lambda t: (1 + t) ** mpmath.mpf(-1.5)),
    "polynomial": (lambda t, m: m.polynomial(t, [1, 2, 0.5]), lambda t: 1 + 2 * t + t * t / 2),
    "maximum": (lambda t, m: m.maximum(0.0, 1 - t), lambda t: max(0, 1 - t)),
    "minimum": (lambda t, m: m.minimum(t, 1.25), lambda t: min(t, mpmath.mpf(1.25))),
    "bounded": (lambda t, m: m.bounded(t), lambda t: t),
    "within": (lambda t, m: m.within(t + 1, 0.5, math.inf, ValueError), lambda t: t + 1),
    "nonzero": (lambda t, m: m.nonzero(t + 1, ValueError), lambda t: t + 1),
    "cosh": (lambda t, m: m.cosh(t - 1), lambda t: mpmath.cosh(t - 1)),
    "sinh": (lambda t, m: m.sinh(t - 1), lambda t: mpmath.sinh(t - 1)),
    "sum": (lambda t, m: m.fsum([t, t * t, 1.0]), lambda t: t + t * t + 1),
    "constants": (
        lambda t, m: m.sqrt(m.pi) * t + m.sin(m.real(2)),
        lambda t: mpmath.sqrt(mpmath.pi) * t + mpmath.sin(2),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_steps_agree_with_mpmath(name):
    formula, exact = FORMULAS[name]
    values, _ = run(formula)
    with mpmath.workdps(40):
        want = np.array([float(exact(mpmath.mpf(t))) for t in T.tolist()])
    np.testing.assert_allclose(values, want, rtol=2e-15, atol=1e-15)


def test_constants_are_folded():
    assert run(lambda t, m: m.exp(-t / 2))[1] == [_native.DOT, _native.SCALE, _native.EXP, _native.WITHIN]
    assert run(lambda t, m: 2 * (-t / 2) * -1 + 0)[1] == [_native.DOT, _native.WITHIN]
    assert run(lambda t, m: t**1)[1] == [_native.DOT, _native.WITHIN]


@pytest.mark.parametrize(
    "formula",
    [
        lambda t, m: m.sin(t),
        lambda t, m: m.matern(1.2, t),
        lambda t, m: abs(t),
        lambda t, m: m.where(t > 1, t, 0.0),
        lambda t, m: m.maximum(t, t * t),
        lambda t, m: m.power(t, 70.5),
        lambda t, m: 2.0**t,
        lambda t, m: t / 1e-300,
        lambda t, m: math.exp(t),
        lambda t, m: np.exp(t),
        lambda t, m: m.exp(m.real(1)),
    ],
)
def test_what_has_no_step_is_not_compiled(formula):
    b = Builder(3, 1, False)
    assert compile_formula(b, formula, b.dot(np.ones((3, 1)), np.ones((1, 1)))) is None


def test_numbers_of_numpy_are_constants():
    assert run(lambda t, m: np.float64(2) * t)[1] == [_native.DOT, _native.SCALE, _native.WITHIN]
    assert COMPILER.maximum(1.0, 2.0) == 2.0


class InverseMultiquadric(Radial):
    """One over the root of 1 + D."""

    sigma: float = parameter(default=1.0, low=0.0, open_low=True)

    def formula(self, D, m):
        return 1 / m.sqrt(1 + D)


class Mixed(DotProduct):
    """A quadratic, and a part that the engine has no step for."""

    wave: float = parameter(default=0.0)

    def formula(self, t, m):
        return m.power(1 + t, 2) + (m.sin(self.wave * t) if self.wave else 0)


class Overlap(Scalar):
    """The share of the larger interval that the smaller one covers, in excess of a half."""

    def formula(self, low, high, m):
        return m.maximum(low / high - 0.5, 0.0)


def test_a_kernel_of_two_numbers_is_symmetric():
    x = np.random.default_rng(0).uniform(0.1, 2.0, 9)
    ratios = np.minimum.outer(x, x) / np.maximum.outer(x, x)
    K = Overlap().block(x)
    np.testing.assert_allclose(K, np.maximum(ratios - 0.5, 0), rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(K, K.T)
    assert Overlap()(x[0], x[1]) == Overlap()(x[1], x[0])
    assert Overlap()._program(x[:, None], None) is not None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [InverseMultiquadric(1.5), Mixed(), Mixed(2.0)])
def test_a_kernel_of_yours_follows_from_its_formula(k, dtype):
    X = np.random.default_rng(0).standard_normal((9, 3)).astype(dtype)
    want = [[float(k.precise(x, y)) for y in X] for x in X]
    rtol = 1e-14 if dtype == np.float64 else 1e-5
    K = k.block(X)
    assert K.dtype == dtype
    np.testing.assert_allclose(K, want, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(k._block(X, None), want, rtol=rtol, atol=rtol)
    np.testing.assert_allclose([[k(x, y) for y in X] for x in X], want, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(k.diagonal(X), np.diag(want), rtol=rtol, atol=rtol)
    assert (k._program(X, None) is None) == bool(getattr(k, "wave", 0.0))
    assert k.is_precise
    np.testing.assert_allclose((k + Linear()).block(X), K + X @ X.T, rtol=1e-5, atol=1e-5)


def test_overflow_of_a_kernel_of_yours_is_an_error():
    X = np.array([[1e100], [1.0]])
    with pytest.raises(InputError, match="Mixed: the values of Mixed"):
        Mixed().block(X)
    with pytest.raises(ParameterError, match="overflows"):
        Mixed()([1e100], [1e100])


def test_a_class_that_says_its_values_anew_inherits_no_other_way_to_them():
    class Called(Gaussian):
        def __call__(self, x, y):
            return 2.0 * Gaussian(self.sigma)(x, y)

    class Defined(Matern):
        def _define(self, x, y, m):
            return 3 * super()._define(x, y, m)

    class Written(Polynomial):
        def formula(self, t, m):
            return t

    X = np.random.default_rng(0).standard_normal((6, 2))
    np.testing.assert_allclose(Called(1.5).block(X), 2 * Gaussian(1.5).block(X))
    np.testing.assert_allclose((Called(1.5) + Linear()).diagonal(X), 2 + (X**2).sum(axis=1))
    np.testing.assert_allclose(Defined(1.5).block(X), 3 * Matern(1.5).block(X))
    np.testing.assert_allclose(Written(2, offset=0.0).block(X), X @ X.T)
    assert not Called(1.5).is_precise
    assert Written(2)._program(X, None) is not None
