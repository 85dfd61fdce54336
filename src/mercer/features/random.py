"""What maps drawn at random share: fitting, writing into a given array, and their kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import memory
from ..domains import Data, size
from ..errors import InputError, ParameterError
from ..guarantees._validate import count, generator
from ..parameters import check_arguments, identity
from .base import KernelMap

__all__ = ["DEFAULT_COMPONENTS", "MOST_COMPONENTS", "RandomMap", "not_empty", "same_width"]

#: Features by default, as many as in scikit-learn.
DEFAULT_COMPONENTS = 100

#: No map has more features than this: a row of them would be 128 MiB.
MOST_COMPONENTS = 1 << 24


def not_empty(caller: str, X: Data) -> None:
    """Refuse data without points or, of vectors, without columns."""
    numbers = {"sample(s)": size(X)} | ({"feature(s)": X.shape[1]} if hasattr(X, "shape") else {})
    for what, number in numbers.items():
        if number == 0:
            shape = f" (shape={X.shape})" if hasattr(X, "shape") else ""
            raise InputError(f"{caller}: X has 0 {what}{shape} while a minimum of 1 is required.")


def same_width(features: Any, X: Data) -> None:
    """Refuse vectors of another width than a map was fitted to."""
    if hasattr(X, "shape") and X.shape[1] != features.n_features_in_:
        raise InputError(
            f"X has {X.shape[1]} features, but {type(features).__name__} is expecting "
            f"{features.n_features_in_} features as input."
        )


class RandomMap(KernelMap):
    """A map of rows of numbers that is drawn at random; the draws depend on the width of the data alone.

    Subclasses write ``_draw(X, rng)``, which stores what is drawn in the attributes ``_drawn`` names and
    returns the number of features, and ``_write(X, out)``.
    """

    random_state: Any
    n_components_: int
    _drawn: tuple[str, ...] = ()

    @abstractmethod
    def _draw(self, X: Data, rng: np.random.Generator) -> int:
        """Draw for points like ``X``; the number of features."""

    @abstractmethod
    def _write(self, X: Data, out: np.ndarray) -> None:
        """Write the features of validated points."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Resolve the kernel and draw the map; ``y`` is ignored."""
        name = type(self).__name__
        check_arguments(self)
        X = self.kernel.domain.validate(X, "X")
        if not hasattr(X, "shape"):
            raise InputError(f"{name}: `kernel` must be one of vectors. Got {self.kernel!r}. Use Nystrom.")
        not_empty(name, X)
        self.kernel_ = self.kernel.resolve(X)
        self.n_features_in_ = int(X.shape[1])
        self.n_components_ = self._draw(X, generator(name, self.random_state))
        return self

    def transform(self, X: Any, out: Any = None) -> np.ndarray:
        """Return the features of ``X``, of shape (n, dim); float32 if ``X`` is.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
        out : array of shape (n, dim), optional
            Where to write them, float32 or float64, with contiguous rows.
        """
        check_is_fitted(self, "n_components_")
        X = self.domain.validate(X, "X")
        same_width(self, X)
        shape = size(X), self.dim
        if out is None:
            what = f"{type(self).__name__}.transform: {shape[1]} features of {shape[0]} points"
            memory.require(X.dtype.itemsize * shape[0] * shape[1], what)
            out = np.empty(shape, dtype=X.dtype)
        elif (
            not isinstance(out, np.ndarray)
            or out.shape != shape
            or out.dtype not in (np.float32, np.float64)
            or not out.flags.writeable
            or (shape[1] > 1 and out.strides[1] != out.itemsize)
        ):
            got = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise InputError(
                f"{type(self).__name__}: `out` must be a writeable float array of shape {shape} with "
                f"contiguous rows. Got {got}."
            )
        self._write(X, out)
        return np.asarray(out)

    @property
    def dim(self) -> int:
        """Number of features."""
        check_is_fitted(self, "n_components_")
        return self.n_components_

    def _components(self, value: object) -> int:
        """A checked number of features; None stands for the default."""
        number = DEFAULT_COMPONENTS if value is None else count(type(self).__name__, "n_components", value)
        if number > MOST_COMPONENTS:
            raise ParameterError(
                f"{type(self).__name__}: `n_components` must be at most {MOST_COMPONENTS}. Got {number}."
            )
        return number

    def _identity(self) -> Hashable:
        return self.target, *(identity(getattr(self, name)) for name in self._drawn)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
