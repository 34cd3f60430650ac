"""What a board and its submissions are refused for, before any prediction is read."""

import re
from pathlib import Path

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.extras.board.board_files import (
    BoardSpec,
    Event,
    new_events,
    oldest_first,
    read_board,
    read_entries,
    read_entry,
    read_history,
    write_board,
    write_history,
)

SPEC = BoardSpec(title="A board", datasets=("bc2gm", "biosses"))
SYSTEM = {"name": "group/one", "version": "1", "url": "https://example.org", "local": True}


def board(folder: Path, *datasets: str) -> Path:
    text = yaml.safe_dump({"title": "A board", "datasets": list(datasets)})
    (folder / "board.yaml").write_text(text)
    return folder


def submission(folder: Path, name: str = "one", file: str = "bc2gm.conll", **changes: object) -> Path:
    made = folder / "submissions" / name
    made.mkdir(parents=True)
    card = {"label": name, "submitted": "2026-11-01", "system": SYSTEM} | changes
    (made / "card.yaml").write_text(yaml.safe_dump(card))
    (made / file).write_text("a\tO\n\n")
    return made


def test_a_board_names_known_datasets_once(tmp_path: Path) -> None:
    known = ["bc2gm", "biosses"]
    assert read_board(board(tmp_path, "bc2gm", "biosses"), known).datasets == ("bc2gm", "biosses")
    with pytest.raises(PubmillError, match=r"board\.yaml: `datasets` names one twice$"):
        read_board(board(tmp_path, "bc2gm", "bc2gm"), known)
    with pytest.raises(PubmillError, match=r"board\.yaml: there is no dataset 'bc2mg'; the nearest: bc2gm"):
        read_board(board(tmp_path, "bc2mg"), known)
    with pytest.raises(PubmillError, match=r"board\.yaml:\d+: datasets: "):
        read_board(board(tmp_path), known)
    (tmp_path / "board.yaml").unlink()
    with pytest.raises(PubmillError, match=r"board\.yaml: there is no such file"):
        read_board(tmp_path, known)


@pytest.mark.parametrize("name", ["One", "-one", "o" * 51, "a_b"])
def test_a_submission_has_a_short_plain_name(name: str, tmp_path: Path) -> None:
    message = f"{name}: expected at most 50 lower-case letters, digits and -, the first no -"
    with pytest.raises(PubmillError, match=re.escape(message)):
        read_entry(submission(tmp_path, name), SPEC)
    assert read_entry(submission(tmp_path, "o" * 50), SPEC).name == "o" * 50


def test_a_submission_has_files_of_datasets_of_the_board_only(tmp_path: Path) -> None:
    entry = read_entry(submission(tmp_path, mapping={"bc2gm": {"gene": "GENE"}}), SPEC)
    assert [*entry.files] == ["bc2gm"] and [*entry.files["bc2gm"]] == [1]
    empty = submission(tmp_path, "two")
    (empty / "bc2gm.conll").unlink()
    with pytest.raises(
        PubmillError, match=r"two: no file is named DATASET\.EXT after a dataset of the board"
    ):
        read_entry(empty, SPEC)
    other = submission(tmp_path, "three", "jnlpba.conll")
    message = f"{other}/jnlpba.conll is named after no dataset of the board. Its datasets: bc2gm, biosses"
    with pytest.raises(PubmillError, match=re.escape(message)):
        read_entry(other, SPEC)


def test_a_card_maps_answers_of_its_own_files_only(tmp_path: Path) -> None:
    made = submission(tmp_path, mapping={"bc2gm": {}, "biosses": {}})
    message = f"{made}/card.yaml: `mapping` names biosses, which has no predictions"
    with pytest.raises(PubmillError, match=re.escape(message)):
        read_entry(made, SPEC)


def test_of_two_with_one_label_the_first_is_read_and_the_other_named(tmp_path: Path) -> None:
    for name in ("b", "a"):
        submission(tmp_path, name, label="Same")
    (tmp_path / "submissions/README").touch()
    entries, refused = read_entries(tmp_path, SPEC)
    assert [one.name for one in entries] == ["a"] and [*refused] == ["b"]
    assert refused["b"].endswith("b/card.yaml: another submission has the label Same")
    assert read_entries(tmp_path / "none", SPEC) == ([], {})


def test_only_a_new_or_changed_submission_is_an_event(tmp_path: Path) -> None:
    made = submission(tmp_path)
    entry = read_entry(made, SPEC)
    scores = {"one": {"bc2gm": 80.5}}
    [added] = new_events([], [entry], scores, "2026-01-01")
    assert (added.event, added.scores, added.content) == ("added", scores["one"], entry.content)
    assert not list(new_events([added], [entry], {}, "2026-01-02"))
    (made / "bc2gm.conll").write_text("b\tO\n\n")
    [changed] = new_events([added], [entry], {}, "2026-01-02")
    assert (changed.event, changed.scores, changed.day) == ("changed", {}, "2026-01-02")
    assert changed.content.keys() == {"bc2gm, seed 1"} and changed.content != added.content


def event(name: str, day: str = "2026-01-01") -> Event:
    return Event(day=day, submission=name, event="added", content={}, scores={"bc2gm": 1.5})


def test_the_history_decides_which_submission_came_first(tmp_path: Path) -> None:
    entries = [read_entry(submission(tmp_path, name), SPEC) for name in ("a", "b", "c", "d")]
    known = [event("d"), event("b"), event("d", "2026-01-02")]
    assert [one.name for one in oldest_first(entries, known)] == ["d", "b", "a", "c"]
    assert read_history(tmp_path) == []
    write_history(tmp_path, known)
    assert read_history(tmp_path) == known
    whole = (tmp_path / "history.jsonl").read_bytes()
    for line in (b'{"day": "x"}\n', b'{"day": "2026-', b"<<<<<<< HEAD\n"):
        (tmp_path / "history.jsonl").write_bytes(whole + line)
        with pytest.raises(PubmillError, match=r"history\.jsonl:4: "):
            read_history(tmp_path)


def test_a_new_board_keeps_the_files_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "README.md").write_text("my own")
    write_board(folder, ["bc2gm", "biosses"])
    assert (folder / "README.md").read_text() == "my own"
    assert (folder / ".gitignore").read_text() == "/.board/\n/site/\n"
    stated = {"title": "mine", "datasets": ["bc2gm", "biosses"]}
    assert yaml.safe_load((folder / "board.yaml").read_text()) == stated
    cards = "results/full/datasets/bc2gm/card.json results/full/datasets/biosses/card.json"
    assert cards in (folder / ".github/workflows/board.yml").read_text()
    assert (folder / "submissions").is_dir()
    with pytest.raises(PubmillError, match=r"board\.yaml exists; its datasets are changed there"):
        write_board(folder, ["bc2gm"])
