"""Set kernels against brute force over Python sets, in exact arithmetic; exercises 6.4 and 6.5."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mercer import kernel
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Linear
from mercer.kernels.derived import DerivedSubsets, DualWords, Jittered
from mercer.kernels.histograms import ChiSquare
from mercer.kernels.sets import CommonSubsets, Jaccard, SetIntersection, SymmetricDifference
from mercer.kernels.subsets import Agreement, UnionComplement

ROUNDING = 1e-14
UNIVERSE = ("a", "b", "c", "d")
SUBSETS = [frozenset(s) for r in range(5) for s in itertools.combinations(UNIVERSE, r)]
WEIGHTS = {"a": 0.5, "b": 2.0, "d": 1.25}


def table(value: Any) -> np.ndarray:
    return np.array([[float(value(A, B)) for B in SUBSETS] for A in SUBSETS])


def mu(A: frozenset[str]) -> Fraction:
    return sum((Fraction(WEIGHTS.get(e, 0.0)) for e in A), Fraction(0))


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """Exact determinant by elimination without pivoting: every leading minor is positive, or it is 0."""
    A, result = [row[:] for row in rows], Fraction(1)
    for s in range(len(A)):
        if A[s][s] <= 0:
            return Fraction(0)
        result *= A[s][s]
        for i in range(s + 1, len(A)):
            ratio = A[i][s] / A[s][s]
            A[i] = [a - ratio * b for a, b in zip(A[i], A[s], strict=True)]
    return result


# -- values on all subsets of four elements -----------------------------------------------------
@pytest.mark.parametrize(
    ("k", "value"),
    [
        (SetIntersection(), lambda A, B: len(A & B)),
        (SetIntersection(WEIGHTS), lambda A, B: mu(A & B)),
        (CommonSubsets(), lambda A, B: sum(S <= A and S <= B for S in SUBSETS)),
        (SymmetricDifference(), lambda A, B: math.exp(-len(A ^ B) / 2)),
        (SymmetricDifference(0.3, WEIGHTS), lambda A, B: math.exp(-0.3 * float(mu(A ^ B)))),
        (Jaccard(), lambda A, B: Fraction(len(A & B), len(A | B)) if A | B else 1),
        (Jaccard(WEIGHTS), lambda A, B: mu(A & B) / mu(A | B) if mu(A | B) else 1),
        (UnionComplement(UNIVERSE), lambda A, B: Fraction(4 - len(A | B), 4)),
        (UnionComplement(UNIVERSE, WEIGHTS), lambda A, B: 1 - mu(A | B) / mu(frozenset(UNIVERSE))),
        (Agreement(UNIVERSE), lambda A, B: sum((e in A) == (e in B) for e in UNIVERSE) / 4),
        (Agreement(UNIVERSE, WEIGHTS), lambda A, B: 1 - mu(A ^ B) / mu(frozenset(UNIVERSE))),
        (
            Agreement(UNIVERSE, signed=True),
            lambda A, B: Fraction(sum((1 if e in A else -1) * (1 if e in B else -1) for e in UNIVERSE), 8),
        ),
    ],
)
def test_every_pair_of_subsets_by_brute_force(k: Any, value: Any) -> None:
    want = table(value)
    np.testing.assert_allclose([[k(A, B) for B in SUBSETS] for A in SUBSETS], want, atol=ROUNDING)
    np.testing.assert_allclose(k.block(SUBSETS), want, atol=ROUNDING)
    np.testing.assert_allclose(k.block(SUBSETS[:5], SUBSETS[3:]), want[:5, 3:], atol=ROUNDING)
    np.testing.assert_allclose(k.diagonal(SUBSETS), want.diagonal(), atol=ROUNDING)
    assert np.linalg.eigvalsh(want)[0] > -1e-12
    assert k.certificate.is_psd


def test_agreement_is_intersection_plus_union_complement() -> None:
    sum_of_two = 0.25 * SetIntersection() + UnionComplement(UNIVERSE)
    np.testing.assert_allclose(Agreement(UNIVERSE).block(SUBSETS), sum_of_two.block(SUBSETS), atol=ROUNDING)


# -- strictness, exactly ------------------------------------------------------------------------
def test_common_subsets_has_determinant_one_on_all_subsets() -> None:
    # K = Z Z' with the unitriangular Z = [S within A], so det K = 1.
    rows = [[Fraction(2) ** len(A & B) for B in SUBSETS] for A in SUBSETS]
    assert determinant(rows) == 1
    assert CommonSubsets().certificate.verdict is Verdict.STRICT


def test_jaccard_is_nonsingular_on_all_subsets() -> None:
    rows = [[Fraction(len(A & B), len(A | B)) if A | B else Fraction(1) for B in SUBSETS] for A in SUBSETS]
    assert determinant(rows) > 0
    assert Jaccard().certificate.verdict is Verdict.STRICT


def test_exercise_6_4_symmetric_difference() -> None:
    # exp(-s |A ^ B|) is a tensor power of [[1, e], [e, 1]], e = exp(-s): det = (1 - e^2)^(n 2^(n-1)) > 0.
    e = Fraction(1, 2)
    rows = [[e ** len(A ^ B) for B in SUBSETS] for A in SUBSETS]
    assert determinant(rows) == (1 - e * e) ** (4 * 8)
    K = SymmetricDifference(math.log(2)).block(SUBSETS)
    np.testing.assert_allclose(K, np.array(rows, dtype=float), rtol=1e-13)
    assert SymmetricDifference().certificate.verdict is Verdict.STRICT
    # The hint: it is a normalised kernel.
    normalised = CommonSubsets().normalized().block(SUBSETS)
    np.testing.assert_allclose(normalised, SymmetricDifference(math.log(2) / 2).block(SUBSETS), rtol=1e-13)


def test_weights_that_do_not_see_an_element_make_it_not_strict() -> None:
    for k in (SymmetricDifference(0.5, WEIGHTS), Jaccard(WEIGHTS)):
        assert k.certificate.verdict is Verdict.PSD
        assert k({"a"}, {"a", "c"}) == 1.0  # c has no weight


@pytest.mark.parametrize("k", [SetIntersection(), UnionComplement(UNIVERSE), Agreement(UNIVERSE)])
def test_linear_set_kernels_are_not_claimed_strict(k: Any) -> None:
    assert k.certificate.verdict is Verdict.PSD
    assert np.linalg.matrix_rank(k.block(SUBSETS)) < len(SUBSETS)


# -- derived kernels ----------------------------------------------------------------------------
@pytest.mark.parametrize("base", [Linear(), Gaussian(1.5)])
def test_exercise_6_5_derived_subsets(base: Any) -> None:
    rng = np.random.default_rng(0)
    pool = [tuple(p) for p in rng.integers(-2, 3, size=(12, 2)).astype(float).tolist()]
    clouds = [set()] + [set(rng.permutation(len(pool))[:m]) for m in (1, 1, 3, 5, 12)]
    clouds = [{pool[i] for i in c} for c in clouds]
    k = DerivedSubsets(base)
    want = [[math.fsum(base(a, b) for a in A for b in B) for B in clouds] for A in clouds]
    np.testing.assert_allclose(k.block(clouds), want, rtol=1e-12)
    np.testing.assert_allclose(k.block(clouds, clouds[:3]), np.array(want)[:, :3], rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(clouds), np.diagonal(want), rtol=1e-12)
    assert k.certificate.verdict is Verdict.PSD
    assert k.certificate.premises == (base.certificate.positive,)


def test_derived_subsets_of_a_refuted_kernel_is_refuted_on_singletons() -> None:
    assert DerivedSubsets(Gaussian(1.0) - Linear()).certificate.verdict is Verdict.UNKNOWN
    k = DerivedSubsets(ChiSquare())
    w = k.certificate.witness
    assert k.certificate.positive.refuted
    assert all(isinstance(p, frozenset) and len(p) == 1 for p in w.points)
    c = np.array(w.coefficients)
    assert c @ k.block(list(w.points)) @ c == pytest.approx(w.value)
    assert w.value < 0


def test_derived_subsets_of_tokens_is_the_intersection_kernel() -> None:
    equal = kernel(_equal)
    np.testing.assert_allclose(DerivedSubsets(equal).block(SUBSETS), SetIntersection().block(SUBSETS))


def _equal(x: Any, y: Any) -> float:
    return float(x == y)


def _translates(x: np.ndarray) -> list[np.ndarray]:
    return [x + s for s in (-1.0, 0.0, 1.0)]


def _none(x: np.ndarray) -> list[np.ndarray]:
    return [] if x[0] < 0 else [x, x]


@pytest.mark.parametrize("deform", [_translates, _none])
def test_jittered_sums_over_versions(deform: Any) -> None:
    X = np.random.default_rng(1).standard_normal((7, 3))
    base = Gaussian(1.0)
    k = Jittered(base, deform)
    want = [[math.fsum(base(a, b) for a in deform(x) for b in deform(y)) for y in X] for x in X]
    np.testing.assert_allclose(k.block(X), want, rtol=1e-12, atol=1e-15)
    assert k(X[0], X[1]) == pytest.approx(want[0][1], rel=1e-12, abs=1e-15)
    assert k.certificate.verdict is Verdict.PSD


def test_dual_words_and_documents_share_one_matrix() -> None:
    documents = [{"cat", "dog"}, {"cat", "fish"}, {"dog"}, set(), {"cat", "dog", "fish"}]
    words = ["cat", "dog", "fish", "bird"]
    D = np.array([[w in d for w in words] for d in documents], dtype=float)
    np.testing.assert_array_equal(SetIntersection().block(documents), D @ D.T)
    np.testing.assert_array_equal(DualWords(documents).block(words), D.T @ D)
    weights = [1.0, 0.5, 0.0, 2.0, 0.25]
    weighted = DualWords(documents, weights)
    np.testing.assert_allclose(weighted.block(words), D.T @ np.diag(weights) @ D, rtol=1e-15)
    assert weighted("cat", "fish") == 0.75


# -- input and parameters -----------------------------------------------------------------------
def test_any_hashables_repeats_and_order() -> None:
    k = SetIntersection()
    assert k([1, 1, "x", None], (None, "x", 2.5, frozenset())) == 2.0
    assert k(np.array([1, 2, 3]), {3, 2}) == 2.0
    assert k.block([iter([1, 2]), {1}]).tolist() == [[2.0, 1.0], [1.0, 1.0]]


def test_empty_sets_and_empty_input() -> None:
    assert Jaccard()(set(), set()) == 1.0
    assert Jaccard()(set(), {1}) == 0.0
    assert SetIntersection().block([set(), set()]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    for k in (Jaccard(), CommonSubsets(), DerivedSubsets(Linear())):
        assert k.block([]).shape == (0, 0)
        assert k.block([], [set()]).shape == (0, 1)


def test_elements_outside_of_the_universe_are_named() -> None:
    with pytest.raises(InputError, match=r"X\[1\] must be a subset of the universe. Got the element 'z'"):
        UnionComplement(UNIVERSE).block([{"a"}, {"z"}])
    with pytest.raises(InputError, match=r"y must be a subset of the universe"):
        Agreement(UNIVERSE)({"a"}, {"z"})


def test_unhashable_and_strings_are_refused() -> None:
    with pytest.raises(InputError, match=r"X\[0\] must be a set of hashables"):
        Jaccard().block([[[1], [2]]])
    with pytest.raises(InputError, match="string"):
        Jaccard().block(["abc"])
    with pytest.raises(InputError, match="words must be hashable"):
        DualWords([{"a"}]).block([["a"]])


def test_parameters_are_checked_immutable_and_order_free() -> None:
    weights = {"a": 1.0, "b": 2.0}
    k = SetIntersection(weights)
    weights["a"] = 9.0
    assert k({"a"}, {"a"}) == 1.0
    assert k == SetIntersection({"b": 2, "a": 1})
    assert hash(k) == hash(SetIntersection({"b": 2, "a": 1}))
    assert UnionComplement({"b", "a"}) == UnionComplement(["a", "b", "a"])
    with pytest.raises(
        ParameterError, match=r"SetIntersection: `weights` must be finite numbers >= 0. Got -1"
    ):
        SetIntersection({"a": -1})
    with pytest.raises(ParameterError, match="`weights` must be a mapping"):
        SetIntersection([1, 2])
    with pytest.raises(ParameterError, match="`universe` must be a collection"):
        Agreement("abc")
    with pytest.raises(ParameterError, match="positive measure"):
        Agreement([])
    with pytest.raises(ParameterError, match="must be 1 finite numbers >= 0, one per document"):
        DualWords([{"a"}], [1.0, 2.0])
    with pytest.raises(ParameterError, match="deform"):
        Jittered(Linear(), 3)


def test_overflow_of_common_subsets_is_an_error_with_a_remedy() -> None:
    big = set(range(1100))
    with pytest.raises(InputError, match="SymmetricDifference"):
        CommonSubsets().block([big])
    with pytest.raises(InputError, match="overflows"):
        CommonSubsets()(big, big)
    assert SymmetricDifference(math.log(2) / 2)(big, big) == 1.0


def test_many_tiles_share_one_vocabulary() -> None:
    rng = np.random.default_rng(3)
    X = [frozenset(rng.integers(0, 300, 12).tolist()) for _ in range(700)]
    Y = [frozenset(rng.integers(0, 400, 12).tolist()) for _ in range(650)]
    K = SetIntersection().block(X, Y)
    for i, j in ((0, 0), (699, 649), (600, 3), (2, 600)):
        assert K[i, j] == len(X[i] & Y[j])
    assert K.sum() == sum(len(x & y) for x in X for y in Y)
