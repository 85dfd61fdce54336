"""Explicit features: their inner products are the kernel, also between new points and those of the fit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mercer.arithmetic import FLOAT
from mercer.domains import Graph
from mercer.errors import DomainError, InputError, ParameterError
from mercer.features import Explicit
from mercer.kernel import Kernel
from mercer.kernels import (
    Autocorrelation,
    BagOfWords,
    Constant,
    Cosine,
    EdgeHistogram,
    GappyNGram,
    Gaussian,
    Linear,
    NGram,
    ProbabilityProduct,
    SetIntersection,
    Spectrum,
    Transitions,
    VertexHistogram,
)

STRINGS = ["banana", "ananas", "", "bandana", "nab", "bananabananabanana" * 4]
NEW_STRINGS = ["cabana", "zzz", "banana", ""]
DNA = ["ACGTN", "ggga", "ACRT", "", "TTTT"]
TEXTS = ["the cat saw the dog", "a dog", "", "cat cat"]
GRAPHS = [
    Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels="-="),
    Graph(2, [(0, 1)], labels=["C", 1]),
    Graph(0),
]
NEW_GRAPHS = [Graph(2, [(0, 1)], labels="NC", edge_labels="#"), Graph(1, labels=[True])]
SERIES = [np.array([0.0, 1.0, -1.0, 2.0]), np.array([1.0, 1.0, 1.0]), np.array([3.0])]
NEW_SERIES = [np.array([-5.0, 5.0, -5.0]), np.array([0.0, 1.0])]
RNG = np.random.default_rng(0)
VECTORS, NEW_VECTORS = RNG.random((5, 3)), RNG.random((2, 3))
SETS, NEW_SETS = [{"a", "b"}, {1}, set()], [{"a", 2}, {"z"}]

CASES: list[tuple[Kernel, Any, Any]] = [
    *((k, STRINGS, NEW_STRINGS) for k in (NGram(1), NGram(2), NGram(70), NGram(3, [1.0, 0.5, 2.0]))),
    *((k, STRINGS, NEW_STRINGS) for k in (GappyNGram(2, 0.5), GappyNGram(2, 0.5, max_gap=1))),
    (GappyNGram(70, 0.5, max_gap=1), STRINGS, NEW_STRINGS),
    (Spectrum(2, reverse_complement=True, ambiguity="expand"), DNA, ["ACGT", "NNA"]),
    (Spectrum(2, ambiguity="skip"), DNA, ["ACGT", "NNA"]),
    (BagOfWords(ngrams=(1, 2)), TEXTS, ["the bird", "dog"]),
    (BagOfWords(idf="fit"), TEXTS, ["the bird", "dog"]),
    *((k, GRAPHS, NEW_GRAPHS) for k in (VertexHistogram(), EdgeHistogram())),
    (Transitions([0.0, 0.5], 2), SERIES, NEW_SERIES),
    (Autocorrelation(2), SERIES, NEW_SERIES),
    *((k, VECTORS, NEW_VECTORS) for k in (Linear(), Cosine(), ProbabilityProduct(), Constant(2.0))),
    *((k, SETS, NEW_SETS) for k in (SetIntersection(), SetIntersection({"a": 2.0, 1: 0.5}))),
]
COMBINED: list[tuple[Kernel, Any, Any]] = [
    (2.0 * NGram(2) + NGram(3), STRINGS, NEW_STRINGS),
    ((NGram(2) + Constant(1.0)).normalized(), STRINGS, NEW_STRINGS),
    ((3.0 * VertexHistogram()).normalized() + 0.5 * EdgeHistogram(), GRAPHS, NEW_GRAPHS),
    (VertexHistogram() + VertexHistogram().normalized(), GRAPHS, NEW_GRAPHS),
    (Transitions([0.0], 2) + Transitions([0.0], 1).normalized(), SERIES, NEW_SERIES),
    (Linear().assume("PSD"), VECTORS, NEW_VECTORS),
]


@pytest.mark.parametrize(
    ("kernel", "X", "new"), CASES + COMBINED, ids=lambda v: repr(v)[:40] if isinstance(v, Kernel) else ""
)
def test_inner_products_are_the_kernel(kernel: Kernel, X: Any, new: Any) -> None:
    features = Explicit(kernel)
    F = features.fit_transform(X)
    k = features.kernel_
    assert F.format == "csr"
    assert F.shape == (len(X), features.dim)
    assert F.indices.dtype == np.int32
    K = k.block(X)
    np.testing.assert_allclose((F @ F.T).toarray(), K, rtol=1e-12, atol=1e-12 * abs(K).max())
    np.testing.assert_array_equal(k.features(X).toarray(), F.toarray())
    again = pickle.loads(pickle.dumps(features))
    for fitted in (features, again):
        np.testing.assert_array_equal(fitted.transform(X).toarray(), F.toarray())
        G = fitted.transform(new)
        assert G.shape == (len(new), F.shape[1])
        np.testing.assert_allclose((G @ F.T).toarray(), k.block(new, X), rtol=1e-12, atol=1e-12)
    names = features.get_feature_names_out()
    assert len(names) == len({*names}) == features.dim
    assert list(again.get_feature_names_out()) == list(names)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (NGram(2), STRINGS),
        (NGram(70), STRINGS),
        (NGram(3, [1.0, 0.5, 2.0]), STRINGS),
        (NGram(1), [("a", 1, None), (1, 1)]),
        (GappyNGram(2, 0.5), STRINGS),
        (GappyNGram(3, 0.5), ["abc", "cab", "aab"]),
        (GappyNGram(3, 0.5, max_gap=1), STRINGS),
        (Spectrum(2, reverse_complement=True, ambiguity="expand"), DNA),
        (Spectrum(40, reverse_complement=True), ["ACGGT" * 9, "TTAAN" * 10]),
        (BagOfWords(ngrams=(1, 2)), TEXTS),
        (VertexHistogram(), GRAPHS),
        (EdgeHistogram(), GRAPHS),
        (Transitions([0.0, 0.5], 2), SERIES),
        (Transitions([0.0], 2), [np.array([[0.0, 1.0], [1.0, -1.0], [2.0, 2.0]])]),
    ],
    ids=repr,
)
def test_names_are_the_patterns_of_contributions(kernel: Kernel, X: Any) -> None:
    features = Explicit(kernel).fit(X)
    names, rows = features.get_feature_names_out(), features.transform(X).toarray()
    for x, row in zip(X, rows, strict=True):
        found = {
            c.pattern if isinstance(c.pattern, str) else repr(c.pattern): c.weight
            for c in kernel.contributions(x, x)
        }
        assert found == pytest.approx({name: v * v for name, v in zip(names, row, strict=True) if v})


def test_names_of_long_kmers_with_gaps() -> None:
    k = GappyNGram(70, 0.5, max_gap=1)
    names = Explicit(k).fit(STRINGS).get_feature_names_out()
    assert {*names} == {"".join(kmer) for x in STRINGS for kmer in k._counts(tuple(x), 70, FLOAT)}


def test_only_what_occurs_is_a_feature() -> None:
    features = Explicit(NGram(2)).fit(["ab", "bc"])
    assert features.get_feature_names_out().tolist() == ["ab", "bc"]  # ba, ca... are no columns
    assert features.transform(["ca", "abc"]).toarray().tolist() == [[0, 0], [1, 1]]
    assert NGram(2).features(["a", ""]).shape == (2, 0)


def test_names_of_sums_are_told_apart() -> None:
    k = VertexHistogram() + VertexHistogram().normalized()
    assert Explicit(k).fit([Graph(1, labels="C")]).get_feature_names_out().tolist() == ["0: C", "1: C"]
    k = NGram(1) + Constant(1.0)
    assert Explicit(k).fit(["ab"]).get_feature_names_out().tolist() == ["a", "b", "1"]


def test_new_points_of_normalized_kernels_have_their_whole_norm() -> None:
    features = Explicit(NGram(1).normalized()).fit(["a"])
    assert features.transform(["abbb"]).toarray() == pytest.approx(np.array([[1 / np.sqrt(10)]]))


def test_a_pipeline() -> None:
    X, y = ["aab", "aaab", "bba", "bbba"] * 5, [0, 0, 1, 1] * 5
    model = make_pipeline(Explicit(NGram(2).normalized()), LinearSVC()).fit(X, y)
    assert model.score(X, y) == 1.0
    assert pickle.loads(pickle.dumps(model)).predict(["abb", "aa"]).tolist() == [1, 0]


def test_parameters() -> None:
    features = clone(Explicit(NGram(2))).set_params(kernel__n=3)
    assert features.kernel == NGram(3)
    with pytest.raises(NotFittedError):
        features.transform(["abc"])
    assert Explicit(BagOfWords(idf="fit")).fit(TEXTS).kernel_.is_resolved


def test_as_kernel() -> None:
    k = Explicit(NGram(2)).fit(["banana"]).as_kernel()
    assert k("banana", "banana") == NGram(2)("banana", "banana")
    assert k("zz", "zz") == 0  # not seen
    np.testing.assert_array_equal(k.block(["banana", "anz"]), [[9, 2], [2, 1]])
    np.testing.assert_array_equal(k.diagonal(["banana", "anz"]), [9, 1])
    assert k.certificate.is_psd


def test_errors() -> None:
    with pytest.raises(DomainError, match=r"Gaussian\(\) has no finite features"):
        Gaussian(1.0).features([[0.0]])
    with pytest.raises(DomainError, match="no finite features"):
        Explicit(NGram(2).exp()).fit(STRINGS)
    with pytest.raises(ParameterError, match=r"Explicit: `kernel` must be a kernel. Got 3"):
        Explicit(3).fit(STRINGS)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="X has 2 features, but Explicit is expecting 3"):
        Explicit(Linear()).fit(VECTORS).transform([[0.0, 1.0]])
