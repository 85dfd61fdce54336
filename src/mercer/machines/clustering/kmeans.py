"""Kernel k-means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from ... import memory
from ...domains import Data, items, take
from ...engine.runs import tracked
from ...errors import InputError, ParameterError, warn
from ...gram.kernel_gram import gram_of_points
from ...kernel import Kernel
from ...kernels import Gaussian
from ...parameters import Checks, check_choice, check_count, check_random
from ...solvers import Matrix, matrix_of
from ...solvers.clusters import around, kernel_kmeans, seed
from ..arguments import read_weight
from ..base import KernelMachine, len_of
from ..callbacks import as_run
from ..indefinite import screen
from ..translation import KernelLike

__all__ = ["KernelKMeans"]

Vector = NDArray[np.float64]
Index = NDArray[np.intp]

#: What the largest weight may be: only their proportions matter.
PROPORTIONS = (0.0, np.inf)


class KernelKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, KernelMachine):
    r"""Clusters around means in feature space.

    .. math:: \min_{\text{partitions}} \; \sum_i w_i \, \|\Phi(x_i) - m_{c(i)}\|^2, \qquad
              m_c = \frac{\sum_{i \in c} w_i \Phi(x_i)}{\sum_{i \in c} w_i}

    by k-means++ seeding, Lloyd's steps (the objective never rises) and, where these end, moves of single
    points that lower it further (Hartigan), from several starts.  With the linear kernel it is ordinary
    k-means.  With the kernel :math:`W_{ij} / (d_i d_j) + \sigma \delta_{ij} / d_i` and the weights
    :math:`d_i = \sum_j W_{ij}` the objective is, up to a constant, the normalised cut of the graph
    :math:`W`, which :class:`SpectralClustering` relaxes.

    The kernel should be positive definite; ``indefinite`` decides about others.  (``"shift"`` changes the
    objective by a constant only, so that it keeps the best partition.)

    Cost: one product of the Gram matrix with ``n_clusters`` columns per step, one row of it per single move
    and per candidate of the seeding.  The matrix is held if it takes at most 2 GiB (and half of the memory
    limit), else computed anew for each product, in bands.  A prediction compares with all training points.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    n_clusters : int, default=8
        At most the number of points.
    init : {"k-means++", "random"} or array, default="k-means++"
        How each start is drawn; or the one start: the positions of ``n_clusters`` points of ``X`` as centres,
        or a label 0, 1, ... for every point.
    n_init : int, default=10
        Number of starts; the best result counts.
    max_iter : int, default=300
        Most Lloyd steps from each start.
    algorithm : {"hartigan", "lloyd"}, default="hartigan"
        Whether moves of single points follow Lloyd's steps.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue.
    random_state : int, RandomState or None, default=0
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Clusters of the training points: 0 is the heaviest, and so on (of equal ones, first that nearest to
        the mean of all points); with a given start, numbered as that.  Points of weight zero have the nearest
        mean's.
    inertia_ : float
        The objective.
    dual_coef_ : array of shape (n_kept, n_clusters)
        The means as combinations of the training points of positive weight.
    gram_ : Gram
        The (lazy) Gram matrix of the training points of positive weight; ``gram_.cross`` compares new ones.
        For the linear kernel, and others that know their distances, seen from the first point: clusters are
        the same, and data far from the origin lose no digits.
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    n_iter_ : int
        Passes of Lloyd's steps from the best start; the last one moves nothing.
    solution_ : Solution
        How it ended: status, and what one more step would gain.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> X = [[-3.0], [-2.9], [-0.1], [0.2], [2.8], [3.1]]
    >>> KernelKMeans(Polynomial(2, offset=0.0), n_clusters=2).fit_predict(X)             # clusters of x^2
    array([0, 0, 1, 1, 0, 0], dtype=int32)
    """

    _checks: ClassVar[Checks] = {
        "n_clusters": check_count,
        "n_init": check_count,
        "algorithm": partial(check_choice, options=("hartigan", "lloyd")),
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        n_clusters: int = 8,
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        algorithm: str = "hartigan",
        indefinite: str = "warn",
        random_state: Any = 0,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.algorithm = algorithm
        self.indefinite = indefinite
        self.random_state = random_state
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of the points ``X``; ``y`` is ignored."""
        all_points = self._validate_X(X, reset=True)
        n = len_of(all_points)
        weight = read_weight("KernelKMeans", sample_weight, n, PROPORTIONS)
        start = self._given_start(n)
        kept = np.arange(n) if weight is None else np.flatnonzero(weight)
        if self.n_clusters > len(kept):
            raise InputError(
                f"KernelKMeans: n_samples={len(kept)} (of positive weight) should be >= "
                f"n_clusters={self.n_clusters}."
            )
        memory.require(
            6 * 8.0 * len(kept) * self.n_clusters,
            f"KernelKMeans: distances of {len(kept)} points from {self.n_clusters} means, and the sums they "
            "follow from,",
            f"Each step takes {float(len(kept)) ** 2 * self.n_clusters:.0e} multiplications. "
            "Use fewer clusters.",
        )
        points = all_points if len(kept) == n else take(all_points, kept)
        own = np.ones(len(kept)) if weight is None else weight[kept]
        self.kernel_ = self._checked_kernel().resolve(points, None if weight is None else own)
        seen = gram_of_points(_seen_from_first(self.kernel_, points), points)
        self.gram_ = screen(seen, self.indefinite, "KernelKMeans")
        matrix = matrix_of(self.gram_)
        self.solution_ = kernel_kmeans(
            matrix,
            self.n_clusters,
            own,
            self._starts(matrix, own, kept, start),
            single_moves=self.algorithm == "hartigan",
            max_iter=self.max_iter,
        )
        labels = self._keep(own, renumber=start is None)
        if len(kept) < n:
            everywhere = self._nearest(all_points)
            everywhere[kept] = labels
            labels = everywhere
        self.labels_ = labels
        self._warn()
        return self

    # -- starts ---------------------------------------------------------------------------------
    def _given_start(self, n: int) -> Index | None:
        """Positions of centres, or labels of all points, if ``init`` is one of these."""
        if isinstance(self.init, str):
            check_choice("KernelKMeans", "init", self.init, ("k-means++", "random"))
            return None
        start = np.asarray(self.init)
        if start.dtype.kind not in "iu" or start.shape not in ((self.n_clusters,), (n,)):
            raise ParameterError(
                f"KernelKMeans: `init` must be 'k-means++', 'random', the positions of {self.n_clusters} "
                f"points, or {n} labels, as whole numbers. Got shape {start.shape} of type {start.dtype}."
            )
        is_positions = start.shape == (self.n_clusters,)
        bound = n if is_positions else self.n_clusters
        if start.min() < 0 or start.max() >= bound or (is_positions and len(np.unique(start)) < len(start)):
            what = "different positions of points" if is_positions else "labels"
            raise ParameterError(f"KernelKMeans: `init` must hold {what} from 0 to {bound - 1}.")
        return start.astype(np.intp)

    def _starts(self, matrix: Matrix, weight: Vector, kept: Index, start: Index | None) -> Iterator[Index]:
        """Labels to begin with, one array per start."""
        if start is not None:
            if len(start) != self.n_clusters:
                yield start[kept]
            elif np.isin(start, kept).all():
                yield around(matrix, np.searchsorted(kept, start))
            else:
                raise ParameterError("KernelKMeans: `init` names a point whose sample_weight is zero.")
            return
        random = check_random("KernelKMeans", "random_state", self.random_state)
        for _ in tracked(range(self.n_init), "KernelKMeans", "start"):
            if self.init == "k-means++":
                yield seed(matrix, self.n_clusters, weight, random)
            else:
                chance = weight / weight.sum()
                yield around(matrix, random.choice(len(weight), self.n_clusters, replace=False, p=chance))

    # -- result ---------------------------------------------------------------------------------
    def _keep(self, weight: Vector, *, renumber: bool) -> NDArray[np.int32]:
        """Set what describes the clusters; return the labels of the points of positive weight."""
        if renumber:
            self.solution_ = replace(self.solution_, value=self.solution_.value.numbered(weight))
        found = self.solution_.value
        self.inertia_, self.dual_coef_, self._squares = found.inertia, found.coefficients, found.squares
        self._n_features_out = self.n_clusters
        self.n_iter_ = int(self.solution_.stats["iterations"])
        return found.labels.astype(np.int32)

    def _warn(self) -> None:
        if not self.solution_.converged:
            warn(f"KernelKMeans: {self.solution_.status}.", ConvergenceWarning)
        different = self.solution_.stats["different_means"]
        if different < self.n_clusters:
            warn(
                f"KernelKMeans: only {different} of the n_clusters={self.n_clusters} clusters have means of "
                "their own: there are too few points in feature space that differ by more than rounding.",
                ConvergenceWarning,
            )

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Clusters of new points: those of the nearest means (of equally near ones, the first)."""
        self._check_fitted()
        return self._nearest(self._validate_X(X, reset=False))

    def transform(self, X: Any) -> Vector:
        """Distances of points from the means in feature space, of shape (n, n_clusters)."""
        return np.asarray(np.sqrt(np.maximum(self._squared(X), 0.0)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective at ``X`` with the means as they are; ``y`` is ignored."""
        least = np.maximum(self._squared(X).min(axis=1), 0.0)
        weight = read_weight("KernelKMeans", sample_weight, len(least), PROPORTIONS)
        return -float(least.sum() if weight is None else weight @ least)

    def _nearest(self, points: Data) -> NDArray[np.int32]:
        return np.asarray(self._relative(points).argmin(axis=1), dtype=np.int32)

    def _relative(self, points: Data) -> Vector:
        """Squared distances of validated points from the means, less their own squared norms."""
        return np.asarray(self._squares - 2 * (self.gram_._cross(points) @ self.dual_coef_))

    def _squared(self, X: Any) -> Vector:
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        own = np.asarray(self.gram_._self(points), dtype=np.float64)
        return np.asarray(self._relative(points) + own[:, None])


def _seen_from_first(kernel: Kernel, points: Data) -> Kernel:
    """The kernel with the first point as its origin, where that saves digits: clusters are the same.

    An unbounded kernel that knows its distances directly, such as the linear one, may be evaluated far from
    its origin: at 1e8 all digits of k(x, x) - 2 k(x, y) + k(y, y) are lost, and none of the distances.
    """
    first = take(points, slice(0, 1))
    direct = kernel._squared_distances(kernel._prepare(take(points, slice(0, 0))), None) is not None
    if not direct or np.isfinite(kernel.diagonal_bounds.high):
        return kernel
    return 0.5 * kernel.distance().shifted(items(first)[0])
