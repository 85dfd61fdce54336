r"""Statistics of a sample and of its permutations, all at once.

**Two samples** of sizes n and m, N = n + m.  Let :math:`u` be the indicator of the first sample less its mean
:math:`n/N`.  The squared distance of the two mean embeddings is

.. math:: \mathrm{MMD}^2 = \Big(\frac{N}{nm}\Big)^2 u' K u ,

and since :math:`u` sums to zero, :math:`K` may be centred, :math:`\bar K = HKH`, without effect.  The sums of
:math:`\bar K` within each sample are then both :math:`q = u'Ku`, those between them :math:`-q`, so that
without the diagonal (the unbiased statistic)

.. math:: \frac{q - \sum_{i \le n} \bar K_{ii}}{n(n-1)} + \frac{q - \sum_{i > n} \bar K_{ii}}{m(m-1)}
          + \frac{2q}{nm} .

Permutations of the labels are further columns of the block :math:`U`: all of them cost one product
:math:`KU`, and :math:`K` need not be held.

**Pairs.**  The statistic is :math:`\langle A, L \rangle` with a centred Gram matrix :math:`A`; a permutation
of the second members is :math:`\langle A, L_{\pi\pi} \rangle`, a selection by index and a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..engine.runs import tracked
from ..engine.threads import single_threaded_blas
from ..errors import InputError

__all__ = [
    "center",
    "given_split",
    "hsic_statistics",
    "mmd_statistics",
    "permutation_p_value",
    "random_orders",
    "random_splits",
]

Product = Callable[[np.ndarray], np.ndarray]

#: Bytes of a block of label vectors; more permutations than fit take several products.
BLOCK_BYTES = 1 << 27

#: Statistics this close count as equal, in units of the rounding of their terms: a tie is no evidence.
TIE = 64 * float(np.finfo(np.float64).eps)


def permutation_p_value(statistics: np.ndarray, scale: float) -> float:
    r"""Share of statistics that are at least the first one, which is counted itself.

    .. math:: p = \frac{1 + \#\{b : s_b \ge s_0\}}{1 + B}

    If :math:`(s_0, \dots, s_B)` is exchangeable, then :math:`P(p \le \alpha) \le \alpha`: the rank of
    :math:`s_0` is uniform, and ties only make p larger.  Differences of the size of rounding in terms of
    magnitude ``scale`` count as ties.
    """
    tied = TIE * scale
    return float(np.mean(statistics >= statistics[0] - tied))


# -- two samples --------------------------------------------------------------------------------
def given_split(N: int, n: int) -> np.ndarray:
    """Indicator of the first ``n`` of ``N`` points, as a block of one row."""
    return (np.arange(N) < n)[None, :]


def random_splits(N: int, n: int, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """The given split, then ``count`` random ones, as rows of blocks that are small enough to hold."""
    height = max(1, BLOCK_BYTES // (8 * N))
    for start in tracked(range(0, count + 1, height), "permutations", "block"):
        rows = np.repeat(given_split(N, n), min(height, count + 1 - start), axis=0)
        fresh = rows[1:] if start == 0 else rows
        rng.permuted(fresh, axis=1, out=fresh)
        yield rows


def mmd_statistics(
    product: Product, diagonal: np.ndarray, splits: Iterable[np.ndarray], *, unbiased: bool = False
) -> np.ndarray:
    """Squared MMD of each split of the points into two samples.

    Parameters
    ----------
    product : callable
        ``V -> K @ V`` for the Gram matrix of all N points.
    diagonal : array of shape (N,)
        Its diagonal.
    splits : iterable of boolean arrays of shape (b, N)
        Blocks of indicators of the first sample, which has the same size in all of them.
    unbiased : bool
        Whether to leave the diagonal out; both samples then need two points.

    Returns
    -------
    array with one entry per split
    """
    N = len(diagonal)
    if unbiased:
        means = product(np.full(N, 1.0 / N))
        diagonal = diagonal - 2 * means + means.mean()
    parts = []
    for rows in splits:
        n = int(rows[0].sum())
        m = N - n
        U = np.ascontiguousarray(rows.T) - n / N
        q = np.einsum("ij,ij->j", U, product(U))
        if unbiased:
            first = rows @ diagonal
            second = diagonal.sum() - first
            parts.append((q - first) / (n * (n - 1)) + (q - second) / (m * (m - 1)) + 2 * q / (n * m))
        else:
            parts.append((N / (n * m)) ** 2 * q)
    return _finite(np.concatenate(parts))


# -- pairs --------------------------------------------------------------------------------------
def center(K: np.ndarray, *, unbiased: bool = False) -> np.ndarray:
    r"""Gram matrix centred for HSIC.

    Biased: :math:`HKH`.  Unbiased: with the diagonal set to zero before, and with divisors that make the sum
    of the products of two such matrices an unbiased estimate (Székely and Rizzo's U-centring):

    .. math:: \tilde K_{ij} = K_{ij} - \frac{1}{n-2} \sum_l K_{il} - \frac{1}{n-2} \sum_l K_{lj}
              + \frac{1}{(n-1)(n-2)} \sum_{kl} K_{kl} \quad (i \ne j), \qquad \tilde K_{ii} = 0 .
    """
    n = len(K)
    if not unbiased:
        means = K.mean(axis=0)
        return np.asarray(K - means - means[:, None] + means.mean())
    hollow = K - np.diag(np.diagonal(K))
    sums = hollow.sum(axis=0)
    result = hollow - (sums + sums[:, None]) / (n - 2) + sums.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(result, 0.0)
    return np.asarray(result)


def random_orders(n: int, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """The order as it is, then ``count`` random ones."""
    yield np.arange(n)
    for _ in tracked(range(count), "permutations", "permutation"):
        yield rng.permutation(n)


def hsic_statistics(A: np.ndarray, L: np.ndarray, orders: Iterable[np.ndarray]) -> np.ndarray:
    """``sum(A * L[order][:, order])`` for each order; ``A`` is centred."""
    # Whole rows first, then columns: the second selection reads rows that are in cache.  Products this short
    # are not worth waking threads for.
    with single_threaded_blas():
        products = [np.vdot(A, L.take(order, axis=0).take(order, axis=1)) for order in orders]
    return _finite(np.array(products))


def _finite(statistics: np.ndarray) -> np.ndarray:
    if not np.isfinite(statistics).all():
        raise InputError("the statistic is not finite: kernel values are too large. Scale the data.")
    return statistics
