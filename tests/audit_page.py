"""The page docs/audit.md: the audit of the published values, by the specs at full scale.

python -m tests.audit_page           print it
python -m tests.audit_page --write   write the page
"""

import sys
from pathlib import Path

from pubmill.graph.study_graph import audit_recipe
from pubmill.publication.audit_rendering import to_markdown
from pubmill.tables.audit import audit

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/audit.md"


def as_markdown(specs: Path) -> str:
    """Return the page, for the specs in a folder."""
    return to_markdown(audit(audit_recipe(specs), specs))


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(as_markdown(ROOT / "specs"), encoding="utf-8")
    print(as_markdown(ROOT / "specs"), end="")
