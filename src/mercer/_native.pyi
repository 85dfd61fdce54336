# Stubs of the extension module built from native/.  Nothing is validated on the other side: call these
# functions through mercer.engine.

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_Float = TypeVar("_Float", np.float64, np.float32)
_Int = TypeVar("_Int", np.int32, np.int64)

SQEUCLIDEAN: Final[int]
L1: Final[int]
MIN: Final[int]
MAX: Final[int]
CHI2: Final[int]
JENSEN: Final[int]
DOT: Final[int]
ANOVA: Final[int]
ALL_SUBSETS: Final[int]
CAUCHY: Final[int]
FOREIGN: Final[int]
CONSTANT: Final[int]
ADD: Final[int]
MULTIPLY: Final[int]
DIVIDE: Final[int]
SCALE: Final[int]
SHIFT: Final[int]
RECIPROCAL: Final[int]
INTEGER_POWER: Final[int]
REAL_POWER: Final[int]
EXP: Final[int]
LOG1P: Final[int]
TANH: Final[int]
SQRT: Final[int]
HORNER: Final[int]
OUTER_MULTIPLY: Final[int]
OUTER_ADD: Final[int]
CLIP: Final[int]
DIAGONAL: Final[int]
WITHIN: Final[int]
NONZERO: Final[int]
TILE: Final[int]
MOST_VECTORS: Final[int]

def isa() -> str: ...
def available_isas() -> list[str]: ...
def max_threads() -> int: ...
def set_gemm(dgemm: object, sgemm: object) -> bool: ...
def pairwise(op: int, X: NDArray[_Float], Y: NDArray[_Float], out: NDArray[_Float], threads: int) -> None: ...
def csr_pairwise(
    op: int,
    x_data: NDArray[_Float],
    x_indices: NDArray[_Int],
    x_indptr: NDArray[_Int],
    y_data: NDArray[_Float],
    y_indices: NDArray[_Int],
    y_indptr: NDArray[_Int],
    out: NDArray[_Float],
    threads: int,
) -> None: ...
def anova(
    X: NDArray[_Float],
    Y: NDArray[_Float],
    weights: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    out: NDArray[_Float],
    threads: int,
) -> None: ...
def all_subsets(
    X: NDArray[_Float],
    Y: NDArray[_Float],
    weights: NDArray[np.float64],
    out: NDArray[_Float],
    threads: int,
) -> None: ...

_Codes = NDArray[np.int32]
_Indices = NDArray[np.int64]
_Numbers = NDArray[np.float64]
_Runs = tuple[NDArray[Any], ...]  # codes, begins, counts, first

def window_keys(runs: _Runs, offsets: _Indices, base: int, keys: _Indices) -> None: ...
def count_keys(
    keys: _Indices, starts: _Indices, width: int, counts: _Numbers, ends: _Indices, threads: int
) -> int: ...
def sum_keys(keys: _Indices, starts: _Indices, counts: _Numbers, ends: _Indices, threads: int) -> int: ...
def sparse_product(
    X: tuple[NDArray[Any], ...], Y: tuple[NDArray[Any], ...], symmetric: bool, width: int, out: _Numbers
) -> None: ...
def count_agreements(
    X: _Runs, Y: _Runs, symmetric: bool, offsets: _Indices, base: int, out: _Numbers, threads: int
) -> None: ...
def sum_over_agreements(
    X: _Runs, Y: _Runs, symmetric: bool, length: int, values: _Numbers, out: _Numbers, threads: int
) -> None: ...
def gappy_features(
    codes: _Codes, starts: _Indices, n: int, base: int, decay: float, out: _Numbers, threads: int
) -> None: ...
def gappy_values(
    x_codes: _Codes,
    x_starts: _Indices,
    x_rows: _Indices,
    y_codes: _Codes,
    y_starts: _Indices,
    y_rows: _Indices,
    n: int,
    decay: float,
    out: _Numbers,
    threads: int,
) -> None: ...
def gappy_steps(x: _Codes, first: int, last: int, y: _Codes, decay: float, ends: _Numbers) -> float: ...

class Program:
    def __init__(
        self,
        steps: NDArray[np.int64],
        parameters: NDArray[np.float64],
        points: list[Any],  # mercer.engine.builder.Points
        vectors: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
        foreign: list[NDArray[np.float64]],
        rows: int,
        cols: int,
        registers: int,
        symmetric: bool,
        edge: int,
        cost: float,
        quick: bool,
    ) -> None: ...
    @property
    def tiles(self) -> int: ...
    def dense(self, first: int, last: int, out: NDArray[_Float], threads: int) -> int: ...
    def product(
        self,
        lanes: list[int],
        parts: int,
        half: bool,
        first: int,
        last: int,
        V: NDArray[np.float64],
        sums: NDArray[np.float64],
        threads: int,
    ) -> int: ...

CONVERGED: Final[int]
LIMIT: Final[int]
STOPPED: Final[int]
UNBOUNDED: Final[int]
STALLED: Final[int]
NOT_FINITE: Final[int]
SUM: Final[int]
SIGNED: Final[int]
FREE: Final[int]
SET_SIZE: Final[int]

class _Decomposition(Generic[_Float]):
    def __init__(
        self,
        linear: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        diagonal: NDArray[np.float64],
        width: float,
        constraint: int,
        rows: NDArray[_Float],
        index: NDArray[np.int64] | None,
        b: NDArray[np.float64],
        f: NDArray[np.float64],
        threads: int,
    ) -> None: ...
    def run(
        self,
        tolerance: float,
        steps: int,
        fetch: Callable[[list[int], list[int]], None],
        watch: Callable[[int, float], bool],
    ) -> int: ...
    def stop(self) -> None: ...
    def restart(self, b: NDArray[np.float64], f: NDArray[np.float64]) -> None: ...
    def recompute(self) -> float: ...
    def quality(self) -> tuple[float, tuple[float, float], float, float]: ...
    def violation(self) -> tuple[float, tuple[float, float], tuple[float, float]]: ...
    @property
    def b(self) -> NDArray[np.float64]: ...
    @property
    def f(self) -> NDArray[np.float64]: ...
    @property
    def steps(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def hits(self) -> int: ...
    @property
    def misses(self) -> int: ...

class Decomposition32(_Decomposition[np.float32]): ...
class Decomposition64(_Decomposition[np.float64]): ...

class _Pairs(Generic[_Float]):
    def __init__(
        self,
        blocks: list[tuple[NDArray[_Float], NDArray[_Float], NDArray[_Float]]],
        linear: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        width: float,
        constraint: int,
        b: NDArray[np.float64],
        f: NDArray[np.float64],
    ) -> None: ...
    def work(
        self,
        memory: NDArray[_Float],
        goal: float,
        tolerance: float,
        steps: int,
        watch: Callable[[int, float], bool],
    ) -> None: ...
    def stop(self) -> None: ...
    def results(self) -> list[tuple[int, int, int, float, tuple[float, float], float, float, float]]: ...
    @property
    def room(self) -> int: ...

class Pairs32(_Pairs[np.float32]): ...
class Pairs64(_Pairs[np.float64]): ...
