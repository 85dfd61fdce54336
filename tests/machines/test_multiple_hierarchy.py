"""Hierarchies of kernels: their graphs, and machines that learn along them."""

import itertools

import numpy as np
import pandas as pd
import pytest

from mercer import gram
from mercer.errors import DefinitenessError, DomainError, ParameterError
from mercer.kernels import Gaussian, Linear, Sigmoid, Spectrum, columns
from mercer.machines import (
    KernelHierarchy,
    KernelRidge,
    MultipleKernelOneClass,
    MultipleKernelRidge,
    MultipleKernelSVC,
    MultipleKernelSVR,
)

N = 120
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((N, 5)), columns=list("abcde"))
NUMBERS = 2 * np.sin(2 * X["a"]) * X["b"] + X["c"] ** 2 + 0.1 * RNG.standard_normal(N)
COLUMNS = columns({name: Gaussian(1.0) for name in X})
PAIRS = KernelHierarchy.products(COLUMNS, degree=2)


# -- graphs -----------------------------------------------------------------------------------------
def test_products():
    every = KernelHierarchy.products(COLUMNS, growth=3.0)
    assert len(every) == 2**5 - 1
    sets = [frozenset(name.split(" * ")) for name in every.names]
    assert len(set(sets)) == 31
    np.testing.assert_array_equal(every.above().toarray(), [[v <= w for v in sets] for w in sets])
    np.testing.assert_allclose(every.prices(), [3.0 ** (len(s) - 1) for s in sets])
    k = every.kernels["a * c * e"]
    squares = sum((X[name].to_numpy()[:, None] - X[name].to_numpy()) ** 2 for name in "ace")
    np.testing.assert_allclose(k.block(X), np.exp(-0.5 * squares))
    assert repr(PAIRS) == "<KernelHierarchy: 15 kernels, 20 edges, growth 2>"


def subtrees_of(v, children):
    """Leaves of all subtrees that begin at v, by recursion."""
    found = [(v,)]
    if v in children:
        parts = itertools.product(*(subtrees_of(u, children) for u in children[v]))
        found += [tuple(itertools.chain(*part)) for part in parts]
    return found


def test_subtrees():
    children = {"": ["0", "1"], "0": ["00", "01"], "1": ["10", "11"], "00": ["000", "001"]}
    nodes = sorted({"", *itertools.chain(*children.values())})
    kernels = {v: Gaussian(1.0 + i) for i, v in enumerate(nodes)}
    hierarchy = KernelHierarchy.subtrees(kernels, children)
    expected = subtrees_of("", children)
    assert sorted(hierarchy.names) == sorted(" * ".join(t) for t in expected)
    points = X.to_numpy()[:5]
    for t in expected:
        values = np.prod([kernels[v].block(points) for v in t], axis=0)
        np.testing.assert_allclose(hierarchy.kernels[" * ".join(t)].block(points), values)
    assert set(hierarchy.parents["00 * 01 * 10 * 11"]) == {"00 * 01 * 1", "0 * 10 * 11"}


def test_a_graph_of_ones_own():
    powers = {"cube": Linear() ** 3, "line": Linear(), "square": Linear() ** 2}
    hierarchy = KernelHierarchy(powers, {"cube": ["square", "line"], "square": ["line"]})
    assert hierarchy.names == ("line", "square", "cube")
    np.testing.assert_array_equal(hierarchy.above().toarray(), np.tril(np.ones((3, 3))))
    np.testing.assert_array_equal(hierarchy.prices(), [1.0, 2.0, 4.0])
    assert KernelHierarchy(powers, {"cube": "square"}).parents["cube"] == ("square",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KernelHierarchy({"a": Linear()}, {"a": ["a"]}), "`parents` must have no cycle. 'a'"),
        (lambda: KernelHierarchy({"a": Linear()}, {"b": ["a"]}), "`parents` must have names of .* Got 'b'"),
        (lambda: KernelHierarchy({}), "`kernels` must hold one kernel at least"),
        (lambda: KernelHierarchy.products([]), "`kernels` must hold one kernel at least"),
        (lambda: KernelHierarchy({"a": 3.0}), r"`kernels\['a'\]`"),
        (lambda: KernelHierarchy({"a": Linear()}, growth=0.5), "`growth` must be a finite number >= 1"),
        (lambda: KernelHierarchy.products(COLUMNS, degree=0), "`degree` must be an integer >= 1"),
        (
            lambda: KernelHierarchy.products([Gaussian(1.0 + i) for i in range(20)]),
            "`degree` must leave at most 20,000 products",
        ),
        (
            lambda: KernelHierarchy.subtrees({"a": Linear(), "b": Linear()}, {}),
            r"must describe a tree .* without a parent are \['a', 'b'\]",
        ),
        (lambda: KernelHierarchy.subtrees({"a": Linear()}, {"a": ["b"]}), "'b' has no kernel"),
    ],
    ids=[
        "cycle",
        "unknown",
        "empty",
        "no-products",
        "no-kernel",
        "growth",
        "degree",
        "many",
        "roots",
        "leaf",
    ],
)
def test_graphs_that_cannot_be(make, message):
    with pytest.raises(ParameterError, match=f"KernelHierarchy: .*{message}"):
        make()


# -- machines ---------------------------------------------------------------------------------------
def test_a_planted_product_is_found():
    model = MultipleKernelRidge(PAIRS, alpha=0.1).fit(X, NUMBERS)
    assert model.converged_
    weights = dict(zip(model.names_, model.weights_, strict=True))
    pairs = [name for name in model.names_ if "*" in name]
    assert max(pairs, key=weights.get) == "a * b"
    assert weights["a * b"] > 5 * sum(weights[name] for name in pairs if name != "a * b")
    for name in pairs:
        assert not weights[name] or all(weights[part] for part in name.split(" * "))


def test_weights_have_the_form_of_the_penalty():
    """At the optimum each node's simplex weight is as its part of the penalty (see Bach 2008)."""
    model = MultipleKernelRidge(PAIRS, alpha=0.1, tol=1e-8).fit(X, NUMBERS)
    Ks = [gram(k, X).dense() / s for k, s in zip(model.kernels_, model.scales_, strict=True)]
    norms = np.array(
        [d**2 * model.dual_coef_ @ K @ model.dual_coef_ for d, K in zip(model.weights_, Ks, strict=True)]
    )
    above, delta = PAIRS.above().toarray(), PAIRS.prices()
    parts = delta * np.sqrt(norms @ above)
    theta = parts / parts.sum()
    used = model.weights_ > 0
    inverse = above[np.ix_(used, used)] @ (delta[used] ** 2 / theta[used])
    np.testing.assert_allclose(model.weights_[used], 1.0 / inverse, rtol=1e-3)


def test_a_hierarchy_without_edges_is_a_list():
    plain = MultipleKernelSVR(COLUMNS, C=10.0, tol=1e-8).fit(X, NUMBERS)
    kernels = {c: columns({c: Gaussian(1.0)}) for c in X}
    flat = MultipleKernelSVR(KernelHierarchy(kernels), C=10.0, tol=1e-8).fit(X, NUMBERS)
    assert flat.names_ == plain.names_
    assert flat.objective_ == pytest.approx(plain.objective_, rel=1e-7)
    np.testing.assert_allclose(flat.weights_, plain.weights_, atol=1e-4)


def test_a_machine_without_free_support_vectors():
    """With a low price of errors all variables are at their bounds: the objective is linear in weights."""
    rng = np.random.default_rng(0)
    X = {name: rng.standard_normal(24) for name in "abcd"}
    score = np.sin(2 * X["a"]) * X["b"] + 0.5 * X["c"]
    hierarchy = KernelHierarchy.products(columns({name: Gaussian(1.0) for name in "abcd"}))
    model = MultipleKernelSVC(hierarchy, C=0.1, tol=1e-6).fit(X, score > np.median(score))
    assert model.converged_
    assert (np.abs(model.dual_coef_) > 0.1 - 1e-12).all()
    assert [share.pattern for share in model.kernel_weights()] == ["c"]


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes):
    y = np.digitize(NUMBERS, np.quantile(NUMBERS, np.arange(1, classes) / classes))
    model = MultipleKernelSVC(PAIRS, C=20.0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.8
    assert "a * b" in [share.pattern for share in model.kernel_weights()]


def test_one_class():
    assert MultipleKernelOneClass(PAIRS, nu=0.2).fit(X).converged_


def test_the_machine_is_that_of_the_combined_kernel():
    model = MultipleKernelRidge(PAIRS, alpha=0.1).fit(X, NUMBERS)
    single = KernelRidge(model.kernel_, alpha=0.1, fit_intercept=True).fit(X, NUMBERS)
    np.testing.assert_allclose(model.predict(X[:9]), single.predict(X[:9]), atol=1e-8)


def test_a_column_that_is_always_missing_has_no_weight():
    model = MultipleKernelRidge(PAIRS, alpha=0.1).fit(X.assign(e=np.nan), NUMBERS)
    weights = dict(zip(model.names_, model.weights_, strict=True))
    assert model.converged_
    assert weights["a * b"] > 0


@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        (KernelHierarchy({"a": Linear(), "b": Spectrum(2)}), DomainError, "'a' and 'b' are not"),
        (
            KernelHierarchy({"a": Linear(), "b": Sigmoid(1.0, -1.0)}, {"b": ["a"]}),
            DefinitenessError,
            "'b' is not on these data",
        ),
    ],
    ids=["domains", "indefinite"],
)
def test_kernels_that_cannot_be_used(kernels, error, message):
    with pytest.raises(error, match=f"MultipleKernelRidge: .*{message}"):
        MultipleKernelRidge(kernels).fit(X.to_numpy(), NUMBERS)


@pytest.mark.parametrize("params", [{"weights": "average"}, {"norm": 2.0}], ids=["average", "norm"])
def test_other_weights_have_no_order(params):
    with pytest.raises(ParameterError, match="only with weights='learn' and norm=1"):
        MultipleKernelRidge(PAIRS, **params).fit(X, NUMBERS)
