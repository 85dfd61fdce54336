"""The Laplacian support vector machine."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ...engine.runs import conclude
from ...kernels import Gaussian, Precomputed
from ...parameters import Checks, check_number
from ...solvers.ridge import warp
from ..arguments import read_targets
from ..callbacks import as_run
from ..svm import SVC
from ..svm.base import SupportVectorMachine
from ..svm.classifier import Classifier
from ..translation import KernelLike
from .base import LaplacianMachine
from .labels import partial_labels

__all__ = ["LaplacianSVC"]

Vector = NDArray[np.float64]


def _has_probabilities(machine: Any) -> bool:
    if not machine.probability:
        raise AttributeError(
            "LaplacianSVC: predict_proba is not available when probability=False. Fit with probability=True."
        )
    return True


class LaplacianSVC(ClassifierMixin, LaplacianMachine):
    r"""Laplacian support vector machine: a wide margin that is smooth along a graph of all points.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \tfrac12 \|f\|^2
              + \tfrac12 \gamma \, \mathbf{f}^\top L \mathbf{f}
              + \sum_{i \text{ labelled}} C w_i \max(0,\; 1 - y_i (f(x_i) + b)), \qquad
              \mathbf{f} = (f(x_i))_{\text{all } i}

    with :math:`L` the Laplacian of a graph whose edges are values of a kernel, and :math:`\gamma` =
    ``smoothness`` (Belkin, Niyogi and Sindhwani).  Points without a label, whose ``y`` is -1 as in
    scikit-learn's ``semi_supervised`` (among strings: the number -1 in an array of dtype object), have a say
    in the second term only.  The first two terms are the squared norm of the warped kernel
    :class:`~mercer.algebra.WarpedKernel` with :math:`M = \gamma L`: :class:`SVC` is solved with the Gram
    matrix of that kernel on the labelled points.

    The kernel should be positive definite, that of the graph needs values >= 0.  Sample weights stand for
    repetition, in the graph as well.

    Cost: O(n^3) time and O(n^2) memory for n points, labelled or not; one kernel row per prediction.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain.
    C : float, default=1.0
        Price of margin errors, > 0.
    smoothness, graph_kernel, n_neighbors, normalized, indefinite
        As for :class:`LaplacianRLS`.
    fit_intercept, tol, max_iter, class_weight, multiclass, decision_function_shape, probability, random_state
        As for :class:`SVC`.
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    svc_ : SVC
        The machine on the labelled points, with their warped Gram matrix as its data.
    support_ : array of shape (n_support,)
        Positions of the support vectors in ``X``.
    kernel_, graph_kernel_, laplacian_, warped_kernel_, gram_
        As for :class:`LaplacianRLS`.
    solutions_, converged_, status_, n_iter_
        As for :class:`SVC`.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(100, noise=0.05, random_state=0)
    >>> y = np.full(100, -1)
    >>> y[[truth.argmin(), truth.argmax()]] = [0, 1]                  # one label for each moon
    >>> model = LaplacianSVC(Gaussian(0.3), C=100.0, smoothness=1e3, n_neighbors=8).fit(X, y)
    >>> float(model.score(X, truth))
    1.0
    """

    _checks: ClassVar[Checks] = {
        **SupportVectorMachine._checks,
        **Classifier._checks,
        "C": partial(check_number, requirement="a positive finite number", above=0.0),
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        C: float = 1.0,
        smoothness: float = 1e-3,
        graph_kernel: KernelLike | None = None,
        n_neighbors: int | None = None,
        normalized: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = -1,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        probability: bool = False,
        indefinite: str = "warn",
        random_state: Any = 0,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.smoothness = smoothness
        self.graph_kernel = graph_kernel
        self.n_neighbors = n_neighbors
        self.normalized = normalized
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.probability = probability
        self.indefinite = indefinite
        self.random_state = random_state
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the labels ``y``, -1 where not known."""
        rows = self._rows(X, sample_weight)
        given = read_targets(type(self).__name__, y, rows.total, numeric=False)
        name = type(self).__name__
        labels = partial_labels(name, given).weighted(name, rows.kept)
        labelled = np.flatnonzero(labels.known)
        K = self._matrices(rows, float(self.smoothness))
        with self._told_if_singular():
            warped = warp(K, self._ratio * self.laplacian_, labelled)
        self._map = warped.map
        weight = None if rows.weight is None else rows.of(labelled)
        self.svc_ = self._machine()
        conclude()
        try:
            self.svc_.fit(warped.gram, labels.classes[labels.codes[labelled]], weight)
        except KeyboardInterrupt as error:
            conclude(error)
        self.classes_ = self.svc_.classes_
        self.support_ = rows.kept[labelled][self.svc_.support_]
        self.solutions_, self.converged_ = self.svc_.solutions_, self.svc_.converged_
        self.status_, self.n_iter_ = self.svc_.status_, self.svc_.n_iter_
        return self

    def _machine(self) -> SVC:
        """The machine on labelled points; what is to be said of the kernel has been said."""
        return SVC(
            Precomputed().assume("PSD", "a warped Gram matrix"),
            C=self.C,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            class_weight=self.class_weight,
            multiclass=self.multiclass,
            decision_function_shape=self.decision_function_shape,
            probability=self.probability,
            random_state=self.random_state,
        )

    def _compared(self, X: Any) -> Vector:
        """Values of the warped kernel of new points with the labelled ones."""
        self._check_fitted()
        return np.asarray(self.gram_._cross(self._validate_X(X, reset=False)) @ self._map)

    def decision_function(self, X: Any) -> Vector:
        """As for :class:`SVC`: (n,) for two classes, positive for ``classes_[1]``."""
        rows = self._compared(X)
        return self.svc_.decision_function(rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of new points."""
        rows = self._compared(X)
        return self.svc_.predict(rows)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of the classes, of shape (n, n_classes); see :meth:`SVC.predict_proba`."""
        rows = self._compared(X)
        return np.asarray(self.svc_.predict_proba(rows))
