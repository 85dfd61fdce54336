"""Kernels as expressions: immutable values with parameters, some of which are kernels in turn."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from functools import cached_property, reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeGuard, dataclass_transform

import numpy as np

from .errors import ParameterError, UnresolvedError
from .parameters import Parameter, Spec, canonical, identity, is_rule, parameter, show

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["Expression", "Path"]

#: Where a nested kernel stands: a field, and the keys of the dicts and tuples inside it.
Path: TypeAlias = tuple[Any, ...]


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(parameter, dataclasses.field))
class Expression:
    """What every kernel is before it is a function: a value with declared parameters.

    Subclasses declare parameters as annotated class attributes and get a constructor, validation, ``repr``,
    equality, hashing, pickling, ``get_params`` and ``replace`` from them.
    """

    #: Names and specifications of the parameters: to ask the dataclass each time takes longer than one value.
    _declared: ClassVar[tuple[tuple[str, Spec | None], ...]] = ()

    #: Parameters that say something of the kernel and change none of its values.
    _claims: ClassVar[tuple[str, ...]] = ()

    # -- construction -------------------------------------------------------------------------
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            raise TypeError(
                f"{cls.__name__}: a kernel has no __init__ of its own. Declare its parameters in the class "
                "body, as `sigma: float = parameter(1.0, low=0.0, open_low=True, scale='log')`: the "
                "constructor is made of them, and so are repr, equality, pickling and get_params. Check "
                "several parameters at once in _validate(self)."
            )
        dataclasses.dataclass(eq=False, repr=False)(cls)
        cls._declared = tuple((f.name, f.metadata.get("mercer")) for f in dataclasses.fields(cls))  # type: ignore[arg-type]

    # Frozen once for all classes: generating these two methods for each would double the time to import.
    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__ or name not in type(self).__dataclass_fields__:  # type: ignore[attr-defined]
            raise dataclasses.FrozenInstanceError(
                f"a kernel is an immutable value: {type(self).__name__}.{name} cannot be set. "
                "Use k.replace(...) to get another kernel."
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(
            f"a kernel is an immutable value: {type(self).__name__}.{name} cannot be deleted"
        )

    def __post_init__(self) -> None:
        for name, spec in self._declared:
            value = getattr(self, name)
            with contextlib.suppress(TypeError, ValueError, OverflowError):  # the check names the parameter
                value = canonical(value, spec)
            if spec is not None:
                spec.check(type(self).__name__, name, value)
            if name == "version" and not (value is None or (isinstance(value, str) and value)):
                raise ParameterError(
                    f"{type(self).__name__}: `version` must be a text such as '1'. Got {value!r}."
                )
            object.__setattr__(self, name, value)
        self._validate()
        for name in ("_fields", "_slots", "_children"):  # of before, if _validate has put operands in order
            self.__dict__.pop(name, None)

    def _validate(self) -> None:
        """Check what concerns several parameters at once; raise ParameterError."""

    # -- parameters ---------------------------------------------------------------------------
    @cached_property
    def _fields(self) -> tuple[tuple[str, Any, Spec | None], ...]:
        return tuple((name, getattr(self, name), spec) for name, spec in self._declared)

    @cached_property
    def _children(self) -> tuple[tuple[str, Kernel], ...]:
        """Nested kernels with the names under which their parameters are reached."""
        return tuple((name, child) for name, _, child in self._slots)

    @cached_property
    def _slots(self) -> tuple[tuple[str, Path, Kernel], ...]:
        """Nested kernels: public name, the field with the keys that lead to it inside, kernel."""
        found: list[tuple[str, Path, Kernel]] = []
        for name, value, _ in self._fields:
            if _is_kernel(value):
                found.append((name, (name,), value))
            elif isinstance(value, tuple):
                stem = name.removesuffix("s")
                found += [
                    (f"{stem}{i}", (name, i), child) for i, child in enumerate(value) if _is_kernel(child)
                ]
        return tuple(found)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` also those of nested kernels, as ``term0__sigma``."""
        params: dict[str, Any] = {name: value for name, value, _ in self._fields}
        if deep:
            for name, child in self._children:
                params.setdefault(name, child)
                params.update({f"{name}__{key}": value for key, value in child.get_params().items()})
        return params

    def replace(self, **params: Any) -> Self:
        """Return a kernel with other parameter values; this one stays as it is.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> (Gaussian(1.0) + Linear()).replace(term0__sigma=3.0)
        Gaussian(sigma=3.0) + Linear()
        """
        own: Any = {name: value for name, value, _ in self._fields}
        slots = {name: path for name, path, _ in self._slots}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            head, _, rest = key.partition("__")
            if key in slots and not _is_kernel(value):
                raise ParameterError(f"{type(self).__name__}: `{key}` must be a kernel. Got {value!r}.")
            if rest and head in slots:
                nested.setdefault(head, {})[rest] = value
            elif key in own:
                own[key] = value
            elif key in slots:
                own = _put(own, slots[key], value)
            else:
                valid = ", ".join(sorted(self.get_params())) or "none"
                raise ParameterError(
                    f"{type(self).__name__} has no parameter `{key}`. Its parameters: {valid}."
                )
        for head, sub in nested.items():  # after the kernels themselves, which may have been replaced too
            child = reduce(getitem, slots[head], own)
            own = _put(own, slots[head], child.replace(**sub))
        return type(self)(**own)

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The continuously tunable parameters, nested names included."""
        result = {
            name: Parameter(value, spec.low, spec.high, spec.scale)
            for name, value, spec in self._fields
            if spec is not None and spec.scale is not None
        }
        for name, child in self._children:
            result.update({f"{name}__{key}": value for key, value in child.parameters.items()})
        return result

    @cached_property
    def is_resolved(self) -> bool:
        """Whether no parameter waits for data."""
        own = not any(is_rule(value, spec) for _, value, spec in self._fields)
        return own and all(child.is_resolved for _, child in self._children)

    def _require_resolved(self) -> None:
        if not self.is_resolved:
            raise UnresolvedError(
                f"{self!r} has a parameter that depends on data. "
                "Call kernel.resolve(X) first; machines do it in fit."
            )

    # -- value semantics ----------------------------------------------------------------------
    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        return (type(self), *(identity(value) for _, value, _ in self._fields))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        shown = [f"{n}={show(v)}" for n, v, _ in self._fields if self._differs(n, v)]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _differs(self, name: str, value: Any) -> bool:
        """Whether a parameter has another value than its default, if there is one."""
        default = type(self).__dataclass_fields__[name].default  # type: ignore[attr-defined]
        if default is dataclasses.MISSING:
            return True
        return bool(identity(value) != identity(canonical(default, dict(self._declared)[name])))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value, _ in self._fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            _freeze(value)  # arrays come out of a pickle writeable
            object.__setattr__(self, name, value)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __sklearn_clone__(self) -> Self:
        return self


def _is_kernel(value: Any) -> TypeGuard[Kernel]:
    return isinstance(value, Expression)  # kernels are the only expressions there are


def _put(value: Any, path: Path, child: Kernel) -> Any:
    """A dict or tuple with a kernel in another place, which keys lead to."""
    if not path:
        return child
    key, *rest = path
    inner = _put(value[key], tuple(rest), child)
    return {**value, key: inner} if isinstance(value, dict) else (*value[:key], inner, *value[key + 1 :])


def _freeze(value: Any) -> None:
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for v in value:
            _freeze(v)
    elif isinstance(value, dict):
        _freeze(tuple(value.values()))
