"""Laws of storage: how vectors are stored does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ...domains import Reals
from ...errors import InputError
from ..trial import FLOAT32_TOL, Skip, Trial, broken
from .table import law


def _refusal(t: Trial, X: Any, why: str) -> None:
    """Skip if the domain refuses points that were changed only by rounding or storage."""
    try:
        t.kernel.domain.validate(X)
    except InputError as error:
        raise Skip(f"{why}: {error}") from None


@law
def sparse(t: Trial) -> None:
    """Sparse input gives what dense input gives, however its entries are stored."""
    X, k = t.dense, t.kernel
    S = scipy.sparse.csr_array(X)
    rows, some = range(t.n), list(range(0, t.n, 2))
    t.compare(k.block(S), t.block, "block of a CSR array", rows)
    for A, B, what in (
        (S, S[some], "sparse, sparse"),
        (S, X[some], "sparse, dense"),
        (X, S[some], "dense, sparse"),
    ):
        t.compare(k.block(A, B), t.block[:, some], f"block({what})", rows, some)
    t.compare(k.diagonal(S), t.block.diagonal(), "diagonal of a CSR array", rows)
    coo = S.tocoo()
    order = np.argsort(-coo.col, kind="stable")
    doubled = scipy.sparse.coo_array(  # every entry in two halves, columns backwards
        (np.repeat(coo.data[order] / 2, 2), (np.repeat(coo.row[order], 2), np.repeat(coo.col[order], 2))),
        X.shape,
    )
    t.compare(k.block(doubled), t.block, "block of unsorted entries with duplicates", rows)


@law
def single(t: Trial) -> None:
    """float32 input gives the float64 values to single precision, as float32; float64 input gives float64."""
    X32 = t.dense.astype(np.float32)
    if not np.isfinite(X32).all():
        raise Skip("the points overflow float32")
    _refusal(t, X32, "after rounding to float32")
    _refusal(t, X32.astype(np.float64), "after rounding to float32")
    want = t.kernel.block(X32.astype(np.float64))
    if want.dtype != np.float64:
        broken(f"block of float64 input has type {want.dtype}")
    if np.abs(want).max() > np.finfo(np.float32).max:
        raise Skip("the values overflow float32")
    got = t.kernel.block(X32)
    if got.dtype not in (np.float32, np.float64):
        broken(f"block of float32 input has type {got.dtype}")
    t.compare(got.astype(np.float64), want, "block of float32 input", range(t.n), tol=FLOAT32_TOL)
    t.compare(
        t.kernel.diagonal(X32).astype(np.float64),
        want.diagonal(),
        "float32 diagonal",
        range(t.n),
        tol=FLOAT32_TOL,
    )


@law
def layout(t: Trial) -> None:
    """C and Fortran order, strides, byte order, lists and read-only arrays give the same block."""
    X = t.dense
    frozen = X.copy()
    frozen.flags.writeable = False
    strided = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    forms = {
        "Fortran order": np.asfortranarray(X),
        "a read-only array": frozen,
        "a strided view": strided,
        "a reversed view": X[::-1].copy()[::-1],
        "big-endian numbers": X.astype(">f8"),
        "nested lists": X.tolist(),
    }
    if isinstance(t.kernel.domain, Reals):
        forms["a flat array"] = X.ravel()
    for what, form in forms.items():
        if what == "nested lists" and X.size == 0:
            continue
        t.compare(t.kernel.block(form), t.block, f"block of {what}", range(t.n))
