"""Graphs as counts of features: what histograms, Weisfeiler-Lehman colours and paths share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...arithmetic import Arithmetic
from ...contributions import Contribution, Place, Places
from ...domains import Domain, Graph, Graphs
from ...engine import pairwise
from ...engine.program import Builder, Value
from ...intervals import NONNEGATIVE, Interval
from ...kernel import Kernel
from ..counts import Counts
from ..inner import squared_norms
from ..products import count_product

__all__ = ["Occurrences", "contribution", "label_name"]  # CountedFeatures is a base of kernels, not one


class CountedFeatures(Kernel):
    """Inner products of how often features occur in graphs.

    Subclasses say which features one graph has (``_features``), how they are named (``_name``), and how a
    batch of graphs becomes rows of counts (``_prepare``, a :class:`~mercer.kernels.counts.Counts`).
    """

    _always_double: ClassVar[bool] = True

    _uses = frozenset[str]()  # of graphs, as Graphs(uses=...) has it

    @property
    def domain(self) -> Domain:
        return Graphs(uses=self._uses)

    def _features(self, x: Graph) -> Iterator[tuple[Hashable, Places]]:
        """Each occurrence of a feature in a graph, with its nodes v as places (v, v + 1)."""
        raise TypeError(f"{type(self).__name__} must define _features")

    def _name(self, feature: Any) -> str:
        """A feature in words."""
        return label_name(feature)

    def _counts(self, x: Graph) -> Mapping[Hashable, Any]:
        """How often each feature occurs in a graph."""
        return Counter(feature for feature, _ in self._features(x))

    @property
    def _is_whole(self) -> bool:
        """Whether counts are whole numbers."""
        return True

    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        ours, theirs = self._counts(x), self._counts(y)
        common = ((count, theirs[feature]) for feature, count in ours.items() if feature in theirs)
        return m.fsum([m.real(a) * m.real(b) for a, b in common])

    def _block(self, X: Counts, Y: Counts | None) -> np.ndarray:
        product = count_product if self._is_whole else pairwise.dot
        return product(X.matrix, None if Y is None else Y.coded_like(X))

    def _program(self, X: Any, Y: Any, layouts: Any = None) -> None:
        return None  # inside an expression counts are steps of its program; alone they have a faster way

    def _compile(self, b: Builder, X: Counts, Y: Counts | None) -> Value:
        return b.dot(X.matrix, None if Y is None else Y.coded_like(X))

    def _embedding(self, X: Counts, like: Counts | None = None) -> Any:
        return X.matrix if like is None else X.coded_like(like)

    def _feature_names(self, X: Counts) -> list[str]:
        return [self._name(feature) for feature in X.vocabulary.elements] or [""]

    def _diagonal(self, X: Counts) -> np.ndarray:
        return squared_norms(X.matrix)

    def _contributions(self, x: Graph, y: Graph) -> Iterator[Contribution]:
        theirs = self._by_feature(y)
        for feature, places in self._by_feature(x).items():
            if feature in theirs:
                weight = float(places.count * theirs[feature].count)
                yield contribution(self._name(feature), weight, places, theirs[feature])

    def _weighted_contributions(
        self, points: Sequence[Graph], coefficients: np.ndarray, x: Graph
    ) -> Iterable[Contribution]:
        return self._collapse(points, coefficients)(x)

    def _collapse(
        self, points: Sequence[Graph], coefficients: np.ndarray
    ) -> Callable[[Graph], Iterable[Contribution]]:
        totals: dict[Hashable, float] = {}
        for point, a in zip(points, coefficients.tolist(), strict=True):
            for feature, count in self._counts(point).items():
                totals[feature] = totals.get(feature, 0.0) + a * count
        return partial(self._spoken, totals)

    def _spoken(self, totals: Mapping[Hashable, float], x: Graph) -> Iterator[Contribution]:
        """What the features of x contribute, by the sums of their counts in graphs with coefficients."""
        for feature, places in self._by_feature(x).items():
            if totals.get(feature, 0.0) != 0:
                yield contribution(self._name(feature), totals[feature] * places.count, places, Occurrences())

    def _by_feature(self, x: Graph) -> dict[Hashable, Occurrences]:
        """How often each feature occurs, and where."""
        found: dict[Hashable, Occurrences] = {}
        for feature, places in self._features(x):
            found.setdefault(feature, Occurrences()).add(places)
        return found

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE


class Occurrences:
    """How often a feature occurs in a graph, and how often each node takes part."""

    def __init__(self, count: float = 0) -> None:
        self.count = count
        self.places: Counter[Place] = Counter()

    def add(self, places: Places) -> None:
        """Count one occurrence."""
        self.count += 1
        self.places.update(places)

    def parts(self, weight: float) -> tuple[float, ...]:
        """The weight divided among the nodes."""
        total = self.places.total()
        return tuple(weight * count / total for count in self.places.values())


def contribution(name: str, weight: float, ours: Occurrences, theirs: Occurrences) -> Contribution:
    """What a feature adds, divided among its nodes in both graphs."""
    return Contribution(
        name,
        weight,
        tuple(ours.places),
        tuple(theirs.places),
        _x_parts=ours.parts(weight),
        _y_parts=theirs.parts(weight),
    )


def label_name(label: Any) -> str:
    """A label in words: text as it is, unless it could be taken for another value."""
    plain = isinstance(label, str) and not any(c.isdigit() or c.isspace() or c in "()[]{},'\"" for c in label)
    return label if plain and label not in ("", "None", "True", "False") else repr(label)
