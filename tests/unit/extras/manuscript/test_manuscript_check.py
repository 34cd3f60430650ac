"""Files of a manuscript that were not checked are noted."""

from pathlib import Path

import pytest

from pubmill.extras.manuscript.manuscript_check import check_manuscript
from pubmill.extras.manuscript.study_tables import StudyTables


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("", ["paper.tex has no LaTeX command; expected the main file of a manuscript"]),
        ("A score of 84.5.", ["paper.tex has no LaTeX command; expected the main file of a manuscript"]),
        (r"\section{Results} Nothing.", []),
        (
            "Text.\n\\input{results}\n\\input{../other}",
            [
                "paper.tex:2: results was not read: the folder has no such file",
                "paper.tex:3: ../other was not read: it is outside the manuscript's folder",
            ],
        ),
    ],
)
def test_what_was_not_checked_is_noted(text: str, notes: list[str], tmp_path: Path) -> None:
    paper = tmp_path / "paper/paper.tex"
    paper.parent.mkdir()
    paper.write_text(text)
    (tmp_path / "other.tex").touch()
    found = check_manuscript(paper, StudyTables("study", "demo", {}, {}))
    assert [note.removeprefix(f"{paper.parent}/") for note in found.notes] == notes and not found.findings
