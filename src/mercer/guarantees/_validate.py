"""Argument checks of the guarantees: every message names the caller, the argument, the rule and what came."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import DefinitenessError, InputError, ParameterError, brief

__all__ = [
    "GramLike",
    "as_gram",
    "as_vector",
    "count",
    "diagonal",
    "finite_size",
    "generator",
    "machine_epsilon",
    "nonnegative",
    "positive",
    "probability",
    "trace_and_size",
]

_TILE = 512  # side of the tiles of the symmetry check: both of them fit the cache


class GramLike(Protocol):
    """What a Gram matrix has to offer: a shape and products with a tall matrix."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __matmul__(self, other: NDArray[Any], /) -> Any: ...


def _real(caller: str, name: str, value: object, rule: str, advice: str) -> float:
    try:
        if isinstance(value, Real) and not isinstance(value, bool):
            return float(value)
    except OverflowError:  # an int beyond the floats
        pass
    raise ParameterError(_message(caller, name, rule, value, advice))


def _message(caller: str, name: str, rule: str, value: object, advice: str = "") -> str:
    return f"`{caller}`: `{name}` must be {rule}. Got {brief(value)}." + (f" {advice}" if advice else "")


def positive(caller: str, name: str, value: object, advice: str = "") -> float:
    """Return ``value`` as a positive finite float."""
    rule = "a positive finite number"
    number = _real(caller, name, value, rule, advice)
    if not (0.0 < number < math.inf):
        raise ParameterError(_message(caller, name, rule, value, advice))
    return number


def nonnegative(caller: str, name: str, value: object, advice: str = "") -> float:
    """Return ``value`` as a nonnegative finite float."""
    rule = "a nonnegative finite number"
    number = _real(caller, name, value, rule, advice)
    if not (0.0 <= number < math.inf):
        raise ParameterError(_message(caller, name, rule, value, advice))
    return number


def probability(caller: str, name: str, value: object) -> float:
    """Return ``value`` as a float in the open unit interval."""
    number = _real(caller, name, value, "in (0, 1)", "")
    if not (0.0 < number < 1.0):
        raise ParameterError(_message(caller, name, "in (0, 1)", value))
    return number


def count(caller: str, name: str, value: object, minimum: int = 1) -> int:
    """Return ``value`` as an int of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ParameterError(_message(caller, name, f"an integer of at least {minimum}", value))
    return int(value)


def finite_size(caller: str, size: float, eps: float) -> int:
    """Round a sample size up; refuse one that does not fit a float."""
    if not math.isfinite(size):
        raise ParameterError(_message(caller, "eps", "larger: the sample size is not a finite number", eps))
    return max(1, math.ceil(size))


def as_vector(caller: str, name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return ``values`` as a finite, non-empty float64 vector."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"`{caller}`: `{name}` must be a vector of real numbers. {error}") from error
    if vector.ndim != 1 or vector.size == 0:
        raise InputError(f"`{caller}`: `{name}` must be a non-empty vector. Got shape {vector.shape}.")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise InputError(f"`{caller}`: `{name}` must be finite. Got {vector[bad[0]]} at index {bad[0]}.")
    return vector


def as_gram(caller: str, K: GramLike | ArrayLike, *, check_entries: bool = True) -> Any:
    """Return a square Gram matrix: arrays made float and checked, lazy operators handed through untouched."""
    operator = hasattr(K, "shape") and hasattr(K, "__matmul__")
    # A lazy Gram may also convert itself to an array; that is the one thing not to ask of it.
    if not operator or (hasattr(K, "__array__") and not hasattr(K, "dense")):
        array = np.asarray(K.dense() if hasattr(K, "dense") else K)
        if array.dtype.kind not in "fiub":
            raise InputError(f"`{caller}`: `K` must be a matrix of real numbers. Got dtype {array.dtype}.")
        K = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    shape = tuple(K.shape)  # type: ignore[union-attr]
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InputError(f"`{caller}`: `K` must be a square, non-empty Gram matrix. Got shape {shape}.")
    if check_entries and isinstance(K, np.ndarray):
        _check_entries(caller, K)
    return K


def _check_entries(caller: str, K: NDArray[Any]) -> None:
    m, worst, scale = K.shape[0], 0.0, 0.0
    for i in range(0, m, _TILE):
        rows = slice(i, i + _TILE)
        bad = np.argwhere(~np.isfinite(K[rows]))
        if bad.size:
            row, col = i + int(bad[0, 0]), int(bad[0, 1])
            raise InputError(f"`{caller}`: `K` must be finite. Got {K[row, col]} in row {row}, column {col}.")
        for j in range(i, m, _TILE):
            cols = slice(j, j + _TILE)
            worst = max(worst, float(np.abs(K[rows, cols] - K[cols, rows].T).max()))
            scale = max(scale, float(np.abs(K[rows, cols]).max()))
    if worst > 64 * m * machine_epsilon(K) * scale:
        raise InputError(
            f"`{caller}`: `K` must be symmetric. Got entries that differ by {worst:.3g}. Pass (K + K.T) / 2."
        )


def machine_epsilon(gram: Any) -> float:
    """Return the relative rounding of the entries of a Gram matrix."""
    return float(np.finfo(np.float32 if getattr(gram, "dtype", None) == np.float32 else np.float64).eps)


def generator(caller: str, random_state: object) -> np.random.Generator:
    """Return a Generator from a seed, a Generator, a legacy RandomState (one draw seeds ours) or None."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    return np.random.default_rng(count(caller, "random_state", random_state, minimum=0))


def trace_and_size(
    caller: str, K: GramLike | ArrayLike | float, n: int | None, n_name: str = "n"
) -> tuple[float, int]:
    """Return the trace and the sample size of a Gram matrix, or of a trace given as a number with ``n``.

    ``n_name`` is the argument that a mismatch is blamed on.
    """
    if isinstance(K, Real):
        trace = nonnegative(caller, "K", K, "A number is read as the trace of the Gram matrix.")
        if n is None:
            raise ParameterError(f"`{caller}`: `n` must be given when `K` is a trace. Got None.")
        return trace, count(caller, "n", n)
    gram = as_gram(caller, K, check_entries=False)
    m = int(gram.shape[0])
    if n is not None and count(caller, "n", n) != m:
        raise InputError(f"`{caller}`: `{n_name}` must agree with the {m} rows of `K`. Got {n}.")
    return float(diagonal(caller, gram).sum()), m


def diagonal(caller: str, gram: Any) -> NDArray[np.float64]:
    """Return the diagonal of a checked Gram matrix; round-off below zero becomes zero."""
    if not hasattr(gram, "diagonal"):
        raise InputError(f"`{caller}`: `K` must offer `diagonal()`. Got {type(gram).__name__}.")
    entries = as_vector(caller, "K", gram.diagonal())
    if entries.min() < -64 * machine_epsilon(gram) * np.abs(entries).max():
        raise DefinitenessError(
            f"`{caller}`: `K` must be positive semidefinite. Got the diagonal entry {entries.min():.6g}."
        )
    return np.maximum(entries, 0.0)
