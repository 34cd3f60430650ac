"""Report for each dataset and model whether it is available, from where, its licence, and what to do.

    .venv/bin/python scripts/doctor.py [--configfile studies/gu2020.yaml ...] [--config KEY=VALUE ...] \\
        [--offline]

Inputs:  the configuration, as for Snakemake, the specs, and the files in the results, the mirror and
         the folders of `local_files`; links are checked for files that none of these has
Output:  a report on standard output; status 1 if the study uses a dataset or a model that is not in order
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.graph import Graph
from pubmill.inspection.doctor.dataset_diagnoses import examine, linked, merged_config
from pubmill.inspection.doctor.doctor_printing import print_findings, print_models
from pubmill.inspection.doctor.links import check_links
from pubmill.inspection.doctor.model_diagnoses import examine_models
from pubmill.messages import commands
from pubmill.planning.terminal_tables import console
from pubmill.specs.study import check_study


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--configfile", nargs="+", action="extend", default=[], help="overrides config.yaml")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--offline", action="store_true", help="do not check links")
    arguments = parser.parse_args()
    config = merged_config(ROOT / "config.yaml", arguments.configfile, arguments.config)
    graph = Graph(*check_study(config, ROOT / "specs", arguments.configfile))
    links = None if arguments.offline else check_links(linked(graph))
    options = commands.configuration_options(arguments.configfile, arguments.config)
    findings = examine(graph, links, options)
    print_findings(console(), findings, links)
    models = examine_models(graph)
    print_models(console(), models)
    wanted = [finding for finding in findings if finding.wanted]
    if not (all(model.sound for model in models) and all(finding.sound for finding in wanted)):
        raise SystemExit(1)


if __name__ == "__main__":
    run(main)
