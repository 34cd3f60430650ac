"""Estimate the cost of a study before anything runs: jobs, bytes, hours of processors and GPUs.

    .venv/bin/python scripts/plan.py STUDY [--config KEY=VALUE ...]
    .venv/bin/python scripts/plan.py --recipes

STUDY is a file or the name of one in studies/; --recipes shows every pretraining recipe at scale full.

Inputs:  config.yaml with the study's settings, the specs, the files in the results and the mirror,
         specs/gpus.yaml, and benchmarks/pretraining.json if `benchmarks/pretraining.py --gpu --output`
         wrote it
Output:  tables on standard output, which state for every figure whether it is measured or assumed
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import PubmillError, run
from pubmill.graph import checked_graph
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.messages import commands
from pubmill.planning.gpus import read_gpus
from pubmill.planning.plan import make_plan, recipes_at_full
from pubmill.planning.plan_printing import print_plan, recipes_as_markdown
from pubmill.planning.terminal_tables import console
from pubmill.specs import load
from pubmill.specs.study import Study, check_study, configuration_files
from pubmill.workflow.jobs import jobs_of


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", nargs="?", help="a file, or the name of one in studies/; demo for the demo")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--recipes", action="store_true", help="show only the pretraining recipes")
    arguments = parser.parse_args()
    gpus = read_gpus(ROOT / "specs", ROOT / "benchmarks/pretraining.json")
    if arguments.recipes:
        study = Study(study="recipes", title="", scale="full", tables=())
        graph = checked_graph(study, load(ROOT / "specs", "full"))
        print("\n".join(recipes_as_markdown(recipes_at_full(graph, gpus), gpus)))
        return
    if not arguments.study:
        raise PubmillError(
            f"which study? Name a file of studies/, as in: {commands.script('plan', 'gu2020')}"
        )
    overlays = configuration_files(arguments.study, ROOT / "studies")
    config = merged_config(ROOT / "config.yaml", overlays, arguments.config)
    graph = checked_graph(*check_study(config, ROOT / "specs", overlays))
    print_plan(console(), make_plan(jobs_of(ROOT, config), graph, gpus), graph, gpus)


if __name__ == "__main__":
    run(main)
