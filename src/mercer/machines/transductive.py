"""Kernel matrices learned directly, on training and test points together."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .. import memory
from ..engine.lapack import interruptible
from ..errors import DefinitenessError, InputError, warn
from ..gram.kernel_gram import gram_of_points
from ..kernels import Gaussian
from ..parameters import Checks, check_count
from ..solvers import align_spectrum
from .arguments import read_targets
from .base import KernelMachine, len_of
from .callbacks import as_run
from .indefinite import negative_eigenvalue_of
from .multiple.matrices import UnidentifiedWeightsWarning
from .semi_supervised.labels import partial_labels
from .translation import KernelLike

__all__ = ["TransductiveAlignment"]


#: Eigenvalues below this part of the largest are zero up to rounding, for each point.
ROUNDING = float(np.finfo(np.float64).eps)


class TransductiveAlignment(KernelMachine):
    r"""A kernel matrix on labelled and unlabelled points, aligned with the labels that are known.

    .. math:: K_w = \sum_i w_i v_i v_i^\top, \qquad \max_{w \ge 0}
              \frac{\langle H K_w H, H Y Y^\top H \rangle_{LL}}{\|H K_w H\|_{LL} \, \|H Y Y^\top H\|_{LL}}

    over the eigenvectors :math:`v_i` of the Gram matrix of all points; L are the labelled points, H centres
    on them, and Y has a column of zeros and ones for each class.  The eigenvectors see the points without
    labels: clusters, and directions in which the points lie.  The labels say which of them matter.  With
    ``order`` the weights may not grow along the spectrum, :math:`w_1 \ge w_2 \ge \dots`, which keeps few
    labels from choosing eigenvectors that fit by chance.  (Cristianini et al. 2002; Lanckriet et al. 2004;
    the order of Zhu et al. 2005.)

    The matrix is positive semidefinite, scaled to a mean of 1 on its diagonal, and defined on the given
    points alone: there is no kernel function behind it, so that new points need a new fit.  Use it as
    :class:`~mercer.kernels.Precomputed`.  Cost: eigenvectors of an n-by-n matrix, and nonnegative least
    squares with one unknown for each.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Positive definite.
    n_components : int, optional
        The number of leading eigenvectors; by default all of nonzero eigenvalue.
    order : bool, default=True
        Whether the weights may not grow along the spectrum.

    Attributes
    ----------
    matrix_ : array of shape (n, n)
        The learned matrix.
    weights_, eigenvalues_ : arrays of shape (n_components,)
        Learned and given eigenvalues, those given in falling order.
    eigenvectors_ : array of shape (n, n_components)
    alignment_ : float
        Of the learned matrix with the labels, on the labelled points, centred.
    labelled_ : array of int
        The labelled points.
    classes_ : array
    kernel_ : Kernel
        With its parameters from data.
    n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Precomputed
    >>> from mercer.machines import SVC, TransductiveAlignment
    >>> X = np.concatenate([np.linspace(0, 1, 10), np.linspace(3, 4, 10)])[:, None]
    >>> y = np.full(20, -1)
    >>> y[[0, 3, 7, 12, 15, 19]] = 0, 0, 0, 1, 1, 1  # the others are not known
    >>> learned = TransductiveAlignment(Gaussian(0.5)).fit(X, y)
    >>> K, known = learned.matrix_, learned.labelled_
    >>> machine = SVC(Precomputed()).fit(K[np.ix_(known, known)], y[known])
    >>> machine.predict(K[:, known])
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    _checks: ClassVar[Checks] = {"n_components": partial(check_count, unless=(None,))}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        n_components: int | None = None,
        order: bool = True,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.order = order
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the matrix of the points ``X``.

        Parameters
        ----------
        X : points of the domain of the kernel
            Labelled and unlabelled.
        y : array of shape (n,)
            Labels; -1 where there is none.

        Returns
        -------
        self
        """
        name = type(self).__name__
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        labels = partial_labels(name, read_targets(type(self).__name__, y, n, numeric=False))
        if len(labels.classes) < 2:
            raise InputError(
                f"{name}: `y` must have labels of two or more classes. Got the one class "
                f"{labels.classes.tolist()[0]!r} and {int((~labels.known).sum())} points without a label."
            )
        self.classes_, self.labelled_ = labels.classes, np.flatnonzero(labels.known)
        self.kernel_ = self._checked_kernel().resolve(points)
        memory.require(4 * 8.0 * n * n, f"{name} on {n} points", "Use fewer unlabelled points.")
        G = gram_of_points(self.kernel_, points)
        least = None if self.kernel_.certificate.is_psd else negative_eigenvalue_of(G)
        if least is not None:
            raise DefinitenessError(
                f"{name}: `kernel` must be positive definite on the points. {self.kernel_!r} is "
                f"not (least eigenvalue {'' if least.converged else 'at most '}{least.value:.6g}). Pass "
                "a repaired matrix, mercer.gram(kernel, X).repair('clip').dense(), to kernel=Precomputed()."
            )
        self.eigenvalues_, self.eigenvectors_ = self._spectrum(np.array(G._in_double().dense()))
        Y = labels.indicators()[self.labelled_]
        found = align_spectrum(self.eigenvectors_[self.labelled_], Y, order=bool(self.order))
        if not found.weights.any():
            raise InputError(
                f"{name}: `y` must go with some eigenvector of the kernel. None is aligned with it on the "
                f"{len(self.labelled_)} labelled points; take another kernel, or label more points."
            )
        # a squared alignment that is this close to one is one
        if found.alignment**2 >= 1.0 - 1e-9:
            warn(
                f"{name}: the alignment is perfect on the {len(self.labelled_)} labelled points, so that "
                "other weights may do as well; these are one choice. Label more points, or lower "
                "n_components.",
                UnidentifiedWeightsWarning,
            )
        self.weights_ = found.weights * (n / found.weights.sum())
        self.alignment_ = found.alignment
        self.matrix_ = (self.eigenvectors_ * self.weights_) @ self.eigenvectors_.T
        return self

    def _spectrum(self, K: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Leading eigenvalues and eigenvectors, those of nonzero eigenvalue."""
        n = len(K)
        most = n if self.n_components is None else min(int(self.n_components), n)
        values, vectors = interruptible(
            linalg.eigh, K, subset_by_index=[n - most, n - 1], overwrite_a=True, check_finite=False
        )
        used = np.flatnonzero(values > n * ROUNDING * values[-1])[::-1]
        return values[used], vectors[:, used]
