"""Write a study's scored runs into MLflow. Needs MLflow, which is not among the locked packages.

    .venv/bin/python scripts/track.py --mlflow http://localhost:5000 [--configfile studies/gu2020.yaml ...]
                          [--config KEY=VALUE ...]

Inputs:  the configuration, as for Snakemake, and the finished records of the study's tables
Outputs: in MLflow, the experiment `pubmill STUDY SCALE` with one run for each record: its recipe, scores,
         training loss by epoch and dev scores by step. Only new and changed runs are written
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.graph import Graph
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.inspection.mlflow_runs import MlflowRuns
from pubmill.inspection.tracked_runs import tracked_run
from pubmill.specs.study import check_study


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mlflow", required=True, metavar="URI", help="tracking server, or sqlite:///FILE")
    parser.add_argument("--configfile", nargs="+", action="extend", default=[], help="overrides config.yaml")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    config = merged_config(ROOT / "config.yaml", arguments.configfile, arguments.config)
    study, specs = check_study(config, ROOT / "specs", arguments.configfile)
    graph = Graph(study, specs)
    asked = {path for table in graph.requests.result_tables() for path in graph.tables.record_files(table)}
    there = sorted(path for path in asked if Path(path).is_file())
    store = MlflowRuns(arguments.mlflow, f"pubmill {study.study} {study.scale}")
    below = [Path(path).relative_to(graph.results).as_posix() for path in there]
    written = sum(store.add(tracked_run(Path(graph.results), path)) for path in below)
    print(
        f"{written} runs written, {len(there) - written} were there, {len(asked) - len(there)} not finished"
    )


if __name__ == "__main__":
    run(main)
