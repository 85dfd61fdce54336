"""Values that Python code computes are computed once for each pair of points."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest

from mercer import kernel
from mercer.domains import Vectors
from mercer.gram import KernelGram, gram
from mercer.gram.kept import KeptValues
from mercer.kernel import Kernel
from mercer.kernels import Gaussian, Precomputed
from mercer.machines import SVC, SVR, KernelKMeans, KernelLogistic, KernelPCA, KernelRidge, OneClassSVM

X = np.random.default_rng(0).standard_normal((60, 3))
y = np.where(X[:, 0] > 0, 1, -1)
PAIRS = 60 * 61 // 2

#: Calls that test symmetry (both orders of the pairs of 8 points), and that look at the diagonal first.
SYMMETRY, DIAGONAL = 8 * 8, 60


def counted():
    calls: Counter[tuple[int, int]] = Counter()

    def value(i, j):
        calls[min(i, j), max(i, j)] += 1
        return float(np.exp(-0.5 * np.sum((X[i] - X[j]) ** 2)))

    return calls, kernel(value)


def assert_once(calls, more=SYMMETRY):
    """Each pair at most once, apart from these calls."""
    assert calls.total() <= PAIRS + more


def test_a_check():
    calls, k = counted()
    G = gram(k, list(range(60)))
    G.check()
    assert_once(calls)
    seen = calls.total()
    G.check()
    G.repair("clip")
    G.spectrum(3)
    G.center().dense()
    G.normalize().dense()
    np.testing.assert_allclose(G @ np.ones(60), Gaussian(1.0).block(X).sum(axis=1))
    assert calls.total() <= seen + SYMMETRY  # symmetry again


MACHINES = [
    lambda k: KernelRidge(k, alpha=0.1),
    lambda k: KernelRidge(k, alpha=0.1, solver="cg"),
    lambda k: KernelRidge(k, alpha=0.1, solver="eigen", fit_intercept=True),
    lambda k: SVC(k),
    lambda k: SVC(k, probability=True),
    lambda k: SVR(k),
    lambda k: OneClassSVM(k, nu=0.2),
    lambda k: KernelLogistic(k, alpha=0.1),
    lambda k: KernelPCA(k, n_components=2),
    lambda k: KernelKMeans(k, n_clusters=2, random_state=0),
]


@pytest.mark.parametrize("make", MACHINES)
def test_a_machine(make):
    calls, k = counted()
    machine = make(k).fit(list(range(60)), y)
    assert_once(calls, SYMMETRY + DIAGONAL if isinstance(machine, KernelLogistic) else SYMMETRY)


@pytest.mark.parametrize("make", [lambda k: SVC(k), lambda k: KernelRidge(k, alpha=0.1)])
def test_a_machine_predicts_as_with_the_compiled_kernel(make):
    _, k = counted()
    rows = list(range(60))
    name = "predict" if isinstance(make(k), KernelRidge) else "decision_function"
    ours, theirs = make(k).fit(rows, y), make(Gaussian(1.0)).fit(X, y)
    np.testing.assert_allclose(getattr(ours, name)(rows), getattr(theirs, name)(X), atol=1e-6)


def test_any_order_of_requests_computes_each_pair_once():
    rng = np.random.default_rng(1)
    calls, k = counted()
    K = Gaussian(1.0).block(X)
    G = gram(k, list(range(60)), dtype=np.float64)
    for _ in range(20):
        rows = rng.choice(60, rng.integers(0, 12))
        cols = slice(*sorted(rng.integers(0, 61, 2))) if rng.random() < 0.3 else rng.choice(60, 15)
        np.testing.assert_allclose(G.block(rows, cols), K[rows][:, cols], rtol=1e-12)
        assert max(calls.values(), default=1) == 1
    out = np.zeros((3, 60), dtype=np.float32)
    G._in_single()._fill_slots(np.array([7, 2]), np.array([2, 0]), out)
    np.testing.assert_array_equal(out[[2, 0]], K[[7, 2]].astype(np.float32))
    part = G.select(np.arange(5, 25))
    np.testing.assert_allclose(part.dense(), K[5:25, 5:25], rtol=1e-12)
    np.testing.assert_allclose(G.dense(), K, rtol=1e-12)
    part.dense()[0, 0] = 99.0  # a copy
    G.dense()[0, 0] = 99.0
    assert part.block(0, 0)[0, 0] == G.block(0, 0)[0, 0] == 1.0
    np.testing.assert_array_equal(G.diagonal(), np.ones(60))
    assert calls.total() <= PAIRS + 20 * 21 // 2  # the part computes what neither knew


def test_single_precision_data_are_widened_once():
    seen = Counter()

    def value(a, b):
        seen[tuple(sorted([a.tobytes(), b.tobytes()]))] += 1
        return float(a @ b)

    Z = X.astype(np.float32)
    G = gram(kernel(value, domain=Vectors()), Z)
    for _ in range(3):
        assert G.check()
        G._in_double().dense()
    assert seen.total() <= 2 * (PAIRS + 3 * 64)


def test_what_is_compiled_given_or_too_large_is_not_kept(monkeypatch):
    for G in (gram(Gaussian(1.0), X), gram(Precomputed(), np.eye(3)), gram(Gaussian(1.0), X, X[:3])):
        G @ np.ones(G.shape[1])
        assert G._kept is None
    calls, k = counted()
    assert gram(k, [1, 2], [3, 4])._kept is None
    monkeypatch.setattr("mercer.memory.HELD_BYTES", KeptValues.nbytes_of(59))
    G = gram(k, list(range(60)), dtype=np.float64)
    np.testing.assert_array_equal(G.dense(), G.dense())
    assert set(calls.values()) == {2}


class Sums(Kernel):
    def __call__(self, x, y):
        return float(x + y)


def test_copies_keep_nothing():
    G = gram(Sums(), list(range(60)))
    K = G.dense()
    assert len(pickle.dumps(G)) < 8 * 60 * 60
    again = pickle.loads(pickle.dumps(G))
    assert type(again) is KernelGram
    np.testing.assert_array_equal(again.dense(), K)


@pytest.mark.parametrize("make", [lambda k: SVC(k), lambda k: KernelRidge(k, alpha=0.1)])
def test_a_fit_compiles_once_and_asks_for_the_domain_once(make, monkeypatch):
    compiled, asked = [], []

    class Counted(Gaussian):
        @property
        def domain(self):
            asked.append(1)
            return Vectors()

    program = Kernel._program
    monkeypatch.setattr(Kernel, "_program", lambda *a, **b: compiled.append(1) or program(*a, **b))
    k = Counted(1.0)
    make(k).fit(X, y)
    assert (len(compiled), len(asked)) == (1, 1)
    assert "domain" not in k.__getstate__()


@pytest.mark.parametrize(("dtype", "asked"), [(np.float64, 0), (np.float32, 1)])
def test_the_type_of_values_is_asked_once_for_a_kernel(dtype, asked):
    blocks = []

    class Product(Kernel):
        @property
        def domain(self):
            return Vectors()

        def __call__(self, x, y):
            return float(x @ y)

        def _block(self, A, B):
            blocks.append(A.shape)
            return A @ (A if B is None else B).T

    k, Z = Product(), X.astype(dtype)
    for points in (Z, Z[:40], Z[1:]):
        assert gram(k, points).dtype == gram(k, points, Z[:3]).dtype == dtype
    assert blocks == [(1, 3)] * asked
    assert gram(k, X, Z).dtype == np.float64
