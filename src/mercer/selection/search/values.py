"""Kernel values that all folds and penalties of a search share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import memory
from ...algebra.negative import Log1p, RealPower, Sqrt
from ...algebra.products import Power, Product
from ...algebra.ring import Scaled, Sum
from ...algebra.schoenberg import Reciprocal, Schoenberg
from ...algebra.series import Exp, PolynomialOf, PowerSeries
from ...domains import Data, Domain, size
from ...engine.buffers import pool
from ...gram.kernel_gram import KernelGram, gram_of_points
from ...kernel import Kernel
from .held import HeldKernel, part_of

__all__ = ["SharedValues", "is_expensive"]

#: Nodes whose values are a function of the values of their parts, on the same points.
POINTWISE = (
    *(Sum, Product, Scaled, Power, RealPower, Reciprocal),
    *(Exp, PolynomialOf, PowerSeries, Schoenberg, Log1p, Sqrt),
)


class SharedValues:
    """Gram matrices of the kernels of a search, on all of its points, each computed once.

    The values of a sum, a product or a function of kernels are made of the values of its parts.  Parts that
    no compiled code computes (strings, graphs, functions in Python) are held too, so that a search over
    their weights computes them once.

    Parameters
    ----------
    validate : callable
        Gives the validated points of the domain of a kernel.
    store : path or GramStore, optional
        Where the values are kept between searches.
    """

    def __init__(self, validate: Callable[[Kernel], Data], store: Any = None) -> None:
        self._validate, self._store = validate, store
        self._points: dict[Any, Data] = {}
        self._digests: dict[Any, list[str]] = {}
        self._matrices: OrderedDict[tuple[Kernel, Domain, str], np.ndarray] = OrderedDict()
        self._prepared: tuple[Kernel, Data] | None = None
        self._lock = threading.RLock()  # threads of a search wait for the values that one of them computes
        self._local = threading.local()

    def points(self, kernel: Kernel) -> Data:
        """All points, as the domain of a kernel has them."""
        domain = kernel.domain
        if domain not in self._points:
            self._points[domain] = self._validate(kernel)
        return self._points[domain]

    def digests(self, kernel: Kernel) -> list[str]:
        """Names of all points by their content."""
        domain = kernel.domain
        if domain not in self._digests:
            self._digests[domain] = domain._digests(self.points(kernel))
        return self._digests[domain]

    def __len__(self) -> int:
        """Number of points; they have been read for one kernel at least."""
        return size(next(iter(self._points.values())))

    def prepared(self, kernel: Kernel) -> Data:
        """All points, prepared for a kernel; those of the last kernel are kept."""
        with self._lock:
            if self._prepared is None or self._prepared[0] != kernel:
                self._prepared = (kernel, kernel._prepare(self.points(kernel)))
            return self._prepared[1]

    def can_hold(self, kernel: Kernel) -> bool:
        """Whether the Gram matrix of all points may be held, in double and in single precision."""
        return memory.can_hold(12 * size(self.points(kernel)) ** 2)

    def matrix(self, kernel: Kernel, space: Domain | None = None) -> np.ndarray:
        """Values of all pairs of points; not to be written to.

        ``space`` is the domain that the points are read for: that of the kernel, or a smaller one if the
        kernel is a part of another.
        """
        domain = kernel.domain if space is None else space
        return self._held(kernel, domain, "double", lambda: self._compute(kernel, domain))

    def single(self, kernel: Kernel) -> np.ndarray:
        """The same, rounded to single precision."""
        return self._held(kernel, kernel.domain, "single", lambda: self._rounded(kernel))

    def block(self, kernel: Kernel, rows: np.ndarray, space: Domain | None = None) -> np.ndarray:
        """Values of some points with themselves; those of the last array are kept, for each thread."""
        last = getattr(self._local, "block", None)
        if last is None or last[0] != (kernel, space) or last[1] is not rows:
            last = ((kernel, space), rows, part_of(self.matrix(kernel, space), rows, rows))
            self._local.block = last
        block: np.ndarray = last[2]
        return block

    def _held(
        self, kernel: Kernel, domain: Domain, precision: str, compute: Callable[[], np.ndarray]
    ) -> np.ndarray:
        key = (kernel, domain, precision)
        with self._lock:
            K = self._matrices.get(key)
            if K is None:
                # Of matrices that compiled code computed, two are held at once: that of the splits at work
                # and the next one.  Their memory serves those that follow: clearing 300 MB takes the system
                # longer than filling them takes us.
                if not is_expensive(kernel):
                    others = dict.fromkeys(k for k, *_ in self._matrices if k != kernel)
                    cheap = [k for k in others if not is_expensive(k)]
                    for stale in [held for held in self._matrices if held[0] in cheap[:-1]]:
                        del self._matrices[stale]
                K = compute()
                # Those that were not used for the longest time go, until this one fits.
                held = sum(other.nbytes for other in self._matrices.values())
                while self._matrices and not memory.can_hold(held + K.nbytes):
                    held -= self._matrices.popitem(last=False)[1].nbytes
                self._matrices[key] = K
            self._matrices.move_to_end(key)
            return K

    def _compute(self, kernel: Kernel, domain: Domain) -> np.ndarray:
        points = self.points(kernel) if domain == kernel.domain else self._points[domain]
        n, parts = size(points), dict(kernel._children)
        if (
            isinstance(kernel, POINTWISE)
            and not any(part._scaled for part in (kernel, *parts.values()))
            and any(is_expensive(part) for part in parts.values())
        ):  # over held parts
            held = {name: HeldKernel(part, self, domain) for name, part in parts.items()}
            return kernel.replace(**held).block(np.arange(n))
        G = gram_of_points(kernel, points, dtype=np.float64, store=self._store)
        program = G._program() if isinstance(G, KernelGram) else None
        K = None if program is None else program.dense(out=pool.take((n, n), np.float64), progress=True)
        return np.ascontiguousarray(G._shared_dense(), dtype=np.float64) if K is None else K

    def _rounded(self, kernel: Kernel) -> np.ndarray:
        K = self.matrix(kernel)
        result = pool.take(K.shape, np.float32)
        np.copyto(result, K, casting="same_kind")
        return result


def is_expensive(kernel: Kernel) -> bool:
    """Whether values come from blocks, or from parts that do; compiled code is as fast as a copy."""
    if type(kernel)._compile is Kernel._compile:
        return True
    return any(is_expensive(child) for _, child in kernel._children)
