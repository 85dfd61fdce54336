"""Random requests against the definition: right values, and no pair computed twice."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import Kernel
from mercer.gram import request
from mercer.gram.store import kernel

SEEN: list[frozenset[int]] = []


def mix(x: int, y: int) -> float:
    SEEN.append(frozenset((x, y)))
    return float((x + 17) * (y + 17) % 8191)


K = mercer.kernel(mix, version="1")


def truth(X: list[int], Y: list[int]) -> np.ndarray:
    return np.array([[float((x + 17) * (y + 17) % 8191) for y in Y] for x in X]).reshape(len(X), len(Y))


@pytest.mark.parametrize("seed", range(12))
def test_random_requests(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(request, "FIRST_VALUES", int(rng.integers(1, 300)))  # cuts of all shapes
    monkeypatch.setattr(kernel, "MAPPED", 2)
    monkeypatch.setattr(kernel, "CHANGED", 3)
    SEEN.clear()

    def some(most: int) -> list[int]:
        return [int(i) for i in rng.integers(0, 700, int(rng.integers(0, most)))]

    for _ in range(8):
        X, Y = some(90), some(90)
        kind = rng.integers(0, 5)
        if kind == 0:
            gram = mercer.gram(K, X, store=tmp_path)
            assert np.array_equal(gram.dense(), truth(X, X))
        elif kind == 1:
            gram = mercer.gram(K, X, X + Y, store=tmp_path)
            assert np.array_equal(gram.dense(), truth(X, X + Y))
        elif kind == 2 and X:
            gram = mercer.gram(K, X, store=tmp_path)
            rows, cols = rng.integers(0, len(X), 20), rng.integers(0, len(X), 30)
            assert np.array_equal(gram.block(rows, cols), truth(X, X)[np.ix_(rows, cols)])
        elif kind == 3:
            gram = mercer.gram(K, X, store=tmp_path)
            assert np.array_equal(gram.cross(Y).dense(), truth(Y, X))
            v = rng.integers(0, 9, len(X)).astype(float)
            assert np.array_equal(gram @ v, truth(X, X) @ v)
        else:
            gram = mercer.gram(K, X, store=tmp_path)
            assert np.array_equal(gram.diagonal(), truth(X, X).diagonal())
    pairs = [pair for pair in SEEN if len(pair) == 2]
    assert len(pairs) == len(set(pairs))


def test_points_that_come_while_a_page_is_being_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel.KernelStore, "flush_if_due", lambda self: None)  # nothing is written yet
    first = mercer.gram(K, [1, 2, 3], store=tmp_path)
    first.block(0)
    second = mercer.gram(K, [3, 4, 5], store=tmp_path)
    second.block(0)
    first._store.flush()  # type: ignore[attr-defined]
    del first, second
    SEEN.clear()
    again = mercer.gram(K, [1, 2, 3, 4, 5], store=tmp_path)
    assert np.array_equal(again.block(2, slice(2, 5)), truth([3], [3, 4, 5]))
    assert SEEN == []


def test_a_store_that_is_replaced_in_the_midst_of_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "SECONDS", 0.0)
    monkeypatch.setattr(kernel, "SHARE", 0.0)
    monkeypatch.setattr(request, "FIRST_VALUES", 50)
    X = list(range(300))
    store = mercer.GramStore(tmp_path)
    gram = mercer.gram(K, X, store=store)
    compute, count = type(K)._block, 0

    def meanwhile(self: Kernel, A: list[int], B: list[int] | None) -> np.ndarray:
        """Another process clears the store, and fills it with the same points in another order."""
        nonlocal count
        count += 1
        if count == 5:
            store.clear()
            other = kernel.KernelStore(gram._store.folder)  # type: ignore[attr-defined]
            where = other.positions(K.domain.digests(X[::-1]))
            for p in (0, 1):
                for q in range(p + 1):
                    rows, columns = (np.flatnonzero(where // 256 == number) for number in (p, q))
                    values = truth([X[::-1][i] for i in rows], [X[::-1][j] for j in columns])
                    other.put((p, q), other.generation, where[rows] % 256, where[columns] % 256, values)
            other.flush()
        return compute(self, A, B)

    monkeypatch.setattr(type(K), "_block", meanwhile)
    for _ in range(3):
        assert np.array_equal(gram.dense(), truth(X, X))
    assert count > 5


def test_threads_share_a_store(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for _ in range(5):
                X = [int(i) for i in rng.choice(500, 80, replace=False)]
                assert np.array_equal(mercer.gram(K, X, store=tmp_path).dense(), truth(X, X))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []
    SEEN.clear()
    X = [int(i) for i in np.random.default_rng(2).choice(500, 80, replace=False)]
    mercer.gram(K, X, store=tmp_path).dense()
    assert SEEN == []
