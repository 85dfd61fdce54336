"""Laws of identity: a kernel is a value that prints, travels, and has parameters."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np

from ...errors import ParameterError, UnresolvedError
from ...kernel import Kernel
from ..scope import evaluate
from ..trial import Skip, Trial, broken
from .table import law


@law
def representation(t: Trial) -> None:
    """eval(repr(k)) == k, with the names of mercer.kernels in scope."""
    for k in {t.original, t.kernel}:
        text = repr(k)
        if "<lambda>" in text or "<locals>" in text:
            raise Skip("a function without a global name")
        if "<graph of " in text:
            raise Skip("a large graph, shown by its digest")
        try:
            back = evaluate(text, k)
        except Exception as error:
            broken(f"eval({text!r}) raised {type(error).__name__}: {error}")
        if back != k:
            broken(f"{text!r} evaluates to {back!r}, which is not equal to it")


@law
def pickling(t: Trial) -> None:
    """Pickled and copied kernels are equal to the original and give the same block."""
    if "<lambda>" in repr(t.kernel) or "<locals>" in repr(t.kernel):
        raise Skip("a function without a global name")
    twins: dict[str, Kernel] = {
        "pickle": pickle.loads(pickle.dumps(t.kernel)),
        "copy": copy.copy(t.kernel),
        "deepcopy": copy.deepcopy(t.kernel),
    }
    for how, back in twins.items():
        if back != t.kernel or hash(back) != hash(t.kernel):
            broken(f"after {how} the kernel is not equal to itself")
        if not np.array_equal(back.block(t.samples), t.block, equal_nan=True):
            broken(f"after {how} the block is another")


@law
def value(t: Trial) -> None:
    """A kernel cannot be changed; it equals and hashes like a kernel made from the same parameters."""
    k, before = t.kernel, hash(t.kernel)
    twin = type(k)(**k.get_params(deep=False))
    if twin is not k and (twin != k or hash(twin) != before):
        broken(f"made again from its own parameters it is {twin!r}, not equal or with another hash")
    if k == object() or k != k.replace():
        broken("== is wrong")
    for name in [*k.get_params(deep=False), "a_new_attribute"]:
        try:
            setattr(k, name, 0.0)
        except (FrozenInstanceError, AttributeError):
            continue
        broken(f"the attribute {name!r} could be set")
    for name, held in k.get_params(deep=False).items():
        if isinstance(held, np.ndarray) and held.flags.writeable:
            broken(f"the array {name!r} is writeable")
        if isinstance(held, list | set | bytearray) or type(held) is dict:
            broken(f"the {type(held).__name__} {name!r} can be changed")
    k.block(t.samples)
    if hash(k) != before:
        broken("the hash changed with use")


@law
def parameters(t: Trial) -> None:
    """replace(**get_params()) gives the same kernel, and every nested parameter can be replaced."""
    k = t.kernel
    for deep in (False, True):
        if k.replace(**k.get_params(deep=deep)) != k:
            broken(f"replace(**get_params(deep={deep})) is another kernel")
    for name, p in k.parameters.items():
        given = k.get_params().get(name, p)
        if given is p or not np.array_equal(given, p.value):
            broken(f"parameter {name!r} is {p.value!r} but get_params() says {given!r}")
        for factor in (1.125, 0.875):
            moved: Any = factor * np.asarray(p.value) if np.ndim(p.value) else factor * float(p.value)
            try:
                other = k.replace(**{name: moved})
            except ParameterError:  # outside the range of the parameter
                continue
            if not np.array_equal(other.get_params()[name], moved):
                broken(f"replace({name}={moved!r}) did not take")
            if np.any(np.asarray(p.value) != 0) and other == k:
                broken(f"replace({name}={moved!r}) made an equal kernel")


@law
def resolve(t: Trial) -> None:
    """resolve(X) leaves a resolved kernel as it is; until then block refuses."""
    k = t.kernel
    if not k.is_resolved or k.resolve(t.samples) != k:
        broken("resolving twice is not resolving once")
    if t.original != k:
        try:
            t.original.block(t.samples)
        except UnresolvedError:
            return
        broken("block worked although a parameter waits for data")
