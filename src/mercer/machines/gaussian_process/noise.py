r"""White noise in the kernel of a process: independent noise of each observation.

:math:`k + c \,` ``WhiteNoise()`` is the covariance of observations :math:`f(x) + \varepsilon` with
:math:`f \sim GP(0, k)`.  Here the two are separated, so that f can be predicted without the noise, and equal
points have independent noise.
"""

from __future__ import annotations

from typing import NamedTuple

from ...algebra import Scaled, Sum
from ...kernel import Kernel
from ...kernels import WhiteNoise

__all__ = ["NoiseTerm", "Separated", "separate"]


class NoiseTerm(NamedTuple):
    """A term of white noise: its variance, and the parameters of the kernel whose product that is."""

    variance: float
    names: tuple[str, ...]


class Separated(NamedTuple):
    """The kernel of the function and the noise.

    Attributes
    ----------
    kernel : Kernel or None
        None if all is noise.
    names : dict
        From names of parameters of this kernel to those of the original one.
    noise : tuple of NoiseTerm
    """

    kernel: Kernel | None
    names: dict[str, str]
    noise: tuple[NoiseTerm, ...]

    @property
    def variance(self) -> float:
        """Of all noise together."""
        return sum(term.variance for term in self.noise)


def separate(kernel: Kernel) -> Separated:
    """Separate the terms of a sum that are white noise, or a multiple of it, from the others.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> found = separate(Gaussian(2.0) + 3.0 * WhiteNoise(0.5))
    >>> found.kernel, found.variance
    (Gaussian(sigma=2.0), 1.5)
    >>> found.names
    {'sigma': 'term0__sigma'}
    """
    if isinstance(kernel, WhiteNoise):
        return Separated(None, {}, (NoiseTerm(kernel.level, ("level",)),))
    if isinstance(kernel, Scaled) and kernel.factor > 0:
        inner = separate(kernel.base)
        scaled = tuple(
            NoiseTerm(kernel.factor * variance, ("factor", *(f"base__{name}" for name in names)))
            for variance, names in inner.noise
        )
        if inner.kernel is None:
            return Separated(None, {}, scaled)
        names = {"factor": "factor"} | {f"base__{a}": f"base__{b}" for a, b in inner.names.items()}
        return Separated(Scaled(inner.kernel, kernel.factor), names, scaled)
    if not isinstance(kernel, Sum):
        return Separated(kernel, {name: name for name in kernel.parameters}, ())
    kept: list[tuple[Kernel, dict[str, str]]] = []
    noise: tuple[NoiseTerm, ...] = ()
    for term, child in kernel._children:
        inner = separate(child)
        noise += tuple(
            NoiseTerm(variance, tuple(f"{term}__{name}" for name in names)) for variance, names in inner.noise
        )
        if inner.kernel is not None:
            kept.append((inner.kernel, {a: f"{term}__{b}" for a, b in inner.names.items()}))
    if not kept:
        return Separated(None, {}, noise)
    if len(kept) == 1:
        return Separated(*kept[0], noise)
    names = {f"term{i}__{a}": b for i, (_, names) in enumerate(kept) for a, b in names.items()}
    return Separated(Sum.of(*(k for k, _ in kept)), names, noise)
