"""Support vector classification with an indefinite kernel, by a positive definite proxy learned with it."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from .. import memory
from ..domains import take
from ..errors import ParameterError, brief, warn
from ..gram.kernel_gram import gram_of_points
from ..kernels import Gaussian
from ..parameters import Checks, check_number
from ..solvers.proxy import ProxyProblem, Similarities, solve_proxy
from .arguments import check_fraction, read_weight, refuse_large_values
from .base import KernelMachine, len_of
from .callbacks import as_run
from .labels import read_labels
from .translation import KernelLike

__all__ = ["ProxySVC"]

Vector = NDArray[np.float64]

#: What C and rho may be: squares of coefficients over rho enter a matrix of kernel values.
RANGE = (1e-20, 1e20)


class ProxySVC(ClassifierMixin, KernelMachine):
    r"""Support vector classification by similarities that need not be positive definite.

    A positive semidefinite proxy K of the similarities S is learned together with the machine,

    .. math::

        \max_\beta \; \min_{K \succeq 0} \; y^\top \beta - \tfrac12 \beta^\top K \beta + \rho \|K - S\|_F^2
        \qquad 0 \le y_i \beta_i \le C, \quad \textstyle\sum_i \beta_i = 0

    (Luss and d'Aspremont 2008): of all positive semidefinite matrices near S the least favourable one.  It
    is :math:`K = (S + \beta \beta^\top / 4 \rho)_+`, where :math:`(\cdot)_+` drops negative eigenvalues.
    As :math:`\rho \to \infty` it tends to the clipped matrix, ``SVC(indefinite="clip")``; the smaller
    ``rho``, the more freedom it has.

    New points have coefficients zero, and their part of the proxy is the projection of their similarities on
    the eigenvectors with positive eigenvalues: :math:`f(x) = \sum_i a_i s(x, x_i) + b` with ``dual_coef_`` a.
    The values on training points that the margin is measured by are ``proxy(label) @ beta + b``;
    ``decision_function`` of a training point, as of any other, leaves out its own share of :math:`\beta
    \beta^\top / 4 \rho`.

    Several classes are compared each with the rest, each with a proxy of its own.

    Cost: some five to ten steps, each with the eigenvectors of a matrix and a quadratic problem of support
    vector machines, O(n^3); memory for seven matrices of n x n.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any symmetric similarity on any domain, positive definite or not; ``X`` is then whatever that domain
        accepts.  ``Precomputed()`` takes the matrix of similarities as ``X``.
    C : float, default=1.0
        Price of margin errors, from 1e-20 to 1e20.
    rho : float, default=1.0
        Price of the squared distance between the proxy and the similarities, from 1e-20 to 1e20.
    fit_intercept : bool, default=True
        Whether to fit the constant b.
    tol : float, default=1e-8
        The duality gap to reach, relative to the objective of the support vector machine.
    max_iter : int, default=100
        Steps at most, per class.
    time_budget : float, optional
        Seconds after which ``fit`` stops at its best state, with a ``ConvergenceWarning``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_functions, n_kept)
        Coefficients a of the similarities, one function for two classes, else one for each class.
    beta_ : array of shape (n_functions, n_kept)
        Signed dual variables of the training points of positive weight.
    intercept_ : array of shape (n_functions,)
    gram_ : Gram
        Similarities of the training points.
    gap_ : array of shape (n_functions,)
        Duality gaps: how far the objectives are from their optimum at most.
    distance_ : array of shape (n_functions,)
        Frobenius norms of the differences between proxy and similarities.
    solutions_ : list of Solution
        How each function was found.
    n_iter_ : int
        Steps, the most of all functions.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Sigmoid
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = ProxySVC(Sigmoid(1.0, -0.5), C=10.0).fit(X, y)
    >>> model.solutions_[0].status, bool(model.score(X, y) > 0.8)
    ('converged', True)
    >>> K = model.proxy()
    >>> bool(np.linalg.eigvalsh(K).min() > -1e-10)
    True
    """

    _checks: ClassVar[Checks] = {
        name: partial(
            check_number,
            requirement=f"a positive number, from {RANGE[0]:g} to {RANGE[1]:g}",
            least=RANGE[0],
            most=RANGE[1],
        )
        for name in ("C", "rho")
    } | {"tol": check_fraction}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        C: float = 1.0,
        rho: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_iter: int = 100,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.rho = rho
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the labels ``y``.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square, symmetric matrix of similarities
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Weight 2 is a repeated point, weight 0 an absent one: C and the squared distances are weighted.
        """
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = read_weight(type(self).__name__, sample_weight, n)
        if weight is not None:
            # points of less than this part of the largest weight are left out: their price is rounding
            weight = np.where(weight < 1e-20 * weight.max(), 0.0, weight)
        labels = read_labels(self, y, n, weight)
        self.classes_ = labels.classes
        self._weight = np.ones(n) if labels.weight is None else labels.weight
        if len(labels.kept) < n:
            points = take(points, labels.kept)
        self.kernel_ = self._checked_kernel().resolve(points, labels.weight)
        self.gram_ = gram_of_points(self.kernel_, points)
        refuse_large_values(self.gram_, type(self).__name__)
        self._solve(labels.codes)
        return self

    def _solve(self, codes: NDArray[np.intp]) -> None:
        n = len(codes)
        memory.require(8.0 * 7 * n * n, f"{type(self).__name__}: 7 matrices of {n} x {n}")
        S = self._similarities()
        members = np.arange(len(self.classes_)) if len(self.classes_) > 2 else np.array([1])
        self.solutions_ = []
        for member in members:
            signs, bounds = np.where(codes == member, 1.0, -1.0), float(self.C) * self._weight
            problem = ProxyProblem(S, signs, bounds, float(self.rho), bool(self.fit_intercept))
            limits: dict[str, Any] = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
            self.solutions_.append(solve_proxy(problem, name=type(self).__name__, **limits))
        self._keep()

    def _similarities(self) -> Similarities:
        S = np.asarray(self.gram_._in_double().dense(), dtype=np.float64)
        return Similarities(S, self._weight)

    def _keep(self) -> None:
        found = self.solutions_
        self.beta_ = np.array([s.value.beta for s in found])
        self.dual_coef_ = np.array([s.value.coefficients for s in found])
        self.intercept_ = np.array([s.value.intercept for s in found])
        self.gap_ = np.array([s.gap for s in found])
        self.distance_ = np.array([s.stats["distance"] for s in found])
        self.n_iter_ = max(1, *(int(s.stats["iterations"]) for s in found))
        for solution in found:
            if not solution.converged:
                warn(
                    f"{type(self).__name__}: {solution.status}. The model is usable; its gap is "
                    f"{solution.gap:.3g}.",
                    ConvergenceWarning,
                )

    def proxy(self, label: Any = None) -> Vector:
        """The positive semidefinite matrix that was learned in place of the similarities.

        Parameters
        ----------
        label : optional
            The class whose function it belongs to, for more than two classes.
        """
        self._check_fitted()
        if label is None and len(self.solutions_) > 1:
            raise ParameterError(
                f"{type(self).__name__}: `label` must be one of the classes, {self.classes_.tolist()}: each "
                "has a proxy of its own."
            )
        index = 0
        if len(self.solutions_) > 1:
            found = np.flatnonzero(self.classes_ == label)
            if not len(found):
                raise ParameterError(
                    f"{type(self).__name__}: `label` must be one of {self.classes_.tolist()}. "
                    f"Got {brief(label)}."
                )
            index = int(found[0])
        return self._similarities().proxy(self.beta_[index], float(self.rho))

    def decision_function(self, X: Any) -> Vector:
        """Values f(x) + b: of shape (n,) for two classes, positive for the second; else (n, n_classes)."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        cross = self.gram_._cross(points)
        values = np.column_stack([np.asarray(cross @ a, dtype=np.float64) for a in self.dual_coef_])
        values = values + self.intercept_
        return np.asarray(values[:, 0] if len(self.solutions_) == 1 else values)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels."""
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[codes])
