"""Warping distances and their kernels, against the enumeration of all alignments."""

import math
from typing import Any

import numpy as np
import pytest

from mercer.certificate import Verdict
from mercer.domains import Series
from mercer.errors import DefinitenessError, ParameterError
from mercer.kernels import DTW, GlobalAlignment, SoftDTW, dtw, dtw_path
from mercer.machines import SVC

from .alignments import alignments

SHORT = [np.array(x)[:, None] for x in ([0.3], [1.0, -0.5], [0.0, 1.0, 2.0], [0.5, 0.5, -1.0, 2.0])]
PLANE = [np.stack([x[:, 0], 1 - x[:, 0] ** 2], axis=1) for x in SHORT]


def costs(x: Any, y: Any, band: int | None = None) -> list[float]:
    """Cost of every alignment within the band."""
    limit = math.inf if band is None else max(band, abs(len(x) - len(y)))
    return [
        math.fsum(float(((x[i] - y[j]) ** 2).sum()) for i, j in path)
        for path in alignments(len(x), len(y))
        if all(abs(i - j) <= limit for i, j in path)
    ]


@pytest.mark.parametrize("band", [None, 0, 1])
@pytest.mark.parametrize("series", [SHORT, PLANE], ids=["line", "plane"])
def test_the_least_cost_of_an_alignment(series: list[np.ndarray], band: int | None) -> None:
    D = DTW(2.0, band).distances(series)
    K = DTW(2.0, band).block(series)
    for i, x in enumerate(series):
        for j, y in enumerate(series):
            least = min(costs(x, y, band))
            assert D[i, j] == pytest.approx(math.sqrt(least), rel=1e-14)
            assert K[i, j] == pytest.approx(math.exp(-least / 8), rel=1e-14)
            assert dtw(x, y, band=band) == D[i, j]
            path, length = dtw_path(x, y, band=band)
            assert length == D[i, j]
            assert tuple(path) in set(alignments(len(x), len(y)))
            assert sum(float(((x[a] - y[b]) ** 2).sum()) for a, b in path) == pytest.approx(least, rel=1e-14)


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 30.0])
def test_the_soft_minimum_over_alignments(gamma: float) -> None:
    k = SoftDTW(1.5, gamma)
    D, K = k.divergences(SHORT), k.block(SHORT)

    def soft(x: Any, y: Any) -> float:
        all_costs = costs(x, y)
        least = min(all_costs)
        return least - gamma * math.log(math.fsum(math.exp((least - c) / gamma) for c in all_costs))

    for i, x in enumerate(SHORT):
        for j, y in enumerate(SHORT):
            divergence = soft(x, y) - (soft(x, x) + soft(y, y)) / 2
            assert D[i, j] == pytest.approx(divergence, abs=1e-12)
            assert K[i, j] == pytest.approx(math.exp(-divergence / 4.5), rel=1e-12)


def test_soft_dtw_between_its_relatives() -> None:
    assert SoftDTW(1.0, 1e-9).block(SHORT) == pytest.approx(DTW(1.0).block(SHORT), abs=1e-7)
    assert SoftDTW(0.8, 2 * 0.8**2).block(SHORT) == pytest.approx(
        GlobalAlignment(0.8, local="gaussian").block(SHORT), rel=1e-12
    )


def test_soft_dtw_of_long_series() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 2000)).cumsum(axis=1)
    k = SoftDTW(100.0, 0.1)
    assert np.isfinite(k.divergences([x], [y])).all()
    assert 0 < k(x, y) < 1


def test_a_band_of_nothing_is_the_euclidean_distance() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 50))
    assert dtw(x, y, band=0) == pytest.approx(float(np.linalg.norm(x - y)), rel=1e-14)
    assert dtw(x, y) <= dtw(x, y, band=5) <= dtw(x, y, band=1) <= dtw(x, y, band=0)


def test_channels_may_come_first() -> None:
    x, y = np.random.default_rng(1).standard_normal((2, 3, 20))
    expected = dtw(x.T, y.T)
    assert dtw(x, y, layout="channels_first") == expected
    assert dtw_path(x, y, layout="channels_first") == dtw_path(x.T, y.T)


@pytest.mark.parametrize("band", [None, 0, 1, 5])
@pytest.mark.parametrize("sigma", [1e-3, 1.0, 40.0])
def test_dtw_is_refuted_at_every_width(sigma: float, band: int | None) -> None:
    positive = DTW(sigma, band).certificate.positive
    assert positive.refuted
    assert positive.witness is not None
    assert positive.witness.value == pytest.approx(-0.05546, abs=1e-5)
    if band != 0:
        assert {len(p) for p in positive.witness.points} == {3}


@pytest.mark.parametrize(
    ("sigma", "gamma", "verdict"),
    [
        (1.0, 1e-3, Verdict.REFUTED),
        (1.0, 1.0, Verdict.REFUTED),
        (3.0, 18.0, Verdict.REFUTED),
        (1.0, 30.0, Verdict.UNKNOWN),
        ("median", 1.0, Verdict.UNKNOWN),
    ],
)
def test_what_is_known_about_soft_dtw(sigma: Any, gamma: float, verdict: Verdict) -> None:
    assert SoftDTW(sigma, gamma).certificate.verdict is verdict


def test_machines_are_told_what_to_do_about_it() -> None:
    X, y = [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [3.0, 3.0, 3.0]], [0, 1, 0, 1]
    with pytest.raises(DefinitenessError):
        SVC(kernel=DTW(1.0), indefinite="error").fit(X, y)
    assert SVC(kernel=DTW(1.0), indefinite="clip").fit(X, y).predict(X).shape == (4,)


def test_the_median_rule() -> None:
    X = [[0.0], [1.0], [3.0], [3.0]]
    assert DTW("median").resolve(X).sigma == 2.0  # of 1, 2, 2, 3, 3
    assert SoftDTW("median").resolve(X).sigma == 2.0
    weighted = DTW("median").resolve([[0.0], [1.0], [3.0], [8.0]], sample_weight=[1.0, 1.0, 2.0, 0.0])
    assert weighted.sigma == 2.0
    assert DTW("median").resolve([[1.0], [1.0]]).sigma == 1.0
    many = np.random.default_rng(0).standard_normal((600, 3))
    D = DTW().distances(many)
    assert DTW("median").resolve(many[::-1]) == DTW("median").resolve(many)
    assert 0.47 < (D[np.tril_indices(600, -1)] < DTW("median").resolve(many).sigma).mean() < 0.53


def test_contributions_follow_the_best_path() -> None:
    x, y = [0.0, 0.0, 1.0, 3.0, 1.0], [0.0, 1.0, 3.0, 1.0, 5.0]
    for k in (DTW(1.0), SoftDTW(1.0, 0.2)):
        found = k.contributions(x, y)
        assert found.total == pytest.approx(k(x, y), rel=1e-12)
        assert found[0].pattern == "x[2:5] with y[1:4]"
    assert [c.pattern for c in DTW(1.0).contributions([1.0], [2.0])] == ["x[0:1] with y[0:1]"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DTW(-1.0), "DTW: `sigma` must be a finite number > 0"),
        (lambda: DTW(1.0, -1), "DTW: `band` must be an integer >= 0 or None. Got -1"),
        (lambda: dtw([1.0], [2.0], band=0.5), "dtw: `band` must be an integer >= 0 or None. Got 0.5"),
        (lambda: dtw_path([1.0], [2.0], band=-2), "dtw_path: `band` must be an integer >= 0"),
        (lambda: SoftDTW(1.0, 0.0), "SoftDTW: `gamma` must be a finite number > 0"),
        (lambda: SoftDTW(1.0, 1e-308), "SoftDTW: `gamma` must not be so small"),
    ],
    ids=["sigma", "band", "dtw", "dtw_path", "gamma", "tiny-gamma"],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_many_samples_of_the_domain() -> None:
    """The plain definition and the native block on whatever the domain draws."""
    X = Series(2).sample(40, np.random.default_rng(1))
    for k in (DTW(1.0, 1), SoftDTW(1.0, 0.5), GlobalAlignment(1.0, 3)):
        assert k.block(X) == pytest.approx(np.array([[k(x, y) for y in X] for x in X]), rel=1e-9, abs=1e-300)
