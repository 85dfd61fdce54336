"""Integer parameters have bounds where work grows with them: a million is answered or refused, at once."""

import dataclasses
import itertools
import time
import warnings

import numpy as np
import pytest

from mercer.cli import main
from mercer.errors import InputError, ParameterError

from ..laws.registry import cases

#: Seconds for a kernel, its certificate, its bounds and its values on four points.  All take a fraction of
#: one; without bounds of the parameters some take hours.
SECONDS = 60.0


def integers(kernel):
    """Names of the parameters that are whole numbers, alone or in a tuple, or None instead of one."""
    for field in dataclasses.fields(kernel):
        spec, value = field.metadata.get("mercer"), getattr(kernel, field.name)
        optional = str(field.type) in ("int | None", "tuple[int, int]", "tuple[int, ...]")
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole or optional or (spec is not None and spec.integer):
            yield field.name


def changes():
    """Every parameter of every registered kernel with a million, and all of a kernel together."""
    seen = set()
    for case in cases():
        names = list(integers(case.kernel))
        for chosen in sorted({(name,) for name in names} | {tuple(names)} - {()}):
            if (type(case.kernel), chosen) not in seen:
                seen.add((type(case.kernel), chosen))
                yield pytest.param(case, chosen, id=f"{type(case.kernel).__name__}-{'-'.join(chosen)}")


def test_there_are_such_parameters():
    assert len(list(itertools.islice(changes(), 30))) == 30


@pytest.mark.parametrize("size", [10**6, 10**18])
@pytest.mark.parametrize(("case", "names"), list(changes()))
def test_a_million_is_answered_or_refused_at_once(case, names, size):
    begin = time.perf_counter()
    values = {n: (1, size) if isinstance(getattr(case.kernel, n), tuple) else size for n in names}
    points = case.points[:4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel = case.kernel.replace(**values)
            str(kernel.certificate)
            _ = kernel.bounds, kernel.diagonal_bounds
            assert np.isfinite(kernel.block(points)).all()
        except (ParameterError, InputError):
            pass
    assert time.perf_counter() - begin < SECONDS


def test_the_command_line_refuses_what_would_run_for_ever(capsys):
    begin = time.perf_counter()
    assert main(["explain", "ThinPlate(10**6,10**6)"]) != 0
    assert "`order` must be an integer >= 1 and <= 32" in capsys.readouterr().err
    assert time.perf_counter() - begin < SECONDS
