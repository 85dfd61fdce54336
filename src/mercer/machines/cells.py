"""One exact machine for each cell of a partition of the points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from ..domains import Data, Similarities, take
from ..engine.runs import checkpoint, tracked
from ..errors import ParameterError, brief
from ..parameters import Checks, check_count, check_random
from .arguments import read_targets, read_weight
from .base import KernelMachine, len_of
from .callbacks import as_run
from .distances import kernel_distance
from .wrapper import MachineWrapper

__all__ = ["Cells"]


Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Node:
    """Centres and what belongs to them: nodes of the next level, or numbers of cells."""

    centres: Data
    children: tuple[Node | int, ...]


class Cells(MachineWrapper):
    r"""A partition of the points into cells, and one exact machine for each.

    The cells are Voronoi cells in the feature space of the kernel: a point belongs to the centre c with the
    least :math:`k(x, x) - 2 k(x, c) + k(c, c)`.  Centres are training points, drawn at random; cells with
    more than ``max_size`` points are divided again.  The function of a new point is that of its cell's
    machine.  It is not continuous where cells meet.

    Cost: O(n) kernel values for each level of the partition (64 at most for each point), and one fit of at
    most ``max_size`` points for each cell: linear in n.  A prediction costs the centres on its way and one
    machine.  It fits kernels that are local, as Gaussian ones narrower than a cell; with others a feature map
    (``approximation=``) uses all points at once.

    Parameters
    ----------
    machine : a classifier or regressor of :mod:`mercer.machines`
        Cloned for each cell.  Parameters of its kernel that depend on data (``"scale"``) are resolved on all
        points, once.
    max_size : int, default=2000
        Most points of a cell, >= 2.  Cells of points that the kernel does not tell apart may have more.
    random_state : int or RandomState, optional
        Of the centres.
    time_budget : float, optional
        Seconds after which ``fit`` raises :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel of all cells.
    machines_ : list
        The fitted machine of each cell; None where its points have one label only.
    cell_sizes_ : array of shape (n_cells,)
    classes_ : array
        Of classifiers.

    References
    ----------
    Steinwart and Thomann 2017 (liquidSVM) divide large data sets this way.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import SVC
    >>> X = np.random.default_rng(0).uniform(-1, 1, (3000, 2))
    >>> y = np.sin(6 * X[:, 0]) > X[:, 1]
    >>> model = Cells(SVC(Gaussian(0.2), C=10.0), max_size=500, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97), bool(model.cell_sizes_.max() <= 500)
    (True, True)
    """

    _checks: ClassVar[Checks] = {"max_size": partial(check_count, low=2)}

    def __init__(
        self,
        machine: Any,
        *,
        max_size: int = 2000,
        random_state: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.machine = machine
        self.max_size = max_size
        self.random_state = random_state
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Divide the points and fit a machine to each cell.

        Parameters
        ----------
        X : points
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            A point of weight zero is as if absent: it is part of no cell.
        """
        first = self._checked_machine()
        points = first._validate_X(X, reset=True)
        n = len_of(points)
        targets = read_targets("Cells", y, n, numeric=is_regressor(first))
        weight = read_weight("Cells", sample_weight, n)
        if weight is not None:  # a point of weight zero is as if absent
            kept = np.flatnonzero(weight)
            points, targets, weight, n = take(points, kept), targets[kept], weight[kept], len(kept)
        kernel = first._checked_kernel()
        self.kernel_ = kernel if kernel.is_resolved else kernel.resolve(points, weight)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        if is_classifier(first):
            self.classes_ = np.unique(targets)
        cells: list[Positions] = []
        self._root = self._divide(
            points, np.arange(n), check_random("Cells", "random_state", self.random_state), cells
        )
        self.cell_sizes_ = np.array([len(cell) for cell in cells])
        self.machines_: list[Any] = []
        self._constants: list[Any] = []
        for cell in tracked(cells, "cells", "cell"):
            checkpoint()
            labels = np.unique(targets[cell])
            if len(labels) == 1 and is_classifier(first):
                self.machines_.append(None)
                self._constants.append(labels[0])
                continue
            machine = clone(first).set_params(kernel=self.kernel_)
            given = {} if weight is None else {"sample_weight": weight[cell]}
            self.machines_.append(machine.fit(take(points, cell), targets[cell], **given))
            self._constants.append(None)
        return self

    def _checked_machine(self) -> Any:
        machine = self.machine
        if not isinstance(machine, KernelMachine) or not (is_classifier(machine) or is_regressor(machine)):
            raise ParameterError(
                "Cells: `machine` must be a classifier or regressor of mercer.machines, such as "
                f"SVC(Gaussian(1.0)). Got {brief(machine)}."
            )
        machine = clone(machine)
        if isinstance(machine._checked_kernel().domain, Similarities):
            raise ParameterError(
                "Cells: `machine` must have a kernel on points. Got a precomputed one, whose matrix of all "
                "pairs is what cells avoid."
            )
        return machine

    def _divide(self, points: Data, index: Positions, rng: Any, cells: list[Positions]) -> Node | int:
        """The partition of some points; its cells are appended to ``cells``."""
        size = len(index)
        if size > self.max_size:
            # most children of a node of the partition: a point is compared with these, level by level
            count = min(64, -(-2 * size // self.max_size))
            centres = take(points, np.sort(rng.choice(index, count, replace=False)))
            nearest = self._nearest(take(points, index), centres)
            parts = [index[nearest == c] for c in range(count)]
            if max(len(part) for part in parts) < size:
                kept = [c for c in range(count) if len(parts[c])]
                children = tuple(self._divide(points, parts[c], rng, cells) for c in kept)
                return Node(take(centres, np.array(kept)), children)
        cells.append(index)
        return len(cells) - 1

    def _nearest(self, points: Data, centres: Data) -> Positions:
        distance = kernel_distance(self.kernel_)
        return np.concatenate([d.argmin(axis=1) for _, d in distance.bands(points, centres)])

    def apply(self, X: Any) -> Positions:
        """Number of the cell of each point."""
        check_is_fitted(self)
        return self._apply(self._validated(X))

    def _validated(self, X: Any) -> Data:
        machine: Any = clone(self.machine)
        machine.kernel_ = self.kernel_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(machine, name, getattr(self, name))
        return machine._validate_X(X, reset=False)

    def _apply(self, points: Data) -> Positions:
        cells = np.zeros(len_of(points), dtype=np.intp)

        def descend(node: Node | int, index: Positions) -> None:
            if isinstance(node, int):
                cells[index] = node
            elif len(index):
                nearest = self._nearest(take(points, index), node.centres)
                for c, child in enumerate(node.children):
                    descend(child, index[nearest == c])

        descend(self._root, np.arange(len(cells)))
        return cells

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels or values of new points, each by the machine of its cell."""
        check_is_fitted(self)
        points = self._validated(X)
        cells = self._apply(points)
        parts, order = [], []
        for cell in np.unique(cells):
            index = np.flatnonzero(cells == cell)
            machine = self.machines_[cell]
            if machine is None:
                parts.append(np.repeat(np.asarray(self._constants[cell])[None], len(index), axis=0))
            else:
                parts.append(machine.predict(take(points, index)))
            order.append(index)
        values = np.concatenate(parts)
        out = np.empty_like(values)
        out[np.concatenate(order)] = values
        return out
