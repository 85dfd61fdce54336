"""The explicit features of any kernel that has finitely many: counts of k-mers, words, labels, colours."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from ..domains import take
from ..errors import DomainError, InputError
from ..kernel import Kernel
from ..kernel_features import feature_rows, occurring_features
from ..kernels.inner import squared_norms
from ..parameters import check_arguments
from .base import FeatureKernel, KernelMap

__all__ = ["Explicit"]


class Explicit(KernelMap):
    r"""The explicit features of a kernel, as sparse rows with named columns.

    .. math:: k(x, y) = \langle \phi(x), \phi(y) \rangle

    For the kernels on sequences, documents, sets and graphs that count patterns, and for sums, nonnegative
    multiples and normalised forms of them; for vectors under linear kernels the features are the vectors.
    :meth:`~mercer.Kernel.features` is the shorthand for one data set.

    The columns are the patterns that occur in the training data (of vectors: all coordinates).  A pattern
    that does not occur there is left out of new points: inner products of a new and a training point are
    kernel values, those of two new points lack what training points do not share.  Norms of normalised
    kernels count all patterns.

    Linear machines train on these rows in time linear in their entries.

    Parameters
    ----------
    kernel : Kernel
        A kernel with finite features; any other is a :class:`~mercer.errors.DomainError` in ``fit``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with parameters that depend on data resolved.

    Examples
    --------
    >>> from mercer.kernels import NGram
    >>> features = Explicit(NGram(2)).fit(["banana", "ban"])
    >>> features.get_feature_names_out().tolist()
    ['an', 'ba', 'na']
    >>> features.transform(["bandana"]).toarray()  # nd and da are new
    array([[2., 1., 1.]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which features occur; ``y`` is ignored."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> scipy.sparse.csr_array:
        """Learn which features occur in ``X``, and return them; ``y`` is ignored."""
        check_arguments(self)
        X = self.kernel.domain.validate(X, "X")
        kernel = self.kernel.resolve(X)
        prepared, _ = kernel._prepare_pair(X, None)
        rows, self._columns = occurring_features(kernel, prepared)
        self.kernel_, self._like = kernel, take(prepared, slice(0, 0))
        self._none = take(X, slice(0, 0))  # what may be compared with the training points
        if hasattr(X, "shape"):
            self.n_features_in_ = int(X.shape[1])
        return rows

    def transform(self, X: Any) -> scipy.sparse.csr_array:
        """Return the features of ``X``, of shape (n, dim); those that ``fit`` did not see are left out."""
        check_is_fitted(self, "_columns")
        X = self.kernel_.domain.validate(X, "X")
        if hasattr(X, "shape") and X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {X.shape[1]} features, but Explicit is expecting {self.n_features_in_} features as "
                "input."
            )
        self.kernel_.domain.match(X, self._none)
        prepared, _ = self.kernel_._prepare_pair(X, None)
        found = self.kernel_._embedding(prepared, self._like)
        if found is None:
            raise DomainError(
                f"{self.kernel_!r} has too many features to be listed for so many points at once. "
                "Transform fewer of them at a time."
            )
        return feature_rows(found, self._columns)

    @property
    def dim(self) -> int:
        """Number of features."""
        check_is_fitted(self, "_columns")
        return len(self._columns)

    def error_bound(self, X: Any = None) -> float:
        r"""Bound on :math:`|k(x, y) - \langle \phi(x), \phi(y) \rangle|` over all pairs of points.

        The error is an inner product of what was not seen in ``fit``, of which the squared norms are
        :math:`k(x, x) - |\phi(x)|^2`: 0 for the training points, which are meant by default.
        """
        check_is_fitted(self, "_columns")
        if X is None:
            return 0.0
        own = np.asarray(self.kernel_.diagonal(X), dtype=np.float64)
        return max(0.0, float((own - squared_norms(self.transform(X))).max(initial=0.0)))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: the patterns in words."""
        check_is_fitted(self, "_columns")
        names = self.kernel_._feature_names(self._like)
        return np.array([names[i] for i in self._columns], dtype=object)

    def as_kernel(self) -> FeatureKernel:
        """Return the kernel of the features as fitted: the kernel without the patterns that were not seen."""
        return FeatureKernel(copy.copy(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
