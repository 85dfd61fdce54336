"""The rows on questions and molecules of the long demonstration."""

from pathlib import Path

import pytest

from mercer.cli.demo.structured import structured_rows

SMILES = ["C", "CC", "CCC", "CCCC", "CCO", "CCCO", "CO", "O", "c1ccccc1", "Cc1ccccc1", "no SMILES", "CCN"]


def test_data_that_are_not_there_give_no_rows(tmp_path: Path) -> None:
    assert structured_rows(tmp_path) == []


def test_molecules(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "molecules").mkdir()
    lines = ["smiles,measured log solubility in mols per litre"]
    lines += [f"{smiles},{-0.5 * i}" for i, smiles in enumerate(SMILES)]
    (tmp_path / "molecules" / "esol.csv").write_text("\n".join(lines))
    rows = structured_rows(tmp_path)
    assert [row[1] for row in rows] == [
        "the mean",
        "`Tanimoto`, bits",
        "`MinMax`, counts",
        "`WeisfeilerLehman(3)`, graphs",
    ]
    assert all("11 molecules" in row[0] and 0 < float(row[2]) < 10 for row in rows)


def test_questions(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    for part in ("train", "test"):
        lines = [
            f"{label} |BS:quest| {word} is it |ES| |BT:grct| (S(W({word}))(V(is))) |ET|"
            for label, word in (("HUM", "who"), ("LOC", "where")) * 3
        ]
        (tmp_path / "trees" / f"trec_{part}.klp.gz").write_text("\n".join(lines))
    rows = structured_rows(tmp_path)
    assert [row[2] for row in rows] == ["0.500", "1.000", "1.000"]
