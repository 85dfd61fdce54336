"""The laws: what every kernel obeys, each a short function of a :class:`~mercer.testing.trial.Trial`.

A law reports a counterexample with ``broken``, or raises ``Skip`` where it does not apply.  The table
:data:`LAWS` is in the order in which :func:`~mercer.testing.check_kernel` runs them.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import multiprecision
from ..certificate import Claim, Property, Status
from ..domains import Similarities
from ..errors import InputError, ParameterError, UnresolvedError
from ..kernel import Kernel
from .scope import evaluate
from .trial import BLOCK_TOL, FLOAT32_TOL, Skip, Trial, broken, require

__all__ = ["LAWS", "Law"]

#: Eigenvalues of a certified n-by-n block are zero or more up to this many times n eps |K|.
SPECTRUM_FACTOR = 256
#: Step and agreement of central differences in a log-parameter, relative to the size of block and gradient.
STEP, GRADIENT_TOL = 1e-5, 1e-6
#: Agreement of the fifty-digit definition with the float one, relative to the size of the values.
PRECISE_TOL = 1e-9


@dataclass(frozen=True)
class Law:
    """A named law with its statement."""

    name: str
    statement: str
    check: Callable[[Trial], None]


LAWS: dict[str, Law] = {}


def law(statement: str) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    """Enter a function into the table of laws."""

    def register(check: Callable[[Trial], None]) -> Callable[[Trial], None]:
        LAWS[check.__name__] = Law(check.__name__, statement, check)
        return check

    return register


# -- values -------------------------------------------------------------------------------------
@law("k(x, y) = k(y, x).")
def symmetry(t: Trial) -> None:
    D = t.definition
    t.compare(D, D.T, "k(x, y) against k(y, x)", range(t.n))


@law("block(X, Y) holds the values k(x, y), for one point and for none too.")
def block(t: Trial) -> None:
    rows = list(t.rng.permutation(t.n))
    columns = list(range(0, t.n, 2))
    if isinstance(t.kernel.domain, Similarities):
        raise Skip("rows and columns of a precomputed matrix are tied together")
    D, X, Y = t.definition, t.pick(rows), t.pick(columns)
    t.compare(t.kernel.block(X, Y), D[np.ix_(rows, columns)], "block(X, Y)", rows, columns)
    one = [int(np.nan_to_num(np.abs(D)).sum(axis=1).argmax())]  # a point whose values are not all zero
    t.compare(t.kernel.block(t.pick(one), Y), D[np.ix_(one, columns)], "block of one row", one, columns)
    t.compare(t.kernel.block(X, t.pick(one)), D[np.ix_(rows, one)], "block of one column", rows, one)
    t.compare(t.kernel.block(t.pick(one)), D[np.ix_(one, one)], "block of one point", one)
    none = t.pick([])
    for K, shape in ((t.kernel.block(none), (0, 0)), (t.kernel.block(none, Y), (0, len(columns)))):
        if K.shape != shape:
            broken(f"block of no points has shape {K.shape} instead of {shape}")
    if t.kernel.diagonal(none).shape != (0,):
        broken("diagonal of no points is not empty")


@law("block(X) is exactly symmetric and equals block(X, Y) for a copy Y of X.")
def square(t: Trial) -> None:
    K = t.block
    if not np.array_equal(K, K.T, equal_nan=True):
        broken(f"block(X) is not exactly symmetric: largest gap {np.abs(K - K.T).max():.3g}")
    copied = copy.deepcopy(t.samples)
    t.compare(t.kernel.block(t.samples, copied), K, "block(X, copy of X) against block(X)", range(t.n))
    if not isinstance(t.kernel.domain, Similarities):
        t.compare(K, t.definition, "block(X) against the definition", range(t.n))


@law("diagonal(X) holds the values k(x, x).")
def diagonal(t: Trial) -> None:
    d = t.kernel.diagonal(t.samples)
    if isinstance(t.kernel.domain, Similarities):
        want = t.block.diagonal()
    else:
        want = np.array([t.kernel(x, x) for x in t.points])
    t.compare(d, want, "diagonal(X)", range(t.n))


@law("block and diagonal return arrays of their own and leave the input as it is.")
def purity(t: Trial) -> None:
    k, before = t.kernel, pickle.dumps(t.samples)
    K, d = k.block(t.samples), k.diagonal(t.samples)
    kept, kept_d = K.copy(), d.copy()
    for name, a in (("block", K), ("diagonal", d)):
        if not a.flags.writeable:
            broken(f"{name} returned a read-only array")
        a[...] = -12345.0
    if pickle.dumps(t.samples) != before:
        broken("writing into the result changed the points, or evaluation did")
    again, again_d = k.block(t.samples), k.diagonal(t.samples)
    if not (np.array_equal(again, kept, equal_nan=True) and np.array_equal(again_d, kept_d, equal_nan=True)):
        broken("the same call gave other values the second time")


@law("Permuting the points permutes the block.")
def permutation(t: Trial) -> None:
    p = t.rng.permutation(t.n)
    t.compare(t.kernel.block(t.pick(p)), t.block[np.ix_(p, p)], "block of permuted points", list(p))


@law("The block of some of the points is a part of the block of all.")
def slices(t: Trial) -> None:
    some = list(range(0, t.n, 3)) or [0]
    t.compare(t.kernel.block(t.pick(some)), t.block[np.ix_(some, some)], "block of a subset", some)
    if not isinstance(t.kernel.domain, Similarities):
        want = t.block[some]
        t.compare(t.kernel.block(t.pick(some), t.samples), want, "rows of a subset", some, range(t.n))
    t.compare(t.kernel.diagonal(t.pick(some)), t.block[some, some], "diagonal of a subset", some)


@law("Values are finite and lie within `bounds`, k(x, x) within `diagonal_bounds`.")
def bounds(t: Trial) -> None:
    for values, interval, what in (
        (t.block, t.kernel.bounds, "k(x, y)"),
        (t.block.diagonal(), t.kernel.diagonal_bounds, "k(x, x)"),
    ):
        slack = BLOCK_TOL * (t.scale if values.ndim == 2 else t.scale.diagonal())
        outside = ~(
            (values >= interval.low - slack) & (values <= interval.high + slack) & np.isfinite(values)
        )
        if outside.any():
            i, *rest = (int(v) for v in np.argwhere(outside)[0])
            j = rest[0] if rest else i
            broken(f"{what} = {values[(i, *rest)]!r} is outside {interval}", [t.points[i], t.points[j]])


@law("The fifty-digit value of k(x, y) agrees with the float one.")
def precise(t: Trial) -> None:
    D = t.definition
    for i in range(min(t.n, 4)):
        for j in {0, i, t.n - 1 - i}:
            value = float(t.kernel.precise(t.points[i], t.points[j]))
            if not abs(value - D[i, j]) <= PRECISE_TOL * t.scale[i, j]:
                broken(f"precise(x, y) = {value!r} but k(x, y) = {D[i, j]!r}", [t.points[i], t.points[j]])


# -- definiteness -------------------------------------------------------------------------------
def _least(K: np.ndarray) -> float:
    """Least eigenvalue in units of SPECTRUM_FACTOR n eps |K|: below -1 it is not rounding."""
    eigenvalues = np.linalg.eigvalsh(K)
    size = float(np.abs(eigenvalues).max()) if len(K) else 0.0
    unit = SPECTRUM_FACTOR * len(K) * np.finfo(np.float64).eps * size
    return float(eigenvalues[0]) / unit if unit else 0.0


def _centred(K: np.ndarray) -> np.ndarray:
    """``-P K P`` on vectors that sum to zero, plus the size of K in the other direction."""
    n = len(K)
    P = np.eye(n) - 1.0 / n
    return np.asarray(-P @ K @ P + np.abs(K).max() / n)


def _spectrum(t: Trial, form: Callable[[np.ndarray], np.ndarray], sign: str) -> None:
    def least(index: list[int]) -> float:
        return _least(form(t.block[np.ix_(index, index)]))

    everything = list(range(t.n))
    if least(everything) < -1:
        points = t.shrink(everything, lambda index: least(index) < -1)
        value = np.linalg.eigvalsh(form(t.block))[0]
        broken(f"the quadratic form takes the {sign} value {abs(value):.6g} on a unit vector", points)


@law("A certified positive definite kernel has no negative eigenvalue beyond rounding.")
def positive(t: Trial) -> None:
    require(t.kernel.certificate.positive, "positive definite")
    _spectrum(t, lambda K: K, "negative")


@law("A certified negative definite kernel has c'Kc <= 0 on sum(c) = 0, beyond rounding.")
def negative(t: Trial) -> None:
    require(t.kernel.certificate.negative, "negative definite")
    _spectrum(t, _centred, "positive")


@law("If -k is certified negative definite, c'Kc >= 0 on sum(c) = 0, beyond rounding.")
def conditional(t: Trial) -> None:
    require(t.kernel._conditional(), "conditionally positive definite")
    _spectrum(t, lambda K: _centred(-K), "negative")


@law("Distinct points of a strictly positive definite kernel have a nonsingular Gram matrix.")
def strict(t: Trial) -> None:
    claim = t.kernel.certificate.positive
    require(claim, "positive definite")
    if not claim.strict:
        raise Skip("not certified strict")
    if not t.kernel.is_precise:
        raise Skip("the definition has float precision only")
    chosen = t.distinct[:4]

    def singular(index: list[int]) -> bool:
        return not any(_pivots_positive(t, index, digits) for digits in (50, 400))

    if singular(chosen):
        broken("the Gram matrix of distinct points is singular or worse", t.shrink(chosen, singular))


def _pivots_positive(t: Trial, index: list[int], digits: int) -> bool:
    """Gaussian elimination on the precise Gram matrix: positive definite iff all pivots are positive."""
    A = [[t.kernel.precise(t.points[i], t.points[j], digits) for j in index] for i in index]
    tiny = multiprecision(digits).real(10) ** (10 - digits)
    for s in range(len(A)):
        if not A[s][s] > tiny * max(abs(A[s][j]) for j in range(s, len(A))):
            return False
        for i in range(s + 1, len(A)):
            ratio = A[i][s] / A[s][s]
            A[i] = [a - ratio * b for a, b in zip(A[i], A[s], strict=True)]
    return True


@law("The witness of a refuted claim, recomputed with fifty digits, has the forbidden sign.")
def refuted(t: Trial) -> None:
    certificate = t.kernel.certificate
    claims = [c for c in (certificate.positive, certificate.negative) if c.witness is not None]
    if not claims:
        raise Skip("no witness")
    for claim in claims:
        _recompute(t, claim)


def _recompute(t: Trial, claim: Claim) -> None:
    w = claim.witness
    assert w is not None
    if claim.status is not Status.REFUTED or w.refutes is not claim.about:
        broken(f"a witness against {w.refutes.value} on a claim that is {claim.status.value}", w.points)
    c = [multiprecision(50).real(v) for v in w.coefficients]
    if w.refutes is Property.NEGATIVE:
        mean = sum(c) / len(c)
        if abs(mean) > 1e-12 * max(map(abs, c)):
            broken(f"the coefficients sum to {float(sum(c)):.3g}, not to zero", w.points)
        c = [v - mean for v in c]
    value = sum(a * b * t.kernel.precise(x, y) for a, x in zip(c, w.points, strict=True)
                for b, y in zip(c, w.points, strict=True))  # fmt: skip
    if not (value < 0 if w.refutes is Property.POSITIVE else value > 0):
        broken(f"c'Kc = {float(value):.6g} for c = {w.coefficients}", w.points)
    if not abs(float(value) - w.value) <= 1e-6 * abs(w.value):
        broken(f"c'Kc = {float(value)!r}, but the witness says {w.value!r}", w.points)


@law("k(x, y)^2 <= k(x, x) k(y, y) for a positive definite kernel.")
def cauchy_schwarz(t: Trial) -> None:
    require(t.kernel.certificate.positive, "positive definite")
    K, d = t.block, np.maximum(t.block.diagonal(), 0.0)
    over = np.abs(K) - np.sqrt(np.outer(d, d)) > BLOCK_TOL * t.scale
    if over.any():
        i, j = (int(v) for v in np.argwhere(over)[0])
        broken(
            f"k(x, y) = {K[i, j]!r}, k(x, x) = {K[i, i]!r}, k(y, y) = {K[j, j]!r}", [t.points[i], t.points[j]]
        )


@law("The powers k^t, t > 0, of an infinitely divisible kernel are positive definite.")
def infinitely_divisible(t: Trial) -> None:
    claim = t.kernel._infinitely_divisible()
    if claim is None:
        raise Skip("not certified infinitely divisible")
    if (t.block < 0).any():
        i, j = (int(v) for v in np.argwhere(t.block < 0)[0])
        broken(f"k(x, y) = {t.block[i, j]!r} < 0 has no real powers", [t.points[i], t.points[j]])
    for power in (0.3, 1.7):
        _spectrum(t, lambda K, power=power: K**power, f"negative (t = {power})")  # type: ignore[misc]


@law("A decided claim names its subject and rule; a verdict summarises its claims; the proof can be shown.")
def certificate(t: Trial) -> None:
    proof = t.kernel.certificate
    for claim in (*proof.positive.walk(), *proof.negative.walk()):
        if claim.status is not Status.UNKNOWN and not (claim.rule and claim.subject):
            broken(f"a {claim.status.value} claim without a rule or a subject: {claim}")
        if claim.proved and not all(premise.proved for premise in claim.premises):
            broken(f"{claim.subject} is proved by `{claim.rule}` from premises that are not")
    if proof.positive.proved and proof.positive.strict and proof.negative.proved and len(t.distinct) > 1:
        broken("strictly positive definite and negative definite at once")
    if str(proof.verdict) not in proof.explain() or proof.to_dict()["verdict"] != proof.verdict.value:
        broken(f"explain() or to_dict() do not show the verdict {proof.verdict}")


# -- gradients ----------------------------------------------------------------------------------
@law("Gradients agree with central differences of the block in every log-parameter.")
def gradient(t: Trial) -> None:
    k, Y = t.kernel, t.pick(range(0, t.n, 2))
    try:
        G = k.gradient(t.samples)
    except ParameterError as error:
        if "no closed-form gradient" in str(error) and k.parameters:
            raise Skip("no closed-form gradient is offered") from None
        broken(f"gradient raised {error}")
    parameters = k.parameters
    if set(G) - set(parameters):
        broken(f"gradient with respect to {sorted(set(G) - set(parameters))}, which are not parameters")
    missing = [p for p, q in parameters.items() if q.scale == "log" and p not in G]
    if missing:
        broken(f"no gradient with respect to {missing}")
    if not G:
        raise Skip("no log-parameters")
    GY = {} if isinstance(k.domain, Similarities) else k.gradient(t.samples, Y)
    d, Gd = k._diagonal_gradient(t.prepared(t.samples))
    _same(d, t.block.diagonal(), "the diagonal that comes with the diagonal gradient", t)
    for name, g in G.items():
        want = _differences(k, name, lambda c: c.block(t.samples))
        _same(g, want, f"gradient with respect to {name}", t)
        if GY:
            want = _differences(k, name, lambda c: c.block(t.samples, Y))
            _same(GY[name], want, f"gradient of block(X, Y) with respect to {name}", t)
        _same(Gd[name], np.einsum("ii...->i...", g), f"diagonal gradient with respect to {name}", t)


def _same(got: np.ndarray, want: np.ndarray, what: str, t: Trial) -> None:
    if got.shape != want.shape:
        broken(f"{what} has shape {got.shape} instead of {want.shape}")
    allowed = GRADIENT_TOL * max(float(np.abs(t.block).max()), float(np.abs(want).max()))
    if not (np.abs(got - want) <= allowed).all():
        i = tuple(int(v) for v in np.argwhere(~(np.abs(got - want) <= allowed))[0])
        broken(f"{what} is {got[i]!r} instead of {want[i]!r} at {i}", [t.points[j] for j in i[:1]])


def _differences(k: Kernel, name: str, block: Callable[[Kernel], np.ndarray]) -> np.ndarray:
    parameter = k.parameters[name]
    value = np.asarray(parameter.value, dtype=np.float64)

    def moved(h: float, i: tuple[int, ...]) -> np.ndarray:
        v = value.copy()
        v[i] = v[i] * np.exp(h) if parameter.scale == "log" else v[i] + h
        return block(k.replace(**{name: v if v.ndim else float(v)}))

    def slope(i: tuple[int, ...]) -> np.ndarray:
        for h in (STEP, -STEP):  # at an end of the range only one side exists
            try:
                return np.asarray((moved(h, i) - moved(-h, i)) / (2 * h))
            except ParameterError:
                try:
                    return np.asarray((4 * moved(h, i) - moved(2 * h, i) - 3 * moved(0.0, i)) / (2 * h))
                except ParameterError:
                    continue
        raise Skip(f"{name} cannot be moved")

    slopes = [slope(i) for i in np.ndindex(value.shape)]
    return np.stack(slopes, axis=-1).reshape(*slopes[0].shape, *value.shape) if value.ndim else slopes[0]


# -- a kernel is a value ------------------------------------------------------------------------
@law("eval(repr(k)) == k, with the names of mercer.kernels in scope.")
def representation(t: Trial) -> None:
    for k in {t.original, t.kernel}:
        text = repr(k)
        if "<lambda>" in text or "<locals>" in text:
            raise Skip("a function without a global name")
        try:
            back = evaluate(text, k)
        except Exception as error:
            broken(f"eval({text!r}) raised {type(error).__name__}: {error}")
        if back != k:
            broken(f"{text!r} evaluates to {back!r}, which is not equal to it")


@law("Pickled and copied kernels are equal to the original and give the same block.")
def pickling(t: Trial) -> None:
    if "<lambda>" in repr(t.kernel) or "<locals>" in repr(t.kernel):
        raise Skip("a function without a global name")
    twins: dict[str, Kernel] = {
        "pickle": pickle.loads(pickle.dumps(t.kernel)),
        "copy": copy.copy(t.kernel),
        "deepcopy": copy.deepcopy(t.kernel),
    }
    for how, back in twins.items():
        if back != t.kernel or hash(back) != hash(t.kernel):
            broken(f"after {how} the kernel is not equal to itself")
        if not np.array_equal(back.block(t.samples), t.block, equal_nan=True):
            broken(f"after {how} the block is another")


@law("A kernel cannot be changed; it equals and hashes like a kernel made from the same parameters.")
def value(t: Trial) -> None:
    k, before = t.kernel, hash(t.kernel)
    twin = type(k)(**k.get_params(deep=False))
    if twin is not k and (twin != k or hash(twin) != before):
        broken(f"made again from its own parameters it is {twin!r}, not equal or with another hash")
    if k == object() or k != k.replace():
        broken("== is wrong")
    for name in [*k.get_params(deep=False), "a_new_attribute"]:
        try:
            setattr(k, name, 0.0)
        except (FrozenInstanceError, AttributeError):
            continue
        broken(f"the attribute {name!r} could be set")
    for name, held in k.get_params(deep=False).items():
        if isinstance(held, np.ndarray) and held.flags.writeable:
            broken(f"the array {name!r} is writeable")
        if isinstance(held, list | set | bytearray) or type(held) is dict:
            broken(f"the {type(held).__name__} {name!r} can be changed")
    k.block(t.samples)
    if hash(k) != before:
        broken("the hash changed with use")


@law("replace(**get_params()) gives the same kernel, and every nested parameter can be replaced.")
def parameters(t: Trial) -> None:
    k = t.kernel
    for deep in (False, True):
        if k.replace(**k.get_params(deep=deep)) != k:
            broken(f"replace(**get_params(deep={deep})) is another kernel")
    for name, p in k.parameters.items():
        given = k.get_params().get(name, p)
        if given is p or not np.array_equal(given, p.value):
            broken(f"parameter {name!r} is {p.value!r} but get_params() says {given!r}")
        for factor in (1.125, 0.875):
            moved: Any = factor * np.asarray(p.value) if np.ndim(p.value) else factor * float(p.value)
            try:
                other = k.replace(**{name: moved})
            except ParameterError:  # outside the range of the parameter
                continue
            if not np.array_equal(other.get_params()[name], moved):
                broken(f"replace({name}={moved!r}) did not take")
            if np.any(np.asarray(p.value) != 0) and other == k:
                broken(f"replace({name}={moved!r}) made an equal kernel")


@law("resolve(X) leaves a resolved kernel as it is; until then block refuses.")
def resolve(t: Trial) -> None:
    k = t.kernel
    if not k.is_resolved or k.resolve(t.samples) != k:
        broken("resolving twice is not resolving once")
    if t.original != k:
        try:
            t.original.block(t.samples)
        except UnresolvedError:
            return
        broken("block worked although a parameter waits for data")


# -- how vectors are stored ---------------------------------------------------------------------
def _refusal(t: Trial, X: Any, why: str) -> None:
    """Skip if the domain refuses points that were changed only by rounding or storage."""
    try:
        t.kernel.domain.validate(X)
    except InputError as error:
        raise Skip(f"{why}: {error}") from None


@law("Sparse input gives what dense input gives, however its entries are stored.")
def sparse(t: Trial) -> None:
    X, k = t.dense, t.kernel
    S = scipy.sparse.csr_array(X)
    rows, some = range(t.n), list(range(0, t.n, 2))
    t.compare(k.block(S), t.block, "block of a CSR array", rows)
    for A, B, what in (
        (S, S[some], "sparse, sparse"),
        (S, X[some], "sparse, dense"),
        (X, S[some], "dense, sparse"),
    ):
        t.compare(k.block(A, B), t.block[:, some], f"block({what})", rows, some)
    t.compare(k.diagonal(S), t.block.diagonal(), "diagonal of a CSR array", rows)
    coo = S.tocoo()
    order = np.argsort(-coo.col, kind="stable")
    doubled = scipy.sparse.coo_array(  # every entry in two halves, columns backwards
        (np.repeat(coo.data[order] / 2, 2), (np.repeat(coo.row[order], 2), np.repeat(coo.col[order], 2))),
        X.shape,
    )
    t.compare(k.block(doubled), t.block, "block of unsorted entries with duplicates", rows)


@law("float32 input gives the float64 values to single precision, as float32; float64 input gives float64.")
def single(t: Trial) -> None:
    X32 = t.dense.astype(np.float32)
    if not np.isfinite(X32).all():
        raise Skip("the points overflow float32")
    _refusal(t, X32, "after rounding to float32")
    _refusal(t, X32.astype(np.float64), "after rounding to float32")
    want = t.kernel.block(X32.astype(np.float64))
    if want.dtype != np.float64:
        broken(f"block of float64 input has type {want.dtype}")
    got = t.kernel.block(X32)
    if got.dtype not in (np.float32, np.float64):
        broken(f"block of float32 input has type {got.dtype}")
    t.compare(got.astype(np.float64), want, "block of float32 input", range(t.n), tol=FLOAT32_TOL)
    t.compare(
        t.kernel.diagonal(X32).astype(np.float64),
        want.diagonal(),
        "float32 diagonal",
        range(t.n),
        tol=FLOAT32_TOL,
    )


@law("C and Fortran order, strides, byte order, lists and read-only arrays give the same block.")
def layout(t: Trial) -> None:
    X = t.dense
    frozen = X.copy()
    frozen.flags.writeable = False
    strided = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    forms = {
        "Fortran order": np.asfortranarray(X),
        "a read-only array": frozen,
        "a strided view": strided,
        "a reversed view": X[::-1].copy()[::-1],
        "big-endian numbers": X.astype(">f8"),
        "nested lists": X.tolist(),
    }
    if t.on_line:
        forms["a flat array"] = X.ravel()
    for what, form in forms.items():
        if what == "nested lists" and X.size == 0:
            continue
        t.compare(t.kernel.block(form), t.block, f"block of {what}", range(t.n))
