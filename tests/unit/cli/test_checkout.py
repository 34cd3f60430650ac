"""Files of the demo, and words that the shell completes."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.cli import checkout as checkouts
from pubmill.cli.checkout import make_demo_files, provide_mirror
from pubmill.cli.studies import sort_words, spec_names, study_names
from pubmill.errors import PubmillError


@pytest.mark.parametrize("there", [False, True])
def test_files_of_the_demo_are_written_and_shown_if_they_are_new(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], there: bool
) -> None:
    """A world that is there is only checked, and brought up to date without a word."""
    done, asked = SimpleNamespace(returncode=0), []

    def run(words: list[str], check: bool, stdout: int) -> SimpleNamespace:
        asked.append((words[1:], stdout))
        return done

    if there:
        (checkout / "tests/world/mirror").mkdir(parents=True)
    monkeypatch.setattr(subprocess, "run", run)
    make_demo_files()
    assert asked == [(["-m", "tests.world", "tests/world/mirror"], subprocess.DEVNULL)]
    assert ("$ .venv/bin/python -m tests.world tests/world/mirror\n" in capsys.readouterr().err) is not there
    done.returncode = 1
    with pytest.raises(PubmillError, match="could not be written to tests/world/mirror"):
        make_demo_files()


def test_studies_and_tables_are_completed(checkout: Path) -> None:
    names, tables = study_names(), spec_names("tables")
    assert names[0] == "demo" and names[1:] == sorted(names[1:]) and "gu2020" in names
    assert tables == sorted(tables) and "gu2020/table06" in tables


def test_words_after_the_first_option_are_options() -> None:
    """Configurations are put together; an option's value is no name."""
    words = sort_words(["a", "b", "--config", "x=1", "--configfile", "c.yaml", "-C", "y=2", "-j", "4"])
    assert words == (["a", "b"], ["c.yaml"], ["x=1", "y=2"], ["-j", "4"])
    assert sort_words(None) == sort_words([]) == ([], [], [], [])
    assert sort_words(["-n"]).names == []


@pytest.mark.parametrize(
    ("mirror", "there", "made"),
    [
        ("tests/world/mirror", False, 1),
        ("tests/world/mirror", True, 0),
        ("elsewhere", False, 0),
        (None, False, 0),
    ],
)
def test_the_demos_mirror_is_made_where_a_study_reads_it(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, mirror: str | None, there: bool, made: int
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(checkouts, "make_demo_files", lambda: calls.append(1))
    if there:
        (checkout / "tests/world/mirror").mkdir(parents=True)
    provide_mirror(mirror)
    assert len(calls) == made
