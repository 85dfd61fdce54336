"""Sums and minima over alignments on the native core, against plain recursions."""

import itertools
import math

import numpy as np
import pytest

from mercer import _native
from mercer.engine import series as engine
from mercer.engine.series import Steps

pytestmark = pytest.mark.native

#: Lengths around the number of rows at once and of lanes, and none.
LENGTHS = [0, 1, 2, 3, 4, 5, 8, 9, 13, 1, 6, 0, 17]


def random_series(lengths, channels, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, channels)).cumsum(axis=0) for n in lengths]


def pack(series, local=None, scale=1.0, band=None):
    """Series as the engine takes them, behind a series that no start points to."""
    channels = series[0].shape[1]
    values = np.concatenate([np.full((3, channels), 1e9), *series])
    starts = np.concatenate([[3], 3 + np.cumsum([len(x) for x in series])]).astype(np.int64)
    steps = Steps(values, starts)
    return steps if local is None else Steps(values, starts, engine.gauge(steps, local, scale, band)[0])


def squares(x, y):
    D = np.zeros((len(x), len(y)))
    for c in range(x.shape[1]):
        D += (x[:, None, c] - y[None, :, c]) ** 2
    return D


def recursion(S, start, nothing, join):
    """The last cell of a table that is filled cell by cell."""
    n, m = S.shape
    T = np.full((n + 1, m + 1), nothing)
    T[0, 0] = start
    for i in range(n):
        for j in range(m):
            T[i + 1, j + 1] = join(S[i, j], T[i, j], T[i, j + 1], T[i + 1, j])
    return T[n, m]


def plain_dtw(x, y, band):
    D = squares(x, y)
    if band is not None:
        i, j = np.indices(D.shape)
        D[abs(i - j) > max(band, abs(len(x) - len(y)))] = math.inf
    return recursion(D, 0.0, math.inf, lambda s, *before: s + min(before))


def similarities(x, y, local, scale, band):
    G = np.exp(-scale * squares(x, y))
    if band is not None:
        i, j = np.indices(G.shape)
        G *= np.maximum(0.0, 1.0 - abs(i - j) / band)
    return G / (2 - G) if local == "divisible" else G


def plain_sum(x, y, *rule):
    return recursion(similarities(x, y, *rule), 1.0, 0.0, lambda s, *before: s * sum(before))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("band", [None, 0, 2, 40])
def test_warping_is_the_plain_recursion_to_the_last_bit(channels, band):
    X, Y = random_series(LENGTHS, channels), random_series(LENGTHS[::2], channels, seed=1)
    want = [[plain_dtw(x, y, band) for y in Y] for x in X]
    assert np.array_equal(engine.squared_warping_distances(pack(X), pack(Y), band), want)
    assert np.array_equal(engine.squared_warping_distances(pack(Y), pack(X), band).T, want)
    own = engine.squared_warping_distances(pack(X), None, band)
    assert np.array_equal(own, [[plain_dtw(x, y, band) for y in X] for x in X])


@pytest.mark.parametrize(("local", "channels"), [("divisible", 1), ("gaussian", 2), ("divisible", 3)])
@pytest.mark.parametrize("band", [None, 1, 3, 40])
@pytest.mark.parametrize("scale", [0.02, 0.4])
def test_sums_are_the_plain_recursion(local, channels, band, scale):
    rule = (local, scale, band)
    X, Y = random_series(LENGTHS, channels), random_series(LENGTHS[1::3], channels, seed=1)
    ratios, norms = engine.gauge(pack(X), *rule)
    assert set(np.log2(ratios) % 1) == {0.0}
    starts = pack(X).starts
    scales = np.array([ratios[a:b].prod() for a, b in itertools.pairwise(starts)])
    own = np.array([plain_sum(x, x, *rule) for x in X])
    assert norms == pytest.approx(own * scales**2, rel=1e-13)

    got = engine.scaled_sums(pack(X, *rule), pack(Y, *rule), *rule)
    want = np.array([[plain_sum(x, y, *rule) for y in Y] for x in X])
    y_norms, own_y = engine.gauge(pack(Y), *rule)[1], np.array([plain_sum(y, y, *rule) for y in Y])
    normalized = want / np.sqrt(np.multiply.outer(own, own_y))
    assert got / np.sqrt(np.multiply.outer(norms, y_norms)) == pytest.approx(
        normalized, rel=1e-12, abs=1e-200
    )
    with np.errstate(divide="ignore"):
        logs = np.log(want)
    assert engine.log_sums(pack(X), pack(Y), *rule) == pytest.approx(logs, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("band", [None, 2])
def test_a_value_depends_on_its_pair_alone(band):
    X, Y = random_series(LENGTHS, 2), random_series([5, 11, 3, 0], 2, seed=1)
    rule = ("divisible", 0.3, band)

    def everything(X, Y):
        x, y = pack(X, *rule), None if Y is None else pack(Y, *rule)
        return np.stack(
            [
                engine.squared_warping_distances(x, y, band),
                engine.scaled_sums(x, y, *rule),
                engine.log_sums(x, y, *rule),
            ]
        )

    whole = everything(X + Y, None)
    assert np.array_equal(whole, whole.transpose(0, 2, 1))
    cross = whole[:, : len(X), len(X) :]
    assert np.array_equal(everything(X, Y), cross)
    assert np.array_equal(everything(Y, X).transpose(0, 2, 1), cross)
    one_by_one = [[everything([x], [y])[:, 0, 0] for y in Y] for x in X]
    assert np.array_equal(np.array(one_by_one).transpose(2, 0, 1), cross)


def test_the_number_of_threads_does_not_matter(monkeypatch):
    X = random_series(LENGTHS * 3, 1)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        results.append(engine.scaled_sums(pack(X, "divisible", 1.0), None, "divisible", 1.0))
    assert np.array_equal(*results)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6])
def test_long_series_neither_overflow_nor_lose_digits(scale):
    """The sum over alignments of 1,200 steps has up to 917 digits, or is the product of one alignment."""
    x, y = np.random.default_rng(0).standard_normal((2, 1200, 1)).cumsum(axis=1)
    logs = engine.log_sums(pack([x, y]), None, "divisible", scale)
    ratios, norms = engine.gauge(pack([x, y]), "divisible", scale)
    exponents = -np.log2(ratios[3:]).reshape(2, 1200).sum(axis=1) * math.log(2) + np.log(norms) / 2
    assert 2 * exponents == pytest.approx(np.diag(logs), rel=1e-13, abs=1e-9)
    K = engine.scaled_sums(pack([x, y], "divisible", scale), None, "divisible", scale)
    K /= np.sqrt(np.multiply.outer(norms, norms))
    assert np.isfinite(K).all()
    assert np.diag(K) == pytest.approx([1.0, 1.0], rel=1e-12)
    assert K[0, 1] == pytest.approx(math.exp(logs[0, 1] - np.diag(logs).mean()), rel=1e-8, abs=1e-300)


def test_alignments_of_constant_series_are_counted():
    """Delannoy numbers."""
    counts = engine.log_sums(pack([np.zeros((n, 1)) for n in (1, 2, 3, 4, 9)]), None, "gaussian", 1.0)
    assert np.exp(np.diag(counts)) == pytest.approx([1, 3, 13, 63, 265729], rel=1e-13)


def test_the_work_can_be_interrupted():
    class Enough(Exception):
        pass

    def stop():
        raise Enough

    values = np.zeros((12_000, 1))
    starts = np.array([0, 6_000, 12_000])
    out = np.empty((2, 2))
    for threads in (1, 2):
        with pytest.raises(Enough):
            _native.align_series(
                _native.DTW, values, starts, np.empty(0), values, starts, np.empty(0), 0.0, -1, True, out,
                threads, stop,
            )  # fmt: skip
        with pytest.raises(Enough):
            _native.gauge_series(
                _native.DIVISIBLE, values, starts, 1.0, -1, np.empty(12_000), np.empty(2), threads, stop
            )


def test_subnormal_numbers_are_left_as_they_were():
    X = random_series([40, 40], 1)
    engine.scaled_sums(pack(X, "divisible", 50.0), None, "divisible", 50.0)
    assert np.array([1e-308]) / 10 > 0


def test_no_series_at_all():
    none, some = Steps(np.empty((0, 1)), np.array([0])), pack(random_series([3], 1))
    for x, y, shape in ((none, None, (0, 0)), (none, some, (0, 1)), (some, none, (1, 0))):
        assert engine.squared_warping_distances(x, y).shape == shape
        assert engine.log_sums(x, y, "divisible", 1.0).shape == shape
    assert [a.shape for a in engine.gauge(none, "divisible", 1.0)] == [(0,), (0,)]
