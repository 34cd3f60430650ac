"""The page docs/fidelity.md, made from the statements under `method:` of the specs.

python -m tests.fidelity_page           print it
python -m tests.fidelity_page --write   write the page
"""

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import get_args

from pubmill.specs.fidelity import FidelityRow, faults, rows
from pubmill.specs.spec_types import Standing
from tests import cell_counts

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/fidelity.md"
STANDINGS = get_args(Standing)
INTRODUCTION = """# What is as printed

Every value of a protocol, corpus, vocabulary and pretraining recipe has a statement under `method:` of its
spec: what the paper says and in which section, what the spec does, and why, if that is not the same. This
page is made from these statements by

```sh
.venv/bin/python -m tests.fidelity_page --write
```

and `tests/unit/specs/test_fidelity.py` fails if a value has no statement, a statement has no value, or this
page is old.

- **as printed**: the spec does what the paper says, or takes what the paper refers to.
- **ours**: the paper does not decide it; the reason for our choice follows.
- **differs**: the paper says it and the spec does something else; the reason follows.

A variant (`NAME@VARIANT`) has statements about its own values only; the others are those of the spec that it
includes. A scale (`demo`, `small`) changes values, and its results are not compared with the papers.

"""
HEADING = "| what | here | the paper | section | standing | why |\n|---|---|---|---|---|---|\n"


def as_markdown(folder: Path) -> str:
    """Return the page, for the specs in a folder."""
    found = rows(folder)
    papers = "".join(_paper(*one) for one in _by(found, "paper"))
    return f"{INTRODUCTION}{_counts(found)}\n{cell_counts.as_markdown()}{papers}"


def _by(found: Iterable[FidelityRow], field: str) -> list[tuple[str, list[FidelityRow]]]:
    return [(name, list(some)) for name, some in groupby(found, key=lambda row: getattr(row, field))]


def _counts(found: list[FidelityRow]) -> str:
    lines = [f"| paper | {' | '.join(STANDINGS)} | together |", "|---|" + "---|" * (len(STANDINGS) + 1)]
    for paper, some in [*_by(found, "paper"), ("all", found)]:
        counts = Counter(row.statement.standing for row in some)
        numbers = [counts[standing] for standing in STANDINGS]
        lines.append(f"| {paper} | {' | '.join(map(str, numbers))} | {sum(numbers)} |")
    return "\n".join(lines) + "\n"


def _paper(paper: str, found: list[FidelityRow]) -> str:
    return f"\n## {paper}\n" + "".join(
        f"\n### {spec}\n\n{HEADING}{''.join(map(_line, some))}" for spec, some in _by(found, "spec")
    )


def _line(row: FidelityRow) -> str:
    one = row.statement
    standing = one.standing if one.standing == "as printed" else f"**{one.standing}**"
    cells = (row.about, row.here, one.says, one.section, standing, one.ours or one.differs)
    return f"| {' | '.join(_cell(cell or '') for cell in cells)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    if found := faults(ROOT / "specs"):
        sys.exit("\n".join(found))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(as_markdown(ROOT / "specs"), encoding="utf-8")
    print(as_markdown(ROOT / "specs"), end="")
