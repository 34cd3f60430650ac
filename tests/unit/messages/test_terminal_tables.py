"""Text and tables on a terminal, and in a pipe."""

import io
import re
import sys

import pytest
from rich.console import Console

from pubmill.messages.terminal_tables import print_markdown, print_text, table


def open_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")


def test_lines_are_continued_at_words_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")  # as Python's readline sets it for programs that it starts
    line = "  why: " + "runs of one search " * 6
    print_text(line)
    assert capsys.readouterr().out == line + "\n"
    open_terminal(monkeypatch, 80)
    print_text(f"short\n\n{line}", hanging=2)
    first, empty, *rest = capsys.readouterr().out.splitlines()
    assert (first, empty) == ("short", "") and len(rest) == 2 and max(map(len, rest)) <= 80
    assert rest[1].startswith("    ") and " ".join(map(str.strip, rest)) == line.strip()


def test_tables_of_markdown_are_set_to_the_terminal_without_a_loss(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"# Title\n\n| Model | {'x' * 60} |\n|---|---:|\n| PubMedBERT<br>uncased | {'y' * 60} |\n\nEnd\n"
    print_markdown(text)
    assert capsys.readouterr().out == text + "\n"
    open_terminal(monkeypatch, 40)
    print_markdown(text)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert lines[0] == "Title" and "End" in lines and max(map(len, lines)) <= 40
    assert "".join(lines).count("y") == 60 and "uncased" in "".join(lines)


@pytest.mark.parametrize("width", [46, 60, 80, 200])
@pytest.mark.parametrize(
    "name", ["pubmedbert-base@general-vocabulary-subword", "results/full/tables/gu2020/gu2020-table06.html"]
)
def test_names_in_a_table_are_folded_at_separators(name: str, width: int) -> None:
    made = table("model", "V100", "H100", "H200", numbers=(1, 2, 3))
    made.add_row(name, "1,234", "567", "890")
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(made)
    rows = console.export_text().splitlines()[3:]
    pieces = [row.split()[0] for row in rows if row.strip()]
    assert "".join(pieces) == name and all(len(row) <= width for row in rows)
    parts = set(re.findall("[a-z0-9]+", name))
    assert all(part in parts for piece in pieces for part in re.findall("[a-z0-9]+", piece))
