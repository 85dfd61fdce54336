"""Conformal prediction around any regressor or classifier."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted

from ...domains import indexable, take
from ...errors import InputError, ParameterError, brief, warn
from ...guarantees import Bound
from ...parameters import Checks, check_choice, check_number, check_random
from ..arguments import check_fraction, naming, read_targets
from ..base import KernelMachine, len_of
from ..callbacks import as_run
from ..gaussian_process import GaussianProcessRegressor
from ..labels import unwrapped
from ..wrapper import MachineWrapper
from .closed_form import chosen_with_targets, is_pairwise, no_closed_form
from .ridge import RidgeIntervals
from .split import label_scores, score_quantile

__all__ = ["Conformal", "ConformalWarning"]


class ConformalWarning(UserWarning):
    """Parameters were chosen with the targets that the intervals are computed from."""


def _has_intervals(model: Conformal) -> bool:
    if not is_regressor(model.machine):
        raise AttributeError("Conformal.predict_interval: `machine` must be a regressor.")
    return True


def _has_sets(model: Conformal) -> bool:
    if not is_classifier(model.machine):
        raise AttributeError("Conformal.predict_set: `machine` must be a classifier.")
    return True


class Conformal(MachineWrapper):
    r"""Prediction intervals and sets that hold the truth with a chosen probability.

    Conformal prediction assumes that the training points and the new point are exchangeable (for instance
    independent, from one distribution), and nothing else: the model may be wrong.  The probability is over
    training data and new point together, not for each x.

    ==============  ==============  ===================================================================
    method          coverage        how
    ==============  ==============  ===================================================================
    "full"          1 - alpha       a target conforms if its residual in the model of all n + 1 points is
                                    not among the largest
    "jackknife+"    1 - 2 alpha     from predictions of the n models without one point, and their errors at
                                    that point; close to 1 - alpha in practice
    "split"         1 - alpha       the machine sees a part of the points; its errors on the others are
                                    the width
    ==============  ==============  ===================================================================

    The first two are exact and in closed form for :class:`KernelRidge` and :class:`GaussianProcessRegressor`:
    all models come from one factorization, O(n^3) to fit and O(n^2) for each new point.  Split conformal
    prediction is for every other machine.

    Parameters
    ----------
    machine : regressor or classifier
        Of this package or of scikit-learn; it is cloned.
    method : {"auto", "full", "jackknife+", "split"}, default="auto"
        ``"auto"`` is ``"full"`` for kernel ridge regression and Gaussian processes whose parameters do not
        depend on y (``"jackknife+"`` for a precomputed matrix, or noise that differs between observations),
        otherwise ``"split"``.
    calibration : float, default=0.25
        Share of the points that ``"split"`` leaves out of the fit, in (0, 1).
    random_state : int or RandomState, optional
        Of the split.
    time_budget : float, optional
        Seconds for ``fit``, see the machine's parameter.

    Attributes
    ----------
    machine_ : the fitted machine
    method_ : str
        The method in use.
    scores_ : array of shape (n_left_out,)
        Scores of the points that were left out, sorted; with ``"split"`` only.
    loo_residuals_ : array of shape (n,)
        Errors of the models without one point, at that point; otherwise.
    classes_ : array
        Of classifiers.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Notes
    -----
    If alpha is below 1 / (n + 1), for n scores, no finite interval has the coverage: intervals are infinite
    and sets hold all labels.

    The score of a regression is the absolute residual.  That of a label is one minus its probability, or for
    machines without probabilities the largest decision value of another label less its own.  Sets may be
    empty, where no label fits.

    Parameters that are chosen with the same targets (``tune``, ``alpha="loo"``) make points of the training
    set differ from new ones.  ``"full"`` and ``"jackknife+"`` warn of it (:class:`ConformalWarning`), because
    their guarantee is lost; ``"split"`` lets the machine choose on its part alone.  A search over parameters
    that was made before, on the same data, cannot be seen here: put the search itself into ``machine``.

    References
    ----------
    Vovk, Gammerman and Shafer 2005; Nouretdinov, Melluish and Vovk 2001 (full conformal ridge regression);
    Barber, Candes, Ramdas and Tibshirani 2021 (jackknife+).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import SVC, KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (200, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = Conformal(KernelRidge(Gaussian(1.0), alpha=0.1)).fit(X[:100], y[:100])
    >>> low, high = model.predict_interval(X[100:], alpha=0.1).T
    >>> float(np.mean((low <= y[100:]) & (y[100:] <= high)))
    0.97
    >>> model = Conformal(SVC(Gaussian(1.0)), random_state=0).fit(X, X[:, 0] + rng.normal(size=200) > 0)
    >>> model.predict_set([[2.0], [0.0]], alpha=0.1)  # a column for each class
    array([[False,  True],
           [ True,  True]])
    """

    _checks: ClassVar[Checks] = {
        "method": partial(check_choice, options=("auto", "full", "jackknife+", "split")),
        "calibration": check_fraction,
    }

    def __init__(
        self,
        machine: Any,
        *,
        method: str = "auto",
        calibration: float = 0.25,
        random_state: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.machine = machine
        self.method = method
        self.calibration = calibration
        self.random_state = random_state
        self.time_budget = time_budget

    # -- fitting --------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the machine, and what its intervals or sets need.

        Parameters
        ----------
        X : points
        y : array of shape (n,)
        """
        machine = self._checked_machine()
        self.method_ = self._chosen_method(machine)
        targets = self._targets(y)
        for name in ("scores_", "loo_residuals_", "_intervals"):
            self.__dict__.pop(name, None)
        if self.method_ == "split":
            self._fit_split(machine, X, targets)
        else:
            self.machine_ = machine.fit(X, targets)
            self.loo_residuals_ = self._closed_form().loo
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.machine_, name):
                setattr(self, name, getattr(self.machine_, name))
        return self

    def _checked_machine(self) -> Any:
        machine = self.machine
        is_estimator = hasattr(machine, "__sklearn_tags__") and not isinstance(machine, type)
        if not is_estimator or not (is_classifier(machine) or is_regressor(machine)):
            raise ParameterError(
                "Conformal: `machine` must be a regressor or a classifier, such as KernelRidge(). "
                f"Got {brief(machine)}."
            )
        return clone(machine)

    def _chosen_method(self, machine: Any) -> str:
        if self.method == "split":
            return "split"
        if self.method == "auto":
            known = [method for method in ("full", "jackknife+") if not no_closed_form(machine, method)]
            return known[0] if known and not chosen_with_targets(machine) else "split"
        reason = no_closed_form(machine, self.method)
        if reason:
            other = "split" if no_closed_form(machine, "jackknife+") else "jackknife+"
            raise ParameterError(
                f"Conformal: method={self.method!r} needs KernelRidge with one positive `alpha`, or "
                f"GaussianProcessRegressor: {reason}. Use method={other!r}."
            )
        chosen = chosen_with_targets(machine)
        if chosen:
            warn(
                f"Conformal: the machine chooses parameters with the same y ({chosen}), and method="
                f"{self.method!r} has no guarantee then. Use method='split', or choose them on other data.",
                ConformalWarning,
            )
        return self.method

    def _targets(self, y: Any) -> NDArray[Any]:
        values = read_targets("Conformal", y, None, numeric=is_regressor(self.machine))
        with naming("Conformal", "y"):
            values = np.array(column_or_1d(values, warn=True))
            if is_classifier(self.machine):
                check_classification_targets(unwrapped(values, "Conformal"))
        return values

    def _fit_split(self, machine: Any, X: Any, targets: NDArray[Any]) -> None:
        if is_pairwise(machine):
            raise ParameterError("Conformal: method='split' needs a kernel on points. Got a precomputed one.")
        if isinstance(machine, GaussianProcessRegressor) and np.ndim(machine.alpha):
            raise ParameterError(
                "Conformal: method='split' needs a machine with one `alpha` for all observations. Got one "
                "for each. Use method='jackknife+' with tune=None."
            )
        is_ours = isinstance(machine, KernelMachine)
        points = machine._validate_X(X, reset=True) if is_ours else indexable(X, "Conformal: `X`")
        names = getattr(machine, "feature_names_in_", None)
        n, pick = (len_of(points), take) if is_ours else (_num_samples(points), _safe_indexing)
        if n != len(targets):
            raise InputError(
                "Conformal: X and y must have the same length. Found input variables with inconsistent "
                f"numbers of samples: {[n, len(targets)]}."
            )
        if n < 2:
            raise InputError(
                f"Conformal: method='split' needs at least 2 samples, some of them left out. Got {n} sample."
            )
        order = check_random("Conformal", "random_state", self.random_state).permutation(n)
        count = min(max(1, round(self.calibration * n)), n - 1)
        left_out, seen = np.sort(order[:count]), np.sort(order[count:])
        self.machine_ = machine.fit(pick(points, seen), targets[seen])
        self.scores_ = np.sort(self._scores(pick(points, left_out), targets[left_out]))
        if is_ours and names is not None:
            self.machine_.feature_names_in_ = names  # the validated points have none

    def _scores(self, points: Any, targets: NDArray[Any]) -> NDArray[np.float64]:
        if is_regressor(self.machine_):
            return np.asarray(np.abs(targets - self.machine_.predict(points)), dtype=np.float64)
        scores = label_scores(self.machine_, points)
        classes = self.machine_.classes_
        codes = np.minimum(np.searchsorted(classes, targets), len(classes) - 1)
        known = classes[codes] == targets  # a label that the machine has not seen fits nowhere
        return np.where(known, scores[np.arange(len(targets)), codes], np.inf)

    # -- predicting -----------------------------------------------------------------------------
    def predict(self, X: Any) -> NDArray[Any]:
        """What the machine predicts."""
        check_is_fitted(self)
        return np.asarray(self.machine_.predict(X))

    @available_if(_has_intervals)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, alpha: float = 0.1) -> NDArray[np.float64]:
        """Intervals that hold the target of a new point, each with the probability of ``guarantee(alpha)``.

        Parameters
        ----------
        X : points
        alpha : float, default=0.1
            In (0, 1); smaller alpha gives wider intervals.

        Returns
        -------
        array of shape (m, 2)
            Lower and upper ends, infinite where n points are too few for this alpha.
        """
        check_is_fitted(self)
        alpha = checked_alpha("predict_interval", alpha)
        if self.method_ == "split":
            values = self.machine_.predict(X)
            width = score_quantile(self.scores_, alpha)
            return np.column_stack([values - width, values + width])
        points = self.machine_._validate_X(X, reset=False)
        if self.method_ == "full":
            return self._closed_form().full(points, alpha)
        return self._closed_form().jackknife(points, alpha)

    def _closed_form(self) -> RidgeIntervals:
        """The inverse of the system, computed again in a copy."""
        if not hasattr(self, "_intervals"):
            machine = self.machine_
            if isinstance(machine, GaussianProcessRegressor):  # the noise with that of the kernel
                targets, noise = machine._observed.Y[:, 0], machine._posterior.method.noise
            else:
                targets, noise = machine._Y[:, 0], np.full(len(machine._Y), float(machine.alpha_))
            self._intervals = RidgeIntervals(machine.gram_, targets, noise, bool(machine.fit_intercept))
        return self._intervals

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_intervals", None)
        return state

    @available_if(_has_sets)  # type: ignore[untyped-decorator]
    def predict_set(self, X: Any, alpha: float = 0.1) -> NDArray[np.bool_]:
        """Sets of labels that hold the label of a new point with probability at least 1 - alpha.

        Parameters
        ----------
        X : points
        alpha : float, default=0.1
            In (0, 1); smaller alpha gives larger sets.

        Returns
        -------
        array of bool of shape (m, n_classes)
            Whether each of ``classes_`` belongs to the set.
        """
        check_is_fitted(self)
        alpha = checked_alpha("predict_set", alpha)
        return np.asarray(label_scores(self.machine_, X) <= score_quantile(self.scores_, alpha))

    def guarantee(self, alpha: float = 0.1) -> Bound:
        """What is known about the coverage at ``alpha``, with the assumptions.

        Returns
        -------
        Bound
            A lower bound of the probability that the interval or set holds the truth.
        """
        check_is_fitted(self)
        alpha = checked_alpha("guarantee", alpha)
        value = 1.0 - (2 if self.method_ == "jackknife+" else 1) * alpha
        assumptions = ["the training points and the new point are exchangeable"]
        if self.method_ != "split":
            assumptions.append("the parameters of the machine were fixed before y was seen")
            kernel = self.machine_._checked_kernel()
            if not kernel.is_resolved:
                assumptions.append(
                    f"{kernel!r} depends on the training points, which is taken to be as fixed: the new "
                    "point has no part in it"
                )
        return Bound(
            value=value,
            name=f"coverage of {self.method_} conformal prediction, at least",
            formula="1 - 2 alpha" if self.method_ == "jackknife+" else "1 - alpha",
            assumptions=tuple(assumptions),
            holds_with_probability=None,
            vacuous=value <= 0,
            terms={"coverage": value},
            inputs={"alpha": alpha, "method": self.method_},
            vacuous_because="a probability is never negative" if value <= 0 else "",
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def checked_alpha(method: str, alpha: Any) -> float:
    """Return ``alpha`` if it is a number between 0 and 1."""
    wanted = "a number between 0 and 1, the share of misses"
    return float(check_number(f"Conformal.{method}", "alpha", alpha, wanted, above=0.0, below=1.0))
