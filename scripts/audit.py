"""Audit published values: which of them the stated test split, runs, aggregate and rounding can give.

    .venv/bin/python scripts/audit.py --output results/full/reports/audit

Tests every published value of the papers by the specs at full scale. Outputs: OUTPUT.json, .md, .html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.report.audit_rendering import AUDIT_RENDERERS
from pubmill.stages.study_graph import audit_recipe
from pubmill.storage.checksums import write_formats
from pubmill.tables.audit import audit

SPECS = Path(__file__).resolve().parents[1] / "specs"


def main(
    output: Annotated[Path, "path of the outputs, without extension"],
    specs: Annotated[Path, "folder of the specs"] = SPECS,
) -> None:
    for path in write_formats(output, audit(audit_recipe(specs), specs), AUDIT_RENDERERS):
        print(path)


if __name__ == "__main__":
    run(program(main))
