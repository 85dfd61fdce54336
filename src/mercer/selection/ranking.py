"""Kernels in the order of their centred alignment with targets."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, overload

import numpy as np

from ..domains import refuse_iterator
from ..errors import InputError, ParameterError, brief
from ..gram import gram
from ..gram.alignment import targets
from ..kernel import Kernel

__all__ = ["RankedKernel", "Ranking", "rank_kernels"]


class RankedKernel(NamedTuple):
    """A kernel, with its name and its alignment; parameters that depend on data are resolved."""

    name: str
    alignment: float
    kernel: Kernel


class Ranking(tuple[RankedKernel, ...]):
    """Kernels with their alignments, the best first; prints as a table."""

    __slots__ = ()

    @property
    def best(self) -> Kernel:
        """The first kernel."""
        return self[0].kernel

    def __repr__(self) -> str:
        return f"<ranking of {len(self)} kernels; best: {self[0].name}, alignment {self[0].alignment:.4f}>"

    def __str__(self) -> str:
        return "\n".join(["alignment  kernel", *(f"{row.alignment:9.4f}  {row.name}" for row in self)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{row.alignment:.4f}</td><td>{html.escape(row.name)}</td></tr>" for row in self
        )
        return f"<table><tr><th>alignment</th><th>kernel</th></tr>{rows}</table>"


@overload
def rank_kernels(kernels: Mapping[str, Kernel], X: Any, y: Any) -> Ranking: ...
@overload
def rank_kernels(kernels: Iterable[Kernel], X: Any, y: Any) -> Ranking: ...
def rank_kernels(kernels: Any, X: Any, y: Any) -> Ranking:
    r"""Order kernels by their centred alignment with the targets, before any machine is fitted.

    .. math:: A(K, y) = \frac{\langle H K H,\; Y Y^\top \rangle}{\|H K H\| \, \|H Y Y^\top H\|}

    between -1 and 1 (from 0 for positive definite kernels), 1 if the centred Gram matrix is that of the
    targets.  Two classes are -1 and 1, more have a column each; numbers are as they are.  A factor of a
    kernel, or a constant added to it, changes nothing.  It says how well a kernel fits without a penalty or a
    margin: a cheap first selection, not a measure of the error.

    Cost: one Gram matrix for each kernel, of which nothing is held.  Source: Cristianini et al. 2001; Cortes,
    Mohri and Rostamizadeh 2012 (centred).

    Parameters
    ----------
    kernels : sequence of Kernel, or dict of them by name
    X : points that all of them accept
    y : array of shape (n,)

    Returns
    -------
    Ranking
        Rows of name, alignment and kernel, the best first; ``ranking.best`` is the first kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear, Polynomial
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> print(rank_kernels([Linear(), Polynomial(2), Gaussian("median")], X, X[:, 0] * X[:, 1] > 0))
    alignment  kernel
       0.2385  Polynomial(degree=2)
       0.1206  Gaussian(sigma='median')
       0.0180  Linear()
    """
    pairs = list(_named(kernels))
    if not pairs:
        raise ParameterError("rank_kernels: `kernels` must hold one kernel at least. Got none.")
    refuse_iterator(X, "rank_kernels: `X`")
    rows = []
    for name, kernel in pairs:
        points = kernel.domain.validate(X, "X")
        G = gram(kernel.resolve(points), points)
        Y = targets(y, len(G), "rank_kernels")
        if not len(Y) or (Y[0] == Y).all():
            raise InputError("rank_kernels: `y` must have two different values at least.")
        value = G.alignment(y, centered=True)
        if not np.isfinite(value):
            raise InputError(f"rank_kernels: the values of {name} are not finite on `X`. Scale the data.")
        rows.append(RankedKernel(name, float(value), kernel.resolve(points)))
    return Ranking(sorted(rows, key=lambda row: -row.alignment))


def _named(kernels: Any) -> Iterator[tuple[str, Kernel]]:
    if isinstance(kernels, Kernel) or not isinstance(kernels, Iterable):
        raise ParameterError(
            f"rank_kernels: `kernels` must be a list or a dict of kernels. Got {brief(kernels)}."
        )
    items = kernels.items() if isinstance(kernels, Mapping) else ((repr(k), k) for k in kernels)
    for name, kernel in items:
        if not isinstance(kernel, Kernel):
            raise ParameterError(f"rank_kernels: `kernels` must hold kernels only. Got {brief(kernel)}.")
        yield str(name), kernel
