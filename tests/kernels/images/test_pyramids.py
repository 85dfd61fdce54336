"""Pyramid match against its definition in fractions."""

from collections import Counter
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from mercer.domains import Cloud
from mercer.errors import InputError, ParameterError
from mercer.kernels import PyramidMatch

RNG = np.random.default_rng(0)


def matched(x: np.ndarray, y: np.ndarray, side: Fraction) -> Fraction:
    a, b = (Counter(tuple(floor(Fraction(v) / side) for v in p) for p in z.tolist()) for z in (x, y))
    return sum((min(Fraction(a[c], len(x)), Fraction(b[c], len(y))) for c in a), Fraction(0))


def exact(x: np.ndarray, y: np.ndarray, levels: int, width: float) -> float:
    total = before = Fraction(0)
    for i in range(levels + 1):
        now = matched(x, y, Fraction(width) * 2**i)
        total += Fraction(1, 2**i) * (now - before)
        before = now
    return float(total)


@pytest.mark.parametrize("levels", [0, 1, 5])
@pytest.mark.parametrize("d", [1, 3])
def test_it_is_its_definition(levels: int, d: int) -> None:
    X = [RNG.normal(scale=3, size=(int(n), d)) for n in RNG.integers(1, 12, 5)]
    k = PyramidMatch(levels, 0.25)
    oracle = [[exact(x, y, levels, 0.25) for y in X] for x in X]
    np.testing.assert_allclose(k.block(X), oracle, rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(k.block(X, X[:2]), np.array(oracle)[:, :2], rtol=1e-13, atol=1e-16)
    assert k(X[0], X[1]) == pytest.approx(oracle[0][1], rel=1e-13)


def test_weights_are_masses() -> None:
    k = PyramidMatch(2, 1.0)
    repeated = np.array([[0.5], [0.5], [0.5], [9.0]])
    assert k(Cloud([[0.5], [9.0]], [3, 1]), [[0.2]]) == k(repeated, [[0.2]]) == 0.75


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match=r"PyramidMatch: `width=1e-300` is too small for these points"):
        PyramidMatch(2, 1e-300).block([[[1.0]]])
    with pytest.raises(ParameterError, match=r"PyramidMatch: `width` must be"):
        PyramidMatch(2, 0.0)
    with pytest.raises(InputError, match=r"X\[1\] must have at least one point"):
        PyramidMatch().block([[[1.0]], np.empty((0, 1))])
