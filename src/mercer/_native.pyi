# Stubs of the extension module built from native/.  Nothing is validated on the other side: call these
# functions through mercer.engine.

from typing import Final, TypeVar

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
