"""Kernel canonical correlation analysis of two or more views, and its test of independence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from ..domains import Data, take
from ..engine.runs import tracked
from ..errors import DefinitenessError, InputError, ParameterError, brief, warn
from ..gram import Gram
from ..gram.kernel_gram import gram_of_points
from ..kernel import Kernel
from ..kernels import Gaussian
from ..parameters import Checks, check_choice, check_count, check_number, check_random
from ..solvers import (
    LowRank,
    Solution,
    canonical_directions,
    incomplete_cholesky,
    largest_correlation,
    signs,
    whiten,
)
from .arguments import read_weight
from .base import KernelMachine, len_of
from .callbacks import as_run
from .indefinite import screen
from .translation import KernelLike, as_kernel
from .views import (
    View,
    expansion,
    pairwise_correlations,
    refuse_interpolation,
    require_equal_lengths,
    validated,
)

__all__ = ["IndependenceTest", "KernelCCA"]


class IndependenceTest(NamedTuple):
    """The kernel correlation of two samples, its p-value, and its values under permutations."""

    statistic: float
    p_value: float
    null: np.ndarray


class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine):
    r"""Kernel canonical correlation analysis: functions of two or more views that vary together.

    .. math:: \max_{f \in \mathcal{H}_x,\; g \in \mathcal{H}_y} \;
        \frac{\mathrm{cov}(f(X), g(Y))}
        {\sqrt{(\mathrm{var} f(X) + \alpha_x \|f\|^2)\,(\mathrm{var}\, g(Y) + \alpha_y \|g\|^2)}}

    with covariance and variances over the sample (divided by n, or weighted), component after component, each
    uncorrelated in this sense with the ones before.  Centring is part of it: without, independent data have a
    correlation near one.  Of :math:`m > 2` views, the sum of covariances over all pairs is maximised where
    the sum of regularised variances is fixed.  Each function has regularised variance one; in the first view
    the largest value on the training points in absolute value is positive.

    In terms of coefficients and centred Gram matrices, the denominators are those of
    :math:`K^2 + n \alpha K`.  ``penalty="square"`` completes the square, as Bach and Jordan (2002) do:
    :math:`(K + \frac{n \alpha}2 I)^2`, which penalises directions of little variance more.

    Views are factorised by incomplete Cholesky decomposition, of rank r.  Cost: O(n r^2) time and O(n r)
    memory, O(n r) kernel values.  ``transform``: r kernel values per point.

    Parameters
    ----------
    kernel_x, kernel_y : Kernel, default=Gaussian("scale")
        Kernels of the two views, on any domains; ``kernel_y=None`` takes that of ``kernel_x``.  For more
        views give one sequence of kernels as ``kernel_x``; then ``X`` is a sequence of views in every
        method, and there is no ``y``.
    n_components : int, default=2
        If there are fewer positive correlations, a warning says so and there are as many components.
    alpha : float or sequence of floats, default=0.02
        :math:`\alpha \ge 0`, for all views or for each.  Without a penalty (0) a view whose functions fit
        anything on the sample is refused, for its correlations are one whatever the data.
    penalty : {"norm", "square"}, default="norm"
        Whether :math:`K^2 + n \alpha K` or :math:`(K + \frac{n \alpha}2 I)^2` is the denominator.
    tol : float, default=1e-8
        The factorisation ends when it leaves at most this share of the trace of the Gram matrix.
    max_rank : int, optional
        Most columns of a factor: for large n, some hundreds.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        As for :class:`KernelRidge`; a matrix that stays indefinite cannot be factorised.
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    correlations_ : array of shape (k,)
        Correlations of the projections of the training points (of more views: their mean over pairs).
    canonical_correlations_ : array of shape (k,)
        Values of the objective: the regularised correlations, descending.  They are smaller.
    n_components_ : int
        Components that there are, k above.
    kernels_ : list of Kernel
        With data-dependent parameters resolved, each from its own view.
    pivots_ : list of arrays
        For each view, the points that its functions are made of.
    dual_coefs_ : list of arrays of shape (rank, k)
        Coefficients of these points.
    ranks_ : list of int
    residuals_ : list of float
        Share of the trace that the factorisation of each view has left out.
    solution_ : Solution
        How the eigenproblem was solved.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(-1, 1, 200)
    >>> X, Y = t[:, None], (t**2 + 0.01 * rng.standard_normal(200))[:, None]
    >>> model = KernelCCA(Gaussian(0.5), kernel_y=Gaussian(0.5), n_components=1, alpha=1e-3).fit(X, Y)
    >>> bool(model.correlations_[0] > 0.99), bool(abs(np.corrcoef(X[:, 0], Y[:, 0])[0, 1]) < 0.2)
    (True, True)
    >>> bool(model.independence_test(X, Y, n_permutations=19, random_state=0).p_value == 1 / 20)
    True
    """

    _checks: ClassVar[Checks] = {
        "n_components": check_count,
        "max_rank": partial(check_count, unless=(None,)),
        "penalty": partial(check_choice, options=("norm", "square"), advice="Its strength is alpha."),
        "tol": partial(check_number, requirement="a number from 0 to less than 1", least=0.0, below=1.0),
    }

    def __init__(
        self,
        kernel_x: KernelLike | Sequence[KernelLike] = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        kernel_y: KernelLike | None = None,
        n_components: int = 2,
        alpha: float | Sequence[float] = 0.02,
        penalty: str = "norm",
        tol: float = 1e-8,
        max_rank: int | None = None,
        indefinite: str = "warn",
        time_budget: float | None = None,
    ) -> None:
        self.kernel_x = kernel_x
        self.kernel_y = kernel_y
        self.n_components = n_components
        self.alpha = alpha
        self.penalty = penalty
        self.tol = tol
        self.max_rank = max_rank
        self.indefinite = indefinite
        self.time_budget = time_budget

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]
        """The kernel of the first view."""
        first = self.kernel_x
        return first[0] if isinstance(first, list | tuple) and first else first  # type: ignore[return-value]

    @property
    def kernel_(self) -> Kernel:
        """The resolved kernel of the first view."""
        return self.kernels_[0]

    @property
    def _has_list(self) -> bool:
        return isinstance(self.kernel_x, list | tuple)

    # -- fitting --------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to paired points ``X`` and ``y``, the second view, or to a sequence of views."""
        kernels, penalties = self._check_parameters()
        data = self._validate_views(X, y, kernels)
        n = len_of(data[0])
        weight = read_weight(type(self).__name__, sample_weight, n)
        if weight is not None and not weight.all():  # a row of weight zero is as if absent
            kept = np.flatnonzero(weight)
            data, weight = [take(points, kept) for points in data], weight[kept]
        share = np.full(len_of(data[0]), 1.0 / len_of(data[0])) if weight is None else weight / weight.sum()
        views = self._views(kernels, penalties, data, weight, share)
        self.solution_ = canonical_directions([view.whitened for view in views], self.n_components)
        if not self.solution_.converged:
            warn(f"KernelCCA: {self.solution_.status}.", ConvergenceWarning)
        self._keep(views, share)
        return self

    def _views(
        self,
        kernels: list[Kernel],
        penalties: list[float],
        data: list[Data],
        weight: np.ndarray | None,
        share: np.ndarray,
    ) -> list[View]:
        views = []
        for kernel, penalty, points in zip(kernels, penalties, data, strict=True):
            G = gram_of_points(kernel.resolve(points, weight), points, dtype=np.float64)
            G_screened = screen(G, self.indefinite, type(self).__name__)
            low_rank = self._factor(G_screened)
            whitened = whiten(low_rank.value.factor, share, penalty, square=self.penalty == "square")
            views.append(View(G_screened, low_rank, whitened))
        refuse_interpolation([view.whitened for view in views], len(share))
        return views

    def _factor(self, G: Gram) -> Solution[LowRank]:
        try:
            return incomplete_cholesky(
                lambda index: G.block(slice(None), index),
                G.diagonal(),
                tol=float(self.tol),
                max_rank=self.max_rank,
            )
        except linalg.LinAlgError as error:
            raise DefinitenessError(
                f"KernelCCA: {G.kernel!r} is not positive definite on these data ({error}). Repair it with "
                "indefinite='clip', 'flip' or 'shift'."
            ) from error

    def _keep(self, views: list[View], share: np.ndarray) -> None:
        """Keep functions as expansions in the pivots, with signs by the first view."""
        values, directions = self.solution_.value
        scores = [view.low_rank.value.factor @ W for view, W in zip(views, directions, strict=True)]
        offsets = [share @ S for S in scores]
        centered = [S - offset for S, offset in zip(scores, offsets, strict=True)]
        sign = signs(centered[0])
        self.kernels_ = [view.gram.kernel for view in views]
        self.pivots_ = [view.low_rank.value.pivots for view in views]
        self.ranks_ = [len(pivots) for pivots in self.pivots_]
        self.residuals_ = [view.low_rank.gap for view in views]
        self._grams = [view.gram.select(pivots) for view, pivots in zip(views, self.pivots_, strict=True)]
        self._offsets = [sign * offset for offset in offsets]
        self.dual_coefs_ = [
            expansion(view.low_rank.value, W * sign) for view, W in zip(views, directions, strict=True)
        ]
        self.canonical_correlations_ = values
        self.correlations_ = pairwise_correlations(centered, share)
        self.n_components_ = self._n_features_out = len(values)
        if self.n_components_ < self.n_components:
            warn(
                f"KernelCCA: `n_components` is {self.n_components}, but there are only {self.n_components_} "
                f"positive correlations; there are {self.n_components_} component(s).",
                UserWarning,
            )

    # -- new points -----------------------------------------------------------------------------
    def transform(self, X: Any, y: Any = None) -> Any:
        """Projections of ``X``; of ``X`` and ``y``, if both are given; of each of a sequence of views."""
        self._check_fitted()
        if self._has_list:
            return self._project(self._split(X, y))
        first = self._project_view(0, self._validate_X(X, reset=False))
        return first if y is None else (first, self._project_view(1, self._validate_other(1, y)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean correlation of the projections of paired points, over components (and pairs of views).

        A projection that is constant on these points has correlation zero.
        """
        self._check_fitted()
        projections = self._project(self._split(X, y))
        n = len(projections[0])
        weight = read_weight(type(self).__name__, sample_weight, n)
        share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
        correlations = pairwise_correlations([S - share @ S for S in projections], share)
        return float(correlations.mean()) if len(correlations) else 0.0

    def _project(self, views: Sequence[Any]) -> list[np.ndarray]:
        data = [self._validate_X(views[0], reset=False)]
        data += [self._validate_other(i, view) for i, view in enumerate(views) if i > 0]
        require_equal_lengths(data)
        return [self._project_view(i, points) for i, points in enumerate(data)]

    def _project_view(self, i: int, points: Data) -> np.ndarray:
        return np.asarray(self._grams[i]._cross(points) @ self.dual_coefs_[i] - self._offsets[i])

    # -- independence ---------------------------------------------------------------------------
    @as_run
    def independence_test(
        self, X: Any, Y: Any, *, n_permutations: int = 200, random_state: Any = None
    ) -> IndependenceTest:
        r"""Test whether two samples are independent, by their first regularised correlation.

        The p-value is :math:`(1 + \#\{\text{permutations with at least the correlation}\}) / (1 + B)`: the
        level is exact for any n.  Widths such as ``"median"`` come from each sample alone, which a
        permutation does not change, so that choosing them does not touch the level.  Nothing is fitted; the
        factors are computed once, a permutation costs some products with them.

        Parameters
        ----------
        X, Y : paired points
        n_permutations : int, default=200
            B.  The least possible p-value is 1 / (1 + B).
        random_state : int, RandomState or None

        Returns
        -------
        IndependenceTest
            ``statistic``, ``p_value`` and the values ``null`` under permutations.
        """
        n_permutations = check_count("independence_test", "n_permutations", n_permutations)
        kernels, penalties = self._check_parameters()
        if len(kernels) != 2:
            raise ParameterError(
                f"independence_test compares two views. This machine has {len(kernels)} kernels."
            )
        first, second = ([X, Y], None) if self._has_list else (X, Y)
        data = self._validate_views(first, second, kernels)
        n = len_of(data[0])
        views = self._views(kernels, penalties, data, None, np.full(n, 1.0 / n))
        A, B = (view.whitened.features for view in views)
        statistic = largest_correlation(A, B)
        random = check_random(type(self).__name__, "random_state", random_state)
        null = np.array(
            [
                largest_correlation(A, B[random.permutation(n)])
                for _ in tracked(range(n_permutations), "permutations", "permutation")
            ]
        )
        # a permutation that changes nothing must not fall below by rounding
        p_value = (1 + int(np.sum(null >= statistic * (1 - 1e-9)))) / (1 + n_permutations)
        return IndependenceTest(statistic, p_value, null)

    # -- checks ---------------------------------------------------------------------------------
    def _check_parameters(self) -> tuple[list[Kernel], list[float]]:
        """The kernels and the penalties, one of each for every view."""
        kernels = self._checked_kernels()
        several = isinstance(self.alpha, list | tuple) or (
            isinstance(self.alpha, np.ndarray) and self.alpha.ndim
        )
        given: list[Any] = list(self.alpha) if several else [self.alpha] * len(kernels)  # type: ignore[arg-type]
        wanted = f"a finite number >= 0, or {len(kernels)} of them, one per view"
        advice = "A larger alpha gives smoother functions."
        if len(given) != len(kernels):
            raise ParameterError(f"KernelCCA: `alpha` must be {wanted}. Got {brief(self.alpha)}. {advice}")
        penalties = [check_number("KernelCCA", "alpha", p, wanted, least=0.0, advice=advice) for p in given]
        return kernels, penalties

    def _checked_kernels(self) -> list[Kernel]:
        if not self._has_list:
            return [
                self._checked_kernel("kernel_x"),
                self._checked_kernel("kernel_x" if self.kernel_y is None else "kernel_y"),
            ]
        kernels: list[Any] = list(self.kernel_x)  # type: ignore[arg-type]
        if len(kernels) < 2 or self.kernel_y is not None:
            raise ParameterError(
                "KernelCCA: a sequence `kernel_x` must hold two or more kernels, one per view, and "
                f"`kernel_y` must then be None. Got {brief(self.kernel_x)} and {brief(self.kernel_y)}."
            )
        return [as_kernel(k, "KernelCCA", f"kernel_x[{i}]") for i, k in enumerate(kernels)]

    def _split(self, X: Any, y: Any) -> list[Any]:
        """The views, whichever way they were given."""
        count = len(self._checked_kernels())
        if not self._has_list:
            if y is None:
                raise InputError("KernelCCA requires y to be passed, but the target y is None.")
            return [X, y]
        if y is not None or not isinstance(X, list | tuple) or len(X) != count:
            raise InputError(
                f"KernelCCA: with a sequence of {count} kernels, `X` must be a list of {count} views, "
                "and `y` None."
            )
        return list(X)

    def _validate_views(self, X: Any, y: Any, kernels: list[Kernel]) -> list[Data]:
        views = self._split(X, y)
        data = [self._validate_X(views[0], reset=True)]
        data += [validated(kernels[i], view, self._name(i)) for i, view in enumerate(views) if i > 0]
        require_equal_lengths(data)
        return data

    def _validate_other(self, i: int, view: Any) -> Data:
        return validated(self.kernels_[i], view, self._name(i))

    def _name(self, i: int) -> str:
        return f"X[{i}]" if self._has_list else "y"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not self._has_list
        tags.transformer_tags.preserves_dtype = []  # projections are in double precision
        return tags
