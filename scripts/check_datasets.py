"""Convert every dataset whose files are available, and compare counts and published bytes with the specs.

    .venv/bin/python scripts/check_datasets.py --mirror FOLDER [--local KEY=FOLDER ...] [--scale full] \\
        [DATASET ...]

Inputs:  the files of a mirror (HOST/PATH for each https://HOST/PATH; licensed ones below local/KEY), and
         your own folders, by the keys of `local_files`
Outputs: a table on standard output, and nothing else; status 1 if anything differs
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import PubmillError, run
from pubmill.hardware.process_limits import cores
from pubmill.inspection.converted_datasets import check_name
from pubmill.inspection.data_check.checks import check_all, plan
from pubmill.inspection.data_check.data_check_printing import print_outcomes
from pubmill.messages.progress import report_progress
from pubmill.planning.terminal_tables import console
from pubmill.specs import load, scales
from pubmill.specs.study import Study
from pubmill.stages import Graph


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", metavar="DATASET", help="only these; default: all")
    parser.add_argument("--mirror", help="folder that holds HOST/PATH")
    parser.add_argument("--local", action="append", default=[], metavar="KEY=FOLDER", help="your own files")
    parser.add_argument("--scale", default="full", choices=scales(ROOT / "specs"), help="whose specs")
    parser.add_argument("--processes", type=int, default=cores(), help="default: one per core")
    arguments = parser.parse_args()
    graph = Graph(
        Study(
            study="data-check",
            title="",
            scale=arguments.scale,
            tables=(),
            mirror=arguments.mirror,
            local_files=read_local(arguments.local),
        ),
        load(ROOT / "specs", arguments.scale),
    )
    names = arguments.datasets or sorted(graph.specs.datasets)
    for name in names:
        check_name(graph.specs, name)
    began = time.perf_counter()
    tasks, unchecked = plan(graph, names)
    outcomes = []
    for outcome in check_all(tasks, arguments.processes):
        outcomes.append(outcome)
        report_progress(f"{len(outcomes)} of {len(tasks)}: {outcome.dataset}, {outcome.seconds:.1f} s")
    print_outcomes(console(), outcomes, unchecked)
    print(f"{time.perf_counter() - began:.0f} seconds in {arguments.processes} processes")
    if not outcomes or any(outcome.faults for outcome in outcomes):
        raise SystemExit(1)


def read_local(arguments: list[str]) -> dict[str, str]:
    """Read the `KEY=FOLDER` arguments."""
    pairs = [argument.partition("=") for argument in arguments]
    wrong = [argument for argument, (_, _, folder) in zip(arguments, pairs, strict=True) if not folder]
    if wrong:
        raise PubmillError(f"--local {wrong[0]}: expected KEY=FOLDER")
    return {key: folder for key, _, folder in pairs}


if __name__ == "__main__":
    run(main)
