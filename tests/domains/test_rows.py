"""Rows that are no numbers: the message names the row and the column, and says what to do."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.kernels import Gaussian, Spectrum
from mercer.machines import SVC, KernelPCA, KernelRidge

RAGGED = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0, 7.0]]
TEXT = [[1.0, 2.0], [3.0, "tall"], [5.0, 6.0]]


def uses(X):
    """All that read rows of vectors."""
    yield Gaussian(1.0).block, X
    for machine in (SVC(), KernelRidge(), KernelPCA()):
        yield lambda X, machine=machine: machine.fit(X, [0, 1, 1]), X


@pytest.mark.parametrize("X", [RAGGED, [np.array(row) for row in RAGGED], [tuple(row) for row in RAGGED]])
def test_rows_of_different_lengths(X):
    for use, data in uses(X):
        with pytest.raises(InputError, match="Row 0 has 2 entries and row 2 has 3"):
            use(data)


@pytest.mark.parametrize("X", [TEXT, np.array(TEXT, dtype=object)], ids=["list", "objects"])
def test_text_in_a_column(X):
    for use, data in uses(X):
        with pytest.raises(InputError, match=r"Column 1 holds text: 'tall' in row 1.*mercer\.columns"):
            use(data)


def test_text_in_a_column_of_a_frame():
    frame = pd.DataFrame({"height": [1.0, 2.0, 3.0], "colour": ["red", "green", "blue"]})
    for use, data in uses(frame):
        with pytest.raises(InputError, match="Column 'colour' holds text: 'red' in row 0"):
            use(data)


@pytest.mark.parametrize("X", [["gat", "tac", "a" * 50], np.array(["gat", "tac", "a" * 50])])
def test_texts_instead_of_rows(X):
    for use, data in uses(X):
        with pytest.raises(InputError, match=r"Row 0 is the text 'gat'.*use a kernel on strings"):
            use(data)
    assert Spectrum(2).block(X).shape == (3, 3)


def test_numbers_that_are_no_rows_keep_their_message():
    for use, data in uses([1.0, 2.0, 3.0]):
        with pytest.raises(InputError, match=r"2-D|2D|1D"):
            use(data)
