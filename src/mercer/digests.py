"""Content digests: names for values that stay the same in every process and on every machine.

Python's ``hash`` changes from run to run, and ``pickle`` writes equal values differently.  Here a value is
written in one canonical form (a tag for its type, lengths before contents, little-endian numbers, sets and
dicts sorted) and the form is hashed with BLAKE2b.  What has no canonical form is refused: a wrong digest
would bring back the values of something else.
"""

from __future__ import annotations

import functools
import hashlib
import struct
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from .errors import DigestError

__all__ = ["POINT_BYTES", "digest", "encode", "encode_function"]

#: Length of the digest of one point: enough that no two of any collection ever agree by chance.
POINT_BYTES = 16

#: Writes what plain values do not cover, such as nested kernels, or returns None.
Special: TypeAlias = Callable[[Any], bytes | None]


def digest(value: Any, special: Special | None = None, size: int = POINT_BYTES) -> str:
    """Hex digest of a plain value: None, numbers, text, bytes, arrays, and collections of these.

    Numbers that are equal and of one type have one digest (``0.0`` and ``-0.0``); ``1``, ``1.0`` and ``True``
    have three, for a function may tell them apart.

    Examples
    --------
    >>> digest(("GATTACA", 3))
    '22286b549ee6c2cafe283ab055733119'
    >>> digest(frozenset("ab")) == digest(frozenset("ba"))
    True
    """
    return hashlib.blake2b(encode(value, special), digest_size=size).hexdigest()


def encode(value: Any, special: Special | None = None) -> bytes:
    """Canonical form of a value; raise :class:`~mercer.errors.DigestError` if there is none."""
    if special is not None:
        own = special(value)
        if own is not None:
            return _tagged(b"*", own)
    kind = type(value)  # exactly: a subclass may hold more than its contents
    if kind is str:
        return _tagged(b"s", value.encode("utf-8", "surrogatepass"))
    if kind is float:
        return b"f" + struct.pack("<d", value + 0.0 if value == value else np.nan)  # -0.0 + 0.0 is 0.0
    if kind is int:
        return _tagged(b"i", str(value).encode())
    if value is None or kind is bool:
        return str(value)[:1].encode()
    if kind is bytes:
        return _tagged(b"b", value)
    if kind is tuple or kind is list:
        return _many(b"(" if kind is tuple else b"[", (encode(v, special) for v in value))
    if kind is frozenset or kind is set:
        return _many(b"{", sorted(encode(v, special) for v in value))
    if isinstance(value, dict) and kind.__module__.split(".")[0] in ("builtins", "mercer"):
        pairs = (_many(b":", (encode(k, special), encode(v, special))) for k, v in value.items())
        return _many(b"d", sorted(pairs))
    if kind is complex:
        return b"c" + encode(value.real) + encode(value.imag)
    if isinstance(value, np.generic) and not isinstance(value.item(), np.generic):  # not long doubles
        return encode(value.item(), special)
    if kind is np.ndarray or kind is np.memmap:
        return _encode_array(value)
    raise DigestError(
        f"an object of type {kind.__module__}.{kind.__qualname__} has no content digest. Text, bytes, "
        "numbers, NumPy arrays, and tuples, lists, sets and dicts of these have one."
    )


def _encode_array(array: np.ndarray) -> bytes:
    if array.dtype.kind not in "biufcSUmM" or array.dtype in (np.longdouble, np.clongdouble):
        raise DigestError(
            f"an array of type {array.dtype} has no content digest; arrays of numbers have one."
        )
    if array.dtype.kind in "fc":
        array = array + array.dtype.type(0)  # -0.0 becomes 0.0
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    head = f"{array.dtype.newbyteorder('<').str}{array.shape}".encode()
    return _many(b"a", (head, little.tobytes()))


def _tagged(tag: bytes, body: bytes) -> bytes:
    return tag + struct.pack("<Q", len(body)) + body


def _many(tag: bytes, bodies: Iterable[bytes]) -> bytes:
    return _tagged(tag, b"".join(struct.pack("<Q", len(b)) + b for b in bodies))


# -- functions ----------------------------------------------------------------------------------
def encode_function(function: Any, special: Special | None = None, outer: tuple[Any, ...] = ()) -> bytes:
    """Canonical form of a function by its name and what it has captured; not by what it does.

    Whoever edits the function says so with another ``version``.  Variables of an enclosing function, default
    values and the arguments of a ``functools.partial`` do count, as far as they are plain values, so that two
    functions out of one factory differ.  A lambda, which has no name of its own, counts with its bytecode.
    """
    within = (*outer, function)

    def nested(value: Any) -> bytes | None:
        for depth, known in enumerate(within):  # a recursive function captures itself
            if value is known:
                return b"recursive%d" % depth
        if _is_function(value):
            return encode_function(value, special, within)
        return None if special is None else special(value)

    if isinstance(function, functools.partial):
        parts = (function.func, tuple(function.args), dict(function.keywords))
        return b"partial" + encode(parts, nested)
    if isinstance(function, np.ufunc):  # in NumPy 1.26 they have no qualified name
        name = str(function.__name__)
        if getattr(np, name, None) is function:
            return f"numpy:{name}".encode()
    if not _is_function(function):
        raise DigestError(
            f"{function!r} cannot be kept by name: it is an object of type {type(function).__qualname__} "
            "that can be called. Use a function."
        )
    name = f"{_module(function)}:{function.__qualname__}"
    if not isinstance(function, types.FunctionType):
        return name.encode()
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    captured = (tuple(cells), function.__defaults__, function.__kwdefaults__)
    try:
        body = encode((name, captured), nested)
    except DigestError as error:
        raise DigestError(
            f"{name} cannot be kept by name: it has captured a variable, and {error} "
            "Pass plain values, or define it at the top of a module."
        ) from error
    return body + (_encode_code(function.__code__) if function.__name__ == "<lambda>" else b"")


def _is_function(value: Any) -> bool:
    """Whether the value is a Python function, or something else that its name leads back to."""
    if isinstance(value, types.FunctionType | functools.partial):
        return True
    found: Any = sys.modules.get(_module(value) or "")
    for part in str(getattr(value, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    return callable(value) and found is value


def _module(value: Any) -> str | None:
    owner = getattr(value, "__objclass__", value)  # str.split belongs to str
    return getattr(owner, "__module__", None)


def _encode_code(code: types.CodeType) -> bytes:
    constants = tuple(_encode_code(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return encode((code.co_code, code.co_names, constants))
