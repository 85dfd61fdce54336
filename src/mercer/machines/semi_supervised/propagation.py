"""Labels that spread along the edges of a graph."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from ... import memory
from ...errors import InputError, warn
from ...gram.kernel_gram import gram_of_points
from ...graphs.laplacians import Affinity, without_loops
from ...graphs.similarity import affinity, nearest
from ...kernels import Gaussian
from ...parameters import Checks, check_number
from ...solvers import Solution
from ...solvers.laplacian import consistent, harmonic
from ..arguments import read_targets
from ..base import KernelMachine, len_of
from ..callbacks import as_run
from ..translation import KernelLike
from .labels import PartialLabels, partial_labels

__all__ = ["LabelPropagation", "LabelSpreading"]

Vector = NDArray[np.float64]


class GraphLabels(ClassifierMixin, KernelMachine):
    """Base of the two: the graph, the classes, new points.  How labels spread is up to the subclass."""

    n_neighbors: int | None

    def _spread(self, A: Affinity, labels: PartialLabels) -> Solution[Vector]:
        raise NotImplementedError

    @as_run
    def fit(self, X: Any, y: Any) -> Self:
        """Spread the labels ``y``, -1 where not known, over the points ``X``."""
        name = type(self).__name__
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        labels = partial_labels(name, read_targets(type(self).__name__, y, n, numeric=False))
        self.classes_ = labels.classes
        self.kernel_ = self._checked_kernel().resolve(points)
        self.gram_ = gram_of_points(self.kernel_, points)
        memory.require(3 * 8 * n * n, f"{name} on {n} points")
        self.solution_ = self._spread(without_loops(affinity(self.gram_, self.n_neighbors)), labels)
        self.label_distributions_ = self._shares(self.solution_.value)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        self._warn()
        return self

    def _shares(self, values: Vector) -> Vector:
        """Rows that sum to one; where nothing arrived, all classes alike."""
        total = values.sum(axis=1, keepdims=True)
        reached = total > 0  # false for NaN
        return np.where(reached, values / np.where(reached, total, 1.0), 1.0 / values.shape[1])

    def _warn(self) -> None:
        name = type(self).__name__
        lost = int((~(self.solution_.value.sum(axis=1) > 0)).sum())
        if lost:
            warn(
                f"{name}: no label reaches {lost} of the points: no path of the graph links them with a "
                "labelled one. All classes are alike for them. Take a wider kernel or more neighbours.",
                UserWarning,
            )
        if not self.solution_.converged:
            warn(f"{name}: {self.solution_.status}.", ConvergenceWarning)

    def predict_proba(self, X: Any) -> Vector:
        r"""Shares of the classes at new points, :math:`\sum_i k(x, x_i) F_i / \sum_i k(x, x_i)`.

        With ``n_neighbors`` the sums are over the nearest training points.  A point that has value 0 with
        all of them gets equal shares.
        """
        self._check_fitted()
        cross = self.gram_._cross(self._validate_X(X, reset=False))
        own = np.asarray(self.gram_.diagonal(), dtype=np.float64)
        values = np.empty((cross.shape[0], len(self.classes_)))
        for rows in cross._bands(progress=True):
            K = np.asarray(cross._values(rows, slice(0, cross.shape[1])), dtype=np.float64)
            if self.n_neighbors is not None:
                K *= nearest(own - 2 * K, self.n_neighbors)
            if K.size and K.min() < 0:
                raise InputError(
                    f"{type(self).__name__}: the weights of a graph must be >= 0. The kernel has the value "
                    f"{K.min():.6g} between X and the training points."
                )
            values[rows] = K @ self.label_distributions_
        return self._shares(values)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of new points: those with the largest shares."""
        winners = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])


class LabelPropagation(GraphLabels):
    r"""Label propagation: the harmonic function on the graph of a kernel.

    With the weights :math:`W_{ij} = k(x_i, x_j) \ge 0`, labelled points keep their labels, and every other
    has the weighted mean of its neighbours' label distributions :math:`F` (Zhu, Ghahramani and Lafferty):

    .. math:: \min_F \; \tfrac12 \sum_{ij} W_{ij} \|F_i - F_j\|^2, \quad F_l = Y_l
              \qquad\Longrightarrow\qquad (D_{uu} - W_{uu}) F_u = W_{ul} Y_l .

    It is where scikit-learn's iteration of the same name ends, found by one linear system.  The kernel needs
    values >= 0, not definiteness: any kernel on nodes, or a matrix of affinities, will do.

    Cost: O(n^3) time and O(n^2) memory for n points.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain with values >= 0.  ``Precomputed()`` takes the matrix of weights as ``X``.
    n_neighbors : int, optional
        Number of nearest points that each point is linked with, in feature space, itself included (of the two
        directions, half the weight each); by default all pairs.
    time_budget : float, optional
        Seconds after which ``fit`` raises :class:`~mercer.errors.TimeBudgetError`: it has no partial result.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    label_distributions_ : array of shape (n, n_classes)
        Shares of the classes at the training points.
    transduction_ : array of shape (n,)
        Labels of the training points.
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    gram_ : Gram
        The (lazy) Gram matrix of the training points.
    solution_ : Solution
        How the system was solved; ``gap`` bounds its relative error.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [4.0], [5.0]]
    >>> model = LabelPropagation(Gaussian(0.7)).fit(X, [0, -1, -1, -1, 1])
    >>> model.transduction_
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        n_neighbors: int | None = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.time_budget = time_budget

    def _spread(self, A: Affinity, labels: PartialLabels) -> Solution[Vector]:
        return harmonic(A, labels.known, labels.indicators())


class LabelSpreading(GraphLabels):
    r"""Label spreading: labels with local and global consistency on the graph of a kernel.

    With the weights :math:`W_{ij} = k(x_i, x_j) \ge 0`, :math:`i \ne j`, and
    :math:`S = D^{-1/2} W D^{-1/2}` (Zhou and others):

    .. math:: \min_F \; \alpha \operatorname{tr} F^\top (I - S) F + (1 - \alpha) \|F - Y\|^2
              \qquad\Longrightarrow\qquad F = (1 - \alpha) (I - \alpha S)^{-1} Y .

    Given labels may be overruled, unlike in :class:`LabelPropagation`.  It is where scikit-learn's iteration
    of the same name ends, found by conjugate gradients.

    Cost: the n-by-n matrix and some tens of products with it (for ``alpha`` very close to 1, O(n^3)).

    Parameters
    ----------
    kernel, n_neighbors
        As for :class:`LabelPropagation`.
    alpha : float, default=0.2
        In (0, 1): how much a point takes from its neighbours rather than from its own label.
    time_budget : float, optional
        Seconds after which ``fit`` raises :class:`~mercer.errors.TimeBudgetError`: it has no partial result.

    Attributes
    ----------
    classes_, label_distributions_, transduction_, kernel_, gram_, solution_
        As for :class:`LabelPropagation`.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [4.0], [5.0]]
    >>> model = LabelSpreading(Gaussian(0.7), alpha=0.5).fit(X, [0, -1, -1, -1, 1])
    >>> model.predict([[1.5], [4.5]])
    array([0, 1])
    """

    _checks: ClassVar[Checks] = {
        "alpha": partial(check_number, requirement="a number in (0, 1)", above=0.0, below=1.0)
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        alpha: float = 0.2,
        n_neighbors: int | None = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.time_budget = time_budget

    def _spread(self, A: Affinity, labels: PartialLabels) -> Solution[Vector]:
        return consistent(A, labels.indicators(), float(self.alpha))
