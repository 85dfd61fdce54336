"""The arguments, and what each command does.  What is heavy is imported by the command that needs it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["parse"]


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments; ``run`` of the result is the command."""
    parser = argparse.ArgumentParser(
        prog="mercer",
        description="Kernel methods with proofs: compose kernels, see why they are positive definite.",
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    demo = commands.add_parser("demo", help="proofs, a witness, machines on real data, and an HTML page")
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("mercer-demo.html"),
        metavar="PATH",
        help="where to write the page (default: %(default)s)",
    )
    demo.add_argument("--quick", action="store_true", help="smaller data, a few seconds")
    demo.add_argument("--no-page", action="store_true", help="print only; needs no matplotlib")
    demo.set_defaults(run=_demo)

    kernels = commands.add_parser("kernels", help="list every kernel with its domain and verdict")
    kernels.set_defaults(run=_kernels)

    explain = commands.add_parser(
        "explain",
        help="print the proof of a kernel expression",
        description="Print the proof tree of a kernel expression, for example "
        '"(Gaussian(2.0) + 0.5 * Linear()).normalized() ** 2".',
    )
    explain.add_argument("expression", metavar="EXPRESSION", help="kernels, numbers, + - * / **, and methods")
    explain.add_argument("--json", action="store_true", help="print the certificate as JSON")
    explain.set_defaults(run=_explain)
    return parser.parse_args(argv)


class _Version(argparse.Action):
    """Print the version, which is read on request only."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(
            option_strings, dest=argparse.SUPPRESS, default=argparse.SUPPRESS, nargs=0, help=help
        )

    def __call__(self, parser: argparse.ArgumentParser, *args: Any) -> None:
        print(f"mercer {version('mercer')}")
        parser.exit()


def _demo(arguments: argparse.Namespace) -> int:
    from .demo import run

    run(None if arguments.no_page else arguments.output, quick=arguments.quick)
    return 0


def _kernels(arguments: argparse.Namespace) -> int:
    from .catalogue import listing

    print(listing())
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    from .expressions import evaluate

    certificate = evaluate(arguments.expression).certificate
    if arguments.json:
        print(json.dumps(certificate.to_dict(), indent=2, default=str))
    else:
        print(certificate.explain())
    return 0
