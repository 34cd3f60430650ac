"""Audit published values: which of them the stated test split, runs, aggregate and rounding can give.

    .venv/bin/python pubmill/extras/audit/programs/audit.py --recipe JSON --output results/full/reports/audit

Outputs: OUTPUT.json and .html. `pubmill audit` audits all published values by the specs at full scale.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.audit.audit_recipes import AuditRecipe
from pubmill.extras.audit.value_audit import AUDIT_RENDERERS, audit
from pubmill.job import program
from pubmill.messages.installation import DATA
from pubmill.storage.checksums import write_formats


def main(
    recipe: AuditRecipe,
    output: Annotated[Path, "path of the outputs, without extension"],
    specs: Annotated[Path, "folder of the published values"] = DATA / "specs",
) -> None:
    write_formats(output, audit(recipe, specs), AUDIT_RENDERERS)


if __name__ == "__main__":
    run(program(main))
