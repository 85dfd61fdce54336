"""Laws of values: what blocks, diagonals and bounds have to do with the definition."""

from __future__ import annotations

import copy
import pickle

import numpy as np

from ...arithmetic import multiprecision
from ...domains import Similarities
from ...gram import gram
from ..trial import BLOCK_TOL, Skip, Trial, broken
from .table import law


@law
def symmetry(t: Trial) -> None:
    """k(x, y) = k(y, x)."""
    D = t.definition
    t.compare(D, D.T, "k(x, y) against k(y, x)", range(t.n))


@law
def block(t: Trial) -> None:
    """block(X, Y) holds the values k(x, y), for one point and for none too."""
    rows = list(t.rng.permutation(t.n))
    columns = list(range(0, t.n, 2))
    if isinstance(t.kernel.domain, Similarities):
        raise Skip("rows and columns of a precomputed matrix are tied together")
    D, X, Y = t.definition, t.pick(rows), t.pick(columns)
    t.compare(t.kernel.block(X, Y), D[np.ix_(rows, columns)], "block(X, Y)", rows, columns)
    one = [int(np.nan_to_num(np.abs(D)).sum(axis=1).argmax())]  # a point whose values are not all zero
    t.compare(t.kernel.block(t.pick(one), Y), D[np.ix_(one, columns)], "block of one row", one, columns)
    t.compare(t.kernel.block(X, t.pick(one)), D[np.ix_(rows, one)], "block of one column", rows, one)
    t.compare(t.kernel.block(t.pick(one)), D[np.ix_(one, one)], "block of one point", one)
    none = t.pick([])
    for K, shape in ((t.kernel.block(none), (0, 0)), (t.kernel.block(none, Y), (0, len(columns)))):
        if K.shape != shape:
            broken(f"block of no points has shape {K.shape} instead of {shape}")
    if t.kernel.diagonal(none).shape != (0,):
        broken("diagonal of no points is not empty")


@law
def product(t: Trial) -> None:
    """gram(k, X) @ V is the product with the values."""
    t.compare(gram(t.kernel, t.samples) @ np.eye(t.n), t.block, "gram(k, X) @ I", range(t.n))


@law
def square(t: Trial) -> None:
    """block(X) is exactly symmetric and equals block(X, Y) for a copy Y of X."""
    K = t.block
    if not np.array_equal(K, K.T, equal_nan=True):
        broken(f"block(X) is not exactly symmetric: largest gap {np.abs(K - K.T).max():.3g}")
    copied = copy.deepcopy(t.samples)
    t.compare(t.kernel.block(t.samples, copied), K, "block(X, copy of X) against block(X)", range(t.n))
    if not isinstance(t.kernel.domain, Similarities):
        t.compare(K, t.definition, "block(X) against the definition", range(t.n))


@law
def diagonal(t: Trial) -> None:
    """diagonal(X) holds the values k(x, x)."""
    d = t.kernel.diagonal(t.samples)
    if isinstance(t.kernel.domain, Similarities):
        want = t.block.diagonal()
    else:
        want = np.array([t.kernel(x, x) for x in t.points])
    t.compare(d, want, "diagonal(X)", range(t.n))


@law
def purity(t: Trial) -> None:
    """Block and diagonal return arrays of their own and leave the input as it is."""
    k, before = t.kernel, pickle.dumps(t.samples)
    K, d = k.block(t.samples), k.diagonal(t.samples)
    kept, kept_d = K.copy(), d.copy()
    for name, a in (("block", K), ("diagonal", d)):
        if not a.flags.writeable:
            broken(f"{name} returned a read-only array")
        a[...] = -12345.0
    if pickle.dumps(t.samples) != before:
        broken("writing into the result changed the points, or evaluation did")
    again, again_d = k.block(t.samples), k.diagonal(t.samples)
    if not (np.array_equal(again, kept, equal_nan=True) and np.array_equal(again_d, kept_d, equal_nan=True)):
        broken("the same call gave other values the second time")


@law
def permutation(t: Trial) -> None:
    """Permuting the points permutes the block."""
    p = t.rng.permutation(t.n)
    t.compare(t.kernel.block(t.pick(p)), t.block[np.ix_(p, p)], "block of permuted points", list(p))


@law
def slices(t: Trial) -> None:
    """The block of some of the points is a part of the block of all."""
    some = list(range(0, t.n, 3)) or [0]
    t.compare(t.kernel.block(t.pick(some)), t.block[np.ix_(some, some)], "block of a subset", some)
    if not isinstance(t.kernel.domain, Similarities):
        want = t.block[some]
        t.compare(t.kernel.block(t.pick(some), t.samples), want, "rows of a subset", some, range(t.n))
    t.compare(t.kernel.diagonal(t.pick(some)), t.block[some, some], "diagonal of a subset", some)


@law
def bounds(t: Trial) -> None:
    """Values are finite and lie within `bounds`, k(x, x) within `diagonal_bounds`, to fifty digits."""
    for values, interval, what in (
        (t.block, t.kernel.bounds, "k(x, y)"),
        (t.block.diagonal(), t.kernel.diagonal_bounds, "k(x, x)"),
    ):
        slack = BLOCK_TOL * (t.scale if values.ndim == 2 else t.scale.diagonal())
        outside = ~(
            (values >= interval.low - slack) & (values <= interval.high + slack) & np.isfinite(values)
        )
        if outside.any():
            i, *rest = (int(v) for v in np.argwhere(outside)[0])
            j = rest[0] if rest else i
            broken(f"{what} = {values[(i, *rest)]!r} is outside {interval}", [t.points[i], t.points[j]])
    if t.kernel.is_precise:
        # without an allowance for the rounding of floats, as bounds are rounded outwards
        m = multiprecision()
        for i in range(min(t.n, 4)):
            for j in {0, i}:
                value = m.real(t.kernel.precise(t.points[i], t.points[j]))
                rounding = abs(value) * m.real(10) ** -40  # a definition may lose ten of the fifty digits
                for interval in (t.kernel.bounds, *([t.kernel.diagonal_bounds] if i == j else [])):
                    if not interval.low - rounding <= value <= interval.high + rounding:
                        broken(f"k(x, y) = {value} is outside {interval}", [t.points[i], t.points[j]])


@law
def precise(t: Trial) -> None:
    """The fifty-digit value of k(x, y) agrees with the float one."""
    D = t.definition
    for i in range(min(t.n, 4)):
        for j in {0, i, t.n - 1 - i}:
            value = float(t.kernel.precise(t.points[i], t.points[j]))
            if not abs(value - D[i, j]) <= 1e-9 * t.scale[i, j]:
                broken(f"precise(x, y) = {value!r} but k(x, y) = {D[i, j]!r}", [t.points[i], t.points[j]])
