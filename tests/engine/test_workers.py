"""Python kernels in worker processes: the same values, errors that name the pair, and a way out."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mercer
from mercer.domains import Vectors
from mercer.engine import workers
from mercer.errors import InputError, ParameterError, WorkerError
from mercer.kernel import Kernel


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two processes, whatever the work is worth."""
    monkeypatch.setattr(workers, "COLD", (0.0, 0.0))
    monkeypatch.setattr(workers, "WARM", (0.0, 0.0))
    monkeypatch.setenv("MERCER_NUM_THREADS", "2")
    yield
    workers._stop_all()


def no_processes(*args: Any) -> None:
    raise AssertionError("processes were started")


# -- in the calling process ---------------------------------------------------------------------
@pytest.mark.parametrize("n", [0, 1, 2, 5, 31])
@pytest.mark.parametrize("m", [None, 0, 1, 4])
def test_blocks_of_any_shape(n: int, m: int | None) -> None:
    rows, columns = list(range(n)), None if m is None else list(range(10, 10 + m))
    K = workers.block(lambda x, y: 100 * max(x, y) + min(x, y), rows, columns)
    others = rows if columns is None else columns
    assert K.shape == (n, len(others))
    assert np.array_equal(K, [[100 * max(x, y) + min(x, y) for y in others] for x in rows] or K)


@pytest.mark.parametrize("width", [None, 1, 7])
def test_numbers_of_pairs(width: int | None) -> None:
    pairs = [(i, j) for i in range(40) for j in range(i + 1 if width is None else width)]
    assert list(workers._pairs(0, len(pairs), width)) == pairs
    assert [workers._pair(t, width) for t in range(len(pairs))] == pairs
    assert list(workers._pairs(11, 23, width)) == pairs[11:23]
    huge = 10**16
    assert workers._pair(huge * (huge + 1) // 2 + 5, None) == (huge, 5)


def test_little_work_starts_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr(workers, "time", SimpleNamespace(perf_counter=lambda: 1e-4 * next(clock)))
    monkeypatch.setattr(workers, "_executor", no_processes)
    k = mercer.kernel(lambda x, y: float(x * y))
    assert np.array_equal(k.block(range(100)), np.outer(range(100), range(100)))


def test_one_worker_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "COLD", (0.0, 0.0))
    monkeypatch.setattr(workers, "_executor", no_processes)
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")
    assert workers.num_workers() == 1
    assert workers.block(lambda x, y: 1.0, range(20)).sum() == 400
    monkeypatch.setenv("MERCER_NUM_THREADS", "many")
    with pytest.raises(ParameterError, match="MERCER_NUM_THREADS"):
        workers.num_workers()


class Picky(Kernel):
    """Fails at one pair."""

    bad: int

    def __call__(self, x: Any, y: Any) -> float:
        if {x, y} == {self.bad, 3}:
            raise KeyError("no such thing")
        return 1.0


@pytest.mark.parametrize("bad", [5, 700])
def test_errors_name_the_pair(bad: int, tmp_path: Path) -> None:
    X = list(range(800))
    with pytest.raises(KeyError, match="no such thing") as caught:
        Picky(bad).block(X)
    assert caught.value.__notes__[-1] == f"at the pair (X[{bad}], X[3])"  # after those of a worker process
    with pytest.raises(KeyError) as caught:
        Picky(bad).block(X[1:], X)
    assert caught.value.__notes__ == [f"at the pair (X[2], Y[{bad}])"]
    with pytest.raises(KeyError) as caught:
        mercer.gram(Picky(bad), X).block(np.array([9, bad]), slice(2, 5))
    assert caught.value.__notes__[-1] == f"at the pair (X[{bad}], X[3])"  # after those of a worker process
    stored = type("Stored", (Picky,), {"version": "1", "__module__": __name__})
    Picky.version = "1"  # type: ignore[attr-defined]
    try:
        with pytest.raises(KeyError) as caught:
            mercer.gram(stored(bad), X, store=tmp_path).block(np.array([9, bad]), slice(2, 5))
    finally:
        del Picky.version  # type: ignore[attr-defined]
    assert caught.value.__notes__[-1] == f"at the pair (X[{bad}], X[3])"  # after those of a worker process


# -- in processes -------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.usefixtures("_at_once")
def test_processes_give_the_same_values(tmp_path: Path) -> None:
    calling = os.getpid()

    def where(x: Any, y: Any) -> float:
        (tmp_path / str(os.getpid())).touch()
        while os.getpid() != calling and len(list(tmp_path.iterdir())) < 3:
            time.sleep(0.01)  # for the other one to come up, which takes it as long as it takes
        return float(os.getpid())

    def product(x: Any, y: Any) -> float:
        assert x.base is not None and not x.flags.writeable  # noqa: PT018  (shared, and safe from the function)
        return float(x @ y)

    assert len(np.unique(workers.block(where, range(25)))) == 3  # this one begins, two go on
    X = np.random.default_rng(0).standard_normal((60, 3))
    k = mercer.kernel(lambda x, y: float(x @ y), domain=Vectors())
    expected = np.array([[float(x @ y) for y in X] for x in X])
    assert np.array_equal(k.block(X), expected)
    assert np.array_equal(k.block(X[:7], X[20:]), expected[:7, 20:])
    assert np.array_equal((2 * k + 1).block(X), 2 * expected + 1)
    assert np.array_equal(mercer.gram(k, X).dense(), expected)
    X.flags.writeable = False
    assert np.array_equal(workers.block(product, X), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("_at_once")
def test_errors_of_processes_name_the_pair() -> None:
    def picky(x: int, y: int) -> float:
        if (x, y) == (9, 4):
            raise InputError("not this one")
        return 1.0

    def odd(x: int, y: int) -> float:
        class Local(Exception):
            pass

        if x > 2:
            raise Local("cannot be pickled")
        return 1.0

    with pytest.raises(InputError, match="not this one") as caught:
        workers.block(picky, range(12))
    assert caught.value.__notes__[-1] == "at the pair (X[9], X[4])"
    assert "in picky" in caught.value.__notes__[0]
    with pytest.raises(WorkerError, match="Local: cannot be pickled") as other:
        workers.block(odd, range(12), range(5))
    pair = re.fullmatch(r"at the pair \(X\[(\d+)\], Y\[\d\]\)", other.value.__notes__[-1])
    assert pair is not None
    assert int(pair[1]) > 2  # whichever process came first
    assert np.array_equal(workers.block(lambda x, y: x * y, range(9)), np.outer(range(9), range(9)))


@pytest.mark.slow
@pytest.mark.usefixtures("_at_once")
def test_no_workers_within_workers() -> None:
    from mercer.engine import workers as same

    K = workers.block(lambda x, y: float(same.num_workers()), range(8))
    assert K[0, 0] == 2  # computed here
    assert (K[2:] == 1).all()


@pytest.mark.usefixtures("_at_once")
def test_a_function_that_cannot_be_sent_is_computed_here_and_told() -> None:
    lock = threading.Lock()

    def guarded(x: int, y: int) -> float:
        with lock:
            return float(x * y)

    with pytest.warns(RuntimeWarning, match=r"guarded.* cannot be sent to worker processes \(TypeError"):
        K = workers.block(guarded, range(15))
    assert np.array_equal(K, np.outer(range(15), range(15)))


@pytest.mark.slow
@pytest.mark.usefixtures("_at_once")
def test_a_module_that_processes_cannot_import(monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("only_here")
    exec("def product(x, y): return float(x * y)", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.warns(RuntimeWarning, match="cannot be sent to worker processes .*only_here"):
        K = workers.block(module.product, range(15))
    assert np.array_equal(K, np.outer(range(15), range(15)))


@pytest.mark.slow
@pytest.mark.usefixtures("_at_once")
def test_a_process_that_dies_is_an_error() -> None:
    def deadly(x: int, y: int) -> float:
        if x == 5:
            os._exit(3)
        return 1.0

    with pytest.raises(WorkerError, match="a worker process died"):
        workers.block(deadly, range(10))
    assert workers.block(lambda x, y: 1.0, range(10)).sum() == 100  # new ones are started


# The function stands still at one pair, in this process or in a worker, and says that it is there.
INTERRUPTED = """
import mercer, os, time
from mercer.engine import workers
workers.COLD = workers.WARM = (0.0, 0.0)
@mercer.kernel
def until(x, y):
    if (x, y) == STOP:
        os.write(1, b"there\\n")
        time.sleep(600)
    return 1.0
try:
    RUN
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("stop", "run", "threads"),
    [
        ("(0, 0)", "until.block(range(100))", "2"),  # still in the calling process
        ("(700, 20)", "mercer.gram(until.normalized(), range(900)).dense()", "2"),
        ("(50, 20)", "until.block(range(100))", "1"),
    ],
)
def test_ctrl_c(stop: str, run: str, threads: str) -> None:
    script = INTERRUPTED.replace("STOP", stop).replace("RUN", run)
    env = {**os.environ, "MERCER_NUM_THREADS": threads}
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", script], env=env, start_new_session=True, **options)
    assert process.stdout is not None
    assert process.stdout.readline() == "there\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = process.communicate(timeout=300)  # the function would stand still for longer
    assert out == "interrupted\n"
    assert process.returncode == 0, err
    assert "Traceback" not in err
