"""Which feature map, and how many features: errors and costs measured on a sample."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.base import clone

from .. import memory
from ..domains import Data, check_numbers, size, take
from ..errors import DefinitenessError, InputError, MercerError, ParameterError, brief
from ..gram import gram
from ..kernel import Kernel
from ..parameters import check_count, check_number
from .base import FeatureMap, check_kernel
from .finite import Explicit
from .fourier import RandomFourier
from .homogeneous import Homogeneous
from .nystrom import Nystrom
from .positive import PositiveRandom
from .sampled import Sampled
from .sketch import TensorSketch

__all__ = ["Advice", "Trial", "advise", "relative_error"]

#: Points on which the error of a map is measured.
SAMPLE = 500


class Trial(NamedTuple):
    """A map, and what was measured of it."""

    map: FeatureMap  # not fitted
    dim: int
    error: float  # of the kernel, relative, at points that the map has not seen
    row_seconds: float  # of a transform, per point
    nbytes: float  # of the features of all points
    target_error: float | None = None  # of ridge regression on the features, at the same points

    @property
    def name(self) -> str:
        """The class of the map."""
        return type(self.map).__name__


@dataclass(frozen=True, eq=False)
class Advice:
    r"""What :func:`advise` has measured; prints as a table, and ``mercer.show.advice`` draws it.

    Attributes
    ----------
    kernel : Kernel
        With data-dependent parameters resolved.
    n : int
        Number of points.
    alpha, effective_dimension : float
        A penalty, and the trace of :math:`K (K + \alpha I)^{-1}` of all points, estimated from a sample.
    trials : tuple of Trial
        Map, ``dim``, ``error``, ``row_seconds``, ``nbytes``; with ``y`` also ``target_error``.
    target_error : float or None
        With ``y``, that of ridge regression with the kernel itself.
    refused : dict
        Maps that do not take this kernel, and why.
    chosen : Trial
        The features of least memory (the fewest, unless they are sparse) within the budget whose error is at
        most ``tol`` and that are not fewer than the effective dimension; else the least error.
    solver : str
        What to do with it.
    """

    kernel: Kernel
    n: int
    alpha: float
    effective_dimension: float
    trials: tuple[Trial, ...]
    refused: dict[str, str]
    chosen: Trial
    solver: str
    target_error: float | None = None

    @property
    def best(self) -> FeatureMap:
        """The recommended map, to be fitted: a new one each time."""
        found: FeatureMap = clone(self.chosen.map)
        return found

    def __repr__(self) -> str:
        return f"<advice for {self.n} points: {self.chosen.map!r}>"

    def __str__(self) -> str:
        lines = [
            f"{self.kernel!r} on {self.n} points: effective dimension {self.effective_dimension:.4g} "
            f"for alpha={self.alpha:g}",
            f"{'map':<16}{'features':>9}{'error':>10}{'seconds':>10}{'memory':>14}"
            + (f"{'error of y':>12}" if self.target_error is not None else ""),
        ]
        for trial in self.trials:
            mark = "" if trial.target_error is None else f"{trial.target_error:>12.4g}"
            mark += "  <- take this" if trial is self.chosen else ""
            lines.append(
                f"{trial.name:<16}{trial.dim:>9}{trial.error:>10.2g}{self.n * trial.row_seconds:>10.3g}"
                f"{memory.format_bytes(trial.nbytes):>14}{mark}"
            )
        if self.target_error is not None:
            lines.append(f"{'the kernel':<59}{self.target_error:>12.4g}")
        return "\n".join([*lines, self.solver])


def advise(
    kernel: Kernel,
    X: Any,
    y: Any = None,
    *,
    budget: float | str | None = None,
    alpha: float = 1.0,
    tol: float = 0.01,
    random_state: int = 0,
) -> Advice:
    r"""Measure feature maps on a sample, and recommend one.

    Every map that takes the kernel is fitted to up to 2,000 points, with up to 1,000 features, and compared
    with the kernel on 500 others: the Frobenius norm of the error, relative to that of the kernel values.
    The effective dimension :math:`\mathrm{tr}\, K (K + \alpha I)^{-1}`, of the matrix of all points, says how
    many directions a penalty leaves free, and so how many features are needed at least; it is estimated from
    the eigenvalues of 1,000 points.  Cost: some seconds, whatever the number of points.

    Parameters
    ----------
    kernel : Kernel
        Positive definite, on any objects.
    X : points
    y : array of shape (n,), optional
        Numbers, or labels.  Then ridge regression (of indicators, for labels) is fitted to the features of
        the same points, and to the kernel: its root mean squared error on the 500 others, relative to that of
        the mean, says whether more features would help.
    budget : float or str, optional
        Seconds for the features of all points, computed once, or memory for them, as ``"500MB"``.  By default
        2 GiB, or half of the memory limit.
    alpha : float, default=1.0
        The penalty of the effective dimension, and of ridge regression on all points: ``alpha`` of ridge and
        logistic regression, 1 / C of support vector machines.
    tol : float, default=0.01
        The error that is small enough.
    random_state : int, default=0
        Of the sample and the maps.  All but the times is determined by it; only a budget in seconds makes the
        recommendation depend on these.

    Returns
    -------
    Advice

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> advice = advise(Gaussian(2.0), X)
    >>> advice.best
    Nystrom(kernel=Gaussian(sigma=2.0), n_components=62, random_state=0)
    >>> round(advice.effective_dimension)
    18
    """
    check_kernel("advise", "kernel", kernel)
    affordable = _affordable(budget)
    for name, value in (("alpha", alpha), ("tol", tol)):
        check_number("advise", name, value, "a positive number", above=0.0)
    check_count("advise", "random_state", random_state, low=0, high=2**32 - 1)
    points = kernel.domain.validate(X, "X")
    n = size(points)
    if n < 4:
        raise InputError(f"advise: `X` must have at least 4 points. Got {n}.")
    known = None if y is None else _targets(y, n)
    order = np.random.default_rng(random_state).permutation(n)
    held_out = min(SAMPLE, n // 2)
    # Points to which maps are fitted: the landmarks of the largest size are half of them.
    test, train = np.sort(order[:held_out]), np.sort(order[held_out : held_out + 2000])
    unseen, seen = take(points, test), take(points, train)
    kernel = kernel.resolve(points)
    K = gram(kernel, unseen).dense()
    penalty, exact = float(alpha) * len(train) / n, None
    targets = None if known is None else (known[train], known[test])
    if targets is not None:
        exact = _target_error(
            gram(kernel, seen).dense(), gram(kernel, unseen, seen).dense(), targets, penalty
        )
    refused: dict[str, str] = {}
    trials: list[Trial] = []
    for maps in _applicable(kernel, seen, int(random_state), refused):
        for map in maps:
            trial = _tried(map, seen, unseen, K, n, targets, penalty)
            if trials and (trial.name, trial.dim) == (trials[-1].name, trials[-1].dim):
                break  # of full rank already
            trials.append(trial)
    # The effective dimension that eigenvalues give is at most the number of these points.
    some = take(points, np.sort(order[:1000]))
    try:
        dimension = gram(kernel, some).effective_dimension(float(alpha) * size(some) / n)
    except DefinitenessError as error:
        raise DefinitenessError(
            f"advise: `kernel` must be positive definite, as features make it. Got {kernel!r}. {error}"
        ) from error
    within = [trial for trial in trials if affordable(trial, n)]
    if not within:
        raise ParameterError(
            f"advise: `budget` must be larger: the features of {n} points take at least "
            f"{n * min(trial.row_seconds for trial in trials):.2g} seconds and "
            f"{memory.format_bytes(min(trial.nbytes for trial in trials))}. Got {brief(budget)}."
        )
    good = [trial for trial in within if trial.error <= tol and trial.dim >= dimension]
    chosen = min(good, key=lambda t: (t.nbytes, t.error)) if good else min(within, key=lambda t: t.error)
    return Advice(
        kernel, n, float(alpha), dimension, tuple(trials), refused, chosen, _solver(chosen, n), exact
    )


def relative_error(fitted: FeatureMap, points: Data) -> float:
    """Frobenius norm of the error of a map's kernel on 500 of some points, relative to that of the kernel."""
    n = size(points)
    some = take(points, np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))
    return _error(fitted.transform(some), gram(fitted.target, some).dense())


def _error(features: Any, K: np.ndarray) -> float:
    approximation = _dense(features @ features.T)
    unit = float(np.abs(K).max(initial=0.0)) or 1.0  # squares of large values overflow
    norm = float(np.linalg.norm(K / unit))
    return float(np.linalg.norm((K - approximation) / unit)) / norm if norm > 0 else 0.0


def _affordable(budget: Any) -> Callable[[Trial, int], bool]:
    if budget is None:
        return lambda trial, n: memory.can_hold(trial.nbytes)
    if isinstance(budget, str):
        try:
            most = memory.parse_bytes(budget)
        except ParameterError:
            raise ParameterError(
                "advise: `budget` must be a positive number of seconds, or memory such as '2GiB'. "
                f"Got {brief(budget)}."
            ) from None
        return lambda trial, n: trial.nbytes <= most
    wanted = "a positive number of seconds, or memory such as '2GiB'"
    seconds = check_number("advise", "budget", budget, wanted, above=0.0, infinite=True)
    return lambda trial, n: n * trial.row_seconds <= seconds


def _applicable(kernel: Kernel, seen: Data, seed: int, refused: dict[str, str]) -> Iterator[list[FeatureMap]]:
    """Maps of all sizes that take the kernel; what the others say goes to ``refused``."""
    sizes = [count for count in (62, 125, 250, 500, 1000) if 2 * count <= size(seen)]
    sizes = sizes or [max(1, size(seen) // 2)]
    families: list[list[FeatureMap]] = [
        [Explicit(kernel)],
        [Homogeneous(kernel, order) for order in (1, 2, 4)],
    ]
    sized: tuple[Any, ...] = (Nystrom, RandomFourier, PositiveRandom, TensorSketch, Sampled)
    for family in sized:
        families.append([family(kernel, count, random_state=seed) for count in sizes])
    for maps in families:
        try:
            fitted = clone(maps[0]).fit(seen)
        except MercerError as error:
            refused[type(maps[0]).__name__] = str(error)
            continue
        if fitted.target == kernel:
            yield maps
        else:
            refused[type(maps[0]).__name__] = f"its inner products are values of {fitted.target!r}"


def _tried(
    map: FeatureMap,
    seen: Data,
    unseen: Data,
    K: np.ndarray,
    n: int,
    targets: tuple[np.ndarray, np.ndarray] | None,
    penalty: float,
) -> Trial:
    fitted, seconds = clone(map).fit(seen), np.inf
    for _ in range(3):  # the fastest counts
        start = time.perf_counter()
        features = fitted.transform(unseen)
        seconds = min(seconds, time.perf_counter() - start)
    parts = [features.data, features.indices] if hasattr(features, "indices") else [features]
    m, nbytes = size(unseen), sum(part.nbytes for part in parts)
    found = Trial(map, fitted.dim, _error(features, K), seconds / m, n * nbytes / m)
    if targets is None:
        return found
    F = fitted.transform(seen)
    products, cross = (_dense(A @ F.T) for A in (F, features))
    return found._replace(target_error=_target_error(products, cross, targets, penalty))


def _targets(y: Any, n: int) -> np.ndarray:
    """Numbers, or indicators of labels, of shape (n, t)."""
    check_numbers(y, "advise: `y`", dense=True)
    values = np.asarray(y)
    if values.shape != (n,):
        raise InputError(f"advise: `y` must have shape ({n},), as `X` has points. Got {values.shape}.")
    if values.dtype.kind not in "fiu":
        return np.asarray(values[:, None] == np.unique(values), dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError("advise: `y` must be finite.")
    return values[:, None].astype(np.float64)


def _target_error(
    K: np.ndarray, cross: np.ndarray, targets: tuple[np.ndarray, np.ndarray], penalty: float
) -> float:
    """Root mean squared error of ridge regression about the mean, relative to that of the mean."""
    train, test = targets
    mean = train.mean(axis=0)
    coefficients = linalg.solve(K + penalty * np.eye(len(K)), train - mean, assume_a="pos")
    spread = float(np.linalg.norm(test - mean))
    return float(np.linalg.norm(test - mean - cross @ coefficients)) / spread if spread > 0 else 0.0


def _dense(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _solver(chosen: Trial, n: int) -> str:
    if chosen.name == "Explicit":
        return (
            f"The kernel has {chosen.dim} features that are known, and exact: SVC, SVR, KernelRidge and "
            "KernelLogistic train on them by themselves, without `approximation`."
        )
    if memory.can_hold(8 * n * n):
        return f"The Gram matrix of {n} points can be held: the exact machines need no approximation."
    return (
        "Give .best to a machine as `approximation`. KernelRidge needs one pass for the matrix of "
        f"{chosen.dim} features, SVC and SVR some passes of dual coordinate descent, KernelLogistic some "
        "Newton steps."
    )
