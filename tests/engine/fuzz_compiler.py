"""Random expressions, shapes, types, strides and sparse formats through the compiler, until time is up.

    python tests/engine/fuzz_compiler.py --seconds 60 --seed 1000

Each is compared with the one-pair definition.  The test suite has the seeds up to 159.  A failure prints its
seed, which ``--case SEED`` runs alone.
"""

if __name__ == "__main__":  # its neighbours can be imported when this is run as a script
    from fuzz_native import main
    from test_compiler import check

    main(check, first=1000)
