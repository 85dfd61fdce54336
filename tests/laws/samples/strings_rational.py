"""Samples of the rational kernels: strings with awkward symbols, and automata."""

from __future__ import annotations

from typing import Any

from mercer.automata import (
    ANY,
    EPSILON,
    Transducer,
    conditional_pair_hmm,
    counting,
    from_regex,
    pair_hmm,
    string,
)
from mercer.kernels.strings.rational import Rational
from mercer.kernels.strings.regex_count import RegexCount

from ..cases import Case

__all__ = ["CASES", "STRINGS"]

#: The empty string, one symbol, repeats, NUL, a letter beyond the BMP, a combining mark, tokens.
STRINGS: list[Any] = [
    "",
    "a",
    "aab",
    "abab",
    "abab",
    "bbbbbb",
    "a\0b",
    "\U0001d11eab\U0001d11e",
    "e\u0301a",
    ["ab", "a", "b"],
    [1, "a", None, (2, 3), "b", "a"],
]

#: Strings, an automaton of three strings with weights, and one of infinitely many.
AUTOMATA: list[Any] = [
    "",
    "ab",
    string("ab"),
    string("ab", weight=2.0) | string("ba", weight=-0.5) | string(""),
    Transducer([(0, 0, "a", "a", 0.25), (0, 1, "b", "b", 1.0)], {0: 1.0}, {1: 1.0}),
    "bba",
]

#: Writes any number of c without reading, at a price: infinitely many outputs.
ENDLESS = Transducer(
    [(0, 0, EPSILON, "c", 0.5), (0, 0, "a", "a", 1.0), (0, 0, ANY, EPSILON, -0.5)], {0: 1.0}, {0: 2.0}
)

#: All subsequences: too many outputs to list.
SUBSEQUENCES = Transducer([(0, 0, ANY, ANY, 0.5), (0, 0, ANY, EPSILON, 0.5)], {0: 1.0}, {0: 1.0})

BIGRAMS = counting(from_regex(".{2}"))
GAPPY = counting(from_regex(".{2}"), gap=0.5)
MODEL = pair_hmm(
    {("a", "a"): 0.4, ("b", "b"): 0.4, ("a", "b"): 0.1, ("b", "a"): 0.1},
    {"a": 0.5, "b": 0.5},
    open=0.1,
    extend=0.3,
    stop=0.1,
)

CONDITIONAL = conditional_pair_hmm(
    {"A": 0.5, "B": 0.5},
    {("A", "a"): 0.9, ("A", "b"): 0.1, ("B", "b"): 1.0},
    {"a": 0.5, "b": 0.5},
    open=0.1,
    extend=0.3,
    stop=0.1,
)

CASES: list[Case] = [
    *(Case(Rational.pds(T), STRINGS) for T in (BIGRAMS, GAPPY, ENDLESS, SUBSEQUENCES, CONDITIONAL)),
    *(Case(Rational.pds(GAPPY, plan=plan), STRINGS) for plan in ("features", "automata", "composition")),
    *(Case(Rational(MODEL, plan=plan), STRINGS) for plan in ("auto", "automata", "composition")),
    Case(Rational.pds(BIGRAMS), AUTOMATA),
    Case(Rational(MODEL), AUTOMATA),
    Case(RegexCount("a+b?|[^ab]"), STRINGS),
    Case(RegexCount("a*"), STRINGS),
    Case(RegexCount("a(b<0.5>|a<-2>)", gap=0.25), STRINGS),
    Case(RegexCount(".b", by="total"), STRINGS),
    Case(RegexCount("[a b ab]+", words=True), STRINGS),
]
