"""Derived values, remembered as long as the objects live that they were derived from."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["Cache"]

K = TypeVar("K")
V = TypeVar("V")


class Cache:
    """Values of objects, each computed once, and dropped with the object.

    Objects are told apart by identity, so that arrays can be keys.  A cache stands beside the data and is no
    part of them: copied or pickled it is empty.  Threads may share it; the lock is held while a value is
    computed.

    Examples
    --------
    >>> import numpy as np
    >>> lengths, x = Cache(), np.array([3.0, 4.0])
    >>> float(lengths.of(x, np.linalg.norm))
    5.0
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, Hashable], tuple[weakref.ref[Any], Any]] = {}
        self._lock = threading.RLock()

    def of(self, key: K, make: Callable[[K], V], name: Hashable = None) -> V:
        """``make(key)``, once for every name in the life of ``key``, which must not change meanwhile."""
        number = (id(key), name)
        with self._lock:
            entry = self._known.get(number)
            if entry is not None and entry[0]() is key:
                known: V = entry[1]
                return known
            value = make(key)
            # No lock in the callback: it may run inside of any other operation of this thread.
            self._known[number] = (weakref.ref(key, lambda _: self._known.pop(number, None)), value)
            return value

    def __reduce__(self) -> tuple[Any, ...]:
        return Cache, ()
