"""Are two observations of the same objects independent?  The Hilbert-Schmidt independence criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .. import memory
from ..domains import Data, size
from ..engine.runs import Callback, running
from ..errors import InputError
from ..gram import gram
from ..gram.spectrum import finite
from ..kernel import Kernel
from ..kernels import Gaussian
from ..parameters import Checks, check_arguments, check_flag
from ..solvers import center, hsic_statistics, permutation_p_value, random_orders
from .significance import (
    CHECKS,
    PermutationResult,
    generator,
    resolve_blindly,
)
from .translation import as_kernel

__all__ = ["HSICResult", "HSICTest", "hsic"]


def hsic(kernel_x: Kernel, kernel_y: Kernel, X: Any, Y: Any, *, unbiased: bool = False) -> float:
    r"""Hilbert-Schmidt independence criterion of paired observations.

    The squared norm of the covariance operator of :math:`k_X(x, \cdot)` and :math:`k_Y(y, \cdot)`:

    .. math:: \mathrm{HSIC} = \tfrac1{n^2} \operatorname{tr}(K H L H)
              = \tfrac1{n^2} \sum_{ij} K_{ij} L_{ij} + \tfrac1{n^4} \sum_{ij} K_{ij} \sum_{ij} L_{ij}
              - \tfrac2{n^3} \sum_{ijq} K_{ij} L_{iq}

    Unbiased: :math:`\tfrac1{n(n-3)} \sum_{ij} \tilde K_{ij} \tilde L_{ij}` with U-centred matrices, the
    average over quadruples of different objects (Song et al.); single values may be negative.
    Cost: O(n^2) time and memory.

    Parameters
    ----------
    kernel_x, kernel_y : Kernel
        Data-dependent parameters are resolved from ``X`` alone and from ``Y`` alone.
    X, Y : points of the kernels' domains, as many of each
    unbiased : bool, default=False
        Needs four pairs.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> hsic(Linear(), Linear(), [[0.0], [1.0]], [[0.0], [2.0]])  # the squared covariance, 1/2
    0.25
    """
    kernel_x, kernel_y = as_kernel(kernel_x, "hsic", "kernel_x"), as_kernel(kernel_y, "hsic", "kernel_y")
    check_flag("hsic", "unbiased", unbiased)
    A, B = _paired(kernel_x, kernel_y, X, Y, unbiased, "hsic")
    K, L = _values(kernel_x.resolve(A), A), _values(kernel_y.resolve(B), B)
    return float(_statistics(K, L, [np.arange(len(K))], unbiased)[0])


@dataclass(frozen=True, eq=False)
class HSICResult(PermutationResult):
    """What :class:`HSICTest` has found.

    Attributes
    ----------
    statistic : float
        Hilbert-Schmidt independence criterion of the pairs.
    p_value : float
        Share of the B + 1 statistics that are at least as large; never below 1 / (B + 1).
    null : array of shape (B,)
        The statistics of the permuted pairs.
    kernel_x, kernel_y : Kernel
        The kernels that were used, their parameters resolved.
    """

    kernel_x: Kernel
    kernel_y: Kernel


@dataclass(frozen=True)
class HSICTest:
    r"""Test of independence: are ``X`` and ``Y`` independent?

    The statistic is :func:`hsic`; large values speak against independence.  With characteristic kernels (the
    Gaussian, the Laplacian) every dependence is found, given enough pairs.

    **The p-value is exact**, for any number of pairs and any kernels:
    :math:`p = (1 + \#\{b : s_b \ge s_0\}) / (1 + B)` has :math:`P(p \le \alpha) \le \alpha` under
    independence.  For then, given the set of the ``X`` and the set of the ``Y``, all ways of pairing them are
    equally likely.  A width such as ``"median"`` is computed from the ``X`` alone or from the ``Y`` alone,
    without regard to their order (where the rule looks at a part of many points, at a random one), so that
    it is the same for every pairing: the observed pairing and the B random ones are exchangeable.

    Cost: O(n^2) time per permutation (a selection from the Gram matrix of ``Y`` and a sum), O(n^2) memory.

    Parameters
    ----------
    kernel_x, kernel_y : Kernel, default=Gaussian("median")
        Any kernels on any domains; ``Precomputed()`` takes a Gram matrix.
    n_permutations : int, default=999
        Number B of permutations.
    unbiased : bool, default=False
        Which statistic to use; the unbiased one needs four pairs.
    random_state : int, RandomState, Generator or None
        Where permutations come from.
    time_budget : float, optional
        Seconds after which the test raises :class:`~mercer.errors.TimeBudgetError`.
    callbacks : sequence of callables
        Called with a :class:`~mercer.solvers.Progress` now and then; True stops the test with an error.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal((60, 1))
    >>> result = HSICTest(n_permutations=199, random_state=0).test(x, x**2)  # dependent, not correlated
    >>> result.p_value
    0.005
    """

    kernel_x: Kernel = Gaussian("median")  # noqa: RUF009 - an immutable value
    kernel_y: Kernel = Gaussian("median")  # noqa: RUF009
    n_permutations: int = field(default=999, kw_only=True)
    unbiased: bool = field(default=False, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)
    time_budget: float | None = field(default=None, kw_only=True)
    callbacks: Sequence[Callback] = field(default=(), kw_only=True)
    _checks: ClassVar[Checks] = CHECKS

    def __post_init__(self) -> None:
        for name in ("kernel_x", "kernel_y"):
            object.__setattr__(self, name, as_kernel(getattr(self, name), "HSICTest", name))
        check_arguments(self)

    def test(self, X: Any, Y: Any) -> HSICResult:
        """Test whether the pairs ``(X[i], Y[i])`` are independent."""
        A, B = _paired(self.kernel_x, self.kernel_y, X, Y, self.unbiased, "HSICTest")
        with running("HSICTest", self.time_budget, self.callbacks) as run:
            result = self._result(A, B)
            run.finish()
        return result

    def _result(self, A: Data, B: Data) -> HSICResult:
        rng = generator(type(self).__name__, self.random_state)
        kernel_x, kernel_y = resolve_blindly(self.kernel_x, A, rng), resolve_blindly(self.kernel_y, B, rng)
        K, L = _values(kernel_x, A), _values(kernel_y, B)
        statistics = _statistics(K, L, random_orders(len(K), self.n_permutations, rng), self.unbiased)
        p_value = permutation_p_value(statistics, float(np.abs(K).max()) * float(np.abs(L).max()))
        return HSICResult(float(statistics[0]), p_value, statistics[1:], kernel_x, kernel_y)


def _paired(
    kernel_x: Kernel, kernel_y: Kernel, X: Any, Y: Any, unbiased: bool, caller: str
) -> tuple[Data, Data]:
    A, B = kernel_x.domain.validate(X, "X"), kernel_y.domain.validate(Y, "Y")
    if size(A) != size(B):
        raise InputError(
            f"{caller}: X and Y must have the same length: they are pairs. Got {size(A)} and {size(B)}."
        )
    least = 4 if unbiased else 2
    if size(A) < least:
        raise InputError(
            f"{caller}: X and Y must have at least {least} pairs"
            f"{' for the unbiased statistic' * bool(unbiased)}. Got {size(A)}."
        )
    return A, B


def _values(kernel: Kernel, points: Data) -> np.ndarray:
    n = size(points)
    memory.require(5 * 8 * n * n, f"HSIC of {n} pairs", "Use a part of the pairs.")
    return finite(gram(kernel, points, dtype=np.float64).dense())


def _statistics(K: np.ndarray, L: np.ndarray, orders: Iterable[np.ndarray], unbiased: bool) -> np.ndarray:
    n = len(K)
    A, B = center(K, unbiased=unbiased), center(L, unbiased=unbiased)
    return np.asarray(hsic_statistics(A, B, orders) / (n * (n - 3) if unbiased else n * n))
