"""Do two samples come from the same distribution?  The maximum mean discrepancy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..domains import Data, Similarities, join, size, take
from ..engine.runs import Callback, running
from ..engine.threads import single_threaded_blas
from ..errors import InputError, ParameterError, brief
from ..gram import Gram, gram
from ..kernel import Kernel
from ..kernels import Gaussian
from ..memory import can_hold
from ..parameters import Checks, check_arguments, check_flag
from ..rkhs import RKHSFunction
from ..solvers import given_split, mmd_statistics, permutation_p_value, random_splits
from .significance import (
    CHECKS,
    PermutationResult,
    generator,
    resolve_blindly,
)
from .translation import as_kernel

__all__ = ["MMDResult", "MMDTest", "mmd"]


def mmd(kernel: Kernel, X: Any, Y: Any, *, unbiased: bool = False) -> float:
    r"""Squared maximum mean discrepancy of two samples.

    .. math:: \mathrm{MMD}^2 = \Big\| \tfrac1n \sum_i k(x_i, \cdot) - \tfrac1m \sum_j k(y_j, \cdot) \Big\|^2
              = \tfrac1{n^2} \sum_{ij} k(x_i, x_j) + \tfrac1{m^2} \sum_{ij} k(y_i, y_j)
              - \tfrac2{nm} \sum_{ij} k(x_i, y_j)

    Unbiased: the first two sums leave out the diagonal and divide by n(n-1) and m(m-1); the expectation is
    then the squared distance of the two distributions, and single values may be negative.  Cost: O((n+m)^2)
    kernel values; a matrix of more than 2 GiB is not held.

    Parameters
    ----------
    kernel : Kernel
        Positive definite, or at least conditionally so (as minus a distance is, which gives the energy
        distance).  Data-dependent parameters are resolved from both samples together.
    X, Y : points of the kernel's domain
    unbiased : bool, default=False
        Needs two points in each sample.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> round(mmd(Linear(), [[0.0], [2.0]], [[4.0]]), 12)  # the squared distance of the means
    9.0
    """
    kernel = as_kernel(kernel, "mmd")
    check_flag("mmd", "unbiased", unbiased)
    pooled, n = _pooled(kernel, X, Y, unbiased, "mmd")
    K = gram(kernel.resolve(pooled), pooled, dtype=np.float64)
    return float(_statistics(K, [given_split(len(K), n)], unbiased)[0])


@dataclass(frozen=True, eq=False)
class MMDResult(PermutationResult):
    r"""What :class:`MMDTest` has found.

    Attributes
    ----------
    statistic : float
        Squared maximum mean discrepancy of the two samples.
    p_value : float
        Share of the B + 1 statistics that are at least as large; never below 1 / (B + 1).
    null : array of shape (B,)
        The statistics of the permuted samples.
    kernel : Kernel
        The kernel that was used, its parameters resolved.
    witness : RKHSFunction
        Where the samples differ: :math:`\tfrac1n \sum_i k(x_i, \cdot) - \tfrac1m \sum_j k(y_j, \cdot)`,
        positive where the first is denser.  It is the function that separates the means of the samples
        best, for its norm, and its squared norm is the biased statistic.  ``witness(x)`` and
        ``witness.values(X)`` evaluate it.
    """

    kernel: Kernel
    witness: RKHSFunction = field(repr=False)


@dataclass(frozen=True)
class MMDTest:
    r"""Two-sample test: do ``X`` and ``Y`` come from the same distribution?

    The statistic is :func:`mmd`; large values speak against the hypothesis.  With a characteristic kernel
    (the Gaussian, the Laplacian) every difference is found, given enough points.

    **The p-value is exact**, for any sample sizes and any kernel:
    :math:`p = (1 + \#\{b : s_b \ge s_0\}) / (1 + B)` has :math:`P(p \le \alpha) \le \alpha` under the
    hypothesis. For then, given the set of the n + m pooled points, all ways of labelling them are equally
    likely.  A width such as ``"median"`` is computed from the pooled points without regard to their labels
    (where the rule looks at a part of many points, at a random one), so that it is the same for every
    labelling.  Given the points and the width, the observed labelling and the B random ones are therefore
    exchangeable, and the rank of the observed statistic is uniform.  Choosing the kernel by the observed
    statistic would break this; ``select`` chooses on other points.

    Cost: (n+m)^2 kernel values, and the product of their matrix with a block of B columns; a matrix of more
    than 2 GiB is not held.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("median")
        Any kernel on any domain.
    n_permutations : int, default=999
        Number B of permutations.
    unbiased : bool, default=False
        Which statistic to use; the unbiased one needs two points in each sample.
    select : sequence of Kernel, default=()
        Further kernels to choose from.  Half of each sample is used to find the one with the largest ratio of
        the unbiased statistic to its standard deviation, which makes the test most powerful (Sutherland et
        al.); the other half is used for the test.  Needs four points in each sample.
    random_state : int, RandomState, Generator or None
        Where permutations (and halves) come from.
    time_budget : float, optional
        Seconds after which the test raises :class:`~mercer.errors.TimeBudgetError`.
    callbacks : sequence of callables
        Called with a :class:`~mercer.solvers.Progress` now and then; True stops the test with an error.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((100, 2)), rng.laplace(size=(80, 2)) + 0.5
    >>> result = MMDTest(n_permutations=199, random_state=0).test(X, Y)
    >>> print(result)
    statistic 0.075..., p = 0.005 (199 permutations)
    >>> result.witness([-1.0, -1.0]) > 0  # there are more of X
    True
    """

    kernel: Kernel = Gaussian("median")  # noqa: RUF009 - an immutable value
    n_permutations: int = field(default=999, kw_only=True)
    unbiased: bool = field(default=False, kw_only=True)
    select: Sequence[Kernel] = field(default=(), kw_only=True)
    random_state: Any = field(default=None, kw_only=True)
    time_budget: float | None = field(default=None, kw_only=True)
    callbacks: Sequence[Callback] = field(default=(), kw_only=True)
    _checks: ClassVar[Checks] = CHECKS

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_kernel(self.kernel, "MMDTest"))
        check_arguments(self)
        if not isinstance(self.select, Sequence):
            raise ParameterError(
                f"MMDTest: `select` must be a sequence of kernels, such as a list. Got {brief(self.select)}."
            )
        select = tuple(as_kernel(k, "MMDTest", f"select[{i}]") for i, k in enumerate(self.select))
        object.__setattr__(self, "select", select)

    def test(self, X: Any, Y: Any) -> MMDResult:
        """Compare two samples."""
        return self._test(*_pooled(self.kernel, X, Y, self.unbiased, "MMDTest"))

    def test_pooled(self, Z: Any, labels: Any) -> MMDResult:
        """Compare the points of ``Z`` with one label to those with the other.

        Parameters
        ----------
        Z : points of the kernel's domain; for ``Precomputed()`` their square matrix
        labels : array-like of shape (n + m,)
            Two distinct values; the first sample is that of the smaller one.
        """
        points = self.kernel.domain.validate(Z, "Z")
        labels = np.asarray(labels)
        values = np.unique(labels)
        if labels.shape != (size(points),) or len(values) != 2:
            raise InputError(
                f"MMDTest: `labels` must have {size(points)} entries, one per point of Z, with two distinct "
                f"values. Got shape {labels.shape} with {len(values)}."
            )
        order = np.argsort(labels != values[0], kind="stable")
        n = int((labels == values[0]).sum())
        _check_sizes(n, len(labels) - n, self.unbiased, "MMDTest")
        return self._test(take(points, order), n)

    def _test(self, pooled: Data, n: int) -> MMDResult:
        with running("MMDTest", self.time_budget, self.callbacks) as run:
            result = self._result(pooled, n)
            run.finish()
        return result

    def _result(self, pooled: Data, n: int) -> MMDResult:
        rng = generator(type(self).__name__, self.random_state)
        kernel = self.kernel
        if len(self.select):
            kernel, pooled, n = self._selected(pooled, n, rng)
        kernel, N = resolve_blindly(kernel, pooled, rng), size(pooled)
        K = gram(kernel, pooled, dtype=np.float64)
        statistics = _statistics(K, random_splits(N, n, self.n_permutations, rng), self.unbiased)
        p_value = permutation_p_value(statistics, 4 * _magnitude(K))
        witness = RKHSFunction(kernel, pooled, _contrast(n, N - n))
        return MMDResult(float(statistics[0]), p_value, statistics[1:], kernel, witness)

    def _selected(self, pooled: Data, n: int, rng: np.random.Generator) -> tuple[Kernel, Data, int]:
        """Choose a kernel on a random half of each sample; return it and the other half."""
        m = size(pooled) - n
        if min(n, m) < 4:
            raise InputError(
                f"MMDTest: `select` needs four points in each sample, two to choose and two to test. Got {n} "
                f"and {m}."
            )
        first, second = rng.permutation(n), n + rng.permutation(m)
        choose = take(pooled, np.concatenate([first[: n // 2], second[: m // 2]]))
        rest = take(pooled, np.concatenate([first[n // 2 :], second[m // 2 :]]))
        n_choose, m_choose = n // 2, m // 2
        candidates, ratios = (self.kernel, *self.select), []
        for kernel in candidates:
            # the unbiased statistic over its standard deviation, to first order: that of twice the witness
            K = gram(kernel.resolve(choose), choose, dtype=np.float64)
            witness = K @ _contrast(n_choose, m_choose)
            variance = 4 * (witness[:n_choose].var() / n_choose + witness[n_choose:].var() / m_choose)
            split = given_split(n_choose + m_choose, n_choose)
            statistic = float(_statistics(K, [split], unbiased=True)[0])
            # a kernel that takes the points of a sample for one has no variance, and no power either
            ratios.append(statistic / float(np.sqrt(variance) + 1e-8 * _magnitude(K)))
        return candidates[int(np.argmax(ratios))], rest, n - n // 2


def _pooled(kernel: Kernel, X: Any, Y: Any, unbiased: bool, caller: str) -> tuple[Data, int]:
    """Points of both samples, and how many are of the first."""
    domain = kernel.domain
    if isinstance(domain, Similarities):
        raise InputError(
            f"{caller}: a precomputed matrix has to hold the values of both samples together. "
            "Use MMDTest(Precomputed()).test_pooled(K, labels)."
        )
    A, B = domain.validate(X, "X"), domain.validate(Y, "Y")
    _check_sizes(size(A), size(B), unbiased, caller)
    domain.match(A, B)
    return join(domain, A, B), size(A)


def _check_sizes(n: int, m: int, unbiased: bool, caller: str) -> None:
    least = 2 if unbiased else 1
    if min(n, m) < least:
        raise InputError(
            f"{caller}: X and Y must have at least {least} point{'s' * unbiased} each"
            f"{' for the unbiased statistic' * unbiased}. Got {n} and {m}."
        )


def _contrast(n: int, m: int) -> np.ndarray:
    """Coefficients of the difference of the two means."""
    return np.repeat([1.0 / n, -1.0 / m], [n, m])


def _magnitude(K: Gram) -> float:
    """Size of kernel values: the diagonal bounds those of definite kernels, a row shows those of others."""
    return float(max(np.abs(K.diagonal()).max(), np.abs(K.block(0)).max()))


def _statistics(K: Gram, splits: Iterable[np.ndarray], unbiased: bool) -> np.ndarray:
    held = K.dense() if can_hold(K.nbytes) else None

    def product(V: np.ndarray) -> np.ndarray:
        if held is None:
            return K @ V
        with single_threaded_blas():  # the bits of BLAS depend on how many threads it has
            return np.asarray(held @ V)

    return mmd_statistics(product, K.diagonal(), splits, unbiased=bool(unbiased))
