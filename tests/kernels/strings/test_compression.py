"""The compression similarity, against the compressors themselves."""

import bz2
import lzma
import zlib
from fractions import Fraction

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Compression

TEXTS = ["to be or not to be", "that is the question", "a" * 500, "", "ab" * 100]
SIZES = {
    "zlib": lambda data: len(zlib.compress(data, 6)),
    "bz2": lambda data: len(bz2.compress(data, 6)),
    # the size of the dictionary stands in the header and changes no byte count
    "lzma": lambda data: len(lzma.compress(data, format=lzma.FORMAT_ALONE, preset=6)),
}


@pytest.mark.parametrize("method", list(SIZES))
def test_values_from_compressed_sizes(method):
    size = SIZES[method]

    def value(x, y):
        x, y = x.encode(), y.encode()
        together = Fraction(size(x + y) + size(y + x), 2)
        return float(1 - (together - min(size(x), size(y))) / max(size(x), size(y)))

    want = [[value(x, y) for y in TEXTS] for x in TEXTS]
    k = Compression(method, level=6)
    np.testing.assert_allclose(k.block(TEXTS), want, rtol=1e-15)
    np.testing.assert_allclose(k.block(TEXTS[:2], TEXTS), want[:2], rtol=1e-15)
    np.testing.assert_allclose(k.diagonal(TEXTS), np.diag(want), rtol=1e-15)


@pytest.mark.parametrize("method", list(SIZES))
def test_the_certificate_is_honest(method):
    certificate = Compression(method).certificate
    assert not certificate.is_psd
    if certificate.witness is not None:  # a compressor of another version may not yield one
        c, points = np.array(certificate.witness.coefficients), certificate.witness.points
        assert c @ Compression(method).block(points) @ c < 0


def test_bytes_and_text_are_one():
    k = Compression()
    assert k(b"GATTACA" * 9, "GATTACA") == k("GATTACA" * 9, list(b"GATTACA"))
    encoded = list("\u00e9".encode() * 50)
    assert k("\u00e9" * 50, "\u00e9" * 50) == k(encoded, encoded)


def test_other_tokens_have_no_bytes():
    with pytest.raises(InputError, match="0 to 255"):
        Compression()([1, 2], [300])
    with pytest.raises(InputError, match="0 to 255"):
        Compression().block([["word", 1]])
    with pytest.raises(ParameterError, match="`method`"):
        Compression("rar")
