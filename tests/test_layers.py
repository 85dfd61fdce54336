"""A layer imports only lower ones: the way of data through the house has no way back."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent

#: Lowest first; modules and folders of one row may import each other.
LAYERS = [
    {"errors"},
    {"intervals", "arithmetic", "memory", "digests", "_native", "guarantees"},
    {"domains"},
    {"certificate"},
    {"parameters", "engine"},
    {"kernel", "kernel_digest", "contributions"},
    {"algebra"},
    {"gram"},
    {"refute", "candidates", "point_sets"},
    {"rkhs", "expansion"},
    {"sequences", "automata"},
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

MODULES = sorted(path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts)


def layer_of(path: Path) -> str:
    """The folder or module directly under the package; '' for the package itself."""
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imported_layers(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """Line and layer of every import of the package from within itself, wherever it stands in the file."""
    package = ["mercer", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" if stem == "mercer" else stem for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "mercer" and len(parts) > 1:
                yield node.lineno, parts[1]


def violations(path: Path, source: str) -> list[str]:
    here = layer_of(path)
    found = []
    for line, there in imported_layers(path, source):
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
    assert "testing" not in {layer for _, layer in imported_layers(ROOT / "__init__.py", source)}


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
