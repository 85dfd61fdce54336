"""Weights by alignment: against nonnegative least squares on whole matrices."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

from mercer.solvers.mixture import alignment as module
from mercer.solvers.mixture.alignment import nonnegative_minimum, solve_alignment
from mercer.solvers.watch import Watch


def watch(callbacks=()):
    return Watch(1e-6, None, callbacks, False, "test")


def draw(n, p, c, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.poisson(0.5, (n, p)).astype(float)
    F = F[:, np.ptp(F, axis=0) > 0]
    Y = np.where(rng.random((n, c)) < 0.4, 1.0, -1.0) + 0.3 * rng.standard_normal((n, c)) * (c > 1)
    return F, Y - Y.mean(axis=0)


def units(F):
    V = F - F.mean(axis=0)
    return V / np.linalg.norm(V, axis=0)


def alignment(V, d, Y):
    K, L = (V * d) @ V.T, Y @ Y.T
    return (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())


@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("n", "p", "c"), [(12, 6, 1), (15, 40, 2), (18, 150, 1)], ids=["few", "two-targets", "many"]
)
def test_weights_are_those_of_least_squares(n, p, c, layout):
    F, Y = draw(n, p, c)
    V = units(F)
    pairs = np.einsum("iz,jz->ijz", V, V).reshape(n * n, -1)
    expected, residual = nnls(pairs, (Y @ Y.T).ravel())
    found = solve_alignment(layout(F), Y, watch(), tol=1e-12)
    assert found.converged
    assert found.gap <= 1e-12
    np.testing.assert_allclose(found.value * n * F.var(axis=0), expected, atol=1e-9)
    cosine = found.stats["objective"]
    assert cosine == pytest.approx(alignment(V, expected, Y), rel=1e-12)
    assert residual**2 == pytest.approx((1 - cosine**2) * ((Y @ Y.T) ** 2).sum(), rel=1e-10)


def test_no_other_weights_align_better():
    F, Y = draw(15, 10, 1)
    V, found = F - F.mean(axis=0), solve_alignment(F, Y, watch())
    rng = np.random.default_rng(5)
    for _ in range(200):
        d = rng.dirichlet(np.full(F.shape[1], rng.choice([0.1, 1.0])))
        assert alignment(V, d, Y) <= found.stats["objective"] + 1e-12
        near = np.maximum(found.value + 0.01 * found.value.max() * rng.standard_normal(len(d)), 0.0)
        assert alignment(V, near, Y) <= found.stats["objective"] + 1e-12


def test_the_gap_bounds_what_is_missing():
    F, Y = draw(20, 300, 1)
    best = solve_alignment(F, Y, watch(), tol=1e-12).stats["objective"]
    for rounds in (1, 2):
        part = solve_alignment(F, Y, watch([lambda p, most=rounds: p.iteration >= most]), tol=1e-12)
        assert part.stats["iterations"] <= rounds
        assert best**2 <= part.stats["objective"] ** 2 + part.gap + 1e-12
        if not part.converged:
            assert "a callback asked to stop" in part.status
    assert solve_alignment(F, Y, watch([lambda p: True])).gap > 0.1


def test_slopes_in_pieces(monkeypatch):
    F, Y = draw(20, 60, 1)
    whole = solve_alignment(F, Y, watch())
    monkeypatch.setattr(module, "CHUNK", 7)
    np.testing.assert_allclose(solve_alignment(F, Y, watch()).value, whole.value, atol=1e-12)


def test_equal_columns_share_nothing_twice():
    F, Y = draw(15, 12, 1)
    once, twice = (solve_alignment(G, Y, watch()) for G in (F, np.hstack([F, F])))
    assert twice.converged
    np.testing.assert_allclose(twice.value.reshape(2, -1).sum(axis=0), once.value, atol=1e-9)


def test_columns_that_have_nothing_to_do_with_the_targets():
    F = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    Y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    found = solve_alignment(F, Y, watch())
    assert found.value.tolist() == [0.0, 0.0]
    assert found.stats["objective"] == 0.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("block", [1, 4, 32])
def test_nonnegative_minimum(seed, block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((30, 20)), rng.standard_normal(30)
    expected, _ = nnls(A, b)
    for start in (np.zeros(20), expected, rng.random(20)):
        np.testing.assert_allclose(nonnegative_minimum(A.T @ A, A.T @ b, start), expected, atol=1e-10)
