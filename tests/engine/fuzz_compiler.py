"""Random expressions, shapes, types, strides and sparse formats through the compiler, until time is up.

    python tests/engine/fuzz_compiler.py --seconds 60 --seed 0

Each is compared with the one-pair definition.  A failure prints its seed, which ``--case SEED`` runs alone.
"""

import argparse
import time

from test_compiler import check


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1000)  # the test suite has those before
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    if options.case is not None:
        check(options.case)
        return
    start, seed = time.monotonic(), options.seed
    while time.monotonic() - start < options.seconds:
        try:
            check(seed)
        except BaseException:
            print(f"failed: --case {seed}")
            raise
        seed += 1
    print(f"{seed - options.seed} expressions, seeds {options.seed} to {seed - 1}: all agree")


if __name__ == "__main__":
    main()
