"""Supervised graph inference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse

from .. import memory
from ..domains import check_sparse
from ..domains.vectors import check_finite
from ..engine.factorizations import eigh
from ..errors import InputError
from ..gram.spectrum import rounding_level
from ..kernels import Gaussian
from ..solvers import RayleighValue, SpectralRoot, centred_root, solve_rayleigh
from .arguments import read_targets
from .base import len_of
from .callbacks import as_run
from .projection import KernelProjection, keep
from .translation import KernelLike

__all__ = ["KernelGraphInference"]


class KernelGraphInference(KernelProjection):
    r"""Supervised graph inference: a map that puts connected objects close together predicts further edges.

    One after the other, the functions of the space of the kernel that minimise

    .. math:: f_j = \operatorname{argmin}_f \frac{f_X' L f_X + \alpha \|f\|^2}{f_X' f_X}, \qquad
              f_X' L f_X = \sum_{(i, l) \in E} w_{il} (f(x_i) - f(x_l))^2,

    with the mean :math:`\sum_i f(x_i) = 0` and values :math:`f_X` orthogonal to those of the functions before
    (Vert and Yamanishi; the survey prints argmax and a norm that is not squared).  :math:`L` is the
    combinatorial Laplacian of the known graph.  The penalty decides how far the graph may bend the geometry
    of the kernel.  The functions have mean square 1 on the training points; new objects are mapped by the
    same functions, and a pair is the more likely an edge the closer it is.

    Cost: O(n^3) time and O(n^2) memory to fit, one kernel row per object to map.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.
    n_components : int, default=2
        Number of functions; at most the rank of the centred Gram matrix.
    alpha : float, default=1.0
        Factor :math:`\alpha \ge 0` of the squared norm.  0 is an error if some function of mean zero is
        constant on each connected part of the graph.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue.
    time_budget : float, optional
        Seconds after which ``fit`` raises :class:`~mercer.errors.TimeBudgetError`: it has no partial result.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components,)
        The minima of the quotient, ascending.
    threshold_ : float
        Score from which on a pair is predicted to be an edge: as many pairs of training objects reach it as
        the graph has edges.
    dual_coef_ : array of shape (n, n_components)
        Coefficients of the training points.
    intercept_ : array of shape (n_components,)
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    gram_ : Gram
        The (lazy) Gram matrix of the training points.
    solution_ : Solution
        How the problem was solved: residual, condition.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Notes
    -----
    Points cannot have weights: a repeated node would need edges of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.arange(12.0)[:, None]
    >>> chain = (np.abs(X - X.T) == 1).astype(float)  # neighbours are joined
    >>> model = KernelGraphInference(Gaussian(2.0), alpha=0.1).fit(X, chain)
    >>> near, far = model.edge_scores([[3.5]], [[4.5], [9.0]])[0]
    >>> bool(near > far)
    True
    """

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        n_components: int = 2,
        alpha: float = 1.0,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.indefinite = indefinite
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the objects ``X`` and the graph ``y`` between them.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix
        y : array or sparse matrix of shape (n, n), or array of shape (n,)
            Weights of the edges: symmetric, nonnegative, 0 for no edge; the diagonal does not matter.  Or the
            groups of the objects: those of one group are joined.
        """
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        if n < 2:
            raise InputError(f"KernelGraphInference: X has {n} sample(s) while a minimum of 2 is required.")
        memory.require(
            8 * 8.0 * n * n,
            f"KernelGraphInference on {n} points",
            f"It factors matrices of that size, some {10 * float(n) ** 3:.0e} operations. Use fewer points.",
        )
        graph = self._adjacency(y, n)
        training = self._train_on(points, None)
        with self._explaining(self.kernel_, "some function is constant on each connected part"):
            span = centred_root(training.K, np.ones(n), self.gram_._eps)
            bottom = laplacian_root(graph) @ span.features
            solution = solve_rayleigh(np.diag(np.sqrt(span.values)), bottom, float(self.alpha))
        coefficients, quotients = self._functions(span, solution.value)
        values = self._keep_functions(coefficients, training)
        self._turn(values)
        directions = solution.value.directions[:, : len(quotients)]
        self._warn(replace(solution, value=RayleighValue(directions, solution.value.quotients)))
        self.eigenvalues_ = 1 / quotients
        # what as many pairs of different objects reach as are joined: half-way to the next one
        scores = np.sort(_scores(values, values)[np.triu_indices(n, 1)])
        first = len(scores) - graph.nnz // 2
        self.threshold_ = float(scores[first - 1 : first + 1].mean()) if first else -np.inf
        return self

    def _functions(self, span: SpectralRoot, found: RayleighValue) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the functions to keep, of mean square 1, and their quotients.

        A quotient of the solver is the reciprocal of ours: values over penalised roughness.
        """
        directions, quotients = found
        if not len(quotients):
            raise InputError(
                "KernelGraphInference: `X` must hold different objects: in feature space all are the same."
            )
        p = keep(
            self.n_components,
            len(quotients),
            "KernelGraphInference",
            "the objects span no more dimensions around their mean",
        )
        length = np.sqrt(quotients[:p] / len(span.vectors))
        return span.coefficients(directions[:, :p] / length), quotients[:p]

    def _adjacency(self, y: Any, n: int) -> scipy.sparse.csr_array:
        """The graph as a symmetric sparse matrix without loops."""
        if not scipy.sparse.issparse(y):
            y = read_targets(type(self).__name__, y, n, numeric=False)
            if y.ndim == 1 or y.shape[1] == 1:
                groups = np.unique(y, return_inverse=True)[1].ravel()
                y = groups[:, None] == groups
        else:
            check_sparse(y, "KernelGraphInference: `y`")
        if y.shape != (n, n):
            raise InputError(
                f"KernelGraphInference: `y` must be the {n} x {n} matrix of edges between the points of X, "
                f"or their {n} groups. Got shape {y.shape}."
            )
        try:
            graph = scipy.sparse.csr_array(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"KernelGraphInference: `y` must hold weights of edges: {error}.") from error
        graph.setdiag(0)
        graph.eliminate_zeros()
        check_finite(graph, "y")
        if graph.nnz and graph.data.min() < 0:
            raise InputError(f"KernelGraphInference: `y` must have weights >= 0. Got {graph.data.min():.6g}.")
        if (graph != graph.T).nnz:
            raise InputError(
                "KernelGraphInference: `y` must be symmetric: an edge joins both of its ends. "
                "Use np.maximum(y, y.T)."
            )
        if not graph.nnz:
            raise InputError("KernelGraphInference: `y` must have at least one edge. It has none.")
        return graph

    # -- edges ----------------------------------------------------------------------------------
    def edge_scores(self, X: Any, Y: Any = None) -> np.ndarray:
        """How likely edges are: minus the squared distances of the mapped objects, of shape (n_X, n_Y).

        ``Y`` is ``X`` by default; the score of an object with itself is 0, the largest of all.
        """
        mapped = self.transform(X)
        return _scores(mapped, mapped if Y is None else self.transform(Y))

    def predict_edges(self, X: Any, Y: Any = None) -> np.ndarray:
        """Whether pairs are joined: their score is at least ``threshold_``; nothing is joined to itself."""
        joined = self.edge_scores(X, Y) >= self.threshold_
        if Y is None:
            np.fill_diagonal(joined, False)
        return np.asarray(joined)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def laplacian_root(graph: scipy.sparse.csr_array) -> Any:
    """A matrix ``R`` with ``R'R`` the Laplacian: a row per edge, or of n rows if there are more edges."""
    upper = scipy.sparse.triu(graph, 1, format="coo")
    n, m = graph.shape[0], upper.nnz
    if m <= n:
        edges, root = np.arange(m), np.sqrt(upper.data)
        rows, ends = np.concatenate([edges, edges]), np.concatenate([upper.row, upper.col])
        return scipy.sparse.csr_array((np.concatenate([root, -root]), (rows, ends)), shape=(m, n))
    L = np.diag(graph.sum(axis=1)) - graph.toarray()
    values, vectors = eigh(L)
    # what may be rounding of a zero is one: its root would be far above the rounding of the root
    values[values <= rounding_level(n, np.finfo(np.float64).eps, values[-1])] = 0.0
    return np.sqrt(values)[:, None] * vectors.T


def _scores(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Minus the squared distances between rows; summed by coordinate, so that none is above zero."""
    scores = np.zeros((len(A), len(B)))
    for a, b in zip(A.T, B.T, strict=True):
        scores -= (a[:, None] - b) ** 2
    return scores
