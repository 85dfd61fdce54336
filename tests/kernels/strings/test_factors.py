"""Common factors, against enumeration in whole numbers and fractions."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Factors

pytestmark = pytest.mark.native

WORDS = ["".join(w) for n in range(6) for w in product("ab", repeat=n)]


def enumerate_factors(x):
    """All stretches of a string, with their occurrences."""
    return Counter(x[i:j] for i in range(len(x) + 1) for j in range(i, len(x) + 1) if i < j) + Counter(
        {x[:0]: len(x) + 1}
    )


def oracle(x, y, weight, excluded=(), counts=False):
    a, b = enumerate_factors(x), enumerate_factors(y)
    common = [z for z in a if z in b and z not in excluded]
    return sum(weight(len(z)) * (a[z] * b[z] if counts else 1) for z in common)


@pytest.mark.parametrize("counts", [False, True], ids=["set", "counts"])
def test_whole_numbers_are_exact_on_all_short_words(counts):
    K = Factors(counts=counts).block(WORDS)
    want = [[oracle(x, y, lambda n: 1, counts=counts) for y in WORDS] for x in WORDS]
    assert K.tolist() == want


def test_the_exercise_with_introns_and_a_bonus_for_exons():
    # F exercise 6.19: factors outside of J weigh rho1^length, from n = 3 symbols on rho2^length.
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("acgt"), size=n)) for n in (0, 1, 5, 9, 14, 14)]
    introns = ["ac", "gta", "", "tttt", strings[4][3:9]]
    k = Factors(2.0, excluded=introns, bonus=(3, 5.0))

    def weight(n):
        return 5**n if n >= 3 else 2**n

    want = [[oracle(x, y, weight, introns) for y in strings] for x in strings]
    assert k.block(strings).tolist() == want
    assert k.diagonal(strings).tolist() == np.diag(want).tolist()
    assert [[k(x, y) for y in strings] for x in strings] == want


@pytest.mark.parametrize("counts", [False, True], ids=["set", "counts"])
@pytest.mark.parametrize("letters", ["ab", "abcdefghijklmnopqrstuvwxyz"], ids=["few", "many"])
def test_fractions_on_random_strings(letters, counts):
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list(letters), size=int(n))) for n in rng.integers(0, 40, size=12)]
    rho, excluded = Fraction(3, 4), ["a", "ab", "bab", "abba"]
    k = Factors(0.75, excluded=excluded, shortest=1, counts=counts)
    want = [
        [float(oracle(x, y, lambda n: rho**n if n else 0, excluded, counts)) for y in X[4:]] for x in X[:7]
    ]
    np.testing.assert_allclose(k.block(X[:7], X[4:]), want, rtol=1e-13)


def test_tokens_without_a_table_of_steps():
    # Numbers beyond the table, so that edges are looked up one by one; the values do not change.
    rng = np.random.default_rng(2)
    letters = [rng.integers(0, 3, size=n).tolist() for n in (30, 50, 41)]
    spread = [[-1 - 7**9 * v for v in x] for x in letters]
    filler = [list(range(5000))]
    k = Factors(0.5)
    np.testing.assert_array_equal(k.block(spread + filler)[:3, :3], k.block(letters))
    np.testing.assert_array_equal(k.block(spread, spread + filler)[:, :3], k.block(letters))


def test_letters_of_new_strings_that_nobody_knew():
    assert Factors(shortest=1).block(["abc"], ["xbz", "\0", ""]).tolist() == [[1.0, 0.0, 0.0]]


def test_the_empty_factor_is_shared_by_all():
    assert Factors()("", "") == 1.0
    assert Factors(excluded=[""])("", "abc") == Factors(shortest=1)("", "abc") == 0.0
    assert Factors(counts=True)("ab", "") == 3.0


@pytest.mark.parametrize("counts", [False, True], ids=["set", "counts"])
def test_contributions_add_up_and_name_the_places(counts):
    k = Factors(2.0, excluded=["b"], counts=counts)
    found = k.contributions("abab", "bab")
    assert found.total == k("abab", "bab")
    by_pattern = {c.pattern: c for c in found}
    assert set(by_pattern) == {"", "a", "ab", "ba", "bab"}
    assert by_pattern["ab"].x_places == ((0, 2), (2, 4))
    assert by_pattern["ab"].weight == (8.0 if counts else 4.0)
    tokens = k.contributions([1, "x", 1], ["x", 1])
    assert {c.pattern for c in tokens} == {(), (1,), ("x",), ("x", 1)}


def test_too_many_common_factors_are_not_named_one_by_one(monkeypatch):
    from mercer.kernels.strings import factors

    monkeypatch.setattr(factors, "MOST_CONTRIBUTIONS", 7)
    assert len(Factors().contributions("abc", "abc")) == 7
    with pytest.raises(InputError, match="too many to name"):
        Factors().contributions("abcd", "abcd")


def test_hundred_thousand_letters():
    n = 100_000
    K = Factors().block(["a" * n, "ab" * (n // 2)])
    # a^n has n factors and the empty one; (ab)^(n/2) has two of each length but the last
    assert K.tolist() == [[n + 1.0, 2.0], [2.0, 2.0 * n]]
    counted = Factors(counts=True, shortest=n - 1).block(["a" * n])
    assert counted.tolist() == [[2.0**2 + 1.0]]


def test_a_bonus_that_explodes_is_an_error():
    k = Factors(bonus=(5, 10.0))
    with pytest.raises(ParameterError, match="points 1 and 1"):
        k.block(["a", "a" * 400])
    with pytest.raises(ParameterError, match="overflows"):
        k.diagonal(["a", "a" * 400])
    with pytest.raises(ParameterError, match="overflows"):
        k("a" * 400, "a" * 400)


def test_nothing_cancels_where_the_heaviest_factor_is_excluded():
    x = "abcdefgh" * 8
    k = Factors(bonus=(1, 10.0), excluded=[x], shortest=1)
    assert k(x, x) == pytest.approx(k.block([x])[0, 0], rel=1e-14)
    assert k(x, x) == float(oracle(x, x, lambda n: 10**n if n else 0, [x]))


def test_tiles_and_slices_agree_with_small_blocks(monkeypatch):
    from mercer.engine import substrings

    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list("acgt"), size=int(n))) for n in rng.integers(0, 30, size=40)]
    k = Factors(0.9, counts=True)
    want, cross, diagonal = k.block(X), k.block(X[:9], X), k.diagonal(X)
    monkeypatch.setattr(substrings, "_WALKED", 200)
    np.testing.assert_array_equal(k.block(X), want)
    np.testing.assert_array_equal(k.block(X[:9], X), cross)
    np.testing.assert_array_equal(k.diagonal(X), diagonal)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_do_not_change_the_bits(monkeypatch, threads):
    rng = np.random.default_rng(4)
    X = ["".join(rng.choice(list("acgt"), size=60)) for _ in range(30)]
    k = Factors(0.7, excluded=["ac", "gg"])
    want = k.block(X)
    monkeypatch.setenv("MERCER_NUM_THREADS", threads)
    np.testing.assert_array_equal(k.block(X), want)


def test_certificates():
    assert Factors().certificate.verdict.value == "STRICT"
    assert Factors(0.1, counts=True).certificate.verdict.value == "STRICT"
    assert Factors(excluded=["a"]).certificate.verdict.value == "PSD"
    # why a set of excluded factors cannot be strict: the points "" and "a" have the same features
    assert np.linalg.matrix_rank(Factors(excluded=["a"]).block(["", "a"])) == 1
    assert np.linalg.eigvalsh(Factors().block(WORDS)).min() > 0.01


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rho": 0.0}, "`rho`"),
        ({"excluded": "abc"}, "`excluded`"),
        ({"excluded": [3]}, "`excluded`"),
        ({"bonus": 3}, "`bonus`"),
        ({"bonus": (3, -1.0)}, "`bonus`"),
        ({"bonus": (2.5, 1.0)}, "`bonus`"),
        ({"shortest": -1}, "`shortest`"),
        ({"counts": "yes"}, "`counts`"),
    ],
    ids=["rho", "one-string", "number", "no-pair", "negative", "fraction", "shortest", "counts"],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        Factors(**arguments)
