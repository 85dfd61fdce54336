"""The kernel: one value, one pair, one proof.

A kernel is an immutable value.  Its *definition* is the one-pair function ``k(x, y)``; everything else
(``block``, ``diagonal``, gradients) is a faster way to the same numbers and is tested against it.

To add a kernel, subclass :class:`Kernel`, declare the parameters as annotated attributes and write
``__call__``; if it is a function of a distance or an inner product, write one ``formula`` instead.  See
``CONTRIBUTING.md`` for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse

from . import memory
from .arithmetic import FLOAT, Arithmetic, floating, multiprecision
from .caches import Cache
from .certificate import Certificate, Claim, negated
from .contributions import Contribution, Contributions, weighted
from .domains import Data, Domain, Objects, Prepared, check_numbers, items, meet, size, take, to_float
from .engine import tiles, workers
from .engine.precision import dtype_of
from .engine.program import Builder, Program, Value
from .engine.threads import user_code
from .errors import DomainError, GradientError, InputError, ParameterError
from .expression import Expression
from .intervals import REAL_LINE, Interval
from .kernel_digest import digest_form, kernel_digest
from .kernel_features import occurring_features
from .kernel_gradients import Adjoint, Gradient, adjoint_of_gradient, diagonal_of_gradients
from .parameters import is_rule, parameter
from .spectral_density import SpectralDensity, no_density

__all__ = ["Gradient", "Kernel", "Prepared", "parameter"]

#: What follows from the values of a class: a class that says them anew inherits none of it.
_CONSEQUENCES = (
    "_embedding",
    "_feature_names",
    "_normal_form",
    "_rescale",
    "_squared_distances",
    "_compile_distances",
    "_sparse_block",
    "_action",
    "_spectral_density",
    "_homogeneity",
)
_FOLLOWING = {
    "__call__": ("_define", "_block", "_diagonal", "_compile", *_CONSEQUENCES),
    "_define": ("_block", "_diagonal", "_compile", *_CONSEQUENCES),
    "formula": _CONSEQUENCES,
    "_block": ("_compile", *_CONSEQUENCES),
    "_contributions": ("_weighted_contributions", "_collapse"),
    "_weighted_contributions": ("_collapse",),
    "_gradient": ("_adjoint",),
}


def _quietly() -> np.errstate:
    """No warnings of NumPy about values that overflow: what is not finite in the end is an error."""
    return np.errstate(over="ignore", invalid="ignore")


class Kernel(Expression):
    """A symmetric function of two points, with a certificate of its definiteness.

    Subclasses declare parameters as annotated class attributes (a frozen-dataclass constructor is made
    from them) and define the kernel on one pair, either as ``__call__(x, y)`` or, for kernels that want
    high-precision witnesses, as ``_define(x, y, m)`` written against an
    :class:`~mercer.arithmetic.Arithmetic` ``m``.  All else is optional: ``_block`` for speed, ``_certify``
    for the proof, ``_gradient`` for derivatives.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = Gaussian(2.0) + 0.5 * Linear()
    >>> k
    Gaussian(sigma=2.0) + 0.5 * Linear()
    >>> k([0.0, 0.0], [0.0, 2.0]) == Gaussian(2.0)([0.0, 0.0], [0.0, 2.0])
    True
    >>> k.block([[0.0], [1.0]]).shape
    (2, 2)
    """

    __array_ufunc__: ClassVar[None] = None  # np.float64(2) * k comes to us; np.array([1, 2]) * k is refused

    #: Whether values may be larger than any float.  Then `_scaled_block` and `_scaled_diagonal` give them.
    _scaled: ClassVar[bool] = False

    #: Whether values are in double precision for data of every kind.
    _always_double: ClassVar[bool] = False

    if TYPE_CHECKING:  # installed by mercer.algebra

        def __add__(self, other: Any) -> Kernel: ...
        def __radd__(self, other: Any) -> Kernel: ...
        def __sub__(self, other: Any) -> Kernel: ...
        def __rsub__(self, other: Any) -> Kernel: ...
        def __mul__(self, other: Any) -> Kernel: ...
        def __rmul__(self, other: Any) -> Kernel: ...
        def __truediv__(self, other: Any) -> Kernel: ...
        def __rtruediv__(self, other: Any) -> Kernel: ...
        def __neg__(self) -> Kernel: ...
        def __pow__(self, exponent: Any) -> Kernel: ...
        def exp(self) -> Kernel: ...
        def polynomial(self, coefficients: Any) -> Kernel: ...
        def power_series(
            self,
            coefficients: Any,
            radius: float | None = None,
            *,
            tail: tuple[float, float] | None = None,
            version: str | None = None,
        ) -> Kernel: ...
        def normalized(self) -> Kernel: ...
        def conformal(self, factor: Any, *, nonzero: bool = False, version: str | None = None) -> Kernel: ...
        def on(
            self,
            map: Any,
            *,
            domain: Domain | None = None,
            injective: bool = False,
            vectorized: bool = False,
            version: str | None = None,
        ) -> Kernel: ...
        def gaussian(self, sigma: float = 1.0) -> Kernel: ...
        def distance(self) -> Kernel: ...
        def centered(self, X: Any) -> Kernel: ...
        def warped(self, X: Any, penalty: Any) -> Kernel: ...
        def schoenberg(self, t: float = 1.0) -> Kernel: ...
        def log1p(self) -> Kernel: ...
        def sqrt(self) -> Kernel: ...
        def shifted(self, origin: Any) -> Kernel: ...
        def assume(self, verdict: str, reason: str = "") -> Kernel: ...

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        parents: list[Any] = [base for base in cls.__bases__ if issubclass(base, Kernel)]
        for name in vars(cls).keys() & _FOLLOWING:
            if name in ("__call__", "_define") and not any(p._is_defined() for p in parents):
                continue  # the first definition: blocks of an abstract parent are made for it
            for other in _FOLLOWING[name]:
                if other not in vars(cls):
                    setattr(cls, other, getattr(Kernel, other))
        domain = vars(cls).get("domain")
        if isinstance(domain, property) and domain.fget is not None:  # a kernel never changes: once is enough
            cached = cached_property(domain.fget)
            cached.__set_name__(cls, "domain")
            setattr(cls, "domain", cached)  # noqa: B010

    @classmethod
    def _is_defined(cls) -> bool:
        """Whether the class says what its values are."""
        return cls._define is not Kernel._define or cls.__call__ is not Kernel.__call__

    # -- the definition -----------------------------------------------------------------------
    def __call__(self, x: Any, y: Any) -> float:
        """Value on one pair of points: the definition."""
        self._require_resolved()
        domain = self.domain
        x, y = domain.pair(x, y)
        try:
            with _quietly():
                value = float(
                    self._define(domain.to_arithmetic(x, FLOAT), domain.to_arithmetic(y, FLOAT), FLOAT)
                )
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise ParameterError(
                f"{self!r} overflows on these points. Scale the data, or normalise the kernel."
            )
        return value

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        """Value on one pair of validated points, in the arithmetic ``m``."""
        if type(self).__call__ is Kernel.__call__:
            raise TypeError(f"{type(self).__name__} must define __call__(self, x, y): its value on one pair")
        return m.real(self(to_float(x), to_float(y)))

    def precise(self, x: Any, y: Any, digits: int = 50) -> Any:
        """Value on one pair with many digits, as an mpmath number.

        Kernels that define only ``__call__`` give their float value: see :attr:`is_precise`.
        """
        self._require_resolved()
        m = multiprecision(digits)
        x, y = self.domain.pair(x, y)
        return self._define(self.domain.to_arithmetic(x, m), self.domain.to_arithmetic(y, m), m)

    @property
    def is_precise(self) -> bool:
        """Whether :meth:`precise` has more digits than ``k(x, y)``."""
        own = type(self)._define is not Kernel._define
        return own and all(child.is_precise for _, child in self._children)

    @cached_property
    def domain(self) -> Domain:
        """The objects this kernel compares."""
        children = [child.domain for _, child in self._children]
        return meet(*children) if children else Objects()

    @property
    def _tile_size(self) -> int:
        """Rows and columns of a tile where blocks are computed in Python; no larger than parts want it."""
        return min((child._tile_size for _, child in self._children), default=tiles.TILE_SIZE)

    # -- many points --------------------------------------------------------------------------
    def block(self, X: Any, Y: Any = None) -> np.ndarray:
        """Matrix of values ``k(X[i], Y[j])``; without ``Y``, of ``X`` with itself (exactly symmetric).

        Computed tile by tile on all cores.  Memory: the result and a few tiles; a result beyond the limit of
        :mod:`mercer.memory` is an error.
        """
        X, Y = self._prepare_pair(X, Y)
        n, m = size(X), size(X if Y is None else Y)
        memory.require(8 * n * m, f"the {n} x {m} block", "mercer.gram(k, X) @ V needs no such matrix.")
        return self._tiles(X, Y, progress=True)

    def diagonal(self, X: Any) -> np.ndarray:
        """Values ``k(X[i], X[i])``."""
        X, _ = self._prepare_pair(X, None)
        return self._finite_diagonal(X)

    def _prepare_pair(self, X: Any, Y: Any) -> tuple[Data, Data | None]:
        """Validate and prepare both arguments of a block."""
        self._require_resolved()
        domain = self.domain
        same = Y is None or Y is X
        X = domain.validate(X, "X")
        Y = None if same else domain.validate(Y, "Y")
        domain.match(X, Y)
        with _quietly():
            return self._prepare(X), None if Y is None else self._prepare(Y)

    def _tiles(
        self,
        X: Data,
        Y: Data | None,
        progress: bool = False,
        dtype: np.dtype[Any] | None = None,
        layouts: Cache | None = None,
    ) -> np.ndarray:
        """Matrix on prepared data, tile by tile: compiled where the kernel describes itself, else blocks."""
        program = self._program(X, Y, layouts)
        K = None if program is None else program.dense(dtype, progress=progress)
        return self._tiles_of_blocks(X, Y, progress, dtype) if K is None else K

    def _program(self, X: Data, Y: Data | None, layouts: Cache | None = None) -> Program | None:
        """Compile for prepared data; None if blocks in Python are all there is."""
        if type(self)._compile is Kernel._compile:
            return None
        n = size(X)
        b = Builder(n, n if Y is None else size(Y), Y is None, layouts)
        return Program.of(b, b.kernel(self, X, Y))

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        """Describe the block on prepared data as steps; None if there are none and ``_block`` counts."""
        return None

    def _tiles_of_blocks(
        self, X: Data, Y: Data | None, progress: bool = False, dtype: np.dtype[Any] | None = None
    ) -> np.ndarray:
        """Run ``_block`` over tiles of prepared data."""

        def tile(rows: slice, cols: slice) -> np.ndarray:
            with workers.located(rows, cols, Y is None), _quietly(), user_code():
                symmetric = Y is None and rows == cols
                K = self._block(take(X, rows), None if symmetric else take(X if Y is None else Y, cols))
            return self._finite(K, rows, cols)

        n = size(X)
        m = n if Y is None else size(Y)
        dtype = self._dtype(X, Y) if dtype is None else dtype
        return tiles.run(
            tile, n, m, symmetric=Y is None, dtype=dtype, tile_size=self._tile_size, progress=progress
        )

    def _finite(self, K: np.ndarray, rows: slice, cols: slice) -> np.ndarray:
        """Return a tile unless it holds an infinity or NaN, which is an error naming the pair."""
        with _quietly():
            total = K.sum()
        if not np.isfinite(total) and not np.isfinite(K).all():  # a sum of finite values may overflow
            i, j = (int(v) for v in np.argwhere(~np.isfinite(K))[0])
            raise ParameterError(
                f"{self!r} has the value {K[i, j]} for the points {rows.start + i} and {cols.start + j}. "
                "Scale the data, normalise the kernel or lower its parameters."
            )
        return K

    def _finite_diagonal(self, X: Data) -> np.ndarray:
        """Values ``k(x, x)`` on prepared data, unless one is an infinity or NaN, which is an error."""
        with _quietly():
            values = floating(self._diagonal(X))
        if not np.isfinite(values).all():
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ParameterError(
                f"{self!r} has the value {values[i]} for the point {i} with itself. "
                "Scale the data, normalise the kernel or lower its parameters."
            )
        return values

    def _dtype(self, X: Data, Y: Data | None) -> np.dtype[Any]:
        """Type of the values on prepared data, float32 only where the numbers of both sides are."""
        known = self._always_double or type(self)._block is Kernel._block
        return np.dtype(np.float64) if known else dtype_of(self, X, Y, vars(self).setdefault("_dtypes", {}))

    def _given(self, X: Data, Y: Data | None) -> np.ndarray | None:
        """The whole block of prepared data, if it is in memory already; not to be written to."""
        return None

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        """Vectors for prepared data, dense or sparse, whose inner products are the values, if known.

        With ``like``, in the coordinates of these prepared data: a feature that none of them has is left out.
        What is taken from prepared data, be it no point at all, keeps their coordinates.
        """
        return None

    def _feature_names(self, X: Data) -> Sequence[str]:
        """Names of the columns of ``_embedding(X)``; by default the class in lower case and a number."""
        return [f"{type(self).__name__.lower()}{i}" for i in range(self._embedding(X).shape[1])]

    def _action(self, X: Data, Y: Data | None, V: np.ndarray) -> np.ndarray | None:
        """``K @ V`` on prepared data, V of one or two dimensions, if that takes less than the values of K."""
        return None

    def _sparse_block(self, X: Data, Y: Data | None) -> Any:
        """Values on prepared data as a sparse array without stored zeros, if most of them vanish."""
        return None

    def _prepare(self, X: Data) -> Data:
        """Do the work that concerns one point at a time, once per block."""
        return X

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        """Values on prepared data; ``Y=None`` stands for ``X``.  The default calls the definition.

        It does so in worker processes if that is worth it: see :mod:`mercer.engine.workers`.
        """
        return workers.block(self, items(X), None if Y is None else items(Y))

    def _diagonal(self, X: Data) -> np.ndarray:
        """Values ``k(x, x)`` on prepared data."""
        return np.array([self(x, x) for x in items(X)], dtype=float)

    def _scaled_block(self, X: Data, Y: Data | None) -> tuple[np.ndarray, np.ndarray]:
        """Values on prepared data as ``m * 2 ** e``, which cannot overflow."""
        raise TypeError(f"{type(self).__name__} must define _scaled_block, or have _scaled = False")

    def _scaled_diagonal(self, X: Data) -> tuple[np.ndarray, np.ndarray]:
        """Values ``k(x, x)`` on prepared data as ``m * 2 ** e``."""
        raise TypeError(f"{type(self).__name__} must define _scaled_diagonal, or have _scaled = False")

    def _self_value(self, x: Any, m: Arithmetic) -> Any:
        """Value ``k(x, x)`` on a validated point; exactly 0 where a difference leaves only rounding."""
        return self._define(x, x, m)

    def _normal_form(self) -> Kernel | None:
        """Return this node over normalised children, if that is ``self.normalized()``: factors cancel."""
        return None

    def _rescale(self, X: Data) -> Data:
        """Points with the same normalised values, with values ``k(x, x)`` in the range of floats."""
        return X

    def _squared_distances(self, X: Data, Y: Data | None) -> np.ndarray | None:
        """Squared distances in feature space on prepared data, where they are known without cancellation."""
        return None

    def _compile_distances(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        """Steps to those distances; None leaves them to Python."""
        return None

    # -- explicit features --------------------------------------------------------------------
    def features(self, X: Any) -> scipy.sparse.csr_array:
        """Explicit features of points: a sparse row for each, whose inner products are the values.

        The columns are the features that occur in ``X``.  :class:`mercer.features.Explicit` has their names,
        and gives new points in the same columns.

        Raises
        ------
        DomainError
            If no finite features are known.

        Examples
        --------
        >>> from mercer.kernels import NGram
        >>> NGram(2).features(["aab", "ab"]).toarray()
        array([[1., 1.],
               [0., 1.]])
        """
        X, _ = self._prepare_pair(X, None)
        return occurring_features(self, X)[0]

    # -- explanation --------------------------------------------------------------------------
    def contributions(self, x: Any, y: Any) -> Contributions:
        """What the value on one pair is made of: the patterns that both points share, with what each adds.

        Kernels on sequences name substrings or aligned stretches; sums, multiples and normalised kernels pass
        on what their parts say.  Any other kernel raises :class:`~mercer.errors.DomainError`.
        """
        self._require_resolved()
        return Contributions(self._contributions(*self.domain.pair(x, y)))

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        """Contributions on one pair of validated points; they add up to ``k(x, y)``."""
        raise DomainError(f"{self!r} does not know which patterns its values are made of.")

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        """Contributions to ``sum_i a_i k(points[i], x)`` on validated points, with their places in ``x``."""
        return weighted(self._contributions, points, coefficients, x)

    def _collapse(
        self, points: Sequence[Any], coefficients: np.ndarray
    ) -> Callable[[Any], Iterable[Contribution]]:
        """The same as a function of x: what concerns the points alone is done once, where possible."""
        return partial(self._weighted_contributions, points, coefficients)

    # -- definiteness -------------------------------------------------------------------------
    @cached_property
    def certificate(self) -> Certificate:
        """What is known about the definiteness of this kernel, with the proof."""
        return replace(self._certified, conditional=self._conditional())

    @cached_property
    def _certified(self) -> Certificate:
        """The certificate as the class gives it; ``_conditional`` may know more."""
        return self._certify()

    def _certify(self) -> Certificate:
        return Certificate.unknown(self, "a user's kernel: assert what you know with .assume('PSD')")

    def _conditional(self, sign: int = 1) -> Claim:
        """The claim that ``sign * k`` is conditionally positive definite, with the least order known."""
        known = self._certified
        return known.conditional if sign > 0 and known.is_psd else self._conditional_rule(sign)

    def _conditional_rule(self, sign: int) -> Claim:
        """The same for a kernel that is not known to be positive definite.

        By default the claim of the certificate; for ``-k`` order 1 if ``k`` is negative definite.
        """
        return self._certified.conditional if sign > 0 else negated(self._certified.negative)

    def _infinitely_divisible(self) -> Claim | None:
        """A claim that ``-log k`` is negative definite, so that ``k ** t`` is PD for all t > 0."""
        return None

    @property
    def spectral_density(self) -> SpectralDensity:
        """The spectral density of a kernel on vectors that depends on ``x - y`` alone.

        To sample frequencies from and to evaluate: see :class:`~mercer.spectral_density.SpectralDensity`.
        Sums, products and nonnegative multiples of kernels that have one have one.

        If there is none, or none that is known, a :class:`~mercer.errors.DomainError` says why.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Matern
        >>> p = (Gaussian(1.0) + 2.0 * Matern(2.5)).spectral_density
        >>> p.mass, p.sample(4, dim=3, random_state=0).shape
        (3.0, (4, 3))
        """
        self._require_resolved()
        return self._spectral_density()

    def _spectral_density(self) -> SpectralDensity:
        """The spectral density of a kernel whose parameters are resolved."""
        raise no_density(self, "it is not known to be a function of x - y with one")

    def _homogeneity(self) -> float | None:
        """The degree d with ``k(s x, s y) = s^d k(x, y)`` for all points and 0 < s <= 1, if there is one."""
        return None

    @property
    def bounds(self) -> Interval:
        """An interval that contains every value of the kernel."""
        return REAL_LINE

    @property
    def diagonal_bounds(self) -> Interval:
        """An interval that contains every value ``k(x, x)``."""
        bounds = self.bounds
        return bounds.nonnegative_part() if self.certificate.is_psd else bounds

    # -- parameters that depend on data -------------------------------------------------------
    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return the kernel with every data-dependent parameter (``"median"``...) fixed from ``X``."""
        if self.is_resolved:
            return self
        X = self.domain.validate(X, "X")
        check_numbers(sample_weight, "resolve: `sample_weight`", dense=True)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if weight is not None and (weight.shape != (size(X),) or not (weight >= 0).all()):
            got = f"shape {weight.shape}" if weight.shape != (size(X),) else "a negative or NaN entry"
            raise InputError(
                f"resolve: `sample_weight` must be {size(X)} numbers >= 0, one per point. Got {got}."
            )
        return self._resolve(X, weight)

    def _resolve(self, X: Data, weight: np.ndarray | None) -> Self:
        own = {
            name: self._rule(name, value, X, weight)
            for name, value, spec in self._fields
            if is_rule(value, spec)
        }
        for name, child in self._children:
            if not child.is_resolved:
                own[name] = child._resolve(self._child_data(X), weight)
        return self.replace(**own)

    def _child_data(self, X: Data) -> Data:
        """Validated data that nested kernels see (maps change it)."""
        return X

    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> Any:
        """Value of a data-dependent parameter."""
        raise ParameterError(f"{type(self).__name__}: `{name}={rule!r}` is not a rule this kernel knows.")

    # -- gradients ----------------------------------------------------------------------------
    def gradient(self, X: Any, Y: Any = None) -> Gradient:
        """Derivatives of ``block(X, Y)`` with respect to the logarithms of the log-scale parameters.

        Returns a dict from parameter name to an array of shape ``(n, m)``, with a further axis for a
        vector parameter.

        Raises
        ------
        GradientError
            If some parameter has no closed-form derivative; the message names the kernel.
        """
        X, Y = self._prepare_pair(X, Y)
        return self._gradient(X, Y)[1]

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        """Block and its gradient on prepared data."""
        if self.parameters:
            raise GradientError(f"{self!r} has no closed-form gradient; use finite differences of block.")
        return self._block(X, Y), {}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        """Diagonal and its gradient on prepared data."""
        return diagonal_of_gradients(self, X)

    def _adjoint(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Adjoint]:
        """Block and the adjoint of its gradient; parameters without a closed form are left out of that."""
        return adjoint_of_gradient(self, X, Y)

    # -- names and pictures -------------------------------------------------------------------
    def digest(self) -> str:
        """Name of this kernel's values: 64 hex digits, the same in every process and on every machine.

        Two kernels with one digest have the same values, up to rounding.  It covers the class and all
        parameters, arrays and nested kernels included, and is what a Gram store keeps values under.

        The code of a function of yours cannot be told from its name.  So a kernel that holds one (made by
        ``mercer.kernel``, ``.on``, ``.conformal``, ``convolution``...) needs a ``version``, and so does a
        class of your own: write ``version = "1"`` into its body, and into that of each class derived from it.
        Change it whenever you change the code.

        Raises
        ------
        DigestError
            If there is no version, or a parameter is not a plain value.
        UnresolvedError
            If a parameter still waits for data.

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> Gaussian(2).digest() == Gaussian(2.0).digest() != Gaussian(3.0).digest()
        True
        """
        self._require_resolved()
        return kernel_digest(self)

    def _digest_form(self) -> bytes:
        """Canonical form of what determines the values."""
        return digest_form(self)

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()
