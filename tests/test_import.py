"""``import mercer`` is quick, and everything public is there after it."""

import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import mercer

#: Below the public surface: parts of other things, and the command line.
INTERNAL = {
    *(
        "algebra",
        "arithmetic",
        "batches",
        "candidates",
        "caches",
        "certificate",
        "cli",
        "contributions",
        "digests",
        "engine",
    ),
    *(
        "expression",
        "gram",
        "intervals",
        "kernel",
        "kernel_digest",
        "kernel_features",
        "kernel_gradients",
        "memory",
        "parameters",
        "point_sets",
        "refute",
        "textfiles",
    ),
    *("_native", "__main__"),
}


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def public():
    return sorted({m.name for m in pkgutil.iter_modules(mercer.__path__)} - INTERNAL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of one process")
def test_subpackages_are_there():
    """Each in a copy of a process that has imported nothing but mercer."""
    code = f"""
import os, mercer
for name in {public()}:
    if os.fork() == 0:
        print(getattr(mercer, name).__name__, flush=True)
        os._exit(0)
    os.wait()
"""
    assert run(code).split() == [f"mercer.{name}" for name in public()]
    assert {*public()} <= {*mercer.__all__} & {*dir(mercer)}


def test_nothing_heavy_is_imported():
    heavy = ["sklearn", "matplotlib", "pandas", *(f"mercer.{m}" for m in ("machines", "features", "solvers"))]
    assert run(f"import sys, mercer; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_functions_stay_functions():
    """Subpackages are loaded when first used, and put no module in the place of a function."""
    loaded = "import mercer; C = mercer.machines.SVC(C=10).C; mercer.testing, mercer.selection"
    functions = "(mercer.gram, mercer.kernel, mercer.refute)"
    assert run(f"{loaded}; print(C, all(map(callable, {functions})))") == "10 True"
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
    for name in public():
        importlib.import_module(f"mercer.{name}")
    assert all(callable(f) for f in (mercer.gram, mercer.kernel, mercer.refute))


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match="no attribute 'machine'"):
        mercer.machine  # noqa: B018
