"""A stored Gram matrix has the values of an ordinary one, and computes each pair of points once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import mercer
from mercer.domains import Sets, Vectors
from mercer.errors import DigestError, InputError
from mercer.gram.store.page import PAGE
from mercer.kernel import Kernel
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection, columns

CALLS: list[tuple[str, str]] = []


def overlap(x: str, y: str) -> float:
    CALLS.append((x, y))
    return float(len(set(x) & set(y)))


OVERLAP = mercer.kernel(overlap, version="1")


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    CALLS.clear()


def calls() -> int:
    count = len(CALLS)
    CALLS.clear()
    return count


def words(n: int, seed: int = 0) -> list[str]:
    """Distinct words."""
    rng = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < n:
        found["".join(rng.choice(list("abcdefghijkl"), size=6))] = None
    return list(found)


def truth(X: list[str], Y: list[str] | None = None) -> np.ndarray:
    return np.array([[float(len(set(x) & set(y))) for y in (X if Y is None else Y)] for x in X])


def triangle(n: int) -> int:
    return n * (n + 1) // 2


@pytest.mark.parametrize("n", [0, 1, 2, 37, PAGE - 1, PAGE, PAGE + 1])
def test_each_pair_is_computed_once(tmp_path: Path, n: int) -> None:
    X = words(n)
    K = mercer.gram(OVERLAP, X, store=tmp_path / "s").dense()
    assert np.array_equal(K, truth(X).reshape(n, n))
    assert calls() == triangle(n)
    again = mercer.gram(OVERLAP, X, store=tmp_path / "s")
    assert np.array_equal(again.dense(), K)
    assert np.array_equal(again @ np.ones(n), K.sum(axis=1))
    assert np.array_equal(again.diagonal(), K.diagonal())
    assert calls() == 0


def test_subsets_orders_and_duplicates_cost_nothing(tmp_path: Path) -> None:
    X = words(300)
    mercer.gram(OVERLAP, X, store=tmp_path).dense()
    assert calls() == triangle(300)
    rng = np.random.default_rng(1)
    for size in (1, 50, 300, 500):
        part = [X[i] for i in rng.integers(0, 300, size)]
        assert np.array_equal(mercer.gram(OVERLAP, part, store=tmp_path).dense(), truth(part))
    part, other = X[200:], X[100:250]
    assert np.array_equal(mercer.gram(OVERLAP, part, other, store=tmp_path).dense(), truth(part, other))
    assert calls() == 0


def test_duplicates_are_one_point(tmp_path: Path) -> None:
    X = [w for w in words(10) for _ in range(5)]
    assert np.array_equal(mercer.gram(OVERLAP, X, store=tmp_path).dense(), truth(X))
    assert calls() == triangle(10)


@pytest.mark.parametrize(("n", "m"), [(20, 7), (250, 20), (300, 5)])
def test_more_points_cost_only_their_rows(tmp_path: Path, n: int, m: int) -> None:
    X = words(n + m)
    mercer.gram(OVERLAP, X[:n], store=tmp_path).dense()
    calls()
    rng = np.random.default_rng(0)
    mixed = [X[i] for i in rng.permutation(n + m)]
    assert np.array_equal(mercer.gram(OVERLAP, mixed, store=tmp_path).dense(), truth(mixed))
    assert calls() == n * m + triangle(m)


def test_new_points_against_old_ones(tmp_path: Path) -> None:
    X = words(30)
    K = mercer.gram(OVERLAP, X[:20], store=tmp_path)
    assert np.array_equal(K.cross(X[20:]).dense(), truth(X[20:], X[:20]))
    assert calls() == 200
    assert np.array_equal(K.cross(X[20:]).dense(), truth(X[20:], X[:20]))
    assert calls() == 0
    assert np.array_equal(mercer.gram(OVERLAP, X, store=tmp_path).dense(), truth(X))
    assert calls() == triangle(30) - 200


def test_two_equal_sides_are_computed_once(tmp_path: Path) -> None:
    X = words(40)
    assert np.array_equal(mercer.gram(OVERLAP, X, list(X), store=tmp_path).dense(), truth(X))
    assert calls() == triangle(40)


def test_blocks_and_rows(tmp_path: Path) -> None:
    X = words(60)
    K, expected = mercer.gram(OVERLAP, X, store=tmp_path), truth(X)
    assert np.array_equal(K.block(3), expected[[3]])
    assert calls() == 60
    index = np.array([5, 3, 5, 59])
    assert np.array_equal(K.block(index, slice(10, 20)), expected[index, 10:20])
    assert np.array_equal(K.block(index, index), expected[np.ix_(index, index)])
    seen = set()
    CALLS.clear()
    assert np.array_equal(K.dense(), expected)
    for pair in CALLS:
        seen.add(frozenset(pair))
    assert len(seen) == len(CALLS)
    assert np.array_equal(K.center().dense(), mercer.gram(OVERLAP, X).center().dense())


def test_the_diagonal_alone(tmp_path: Path) -> None:
    X = [*words(10), *words(10)]
    K = mercer.gram(OVERLAP, X, store=tmp_path)
    assert np.array_equal(K.diagonal(), truth(X).diagonal())
    assert calls() == 10
    assert np.array_equal(mercer.gram(OVERLAP, X, store=tmp_path).diagonal(), truth(X).diagonal())
    assert calls() == 0


def test_values_of_other_kernels_are_not_taken(tmp_path: Path) -> None:
    X = words(10)
    mercer.gram(OVERLAP, X, store=tmp_path).dense()
    assert calls() == triangle(10)
    mercer.gram(OVERLAP.assume("PSD"), X, store=tmp_path).dense()
    assert calls() == 0
    assert np.array_equal(mercer.gram(2 * OVERLAP, X, store=tmp_path).dense(), 2 * truth(X))
    assert calls() > 0


def test_a_new_version_computes_again(tmp_path: Path) -> None:
    def made(factor: float, version: str) -> Kernel:
        scope: dict[str, Any] = {}
        exec(f"def edited(x, y): return {factor} * len(x) * len(y)", scope)
        return mercer.kernel(scope["edited"], version=version)

    X = ["a", "bb"]
    old = mercer.gram(made(1.0, "1"), X, store=tmp_path).dense()
    assert np.array_equal(mercer.gram(made(5.0, "1"), X, store=tmp_path).dense(), old)  # the user's word
    assert np.array_equal(mercer.gram(made(5.0, "2"), X, store=tmp_path).dense(), 5 * old)


def test_kernels_without_a_digest_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(DigestError, match="version"):
        mercer.gram(mercer.kernel(overlap), ["a"], store=tmp_path)
    with pytest.raises(DigestError, match="precomputed"):
        mercer.gram(Precomputed(), np.eye(3), store=tmp_path)
    with pytest.raises(DigestError, match="precomputed"):
        mercer.gram(Precomputed() + 1, np.eye(3), store=tmp_path)
    with pytest.raises(DigestError, match="point 1"):
        mercer.gram(OVERLAP, ["a", object()], store=tmp_path)
    assert calls() == 0


def test_data_that_change_are_noticed(tmp_path: Path) -> None:
    """The points are the matrix's own, unless the caller has marked them read-only, and goes back on it."""
    X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    expected = Gaussian().block(X)
    K = mercer.gram(Gaussian(), X, store=tmp_path / "own")
    X[1] += 1
    np.testing.assert_array_equal(K.dense(), expected)
    X.flags.writeable = False
    K = mercer.gram(Gaussian(), X, store=tmp_path / "referred")
    X.flags.writeable = True
    X[1] += 1
    with pytest.raises(InputError, match="point 1 of X has been changed"):
        K.dense()


def test_values_that_are_not_finite_are_not_kept(tmp_path: Path) -> None:
    def odd(x: float, y: float) -> float:
        CALLS.append(("", ""))
        return np.nan if x != y else 1.0

    k = mercer.kernel(odd, version="1")
    for expected in (triangle(4), 6):
        K = mercer.gram(k, [1.0, 2.0, 3.0, 4.0], store=tmp_path).dense()
        assert np.isnan(K).sum() == 12
        assert expected <= calls() <= expected + 4


# -- kinds of data ------------------------------------------------------------------------------
def test_float32_and_float64_data_share_double_precision_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)).astype(np.float32)
    expected = Gaussian(1.5).block(X.astype(np.float64))
    for data in (X, X.astype(np.float64), scipy.sparse.csr_array(X)):
        K = mercer.gram(Gaussian(1.5), data, store=tmp_path)
        assert K.dtype == np.float64
        np.testing.assert_allclose(K.dense(), expected, rtol=1e-14)
    single = mercer.gram(Gaussian(1.5), X, store=tmp_path, dtype=np.float32).dense()
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-7)
    assert mercer.GramStore(tmp_path).info().kernels[0].points == 40
    other = mercer.gram(Gaussian(1.5), X.astype(np.float64) + 1e-12, store=tmp_path)
    assert mercer.GramStore(tmp_path).info().kernels[0].points == 80
    assert other.shape == (40, 40)


@pytest.mark.parametrize("n", [5, 300, 600])
def test_fast_kernels_on_vectors(tmp_path: Path, n: int) -> None:
    X = np.random.default_rng(n).standard_normal((n, 4))
    k = (Gaussian(2.0) * Linear() + 1.0).normalized()
    for order in (np.arange(n), np.random.default_rng(0).permutation(n)):
        K = mercer.gram(k, X[order], store=tmp_path).dense()
        np.testing.assert_allclose(K, k.block(X[order]), rtol=1e-12, atol=1e-14)
        assert np.array_equal(K, K.T)


def test_sets_tuples_and_frames(tmp_path: Path) -> None:
    sets = [{"a", "b"}, {"b"}, set(), {"a", "c", "b"}]
    k = SetIntersection()
    assert isinstance(k.domain, Sets)
    np.testing.assert_allclose(mercer.gram(k, sets, store=tmp_path).dense(), k.block(sets))
    pairs = [([1.0, 2.0], {"a"}), ([0.0, 1.0], {"a", "b"}), ([1.0, 2.0], {"a"})]
    both = mercer.tensor(Gaussian(), k)
    np.testing.assert_allclose(mercer.gram(both, pairs, store=tmp_path).dense(), both.block(pairs))
    frame = pd.DataFrame({"x": np.array([1.0, 2.0, 1.0], np.float32), "y": [1.0, np.nan, 3.0]})
    table = columns({"x": Gaussian(), "y": Linear()}, missing="zero")
    expected = table.block(frame.astype(np.float64))
    for _ in range(2):
        np.testing.assert_allclose(mercer.gram(table, frame, store=tmp_path).dense(), expected, rtol=1e-12)


def test_rules_are_resolved_first(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    K = mercer.gram(Gaussian("median"), X, store=tmp_path)
    np.testing.assert_allclose(K.dense(), K.kernel.block(X), rtol=1e-13)


def test_a_kernel_on_vectors_written_in_python(tmp_path: Path) -> None:
    k = mercer.kernel(lambda x, y: float(x @ y), domain=Vectors(), version="1")
    X = np.random.default_rng(0).standard_normal((20, 3))
    np.testing.assert_allclose(mercer.gram(k, X, store=tmp_path).dense(), X @ X.T)
