r"""Write the numbers of a study's finished tables for a manuscript in LaTeX. Needs no GPU and no torch.

    .venv/bin/python scripts/tex.py [--configfile studies/gu2020.yaml ...] [--config KEY=VALUE ...]
                          [--output paper/numbers]

Inputs:  the configuration, as for Snakemake, and the study's finished tables (JSON)
Outputs: in --output, or results/SCALE/reports/STUDY.manuscript: cells.tex with the macros \cell, \cellspread,
         \cellpublished, \celldiff, \cellverdict, \cellexact and \celllink, and PAPER-tableNN.tex with a
         tabular of our values for each table that has any
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.graph import Graph
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.manuscript.cell_macros import MACROS_FILE, macros_text
from pubmill.manuscript.study_tables import read_study_tables
from pubmill.manuscript.tabulars import tabular
from pubmill.specs.study import check_study
from pubmill.storage.files import writing


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--configfile", nargs="+", action="extend", default=[], help="overrides config.yaml")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--output", type=Path, help="folder to write into; other files in it are kept")
    arguments = parser.parse_args()
    config = merged_config(ROOT / "config.yaml", arguments.configfile, arguments.config)
    study, specs = check_study(config, ROOT / "specs", arguments.configfile)
    graph = Graph(study, specs)
    found = read_study_tables(study.study, study.scale, graph.requests.result_tables(), Path(graph.results))
    texts = {MACROS_FILE: macros_text(found.study, found.scale, found.tables)}
    texts |= {
        f"{name.replace('/', '-')}.tex": text
        for name, table in found.tables.items()
        if (text := tabular(name, table))
    }
    folder = arguments.output or Path(graph.paths.manuscript(study.study))
    for name, text in texts.items():
        with writing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        print(folder / name)


if __name__ == "__main__":
    run(main)
