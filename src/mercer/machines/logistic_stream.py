"""Logistic regression on features of data that are read a batch at a time.

The first pass finds the classes and draws a sample, to which the map is fitted; each step of Newton's method
is one more pass.  What is held is a batch, the sample and O(r^2) numbers for two classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..batches import Batches
from ..domains import size, take
from ..errors import InputError
from ..parameters import check_random
from ..solvers import PassesProblem, PassesValue, Solution, solve_by_passes
from ..solvers.losses import Logistic, Softmax
from ..solvers.snapshot import Snapshot
from .arguments import read_weight
from .base import len_of
from .labels import class_factors, require_classes, unwrapped, validate_labels
from .streams import Batch, Stream, name_of_problem, require_map, require_same_rows, sampled, take_map

__all__ = ["fit_batches"]


def validated(machine: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool) -> Batch:
    """One batch, its labels as a column, without its rows of weight zero."""
    if reset:
        machine.kernel_ = machine.approximation.target
    points = machine._validate_X(X, reset=reset)
    labels = unwrapped(validate_labels(machine, y, len_of(points)), type(machine).__name__)
    weight = read_weight(type(machine).__name__, sample_weight, len_of(points))
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        points, labels, weight = take(points, kept), labels[kept], weight[kept]
    return points, labels[:, None], weight


class _Classes:
    """The classes of a stream, with the sums of the weights of their rows."""

    def __init__(self, name: str) -> None:
        self._name, self._sums = name, dict[Any, float]()
        self._kind = ""

    def see(self, batch: Batch) -> None:
        points, Y, weight = batch
        kind = "number" if Y.dtype.kind in "iuf" else Y.dtype.kind
        if self._kind not in ("", kind):
            raise InputError(f"{self._name}: `y` must hold labels of one kind in all batches.")
        self._kind = kind
        labels, codes = np.unique(Y[:, 0], return_inverse=True)
        own = np.bincount(codes, np.ones(size(points)) if weight is None else weight)
        for label, total in zip(labels.tolist(), own.tolist(), strict=True):
            self._sums[label] = self._sums.get(label, 0.0) + total

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        classes = np.array(sorted(self._sums))
        return classes, np.array([self._sums[label] for label in classes.tolist()])


def fit_batches(machine: Any, batches: Batches) -> Solution[PassesValue]:
    """Fit the map of a machine, set ``classes_`` and ``class_weight_``, and minimise by passes."""
    require_map(machine)
    name, seen = type(machine).__name__, _Classes(type(machine).__name__)
    stream = Stream(machine, batches, validated)
    rng = check_random(name, "random_state", machine.random_state)
    points, Y, rows = sampled(stream, batches.sample, rng, machine.approximation.domain, seen.see)
    classes, sums = seen.found()
    factors = class_factors(machine, machine.class_weight, classes, sums)
    if not factors.all():
        raise InputError(f"{name}: `class_weight` must be positive on batches. Leave out the rows instead.")
    require_classes(name, classes, len(Y))
    machine.classes_, machine.class_weight_ = classes, factors
    take_map(machine, points)
    map, count = machine.approximation_, len(classes)

    def read(task: str) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        total = 0
        for data, labels, weight in stream.read(task):
            total += size(data)
            codes = np.searchsorted(classes, labels[:, 0])
            if (classes[np.minimum(codes, count - 1)] != labels[:, 0]).any():
                require_same_rows(machine, rows, total)
                raise InputError(f"{name}: all passes over the batches must give the same rows.")
            own = factors[codes] * (1.0 if weight is None else weight)
            targets = np.where(codes[:, None] == 1, 1.0, -1.0) if count == 2 else np.eye(count)[codes]
            # numbers of a band of features: 32 MiB
            height = max(1, (1 << 22) // max(map.dim, 1))
            for start in range(0, size(data), height):
                band = slice(start, min(start + height, size(data)))
                features: Any = map.transform(take(data, band))
                dense = features.toarray() if hasattr(features, "toarray") else features
                yield np.asarray(dense, dtype=np.float64), targets[band], own[band]
        require_same_rows(machine, rows, total)

    snapshot, start = None, None
    functions = 1 if count == 2 else count
    if machine.checkpoint is not None:
        labels = np.searchsorted(classes, Y[:, 0]).astype(np.float64)[:, None]
        settings = np.array([float(machine.alpha), float(bool(machine.fit_intercept)), *factors])
        snapshot = Snapshot(machine.checkpoint, name_of_problem(map, points, labels, settings))
        stored = snapshot.load()
        start = None if stored is None else stored.reshape(map.dim + 1, functions)
    problem = PassesProblem(
        read,
        Logistic() if count == 2 else Softmax(),
        map.dim,
        functions,
        float(machine.alpha),
        bool(machine.fit_intercept),
    )
    solution = solve_by_passes(
        problem,
        tol=float(machine.tol) ** 2,
        max_iter=int(machine.max_iter),
        start=start,
        after=None if snapshot is None else lambda theta: snapshot.save(theta, now=True),
    )
    if snapshot is not None and solution.converged:
        snapshot.remove()
    machine.n_samples_seen_ = rows
    return solution
