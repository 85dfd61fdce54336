"""Land or sea: millions of points of the globe from a Parquet file, in bounded memory.

Run: python examples/land_or_sea.py [points ...]

Points are uniform on the sphere, as unit vectors; the targets are 1 on land and -1 at sea.  They are drawn
and fitted in processes of their own, so that the memory of the fit can be seen: the mask of the globe, from
which they are drawn, takes 1 GB.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from mercer import Batches
from mercer.features import Nystrom
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge

SIZE, TEST = 50_000, 50_000


def draw(path: Path, n: int, seed: int) -> None:
    """Write n points to a Parquet file, a batch at a time."""
    import pyarrow as pa
    from global_land_mask import globe
    from pyarrow.parquet import ParquetWriter

    names = ["x", "y", "z", "land"]
    rng = np.random.default_rng(seed)
    with ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for start in range(0, n, SIZE):
            P = rng.standard_normal((min(SIZE, n - start), 3))
            P /= np.linalg.norm(P, axis=1, keepdims=True)
            latitude = np.degrees(np.arcsin(P[:, 2]))
            longitude = np.degrees(np.arctan2(P[:, 1], P[:, 0]))
            land = np.where(globe.is_land(latitude, longitude), 1.0, -1.0)
            writer.write_table(pa.table([*P.T, land], names=names))


def fit(train: Path, test: Path, n: int, landmarks: int, sigma: float) -> tuple[float, float, float]:
    """Seconds of CPU time, peak memory in GB, and the fraction of test points that are right."""
    start = time.process_time()
    map = Nystrom(Gaussian(sigma), landmarks, landmarks="uniform", random_state=0)
    model = KernelRidge(alpha=1e-6 * n, approximation=map, fit_intercept=True, random_state=0)
    model.fit(Batches.from_parquet(train, target="land", size=SIZE))
    seconds = time.process_time() - start
    held_out = Batches.from_parquet(test, target="land", size=10_000)
    right = [np.sign(model.predict(X)) == y for X, y in held_out]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return seconds, memory, float(np.concatenate(right).mean())


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """The value of a function in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def main(numbers: list[int], landmarks: int = 500, sigma: float = 0.15) -> None:
    if not all(map(find_spec, ("global_land_mask", "pyarrow"))):
        print("This example needs two packages: pip install global-land-mask pyarrow")
        return
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.parquet", Path(folder) / "test.parquet"
        apart(draw, test, TEST, 1)
        print(f"{landmarks} landmarks, width {sigma}; {TEST} test points")
        for n in numbers:
            apart(draw, train, n, 0)
            seconds, memory, right = apart(fit, train, test, n, landmarks, sigma)
            print(f"{n:10,} points  {seconds:6.1f} s  {memory:.2f} GB  {right:.4f} right", flush=True)


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [10_000, 100_000])
