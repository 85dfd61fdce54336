"""Sequences as data: files.

=========  =========================================================================
``fasta``  ``read_fasta`` and ``write_fasta``
=========  =========================================================================
"""

from .fasta import FastaRecord, read_fasta, write_fasta

__all__ = ["FastaRecord", "read_fasta", "write_fasta"]
