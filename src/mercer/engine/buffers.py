"""A buffer pool: the memory of large arrays that are gone, for arrays to come.

The system zeroes every page of new memory when it is first written to.  The row cache of a solver is up to
half a gigabyte of values that cost a few dozen multiplications each, so that this can take longer than the
values do.  The pool is a *free list*: an array from :meth:`BufferPool.take` refers to its buffer by a lease,
all views of the array keep the lease alive, and when the garbage collector frees the lease, the buffer joins
the list.  The next array of about the same size takes it from there.  The list is bounded, and drops the
buffers that have been in it for longest.  ``pool.clear()`` empties it.
"""

from __future__ import annotations

import math
import os
import threading
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["BufferPool", "pool"]

#: Bytes of arrays that are not worth a buffer: the allocator keeps a free list of its own for them.
SMALL = 1 << 20

#: Most bytes of the free list: the largest row cache that the solver takes for up to 32,000 points.  A fit on
#: 8,000 x 20 after other work was 2.3 times as fast with its buffer from the list (median of 15), one on
#: magic04 (19,020 points, 311 MB) 1.2 times.
MOST_BYTES = 1 << 29

Buffer: TypeAlias = NDArray[np.uint8]


class BufferPool:
    """Buffers that no array uses, those that have been free for longest first.

    Parameters
    ----------
    most_bytes : int
        Most bytes of the free buffers together.

    Attributes
    ----------
    free : list of arrays of bytes

    Examples
    --------
    >>> buffers = BufferPool()
    >>> K = buffers.take((1000, 1000), np.float32)
    >>> del K
    >>> [buffer.nbytes for buffer in buffers.free]
    [4000000]
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._reset()

    def _reset(self) -> None:
        self.free: list[Buffer] = []
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Give the free buffers back to the system."""
        with self._lock:
            self.free = []

    def take(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array of any numbers, as :func:`numpy.empty`, in memory that was used before where possible."""
        kind = np.dtype(dtype)
        size = kind.itemsize * math.prod(shape)
        if size < SMALL:
            return np.empty(shape, kind)
        return np.asarray(_Lease(self, self._pop(size)))[:size].view(kind).reshape(shape)

    def _pop(self, size: int) -> Buffer:
        """The smallest free buffer of ``size`` to ``2 * size`` bytes, or a new one."""
        with self._lock:
            fitting = [k for k, buffer in enumerate(self.free) if size <= buffer.nbytes <= 2 * size]
            if fitting:
                return self.free.pop(min(fitting, key=lambda k: self.free[k].nbytes))
        return np.empty(size, np.uint8)

    def _push(self, buffer: Buffer) -> None:
        """Add a buffer, unless the lock is taken: the garbage collector may call from within :meth:`_pop`."""
        if self._lock.acquire(blocking=False):
            try:
                self.free.append(buffer)
                while sum(b.nbytes for b in self.free) > self._most:
                    del self.free[0]
            finally:
                self._lock.release()


class _Lease:
    """A buffer as long as an array refers to it."""

    def __init__(self, owner: BufferPool, buffer: Buffer) -> None:
        self._owner, self._buffer = owner, buffer
        self.__array_interface__ = buffer.__array_interface__

    def __del__(self) -> None:
        self._owner._push(self._buffer)


#: That of the process.
pool = BufferPool()

# A child begins with an empty pool: writing to buffers of its parent would copy them, and the thread that
# holds the lock may be missing.
if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=pool._reset)
