"""Optimal transport against SciPy, permutations, linear programs and the witnesses against it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import mercer
from mercer.certificate import Property, Verdict
from mercer.domains import Cloud
from mercer.errors import InputError, ParameterError
from mercer.kernels import (
    EarthMover,
    EditDistance,
    Gaussian,
    PowerDistance,
    SlicedWasserstein,
    earth_mover,
)

ROUNDING = 1e-12


def on_line(seed: int = 0) -> list[Cloud]:
    rng = np.random.default_rng(seed)
    return [Cloud(rng.standard_normal(n), rng.random(n)) for n in (1, 7, 4, 2, 4)]


# -- sliced Wasserstein ---------------------------------------------------------------------------
def test_on_the_line_it_is_the_distance_of_scipy():
    X = on_line()
    want = [[wasserstein_distance(a.points, b.points, a.weights, b.weights) for b in X] for a in X]
    np.testing.assert_allclose(SlicedWasserstein().block(X), want, atol=ROUNDING)
    np.testing.assert_allclose([[SlicedWasserstein()(a, b) for b in X] for a in X], want, atol=ROUNDING)


@pytest.mark.parametrize("power", [1, 2])
def test_on_the_line_it_is_the_linear_program(power):
    """The monotone coupling is optimal for convex costs."""
    X = on_line(1)
    np.testing.assert_allclose(
        SlicedWasserstein(power=power).block(X), EarthMover(PowerDistance(power)).block(X), atol=1e-8
    )


@pytest.mark.parametrize("power", [1, 2])
def test_in_space_it_is_the_mean_over_directions(power):
    rng = np.random.default_rng(2)
    X = [Cloud(rng.standard_normal((n, 3)), rng.random(n)) for n in (3, 6, 5)]
    psi = SlicedWasserstein.random(3, 11, power=power, random_state=7)
    on_axis = SlicedWasserstein(power=power)
    want = np.mean(
        [on_axis.block([Cloud(c.points @ theta, c.weights) for c in X]) for theta in psi.directions], axis=0
    )
    np.testing.assert_allclose(psi.block(X), want, atol=ROUNDING)
    np.testing.assert_allclose(psi.block(X[:1], X), want[:1], atol=ROUNDING)


def test_clouds_of_one_size_are_sorted_and_subtracted():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6, 20))
    S = np.sort(X, axis=1)
    want = ((S[:, None] - S[None]) ** 2).mean(axis=2)
    np.testing.assert_allclose(SlicedWasserstein(power=2).block(X), want, atol=ROUNDING)


def test_directions_are_stored_and_scaled():
    a = SlicedWasserstein.random(2, 5, random_state=0)
    assert (
        a == SlicedWasserstein.random(2, 5, random_state=0) != SlicedWasserstein.random(2, 5, random_state=1)
    )
    x, y = [[0.0, 0.0], [1.0, 2.0]], [[3.0, 1.0]]
    assert a.replace(directions=1e200 * a.directions).block([x], [y]) == pytest.approx(a.block([x], [y]))
    assert SlicedWasserstein.random(1, 5) == SlicedWasserstein()


@pytest.mark.parametrize("power", [1, 2])
def test_its_exponential_is_positive_definite_exactly(power):
    rng = np.random.default_rng(4)
    X = [rng.standard_normal((int(n), 2)) for n in rng.integers(1, 8, 40)]
    psi = SlicedWasserstein.random(2, 3, power=power, random_state=0)
    assert psi.certificate.verdict is Verdict.NDS
    for t in (0.01, 1.0):
        assert psi.schoenberg(t).certificate.verdict is Verdict.PSD
        assert np.linalg.eigvalsh(psi.schoenberg(t).block(X))[0] > -1e-12


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SlicedWasserstein([[0.0, 0.0]]), "SlicedWasserstein: `directions`"),
        (lambda: SlicedWasserstein([1.0]), "SlicedWasserstein: `directions`"),
        (lambda: SlicedWasserstein([[1.0]], 3), "SlicedWasserstein: `power`"),
        (lambda: SlicedWasserstein.random(0), "SlicedWasserstein.random: `dim`"),
        (lambda: SlicedWasserstein.random(2, 0), "SlicedWasserstein.random: `n_directions`"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_points_need_the_dimension_of_the_directions():
    with pytest.raises(InputError, match=r"X\[1\] must have 2 column"):
        SlicedWasserstein([[1.0, 0.0]]).block([[[0.0, 1.0]], [[0.0]]])
    with pytest.raises(InputError, match=r"X\[0\].*NaN"):
        SlicedWasserstein().block([[math.nan]])


# -- earth mover's distance -----------------------------------------------------------------------
def test_equal_masses_are_the_best_permutation():
    C = np.random.default_rng(5).random((5, 5))
    want = min(C[range(5), list(p)].sum() for p in itertools.permutations(range(5))) / 5
    assert earth_mover(np.full(5, 0.2), np.full(5, 0.2), C) == pytest.approx(want, rel=ROUNDING)


def test_masses_in_units_are_the_best_permutation_of_the_units():
    """The linear program against the assignment of six units of mass."""
    rng = np.random.default_rng(6)
    C = rng.random((3, 2))
    p, q = np.array([1, 2, 3]), np.array([4, 2])
    units = C[np.ix_(np.repeat(range(3), p), np.repeat(range(2), q))]
    want = min(units[range(6), list(s)].sum() for s in itertools.permutations(range(6)))
    assert earth_mover(p, q, C) == pytest.approx(want, rel=1e-9)


def test_bins_with_a_matrix_of_costs():
    C = np.abs(np.subtract.outer(range(4), range(4))).astype(float)
    p, q = [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75]
    psi = EarthMover(mercer.kernel(lambda i, j: C[i, j]))
    assert psi.certificate.verdict is Verdict.UNKNOWN
    assert psi(Cloud(range(4), p), Cloud(range(4), q)) == pytest.approx(earth_mover(p, q, C)) == 2.25


def test_sides_and_diagonals_of_a_square_refute_it():
    psi = EarthMover(PowerDistance(1.0))
    w = psi.certificate.negative.witness
    assert psi.certificate.verdict is Verdict.REFUTED
    assert w.refutes is Property.NEGATIVE
    assert sum(w.coefficients) == 0
    # opposite sides are at 1, neighbours at 1 / sqrt 2, a side and a diagonal at 1/2, the diagonals at 1
    assert w.value == pytest.approx(2 * (4 / math.sqrt(2) + 2) + 8 - 16, rel=ROUNDING)
    k = psi.schoenberg(0.1)
    assert k.certificate.verdict is Verdict.UNKNOWN
    c = np.array(w.coefficients)
    assert c @ k.block(list(w.points)) @ c < -0.1


def test_nothing_is_said_of_other_costs():
    assert EarthMover(EditDistance()).certificate.verdict is Verdict.UNKNOWN
    assert EarthMover(Gaussian("median")).certificate.verdict is Verdict.UNKNOWN
    assert EarthMover(PowerDistance(2.0)).certificate.negative.refuted


@pytest.mark.parametrize(
    ("p", "q", "C", "message"),
    [
        ([1.0], [2.0], [[0.0]], "one positive total mass. Got 1 and 2"),
        ([0.0], [0.0], [[0.0]], "one positive total mass"),
        ([-1.0, 2.0], [1.0], [[0.0], [1.0]], "`p` must be finite masses"),
        ([1.0], [math.nan], [[0.0]], "`q` must be finite masses"),
        ([], [1.0], [[0.0]], "`p` must be finite masses"),
        ([1.0], [1.0], [[0.0, 1.0]], r"`cost` must be finite numbers of shape \(1, 1\)"),
        ([1.0], [1.0], [[math.inf]], "`cost` must be finite numbers"),
        ("ab", [1.0], [[0.0]], "`p` must be numbers. Got 'ab'"),
        ([1.0], [0.5, 0.5], [[0.0, 1.0], [2.0]], "`cost` must be numbers"),
    ],
)
def test_masses_and_costs_are_checked(p, q, C, message):
    with pytest.raises(InputError, match=f"earth_mover: .*{message}"):
        earth_mover(p, q, C)


# -- fifty digits ---------------------------------------------------------------------------------
def test_fifty_digits_on_the_line_are_those_of_the_monotone_coupling():
    """Masses are multiples of a sixteenth: sums of them are exact."""
    rng = np.random.default_rng(5)
    k, sliced = EarthMover(PowerDistance(1.0)), SlicedWasserstein()
    assert k.is_precise
    for n, m in [(1, 4), (3, 3), (5, 4), (6, 7)]:
        x, y = (
            Cloud(rng.integers(-3, 3, size) + rng.random(size) * (n % 2), [16 - size + 1] + [1] * (size - 1))
            for size in (n, m)
        )
        assert abs(k.precise(x, y) - sliced.precise(x, y)) < 1e-46
        assert k(x, y) == pytest.approx(float(sliced.precise(x, y)), abs=1e-8)


def test_fifty_digits_of_assignments_in_the_plane():
    rng = np.random.default_rng(6)
    k, ground = EarthMover(PowerDistance(1.0)), PowerDistance(1.0)
    for _ in range(4):
        x, y = rng.standard_normal((2, 4, 2))
        C = [[ground.precise(a, b) for b in y] for a in x]
        want = min(sum(C[i][j] for i, j in enumerate(p)) for p in itertools.permutations(range(4))) / 4
        assert abs(k.precise(x, y) - want) < 1e-46


def test_the_square_refutes_to_fifty_digits():
    witness = EarthMover(PowerDistance(1.0)).certificate.negative.witness
    assert witness.digits == 50
    assert witness.value == pytest.approx(4 * math.sqrt(2) - 4, rel=1e-15)
