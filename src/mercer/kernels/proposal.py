"""A kernel for each column of a data frame, proposed by the type of its values."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Collection, Set
from typing import Any, Literal, NamedTuple

import numpy as np

from ..domains import is_date
from ..domains.frames import categorical_columns, column_names, read_table
from ..errors import InputError, ParameterError
from ..kernel import Kernel
from .categorical import Categorical
from .frames import Columns
from .radial import Gaussian
from .series import GlobalAlignment
from .sets import Jaccard
from .strings import BagOfWords, Spectrum

__all__ = ["from_frame"]

#: Length of the k-mers of strings; shorter strings have none.
K = 3


class Proposal(NamedTuple):
    """What is proposed for one column; no kernel if it is left out."""

    column: str
    kernel: Kernel | None
    reason: str


def from_frame(
    frame: Any,
    *,
    exclude: Collection[str] = (),
    combine: Literal["sum", "product"] = "sum",
    missing: Literal["zero", "own", "error"] | None = None,
    verbose: bool = True,
) -> Columns:
    """Propose a kernel for each column of a table by its type, and print the code that makes it.

    ==========================  =========================================================================
    column                      kernel
    ==========================  =========================================================================
    numbers                     ``Gaussian("scale")``
    truth values, categories    ``Categorical()``
    strings that repeat         ``Categorical()``, if half of them or fewer are distinct, or some are
                                shorter than three letters
    texts of three words on     ``BagOfWords().normalized()``
    other strings               ``Spectrum(3).normalized()``
    sets                        ``Jaccard()``
    vectors of equal length     ``Gaussian("scale")``
    series of unequal lengths   ``GlobalAlignment("median")``
    ==========================  =========================================================================

    Left out, with the reason printed: columns with a single value, dates and times (a kernel cannot know
    whether the time of day, the season or the age counts: map them to numbers with ``.on``), and objects of
    other types.  A proposal is a start, not a choice made by validation: read the code and change it.

    Parameters
    ----------
    frame : pandas or polars frame, mapping of columns, or list of records
        The training data.
    exclude : collection of str
        Columns that are no features: the target, the identifier.
    combine : {"sum", "product"}, default="sum"
        As in :func:`~mercer.columns`.
    missing : {"zero", "own", "error"}, optional
        As in :func:`~mercer.columns`; by default ``"own"`` if any value is missing, else ``"error"``.
    verbose : bool, default=True
        Whether to print the code.

    Returns
    -------
    Columns
        Positive definite: each of its kernels is.

    Examples
    --------
    >>> from mercer import columns
    >>> table = {"age": [31.0, 45.5, 28.0, 60.0], "city": ["Rome", "Oslo", "Oslo", "Rome"]}
    >>> k = columns.from_frame(table)
    from mercer import columns
    from mercer.kernels import Categorical, Gaussian
    <BLANKLINE>
    kernel = columns(
        {
            'age': Gaussian(sigma='scale'),  # numbers
            'city': Categorical(),  # 2 categories
        },
        combine='sum',
        missing='error',
    )
    """
    if isinstance(exclude, str):
        raise ParameterError(f"from_frame: `exclude` must be a list of column names. Got {exclude!r}.")
    names = column_names(frame, "frame")
    for name in exclude:
        if name not in names:
            raise ParameterError(f"from_frame: `exclude` names {name!r}. The columns are {names}.")
    names = [name for name in names if name not in exclude]
    table, _ = read_table(frame, "frame", names)
    declared = categorical_columns(frame)
    proposals = [_propose(name, *table[name], is_category=name in declared) for name in names]
    kept = {p.column: p.kernel for p in proposals if p.kernel is not None}
    if not kept:
        reasons = "; ".join(f"{p.column!r}: {p.reason}" for p in proposals)
        raise InputError(f"from_frame: `frame` has no column that a kernel can be proposed for. {reasons}.")
    if missing is None:
        missing = "own" if any(table[name][1].any() for name in kept) else "error"
    kernel = Columns(tuple(kept), tuple(kept.values()), combine, missing)
    if verbose:
        print(_code(kernel, proposals))
    return kernel


def _propose(column: str, values: Any, missing: np.ndarray, *, is_category: bool) -> Proposal:
    """Choose by the values that are there."""
    is_array = isinstance(values, np.ndarray)
    there = values[~missing] if is_array else [v for v, gone in zip(values, missing, strict=True) if not gone]
    if not len(there):
        return Proposal(column, None, "no value")
    first, *rest = there
    equal = np.array_equal if isinstance(first, np.ndarray | list | tuple) else operator.eq
    if all(equal(first, value) for value in rest):
        return Proposal(column, None, "a single value")
    if is_category or _all(there, bool | np.bool_):
        return Proposal(column, Categorical(), f"{len(set(there))} categories")
    if _all(there, numbers.Real):
        return Proposal(column, Gaussian("scale"), "numbers")
    if _all(there, str):
        distinct = len(set(there))
        if distinct <= 0.5 * len(there):
            return Proposal(column, Categorical(), f"{distinct} categories")
        if np.mean([len(text.split()) for text in there]) >= 3:
            return Proposal(column, BagOfWords().normalized(), "texts")
        if min(map(len, there)) >= K:
            return Proposal(column, Spectrum(K).normalized(), f"strings, {distinct} distinct")
        return Proposal(column, Categorical(), f"{distinct} categories, shorter than {K} letters")
    if _all(there, Set):
        return Proposal(column, Jaccard(), "sets")
    if all(map(is_date, there)):
        return Proposal(column, None, f"dates or times; write Gaussian('scale').on(f), f({column}) a number")
    if _all(there, np.ndarray | list | tuple) and all(np.asarray(v).dtype.kind in "biuf" for v in there):
        if len({np.shape(v) for v in there}) == 1 and np.ndim(there[0]) == 1:
            return Proposal(column, Gaussian("scale"), "vectors")
        return Proposal(column, GlobalAlignment("median"), "time series")
    kinds = ", ".join(sorted({type(v).__name__ for v in there}))
    return Proposal(column, None, f"values of type {kinds}; give it a kernel of your own")


def _all(values: Any, kind: Any) -> bool:
    return all(isinstance(value, kind) for value in values)


def _code(kernel: Columns, proposals: list[Proposal]) -> str:
    """The proposal as source code."""
    lines = [f"        {p.column!r}: {p.kernel!r},  # {p.reason}" for p in proposals if p.kernel]
    classes = sorted({repr(k).partition("(")[0] for k in kernel.kernels})
    left_out = [f"# left out: {p.column!r} ({p.reason})" for p in proposals if p.kernel is None]
    return "\n".join(
        [
            "from mercer import columns",
            f"from mercer.kernels import {', '.join(classes)}",
            "",
            "kernel = columns(",
            "    {",
            *lines,
            "    },",
            f"    combine={kernel.combine!r},",
            f"    missing={kernel.missing!r},",
            ")",
            *left_out,
        ]
    )
