"""What every machine shares: a kernel, validation by its domain, scikit-learn's contract."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..batches import Batches
from ..domains import (
    Data,
    Similarities,
    Vectors,
    check_numbers,
    explain_rows,
    frame_of,
    is_plain,
    owned,
    refuse_iterator,
)
from ..errors import InputError, InputTypeError, ParameterError
from ..kernel import Kernel
from ..parameters import Checks, check_choice, check_count
from .callbacks import CallbackSupport
from .indefinite import POLICIES
from .translation import INSTEAD, KernelLike, as_kernel

__all__ = ["KernelMachine"]


class KernelMachine(CallbackSupport, BaseEstimator):
    """Base of the estimators: ``kernel`` is a :class:`~mercer.Kernel`, ``X`` whatever its domain accepts."""

    kernel: KernelLike

    __signature__: ClassVar[inspect.Signature]

    #: What parameters of these names are in every machine that does not say otherwise.
    _checks: ClassVar[Checks] = {
        "max_iter": check_count,
        "n_neighbors": partial(check_count, unless=(None,)),
        "n_restarts": partial(check_count, low=0),
        "indefinite": partial(check_choice, options=POLICIES),
    }

    # -- parameters -----------------------------------------------------------------------------
    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # With ``__new__`` alone, help and editors would not show the arguments of ``__init__``.
        _, *arguments = inspect.signature(cls.__init__).parameters.values()
        cls.__signature__ = inspect.Signature(arguments)

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Answer parameters that scikit-learn gives to a machine, and this package to its kernel."""
        for name in params.keys() & INSTEAD.keys() - cls.__signature__.parameters.keys():
            raise TypeError(
                f"{cls.__name__}: `{name}` belongs to the kernel. Write {cls.__name__}({INSTEAD[name]})."
            )
        machine: Self = super().__new__(cls)
        return machine

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__sigma=2.0`` puts a new kernel in place, the old one stays as it is."""
        owners = {**self.get_params(deep=False), **params}
        plain: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            head, _, rest = key.partition("__")
            owner = owners.get(head)
            if rest and "kernel" in head and isinstance(owner, str):
                raise ParameterError(
                    f"{type(self).__name__}: `{key}` cannot be set, because `{head}` is the word {owner!r}. "
                    f"Set {head}={self._checked_kernel(head)!r} first."
                )
            if rest and isinstance(owner, Kernel):
                nested.setdefault(head, {})[rest] = value
            else:
                plain[key] = value
        if plain:
            super().set_params(**plain)
        for name, changes in nested.items():
            setattr(self, name, self._checked_kernel(name).replace(**changes))
        return self

    def _checked_kernel(self, name: str = "kernel") -> Kernel:
        """Return the kernel that the user has given, as an object or in scikit-learn's words."""
        return as_kernel(getattr(self, name), type(self).__name__, name)

    # -- data -----------------------------------------------------------------------------------
    def _validate_X(self, X: Any, *, reset: bool) -> Data:
        """Validate ``X`` by the kernel's domain; arrays also get scikit-learn's checks and attributes.

        With ``reset``, in ``fit``, the points are the machine's own: see :func:`~mercer.domains.owned`.
        """
        if type(X) is not np.ndarray:
            if isinstance(X, Batches):
                raise InputError(
                    f"{type(self).__name__}: `X` must hold the points. Got Batches: take them one at a time, "
                    "as in [machine.predict(X) for X, y in batches]."
                )
            refuse_iterator(X, f"{type(self).__name__}: `X`")
        given, domain = X, (self._checked_kernel() if reset else self.kernel_).domain
        if isinstance(domain, Similarities) or (isinstance(domain, Vectors) and domain.is_table(X)):
            X = self._with_sklearn(X, domain, reset=reset)
        data = domain.validate(X, "X")
        if len_of(data) == 0:
            raise InputError(f"{type(self).__name__}: X has 0 sample(s) while a minimum of 1 is required.")
        return owned(data, given) if reset else data

    def _with_sklearn(self, X: Any, domain: Vectors | Similarities, *, reset: bool) -> Any:
        name = f"{type(self).__name__}: `X`"
        plain = is_plain(X) and X.size > 0
        if not plain:
            check_numbers(
                X, name, dense=isinstance(domain, Similarities)
            )  # before scikit-learn converts them
            frame = frame_of(X, name)
            X = X if frame is None else frame.to_native()
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                skip_check_array=plain,  # names and number of features are all that is left to check
                accept_sparse="csr" if isinstance(domain, Vectors) else False,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,  # the domain says which row and column
            )
        except (ValueError, TypeError) as error:
            if isinstance(error, ValueError):
                explain_rows(X, name)
            kind = InputTypeError if isinstance(error, TypeError) else InputError
            raise kind(f"{name} is not valid. {error}") from error

    def _solver_report(self) -> str:
        """Which method has solved the problem, and how it ended."""
        return str(self.solution_.status)

    def _check_fitted(self) -> None:
        if "kernel_" not in vars(self):  # asking scikit-learn costs more than one prediction
            check_is_fitted(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            domain = self._checked_kernel().domain
        except ParameterError:  # fit says what is wrong with it
            domain = None
        tags.input_tags.pairwise = isinstance(domain, Similarities)
        tags.input_tags.sparse = isinstance(domain, Vectors)
        return tags


def len_of(data: Data) -> int:
    """Return the number of points."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)
