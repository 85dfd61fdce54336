"""The domain of molecules, as SMILES or as molecules of RDKit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..digests import digest
from ..domains import Domain
from ..domains.containers import is_missing, points_of
from ..errors import InputError, MissingExtraError, ParameterError

__all__ = ["Molecules", "Parsed", "parse", "rdkit"]


def rdkit() -> Any:
    """The module ``rdkit.Chem``, or an error that says how to install it."""
    try:
        from rdkit import Chem
    except ImportError as error:
        raise MissingExtraError(
            "mercer.molecules needs RDKit, which is not installed: pip install mercer[rdkit]"
        ) from error
    return Chem


@dataclass(frozen=True)
class Molecules(Domain):
    """Molecules: SMILES, or molecules of RDKit, in a list, an array or a column of a frame.

    Points are molecules of RDKit.  Two SMILES of one molecule are one point: its digest is that of the
    canonical SMILES.  The molecule without atoms, ``""``, is a molecule.

    Examples
    --------
    >>> Molecules().point("OCC").GetNumAtoms()
    3
    """

    def validate(self, X: Any, name: str = "X") -> list[Any]:
        points = points_of(X, name, "a sequence of SMILES or of RDKit molecules")
        return [self.point(x, f"{name}[{i}]") for i, x in enumerate(points)]

    def point(self, x: Any, name: str = "x") -> Any:
        molecule = _molecule(x, name)
        if molecule is None:
            raise InputError(
                f"{name} is no valid SMILES: {x!r}. Correct it, or leave such rows out with "
                "mercer.molecules.parse(smiles, invalid='skip')."
            )
        return molecule

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        return self.point(x, "x"), self.point(y, "y")

    def _digest(self, x: Any, position: int) -> str:
        return digest(("molecule", rdkit().MolToSmiles(x)))

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        small = ["C", "CC", "CCO", "C=C", "C#N", "O"]
        larger = ["c1ccccc1", "Cc1ccccc1", "CC(=O)O", "C1CC1", "CCN", "ClCCl"]
        return list(rng.choice(np.array(small + larger), size=n).tolist())

    def __str__(self) -> str:
        return "molecules"


class Parsed(NamedTuple):
    """Molecules, and where each was among what was given."""

    molecules: list[Any]
    positions: np.ndarray


def parse(smiles: Any, *, invalid: str = "error") -> Parsed:
    """Molecules of RDKit from SMILES.

    Parameters
    ----------
    smiles : sequence of str
        A list, an array or a column of a frame; molecules of RDKit stay as they are.
    invalid : {"error", "skip"}, default="error"
        What to do about a text that is no SMILES, and about a missing value (None or NaN): raise an error
        that names the row, or leave it out.

    Returns
    -------
    Parsed
        ``molecules``, and ``positions``, the rows that were valid: ``y[positions]`` are their targets.

    Examples
    --------
    >>> found = parse(["CCO", "C(", "C1CC1"], invalid="skip")
    >>> found.positions.tolist()
    [0, 2]
    """
    if invalid not in ("error", "skip"):
        raise ParameterError(f"parse: `invalid` must be 'error' or 'skip'. Got {invalid!r}.")
    if invalid == "error":
        molecules = Molecules().validate(smiles, "smiles")
        return Parsed(molecules, np.arange(len(molecules)))
    points = points_of(smiles, "smiles", "a sequence of SMILES or of RDKit molecules")
    found = [None if is_missing(x) else _molecule(x, f"smiles[{i}]") for i, x in enumerate(points)]
    positions = [i for i, molecule in enumerate(found) if molecule is not None]
    return Parsed([found[i] for i in positions], np.array(positions, dtype=np.intp))


def _molecule(x: Any, name: str) -> Any:
    """A molecule of RDKit; None for a text that is no SMILES."""
    chem = rdkit()
    if isinstance(x, chem.Mol):
        return x
    if not isinstance(x, str):
        raise InputError(f"{name} must be a SMILES or a molecule of RDKit. Got {type(x).__name__}.")
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return chem.MolFromSmiles(x)
