"""Parameters of a kernel and the penalty of a machine by gradients of a criterion: ``tune``."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...domains import check_numbers
from ...engine.runs import running
from ...errors import InputError, MercerError, ParameterError
from ...kernel import Kernel
from ...machines.tuning import SearchSpace, maximise, search_space, tune_parameters
from ...parameters import check_arguments, check_random
from .criteria import Problem, check_criterion, problem_of
from .result import Tuned, relevances_of, values_by_name

__all__ = ["tune"]


def tune(
    machine: Any,
    X: Any,
    y: Any,
    *,
    criterion: str = "evidence",
    bounds: Mapping[str, Any] | None = None,
    fixed: Sequence[str] = (),
    priors: Mapping[str, Any] | None = None,
    n_restarts: int = 0,
    random_state: Any = None,
    per_feature: bool = False,
    sample_weight: Any = None,
) -> Tuned:
    r"""Choose the parameters of a machine's kernel, and its penalty, by gradients of a criterion.

    =================  ======================================  =============================================
    criterion          machines                                what is optimised
    =================  ======================================  =============================================
    ``evidence``       KernelRidge, GaussianProcessRegressor   the log marginal likelihood
    ``evidence``       GaussianProcessClassifier               Laplace's approximation of it
    ``loo``            KernelRidge                             the exact leave-one-out squared error
    ``loo``            KernelLogistic, two classes             the leave-one-out log loss, to first order
    ``radius_margin``  SVC, two classes                        a bound of the leave-one-out errors
    ``span``           SVC, two classes                        an estimate of the leave-one-out errors
    ``alignment``      every machine with targets              the centred alignment; no penalty takes part
    =================  ======================================  =============================================

    All parameters of the kernel with a logarithmic scale and the penalty move together, along L-BFGS on their
    logarithms.  Gradients are exact and cost about one more Gram matrix for all parameters together, so that
    a width for each of hundreds of features is no more work than one width.  Own kernels without derivatives
    are moved along central differences: two Gram matrices for each parameter.

    The radius-margin bound is :math:`\frac4n (R^2 + \frac1C) (\|f\|^2 + 2 C \sum_i \xi_i)`; for ``C=inf``
    this is the bound :math:`4 R^2 \|f\|^2 / n`, and without an intercept :math:`\max k(x, x)` is in place of
    :math:`4 R^2`.  The span estimate is the share of support vectors whose margin would be negative if they
    were left out and the others kept their places, counted smoothly (:mod:`mercer.machines.tuning.span`).

    Criteria have many local optima, the span estimate most of all: start from sensible values (``"median"``,
    ``"scale"``), and use ``n_restarts``.  With a width per feature they can be overfitted like any training
    error; measure on data that ``tune`` has not seen.

    Cost for each evaluation: O(n^3) time and 32 n^2 bytes for ``evidence`` and ``loo``; one training with 16
    n^2 bytes for ``radius_margin`` and ``span``; O(n^2) for ``alignment``.

    Parameters
    ----------
    machine : KernelRidge, KernelLogistic, SVC, a Gaussian process, or any machine with a kernel
        Its kernel and penalty are where the search starts, and usual values too where these are not.  The
        kernel of a Gaussian process is first multiplied by the number for which it has the variance of
        ``y``.  The machine stays as it is.  With ``"evidence"`` the ``signal_variance`` of ``KernelRidge`` is
        free unless it is given.
    X : points of the kernel's domain
    y : array of shape (n,)
        Targets or labels.
    criterion : {"evidence", "loo", "radius_margin", "span", "alignment"}, default="evidence"
        One of those for the machine in the table.
    bounds : dict, optional
        Pairs ``(low, high)`` by name, as ``{"kernel__sigma": (0.1, 10.0), "C": (1e-2, 1e3)}``.  By default
        the range of the parameter, and a factor of 1e5 in both directions from its start and from what is
        usual for the data: widths near the median distance, variances near that of ``y``, penalties near the
        mean of k(x, x).  A ``ConvergenceWarning`` names parameters that end there while the criterion would
        rise beyond, unless noise or a term of the kernel vanishes at that end; at ends that you set there is
        none.
    fixed : sequence of names, optional
        What stays as it is, as ``["alpha", "kernel__sigma[0]"]``.
    priors : dict, optional
        Log-densities of values by name: functions, or frozen distributions of SciPy.  They are added to the
        objective: to the evidence itself, and to minus the logarithm of errors and bounds.
    n_restarts : int, default=0
        Further starts, drawn within a factor of 100 of the first; with ``per_feature``, of the search for
        one width.
    random_state : int or RandomState, optional
        Of the restarts.
    per_feature : bool, default=False
        Whether every width that is one number becomes one for each feature.  The best single width is found
        first, and the widths start from it.
    sample_weight : array of shape (n,), optional
        For machines that take weights.

    Returns
    -------
    Tuned
        With the fitted machine, the parameters and the relevances of features.

    Source: Chapelle, Vapnik, Bousquet and Mukherjee 2002 for support vector machines; Rasmussen and Williams
    2006, chapter 5, for the evidence and leave-one-out.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 4))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(100)      # the others do not matter
    >>> found = tune(KernelRidge(Gaussian("median")), X, y, criterion="loo", per_feature=True)
    >>> int(found.relevances["kernel__sigma"].argmax())
    0
    >>> bool(found.value < 0.02), found.machine.predict(X[:1]).shape
    (True, (1,))
    """
    check_criterion(machine, criterion)
    check_arguments(machine)
    _check_restarts(n_restarts)
    check_random("tune", "random_state", random_state)
    _check_targets(y)
    with running("tune"):
        problem = problem_of(machine, criterion, X, y, sample_weight)
    start = problem.start
    if per_feature:
        start = replace(start, kernel=_per_feature(start.kernel, problem))
    space = search_space(start, problem.scales(start), bounds=bounds, fixed=fixed, priors=priors)
    with running("tune"):
        if per_feature:
            space, restarts = (
                _from_one_width(problem, space, bounds, fixed, priors, n_restarts, random_state),
                0,
            )
        else:
            restarts = int(n_restarts)
        found = tune_parameters(problem.objective, space, problem.points, restarts, random_state, "tune")
    point = found.value
    model = clone(machine).set_params(kernel=point.kernel)
    if point.penalty is not None:
        model.set_params(**{point.penalty: point.alpha})
    if criterion == "evidence" and getattr(model, "signal_variance", 1.0) is None:
        model.set_params(signal_variance="evidence")
    if "tune" in model.get_params(deep=False):
        model.set_params(tune=None)
    model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight)
    value = found.stats["objective"] - sum(prior(point.theta)[0] for prior in space.priors)
    return Tuned(
        machine=model,
        criterion=criterion,
        value=float(value if criterion in ("evidence", "alignment") else np.exp(-value)),
        parameters=values_by_name(point),
        start=values_by_name(start),
        relevances=relevances_of(point.kernel),
        feature_names=getattr(model, "feature_names_in_", None),
        history=found.stats["history"],
        at_bound=tuple(found.stats["at_bound"]),
        flat=tuple(found.stats["flat"]),
        solution=found,
    )


def _from_one_width(
    problem: Problem,
    space: SearchSpace,
    bounds: Mapping[str, Any] | None,
    fixed: Sequence[str],
    priors: Mapping[str, Any] | None,
    n_restarts: int,
    random_state: Any,
) -> SearchSpace:
    """The same space, with the best single width as the start of all features; fixed entries stay."""

    def whole(given: Any) -> dict[str, Any]:
        return {name: value for name, value in (given or {}).items() if not name.endswith("]")}

    names = [name for name in ((fixed,) if isinstance(fixed, str) else fixed) if not name.endswith("]")]
    single = search_space(
        problem.start, problem.scales(problem.start), bounds=whole(bounds), fixed=names, priors=whole(priors)
    )
    best = maximise(problem.objective, single, int(n_restarts), random_state).value
    wide = replace(best, kernel=_per_feature(best.kernel, problem)).theta
    start = space.start.at(np.where(space.free, wide, space.start.theta))
    try:
        problem.objective(start, space.free)
    except (np.linalg.LinAlgError, MercerError):  # at the edge of what can be computed
        return space
    return replace(space, start=start)


def _check_restarts(n_restarts: Any) -> None:
    if isinstance(n_restarts, bool) or not isinstance(n_restarts, numbers.Integral) or n_restarts < 0:
        raise ParameterError(f"tune: `n_restarts` must be a whole number >= 0. Got {n_restarts!r}.")


def _check_targets(y: Any) -> None:
    check_numbers(y, "tune: `y`", dense=True)
    values = np.asarray(y)
    if values.ndim and len(values) and (values == values[0]).all():
        raise InputError(
            f"tune: `y` must have two different values at least. Got {values[0]!r} {len(values)} times."
        )


def _per_feature(kernel: Kernel, problem: Problem) -> Kernel:
    """The kernel with a vector in place of every width that is one number."""
    names = list(_single_widths(kernel))
    shape: tuple[int, ...] = getattr(problem.points, "shape", ())
    if not names or len(shape) != 2:
        raise ParameterError(
            "tune: `per_feature` needs a kernel on vectors with a width that can be one per feature, such as "
            f"Gaussian. Got {kernel!r}."
        )
    values = kernel.parameters
    return kernel.replace(**{name: np.full(shape[1], values[name].value) for name in names})


def _single_widths(kernel: Kernel, prefix: str = "") -> Iterable[str]:
    """Names of positive numbers that could be vectors."""
    for name, value, spec in kernel._fields:
        if (
            spec is not None
            and spec.scale == "log"
            and spec.open_low
            and 1 in spec.ndim
            and not np.ndim(value)
        ):
            yield prefix + name
    for name, child in kernel._children:
        yield from _single_widths(child, f"{prefix}{name}__")
