"""Random Fourier features: unbiased, within their bounds, the same for dense, sparse and single precision."""

from __future__ import annotations

import copy
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.certificate import Verdict
from mercer.errors import DomainError, InputError, ParameterError
from mercer.features import RandomFourier
from mercer.guarantees import fourier_features_needed, sampled_kernel_size
from mercer.kernel import Kernel
from mercer.kernels import (
    Cauchy,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Mahalanobis,
    Matern,
    NGram,
    RationalQuadratic,
    Sinc,
    SpectralMixture,
    Wendland,
)

KERNELS = [
    Gaussian(1.5),
    Gaussian([0.8, 2.0, 1.0]),
    Mahalanobis([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]),
    Laplacian(2.0),
    Cauchy(1.5),
    Matern(1.5, 2.0),
    Exponential(3.0),
    RationalQuadratic(2.0, 0.7),
    2.0 * Gaussian(1.0) + 3.0 * Laplacian(4.0) + 0.5,
    Gaussian(2.0) * Cauchy(2.0),
]


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(7).standard_normal((20, 3))


@parametrize_with_checks(
    [RandomFourier(Gaussian(1.0), 10), RandomFourier(Laplacian("median"), 7, form="offset")],
    expected_failed_checks=lambda _: {
        "check_dtype_object": "objects that are no numbers are an InputError, which is a ValueError"
    },
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("form", ["paired", "offset"])
@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_features_are_the_formula_and_unbiased(k: Kernel, form: Any, X: np.ndarray) -> None:
    features = RandomFourier(k, 4000, form=form, random_state=3).fit(X)
    Z = features.transform(X)
    assert Z.shape == (20, 4000) == (20, features.dim)
    phases = X @ features.frequencies_.T
    mass = k(X[0], X[0])
    if form == "paired":
        wanted = np.hstack([np.cos(phases), np.sin(phases)]) * math.sqrt(mass / 2000)
        terms = mass * np.cos(phases[:, None] - phases[None])
        np.testing.assert_allclose((Z**2).sum(axis=1), mass, rtol=1e-12)  # exact on the diagonal
    else:
        wanted = np.cos(phases + features.offsets_) * math.sqrt(2 * mass / 4000)
        terms = 4000 * wanted[:, None] * wanted[None]
    np.testing.assert_allclose(Z, wanted, rtol=0, atol=1e-12 * np.abs(phases).max())
    error = np.abs(Z @ Z.T - k.block(X))
    standard = terms.std(axis=2) / math.sqrt(terms.shape[2])
    assert (error <= 4.5 * standard + 1e-9).all()  # 210 pairs: 4.5 standard errors


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_sparse_and_single_precision(k: Kernel, X: np.ndarray) -> None:
    X = np.where(X < 0, 0.0, X).astype(np.float32)
    features = RandomFourier(k, 300, random_state=1).fit(X)
    Z = features.transform(X.astype(np.float64))
    single = features.transform(X)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=1e-6)  # phases are in double precision
    for data in (scipy.sparse.csr_array(X.astype(np.float64)), np.asfortranarray(X.astype(np.float64))):
        scale = np.abs(features.frequencies_).max()
        np.testing.assert_allclose(features.transform(data), Z, atol=1e-13 * max(1.0, scale))
    assert features.transform(scipy.sparse.csr_array(X)).dtype == np.float32


def test_phases_of_any_size() -> None:
    """Cosines are those of the C library, whatever the phase; one and two threads give the same bits."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(-s, s, 300) for s in (1e-300, 1.0, 40.0, 1e5, 1e7, 1e15, 1e200)])[:, None]
    features = RandomFourier(SpectralMixture([[1.0]]), 2).fit(X)
    Z = features.transform(X)
    w = features.frequencies_[0, 0]
    np.testing.assert_allclose(Z, np.hstack([np.cos(w * X), np.sin(w * X)]), rtol=0, atol=3e-16)


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).standard_normal((700, 5))
    features = RandomFourier(Gaussian(1.0), 600).fit(X)
    found = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", count)
        found.append(features.transform(X))
    assert all((found[0] == Z).all() for Z in found)


def test_out(X: np.ndarray) -> None:
    features = RandomFourier(Gaussian(1.0), 10).fit(X)
    Z = features.transform(X)
    out = np.full((20, 14), np.nan)
    assert features.transform(X, out=out[:, 2:12]).base is out
    assert (out[:, 2:12] == Z).all()
    assert np.isnan(out[:, [0, 1, 12, 13]]).all()
    narrow = np.empty((20, 10), dtype=np.float32)
    np.testing.assert_allclose(features.transform(X, out=narrow), Z, atol=1e-6)
    read_only = np.empty((20, 10))
    read_only.flags.writeable = False
    for wrong in (np.empty((20, 9)), np.empty((20, 10), int), np.empty((10, 20)).T, read_only, [1.0]):
        with pytest.raises(InputError, match=r"RandomFourier: `out` must be a writeable float array"):
            features.transform(X, out=wrong)


def test_orthogonal_frequencies_have_a_smaller_variance() -> None:
    X = np.random.default_rng(0).standard_normal((30, 8))
    k = Gaussian(3.0)
    K = k.block(X)
    squares = {False: 0.0, True: 0.0}
    for orthogonal in squares:
        for seed in range(40):
            Z = RandomFourier(k, 64, orthogonal=orthogonal, random_state=seed).fit(X).transform(X)
            squares[orthogonal] += float(((Z @ Z.T - K) ** 2).mean()) / 40
    assert squares[True] < 0.5 * squares[False]
    with pytest.raises(DomainError, match="orthogonal"):
        RandomFourier(Laplacian(1.0), 8, orthogonal=True).fit(X)


def test_paired_beats_offset_and_the_sampler_of_scikit_learn() -> None:
    X = np.random.default_rng(1).standard_normal((40, 5))
    K = Gaussian(3.0).block(X)

    def error(make: Any) -> float:
        total = 0.0
        for seed in range(20):
            Z = make(seed).fit(X).transform(X)
            total += float(((Z @ Z.T - K) ** 2).mean()) / 20
        return total

    paired = error(lambda s: RandomFourier(Gaussian(3.0), 100, random_state=s))
    offset = error(lambda s: RandomFourier(Gaussian(3.0), 100, form="offset", random_state=s))
    theirs = error(lambda s: RBFSampler(gamma=1 / 18, n_components=100, random_state=s))
    assert paired < 0.8 * offset
    assert offset == pytest.approx(theirs, rel=0.5)


@pytest.mark.parametrize("seed", range(4))
def test_errors_are_within_the_bounds(seed: int) -> None:
    X = np.random.default_rng(seed).uniform(-1, 1, (60, 2))
    for k in (Gaussian(1.0), 3.0 * Matern(2.5, 0.7), Gaussian(0.5) + RationalQuadratic(1.0, 2.0)):
        features = RandomFourier(k, 4000, random_state=seed).fit(X)
        Y = np.random.default_rng(seed + 9).uniform(-0.7, 0.7, (100, 2))  # in the same ball, not seen in fit
        Z, V = features.transform(X), features.transform(Y)
        worst = max(np.abs(Z @ Z.T - k.block(X)).max(), np.abs(V @ V.T - k.block(Y)).max())
        bounds = {
            name: float(features.error_bound(theorem=name))
            for name in ("hoeffding", "rahimi-recht", "sriperumbudur-szabo")
        }
        assert worst < bounds["hoeffding"] < bounds["rahimi-recht"] < bounds["sriperumbudur-szabo"]
        assert bounds["hoeffding"] < 12 * worst  # and says something
    heavy = RandomFourier(Laplacian(1.0), 4000, form="offset", random_state=seed).fit(X)
    Z = heavy.transform(X)
    assert np.abs(Z @ Z.T - Laplacian(1.0).block(X)).max() < float(heavy.error_bound(theorem="hoeffding"))


def test_numbers_of_features_from_an_error() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    options: Any = {"eps": 0.3, "delta": 0.1}
    uniform = RandomFourier(Gaussian(1.0), **options).fit(X)
    radius = float(np.linalg.norm(X - X.mean(axis=0), axis=1).max())
    assert uniform.radius_ == pytest.approx(radius)
    assert uniform.dim == 2 * int(fourier_features_needed(2, uniform.radius_, math.sqrt(2), 0.3, 0.1))
    assert float(uniform.error_bound()) == pytest.approx(0.3, rel=1e-3)
    sample = RandomFourier(Laplacian(1.0), theorem="hoeffding", **options).fit(X)
    assert sample.dim == 2 * int(sampled_kernel_size(1.0, 0.3, 0.1, 50))
    assert float(sample.error_bound()) == pytest.approx(0.3, rel=1e-2)
    rates = RandomFourier(Gaussian(1.0), eps=5.0, theorem="sriperumbudur-szabo").fit(X)
    assert float(rates.error_bound()) == pytest.approx(5.0, rel=0.01)
    assert rates.error_bound().vacuous
    sparse = RandomFourier(Gaussian(1.0)).fit(scipy.sparse.csr_array(X))
    assert sparse.radius_ == pytest.approx(radius)
    assert sparse.dim == 100
    assert RandomFourier(Gaussian(1.0), 7).fit(X).dim == 8  # cosine and sine of each frequency
    assert RandomFourier(Gaussian(1.0), 7, form="offset").fit(X).dim == 7


def test_as_kernel(X: np.ndarray) -> None:
    features = RandomFourier(Matern(2.5, "median"), 50, random_state=2).fit(X)
    k = features.as_kernel()
    Z = features.transform(X)
    np.testing.assert_allclose(k.block(X), Z @ Z.T, atol=1e-12)
    assert k(X[0], X[1]) == pytest.approx(Z[0] @ Z[1])
    assert k.certificate.verdict is Verdict.PSD
    assert k == features.as_kernel() == pickle.loads(pickle.dumps(k)) == copy.deepcopy(k)
    assert k != RandomFourier(Matern(2.5, "median"), 50, random_state=3).fit(X).as_kernel()
    assert features.target == Matern(2.5, "median").resolve(X)
    assert features.get_feature_names_out()[[0, 24, 25, 49]].tolist() == ["cos0", "cos24", "sin0", "sin24"]
    again = clone(features).set_params(kernel__nu=1.5).fit(X)
    assert again.target.nu == 1.5
    assert RandomFourier(Sinc(2.0), 10).fit([0.0, 1.0, 2.0]).transform([0.5]).shape == (1, 10)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (RandomFourier(Linear()), DomainError, r"Linear\(\) has no spectral density.*Nystrom"),
        (RandomFourier(Wendland(3)), DomainError, r"Wendland.*Nystrom"),
        (RandomFourier(3.0), ParameterError, "RandomFourier: `kernel` must be a kernel"),
        (
            RandomFourier(Gaussian(), 0),
            ParameterError,
            "RandomFourier.*`n_components` must be an integer >= 1",
        ),
        (RandomFourier(Gaussian(), 2.5), ParameterError, "`n_components` must be an integer"),
        (RandomFourier(Gaussian(), 1 << 25), ParameterError, "`n_components` must be at most"),
        (RandomFourier(Gaussian(), form="sines"), ParameterError, "`form` must be 'paired' or 'offset'"),
        (RandomFourier(Gaussian(), eps=0.0), ParameterError, "`eps` must be a positive finite number"),
        (RandomFourier(Gaussian(), eps=0.5, delta=1.0), ParameterError, r"`delta` must be in \(0, 1\)"),
        (RandomFourier(Gaussian(), delta=0.0), ParameterError, r"`delta` must be in \(0, 1\)"),
        (RandomFourier(Gaussian(), eps=1e-6), ParameterError, "`n_components` must be at most"),
        (RandomFourier(Gaussian(), 10, eps=0.5), ParameterError, "`n_components` must be None where `eps`"),
        (RandomFourier(Gaussian(), eps=0.5, theorem="x"), ParameterError, "`theorem` must be one of"),
        (RandomFourier(Laplacian(), eps=0.5), ParameterError, "finite second moment.*theorem='hoeffding'"),
        (
            RandomFourier(Gaussian(), eps=0.5, form="offset"),
            ParameterError,
            "about the paired form.*hoeffding",
        ),
        (RandomFourier(Gaussian(), eps=0.5, orthogonal=True), ParameterError, "independent frequencies"),
    ],
)
def test_bad_parameters(features: RandomFourier, error: type[Exception], message: str, X: np.ndarray) -> None:
    with pytest.raises(error, match=message):
        features.fit(X)


def test_bad_data(X: np.ndarray) -> None:
    features = RandomFourier(Gaussian(1.0), 10)
    with pytest.raises(NotFittedError):
        features.transform(X)
    with pytest.raises(InputError, match="must be one of vectors"):
        RandomFourier(NGram(2), 10).fit(["abc"])
    features.fit(X)
    with pytest.raises(InputError, match="X has 2 features, but RandomFourier is expecting 3"):
        features.transform(X[:, :2])
    X[4, 1] = np.inf
    with pytest.raises(InputError, match="row 4"):
        features.transform(X)
    with pytest.raises(InputError, match="overflows"):
        features.transform(np.full((1, 3), 1e308))
    with pytest.raises(InputError, match=r"0 sample\(s\)"):
        features.fit(X[:0])


@pytest.mark.parametrize(
    ("section", "lines"),
    [
        ("Frequencies", ["True", "6172", "2048", "(30, 3)"]),
        ("Random and homogeneous", ["2444 True", "180 True", "(3, 256)", "True"]),
    ],
)
def test_the_page_on_feature_maps_is_true(section: str, lines: list[str], capsys: Any) -> None:
    page = Path(__file__).parents[2] / "docs" / "feature_maps.md"
    text = page.read_text(encoding="utf-8").split(f"## {section}")[1].split("\n## ")[0]
    for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M):
        exec(compile(block, str(page), "exec"), {})
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    "options", [{}, {"form": "offset"}, {"orthogonal": True}], ids=["paired", "offset", "orthogonal"]
)
def test_the_number_of_features_from_the_data(options):
    X = np.random.default_rng(5).standard_normal((300, 3))
    k = 2.0 * Gaussian(1.5)
    map = RandomFourier(k, eps=0.1, theorem="measured", **options).fit(X)
    Z = map.transform(X)
    assert np.abs(Z @ Z.T - k.block(X)).max() <= 0.2 + 1e-12
    fewer = RandomFourier(k, map.dim // 8, **options).fit(X).transform(X)
    assert np.abs(fewer @ fewer.T - k.block(X)).max() > 0.2
    with pytest.raises(ParameterError, match="bounds no other"):
        map.error_bound()
