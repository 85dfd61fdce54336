"""The kernels of a machine with several: names, Gram matrices, scales, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...algebra.ring import Sum
from ...domains import Data
from ...errors import DefinitenessError, DomainError, ParameterError, brief
from ...gram import Gram
from ...gram.kernel_gram import gram_of_points
from ...kernel import Kernel
from ...kernels import Columns
from ..indefinite import beside_intercept, negative_eigenvalue_of
from ..translation import as_kernel

if TYPE_CHECKING:
    from .hierarchy import KernelHierarchy

__all__ = ["Kernels", "Members", "named_kernels", "read_members"]

Vector: TypeAlias = NDArray[np.float64]
Kernels: TypeAlias = "Mapping[Any, Kernel] | Iterable[Kernel] | Kernel | KernelHierarchy"


class Members(NamedTuple):
    """Kernels with their names."""

    names: tuple[str, ...]
    kernels: tuple[Kernel, ...]

    def sum(self) -> Kernel:
        """The sum of all: its domain is that of the machine."""
        return Sum.of(*self.kernels)

    def combination(self, weights: Vector) -> Kernel:
        """The weighted sum of those that have a weight."""
        used = np.flatnonzero(weights)
        return Sum.of(*(float(weights[i]) * self.kernels[i] for i in used.tolist()))

    def resolve(self, points: Data, weight: Vector | None, *, beside: bool) -> Members:
        """Kernels with their parameters from data; centred if an intercept allows conditional ones."""
        found = (k if k.is_resolved else k._resolve(points, weight) for k in self.kernels)
        kernels = tuple(beside_intercept(k, points) if beside else k for k in found)
        return Members(self.names, kernels)

    def grams(self, points: Data, store: Any, caller: str) -> list[Gram]:
        """Gram matrices; a kernel that is not positive definite on the points is an error that names it."""
        result: list[Gram] = []
        for name, kernel in zip(self.names, self.kernels, strict=True):
            G = gram_of_points(kernel, points, store=store)
            least = None if kernel.certificate.is_psd else negative_eigenvalue_of(G)
            if least is not None:
                advice = "Leave it out, or put a positive definite kernel in its place"
                if kernel.certificate.is_nds:
                    advice = f"It is a distance: use {kernel.schoenberg(1.0)!r}"
                raise DefinitenessError(
                    f"{caller}: `kernels` must be positive definite, and {name!r} is not on these data "
                    f"(least eigenvalue {'' if least.converged else 'at most '}{least.value:.6g}). {advice}."
                )
            result.append(G)
        return result


def read_members(kernels: Any, caller: str) -> Members:
    """Kernels from a sequence, a mapping from names, a sum, or ``columns``, whose columns have one each."""
    members = kernels if isinstance(kernels, Members) else Members(*named_kernels(kernels, caller))
    if not members.kernels:
        raise ParameterError(f"{caller}: `kernels` must hold one kernel at least. Got {brief(kernels)}.")
    for name, kernel in zip(members.names[1:], members.kernels[1:], strict=True):
        try:
            _ = (members.kernels[0] + kernel).domain
        except DomainError as error:
            raise DomainError(
                f"{caller}: `kernels` must be on the same points; {members.names[0]!r} and {name!r} are not: "
                f"{error}"
            ) from None
    return members


def named_kernels(kernels: Any, caller: str) -> tuple[tuple[str, ...], tuple[Kernel, ...]]:
    """Names and kernels, from what a user may give."""
    if isinstance(kernels, Columns) and kernels.combine == "sum":
        split: dict[str, Kernel] = {}
        for name, k in zip(kernels.names, kernels.kernels, strict=True):
            column = name if isinstance(name, str) else ", ".join(name)
            split[column] = Columns((name,), (k,), "sum", kernels.missing)
        return tuple(split), tuple(split.values())
    if isinstance(kernels, Sum):
        kernels = kernels.terms
    elif isinstance(kernels, Kernel | str):
        kernels = [kernels]
    if isinstance(kernels, Mapping):
        checked = tuple(as_kernel(k, caller, f"kernels[{name!r}]") for name, k in kernels.items())
        return tuple(map(str, kernels)), checked
    if not isinstance(kernels, Iterable):
        raise ParameterError(
            f"{caller}: `kernels` must be a sequence of kernels, a mapping from names to kernels, or "
            f"columns(...). Got {brief(kernels)}."
        )
    checked = tuple(as_kernel(k, caller, f"kernels[{i}]") for i, k in enumerate(kernels))
    names = [repr(k) for k in checked]  # with their position where one comes twice
    return tuple(f"{s} [{i}]" if names.count(s) > 1 else s for i, s in enumerate(names)), checked
