"""The structure of sparse matrices: SciPy and native code follow their indices without looking."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError

__all__ = ["check_sparse"]


def check_sparse(X: Any, name: str) -> None:
    """Raise unless the entries of a sparse matrix are real numbers, and their indices lie within it.

    Unsorted indices and duplicates are sound.  Cost: one pass over the indices.
    """
    if X.dtype.kind not in "biuf":
        kind = "complex numbers. Complex data not supported" if X.dtype.kind == "c" else f"type {X.dtype}"
        raise InputError(f"{name} must be real. Got a sparse matrix of {kind}.")
    if X.ndim != 2:
        raise InputError(f"{name} must be 2-D. Got a sparse array of {X.ndim} dimension(s).")
    if X.format in ("lil", "dok"):
        try:
            X = X.tocsr() if X.format == "lil" else X.tocoo()
        except ValueError as error:
            raise _broken(name, str(error)) from error
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X, name)
    elif X.format == "coo":
        _check_lengths(name, data=X.data, row=X.row, col=X.col)
        for axis, index in (("row", X.row), ("column", X.col)):
            _check_range(index, X.shape[axis == "column"], axis, name)
    elif X.format == "dia" and (X.data.ndim != 2 or X.offsets.shape != (len(X.data),)):
        raise _broken(name, f"there are {len(X.offsets)} offsets for data of shape {X.data.shape}")


def _check_compressed(X: Any, name: str) -> None:
    """Rows (or columns) of indices, each between two of the pointers ``indptr``."""
    is_by_columns = X.format == "csc"
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    lines, across = X.shape[is_by_columns] // height, X.shape[not is_by_columns] // width
    pointers = np.asarray(X.indptr)
    if pointers.dtype.kind not in "iu" or pointers.shape != (lines + 1,):
        raise _broken(
            name,
            f"`indptr` must hold {lines + 1} whole numbers. Got {pointers.dtype} of shape {pointers.shape}",
        )
    _check_lengths(name, data=X.data, indices=X.indices)
    if pointers[0] != 0 or (np.diff(pointers) < 0).any() or pointers[-1] > len(X.indices):
        wanted = f"`indptr` must rise from 0 to at most {len(X.indices)}, the number of indices"
        least = np.diff(pointers).min(initial=0)
        raise _broken(name, f"{wanted}. Got {pointers[0]} to {pointers[-1]}, with the least step {least}")
    _check_range(X.indices[: pointers[-1]], across, "row" if is_by_columns else "column", name)


def _check_lengths(name: str, **arrays: Any) -> None:
    lengths = {key: len(array) for key, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise _broken(name, f"the lengths of its arrays differ: {lengths}")


def _check_range(index: Any, size: int, axis: str, name: str) -> None:
    if index.dtype.kind not in "iu":
        raise _broken(name, f"indices must be whole numbers. Got {index.dtype}")
    if len(index) and not 0 <= int(index.min()) <= int(index.max()) < size:
        found = int(index.min()) if index.min() < 0 else int(index.max())
        raise _broken(name, f"it has {size} {axis}s, and an index is {found}")


def _broken(name: str, problem: str) -> InputError:
    return InputError(
        f"{name} must be a valid sparse matrix. {problem[0].upper()}{problem[1:]}. Build it anew, from "
        "coordinates or with scipy.sparse.csr_array(dense)."
    )
