"""Show which runs of a study to make next, and which pairs of models its finished runs decide.

    .venv/bin/python scripts/seeds.py STUDY [--documents] [--config KEY=VALUE ...]

STUDY is a file or the name of one in studies/. Models are compared by the scores of the same seeds; a pair is
decided if its p value, adjusted for all pairs of the row, is at most 5 %, so that at most 5 % of rows have
any wrong conclusion, however often one looks. There are two answers: on the scored documents
(pubmill.statistics.seed_stopping states the assumptions), and on other documents of their kind
(pubmill.statistics.document_evidence). The runs to make next are those that may decide pairs on the scored
documents, or with --documents on others.

Inputs:  config.yaml with the study's settings, the specs, and the records in the results with the
         contributions of documents beside them
Output:  the pairs of every row, then the records to make next, on standard output
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.graph import Graph
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.specs.study import check_study, configuration_files
from pubmill.tables.seed_plan import as_text, row_plans


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", help="a file, or the name of one in studies/; demo for the demo")
    parser.add_argument(
        "--documents", action="store_true", help="plan the runs that may decide pairs on other documents"
    )
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    overlays = configuration_files(arguments.study, ROOT / "studies")
    config = merged_config(ROOT / "config.yaml", overlays, arguments.config)
    study, specs = check_study(config, ROOT / "specs", overlays)
    graph = Graph(study, specs, every_seed=True)
    recipes = [graph.tables.recipe(name) for name in graph.requests.result_tables()]
    results, is_current = Path(graph.results), graph.records.is_current
    plans = [row_plans(recipe, results, is_current, arguments.documents) for recipe in recipes]
    print(as_text([one for of_table in plans for one in of_table]))


if __name__ == "__main__":
    run(main)
