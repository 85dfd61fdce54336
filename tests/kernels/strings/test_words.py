"""Bags of words, against scikit-learn and by hand."""

import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from mercer.errors import DomainError, InputError, ParameterError, UnresolvedError
from mercer.kernels import BagOfWords, DualWords, Factors, Gaussian, Linear
from mercer.machines import KernelRidge

TRAIN = [
    "The quick brown fox jumps over the lazy dog.",
    "A lazy dog sleeps; a quick fox does not!",
    "Über façade naïve café",
    "dog dog dog fox",
    "",
    "to be, or not to be",
]
TEST = ["the fox sleeps", "unheard words only", "", "Café dog dog", "not a lazy word"]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)], ids=["1", "1-2", "2-3"])
@pytest.mark.parametrize("sublinear", [False, True], ids=["count", "log"])
def test_tfidf_of_scikit_learn(ngrams, sublinear):
    vectorizer = TfidfVectorizer(
        token_pattern=r"\w+", ngram_range=ngrams, sublinear_tf=sublinear, stop_words=["the", "a"]
    )
    A = vectorizer.fit_transform(TRAIN)
    B = vectorizer.transform(TEST)
    k = BagOfWords(ngrams=ngrams, tf="log" if sublinear else "count", idf="fit", stop_words=["the", "a"])
    k = k.resolve(TRAIN).normalized()
    np.testing.assert_allclose(k.block(TRAIN), (A @ A.T).toarray(), atol=1e-14)
    np.testing.assert_allclose(k.block(TEST, TRAIN), (B @ A.T).toarray(), atol=1e-14)
    np.testing.assert_allclose(k.block(TEST), (B @ B.T).toarray(), atol=1e-14)


@pytest.mark.parametrize("binary", [False, True], ids=["count", "binary"])
def test_counts_of_scikit_learn(binary):
    C = CountVectorizer(token_pattern=r"\w+", ngram_range=(1, 2), binary=binary).fit_transform(TRAIN)
    k = BagOfWords(ngrams=(1, 2), tf="binary" if binary else "count")
    assert k.block(TRAIN).tolist() == (C @ C.T).toarray().tolist()
    assert k.diagonal(TRAIN).tolist() == (C @ C.T).toarray().diagonal().tolist()


def test_machines_learn_the_document_frequencies_of_their_training_documents():
    y = np.arange(6.0)
    machine = KernelRidge(BagOfWords(idf="fit").normalized()).fit(TRAIN, y)
    resolved = BagOfWords(idf="fit").resolve(TRAIN)
    want = KernelRidge(resolved.normalized()).fit(TRAIN, y).predict(TEST)
    np.testing.assert_array_equal(machine.predict(TEST), want)
    with pytest.raises(UnresolvedError):
        BagOfWords(idf="fit").block(TRAIN)


def test_fitted_kernels_have_digests():
    first, second = BagOfWords(idf="fit").resolve(TRAIN), BagOfWords(idf="fit").resolve(TRAIN[::-1])
    assert first.digest() == second.digest() != BagOfWords(idf="fit").resolve(TRAIN[1:]).digest()


def test_weights_of_documents_count_as_repetitions():
    k = BagOfWords(idf="fit")
    repeated = k.resolve([TRAIN[0], TRAIN[0], TRAIN[1]])
    assert dict(k.resolve(TRAIN[:2], sample_weight=[2.0, 1.0]).idf) == dict(repeated.idf)


def test_unknown_words_and_documents_without_words():
    k = BagOfWords(idf="fit", stop_words=["be", "to", "or", "not"]).resolve(TRAIN)
    assert k.block(["unheard words only", "", "!?", "to be"], TRAIN).tolist() == np.zeros((4, 6)).tolist()
    assert k.diagonal(["unheard words only", "", "to be"]).tolist() == [0.0, 0.0, 0.0]
    assert k.normalized().block(["", "to be"]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert k.block([], TRAIN).shape == (0, 6)
    assert BagOfWords(idf="fit").resolve(["", "..."]).block(["word"]).tolist() == [[0.0]]


def test_the_stages_one_by_one():
    assert BagOfWords()("Dog DOG", "dog") == 2.0
    assert BagOfWords(lowercase=False)("Dog DOG", "dog") == 0.0
    assert BagOfWords(synonyms={"Hound": "dog"})("hound", "DOG") == 1.0
    assert BagOfWords(stop_words=["DOG"])("dog cat", "dog cat") == 1.0
    # a synonym may lead to a stop word
    assert BagOfWords(synonyms={"hound": "dog"}, stop_words=["dog"])("hound", "hound") == 0.0
    # runs close up over stop words
    assert BagOfWords(stop_words=["of"], ngrams=(2, 2))("cup of tea", "cup tea") == 1.0
    assert BagOfWords(idf={"tea": 3.0})("tea cup", "cup tea") == 9.0
    assert BagOfWords(tf="log")("a a a", "a") == pytest.approx(1 + math.log(3))
    assert BagOfWords(pattern=r"#(\w+)")("#tag word", "a #tag") == 1.0


def test_accents_as_letters_and_as_marks():
    composed, marked = "caf\u00e9", "cafe\u0301"
    assert BagOfWords()(composed, marked) == 1.0
    assert BagOfWords(normal_form=None)(composed, marked) == 0.0
    devanagari = "\u0939\u093f\u0928\u094d\u0926\u0940"  # one word with vowel signs
    assert BagOfWords()(devanagari, devanagari) > 1.0
    assert BagOfWords(pattern=r"[\w\u0900-\u097f]+")(devanagari, devanagari) == 1.0


def test_lists_of_words():
    k = BagOfWords()
    assert k(["Cat", "sat"], "the cat") == 1.0
    assert k(["new york"], "new york") == 0.0
    assert k([("a", 1), 7, None], np.array([7, 8])) == 1.0
    assert k([None, "a"], [None]) == k.block([[None]]) == 1.0
    # two words of one letter are not the text that they spell
    assert k(["a", "b"], ["b", "a"]) == 2.0
    assert k(["a", "b"], "ab") == 0.0


def test_together_with_kernels_on_strings():
    k = BagOfWords() + 2.0 * Factors(shortest=3)
    X = ["red sky", "red sea", "sky"]
    np.testing.assert_array_equal(k.block(X), BagOfWords().block(X) + 2.0 * Factors(shortest=3).block(X))
    assert k("red sky", "red sea") == k.block(X)[0, 1]
    with pytest.raises(DomainError):
        BagOfWords() + Gaussian(1.0)


def test_similarity_smooths_words():
    s = DualWords([{"car", "road"}, {"auto", "road"}])
    k = BagOfWords(similarity=s)
    # car-road 1, car-auto 0, road-road 2, road-auto 1
    assert k("car road", "road auto") == 1 + 0 + 2 + 1
    vectors = {"car": [1.0, 0.0], "auto": [0.8, 0.6]}
    embedded = BagOfWords(similarity=Linear().on(lambda w: np.array(vectors.get(w, [0.0, 0.0]))))
    assert embedded("car car", "auto unheard") == pytest.approx(1.6)
    assert embedded.certificate.verdict.value == "PSD"
    assert [c.rule for c in embedded.certificate.premises]
    assert BagOfWords(similarity=-1.0 * s).certificate.verdict.value == "UNKNOWN"
    X, Y = ["car road", "", "auto auto road", "unheard"], ["road", "car unheard"]
    np.testing.assert_allclose(k.block(X, Y), [[k(x, y) for y in Y] for x in X])
    np.testing.assert_allclose(k.diagonal(X), [k(x, x) for x in X])


def test_parameters_of_the_similarity_wait_for_the_words():
    k = BagOfWords(similarity=Gaussian("median").on(lambda w: np.array([float(len(w))])), idf="fit")
    fitted = k.resolve(["one three", "eleven"])
    # lengths 3, 5, 6: distances 2, 3, 1
    assert fitted.similarity.base.sigma == 2.0
    assert set(fitted.idf) == {"one", "three", "eleven"}


def test_contributions_name_words_and_places():
    k = BagOfWords(stop_words=["the"], ngrams=(1, 2))
    x, y = "The red sky, the red sea", "Red sky"
    found = k.contributions(x, y)
    assert found.total == k(x, y) == 4.0
    by_pattern = {c.pattern: c for c in found}
    assert by_pattern["red"].weight == 2.0
    assert by_pattern["red"].x_places == ((4, 7), (17, 20))
    assert by_pattern["red", "sky"].x_places == ((4, 11),)
    assert by_pattern["red", "sky"].y_places == ((0, 7),)
    listed = k.contributions(["a", "sky"], ["sky"])
    assert [(c.pattern, c.x_places) for c in listed] == [("sky", ((1, 2),))]
    smooth = BagOfWords(similarity=DualWords([{"car", "road"}]))
    assert {c.pattern for c in smooth.contributions("car", "car road")} == {"car", ("car", "road")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pattern": "("}, "`pattern`"),
        ({"pattern": "(a)(b)"}, "at most one group"),
        ({"pattern": b"a"}, "`pattern`"),
        ({"tf": "loud"}, "`tf`"),
        ({"idf": "guess"}, "`idf`"),
        ({"idf": {"a": -1.0}}, "`idf`"),
        ({"ngrams": (0, 1)}, "`ngrams`"),
        ({"ngrams": (2, 1)}, "`ngrams`"),
        ({"ngrams": 2}, "`ngrams`"),
        ({"stop_words": "the"}, "`stop_words`"),
        ({"synonyms": ["a"]}, "`synonyms`"),
        ({"similarity": [[1.0]]}, "`similarity`"),
        ({"similarity": Linear(), "ngrams": (1, 2)}, "`similarity`"),
        ({"normal_form": "NFX"}, "`normal_form`"),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else "",
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        BagOfWords(**arguments)


@pytest.mark.parametrize(
    "X",
    ["a text", [b"\xff"], [3], [["a", []]], [[float("nan")]], 7],
    ids=["one", "bytes", "int", "list", "nan", "no"],
)
def test_bad_documents_are_named(X):
    with pytest.raises(InputError, match="X"):
        BagOfWords().block(X)
