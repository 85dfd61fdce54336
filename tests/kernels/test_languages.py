"""Regular expressions over kernels against sums over words, and against kernel graphs made by hand."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from mercer.automata.syntax import Alternatives, Repeat, Sequence, Symbols, Weight, parse
from mercer.errors import DivergenceError, ParameterError
from mercer.kernels import Gaussian, KernelGraph, Linear, Polynomial, RegularLanguage
from mercer.kernels.languages import _contracted, _edges

X = np.array([[0.5], [1.0], [-1.0], [0.0], [0.25]])
F, G, H = Linear(), 0.25 * Gaussian(1.0), 0.5 * Gaussian(2.0)


def series(node, most):
    """The power series of an expression up to words of so many letters: coefficients by word."""
    match node:
        case Symbols(symbols):
            return Counter({("" if s == "1" else s): Fraction(1) for s in symbols})
        case Weight(value):
            return Counter({"": Fraction(value)})
        case Sequence(parts):
            total = Counter({"": Fraction(1)})
            for part in parts:
                total = product(total, series(part, most), most)
            return total
        case Alternatives(parts):
            return add(*(series(part, most) for part in parts))
        case Repeat(part, low, high):
            base, power, total = series(part, most), Counter({"": Fraction(1)}), Counter()
            assert high is not None or not base[""], "the star of an empty word"
            for n in range((most + low if high is None else high) + 1):
                total = add(total, power) if n >= low else total
                power = product(power, base, most)
            return total


def add(*terms):
    total = Counter()
    for term in terms:
        for word, a in term.items():
            total[word] += a
    return total


def product(s, t, most):
    total = Counter()
    for (u, a), (v, b) in itertools.product(s.items(), t.items()):
        if len(u + v) <= most:
            total[u + v] += a * b
    return total


def words(edges, source, sink, most):
    """Sums of the weights of the paths that spell each word."""
    total, stack = Counter(), [(source, "", Fraction(1), 0)]
    while stack:
        at, word, weight, length = stack.pop()
        if at == sink:
            total[word] += weight
        for u, v, label in edges:
            longer = word + label if isinstance(label, str) else word
            if u == at and len(longer) <= most and length < 40:
                factor = Fraction(1) if isinstance(label, str) else Fraction(label)
                stack.append((v, longer, weight * factor, length + 1))
    return total


PATTERNS = [
    "f", "f g", "f|g", "f|f", "f*", "(f|g)*", "f g*", "f* g*", "(f g|h)* f", "f+", "f?", "f{2}", "f{1,3}",
    "f{2,}", "(f|1) (g|1)", "1 f 1", "1|f|1", "f (1|g) (h|<0.5>)", "(f* g)*", "((f|g) h)+", "[f g] h",
    "(f?|g) h", "f|", "(f|g*) (g|f*)", "(f{0,2} g)*", "f* f*", "(f|(g f*)) h*",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_graph_spells_the_power_series(pattern):
    tree = parse(pattern, words=True)
    expected = {word: a for word, a in series(tree, 4).items() if a}
    assert words(_edges(tree), 0, 1, 4) == expected
    assert words(*_contracted(_edges(tree), 0, 1), 4) == expected


def test_values_are_those_of_the_algebra():
    f, g, h = (k.block(X) for k in (F, G, H))
    for pattern, names, expected in [
        ("f (g|h)* f", "fgh", f * f / (1 - g - h)),
        ("f|f", "f", 2 * f),
        ("(1|f){3}", "f", (1 + f) ** 3),
        ("g+ (f|<0.5>)", "fg", g / (1 - g) * (f + 0.5)),
        ("(g* h)*", "gh", 1 / (1 - h / (1 - g))),
        ("f?", "f", 1 + f),
    ]:
        k = RegularLanguage(pattern, **{name: {"f": F, "g": G, "h": H}[name] for name in names})
        np.testing.assert_allclose(k.block(X), expected, rtol=1e-13, err_msg=pattern)
        np.testing.assert_allclose([k(x, x) for x in X], np.diag(expected), rtol=1e-13)


def test_it_is_the_kernel_graph_made_by_hand():
    k = RegularLanguage("k1 (k2|k3)* k4", k1=F, k2=G, k3=H, k4=Polynomial(2))
    edges = [(0, 1, "k1"), (1, 1, "k2"), (1, 1, "k3"), (1, 2, "k4")]
    assert k == KernelGraph(edges, 0, 2, kernels={"k1": F, "k2": G, "k3": H, "k4": Polynomial(2)})
    assert RegularLanguage("f*", f=G) == KernelGraph([(0, 0, "f")], 0, 0, kernels={"f": G})
    assert eval(repr(k)) == k
    assert k.certificate.is_psd
    assert k.replace(k2__base__sigma=3.0).kernels["k2"] == 0.25 * Gaussian(3.0)


def test_what_diverges_whatever_the_kernels_are_is_refused_at_once():
    for pattern in ("(f*)*", "(1|f)*", "(f?)+", "1* f", "(f|<-1>)*"):
        with pytest.raises(DivergenceError):
            RegularLanguage(pattern, f=G)
    with pytest.raises(DivergenceError, match=r"Got 1\. "):
        RegularLanguage("f*", f=F)([1.0], [1.0])


@pytest.mark.parametrize(
    ("pattern", "kernels", "words"),
    [
        ("f g", {"f": F}, "must name kernels that are given: f. Got 'g'"),
        ("f", {"f": F, "g": G}, "`g` must occur in `pattern`"),
        ("1", {}, "must name a kernel"),
        ("f", {"f": 2.0}, "`f` must be a kernel"),
        ("f (g", {"f": F, "g": G}, "never closed. Got 'f (g', position 2"),
        ("f .", {"f": F}, "one by one"),
        ("[^f]", {"f": F}, "one by one"),
        ("(f{1000}){1000}", {"f": F}, "more than 10,000 edges"),
        ("f**", {"f": F}, "a repetition follows a repetition"),
        (3, {"f": F}, "must be text"),
        ("2 f", {"f": F}, "Got '2'"),
    ],
)
def test_bad_expressions_are_refused_with_a_reason(pattern, kernels, words):
    with pytest.raises(ParameterError, match="RegularLanguage: ") as error:
        RegularLanguage(pattern, **kernels)
    assert words in str(error.value)
