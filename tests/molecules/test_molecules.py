"""Molecules: SMILES, fingerprints and graphs, through kernels and machines."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

from mercer import columns, gram
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, MinMax, Tanimoto
from mercer.machines import SVC, KernelRidge
from mercer.molecules import MolecularGraph, Molecules, MorganFingerprint, parse, to_graphs
from mercer.show import molecule

SMILES = ["CCO", "CCN", "CCCO", "c1ccccc1", "Cc1ccccc1", "Oc1ccccc1", "CC(=O)O", "CCC(=O)O"]


@pytest.mark.parametrize("counts", [False, True])
def test_the_kernel_of_fingerprints_is_what_rdkit_computes(counts):
    k = (MinMax() if counts else Tanimoto()).on(MorganFingerprint(radius=3, size=512, counts=counts))
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=3, fpSize=512)
    make = generator.GetCountFingerprint if counts else generator.GetFingerprint
    vectors = [make(Chem.MolFromSmiles(s)) for s in SMILES]
    peer = np.array([DataStructs.BulkTanimotoSimilarity(v, vectors) for v in vectors])
    np.testing.assert_array_equal(k.block(SMILES), peer)
    assert k("CCO", "CCN") == peer[0, 1]
    assert k.certificate.is_psd


def test_mirror_images_differ_if_asked():
    left, right = "C[C@H](O)CC", "C[C@@H](O)CC"
    assert Tanimoto().on(MorganFingerprint())(left, right) == 1
    assert Tanimoto().on(MorganFingerprint(chirality=True))(left, right) < 1


def test_the_kernel_is_a_value():
    k = Tanimoto().on(MorganFingerprint(3))
    assert eval(repr(k), {"Tanimoto": Tanimoto, "MorganFingerprint": MorganFingerprint}) == k
    assert pickle.loads(pickle.dumps(k)) == k
    assert k.digest() != Tanimoto().on(MorganFingerprint(2)).digest()
    assert isinstance(k.domain, Molecules)
    a, b, c = k.domain.digests(["CCO", "OCC", "CCN"])
    assert a == b != c


def test_machines_take_smiles_and_molecules():
    k, y = Tanimoto().on(MorganFingerprint()), [0, 0, 0, 1, 1, 1, 0, 0]
    model = SVC(k, C=10.0).fit(SMILES, y)
    assert model.predict(["CCCCO", "CCc1ccccc1"]).tolist() == [0, 1]
    molecules = parse(SMILES).molecules
    np.testing.assert_array_equal(
        model.decision_function(SMILES), SVC(k, C=10.0).fit(molecules, y).decision_function(molecules)
    )
    found = model.explain("CCc1ccccc1")
    assert found.total == pytest.approx(model.decision_function(["CCc1ccccc1"])[0])


def test_a_column_of_smiles():
    frame = pd.DataFrame({"smiles": SMILES, "mass": np.arange(8.0)})
    k = columns(smiles=Tanimoto().on(MorganFingerprint()), mass=Gaussian(2.0))
    K = gram(k, frame).dense()
    expected = Tanimoto().on(MorganFingerprint()).block(SMILES) + Gaussian(2.0).block(frame[["mass"]])
    np.testing.assert_allclose(K, expected)
    assert KernelRidge(k).fit(frame, np.arange(8.0)).predict(frame).shape == (8,)


def test_graphs_of_molecules():
    batch = to_graphs(["CC=O", "[Na+].[Cl-]", ""])
    assert batch.sizes.tolist() == [3, 2, 0]
    assert batch[0].labels == ("C", "C", "O")
    assert batch[0].edge_labels == ("SINGLE", "SINGLE", "DOUBLE", "DOUBLE")
    assert MolecularGraph(hydrogens=True)("C").n == 5


def test_environments_name_the_atoms_of_each_bit():
    f = MorganFingerprint(radius=1)
    found = f.environments("CCO")
    assert set(found) == set(f("CCO").GetOnBits())
    assert {atom for places in found.values() for atom, _ in places} == {0, 1, 2}


def test_bad_input():
    k = Tanimoto().on(MorganFingerprint())
    with pytest.raises(InputError, match=r"X\[1\] is no valid SMILES: 'C\('.*invalid='skip'"):
        k.block(["CCO", "C("])
    with pytest.raises(InputError, match=r"X\[0\] must be a SMILES or a molecule of RDKit. Got float"):
        k.block([1.5, "C"])
    with pytest.raises(InputError, match="pass a list of one"):
        k.block("CCO")
    with pytest.raises(ParameterError, match=r"`radius` must be an integer >= 0. Got -1"):
        MorganFingerprint(-1)
    with pytest.raises(ParameterError, match="`invalid` must be"):
        parse(["C"], invalid="drop")
    found = parse(["CCO", "C(", "", "xyz"], invalid="skip")
    assert found.positions.tolist() == [0, 2]
    assert parse(["CCO", None, float("nan"), pd.NA], invalid="skip").positions.tolist() == [0]
    with pytest.raises(ParameterError, match=r"`counts` must be True or False. Got 1"):
        MorganFingerprint(counts=1)
    with pytest.raises(TypeError, match="positional"):
        MorganFingerprint(2, 2048, True)


def test_rdkit_that_is_missing_is_said():
    code = (
        "import sys; sys.modules['rdkit'] = None\n"
        "from mercer.molecules import parse\n"
        "try: parse(['C'])\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install mercer[rdkit]" in run.stdout


def test_a_picture_shows_the_atoms_that_spoke(tmp_path):
    k = Tanimoto().on(MorganFingerprint())
    model = KernelRidge(k, alpha=0.1).fit(SMILES, np.arange(8.0))
    for x in ("CCO", "[Na+].[Cl-]", "", "C#N", "c1ccccc1C(=O)O"):
        ax = molecule(x, model.explain(x))
        assert len(ax.patches) <= Chem.MolFromSmiles(x).GetNumAtoms()
        ax.figure.savefig(tmp_path / "molecule.png")
        if x == "CCO":
            assert " up to " in ax.texts[-1].get_text()
    with pytest.raises(InputError, match="`fingerprint` must be the map"):
        molecule("CCO", model.explain("c1ccccc1"))


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "molecules.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, flags=re.S | re.M):
        exec(compile(block, "docs/molecules.md", "exec"), names)
    assert capsys.readouterr().out.startswith("0.3333")
    assert (tmp_path / "molecule.png").exists()
