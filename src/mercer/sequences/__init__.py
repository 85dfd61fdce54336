"""Sequences as data: what strings of letters mean before a kernel compares them, and files of them.

=============  ========================================================================
``dna``        the letters of nucleotides, their complements, the domain of DNA
``alphabets``  sequences over a given alphabet
``fasta``      ``read_fasta`` and ``write_fasta``
=============  ========================================================================
"""

from .alphabets import SequencesOver
from .dna import DNA, IUPAC, complement, expand, reverse_complement
from .fasta import FastaRecord, read_fasta, write_fasta

__all__ = [
    "DNA",
    "IUPAC",
    "FastaRecord",
    "SequencesOver",
    "complement",
    "expand",
    "read_fasta",
    "reverse_complement",
    "write_fasta",
]
