"""Finite measures on hashable elements, and matrices of indicators: what the kernels on sets share."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse

from ..digests import encode
from ..domains import Vocabulary
from ..errors import ParameterError

__all__ = ["Indicators", "Measure", "as_elements", "ordered"]


def ordered(elements: Iterable[Hashable]) -> tuple[Any, ...]:
    """Distinct elements in an order that does not depend on where they came from."""
    distinct: list[Any] = list(dict.fromkeys(elements))
    if all(isinstance(e, str) for e in distinct) or all(isinstance(e, int | float) for e in distinct):
        return tuple(sorted(distinct))
    return tuple(sorted(distinct, key=lambda e: (type(e).__name__, repr(e))))


def as_elements(owner: str, name: str, elements: Any) -> tuple[Any, ...]:
    """Validate a parameter that lists hashable elements."""
    if isinstance(elements, str | bytes) or not isinstance(elements, Iterable):
        raise ParameterError(f"{owner}: `{name}` must be a collection of hashables. Got {elements!r}.")
    try:
        return ordered(elements.tolist() if isinstance(elements, np.ndarray) else elements)
    except TypeError as error:
        raise ParameterError(f"{owner}: `{name}` must be a collection of hashables: {error}.") from error


class Measure(Mapping[Any, float]):
    """An immutable mapping from elements to finite weights >= 0; elements not listed have measure 0."""

    __slots__ = ("_hash", "_weights")

    def __init__(self, weights: Mapping[Any, float], owner: str = "Measure", name: str = "weights") -> None:
        if not isinstance(weights, Mapping):
            raise ParameterError(
                f"{owner}: `{name}` must be a mapping from elements to numbers. Got {type(weights).__name__}."
            )
        self._weights: dict[Any, float] = {}
        for element in ordered(weights):
            try:
                weight = float(weights[element])
            except (TypeError, ValueError):
                weight = math.nan
            if not (math.isfinite(weight) and weight >= 0):
                raise ParameterError(
                    f"{owner}: `{name}` must be finite numbers >= 0. "
                    f"Got {weights[element]!r} for {element!r}."
                )
            self._weights[element] = weight
        self._hash = hash(frozenset(self._weights.items()))

    def __getitem__(self, element: Any) -> float:
        return self._weights[element]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return repr(self._weights)

    def _digest_form(self) -> bytes:
        return encode(self._weights)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Measure, (self._weights,))


class Indicators:
    """Sets as rows of a sparse 0/1 matrix over a vocabulary of their own, with their measures.

    Attributes
    ----------
    matrix : csr_array of shape (n, v)
    vocabulary : Vocabulary
    weights : ndarray of shape (v,)
        Measure of each element of the vocabulary.
    totals : ndarray of shape (n,)
        Measure of each set.
    """

    def __init__(self, matrix: Any, vocabulary: Vocabulary, weights: np.ndarray, totals: np.ndarray) -> None:
        self.matrix, self.vocabulary, self.weights, self.totals = matrix, vocabulary, weights, totals

    @classmethod
    def of(cls, sets: list[frozenset[Hashable]], measure: Measure | None) -> Indicators:
        """Index the elements of all sets; without a measure each element counts 1."""
        vocabulary = Vocabulary(element for s in sets for element in s)
        starts = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.intp)
        index = vocabulary.index
        columns = np.array([index[element] for s in sets for element in s], dtype=np.intp)
        shape = (len(sets), max(len(index), 1))
        matrix = scipy.sparse.csr_array((np.ones(len(columns)), columns, starts), shape=shape)
        matrix.sort_indices()
        weights = np.ones(shape[1])
        if measure is not None:
            weights[: len(index)] = [measure.get(element, 0.0) for element in index]
        return cls(matrix, vocabulary, weights, matrix @ weights)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, index: slice | np.ndarray) -> Indicators:
        """Select sets."""
        return Indicators(self.matrix[index], self.vocabulary, self.weights, self.totals[index])

    def common(self, other: Indicators | None) -> np.ndarray:
        """Measures of all pairwise intersections, shape (n, m)."""
        left = self.matrix.multiply(self.weights).tocsr()
        right = (self if other is None else other).coded_like(self)
        return np.asarray((left @ right.T).toarray())

    def coded_like(self, other: Indicators) -> Any:
        """The rows over the columns of ``other``; elements that it lacks are left out."""
        if other.vocabulary is self.vocabulary:
            return self.matrix
        entries = self.matrix.tocoo()
        columns = other.vocabulary.columns_of(self.vocabulary)
        columns = np.append(columns, -1)[entries.col]  # an empty vocabulary has one empty column
        kept = columns >= 0
        return scipy.sparse.csr_array(
            (entries.data[kept], (entries.row[kept], columns[kept])), shape=(len(self), other.matrix.shape[1])
        )
