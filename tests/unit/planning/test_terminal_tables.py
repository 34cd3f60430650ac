"""Text and tables on a terminal, and in a pipe."""

import re
import sys

import pytest

from pubmill.planning.terminal_tables import print_markdown, print_text


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
