"""Kernels of the user's own: plain functions, and assertions about any kernel."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, overload

import cloudpickle
import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import ASSERTED, Certificate, Claim, Property, Status, Verdict
from ..contributions import Contribution
from ..domains import Data, Domain, Objects, Reals
from ..errors import InputError, ParameterError
from ..kernel import Kernel
from ..parameters import identity, show
from .nodes import Wrapper, show_version, wrap
from .signatures import fields_of, require_accepts

__all__ = ["Assumed", "FunctionKernel", "assume", "kernel"]

_ASSUMABLE = ("STRICT", "PSD", "NDS", "CPD")


class FunctionKernel(Kernel):
    """A kernel given by a Python function of two points; made by :func:`mercer.kernel`.

    Further arguments of the function are parameters of the kernel: ``k(decay=0.3)`` is ``k`` with another
    value, as is ``k.replace(decay=0.3)``.

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
    verdict : {"STRICT", "PSD", "NDS", "CPD"} or None
        Your word on its definiteness.
    reason : str
        Why you believe it.
    """

    _always_double: ClassVar[bool] = True

    _claims: ClassVar[tuple[str, ...]] = ("verdict", "reason")

    #: Names of the function's own parameters.
    _own: ClassVar[tuple[str, ...]] = ()

    function: Callable[..., float]
    points: Domain = Objects()
    block_function: Callable[..., Any] | None = None
    version: str | None = None
    verdict: str | None = None
    reason: str = ""

    @classmethod
    def of(cls, function: Callable[..., float], **options: Any) -> FunctionKernel:
        """The kernel of a function with the default values of its parameters."""
        fields = fields_of(function, FunctionKernel)
        if not fields:
            return FunctionKernel(function, **options)
        require_accepts(options.get("block_function"), function, fields)
        body = {
            **fields,
            "_own": tuple(fields),
            "__annotations__": dict.fromkeys(fields, Any),
            "__module__": __name__,
            "__doc__": function.__doc__,
        }
        made: type[FunctionKernel] = type("FunctionKernel", (FunctionKernel,), body)
        return made(function, **options)

    def _validate(self) -> None:
        if self.verdict is not None:
            _check_verdict(self.verdict)

    @property
    def domain(self) -> Domain:
        return self.points

    @cached_property
    def _values(self) -> dict[str, Any]:
        """The function's own parameters."""
        return {name: getattr(self, name) for name in self._own}

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        # Each call of `of` makes a class: kernels of one function are equal all the same.
        return (FunctionKernel, *((name, identity(value)) for name, value, _ in self._fields))

    def __call__(self, *points: Any, **parameters: Any) -> Any:
        """Value on one pair of points; with parameters alone, the kernel that has these."""
        if parameters and not points:
            return self.replace(**parameters)
        if len(points) != 2 or parameters:
            raise TypeError(
                f"{self!r} takes two points, k(x, y), or parameters by keyword, which give a kernel: "
                f"k(name=value). Got {len(points)} point(s) and {len(parameters)} parameter(s)."
            )
        x, y = self.domain.pair(*points)
        if isinstance(self.points, Reals):  # a function of numbers gets numbers
            x, y = float(x[0]), float(y[0])
        return float(self.function(x, y, **self._values))

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        if self.block_function is None:
            return super()._block(X, Y)
        K = np.asarray(self.block_function(X, X if Y is None else Y, **self._values), dtype=float)
        expected = (len_of(X), len_of(X if Y is None else Y))
        if K.shape != expected:
            raise InputError(f"{self!r}: the block function must return shape {expected}. Got {K.shape}.")
        return K

    def _certify(self) -> Certificate:
        known = super()._certify()
        return known if self.verdict is None else _asserted(known, repr(self), self.verdict, self.reason)

    def __repr__(self) -> str:
        default = self._at_defaults()
        values = ", ".join(f"{n}={show(v)}" for n, v in self._values.items() if self._differs(n, v))
        with_values = f"({values})" if values else ""
        if _named(self.function) == default:
            return f"{show(self.function)}{with_values}"
        options = "" if self.points == Objects() else f", domain={self.points!r}"
        options += "" if self.verdict is None else f", assume={self.verdict!r}"
        options += f", reason={self.reason!r}" if self.reason else ""
        options += "" if self.block_function is None else f", block={show(self.block_function)}"
        return f"kernel({show(self.function)}{options}{show_version(self)}){with_values}"

    def _at_defaults(self) -> FunctionKernel:
        """The kernel as the decorator has made it."""
        fixed = {name: value for name, value, _ in self._fields if name not in self._own}
        return type(self)(**fixed) if self._own else self

    # -- pickling -----------------------------------------------------------------------------
    def _reduce_by_value(self) -> tuple[Any, ...]:
        """Pickle the function itself, for a process where its name does not lead to it."""
        options = {n: v for n, v, _ in self._fields if n not in ("function", *self._own)}
        return _made, (self.function, options, self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a decorated function by its name, which is now that of the kernel.

        The name of a script's own function leads nowhere in other processes: its code goes along.
        """
        if _named(self.function) != self._at_defaults():
            return self._reduce_by_value()
        module, name = self.function.__module__, self.function.__qualname__
        code = cloudpickle.dumps(self.function) if module == "__main__" else None
        options = {n: v for n, v, _ in self._fields if n not in ("function", *self._own)} if code else {}
        return _recall, (module, name, self._values, code, options)


def _made(function: Callable[..., float], options: dict[str, Any], values: dict[str, Any]) -> Kernel:
    k = FunctionKernel.of(function, **options)
    return k.replace(**values) if values else k


def _named(function: Any) -> Any:
    """Return what the name of a function stands for: itself, or the kernel a decorator made of it."""
    value: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "<unnamed>").split("."):
        value = getattr(value, part, None)
    return value


def _recall(
    module: str, name: str, values: dict[str, Any], code: bytes | None, options: dict[str, Any]
) -> Kernel:
    """Find a decorated function again, or make it of its code."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if isinstance(found, FunctionKernel):
        return found.replace(**values) if values else found
    if code is None:
        raise pickle.UnpicklingError(
            f"the kernel `{name}` was pickled by its name, and is not in the module {module} any more."
        )
    return _made(cloudpickle.loads(code), options, values)


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
        _check_verdict(self.verdict)
        proved = self.base.certificate
        claimed = {"NDS": proved.negative, "CPD": proved.conditional}.get(self.verdict, proved.positive)
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
        return self.base._weighted_contributions(points, coefficients, x)

    def _collapse(
        self, points: Sequence[Any], coefficients: np.ndarray
    ) -> Callable[[Any], Iterable[Contribution]]:
        return self.base._collapse(points, coefficients)

    def _certify(self) -> Certificate:
        return _asserted(self.base.certificate, repr(self.base), self.verdict, self.reason)

    def __repr__(self) -> str:
        because = f", {self.reason!r}" if self.reason else ""
        return f"{wrap(self.base)}.assume({self.verdict!r}{because})"


def _check_verdict(verdict: Any) -> None:
    if verdict not in _ASSUMABLE:
        raise ParameterError(
            f"assume: `verdict` must be one of {', '.join(map(repr, _ASSUMABLE))}. Got {verdict!r}."
        )


def _asserted(known: Certificate, subject: str, verdict: str, reason: str) -> Certificate:
    """What is known, with the user's word on one of the properties."""
    about = {"NDS": Property.NEGATIVE, "CPD": Property.CONDITIONAL}.get(verdict, Property.POSITIVE)
    word = Claim(
        about,
        Status.PROVED,
        subject,
        ASSERTED,
        reason or "the user's word, not a proof",
        strict=verdict == Verdict.STRICT.value,
        order=1 if about is Property.CONDITIONAL else 0,
    )
    if about is Property.NEGATIVE:
        return replace(known, negative=word)
    if about is Property.CONDITIONAL:
        return replace(known, conditional=word)
    return Certificate(word, known.negative)


def assume(self: Kernel, verdict: str, reason: str = "") -> Kernel:
    """Assert the definiteness of a kernel that no rule can certify.

    Parameters
    ----------
    verdict : {"STRICT", "PSD", "NDS", "CPD"}
        ``"CPD"`` is conditionally positive definite of order 1.
    reason : str, optional
        Why you believe it; shown in proof trees next to the word *asserted*.

    Raises
    ------
    ParameterError
        If the kernel is proved not to be so.
    """
    return Assumed(self, verdict, reason)


@overload
def kernel(function: Callable[..., float], /) -> Kernel: ...
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
) -> Callable[[Callable[..., float]], Kernel]: ...
@overload
def kernel(
    function: Callable[..., float],
    /,
    *,
    domain: Domain | None = None,
    assume: str | None = None,
    reason: str = "",
    block: Callable[[Any, Any], Any] | None = None,
    version: str | None = None,
) -> Kernel: ...
def kernel(
    function: Callable[..., float] | None = None,
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
        ``function(x, y) -> float``, symmetric in its arguments.  Further arguments with default values,
        ``function(x, y, *, decay=1.0)``, are parameters of the kernel: ``k(decay=0.3)`` is the kernel with
        another value, and they take part in ``get_params``, ``set_params(kernel__decay=...)``, grid search,
        ``repr``, digests and tuning.  A positive float stays positive, and is tuned on a logarithmic scale; a
        whole number stays whole; ``decay=parameter(1.0, low=0.0, high=1.0)`` gives another range.
    domain : Domain, optional
        What the points are; any objects by default.
    assume : {"STRICT", "PSD", "NDS", "CPD"}, optional
        Your word on its definiteness; without it the certificate is UNKNOWN.
    reason : str, optional
        Why, for the proof tree.
    block : callable, optional
        Vectorised version on two collections of points; it gets the parameters by keyword.
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

    Arguments with a default are parameters:

    >>> @mercer.kernel(assume="PSD", reason="a weight to the number of shared letters")
    ... def likeness(x, y, *, decay=0.5):
    ...     return sum(decay**i for i in range(1, 1 + len(set(x) & set(y))))
    >>> likeness("abc", "bcd")
    0.75
    >>> quarter = likeness(decay=0.25)
    >>> quarter("abc", "bcd"), quarter.decay
    (0.3125, 0.25)

    Notes
    -----
    A pickle holds the name of a function that can be imported, and the code of one that was defined in a
    script (``__main__``).  A function inside of another one has no name that leads to it: ``pickle`` raises
    an error that names it, ``cloudpickle`` takes it.
    """

    def make(f: Callable[..., float]) -> Kernel:
        if not callable(f):
            raise ParameterError(f"kernel: `function` must be a function of two points. Got {f!r}.")
        if isinstance(f, Kernel):
            if version is not None:
                raise ParameterError(f"kernel: `version` is for functions. Got the kernel {f!r}.")
            return f if assume is None else Assumed(f, assume, reason)
        return FunctionKernel.of(
            f,
            points=Objects() if domain is None else domain,
            block_function=block,
            version=version,
            verdict=assume,
            reason=reason if assume is not None else "",
        )

    return make if function is None else make(function)
