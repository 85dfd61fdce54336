"""One group of candidates in one split: fit along the path of penalties, and score."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from ...engine.runs import checkpoint
from ...errors import InputError, MercerError, StoppedError, TimeBudgetError
from ...machines import SVC
from ...machines.base import KernelMachine
from .grid import Group, with_parameters
from .held import HeldKernel
from .known import along_penalties
from .leave_one_out import left_out
from .table import Table
from .values import SharedValues, is_expensive

__all__ = ["Data", "Evaluation", "Split"]


class Split(NamedTuple):
    """Positions of the training and of the test points."""

    train: np.ndarray
    test: np.ndarray


class Data(NamedTuple):
    """What the search was given."""

    X: Any
    y: Any
    weight: np.ndarray | None


class Evaluation:
    """Fits and scores the candidates.

    Parameters
    ----------
    data : Data
    values : SharedValues
    scorer : callable
        ``scorer(machine, X, y)`` gives a score, or a dict of them.
    weighs : bool
        Whether the scorer takes weights.
    shares : bool
        Whether machines may be fitted to positions of held values.
    table : Table
        Takes the scores.
    train : bool
        Whether training points are scored too.
    leaves_one_out : bool
        Whether a machine is scored by what it predicts of each of its points without it.
    error_score : float or "raise"
    """

    def __init__(
        self,
        data: Data,
        values: SharedValues,
        scorer: Callable[..., Any],
        table: Table,
        *,
        weighs: bool,
        shares: bool,
        train: bool,
        leaves_one_out: bool,
        error_score: float | str,
    ) -> None:
        self.data, self.values, self.scorer, self.table = data, values, scorer, table
        self.weighs, self.shares, self.train, self.error_score = weighs, shares, train, error_score
        self.leaves_one_out = leaves_one_out

    def run(self, group: Group, number: int, split: Split) -> None:
        """Fit and score the members of a group that are not dropped, in one split."""
        members = [member for member in group.members if not self.table.is_dropped[member[0]]]
        if not members:
            return
        live = Group(group.machine, group.path, members)
        if live.path is not None and self._can_share(live.machine) and self._run_known(live, number, split):
            return
        live.machine, parts = self._parts(group.machine, split)
        if live.path == "C" and isinstance(live.machine, SVC) and len(live.members) > 1:
            # one call solves for all penalties
            train, start = parts[0], time.perf_counter()
            models: Sequence[Any] = ()
            with self._failures(live, number, start):
                models = live.machine.path(train.X, train.y, _penalties(live), **train.weights)
                checkpoint()  # what was stopped is not scored
            self._score_path(live, number, models, parts, start)
        else:
            self._run_each(live, number, parts)

    # -- data ---------------------------------------------------------------------------------------
    def _parts(self, machine: KernelMachine, split: Split) -> tuple[KernelMachine, list[_Part]]:
        """The machine, on shared values if that is possible, and the training and the test data for it."""
        kernel = machine._checked_kernel()
        if self._can_share(machine) and is_expensive(kernel):
            machine = with_parameters(machine, {"kernel": HeldKernel(kernel, self.values)})
            if "store" in machine.get_params(deep=False):
                machine.set_params(store=None)  # the shared values come from there
            return machine, [self._part(rows, rows) for rows in split]
        X_train, _ = _safe_split(machine, self.data.X, None, split.train)
        X_test, _ = _safe_split(machine, self.data.X, None, split.test, split.train)
        return machine, [self._part(X_train, split.train), self._part(X_test, split.test)]

    def _can_share(self, machine: KernelMachine) -> bool:
        if not self.shares or getattr(machine, "approximation", None) is not None:
            return False
        return self.values.can_hold(machine._checked_kernel())

    def _part(self, X: Any, rows: np.ndarray) -> _Part:
        y = None if self.data.y is None else _safe_indexing(self.data.y, rows)
        return _Part(X, y, None if self.data.weight is None else self.data.weight[rows])

    # -- fits ---------------------------------------------------------------------------------------
    def _run_known(self, group: Group, number: int, split: Split) -> bool:
        """All penalties on the values of all points, if the machine is one problem on them."""
        train, test = (self._part(rows, rows) for rows in split)
        start = time.perf_counter()
        models: Sequence[Any] | None = ()
        with self._failures(group, number, start):
            models = along_penalties(
                group.machine, self.values, split.train, train.y, train.weight, _penalties(group)
            )
        if models is not None:
            self._score_path(group, number, models, [train, test], start)
        return models is not None

    def _score_path(
        self, group: Group, number: int, models: Sequence[Any], parts: list[_Part], start: float
    ) -> None:
        seconds = (time.perf_counter() - start) / len(group.members)
        for (candidate, _), model in zip(group.members, models, strict=False):  # no models if the fit failed
            self._score(candidate, number, model, parts, seconds)

    def _run_each(self, group: Group, number: int, parts: list[_Part]) -> None:
        """One candidate after the other, each from the solution before."""
        train = parts[0]
        machine = with_parameters(group.machine, {"warm_start": True} if group.path else {})
        for candidate, parameters in group.members:
            if group.path:
                machine.set_params(**{group.path: parameters[group.path]})
            start, model = time.perf_counter(), None
            with self._failures(Group(machine, None, [(candidate, parameters)]), number, start):
                machine.fit(*train.arguments, **train.weights)
                checkpoint()
                model = left_out(machine, train.y) if self.leaves_one_out else machine
            if model is not None:
                self._score(candidate, number, model, parts, time.perf_counter() - start)

    @contextmanager
    def _failures(self, group: Group, number: int, start: float) -> Iterator[None]:
        """Enter the error score where a fit raises an error; what ends the search is no such error."""
        try:
            yield
        except (TimeBudgetError, StoppedError):
            raise
        except (MercerError, ValueError, ArithmeticError) as error:
            if self.error_score == "raise":
                raise
            seconds = (time.perf_counter() - start) / len(group.members)
            for candidate, _ in group.members:
                self.table.fail(candidate, number, float(self.error_score), str(error), seconds)

    # -- scores -------------------------------------------------------------------------------------
    def _score(self, candidate: int, number: int, model: Any, parts: list[_Part], seconds: float) -> None:
        start = time.perf_counter()
        scored = {"test": parts[1], "train": parts[0]} if self.train else {"test": parts[1]}
        try:
            scores = {
                kind: self.scorer(model, *part.arguments, **(part.weights if self.weighs else {}))
                for kind, part in scored.items()
            }
        except (ValueError, OverflowError) as error:  # such as a NaN among the targets of test points
            if isinstance(error, MercerError):
                raise
            raise InputError(f"KernelSearchCV: `y` has no score by `scoring`. {error}") from error
        self.table.put(candidate, number, scores, seconds, time.perf_counter() - start)


def _penalties(group: Group) -> list[float]:
    return [float(parameters[str(group.path)]) for _, parameters in group.members]


class _Part(NamedTuple):
    """Training or test data of a split."""

    X: Any
    y: Any
    weight: np.ndarray | None

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Points and targets, if there are any."""
        return (self.X,) if self.y is None else (self.X, self.y)

    @property
    def weights(self) -> dict[str, Any]:
        """The weights as a keyword, if there are any."""
        return {} if self.weight is None else {"sample_weight": self.weight}
