"""Ridge regression on features of data that are read a batch at a time.

The map learns from a sample of the stream, in a first pass; the normal equations are added up in a second.
What is held is a batch, the sample and O(r^2) numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ...batches import Batches
from ...domains import Data, Domain, Similarities, join, size, take
from ...engine.runs import STOPPING, conclude, tracked
from ...errors import InputError, ParameterError
from ...features import FeatureMap
from ...solvers import NormalEquations
from ...solvers.snapshot import Snapshot, fingerprint
from ..approximation import approximate
from ..arguments import checked_random

__all__ = ["add_batch", "fit_batches"]

#: Points, targets of shape (n, t) and weights.
Batch: TypeAlias = tuple[Data, np.ndarray, np.ndarray | None]

#: Points whose features name a problem.
FINGERPRINT_POINTS = 100


class _Stream:
    """Validated batches for a machine; errors name the batch."""

    def __init__(self, machine: Any, batches: Batches) -> None:
        self._machine, self._batches = machine, batches
        self._targets = 0

    def read(self, task: str) -> Iterator[Batch]:
        """All batches from the start."""
        name, number = type(self._machine).__name__, -1
        for number, batch in enumerate(tracked(self._batches, task, "batch", self._batches.total)):
            if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
                raise InputError(
                    f"{name}: batch {number} must be (X, y) or (X, y, sample_weight). Got a "
                    f"{type(batch).__name__}{f' of {len(batch)}' if isinstance(batch, tuple | list) else ''}."
                )
            try:
                valid = validated(self._machine, *batch, reset=not self._targets)
            except InputError as error:
                raise type(error)(f"{name}: batch {number} is not valid. {error}") from error
            count = valid[1].shape[1]
            if self._targets not in (0, count):
                raise InputError(
                    f"{name}: batch {number} has {count} target(s), the first batch {self._targets}."
                )
            self._targets = count
            yield valid
        if number < 0:
            raise InputError(f"{name}: there must be at least one batch. The stream is empty.")


def validated(machine: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool) -> Batch:
    """One batch, without its rows of weight zero."""
    if y is None:
        raise InputError("`y` must be given. Got None.")
    if reset:
        machine.kernel_ = machine.approximation.target
        if isinstance(machine.kernel_.domain, Similarities):
            raise InputError("`approximation` must have a kernel of points: batches hold no whole matrix.")
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        _refuse_nonfinite(name, values)
    points, targets, weight = machine._validated(X, y, sample_weight, reset=reset)
    if reset:
        machine._flat = targets.ndim == 1
    return points, targets.reshape(len(targets), -1), weight


def _refuse_nonfinite(name: str, values: Any) -> None:
    """Raise with the first row that is not finite; what is no array of numbers is left to other checks."""
    numbers = np.asarray(values)
    if numbers.dtype.kind != "f" or numbers.ndim == 0 or numbers.size == 0:
        return
    bad = ~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"`{name}` must be finite. Got {numbers[row]} in row {row}.")


def fit_batches(machine: Any, batches: Batches) -> NormalEquations:
    """Fit the map of a machine and add up its normal equations; what ended the pass early is concluded."""
    if not isinstance(machine.approximation, FeatureMap):
        raise ParameterError(
            f"{type(machine).__name__}: `approximation` must be a feature map to fit batches, such as "
            f"Nystrom(kernel, 1000). Got {machine.approximation!r}: the system of all points needs all "
            "points."
        )
    stream, rows = _Stream(machine, batches), None
    if _is_fitted(machine.approximation):
        points, Y, _ = next(stream.read("first batch"))
    else:
        rng = checked_random(type(machine).__name__, machine.random_state)
        points, Y, rows = _sampled(stream, batches.sample, rng, machine.approximation.domain)
    _take_map(machine, points)
    equations = NormalEquations.zero(machine.approximation_, Y.shape[1])
    snapshot = None
    if machine.checkpoint is not None:
        snapshot = Snapshot(machine.checkpoint, _problem(machine.approximation_, points, Y))
        stored = snapshot.load()
        equations = equations if stored is None else equations.unpacked(stored)
    stopped = False
    try:
        for number, (points, Y, weight) in enumerate(stream.read("normal equations")):
            if number < equations.batches:  # in the checkpoint
                continue
            equations = equations.plus(machine.approximation_, points, Y, weight)
            if snapshot is not None and snapshot.is_due:
                snapshot.save(equations.packed())
    except STOPPING as error:
        if not equations.rows:
            raise
        conclude(error)
        stopped = True
    if not stopped and rows not in (None, equations.rows):
        raise InputError(
            f"{type(machine).__name__}: all passes over the batches must give the same rows. The first gave "
            f"{rows} of them, the second {equations.rows}. Start anew in each: fresh iterators, seeded draws."
        )
    if snapshot is not None:
        if stopped:
            snapshot.save(equations.packed(), now=True)
        else:
            snapshot.remove()
    return equations


def add_batch(machine: Any, X: Any, y: Any, sample_weight: Any) -> NormalEquations:
    """The normal equations of a machine with one more batch; the first one teaches the map."""
    before: NormalEquations | None = getattr(machine, "_equations", None)
    if before is None and hasattr(machine, "solution_"):
        raise InputError(
            f"{type(machine).__name__}.partial_fit: the model was fitted to arrays, whose normal equations "
            "were not stored. Use a new machine, or fit Batches.from_arrays(X, y)."
        )
    points, Y, weight = validated(machine, X, y, sample_weight, reset=before is None)
    if before is None:
        _take_map(machine, points)
        before = NormalEquations.zero(machine.approximation_, Y.shape[1])
    if Y.shape[1] != before.targets:
        raise InputError(
            f"{type(machine).__name__}.partial_fit: `y` must have {before.targets} target(s), as before. "
            f"Got {Y.shape[1]}."
        )
    return before.plus(machine.approximation_, points, Y, weight)


def _take_map(machine: Any, points: Data) -> None:
    """Fit the map to points, unless it is fitted, and measure its error on them."""
    given = machine.approximation
    found = approximate(copy.copy(given), points, refit=not _is_fitted(given))
    machine.approximation_, machine.approximation_error_ = found
    machine.kernel_ = machine.approximation_.target
    if not _is_fitted(given):
        machine._sample_size = size(points)


def _is_fitted(map: FeatureMap) -> bool:
    try:
        check_is_fitted(map)
    except NotFittedError:
        return False
    return True


def _sampled(
    stream: _Stream, count: int, rng: np.random.RandomState, domain: Domain
) -> tuple[Data, np.ndarray, int]:
    """A uniform sample of the rows, in their order, and their number: those with the smallest random keys.

    It does not depend on how rows are divided into batches.
    """
    points: Data = None
    targets, keys, largest, rows = np.empty((0, 0)), np.empty(0), 1.0, 0
    for new, Y, _ in stream.read("sample"):
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


def _problem(map: FeatureMap, points: Data, Y: np.ndarray) -> str:
    """Name of the equations: features and targets of some points."""
    some = np.linspace(0, len(Y) - 1, min(len(Y), FINGERPRINT_POINTS)).astype(np.intp)
    features: Any = map.transform(take(points, some))
    dense = features.toarray() if hasattr(features, "toarray") else features
    return fingerprint(np.asarray(dense, dtype=np.float64), Y[some])
