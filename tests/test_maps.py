"""Maps of folders and the page on the architecture name every module, and none that does not exist."""

import ast
import re
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"
FOLDERS = sorted(path.parent for path in ROOT.rglob("*/__init__.py"))


def modules(folder: Path) -> set[str]:
    """Names of the modules and folders that lie directly in a folder, without private ones."""
    files = {path.stem for path in folder.glob("*.py")}
    folders = {path.parent.name for path in folder.glob("*/__init__.py")}
    return {name for name in files | folders if not name.startswith("_")}


def first_column(docstring: str) -> set[str]:
    """Names at the start of the rows of a map: ``a``, or ``a``, ``b`` in one row."""
    rows = re.findall(r"^(``\w+``(?:, ``\w+``)*) ", docstring, flags=re.M)
    return {name for row in rows for name in re.findall(r"\w+", row)}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: ".".join(f.relative_to(ROOT).parts))
def test_the_map_of_a_folder_is_true(folder: Path) -> None:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert modules(folder) - set(re.findall(r"``(\w+)``", docstring)) == set(), "modules without a place"
    tables = "\n".join(re.findall(r"^=+ +=+\n.*?^=+ +=+$", docstring, flags=re.S | re.M))
    assert first_column(tables) - modules(folder) == set(), "names without a module"


def test_the_page_on_the_architecture_names_every_part() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    layers = re.search(r"^\| layer .*?\n\n", page, flags=re.S | re.M)
    assert layers is not None
    first = [row.split("|")[1] for row in layers[0].splitlines()[2:] if row]
    assert {name for cell in first for name in re.findall(r"`(\w+)`", cell)} == modules(ROOT)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.stem)
def test_pages_name_files_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    native = re.findall(r"`(native/[\w/]+\.\w+)`", text)
    python = re.findall(r"`((?:engine|solvers|machines|gram|kernels|tests)/[\w/]+\.py)`", text)
    places = [DOCS.parent / name for name in native]
    places += [DOCS.parent / name if name.startswith("tests") else ROOT / name for name in python]
    assert [str(place) for place in places if not place.exists()] == []


def test_maps_are_read_as_they_are_written() -> None:
    assert first_column("``a``   text ``b``\n``c``, ``d``  more\n``e_f``\tno\n      ``g`` too") == {
        "a",
        "c",
        "d",
    }
