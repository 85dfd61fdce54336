import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import threadpoolctl

from mercer.engine import pairwise, runs, tiles
from mercer.engine.threads import num_threads
from mercer.errors import MercerError

pytestmark = pytest.mark.native

SHAPES = [
    (0, 0),
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 400),
    (7, 9),
    (8, 8),
    (9, 7),
    (16, 17),
    (31, 31),
    (64, 1),
    (53, 61),
]


@pytest.fixture(params=[1, 2, 3, 7])
def threads(request, monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", str(request.param))
    return request.param


def numbered(m, calls=None):
    def tile(rows, cols):
        if calls is not None:
            calls.append((rows, cols))
        i, j = np.mgrid[rows, cols]
        return (i * m + j).astype(float)

    return tile


def living_workers():
    return [t for t in threading.enumerate() if t.name.startswith("mercer-tile")]


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_every_entry_comes_from_its_own_place(n, m, threads):
    calls = []
    K = tiles.run(numbered(m, calls), n, m, tile_size=8)
    np.testing.assert_array_equal(K, np.arange(n * m, dtype=float).reshape(n, m))
    covered = np.zeros((n, m), dtype=int)
    for rows, cols in calls:
        covered[rows, cols] += 1
    assert np.all(covered == 1)
    assert not living_workers()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 31, 64])
def test_the_upper_triangle_is_a_mirror(n, threads):
    calls = []
    K = tiles.run(numbered(n, calls), n, n, symmetric=True, tile_size=8)
    full = np.arange(n * n, dtype=float).reshape(n, n)
    np.testing.assert_array_equal(np.tril(K), np.tril(full))
    np.testing.assert_array_equal(K, K.T)
    assert all(rows.start >= cols.start for rows, cols in calls)
    down = -(-n // 8)
    assert len(calls) == down * (down + 1) // 2


def test_out_and_dtype():
    frame = np.zeros((40, 60), dtype=np.float32)
    out = frame[::2, 10:50]
    assert tiles.run(numbered(40), 20, 40, out=out, tile_size=8) is out
    np.testing.assert_array_equal(out, np.arange(800).reshape(20, 40))
    assert not frame[1::2].any()
    assert tiles.run(numbered(40), 20, 40, dtype=np.float32, tile_size=8).dtype == np.float32


def test_the_same_bits_on_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(700, 37)), rng.normal(size=(611, 37))

    def tile(rows, cols):
        return np.exp(-pairwise.squared_distances(X[rows], Y[cols])) + X[rows] @ Y[cols].T

    results = []
    for count in (1, 2, 3, 7):
        monkeypatch.setenv("MERCER_NUM_THREADS", str(count))
        results.append(tiles.run(tile, 700, 611, tile_size=128).tobytes())
    assert len(set(results)) == 1


def test_a_tile_has_one_thread_and_leaves_blas_as_it_is(threads):
    seen = []

    def tile(rows, cols):
        pools = threadpoolctl.threadpool_info()
        seen.append((num_threads(), {p["num_threads"] for p in pools if p["user_api"] == "blas"}))
        return np.zeros((rows.stop - rows.start, cols.stop - cols.start))

    before = threadpoolctl.threadpool_info()
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        tiles.run(tile, 20, 20, tile_size=8)
    assert seen == [(1, {2})] * 9
    assert threadpoolctl.threadpool_info() == before
    assert num_threads() == threads


def test_the_first_error_comes_out_as_it_is_and_ends_the_rest(threads):
    started = []
    failure = RuntimeError("the seventh tile")

    def tile(rows, cols):
        started.append(rows)
        if len(started) >= 7:
            raise failure
        return np.zeros((rows.stop - rows.start, cols.stop - cols.start))

    with pytest.raises(RuntimeError) as caught:
        tiles.run(tile, 800, 800, tile_size=8)
    assert caught.value is failure
    assert 7 <= len(started) <= 7 + threads
    assert not living_workers()
    assert num_threads() == threads


def test_an_error_ends_other_tiles_at_their_checkpoint(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "2")
    first = threading.Event()
    waited_in_vain = []

    def tile(rows, cols):
        if rows.start == cols.start == 0:
            first.set()
            for _ in range(1000):
                runs.checkpoint()
                time.sleep(0.01)
            waited_in_vain.append(rows)
        first.wait()
        raise RuntimeError("elsewhere")

    with pytest.raises(RuntimeError, match="elsewhere"):
        tiles.run(tile, 64, 64, tile_size=8)
    assert not waited_in_vain
    assert not living_workers()


def test_checkpoint_means_nothing_elsewhere():
    runs.checkpoint()
    tiles.run(lambda rows, cols: runs.checkpoint() or np.zeros((4, 4)), 4, 4)


def test_a_run_inside_a_tile_starts_no_threads(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "3")
    names = set()

    def inner(rows, cols):
        names.add(threading.current_thread().name)
        return np.ones((rows.stop - rows.start, cols.stop - cols.start))

    def outer(rows, cols):
        before = threading.current_thread().name
        names.clear()
        block = tiles.run(inner, 20, 20, tile_size=8)
        assert names == {before}
        return block[: rows.stop - rows.start, : cols.stop - cols.start]

    monkeypatch.setenv("MERCER_NUM_THREADS", "1")
    assert tiles.run(outer, 30, 30, tile_size=8).all()


def test_a_tile_of_the_wrong_shape_is_refused():
    with pytest.raises(MercerError, match=r"tile of shape \(3, 4\).*shape \(3, 1\)"):
        tiles.run(lambda rows, cols: np.zeros((3, 1)), 3, 4)


def test_progress_shows_nothing_before_a_second(capfd, threads):
    tiles.run(numbered(40), 40, 40, tile_size=8, progress=True)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("n", "m", "d"), [(511, 511, 51), (1030, 1100, 77), (17, 500, 5000)])
def test_dot_products_have_the_same_bits_on_any_number_of_threads(n, m, d, monkeypatch):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    results = set()
    for count in (1, 2, 3, 7):
        monkeypatch.setenv("MERCER_NUM_THREADS", str(count))
        with threadpoolctl.threadpool_limits(limits=count, user_api="blas"):
            results.add(pairwise.dot(X, Y).tobytes())
            results.add(
                tiles.run(lambda rows, cols: pairwise.dot(X[rows], Y[cols]), n, m, tile_size=512).tobytes()
            )
    assert len(results) == 1


# A tile presses Ctrl-C as soon as it starts, when other threads may not even have been started.
INTERRUPTED = """
import os, signal, threading
from mercer.engine import runs, tiles
for attempt in range(8):
    pressed = threading.Lock()
    def tile(rows, cols):
        if pressed.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
        while True:
            runs.checkpoint()
    try:
        tiles.run(tile, 64, 64, tile_size=8)
    except KeyboardInterrupt:
        print("out")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_gets_out_of_tiles_that_never_end():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env=os.environ | {"MERCER_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == 8 * "out\n", done.stderr
    assert done.returncode == 0


# -- limits ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", ["1", "2"])
def test_work_ends_when_it_is_over(threads, monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", threads)
    seen = []

    def tile(rows, cols):
        seen.append((rows, cols))
        time.sleep(0.02)
        return np.zeros((rows.stop - rows.start, cols.stop - cols.start))

    with runs.until(lambda: len(seen) > 3), pytest.raises(runs.Stopped):
        tiles.run(tile, 400, 400, tile_size=4)
    assert len(seen) < 1000  # of 10,000
    tiles.run(tile, 8, 8, tile_size=4)  # it holds no longer


def test_limits_nest_and_concern_one_thread():
    with runs.until(lambda: True):
        with runs.until(lambda: False):
            runs.checkpoint()
        other = threading.Thread(target=runs.checkpoint)
        other.start()
        other.join()
        with pytest.raises(runs.Stopped):
            runs.checkpoint()
    runs.checkpoint()
