"""What every machine shares: a kernel, validation by its domain, scikit-learn's contract."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..domains import Data, Similarities, Vectors
from ..errors import InputError, ParameterError
from ..kernel import Kernel

__all__ = ["KernelMachine"]

#: Squares of larger targets, summed over the points, overflow.
LARGEST_TARGET = 1e150

#: What the largest weight may be: objectives are of second order in weights, and beyond 1e16 times the
#: penalty rounding takes the penalty away.
LARGEST_WEIGHT = (1e-100, 1e20)


class KernelMachine(BaseEstimator):
    """Base of the estimators: ``kernel`` is a :class:`~mercer.Kernel`, ``X`` whatever its domain accepts."""

    kernel: Kernel

    # -- parameters -----------------------------------------------------------------------------
    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__sigma=2.0`` puts a new kernel in place, the old one stays as it is."""
        current = self.get_params(deep=False)
        kernels = {name for name, value in current.items() if isinstance(value, Kernel)}
        plain: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            head, _, rest = key.partition("__")
            if rest and head in kernels:
                nested.setdefault(head, {})[rest] = value
            else:
                plain[key] = value
        if plain:
            super().set_params(**plain)
        for name, changes in nested.items():
            setattr(self, name, self._checked_kernel(name).replace(**changes))
        return self

    def _checked_kernel(self, name: str = "kernel") -> Kernel:
        kernel = getattr(self, name)
        if not isinstance(kernel, Kernel):
            raise ParameterError(
                f"{type(self).__name__}: `{name}` must be a mercer Kernel such as Gaussian(1.0), "
                f"or Precomputed() for a matrix. Got {kernel!r}."
            )
        return kernel

    def _require(self, name: str, value: Any, holds: Callable[[Any], bool], requirement: str) -> float:
        """Return a number that is within its range, or raise an error that names it."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not holds(value):
            raise ParameterError(f"{type(self).__name__}: `{name}` must be {requirement}. Got {value!r}.")
        return float(value)

    # -- data -----------------------------------------------------------------------------------
    def _validate_X(self, X: Any, *, reset: bool) -> Data:
        """Validate ``X`` by the kernel's domain; arrays also get scikit-learn's checks and attributes."""
        domain = self._checked_kernel().domain if reset else self.kernel_.domain
        if isinstance(domain, Vectors | Similarities):
            X = self._with_sklearn(X, domain, reset=reset)
        data = domain.validate(X, "X")
        if len_of(data) == 0:
            raise InputError(f"{type(self).__name__}: X has 0 sample(s) while a minimum of 1 is required.")
        return data

    def _with_sklearn(self, X: Any, domain: Vectors | Similarities, *, reset: bool) -> Any:
        if isinstance(X, Iterator):
            raise InputError(
                f"{type(self).__name__}: `X` must be an array, a data frame or a list of rows. Got a "
                f"{type(X).__name__}, which can be read only once. Pass list(X)."
            )
        with self._naming("X"):
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr" if isinstance(domain, Vectors) else False,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,  # the domain says which row and column
            )

    @contextmanager
    def _naming(self, argument: str) -> Iterator[None]:
        """Make what scikit-learn's checks say one of our errors, which names the machine and the argument."""
        try:
            yield
        except ValueError as error:
            raise InputError(f"{type(self).__name__}: `{argument}` is not valid. {error}") from error

    def _validate_targets(self, y: Any, n: int, *, numeric: bool) -> np.ndarray:
        """Return targets as a float array of shape (n,) or (n, t)."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        from sklearn.utils import check_array

        with self._naming("y"):
            values = check_array(y, ensure_2d=False, dtype=np.float64 if numeric else None, input_name="y")
        if values.ndim not in (1, 2):
            raise InputError(f"y must be of shape (n,) or (n, t). Got {values.shape}.")
        if len(values) != n:
            raise InputError(
                f"X and y must have the same length. Found input variables with inconsistent numbers of "
                f"samples: {[n, len(values)]}."
            )
        if numeric and (largest := float(np.abs(values).max())) > LARGEST_TARGET:
            raise InputError(
                f"{type(self).__name__}: `y` must be between -{LARGEST_TARGET:g} and {LARGEST_TARGET:g}: "
                f"squares of larger numbers overflow. Got one of size {largest:.3g}. Divide y by a constant."
            )
        return np.asarray(values)

    def _validate_weight(self, sample_weight: Any, n: int) -> np.ndarray | None:
        """Return weights, or None; negative weights, all-zero weights and those out of scale are errors."""
        if sample_weight is None:
            return None
        with self._naming("sample_weight"):
            weight = np.asarray(
                _check_sample_weight(
                    sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True
                )
            )
        largest, (low, high) = float(weight.max(initial=0.0)), LARGEST_WEIGHT
        if largest == 0:
            raise InputError(
                f"{type(self).__name__}: `sample_weight` must have at least one positive entry. All are zero."
            )
        if not low <= largest <= high:
            raise InputError(
                f"{type(self).__name__}: `sample_weight` must be {'larger' if largest < low else 'smaller'}: "
                f"the largest weight may be between {low:g} and {high:g}. Got {largest:.3g}. Divide all "
                "weights by their largest."
            )
        return weight

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel: Any = self.kernel  # whatever the user passed: it is checked in fit
        domain = kernel.domain if isinstance(kernel, Kernel) else None
        tags.input_tags.pairwise = isinstance(domain, Similarities)
        tags.input_tags.sparse = isinstance(domain, Vectors)
        return tags


def len_of(data: Data) -> int:
    """Return the number of points."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)
