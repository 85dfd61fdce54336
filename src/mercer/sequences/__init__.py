"""Sequences of biology: what strings of letters mean before a kernel compares them.

=============  =================================================================``dna``        the letters of nucleotides, their complements, the domain of DNA
``alphabets``  sequences over a given alphabet
=============  ========================================================================
"""
from .alphabets import SequencesOver
from .dna import DNA, IUPAC, complement, expand, reverse_complement
__all__ = ["DNA", "IUPAC", "SequencesOver", "complement", "expand", "reverse_complement"]
=======
"""Sequences as data: files.
=========  =========================================================================
``fasta``  ``read_fasta`` and ``write_fasta``
=========  =========================================================================
"""
from .fasta import FastaRecord, read_fasta, write_fasta
__all__ = ["FastaRecord", "read_fasta", "write_fasta"]
