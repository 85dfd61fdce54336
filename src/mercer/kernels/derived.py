"""Kernels on collections from a kernel on their members, and on members from the collections they are in."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse

from ..algebra.nodes import prefixed
from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Data, Domain, Objects, Sets, items, take, to_float
from ..engine import pairwise
from ..errors import InputError, ParameterError
from ..intervals import NONNEGATIVE, Interval
from ..kernel import Gradient, Kernel
from ..parameters import show
from .weights import ordered

__all__ = ["DerivedSubsets", "DualWords", "Jittered"]


class Gathered:
    """Collections as rows of a sparse matrix, of multiplicities or weights, over a pool of members.

    Attributes
    ----------
    counts : csr_array of shape (n, v)
    members : Data
        The pool, validated by the domain of the base kernel; None if it is empty.
    prepared : Data
        The pool, prepared by the base kernel.
    """

    def __init__(self, counts: Any, members: Data, prepared: Data) -> None:
        self.counts, self.members, self.prepared = counts, members, prepared

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, index: slice | np.ndarray) -> Gathered:
        """Select collections."""
        return Gathered(self.counts[index], self.members, self.prepared)

    def used(self) -> tuple[Any, np.ndarray]:
        """Return the counts of the members that occur, and their positions in the pool."""
        columns = np.unique(self.counts.indices)
        return self.counts[:, columns], columns


class Contracted(Kernel):
    """Blocks of a base kernel on members, multiplied from both sides by the rows of :class:`Gathered`."""

    base: Kernel

    def _block(self, X: Gathered, Y: Gathered | None) -> np.ndarray:
        return self._contract(X, Y, gradient=False)[0]

    def _gradient(self, X: Gathered, Y: Gathered | None) -> tuple[np.ndarray, Gradient]:
        return self._contract(X, Y, gradient=True)

    def _contract(self, X: Gathered, Y: Gathered | None, gradient: bool) -> tuple[np.ndarray, Gradient]:
        Z = X if Y is None else Y
        (left, rows), (right, columns) = X.used(), Z.used()
        if not (len(rows) and len(columns)):
            names = self.base.parameters.items() if gradient else ()
            shapes = {name: np.shape(p.value) for name, p in names if p.scale == "log"}
            zeros = {name: np.zeros((len(X), len(Z), *shape)) for name, shape in shapes.items()}
            return np.zeros((len(X), len(Z))), prefixed("base", zeros)
        if Y is not None:
            self.base.domain.match(X.members, Y.members)
        a = take(X.prepared, rows)
        b = None if Y is None else take(Y.prepared, columns)
        if not gradient:
            return _both_sides(left, self.base._tiles(a, b), right), {}
        K, inner = self.base._gradient(a, b)
        sums = {name: _both_sides(left, g, right) for name, g in inner.items()}
        return _both_sides(left, K, right), prefixed("base", sums)

    def _diagonal(self, X: Gathered) -> np.ndarray:
        ones = (self._block(X.take(slice(i, i + 1)), None) for i in range(len(X)))
        return np.array([K[0, 0] for K in ones])

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self.base.bounds.is_nonnegative else Interval()


class SumOverMembers(Contracted):
    """``sum over members a of A and b of B of base(a, b)``: the feature vectors of members add up."""

    base: Kernel

    def _members(self, x: Any) -> Iterable[Any]:
        """Return the members of one validated collection."""
        raise TypeError(f"{type(self).__name__} must define _members")

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        domain, base = self.base.domain, self.base
        pairs = [domain.pair(a, b) for a in self._members(to_float(x)) for b in self._members(to_float(y))]
        return m.fsum(
            [base._define(domain.to_arithmetic(a, m), domain.to_arithmetic(b, m), m) for a, b in pairs]
        )

    def _pool(self, X: Data) -> tuple[list[Any], np.ndarray, np.ndarray]:
        """Return the pool, all members in turn as positions in it, and where each collection starts."""
        lists = [list(self._members(x)) for x in items(X)]
        starts = np.concatenate([[0], np.cumsum([len(members) for members in lists])]).astype(np.intp)
        flat = [a for members in lists for a in members]
        return flat, np.arange(len(flat)), starts

    def _prepare(self, X: Data) -> Gathered:
        pool, positions, starts = self._pool(X)
        shape = (len(starts) - 1, max(len(pool), 1))
        counts = scipy.sparse.csr_array((np.ones(len(positions)), positions, starts), shape=shape)
        counts.sum_duplicates()
        if not pool:
            return Gathered(counts, None, None)
        members = self.base.domain.validate(pool, "the members of X")
        return Gathered(counts, members, self.base._prepare(members))

    def _resolve(self, X: Data, weight: np.ndarray | None) -> Self:
        pool, positions, starts = self._pool(X)
        if not pool:
            raise InputError(f"{self!r} cannot be resolved on empty collections: they have no members.")
        if weight is not None:
            weight = np.bincount(positions, np.repeat(weight, np.diff(starts)), minlength=len(pool))
        members = self.base.domain.validate(pool, "the members of X")
        return self.replace(base=self.base._resolve(members, weight))


class DerivedSubsets(SumOverMembers):
    r"""Sum of a base kernel over all pairs of elements of two sets.

    .. math:: k(A, B) = \sum_{a \in A} \sum_{b \in B} k_0(a, b)

    Positive definite if the base kernel is: the feature vector of a set is the sum of those of its elements.
    Not strictly, for :math:`\Phi(\{a\}) + \Phi(\{b\}) = \Phi(\{a, b\})`.  Refuted if the base kernel is, for
    on singletons it *is* the base kernel.  The empty set has k = 0 with everything.  Elements are hashables
    of the base kernel's domain: tuples of numbers for a kernel on vectors.  Block cost: the base kernel once
    on the distinct elements, then two sparse products.

    Parameters
    ----------
    base : Kernel
        The kernel on elements.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> DerivedSubsets(Linear())({(1.0, 0.0), (0.0, 2.0)}, {(3.0, 5.0)})
    13.0
    """

    base: Kernel

    @property
    def domain(self) -> Domain:
        return Sets()

    def _members(self, x: Any) -> Iterable[Any]:
        return list(x)

    def _pool(self, X: Data) -> tuple[list[Any], np.ndarray, np.ndarray]:
        index: dict[Hashable, int] = {}
        positions = [index.setdefault(a, len(index)) for x in X for a in x]
        starts = np.concatenate([[0], np.cumsum([len(x) for x in X])]).astype(np.intp)
        return list(index), np.array(positions, dtype=np.intp), starts

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if positive.proved:
            reason = "the feature vector of a set is the sum of those of its elements"
            return Certificate.psd(self, "sum over elements", reason, premises=[positive])
        if positive.refuted:
            refuted = Certificate.refuted(
                self, "restriction to singletons", "on sets of one element it is the base kernel"
            )
            witness = positive.witness
            if witness is not None:
                points = [tuple(p.tolist()) if isinstance(p, np.ndarray) else p for p in witness.points]
                try:
                    witness = replace(witness, points=tuple(frozenset([p]) for p in points))
                except TypeError:  # unhashable points
                    witness = None
            return replace(refuted, positive=replace(refuted.positive, premises=(positive,), witness=witness))
        return Certificate.unknown(self, "the kernel on elements is not known to be PSD", [positive])


class Jittered(SumOverMembers):
    r"""Sum of a base kernel over all deformed versions of two points.

    .. math:: k(x, y) = \sum_{x' \in D(x)} \sum_{y' \in D(y)} k_0(x', y')

    Positive definite if the base kernel is: the feature vector of a point is the sum of those of its
    versions.  ``.normalized()`` makes up for different numbers of versions.  Block cost: that of the base
    kernel on all versions.

    Parameters
    ----------
    base : Kernel
        The kernel on points.
    deform : callable
        Returns the versions of a point (shifted, rotated, noisy...) as a sequence of points of the same
        domain; each counts as often as it is listed, and the point itself only if it is.
    version : str, optional
        Your word on which code ``deform`` has; see :meth:`~mercer.Kernel.digest`.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> def shifts(x):
    ...     return [np.roll(x, -1), x, np.roll(x, 1)]
    >>> Jittered(Linear(), shifts)([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0])
    2.0
    """

    base: Kernel
    deform: Callable[[Any], Sequence[Any]]
    version: str | None = None

    def _validate(self) -> None:
        if not callable(self.deform):
            raise ParameterError(
                f"Jittered: `deform` must be a function from a point to its versions. Got {self.deform!r}."
            )

    @property
    def domain(self) -> Domain:
        return self.base.domain

    def _members(self, x: Any) -> Iterable[Any]:
        return self.deform(x)

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the base kernel is not known to be PSD", [positive])
        reason = "the feature vector of a point is the sum of those of its versions"
        return Certificate.psd(self, "sum over versions", reason, premises=[positive])


class DualWords(Kernel):
    r"""Kernel on words by the documents that contain them.

    .. math:: k(w, w') = \sum_{D \ni w, w'} \mu(D)

    Positive definite: the inner product of the words' indicators over the documents, the dual of
    :class:`~mercer.kernels.SetIntersection` of documents as sets of words.  Words are any hashables; one that
    no document contains has k = 0 with everything.  Block cost: a sparse matrix product.

    Parameters
    ----------
    documents : sequence of collections of hashables
        Each document as a set of words.
    weights : sequence of numbers >= 0, optional
        The measure of each document; 1 by default.

    Examples
    --------
    >>> k = DualWords([{"cat", "dog"}, {"cat", "dog", "fish"}, {"fish"}])
    >>> k("cat", "dog"), k("cat", "fish"), k("cat", "unheard")
    (2.0, 1.0, 0.0)
    """

    documents: Sequence[Iterable[Any]]
    weights: Sequence[float] | None = None

    def _validate(self) -> None:
        sets = Sets()
        try:
            documents = tuple(ordered(d) for d in sets.validate(self.documents, "documents"))
        except InputError as error:
            raise ParameterError(f"DualWords: `documents`: {error}") from error
        object.__setattr__(self, "documents", documents)
        index: dict[Hashable, list[int]] = {}
        for i, document in enumerate(documents):
            for word in document:
                index.setdefault(word, []).append(i)
        object.__setattr__(self, "_index", index)
        if self.weights is None:
            return
        weights = tuple(float(w) for w in self.weights)
        if len(weights) != len(documents) or not all(math.isfinite(w) and w >= 0 for w in weights):
            raise ParameterError(
                f"DualWords: `weights` must be {len(documents)} finite numbers >= 0, one per document. "
                f"Got {show(self.weights)}."
            )
        object.__setattr__(self, "weights", weights)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._validate()

    @property
    def domain(self) -> Domain:
        return Objects()

    def _rows(self, word: Any) -> list[int]:
        """Return the documents that contain a word."""
        try:
            found: list[int] = self._index.get(word, [])  # type: ignore[attr-defined]
        except TypeError as error:
            raise InputError(f"DualWords: words must be hashable: {error}.") from error
        return found

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        both = sorted(set(self._rows(x)) & set(self._rows(y)))
        return m.fsum([m.real(1.0 if self.weights is None else self.weights[i]) for i in both])

    def _prepare(self, X: Data) -> Any:
        rows = [self._rows(word) for word in X]
        starts = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.intp)
        columns = np.array([i for r in rows for i in r], dtype=np.intp)
        shape = (len(rows), max(len(self.documents), 1))
        return scipy.sparse.csr_array((np.ones(len(columns)), columns, starts), shape=shape)

    def _weigh(self, X: Any) -> Any:
        return X if self.weights is None else (X * np.array(self.weights or [0.0])).tocsr()

    def _block(self, X: Any, Y: Any) -> np.ndarray:
        return pairwise.dot(self._weigh(X), X if Y is None else Y)

    def _embedding(self, X: Any, like: Any = None) -> Any:
        return X if self.weights is None else (X * np.sqrt(self.weights or [0.0])).tocsr()

    def _diagonal(self, X: Any) -> np.ndarray:
        return np.asarray(self._weigh(X).sum(axis=1)).ravel()

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the words' indicators over the documents"
        )

    bounds = NONNEGATIVE


def _both_sides(left: Any, K: np.ndarray, right: Any) -> np.ndarray:
    """``left @ K @ right.T`` for sparse sides, where ``K`` may have a further axis."""
    if K.ndim == 2:
        return np.asarray((right @ (left @ K).T).T)  # rows of K lie in memory one after the other
    return np.stack([_both_sides(left, K[..., i], right) for i in range(K.shape[2])], axis=-1)
