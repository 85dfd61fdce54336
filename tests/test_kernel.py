"""A kernel is a value: frozen, hashable, printable, picklable; and thirty lines make a new one."""

from __future__ import annotations

import copy
import operator
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse
import sklearn.base
import sklearn.svm

import mercer
from mercer import Kernel
from mercer.algebra import Constant, Power, Product, Scaled, Sum
from mercer.domains import Objects, Reals, Vectors
from mercer.errors import DomainError, InputError, ParameterError, UnresolvedError
from mercer.kernel import parameter
from mercer.kernels import Gaussian, Linear
from mercer.testing import check_kernel
from mercer.testing.scope import evaluate

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, -2.0], [1.0, 1.0], [3.0, 0.25], [-1.0, 2.0]])
MIXED = (Gaussian([1.0, 2.0]) + 0.5 * Linear() ** 2) * Gaussian("median").normalized() + 3.0


# -- value semantics ----------------------------------------------------------------------------
def test_frozen() -> None:
    k = Gaussian(1.0)
    with pytest.raises(FrozenInstanceError):
        k.sigma = 2.0
    with pytest.raises(FrozenInstanceError):
        k.other = 2.0
    with pytest.raises(FrozenInstanceError):
        del k.sigma
    assert k == Gaussian(1.0)


def test_equality_and_hash() -> None:
    assert Gaussian(1.0) == Gaussian(1)
    assert Gaussian(1.0) != Gaussian(2.0)
    assert Gaussian(1.0) != Linear()
    assert Gaussian([1.0, 1.0]) != Gaussian(1.0)
    assert Linear() + Gaussian(1.0) != Gaussian(1.0) + Linear()  # equal as functions, not as expressions
    assert Gaussian(1.0) != 1.0
    assert Gaussian(1.0) != np.float64(1.0)
    assert len({Gaussian(1.0), Gaussian(1.0), Gaussian(2.0), Linear(), Linear()}) == 3


def test_subclass_is_another_kernel() -> None:
    class Mine(Gaussian):
        pass

    assert Mine(1.0) != Gaussian(1.0)
    assert Gaussian(1.0) != Mine(1.0)


def test_representation_round_trip() -> None:
    assert evaluate(repr(MIXED), MIXED) == MIXED
    assert repr(Gaussian(0.1)) == "Gaussian(sigma=0.1)"
    assert repr(Gaussian([1, 2])) == "Gaussian(sigma=[1.0, 2.0])"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_round_trip(protocol: int) -> None:
    _ = MIXED.certificate, hash(MIXED)  # cached things must not get in the way
    back = pickle.loads(pickle.dumps(MIXED, protocol))
    assert back == MIXED
    assert hash(back) == hash(MIXED)
    sigma = pickle.loads(pickle.dumps(Gaussian([1.0, 2.0]))).sigma
    assert not sigma.flags.writeable


def test_copies_and_clones_are_the_kernel_itself() -> None:
    assert copy.copy(MIXED) is MIXED
    assert copy.deepcopy(MIXED) is MIXED
    assert sklearn.base.clone(MIXED) is MIXED


def test_kernels_travel_into_spawned_workers() -> None:
    k = MIXED.resolve(X)
    work = (copy.copy, repr, operator.methodcaller("block", X))
    back, text, K = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(w)(k) for w in work)
    assert back == k
    assert text == repr(k)
    assert np.array_equal(K, k.block(X))


# -- operators ----------------------------------------------------------------------------------
@pytest.mark.parametrize("two", [2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0)])
def test_numbers_of_all_kinds_scale(two: Any) -> None:
    k = Gaussian(1.0)
    assert two * k == k * two == Scaled(k, 2.0)
    assert two + k == Sum((Constant(2.0), k))
    assert k + two == Sum((k, Constant(2.0)))
    assert k - two == Sum((k, Constant(-2.0)))
    assert two - k == Sum((Constant(2.0), Scaled(k, -1.0)))
    assert k / two == Scaled(k, 0.5)
    assert type((two * k).factor) is float  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "array", [np.array([1, 2]), np.array([1.0]), np.ones((2, 2)), np.array([])], ids=repr
)
def test_arrays_are_refused_from_both_sides(array: np.ndarray) -> None:
    k = Gaussian(1.0)
    for operation in (
        lambda: array * k,
        lambda: k * array,
        lambda: array + k,
        lambda: k + array,
        lambda: array - k,
        lambda: k - array,
        lambda: k / array,
        lambda: array / k,
        lambda: k**array,
    ):
        with pytest.raises(TypeError):
            operation()


@pytest.mark.parametrize("thing", ["2", None, [1.0], 1j, object])
def test_other_things_are_refused(thing: Any) -> None:
    for operation in (lambda: thing * Linear(), lambda: Linear() + thing, lambda: Linear() - thing):
        with pytest.raises((TypeError, ParameterError)):
            operation()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scaling_by_what_is_not_a_number(value: float) -> None:
    with pytest.raises(ParameterError, match="finite"):
        value * Linear()
    with pytest.raises(ParameterError, match="finite"):
        Linear() + value


def test_powers() -> None:
    assert Linear() ** 2 == Power(Linear(), 2)
    assert Linear() ** np.int64(2) == Power(Linear(), 2)
    with pytest.raises(ParameterError, match="exponent"):
        Linear() ** -1
    with pytest.raises(TypeError):
        Linear() ** "2"


def test_sums_and_products_need_kernels() -> None:
    for kind in (Sum, Product):
        for bad in ((), (Linear(),), (Linear(), 2.0), Linear(), "ab"):
            with pytest.raises(ParameterError, match=kind.__name__):
                kind(bad)
    assert Sum.of(Linear()) == Linear()


def test_kernels_on_different_domains_do_not_add() -> None:
    on_three, on_two = Gaussian([1.0, 1.0, 1.0]), Gaussian([1.0, 1.0])
    with pytest.raises(DomainError, match="no common points"):
        on_three + on_two


# -- parameters ---------------------------------------------------------------------------------
def test_get_params_and_replace_reach_nested_kernels() -> None:
    k = 2.0 * (Gaussian(1.0) + Linear()) * Gaussian(3.0)
    params = k.get_params()
    assert params["factor0__base__term0__sigma"] == 1.0
    assert params["factor1__sigma"] == 3.0
    assert k.replace(**params) == k
    moved = k.replace(factor0__base__term0__sigma=5.0, factor0__factor=7.0)
    assert moved == 7.0 * (Gaussian(5.0) + Linear()) * Gaussian(3.0)
    assert k == 2.0 * (Gaussian(1.0) + Linear()) * Gaussian(3.0)


def test_replacing_a_kernel_and_its_parameter_at_once() -> None:
    k = (Linear() + Gaussian(1.0)).replace(term1__sigma=9.0, term1=Gaussian(2.0))
    assert k == Linear() + Gaussian(9.0)


def test_replace_names_what_it_does_not_know() -> None:
    with pytest.raises(ParameterError, match=r"Gaussian has no parameter `gamma`\. Its parameters: sigma"):
        Gaussian(1.0).replace(gamma=1.0)
    with pytest.raises(ParameterError, match="Gaussian has no parameter `gamma`"):
        (Gaussian(1.0) + Linear()).replace(term0__gamma=1.0)
    with pytest.raises(ParameterError, match=r"`term0` must be a kernel\. Got 3"):
        (Gaussian(1.0) + Linear()).replace(term0=3)
    with pytest.raises(ParameterError, match="Gaussian: `sigma`"):
        (Gaussian(1.0) + Linear()).replace(term0__sigma=-3)


class Stack(Kernel):
    """Nested kernels in a tuple whose name has no plural."""

    layer2: tuple[Kernel, ...]

    def __call__(self, x: Any, y: Any) -> float:
        return sum(k(x, y) for k in self.layer2)


def test_nested_names_with_digits_and_without_plural() -> None:
    k = Stack((Gaussian(1.0), Linear()))
    assert k.get_params()["layer20__sigma"] == 1.0
    assert k.replace(layer20__sigma=4.0) == Stack((Gaussian(4.0), Linear()))
    assert k.replace(layer21=Gaussian(2.0)) == Stack((Gaussian(1.0), Gaussian(2.0)))


# -- data-dependent parameters ------------------------------------------------------------------
def test_unresolved_kernels_say_so() -> None:
    k = Gaussian("median")
    for use in (lambda: k.block(X), lambda: k.diagonal(X), lambda: k(X[0], X[1]), lambda: (k + 1.0).block(X)):
        with pytest.raises(UnresolvedError, match="resolve"):
            use()
    distances = [np.linalg.norm(a - b) for i, a in enumerate(X) for b in X[:i]]
    assert k.resolve(X).sigma == pytest.approx(np.median(distances), rel=1e-15)
    assert not k.is_resolved
    assert k.resolve(X).is_resolved


def test_resolve_reaches_everywhere() -> None:
    resolved = MIXED.resolve(X)
    assert resolved.is_resolved
    assert "median" not in repr(resolved)
    assert resolved.resolve(10 * X) is resolved


def test_resolve_checks_weights() -> None:
    for weight in ([1.0], -np.ones(6), np.ones((6, 1)), np.full(6, np.nan)):
        with pytest.raises(InputError, match=r"resolve: `sample_weight` must be 6 numbers >= 0"):
            Gaussian("median").resolve(X, weight)
    doubled = Gaussian("scale").resolve(X, [2, 1, 1, 1, 1, 1])
    repeated = Gaussian("scale").resolve(np.vstack([X[:1], X]))
    assert doubled.sigma == pytest.approx(repeated.sigma, rel=1e-14)


# -- evaluation ---------------------------------------------------------------------------------
def test_block_serves_scikit_learn() -> None:
    y = np.array([0, 1, 0, 1, 1, 0])
    k = Gaussian(1.5)
    ours = sklearn.svm.SVC(kernel=k.block).fit(X, y)
    theirs = sklearn.svm.SVC(kernel="rbf", gamma=1 / (2 * 1.5**2)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_blocks_larger_than_a_tile_are_the_same() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((700, 2)), rng.standard_normal((530, 2))
    k = MIXED.resolve(X)
    K = k.block(A)
    assert np.array_equal(K, K.T)
    rows, columns = [0, 511, 512, 699], [0, 5, 511, 512, 529]
    np.testing.assert_allclose(k.block(A, B)[np.ix_(rows, columns)], k.block(A[rows], B[columns]), rtol=1e-12)
    np.testing.assert_allclose(K[np.ix_(rows, rows)], k.block(A[rows]), rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(A), K.diagonal(), rtol=1e-12)


def test_type_of_blocks_follows_the_input() -> None:
    k = Gaussian(1.0) * Linear()
    assert k.block(X).dtype == np.float64
    assert k.block(X.astype(np.float32)).dtype == np.float32
    assert k.block(X.astype(int)).dtype == np.float64
    assert k.block(X.astype(np.float32), X).dtype == np.float64
    big = np.ones((600, 2), dtype=np.float32)
    assert k.block(big).dtype == np.float32


def test_overflow_on_one_pair_is_an_error() -> None:
    with pytest.raises(ParameterError, match="`exponent=2` overflows on these data"):
        (Linear() ** 2)([1e100], [1e100])
    with pytest.raises(ParameterError, match=r"`base=Linear\(\)` overflows on these data"):
        Linear().exp()([1e3], [1e3])


def test_precise_has_the_digits_it_promises() -> None:
    k = Gaussian(1.0)
    value = k.precise([0.0], [1.0], digits=60)
    from mpmath import mp

    with mp.workdps(70):
        assert abs(mp.mpf(str(value)) - mp.exp(mp.mpf(-1) / 2)) < mp.mpf(10) ** -58
    assert k.is_precise
    assert (k + Linear()).is_precise
    assert not Stack((k, k)).is_precise
    assert not (k + Stack((k, k))).is_precise


# -- a kernel of one's own ----------------------------------------------------------------------
class Overlap(Kernel):
    """Weighted number of common tokens of two lists: nothing but the definition."""

    weight: float = parameter(default=1.0, low=0.0, scale="log")

    def __call__(self, x: list[str], y: list[str]) -> float:
        return self.weight * len(set(x) & set(y))


class Bumpy(Kernel):
    """A kernel on vectors with the definition, a block and a certificate."""

    rate: float = parameter(default=2.0, low=0.0, open_low=True)

    @property
    def domain(self) -> Vectors:
        return Vectors()

    def __call__(self, x: np.ndarray, y: np.ndarray) -> float:
        return float(np.exp(-self.rate * np.abs(np.asarray(x) - np.asarray(y)).sum()))

    def _block(self, A: Any, B: Any) -> np.ndarray:
        dense = [M.toarray() if scipy.sparse.issparse(M) else M for M in (A, A if B is None else B)]
        return np.exp(-self.rate * np.abs(dense[0][:, None] - dense[1][None]).sum(axis=2))


TOKENS = [["a", "b"], ["b"], [], ["c", "a", "a"], ["b", "c"], ["x"]]


def test_a_subclass_with_only_a_definition() -> None:
    k = Overlap(2.0)
    assert k.domain == Objects()
    assert k(TOKENS[0], TOKENS[3]) == 2.0
    assert k.block(TOKENS).tolist()[0] == [4.0, 2.0, 0.0, 2.0, 2.0, 0.0]
    assert k.diagonal(TOKENS).tolist() == [4.0, 2.0, 0.0, 4.0, 4.0, 2.0]
    assert str(k.certificate.verdict) == "UNKNOWN"
    assert repr(k) == "Overlap(weight=2.0)"
    with pytest.raises(ParameterError, match="no closed-form gradient"):
        k.gradient(TOKENS)
    with pytest.raises(ParameterError, match=r"Overlap: `weight` must be a finite number >= 0\. Got -1"):
        Overlap(-1)
    check_kernel(k, TOKENS)


def test_ones_own_kernel_composes() -> None:
    """Points stay what they are inside expressions: a list of tokens is not a vector."""
    k = (Overlap(2.0).assume("PSD") + 1.0) ** 2
    assert k(TOKENS[0], TOKENS[3]) == 9.0
    assert k.certificate.is_psd
    assert k.certificate.positive.asserted
    check_kernel(k, TOKENS)
    check_kernel(Overlap(1.5) * Overlap(0.5).normalized(), TOKENS)


def test_ones_own_kernel_on_vectors_with_a_block() -> None:
    check_kernel(Bumpy(0.7), X)
    check_kernel(Bumpy(0.7).assume("PSD") * Gaussian(1.0) + Linear(), X)


def test_numbers_reach_a_function_of_numbers() -> None:
    k = mercer.kernel(lambda s, t: min(s, t), domain=Reals())
    assert k(2.0, 3.0) == 2.0
    assert k.block([1.0, 2.0, 3.0]).tolist() == [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]]
    assert (k + 1.0)(2.0, 3.0) == 3.0


def test_a_kernel_without_a_definition_says_what_is_missing() -> None:
    class Empty(Kernel):
        pass

    with pytest.raises(TypeError, match=r"Empty must define __call__\(self, x, y\)"):
        Empty()(1, 2)


def test_required_parameters_are_required() -> None:
    class Needs(Kernel):
        p: float = parameter(low=0.0)

        def __call__(self, x: Any, y: Any) -> float:
            return self.p

    with pytest.raises(TypeError, match="'p'"):
        Needs()
    assert Needs(2)(0, 0) == 2.0


def test_parameters_on_the_class_by_keyword_only() -> None:
    class Keyword(Kernel):
        p: float = parameter(default=1.0)
        q: float = parameter(default=1.0, kw_only=True)

        def __call__(self, x: Any, y: Any) -> float:
            return self.p * self.q

    assert Keyword(2.0, q=3.0)(0, 0) == 6.0
    with pytest.raises(TypeError):
        Keyword(2.0, 3.0)
