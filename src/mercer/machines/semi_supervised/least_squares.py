"""Laplacian-regularised least squares, for numbers and for labels."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from ...errors import InputError, warn
from ...kernels import Gaussian
from ...parameters import Checks, check_number
from ...solvers.ridge import solve_smooth_ridge
from ..arguments import read_targets
from ..callbacks import as_run
from ..translation import KernelLike
from .base import LaplacianMachine, Rows
from .labels import partial_labels

__all__ = ["LaplacianRLS", "LaplacianRLSClassifier"]

Vector = NDArray[np.float64]


class LeastSquares(LaplacianMachine):
    """The problem itself; what ``y`` means is up to the subclass."""

    alpha: float
    fit_intercept: bool

    _checks: ClassVar[Checks] = {"alpha": partial(check_number, requirement="a finite number > 0", above=0.0)}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        alpha: float = 1.0,
        smoothness: float = 1e-3,
        graph_kernel: KernelLike | None = None,
        n_neighbors: int | None = None,
        normalized: bool = True,
        fit_intercept: bool = False,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.smoothness = smoothness
        self.graph_kernel = graph_kernel
        self.n_neighbors = n_neighbors
        self.normalized = normalized
        self.fit_intercept = fit_intercept
        self.indefinite = indefinite
        self.time_budget = time_budget

    def _fit_targets(self, rows: Rows, targets: Vector) -> None:
        labelled = np.flatnonzero(~np.isnan(targets.reshape(len(targets), -1)[:, 0]))
        if not len(labelled):
            raise InputError(f"{type(self).__name__}: no point of positive weight has a label in y.")
        alpha, smoothness = float(self.alpha), float(self.smoothness)
        K = self._matrices(rows, smoothness / alpha)
        with self._told_if_singular():
            self.solution_ = solve_smooth_ridge(
                K,
                self.laplacian_,
                targets[labelled].reshape(len(labelled), -1),
                labelled,
                alpha=alpha,
                smoothness=smoothness,
                weight=rows.of(labelled),
                intercept=bool(self.fit_intercept),
            )
        if not self.solution_.converged:
            warn(f"{type(self).__name__}: {self.solution_.status}.", ConvergenceWarning)
        coefficients, b = self.solution_.value
        flat = targets.ndim == 1
        self.dual_coef_ = coefficients[:, 0] if flat else coefficients
        self.intercept_ = float(b[0]) if flat else b

    def _values(self, X: Any) -> Vector:
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        return np.asarray(self.gram_._cross(points) @ self.dual_coef_ + self.intercept_)


class LaplacianRLS(MultiOutputMixin, RegressorMixin, LeastSquares):
    r"""Laplacian-regularised least squares: ridge regression that is smooth along a graph of all points.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \sum_{i \text{ labelled}} w_i (y_i - f(x_i) - b)^2
              + \alpha \|f\|^2 + \gamma \, \mathbf{f}^\top L \mathbf{f}, \qquad
              \mathbf{f} = (f(x_i))_{\text{all } i}

    with :math:`L` the Laplacian of a graph whose edges are values of a kernel, and :math:`\gamma` =
    ``smoothness`` (Belkin, Niyogi and Sindhwani).  Points without a label, whose ``y`` is NaN, have a say in
    the last term only.  It is :class:`KernelRidge` with the warped kernel of
    :class:`~mercer.algebra.WarpedKernel`, :math:`M = (\gamma / \alpha) L`, on the labelled points; the
    solution is a function on the whole domain, :math:`f = \sum_i a_i k(x_i, \cdot)` over all points.

    The kernel should be positive definite, that of the graph needs values >= 0.  Sample weights stand for
    repetition, in the graph as well (with both ``n_neighbors`` and ``normalized`` only nearly so, for the
    copies of a point may then have different degrees).

    Cost: O(n^3) time and O(n^2) memory for n points, labelled or not; one kernel row per prediction.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    alpha : float, default=1.0
        Penalty on the norm, > 0.
    smoothness : float, default=0.001
        Penalty :math:`\gamma \ge 0` on changes along the graph; with 0 unlabelled points do not matter.  It
        is a sum over all points, so that a little goes far; where clusters are the classes and labels are
        few, take more, such as 1.
    graph_kernel : Kernel, optional
        The kernel of the graph, with values >= 0; by default ``kernel``.
    n_neighbors : int, optional
        Number of nearest points that each point is linked with, in the graph kernel's feature space, itself
        included (of the two directions, half the weight each); by default all pairs.
    normalized : bool, default=True
        Whether the Laplacian is the normalised one, :math:`D^{-1/2} (D - W) D^{-1/2}`, or :math:`D - W`.  A
        point is its own neighbour in :math:`D`.
    fit_intercept : bool, default=False
        Whether to fit the unpenalised constant :math:`b`.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue.

    Attributes
    ----------
    dual_coef_ : array of shape (n_kept,) or (n_kept, n_targets)
        Coefficients :math:`a` of the points of positive weight, with and without a label.
    intercept_ : float or array of shape (n_targets,)
    kernel_, graph_kernel_ : Kernel
        The kernels with data-dependent parameters resolved.
    laplacian_ : array or sparse matrix of shape (n_kept, n_kept)
    warped_kernel_ : WarpedKernel
        The kernel of the norm :math:`\|f\|^2 + (\gamma / \alpha) \mathbf{f}^\top L \mathbf{f}`.
    gram_ : Gram
        The (lazy) Gram matrix of the points of positive weight; ``gram_.cross`` compares new ones.
    solution_ : Solution
        How it was solved; ``gap`` is the relative residual of the optimality conditions of the problem above.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.linspace(0, 4, 21), np.linspace(5, 6, 6)])[:, None]     # with a gap
    >>> y = np.full(27, np.nan)
    >>> y[[0, 26]] = [-1.0, 1.0]                                                       # and two labels
    >>> model = LaplacianRLS(Gaussian(0.5), alpha=1e-4, graph_kernel=Gaussian(0.2)).fit(X, y)
    >>> np.sign(model.predict([[3.9], [5.1]]))
    array([-1.,  1.])
    """

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the targets ``y``, (n,) or (n, n_targets), NaN where not known."""
        rows = self._rows(X, sample_weight)
        values = read_targets(type(self).__name__, y, rows.total, numeric=True, missing=True)
        missing = np.isnan(values.reshape(len(values), -1))
        if (missing.any(axis=1) & ~missing.all(axis=1)).any():
            raise InputError(
                f"{type(self).__name__}: the targets of a point in y must be all known or all NaN."
            )
        if missing.all():
            raise InputError(
                f"{type(self).__name__}: y must have labelled points. All are NaN, which stands for "
                "'not known'."
            )
        self._fit_targets(rows, values[rows.kept])
        return self

    def predict(self, X: Any) -> Vector:
        """Values :math:`f(x) + b` at new points."""
        return self._values(X)


class LaplacianRLSClassifier(ClassifierMixin, LeastSquares):
    r"""Classification by Laplacian-regularised least squares on -1 and +1.

    The problem of :class:`LaplacianRLS` with the targets +1 for points of a class and -1 for those of the
    others: one function for two classes, and one per class for more, of which the largest decides.  Points
    without a label, whose ``y`` is -1 as in scikit-learn's ``semi_supervised``, have a say in the graph only.

    Cost and parameters as for :class:`LaplacianRLS`.

    Parameters
    ----------
    kernel, alpha, smoothness, graph_kernel, n_neighbors, normalized, fit_intercept, indefinite
        As for :class:`LaplacianRLS`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    dual_coef_, intercept_, kernel_, graph_kernel_, laplacian_, warped_kernel_, gram_, solution_
        As for :class:`LaplacianRLS`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(100, noise=0.05, random_state=0)
    >>> y = np.full(100, -1)
    >>> y[[truth.argmin(), truth.argmax()]] = [0, 1]                  # one label for each moon
    >>> model = LaplacianRLSClassifier(Gaussian(0.3), alpha=1e-3, smoothness=1.0, n_neighbors=8).fit(X, y)
    >>> float(model.score(X, truth))
    1.0
    """

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the labels ``y``, -1 where not known."""
        rows = self._rows(X, sample_weight)
        given = read_targets(type(self).__name__, y, rows.total, numeric=False)
        name = type(self).__name__
        labels = partial_labels(name, given).weighted(name, rows.kept)
        self.classes_ = labels.classes
        targets = 2 * labels.indicators() - 1
        targets[~labels.known] = np.nan
        self._fit_targets(rows, targets[:, 1] if len(self.classes_) == 2 else targets)
        return self

    def decision_function(self, X: Any) -> Vector:
        """Values of the functions: (n,) for two classes, positive for the second, else (n, n_classes)."""
        return self._values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels: for two classes by the sign, for more by the largest value."""
        values = self._values(X)
        winners = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[winners])
