"""Write a page in Markdown on finished studies, with their tables, forest plots, machines and durations.

    .venv/bin/python scripts/results_page.py STUDY [STUDY ...] --output docs/results.md
                                    [--config KEY=VALUE ...]

STUDY is a file or the name of one in studies/. Inputs: the study's results folder. Outputs: the page, and a
figure for each table in a folder beside it that is named like the page.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.report.results_page import StudyResult, read_result, render
from pubmill.specs.study import check_study, configuration_files
from pubmill.stages import checked_graph
from pubmill.storage.files import writing


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="+", metavar="STUDY", help="a file, or the name of one in studies/")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--output", required=True, type=Path, help="page to write, PAGE.md")
    arguments = parser.parse_args()
    found = [_result(name, arguments.config) for name in arguments.studies]
    folder = arguments.output.with_suffix("")
    for one in found:
        for table in one.tables:
            if table.figure:
                _write(folder / one.figure_file(table), table.figure)
    _write(arguments.output, render(found, folder.name))


def _result(name: str, settings: list[str]) -> StudyResult:
    config = merged_config(ROOT / "config.yaml", configuration_files(name, ROOT / "studies"), settings)
    study, specs = check_study(config, ROOT / "specs")
    graph = checked_graph(study, specs)
    return read_result(graph.report.results(), Path(graph.results), study.local_files)


def _write(path: Path, text: str) -> None:
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main)
