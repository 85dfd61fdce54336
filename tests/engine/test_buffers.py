"""The buffer pool: memory is used again, never by two arrays at a time, and within its bound."""

import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mercer.engine import buffers
from mercer.engine.buffers import BufferPool, pool
from mercer.kernels import Gaussian
from mercer.machines import SVC

#: Bytes of arrays that the pool takes.
SIZE = 4 << 20


def bounds(array):
    start = array.__array_interface__["data"][0]
    return start, start + array.nbytes


def free_bytes(some):
    return sum(buffer.nbytes for buffer in some.free)


def problem(n=2100, seed=0):
    """More points than one working set has, so that the solver has a row cache."""
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] > 0


def test_memory_is_used_again():
    some = BufferPool()
    first = some.take((SIZE // 8,), np.float64)
    place = bounds(first)
    assert some.free == []
    del first
    assert free_bytes(some) == SIZE
    again = some.take((SIZE // 8, 2), np.float32)
    assert bounds(again) == place
    assert some.free == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_arrays_are_as_those_of_numpy(dtype):
    array = BufferPool().take((3, SIZE), dtype)
    assert array.shape == (3, SIZE)
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.flags.aligned
    array[...] = 1
    assert array.sum(dtype=np.int64) == 3 * SIZE


@pytest.mark.parametrize("view", [lambda a: a[5:9, ::2], lambda a: a.T, lambda a: memoryview(a), np.ravel])
def test_a_view_keeps_the_buffer(view):
    some = BufferPool()
    array = some.take((SIZE // 64, 64), np.uint8)
    part = view(array)
    del array
    assert some.free == []
    other = some.take((SIZE,), np.uint8)
    assert not np.shares_memory(np.asarray(part), other)
    del part
    assert free_bytes(some) == SIZE


def test_small_arrays_are_left_to_the_allocator():
    some = BufferPool()
    array = some.take((buffers.SMALL - 1,), np.uint8)
    del array
    assert some.free == []
    assert some.take((0, 5), np.float32).shape == (0, 5)


def test_the_smallest_buffer_that_fits_is_taken_and_none_that_is_far_too_large():
    some = BufferPool()
    arrays = [some.take((k * SIZE,), np.uint8) for k in (5, 3, 2)]
    places = {len(a) // SIZE: bounds(a)[0] for a in arrays}
    arrays.clear()
    a = some.take((2 * SIZE - 7,), np.uint8)
    assert bounds(a)[0] == places[2]
    assert len(a) == 2 * SIZE - 7
    b = some.take((SIZE,), np.uint8)  # 3 and 5 times as large would be a waste
    assert bounds(b)[0] not in places.values()
    assert free_bytes(some) == 8 * SIZE


def test_free_buffers_are_bounded_and_the_oldest_go_first():
    some = BufferPool(3 * SIZE)
    arrays = [some.take((SIZE + k,), np.uint8) for k in range(5)]
    while arrays:
        arrays.pop(0)
        assert free_bytes(some) <= 3 * SIZE
    assert [buffer.nbytes - SIZE for buffer in some.free] == [3, 4]
    some.take((4 * SIZE,), np.uint8)
    assert free_bytes(some) <= 3 * SIZE
    some.clear()
    assert some.free == []


def test_threads_never_share_a_buffer():
    some, failures = BufferPool(8 * SIZE), []
    barrier = threading.Barrier(6)

    def work(mark):
        barrier.wait()
        for k in range(60):
            array = some.take((buffers.SMALL + 64 * (k % 3),), np.uint8)
            array[:] = mark
            if k % 7 == 0:
                some.clear()
            if not (array == mark).all():
                failures.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert free_bytes(some) <= 8 * SIZE


def test_an_array_freed_while_the_pool_is_at_work_does_not_wait():
    some = BufferPool()
    array = some.take((SIZE,), np.uint8)
    with some._lock:
        del array  # as the garbage collector may, within an operation of the pool
    assert some.free == []


def test_fits_use_the_rows_of_the_fit_before():
    X, y = problem()
    gc.collect()
    pool.clear()
    SVC(Gaussian(1.0), tol=1e-3).fit(X, y)
    before = [bounds(buffer) for buffer in pool.free]
    assert len(before) == 1
    for _ in range(20):  # neither more buffers nor others
        SVC(Gaussian(1.0), tol=1e-3).fit(X, y)
        assert [bounds(buffer) for buffer in pool.free] == before


def test_fits_do_not_depend_on_what_a_buffer_held():
    X, y = problem()
    gc.collect()
    pool.clear()
    fresh = SVC(Gaussian(1.0)).fit(X, y)
    for buffer in pool.free:
        buffer.view(np.float32)[:] = np.nan
    assert pool.free
    again = SVC(Gaussian(1.0)).fit(X, y)
    assert np.array_equal(fresh.dual_coef_, again.dual_coef_)
    assert fresh.intercept_ == again.intercept_


def test_fits_in_threads_do_not_disturb_each_other():
    tasks = [problem(seed=seed) for seed in range(3)]

    def fit(task):
        return SVC(Gaussian(1.0)).fit(*task).decision_function(task[0])

    with ThreadPoolExecutor(3) as executor:
        for alone, together in zip(map(fit, tasks), executor.map(fit, tasks * 2), strict=False):
            np.testing.assert_allclose(together, alone, atol=2e-3)


FORKED = """
import os, signal, numpy as np
from mercer.engine.buffers import pool
from mercer.kernels import Gaussian
from mercer.machines import SVC
X = np.random.default_rng(0).standard_normal((2100, 3))
y = X[:, 0] > 0
def fit():
    return SVC(Gaussian(1.0)).fit(X, y).decision_function(X)
before = fit()
held = pool.take((1 << 22,), np.uint8)
held[:] = 7
assert pool.free
with pool._lock:
    child = os.fork()
if child == 0:
    signal.alarm(60)  # a child that hangs does not stay behind
    good = pool.free == [] and np.allclose(fit(), before, atol=2e-3) and (held == 7).all()
    os._exit(0 if good else 3)
after = fit()
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, np.array_equal(before, after), (held == 7).all())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_process_has_a_pool_of_its_own():
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["0", "True", "True"]
