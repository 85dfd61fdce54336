"""Kernel Fisher discriminant analysis."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin

from ..errors import InputError, ParameterError, brief
from ..kernels import Gaussian
from ..parameters import Checks, check_choice
from ..solvers import solve_discriminant
from .arguments import read_weight
from .base import len_of
from .callbacks import as_run
from .labels import read_labels
from .projection import KernelProjection, Training, keep
from .translation import KernelLike

__all__ = ["KernelDiscriminant"]


class KernelDiscriminant(ClassifierMixin, KernelProjection):
    r"""Kernel Fisher discriminant: functions that separate classes, and a classifier on their values.

    One after the other, the functions :math:`f = \sum_i a_i k(x_i, \cdot)` that maximise

    .. math:: \frac{a' S_b\, a}{a' S_w\, a + \alpha P(a)}, \qquad
              S_w = \sum_c K_c (I - \tfrac{1}{n_c} 1 1') K_c', \quad
              S_b = \sum_c n_c (m_c - m)(m_c - m)', \quad m_c = \tfrac{1}{n_c} K_c 1,

    uncorrelated within the classes, where :math:`K_c` has the columns of class :math:`c`.  The numerator is
    the scatter of the class means of :math:`f`, the first part of the denominator the scatter of its values
    around them.  :math:`S_w` is singular as a rule, hence the penalty: :math:`P(a) = a'Ka = \|f\|^2`
    (``penalized="function"``), or :math:`P(a) = a'a` (``"coefficients"``), which is that of Mika et al. and
    for two classes gives :math:`a \propto (S_0 + S_1 + \alpha I)^{-1} (m_1 - m_0)`.  (The survey prints
    :math:`m_0 + m_1`, and another :math:`S_0`.)  The first is the regularised discriminant of the features;
    for two classes it is kernel ridge regression on the labels, up to a factor and a constant.

    The functions are scaled so that :math:`(a' S_w a + \alpha P(a))/n = 1`.  Classes are taken as normal in
    these coordinates with unit covariance, their means and ``priors``:

    .. math:: P(c \mid x) \propto \pi_c \exp(f(x) \cdot \mu_c - |\mu_c|^2 / 2).

    With the linear kernel and without penalty that is scikit-learn's ``LinearDiscriminantAnalysis`` (its
    ``lsqr`` solver); :math:`\alpha = n s \bar v / (1 - s)` with the mean variance :math:`\bar v` of a
    feature within the classes is its shrinkage ``s``.

    Cost: O(n^3) time and O(n^2) memory to fit, one kernel row per point to predict.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    n_components : int, optional
        Number of functions; by default as many as the class means span: at most one less than there are
        classes.
    alpha : float, default=1.0
        Factor :math:`\alpha \ge 0` of the penalty.  0 is an error where some function is constant in each
        class.
    penalized : {"function", "coefficients"}, default="function"
        What the penalty is on.  With ``"coefficients"`` the kernel may be indefinite.
    priors : array-like of shape (n_classes,), optional
        Probabilities of the classes, for the classifier; by default their shares of the weight.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue.
    time_budget : float, optional
        Seconds after which ``fit`` raises :class:`~mercer.errors.TimeBudgetError`: it has no partial result.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    priors_ : array of shape (n_classes,)
    means_ : array of shape (n_classes, n_components)
        Class means of the functions.
    eigenvalues_ : array of shape (n_components,)
        The maxima of the quotient, descending.
    explained_variance_ratio_ : array of shape (n_components,)
        Shares of the functions in the sum of all maxima.
    dual_coef_ : array of shape (n_kept, n_components)
        Coefficients of the training points of positive weight.
    intercept_ : array of shape (n_components,)
        Added to the functions: their mean on the training points is zero.
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    gram_ : Gram
        The (lazy) Gram matrix of the training points of positive weight.
    solution_ : Solution
        How the problem was solved: residual, rank, condition.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> angle = np.linspace(0, 6, 40)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([circle, 3 * circle]), np.repeat(["inner", "outer"], 40)
    >>> model = KernelDiscriminant(Gaussian(1.0), alpha=0.1).fit(X, y)
    >>> model.predict([[0.0, 0.9], [2.9, 0.0]]).tolist()
    ['inner', 'outer']
    >>> model.transform(X).shape
    (80, 1)
    """

    _checks: ClassVar[Checks] = {"penalized": partial(check_choice, options=("function", "coefficients"))}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        n_components: int | None = None,
        alpha: float = 1.0,
        penalized: str = "function",
        priors: Any = None,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.penalized = penalized
        self.priors = priors
        self.indefinite = indefinite
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to points ``X`` and labels ``y``; an integer weight is a repeated row, 0 an absent one."""
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = read_weight(type(self).__name__, sample_weight, n)
        labels = read_labels(self, y, n, weight)
        self.classes_, codes = labels.classes, labels.codes
        training = self._train_on(points, weight, any_kernel=self.penalized == "coefficients")
        if self.priors is None:
            self.priors_ = np.bincount(codes, training.weight) / training.weight.sum()
        else:
            count = len(self.classes_)
            try:
                values = np.asarray(self.priors, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                values = np.empty(0)  # no numbers: refused below
            if values.shape != (count,) or not (values > 0).all() or not np.isclose(values.sum(), 1.0):
                raise ParameterError(
                    f"KernelDiscriminant: `priors` must be {count} positive numbers, one per class, with the "
                    f"sum 1. Got {brief(self.priors)}."
                )
            self.priors_ = values / values.sum()
        self._solve(training, codes)
        return self

    def _solve(self, training: Training, codes: np.ndarray) -> None:
        K, weight = training.K, training.weight
        norm = self.penalized == "function"
        with self._explaining(self.kernel_, "some function is constant in each class"):
            solution = solve_discriminant(K, codes, float(self.alpha), weight, norm=norm, eps=self.gram_._eps)
        coefficients, quotients = solution.value
        if not len(quotients):
            raise InputError(
                "KernelDiscriminant: `X` must separate the classes: their means in feature space are the "
                "same. Check the data, or the width of the kernel."
            )
        p = keep(
            self.n_components, len(quotients), "KernelDiscriminant", "the class means span no more dimensions"
        )
        values = self._keep_functions(coefficients[:, :p], training)
        self._warn(solution)
        indicators = np.eye(len(self.classes_))[codes] * weight[:, None]
        means = indicators.T @ values / indicators.sum(axis=0)[:, None]
        # of the other classes, the one farthest from the first is on the positive side
        self.means_ = means * self._turn(means[1:] - means[0])
        self.eigenvalues_ = quotients[:p]
        self.explained_variance_ratio_ = quotients[:p] / quotients.sum()

    # -- classification -------------------------------------------------------------------------
    def _scores(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities, up to a constant per point."""
        constants = np.log(self.priors_) - np.einsum("ij,ij->i", self.means_, self.means_) / 2
        return np.asarray(self.transform(X) @ self.means_.T + constants)

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of ``classes_[1]`` for two classes, of shape (n,); else a score per class.

        Differences of scores are log-odds.
        """
        self._check_fitted()
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable classes."""
        self._check_fitted()
        return np.asarray(self.classes_[self._scores(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, of shape (n, n_classes)."""
        self._check_fitted()
        return np.asarray(softmax(self._scores(X), axis=1))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities of the classes."""
        self._check_fitted()
        return np.asarray(log_softmax(self._scores(X), axis=1))
