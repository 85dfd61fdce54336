"""Random shapes, types, layouts and values through the native core, against the twins, until time is up.

    python tests/engine/fuzz_native.py --seconds 60 --seed 0

A failure prints the seed of its case, which ``--case SEED`` runs alone.
"""

import argparse
import time

import numpy as np
import twins
from scipy import sparse

from mercer.engine import pairwise as engine

OPERATIONS = {
    "squared_distances": True,
    "l1_distances": True,
    "min_sums": True,
    "max_sums": True,
    "dot": True,
    "chi_square": False,
    "jensen": False,
}
SIZES = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 97, 127, 128, 129, 131]


def rows(rng, n, d, dtype, signed):
    """A matrix with some zeros, some equal entries, over many orders of magnitude, in some memory layout."""
    scale = 10.0 ** rng.uniform(-6, 6)
    A = scale * np.exp(rng.normal(scale=rng.choice([0.1, 2.0]), size=(n, d)))
    A[rng.random((n, d)) < rng.choice([0.0, 0.3, 0.9])] = 0.0
    if signed:
        A *= rng.choice([-1.0, 1.0], size=(n, d))
    A = A.astype(dtype)
    layout = rng.integers(5)
    if layout == 1:
        A = np.asfortranarray(A)
    elif layout == 2:
        wide = np.zeros((2 * n, 3 * d), dtype=dtype)
        wide[::2, ::3] = A
        A = wide[::2, ::3]
    elif layout == 3:
        A.flags.writeable = False
    elif layout == 4:
        S = sparse.csr_array(A)
        index = rng.choice([np.int32, np.int64])
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        return S, A
    return A, A


def check(got, exact, size, d, dtype, what):
    eps = np.finfo(np.float64).eps
    tolerance = 8 * (d + 16) * eps + (2.0**-23 if dtype == np.float32 else 0.0)
    if what == "dot" and dtype == np.float32:
        tolerance = (d + 16) * 2.0**-23
    worst = np.max(abs(got - exact) - tolerance * size, initial=-np.inf)
    assert got.dtype == dtype, (what, got.dtype)
    assert got.shape == exact.shape, (what, got.shape)
    assert worst <= 0, (what, float(worst))


def case(seed):
    rng = np.random.default_rng(seed)
    n, m, d = (int(rng.choice(SIZES)) for _ in range(3))
    x_type, y_type = (rng.choice([np.float64, np.float32]) for _ in range(2))
    dtype = np.float32 if x_type == y_type == np.float32 else np.float64
    what = rng.choice([*OPERATIONS, "anova", "all_subsets"])
    signed = OPERATIONS.get(what, True)
    X, x = rows(rng, n, d, x_type, signed)
    Y, y = rows(rng, m, d, y_type, signed)
    own = bool(rng.random() < 0.3)
    with np.errstate(over="ignore"):
        run(rng, what, X, x, None if own else Y, x if own else y, x_type if own else dtype)


def run(rng, what, X, x, Y, y, dtype):
    d = x.shape[1]
    if what in OPERATIONS:
        got = getattr(engine, what)(X, Y)
        twin = getattr(twins, what)
        exact = twin(x, y)
        if what in ("min_sums", "max_sums"):
            size = twins.max_sums(abs(x), abs(y))
        elif what == "dot":
            size = twins.dot(abs(x), abs(y))
        elif what == "jensen":  # the twin's own rounding, in extended precision
            size = exact + 2.0**-8 * (twins.max_sums(x, y) * 40 + 1e-12)
        else:
            size = exact
    else:
        w = rng.random(d)
        X, x, Y, y = (A if A is None else A[:, :8] for A in (X, x, Y, y))
        w, d = w[:8], min(d, 8)
        if what == "anova":
            c = rng.random(rng.integers(1, 8))
            got, exact = engine.anova(X, Y, w, c), twins.anova(x, y, w, c)
            size = twins.anova(abs(x), abs(y), w, c)
        else:
            got, exact = engine.all_subsets(X, Y, w), twins.all_subsets(x, y, w)
            size = twins.all_subsets(abs(x), abs(y), w)
        if dtype == np.float32:  # what float32 cannot hold is infinite
            beyond = abs(exact) > np.finfo(np.float32).max
            assert np.all(np.isinf(got[beyond])), what
            got, exact = np.where(beyond, np.float32(0), got), np.where(beyond, 0, exact)
    check(got, exact, size, d, dtype, what)
    if Y is None:
        assert np.array_equal(got, got.T), (what, "is not symmetric")


def main(check, first=0):
    """Run ``check(seed)`` on one seed after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=first)
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    if options.case is not None:
        check(options.case)
        return
    start, seed = time.monotonic(), options.seed
    while time.monotonic() - start < options.seconds:
        try:
            check(seed)
        except BaseException:
            print(f"failed: --case {seed}")
            raise
        seed += 1
    print(f"{seed - options.seed} cases, seeds {options.seed} to {seed - 1}: all agree")


if __name__ == "__main__":
    main(case)
