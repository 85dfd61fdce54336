"""Random expressions on random points, compiled, against the one-pair definition.

``fuzz_compiler.py`` runs ``check`` on more seeds, as long as one likes.
"""

import numpy as np
import pytest
import scipy.sparse

from mercer import gram
from mercer.algebra import Constant
from mercer.errors import InputError, ParameterError
from mercer.kernels import (
    AllSubsets,
    Anova,
    AnovaOf,
    BrownianBridge,
    CapMinusMax,
    Cauchy,
    ChiSquare,
    Cosine,
    CosineDifference,
    Epanechnikov,
    Exponential,
    ExponentialSum,
    Gaussian,
    GaussianComparison,
    Hellinger,
    Intersection,
    InverseMax,
    InverseSum,
    Jensen,
    Laplacian,
    Linear,
    Matern,
    MaxRatio,
    Min,
    MinOverMax,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Sobolev2,
    ThinPlate,
    TotalVariation,
    Triangular,
)

pytestmark = pytest.mark.native

#: Empty, one, tiles of 32 and of 128 and one more or less, primes.
SIZES = [0, 1, 2, 31, 32, 33, 53, 127, 128, 129, 131, 257]

VECTORS = [
    lambda r, d: Gaussian(r.uniform(0.5, 3)),
    lambda r, d: Gaussian(r.uniform(0.5, 3, d)),
    lambda r, d: Laplacian(r.uniform(0.5, 3)),
    lambda r, d: Exponential(r.uniform(0.5, 3)),
    lambda r, d: RationalQuadratic(r.uniform(0.5, 3), alpha=r.uniform(0.5, 2)),
    lambda r, d: Matern(r.choice([0.5, 1.5, 2.5, 1.0]), r.uniform(0.5, 3)),
    lambda r, d: Linear(),
    lambda r, d: Polynomial(int(r.integers(1, 4))),
    lambda r, d: Cosine(),
    lambda r, d: Sigmoid(r.uniform(0.1, 0.5), 0.1),
    lambda r, d: Anova(int(r.integers(1, 4)), decay=r.choice([1.0, 1.0, 0.5])),
    lambda r, d: AllSubsets(),
    lambda r, d: Cauchy(r.uniform(0.5, 2)),
    lambda r, d: Cauchy(r.uniform(0.5, 2, d)),
    lambda r, d: ChiSquare(),
    lambda r, d: Jensen(),
    lambda r, d: TotalVariation(),
    lambda r, d: Hellinger(),
    lambda r, d: Intersection(),
    lambda r, d: Constant(r.uniform(0.1, 2)),
    lambda r, d: Epanechnikov(r.uniform(0.5, 3)),
    lambda r, d: ThinPlate(d // 2 + 2, dim=d) if d % 2 else Linear(),
    lambda r, d: AnovaOf((Gaussian(1.0), Linear(), Laplacian(2.0)), 2, coefficients=r.uniform(0, 1, 3)),
]

#: On the open unit interval.
SCALARS = [
    lambda r, d: Min(),
    lambda r, d: InverseMax(r.uniform(0.3, 3)),
    lambda r, d: MaxRatio(r.uniform(0.3, 3)),
    lambda r, d: MinOverMax(),
    lambda r, d: CapMinusMax(2.0),
    lambda r, d: BrownianBridge(),
    lambda r, d: Triangular(r.uniform(0.1, 1)),
    lambda r, d: GaussianComparison(r.uniform(0.1, 1)),
    lambda r, d: InverseSum(),
    lambda r, d: ExponentialSum(r.uniform(0.2, 1)),
    lambda r, d: Sobolev2(),
    lambda r, d: CosineDifference(r.uniform(0.5, 3)),  # not compiled: enters as tiles of its own
]

NODES = [
    lambda k, e, r: k + e,
    lambda k, e, r: k * e,
    lambda k, e, r: r.uniform(0.1, 2) * k,
    lambda k, e, r: k ** int(r.integers(0, 4)),
    lambda k, e, r: (0.01 * k).exp(),
    lambda k, e, r: k.polynomial(r.uniform(0, 1, 3)),
    lambda k, e, r: (Gaussian(1.0) + k * k).normalized(),
    lambda k, e, r: Gaussian(1.0).distance() + k,
    lambda k, e, r: (k * k) ** 0.7,
    lambda k, e, r: (k * k).log1p(),
    lambda k, e, r: 1 / (1.5 + k * k),
    lambda k, e, r: k.conformal(_first),
    lambda k, e, r: (0.01 * k).power_series("cosh"),
    lambda k, e, r: (0.01 * k).power_series("sinh"),
]


def _first(x):
    return float(x.toarray().flat[0] if scipy.sparse.issparse(x) else x[0])


def _strided(X):
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _with_explicit_zeros(X):
    """Unsorted compressed rows in which some of the zeros are stored."""
    A = scipy.sparse.coo_array(X)
    rows, cols = (np.append(c, np.zeros(min(1, X.size), dtype=c.dtype)) for c in (A.row, A.col))
    data = np.append(A.data, np.zeros(min(1, X.size), dtype=A.data.dtype))
    order = np.argsort(rows, kind="stable")[::-1]
    return scipy.sparse.coo_array((data[order], (rows[order], cols[order])), shape=X.shape)


LAYOUTS = {
    "plain": lambda X: X,
    "strided": _strided,
    "transposed": np.asfortranarray,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "csr": scipy.sparse.csr_array,
    "csr_matrix": scipy.sparse.csr_matrix,
    "csc": scipy.sparse.csc_array,
    "explicit zeros": _with_explicit_zeros,
}
SPARSE = ("csr", "csr_matrix", "csc", "explicit zeros")


def expression(rng, depth, d):
    leaves = SCALARS if d == 1 else VECTORS
    k = leaves[rng.integers(len(leaves))](rng, d)
    for _ in range(depth):
        k = NODES[rng.integers(len(NODES))](k, leaves[rng.integers(len(leaves))](rng, d), rng)
    return k


def points(rng, n, d, dtype, density):
    """Positive rows, for the sake of histograms; of sparse ones, only the first entry always is."""
    X = rng.uniform(0.05, 0.95, (n, d)).astype(dtype)
    X[:, 1:] *= rng.random((n, d - 1)) < density
    return X


def pairs(rng, n, m, count=12):
    corners = [(0, 0), (n - 1, m - 1), (0, m - 1), (n - 1, 0)]
    return corners + [(int(rng.integers(n)), int(rng.integers(m))) for _ in range(count)]


def block_or_error(k, X, Y):
    """The matrix; None if the kernel refuses these points, compiled and in blocks alike."""
    try:
        return k.block(X, Y)
    except (InputError, ParameterError) as error:
        with pytest.raises(type(error)):
            k._tiles_of_blocks(*k._prepare_pair(X, Y))
        return None


def check(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 5, 5, 7, 40]))
    k = expression(rng, int(rng.integers(0, 5)), d)
    layouts = [str(rng.choice(list(LAYOUTS))) for _ in range(2)]
    dtypes = [np.float32 if rng.random() < 0.25 else np.float64 for _ in range(2)]
    n, m = (int(rng.choice(SIZES)) for _ in range(2))
    density = 0.2 if any(layout in SPARSE for layout in layouts) else 1.0
    x, y = (points(rng, size, d, dtype, density) for size, dtype in zip((n, m), dtypes, strict=True))
    X, Y = (LAYOUTS[layout](A) for layout, A in zip(layouts, (x, y), strict=True))
    tolerance = 2e-3 if np.float32 in dtypes else 1e-9
    for other, z in ((Y, y), (None, x)):
        K = block_or_error(k, X, other)
        if K is None:
            continue
        assert K.shape == (n, len(z))
        assert K.dtype == k._tiles_of_blocks(*k._prepare_pair(X, other)).dtype
        if K.size == 0:
            continue
        if other is None:
            np.testing.assert_array_equal(K, K.T)
        scale = max(1.0, float(np.abs(K).max()))
        for i, j in pairs(rng, n, len(z)):
            exact = k(x[i].astype(float), z[j].astype(float))
            assert abs(K[i, j] - exact) <= tolerance * scale, (k, layouts, dtypes, i, j)


@pytest.mark.parametrize("seed", range(160))
def test_random_expressions_against_the_definition(seed):
    check(seed)


@pytest.mark.parametrize("seed", range(40))
def test_products_never_hold_the_matrix_and_agree_with_it(seed):
    rng = np.random.default_rng(seed)
    k = expression(rng, int(rng.integers(0, 4)), 5)
    n, m = int(rng.choice(SIZES)), int(rng.choice(SIZES))
    X, Y = points(rng, n, 5, np.float64, 1.0), points(rng, m, 5, np.float64, 1.0)
    for G in (gram(k, X), gram(k, X, Y)):
        width = int(rng.integers(0, 40))
        for V in (rng.standard_normal(G.shape[1]), rng.standard_normal((G.shape[1], width))):
            expected, got = G.dense() @ V, G @ V
            assert got.shape == expected.shape
            assert got.dtype == expected.dtype
            scale = max(1.0, np.abs(expected).max(initial=0.0))
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * scale)
