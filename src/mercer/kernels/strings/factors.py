"""Kernels over all common factors (substrings) of two strings, of any length."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution, Places
from ...domains import Domain, EncodedSequences, Sequences
from ...engine import substrings
from ...errors import InputError, ParameterError
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter
from ..weights import as_elements

__all__ = ["Factors"]

#: `contributions` names no more common factors than this.
MOST_CONTRIBUTIONS = 1_000_000

#: Longer than any string: the length from which a bonus counts that was not given.
NEVER = np.iinfo(np.int64).max


class Factors(Kernel):
    r"""Weighted number of common factors (substrings) of two strings.

    .. math:: k(x, y) = \sum_{z \in (F(x) \cap F(y)) \setminus J} w(|z|), \qquad
        w(l) = \rho_1^l \text{ for } l < n, \quad \rho_2^l \text{ for } l \ge n

    where :math:`F(x)` is the **set** of factors of x, its stretches of contiguous symbols: each counts once,
    however often it occurs.  The empty string is a factor of every string and adds :math:`w(0) = 1`; exclude
    it with ``shortest=1``.  With ``counts=True`` factors count with their occurrences,

    .. math:: k(x, y) = \sum_{z \notin J} w(|z|)\, |x|_z\, |y|_z

    (the empty one occurs :math:`|x| + 1` times): the all-substrings kernel, with :math:`\rho < 1` as decay.

    Positive definite: an inner product of one feature per factor.  Strictly, if nothing is excluded: a string
    has itself as a factor, and other strings that have it are longer, so that the features of distinct
    strings are triangular.  Cost of a value: O(\|x\| + \|y\| + total length of the excluded factors), by a
    suffix automaton of x, built once per row; memory about 160 bytes per symbol of x and thread.  Values that
    are whole numbers below 2^53 are exact; values beyond the range of floats are an error.

    With counts the kernel is rational, a transducer computes it.  Over the *set* of common factors it is not,
    for three letters or more, whatever Mohri, Rostamizadeh and Talwalkar (2018), exercise 6.19(a), ask to
    show: for :math:`w = a^n b^n` the matrix of :math:`k(u \# v, w)` over the strings u and v has the rank
    :math:`(n + 1)^2`, and the states of a transducer bound that rank linearly in n.  So
    :func:`~mercer.kernels.strings.as_rational` refuses it.

    The definition ``k(x, y)`` lists the common factors one by one; ``block`` has the linear time.

    Parameters
    ----------
    rho : float, default=1.0
        Weight per symbol, > 0.
    excluded : collection of strings, default=()
        The set J of factors that do not count.
    shortest : int, default=0
        Factors of fewer symbols do not count.
    bonus : (int, float), optional
        The length n from which factors are long, and their weight per symbol :math:`\rho_2 > 0`.
    counts : bool, default=False
        Whether factors count with their occurrences.

    Examples
    --------
    >>> Factors()("abc", "bcd")  # the empty one, b, c, bc
    4.0
    >>> Factors(excluded=["bc"], shortest=1)("abc", "bcd")
    2.0
    >>> Factors(bonus=(2, 10.0))("abc", "bcd")
    103.0
    >>> Factors(0.5, shortest=1, counts=True)("aaa", "aa")  # 0.5 * 3 * 2 + 0.25 * 2 * 1
    3.5
    >>> print(Factors(shortest=1).contributions("abc", "bcd"))
    weight  pattern
       1.0  'b'  [1:2 | 0:1]
       1.0  'bc'  [1:3 | 0:2]
       1.0  'c'  [2:3 | 1:2]
    """

    rho: float = parameter(default=1.0, low=0.0, open_low=True)
    excluded: Collection[Any] = ()
    shortest: int = parameter(default=0, low=0, integer=True)
    bonus: tuple[int, float] | None = None
    counts: bool = parameter(default=False, choices=(False, True))

    def _validate(self) -> None:
        name, domain = "Factors", Sequences()
        listed = as_elements(name, "excluded", self.excluded)
        try:
            excluded = as_elements(name, "excluded", [domain.point(z, "excluded") for z in listed])
        except InputError as error:
            raise ParameterError(f"{name}: `excluded` must be a collection of strings: {error}") from error
        object.__setattr__(self, "excluded", excluded)
        if self.bonus is not None:
            object.__setattr__(self, "bonus", _as_bonus(self.bonus))

    @property
    def domain(self) -> Domain:
        return Sequences()

    # -- weights ------------------------------------------------------------------------------
    def _weight(self, length: int, m: Arithmetic) -> Any:
        longer, rho = self.bonus or (NEVER, 1.0)
        return m.real(rho if length >= longer else self.rho) ** length

    @property
    def _weights(self) -> substrings.LengthWeights:
        longer, rho = self.bonus or (NEVER, 1.0)
        empty = self.shortest == 0 and "" not in self.excluded
        return substrings.LengthWeights(self.rho, self.shortest, longer, rho, float(empty))

    def _excluded_like(self, X: EncodedSequences) -> EncodedSequences:
        """The excluded factors but the empty one, in the numbers of ``X``."""
        return Sequences().validate([z for z in self.excluded if len(z)]).coded_like(X)

    # -- values -------------------------------------------------------------------------------
    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.fsum([weight for _, weight, _, _ in self._terms(x, y, m)])

    def _terms(
        self, x: tuple[Any, ...], y: tuple[Any, ...], m: Arithmetic
    ) -> Iterator[tuple[tuple[Any, ...], Any, list[int], list[int]]]:
        """Common factors that count, shorter ones first, with what they add and where they begin."""
        excluded = {tuple(z) for z in self.excluded}
        for length in range(min(len(x), len(y)) + 1):
            in_x, in_y = _begins(x, length), _begins(y, length)
            common = [z for z in in_x if z in in_y]
            if not common:
                return  # where none of some length is common, none is that is longer
            for z in common:
                if length >= self.shortest and z not in excluded:
                    times = len(in_x[z]) * len(in_y[z]) if self.counts else 1
                    yield z, times * self._weight(length, m), in_x[z], in_y[z]

    def _block(self, X: EncodedSequences, Y: EncodedSequences | None) -> np.ndarray:
        columns = None if Y is None else Y.coded_like(X)
        return substrings.factors(X, columns, self._weights, self._excluded_like(X), self.counts)

    def _diagonal(self, X: EncodedSequences) -> np.ndarray:
        d = substrings.factors_diagonal(X, self._weights, self._excluded_like(X), self.counts)
        if not np.isfinite(d).all():
            raise ParameterError(
                f"{self!r} overflows on the point {int(np.argmin(np.isfinite(d)))}. "
                "Lower the weights per symbol."
            )
        return d

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        text = isinstance(x, str) and isinstance(y, str)
        terms = self._terms(tuple(x), tuple(y), FLOAT)
        for named, (z, weight, in_x, in_y) in enumerate(terms):
            if named == MOST_CONTRIBUTIONS:
                raise InputError(
                    f"Factors: x and y have more than {MOST_CONTRIBUTIONS} common factors, too many to name "
                    "them one by one. Compare shorter strings, or raise `shortest`."
                )
            yield Contribution("".join(z) if text else z, weight, _places(in_x, z), _places(in_y, z))

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        share = "times its occurrences" if self.counts else "if the string has it"
        reason = f"one feature per factor: its square-root weight {share}"
        if self.excluded or self.shortest:
            return Certificate.psd(self, "explicit features", reason)
        triangular = "a string is a factor of no other of its length and of none that is shorter"
        reason = f"{reason}; {triangular}: triangular features"
        return Certificate.psd(self, "unitriangular features", reason, strict=True)

    @property
    def bounds(self) -> Interval:
        return Interval(self._weights.empty, math.inf)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.bounds


def _as_bonus(bonus: Any) -> tuple[int, float]:
    """Validate the pair of a length and a weight per symbol."""
    pair = bonus if isinstance(bonus, tuple) and len(bonus) == 2 else (None, None)
    length, rho = pair
    whole = isinstance(length, int) and not isinstance(length, bool) and length >= 0
    if not (whole and isinstance(rho, int | float) and math.isfinite(rho) and rho > 0):
        raise ParameterError(
            "Factors: `bonus` must be a pair of a length >= 0 and a weight per symbol > 0, such as (6, 2.0). "
            f"Got {bonus!r}."
        )
    return length, float(rho)  # type: ignore[return-value]


def _begins(x: tuple[Any, ...], length: int) -> dict[tuple[Any, ...], list[int]]:
    """Factors of one length and where they begin."""
    begins: dict[tuple[Any, ...], list[int]] = {}
    for i in range(len(x) - length + 1):
        begins.setdefault(x[i : i + length], []).append(i)
    return begins


def _places(begins: list[int], z: tuple[Any, ...]) -> Places:
    """Stretches of a factor; the empty one is everywhere and has no place."""
    return tuple((i, i + len(z)) for i in begins) if z else ()
