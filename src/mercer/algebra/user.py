"""Kernels of the user's own: plain functions, and assertions about any kernel."""

from __future__ import annotations

import copyreg
import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import ASSERTED, Certificate, Claim, Property, Status, Verdict
from ..contributions import Contribution
from ..domains import Data, Domain, Objects, Reals
from ..errors import InputError, ParameterError
from ..kernel import Kernel
from ..parameters import show
from .nodes import Wrapper, show_version, wrap

__all__ = ["Assumed", "FunctionKernel", "assume", "kernel"]

_ASSUMABLE = ("STRICT", "PSD", "NDS")


class FunctionKernel(Kernel):
    """A kernel given by a Python function of two points; made by :func:`mercer.kernel`.

    Attributes
    ----------
    function : callable
        ``function(x, y) -> float``, symmetric.
    points : Domain
        What the points are.
    block_function : callable or None
        ``block_function(X, Y) -> array`` of shape ``(len(X), len(Y))`` on validated points, for speed.
    version : str or None
        Your word on which code the functions have; see :meth:`~mercer.Kernel.digest`.
    """

    function: Callable[[Any, Any], float]
    points: Domain = Objects()
    block_function: Callable[[Any, Any], Any] | None = None
    version: str | None = None

    @property
    def domain(self) -> Domain:
        return self.points

    def __call__(self, x: Any, y: Any) -> float:
        x, y = self.domain.pair(x, y)
        if isinstance(self.points, Reals):  # a function of numbers gets numbers
            x, y = float(x[0]), float(y[0])
        return float(self.function(x, y))

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        if self.block_function is None:
            return super()._block(X, Y)
        K = np.asarray(self.block_function(X, X if Y is None else Y), dtype=float)
        expected = (len_of(X), len_of(X if Y is None else Y))
        if K.shape != expected:
            raise InputError(f"{self!r}: the block function must return shape {expected}. Got {K.shape}.")
        return K

    def __repr__(self) -> str:
        named = _named(self.function)
        if named == self:
            return show(self.function)
        if isinstance(named, Assumed) and named.base == self:
            return f"{show(self.function)}.base"
        options = "" if self.points == Objects() else f", domain={self.points!r}"
        options += "" if self.block_function is None else f", block={show(self.block_function)}"
        return f"kernel({show(self.function)}{options}{show_version(self)})"

    def _reduce_by_value(self) -> tuple[Any, ...]:
        """Pickle the function itself, for a process where its name does not lead to it."""
        return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a decorated function by its name, which is now that of the kernel."""
        named = _named(self.function)
        if named == self or (isinstance(named, Assumed) and named.base == self):
            return _recall, (self.function.__module__, self.function.__qualname__)
        return self._reduce_by_value()


def _named(function: Any) -> Any:
    """Return what the name of a function stands for: itself, or the kernel a decorator made of it."""
    value: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "<unnamed>").split("."):
        value = getattr(value, part, None)
    return value


def _recall(module: str, name: str) -> Kernel:
    """Find a decorated function again."""
    value: Any = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value.base if isinstance(value, Assumed) else value


def len_of(X: Data) -> int:
    """Return the number of points."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class Assumed(Wrapper):
    """A kernel with the user's word on its definiteness: ``k.assume("PSD")``.

    The certificate says *asserted* wherever it rests on this.
    """

    base: Kernel
    verdict: str = "PSD"
    reason: str = ""

    def _validate(self) -> None:
        if self.verdict not in _ASSUMABLE:
            raise ParameterError(
                f"assume: `verdict` must be one of {', '.join(map(repr, _ASSUMABLE))}. Got {self.verdict!r}."
            )
        proved = self.base.certificate
        claimed = proved.negative if self.verdict == "NDS" else proved.positive
        if claimed.refuted:
            raise ParameterError(
                f"assume: {self.base!r} is proved not to be {self.verdict}: {claimed.reason}."
            )

    def _digest_form(self) -> bytes:
        return self.base._digest_form()  # a word on definiteness changes no value

    def __call__(self, x: Any, y: Any) -> float:
        return self.base(x, y)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self.base._define(x, y, m)

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        return self.base._contributions(x, y)

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        return self.base._sum_contributions(points, coefficients, x)

    def _certify(self) -> Certificate:
        known = self.base.certificate
        about = Property.NEGATIVE if self.verdict == Verdict.NDS.value else Property.POSITIVE
        word = Claim(
            about,
            Status.PROVED,
            repr(self.base),
            ASSERTED,
            self.reason or "the user's word, not a proof",
            strict=self.verdict == Verdict.STRICT.value,
        )
        if about is Property.NEGATIVE:
            return Certificate(known.positive, word)
        return Certificate(word, known.negative)

    def __repr__(self) -> str:
        if isinstance(self.base, FunctionKernel) and _named(self.base.function) == self:
            return show(self.base.function)
        because = f", {self.reason!r}" if self.reason else ""
        return f"{wrap(self.base)}.assume({self.verdict!r}{because})"


def assume(self: Kernel, verdict: str, reason: str = "") -> Kernel:
    """Assert the definiteness of a kernel that no rule can certify.

    Parameters
    ----------
    verdict : {"STRICT", "PSD", "NDS"}
    reason : str, optional
        Why you believe it; shown in proof trees next to the word *asserted*.

    Raises
    ------
    ParameterError
        If the kernel is proved not to be so.
    """
    return Assumed(self, verdict, reason)


@overload
def kernel(function: Callable[[Any, Any], float], /) -> Kernel: ...
@overload
def kernel(
    function: None = None,
    /,
    *,
    domain: Domain | None = None,
    assume: str | None = None,
    reason: str = "",
    block: Callable[[Any, Any], Any] | None = None,
    version: str | None = None,
) -> Callable[[Callable[[Any, Any], float]], Kernel]: ...
@overload
def kernel(
    function: Callable[[Any, Any], float],
    /,
    *,
    domain: Domain | None = None,
    assume: str | None = None,
    reason: str = "",
    block: Callable[[Any, Any], Any] | None = None,
    version: str | None = None,
) -> Kernel: ...
def kernel(
    function: Callable[[Any, Any], float] | None = None,
    /,
    *,
    domain: Domain | None = None,
    assume: str | None = None,
    reason: str = "",
    block: Callable[[Any, Any], Any] | None = None,
    version: str | None = None,
) -> Any:
    """Make a kernel of a function of two points; also a decorator.

    Parameters
    ----------
    function : callable
        ``function(x, y) -> float``, symmetric in its arguments.
    domain : Domain, optional
        What the points are; any objects by default.
    assume : {"STRICT", "PSD", "NDS"}, optional
        Your word on its definiteness; without it the certificate is UNKNOWN.
    reason : str, optional
        Why, for the proof tree.
    block : callable, optional
        Vectorised version on two collections of points.
    version : str, optional
        A name for the present code of the function, such as "1", to be changed whenever you edit it.  Only a
        kernel with a version has a :meth:`~mercer.Kernel.digest`, so that its values can be kept in a store.

    Examples
    --------
    >>> import mercer
    >>> @mercer.kernel(assume="PSD", reason="counts of shared letters")
    ... def shared(x, y):
    ...     return len(set(x) & set(y))
    >>> shared("abc", "bcd")
    2.0
    >>> shared.block(["ab", "bc", "cd"])
    array([[2., 1., 0.],
           [1., 2., 1.],
           [0., 1., 2.]])
    """

    def make(f: Callable[[Any, Any], float]) -> Kernel:
        if not callable(f):
            raise ParameterError(f"kernel: `function` must be a function of two points. Got {f!r}.")
        if isinstance(f, Kernel):
            if version is not None:
                raise ParameterError(f"kernel: `version` is for functions. Got the kernel {f!r}.")
            made: Kernel = f
        else:
            made = FunctionKernel(f, Objects() if domain is None else domain, block, version)
        return made if assume is None else Assumed(made, assume, reason)

    return make if function is None else make(function)
