"""Spectral clustering on the graph of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from ...engine.runs import tracked
from ...errors import InputError, warn
from ...gram.kernel_gram import gram_of_points
from ...graphs.laplacians import components, degrees, without_loops
from ...graphs.similarity import affinity
from ...graphs.spectra import eigenbasis
from ...kernels import Gaussian
from ...parameters import Checks, check_count, check_random
from ...solvers.clusters import FeatureMatrix, GraphMatrix, kernel_kmeans, seed
from ..base import KernelMachine, len_of
from ..callbacks import as_run
from ..translation import KernelLike

__all__ = ["SpectralClustering"]


class SpectralClustering(ClusterMixin, KernelMachine):
    r"""Clusters of a graph that cut few of its edges.

    The weights are kernel values, :math:`W_{ij} = k(x_i, x_j) \ge 0` for :math:`i \ne j` (of all pairs, or of
    nearest neighbours).  With degrees :math:`d_i = \sum_j W_{ij}` the aim is the least normalised cut

    .. math:: \min_{\text{partitions}} \; \sum_c
              \frac{\sum_{i \in c,\, j \notin c} W_{ij}}{\sum_{i \in c} d_i} .

    It is relaxed to the eigenvectors :math:`U` of the normalised Laplacian
    :math:`I - D^{-1/2} W D^{-1/2}` with the ``n_clusters`` least eigenvalues; the rows of
    :math:`D^{-1/2} U`, with the weights :math:`d`, are clustered by k-means, from several starts.  Each
    result is then improved by moves of points that lower the cut itself, which is the objective of weighted
    kernel k-means (see :class:`KernelKMeans`), and the one with the least cut counts.

    The kernel needs values >= 0, not definiteness.  A graph in more than one piece is fine.  If it has at
    least as many components as clusters, no edge needs to be cut: the heaviest ``n_clusters - 1`` components
    are clusters, the others together one more (with a warning, if there are several).

    Cost: the n-by-n matrix, and Lanczos iteration on it; with ``n_neighbors`` memory only for the neighbours.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain with values >= 0.  ``Precomputed()`` takes the affinity matrix as ``X``.
    n_clusters : int, default=8
    n_neighbors : int, optional
        Number of nearest points that each point is linked with, in feature space, itself included (of the two
        directions, half the weight each); by default all pairs.
    n_init : int, default=10
        Starts of k-means; the best result counts.
    max_iter : int, default=300
        Most steps of k-means from each start.
    random_state : int, RandomState or None, default=0
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Clusters, the largest first (equal ones in the order of their first points).
    embedding_ : array of shape (n, n_clusters)
        The rows that k-means saw, each column with a fixed sign.  Only where there are fewer components than
        clusters.
    eigenvalues_ : array of shape (n_clusters,)
        The least eigenvalues of the normalised Laplacian, ascending.
    cut_ : float
        The normalised cut of the clusters.  No partition into as many has less than
        ``eigenvalues_.sum()``.
    n_iter_ : int
        Passes over the points that lowered the cut, and the last, which did not.
    n_components_ : int
        Connected components of the graph.
    affinity_matrix_ : array or sparse matrix of shape (n, n)
        The weights, with a zero diagonal.
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = SpectralClustering(Gaussian(0.3), n_clusters=2).fit(np.vstack([circle, 3 * circle]))
    >>> np.unique(model.labels_[:40]), np.unique(model.labels_[40:])
    (array([0], dtype=int32), array([1], dtype=int32))
    """

    _checks: ClassVar[Checks] = {"n_clusters": check_count, "n_init": check_count}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        n_clusters: int = 8,
        n_neighbors: int | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = 0,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the points ``X``; ``y`` is ignored."""
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        if self.n_clusters > n:
            raise InputError(f"SpectralClustering: n_samples={n} should be >= n_clusters={self.n_clusters}.")
        self.kernel_ = self._checked_kernel().resolve(points)
        self.affinity_matrix_ = without_loops(
            affinity(gram_of_points(self.kernel_, points), self.n_neighbors)
        )
        self.n_components_, component = components(self.affinity_matrix_)
        if self.n_components_ < self.n_clusters:
            labels = self._relaxed()
        else:
            labels = self._by_component(component)
        self.labels_ = _largest_first(labels).astype(np.int32)
        return self

    def _relaxed(self) -> NDArray[np.intp]:
        """Cluster the rows of the smoothest eigenvectors."""
        A = self.affinity_matrix_ / degrees(self.affinity_matrix_).max()
        volume = degrees(A)
        alone = np.where(volume == 0, volume.mean(), 0.0)
        if alone.any():  # points without edges get loops, with the degree of the average point
            A = (
                (A + scipy.sparse.diags_array(alone)).tocsr()
                if scipy.sparse.issparse(A)
                else A + np.diag(alone)
            )
            volume = degrees(A)
        basis = eigenbasis(A, self.n_clusters)
        self.eigenvalues_ = basis.values
        self.embedding_ = basis.vectors / np.sqrt(volume)[:, None]
        solution = kernel_kmeans(
            GraphMatrix(A), self.n_clusters, volume, self._starts(volume), max_iter=self.max_iter
        )
        loops = float((A.diagonal() / volume).sum())
        self.cut_ = max(0.0, solution.value.inertia - len(volume) + 2 * self.n_clusters - loops)
        self.n_iter_ = int(solution.stats["iterations"])
        if not solution.converged:
            warn(f"SpectralClustering: {solution.status}.", ConvergenceWarning)
        return solution.value.labels

    def _starts(self, volume: NDArray[np.float64]) -> Iterator[NDArray[np.intp]]:
        """Different results of k-means on the rows of the embedding."""
        rows = FeatureMatrix(self.embedding_)
        random = check_random(type(self).__name__, "random_state", self.random_state)
        seen: set[bytes] = set()
        for _ in tracked(range(self.n_init), "SpectralClustering", "start"):
            start = [seed(rows, self.n_clusters, volume, random)]
            found = kernel_kmeans(rows, self.n_clusters, volume, start, max_iter=self.max_iter)
            labels = found.value.numbered(volume).labels
            if labels.tobytes() not in seen:
                seen.add(labels.tobytes())
                yield labels

    def _by_component(self, component: NDArray[np.intp]) -> NDArray[np.intp]:
        """The heaviest components, one cluster each, and the rest together: nothing is cut."""
        self.__dict__.pop("embedding_", None)  # of an earlier fit
        self.eigenvalues_, self.cut_, self.n_iter_ = np.zeros(self.n_clusters), 0.0, 1
        if self.n_components_ > self.n_clusters:
            warn(
                f"SpectralClustering: the graph has {self.n_components_} components for "
                f"n_clusters={self.n_clusters}: the smallest were put together. Take a wider kernel, more "
                "neighbours or more clusters.",
                UserWarning,
            )
        return np.minimum(_largest_first(component), self.n_clusters - 1)


def _largest_first(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number clusters by size, equal ones in the order of their first points."""
    _, first, labels, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    return np.asarray(np.argsort(np.lexsort((first, -size)))[labels], dtype=np.intp)
