import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import threadpoolctl

from mercer import _native
from mercer.engine.threads import Team, inside_tile, num_threads, single_threaded_blas
from mercer.errors import ParameterError

pytestmark = pytest.mark.native


def blas_threads():
    import scipy.linalg.cython_blas  # noqa: F401

    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def _no_setting(monkeypatch):
    monkeypatch.delenv("MERCER_NUM_THREADS", raising=False)


def test_openmp_decides_unless_told(monkeypatch):
    assert num_threads() == _native.max_threads() >= 1
    monkeypatch.setenv("MERCER_NUM_THREADS", "5")
    assert num_threads() == 5


@pytest.mark.parametrize("text", ["0", "-2", "two", "1.5", ""])
def test_a_bad_setting_is_explained(monkeypatch, text):
    monkeypatch.setenv("MERCER_NUM_THREADS", text)
    with pytest.raises(ParameterError, match="MERCER_NUM_THREADS must be an integer of at least 1") as caught:
        num_threads()
    assert repr(text) in str(caught.value)


def test_threadpoolctl_is_honoured():
    with threadpoolctl.threadpool_limits(limits=3, user_api="openmp"):
        assert num_threads() == 3
        with threadpoolctl.threadpool_limits(limits=1):
            assert num_threads() == 1
        assert num_threads() == 3


def test_one_thread_inside_a_tile_and_only_in_the_thread_that_runs_it(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "4")
    seen = []
    with inside_tile():
        with inside_tile():
            assert num_threads() == 1
        assert num_threads() == 1
        other = threading.Thread(target=lambda: seen.append(num_threads()))
        other.start()
        other.join()
    assert seen == [4]
    assert num_threads() == 4


def test_blas_is_held_while_anyone_holds_it_and_then_restored():
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        assert before
        assert set(before) == {2}
        inside, leave = threading.Event(), threading.Event()

        def hold():
            with single_threaded_blas():
                inside.set()
                leave.wait()

        other = threading.Thread(target=hold)
        with single_threaded_blas():
            other.start()
            inside.wait()
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
        leave.set()
        other.join()
        assert blas_threads() == before


def test_blas_is_restored_after_an_error():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), single_threaded_blas():
        _ = 1 / 0
    assert blas_threads() == before


FORKED = """
import os, signal, numpy as np
from mercer.kernels import Gaussian
X = np.random.default_rng(0).standard_normal((600, 5))
K = Gaussian(1.0).block(X)
child = os.fork()
if child == 0:
    signal.alarm(20)  # a child that hangs does not stay behind
    os._exit(0 if np.array_equal(Gaussian(1.0).block(X), K) else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_process_does_not_wait_for_threads_that_stayed_behind():
    env = {**os.environ, "MERCER_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", FORKED], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "0"


def test_a_team_shares_the_threads(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "5")
    team, seen = Team(), []
    with team.member():
        alone = num_threads()

        def work():
            before = num_threads()
            with team.member(counted=True):
                seen.append((before, num_threads()))

        team.count(1)
        assert (alone, num_threads()) == (5, 2)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()
        assert num_threads() == 5
        with inside_tile():
            assert num_threads() == 1
    assert seen == [(5, 2)]
    assert num_threads() == 5
    with pytest.raises(ZeroDivisionError), team.member():
        raise ZeroDivisionError
    assert team.size == 0
