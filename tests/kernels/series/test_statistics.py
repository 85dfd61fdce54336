"""Transitions and autocorrelations, against counting and correlating by hand."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import Autocorrelation, Transitions

WALKS = [np.random.default_rng(s).standard_normal(n).cumsum() for s, n in enumerate((1, 1, 2, 7, 30, 31))]


# -- transitions ----------------------------------------------------------------------------------
def words(x: Any, cuts: Any, length: int, lag: int) -> Counter[Any]:
    states = np.digitize(x, cuts)
    last = len(x) - (length - 1) * lag
    return Counter(tuple(states[t + s * lag].tolist() for s in range(length)) for t in range(last))


@pytest.mark.parametrize(("length", "lag"), [(1, 1), (2, 1), (2, 3), (3, 2), (5, 1)])
def test_transitions_are_counted(length: int, lag: int) -> None:
    cuts = [-1.0, 0.0, 0.5]
    k = Transitions(cuts, length, lag)
    counted = [words(x, cuts, length, lag) for x in WALKS]
    want = [[sum(a[w] * b[w] for w in a) for b in counted] for a in counted]
    assert k.block(WALKS).tolist() == want
    assert k.diagonal(WALKS).tolist() == np.diag(want).tolist()
    assert k.block(WALKS[:2], WALKS).tolist() == want[:2]


def test_states_of_several_channels() -> None:
    x = np.array([[0.0, 5.0], [2.0, 5.0], [0.0, 5.0]])
    y = np.array([[0.0, 5.0], [2.0, 9.0], [0.0, 5.0]])
    assert Transitions([1.0])(x, x) == 2.0
    assert Transitions([[1.0], [7.0]])(x, y) == 0.0
    assert Transitions([[1.0], [70.0]])(x, y) == 2.0
    assert Transitions([1.0], length=1)(x, y) == 5.0
    with pytest.raises(InputError, match=r"must have 2 channel\(s\). Got 1"):
        Transitions([[1.0], [7.0]])([1.0], [2.0])


def test_a_value_on_a_cut_is_above_it() -> None:
    k = Transitions([0.0], length=1)
    assert (k([0.0], [1.0]), k([0.0], [-1.0])) == (1.0, 0.0)


def test_quartiles() -> None:
    k = Transitions().resolve([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    assert k.cuts.tolist() == [2.0, 4.0, 6.0]
    weighted = Transitions().resolve([[1.0], [2.0], [3.0]], sample_weight=[1.0, 1.0, 6.0])
    assert weighted.cuts.tolist() == [2.0, 3.0, np.nextafter(3.0, 4.0)]
    two = Transitions().resolve([[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]]])
    assert two.cuts.tolist() == [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]
    with pytest.raises(InputError, match="needs data with at least one step"):
        Transitions().resolve([])


def test_transitions_that_two_series_share() -> None:
    found = Transitions([0.0], lag=2).contributions([1.0, -1.0, 1.0, -1.0, 1.0], [1.0, 1.0, 1.0])
    assert [(c.pattern, c.weight, c.x_places, c.y_places) for c in found] == [
        ((1, 1), 2.0, ((0, 3), (2, 5)), ((0, 3),))
    ]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cuts": [1.0, 1.0]}, "`cuts` must be increasing numbers"),
        ({"cuts": [0.0], "length": 0}, "`length` must be an integer >= 1"),
        ({"cuts": [0.0], "lag": 0}, "`lag` must be an integer >= 1"),
    ],
)
def test_bad_transitions(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=f"Transitions: {message}"):
        Transitions(**parameters)


def test_too_many_words() -> None:
    with pytest.raises(ParameterError, match=r"fewer than 2\^62 words. Got 4\^40"):
        Transitions([0.0, 1.0, 2.0], length=40).block([[1.0]])


# -- autocorrelation ------------------------------------------------------------------------------
def correlations(x: Any, lags: int) -> np.ndarray:
    """By NumPy's correlation of a series with itself."""
    z = x - x.mean()
    full = np.correlate(z, z, "full")[len(z) - 1 :]
    R = np.zeros(lags + 1)
    if z.any():
        R[: min(lags + 1, len(z))] = (full / full[0])[: lags + 1]
    return R


@pytest.mark.parametrize("lags", [0, 3, 50])
def test_autocorrelations(lags: int) -> None:
    R = np.stack([correlations(x, lags) for x in WALKS])
    want = R @ (R * 0.8 ** np.arange(lags + 1)).T
    k = Autocorrelation(lags, 0.8)
    assert k.block(WALKS) == pytest.approx(want, abs=1e-12)
    assert k.diagonal(WALKS) == pytest.approx(np.diag(want), abs=1e-12)


def test_cross_correlations() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 20, 2))
    total = 0.0
    for lag in range(4):
        for a in range(2):
            for b in range(2):
                r = []
                for z in (x - x.mean(axis=0), y - y.mean(axis=0)):
                    scale = np.linalg.norm(z[:, a]) * np.linalg.norm(z[:, b])
                    r.append(z[: 20 - lag, a] @ z[lag:, b] / scale)
                total += r[0] * r[1]
    k = Autocorrelation(3)
    assert k(x, y) == pytest.approx(total, rel=1e-12)
    found = k.contributions(x, y)
    assert found.total == pytest.approx(total, rel=1e-12)
    assert "lag 0, channels 0 and 1" in {c.pattern for c in found}


def test_autocorrelation_does_not_see_shifts_and_scales() -> None:
    k = Autocorrelation(5)
    x = WALKS[4]
    assert k(x, 100 + 7 * x) == pytest.approx(k(x, x), rel=1e-10)
    assert k([0.1] * 7, x) == 0.0
    assert k([0.1, 0.1, 0.1], [0.1, 0.1, 0.1]) == 0.0


def test_both_are_certified() -> None:
    assert Transitions().certificate.verdict is Verdict.PSD
    assert Autocorrelation().certificate.verdict is Verdict.PSD
    with pytest.raises(ParameterError, match="`decay` must be a finite number > 0 and <= 1"):
        Autocorrelation(3, 1.5)
