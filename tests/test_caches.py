"""Values remembered beside the objects that they were derived from."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import time

import numpy as np

from mercer.caches import Cache


def test_values_are_made_once_and_go_with_their_object() -> None:
    made: list[int] = []
    cache = Cache()

    def make(A: np.ndarray) -> int:
        made.append(len(A))
        return len(A)

    A = np.zeros((3, 2))
    assert cache.of(A, make) == cache.of(A, make) == 3
    assert made == [3]
    assert cache.of(A.copy(), make) == 3  # another object, though equal
    assert made == [3, 3]
    del A
    gc.collect()
    assert cache._known == {}


def test_copies_are_empty() -> None:
    cache, A = Cache(), np.zeros(2)
    cache.of(A, len)
    for twin in (pickle.loads(pickle.dumps(cache)), copy.deepcopy(cache), copy.copy(cache)):
        assert twin._known == {}
        assert twin.of(A, lambda _: 7) == 7


def test_threads_wait_for_the_first() -> None:
    cache, A = Cache(), np.zeros(2)
    made: list[int] = []

    def make(_: np.ndarray) -> int:
        time.sleep(0.02)
        made.append(1)
        return 1

    threads = [threading.Thread(target=cache.of, args=(A, make)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
