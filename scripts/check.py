"""Check a manuscript in LaTeX against the finished tables of a study. Needs no GPU and no torch.

    .venv/bin/python scripts/check.py paper.tex [--configfile studies/gu2020.yaml ...]
                            [--config KEY=VALUE ...] [--json]

Inputs:  the manuscript's main file and the files in its folder that it inputs; the configuration, as for
         Snakemake, and the study's finished tables and comparisons (JSON)
Output:  a line for each finding on standard output: its place, what stands there, what the tables have, and
         what to do; with --json the same for programs. The status is 1 if there is any, else 0
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.graph import Graph
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.manuscript.findings import as_json
from pubmill.manuscript.manuscript_check import check_manuscript
from pubmill.manuscript.study_tables import read_study_tables
from pubmill.messages.control_characters import escape_controls
from pubmill.specs.study import check_study


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("manuscript", type=Path, help="main file of the manuscript")
    parser.add_argument("--configfile", nargs="+", action="extend", default=[], help="overrides config.yaml")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", action="store_true", help="for programs")
    arguments = parser.parse_args()
    config = merged_config(ROOT / "config.yaml", arguments.configfile, arguments.config)
    study, specs = check_study(config, ROOT / "specs", arguments.configfile)
    graph = Graph(study, specs)
    tables = read_study_tables(study.study, study.scale, graph.requests.result_tables(), Path(graph.results))
    checked = check_manuscript(arguments.manuscript, tables)
    for note in checked.notes:
        print(f"note: {escape_controls(note)}", file=sys.stderr)
    if arguments.json:
        print(as_json(checked.findings), end="")
    else:
        for finding in checked.findings:
            print(escape_controls(str(finding)))
        print(f"findings: {len(checked.findings)}", file=sys.stderr)
    if checked.findings:
        raise SystemExit(1)


if __name__ == "__main__":
    run(main)
