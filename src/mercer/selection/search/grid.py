"""The candidates of a search: read from grids, checked before any work, grouped by what they share."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ...errors import MercerError, ParameterError, brief
from ...kernel import Kernel
from ...machines import KernelRidge
from ...machines.base import KernelMachine
from ...machines.labels import class_factors
from ...machines.ridge.checks import check_parameters
from ...machines.svm.base import SupportVectorMachine
from ...parameters import check_arguments, identity

__all__ = ["Group", "candidates_of", "edges", "groups_of", "with_parameters"]


@dataclass
class Group:
    """Candidates that differ in one penalty alone, or a single one.

    Attributes
    ----------
    machine : KernelMachine
        With the parameters that all of them have.
    path : str or None
        The name of the penalty.
    members : list of (int, parameters)
        Numbers of the candidates and their parameters, in the order of the path.
    """

    machine: KernelMachine
    path: str | None = None
    members: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


def candidates_of(machine: Any, grid: Any, caller: str) -> list[dict[str, Any]]:
    """All combinations of the values of a grid, or of several grids; each is one that the machine accepts."""
    if not isinstance(machine, KernelMachine) or "kernel" not in machine.get_params(deep=False):
        raise ParameterError(
            f"{caller}: `machine` must be a machine of this package with a parameter `kernel`. Got "
            f"{brief(machine)}. For other estimators, such as pipelines, use scikit-learn's GridSearchCV."
        )
    grids = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(grids, Sequence) or isinstance(grids, str) or not grids:
        raise ParameterError(
            f"{caller}: `grid` must be a dict from parameters to lists of values, or a list of such dicts. "
            f"Got {brief(grid)}."
        )
    for one in grids:
        if not isinstance(one, Mapping) or not one:
            raise ParameterError(
                f"{caller}: `grid` must be a dict from parameters to lists of values, with at least one "
                f"parameter. Got {brief(one)}."
            )
        for name, values in one.items():
            is_list = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes)
            if not is_list or np.ndim(values) > 1 or len(values) == 0:
                raise ParameterError(
                    f"{caller}: `grid` must give a list of at least one value for {name!r}. Got "
                    f"{brief(values)}. A single value is a list too: {{{name!r}: [value]}}."
                )
    candidates: list[dict[str, Any]] = list(ParameterGrid(list(grids)))
    for parameters in candidates:
        try:
            candidate = with_parameters(machine, parameters)
            candidate._checked_kernel()
            _check_values(candidate)
        except (MercerError, ValueError, TypeError) as error:
            shown = ", ".join(f"{name}={brief(value)}" for name, value in parameters.items())
            raise ParameterError(
                f"{caller}: `grid` has the candidate {shown}, which is not valid. {error}"
            ) from error
    return candidates


def _check_values(machine: Any) -> None:
    """Let a machine check its parameters, as it does in ``fit``; what depends on data is checked there."""
    check_arguments(machine)
    if isinstance(machine, KernelRidge):
        check_parameters(machine)
        return
    check = getattr(machine, "_check_parameters", None)
    if check is not None:
        check(*(1.0 for _ in inspect.signature(check).parameters))  # some ask for the sum of the weights
    if isinstance(machine, SupportVectorMachine):
        machine._checked_limits()
    weight = getattr(machine, "class_weight", None)
    if weight is not None:  # which labels there are is known in `fit`
        labels = np.array(list(weight) if isinstance(weight, Mapping) else [0], dtype=object)
        class_factors(machine, weight, labels, np.ones(len(labels)))


def with_parameters(machine: KernelMachine, parameters: Mapping[str, Any]) -> KernelMachine:
    """A copy of the machine with other parameters."""
    candidate: KernelMachine = clone(machine).set_params(**clone(dict(parameters), safe=False))
    return candidate


# -- groups -------------------------------------------------------------------------------------
def groups_of(machine: KernelMachine, candidates: Sequence[dict[str, Any]]) -> list[Group]:
    """Candidates in groups, those of one kernel after each other."""
    groups: dict[Any, Group] = {}
    for number, parameters in enumerate(candidates):
        candidate = with_parameters(machine, parameters)
        # Along C one solution of a support vector machine is a good start for the next, but for problems of
        # many local solutions, of which a start picks one.
        C: Any = parameters.get("C")
        path = None
        is_warm = isinstance(candidate, SupportVectorMachine) and hasattr(candidate, "warm_start")
        if is_warm and isinstance(C, numbers.Real) and np.isfinite(float(C)):
            certificate = candidate._checked_kernel().certificate
            path = "C" if not certificate.positive.refuted or certificate.is_cpd(order=1) else None
        rest = {name: value for name, value in parameters.items() if name != path}
        key: Any = number
        if path is not None:  # what the candidates of a path have in common
            common = candidate.get_params(deep=False) | {"kernel": candidate._checked_kernel()}
            key = tuple((name, _comparable(value)) for name, value in common.items() if name != path)
        group = groups.setdefault(key, Group(with_parameters(machine, rest), path))
        group.members.append((number, parameters))
    for group in groups.values():
        if group.path is not None:
            group.members.sort(key=lambda member: float(member[1]["C"]))
    order: dict[Kernel, int] = {}
    for group in groups.values():
        order.setdefault(group.machine._checked_kernel(), len(order))
    return sorted(groups.values(), key=lambda group: order[group.machine._checked_kernel()])


def _comparable(value: Any) -> Any:
    """A hashable value that is the same for equal parameters; objects are equal to themselves alone."""
    value = identity(value)
    try:
        hash(value)
    except TypeError:
        return ("object", id(value))
    return value


# -- notes --------------------------------------------------------------------------------------
def edges(candidates: Sequence[dict[str, Any]], best: Mapping[str, Any]) -> list[str]:
    """Notes on numbers of the best candidate that are the least or the largest of at least three.

    Numbers in a kernel are compared with those of kernels of the same form.
    """
    form = _form(best.get("kernel"))
    alike = [_numbers(c) for c in candidates if _form(c.get("kernel")) == form]
    notes = []
    for name, value in _numbers(best).items():
        others = alike if name.startswith("kernel__") else candidates
        values = [c[name] for c in others if name in c]
        if not all(_is_number(v) for v in values):
            continue
        ordered = sorted(set(map(float, values)))
        if len(ordered) < 3 or float(value) not in (ordered[0], ordered[-1]):
            continue
        end, beyond = ("least", "smaller") if float(value) == ordered[0] else ("largest", "larger")
        notes.append(
            f"{name}={value:g} is the {end} of the {len(ordered)} values of the grid: {beyond} ones may be "
            "better."
        )
    return notes


def _numbers(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a candidate that are numbers, and those of its kernel."""
    kernel = parameters.get("kernel")
    inner = kernel.parameters if isinstance(kernel, Kernel) else {}
    found = {f"kernel__{name}": parameter.value for name, parameter in inner.items()}
    return {name: value for name, value in (found | dict(parameters)).items() if _is_number(value)}


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _form(kernel: Any) -> Any:
    """The kinds of a kernel and its parts, without their parameters."""
    if not isinstance(kernel, Kernel):
        return kernel
    return type(kernel), tuple((name, _form(child)) for name, child in kernel._children)
