"""What a compressor saves by seeing two strings together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate, Witness
from ...domains import Data, Domain, Sequences
from ...engine.runs import checkpoint
from ...errors import InputError
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter

__all__ = ["Compression"]


# A Python may have been built without one of these modules, and most programs need none.
def _zlib(data: bytes, level: int) -> bytes:
    import zlib

    return zlib.compress(data, level)


def _bz2(data: bytes, level: int) -> bytes:
    import bz2

    return bz2.compress(data, level)


def _lzma(data: bytes, level: int) -> bytes:
    """Compress with a dictionary no larger than the data: the usual ones take 0.1 s to be made."""
    import lzma

    size = max(4096, 1 << (len(data) - 1).bit_length() if data else 0)
    options = {"id": lzma.FILTER_LZMA1, "preset": level, "dict_size": min(size, 1 << 30)}
    return lzma.compress(data, format=lzma.FORMAT_ALONE, filters=[options])


COMPRESSORS: dict[str, Callable[[bytes, int], bytes]] = {"zlib": _zlib, "bz2": _bz2, "lzma": _lzma}


class Compression(Kernel):
    r"""Normalised compression similarity: **not** positive definite.

    .. math:: k(x, y) = 1 - \frac{C(x, y) - \min(C(x), C(y))}{\max(C(x), C(y))}, \qquad
        C(x, y) = \tfrac12 (C(xy) + C(yx))

    where C is the number of bytes that a compressor makes of a string.  One minus the normalised compression
    distance of Cilibrasi and Vitanyi, with the mean of both orders in place of one, which makes it symmetric.
    ``k(x, x)`` is near 1, not 1.

    Neither positive definite nor bounded below by a theorem: a compressor has headers, blocks and a window.
    The certificate holds a witness where the compressor of this machine yields one, and is unknown otherwise;
    values may change with the version of the compressor.  Use it with ``gram(k, X).repair(...)`` or with a
    machine that says what it does about indefinite kernels.

    Strings are compressed as UTF-8; sequences of numbers from 0 to 255 as bytes.  Cost of a pair: two
    compressions.

    Parameters
    ----------
    method : {"zlib", "bz2", "lzma"}, default="zlib"
        zlib looks back over 32 kB, bz2 over 100 kB times the level, lzma over all.
    level : int, default=9
        Effort, from 1 to 9.

    Examples
    --------
    >>> k = Compression()
    >>> k("to be or not to be", "to be or not to see") > k("to be or not to be", "lorem ipsum dolor")
    True
    >>> print(k.certificate.verdict)
    REFUTED
    """

    method: str = parameter(default="zlib", choices=tuple(COMPRESSORS))
    level: int = parameter(default=9, low=1, high=9, integer=True)

    @property
    def domain(self) -> Domain:
        return Sequences()

    def _size(self, data: bytes) -> int:
        return len(COMPRESSORS[self.method](data, self.level))

    def _similarity(self, x: bytes, y: bytes, a: int, b: int, real: Callable[[int], Any]) -> Any:
        """Value on two strings whose sizes are known."""
        together = real(self._size(x + y) + self._size(y + x)) / 2
        return 1 - (together - min(a, b)) / max(a, b)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        p, q = _as_bytes(x), _as_bytes(y)
        return self._similarity(p, q, self._size(p), self._size(q), m.real)

    def _prepare(self, X: Data) -> list[tuple[bytes, int]]:
        strings = [_as_bytes(x) for x in X]
        return [(data, self._size(data)) for data in strings]

    def _block(self, X: list[tuple[bytes, int]], Y: list[tuple[bytes, int]] | None) -> np.ndarray:
        K = np.empty((len(X), len(X if Y is None else Y)))
        for i, (x, a) in enumerate(X):
            for j, (y, b) in enumerate(X[: i + 1] if Y is None else Y):
                checkpoint()
                K[i, j] = self._similarity(x, y, a, b, float)
                if Y is None:
                    K[j, i] = K[i, j]
        return K

    def _diagonal(self, X: list[tuple[bytes, int]]) -> np.ndarray:
        return np.array([self._similarity(x, x, a, a, float) for x, a in X])

    def _certify(self) -> Certificate:
        # Among these strings, runs of one letter or of two, every compressor tried contradicts itself.
        suspects = ("a" * 10, "b" * 10, "a" * 100, "b" * 100, "ab" * 50, "ba" * 50, "ab" * 10, "a" * 1000)
        eigenvectors = np.linalg.eigh(self._block(self._prepare(suspects), None))[1]
        witness = Witness.of(self, suspects, eigenvectors[:, 0].tolist())
        if witness.value < 0:
            reason = "sizes of compressed strings are no inner products"
            return Certificate.refuted(self, "witness", reason, witness=witness)
        return Certificate.unknown(self, "no reason for it, but the compressor here yields no witness")

    @property
    def bounds(self) -> Interval:
        # C(x, y) > 0 and min <= max leave 2 above; nothing bounds what a compressor makes of xy.
        return Interval(-math.inf, 2.0)


def _as_bytes(x: Any) -> bytes:
    symbols = tuple(x)
    if all(isinstance(s, str) for s in symbols):
        return "".join(symbols).encode("utf-8", "surrogatepass")
    try:
        return bytes(symbols)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Compression: strings must be text, or numbers from 0 to 255. Got neither: {error}."
        ) from error
