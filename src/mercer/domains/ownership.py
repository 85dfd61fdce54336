"""Owned points: data that a machine stores do not change when the caller changes the originals."""

from __future__ import annotations

import copy
import mmap
from collections import Counter, OrderedDict, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from .base import Data
from .frames import FrameData, Part
from .structured import MatrixRows, TupleColumns

__all__ = ["owned"]

_DICTS = (dict, OrderedDict, defaultdict, Counter)


def owned(data: Data, given: Any) -> Data:
    """Validated points that nobody else can change, made of what the caller gave.

    Arrays that share memory with ``given`` are copied, once; those that validation has made, by converting
    them, are not.  Either way they are marked read-only, and read-only ones are stored as they are.  Objects
    of :class:`~mercer.domains.Objects` are copied as far as they consist of arrays, sparse matrices, data
    frames, lists, tuples, sets and dicts; instances of other classes are referred to, because a copy need not
    equal them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((2, 1))
    >>> points = owned(X, X)
    >>> X[:] = 7
    >>> points.tolist()
    [[0.0], [0.0]]
    >>> owned(points, points) is points
    True
    """
    if isinstance(data, np.ndarray):
        return _own_array(data, _is_fresh((data,), given))
    if scipy.sparse.issparse(data):
        arrays = (data.data, data.indices, data.indptr)
        if all(map(_is_constant, arrays)):
            return data
        fresh = _is_fresh(arrays, given)
        own = scipy.sparse.csr_array(
            tuple(_own_array(a, fresh) for a in arrays), shape=data.shape, copy=False
        )
        own.has_canonical_format = True  # as validated
        return own
    if isinstance(data, list):
        known: dict[int, Any] = {}
        return [_own_object(x, known) for x in data]
    if isinstance(data, MatrixRows):
        matrix = _own_array(data.matrix, _is_fresh((data.matrix,), given))
        return data if matrix is data.matrix else replace(data, matrix=matrix)
    if isinstance(data, TupleColumns):  # validation has put the components together, one by one
        return TupleColumns(tuple(owned(part, []) for part in data.parts))
    if isinstance(data, FrameData):
        parts = {c: Part(owned(part.data, []), part.position) for c, part in data.parts.items()}
        return FrameData(parts, data.n)
    return data  # encoded by validation


def _is_fresh(arrays: tuple[np.ndarray, ...], given: Any) -> bool:
    """Whether validation has made the arrays, so that nobody else knows them."""
    if isinstance(given, list | tuple):
        return True
    theirs = [given] if isinstance(given, np.ndarray) else []
    if scipy.sparse.issparse(given):  # whatever its format
        theirs = [value for value in vars(given).values() if isinstance(value, np.ndarray)]
    return bool(theirs) and not any(np.may_share_memory(a, b) for a in arrays for b in theirs)


def _own_array(array: np.ndarray, fresh: bool) -> np.ndarray:
    if _is_constant(array):
        return array
    own = array if fresh else array.copy()
    part: Any = own
    while isinstance(part, np.ndarray):  # also what it is a view of
        part.flags.writeable = False
        part = part.base
    return own


def _is_constant(array: Any) -> bool:
    """Whether neither the array nor what it is a view of can be written to.

    Columns of polars and Arrow give views that are read-only, of memory that may be another array's.
    """
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    owner = array.obj if isinstance(array, memoryview) else array
    is_read_only_file = isinstance(owner, mmap.mmap) and memoryview(owner).readonly
    return owner is None or isinstance(owner, bytes) or is_read_only_file


def _own_object(x: Any, known: dict[int, Any]) -> Any:
    """A copy of the containers that an object consists of; ``known`` holds those met before, by identity."""
    if isinstance(x, str | bytes | int | float | frozenset | None):
        return x
    if id(x) not in known:
        known[id(x)] = x  # until there is a copy: an object may contain itself
        known[id(x)] = _copied(x, known)
    return known[id(x)]


def _copied(x: Any, known: dict[int, Any]) -> Any:
    if isinstance(x, np.ndarray) and x.dtype != object:
        return _own_array(x, False)
    if isinstance(x, np.ndarray):
        items = np.empty(x.size, dtype=object)
        items[:] = [_own_object(item, known) for item in x.ravel()]
        return items.reshape(x.shape)
    if scipy.sparse.issparse(x) or hasattr(x, "iloc"):
        return x.copy()
    if type(x) is tuple:
        return tuple(_own_object(item, known) for item in x)
    if isinstance(x, tuple) and hasattr(x, "_make"):
        return x._make(_own_object(item, known) for item in x)
    if type(x) is list:
        known[id(x)] = own = copy.copy(x)
        own[:] = [_own_object(item, known) for item in x]
        return own
    if type(x) in _DICTS:
        known[id(x)] = own = copy.copy(x)
        for key, value in x.items():
            own[key] = _own_object(value, known)
        return own
    return copy.copy(x) if type(x) in (set, bytearray) else x
