"""Supervised dimension reduction."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from ..domains import Vectors, take
from ..errors import InputError
from ..gram import gram
from ..gram.spectrum import finite
from ..kernels import Gaussian
from ..parameters import Checks, check_count, check_number
from ..solvers import RayleighValue, centred_root, solve_rayleigh
from .arguments import read_targets, read_weight
from .base import len_of
from .callbacks import as_run
from .indefinite import screen
from .projection import KernelProjection, keep
from .translation import KernelLike

__all__ = ["SupervisedReduction"]


def _check_components(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a number of components, a share of what they explain, or None for all."""
    wanted = "an integer >= 1 or a share between 0 and 1"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        check_number(caller, name, value, wanted, above=0.0, below=1.0)
    else:
        check_count(caller, name, value, wanted, unless=(None,))


class SupervisedReduction(KernelProjection):
    r"""Supervised dimension reduction: the few functions of ``X`` on which ``Y`` depends.

    Directions of the feature space of ``X`` that are not correlated with the paired ``Y`` are dropped.  One
    after the other, the functions that maximise

    .. math:: \sum_j \frac{\operatorname{cov}(f(X), g_j(Y))^2}{\operatorname{var} f(X) + \tfrac{\alpha}{n}
              \|f\|^2} = \frac{1}{n} \cdot \frac{f_X' \bar K_Y f_X}{f_X' f_X + \alpha \|f\|^2}

    over an orthonormal basis :math:`g_1, g_2, \dots` of the space of the kernel on ``Y``, with values
    :math:`f_X` centred.  This is the criterion of kernel canonical correlation with the functions of ``Y``
    taken together: all correlations with ``Y`` count, not only the largest.  With a linear kernel on ``Y`` it
    is reduced-rank kernel ridge regression; with the indicator kernel of two classes, the kernel
    discriminant; with a characteristic kernel, such as the Gaussian, no dependence is overlooked.

    The functions have the penalised variance :math:`f_X' f_X / n + \alpha \|f\|^2 / n = 1` and mean 0.

    Cost: O(n^3) time and O(n^2) memory to fit, one kernel row per point to transform.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain, for ``X``.
    kernel_y : Kernel, default=Gaussian("median")
        Any kernel on any domain, for ``Y``.  Numbers in a flat array count as vectors of length 1.
    n_components : int or float, default=0.9
        Number of functions; or the share, between 0 and 1, of the sum of all maxima that they have to reach.
    alpha : float, default=1.0
        Factor :math:`\alpha \ge 0` of the squared norm.  Without it and with as many independent points as
        there are, every function of ``Y`` is a function of ``X``, and nothing is learned.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if a kernel is not certified and its Gram matrix has a negative eigenvalue.
    time_budget : float, optional
        Seconds after which ``fit`` raises :class:`~mercer.errors.TimeBudgetError`: it has no partial result.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components,)
        The maxima of the criterion, times n, descending.
    explained_ratio_ : array of shape (n_components,)
        The same as shares of the variance of ``Y`` in the space of its kernel; their sum is at most 1.
    dual_coef_ : array of shape (n_kept, n_components)
        Coefficients of the training points of positive weight.
    intercept_ : array of shape (n_components,)
    kernel_, kernel_y_ : Kernel
        The kernels with data-dependent parameters resolved.
    gram_ : Gram
        The (lazy) Gram matrix of the training points of positive weight.
    solution_ : Solution
        How the problem was solved: residual, condition.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> model = SupervisedReduction(Linear(), kernel_y=Linear(), n_components=1, alpha=1e-3)
    >>> model = model.fit(X, 2 * X[:, 0])
    >>> f = model.transform(X)[:, 0]
    >>> bool(abs(np.corrcoef(f, X[:, 0])[0, 1]) > 0.999)
    True
    """

    _checks: ClassVar[Checks] = {"n_components": _check_components}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        kernel_y: KernelLike = Gaussian("median"),  # noqa: B008
        n_components: int | float = 0.9,
        alpha: float = 1.0,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.n_components = n_components
        self.alpha = alpha
        self.indefinite = indefinite
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to pairs of points ``X`` and ``y``; an integer weight is a repeated pair, 0 an absent one."""
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        others = self._validate_others(y, n)
        training = self._train_on(points, read_weight(type(self).__name__, sample_weight, n))
        if len(training.kept) < 2:
            raise InputError("SupervisedReduction: X has 1 sample(s) while a minimum of 2 is required.")
        weight = training.weight
        others = take(others, training.kept)
        self.kernel_y_ = self._checked_kernel("kernel_y").resolve(others, weight)
        G = screen(gram(self.kernel_y_, others)._in_double(), self.indefinite, "SupervisedReduction")

        with self._explaining(self.kernel_y_):
            target = centred_root(finite(G.dense()), weight, G._eps)
        with self._explaining(self.kernel_, "the variance of some function is no more than rounding"):
            span = centred_root(training.K, weight, self.gram_._eps)
            top = target.features.T @ span.features
            size = float(np.sqrt(span.values.max(initial=0.0) * target.values.max(initial=0.0)))
            solution = solve_rayleigh(top, np.diag(np.sqrt(span.values)), float(self.alpha), size)
        directions, quotients = solution.value
        if not len(quotients):
            raise InputError(
                "SupervisedReduction: `X` and `y` must vary together: no function of X is correlated with y. "
                "Check that neither is constant."
            )
        p = self._count(quotients)
        b = span.coefficients(directions[:, :p] * np.sqrt(weight.sum()))
        coefficients = np.sqrt(weight)[:, None] * b
        self._turn(self._keep_functions(coefficients, training))
        self._warn(replace(solution, value=RayleighValue(directions[:, :p], quotients)))
        self.eigenvalues_ = quotients[:p]
        self.explained_ratio_ = quotients[:p] / target.values.sum()
        return self

    def _validate_others(self, y: Any, n: int) -> Any:
        if y is None:
            raise InputError("SupervisedReduction requires y to be passed, but the target y is None.")
        domain = self._checked_kernel("kernel_y").domain
        if isinstance(domain, Vectors) and not hasattr(y, "tocsr"):
            y = self._validate_numbers(y, n)
        others = domain.validate(y, "y")
        if len_of(others) != n:
            raise InputError(
                f"X and y must have the same length. Found input variables with inconsistent numbers of "
                f"samples: {[n, len_of(others)]}."
            )
        return others

    def _validate_numbers(self, y: Any, n: int) -> np.ndarray:
        try:
            targets = read_targets(type(self).__name__, y, n, numeric=True)
        except InputError as error:
            if error.__cause__ is None:  # numbers they are, but not as many, or not of this size
                raise
            raise InputError(
                f"SupervisedReduction: `y` must hold finite numbers for {self.kernel_y!r}: {error.__cause__} "
                "For other objects give a kernel on them as `kernel_y`."
            ) from error
        return targets[:, None] if targets.ndim == 1 else targets

    def _count(self, quotients: np.ndarray) -> int:
        wanted = self.n_components
        if not isinstance(wanted, numbers.Integral | None):
            shares = np.cumsum(quotients) / quotients.sum()
            return int(np.searchsorted(shares, float(wanted)) + 1)
        reason = "no further function of X is correlated with y"
        return keep(wanted, len(quotients), "SupervisedReduction", reason)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
