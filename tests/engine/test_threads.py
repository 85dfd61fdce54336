import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest
import threadpoolctl

from mercer import Kernel, _native
from mercer.domains import Vectors
from mercer.engine.threads import Team, inside_tile, num_threads, single_threaded_blas, user_code
from mercer.errors import ParameterError
from mercer.kernels import Anova, Cosine, Gaussian, Linear, Polynomial
from mercer.machines import (
    SVC,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    RepresenterMachine,
)

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


class Watching(Kernel):
    """A kernel of the user, with blocks that note the threads of BLAS."""

    seen: ClassVar[set[int]] = set()

    @property
    def domain(self):
        return Vectors(dense=True)

    def __call__(self, x, y):
        return float(np.dot(x, y))

    def _block(self, X, Y):
        self.seen.update(blas_threads())
        return X @ (X if Y is None else Y).T


@pytest.mark.parametrize("count", ["1", "2"])
@pytest.mark.parametrize("n", [100, 600])
def test_a_kernel_of_the_user_runs_without_limits_on_blas(n, count, monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", count)
    X = np.random.default_rng(0).standard_normal((n, 2))
    Watching.seen.clear()
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        Watching().block(X)
        with single_threaded_blas(), single_threaded_blas():  # as a solver that asks for values
            Watching().block(X)
            assert set(blas_threads()) == {1}
        KernelLogistic(Watching() + 1.0).fit(X, X[:, 0] > 0)
    assert Watching.seen == {2}


@pytest.mark.parametrize(
    "machine", [KernelLogistic, KernelRidge, SVC, KernelPCA, KernelKMeans], ids=lambda m: m.__name__
)
def test_a_callback_runs_without_limits_on_blas(machine, monkeypatch):
    monkeypatch.setattr("mercer.engine.runs.PAUSE", 0.0)
    seen = set()
    X = np.random.default_rng(0).standard_normal((300, 2))
    y = (X[:, 0] * X[:, 1] > 0) + (X[:, 0] > 1)
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        model = machine(Gaussian(1.0)).set_callbacks(lambda progress: seen.update(blas_threads()))
        model.fit(X, y)
    assert seen == {2}


def test_a_loss_of_the_user_runs_without_limits_on_blas():
    seen = set()

    def squared(y, f):
        seen.update(blas_threads())
        return float(np.sum((y - f) ** 2)), 2 * (f - y)

    X = np.random.default_rng(0).standard_normal((50, 2))
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        RepresenterMachine(Gaussian(1.0), loss=squared, alpha=0.1).fit(X, X[:, 0])
    assert seen == {2}


def test_user_code_gives_up_the_limits_of_its_own_thread_alone():
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        inside, leave = threading.Event(), threading.Event()

        def hold():
            with single_threaded_blas():
                inside.set()
                leave.wait()

        other = threading.Thread(target=hold)
        with single_threaded_blas():
            with user_code():
                assert set(blas_threads()) == {2}
            assert set(blas_threads()) == {1}
            other.start()
            inside.wait()
            with user_code():
                assert set(blas_threads()) == {1}  # the other thread computes
            leave.set()
            other.join()
            with pytest.raises(ZeroDivisionError), user_code():
                _ = 1 / 0
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}


@pytest.mark.parametrize(
    "k",
    [
        Gaussian(1.0).warped(np.linspace(-1, 1, 400).reshape(80, 5), np.eye(80)),
        Linear(),
        Cosine(),
        Anova(2),
        Polynomial(2) + Gaussian(2.0).warped(np.eye(5), np.eye(5)),
    ],
    ids=lambda k: type(k).__name__,
)
def test_tiles_of_kernels_of_the_package_do_not_depend_on_the_threads_of_blas(k, monkeypatch):
    X = k._prepare(k.domain.validate(np.random.default_rng(0).standard_normal((700, 5))))
    results = set()
    for count in (1, 2, 3):
        monkeypatch.setenv("MERCER_NUM_THREADS", str(count))
        with threadpoolctl.threadpool_limits(limits=count, user_api="blas"):
            results.add(k._tiles(X, None).tobytes())
    assert len(results) == 1


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
