"""BLAS and LAPACK through the function pointers that SciPy exports, on blocks of matrices, in place.

The calls release the interpreter lock, which most of SciPy's own functions hold, and copy nothing, where
SciPy's copy blocks that are not contiguous.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from mercer.engine.runs import checkpoint

__all__ = ["Columns", "call", "double", "integer", "interruptible"]

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds between two checkpoints of a wait, as in the native loops.
_POLL_SECONDS = 0.05


def interruptible(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread of its own; Ctrl-C and the end of the run are raised here at once.

    The function must release the interpreter lock, as those of NumPy and :func:`call` do, and it should take
    seconds, not minutes.  If the caller is interrupted, the thread finishes its computation, and its result
    is dropped: nobody may use the arrays that it works on any more.  The interpreter waits for it at its end,
    for BLAS cannot be unloaded under a thread that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> int(interruptible(np.linalg.matrix_rank, np.eye(3)))
    3
    """
    results: list[T] = []
    errors: list[BaseException] = []
    finished = threading.Event()

    def work() -> None:
        try:
            results.append(function(*args, **kwargs))
        except BaseException as error:
            errors.append(error)
        finally:
            finished.set()

    checkpoint()
    threading.Thread(target=work, name="mercer-lapack").start()
    while not finished.wait(_POLL_SECONDS):
        checkpoint()
    if errors:
        raise errors[0]
    return results[0]


@cache
def _function(name: str) -> Any:
    from scipy.linalg import cython_blas, cython_lapack

    capsule = {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule)))


def call(name: str, *args: Any) -> None:
    """Call a routine: arrays are passed by their address, ints as addresses, letters as bytes.

    Other arguments are references, see :func:`integer` and :func:`double`.
    """
    _function(name)(*map(_passed, args))


def _passed(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_void_p(argument) if isinstance(argument, int) else argument


def integer(value: int) -> Any:
    """A reference to an integer."""
    return ctypes.byref(ctypes.c_int(value))


def double(value: float) -> Any:
    """A reference to a number in double precision."""
    return ctypes.byref(ctypes.c_double(value))


class Columns:
    """A matrix that is contiguous by columns, in float32 or float64, and addresses of its entries."""

    def __init__(self, array: NDArray[Any]) -> None:
        assert array.flags.f_contiguous
        self.array, self._letter = array, "s" if array.dtype == np.float32 else "d"
        self._number = ctypes.c_float if array.dtype == np.float32 else ctypes.c_double
        self.stride = integer(max(1, array.shape[0]))

    def at(self, row: int, column: int) -> int:
        """The address of an entry."""
        return int(self.array.ctypes.data + row * self.array.strides[0] + column * self.array.strides[1])

    def number(self, value: float) -> Any:
        """A reference to a number of the type of the matrix."""
        return ctypes.byref(self._number(value))

    def call(self, name: str, *args: Any) -> None:
        """Call a routine of the type of the matrix."""
        call(self._letter + name, *args)

    def solve(self, name: str, *args: Any) -> int:
        """Call a routine of LAPACK whose last argument is its status; return that."""
        info = ctypes.c_int(0)
        self.call(name, *args, ctypes.byref(info))
        return info.value
