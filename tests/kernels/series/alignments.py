"""Every alignment of two series, one by one."""

from collections.abc import Iterator

Alignment = tuple[tuple[int, int], ...]


def alignments(n: int, m: int) -> Iterator[Alignment]:
    """Paths of pairs of steps from (0, 0) to (n - 1, m - 1) that move on in one or in both."""
    if n == m == 0:
        yield ()
    if n == 0 or m == 0:
        return
    last = (n - 1, m - 1)
    if last == (0, 0):
        yield (last,)
        return
    for di, dj in ((1, 1), (1, 0), (0, 1)):
        for path in alignments(n - di, m - dj):
            if path:
                yield (*path, last)
