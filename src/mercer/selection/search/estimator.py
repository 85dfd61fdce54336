"""Search over kernels and penalties with shared kernel values: ``KernelSearchCV``."""

from __future__ import annotations

import numbers
import textwrap
import time
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import get_tags

from ...domains import Data as Points
from ...domains import indexable, size
from ...errors import InputError, ParameterError, brief, warn
from ...kernel import Kernel
from ...machines.arguments import read_column, read_weight
from ...machines.callbacks import CallbackSupport, as_run
from ...machines.labels import unwrapped, validate_labels
from ...parameters import Checks, check_number
from .evaluation import Data, Evaluation
from .grid import Group, candidates_of, edges, groups_of, with_parameters
from .leave_one_out import require_closed_form
from .parallel import for_each, workers_of
from .racing import drop_hopeless
from .scorers import accepts_weight, sees_points
from .splits import splits_of
from .table import Table
from .values import SharedValues

__all__ = ["KernelSearchCV"]


def _check_score(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a number, also NaN, or says that errors are raised."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (is_number or (isinstance(value, str) and value == "raise")):
        raise ParameterError(f"{caller}: `{name}` must be 'raise' or a number. Got {brief(value)}.")


def _check_refit(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a flag, the name of a metric or a function."""
    if not (isinstance(value, bool | np.bool_ | str) or callable(value)):
        raise ParameterError(
            f"{caller}: `{name}` must be True, False, the name of a metric or a callable. Got {brief(value)}."
        )


class KernelSearchCV(CallbackSupport, BaseSearchCV):  # type: ignore[misc]
    r"""Cross-validated search over kernels and penalties, with kernel values computed once.

    For each candidate :math:`\theta` of the grid and each split :math:`s` into training and test points,

    .. math:: S(\theta) = \frac{1}{|\mathcal{S}|} \sum_{s \in \mathcal{S}}
              \mathrm{score}\bigl(f_{\theta, \mathrm{train}(s)},\ \mathrm{test}(s)\bigr)

    and the candidate of the largest mean score is fitted to all points.  Scores are those of scikit-learn's
    ``GridSearchCV`` on the same splits, up to the tolerance of the solver.  What differs is the work:

    - the Gram matrix of a kernel is computed once for all splits and penalties, and so are the parts of a
      sum, a product or a function of kernels;
    - parameters that depend on data (``"median"``, ``"scale"``) are resolved on each training part;
    - support vector machines go along increasing C, each solution from the one before, and know the decision
      values of the test points with it;
    - threads work side by side on the same values.

    Values of all pairs are held, 12 n^2 bytes for each kernel in use, where that fits into the limit
    (:func:`mercer.memory.can_hold`).  Else, and with ``approximation`` or a plain function as ``scoring``,
    each fit computes its own; so do fits of other machines than ``SVC`` (of two classes) and ``SVR`` with
    compiled kernels, whose values cost no more than copies of them.

    Parameters
    ----------
    machine : KernelMachine
        Any machine of this package with a parameter ``kernel``.
    grid : dict or list of dict
        Lists of values by parameter: ``"kernel"`` (any expressions), ``"kernel__sigma"``, ``"C"``...  All
        combinations of a dict are candidates.
    cv : int, splitter, iterable or "loo", default=5
        As in scikit-learn: folds (stratified for classifiers), a splitter such as ``GroupKFold`` or
        ``TimeSeriesSplit``, or pairs of training and test positions.  ``"loo"`` leaves out each point in
        closed form, with one fit for each candidate: exactly for ``KernelRidge`` and
        ``GaussianProcessRegressor``, to first order for ``KernelLogistic``.  All predictions are scored
        together, as one split.
    scoring : str, callable, list, dict or None, default=None
        As in scikit-learn; None is the score of the machine.
    refit : bool, str or callable, default=True
        Fit the best candidate to all points.  With several metrics the one that decides, or False.  A
        callable gets ``cv_results_`` and returns the position of the best.
    n_jobs : int, optional
        Threads that fit side by side; all that the engine has by default, and with -1.  A plain function as
        ``scoring`` is called in one thread.
    drop : float or None, default=None
        Level of a test, in (0, 1): after each split from the third on, candidates that are worse than the
        best one by a one-sided paired t-test are dropped and not fitted again.  None fits all.  Splits share
        training points, so that the level is a rule of thumb.
    return_train_score : bool, default=False
    error_score : float or "raise", default=nan
        Score of a candidate whose fit raises an error, with a ``FitFailedWarning``.
    verbose : bool, default=False
        Print the notes.
    time_budget : float, optional
        Seconds for ``fit``; what is known then is in ``cv_results_``, and a
        :class:`~mercer.errors.TimeBudgetError` is raised.

    Attributes
    ----------
    cv_results_ : dict of arrays
        In scikit-learn's form; NaN for what is not known, after Ctrl-C or a time budget.  With ``drop``, the
        column ``dropped``.
    best_index_, best_params_, best_score_, best_estimator_, refit_time_, scorer_, n_splits_, multimetric_
        As in scikit-learn.
    notes_ : list of str
        Numbers of the best candidate that lie on the edge of the grid.
    classes_, n_features_in_, feature_names_in_
        Those of ``best_estimator_``.

    Notes
    -----
    The best score is the largest of many, and so too good on average.  To measure the model that a search
    finds, search inside each training part: ``cross_val_score(KernelSearchCV(...), X, y)``.

    Times of fits along a path are the mean of the path, and those of kernel values belong to the first fit
    that needs them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> from mercer.machines import SVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> kernels = [Gaussian(s) for s in (0.5, 1.0, 2.0)] + [Polynomial(2)]
    >>> search = KernelSearchCV(SVC(), {"kernel": kernels, "C": [1.0, 10.0, 100.0]}).fit(X, y)
    >>> search.best_params_["kernel"]
    Polynomial(degree=2)
    """

    _checks: ClassVar[Checks] = {
        "drop": partial(
            check_number,
            requirement="None, or the level of a test between 0 and 1, such as 0.01",
            above=0.0,
            below=1.0,
            unless=(None,),
        ),
        "error_score": _check_score,
        "refit": _check_refit,
    }

    def __init__(
        self,
        machine: Any,
        grid: Any,
        *,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        n_jobs: int | None = None,
        drop: float | None = None,
        return_train_score: bool = False,
        error_score: float | str = np.nan,
        verbose: bool = False,
        time_budget: float | None = None,
    ) -> None:
        self.machine = machine
        self.grid = grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.drop = drop
        self.return_train_score = return_train_score
        self.error_score = error_score
        self.verbose = verbose
        self.time_budget = time_budget

    @property
    def estimator(self) -> Any:
        """The machine, under scikit-learn's name."""
        return self.machine

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = get_tags(self.machine).target_tags
        return tags

    # -- fit ----------------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Score all candidates, and fit the best one to all points.

        Parameters
        ----------
        X : points of the domain of the kernels; for ``Precomputed()`` the square Gram matrix
        y : array of shape (n,) or (n, n_targets), optional
        sample_weight : array of shape (n,), optional
            For the fits, and for scores that take weights.
        groups : array of shape (n,), optional
            For splitters such as ``GroupKFold``.

        Returns
        -------
        self
        """
        name = type(self).__name__
        self._forget()
        X = indexable(X, f"{name}: `X`")
        workers_of(self.n_jobs, name)
        candidates = candidates_of(self.machine, self.grid, name)
        scorer = self._scorer()
        leaves_one_out = isinstance(self.cv, str) and self.cv == "loo"
        if leaves_one_out:
            seen, train = sees_points(scorer), self.return_train_score
            require_closed_form(self.machine, sees_points=seen, train=train, caller=name)
        values = SharedValues(lambda kernel: self._points(X, kernel), getattr(self.machine, "store", None))
        n = size(values.points(with_parameters(self.machine, candidates[0])._checked_kernel()))
        y = self._targets(y, n)
        weight = read_weight(name, sample_weight, n)
        splits = splits_of(self.cv, self.machine, X, y, groups, weight, n, name)
        table = Table(candidates, len(splits), self.return_train_score)
        evaluation = Evaluation(
            Data(X, y, weight),
            values,
            scorer,
            table,
            weighs=weight is not None and accepts_weight(scorer),
            shares=not sees_points(scorer),
            train=self.return_train_score,
            leaves_one_out=leaves_one_out,
            error_score=self.error_score,
        )
        self.n_splits_, self.scorer_ = len(splits), getattr(scorer, "_scorers", scorer)
        try:
            self._evaluate(evaluation, splits)
        finally:
            self.cv_results_ = table.results()
        self._report_failures(table)
        self._choose(table)
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = with_parameters(self.machine, self.best_params_)
            arguments = (X,) if y is None else (X, y)
            self.best_estimator_.fit(*arguments, **({} if weight is None else {"sample_weight": weight}))
            self.refit_time_ = time.perf_counter() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _scorer(self) -> Any:
        name = type(self).__name__
        try:
            scorer = check_scoring(self.machine, self.scoring)
        except Exception as error:  # of a scorer of the user
            said = textwrap.shorten(
                str(error), 400, placeholder=" ..."
            )  # it lists all scorers, or all that came
            raise ParameterError(f"{name}: `scoring={brief(self.scoring)}` is not valid. {said}") from error
        metrics = list(getattr(scorer, "_scorers", {}))
        if isinstance(self.refit, str) and not metrics and self.refit not in ("score", self.scoring):
            raise ParameterError(
                f"{name}: `refit` must be True, False, a callable or the name of the metric. "
                f"Got {brief(self.refit)}."
            )
        if metrics and self.refit and not callable(self.refit) and self.refit not in metrics:
            raise ParameterError(
                f"{name}: with several metrics, `refit` must be the name of the one that decides, one of "
                f"{metrics}, a callable, or False. Got {brief(self.refit)}."
            )
        return scorer

    def _points(self, X: Any, kernel: Kernel) -> Points:
        """Points validated as the machine validates them in ``fit``."""
        return with_parameters(self.machine, {"kernel": kernel})._validate_X(X, reset=True)

    def _targets(self, y: Any, n: int) -> Any:
        """Targets as the machine takes them; they must be as many as the points."""
        if y is None:
            return None
        values = read_column(type(self).__name__, "y", y)
        values = values if hasattr(values, "iloc") else np.asarray(values)
        if values.ndim == 0 or len(values) != n:
            found = [n, len(values) if values.ndim else 1]
            raise InputError(
                f"{type(self).__name__}: X and y must have the same length. Found input variables with "
                f"inconsistent numbers of samples: {found}."
            )
        if is_classifier(self.machine):
            labels = unwrapped(validate_labels(self.machine, y, n), type(self).__name__)
            # Metrics refuse numbers in arrays of objects.
            return labels if np.asarray(values).dtype.kind == "O" else values
        return values

    def _evaluate(self, evaluation: Evaluation, splits: Any) -> None:
        """All groups of candidates in all splits; split by split if candidates may be dropped."""
        table, name = evaluation.table, type(self).__name__
        groups, numbers = groups_of(self.machine, table.candidates), range(len(splits))
        workers = workers_of(self.n_jobs, name) if evaluation.shares else 1

        def run(task: tuple[Group, int]) -> None:
            evaluation.run(*task, splits[task[1]])

        if self.drop is None:
            for_each(run, [(group, s) for group in groups for s in numbers], workers, name, "fold")
            return
        for s in numbers:
            drop_hopeless(table, s, self._deciding_metric(table), float(self.drop))
            for_each(run, [(group, s) for group in groups], workers, name, "kernel")

    # -- the best -----------------------------------------------------------------------------------
    def _deciding_metric(self, table: Table) -> str:
        metrics = table.metrics or ["score"]
        return self.refit if isinstance(self.refit, str) and self.refit in metrics else metrics[0]

    def _report_failures(self, table: Table) -> None:
        """Warn of fits that raised errors; raise if all did."""
        if not table.errors:
            return
        name, total = type(self).__name__, table.is_known.sum()
        candidate, split, message = min(table.errors)
        told = (
            f"{len(table.errors)} of {total} fits failed, the first for {table.candidates[candidate]!r} in "
            f"split {split}: {message}"
        )
        if len(table.errors) == total:
            raise InputError(f"{name}: {told}")
        warn(f"{name}: {told} Their scores are {self.error_score}.", FitFailedWarning)

    def _choose(self, table: Table) -> None:
        """Set the attributes of the best candidate."""
        results, metric = self.cv_results_, self._deciding_metric(table)
        self.multimetric_ = table.metrics != ["score"]
        if self.multimetric_ and not self.refit:
            return
        if callable(self.refit):
            index = self.refit(results)
            if not isinstance(index, numbers.Integral) or not 0 <= int(index) < len(table.candidates):
                raise ParameterError(
                    f"{type(self).__name__}: `refit` must return the position of a candidate, from 0 to "
                    f"{len(table.candidates) - 1}. Got {index!r}."
                )
            self.best_index_ = int(index)
        else:
            self.best_index_ = int(results[f"rank_test_{metric}"].argmin())
            self.best_score_ = float(results[f"mean_test_{metric}"][self.best_index_])
        self.best_params_ = table.candidates[self.best_index_]
        self.notes_ = edges(table.candidates, self.best_params_)
        if self.verbose:
            for note in self.notes_:
                print(f"{type(self).__name__}: {note}")
