"""Large arrays in memory that was used before."""

import gc
import threading

import numpy as np
import pytest

from mercer.engine.arrays import reused

pytestmark = pytest.mark.native

MEGABYTE = 1 << 20


def place(array):
    """Where the memory of an array begins."""
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (0, 7), (2, 3, 4), (1000, 1000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_it_is_an_array(shape, dtype):
    array = reused(shape, dtype)
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert place(array) % 64 == 0
    array[...] = 7
    assert (array == 7).all()


def test_memory_is_used_again():
    """What is larger than needed serves as well, but not what is far larger."""
    size = 37 * MEGABYTE
    array = reused((size,), np.uint8)
    array[:] = 1
    first = place(array)
    del array
    gc.collect()
    small = reused((size // 5,), np.uint8)
    assert place(small) != first
    again = reused((size - 1,), np.uint8)
    other = reused((size - 1,), np.uint8)
    assert place(again) == first
    assert place(other) != first


def test_memory_in_use_is_not_given_to_others():
    size = 41 * MEGABYTE
    array = reused((size,), np.uint8)
    part = array[5:100]
    first = place(array)
    del array
    gc.collect()
    other = reused((size,), np.uint8)
    assert place(other) != first
    part[:] = 3
    other[:] = 4
    assert (part == 3).all()
    del part, other
    gc.collect()


def test_no_more_than_the_limit_is_kept():
    """The oldest goes first."""
    sizes = [300 * MEGABYTE, 250 * MEGABYTE]
    places = []
    for size in sizes:
        array = reused((size,), np.uint8)
        places.append(place(array))
        array[:1] = 1  # pages that are not touched cost nothing
        del array
    kept = [reused((size,), np.uint8) for size in reversed(sizes)]
    assert place(kept[0]) == places[1]


def test_more_than_the_limit_at_once():
    array = reused((600 * MEGABYTE,), np.uint8)
    array[-1] = 5
    assert array[-1] == 5


def test_from_many_threads_at_once():
    """Nobody sees numbers of others."""
    wrong = []

    def work(value):
        for k in range(50):
            array = reused(((2 + k % 5) * MEGABYTE,), np.uint8)
            array[:: MEGABYTE // 4] = value
            if (array[:: MEGABYTE // 4] != value).any():
                wrong.append(value)
            del array

    threads = [threading.Thread(target=work, args=(value,)) for value in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_too_much():
    with pytest.raises(MemoryError):
        reused((1 << 62,), np.uint8)
