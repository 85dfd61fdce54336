"""Low-rank feature maps on any objects: the span of a few landmarks in feature space."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from .. import memory
from ..domains import Data, Similarities, Vectors, owned, size
from ..engine.runs import tracked
from ..errors import DefinitenessError, InputError, MercerError, ParameterError, brief
from ..gram import Gram, PointGram, gram
from ..gram.pivoted import pivoted_cholesky
from ..gram.spectrum import finite, rounding_level
from ..kernel import Kernel
from ..parameters import Checks, check_arguments, check_choice, check_number, check_random
from .fitted import FittedMap
from .landmarks import RULES

__all__ = ["IncompleteCholesky", "LandmarkMap", "Nystrom"]


#: Numbers of a band of features: 32 MiB.
BAND = 1 << 22


class LandmarkMap(FittedMap):
    r"""Features :math:`\phi(x) = L^{-1} k(Z, x)` of landmarks Z with :math:`k(Z, Z) = L L^\top`.

    Their inner products are :math:`k(x, Z)\, k(Z, Z)^{-1} k(Z, y)`: the projection on the span of the
    landmarks.
    """

    n_components: int | None
    landmarks_: Data
    landmark_indices_: np.ndarray | None
    trace_error_: float
    relative_trace_error_: float
    _largest_error: float

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of ``X``, of shape (n, dim)."""
        check_is_fitted(self, "_gram")
        points = self.kernel_.domain.validate(X, "X")
        if hasattr(points, "shape") and points.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {points.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        cross = self._gram._cross(points)
        n, r = cross.shape
        memory.require(8 * n * r, f"{type(self).__name__}.transform: {r} features of {n} points")
        out = np.empty((n, r))
        height = max(1, BAND // max(r, 1))
        for start in tracked(range(0, n, height), "features", "band"):
            self._solve(cross, slice(start, min(start + height, n)), out)
        return out

    def _solve(self, cross: Gram, rows: slice, out: np.ndarray) -> None:
        """Write the features of some rows."""
        cross._fill(rows, out[rows])
        linalg.blas.dtrsm(1.0, self._matrix, out[rows].T, lower=1, overwrite_b=1)

    def _coefficients(self, weights: np.ndarray) -> np.ndarray:
        """Coefficients of the landmarks for weights of the features: the same functions."""
        L = self._matrix
        return np.asarray(linalg.solve_triangular(L, weights, lower=True, trans=1, check_finite=False))

    def residual(self, X: Any) -> np.ndarray:
        r"""Squared distance of each point from the span of the landmarks: :math:`k(x, x) - |\phi(x)|^2`."""
        features = self.transform(X)
        left = np.asarray(self._gram._self(X), dtype=np.float64)
        return self._nonnegative(left - np.einsum("ij,ij->i", features, features), left)

    def error_bound(self, X: Any = None) -> float:
        r"""Bound on :math:`|k(x, y) - \langle \phi(x), \phi(y) \rangle|` over all pairs of points.

        The error is an inner product of what the landmarks do not span, so that it is at most
        :math:`\sqrt{r(x)\, r(y)}` with the :meth:`residual` r: a proof, not an estimate.

        Parameters
        ----------
        X : points, optional
            By default the training points, all of them.
        """
        check_is_fitted(self, "_gram")
        return self._largest_error if X is None else float(self.residual(X).max(initial=0.0))

    def _factorised(self, K: PointGram, count: int, **options: Any) -> np.ndarray:
        """Store a pivoted factor of the training matrix, and return it: the features of its points."""
        G = K._in_double()
        try:
            found = pivoted_cholesky(G.block, G.diagonal(), count, **options)
        except np.linalg.LinAlgError as error:
            raise self._indefinite(str(error)) from error
        L = np.asfortranarray(found.factor[found.pivots])
        self._landmarks(K.select(found.pivots), found.pivots, L)
        self._errors(found.residual, float(K.diagonal().sum(dtype=np.float64)))
        return found.factor

    def _landmarks(self, Z: Gram, indices: np.ndarray | None, L: np.ndarray) -> None:
        assert isinstance(Z, PointGram)
        if not len(L):
            raise InputError(
                f"{type(self).__name__}: `X` has k(x, x) = 0 for all landmarks: there are no features. "
                "Use another kernel."
            )
        self._fitted(Z, L)
        self.landmarks_, self.landmark_indices_ = Z._X, indices

    def _errors(self, residual: np.ndarray, trace: float) -> None:
        self.trace_error_ = float(residual.sum())
        self.relative_trace_error_ = self.trace_error_ / trace if trace > 0 else 0.0
        self._largest_error = float(residual.max(initial=0.0))

    def _nonnegative(self, residual: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """Residuals without the rounding below zero; more than rounding is an error."""
        count, largest = max(len(residual), self.dim), float(np.abs(diagonal).max(initial=0.0))
        if residual.min(initial=0.0) < -count * rounding_level(count, self._gram._eps, largest):
            raise self._indefinite(f"a point has the squared distance {residual.min():.6g} from their span")
        return np.asarray(np.maximum(residual, 0.0))

    def _indefinite(self, reason: str) -> DefinitenessError:
        kernel = getattr(self, "kernel_", self.kernel)
        return DefinitenessError(
            f"{type(self).__name__}: {kernel!r} is not positive definite on these points: {reason}. "
            "Use another kernel, or repair its matrix with gram(k, X).repair('clip')."
        )

    def _checked(self, X: Any) -> PointGram:
        check_arguments(self)
        points = self.kernel.domain.validate(X, "X")
        if size(points) == 0:
            raise InputError(f"{type(self).__name__}: X has 0 sample(s) while a minimum of 1 is required.")
        if hasattr(points, "shape") and points.shape[1] == 0:
            raise InputError(
                f"{type(self).__name__}: X has 0 feature(s) (shape={points.shape}) while a minimum of 1 is "
                "required."
            )
        K = gram(self.kernel, points)
        if not np.isfinite(K.diagonal()).all():
            raise InputError(f"{type(self).__name__}: `X` has points with infinite k(x, x). Scale the data.")
        return K

    def _count(self, n: int, default: int) -> int:
        """The number of components, at most that of the points, as scikit-learn has it."""
        if self.n_components is None:
            return min(n, default)
        count = int(self.n_components)
        if count > n:
            warnings.warn(
                f"{type(self).__name__}: `n_components` = {count} is more than the {n} points. "
                "All points are taken.",
                UserWarning,
                stacklevel=4,
            )
        return min(count, n)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        domain = self.kernel.domain
        tags.input_tags.pairwise = isinstance(domain, Similarities)
        tags.input_tags.sparse = isinstance(domain, Vectors)
        return tags


class Nystrom(LandmarkMap):
    r"""Nystrom's approximation of a kernel by landmarks, on any objects.

    .. math:: \phi(x) = L^{-1} k(Z, x), \qquad
              \langle \phi(x), \phi(y) \rangle = k(x, Z)\, k(Z, Z)^{+}\, k(Z, y)

    with landmarks Z and :math:`k(Z, Z) = L L^\top`.  Exact where x or y is in the span of the landmarks; the
    error elsewhere is bounded by :meth:`error_bound`.  Repeated and dependent landmarks are left out, so that
    ``dim`` is the rank of :math:`k(Z, Z)` and may be less than ``n_components``.  Needs a positive definite
    kernel.

    ================  ===================================================================  ================
    ``landmarks``     which training points                                                cost of ``fit``
    ================  ===================================================================  ================
    ``"rpcholesky"``  randomly pivoted Cholesky: in proportion to what the landmarks so    O(n r^2), memory
                      far leave of :math:`k(x, x)`                                         O(n r)
    ``"uniform"``     any, equally likely                                                  O(n r^2)
    ``"kmeans++"``    in proportion to the squared distance from the nearest so far        O(n r^2)
    ``"leverage"``    in proportion to approximate ridge leverage scores                   O(n r^2)
    points            these                                                                O(n r^2)
    ================  ===================================================================  ================

    A transform costs O(n r) kernel values and O(n r^2) operations.  So does the error of the training points,
    which is part of ``fit``: it is a by-product of ``"rpcholesky"``, and otherwise takes memory for a band of
    features at a time.

    Parameters
    ----------
    kernel : Kernel
    n_components : int, optional
        Number of landmarks r; 100 by default, or the number of your own.  More than there are points is a
        warning, and all points are taken.
    landmarks : str or points, default="rpcholesky"
        A rule of the table, or points of the kernel's domain.
    random_state : int or RandomState, optional

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved (from all training points).
    landmarks_ : points
        Those that count, in the order of the features.
    landmark_indices_ : array of shape (dim,), or None
        Their rows in the training data; None for your own.
    trace_error_ : float
        :math:`\sum_i k(x_i, x_i) - |\phi(x_i)|^2` over the training points, the trace of the error, which is
        positive semidefinite.
    relative_trace_error_ : float
        Divided by :math:`\sum_i k(x_i, x_i)`.

    Examples
    --------
    >>> from mercer.kernels import NGram
    >>> words = ["banana", "bandana", "ananas", "cabana", "banana"]
    >>> features = Nystrom(NGram(2), 3, random_state=0).fit(words)
    >>> features.dim, features.relative_trace_error_ < 0.1
    (3, True)
    >>> features.transform(["bananas"]).shape
    (1, 3)
    """

    def __init__(
        self,
        kernel: Kernel,
        n_components: int | None = None,
        *,
        landmarks: Any = "rpcholesky",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks among the points of ``X``, or take your own; ``y`` is ignored."""
        self._fit(X, keep=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the features of ``X``, which cost nothing more."""
        found = self._fit(X, keep=True)
        return self.transform(X) if found is None else found

    def _fit(self, X: Any, *, keep: bool) -> np.ndarray | None:
        """Fit; the features of the training points, if they are to be kept or are a by-product."""
        K = self._checked(X)
        rule = self.landmarks if isinstance(self.landmarks, str) else None
        if rule is None:
            return self._take(K, *self._own(K), keep=keep)
        check_choice("Nystrom", "landmarks", rule, ("rpcholesky", *RULES), "It may also be a list of points.")
        rng = check_random("Nystrom", "random_state", self.random_state)
        count = self._count(len(K), 100)  # by default as many landmarks as in scikit-learn
        if rule == "rpcholesky":
            return self._factorised(K, count, rng=rng)
        try:
            indices = RULES[rule](K._in_double(), count, rng)
        except np.linalg.LinAlgError as error:
            raise self._indefinite(str(error)) from error
        chosen = K.select(indices)
        assert isinstance(chosen, PointGram)
        return self._take(K, chosen, indices, keep=keep)

    def _own(self, K: PointGram) -> tuple[PointGram, None]:
        """The Gram matrix of the user's landmarks."""
        domain = K.kernel.domain
        try:
            Z = owned(domain.validate(self.landmarks, "landmarks"), self.landmarks)
            domain.match(Z, K._X)
        except MercerError as error:
            raise type(error)(
                f"Nystrom: `landmarks` must be points of the kernel's domain, or the name of a rule. {error}"
            ) from error
        if size(Z) == 0 or self.n_components not in (None, size(Z)):
            raise ParameterError(
                f"Nystrom: `n_components` must be None or the number of your landmarks, {size(Z)}, and at "
                f"least 1. Got {brief(self.n_components)}."
            )
        return gram(K.kernel, Z), None

    def _take(
        self, K: PointGram, chosen: PointGram, indices: np.ndarray | None, *, keep: bool
    ) -> np.ndarray | None:
        """Factorise the matrix of chosen landmarks, without those that depend on others."""
        W = finite(chosen._in_double().dense())
        largest = float(np.abs(np.diagonal(W)).max(initial=0.0))
        cutoff = rounding_level(len(W), chosen._eps, largest)
        factor, order, rank, _ = linalg.lapack.dpstrf(W, tol=cutoff, lower=1)
        order = order[:rank] - 1
        if not largest > cutoff:
            rank = 0
        L = np.asfortranarray(np.tril(factor[:rank, :rank]))
        part = chosen.select(order[:rank])
        self._landmarks(part, None if indices is None else indices[order], L)
        self._nonnegative(np.diagonal(W) - self._norms(chosen), np.diagonal(W))
        diagonal = K.diagonal().astype(np.float64)
        features = self.transform(K._X) if keep else None
        norms = self._norms(K) if features is None else np.einsum("ij,ij->i", features, features)
        self._errors(self._nonnegative(diagonal - norms, diagonal), float(diagonal.sum()))
        return features

    def _norms(self, K: Gram) -> np.ndarray:
        """Squared norms of the features of the points of a Gram matrix, a band of them at a time."""
        norms = np.empty(len(K))
        height = max(1, BAND // self.dim)
        for start in range(0, len(K), height):
            rows = np.arange(start, min(start + height, len(K)))
            part = K.select(rows)
            assert isinstance(part, PointGram)
            features = self.transform(part._X)
            norms[rows] = np.einsum("ij,ij->i", features, features)
        return norms


class IncompleteCholesky(LandmarkMap):
    r"""Incomplete Cholesky factor of the Gram matrix with greedy pivots, as a feature map on any objects.

    .. math:: \phi(x) = L^{-1} k(Z, x), \qquad K \approx F F^\top, \quad
              \mathrm{tr}(K - F F^\top) \le \mathrm{tol} \cdot \mathrm{tr}\, K

    Each landmark is the training point that the ones before leave the largest
    :math:`k(x, x) - |\phi(x)|^2`.  Deterministic.  Cost: O(n r) kernel values, O(n r^2) operations at the
    speed of memory; :class:`Nystrom` is faster and often better for the same number of landmarks, because
    greedy pivots prefer outliers.

    Parameters
    ----------
    kernel : Kernel
    n_components : int, optional
        Most landmarks; the number of points by default.
    tol : float, default=1e-6
        Ends when the trace error is at most this part of the trace; 0 goes on until rounding.

    Attributes
    ----------
    kernel_, landmarks_, landmark_indices_, trace_error_, relative_trace_error_
        As those of :class:`Nystrom`; the errors are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> features = IncompleteCholesky(Gaussian(1.0), tol=1e-6).fit(X)
    >>> features.dim, features.relative_trace_error_ < 1e-6
    (5, True)
    """

    _checks: ClassVar[Checks] = {
        "tol": partial(check_number, requirement="a number in [0, 1)", least=0.0, below=1.0)
    }

    def __init__(self, kernel: Kernel, n_components: int | None = None, *, tol: float = 1e-6) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> Self:
        """Factorise the Gram matrix of ``X``; ``y`` is ignored."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the factor: the features of ``X``."""
        K = self._checked(X)
        return self._factorised(K, self._count(len(K), len(K)), tol=float(self.tol))
