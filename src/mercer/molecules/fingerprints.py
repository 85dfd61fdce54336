"""Morgan fingerprints as a map into bits or counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from ..domains import Domain
from ..errors import ParameterError
from .domain import Molecules, rdkit

__all__ = ["MorganFingerprint"]


@dataclass(frozen=True)
class MorganFingerprint:
    """Morgan fingerprint: which neighbourhoods of atoms occur in a molecule, or how often.

    A position stands for the neighbourhoods, up to ``radius`` bonds around an atom, whose hash it is; with
    ``size`` positions different ones may fall together.  It is a map for ``k.on(...)``, from SMILES or
    molecules of RDKit.

    Parameters
    ----------
    radius : int, default=2
        Bonds around each atom; 2 is known as ECFP4.
    size : int, default=2048
        Length of the fingerprint.
    counts : bool, default=False
        Whether neighbourhoods are counted, for :class:`~mercer.kernels.MinMax`; else a bit says whether it
        occurs, for :class:`~mercer.kernels.Tanimoto`.
    chirality : bool, default=False
        Whether mirror images differ.

    Examples
    --------
    >>> from mercer.kernels import Tanimoto
    >>> k = Tanimoto().on(MorganFingerprint())
    >>> k
    Tanimoto().on(MorganFingerprint(radius=2, size=2048, counts=False, chirality=False))
    >>> k("CCO", "OCC"), round(k("CCO", "CCN"), 4)
    (1.0, 0.3333)
    """

    radius: int = 2
    size: int = 2048
    counts: bool = field(default=False, kw_only=True)
    chirality: bool = field(default=False, kw_only=True)

    #: The points that the map accepts.
    domain: ClassVar[Domain] = Molecules()

    def __post_init__(self) -> None:
        for name, low in (("radius", 0), ("size", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise ParameterError(
                    f"MorganFingerprint: `{name}` must be an integer >= {low}. Got {value!r}."
                )
        for name in ("counts", "chirality"):
            if not isinstance(getattr(self, name), bool):
                got = getattr(self, name)
                raise ParameterError(f"MorganFingerprint: `{name}` must be True or False. Got {got!r}.")

    def __call__(self, x: Any) -> Any:
        """The fingerprint of one molecule, a vector of RDKit."""
        generator = _generator(self.radius, self.size, self.chirality)
        molecule = self.domain.point(x)
        return generator.GetCountFingerprint(molecule) if self.counts else generator.GetFingerprint(molecule)

    def environments(self, x: Any) -> dict[int, list[tuple[int, int]]]:
        """For each position that is set the atoms whose neighbourhood it stands for: (atom, radius).

        Examples
        --------
        >>> sorted(len(places) for places in MorganFingerprint(radius=0).environments("CCO").values())
        [1, 1, 1]
        """
        from rdkit.Chem import rdFingerprintGenerator

        generator = _generator(self.radius, self.size, self.chirality)
        output = rdFingerprintGenerator.AdditionalOutput()
        output.AllocateBitInfoMap()
        generator.GetFingerprint(self.domain.point(x), additionalOutput=output)
        return {bit: list(places) for bit, places in output.GetBitInfoMap().items()}


@lru_cache(maxsize=16)
def _generator(radius: int, size: int, chirality: bool) -> Any:
    rdkit()
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=size, includeChirality=chirality)
