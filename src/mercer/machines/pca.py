"""Kernel principal component analysis."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from .. import memory
from ..domains import Data, take
from ..engine.factorizations import eigh
from ..errors import InputError, warn
from ..features import FeatureMap
from ..gram import Gram
from ..gram.kernel_gram import gram_of_points
from ..gram.spectrum import rounding_level
from ..kernels import Gaussian
from ..parameters import Checks, check_choice, check_count
from ..solvers import CenteredMatrix, Eigenpairs, Solution, largest_eigenpairs, signs
from .approximation import Approximated, check_approximation
from .arguments import check_fraction, check_positive, naming, read_weight
from .base import len_of
from .callbacks import as_run
from .indefinite import refuse_distance, screen
from .preimage import METHODS, Expansion, Preimages
from .translation import KernelLike

__all__ = ["KernelPCA"]

_SOLVERS = ("auto", "dense", "lanczos", "randomized")


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Approximated):
    r"""Kernel principal component analysis: the directions of largest variance in feature space.

    With weights :math:`w_i` (ones by default), :math:`W = \sum_i w_i` and the mean
    :math:`\mu = \frac1W \sum_i w_i \phi(x_i)`, component after component

    .. math:: v_j = \arg\max_{\|v\| = 1,\; v \perp v_1, \dots, v_{j-1}} \;
              \sum_i w_i \, \langle v, \phi(x_i) - \mu \rangle^2 = \lambda_j .

    :math:`\lambda_j` are the eigenvalues of the centred Gram matrix, scaled by :math:`\sqrt{w_i w_j}`;
    ``transform`` gives the coordinates :math:`\langle v_j, \phi(x) - \mu \rangle`, of training points and new
    ones alike.  The sign of a component is such that the largest coordinate of the training points in
    absolute value (the first of nearly equal ones) is positive.  Needs a kernel that is positive definite
    after centring: conditionally positive definite ones are welcome.

    The coefficients of a component :math:`v_j = \sum_i a_{ij} \phi(x_i)` have :math:`\lambda_j \sum_i
    a_{ij}^2 = 1` for unit weights, with :math:`\lambda_j` an eigenvalue of the centred Gram matrix: in terms
    of the covariance, whose eigenvalue is :math:`\lambda_j / n`, it is n times that eigenvalue times
    :math:`\sum_i a_{ij}^2` that is 1.  A new point's row of kernel values is centred too.  Some lecture notes
    leave out the factor n, and the centring of the row.

    Cost: O(n^2) kernel values.  ``"dense"`` O(n^3); ``"lanczos"`` some ten products of the Gram matrix with a
    block of vectors, with half of it in memory unless that takes 2 GiB or half of the memory limit;
    ``"randomized"`` five such products.  ``transform``: one kernel row per point.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain.  ``Precomputed()`` takes the Gram matrix as ``X``.
    n_components : int, optional
        Number of components; all by default.  If the data span fewer directions, a warning says so and there
        are as many components as directions (possibly none).
    solver : {"auto", "dense", "lanczos", "randomized"}, default="auto"
        ``"auto"`` takes the dense solver for up to 400 points or if more than an eighth of all components
        are asked for, else Lanczos if the Gram matrix can be held, else the randomised method.
    tol : float, default=1e-10
        Lanczos ends when each residual :math:`\|A u - \lambda u\|` is at most ``tol`` times the largest
        eigenvalue.
    max_iter : int, default=200
        Most products of the Lanczos iteration; where it fails, ``"auto"`` takes the dense solver.
    preimage : {"auto", "combination", "fixed-point", "ridge"}, default="auto"
        How ``inverse_transform`` works, see :class:`~mercer.machines.preimage.Preimages`.
    alpha : float, default=1e-3
        Penalty of ``preimage="ridge"``, > 0.
    approximation : FeatureMap or "auto", optional
        Take the components of the features of this map, such as ``Nystrom(kernel, 500)``, from their
        covariance: O(n r^2) time and O(n r) memory for r features, and a transform that does not depend on n.
        The map's kernel counts, and ``kernel`` is left out (or the same).  ``"auto"`` is exact while the Gram
        matrix can be held (2 GiB), then takes what :func:`~mercer.features.advise` recommends.  ``solver``
        and pre-images are of the exact machine.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its centred Gram matrix has a negative eigenvalue, as
        for :class:`KernelRidge`.  Negative eigenvalues of the size of rounding are zero; others never become
        components, but they are part of the trace.
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    eigenvalues_ : array of shape (k,)
        :math:`\lambda_j`, descending, all positive.
    explained_variance_ : array of shape (k,)
        :math:`\lambda_j / (W - 1)`, as scikit-learn's ``PCA``; :math:`\lambda_j / W` if
        :math:`W \le 1`, where weights cannot be counts.
    explained_variance_ratio_ : array of shape (k,)
        Share of the total variance, which is the trace: exact whatever the number of components.
    n_components_ : int
        Components that there are, k above.
    dual_coef_ : array of shape (n_kept, k)
        Coefficients of :math:`v_j = \sum_i a_{ij} \phi(x_i)`; each column sums to zero.
    gram_ : Gram
        The (lazy) Gram matrix of the training points of positive weight.
    coef_ : array of shape (k, r)
        With ``approximation``, instead of ``dual_coef_`` and ``gram_``: the components in the features.
    approximation_ : FeatureMap or None
        The fitted map; None if ``"auto"`` was exact.  This and the next: with ``approximation`` only.
    approximation_error_ : float
        Frobenius norm of the error of the map's kernel on 500 training points, relative to the kernel's.
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    solution_ : Solution
        How the eigenproblem was solved: method, residual.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> X = np.vstack([np.c_[np.cos(t), np.sin(t)], 3 * np.c_[np.cos(t), np.sin(t)]])
    >>> Z = KernelPCA(Gaussian(1.0), n_components=3).fit_transform(X)
    >>> Z.shape, bool(Z[:40, 0].min() > Z[40:, 0].max())  # the first component separates the circles
    ((80, 3), True)
    """

    _checks: ClassVar[Checks] = {
        "n_components": partial(check_count, unless=(None,)),
        "solver": partial(check_choice, options=_SOLVERS),
        "tol": check_fraction,
        "preimage": partial(check_choice, options=METHODS),
        "alpha": check_positive,
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        n_components: int | None = None,
        solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int = 200,
        preimage: str = "auto",
        alpha: float = 1e-3,
        approximation: FeatureMap | Literal["auto"] | None = None,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.preimage = preimage
        self.alpha = alpha
        self.approximation = approximation
        self.indefinite = indefinite
        self.time_budget = time_budget

    # -- fitting --------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of the points ``X``; ``y`` is ignored."""
        self._fit(X, sample_weight)
        return self

    @as_run
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and return the coordinates of ``X``: what ``transform`` gives, without its cost."""
        scores = self._fit(X, sample_weight)
        return self.transform(X) if scores is None else scores

    def _fit(self, X: Any, sample_weight: Any) -> np.ndarray | None:
        """Fit; return the coordinates of the training points, unless some were left out."""
        check_approximation(self, {**self._full_only, "solver": "auto"})
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = read_weight(type(self).__name__, sample_weight, n)
        dropped = weight is not None and not weight.all()
        if weight is not None and dropped:  # a row of weight zero is as if absent
            kept = np.flatnonzero(weight)
            points, weight = take(points, kept), weight[kept]
        for name in ("gram_", "dual_coef_", "coef_", "_points"):
            self.__dict__.pop(name, None)
        features = self._approximate(points, weight)
        if features is not None:
            scores = self._feature_components(features._X, weight)
            return None if dropped else scores
        self.kernel_ = self._checked_kernel().resolve(points, weight)
        self.gram_ = self._screened(gram_of_points(self.kernel_, points, dtype=np.float64))
        self._points = points
        A = CenteredMatrix(self.gram_, weight)
        scores = self._components(A, self._solve(A))
        return None if dropped else scores

    def _screened(self, G: Gram) -> Gram:
        """The Gram matrix to use; what matters is whether it is positive semidefinite after centring."""
        if self.kernel_.certificate.is_psd:
            return screen(G, self.indefinite, type(self).__name__)
        refuse_distance(self.kernel_, self.indefinite, type(self).__name__)
        centered = G.center()
        screened = screen(centered, self.indefinite, type(self).__name__)
        return G if screened is centered else screened

    def _solve(self, A: CenteredMatrix) -> Eigenpairs:
        asked = A.size if self.n_components is None else min(self.n_components, A.size)
        self.solution_ = largest_eigenpairs(
            A, asked, self.solver, tol=float(self.tol), max_iter=self.max_iter
        )
        if not self.solution_.converged:
            warn(f"KernelPCA: {self.solution_.status}.", ConvergenceWarning)
        return self.solution_.value

    def _feature_components(self, features: Any, weight: np.ndarray | None) -> np.ndarray:
        """Eigenvectors of the covariance of the features; return the coordinates of the training points."""
        n, r = features.shape
        memory.require(3 * 8 * r * r, f"KernelPCA: the covariance of {r} features")
        w = np.ones(n) if weight is None else weight
        total = float(w.sum())
        mean = np.asarray(features.T @ (w / total), dtype=np.float64)
        if isinstance(features, np.ndarray):
            centred = np.sqrt(w)[:, None] * (features - mean)
            C = centred.T @ centred
        else:
            C = (features.T @ (features * w[:, None])).toarray() - total * np.outer(mean, mean)
        count = r if self.n_components is None else min(self.n_components, r)
        values, V = eigh(C, subset=None if count == r else (r - count, r - 1))
        values, V = values[::-1], V[:, ::-1]
        scale = float(values.max(initial=0.0)) + total * float(mean @ mean)
        rank = int(np.sum(values > rounding_level(n, float(np.finfo(float).eps), scale)))
        self._warn_of_rank(rank, n)
        values, V = values[:rank], V[:, :rank]
        scores = np.asarray(features @ V, dtype=np.float64) - mean @ V
        sign = signs(scores)
        self._weights, self._mean = V * sign, mean
        self.coef_, self._offset = self._weights.T, mean @ self._weights
        status = self._said("eigenvectors of the covariance")
        self.solution_ = Solution(Eigenpairs(values, V, C @ V), True, status, 0.0, {"method": "dense"})
        self._keep_values(values, float(np.trace(C)), total)
        return np.asarray(scores * sign)

    def _components(self, A: CenteredMatrix, found: Eigenpairs) -> np.ndarray:
        """Keep what the pairs say; return the coordinates of the training points."""
        # centring cancels digits of K, which may be much larger than what is left
        scale = float(np.abs(found.values).max(initial=0.0)) + A.total * abs(A.center)
        rank = int(np.sum(found.values > rounding_level(A.size, float(np.finfo(float).eps), scale)))
        self._warn_of_rank(rank, A.size)
        values, U, images = found.values[:rank], found.vectors[:, :rank], found.images[:, :rank]
        length = np.sqrt(values)
        scores = images / (A.root[:, None] * length)
        sign = signs(scores)
        coefficients = A.root[:, None] * U * (sign / length)
        self.dual_coef_ = coefficients - A.share[:, None] * coefficients.sum(axis=0)
        self._share, self._mean_square = A.share, A.center
        self._offset = A.means @ self.dual_coef_  # coordinates of the mean before centring
        self._keep_values(values, A.trace(), A.total)
        return np.asarray(scores * sign)

    def _keep_values(self, values: np.ndarray, trace: float, total: float) -> None:
        self.eigenvalues_ = values.copy()
        self.explained_variance_ = values / (total - 1 if total > 1 else total)
        self.explained_variance_ratio_ = values / trace if len(values) else values.copy()
        self.n_components_ = self._n_features_out = len(values)

    def _warn_of_rank(self, rank: int, n: int) -> None:
        if self.n_components is not None and rank < self.n_components:
            warn(
                f"KernelPCA: `n_components` is {self.n_components}, but the {n} points span only {rank} "
                f"direction(s) about their mean in the space of {self.kernel_!r}: it has as many components.",
                UserWarning,
            )

    # -- new points -----------------------------------------------------------------------------
    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of points in the components, one column each."""
        self._check_fitted()
        return self._coordinates(self._validate_X(X, reset=False))

    def _coordinates(self, points: Data) -> np.ndarray:
        if self._is_approximate:
            return np.asarray(self._feature_function()(points) - self._offset)
        return np.asarray(self.gram_._cross(points) @ self.dual_coef_ - self._offset)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Pre-images: points of the input space whose images are near the given coordinates.

        Only for kernels on vectors; the method is ``preimage``.  Exact for the linear kernel; for others the
        images of points are a small part of feature space, and what comes is an approximation.
        """
        self._check_fitted()
        self._require_exact("inverse_transform")
        with naming("KernelPCA.inverse_transform", "X"):
            T = np.asarray(X, dtype=np.float64)
        if T.ndim != 2 or T.shape[1] != self.n_components_ or not np.isfinite(T).all():
            raise InputError(
                f"KernelPCA.inverse_transform: `X` must be finite coordinates of shape "
                f"(n, {self.n_components_}). Got shape {T.shape}."
            )
        expansion = Expansion(self.kernel_, self._points, self.dual_coef_, self._share)
        return Preimages(expansion, self.preimage, float(self.alpha))(T, self._coordinates)

    # -- novelty --------------------------------------------------------------------------------
    def score_samples(self, X: Any) -> np.ndarray:
        r"""Minus the squared reconstruction error in feature space: higher is more normal.

        .. math:: s(x) = \sum_j \langle v_j, \phi(x) - \mu \rangle^2 - \|\phi(x) - \mu\|^2 \le 0

        It needs :math:`k(x, x)` of new points, which a precomputed matrix does not have.
        """
        within, total, _ = self._squares(X)
        return np.asarray(np.minimum(within - total, 0.0))

    def unexplained_ratio(self, X: Any) -> np.ndarray:
        r"""Share of the squared distance from the mean that the components miss: higher is less normal.

        .. math:: u(x) = 1 - \frac{\sum_j \langle v_j, \phi(x) - \mu \rangle^2}
                                   {\|\phi(x) - \mu\|^2} \in [0, 1]

        It is minus :meth:`score_samples` as a ratio to the centred value of :math:`k(x, x)` (Hoffmann 2007),
        and 0 at the mean itself.
        """
        within, total, rounding = self._squares(X)
        seen = total > rounding
        missed = np.divide(total - within, total, out=np.zeros_like(total), where=seen)
        return np.asarray(np.clip(missed, 0.0, 1.0))

    def _squares(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Squared distances from the mean within the components and in all, and rounding errors of these."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        if self._is_approximate:
            assert self.approximation_ is not None
            features = self.approximation_.transform(points)
            centred = (features.toarray() if hasattr(features, "toarray") else features) - self._mean
            squares = np.einsum("ij,ij->i", centred, centred)
            within = ((centred @ self._weights) ** 2).sum(axis=1)
            return within, squares, float(np.finfo(float).eps) * (squares + float(self._mean @ self._mean))
        product = self.gram_._cross(points) @ np.column_stack([self.dual_coef_, self._share])
        coordinates, means = product[:, :-1] - self._offset, product[:, -1]
        own = np.asarray(self.gram_._self(points), dtype=np.float64)
        total = own - 2 * means + self._mean_square
        terms = np.abs(own) + float(
            self._share @ np.abs(self.gram_.diagonal())
        )  # a bound of the values in all
        rounding = rounding_level(len(self._share), float(np.finfo(float).eps), 1.0) * terms
        return (coordinates**2).sum(axis=1), np.asarray(total), np.asarray(rounding)

    def mahalanobis(self, X: Any) -> np.ndarray:
        r"""Squared Mahalanobis distance from the mean within the components: higher is less normal.

        .. math:: m(x) = \sum_j \frac{\langle v_j, \phi(x) - \mu \rangle^2}{\lambda_j / (W - 1)}

        (Cuturi 2009 prints the projections unsquared over squared eigenvalues.)
        """
        return np.asarray((self.transform(X) ** 2 / self.explained_variance_).sum(axis=1))

    # -- checks ---------------------------------------------------------------------------------
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # coordinates are in double precision
        return tags
