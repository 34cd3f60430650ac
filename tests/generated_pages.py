"""Write the generated pages of the site: docs/fidelity.md, docs/fidelity and docs/reference.

.venv/bin/python -m tests.generated_pages

`make docs` runs it before mkdocs. The pages are not stored.
"""

import shutil
from pathlib import Path

from tests import fidelity_page, spec_reference

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def names() -> set[str]:
    return fidelity_page.page_names(ROOT / "specs") | {
        f"reference/{name}.md" for name in spec_reference.PAGE_NAMES
    }


def main() -> None:
    for folder in ("fidelity", "reference"):
        shutil.rmtree(DOCS / folder, ignore_errors=True)
        (DOCS / folder).mkdir()
    for path, text in (fidelity_page.pages(ROOT / "specs") | spec_reference.pages()).items():
        (DOCS / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
