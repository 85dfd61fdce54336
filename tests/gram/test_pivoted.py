"""Pivoted Cholesky factors: the distribution of the pivots by enumeration, the error by the matrix itself."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from mercer.gram.pivoted import pivoted_cholesky
from mercer.kernels import Gaussian


def factorise(K, rank, **options):
    def block(rows, cols):
        return K[rows][:, cols]

    return pivoted_cholesky(block, np.diagonal(K), rank, **options)


@pytest.fixture(scope="module")
def K():
    X = np.random.default_rng(0).standard_normal((150, 2))
    return Gaussian(1.0).block(X)


@pytest.mark.parametrize("rng", [None, 0])
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_residual_is_the_diagonal_of_the_error(K, rng, dtype, tol):
    rng = None if rng is None else np.random.RandomState(rng)
    F, pivots, residual = factorise(K, 30, rng=rng, dtype=dtype)
    assert F.dtype == dtype
    assert F.shape == (150, 30)
    assert len(set(pivots)) == 30
    rest = K - F.astype(float) @ F.T
    np.testing.assert_allclose(np.diagonal(rest), residual, atol=tol)
    assert np.linalg.eigvalsh(rest)[0] > -150 * tol
    np.testing.assert_array_equal(np.triu(F[pivots], 1), 0)
    np.testing.assert_allclose(rest[:, pivots], 0, atol=tol)


def test_the_distribution_of_random_pivots():
    rng = np.random.RandomState(1)
    A = rng.standard_normal((4, 4)) * [3, 1, 0.5, 0.2]
    K = A @ A.T
    expected = {}
    for order in permutations(range(4), 3):
        rest, chance = K.copy(), 1.0
        for i in order:
            chance *= rest[i, i] / np.trace(rest)
            rest = rest - np.outer(rest[:, i], rest[i]) / rest[i, i]
        expected[order] = chance
    assert sum(expected.values()) == pytest.approx(1.0)
    # the same law for blocks of several proposals, where rejection matters: rank 3 of 24 equal copies
    many = np.kron(np.ones((6, 6)), K)
    for matrix, rank in ((K, 3), (many, 24)):
        draws = 1500
        counts = Counter(tuple(factorise(matrix, rank, rng=rng).pivots[:3] % 4) for _ in range(draws))
        seen = np.array([counts[order] for order in expected])
        wanted = draws * np.array(list(expected.values()))
        assert seen.sum() == draws
        small = wanted < 5
        statistic = np.sum((seen - wanted)[~small] ** 2 / wanted[~small])
        assert statistic < 60  # chi-square of at most 23 degrees of freedom: 49.7 has probability 0.001
        assert seen[small].sum() < wanted[small].sum() + 20


def test_greedy_pivots_are_the_largest(K):
    _, pivots, _ = factorise(K, 10)
    rest = K.copy()
    for i in pivots:
        assert rest[i, i] >= np.diagonal(rest).max() - 1e-12
        rest -= np.outer(rest[:, i], rest[i]) / rest[i, i]


def test_ends_at_the_rank_and_at_the_tolerance(K):
    F = np.random.default_rng(0).standard_normal((60, 4))
    for rng in (None, np.random.RandomState(0)):
        assert factorise(F @ F.T, 60, rng=rng).factor.shape == (60, 4)
        found = factorise(K, 150, tol=1e-3, rng=rng)
        assert found.residual.sum() <= 1e-3 * 150
        assert found.factor.shape[1] < 150
    assert factorise(np.zeros((5, 5)), 3).factor.shape == (5, 0)
    assert factorise(np.ones((5, 5)), 3, rng=np.random.RandomState(0)).factor.shape == (5, 1)


def test_an_indefinite_matrix_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="not positive semidefinite"):
        factorise(np.array([[1.0, 2.0], [2.0, 1.0]]), 2)
    with pytest.raises(np.linalg.LinAlgError, match="not positive semidefinite"):
        factorise(-np.eye(2), 2)


def test_random_pivots_are_better_than_uniform_on_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.1, (290, 2)), rng.normal(5, 1, (10, 2))])
    K = Gaussian(0.5).block(X)
    errors = [factorise(K, 15, rng=np.random.RandomState(s)).residual.sum() for s in range(5)]
    for seed in range(5):
        index = np.random.default_rng(seed).choice(300, 15, replace=False)
        uniform = np.trace(K - K[:, index] @ np.linalg.pinv(K[np.ix_(index, index)]) @ K[index])
        assert max(errors) < uniform
