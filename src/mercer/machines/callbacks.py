"""Callbacks of machines: scikit-learn's, and plain functions.

From scikit-learn 1.9 on, machines support :mod:`sklearn.callback`: its callbacks are set on a machine or on a
meta-estimator such as ``GridSearchCV``, which passes them on.  Before, objects with the same hooks work on
the machine itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

from ..batches import Batches
from ..engine.runs import Callback, Progress, Run, running
from ..errors import InputError, ParameterError, brief
from ..parameters import Checks, check_arguments, check_random
from .arguments import check_time_budget, check_verbose

__all__ = ["CallbackSupport", "as_run"]

HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound="CallbackSupport")

try:
    from sklearn.callback import CallbackSupportMixin as _Support
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn < 1.9

    class _Context:
        """A task of ``fit``, as callbacks see it; only what they need to know their place."""

        def __init__(
            self, name: str, estimator: Any, callbacks: Sequence[Any], parent: _Context | None
        ) -> None:
            self.task_name, self.estimator_name = name, type(estimator).__name__
            self.parent, self.max_subtasks, self.task_id = parent, None, 0
            self._callbacks, self._children = callbacks, 0

        def subcontext(self, task_name: str = "") -> _Context:
            child = _Context(task_name, self, self._callbacks, self)
            child.estimator_name, child.task_id = self.estimator_name, self._children
            self._children += 1
            return child

        def call_on_fit_task_begin(self, *, estimator: Any, **values: Any) -> None:
            self._call("on_fit_task_begin", estimator, values)

        def call_on_fit_task_end(self, *, estimator: Any, **values: Any) -> bool:
            values.pop("reconstruction_attributes", None)
            return self._call("on_fit_task_end", estimator, values)

        def _call(self, hook: str, estimator: Any, values: dict[str, Any]) -> bool:
            answers = []
            for callback in self._callbacks:
                function = getattr(callback, hook)
                asked = inspect.signature(function).parameters.values()
                given = {p.name: values.get(p.name) for p in asked if p.kind == p.KEYWORD_ONLY}
                answers.append(bool(function(estimator, self, **given)))
            return any(answers)

    class _Support:  # type: ignore[no-redef]
        """What :mod:`sklearn.callback` offers an estimator, for a machine by itself."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            self._skl_callbacks = list(callbacks)
            return self

        def _init_callback_context(self, task_name: str = "fit", max_subtasks: int | None = 0) -> _Context:
            self._callback_fit_ctx = _Context(task_name, self, self._skl_callbacks, None)
            for callback in self._skl_callbacks:
                callback.setup(estimator=self, context=self._callback_fit_ctx)
            return self._callback_fit_ctx

        def __sklearn_clone__(self) -> Self:
            clone = super().__sklearn_clone__()  # type: ignore[misc]
            if hasattr(self, "_skl_callbacks"):
                clone._skl_callbacks = self._skl_callbacks
            return clone  # type: ignore[no-any-return]

    def _with_callbacks(method: Any) -> Any:
        @wraps(method)
        def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return method(estimator, *args, **kwargs)
            finally:
                context = estimator.__dict__.pop("_callback_fit_ctx", None)
                for callback in getattr(estimator, "_skl_callbacks", []) if context is not None else []:
                    callback.teardown(estimator=estimator, context=context)

        return managed


class _Function:
    """A plain function among scikit-learn's callbacks; the run calls it, not the hooks."""

    def __init__(self, function: Callback) -> None:
        self.function = function

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        return False


class CallbackSupport(_Support):
    """Callbacks and a time budget for the long-running methods of a machine."""

    time_budget: float | None
    _checks: ClassVar[Checks] = {
        "time_budget": check_time_budget,
        "random_state": check_random,
        "verbose": check_verbose,
    }
    _reads_batches: ClassVar[bool] = False

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of ``fit`` and other long-running methods, in place of those before.

        Parameters
        ----------
        *callbacks : callables, or callbacks of :mod:`sklearn.callback`
            A plain callable receives a :class:`~mercer.solvers.Progress` at least once and at most 25 times
            a second, perhaps from another thread; if it returns True, an iterative method stops at its best
            state.  A callback of scikit-learn has a task for each such report, and
            stops the method if its ``on_fit_task_end`` returns True.

        Returns
        -------
        self
        """
        wrapped = []
        for callback in callbacks:
            has_hooks = all(hasattr(callback, hook) for hook in HOOKS)
            if isinstance(callback, type) or not (has_hooks or callable(callback)):
                raise ParameterError(
                    f"{type(self).__name__}: callbacks must be callables, or objects with the hooks of "
                    f"sklearn.callback.FitCallback. Got {brief(callback)}."
                )
            wrapped.append(callback if has_hooks else _Function(callback))
        super().set_callbacks(*wrapped)
        return self

    @contextmanager
    def _running(self, name: str, X: Any = None, y: Any = None) -> Iterator[Run]:
        """Run one method of this machine, with its time budget and its callbacks."""
        budget = self.time_budget
        callbacks = list(getattr(self, "_skl_callbacks", []))
        functions: list[Callback] = [c.function for c in callbacks if isinstance(c, _Function)]
        context = None
        if callbacks:
            context = self._init_callback_context(task_name=name, max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        if len(functions) < len(callbacks):
            functions.append(_Subtasks(self, context))
        with running(type(self).__name__, None if budget is None else float(budget), functions) as run:
            yield run
            run.finish()
        if context is not None:
            context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes=dict)


class _Subtasks:
    """Reports of a run as tasks of scikit-learn's callbacks."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self._estimator, self._context = estimator, context

    def __call__(self, progress: Progress) -> bool:
        task = self._context.subcontext(task_name=progress.task)
        task.call_on_fit_task_begin(estimator=self._estimator)
        return bool(task.call_on_fit_task_end(estimator=self._estimator))


def as_run(method: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[M, P], T]:
    """Make a method a run: it checks the parameters, and has the time budget and callbacks of its machine.

    ``KeyboardInterrupt`` is raised at its end where a solver has returned its best state before.
    """

    @_with_callbacks  # type: ignore[untyped-decorator]
    @wraps(method)
    def wrapper(self: M, *args: P.args, **kwargs: P.kwargs) -> T:
        given = dict(zip(("X", "y"), args, strict=False)) | kwargs
        if isinstance(given.get("X"), Batches) and not self._reads_batches:
            raise InputError(
                f"{type(self).__name__}: `X` must hold the points. Got Batches, which KernelRidge and "
                "KernelLogistic read with `approximation`."
            )
        check_arguments(self)
        with self._running(method.__name__, given.get("X"), given.get("y")):
            return method(self, *args, **kwargs)

    return wrapper  # type: ignore[no-any-return]
