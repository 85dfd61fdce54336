"""A metric learned from targets, by gradients of ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..certificate import Certificate
from ..domains import Vectors, check_numbers
from ..engine.runs import checkpoint
from ..errors import InputError
from ..kernels import Mahalanobis
from ..machines import KernelRidge
from ..parameters import check_count

__all__ = ["LearnedMetric", "learn_metric"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LearnedMetric:
    """A kernel whose metric was learned.

    Attributes
    ----------
    kernel : Mahalanobis
        The kernel, with its certificate.
    alpha : float
        The penalty of ridge regression that goes with it.
    gradients : array of shape (d, d)
        The mean outer product of gradients, of trace 1; the matrix of ``kernel`` is a multiple of that of the
        step before.
    errors : array of shape (steps,)
        Mean squared leave-one-out error of each step; the first is that of the Euclidean metric, the last
        that of ``kernel``.
    """

    kernel: Mahalanobis
    alpha: float
    gradients: Array
    errors: Array

    @property
    def certificate(self) -> Certificate:
        """Why the kernel is positive definite."""
        return self.kernel.certificate

    @property
    def importance(self) -> Array:
        """Share of each feature in the squared gradients, of sum 1."""
        return np.diagonal(self.gradients).copy()

    def directions(self, count: int = 1) -> Array:
        """Orthonormal directions along which the function varies most, as rows, of shape (count, d)."""
        check_count("LearnedMetric.directions", "count", count)
        _, vectors = np.linalg.eigh(self.gradients)
        return vectors.T[::-1][:count].copy()

    def __repr__(self) -> str:
        return (
            f"<metric of {len(self.gradients)} features, {len(self.errors) - 1} steps, leave-one-out error "
            f"{self.errors[0]:.4g} -> {self.errors[-1]:.4g}>"
        )


def learn_metric(X: Any, y: Any, *, max_steps: int = 10) -> LearnedMetric:
    r"""Learn the metric of a Gaussian kernel: a recursive feature machine.

    .. math:: k(x, x') = \exp\bigl(-\tfrac12 (x - x')^\top M (x - x')\bigr), \qquad
              M \propto \frac1n \sum_i \nabla f(x_i) \, \nabla f(x_i)^\top

    Ridge regression with a metric gives a function f; the mean outer product of its gradients is the next
    metric: directions in which f does not change do not count.  The first metric is Euclidean.  In each step
    the width and the penalty are those of least leave-one-out error, in closed form.

    A step is taken if it lowers the squared leave-one-out errors by more than two standard errors of the mean
    of the differences: those of all points, and those of each half of the points with a metric that was
    learned from the other half.  With many features a metric follows the noise of the points that it is
    learned from, and the first alone would fall without end.

    Positive definite, as the certificate of the kernel says: a Gaussian kernel after a linear map.

    The metric has seen all targets, also those that are left out: the leave-one-out error of later steps is
    too small.  Measure the final model on other data.

    Cost: O(n^3 + n^2 d) for each step and width; the halves add one half to it.

    Parameters
    ----------
    X : array of shape (n, d)
        Features, in comparable units.
    y : array of shape (n,) or (n, t)
        Numbers; of classes, one column of zeros and ones for each.
    max_steps : int, default=10
        The most metrics to try, after the Euclidean one.

    Returns
    -------
    LearnedMetric
        ``kernel``, to be used in any machine, ``alpha``, ``importance`` and ``errors``.

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin 2024 (recursive feature machines).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(150, 8))
    >>> found = learn_metric(X, np.sin(X[:, 1] + X[:, 4]))  # one direction of eight
    >>> np.round(np.abs(found.directions()[0]), 1).tolist()
    [0.0, 0.7, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0]
    >>> found.certificate.is_psd, bool(found.errors[-1] < 0.001 * found.errors[0])
    (True, True)
    """
    points, targets = _checked(X, y)
    check_count("learn_metric", "max_steps", max_steps)
    order = np.random.default_rng(0).permutation(len(points))
    halves = [_Fit(points[half], targets[half]) for half in np.array_split(order, 2)]
    whole = _Fit(points, targets)
    errors, squares = [float(whole.squares.mean())], _squares_across(halves, halves)
    while len(errors) <= max_steps:
        next_whole, next_halves = whole.next(), [half.next() for half in halves]
        next_squares = _squares_across(halves, next_halves)
        if not (_is_lower(next_squares, squares) and _is_lower(next_whole.squares, whole.squares)):
            break
        whole, halves, squares = next_whole, next_halves, next_squares
        errors.append(float(whole.squares.mean()))
    assert isinstance(whole.model.kernel_, Mahalanobis)
    return LearnedMetric(whole.model.kernel_, float(whole.model.alpha_), whole.gradients, np.array(errors))


class _Fit:
    """Ridge regression on some points with the best multiple of a metric; the first metric is Euclidean."""

    def __init__(self, X: Array, y: Array, matrix: Array | None = None) -> None:
        self.X, self.y, self.matrix = X, y, np.eye(X.shape[1]) if matrix is None else matrix
        self.squares, self.model = _best_width(self.matrix, X, y)

    @cached_property
    def gradients(self) -> Array:
        r"""The metric of the next step: the mean outer product of gradients at the points, with trace 1.

        :math:`\nabla f(x) = M \sum_i a_i k(x, x_i) (x_i - x)`.
        """
        assert isinstance(self.model.kernel_, Mahalanobis)
        M, X = self.model.kernel_.matrix, self.X
        K = np.asarray(self.model.gram_.dense(), dtype=np.float64)
        total = np.zeros_like(M)
        for a in self.model.dual_coef_.reshape(len(X), -1).T:
            G = (K @ (a[:, None] * X) - (K @ a)[:, None] * X) @ M
            total += G.T @ G
        trace = float(np.trace(total))
        if not trace > 0:
            return np.asarray(np.eye(len(M)) / len(M))
        return np.asarray((total + total.T) / (2 * trace))

    def next(self) -> _Fit:
        """The fit with it."""
        return _Fit(self.X, self.y, self.gradients)


def _squares_across(halves: list[_Fit], metrics: list[_Fit]) -> Array:
    """Squared leave-one-out errors of each half with the metric of the other, whose targets alone it saw."""
    pairs = zip(halves, reversed(metrics), strict=True)
    return np.concatenate([_best_width(other.matrix, half.X, half.y)[0] for half, other in pairs])


def _checked(X: Any, y: Any) -> tuple[Array, Array]:
    points = np.asarray(Vectors(dense=True).validate(X, "X"), dtype=np.float64)
    check_numbers(y, "learn_metric: `y`", dense=True)
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            "learn_metric: `y` must be numbers; of classes, one column of zeros and ones for each. Got "
            f"{type(y).__name__}."
        ) from error
    n = len(points)
    if targets.ndim not in (1, 2) or len(targets) != n or not targets.size:
        raise InputError(f"learn_metric: `y` must be of shape ({n},) or ({n}, t). Got {targets.shape}.")
    if not np.isfinite(targets).all():
        raise InputError("learn_metric: `y` must be finite. Got NaN or infinity.")
    if n < 4:
        raise InputError(f"learn_metric: at least 4 points are needed. Got {n}.")
    if (targets == targets[0]).all():
        raise InputError("learn_metric: `y` must have two different values at least: its gradient is zero.")
    if (points == points[0]).all():
        raise InputError("learn_metric: `X` must have two different rows at least.")
    return points, targets


def _is_lower(squares: Array, before: Array) -> bool:
    """Whether squared errors are lower in the mean than others of the same points, beyond chance."""
    fall = before - squares
    # Two standard errors by which a step must lower the error.  Of 20 runs on pure noise with n=60 and d=5
    # none takes a step, nor with n=50 and d=200, n=100 and d=50; with n=20 and d=100 one does.
    return bool(fall.mean() > 2.0 * fall.std(ddof=1) / np.sqrt(len(fall)))


def _best_width(matrix: Array, X: Array, y: Array) -> tuple[Array, KernelRidge]:
    """Squared leave-one-out errors and model of ridge regression with the best multiple of a metric."""
    centred = X - X.mean(axis=0)
    distance = 2 * float(np.einsum("ij,jk,ik->", centred, matrix, centred)) / len(X) or 1.0  # mean squared
    found: list[tuple[Array, KernelRidge]] = []
    for width in (0.25, 0.5, 1.0, 2.0):
        checkpoint()
        kernel = Mahalanobis(matrix / (width**2 * distance))
        model = KernelRidge(kernel, alpha="loo", fit_intercept=True).fit(X, y)
        squares = np.asarray(model.loo_residuals() ** 2, dtype=np.float64).reshape(len(X), -1).mean(axis=1)
        found.append((squares, model))
    return min(found, key=lambda pair: float(pair[0].mean()))
