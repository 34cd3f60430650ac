"""Wording of messages: numbers, controls, commands, names, progress; text and tables on terminals."""

import io
import re
import shlex
import sys
import unicodedata
from types import SimpleNamespace

import pytest
from rich.console import Console

from pubmill.messages import commands, progress
from pubmill.messages.progress import report_progress, with_counts
from pubmill.messages.terminal_tables import print_markdown, print_text, table
from pubmill.messages.wording import SHOWN as MOST_NAMES
from pubmill.messages.wording import counted, escape_controls, nearest, unknown


def test_only_one_is_singular() -> None:
    assert [counted(number, "dataset") for number in (0, 1, 2, 1000)] == [
        "0 datasets", "1 dataset", "2 datasets", "1,000 datasets"
    ]  # fmt: skip
    assert [counted(number, "hash", "hashes") for number in (1, 2)] == ["1 hash", "2 hashes"]


HOSTILE = "a\x1b[2J\x1b]0;title\x07\rb\x9bc\u202ed\u2066e\u200ff\u2028g\ufdd0h\ud800i\U0001fffe"
SHOWN = r"a\x1b[2J\x1b]0;title\x07\rb\x9bc\u202ed\u2066e\u200ff\u2028g\ufdd0h\ud800i\U0001fffe"
KEPT = "plain\ttext\nof two lines, naïve, 中文, 𝛼, soft\u00adhyphen, a\u200bb"


def test_what_acts_is_shown_as_its_code_and_all_else_stays() -> None:
    assert escape_controls(HOSTILE) == SHOWN
    assert escape_controls(KEPT) == KEPT
    assert escape_controls(SHOWN) == SHOWN


def test_every_control_surrogate_and_bidirectional_control_is_escaped() -> None:
    bidirectional = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        acts = unicodedata.category(character) in ("Cc", "Cs") and character not in "\t\n"
        if acts or unicodedata.bidirectional(character) in bidirectional:
            assert escape_controls(character).isascii(), hex(number)


def test_commands_are_quoted_and_options_that_take_all_arguments_come_last() -> None:
    configured = commands.configuration_options(["a.yaml"], ["x=1", "y=2"])
    made = commands.snakemake("results/a b.json", configuration=configured, options=["--forcerun", "parse"])
    assert shlex.split(made) == [
        ".venv/bin/snakemake", "results/a b.json", "--profile", "profiles/local", "--configfile", "a.yaml",
        "--config", "x=1", "y=2", "--forcerun", "parse",
    ]  # fmt: skip
    assert commands.configuration_options([]) == []
    repeated = commands.verb_options(["a.yaml"], ["x=1", "y=2"])
    assert repeated == ["--configfile", "a.yaml", "--config", "x=1", "--config", "y=2"]
    said = commands.pubmill("predict", "kept", "my notes.txt")
    assert said == ".venv/bin/pubmill predict kept 'my notes.txt'"
    assert commands.local_files("i2b2") == """--config 'local_files={"i2b2": "/path/to/folder"}'"""


def test_files_of_results_are_made_by_the_study_of_their_configuration() -> None:
    file, configured = "results/a b.json", commands.configuration_options
    assert commands.run_files(file) == ".venv/bin/pubmill run demo 'results/a b.json'"
    assert commands.run_files("a", configuration=configured(["studies/x.yaml"], ["y=1"]), options=["-n"]) == (
        ".venv/bin/pubmill run x a --config y=1 -n"
    )
    assert commands.run_files("a", configuration=configured(["own.yaml", "more.yaml"])) == (
        ".venv/bin/pubmill run own.yaml a --configfile more.yaml"
    )
    assert commands.run_files("a", configuration=configured([], ["y=1"])).endswith("run demo a --config y=1")


def test_the_most_similar_names_come_first_whatever_their_case() -> None:
    assert nearest("PubMedBert", ["biobert", "pubmedbert-base", "electra"])[0] == "pubmedbert-base"
    assert nearest("x", ["b", "a"]) == ["a", "b"]  # equally unlike: by name


def test_a_message_shows_five_names_and_how_many_there_are() -> None:
    names = [f"bc5-{letter}" for letter in "abcdefg"]
    few, many = unknown("dataset", "bc5-a", names[:MOST_NAMES]), unknown("dataset", "bc5-a", names)
    assert few == "there is no dataset 'bc5-a'; the nearest: bc5-a, bc5-b, bc5-c, bc5-d, bc5-e"
    assert many == few + " (7 in all)"
    assert unknown("model", "x", []) == "there is no model 'x'; the nearest: none"


def test_a_closed_pipe_ends_no_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report_progress("hello")
    assert capsys.readouterr().err == "pubmill: hello\n"

    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", broken)
    report_progress("hello")


def test_reports_are_as_far_apart_as_the_interval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of items that end 5, 10, 15, 20 and 29 seconds after the start, the second and the fourth."""
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for seconds in with_counts((5.0, 10.0, 15.0, 20.0, 29.0), "items"):
        now[0] = seconds
    assert capsys.readouterr().err == "pubmill: 2 items\npubmill: 4 items\n"


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
