"""Permutation statistics against their definitions, term by term."""

from itertools import combinations, permutations

import numpy as np
import pytest

from mercer.solvers import (
    center,
    given_split,
    hsic_statistics,
    mmd_statistics,
    permutation_p_value,
    random_orders,
    random_splits,
)
from mercer.solvers import permutations as module


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T


def direct_mmd(K, first, unbiased):
    """The three sums of the definition."""
    second = [i for i in range(len(K)) if i not in first]

    def within(sample):
        pairs = [(i, j) for i in sample for j in sample if i != j or not unbiased]
        return sum(K[i, j] for i, j in pairs) / len(pairs)

    between = sum(K[i, j] for i in first for j in second) / (len(first) * len(second))
    return within(list(first)) + within(second) - 2 * between


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_all_splits_have_the_statistic_of_the_definition(n, unbiased):
    K = symmetric(7) + 100.0
    samples = list(combinations(range(7), n))
    rows = np.array([[i in sample for i in range(7)] for sample in samples])
    found = mmd_statistics(K.__matmul__, np.diagonal(K), [rows[:4], rows[4:]], unbiased=unbiased)
    np.testing.assert_allclose(found, [direct_mmd(K, s, unbiased) for s in samples], atol=1e-11)


def test_random_splits_start_with_the_given_one_and_keep_the_sizes(monkeypatch):
    whole = np.concatenate(list(random_splits(9, 4, 50, np.random.default_rng(0))))
    assert whole.shape == (51, 9)
    np.testing.assert_array_equal(whole[:1], given_split(9, 4))
    assert (whole.sum(axis=1) == 4).all()
    assert len(np.unique(whole, axis=0)) > 30
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * 9 * 7)
    blocks = list(random_splits(9, 4, 50, np.random.default_rng(0)))
    assert [len(block) for block in blocks] == [7] * 7 + [2]
    np.testing.assert_array_equal(np.concatenate(blocks), whole)


def test_random_splits_are_uniform():
    rows = np.concatenate(list(random_splits(4, 2, 6000, np.random.default_rng(1))))[1:]
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    chi_square = float(((counts - 1000) ** 2 / 1000).sum())
    assert chi_square < 20.5  # the 99.9 % point with 5 degrees of freedom


def direct_hsic(K, L):
    """Biased, by sums over two, three and four indices."""
    n = len(K)
    pairs = sum(K[i, j] * L[i, j] for i in range(n) for j in range(n)) / n**2
    triples = sum(K[i, j] * L[i, q] for i in range(n) for j in range(n) for q in range(n)) / n**3
    return pairs + K.sum() * L.sum() / n**4 - 2 * triples


def direct_unbiased_hsic(K, L):
    """The average of the kernel of the U-statistic over quadruples of different indices."""
    terms = [K[i, j] * (L[i, j] + L[q, r] - 2 * L[i, q]) for i, j, q, r in permutations(range(len(K)), 4)]
    return np.mean(terms)


@pytest.mark.parametrize("unbiased", [False, True])
def test_hsic_is_the_sum_of_the_definition(unbiased):
    n = 6
    K, L = symmetric(n, 1), symmetric(n, 2)
    orders = [np.arange(n), np.array([3, 1, 0, 5, 4, 2])]
    statistics = hsic_statistics(center(K, unbiased=unbiased), center(L, unbiased=unbiased), orders)
    direct = direct_unbiased_hsic if unbiased else direct_hsic
    divisor = n * (n - 3) if unbiased else n * n
    expected = [direct(K, L[np.ix_(order, order)]) for order in orders]
    np.testing.assert_allclose(statistics / divisor, expected, atol=1e-12)


def test_unbiased_hsic_is_the_formula_of_song():
    n = 9
    K, L = symmetric(n, 3), symmetric(n, 4)
    (found,) = hsic_statistics(center(K, unbiased=True), center(L, unbiased=True), [np.arange(n)])
    A, B, one = K - np.diag(np.diag(K)), L - np.diag(np.diag(L)), np.ones(n)
    formula = (
        np.trace(A @ B)
        + one @ A @ one * (one @ B @ one) / ((n - 1) * (n - 2))
        - 2 / (n - 2) * (one @ A @ B @ one)
    )
    assert found == pytest.approx(formula, rel=1e-10)


def test_random_orders_start_with_the_given_one():
    orders = list(random_orders(5, 20, np.random.default_rng(0)))
    assert len(orders) == 21
    np.testing.assert_array_equal(orders[0], np.arange(5))
    assert all((np.sort(order) == np.arange(5)).all() for order in orders)


def test_p_value_counts_the_sample_itself_and_ties():
    assert permutation_p_value(np.array([3.0, 1.0, 2.0, 3.0, 4.0]), 1.0) == 3 / 5
    assert permutation_p_value(np.array([5.0, 1.0, 2.0, 3.0]), 1.0) == 1 / 4
    almost = np.array([1.0, 1.0 - 1e-15, 0.0])
    assert permutation_p_value(almost, 1.0) == 2 / 3  # a difference of rounding is a tie
    assert permutation_p_value(almost * 1e-13, 1e-13) == 2 / 3
    assert permutation_p_value(np.array([1.0, 1.0 - 1e-9]), 1.0) == 1 / 2


def test_p_value_is_exact_over_all_splits():
    """If each split of six points is as likely as any, the p-value is uniform on its steps."""
    K = symmetric(6, 5)
    rows = np.array([[i in s for i in range(6)] for s in combinations(range(6), 2)])
    statistics = mmd_statistics(K.__matmul__, np.diagonal(K), [rows])
    p = [
        permutation_p_value(np.concatenate([[s], np.delete(statistics, b)]), 1.0)
        for b, s in enumerate(statistics)
    ]
    np.testing.assert_allclose(np.sort(p), np.arange(1, 16) / 15)
