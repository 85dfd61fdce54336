"""The weighted sum of kernels as a transformer: its values, for what takes a precomputed kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ...contributions import Contributions
from ...domains import owned
from ...errors import ParameterError, brief
from ...gram.kernel_gram import gram_of_points
from ..base import len_of
from .base import MultipleKernels

__all__ = ["MultipleKernelTransformer"]


class MultipleKernelTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""The values of a weighted sum of kernels, whose weights a machine has learned.

    .. math:: x \mapsto \Bigl( \sum_l \tfrac{d_l}{s_l} k_l(x, x_i) \Bigr)_{i = 1, \dots, n}

    with the training points :math:`x_i`.  In a pipeline this stands before anything that takes a precomputed
    kernel: ``SVC(kernel="precomputed")`` and ``KernelPCA(kernel="precomputed")`` of scikit-learn,
    :class:`~mercer.kernels.Precomputed` here.  Machines of this package also take ``kernel_`` itself, which
    needs no matrix.  Cost: that of the machine, and n values of each kernel that has a weight for a point.

    Parameters
    ----------
    machine : MultipleKernelSVC, MultipleKernelSVR, MultipleKernelRidge or MultipleKernelOneClass
        Its kernels, and how it learns their weights: a copy of it is fitted.  ``weights="alignment"`` and
        ``"average"`` are the quick forms.

    Attributes
    ----------
    machine_ : estimator
        The fitted copy.
    weights_, names_, scales_, kernels_, kernel_
        Of the machine.
    gram_ : Gram
        Of the weighted sum on the training points.
    n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from mercer.kernels import Gaussian, Linear
    >>> from mercer.machines import MultipleKernelSVC
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> combined = MultipleKernelTransformer(MultipleKernelSVC([Linear(), Gaussian(1.0)], C=10.0))
    >>> model = make_pipeline(combined, SVC(kernel="precomputed", C=10.0)).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.score(X, X[:, 0] * X[:, 1] > 0), combined.transform(X[:3]).shape
    (0.975, (3, 40))
    """

    def __init__(self, machine: MultipleKernels) -> None:
        self.machine = machine

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : points of the domain of the kernels
        y : targets of the machine; none for MultipleKernelOneClass

        Returns
        -------
        self
        """
        if not isinstance(self.machine, MultipleKernels):
            raise ParameterError(
                "MultipleKernelTransformer: `machine` must be a machine with several kernels, such as "
                f"MultipleKernelSVC(kernels). Got {brief(self.machine)}."
            )
        self.machine_ = clone(self.machine).fit(X, y)
        self.weights_, self.names_ = self.machine_.weights_, self.machine_.names_
        self.scales_, self.kernels_ = self.machine_.scales_, self.machine_.kernels_
        self.kernel_ = self.machine_.kernel_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.machine_, name):
                setattr(self, name, getattr(self.machine_, name))
        points = self.machine_._validate_X(X, reset=False)
        self.gram_ = gram_of_points(self.kernel_, owned(points, X), store=self.machine.store)
        self._n_features_out = len_of(points)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Values with the training points, of shape (m, n)."""
        check_is_fitted(self)
        return np.asarray(self.gram_._cross(self.machine_._validate_X(X, reset=False)).dense())

    def kernel_weights(self) -> Contributions:
        """The kernels that have a weight, the largest first; prints as a table."""
        check_is_fitted(self)
        found: Contributions = self.machine_.kernel_weights()
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.machine, MultipleKernels):
            inner = self.machine.__sklearn_tags__()
            tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags
