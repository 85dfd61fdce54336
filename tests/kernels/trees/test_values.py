"""Kernels on trees against the enumeration of fragments in exact arithmetic."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mercer
from mercer.domains import Tree, Trees
from mercer.kernel import Kernel
from mercer.kernels import PartialTree, SubsetTree, SubTree

from .oracle import partial_value, subset_value, subtree_value

TREES = [
    *(Tree(form) for form in [
        "(a)",
        "(b)",
        "(S (NP John) (VP (V saw) (NP Mary)))",
        "(S (NP Mary) (VP (V saw) (NP Mary)))",
        "(a b)",
        "(a (b c))",
        "(a (a (a (a a))))",
        "(a b b b)",
        "(a b c b (b a) b)",
        "(a (b c) (b c) (b (c d)))",
        "(S (S a b) (S a b) (S a (b c)))",
    ]),
    *Trees().sample(8, np.random.default_rng(7)),
]  # fmt: skip

#: Decays that are floats without rounding.
HALF, QUARTER, ONE, MOST = 0.5, 0.25, 1.0, 0.875


def expected(k: Any, x: Tree, y: Tree) -> Fraction:
    """The value by enumeration."""
    decay = Fraction(k.decay)
    if isinstance(k, PartialTree):
        return partial_value(x, y, decay, Fraction(k.gap_decay), k.leaves)
    return (subtree_value if isinstance(k, SubTree) else subset_value)(x, y, decay, k.leaves)


KERNELS: list[Kernel] = [
    SubTree(ONE),
    SubTree(HALF, leaves=True),
    SubsetTree(ONE),
    SubsetTree(HALF),
    SubsetTree(ONE, leaves=True),
    SubsetTree(QUARTER, leaves=True),
    PartialTree(ONE, ONE),
    PartialTree(HALF, QUARTER),
    PartialTree(QUARTER, MOST, leaves=True),
]


@pytest.mark.native
@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_values_are_sums_over_fragments(k: Any) -> None:
    exact = [[expected(k, x, y) for y in TREES] for x in TREES]
    rounded = np.array([[float(value) for value in row] for row in exact])
    for i, x in enumerate(TREES):
        for j, y in enumerate(TREES):
            assert Fraction(k(x, y)) == pytest.approx(exact[i][j], rel=1e-14)
            assert abs(i - j) > 1 or float(k.precise(x, y)) == float(exact[i][j])
    np.testing.assert_allclose(k.block(TREES), rounded, rtol=1e-13, atol=0)
    np.testing.assert_allclose(k.block(TREES[:9], TREES[5:]), rounded[:9, 5:], rtol=1e-13, atol=0)
    np.testing.assert_allclose(k.diagonal(TREES), rounded.diagonal(), rtol=1e-13, atol=0)
    if k.decay == 1 and not isinstance(k, PartialTree):
        np.testing.assert_array_equal(k.block(TREES), rounded)


def test_hand_worked_values() -> None:
    x, y = "(S (NP John) (VP (V saw) (NP Mary)))", "(S (NP Mary) (VP (V saw) (NP Mary)))"
    for d in (1.0, 0.5):
        assert SubTree(d)(x, y) == 3 * d + d**3
        vp = d * (1 + d) ** 2  # of the pair of verb phrases
        # S NP VP: NP differs below, VP is as above
        assert SubsetTree(d)(x, y) == pytest.approx(3 * d + vp + d * (1 + vp), rel=1e-15)
        assert SubsetTree(d, leaves=True)(x, y) == pytest.approx(SubsetTree(d)(x, y) + 3 * d, rel=1e-15)
        # roots alone; the pair of children b and c with one gap: (mu l^2)^2 l^5
        a, b = "(a b c)", "(a b d c)"
        for g in (1.0, 0.5):
            leaf = d * g**2
            assert PartialTree(d, g)(a, b) == pytest.approx(
                d * (g**2 + 2 * leaf * g**2 + leaf**2 * g**5), rel=1e-15
            )
    # A leaf and a node with children of one label: the fragment (a b) occurs in both.
    assert SubsetTree(0.5)("(a b)", "(a (b c))") == 0.5
    assert SubTree(0.5)("(a b)", "(a (b c))") == 0.0


@pytest.mark.parametrize("k", [SubTree(0.5), SubsetTree(0.5), PartialTree(0.5, 0.5)], ids=repr)
def test_one_against_many_is_a_row_of_the_matrix(k: Any) -> None:
    K = k.block(TREES)
    for i, x in enumerate(TREES):
        np.testing.assert_allclose(k.block([x], TREES)[0], K[i], rtol=1e-13)
        np.testing.assert_allclose(k.block(TREES, [x])[:, 0], K[:, i], rtol=1e-13)
    np.testing.assert_array_equal(k.block(TREES[::-1])[::-1, ::-1], k.block(TREES))


def test_new_labels_match_nothing() -> None:
    new = ["(z y)", "(S (z z) (VP (V saw) (NP Mary)))"]
    for k in (SubTree(0.5), SubsetTree(0.5), PartialTree(0.5, 0.5)):
        np.testing.assert_allclose(
            k.block(TREES, new), [[k(x, y) for y in new] for x in TREES], rtol=1e-13, atol=1e-300
        )
        np.testing.assert_allclose(k.block(new, TREES), k.block(TREES, new).T, rtol=1e-13)


@pytest.mark.native
@pytest.mark.parametrize("k", [SubsetTree(1.0), PartialTree(1.0, 1.0)], ids=repr)
def test_values_beyond_floats(k: Any) -> None:
    """A star of preterminals has 2^n fragments at its root, and the paths of a comb multiply likewise."""
    n = 1200
    star, other = Tree(("s", *(("p", "w") for _ in range(n)))), Tree(("s", *(("p", "v") for _ in range(n))))
    with pytest.raises(Exception, match=r"overflows|the value inf"):
        k.block([star])
    with pytest.raises(Exception, match=r"overflows|the value inf"):
        k.diagonal([star])
    logs = k.log_block([star, other])
    if isinstance(k, SubsetTree):
        # n^2 pairs of p, 2^n at the root; of two stars without a common word, the root alone
        assert logs[0, 0] == pytest.approx(n * np.log(2), rel=1e-15)
        assert logs[0, 1] == 0.0
        assert k.normalized().block([star, other])[0, 1] == 0.0
    N = k.normalized().block([star, Tree(("s", *(("p", "w") for _ in range(n - 1)))), other])
    assert np.isfinite(N).all()
    assert N[0, 0] == 1.0
    assert 0 < N[0, 1] < 1 or isinstance(k, SubsetTree)
    small = ["(S (NP a) (NP b))", "(S (NP a) (NP a))"]
    np.testing.assert_allclose(np.exp(k.log_block(small)), k.block(small), rtol=1e-13)


#: Levels of a tree that is too deep for any recursion.
DEPTH = 20_000


@pytest.fixture(scope="module")
def chain() -> Tree:
    """A chain of distinct labels."""
    form: Any = "end"
    for i in range(DEPTH):
        form = (i, form)
    return Tree(form)


@pytest.mark.native
@pytest.mark.parametrize("k", [SubTree(0.5), SubsetTree(0.5), PartialTree(0.5, 0.5)], ids=repr)
def test_deep_trees(k: Any, chain: Tree) -> None:
    """A fragment at each node for each length."""
    n, tree = DEPTH, chain
    value = k.block([tree], ["(x y)", tree])
    assert value[0, 0] == 0
    if isinstance(k, SubTree):  # the lengths 1, 2, ... add 1/2 + 1/4 + ...
        assert value[0, 1] == pytest.approx(1.0, rel=1e-12)
    if isinstance(k, SubsetTree):  # the same at every node but for the last ones
        assert value[0, 1] == pytest.approx(n, rel=1e-4)
    assert k.diagonal([tree])[0] == pytest.approx(value[0, 1], rel=1e-12)
    assert k.normalized().block([tree])[0, 0] == 1.0


@pytest.mark.native
def test_more_pairs_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from mercer.errors import MemoryLimitError

    chain = Tree("(a " * 5000 + "b" + ")" * 5000)
    monkeypatch.setenv("MERCER_MEMORY", "10MB")
    with pytest.raises(MemoryLimitError, match=r"pairs of nodes that match\. Compare smaller trees"):
        SubsetTree(0.5).block([chain])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SubTree(0.0), "SubTree: `decay` must"),
        (lambda: SubsetTree(1.5), "SubsetTree: `decay` must"),
        (lambda: PartialTree(0.5, -1.0), "PartialTree: `gap_decay` must"),
        (lambda: PartialTree(0.5, 0.5, leaves="no"), "PartialTree: `leaves` must"),
    ],
)
def test_wrong_parameters(make: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        make()


def test_certificates() -> None:
    for k in (SubTree(), SubsetTree(), PartialTree()):
        assert k.certificate.is_psd
        assert not k.certificate.positive.strict
        assert k.replace(leaves=True).certificate.positive.strict


@pytest.mark.parametrize("k", [SubTree(0.5), SubTree(0.25, leaves=True)], ids=repr)
def test_features_of_subtrees(k: Any) -> None:
    features = mercer.features.Explicit(k).fit(TREES)
    Z, names = features.transform(TREES), features.get_feature_names_out().tolist()
    np.testing.assert_allclose((Z @ Z.T).toarray(), k.block(TREES), rtol=1e-14)
    assert Z.shape[1] == len(set(names)) == len(names)
    assert ("(John)" in names) == k.leaves
    row = dict(zip(names, Z.toarray()[3], strict=True))
    assert row["(NP Mary)"] == 2 * np.sqrt(k.decay)
    assert row["(VP (V saw) (NP Mary))"] == pytest.approx(k.decay**1.5)
    new = ["(S (NP John) (z z))", "(q)"]
    np.testing.assert_allclose((features.transform(new) @ Z.T).toarray(), k.block(new, TREES), rtol=1e-14)
