"""``import mercer`` is quick, and everything public is there after it."""

import importlib
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


@pytest.mark.parametrize("name", public())
def test_subpackages_are_there(name):
    """In a process that has imported nothing but mercer."""
    assert run(f"import mercer; print(mercer.{name}.__name__)") == f"mercer.{name}"
    assert name in mercer.__all__
    assert name in dir(mercer)


def test_nothing_heavy_is_imported():
    heavy = ["sklearn", "matplotlib", "pandas", *(f"mercer.{m}" for m in ("machines", "features", "solvers"))]
    assert run(f"import sys, mercer; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_machines_by_one_import():
    assert run("import mercer; print(mercer.machines.SVC(mercer.kernels.Gaussian(1.0), C=10).C)") == "10"


def test_functions_stay_functions():
    """Loading a subpackage puts no module in the place of a function."""
    loaded = "import mercer; mercer.machines, mercer.testing, mercer.selection"
    assert run(f"{loaded}; print(all(map(callable, (mercer.gram, mercer.kernel, mercer.refute))))") == "True"
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
    for name in public():
        importlib.import_module(f"mercer.{name}")
    assert all(callable(f) for f in (mercer.gram, mercer.kernel, mercer.refute))


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match="no attribute 'machine'"):
        mercer.machine  # noqa: B018
