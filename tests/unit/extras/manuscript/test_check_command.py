"""What `pubmill check` and `pubmill tex` print, and the files of the latter."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from pubmill.report.table_rendering import latex_table
from tests.unit.extras.manuscript import toy_study
from tests.unit.extras.manuscript.toy_study import NAME, study
from tests.unit.programs import Ended, run_verb

EXTRA = "pubmill.extras.manuscript"
WRONG = "\\section{A} PubMedBERT reaches 84.10 on BC2GM."


@pytest.fixture
def paper(tmp_path: Path) -> Iterator[Path]:
    """A manuscript, checked against the toy study."""
    made = study(tmp_path)
    graph = SimpleNamespace(paths=SimpleNamespace(manuscript=lambda name: tmp_path / f"reports/{name}"))
    with (
        patch(f"{EXTRA}.check_command.configured_graph", lambda *_: graph),
        patch(f"{EXTRA}.tex_command.configured_graph", lambda *_: graph),
        patch(f"{EXTRA}.study_tables.finished_tables", lambda graph: made),
    ):
        (tmp_path / "paper").mkdir()
        yield tmp_path / "paper/paper.tex"


def check(paper: Path, text: str, *words: str) -> Ended:
    paper.write_text(text, encoding="utf-8")
    return run_verb("check", paper, "--study", "toy", *words)


def test_findings_are_lines_and_the_status(paper: Path) -> None:
    said = check(paper, WRONG)
    [line] = said.stdout.splitlines()
    assert line.startswith(f"{paper}:1:32: number that is not the table's: 84.10 stands here; ")
    assert (said.returncode, said.stderr) == (1, "findings: 1, against the tables of toy\n")
    right = check(paper, WRONG.replace("84.10", "84.52"))
    assert right == Ended(0, "", "findings: 0, against the tables of toy\n")


def test_findings_are_json_without_a_line_of_their_number(paper: Path) -> None:
    said = check(paper, f"\\input{{absent}}é {WRONG}", "--json")
    [found] = json.loads(said.stdout)
    assert (found["kind"], found["line"], said.returncode) == ("stale", 1, 1)
    assert found["file"] == str(paper) and said.stdout.startswith("[\n {\n") and said.stdout.endswith("]\n")
    assert said.stderr == f"note: {paper}:1: absent was not read: the folder has no such file\n"
    assert check(paper, "\\section{A}", "--json") == Ended(0, "[]\n", "")


def test_the_numbers_of_a_study_are_written_for_latex(paper: Path, tmp_path: Path) -> None:
    said = run_verb("tex", "toy")
    folder = tmp_path / "reports/toy"
    written = [folder / "cells.tex", folder / "gu2020-table06.tex"]
    assert said.stdout.splitlines() == list(map(str, written))
    table = study(tmp_path).tables[NAME]
    assert written[1].read_text() == latex_table(table)
    key = f"{{{NAME}}}{{bc2gm}}{{pubmedbert-base}}"
    assert f"\\pubmillcell{key}" in written[0].read_text()
    more = run_verb("tex", "toy", "--spread", "--published", "--output", tmp_path / "mine")
    assert more.stdout.splitlines()[-1] == str(tmp_path / "mine/gu2020-table06.tex")
    found = (tmp_path / "mine/gu2020-table06.tex").read_text()
    assert found == latex_table(table, spread=True, published=True) != latex_table(table)


def test_a_table_without_our_values_is_in_no_file_of_its_own(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing: dict[str, dict[str, tuple[float, ...]]] = {
        model: dict.fromkeys(rows, ()) for model, rows in toy_study.SCORES.items()
    }
    monkeypatch.setattr(toy_study, "SCORES", nothing)
    (tmp_path / "nothing").mkdir()
    made = toy_study.study(tmp_path / "nothing")
    folder = tmp_path / "empty"
    with patch(f"{EXTRA}.study_tables.finished_tables", lambda graph: made):
        said = run_verb("tex", "toy", "--output", folder)
    assert said.stdout.splitlines() == [str(folder / "cells.tex")]
