"""Every exception that mercer raises on purpose, and warnings that name the line of the user.

Each error is a :class:`MercerError` and also the built-in exception that a caller
would naturally catch, so ``except ValueError`` keeps working.  Messages follow one
form: caller, argument, requirement, what came, what to do.
"""

from __future__ import annotations

import os
import reprlib
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "DefinitenessError",
    "DigestError",
    "DivergenceError",
    "DomainError",
    "GradientError",
    "InfeasibleError",
    "InputError",
    "InputTypeError",
    "MemoryLimitError",
    "MercerError",
    "MissingExtraError",
    "ParameterError",
    "StoppedError",
    "StoreError",
    "TimeBudgetError",
    "UnresolvedError",
    "WorkerError",
    "brief",
    "warn",
]


def brief(value: Any) -> str:
    """``repr`` of what came, for a message: short, on one line, and of any object, whatever its ``repr``."""
    writer = reprlib.Repr()
    writer.maxstring = writer.maxother = 160
    try:
        return " ".join(writer.repr(value).split())
    except Exception:  # such as that of Python for an int of more than 4,300 digits
        return f"a {type(value).__name__}"


def warn(message: str, category: type[Warning]) -> None:
    """Warn, as if from the line that called into this package."""
    # Between the user and the warning: our code, and mixins of scikit-learn that call ``fit`` for the user.
    packages = (sys.modules[name].__file__ for name in (__package__, "sklearn") if name in sys.modules)
    between = tuple(f"{Path(str(path)).parent}{os.sep}" for path in packages)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(between):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class MercerError(Exception):
    """Base class of all errors raised by mercer."""


class InputError(MercerError, ValueError):
    """The data do not belong to the domain of the kernel (shape, NaN, sign, type...)."""


class InputTypeError(InputError, TypeError):
    """The data hold objects that are not numbers where numbers are needed."""


class InfeasibleError(InputError):
    r"""No function of the kernel's space satisfies all constraints.

    Attributes
    ----------
    rows : array of int
        Rows of the data whose constraints contradict each other.
    certificate : array of shape (n,)
        Numbers d, zero elsewhere, with :math:`\sum_i d_i f(x_i) = 0` for every function, as far as double
        precision can tell, while the constraints ask for :math:`\sum_i d_i f(x_i) \ge 1`.
    """

    def __init__(self, message: str, rows: Any = (), certificate: Any = ()) -> None:
        super().__init__(message)
        self.rows, self.certificate = np.asarray(rows, dtype=np.intp), np.asarray(certificate, dtype=float)


class DomainError(MercerError, TypeError):
    """Two kernels live on domains that have no point in common, or an operation needs another domain."""


class ParameterError(MercerError, ValueError):
    """A parameter is outside its range."""


class GradientError(ParameterError):
    """A kernel has no closed-form derivative with respect to one of its parameters."""


class UnresolvedError(MercerError, ValueError):
    """A parameter such as ``sigma="median"`` still waits for data; call ``kernel.resolve(X)``."""


class DefinitenessError(MercerError, np.linalg.LinAlgError):
    """An operation needs a positive (or negative) definite kernel and this one is not."""


class DivergenceError(MercerError, ArithmeticError):
    """A sum over infinitely many terms, such as the paths of a machine with cycles, has no value."""


class MemoryLimitError(MercerError, MemoryError):
    """The result would not fit into the memory limit; the message states the need in GiB."""


class DigestError(MercerError, TypeError):
    """A kernel or a point has no content digest, so that its values cannot be kept in a store."""


class StoreError(MercerError, OSError):
    """A Gram store cannot be opened, read or written."""


class StoppedError(MercerError, RuntimeError):
    """A run was stopped before it had a usable result."""


class TimeBudgetError(StoppedError, TimeoutError):
    """The time budget was used up before there was a usable result, as in the midst of a factorization."""


class WorkerError(MercerError, RuntimeError):
    """A worker process died."""


class MissingExtraError(MercerError, ImportError):
    """A package that only an extra of mercer brings is not installed."""
