"""Gram matrices whose values are kept in memory."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import kernel
from mercer.gram import KernelGram, gram, held
from mercer.gram.held import HeldGram, hold
from mercer.kernels import Gaussian, Precomputed
from mercer.machines import SVC

X = np.random.default_rng(0).standard_normal((40, 3))


def counted() -> tuple[list[int], object]:
    calls = [0]

    def value(x: np.ndarray, y: np.ndarray) -> float:
        calls[0] += 1
        return float(np.exp(-0.5 * np.sum((np.asarray(x) - np.asarray(y)) ** 2)))

    return calls, kernel(value)


def test_values_and_products_are_those_of_the_kernel() -> None:
    calls, k = counted()
    points = list(X)
    G, H = gram(k, points), hold(gram(k, points))
    assert isinstance(H, HeldGram)
    before = calls[0]
    K = H.dense()
    rows, cols = np.array([3, 1, 39]), np.array([0, 38])
    np.testing.assert_array_equal(H.block(rows, cols), K[np.ix_(rows, cols)])
    np.testing.assert_array_equal(H.block(slice(2, 9), cols), K[2:9][:, cols])
    np.testing.assert_allclose(H @ np.ones(40), K.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(H._columns_product(cols, np.array([1.0, -2.0])), K[:, cols] @ [1.0, -2.0])
    single = H._in_single()
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single.dense(), K.astype(np.float32))
    out = np.zeros((5, 40), dtype=np.float32)
    single._fill_slots(np.array([7, 2]), np.array([4, 0]), out)
    np.testing.assert_array_equal(out[[4, 0]], K[[7, 2]].astype(np.float32))
    K[0, 0] = 99.0  # a copy
    assert H.block(0, 0)[0, 0] == 1.0
    assert calls[0] - before <= 2  # to see the type of a value
    np.testing.assert_array_equal(H.dense(), G.dense())


def test_what_is_selected_or_compared_holds_nothing() -> None:
    _, k = counted()
    H = hold(gram(k, list(X)))
    assert type(H.select(np.array([0, 5]))) is KernelGram
    assert type(H.cross(list(X[:2]))) is KernelGram
    np.testing.assert_allclose(H.cross(list(X[:2])).dense(), H.dense()[:2])


def test_what_is_compiled_given_or_too_large_is_left_as_it_is(monkeypatch) -> None:
    for G in (gram(Gaussian(1.0), X), gram(Precomputed(), np.eye(3)), gram(Gaussian(1.0), X, X[:3])):
        assert hold(G) is G
    _, k = counted()
    G = gram(k, list(X))
    monkeypatch.setattr(held, "HELD_BYTES", 8 * 39 * 39)
    assert hold(G) is G


def test_a_machine_calls_a_function_once_for_each_pair() -> None:
    calls, k = counted()
    y = np.where(X[:, 0] > 0, 1, -1)
    machine = SVC(k, C=1.0).fit(list(X), y)
    pairs, both_orders = 40 * 41 // 2, 40 * 40
    assert calls[0] <= pairs + both_orders + 5 * 40
    np.testing.assert_allclose(
        machine.decision_function(list(X)),
        SVC(Gaussian(1.0), C=1.0).fit(X, y).decision_function(X),
        atol=1e-9,
    )
    assert type(machine.expansion_) is KernelGram


@pytest.mark.parametrize("policy", ["warn", "clip"])
def test_indefinite_functions_are_told_and_repaired(policy) -> None:
    k = kernel(lambda x, y: float(-abs(x - y)))
    y = np.where(X[:, 0] > 0, 1, -1)
    machine = SVC(k, C=1.0, indefinite=policy)
    if policy == "warn":
        with pytest.warns(UserWarning, match="least eigenvalue -"):
            machine.fit(list(X[:, 0]), y)
    else:
        machine.fit(list(X[:, 0]), y)
    assert np.isfinite(machine.decision_function(list(X[:5, 0]))).all()
