"""The canonical form of a kernel, from which :meth:`mercer.Kernel.digest` is made."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse

from .digests import digest, encode, encode_function
from .domains import Domain
from .errors import DigestError
from .parameters import show

__all__ = ["DIGEST_VERSION", "digest_form", "kernel_digest"]

#: To be raised when the canonical form changes, or the values of any kernel of the library.
DIGEST_VERSION = 2

_BYTES = 32


def kernel_digest(kernel: Any) -> str:
    """Hex digest of a kernel."""
    form: bytes = kernel._digest_form()
    return digest(form, size=_BYTES)


def digest_form(kernel: Any) -> bytes:
    """Write the class of a kernel with all its parameters.

    Functions among them are written by name, on the user's word that ``version`` names their code.
    """

    def special(value: Any) -> bytes | None:
        own = getattr(value, "_digest_form", None)
        if own is not None and not isinstance(value, type):
            form: bytes = own()
            return form
        if scipy.sparse.issparse(value):
            csr = scipy.sparse.csr_array(value)
            structure = (csr.shape, csr.indptr.astype(np.int64), csr.indices.astype(np.int64))
            return encode(("csr", structure, csr.data))
        if isinstance(value, dataclasses.Field):  # declares a parameter; its value is among the fields
            return encode(("parameter", value.default), special)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            pairs = tuple((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
            return encode((_name(type(value)), pairs), special)
        if isinstance(value, Domain) and not vars(value):
            return encode(_name(type(value)))
        if not callable(value):
            return None
        if getattr(kernel, "version", None) is None:
            raise DigestError(
                f"{kernel!r} has no digest: it holds the function {show(value)}, whose code may change. Give "
                'it a version, as in mercer.kernel(f, version="1") or k.on(f, version="1"), and another one '
                "whenever you edit the function."
            )
        return encode_function(value, special)

    fields = tuple((name, value) for name, value, _ in kernel._fields if name not in kernel._claims)
    return encode((DIGEST_VERSION, *_class(kernel), fields), special)


def _class(kernel: Any) -> tuple[Any, ...]:
    """Name of the class, and names and versions of the user's own classes that it is made of."""
    cls = type(kernel)
    users = [c for c in cls.__mro__ if hasattr(c, "_digest_form") and not _is_own(c)]
    for c in users:
        declared = "version" in vars(c) or "version" in vars(c).get("__annotations__", {})
        version = getattr(kernel, "version", None) if c is cls else vars(c).get("version")
        if not (declared and isinstance(version, str) and version):
            raise DigestError(
                f'{c.__qualname__} has no digest: the code of the class may change. Write version = "1" into '
                "the class (each class of yours has its own), and another text whenever you edit it."
            )
    return _name(cls), tuple((_name(c), vars(c).get("version")) for c in users)


def _is_own(cls: type) -> bool:
    return cls.__module__.split(".")[0] == "mercer"


def _name(cls: type) -> str:
    """Name of a class, without the module for the library's own: files move, names are unique."""
    return cls.__qualname__ if _is_own(cls) else f"{cls.__module__}:{cls.__qualname__}"
