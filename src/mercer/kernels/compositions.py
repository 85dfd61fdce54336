"""Kernels on semigroups with involution: ``phi(x o y*)`` for a composition of any kind of points.

With addition and the identity as involution (``x + y``, on the nonnegative orthant) the bounded continuous
positive definite functions are the Laplace transforms of positive measures (Bernstein); with negation
(``x - y``, on R^d) they are the Fourier transforms (Bochner).  On any commutative semigroup the bounded ones
are mixtures of bounded semicharacters (Berg, Christensen and Ressel).
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import (
    EVERYWHERE,
    NONNEGATIVE,
    Data,
    Domain,
    Objects,
    Sequences,
    Sets,
    Vectors,
    items,
    to_float,
)
from ..engine import pairwise
from ..engine.runs import checkpoint
from ..errors import InputError, ParameterError
from ..kernel import Kernel, Prepared
from ..parameters import parameter
from .scalar import dense

__all__ = ["Semicharacters", "Semigroup"]


def _joined(x: Any, y: Any) -> Any:
    return Sequences().point((*x, *y))


#: The function of a named composition, its domain, and the involutions that it has.
COMPOSITIONS: dict[str, tuple[Callable[[Any, Any], Any], Domain, tuple[str, ...]]] = {
    "addition": (operator.add, Vectors(), ("identity", "negation")),
    "concatenation": (_joined, Sequences(), ("identity", "reversal")),
    "union": (operator.or_, Sets(), ("identity",)),
}

INVOLUTIONS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda x: x,
    "negation": operator.neg,
    "reversal": lambda x: x[::-1],
}

#: Relative difference of two values that should be equal; a function of the user's may be rounded.
RTOL = 1e-9


class _Composed(Kernel):
    """Kernels of ``x o y*``."""

    if TYPE_CHECKING:  # declared by subclasses

        @property
        def compose(self) -> Any: ...
        @property
        def involution(self) -> Any: ...
        @property
        def source(self) -> Domain | None: ...

    def _validate(self) -> None:
        name = type(self).__name__
        if not callable(self.compose) and self.compose not in COMPOSITIONS:
            options = ", ".join(map(repr, COMPOSITIONS))
            raise ParameterError(
                f"{name}: `compose` must be one of {options}, or a function of two points. "
                f"Got {self.compose!r}."
            )
        known = INVOLUTIONS if callable(self.compose) else COMPOSITIONS[self.compose][2]
        if not callable(self.involution) and self.involution not in known:
            options = ", ".join(map(repr, known))
            raise ParameterError(
                f"{name}: `involution` must be one of {options}, or a function of a point. "
                f"Got {self.involution!r}."
            )
        if self.source is not None and not callable(self.compose):
            kind = COMPOSITIONS[self.compose][1]
            if not isinstance(self.source, type(kind)):
                raise ParameterError(
                    f"{name}: `source` must be {kind} for compose={self.compose!r}. Got {self.source}."
                )

    @property
    def domain(self) -> Domain:
        if self.source is not None:
            return self.source
        if self.compose == "addition":
            return self._vectors
        return Objects() if callable(self.compose) else COMPOSITIONS[self.compose][1]

    @property
    def _vectors(self) -> Vectors:
        """Vectors that are added."""
        return Vectors()

    is_precise = False  # functions of floats

    def _compose(self, x: Any, y: Any) -> Any:
        """Return ``x o y*``."""
        compose = self.compose if callable(self.compose) else COMPOSITIONS[self.compose][0]
        star = self.involution if callable(self.involution) else INVOLUTIONS[self.involution]
        return compose(x, star(y))

    def _as_given(self, x: Any) -> Any:
        """A point in floats, of the form that the domain gives to functions of the user."""
        return self.domain.point(to_float(x))

    def _points(self, X: Data) -> Any:
        """Points that functions of the user get, one by one."""
        return dense(X).astype(np.float64, copy=False) if isinstance(self.domain, Vectors) else items(X)


class Semigroup(_Composed):
    r"""Kernel of two composed points through a function of your own.

    .. math:: k(x, y) = \varphi(x \circ y^*)

    for an associative composition and an involution, :math:`(x^*)^* = x` and :math:`(x \circ y)^* = y^* \circ
    x^*`: sums and differences of vectors, concatenated strings, unions of sets, or your own.  Nothing is
    known of its definiteness until you assert it, as in ``Semigroup(phi).assume("PSD")``: right if
    :math:`\varphi` is a Laplace transform (addition and identity, on the nonnegative orthant) or a Fourier
    transform (negation) of a positive measure, or any mixture of semicharacters, for which
    :class:`Semicharacters` needs no word of yours.  Block cost: n m evaluations, or n if vectorised.

    Positive definite is :math:`\sum_{ij} c_i c_j \varphi(x_i \circ x_j^*) \ge 0`, for real coefficients,
    without a conjugate.  Bernstein's theorem holds on the orthant: on all of :math:`\mathbb{R}^d` with the
    identity, :math:`e^{\langle a, x \rangle}` is positive definite and unbounded.  (Cuturi (2009), section
    3.3, has the headings of the two involutions exchanged, a conjugate in (ii), and Bernstein's theorem on
    :math:`\mathbb{R}^d`.)

    Parameters
    ----------
    phi : callable
        Takes one composed point (for vectors a 1-D array, for strings text or a tuple of symbols, for sets a
        frozenset) and returns a number.
    involution : {"identity", "negation", "reversal"} or callable, default="identity"
        What :math:`y^*` is.  Negation goes with addition, reversal with concatenation.  Unless the
        composition commutes, :math:`\varphi(x \circ y^*) = \varphi(y \circ x^*)` is checked on some pairs.
    nonnegative : bool, default=False
        Whether the domain is the nonnegative orthant instead of all vectors.
    vectorized : bool, default=False
        Whether phi takes an array of shape (n, d) and returns n numbers instead.
    version : str, optional
        Your word on which code phi has; see :meth:`~mercer.Kernel.digest`.
    compose : {"addition", "concatenation", "union"} or callable, default="addition"
        The composition of two points.
    source : Domain, optional
        What the points are; by default vectors, sequences or sets, and any objects for a function.

    Examples
    --------
    >>> import numpy as np
    >>> k = Semigroup(np.linalg.norm, "negation")
    >>> k([0.0, 0.0], [3.0, 4.0])
    5.0
    >>> print(k.certificate.verdict, k.assume("NDS").certificate.verdict)
    UNKNOWN NDS
    >>> def inverse_length(s):  # a mixture of the semicharacters t ** len(s), 0 < t < 1
    ...     return 1 / (1 + len(s))
    >>> Semigroup(inverse_length, "reversal", compose="concatenation")("ab", "b")
    0.25
    """

    phi: Callable[[Any], Any]
    involution: Any = "identity"
    nonnegative: bool = False
    vectorized: bool = False
    version: str | None = None
    compose: Any = dataclasses.field(default="addition", kw_only=True)
    source: Domain | None = dataclasses.field(default=None, kw_only=True)

    def _validate(self) -> None:
        super()._validate()
        if not callable(self.phi):
            raise ParameterError(f"Semigroup: `phi` must be a function of a point. Got {self.phi!r}.")
        for name in ("nonnegative", "vectorized"):
            if getattr(self, name) and self.compose != "addition":
                raise ParameterError(f"Semigroup: `{name}` is for vectors under addition.")
        if self.nonnegative and self.source is not None:
            raise ParameterError("Semigroup: `source` says where points lie: leave `nonnegative` out.")

    @property
    def _vectors(self) -> Vectors:
        return Vectors(region=NONNEGATIVE if self.nonnegative else EVERYWHERE)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        a, b = self._as_given(x), self._as_given(y)
        return m.real(float(self._symmetric(a, [b])[0]))

    def _values(self, x: Any, Z: Any, swapped: bool = False) -> np.ndarray:
        """Values of phi at ``x o z*``, or at ``z o x*``, checked."""
        if self.compose == "addition":
            S: Any = self._compose(Z, x) if swapped else self._compose(x, np.asarray(Z))
        else:
            S = [self._compose(z, x) if swapped else self._compose(x, z) for z in Z]
        if not self.vectorized:
            return np.array([float(self.phi(s)) for s in S])
        values = np.asarray(self.phi(S), dtype=np.float64)
        if values.shape != (len(S),):
            raise InputError(
                f"Semigroup: a vectorised `phi` must return shape {(len(S),)}. Got {values.shape}."
            )
        return values

    def _symmetric(self, x: Any, Z: Any) -> np.ndarray:
        """Return the values of ``x o z*`` after a look at those of ``z o x*``."""
        values = self._values(x, Z)
        commutes = self.compose in ("addition", "union") and self.involution == "identity"
        if not (commutes or np.allclose(values, self._values(x, Z, True), rtol=RTOL, equal_nan=True)):
            raise ParameterError(
                "Semigroup: `phi` must be the same at x o y* and y o x* (even under negation: phi(-s) = "
                "phi(s)), or k is not symmetric."
            )
        return values

    def _prepare(self, X: Data) -> Any:
        return self._points(X)

    def _block(self, X: Any, Y: Any) -> np.ndarray:
        Z = X if Y is None else Y
        K = np.empty((len(X), len(Z)))
        for i, x in enumerate(X):
            checkpoint()
            others = X[: i + 1] if Y is None else Z
            values = self._symmetric if i in (0, len(X) - 1) else self._values
            K[i, : len(others)] = values(x, others)
        if Y is None:
            upper = np.triu_indices(len(X), 1)
            K[upper] = K.T[upper]
        return K

    def _diagonal(self, X: Any) -> np.ndarray:
        return np.array([self._values(x, X[i : i + 1])[0] for i, x in enumerate(X)])

    def _certify(self) -> Certificate:
        measure = {"identity": "Laplace", "negation": "Fourier"}.get(str(self.involution))
        what = (
            f"the {measure} transform of a positive measure"
            if self.compose == "addition" and measure
            else "a mixture of semicharacters"
        )
        return Certificate.unknown(self, f"a user's function: say .assume('PSD') if phi is {what}")


class Semicharacters(_Composed):
    r"""Mixture of semicharacters of a composition.

    .. math:: k(x, y) = \varphi(x \circ y^*) = \sum_r w_r \, \rho_r(x) \, \rho_r(y), \qquad
              \varphi = \sum_r w_r \, \rho_r, \quad w_r \ge 0

    A semicharacter is a function with :math:`\rho(x \circ y) = \rho(x) \rho(y)` and :math:`\rho(x^*) =
    \rho(x)`: products of weights of letters on strings, :math:`e^{-\langle a, x \rangle}` on the orthant,
    :math:`1[s \subseteq A]` on sets under union.  Positive definite: the values are computed as inner
    products of the :math:`\sqrt{w_r} \rho_r`.  That :math:`\rho(x \circ y^*) = \rho(x) \rho(y)` is checked on
    some pairs of each block; an error says where it fails.  Block cost: n evaluations of each function, and a
    matrix product.

    Parameters
    ----------
    characters : sequence of callables
        Semicharacters: functions from a point to a number.
    weights : float or array of shape (R,), default=1.0
        Weights of the mixture, >= 0.
    version : str, optional
        Your word on which code the functions have; see :meth:`~mercer.Kernel.digest`.
    compose : {"addition", "concatenation", "union"} or callable, default="addition"
        The composition of two points.
    involution : {"identity", "negation", "reversal"} or callable, default="identity"
        What :math:`y^*` is.
    source : Domain, optional
        What the points are; by default vectors, sequences or sets, and any objects for a function.

    Examples
    --------
    >>> def halves(s):
    ...     return 0.5 ** len(s)
    >>> def without_a(s):
    ...     return float("a" not in s)
    >>> k = Semicharacters([halves, without_a], [1.0, 2.0], compose="concatenation", involution="reversal")
    >>> k("b", "bb")  # 1/2 * 1/4 + 2
    2.125
    >>> print(k.certificate.verdict)
    PSD
    """

    characters: Any
    weights: Any = parameter(default=1.0, low=0.0, ndim=(0, 1))
    version: str | None = None
    compose: Any = dataclasses.field(default="addition", kw_only=True)
    involution: Any = dataclasses.field(default="identity", kw_only=True)
    source: Domain | None = dataclasses.field(default=None, kw_only=True)

    def _validate(self) -> None:
        super()._validate()
        functions = self.characters
        if not (isinstance(functions, tuple) and functions and all(map(callable, functions))):
            raise ParameterError(
                f"Semicharacters: `characters` must be one or more functions of a point. Got {functions!r}."
            )
        if np.ndim(self.weights) and len(self.weights) != len(functions):
            raise ParameterError(
                f"Semicharacters: `weights` must have one entry for each of {len(functions)} functions. "
                f"Got {len(self.weights)}."
            )

    def phi(self, s: Any) -> float:
        """The mixture at one point."""
        return float(np.dot(self._features([s])[0], np.broadcast_to(self.weights, len(self.characters))))

    def _features(self, points: Any) -> np.ndarray:
        """Values of the functions, shape (n, R)."""
        values = [[float(rho(x)) for rho in self.characters] for x in points]
        return np.array(values).reshape(-1, len(self.characters))

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        points = [self._as_given(x), self._as_given(y)]
        a, b = self._features(points)
        self._check(points[0], points[1:], a, b[None])
        return m.real(float(np.sum(a * b * self.weights)))

    def _check(self, x: Any, Z: Any, own: np.ndarray, others: np.ndarray) -> None:
        """Raise unless the functions are multiplicative at ``x o z*``."""
        joint = self._features([self._compose(x, z) for z in Z])
        wrong = np.argwhere(~np.isclose(joint, own * others, rtol=RTOL, atol=1e-300))
        if len(wrong):
            j, r = wrong[0]
            raise ParameterError(
                f"Semicharacters: `characters[{r}]` must have rho(x o y*) = rho(x) rho(y). "
                f"Got {joint[j, r]:.6g} and {own[r] * others[j, r]:.6g} for {x!r} and {Z[j]!r}."
            )

    def _prepare(self, X: Data) -> Prepared:
        points = list(self._points(X))
        return Prepared((points,), (self._features(points),))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        Z = X if Y is None else Y
        for i in {0, len(X) - 1} if len(X) else ():
            self._check(X.parts[0][i], Z.parts[0], X.arrays[0][i], Z.arrays[0])
        return pairwise.dot(self._embedding(X), None if Y is None else self._embedding(Y))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.asarray((self._embedding(X) ** 2).sum(axis=1))

    def _embedding(self, X: Prepared, like: Prepared | None = None) -> np.ndarray:
        return np.asarray(X.arrays[0] * np.sqrt(self.weights))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "a sum of w rho(x) rho(y), the products of multiplicative functions"
        )
