"""Molecules as graphs of atoms and bonds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..domains import Domain, Graph, GraphBatch
from .domain import Molecules

__all__ = ["MolecularGraph", "to_graphs"]


@dataclass(frozen=True)
class MolecularGraph:
    """The graph of a molecule: atoms are nodes with their symbols as labels, bonds are edges with their type.

    It is a map for ``k.on(...)``, from SMILES or molecules of RDKit.

    Parameters
    ----------
    hydrogens : bool, default=False
        Whether hydrogen atoms are nodes.

    Examples
    --------
    >>> g = MolecularGraph()("CC=O")
    >>> g.labels, g.edge_labels
    (('C', 'C', 'O'), ('SINGLE', 'SINGLE', 'DOUBLE', 'DOUBLE'))
    """

    hydrogens: bool = False

    #: The points that the map accepts.
    domain: ClassVar[Domain] = Molecules()

    def __call__(self, x: Any) -> Graph:
        """The graph of one molecule."""
        molecule = self.domain.point(x)
        if self.hydrogens:
            from rdkit.Chem import AddHs

            molecule = AddHs(molecule)
        bonds = list(molecule.GetBonds())
        return Graph(
            molecule.GetNumAtoms(),
            [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in bonds],
            labels=[atom.GetSymbol() for atom in molecule.GetAtoms()],
            edge_labels=[b.GetBondType().name for b in bonds],
        )


def to_graphs(X: Any, *, hydrogens: bool = False) -> GraphBatch:
    """The graphs of SMILES or of molecules of RDKit; see :class:`MolecularGraph`.

    Examples
    --------
    >>> to_graphs(["CCO", "c1ccccc1"]).sizes.tolist()
    [3, 6]
    """
    convert = MolecularGraph(hydrogens)
    return GraphBatch.of([convert(molecule) for molecule in Molecules().validate(X)])
