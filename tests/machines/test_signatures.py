"""One way to call every machine: the kernel first, everything else by keyword, one name for one idea."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import mercer.machines
from mercer.kernels import Gaussian

#: The first argument, where it is not ``kernel``: machines of pairs, and a machine without a kernel.
FIRST = {"KernelCCA": "kernel_x", "HSICTest": "kernel_x", "SmoothingSpline": None, "ThinPlateSpline": None}

#: Machines around another machine, which is their first argument and has no default.
FIRST |= {"Cells": "machine", "Conformal": "machine", "MultipleKernelTransformer": "machine"}

#: Machines with several kernels.
FIRST |= dict.fromkeys(
    ["MultipleKernelSVC", "MultipleKernelSVR", "MultipleKernelRidge", "MultipleKernelOneClass"], "kernels"
)

#: What else may be given by position: a test of dependence takes two kernels of equal rank.
POSITIONAL = {"HSICTest": ["kernel_x", "kernel_y"]}

#: Names of other libraries for what is called ``alpha``, ``max_iter``, ``random_state``, ``tol``, ``sigma``.
OTHER_NAMES = {
    **dict.fromkeys(["lam", "lambda_", "lmbda", "reg", "ridge", "regularization", "weight_decay"], "alpha"),
    **dict.fromkeys(["epochs", "n_epochs", "n_iter", "max_epochs", "maxiter", "n_steps"], "max_iter"),
    **dict.fromkeys(["seed", "rng", "random_seed", "generator"], "random_state"),
    **dict.fromkeys(["eps", "tolerance", "rtol", "atol"], "tol"),
    **dict.fromkeys(["gamma", "degree", "coef0", "length_scale", "bandwidth"], "a parameter of the kernel"),
}

#: Here ``penalty`` is which function of the model is penalised; its strength is ``alpha``.
WHICH_PENALTY = {"KernelCCA", "RepresenterMachine"}


def machines():
    public = (getattr(mercer.machines, name) for name in mercer.machines.__all__)
    classes = [c for c in public if inspect.isclass(c)]
    return [c for c in classes if issubclass(c, BaseEstimator) or c.__name__.endswith("Test")]


def faults(machine):
    """What the signature and the attributes of a machine break of the rules."""
    name = machine.__name__
    parameters = list(inspect.signature(machine).parameters.values())
    expected = POSITIONAL.get(name, [FIRST[name]] if name in FIRST else ["kernel"])
    expected = [p for p in expected if p is not None]
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if positional != expected:
        yield f"arguments by position are {positional}, not {expected}"
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
        yield "there are *args, **kwargs or arguments without a name"
    if any(p.default is p.empty and p.name != "machine" for p in parameters):
        yield "an argument has no default"
    names = [p.name for p in parameters]
    yield from (f"`{p}` is called {OTHER_NAMES[p]}" for p in names if p in OTHER_NAMES)
    if "penalty" in names and (name not in WHICH_PENALTY or "alpha" not in names):
        yield "the strength of a penalty is called alpha"


@pytest.mark.parametrize("machine", machines(), ids=lambda c: c.__name__)
def test_signature(machine):
    assert list(faults(machine)) == []


def test_all_machines_are_found():
    assert len(machines()) >= 25
    assert {c.__name__ for c in machines()} >= {*FIRST, *POSITIONAL, *WHICH_PENALTY}


class CFirst(BaseEstimator):
    def __init__(self, C=1.0, kernel=None):
        pass


class SecondByPosition(BaseEstimator):
    def __init__(self, kernel=None, n_components=2):
        pass


class OtherNames(BaseEstimator):
    def __init__(self, kernel=None, *, epochs=2, seed=None, lam=1.0, gamma=1.0):
        pass


class StrengthCalledPenalty(BaseEstimator):
    def __init__(self, kernel=None, *, penalty=1.0):
        pass


class AnyKeyword(BaseEstimator):
    def __init__(self, kernel=None, **options):
        pass


class Required(BaseEstimator):
    def __init__(self, kernel):
        pass


@pytest.mark.parametrize(
    ("machine", "count"),
    [
        (CFirst, 1),
        (SecondByPosition, 1),
        (OtherNames, 4),
        (StrengthCalledPenalty, 1),
        (AnyKeyword, 2),
        (Required, 1),
    ],
)
def test_breaches_are_seen(machine, count):
    assert len(list(faults(machine))) == count


@pytest.mark.parametrize("machine", machines(), ids=lambda c: c.__name__)
def test_the_kernel_comes_first(machine):
    first = FIRST.get(machine.__name__, "kernel")
    if first is None:
        with pytest.raises(TypeError, match="positional"):
            machine(1.0)
    else:
        assert getattr(machine(Gaussian(2.0)), first) == Gaussian(2.0)
