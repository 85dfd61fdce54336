"""Kernels on structured points: tensor products, direct sums, convolution over parts, pointwise limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property
from ..domains import Data, Domain, Objects, TupleColumns, Tuples, items, size, take, to_float
from ..errors import InputError, ParameterError
from ..intervals import NONNEGATIVE, Interval
from ..kernel import Kernel, Prepared
from ..parameters import parameter, show
from .nodes import Additive, Multiplicative, Node, claim, minus, show_version, unproved

__all__ = ["Convolution", "DirectSum", "Limit", "Tensor", "convolution", "direct_sum", "limit", "tensor"]


class _Componentwise(Node):
    """Kernels on tuples, one kernel per component."""

    components: tuple[Kernel, ...]

    def _validate(self) -> None:
        if len(self.components) < 2 or not all(isinstance(k, Kernel) for k in self.components):
            raise ParameterError(f"{type(self).__name__}: `components` must be two or more kernels.")

    @property
    def domain(self) -> Domain:
        return Tuples(tuple(k.domain for k in self.components))

    def _prepare(self, X: TupleColumns) -> Prepared:
        return Prepared(tuple(k._prepare(part) for k, part in zip(self.components, X.parts, strict=True)))

    def _resolve(self, X: TupleColumns, weight: np.ndarray | None) -> Any:
        parts = [k._resolve(part, weight) for k, part in zip(self.components, X.parts, strict=True)]
        return type(self)(tuple(parts))

    def _values(self, x: Any, y: Any, m: Arithmetic) -> list[Any]:
        return [k._define(a, b, m) for k, a, b in zip(self.components, x, y, strict=True)]


class Tensor(_Componentwise, Multiplicative):
    r"""Tensor product of kernels: ``tensor(k1, k2, ...)`` on tuples.

    .. math:: ((x_1, x_2), (y_1, y_2)) \mapsto k_1(x_1, y_1) \, k_2(x_2, y_2)

    Positive definite if every component is; strictly, if every component is.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> tensor(Linear(), Linear())(([1.0], [2.0]), ([3.0], [5.0]))
    30.0
    """

    components: tuple[Kernel, ...]

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a * b, self._values(x, y, m))

    def _normal_form(self) -> Kernel:
        return Tensor(tuple(k.normalized() for k in self.components))

    def _certify(self) -> Certificate:
        premises = [k.certificate.positive for k in self.components]
        if not all(p.proved for p in premises):
            return Certificate.unknown(self, "not every component is known to be positive definite", premises)
        return Certificate.psd(
            self,
            "tensor product",
            "a product of positive definite kernels of the components",
            strict=all(p.strict for p in premises),
            premises=premises,
        )

    def _infinitely_divisible(self) -> Claim | None:
        inner = [k._infinitely_divisible() for k in self.components]
        premises = [p for p in inner if p is not None]
        if len(premises) < len(inner):
            return None
        strict = all(p.strict for p in premises)
        reason = "-log of a product of components is a sum"
        return claim(Property.NEGATIVE, self, "direct sum", reason, premises, of="-log ", strict=strict)

    def __repr__(self) -> str:
        return f"tensor({', '.join(map(repr, self.components))})"


class DirectSum(_Componentwise, Additive):
    r"""Direct sum of kernels: ``direct_sum(k1, k2, ...)`` on tuples.

    .. math:: ((x_1, x_2), (y_1, y_2)) \mapsto k_1(x_1, y_1) + k_2(x_2, y_2)

    Positive (negative) definite if every component is.  Not strictly: ``k1 + k2`` of a rectangle of four
    tuples is singular.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> direct_sum(Linear(), Linear())(([1.0], [2.0]), ([3.0], [5.0]))
    13.0
    """

    components: tuple[Kernel, ...]

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a + b, self._values(x, y, m))

    def _certify(self) -> Certificate:
        positives = [k.certificate.positive for k in self.components]
        negatives = [k.certificate.negative for k in self.components]
        reason = "a sum of kernels of the components"
        certificate = (
            Certificate.psd(self, "direct sum", reason, premises=positives)
            if all(p.proved for p in positives)
            else Certificate.unknown(self, "not every component is known to be positive definite", positives)
        )
        if all(p.proved for p in negatives):
            strict = all(p.strict for p in negatives)
            negative = claim(Property.NEGATIVE, self, "direct sum", reason, negatives, strict=strict)
            certificate = Certificate(certificate.positive, negative)
        return certificate

    def _conditional_rule(self, sign: int) -> Claim:
        premises = [k._conditional(sign) for k in self.components]
        if not all(p.proves_order(1) for p in premises):
            return super()._conditional_rule(sign)
        strict, reason = all(p.strict for p in premises), "the same coefficients, summing to zero, for each"
        return claim(
            Property.CONDITIONAL,
            self,
            "direct sum",
            reason,
            premises,
            strict=strict,
            order=1,
            of=minus(sign),
        )

    def __repr__(self) -> str:
        return f"direct_sum({', '.join(map(repr, self.components))})"


class Convolution(Node):
    r"""Convolution kernel over parts: ``convolution(k, parts)``.

    .. math:: (x, y) \mapsto \sum_{p \in \mathrm{parts}(x)} \sum_{q \in \mathrm{parts}(y)} k(p, q)

    Positive definite if ``k`` is: the feature vector of an object is the sum of those of its parts.
    Parts that are tuples are compared with ``tensor(k1, k2, ...)``, which is Haussler's form.  An object
    without parts has value 0 with everything.

    Parameters
    ----------
    base : Kernel
        Kernel on parts.
    parts : callable
        Function from an object to an iterable of its parts (with repetitions, where it has them).
    source : Domain, optional
        Domain of the objects; any objects by default.
    version : str, optional
        Your word on which code ``parts`` has; see :meth:`~mercer.Kernel.digest`.

    Examples
    --------
    >>> from mercer.kernels import WhiteNoise
    >>> same_letter = convolution(WhiteNoise(), list)
    >>> same_letter("banana", "bad")
    4.0
    """

    base: Kernel
    parts: Callable[[Any], Iterable[Any]]
    source: Domain = Objects()
    version: str | None = None

    @property
    def domain(self) -> Domain:
        return self.source

    @property
    def is_precise(self) -> bool:
        return False

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        domain = self.base.domain
        left = [domain.to_arithmetic(domain.point(p), m) for p in self.parts(to_float(x))]
        right = [domain.to_arithmetic(domain.point(q), m) for q in self.parts(to_float(y))]
        return m.fsum(self.base._define(p, q, m) for p in left for q in right)

    def _prepare(self, X: Data) -> Prepared:
        """Put the parts of all objects into one list, and remember where each object starts."""
        lists = [list(self.parts(x)) for x in items(X)]
        starts = np.concatenate([[0], np.cumsum([len(parts) for parts in lists])]).astype(np.intp)
        flat = [part for parts in lists for part in parts]
        prepared = self.base._prepare(self.base.domain.validate(flat, "the parts of X")) if flat else []
        return Prepared((_Ragged(prepared, starts[:-1], starts[1:]),))

    def _child_data(self, X: Data) -> Data:
        return self.base.domain.validate([p for x in items(X) for p in self.parts(x)], "the parts of X")

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        rows: _Ragged = X.parts[0]
        columns: _Ragged = rows if Y is None else Y.parts[0]
        if rows.total == 0 or columns.total == 0:
            return np.zeros((len(rows), len(columns)))
        K = self.base._block(rows.flat(), None if Y is None else columns.flat())
        return rows.sums(columns.sums(K.T).T)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        rows: _Ragged = X.parts[0]
        ones = (rows.take(slice(i, i + 1)) for i in range(len(rows)))
        return np.array([self.base._block(r.flat(), None).sum() if r.total else 0.0 for r in ones])

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            return Certificate.unknown(
                self, "the kernel on parts is not known to be positive definite", [positive]
            )
        return Certificate.psd(
            self,
            "convolution",
            "the feature vector of an object is the sum over its parts",
            premises=[positive],
        )

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self.base.bounds.is_nonnegative else Interval()

    def __repr__(self) -> str:
        options = "" if self.source == Objects() else f", domain={self.source!r}"
        return f"convolution({self.base!r}, {show(self.parts)}{options}{show_version(self)})"


class _Ragged:
    """Parts of several objects in one prepared collection, object ``i`` owning ``start[i]:stop[i]``."""

    def __init__(self, data: Data, start: np.ndarray, stop: np.ndarray) -> None:
        self.data, self.start, self.stop = data, start, stop

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        return int((self.stop - self.start).sum())

    def take(self, index: slice | np.ndarray) -> _Ragged:
        return _Ragged(self.data, self.start[index], self.stop[index])

    def flat(self) -> Data:
        """Return the parts of these objects, one after the other."""
        index = [np.arange(a, b) for a, b in zip(self.start, self.stop, strict=True)]
        return take(self.data, np.concatenate(index))

    def sums(self, K: np.ndarray) -> np.ndarray:
        """Sum the rows of ``K`` (one per part) over the parts of each object."""
        lengths = self.stop - self.start
        out = np.zeros((len(lengths), K.shape[1]))
        nonempty = np.flatnonzero(lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])[:-1]
        out[nonempty] = np.add.reduceat(K, offsets[nonempty], axis=0)
        return out


class Limit(Kernel):
    r"""Pointwise limit of a sequence of kernels: ``limit(sequence, n)``.

    .. math:: (x, y) \mapsto \lim_{n \to \infty} k_n(x, y)

    Evaluated as :math:`k_n` for the given ``n``, after checking on every block that :math:`k_{2n}` agrees
    within ``tol``; so its certificate is that of a member of the sequence.

    Parameters
    ----------
    sequence : callable
        Function from a positive integer to a kernel.
    n : int, default=64
        The member that stands for the limit.
    tol : float, default=1e-8
        Largest difference to ``sequence(2 n)`` that is accepted.
    version : str, optional
        Your word on which code the sequence has; see :meth:`~mercer.Kernel.digest`.
    """

    sequence: Callable[[int], Kernel]
    n: int = parameter(default=64, low=1, integer=True)
    tol: float = parameter(default=1e-8, low=0.0, open_low=True)
    version: str | None = None

    def _validate(self) -> None:
        if not callable(self.sequence):
            raise ParameterError("limit: `sequence` must be a function from n to a kernel.")

    @cached_property
    def _member(self) -> Kernel:
        return self.sequence(self.n)

    @cached_property
    def _next(self) -> Kernel:
        return self.sequence(2 * self.n)

    @property
    def domain(self) -> Domain:
        return self._member.domain

    @property
    def is_precise(self) -> bool:
        return self._member.is_precise

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        value = self._member._define(x, y, m)
        self._check(abs(float(value - self._next._define(x, y, m))))
        return value

    def _prepare(self, X: Data) -> Prepared:
        return Prepared((self._member._prepare(X), self._next._prepare(X)))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        columns = (None, None) if Y is None else Y.parts
        K = self._member._block(X.parts[0], columns[0])
        if K.size:
            self._check(float(np.abs(K - self._next._block(X.parts[1], columns[1])).max()))
        return K

    def _diagonal(self, X: Prepared) -> np.ndarray:
        d = self._member._diagonal(X.parts[0])
        if size(X):
            self._check(float(np.abs(d - self._next._diagonal(X.parts[1])).max()))
        return d

    def _check(self, gap: float) -> None:
        if not gap <= self.tol:
            raise InputError(
                f"limit: the sequence has not converged at n = {self.n}: k_n and k_2n differ by {gap:.3g} > "
                f"tol = {self.tol:.3g}. Raise `n` or `tol`."
            )

    def _certify(self) -> Certificate:
        member = self._member.certificate
        return Certificate(*map(self._carry, (member.positive, member.negative, member.conditional)))

    def _carry(self, inner: Claim) -> Claim:
        if not inner.proved:
            return unproved(inner.about, self, "the members are not known to be definite")
        reason = "signs survive a pointwise limit, and the values are those of a member"
        return claim(inner.about, self, "pointwise limit", reason, [inner], order=inner.order)

    def __repr__(self) -> str:
        return f"limit({show(self.sequence)}, n={self.n}, tol={self.tol!r}{show_version(self)})"


# -- functions ----------------------------------------------------------------------------------
def tensor(*kernels: Kernel) -> Kernel:
    """Tensor product of kernels, on tuples with one entry per kernel; see :class:`Tensor`."""
    return Tensor(kernels)


def direct_sum(*kernels: Kernel) -> Kernel:
    """Direct sum of kernels, on tuples with one entry per kernel; see :class:`DirectSum`."""
    return DirectSum(kernels)


def convolution(
    kernel: Kernel,
    parts: Callable[[Any], Iterable[Any]],
    *,
    domain: Domain | None = None,
    version: str | None = None,
) -> Kernel:
    """Sum of ``kernel`` over all pairs of parts of two objects; see :class:`Convolution`."""
    if not callable(parts):
        raise ParameterError(
            f"convolution: `parts` must be a function from an object to its parts. Got {parts!r}."
        )
    return Convolution(kernel, parts, Objects() if domain is None else domain, version)


def limit(
    sequence: Callable[[int], Kernel], n: int = 64, tol: float = 1e-8, *, version: str | None = None
) -> Kernel:
    """Pointwise limit of ``sequence(1), sequence(2), ...``; see :class:`Limit`."""
    return Limit(sequence, n, tol, version)
