"""A molecule with the atoms that spoke."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contributions import Contributions
from ..errors import InputError
from ..molecules import Molecules, MorganFingerprint
from .canvas import COLOURS, GUIDE, INK, canvas, drawing, matplotlib

__all__ = ["molecule"]


def molecule(
    x: Any,
    contributions: Contributions | None = None,
    fingerprint: MorganFingerprint | None = None,
    ax: Any = None,
) -> Any:
    """Draw a molecule; atoms whose neighbourhoods add to a value are blue, those that take away vermilion.

    The weight of a position of the fingerprint is divided among the atoms of the neighbourhoods in the
    molecule that it stands for, each as often as it is in one; the weights of atoms add up.  The largest
    weights are said under the picture, and what belongs to no atom, such as an intercept.

    Parameters
    ----------
    x : str or RDKit molecule
    contributions : Contributions, optional
        Positions with their weights: of ``k.contributions(y, x)``, or of ``machine.explain(x)``.
    fingerprint : MorganFingerprint, optional
        The map that the kernel was made with; its default parameters without it.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> molecule("CC(=O)Oc1ccccc1C(=O)O").figure.savefig("aspirin.png")  # doctest: +SKIP
    """
    mol = Molecules().point(x)
    from rdkit.Chem import Mol, rdDepictor

    flat = Mol(mol)
    rdDepictor.Compute2DCoords(flat)
    places = np.zeros((0, 2))
    if flat.GetNumAtoms():  # bonds get a length of about 1
        places = np.asarray(flat.GetConformer().GetPositions())[:, :2] / 1.5
    weights, elsewhere = np.zeros(len(places)), 0.0
    if contributions is not None:
        weights, elsewhere = _atom_weights(mol, contributions, fingerprint or MorganFingerprint())
    if ax is None:
        span = np.ptp(places, axis=0) if len(places) else np.zeros(2)
        _, ax = canvas(*np.maximum(0.55 * span + 1.0, (3.2, 1.8)))  # the legend below must fit
    with drawing(ax) as axes:
        axes.set_axis_off()
        axes.set_aspect("equal")
        _draw_atoms(axes, mol, places, weights)
        for bond in mol.GetBonds():
            _draw_bond(axes, mol, places, bond)
        if contributions is not None:
            # what the colours say, and what belongs to no atom
            most, least = weights.max(initial=0.0), weights.min(initial=0.0)
            parts = [f"blue atoms add, up to {most:.3g} each"] if most > 0 else []
            parts += [f"vermilion ones take away, up to {-least:.3g}"] if least < 0 else []
            parts += [f"{elsewhere:+.3g} belongs to no atom"] if elsewhere else []
            text = "\n".join(parts)
            axes.text(
                0.5, -0.02, text, transform=axes.transAxes, ha="center", va="top", fontsize=8.5, color=GUIDE
            )
        axes.autoscale_view()
        axes.margins(0.08)
    return axes


def _atom_weights(mol: Any, contributions: Contributions, map: MorganFingerprint) -> tuple[np.ndarray, float]:
    """What each atom adds, and what belongs to none."""
    from rdkit.Chem import FindAtomEnvironmentOfRadiusN

    found = map.environments(mol)
    weights, elsewhere = np.zeros(mol.GetNumAtoms()), 0.0
    for c in contributions:
        if not isinstance(c.pattern, int):
            elsewhere += c.weight
            continue
        if c.pattern not in found:
            raise InputError(
                f"molecule: `fingerprint` must be the map that the contributions came from. Position "
                f"{c.pattern} is not set in {map!r} of this molecule."
            )
        for atom, radius in found[c.pattern]:
            bonds = (
                [mol.GetBondWithIdx(b) for b in FindAtomEnvironmentOfRadiusN(mol, radius, atom)]
                if radius
                else []
            )
            atoms = {atom, *(b.GetBeginAtomIdx() for b in bonds), *(b.GetEndAtomIdx() for b in bonds)}
            weights[list(atoms)] += c.weight / (len(found[c.pattern]) * len(atoms))
    return weights, elsewhere


def _draw_atoms(axes: Any, mol: Any, places: np.ndarray, weights: np.ndarray) -> None:
    circle = matplotlib("matplotlib.patches").Circle
    largest = np.abs(weights).max(initial=0.0)
    disc = 0.42  # radius in units of the length of a bond
    for atom, (x, y), weight in zip(mol.GetAtoms(), places.tolist(), weights.tolist(), strict=True):
        if weight:
            colour = COLOURS["blue" if weight > 0 else "vermilion"]
            alpha = 0.65 * abs(weight) / largest  # letters stay legible
            axes.add_patch(circle((x, y), disc, facecolor=colour, alpha=alpha, edgecolor="none"))
        if text := _letter(atom):
            axes.text(x, y, text, ha="center", va="center", fontsize=9.5, color=INK)
    axes.update_datalim(np.vstack([places - disc, places + disc]) if len(places) else np.zeros((1, 2)))


def _letter(atom: Any) -> str:
    """The symbol of an atom with its charge; nothing for carbon in a chain."""
    charge = atom.GetFormalCharge()
    if atom.GetSymbol() == "C" and not charge and atom.GetDegree():
        return ""
    sign = {0: "", 1: "+", -1: "-"}.get(charge, f"{charge:+d}")
    return f"{atom.GetSymbol()}{sign}"


def _draw_bond(axes: Any, mol: Any, places: np.ndarray, bond: Any) -> None:
    ends = (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
    a, b = (places[i] for i in ends)
    step = b - a
    length = max(float(np.hypot(*step)), 1e-9)
    across = np.array([-step[1], step[0]]) / length
    # a letter covers this part of a bond
    starts = [0.24 / length if _letter(mol.GetAtomWithIdx(i)) else 0.0 for i in ends]
    a, b = a + starts[0] * step, b - starts[1] * step
    apart = 0.13  # between the lines of a double bond
    kinds = {
        "DOUBLE": [(-apart / 2, "-"), (apart / 2, "-")],
        "TRIPLE": [(-apart, "-"), (0.0, "-"), (apart, "-")],
        "AROMATIC": [(-apart / 2, "-"), (apart / 2, "--")],
    }
    for shift, style in kinds.get(bond.GetBondType().name, [(0.0, "-")]):
        line = np.array([a, b]) + shift * across
        axes.plot(*line.T, color=INK, linewidth=1.1, linestyle=style, solid_capstyle="round")
