"""Ridge regression on features of data that are read a batch at a time.

The map learns from a sample of the stream, in a first pass; the normal equations are added up in a second.
What is held is a batch, the sample and O(r^2) numbers.
"""

from __future__ import annotations

from typing import Any

from ...batches import Batches
from ...engine.runs import STOPPING, conclude
from ...errors import InputError
from ...parameters import check_random
from ...solvers import NormalEquations
from ...solvers.snapshot import Snapshot
from ..streams import (
    Batch,
    Stream,
    is_fitted,
    name_of_problem,
    require_map,
    require_same_rows,
    sampled,
    take_map,
)

__all__ = ["add_batch", "fit_batches"]


def validated(machine: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool) -> Batch:
    """One batch, without its rows of weight zero."""
    if reset:
        machine.kernel_ = machine.approximation.target
    points, targets, weight = machine._validated(X, y, sample_weight, reset=reset)
    if reset:
        machine._flat = targets.ndim == 1
    return points, targets.reshape(len(targets), -1), weight


def fit_batches(machine: Any, batches: Batches) -> NormalEquations:
    """Fit the map of a machine and add up its normal equations; what ended the pass early is concluded."""
    require_map(machine)
    stream, rows = Stream(machine, batches, validated), None
    if is_fitted(machine.approximation):
        points, Y, _ = next(stream.read("first batch"))
    else:
        rng = check_random(type(machine).__name__, "random_state", machine.random_state)
        points, Y, rows = sampled(stream, batches.sample, rng, machine.approximation.domain)
    take_map(machine, points)
    equations = NormalEquations.zero(machine.approximation_, Y.shape[1])
    snapshot = None
    if machine.checkpoint is not None:
        snapshot = Snapshot(machine.checkpoint, name_of_problem(machine.approximation_, points, Y))
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
    if not stopped and rows is not None:
        require_same_rows(machine, rows, equations.rows)
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
    if y is None:
        raise InputError(f"{type(machine).__name__}.partial_fit: `y` must be given. Got None.")
    if before is None:
        require_map(machine)
    points, Y, weight = validated(machine, X, y, sample_weight, reset=before is None)
    if before is None:
        take_map(machine, points)
        before = NormalEquations.zero(machine.approximation_, Y.shape[1])
    if Y.shape[1] != before.targets:
        raise InputError(
            f"{type(machine).__name__}.partial_fit: `y` must have {before.targets} target(s), as before. "
            f"Got {Y.shape[1]}."
        )
    return before.plus(machine.approximation_, points, Y, weight)
