"""A layer imports only lower ones: dependencies point one way."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent

#: Lowest first; modules and folders of one row may import each other.
LAYERS = [
    {"errors"},
    {"intervals", "arithmetic", "memory", "digests", "caches", "textfiles", "_native", "guarantees"},
    {"domains", "batches"},
    {"certificate"},
    {"parameters", "engine"},
    {
        "expression",
        "kernel",
        "kernel_digest",
        "kernel_features",
        "kernel_gradients",
        "contributions",
        "spectral_density",
    },
    {"algebra"},
    {"gram"},
    {"refute", "candidates", "point_sets"},
    {"rkhs", "expansion"},
    {"sequences", "automata", "graphs", "trees", "molecules", "models", "images"},
    {"kernels"},
    {"features"},
    {"solvers"},
    {"machines"},
    {"selection"},
    {"scale"},
    {"show"},
    {"cli", "__main__"},
    {"testing"},
]
LEVEL = {name: i for i, layer in enumerate(LAYERS) for name in layer}

#: What each part of the solvers builds on, besides the modules that all of them share.
PARTS: dict[str, set[str]] = {
    "svm": set(),
    "ridge": set(),
    "smooth": set(),
    "spectral": set(),
    "laplacian": set(),
    "representer": {"svm", "smooth", "ranking"},
    "ranking": set(),
    "proxy": {"svm"},
    "mixture": {"svm"},
    "clusters": set(),
    "processes": set(),
}
SHARED = {"solution", "watch", "matrix", "incomplete", "conjugate", "losses", "constraints", "permutations"}
SHARED |= {"snapshot"}

MODULES = sorted(path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts)


def layer_of(path: Path) -> str:
    """The folder or module directly under the package; '' for the package itself."""
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports(path: Path, source: str, within: str = "mercer") -> Iterator[tuple[int, str]]:
    """Line and name below ``within`` of every import of it from inside the package, wherever it stands."""
    package, depth = ["mercer", *path.relative_to(ROOT).parent.parts], within.count(".") + 1
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" if stem == within else stem for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith(within + "."):
                yield node.lineno, name.split(".")[depth]


def violations(path: Path, source: str) -> list[str]:
    here = layer_of(path)
    found = []
    for line, there in imports(path, source):
        if there not in LEVEL:  # a public name of the package: only scripts at the top may use those
            allowed = LEVEL[here] >= LEVEL["show"]
        else:
            allowed = here == there or LEVEL[there] <= LEVEL[here]
        if not allowed:
            found.append(f"{path.relative_to(ROOT)}:{line}: {here} imports {there}")
    return found


def test_every_module_has_a_layer() -> None:
    assert {layer_of(path) for path in MODULES} - {""} <= set(LEVEL)


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if layer_of(p) in LEVEL],
    ids=lambda p: str(p.relative_to(ROOT)).replace("/", "."),
)
def test_layer_imports_only_lower_ones(path: Path) -> None:
    assert violations(path, path.read_text(encoding="utf-8")) == []


def test_the_package_does_not_import_testing() -> None:
    source = (ROOT / "__init__.py").read_text(encoding="utf-8")
    assert "testing" not in {layer for _, layer in imports(ROOT / "__init__.py", source)}


@pytest.mark.parametrize(
    ("where", "source", "count"),
    [
        ("kernel.py", "from .algebra import Sum", 1),
        ("kernel.py", "def f():\n    from .kernels.radial import Gaussian", 1),
        ("domains/base.py", "from ..kernel import Kernel", 1),
        ("domains/base.py", "from .. import kernel", 1),
        ("domains/base.py", "import mercer.gram", 1),
        ("gram/operator.py", "from mercer import testing", 1),
        ("gram/operator.py", "from ..kernel import Kernel\nfrom . import limits", 0),
        ("kernels/radial.py", "from ..engine import pairwise\nimport numpy", 0),
        ("cli/demo.py", "import mercer\nfrom mercer import KernelRidge", 0),
    ],
)
def test_the_rule_itself(where: str, source: str, count: int) -> None:
    assert len(violations(ROOT / where, source)) == count


def strangers(path: Path, source: str) -> list[str]:
    """Imports of a module of the solvers that its part does not build on."""
    here = path.relative_to(ROOT / "solvers").parts[0].removesuffix(".py")
    known = SHARED | PARTS.get(here, set()) | {here}
    found = imports(path, source, "mercer.solvers")
    return [f"{path.relative_to(ROOT)}:{line}: {there}" for line, there in found if there not in known]


SOLVERS = [p for p in MODULES if p.is_relative_to(ROOT / "solvers") and p != ROOT / "solvers" / "__init__.py"]


def test_every_solver_has_a_part() -> None:
    top = {p.relative_to(ROOT / "solvers").parts[0].removesuffix(".py") for p in SOLVERS}
    assert top == SHARED | set(PARTS)


@pytest.mark.parametrize("path", SOLVERS, ids=lambda p: ".".join(p.relative_to(ROOT / "solvers").parts))
def test_parts_of_the_solvers_go_one_way(path: Path) -> None:
    assert strangers(path, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("where", "source", "count"),
    [
        ("svm/pairs.py", "from ..ridge import solve_ridge", 1),
        ("svm/pairs.py", "from .. import ridge", 1),
        ("svm/pairs.py", "import mercer.solvers.ridge.path", 1),
        ("solution.py", "from .svm import BoxProblem", 1),
        ("svm/pairs.py", "from ..watch import Watch\nfrom . import problem\nfrom ...gram import Gram", 0),
        ("representer/generic.py", "from ..svm import solve_box", 0),
    ],
)
def test_the_rule_of_the_parts_itself(where: str, source: str, count: int) -> None:
    assert len(strangers(ROOT / "solvers" / where, source)) == count
