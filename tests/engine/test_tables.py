"""Steps on counts of bits as a table: the same bits, and only where values depend on the count alone."""

from typing import Any

import numpy as np
import pytest

from mercer import gram
from mercer.engine import builder, program
from mercer.kernels import ExponentialDot, Gaussian, Linear, Matern, Polynomial, RationalQuadratic

pytestmark = pytest.mark.native

#: Around whole words, and as wide as rows are packed.
WIDTHS = [16, 64, 65, 123, 1100, 4096]

OF_COUNTS = [
    Gaussian(3.0),
    Matern(1.5, 5.0),
    Polynomial(3),
    RationalQuadratic(2.0, 1.5),
    0.5 * Gaussian(2.0) + 2.0 * Gaussian(9.0),
]
OF_MORE = [Gaussian(3.0) + Polynomial(2), Polynomial(2).normalized()]


def zeros_and_ones(n: int, d: int, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random((n, d)) < 0.2).astype(float)


def steps_of(k: Any, X: np.ndarray) -> int:
    found = k._program(k._prepare(X), None)
    assert found is not None
    return len(found.steps)


@pytest.fixture(autouse=True)
def packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "WORTH_PACKING", 1)
    monkeypatch.setattr(program, "WORTH_A_TABLE", 1)


def without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "WORTH_A_TABLE", 1 << 60)


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("k", OF_COUNTS, ids=repr)
def test_the_same_bits_as_step_by_step(k: Any, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = zeros_and_ones(130, d), zeros_and_ones(21, d, seed=1)
    V = np.random.default_rng(2).standard_normal((130, 2))
    assert steps_of(k, X) == 2
    looked_up = k.block(X), k.block(Y, X), gram(k, X) @ V, k.block(X.astype(np.float32))
    without_tables(monkeypatch)
    assert steps_of(k, X) > 2
    for a, b in zip(
        looked_up, (k.block(X), k.block(Y, X), gram(k, X) @ V, k.block(X.astype(np.float32))), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("k", OF_MORE, ids=repr)
def test_values_that_depend_on_more_than_one_count(k: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = zeros_and_ones(50, 100)
    steps, values = steps_of(k, X), k.block(X)
    without_tables(monkeypatch)
    assert steps_of(k, X) == steps
    np.testing.assert_array_equal(k.block(X), values)


def test_the_count_itself_needs_no_table() -> None:
    assert steps_of(Linear(), zeros_and_ones(50, 100)) <= 2


def test_a_count_that_does_not_occur_may_fail_a_check() -> None:
    X = zeros_and_ones(40, 1100)
    k = ExponentialDot(1.0)  # exp(1100) overflows, exp(300) does not
    assert steps_of(k, X) > 2
    values = k.block(X)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, np.exp(X @ X.T), rtol=1e-12)


def test_few_values_are_computed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "WORTH_A_TABLE", 100)
    assert steps_of(Gaussian(1.0), zeros_and_ones(9, 70)) > 2
    assert steps_of(Gaussian(1.0), zeros_and_ones(10, 70)) == 2
