"""What machines share that read their data a batch at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..batches import Batches
from ..domains import Data, Domain, Similarities, join, size, take
from ..engine.runs import tracked
from ..errors import InputError, ParameterError, brief
from ..features import FeatureMap
from ..solvers.snapshot import fingerprint
from .approximation import approximate
from .base import len_of

__all__ = [
    "Batch",
    "Stream",
    "is_fitted",
    "name_of_problem",
    "require_map",
    "require_same_rows",
    "sampled",
    "take_map",
]

#: Points, targets of shape (n, t) and weights.
Batch: TypeAlias = tuple[Data, np.ndarray, np.ndarray | None]


class Validate(Protocol):
    """A function that checks one batch; ``reset`` for the first one."""

    def __call__(self, machine: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool) -> Batch: ...


class Stream:
    """Validated batches for a machine; errors name the batch.  Batches without rows are left out."""

    def __init__(self, machine: Any, batches: Batches, validate: Validate) -> None:
        self._machine, self._batches, self._validate = machine, batches, validate
        self._targets = 0

    def read(self, task: str) -> Iterator[Batch]:
        """All batches from the start."""
        name, found = type(self._machine).__name__, False
        for number, batch in enumerate(tracked(self._batches, task, "batch", self._batches.total)):
            if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
                raise InputError(
                    f"{name}: batch {number} must be (X, y) or (X, y, sample_weight). Got a "
                    f"{type(batch).__name__}{f' of {len(batch)}' if isinstance(batch, tuple | list) else ''}."
                )
            X = batch[0]
            if (hasattr(X, "shape") or hasattr(X, "__len__")) and len_of(X) == 0:
                continue
            try:
                if batch[1] is None:
                    raise InputError("`y` must be given. Got None.")
                for part, values in zip(("y", "sample_weight"), batch[1:], strict=False):
                    _refuse_nonfinite(part, values)
                valid = self._validate(self._machine, *batch, reset=not self._targets)
            except InputError as error:
                reason = str(error).removeprefix(f"{name}: ")
                raise type(error)(f"{name}: batch {number} is not valid. {reason}") from error
            count = valid[1].shape[1]
            if self._targets not in (0, count):
                raise InputError(
                    f"{name}: batch {number} has {count} target(s), the first batch {self._targets}."
                )
            self._targets, found = count, True
            yield valid
        if not found:
            raise InputError(f"{name}: there must be at least one batch with rows. The stream is empty.")


def _refuse_nonfinite(name: str, values: Any) -> None:
    """Raise with the first row that is not finite; what is no array of numbers is left to other checks."""
    numbers = np.asarray(values)
    if numbers.dtype.kind != "f" or numbers.ndim == 0 or numbers.size == 0:
        return
    bad = ~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"`{name}` must be finite. Got {numbers[row]} in row {row}.")


def require_map(machine: Any) -> None:
    """Raise unless the machine has a feature map; the kernel of points of the machine is that of the map."""
    if not isinstance(machine.approximation, FeatureMap):
        raise ParameterError(
            f"{type(machine).__name__}: `approximation` must be a feature map to fit batches, such as "
            f"Nystrom(kernel, 1000). Got {brief(machine.approximation)}: the system of all points needs all "
            "points."
        )
    if isinstance(machine.approximation.target.domain, Similarities):
        raise InputError(
            f"{type(machine).__name__}: `approximation` must have a kernel of points: batches hold no whole "
            "matrix."
        )


def is_fitted(map: FeatureMap) -> bool:
    """Whether a map is fitted already."""
    try:
        check_is_fitted(map)
    except NotFittedError:
        return False
    return True


def take_map(machine: Any, points: Data) -> None:
    """Fit the map to points, unless it is fitted, and measure its error on them."""
    given = machine.approximation
    found = approximate(copy.copy(given), points, refit=not is_fitted(given))
    machine.approximation_, machine.approximation_error_ = found
    machine.kernel_ = machine.approximation_.target
    if not is_fitted(given):
        machine._sample_size = size(points)


def sampled(
    stream: Stream,
    count: int,
    rng: np.random.RandomState,
    domain: Domain,
    see: Callable[[Batch], None] | None = None,
) -> tuple[Data, np.ndarray, int]:
    """A uniform sample of the rows, in their order, and their number: those with the smallest random keys.

    It does not depend on how rows are divided into batches.  ``see`` is called with every batch.
    """
    points: Data = None
    targets, keys, largest, rows = np.empty((0, 0)), np.empty(0), 1.0, 0
    for batch in stream.read("sample"):
        new, Y, _ = batch
        if see is not None:
            see(batch)
        drawn = rng.random_sample(size(new))
        rows += len(drawn)
        some = np.flatnonzero(drawn < largest)
        if len(some):
            part = take(new, some)
            points = part if points is None else join(domain, points, part)
            targets = Y[some] if not len(keys) else np.concatenate([targets, Y[some]])
            keys = np.concatenate([keys, drawn[some]])
        if len(keys) > count:
            kept = np.sort(np.argpartition(keys, count - 1)[:count])
            points, targets, keys = take(points, kept), targets[kept], keys[kept]
            largest = float(keys.max())
    return points, targets, rows


def require_same_rows(machine: Any, first: int, later: int) -> None:
    """Raise if two passes gave different numbers of rows."""
    if first != later:
        raise InputError(
            f"{type(machine).__name__}: all passes over the batches must give the same rows. The first gave "
            f"{first} of them, the second {later}. Start anew in each: fresh iterators, seeded draws."
        )


def name_of_problem(map: FeatureMap, points: Data, Y: np.ndarray, *more: np.ndarray | str) -> str:
    """Name of a problem: features and targets of some points."""
    # points whose features name a problem
    some = np.linspace(0, len(Y) - 1, min(len(Y), 100)).astype(np.intp)
    features: Any = map.transform(take(points, some))
    dense = features.toarray() if hasattr(features, "toarray") else features
    return fingerprint(np.asarray(dense, dtype=np.float64), Y[some], *more)
