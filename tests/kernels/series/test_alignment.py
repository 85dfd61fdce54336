"""The global alignment kernel, against the enumeration of all alignments."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import mercer
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError, UnresolvedError
from mercer.kernels import DTW, Gaussian, GlobalAlignment
from mercer.kernels.series import common
from mercer.machines import SVC

from .alignments import alignments

SHORT = [np.array(x)[:, None] for x in ([0.3], [1.0, -0.5], [0.0, 1.0, 2.0], [0.5, 0.5, -1.0, 2.0])]


def local_similarity(k: GlobalAlignment, x: Any, i: int, y: Any, j: int) -> Any:
    g = mpmath.exp(-mpmath.mpf(float(((x[i] - y[j]) ** 2).sum())) / (2 * mpmath.mpf(k.sigma) ** 2))
    if k.band is not None:
        g *= max(0, 1 - mpmath.mpf(abs(i - j)) / k.band)
    return g / (2 - g) if k.local == "divisible" else g


def enumerated(k: GlobalAlignment, x: Any, y: Any) -> Any:
    return mpmath.fsum(
        mpmath.fprod(local_similarity(k, x, i, y, j) for i, j in path) for path in alignments(len(x), len(y))
    )


@pytest.mark.parametrize(
    "k", [GlobalAlignment(0.7), GlobalAlignment(2.0, 2), GlobalAlignment(1.0, 3, "gaussian")]
)
def test_the_sum_over_all_alignments(k: GlobalAlignment) -> None:
    K, logs = k.block(SHORT), k.log_block(SHORT)
    for a, x in enumerate(SHORT):
        for b, y in enumerate(SHORT):
            sums = [enumerated(k, *pair) for pair in ((x, y), (x, x), (y, y))]
            value = float(sums[0] / mpmath.sqrt(sums[1] * sums[2]))
            assert K[a, b] == pytest.approx(value, rel=1e-14)
            assert float(k.precise(x, y)) == pytest.approx(value, rel=1e-14)
            assert logs[a, b] == (
                pytest.approx(float(mpmath.log(sums[0])), abs=1e-14) if sums[0] else -math.inf
            )


def test_numbers_of_alignments() -> None:
    assert [sum(1 for _ in alignments(n, n)) for n in (0, 1, 2, 3, 4)] == [1, 1, 3, 13, 63]
    assert sum(1 for _ in alignments(2, 4)) == 7


def test_the_published_form_of_tslearn() -> None:
    """Values in the documentation of tslearn's cdist_gak."""
    K = GlobalAlignment(2.0).block([[1, 2, 2, 3], [1.0, 2.0, 3.0, 4.0]])
    assert K[0, 1] == pytest.approx(0.65629661, abs=1e-8)
    K = GlobalAlignment(2.0).block([[1, 2, 2]], [[1, 2, 2, 3], [1.0, 2.0, 3.0, 4.0]])
    assert K[0] == pytest.approx([0.71059484, 0.29722877], abs=1e-8)


def test_series_of_five_thousand_steps() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 5000)).cumsum(axis=1)
    assert 0 < GlobalAlignment("median").resolve([x, y])(x, y) < 1


def test_no_overflow_in_expressions() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 800)).cumsum(axis=1)
    k = GlobalAlignment("median").resolve([x, y])
    value = k(x, y)
    assert (k + k)(x, y) == 2 * value
    assert k.normalized().block([x], [y])[0, 0] == pytest.approx(value, rel=1e-12)
    logs = k.log_block([x, y])
    assert value == pytest.approx(math.exp(logs[0, 1] - (logs[0, 0] + logs[1, 1]) / 2), rel=1e-9)
    assert GlobalAlignment(1e-3)(x, y) == 0.0
    assert GlobalAlignment(1e-3).log_block([x], [y])[0, 0] < -1e6


def test_one_value_of_long_series_comes_from_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.random.default_rng(1).standard_normal((2, 30))
    for k in (GlobalAlignment(1.0, 5), DTW(3.0)):
        plain = k(x, y)
        monkeypatch.setattr(common, "LONG", 0)
        assert k(x, y) == pytest.approx(plain, rel=1e-13)
        monkeypatch.undo()


def test_one_long_series_and_a_short_one() -> None:
    """The sum of the long one with itself is beyond floats; the normalised value is not."""
    k, x, y = GlobalAlignment(1.0), np.zeros(600), np.zeros(6)
    logs = k.log_block([x, y])
    expected = math.exp(logs[0, 1] - (logs[0, 0] + logs[1, 1]) / 2)
    assert 1e-280 < expected < 1e-200
    assert k(x, y) == pytest.approx(expected, rel=1e-9)
    assert k.block([x], [y])[0, 0] == pytest.approx(expected, rel=1e-9)


def test_constant_series() -> None:
    k = GlobalAlignment(1.0)
    assert k([2.0] * 3, [5.0] * 3) == pytest.approx(k([0.0] * 3, [3.0] * 3), rel=1e-15)


@pytest.mark.parametrize("local", ["divisible", "gaussian"])
@pytest.mark.parametrize("band", [None, 5])
def test_a_series_has_the_value_one_with_itself(band: int | None, local: str) -> None:
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((n, 2)) * 3 for n in rng.integers(1, 120, 60)]
    copies = [x.copy() for x in X]
    for sigma in (0.1, 1.0, 7.0):
        k = GlobalAlignment(sigma, band, local)
        assert [k(x, y) for x, y in zip(X, copies, strict=True)] == [1.0] * len(X)
        assert (np.diag(k.block(X, copies)) == 1.0).all()
        assert (np.diag(k.block(X)) == 1.0).all()
        assert (k.diagonal(X) == 1.0).all()
        assert [k.block([x], [y])[0, 0] for x, y in zip(X, copies, strict=True)] == [1.0] * len(X)


def test_a_band_cuts_off_lengths_that_differ_too_much() -> None:
    k = GlobalAlignment(1.0, 3)
    assert k([1.0] * 5, [1.0] * 7) > 0
    assert k([1.0] * 5, [1.0] * 8) == 0
    assert k.block([[1.0] * 50], [[1.0] * 5]).tolist() == [[0.0]]
    wide = GlobalAlignment(1.0, 10**9).block(SHORT)
    assert wide == pytest.approx(GlobalAlignment(1.0).block(SHORT), rel=1e-7)


def test_certificates() -> None:
    assert GlobalAlignment(0.1, 4).certificate.verdict is Verdict.PSD
    assert "Cuturi" in GlobalAlignment(0.1).certificate.explain()
    assert GlobalAlignment("median").certificate.verdict is Verdict.PSD
    for sigma in (1e-3, 1.0, 50.0):
        positive = GlobalAlignment(sigma, local="gaussian").certificate.positive
        assert positive.refuted
        assert positive.witness is not None
        assert positive.witness.value == pytest.approx(-0.359784, abs=1e-6)
    one = GlobalAlignment(1.0, 1, "gaussian")
    assert one.certificate.verdict is Verdict.PSD
    assert one(SHORT[2], SHORT[2] + 1) == pytest.approx(Gaussian(1.0)(SHORT[2][:, 0], SHORT[2][:, 0] + 1))


def test_what_the_refutation_rests_on() -> None:
    """G / (1 + G) is not positive definite, and combinations of constant series come close to it."""
    grid = np.arange(6)[:, None] * 0.9
    G = Gaussian(1.0).block(grid)
    assert np.linalg.eigvalsh(G / (1 + G))[0] < -0.01
    assert np.linalg.eigvalsh(G / 2)[0] > 0
    constant = [np.full(n, 0.9 * i) for i in range(6) for n in (1, 2, 3)]
    assert mercer.gram(GlobalAlignment(1.0), constant).check("positive")
    assert not mercer.gram(GlobalAlignment(1.0, local="gaussian"), constant).check("positive")


def test_the_median_rule() -> None:
    X = [[0.0, 1.0], [3.0], [0.0, 1.0, 0.0, 1.0]]
    steps = np.array([0, 1, 3, 0, 1, 0, 1.0])
    gaps = [abs(a - b) for i, a in enumerate(steps) for b in steps[:i] if a != b]
    want = float(np.median(gaps)) * math.sqrt(2)
    assert GlobalAlignment("median").resolve(X).sigma == pytest.approx(want)
    twice = GlobalAlignment("median").resolve(X, sample_weight=[1.0, 2.0, 1.0])
    assert twice.sigma == pytest.approx(GlobalAlignment("median").resolve([*X, X[1]]).sigma)
    assert GlobalAlignment("median").resolve([[2.0], [2.0]]).sigma == 1.0
    with pytest.raises(UnresolvedError):
        GlobalAlignment("median").log_block(X)


@pytest.mark.parametrize("band", [None, 4])
@pytest.mark.parametrize("local", ["divisible", "gaussian"])
def test_contributions_add_up_and_have_places(band: int | None, local: str) -> None:
    k = GlobalAlignment(0.5, band, local)
    x, y = [0.0, 0.0, 1.0, 3.0, 1.0, 0.0], [0.0, 1.0, 3.0, 1.0, 0.0, 0.0, 0.0]
    found = k.contributions(x, y)
    assert found.total == pytest.approx(k(x, y), rel=1e-12)
    best = max((c for c in found if c.x_places), key=lambda c: c.weight)
    assert (best.pattern, best.x_places, best.y_places) == ("x[2:6] with y[1:5]", ((2, 6),), ((1, 5),))
    assert all(c.weight >= -1e-15 for c in found)
    assert k.normalized().contributions(x, y).total == pytest.approx(k(x, y), rel=1e-12)


def test_shares_of_pairs_of_steps_by_enumeration() -> None:
    k, (x, y) = GlobalAlignment(0.8), SHORT[2:]
    total, through = mpmath.mpf(0), np.zeros((len(x), len(y)))
    for path in alignments(len(x), len(y)):
        weight = mpmath.fprod(local_similarity(k, x, i, y, j) for i, j in path)
        total += weight
        for i, j in {i: (i, j) for i, j in reversed(path)}.values():  # the first pair in each row
            through[i, j] += float(weight) / (2 * len(x))
        for i, j in {j: (i, j) for i, j in reversed(path)}.values():
            through[i, j] += float(weight) / (2 * len(y))
    through *= k(x, y) / float(total)
    for c in k.contributions(x, y):
        if c.x_places:
            (i, _), (j, _) = c.x_places[0], c.y_places[0]
            cells = range(max(c.x_places[0][1] - i, c.y_places[0][1] - j))
            di, dj = c.x_places[0][1] - i > 1, c.y_places[0][1] - j > 1
            assert c.weight == pytest.approx(sum(through[i + s * di, j + s * dj] for s in cells), rel=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0.0}, "`sigma` must be a finite number > 0 or 'median'. Got 0.0"),
        ({"sigma": 1e-170}, "`sigma` must not be so small"),
        ({"band": 0}, "`band` must be an integer >= 1 or None. Got 0"),
        ({"band": 2.5}, "`band` must be an integer >= 1 or None. Got 2.5"),
        ({"band": True}, "`band` must be an integer >= 1 or None. Got True"),
        ({"local": "cosine"}, "`local` must be one of 'divisible', 'gaussian'. Got 'cosine'"),
        ({"missing": "fill"}, "`missing` must be one of 'error', 'drop'. Got 'fill'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=f"GlobalAlignment: {message}"):
        GlobalAlignment(**parameters)


def test_bad_series() -> None:
    k = GlobalAlignment()
    with pytest.raises(InputError, match="Y must have as many channels as X"):
        k.log_block([[[1.0, 2.0]]], [[1.0]])
    with pytest.raises(InputError, match=r"y\[0\] must have no missing numbers. Got NaN at step 1"):
        k([1.0], [1.0, math.nan])


def test_large_values_are_merely_far_apart() -> None:
    assert GlobalAlignment(1.0).block([[0.0, 1.0], [1e150, 0.0]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert GlobalAlignment(1e149)([0.0], [1e149]) == pytest.approx(GlobalAlignment(1.0)([0.0], [1.0]))
    assert GlobalAlignment(1e-140)([0.0], [1e-140]) == pytest.approx(GlobalAlignment(1.0)([0.0], [1.0]))


def test_a_machine_learns_shapes_of_several_lengths() -> None:
    rng = np.random.default_rng(0)
    X, y = [], []
    for i in range(30):
        t = np.linspace(0, 1, int(rng.integers(20, 40)))
        X.append(np.sin(2 * np.pi * (1 + i % 2) * t) + 0.1 * rng.standard_normal(len(t)))
        y.append(i % 2)
    machine = SVC(C=10.0, kernel=GlobalAlignment("median")).fit(X[:20], y[:20])
    assert machine.score(X[20:], y[20:]) == 1.0
