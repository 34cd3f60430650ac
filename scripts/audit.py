"""Audit published values: which of them the stated test split, runs, aggregate and rounding can give.

    .venv/bin/python scripts/audit.py --output results/full/reports/audit

Tests every published value of the five papers by the specs at full scale. Outputs: OUTPUT.json, .md, .html.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.report.audit_rendering import AUDIT_RENDERERS
from pubmill.stages.study_graph import audit_recipe
from pubmill.storage.checksums import write_formats
from pubmill.tables.audit import audit


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--specs", type=Path, default=ROOT / "specs", help="folder of the specs")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    for path in write_formats(
        arguments.output, audit(audit_recipe(arguments.specs), arguments.specs), AUDIT_RENDERERS
    ):
        print(path)


if __name__ == "__main__":
    run(main)
