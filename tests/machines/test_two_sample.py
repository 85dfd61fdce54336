"""Tests of equality and of independence: statistics, levels, witnesses, bad input."""

import numpy as np
import pytest
import scipy.sparse

import mercer
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Laplacian, Linear, PowerDistance, Precomputed, SetIntersection
from mercer.machines import HSICTest, MMDTest, hsic, mmd

TESTS = {"mmd": MMDTest, "hsic": HSICTest}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@mercer.kernel(assume="PSD", reason="a count of shared letters is an inner product")
def shared(x, y):
    return sum(x.count(c) * y.count(c) for c in set(x))


# -- statistics ---------------------------------------------------------------------------------
@pytest.mark.parametrize("unbiased", [False, True])
def test_mmd_is_the_difference_of_the_block_means(rng, unbiased):
    X, Y = rng.standard_normal((7, 2)), rng.standard_normal((5, 2)) + 1
    k = Gaussian(1.3)
    A, B, C = k.block(X), k.block(Y), k.block(X, Y)
    if unbiased:
        within = (A.sum() - np.trace(A)) / 42 + (B.sum() - np.trace(B)) / 20
    else:
        within = A.mean() + B.mean()
    expected = within - 2 * C.mean()
    assert mmd(k, X, Y, unbiased=unbiased) == pytest.approx(expected, rel=1e-10)
    result = MMDTest(k, n_permutations=3, unbiased=unbiased, random_state=0).test(X, Y)
    assert result.statistic == pytest.approx(expected, rel=1e-10)


def test_mmd_far_from_the_origin_keeps_its_digits(rng):
    X, Y = rng.standard_normal((20, 1)), rng.standard_normal((20, 1))
    near = mmd(Linear(), X, Y)
    assert near == pytest.approx((X.mean() - Y.mean()) ** 2, rel=1e-10)
    assert mmd(Gaussian(1.0) + 1e6, X, Y) == pytest.approx(mmd(Gaussian(1.0), X, Y), abs=1e-7)


def test_minus_the_distance_gives_the_energy_distance():
    # 2 E|x-y| - E|x-x'| - E|y-y'|, for X = {0, 2}, Y = {1}
    assert mmd(-1.0 * PowerDistance(1.0), [[0.0], [2.0]], [[1.0]]) == pytest.approx(2 * 1 - 1 - 0)


def test_lazy_products_give_the_same_as_the_matrix(rng, monkeypatch):
    X, Y = rng.standard_normal((40, 2)), rng.standard_normal((30, 2))
    for unbiased in (False, True):
        test = MMDTest(Gaussian(1.0), n_permutations=20, unbiased=unbiased, random_state=0)
        monkeypatch.setattr("mercer.memory.HELD_BYTES", 1 << 20)
        held = test.test(X, Y)
        monkeypatch.setattr("mercer.memory.HELD_BYTES", 0)
        lazy = test.test(X, Y)
        np.testing.assert_allclose(lazy.null, held.null, rtol=1e-9, atol=1e-14)
        assert lazy.p_value == held.p_value


def test_hsic_of_linear_kernels_is_the_squared_covariance(rng):
    X, Y = rng.standard_normal((9, 3)), rng.standard_normal((9, 2))
    covariance = (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / 9
    assert hsic(Linear(), Linear(), X, Y) == pytest.approx((covariance**2).sum(), rel=1e-10)


def test_unbiased_statistics_average_to_the_truth():
    """Over many samples of the same distribution, both unbiased statistics have mean zero."""
    rng = np.random.default_rng(3)
    two = [mmd(Gaussian(1.0), rng.random((4, 1)), rng.random((5, 1)), unbiased=True) for _ in range(400)]
    pairs = [
        hsic(Gaussian(1.0), Gaussian(1.0), rng.random((6, 1)), rng.random((6, 1)), unbiased=True)
        for _ in range(400)
    ]
    for values in (two, pairs):
        assert abs(np.mean(values)) < 4 * np.std(values) / 20
        assert np.min(values) < 0


# -- p-values -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["mmd", "hsic"])
@pytest.mark.parametrize("unbiased", [False, True])
def test_p_values_are_uniform_under_the_hypothesis(name, unbiased):
    """With 19 permutations p is uniform on 1/20, ..., 1; the width comes from the data."""
    rng = np.random.default_rng(5)
    kernels = (Gaussian("median"),) if name == "mmd" else (Gaussian("median"), Laplacian("median"))
    p = []
    for _ in range(400):
        X, Y = rng.standard_normal((6, 1)), rng.standard_normal((6 if name == "hsic" else 4, 1))
        test = TESTS[name](*kernels, n_permutations=19, unbiased=unbiased, random_state=rng)
        p.append(test.test(X, Y).p_value)
    counts = np.bincount(np.rint(20 * np.array(p)).astype(int), minlength=21)[1:]
    assert counts.sum() == 400
    # ten groups of two steps, 9 degrees of freedom: the 99.9 % point is 27.9
    groups = counts.reshape(10, 2).sum(axis=1)
    assert ((groups - 40) ** 2 / 40).sum() < 27.9


@pytest.mark.parametrize("n_permutations", [19, 99])
def test_a_clear_difference_has_the_least_p_value(rng, n_permutations):
    X, Y = rng.standard_normal((30, 2)), rng.standard_normal((25, 2)) + 3
    result = MMDTest(n_permutations=n_permutations, random_state=1).test(X, Y)
    assert result.p_value == 1 / (n_permutations + 1)
    assert result.rejects(0.05)
    assert result.null.shape == (n_permutations,)
    assert result.null.max() < result.statistic


def test_a_dependence_without_correlation_is_found(rng):
    x = rng.standard_normal((80, 1))
    y = x**2 + 0.1 * rng.standard_normal((80, 1))
    assert HSICTest(n_permutations=199, random_state=0).test(x, y).p_value == 1 / 200
    shuffled = y[rng.permutation(80)]
    assert not HSICTest(n_permutations=199, random_state=0).test(x, shuffled).rejects()


def test_equal_points_are_no_evidence():
    ones = np.ones((6, 2))
    assert MMDTest(n_permutations=50, random_state=0).test(ones, ones[:4]).p_value == 1.0
    assert MMDTest(n_permutations=50, unbiased=True, random_state=0).test(ones, ones[:4]).p_value == 1.0
    assert HSICTest(n_permutations=50, random_state=0).test(ones, np.arange(6.0)[:, None]).p_value == 1.0


def test_ties_are_found_where_the_diagonal_vanishes():
    """Both labellings of two points have the same energy distance, whatever rounding says."""
    rng = np.random.default_rng(1)
    test = MMDTest(-1.0 * PowerDistance(1.0), n_permutations=9, random_state=0)
    assert {test.test(rng.random((1, 3)), rng.random((1, 3))).p_value for _ in range(20)} == {1.0}


@pytest.mark.parametrize("name", ["mmd", "hsic"])
def test_seeds_make_the_null_distribution_repeatable(rng, name):
    X, Y = rng.standard_normal((12, 2)), rng.standard_normal((12, 2))
    one, two, other = (TESTS[name](n_permutations=30, random_state=s).test(X, Y) for s in (7, 7, 8))
    np.testing.assert_array_equal(one.null, two.null)
    assert (one.null != other.null).any()
    assert one.statistic == two.statistic


def test_widths_do_not_see_the_labels(rng):
    """The width of pooled points is that of any other split of them; that of pairs, of any other pairing."""
    Z = rng.standard_normal((20, 2))
    one = MMDTest(n_permutations=1, random_state=0).test(Z[:8], Z[8:])
    two = MMDTest(n_permutations=1, random_state=3).test(Z[12:], Z[:12])
    assert one.kernel.sigma == two.kernel.sigma
    order = rng.permutation(20)
    a = HSICTest(n_permutations=1, random_state=0).test(Z, Z**2)
    b = HSICTest(n_permutations=1, random_state=4).test(Z, Z[order] ** 2)
    assert (a.kernel_x, a.kernel_y) == (b.kernel_x, b.kernel_y)


class OfTheFirstPoint(Gaussian):
    """A rule that takes points by position."""

    def _rule(self, name, rule, X, weight):
        return 1.0 + float(X[0, 0])


def test_rules_that_take_points_by_position_take_random_ones():
    """Otherwise the width would depend on the labels: here it would be that of X."""
    X, Y = np.zeros((1, 1)), np.array([[1.0], [10.0], [100.0]])
    k = OfTheFirstPoint("median")
    widths = {MMDTest(k, n_permutations=1, random_state=s).test(X, Y).kernel.sigma for s in range(20)}
    assert len(widths) > 2
    tests = (HSICTest(k, kernel_y=k, n_permutations=1, random_state=s).test(Y, Y) for s in range(20))
    assert len({test.kernel_x.sigma for test in tests}) == 3


def test_the_median_of_many_points_does_not_depend_on_labels(rng):
    X, Y = rng.standard_normal((200, 2)), rng.standard_normal((100, 2)) + 5.0
    tests = [MMDTest(n_permutations=1, random_state=s).test(X, Y) for s in range(5)]
    tests += [MMDTest(n_permutations=1, random_state=0).test(Y, X)]
    assert len({round(test.kernel.sigma, 12) for test in tests}) == 1


# -- selection ----------------------------------------------------------------------------------
def test_the_most_powerful_kernel_is_chosen_on_other_points(rng):
    # a fine ripple that only a narrow kernel can see
    X = rng.random((300, 1)) * 20
    Y = np.floor(rng.random((300, 1)) * 20) + 0.2 * rng.random((300, 1))
    wide = MMDTest(Gaussian(5.0), n_permutations=99, random_state=0)
    chosen = MMDTest(Gaussian(5.0), select=[Gaussian(0.1), Gaussian(1.0)], n_permutations=99, random_state=0)
    assert not wide.test(X, Y).rejects(0.01)
    result = chosen.test(X, Y)
    assert result.kernel == Gaussian(0.1)
    assert result.p_value == 0.01
    assert len(result.witness.points) == 300  # half of each sample


def test_selection_keeps_the_level():
    rng = np.random.default_rng(2)
    candidates = [Gaussian(s) for s in (0.1, 0.3, 3.0)]
    rejected = 0
    for _ in range(120):
        test = MMDTest(Gaussian(1.0), select=candidates, n_permutations=19, random_state=rng)
        rejected += test.test(rng.standard_normal((10, 1)), rng.standard_normal((12, 1))).rejects(0.1)
    assert 1 < rejected < 12 + 4 * np.sqrt(10.8)


# -- witnesses ----------------------------------------------------------------------------------
def test_the_witness_is_the_difference_of_the_mean_embeddings(rng):
    X, Y, Z = (rng.standard_normal((n, 2)) for n in (6, 9, 4))
    result = MMDTest(Laplacian(1.0), n_permutations=5, random_state=0).test(X, Y)
    k = result.kernel
    np.testing.assert_allclose(
        result.witness.values(Z), k.block(Z, X).mean(axis=1) - k.block(Z, Y).mean(axis=1), atol=1e-14
    )
    assert result.witness.norm() ** 2 == pytest.approx(result.statistic, rel=1e-10)


# -- any domain ---------------------------------------------------------------------------------
def test_strings_and_sets():
    first, second = ["aab", "aba", "aa", "baa", "aaab"], ["bbb", "bba", "bb", "abb", "bbba"]
    assert MMDTest(shared, n_permutations=99, random_state=0).test(first, second).rejects()
    result = HSICTest(shared, SetIntersection(), n_permutations=99, random_state=0).test(
        first + second, [set(w) if w.count("a") > 1 else {w} for w in first + second]
    )
    assert 0 < result.p_value <= 1
    sets = MMDTest(SetIntersection(), n_permutations=9, random_state=0).test([{1, 2}, {1}], [{3}, {3, 4}])
    assert sets.witness({1}) > 0 > sets.witness({3})


def test_precomputed_matrices(rng):
    Z, y = rng.standard_normal((15, 2)), np.array(["b", "a", "a"] * 5)
    k = Gaussian(1.0)
    direct = MMDTest(k, n_permutations=20, random_state=0).test(Z[y == "a"], Z[y == "b"])
    pooled = MMDTest(k, n_permutations=20, random_state=0).test_pooled(Z, y)
    given = MMDTest(Precomputed(), n_permutations=20, random_state=0).test_pooled(k.block(Z), y)
    for other in (pooled, given):
        np.testing.assert_allclose(other.null, direct.null, rtol=1e-9)
        assert other.p_value == direct.p_value
    np.testing.assert_allclose(given.witness.values(k.block(Z)), direct.witness.values(Z), atol=1e-14)
    with pytest.raises(InputError, match="test_pooled"):
        MMDTest(Precomputed()).test(k.block(Z), k.block(Z))
    a = HSICTest(k, k, n_permutations=20, random_state=0).test(Z, Z**2)
    b = HSICTest(Precomputed(), k, n_permutations=20, random_state=0).test(k.block(Z), Z**2)
    np.testing.assert_allclose(a.null, b.null, rtol=1e-9)


def test_sparse_and_single_precision_points(rng):
    X, Y = rng.standard_normal((8, 3)), rng.standard_normal((6, 3))
    test = MMDTest(Gaussian(1.0), n_permutations=20, random_state=0)
    dense = test.test(X, Y)
    np.testing.assert_allclose(
        test.test(scipy.sparse.csr_array(X), scipy.sparse.coo_array(Y)).null, dense.null, rtol=1e-8
    )
    single = test.test(X.astype(np.float32), Y.astype(np.float32))
    np.testing.assert_allclose(single.statistic, dense.statistic, rtol=1e-5)
    assert single.null.dtype == np.float64


# -- bad input ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["mmd", "hsic"])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_permutations": 0}, "`n_permutations` must be an integer >= 1"),
        ({"n_permutations": True}, "`n_permutations` must be"),
        ({"n_permutations": 9.5}, "`n_permutations` must be"),
        ({"unbiased": "yes"}, "`unbiased` must be True or False"),
    ],
)
def test_bad_settings_are_named(name, parameters, message):
    with pytest.raises(ParameterError, match=message):
        TESTS[name](**parameters)


def test_bad_kernels_are_named():
    with pytest.raises(ParameterError, match="`kernel` must be a mercer Kernel"):
        MMDTest("gauss")
    with pytest.raises(ParameterError, match=r"`select\[1\]` must be a mercer Kernel"):
        MMDTest(select=[Gaussian(1.0), 3])
    with pytest.raises(ParameterError, match="`select` must be a sequence of kernels"):
        MMDTest(select=Gaussian(1.0))
    with pytest.raises(ParameterError, match="`unbiased` must be True or False"):
        mmd(Linear(), [[1.0]], [[1.0]], unbiased="yes")
    with pytest.raises(ParameterError, match="`unbiased` must be True or False"):
        hsic(Linear(), Linear(), [[1.0]], [[1.0]], unbiased=1)
    with pytest.raises(ParameterError, match="`kernel_y` must be a mercer Kernel"):
        HSICTest(Gaussian(1.0), None)
    with pytest.raises(ParameterError, match="`kernel` must be"):
        mmd("gauss", [[1.0]], [[1.0]])
    with pytest.raises(ParameterError, match="`kernel_x` must be"):
        hsic("gauss", Linear(), [[1.0]], [[1.0]])


def test_samples_that_are_too_small_are_named():
    one, three = [[0.0]], [[0.0], [1.0], [2.0]]
    k = Gaussian(1.0)
    assert mmd(k, one, one) == 0.0
    assert MMDTest(k, n_permutations=9, random_state=0).test(one, [[1.0]]).p_value == 1.0
    with pytest.raises(InputError, match=r"mmd: .*at least 2 points each for the unbiased .*Got 1 and 3"):
        mmd(k, one, three, unbiased=True)
    with pytest.raises(InputError, match=r"MMDTest: .*Got 3 and 1"):
        MMDTest(k, unbiased=True).test(three, one)
    with pytest.raises(InputError, match=r"at least 1 point each.*Got 0 and 3"):
        MMDTest(k).test(np.empty((0, 2)), three)
    with pytest.raises(InputError, match=r"at least 2 points each.*Got 1 and 2"):
        MMDTest(k, unbiased=True).test_pooled(three, [0, 1, 1])
    with pytest.raises(InputError, match=r"at least 1 point each.*Got 0 and 1"):
        mmd(SetIntersection(), [], [{1}])
    with pytest.raises(InputError, match=r"`select` needs four points in each sample.*Got 3 and 4"):
        MMDTest(k, select=[Gaussian(2.0)]).test(three, [[0.0]] * 4)
    with pytest.raises(InputError, match=r"hsic: .*at least 2 pairs\. Got 1"):
        hsic(k, k, one, one)
    with pytest.raises(InputError, match=r"HSICTest: .*at least 4 pairs for the unbiased statistic. Got 3"):
        HSICTest(k, k, unbiased=True).test(three, three)


def test_data_that_do_not_fit_together_are_named(rng):
    X = rng.standard_normal((5, 2))
    with pytest.raises(InputError, match="same number of columns"):
        MMDTest().test(X, X[:, :1])
    with pytest.raises(InputError, match=r"same length: they are pairs. Got 5 and 4"):
        HSICTest().test(X, X[:4])
    with pytest.raises(InputError, match=r"Y .*(NaN|nan|finite)"):
        MMDTest().test(X, np.where(X > 0, np.nan, X))
    with pytest.raises(InputError, match="`labels` must have 5 entries"):
        MMDTest().test_pooled(X, [0, 1, 2, 0, 1])
    with pytest.raises(InputError, match="`labels` must have 5 entries"):
        MMDTest().test_pooled(X, [0, 1])


def test_overflow_is_no_evidence(rng):
    X = 1e100 * rng.standard_normal((8, 2))
    with (
        pytest.raises(InputError, match="statistic is not finite"),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        HSICTest(Linear(), Linear(), n_permutations=9, random_state=0).test(X, X)


def test_results_print_and_settings_compare(rng):
    X = rng.standard_normal((5, 2))
    result = HSICTest(n_permutations=9, random_state=0).test(X, X)
    assert str(result).endswith("(9 permutations)")
    assert MMDTest(Gaussian(1.0)) == MMDTest(Gaussian(1.0))
    assert MMDTest(Gaussian(1.0)) != MMDTest(Gaussian(2.0))
