"""Kernels as users of scikit-learn write them: its words and its Gaussian-process kernels.

Words mean what they mean to scikit-learn's ``SVC``: ``"rbf"``, ``"poly"`` and ``"sigmoid"`` have
``gamma="scale"``, degree 3 and ``coef0`` 0; those that ``SVC`` does not know are the functions of
``sklearn.metrics.pairwise`` with their defaults.  Kernel objects keep their parameters.  Values are equal to
scikit-learn's, except that ``WhiteKernel`` is zero between two samples even where they share a point, while
:class:`~mercer.kernels.WhiteNoise` is a function of the two points.
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import kernels
from ..errors import ParameterError, brief
from ..kernel import Kernel
from ..kernels import (
    ChiSquare,
    Constant,
    Cosine,
    CosineDifference,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    WhiteNoise,
)

__all__ = ["INSTEAD", "KernelLike", "as_kernel"]

if TYPE_CHECKING:
    import sklearn.gaussian_process.kernels

#: What a machine takes as a kernel.
KernelLike: TypeAlias = "Kernel | str | sklearn.gaussian_process.kernels.Kernel"

WORDS: dict[str, Kernel] = {
    "linear": Linear(),
    "rbf": Gaussian("scale"),
    "poly": Polynomial(3, 0.0, "scale"),
    "polynomial": Polynomial(3, 0.0, "scale"),
    "sigmoid": Sigmoid("scale", 0.0),
    "laplacian": Laplacian("features"),
    "cosine": Cosine(),
    "chi2": ChiSquare().schoenberg(1.0),
    "additive_chi2": -ChiSquare(),
    "precomputed": Precomputed(),
}

#: Parameters of scikit-learn's machines that belong to the kernel here, with what to write instead.
INSTEAD = {
    "gamma": "Gaussian.from_gamma(gamma)",
    "degree": "Polynomial(degree, offset)",
    "coef0": "Polynomial(degree, offset)",
}


def as_kernel(value: Any, caller: str, name: str = "kernel") -> Kernel:
    """Return ``value`` as a kernel, or raise an error that says what to write instead."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str):
        if value in WORDS:
            return WORDS[value]
        raise ParameterError(
            f"{caller}: `{name}` must be a mercer Kernel or one of {', '.join(map(repr, WORDS))}. "
            f"Got {brief(value)}.{_nearest(value)}"
        )
    # where scikit-learn defines its kernels; the module itself is not needed to read one
    if not isinstance(value, type) and type(value).__module__ == "sklearn.gaussian_process.kernels":
        if type(value).__name__ not in _OBJECTS:
            raise ParameterError(
                f"{caller}: `{name}` must be a kernel with one value for each pair of points. "
                f"Got {brief(value)}, which has no counterpart here."
            )
        return _OBJECTS[type(value).__name__](value, lambda part: as_kernel(part, caller, name))
    raise ParameterError(
        f"{caller}: `{name}` must be a mercer Kernel such as Gaussian(1.0), or Precomputed() for a matrix. "
        f"{_remedy(value, caller)}"
    )


# -- scikit-learn's kernel objects ----------------------------------------------------------------
def _power(base: Kernel, exponent: float) -> Kernel:
    return base ** (int(exponent) if float(exponent).is_integer() else exponent)


def _pairwise(k: Any) -> Kernel:
    """Translate ``PairwiseKernel``: a word with a ``gamma``, and further parameters in a dict."""
    options = {"degree": 3, "coef0": 1.0, **(k.pairwise_kernels_kwargs or {})}
    gamma, degree, coef0 = k.gamma, options["degree"], options["coef0"]
    if k.metric in ("poly", "polynomial"):
        return _power(gamma * Linear() + coef0, degree)
    parametric: dict[str, Callable[[], Kernel]] = {
        "rbf": lambda: Gaussian.from_gamma(gamma),
        "laplacian": lambda: Laplacian(1.0 / gamma),
        "sigmoid": lambda: Sigmoid(gamma, coef0),
        "chi2": lambda: ChiSquare().schoenberg(gamma),
    }
    if k.metric in parametric:
        return parametric[k.metric]()
    if k.metric in ("linear", "cosine", "additive_chi2"):
        return WORDS[k.metric]
    raise ParameterError(
        f"PairwiseKernel: `metric` must be the name of a kernel. Got {k.metric!r}. A function of two points "
        "becomes a kernel by the decorator @mercer.kernel(...)."
    )


#: By the name of the class: from the object, and a function that translates its parts.  On several features
#: ``ExpSineSquared`` is not positive definite, and its counterpart takes one.
_OBJECTS: dict[str, Callable[[Any, Callable[[Any], Kernel]], Kernel]] = {
    "RBF": lambda k, _: Gaussian(k.length_scale),
    "Matern": lambda k, _: Gaussian(k.length_scale) if k.nu == math.inf else Matern(k.nu, k.length_scale),
    "RationalQuadratic": lambda k, _: RationalQuadratic(k.length_scale * math.sqrt(2 * k.alpha), k.alpha),
    "ExpSineSquared": lambda k, _: CosineDifference(2 * math.pi / k.periodicity).gaussian(k.length_scale),
    "DotProduct": lambda k, _: Linear() + k.sigma_0**2,
    "ConstantKernel": lambda k, _: Constant(k.constant_value),
    "WhiteKernel": lambda k, _: WhiteNoise(k.noise_level),
    "PairwiseKernel": lambda k, _: _pairwise(k),
    "Sum": lambda k, part: part(k.k1) + part(k.k2),
    "Product": lambda k, part: part(k.k1) * part(k.k2),
    "Exponentiation": lambda k, part: _power(part(k.kernel), k.exponent),
}


# -- what to write instead ------------------------------------------------------------------------
def _nearest(word: str) -> str:
    """The kernel that was probably meant, as a sentence."""
    classes = {name.lower(): getattr(kernels, name) for name in kernels.__all__}
    classes = {
        name: kind for name, kind in classes.items() if isinstance(kind, type) and issubclass(kind, Kernel)
    }
    found = difflib.get_close_matches(word.lower(), [*WORDS, *classes], n=1)
    if not found:
        return ""
    if found[0] in WORDS:
        return f" Did you mean {found[0]!r}?"
    kind = classes[found[0]]
    by_data = any(spec is not None and "scale" in spec.rules for _, spec in kind._declared[:1])
    return f" Write {kind.__name__}('scale')." if by_data else f" Write {_example(kind)}."


def _example(kind: type[Kernel]) -> str:
    """How to construct a kernel of this class."""
    first = next(iter(inspect.signature(kind).parameters.values()), None)
    if first is None:
        return f"{kind.__name__}()"
    if first.default is first.empty:
        return f"{kind.__name__}({first.name}=...)"
    return f"{kind.__name__}({first.default!r})"


def _remedy(value: Any, caller: str) -> str:
    """What came, and what to write instead."""
    if isinstance(value, type) and issubclass(value, Kernel):
        return f"Got the class {value.__name__}: write {_example(value)}."
    came = brief(value)
    if isinstance(value, numbers.Real):
        return (
            f"Got {came}. A width or gamma belongs to the kernel: {caller}(Gaussian(sigma={came})) or "
            f"{caller}(Gaussian.from_gamma({came})). Other parameters are given by name."
        )
    if isinstance(value, np.ndarray):
        return f"Got an array of shape {value.shape}: pass it as X, with Precomputed() as the kernel."
    if callable(value) and not isinstance(value, type):
        return (
            f"Got {came}: decorate a function of two points with @mercer.kernel(...); if it takes two "
            "matrices, pass its result as X, with Precomputed() as the kernel."
        )
    return f"Got {came}."
