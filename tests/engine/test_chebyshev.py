"""The native Chebyshev recurrence against a plain NumPy version."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from mercer import _native
from mercer.engine.chebyshev import Expansion, act, expand

pytestmark = pytest.mark.native


def twin(M: Any, expansion: Expansion, V: np.ndarray) -> np.ndarray:
    """The recurrence, term by term."""
    center, radius = (expansion.low + expansion.high) / 2, (expansion.high - expansion.low) / 2
    A = (M.toarray() - center * np.eye(M.shape[0])) / radius
    terms = [V, A @ V]
    while len(terms) < len(expansion.coefficients):
        terms.append(2 * A @ terms[-1] - terms[-2])
    return np.asarray(sum(c * T for c, T in zip(expansion.coefficients, terms, strict=False)))


def matrix(n: int) -> Any:
    A = scipy.sparse.random_array((n, n), density=0.01, rng=np.random.default_rng(0), format="csr")
    return (A + A.T).tocsr()


@pytest.mark.parametrize("columns", [*range(1, 18), 40])
def test_any_number_of_columns(columns: int) -> None:
    M = matrix(150)
    rng = np.random.default_rng(columns)
    V = rng.standard_normal((150, columns))
    for terms in (1, 2, 9):
        expansion = Expansion(rng.standard_normal(terms), -3.0, 5.0, 0.0)
        np.testing.assert_allclose(act(M, expansion, V), twin(M, expansion, V), atol=1e-12)


def test_the_columns_given_stay_as_they_are() -> None:
    V = np.random.default_rng(0).standard_normal((150, 3))
    before = V.copy()
    act(matrix(150), Expansion(np.ones(4), -3.0, 5.0, 0.0), V)
    np.testing.assert_array_equal(V, before)


def test_more_rows_than_a_task_has() -> None:
    M = matrix(1100)
    V = np.random.default_rng(0).standard_normal((1100, 2))
    expansion = Expansion(np.array([0.5, 1.0, -0.25]), -9.0, 9.0, 0.0)
    np.testing.assert_allclose(act(M, expansion, V), twin(M, expansion, V), atol=1e-12)


def test_what_the_watch_raises_ends_the_work() -> None:
    n, terms = 2000, 200_000  # some seconds
    M = matrix(n)
    blocks = [np.zeros((n, 4)) for _ in range(3)]

    def watch() -> None:
        raise KeyboardInterrupt

    starts, columns = M.indptr.astype(np.int64), M.indices.astype(np.int32)
    with pytest.raises(KeyboardInterrupt):
        _native.chebyshev(starts, columns, M.data, np.ones(terms), 0.0, 99.0, *blocks, 2, watch)


@pytest.mark.parametrize("t", [1.0, 1e3, 1e5, 1e6, 1e7])
def test_a_function_that_is_zero_but_for_an_end(t: float) -> None:
    """At none of the first points is exp(-t x) a float other than zero."""
    for decays, low, high in ((-t, 0.0, 2.0), (t, -2.0, 0.0)):
        found = expand(lambda x, a=decays: np.exp(a * x), low, high, 1e-8)
        assert found is not None
        x = np.concatenate([np.linspace(0.0, 2.0, 50), np.geomspace(1e-9, 1.0, 50)]) * (1 if low == 0 else -1)
        values = np.polynomial.chebyshev.chebval(x - (low + high) / 2, found.coefficients)
        np.testing.assert_allclose(values, np.exp(decays * x), atol=1e-8)


def test_what_jumps_has_no_expansion() -> None:
    assert expand(lambda x: np.sign(x - 1), 0.0, 2.0, 1e-6) is None
    assert expand(lambda x: np.where(x == 0, 1.0, 0.0), 0.0, 2.0, 1e-6) is None
    assert expand(lambda x: np.where(x == 0, np.inf, 1.0), 0.0, 2.0, 1e-6) is None
