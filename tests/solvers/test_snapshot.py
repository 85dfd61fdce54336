"""Checkpoints of iterations: whole files, of the right problem, and runs that go on after a kill."""

import inspect
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mercer.errors import InputError, StoreError
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge
from mercer.solvers import solve_ridge
from mercer.solvers.snapshot import Snapshot, fingerprint


def problem(n=400):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)


def test_save_load_remove(tmp_path):
    path = tmp_path / "state"
    snapshot = Snapshot(path, "name")
    assert snapshot.load() is None
    snapshot.save(np.arange(3.0))  # too soon
    assert not path.exists()
    snapshot.save(np.arange(3.0), now=True)
    np.testing.assert_array_equal(Snapshot(path, "name").load(), np.arange(3.0))
    assert os.listdir(tmp_path) == ["state"]
    with pytest.raises(InputError, match="another problem"):
        Snapshot(path, "other").load()
    path.write_bytes(b"torn")
    with pytest.raises(StoreError, match="not a checkpoint"):
        snapshot.load()
    snapshot.remove()
    assert snapshot.load() is None


def test_fingerprints_separate_their_parts():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint(np.zeros(2)) != fingerprint(np.zeros(3))


def test_a_stopped_fit_goes_on_from_its_checkpoint(tmp_path):
    X, y = problem()
    path = tmp_path / "ridge"
    K = Gaussian(0.5).block(X)
    first = solve_ridge(K, y[:, None], 1e-2, solver="cg", tol=1e-9, max_iter=4, checkpoint=path)
    assert not first.converged
    assert path.exists()
    with pytest.raises(InputError, match="another problem"):
        solve_ridge(K, y[:, None], 1e-3, solver="cg", checkpoint=path)
    second = solve_ridge(K, y[:, None], 1e-2, solver="cg", tol=1e-9, checkpoint=path)
    assert second.converged
    assert second.stats["resumed"]
    assert not path.exists()
    np.testing.assert_allclose(
        second.value.coefficients[:, 0], np.linalg.solve(K + 1e-2 * np.eye(len(K)), y), rtol=1e-6, atol=1e-6
    )


CHILD = """
import os, signal, sys
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge
from mercer.solvers.snapshot import Snapshot

save = Snapshot.save
saves = []

def late_killed(self, value):
    save(self, value, now=True)
    saves.append(value)
    if len(saves) == 60:  # of some 80: after a few, rounding decides whether the rest takes fewer
        os.kill(os.getpid(), signal.SIGKILL)

Snapshot.save = late_killed
machine = KernelRidge(Gaussian(0.5), alpha=1e-2, solver="cg", tol=1e-8, checkpoint=sys.argv[1])
machine.fit(*problem())
"""
CHILD = "import numpy as np\n" + inspect.getsource(problem) + CHILD


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_killed_fit_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "ridge"
    child = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True)
    assert child.returncode == -signal.SIGKILL
    assert path.exists()
    X, y = problem()
    options = {"alpha": 1e-2, "solver": "cg", "tol": 1e-8}
    resumed = KernelRidge(Gaussian(0.5), **options, checkpoint=path).fit(X, y)
    assert resumed.solution_.stats["resumed"]
    fresh = KernelRidge(Gaussian(0.5), **options).fit(X, y)
    assert resumed.n_iter_ < 0.75 * fresh.n_iter_
    np.testing.assert_allclose(resumed.predict(X), fresh.predict(X), atol=1e-6)
    assert not path.exists()


def test_a_warm_start_saves_products():
    X, y = problem()
    machine = KernelRidge(Gaussian(0.5), alpha=1e-2, solver="cg", tol=1e-9, warm_start=True)
    first = machine.fit(X, y).n_iter_
    assert machine.fit(X, y).n_iter_ == 1
    assert first > 1
    machine.fit(X[:-1], y[:-1])  # another number of points: from the beginning
    expected = np.linalg.solve(Gaussian(0.5).block(X[:-1]) + 1e-2 * np.eye(len(X) - 1), y[:-1])
    np.testing.assert_allclose(machine.dual_coef_, expected, rtol=1e-5, atol=1e-5)


def test_auto_says_why_it_iterates(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1MB")
    X, y = problem()
    status = KernelRidge(Gaussian(0.5), alpha=1e-2).fit(X, y).solution_.status
    assert "converged in" in status
    assert "chosen because a factor would take 0.61 MiB" in status
