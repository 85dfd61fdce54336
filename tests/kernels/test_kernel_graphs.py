"""Kernel graphs against the enumeration of their paths in exact arithmetic, and against direct forms."""

import itertools
import math
import pickle
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import mercer
from mercer.automata import to_svg
from mercer.errors import DivergenceError, DomainError, ParameterError
from mercer.intervals import Interval
from mercer.kernels import (
    AllSubsets,
    Anova,
    AnovaOf,
    Constant,
    Gaussian,
    KernelGraph,
    Linear,
    Polynomial,
    Spectrum,
)
from mercer.kernels.path_programs import PathProgram

X = np.array([[1.0], [2.0], [-3.0], [0.0], [2.0]])


def coordinate(i, n):
    """The kernel x_i y_i."""
    return Anova(1, np.eye(n)[i])


def sum_over_paths(edges, source, sink, most):
    """The definition: all paths of at most so many edges, one by one."""
    total, stack = Fraction(0), [(source, Fraction(1), 0)]
    while stack:
        at, product, length = stack.pop()
        total += product if at == sink else 0
        if length < most:
            stack += [(v, product * w, length + 1) for u, v, w in edges if u == at]
    return total


def random_graph(rng, n_vertices, n_edges, loops):
    """Edges with the number of an input each."""
    edges = []
    for i in range(n_edges):
        u, v = rng.integers(0, n_vertices, 2).tolist()
        edges.append((u, v, [i]) if loops or u < v else (v, u, [i]) if v < u else (0, n_vertices - 1, [i]))
    return edges


# -- the sum ------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(30))
def test_acyclic_graphs_sum_their_paths_exactly(seed):
    rng = np.random.default_rng(seed)
    edges = random_graph(rng, 6, int(rng.integers(1, 14)), loops=False)
    values = [Fraction(int(a), int(b)) for a, b in rng.integers((-9, 1), 9, (14, 2))]
    program = PathProgram(len(edges), edges, 0, 5)
    expected = sum_over_paths([(u, v, values[i]) for u, v, [i] in edges], 0, 5, 6)
    assert not program.is_looped
    assert program.run(values.__getitem__, None, Fraction(1)) == expected


@pytest.mark.parametrize("seed", range(30))
def test_looped_graphs_solve_their_equations_exactly(seed):
    """The sums to all vertices obey k_u = [u = s] + sum_v k_v k_vu, the only solution of which is the sum."""
    rng = np.random.default_rng(seed)
    n = 4
    edges = random_graph(rng, n, int(rng.integers(2, 12)), loops=True)
    values = [Fraction(int(a), 40) for a in rng.integers(-9, 9, len(edges))]

    def total(sink):
        program = PathProgram(len(edges), edges, 0, sink)
        return program.run(values.__getitem__, lambda a: 1 / (1 - a), Fraction(1))

    sums = [Fraction(total(v)) for v in range(n)]
    for u in range(n):
        assert sums[u] == (u == 0) + sum(sums[v] * values[i] for v, w, [i] in edges if w == u)


@pytest.mark.parametrize("seed", range(10))
def test_looped_graphs_are_the_limit_of_sums_over_paths(seed):
    rng = np.random.default_rng(seed)
    edges = random_graph(rng, 3, 5, loops=True)
    values = [Fraction(int(a), 40) for a in rng.integers(-6, 6, 5)]
    sink = int(rng.integers(0, 3))
    if sink not in {vertex for u, v, _ in edges for vertex in (u, v)} | {0}:
        return
    found = PathProgram(5, edges, 0, sink).run(values.__getitem__, lambda a: 1 / (1 - a), Fraction(1))
    partial = sum_over_paths([(u, v, values[i]) for u, v, [i] in edges], 0, sink, 9)
    assert abs(found - partial) < Fraction(3, 4) ** 10  # at most five edges of 6/40 leave a vertex


def test_blocks_values_and_digits_are_the_sum_over_paths():
    edges = [("s", "a", Linear()), ("s", "b", 2), ("a", "b", Polynomial(2)), ("b", "t", Linear()),
             ("a", "t", -0.5), ("a", "t", Linear()), ("t", "u", Linear()), ("v", "t", Linear())]  # fmt: skip
    k = KernelGraph(edges, "s", "t")
    K = k.block(X)
    for i, j in itertools.product(range(5), repeat=2):
        t = Fraction(X[i, 0] * X[j, 0])
        inner = {1: t, 2: (t + 1) ** 2}
        numbers = [(u, v, Fraction(w) if isinstance(w, int | float) else inner[getattr(w, "degree", 1)])
                   for u, v, w in edges]  # fmt: skip
        expected = sum_over_paths(numbers, "s", "t", 9)
        assert K[i, j] == k(X[i], X[j]) == expected
        assert k.precise(X[i], X[j]) == expected.numerator / expected.denominator
    np.testing.assert_array_equal(k.diagonal(X), np.diag(K))
    np.testing.assert_array_equal(k.block(X, X[:2]), K[:, :2])


def test_vertices_carry_kernels_first_and_last_included():
    labels = {"s": Linear(), "a": Polynomial(2), "t": 3}
    k = KernelGraph([("s", "a"), ("a", "t"), ("s", "t", Linear())], "s", "t", vertices=labels)
    direct = 3 * Linear() * (Polynomial(2) + Linear())
    np.testing.assert_array_equal(k.block(X), direct.block(X))
    loop = KernelGraph([("a", "a")], "a", "a", vertices={"a": 0.25 * Gaussian(1.0)})
    g = (0.25 * Gaussian(1.0)).block(X)
    np.testing.assert_allclose(loop.block(X), g / (1 - g), rtol=1e-15)


def test_equal_kernels_are_computed_once():
    calls = []

    @mercer.kernel
    def counted(x, y):
        calls.append(1)
        return float(x * y)

    k = KernelGraph([("s", "a", counted), ("a", "t", counted), ("s", "t", counted)], "s", "t")
    assert k(2.0, 3.0) == 42.0
    assert len(calls) == 1


def test_no_path_gives_zero_and_source_may_be_the_sink():
    k = KernelGraph([("s", "a", Linear()), ("t", "a", Linear())], "s", "t")
    assert k(X[0], X[0]) == 0.0
    assert not k.block(X).any()
    assert not k.diagonal(X).any()
    assert k.certificate.is_psd
    assert k.bounds == Interval(0.0, 0.0)
    one = KernelGraph([("s", "a", Linear())], "s", "s")
    assert (one.block(X) == 1.0).all()
    assert one.certificate.is_psd


def test_single_precision_stays():
    k = KernelGraph([("s", "s", 0.5 * Gaussian(1.0))], "s", "s")
    single = k.block(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, k.block(X), rtol=1e-6)


# -- direct forms -------------------------------------------------------------------------------
POINTS = np.random.default_rng(0).normal(size=(7, 5))


def test_all_subsets_are_a_chain_of_double_edges():
    edges = [(i, i + 1, label) for i in range(5) for label in (1, coordinate(i, 5))]
    k = KernelGraph(edges, 0, 5)
    np.testing.assert_allclose(k.block(POINTS), AllSubsets().block(POINTS), rtol=1e-13)


def test_polynomials_are_a_chain_of_bundles():
    labels = [0.7, *(coordinate(i, 5) for i in range(5))]
    k = KernelGraph([(s, s + 1, label) for s in range(3) for label in labels], 0, 3)
    np.testing.assert_allclose(k.block(POINTS), Polynomial(3, 0.7).block(POINTS), rtol=1e-12)


def anova(kernels, degree):
    """The table of partial sums: vertex (s, m) holds the sum over s of the first m kernels."""
    edges = []
    for m, s in itertools.product(range(len(kernels)), range(degree + 1)):
        edges.append(((s, m), (s, m + 1), 1))
        edges += [((s, m), (s + 1, m + 1), kernels[m])] if s < degree else []
    return KernelGraph(edges, (0, 0), (degree, len(kernels)))


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_anova_is_a_grid(degree):
    k = anova([coordinate(i, 5) for i in range(5)], degree)
    np.testing.assert_allclose(k.block(POINTS), Anova(degree).block(POINTS), rtol=1e-12)
    bases = (Gaussian(1.0), Linear(), Polynomial(2), Gaussian(3.0))
    direct = AnovaOf(bases, min(degree, 4))
    np.testing.assert_allclose(anova(bases, min(degree, 4)).block(POINTS), direct.block(POINTS), rtol=1e-12)


def test_large_graphs_of_opaque_kernels_agree_with_the_compiled():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(700, 6))
    compiled = anova([coordinate(i, 6) for i in range(6)], 3)
    opaque = anova(
        [Linear().on(lambda x, i=i: x[i : i + 1], domain=mercer.domains.Vectors()) for i in range(6)], 3
    )
    np.testing.assert_allclose(compiled.block(Z[:600], Z[600:]), opaque.block(Z[:600], Z[600:]), rtol=1e-12)


# -- convergence --------------------------------------------------------------------------------
def test_divergence_is_an_error_with_pair_and_radius():
    k = KernelGraph([("s", "s", Linear())], "s", "s")
    half = np.array([[0.5], [0.25], [1.5]])
    with pytest.raises(DivergenceError, match=r"spectral radius below 1\. Got 2\.25") as error:
        k.block(half)
    assert error.value.__notes__ == ["at the pair (X[2], X[2])"]
    with pytest.raises(DivergenceError, match=r"Got 2\.25") as error:
        k.diagonal(half)
    assert error.value.__notes__ == ["at the pair (X[2], X[2])"]
    with pytest.raises(DivergenceError, match=r"Got 2\.25"):
        k([1.5], [1.5])
    assert k.block(half, half[:2]).max() == 1 / (1 - 0.75)


def test_the_pair_is_named_across_tiles():
    Z = np.full((1300, 1), 0.1)
    Z[[3, 1200], 0] = 5.0, 0.3
    with pytest.raises(DivergenceError) as error:
        KernelGraph([("s", "s", Linear())], "s", "s").block(Z[:10], Z[10:])
    assert error.value.__notes__ == ["at the pair (X[3], Y[1190])"]


def test_compiled_loops_are_checked_too():
    k = KernelGraph([("s", "s", 1.5 * Gaussian(1.0))], "s", "s")
    assert k._program(*k._prepare_pair(X[:4], None)) is not None
    with pytest.raises(DivergenceError, match=r"Got 1\.5") as error:
        k.block(X[:4])
    assert error.value.__notes__ == ["at the pair (X[0], X[0])"]


def test_blocks_of_loops_with_both_signs_are_checked_by_absolute_values():
    k = KernelGraph([("s", "s", 0.9 * Gaussian(1.0)), ("s", "s", -0.5 * Gaussian(1.0))], "s", "s")
    with pytest.raises(DivergenceError, match=r"Got 1\.4"):
        k.block(X[:4])


def test_a_finite_solution_of_the_equations_is_no_sum():
    """Two loops cancel: W has radius 0, the paths 2^n and (-2)^n have no sum."""
    k = KernelGraph([("s", "s", 2 * Constant(1.0)), ("s", "s", -2 * Constant(1.0))], "s", "s")
    with pytest.raises(DivergenceError, match="Got 4"):
        k(0.0, 0.0)
    # Larger than 1, 1 / (1 - 2) = -1 would be a finite value.
    with pytest.raises(DivergenceError, match="Got 2"):
        KernelGraph([("s", "s", Constant(2.0))], "s", "s")(0.0, 0.0)


def test_radius_one_up_to_rounding_diverges():
    tenth = [("s", "s", 0.1 * Constant(1.0)) for _ in range(10)]  # their sum rounds to 0.9999999999999999
    with pytest.raises(DivergenceError):
        KernelGraph(tenth, "s", "s")(0.0, 0.0)


def test_the_radius_decides_on_random_graphs():
    """Values against the inverse of I - W, divergence against the eigenvalues of |W|."""
    rng = np.random.default_rng(0)
    outcomes = Counter()
    for _ in range(150):
        pairs = [pair for pair in itertools.product(range(5), repeat=2) if rng.random() < 0.35]
        if not {0, 4} <= {vertex for pair in pairs for vertex in pair}:
            continue
        W = np.zeros((5, 5))
        for u, v in pairs:
            W[u, v] = rng.uniform(-1.0, 1.0)
        reach = np.linalg.matrix_power(np.eye(5) + (W != 0), 5) > 0
        between = reach[0] & reach[:, 4]
        k = KernelGraph([(u, v, Constant(W[u, v])) for u, v in pairs], 0, 4)
        W *= np.outer(between, between)
        radius = np.abs(np.linalg.eigvals(np.abs(W))).max()
        outcomes[bool(radius < 1), bool((W != 0).any())] += 1
        if radius < 1:
            assert math.isclose(k("x", "y"), np.linalg.inv(np.eye(5) - W)[0, 4], rel_tol=1e-9, abs_tol=1e-12)
        else:
            with pytest.raises(DivergenceError, match=re.escape(f"Got {radius:.6g}")):
                k("x", "y")
    assert min(outcomes.values()) > 5
    assert len(outcomes) == 3  # divergent, convergent, without a path


def test_large_components_are_cut_into_small_tiles():
    labels = [(u, v, Gaussian(1.0 + u + v)) for u, v in itertools.product(range(12), repeat=2)]
    k = KernelGraph(
        [*labels, ("s", 0, 1), (11, "t", 0.05)], "s", "t", vertices=dict.fromkeys(range(12), 0.05)
    )
    Z = np.random.default_rng(0).normal(size=(40, 2))
    assert k._tile_size < 300
    W = np.array([[0.05 * Gaussian(1.0 + u + v)(Z[3], Z[7]) for v in range(12)] for u in range(12)])
    expected = 0.05 * 0.05 * np.linalg.inv(np.eye(12) - W)[0, 11]
    np.testing.assert_allclose(
        [k.block(Z)[3, 7], k._tiles_of_blocks(*k._prepare_pair(Z, None))[3, 7]], expected
    )


def test_loops_off_the_paths_do_not_count():
    k = KernelGraph([("s", "t", Linear()), ("t", "u", 1), ("u", "u", 7.0), ("v", "v", Linear())], "s", "t")
    np.testing.assert_array_equal(k.block(X), Linear().block(X))


# -- certificates -------------------------------------------------------------------------------
def test_certificates_follow_from_the_kernels_on_paths():
    strict = KernelGraph([("s", "a", Gaussian(1.0)), ("a", "t", 2), ("s", "t", Linear())], "s", "t")
    assert strict.certificate.positive.strict
    assert not KernelGraph(
        [("s", "a", Gaussian(1.0)), ("a", "t", Linear())], "s", "t"
    ).certificate.positive.strict
    assert not KernelGraph([("s", "t", Gaussian(1.0)), ("s", "t", -1)], "s", "t").certificate.is_psd
    off = KernelGraph([("s", "t", Gaussian(1.0)), ("t", "u", -Linear())], "s", "t")
    assert off.certificate.positive.strict
    lone = KernelGraph([("s", "a", 1), ("t", "a", 1)], "s", "t", vertices={"s": Gaussian(1.0)})
    assert lone.certificate.is_psd
    assert not lone.certificate.positive.strict
    looped = KernelGraph([("s", "s", 0.5 * Gaussian(1.0))], "s", "s").certificate
    assert looped.positive.strict
    assert looped.positive.conditions


# -- parameters ---------------------------------------------------------------------------------
def test_named_kernels_share_their_parameters_and_others_do_not():
    k = KernelGraph([("s", "a", "k"), ("a", "t", "k"), ("s", "t", Gaussian(1.0))], "s", "t",
                    kernels={"k": Gaussian(1.0)})  # fmt: skip
    other = k.replace(k__sigma=2.0)
    direct = Gaussian(2.0) * Gaussian(2.0) + Gaussian(1.0)
    np.testing.assert_allclose(other.block(X), direct.block(X), rtol=1e-14)
    assert set(k.parameters) == {"k__sigma", "edge2__sigma"}
    assert k.replace(edge2=Linear()).edges[2] == ("s", "t", Linear())
    vertex = KernelGraph([("s", "t")], "s", "t", vertices={"t": Gaussian("median")})
    assert vertex.resolve(X).vertices["t"].is_resolved
    assert vertex.replace(vertex0__sigma=3.0).vertices == {"t": Gaussian(3.0)}


def test_gradients_are_those_of_finite_differences():
    k = KernelGraph([("s", "a", "k"), ("a", "a", 0.3), ("a", "s", 0.4 * Gaussian(2.0)), ("a", "t", "k"),
                     ("t", "u", Gaussian(5.0))], "s", "t", kernels={"k": Gaussian(1.5)})  # fmt: skip
    gradient = k.gradient(X)
    assert set(gradient) == set(k.parameters)
    h = 1e-6
    for name, parameter in k.parameters.items():
        up, down = (k.replace(**{name: parameter.value * math.exp(s)}).block(X) for s in (h, -h))
        np.testing.assert_allclose(gradient[name], (up - down) / (2 * h), atol=1e-8)


def test_values_are_values():
    k = KernelGraph([((0, "s"), 1, "k"), (1, 1, 0.5), (1, "t", Linear())], (0, "s"), "t",
                    kernels={"k": Gaussian(2.0)}, vertices={1: 1.5})  # fmt: skip
    copy = pickle.loads(pickle.dumps(k))
    assert copy == k == eval(repr(k))
    assert hash(copy) == hash(k)
    assert copy.digest() == k.digest() != k.replace(k__sigma=1.0).digest()
    np.testing.assert_array_equal(copy.block(X[:2] / 4), k.block(X[:2] / 4))


def test_columns_and_strings_are_points_too():
    table = {"age": [30.0, 40.0], "name": ["anna", "anne"]}
    k = KernelGraph(
        [("s", "t", mercer.columns(age=Gaussian(10.0))), ("s", "t", mercer.columns(name=Spectrum(2)))],
        "s",
        "t",
    )
    direct = mercer.columns(age=Gaussian(10.0)) + mercer.columns(name=Spectrum(2))
    np.testing.assert_allclose(k.block(table), direct.block(table), rtol=1e-15)


# -- pictures -----------------------------------------------------------------------------------
def test_the_automaton_weighs_words_by_their_paths():
    k = KernelGraph([("s", "a", "f"), ("s", "a", 2), ("a", "a", "g"), ("a", "t", 0.5)], "s", "t",
                    kernels={"f": Linear(), "g": Gaussian(1.0)})  # fmt: skip
    T = k.automaton()
    assert T.n_states == 3
    assert [T(list(word)) for word in ("", "f", "g", "fgg", "gf")] == [1.0, 0.5, 1.0, 0.5, 0.0]
    assert "</svg>" in to_svg(T)
    labelled = KernelGraph([("s", "t", "f")], "s", "t", kernels={"f": Linear(), "g": Gaussian(1.0)},
                           vertices={"s": "g", "t": "g"})  # fmt: skip
    assert labelled.automaton()(list("gfg")) == 1.0


# -- what is refused ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([], "s", "t"), {}, "nonempty sequence of triples"),
        (("st", "s", "t"), {}, "nonempty sequence of triples"),
        ((5, "s", "t"), {}, "nonempty sequence of triples"),
        (([("s", "t")], "s", "t"), {}, "a triple"),
        ((["sta"], "s", "t"), {}, "a triple"),
        (([("s", "t", Linear(), 1)], "s", "t"), {}, "a triple"),
        (([("s", {}, Linear())], "s", "t"), {}, "hashable"),
        (([("s", "t", "k")], "s", "t"), {}, "the names: none"),
        (([("s", "t", "k")], "s", "t"), {"kernels": {"q": Linear()}}, "the names: q"),
        (([("s", "t", Linear())], "s", "t"), {"kernels": {"q": Linear()}}, "must stand on an edge"),
        (([("s", "t", "q")], "s", "t"), {"kernels": {"q": 3.0}}, "must be a kernel"),
        (([("s", "t", "edges")], "s", "t"), {"kernels": {"edges": Linear()}}, "identifier"),
        (([("s", "t", "edge1"), ("s", "t", Linear())], "s", "t"), {"kernels": {"edge1": Linear()}}, "edge1"),
        (([("s", "t", "q")], "s", "t"), {"kernels": [Linear()]}, "a mapping"),
        (([("s", "t", None)], "s", "t"), {}, "a kernel, a number"),
        (([("s", "t", True)], "s", "t"), {}, "a kernel, a number"),
        (([("s", "t", float("nan"))], "s", "t"), {}, "finite"),
        (([("s", "t", 2.0)], "s", "t"), {}, "at least one label"),
        (([("s", "t", Linear())], "a", "t"), {}, "`source` must be a vertex"),
        (([("s", "t", Linear())], "s", ["t"]), {}, "`sink` must be a vertex"),
        (([("s", "t", Linear())], "s", "t"), {"vertices": {"a": 2}}, "only"),
        (([("s", "t", Linear())], "s", "t"), {"vertices": {"s": "k"}}, "the vertex 's'"),
    ],
)
def test_bad_graphs_are_refused_with_a_reason(arguments, options, words):
    with pytest.raises(ParameterError, match=r"^KernelGraph") as error:
        KernelGraph(*arguments, **options)
    assert words in str(error.value)


def test_kernels_without_common_points_and_endless_loops_of_numbers_are_refused_at_once():
    with pytest.raises(DomainError):
        KernelGraph([("s", "t", Gaussian(1.0)), ("s", "t", Spectrum(2))], "s", "t")
    with pytest.raises(DivergenceError, match="Got 1"):
        KernelGraph([("s", "a", Linear()), ("a", "a", 1), ("a", "t", Linear())], "s", "t")
