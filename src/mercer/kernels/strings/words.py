"""Bags of words: documents compared by the words that they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...caches import Cache
from ...certificate import Certificate
from ...contributions import Contribution, Places
from ...domains import Data, Domain, Texts, Vocabulary, items
from ...engine import pairwise
from ...engine.program import Builder, Value
from ...errors import ParameterError
from ...intervals import NONNEGATIVE, REAL_LINE, Interval
from ...kernel import Kernel
from ...parameters import Spec, parameter
from ..weights import Measure, as_elements
from .bags import Bags, Feature, NormalForm, WordReader, runs

__all__ = ["BagOfWords"]


class WeightsOrRule(Spec):
    """Nothing, a mapping from features to weights, or a rule that waits for data."""

    def check(self, owner: str, name: str, value: Any) -> None:
        if value is None or isinstance(value, Mapping) or (isinstance(value, str) and value in self.rules):
            return
        rules = " or ".join(map(repr, self.rules))
        raise ParameterError(
            f"{owner}: `{name}` must be None, {rules}, or a mapping from words to numbers. Got {value!r}."
        )


def option(default: Any) -> Any:
    """A parameter that is no number and is given by name."""
    return field(default=default, kw_only=True)


class BagOfWords(Kernel):
    r"""Inner product of the weighted word counts of two documents.

    .. math:: k(x, y) = \sum_w \varphi_w(x)\, \varphi_w(y), \qquad
        \varphi_w(x) = \mathrm{tf}_w(x)\, \mathrm{idf}_w

    A document is a text, or a list of words.  The map from it to :math:`\varphi` is a chain of embeddings:

    1. *normal form*: a text is brought to one Unicode normal form;
    2. *cutting*: the matches of ``pattern`` are its words (a list is taken as it is);
    3. *lower case*, *synonyms*, *stop words*: words are replaced, or left out;
    4. *runs* of neighbouring words (after the stop words are gone) are counted, as ``ngrams`` says;
    5. *term frequency*: a count c gives c, 1 + log c or 1;
    6. *document frequency*: each word is multiplied by its weight;
    7. *similarity*: with a kernel s on words, :math:`k(x, y) = \sum_{u,w} \varphi_u(x) s(u, w) \varphi_w(y)`.

    The length of documents is taken out by ``.normalized()``.

    Positive definite: an inner product of explicit features; with a similarity, if that is positive definite.
    A document without words has k = 0 with everything.  Block cost: a sparse matrix product; with a
    similarity also a dense matrix over the two vocabularies.

    Parameters
    ----------
    pattern : str, default=r"\\w+"
        Regular expression of a word, with at most one group.  ``\w`` is a letter, digit or underscore of any
        script, but no combining mark: for scripts that write vowels as marks add their block, as in
        ``r"[\w\u0900-\u097f]+"`` for Devanagari.
    normal_form : {"NFC", "NFD", "NFKC", "NFKD"} or None, default="NFC"
        NFC joins letters with their accents where it can.
    lowercase : bool, default=True
    synonyms : mapping from words to words, optional
    stop_words : collection of words, default=()
    ngrams : (int, int), default=(1, 1)
        The fewest and the most words of a run, up to 1000.  A run of several words is a tuple.
    tf : {"count", "log", "binary"}, default="count"
    idf : None, "fit" or mapping from words (or runs) to numbers >= 0, default=None
        With ``"fit"`` machines (or ``resolve(X)``) learn :math:`\log\frac{1 + n}{1 + n_w} + 1` from the n
        training documents, of which :math:`n_w` hold w.  Words that the mapping does not list have the
        weight 0: what the training documents did not know does not count.
    similarity : Kernel, optional
        A kernel on words, such as :class:`~mercer.kernels.DualWords` or ``Linear().on(vector_of)``.  Only for
        single words.

    Examples
    --------
    >>> k = BagOfWords(stop_words=["the", "a"])
    >>> k("The cat saw a cat", "the cat"), k(["saw", "cat"], "The cat saw a cat")
    (2.0, 3.0)
    >>> print(k.contributions("The cat saw a cat", "the cat"))
    weight  pattern
       2.0  'cat'  [4:7 14:17 | 4:7]
    >>> texts = ["red sky", "blue sky", "blue sea"]
    >>> tfidf = BagOfWords(idf="fit").resolve(texts)
    >>> round(tfidf.idf["sky"], 4), round(tfidf("a red sky", "red"), 4)
    (1.2877, 2.8667)
    """

    pattern: str = option(r"\w+")
    normal_form: NormalForm | None = parameter(
        default="NFC", choices=("NFC", "NFD", "NFKC", "NFKD", None), kw_only=True
    )
    lowercase: bool = parameter(default=True, choices=(False, True), kw_only=True)
    synonyms: Mapping[Any, Any] | None = option(None)
    stop_words: Collection[Any] = option(())
    ngrams: tuple[int, int] = option((1, 1))
    tf: str = parameter(default="count", choices=("count", "log", "binary"), kw_only=True)
    idf: Mapping[Any, float] | str | None = field(
        default=None, kw_only=True, metadata={"mercer": WeightsOrRule(rules=("fit",))}
    )
    similarity: Kernel | None = option(None)

    def _validate(self) -> None:
        name = "BagOfWords"
        _check_pattern(name, self.pattern)
        if self.synonyms is not None and not isinstance(self.synonyms, Mapping):
            raise ParameterError(
                f"{name}: `synonyms` must be a mapping from words to words. Got {self.synonyms!r}."
            )
        object.__setattr__(self, "stop_words", as_elements(name, "stop_words", self.stop_words))
        object.__setattr__(self, "ngrams", _as_range(name, self.ngrams))
        if isinstance(self.idf, Mapping) and not isinstance(self.idf, Measure):
            object.__setattr__(self, "idf", Measure(self.idf, name, "idf"))
        if self.similarity is not None and not isinstance(self.similarity, Kernel):
            raise ParameterError(
                f"{name}: `similarity` must be a kernel on words. Got {self.similarity!r}. A matrix is one "
                "as Linear().on(f), where f gives a word its row of a square root of the matrix."
            )
        if self.similarity is not None and self.ngrams != (1, 1):
            raise ParameterError(
                f"{name}: a `similarity` compares single words: `ngrams` must be (1, 1). Got {self.ngrams}."
            )

    @property
    def domain(self) -> Domain:
        return Texts()

    # -- features of one document -------------------------------------------------------------
    @property
    def _reader(self) -> WordReader:
        synonyms = self.synonyms or {}
        return WordReader(self.pattern, self.normal_form, self.lowercase, synonyms, self.stop_words)

    def _places(self, document: Any) -> dict[Feature, Places]:
        """The features of a document and where they stand."""
        places: dict[Feature, Places] = {}
        for found in runs(self._reader.placed(document), *self.ngrams):
            places[found.feature] = (*places.get(found.feature, ()), found.place)
        return places

    def _weigh(self, feature: Feature, count: int, m: Arithmetic) -> Any:
        """Value of a feature that occurs so often."""
        tf = {"count": m.real(count), "log": 1 + m.log(m.real(count)), "binary": m.real(1)}[self.tf]
        return tf if not isinstance(self.idf, Mapping) else tf * m.real(self.idf.get(feature, 0.0))

    def _features(self, document: Any, m: Arithmetic) -> dict[Feature, Any]:
        counts = Counter(f.feature for f in runs(self._reader.placed(document), *self.ngrams))
        return {feature: self._weigh(feature, count, m) for feature, count in counts.items()}

    def _terms(self, x: Any, y: Any, m: Arithmetic) -> Iterator[tuple[Feature, Feature, Any]]:
        """Pairs of features, and what each adds to the value."""
        a, b = self._features(x, m), self._features(y, m)
        if self.similarity is None:
            yield from ((w, w, a[w] * b[w]) for w in a if w in b)
            return
        s, domain = self.similarity, self.similarity.domain
        for u in a:
            for w in b:
                p, q = domain.pair(u, w)
                yield u, w, a[u] * b[w] * s._define(domain.to_arithmetic(p, m), domain.to_arithmetic(q, m), m)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.fsum([value for _, _, value in self._terms(x, y, m)])

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        in_x, in_y = self._places(x), self._places(y)
        for u, w, value in self._terms(x, y, FLOAT):
            if value != 0:
                yield Contribution(u if u == w else (u, w), value, in_x[u], in_y[w])

    # -- parameters that depend on data -------------------------------------------------------
    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> Any:
        counts = self._counts(X)
        total = float(len(counts) if weight is None else weight.sum())
        idf = np.log((1 + total) / (1 + counts.frequencies(weight))) + 1
        return Measure(dict(zip(counts.vocabulary.elements, idf.tolist(), strict=True)), name=name)

    def _child_data(self, X: Data) -> Data:
        assert self.similarity is not None
        return self.similarity.domain.validate(self._counts(X).vocabulary.elements, "the words of X")

    # -- many documents -----------------------------------------------------------------------
    def _counts(self, X: Data) -> Bags:
        return Bags.counts(items(X), self._reader, *self.ngrams)

    def _prepare(self, X: Data) -> Weighted:
        counts = self._counts(X)
        matrix = counts.matrix
        if self.tf == "log":
            matrix.data = 1 + np.log(matrix.data)
        elif self.tf == "binary":
            matrix.data[:] = 1.0
        if isinstance(self.idf, Mapping):
            idf = np.zeros(matrix.shape[1])
            idf[: len(counts.vocabulary)] = [self.idf.get(w, 0.0) for w in counts.vocabulary.elements]
            matrix.data *= idf[matrix.indices]
            matrix.eliminate_zeros()
        return Weighted(matrix, counts.vocabulary, Similarities(self.similarity, counts.vocabulary))

    def _block(self, X: Weighted, Y: Weighted | None) -> np.ndarray:
        if self.similarity is None:
            return pairwise.dot(X.matrix, None if Y is None else Y.coded_like(X))
        S = X.similarities.to(X if Y is None else Y)
        return np.asarray((X if Y is None else Y).matrix @ (X.matrix @ S).T).T

    def _compile(self, b: Builder, X: Weighted, Y: Weighted | None) -> Value | None:
        if self.similarity is not None:
            return None
        return b.dot(X.matrix, None if Y is None else Y.coded_like(X))

    def _embedding(self, X: Weighted, like: Weighted | None = None) -> Any:
        if self.similarity is not None:
            return None
        return X.matrix if like is None else X.coded_like(like)

    def _feature_names(self, X: Weighted) -> list[str]:
        return [w if isinstance(w, str) else repr(w) for w in X.vocabulary.elements] or [""]

    def _diagonal(self, X: Weighted) -> np.ndarray:
        if self.similarity is None:
            return np.asarray(X.matrix.multiply(X.matrix).sum(axis=1)).ravel()
        S = X.similarities.to(X)
        d = np.empty(len(X))
        strip = 512  # rows that are smoothed at a time
        for start in range(0, len(X), strip):
            rows = X.matrix[start : start + strip]
            d[start : start + strip] = np.asarray(rows.multiply(rows @ S).sum(axis=1)).ravel()
        return d

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        features = "the inner product of weighted counts of words"
        if self.similarity is None:
            return Certificate.psd(self, "explicit features", features)
        claim = self.similarity.certificate.positive
        if not claim.proved:
            return Certificate.unknown(self, "the similarity is not known to be positive definite", [claim])
        reason = "a sum over words of x and of y of a positive definite kernel, weighted"
        return Certificate.psd(self, "sum over parts", reason, premises=[claim])

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self.similarity is None or self.similarity.bounds.low >= 0 else REAL_LINE


@dataclass(frozen=True, eq=False)
class Weighted(Bags):
    """Weighted rows, with the similarities of their words."""

    similarities: Similarities


class Similarities:
    """Values of a kernel on the words of a vocabulary with those of others, each matrix computed once."""

    def __init__(self, kernel: Kernel | None, words: Vocabulary) -> None:
        self._kernel, self._words = kernel, words
        self._known = Cache()

    def to(self, other: Bags) -> np.ndarray:
        """Matrix over the columns of these rows and of those."""
        return self._known.of(other.vocabulary, self._matrix)

    def _matrix(self, others: Vocabulary) -> np.ndarray:
        assert self._kernel is not None
        if len(self._words) == 0 or len(others) == 0:  # rows over no words have one empty column
            return np.zeros((max(len(self._words), 1), max(len(others), 1)))
        same = others is self._words
        return self._kernel.block(list(self._words.elements), None if same else list(others.elements))


def _check_pattern(owner: str, pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError) as error:
        raise ParameterError(
            f"{owner}: `pattern` must be a regular expression. Got {pattern!r}: {error}."
        ) from error
    if groups > 1 or not isinstance(pattern, str):
        raise ParameterError(
            f"{owner}: `pattern` must be a text with at most one group, the word. Got {pattern!r}. "
            "Write further groups as (?:...)."
        )


def _as_range(owner: str, ngrams: Any) -> tuple[int, int]:
    pair = tuple(ngrams) if isinstance(ngrams, Iterable) else ()
    most = 1000  # words of the longest runs
    if not (len(pair) == 2 and all(type(n) is int for n in pair) and 1 <= pair[0] <= pair[1] <= most):
        raise ParameterError(
            f"{owner}: `ngrams` must be two integers, 1 <= fewest <= most <= {most}, such as (1, 2). "
            f"Got {ngrams!r}."
        )
    return pair
