"""Files of the demo, words that the shell completes, and the study that verbs use if none is named."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.cli import checkout as checkouts
from pubmill.cli.checkout import make_demo_files, provide_mirror
from pubmill.cli.studies import (
    sort_words,
    spec_names,
    study_names,
    study_of_words,
    table_of_study,
    with_added_model,
)
from pubmill.errors import PubmillError
from pubmill.storage.result_paths import Paths


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
        ("tests/world/mirror", False, 1), ("tests/world/mirror", True, 0), ("elsewhere", False, 0),
        (None, False, 0),
    ],
)  # fmt: skip
def test_the_demos_mirror_is_made_where_a_study_reads_it(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, mirror: str | None, there: bool, made: int
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(checkouts, "make_demo_files", lambda: calls.append(1))
    if there:
        (checkout / "tests/world/mirror").mkdir(parents=True)
    provide_mirror(mirror)
    assert len(calls) == made


def meant(table: str) -> str:
    return study_of_words(None, table, None, None)


def make(checkout: Path, scale: str, study: str, table: str) -> None:
    file = Path(Paths(checkout / f"results/{scale}", study).table(table, "json"))
    file.parent.mkdir(parents=True)
    file.touch()


def test_results_decide_and_the_choice_is_reported(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert meant("gu2020/table09") == "gu2020" and capsys.readouterr().err == ""
    assert study_of_words("small", "gu2020/table09", None, None) == "small"
    assert meant("gu2020/table06") == "gu2020"
    make(checkout, "small", "small", "gu2020/table06")
    assert meant("table06") == "small"
    make(checkout, "demo", "demo", "gu2020/table06")
    assert meant("table06") == "demo"
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("pubmill: study demo is meant (gu2020/table06 is in demo, contrasts, gu2020, ")
    assert said.endswith("name another with --study")


def test_a_table_of_several_papers_or_none_is_refused(checkout: Path) -> None:
    with pytest.raises(PubmillError, match="table10 may be gu2020/table10 or tinn2021/table10; write the"):
        meant("table10")
    make(checkout, "full", "tinn2021", "tinn2021/table10")
    assert meant("table10") == "tinn2021"
    with pytest.raises(PubmillError, match=r"there is no table 'tabel06'; the nearest: .* with --study"):
        meant("tabel06")


def test_a_table_of_another_study_is_not_called_unknown() -> None:
    config = {"study": "gu2020", "tables": ["gu2020/table06"]}
    assert table_of_study("table06", config) == "gu2020/table06"
    with pytest.raises(PubmillError, match="study gu2020 has no table tinn2021/table08: add it to `tables:`"):
        table_of_study("tinn2021/table08", config)
    with pytest.raises(PubmillError, match="there is no table 'table66'; the nearest: gu2020/table06"):
        table_of_study("table66", config)


ADDED = ("bc2gm", "pubmedelectra-base")


def test_a_model_that_a_table_lacks_is_added_to_the_study(checkout: Path) -> None:
    def added(*names: str, study: str | None = None, settings: tuple[str, ...] = ()) -> object:
        return with_added_model(study, "gu2020/table06", names, settings)

    assert added("bc2gm", "pubmedbert-base") == (None, [])
    assert with_added_model(None, "gu2020/table05", ("pubmedbert-base", "corpus"), None) == (None, [])
    assert added("bc2gm", "no-such-model", settings=("a=1",)) == (None, ["a=1"])
    assert added(*ADDED) == (None, ['models=["pubmedelectra-base"]'])
    assert added(*ADDED, settings=("models=[x]",)) == (None, ["models=[x]"])


@pytest.mark.parametrize(
    ("folder", "more"),
    [
        ("pubmedelectra-base", []),
        ("roberta-large+pubmedelectra-base+own-search", ["search=own"]),
        ("pubmedelectra-base+lr=3e-05+batch=32", ["choice="]),
    ],
)
def test_the_table_that_was_made_with_a_model_gives_its_study_and_settings(
    checkout: Path, capsys: pytest.CaptureFixture[str], folder: str, more: list[str]
) -> None:
    make(checkout, "small", f"small+{folder}", "gu2020/table06")
    study, settings = with_added_model(None, "gu2020/table06", ADDED, None)
    assert "scale: small" in Path(str(study)).read_text(encoding="utf-8")
    models = [part for part in folder.split("+")[:2] if part.startswith(("roberta", "pubmedelectra"))]
    assert settings[:3] == [
        f"models={json.dumps(models)}", 'tables=["gu2020/table06"]', f"own_tables={folder}",
    ]  # fmt: skip
    assert len(settings[3:]) == len(more) and all(map(str.startswith, settings[3:], more))
    assert (
        f"pubmedelectra-base is a column of the tables in results/small/tables/small+{folder}\n"
        in capsys.readouterr().err
    )
