"""Run the benchmarks and print a table."""

from __future__ import annotations

import argparse
import sys

from . import (
    automata_cases,
    conformal_cases,
    feature_cases,
    fingerprint_cases,
    graphs_cases,
    harness,
    images_cases,
    kernel_graph_cases,
    linear_cases,
    logistic_cases,
    models_cases,
    multiple_cases,
    nodes_cases,
    process_cases,
    rational_cases,
    ridge_cases,
    scale_cases,
    search_cases,
    series_cases,
    shapley_cases,
    spectral_cases,
    strings_cases,
    subsequence_cases,
    tangent_cases,
    texts_cases,
    trees_cases,
    two_sample_cases,
)
from .cases import CASES, growth, import_time, memory
from .svm_cases import SVM_CASES

#: Cases that have to be asked for, by the name of their group.
GROUPS = {
    "svm": SVM_CASES,
    "smooth": [*ridge_cases.CASES, *logistic_cases.CASES],
    "spectral": [*spectral_cases.CASES, *two_sample_cases.CASES],
    "graphs": graphs_cases.CASES,
    "nodes": nodes_cases.CASES,
    "sequences": [
        *strings_cases.CASES,
        *subsequence_cases.CASES,
        *texts_cases.CASES,
        *automata_cases.CASES,
        *rational_cases.CASES,
        *series_cases.CASES,
    ],
    "features": feature_cases.CASES,
    "molecules": fingerprint_cases.CASES,
    "trees": trees_cases.CASES,
    "images": [*images_cases.CASES, *tangent_cases.CASES],
    "models": models_cases.CASES,
    "multiple": multiple_cases.CASES,
    "kernel-graphs": kernel_graph_cases.CASES,
    "uncertainty": [*conformal_cases.CASES, *shapley_cases.CASES],
    "processes": process_cases.CASES,
    "search": search_cases.CASES,
    "scale": [*scale_cases.CASES, *linear_cases.CASES],
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="cases, groups of cases or reports; the first group by default"
    )
    parser.add_argument("--runs", type=int, default=harness.RUNS, help="runs of every case")
    options = parser.parse_args(arguments)
    names = options.names
    cases = [*CASES, *(case for group in GROUPS.values() for case in group)]
    reports = [
        "import",
        "growth",
        "memory",
        "large_ridge",
        "full_ridge",
        "restricted_ridge",
        "sequence_growth",
    ]
    known = [case.name for case in cases] + reports + list(GROUPS)
    if unknown := [name for name in names if name not in known]:
        print(f"unknown: {', '.join(unknown)}. There are: {', '.join(known)}.", file=sys.stderr)
        return 2
    print(harness.header(), flush=True)
    if not names or "import" in names:
        print(
            f"import mercer after import sklearn: {import_time():.3f} s (asked: at most 0.15 s)", flush=True
        )
    if not names or "growth" in names:
        print(
            "a Gaussian Gram matrix takes time as n^{:.2f} and, from d = 100 on, as d^{:.2f}".format(
                *growth()
            )
        )
    if not names or "memory" in names:
        print(
            "memory besides the output: {:.0f} MB for K(X, Y) @ v at 50,000 (asked: under 300 MB), "
            "{:.0f} MB for a block of 6,000 (asked: at most 64 MiB per thread)".format(*memory()),
            flush=True,
        )
    if "full_ridge" in names:
        print(scale_cases.report("full", 100_000), flush=True)
    if "restricted_ridge" in names:
        print(scale_cases.report("restricted", 1_000_000), flush=True)
    if "large_ridge" in names:
        print(ridge_cases.large_report(), flush=True)
    if "sequence_growth" in names:
        for part in (strings_cases, texts_cases, subsequence_cases, series_cases):
            print(part.growth_report(), flush=True)
    chosen = [case for name, group in GROUPS.items() if name in names for case in group]
    results = []
    for case in cases:
        if case.name in names or (not names and case in CASES) or case in chosen:
            try:
                results.append(harness.run(case, options.runs))
            except harness.Skipped as reason:
                print(f"  {case.name}: skipped, {reason}", file=sys.stderr, flush=True)
                continue
            print(f"  {case.name}: {results[-1]}", file=sys.stderr, flush=True)
    if results:
        print(harness.table(results))
    return 0


sys.exit(main(sys.argv[1:]))
