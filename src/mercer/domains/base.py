"""What a domain is: the kind of object a kernel compares.

A domain turns what the user passes into *validated data* (an array, a list...), or says at once what is
wrong with it.  Below this layer nobody validates; above it nobody knows how points are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..digests import digest
from ..errors import DigestError, DomainError, InputError

__all__ = ["Data", "Domain", "Objects", "items", "join", "meet", "size", "take", "to_float"]

#: Validated points: a 2-D array, a CSR array, a list, or an object with ``take`` and ``__len__``.
Data = Any


def size(data: Data) -> int:
    """Return the number of points in validated data."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def take(data: Data, index: slice | np.ndarray) -> Data:
    """Select points of validated data by a slice or an array of positions."""
    if isinstance(data, np.ndarray) or scipy.sparse.issparse(data):
        return data[index]
    if isinstance(data, list | tuple):
        return data[index] if isinstance(index, slice) else [data[i] for i in index]
    return data.take(index)


def starts_of(lengths: Any) -> np.ndarray:
    """Where points of these lengths begin, one after the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def items(data: Data) -> Any:
    """Return a sequence of the points of validated data."""
    if scipy.sparse.issparse(data):
        return [data[[i]].toarray()[0] for i in range(data.shape[0])]
    if isinstance(data, np.ndarray | list | tuple):
        return data
    return list(data)


def join(domain: Domain, A: Data, B: Data) -> Data:
    """Validated points of ``A``, then those of ``B``."""
    if scipy.sparse.issparse(A) or scipy.sparse.issparse(B):
        return scipy.sparse.vstack([scipy.sparse.csr_array(A), scipy.sparse.csr_array(B)], format="csr")
    if isinstance(A, np.ndarray):
        return np.concatenate([A, B])
    return domain.validate([*items(A), *items(B)])


class ArithmeticVector(list[Any]):
    """The numbers of one vector in some arithmetic; a plain list among objects is the user's own."""


class ArithmeticRows(list[ArithmeticVector]):
    """The rows of one matrix in some arithmetic."""

    def __init__(self, rows: Iterable[ArithmeticVector], columns: int) -> None:
        super().__init__(rows)
        self.columns = columns


@dataclass(frozen=True, eq=False)
class ArithmeticCloud:
    """The points and weights of one cloud in some arithmetic, and the cloud in floats."""

    points: tuple[Any, ...]
    weights: ArithmeticVector
    source: Any


def to_float(x: Any) -> Any:
    """Inverse of :meth:`Domain.to_arithmetic`: numbers become floats, vectors arrays of them."""
    if isinstance(x, ArithmeticCloud):
        return x.source
    if isinstance(x, ArithmeticVector):
        return np.array([float(v) for v in x])
    if isinstance(x, ArithmeticRows):
        return np.array([list(map(float, row)) for row in x]).reshape(len(x), x.columns)
    return tuple(map(to_float, x)) if type(x) is tuple else x


class Domain(ABC):
    """The set of objects that a kernel accepts.  Domains are immutable values."""

    @abstractmethod
    def validate(self, X: Any, name: str = "X") -> Data:
        """Return ``X`` as validated data or raise :class:`~mercer.errors.InputError` naming ``name``."""

    def point(self, x: Any, name: str = "x") -> Any:
        """Return one validated point."""
        return items(self.validate([x], name))[0]

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return two validated points that can be compared with each other."""
        a, b = self.validate([x], "x"), self.validate([y], "y")
        self.match(a, b)
        return items(a)[0], items(b)[0]

    def match(self, X: Data, Y: Data | None) -> None:  # noqa: B027 - most domains have nothing to check
        """Raise if validated ``X`` and ``Y`` cannot be compared (``Y=None`` means ``X`` with itself)."""

    def comparable(self, points: Data) -> Domain:
        """The part of the domain that can be compared with validated points, or with one."""
        return self

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> Any:
        """Convert the numbers inside one point into the given arithmetic."""
        return x

    def digest(self, x: Any) -> str:
        """Name of one point by its content: 32 hex digits, the same in every process and on every machine.

        Examples
        --------
        >>> from mercer.domains import Vectors
        >>> Vectors().digest([0.5, 0.0]) == Vectors().digest([0.5, -0.0])
        True
        """
        return self.digests([self.point(x)])[0]

    def digests(self, X: Any) -> list[str]:
        """Name each point by its content; points of one domain that are the same have the same digest.

        Raises
        ------
        DigestError
            If the points are objects without a canonical form, such as instances of a class.
        """
        return self._digests(self.validate(X))

    def _digests(self, X: Data) -> list[str]:
        """Digests of validated points."""
        return [self._digest(x, i) for i, x in enumerate(items(X))]

    def _digest(self, x: Any, position: int) -> str:
        try:
            return digest(x)
        except DigestError as error:
            raise DigestError(f"point {position}: {error}") from error

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        """Draw ``n`` points spread over the domain, for the search for refuting witnesses."""
        raise DomainError(
            f"{self} cannot be sampled: pass the points to search among, as in refute(k, X=points)"
        )

    def separated_by(self, domains: Iterable[Domain]) -> bool:
        """Whether distinct points differ as points of the given domains, some of those that meet in this one.

        They do where domains meet in a part of each; rows of a table have the columns of all.
        """
        return True

    def _meet(self, other: Domain) -> Domain | None:
        """Return the intersection with another domain, or None if this class does not know it."""
        return self if self == other else None


def meet(*domains: Domain) -> Domain:
    """Return the domain on which kernels of all the given domains can be evaluated together."""
    result, *rest = domains
    for domain in rest:
        both = result._meet(domain) or domain._meet(result)
        if both is None:
            raise DomainError(
                f"a kernel on {result} and a kernel on {domain} have no common points. "
                "Bring one to the other's domain with .on(map), or put them side by side with "
                "mercer.tensor, mercer.direct_sum or mercer.columns."
            )
        result = both
    return result


@dataclass(frozen=True)
class Objects(Domain):
    """Any Python objects, in any sequence.  Kernels written as plain functions live here."""

    def validate(self, X: Any, name: str = "X") -> list[Any]:
        if isinstance(X, str | bytes | dict) or not isinstance(X, Iterable):
            raise InputError(
                f"{name} must be a sequence of objects. Got {type(X).__name__}. "
                f"For a single object pass a list of one: [{name}]."
            )
        return list(X)

    def point(self, x: Any, name: str = "x") -> Any:
        return x

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        return x, y

    def _meet(self, other: Domain) -> Domain | None:
        return other

    def __str__(self) -> str:
        return "any objects"
