"""Normalisation: the cosine in feature space."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import FLOAT, Arithmetic, floating
from ..certificate import Certificate, Claim, Property
from ..contributions import Contribution
from ..domains import Data, to_float
from ..engine.program import Builder, Value
from ..errors import InputError, ParameterError
from ..intervals import Interval
from ..kernel import Gradient, Kernel, Prepared
from ..spectral_density import SpectralDensity
from .nodes import Node, claim, prefixed, times, wrap

__all__ = ["Normalized"]

#: The least float with all its digits.
TINY = float(np.finfo(np.float64).tiny)


class Normalized(Node):
    r"""Normalised kernel: ``k.normalized()``.

    .. math:: (x, y) \mapsto \frac{k(x, y)}{\sqrt{k(x, x) k(y, y)}}

    and 0 where :math:`k(x, x) = 0` or :math:`k(y, y) = 0`.  Positive definite if ``k`` is.  The diagonal is
    exactly 1, or 0.  A kernel with a negative :math:`k(x, x)` cannot be normalised: that is an error.

    Positive factors cancel, and products, powers and pull-backs are normalised part by part, so that values
    of ``k`` beyond the range of floats do no harm there; sums over all alignments of two long strings are
    scaled.  A :math:`k(x, x)` that underflows or overflows otherwise is an error.
    """

    base: Kernel

    @cached_property
    def _form(self) -> Kernel | None:
        """The same values by normalised parts; None if ``k`` is normalised as a whole."""
        return self.base._normal_form()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        if m is FLOAT and self._form is not None:
            return self._form._define(x, y, m)
        if m is FLOAT and self.base._scaled:
            return self.block([x], [y])[0, 0]
        dx, dy = self.base._self_value(x, m), self.base._self_value(y, m)
        if m is FLOAT and self.base.is_precise and not (TINY <= dx < math.inf and TINY <= dy < math.inf):
            return float(self.precise(to_float(x), to_float(y)))  # squares beyond the range of floats
        if m is FLOAT:
            self._check(np.array([dx, dy]))
        elif dx < 0 or dy < 0:
            raise self._negative(float(min(dx, dy)))
        if dx == 0 or dy == 0:
            return m.real(0)
        value = self.base._define(x, y, m)
        if value == dx == dy:  # a point with itself
            return m.real(1)
        value = value / m.sqrt(dx) / m.sqrt(dy)
        return max(m.real(-1), min(m.real(1), value)) if self.base.certificate.is_psd else value

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        if self._form is not None:
            return self._form._contributions(x, y)
        inverse = self._inverse_norms(np.array([self.base(x, x), self.base(y, y)]))
        return (c.scaled(float(inverse.prod())) for c in self.base._contributions(x, y))

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        if self._form is not None:
            return self._form._weighted_contributions(points, coefficients, x)
        inverse = self._inverse_norms(self.base.diagonal([*points, x]))
        return self.base._weighted_contributions(points, coefficients * inverse[:-1] * inverse[-1], x)

    def _collapse(
        self, points: Sequence[Any], coefficients: np.ndarray
    ) -> Callable[[Any], Iterable[Contribution]]:
        if self._form is not None:
            return self._form._collapse(points, coefficients)
        inverse = self._inverse_norms(self.base.diagonal([*points]))
        return partial(self._spoken, self.base._collapse(points, coefficients * inverse))

    def _spoken(self, collapsed: Callable[[Any], Iterable[Contribution]], x: Any) -> Iterator[Contribution]:
        """Contributions of the base at x, divided by the norm of x."""
        inverse = float(self._inverse_norms(self.base.diagonal([x]))[0])
        return (c.scaled(inverse) for c in collapsed(x))

    def _prepare(self, X: Data) -> Prepared:
        if self._form is not None:
            return Prepared((self._form._prepare(X),))
        part = self.base._prepare(self.base._rescale(X))
        if not self.base._scaled:
            return Prepared((part,), (self._inverse_norms(self.base._diagonal(part)),))
        m, e = self.base._scaled_diagonal(part)
        half = np.floor(e / 2)
        return Prepared((part,), (self._inverse_norms(m * np.exp2(e - 2 * half)), half))

    def _inverse_norms(self, d: np.ndarray) -> np.ndarray:
        """``1 / sqrt(k(x, x))``, with 0 for points of norm zero."""
        d = floating(d)
        self._check(d)
        inverse = np.zeros_like(d)
        np.divide(1.0, np.sqrt(d), out=inverse, where=d > 0)
        return inverse

    def _check(self, d: np.ndarray) -> None:
        """Refuse values ``k(x, x)`` that are negative, or have lost digits to underflow or overflow."""
        if (d < 0).any():
            raise self._negative(float(d.min()))
        if not np.isfinite(d).all():
            raise ParameterError(f"normalized: k(x, x) overflows for {self.base!r}. Scale the data.")
        lost = d < np.finfo(d.dtype).tiny
        if not self.base.certificate.positive.strict:
            lost &= d > 0  # else 0 is a value of its own
        if lost.any():
            row = int(np.flatnonzero(lost)[0])
            raise ParameterError(
                f"normalized: k(x, x) underflows for {self.base!r}: it is {d[row]:.6g} at point {row}. "
                "Scale the data, or multiply the kernel by a large number."
            )

    def _negative(self, value: float) -> InputError:
        return InputError(
            f"normalized: k(x, x) must be >= 0. Got {value:.6g} from {self.base!r}, "
            "which is not positive definite."
        )

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        if self._form is not None:
            return self._form._block(X.parts[0], None if Y is None else Y.parts[0])
        s, t = X.arrays[0], (X if Y is None else Y).arrays[0]
        if self.base._scaled:
            M, e = self.base._scaled_block(X.parts[0], None if Y is None else Y.parts[0])
            halves = X.arrays[1][:, None] + (X if Y is None else Y).arrays[1]
            K = np.ldexp(s[:, None] * M * t, (e - halves).astype(np.intc))
        else:
            K = s[:, None] * self._blocks(X, Y)[0] * t
        if Y is None:
            np.fill_diagonal(K, np.where(s > 0, 1.0, 0.0))
        if self.base.certificate.is_psd:  # Cauchy-Schwarz holds: only rounding can leave [-1, 1]
            np.clip(K, -1.0, 1.0, out=K)
        return np.asarray(K)

    def _embedding(self, X: Prepared, like: Prepared | None = None) -> Any:
        coordinates = None if like is None else like.parts[0]
        if self._form is not None:
            return self._form._embedding(X.parts[0], coordinates)
        inner = None if self.base._scaled else self.base._embedding(X.parts[0], coordinates)
        if inner is None:
            return None
        factors = X.arrays[0][:, None]
        return inner.multiply(factors).tocsr() if scipy.sparse.issparse(inner) else factors * inner

    def _feature_names(self, X: Prepared) -> Sequence[str]:
        return (self.base if self._form is None else self._form)._feature_names(X.parts[0])

    def _dtype(self, X: Prepared, Y: Prepared | None) -> np.dtype[Any]:
        base = self.base if self._form is None else self._form
        dtype = base._dtype(X.parts[0], None if Y is None else Y.parts[0])
        return dtype if dtype == np.float64 else super()._dtype(X, Y)

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value | None:
        if self._form is not None:
            return b.kernel(self._form, X.parts[0], None if Y is None else Y.parts[0])
        if self.base._scaled:
            return None
        s = X.arrays[0]
        K = b.outer_multiply(next(self._compiled(b, X, Y)), s, None if Y is None else Y.arrays[0])
        if self.base.certificate.is_psd:
            K = b.clip(K, -1.0, 1.0)
        return b.diagonal(K, b.derived(s, ("ones",), lambda d: (d > 0).astype(d.dtype)))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        if self._form is not None:
            return self._form._diagonal(X.parts[0])
        return np.where(X.arrays[0] > 0, 1.0, 0.0)

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        if self._form is not None:
            K, inner = self._form._gradient(X.parts[0], None if Y is None else Y.parts[0])
            return K, dict(self._renamed(inner))
        [(name, B, inner)] = self._gradients(X, Y)
        s, t = X.arrays[0], (X if Y is None else Y).arrays[0]
        K = s[:, None] * B * t
        _, left = self.base._diagonal_gradient(X.parts[0])
        right = left if Y is None else self.base._diagonal_gradient(Y.parts[0])[1]
        weight = s[:, None] * t[None, :]
        gradient: Gradient = {}
        for key, g in inner.items():
            rows, columns = times(s**2, left[key])[:, None], times(t**2, right[key])[None, :]
            gradient[key] = times(weight, g) - times(K, 0.5 * (rows + columns))
        return K, prefixed(name, gradient)

    def _renamed(self, gradient: Gradient) -> Iterator[tuple[str, np.ndarray]]:
        """Names of the form, ``child__base__sigma``, as they are here, ``base__child__sigma``."""
        for key, g in gradient.items():
            child, _, rest = key.partition("__base__")
            if rest:
                yield f"base__{child}__{rest}", g
            else:  # a factor, which cancels
                yield f"base__{key}", np.zeros_like(g)

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the base is not known to be positive definite", [positive])
        return Certificate.psd(
            self,
            "normalisation",
            "k(x,y) / sqrt(k(x,x) k(y,y)) is the cosine in feature space",
            strict=positive.strict,
            premises=[positive],
        )

    def _spectral_density(self) -> SpectralDensity:
        part = self.base._spectral_density()
        return part.scaled(1 / part.mass)

    def _infinitely_divisible(self) -> Claim | None:
        inner = self.base._infinitely_divisible()
        if inner is None:
            return None
        return claim(
            Property.NEGATIVE, self, "normalisation", "-log changes by f(x) + f(y)", [inner], of="-log "
        )

    @property
    def bounds(self) -> Interval:
        return Interval(-1.0, 1.0) if self.base.certificate.is_psd else Interval()

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(1.0 if self.base.diagonal_bounds.is_positive else 0.0, 1.0)

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.normalized()"
