"""Recursions for the ANOVA and polynomial kernels of one pair, as the texts give them.

The kernels themselves are computed otherwise; these are for teaching and for checking.  They work on any
numbers, :class:`fractions.Fraction` included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["anova_by_power_sums", "anova_operations", "polynomial_by_dimension"]


def anova_operations(n: int, degree: int) -> int:
    """Return the number of arithmetic operations of the ANOVA dynamic program for one pair of vectors.

    It is ``3 (n d - d (d - 1) / 2)``: two products and one sum for each entry of the table.

    Examples
    --------
    >>> anova_operations(7, 4)
    66
    """
    return 3 * (n * degree - degree * (degree - 1) // 2)


def anova_by_power_sums(x: Sequence[Any], y: Sequence[Any], degree: int) -> list[Any]:
    r"""ANOVA kernels of degrees 0..degree by Newton's identities.

    .. math:: k_d = \frac1d \sum_{s=1}^d (-1)^{s+1} k_{d-s} p_s, \qquad p_s = \sum_i (x_i y_i)^s

    Only :math:`p_1` is the inner product :math:`\langle x, y \rangle`; Shawe-Taylor and Cristianini (2004),
    remark 9.19, print it for every :math:`p_s`.  It costs O(n d + d^2) but subtracts large terms: the dynamic
    program of :class:`~mercer.kernels.Anova` is the stable way.

    Examples
    --------
    >>> anova_by_power_sums([1, 2, 3], [1, 1, 1], 3)
    [1, 6.0, 11.0, 6.0]
    """
    u = [a * b for a, b in zip(x, y, strict=True)]
    sums = [sum(t**s for t in u) for s in range(1, degree + 1)]
    kappa: list[Any] = [1]
    for d in range(1, degree + 1):
        total = sum((-1) ** (s + 1) * kappa[d - s] * sums[s - 1] for s in range(1, d + 1))
        kappa.append(total / d)
    return kappa


def polynomial_by_dimension(x: Sequence[Any], y: Sequence[Any], degree: int, offset: Any = 1) -> list[Any]:
    r"""Polynomial kernels of degrees 0..degree by recursion over the features.

    .. math:: k_s^m = k_s^{m-1} + x_m y_m \sum_{j=0}^{s-1} k_j^m \, k_{s-1-j}^{m-1}

    where :math:`k_s^m = (\langle x_{1:m}, y_{1:m} \rangle + c)^s`: the first factor that takes :math:`x_m
    y_m` is preceded by factors without it.  The recursion that Shawe-Taylor and Cristianini (2004), remark
    9.7, print, :math:`s\, k_{s-1}^m x_m y_m + k_s^{m-1}`, counts monomials more than once.

    Examples
    --------
    >>> polynomial_by_dimension([1, 2], [3, 4], 2)
    [1, 12, 144]
    """
    before: list[Any] = [offset**s for s in range(degree + 1)]
    for a, b in zip(x, y, strict=True):
        after = [before[0]]
        for s in range(1, degree + 1):
            after.append(before[s] + a * b * sum(after[j] * before[s - 1 - j] for j in range(s)))
        before = after
    return before
