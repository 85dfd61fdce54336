"""Large graphs: actions against the cosine transform of grids, bounds met, memory said first."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.sparse
import scipy.special

from mercer import gram
from mercer.engine.chebyshev import expand
from mercer.errors import MemoryLimitError, ParameterError
from mercer.graphs import operators
from mercer.kernels import (
    Cutoff,
    Diffusion,
    ExponentialDiffusion,
    GraphMatern,
    LaplacianKernel,
    OneStep,
    PathKernel,
    Regularized,
    TruncatedSpectrum,
    VonNeumann,
)

from .grids import grid


def exact(side: int, r: object, V: np.ndarray) -> np.ndarray:
    """``r(L) V`` on the grid: its Laplacian is diagonal in the basis of the cosine transform."""
    one = 2 - 2 * np.cos(np.pi * np.arange(side) / side)
    spectrum = r(one[:, None] + one)  # type: ignore[operator]
    W = scipy.fft.dctn(V.reshape(side, side, -1), axes=(0, 1), norm="ortho") * spectrum[..., None]
    return np.asarray(scipy.fft.idctn(W, axes=(0, 1), norm="ortho").reshape(V.shape))


@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("t", [0.1, 12.5, 1000.0])
def test_the_bound_of_diffusion_on_a_grid_is_met(t: float, tol: float) -> None:
    side = 60
    V = np.random.default_rng(0).standard_normal((side**2, 3))
    K = gram(Diffusion(grid(side), t, tol=tol), range(side**2))
    error = np.linalg.norm(K @ V - exact(side, lambda x: np.exp(-t * x), V), axis=0)
    rounding = 1e-13
    assert (error <= (tol + rounding) * np.linalg.norm(V, axis=0)).all()


def test_a_grid_of_300_by_300() -> None:
    side, t = 300, 12.5
    V = np.random.default_rng(0).standard_normal((side**2, 10))
    k = Diffusion(grid(side), t, tol=1e-8)
    error = np.linalg.norm(gram(k, range(side**2)) @ V - exact(side, lambda x: np.exp(-t * x), V), axis=0)
    assert (error <= 1e-8 * np.linalg.norm(V, axis=0)).all()
    corner = np.zeros((side**2, 1))
    corner[0] = 1.0
    want = exact(side, lambda x: np.exp(-t * x), corner)[:, 0]
    np.testing.assert_allclose(k.block([0], range(side**2))[0], want, atol=1e-8)


def test_other_functions_of_the_laplacian_of_a_grid() -> None:
    side, V = 60, np.random.default_rng(0).standard_normal((3600, 2))
    for r, f in (
        (Regularized(0.05), lambda x: 1 / (x + 0.05)),
        (GraphMatern(1.5, 4.0), lambda x: (3 / 16 + x) ** -1.5),
    ):
        k = LaplacianKernel(grid(side), r, laplacian="combinatorial")
        np.testing.assert_allclose(gram(k, range(3600)) @ V, exact(side, f, V), atol=1e-9)


def test_the_coefficients_of_an_exponential_are_bessel_functions() -> None:
    z = 50.0  # exp(-z (x + 1)) on [-1, 1]
    found = expand(lambda x: np.exp(-z * (x + 1)), -1.0, 1.0, 1e-10)
    assert found is not None
    orders = np.arange(len(found.coefficients))
    want = 2 * (-1.0) ** orders * scipy.special.ive(orders, z)
    want[0] /= 2
    np.testing.assert_allclose(found.coefficients, want, atol=1e-15)
    rest = np.arange(len(orders), len(orders) + 200)
    tail = 2 * scipy.special.ive(rest, z).sum()
    assert tail <= found.error <= 1e-10
    assert len(orders) <= 1.2 * np.sqrt(2 * z * np.log(1e10))


def test_a_function_that_jumps_has_no_expansion() -> None:
    assert expand(lambda x: (x > 0.3).astype(float), 0.0, 1.0, 1e-8) is None
    k = LaplacianKernel(grid(50), lambda x: (x > 0.3).astype(float))
    with pytest.raises(ParameterError, match="LaplacianKernel: its function of the eigenvalues jumps"):
        k(0, 1)


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    V = np.random.default_rng(0).standard_normal((3600, 17))
    K = gram(Diffusion(grid(60), 3.0), range(3600))
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        found.append(K @ V)
    np.testing.assert_array_equal(*found)


def test_the_radius_of_a_star_is_found() -> None:
    star = (2501, [(0, i) for i in range(1, 2501)])  # eigenvalues 50, -50 and 0
    with pytest.raises(ParameterError, match=r"below 0\.02 in absolute value"):
        VonNeumann(star, 0.02)
    k = VonNeumann(star, 0.019)
    assert k(0, 0) == pytest.approx(1 / (1 - (0.019 * 50) ** 2), rel=1e-9)
    assert ExponentialDiffusion(star, 0.1)(0, 0) == pytest.approx(np.cosh(5.0), rel=1e-9)
    assert PathKernel(star, 3).certificate.positive.refuted
    assert PathKernel(star, 4).certificate.is_psd
    assert operators.operator(k.graph, "laplacian", "").interval[1] >= 2501


def test_a_million_nodes_and_no_matrix() -> None:
    n = 1_000_000
    ring = scipy.sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    k = Diffusion(ring, 2.0, tol=1e-8)
    v = np.zeros(n)
    v[500_000] = 1.0
    found = gram(k, range(n)) @ v
    want = scipy.special.ive(np.arange(-3, 4), 4.0)  # far from its ends the path is a line
    np.testing.assert_allclose(found[500_000 - 3 : 500_000 + 4], want, atol=1e-8)


def test_the_memory_of_a_dense_method_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERCER_MEMORY", "8GiB")
    n = 1_000_000
    path = scipy.sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    with pytest.raises(MemoryLimitError, match="eigendecomposition of a graph of 1000000 nodes needs 29802"):
        TruncatedSpectrum(path, 3)
    with pytest.raises(MemoryLimitError, match="1000000 nodes"):
        LaplacianKernel(path, Cutoff(0.1))(0, 1)
    with pytest.raises(MemoryLimitError, match="dense 1000000 x 1000000 Gram matrix"):
        gram(Diffusion(path, 1.0), range(n)).dense()


def long_path(n: int) -> scipy.sparse.csr_array:
    """The path of n nodes; the ends of its spectrum are too close for Lanczos iteration."""
    ones = np.ones(n - 1)
    return scipy.sparse.diags_array([ones, ones], offsets=[-1, 1]).tocsr()


def test_the_spectral_radius_is_bracketed() -> None:
    rng = np.random.default_rng(0)
    for n, p, signs in ((60, 0.1, [1.0]), (60, 0.1, [-1.0, 1.0]), (40, 0.0, [1.0])):
        A = np.triu(rng.choice(signs, (n, n)) * (rng.random((n, n)) < p))
        low, high = operators.GraphOperator(scipy.sparse.csr_array(A + A.T), "adjacency").bracket
        radius = np.abs(np.linalg.eigvalsh(A + A.T)).max()
        assert low <= radius <= high
    star = scipy.sparse.csr_array(np.pad(np.ones((1, 99)), ((0, 99), (1, 0))))
    low, high = operators.GraphOperator((star + star.T).tocsr(), "adjacency").bracket
    np.testing.assert_allclose([low, high], np.sqrt(99), rtol=1e-3)


def test_kernels_of_weights_on_a_long_path() -> None:
    """(I - B / 2.5)^-1 of an endless path is known: entries 5/3 2^-|i - j|; bounds are enough to see that."""
    n = 5_000
    path = long_path(n)
    row = VonNeumann(path, 0.4).block([n // 2], [n // 2, n // 2 + 1, n // 2 + 5])[0]
    np.testing.assert_allclose(row, 5 / 3 * 2.0 ** -np.array([0, 1, 5]), rtol=1e-11)
    row = ExponentialDiffusion(path, 3.0).block([n // 2], [n // 2, n // 2 + 4])[0]
    np.testing.assert_allclose(row, scipy.special.iv([0, 4], 6.0), rtol=1e-11)
    for decay in (0.5, 0.6, -0.51):
        with pytest.raises(ParameterError, match=r"below 0\.5 in absolute value"):
            VonNeumann(path, decay)
    with pytest.raises(ParameterError, match="at most 350"):
        ExponentialDiffusion(path, 351.0)
    with pytest.raises(ParameterError, match=r"A bound of those of this Laplacian is 4"):
        LaplacianKernel(path, OneStep(3.9), laplacian="combinatorial")
    assert LaplacianKernel(path, OneStep(4.0), laplacian="combinatorial")(0, 0) == pytest.approx(3.0)


def test_the_memory_of_a_matrix_of_all_nodes_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERCER_MEMORY", "100MB")
    with pytest.raises(MemoryLimitError, match=r"the 5000 x 5000 block needs 0\.19 GiB.*gram\(k, X\) @ V"):
        Diffusion(long_path(5_000)).block(range(5_000))


def test_a_time_too_long_for_rounding_names_a_tolerance_that_is_reached() -> None:
    """exp(-t x) has rounding errors of t * 8 * eps: 1e-12 is out of reach at t = 1e5, not 1e-9."""
    side, t = 60, 1e5
    V = np.random.default_rng(0).random((3600, 2))
    with pytest.raises(ParameterError, match=r"from 0 to 8 .*`tol=(1e-\d+)` is within reach") as caught:
        gram(Diffusion(grid(side), t), range(3600)) @ V
    tol = float(str(caught.value).split("`tol=")[1].split("`")[0])
    found = gram(Diffusion(grid(side), t, tol=tol), range(3600)) @ V
    np.testing.assert_allclose(found, exact(side, lambda x: np.exp(-t * x), V), atol=tol * np.sqrt(3600))


def test_a_bound_of_the_radius_is_called_a_bound() -> None:
    """Between 1 / 2 and 1 over the radius 2 cos(pi / (n + 1)) the sum converges, which is not known there."""
    path = long_path(5_000)
    with pytest.raises(ParameterError, match="best known bound of the spectral radius"):
        VonNeumann(path, 0.5)
    with pytest.raises(ParameterError, match="the sum over walks diverges"):
        VonNeumann(path, 0.6)


def test_a_function_of_the_users_proves_nothing_on_a_spectrum_that_is_not_computed() -> None:
    """The cycle has the eigenvalues 1 - cos(2 pi j / n); both functions are >= 0 at 0, .002, ..., 2."""
    n = 2501
    cycle = (n, [(i, (i + 1) % n) for i in range(n)])
    spectrum = 1 - np.cos(2 * np.pi * np.arange(n) / n)
    for r in (
        lambda v: (v - 1.9830002435535325) ** 2 - 2.5e-7,
        lambda v: np.cos(2 * np.pi * v / 0.002),
    ):
        assert r(np.linspace(0.0, 2.0, 1001)).min() >= -1e-12
        assert r(spectrum).min() < -1e-7
        k = LaplacianKernel(cycle, r)
        assert k.certificate.verdict.name == "UNKNOWN"
        assert k.assume("PSD").certificate.is_psd


def test_nothing_is_cut_off_on_a_large_graph() -> None:
    """A walk of one step needs a proved bound: 2 here, where the largest eigenvalue is 1.5."""
    triangles = (2502, [(3 * (i // 3) + i % 3, 3 * (i // 3) + (i + 1) % 3) for i in range(2502)])
    with pytest.raises(ParameterError, match=r"at most 1\.6\. A bound of those of this Laplacian is 2"):
        LaplacianKernel(triangles, OneStep(1.6))
    np.testing.assert_allclose(LaplacianKernel(triangles, OneStep(2.0))(0, 1), 0.5, atol=1e-12)


def test_a_radius_that_was_found_by_iteration_is_a_condition() -> None:
    """Cycles of four nodes with one negative edge: eigenvalues of +-sqrt(2), and +-2 without the sign."""
    edges = [(4 * c + i, 4 * c + (i + 1) % 4, -1.0 if i == 3 else 1.0) for c in range(626) for i in range(4)]
    k = VonNeumann((2504, edges), 0.6)
    assert k(0, 0) == pytest.approx(1 / (1 - 2 * 0.6**2))
    assert k.certificate.is_psd
    assert "1.41421" in k.certificate.conditions[0]
    assert not VonNeumann((2504, edges), 0.4).certificate.conditions
