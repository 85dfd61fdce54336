"""Unordered values: categories that are equal or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Categories, Data, Domain, size
from ..intervals import Interval
from ..kernel import Kernel
from ..parameters import parameter
from .noise import equality, same

__all__ = ["Categorical"]


class Categorical(Kernel):
    r"""Kernel on unordered values: colours, cities, identifiers.

    .. math:: k(x, y) = \rho + (1 - \rho) \, [x = y]

    The Gram matrix of distinct categories is :math:`(1 - \rho) I + \rho\, 1 1'` (compound symmetry): strictly
    positive definite for :math:`0 \le \rho < 1` on any number of categories.  With :math:`\rho = 0` it is the
    inner product of one-hot vectors.  In a product over columns :math:`\rho` is what remains of the other
    columns' similarity when the categories differ.  Block cost: O(n m) after O(n + m) hashes.

    Parameters
    ----------
    correlation : float, default=0.0
        Value :math:`\rho` of two different categories, in [0, 1).

    Examples
    --------
    >>> Categorical(0.25).block(["red", "blue", "red"])
    array([[1.  , 0.25, 1.  ],
           [0.25, 1.  , 0.25],
           [1.  , 0.25, 1.  ]])
    """

    correlation: float = parameter(default=0.0, low=0.0, high=1.0, open_high=True)

    @property
    def domain(self) -> Domain:
        return Categories()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.real(1.0 if same(x, y) else self.correlation)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return np.where(equality(X, X if Y is None else Y), 1.0, self.correlation)

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.ones(size(X))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "compound symmetry",
            "c'Kc = (1 - rho) sum_i c_i^2 + rho (sum_i c_i)^2 > 0 on distinct categories",
            strict=True,
            conditions=["equality of categories is an equivalence relation"],
        )

    @property
    def bounds(self) -> Interval:
        return Interval(self.correlation, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)
