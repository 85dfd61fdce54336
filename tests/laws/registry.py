"""Every kernel of the package with points to try it on, and the kernels that nobody has registered."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import mercer.algebra
import mercer.kernels
from mercer.kernel import Kernel

from . import samples
from .cases import Case

__all__ = ["cases", "package_kernels", "registered", "sample_modules", "unregistered"]


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        yield module
        if found.ispkg:
            yield from _modules(module)


def sample_modules() -> dict[str, list[Case]]:
    """Registered cases by family: the ``CASES`` of every module of ``samples``."""
    return {module.__name__.rpartition(".")[2]: list(module.CASES) for module in _modules(samples)}


def cases() -> list[Case]:
    """All registered cases."""
    return [case for family in sample_modules().values() for case in family]


def registered() -> set[type[Kernel]]:
    """Classes that are themselves on trial in some case: a leaf deep inside an expression does not count."""
    return {type(case.kernel) for case in cases()}


def package_kernels() -> set[type[Kernel]]:
    """Concrete public kernels of the package: those that can be evaluated and have a public name."""
    return {
        value
        for package in (mercer.kernels, mercer.algebra)
        for module in (package, *_modules(package))
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, Kernel)
        and value.__module__.startswith("mercer.")
        and not name.startswith("_")
        and _is_concrete(value)
    }


def _is_concrete(kernel: type[Kernel]) -> bool:
    """Whether the class can be evaluated on one pair, and is not just a base of others."""
    abstract = any(getattr(value, "__isabstractmethod__", False) for _, value in inspect.getmembers(kernel))
    exported = getattr(inspect.getmodule(kernel), "__all__", ())
    return (
        kernel._is_defined() and not abstract and (kernel.__name__ in exported or not kernel.__subclasses__())
    )


def unregistered() -> set[str]:
    """Names of package kernels without a case."""
    return {f"{k.__module__}.{k.__qualname__}" for k in package_kernels() - registered()}
