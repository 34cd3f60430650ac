"""What a board and its submissions are refused for, how they are shown, and predictions without ids."""

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from boards.published import Published
from boards.published import submission as published
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
from pubmill.extras.board.board_pages import shown_prediction, shown_text
from tests.unit.metrics.toy_predictions import MENTIONS, RELATIONS
from tests.unit.predictions import toy_datasets as toy

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


TEXTS = {
    "ner": "Case 1 : flu fever after old aspirin tablets , not cured .",
    "rel": "drug1 and gene1 in: In 1 assays drug1 changed gene1 levels.",
    "doc": "Abstract 1. More.",
    "sim": "One 1. Two 1.",
    "qa": "What 1? It is gene1 here.",
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_input_is_shown_on_one_line(name: str) -> None:
    assert shown_text(toy.examples(name)[0]) == TEXTS[name]


@pytest.mark.parametrize(
    ("name", "predicted", "shown"),
    [("ner", ["O"] * 3 + ["B-Disease", "I-Disease"] + ["O"] * 2 + ["B-Chemical"] + ["O"] * 4,
      "Disease: flu fever; Chemical: aspirin"),
     ("ner", ["O", "O", "O", "B"] + ["O"] * 8, "flu"), ("ner", ["O"] * 12, "no mention"),
     ("qa", ["gene1", "gene2"], "gene1"), ("rel", "blocks", "blocks"), ("sim", 1.5, "1.5"),
     ("doc", ["one", "two"], "one, two"), ("doc", [], "no label")],
)  # fmt: skip
def test_a_prediction_is_shown_as_text(name: str, predicted: Any, shown: str) -> None:
    assert shown_prediction(toy.examples(name)[0], predicted) == shown


def test_relations_and_nested_mentions_are_shown_as_text() -> None:
    [document], [sentence] = RELATIONS, MENTIONS
    assert (shown_text(document), shown_text(sentence)) == ("ab", "a b")
    said = [["x", "y", "r", "Novel"], ["x", "y", "s"]]
    assert shown_prediction(document, said) == "r, Novel: x and y; s: x and y"
    assert shown_prediction(document, []) == "no relation"
    assert shown_prediction(sentence, [[0, 1, "x"], [0, 2, "y"]]) == "x: a; y: a b"
    assert shown_prediction(sentence, []) == "no mention"


FILE = "No O\nasthma B\n. O\n\nAcute B\npain I\nwas O\nseen O\nNo O\nasthma B\n. O\n"


def read(folder: Path, text: str, *sentences: str, field: str = "") -> list[dict[str, object]]:
    """Read a file of predictions for a dataset with these test sentences."""
    data = folder / "results/datasets/made/test.jsonl.gz"
    data.parent.mkdir(parents=True)
    lines = [json.dumps({"id": f"test-{n}", "words": one.split()}) for n, one in enumerate(sentences, 1)]
    data.write_bytes(gzip.compress("\n".join(lines).encode()))
    file = folder / "predictions.txt"
    file.write_text(text)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    one = Published("made", "a", "A", "a", "1", file.as_uri(), digest, field)
    return published(one, folder / "results", None)


def test_sentences_are_found_in_another_order_and_without_their_full_stop(tmp_path: Path) -> None:
    assert read(tmp_path, FILE, "Acute pain was seen .", "No asthma .") == [
        {"id": "test-1", "labels": ["B", "I", "O", "O", "O"]},
        {"id": "test-2", "labels": ["O", "B", "O"]},
    ]


@pytest.mark.parametrize(
    ("text", "found"), [(FILE + "No O\nasthma O\n. O\n", "has 2"), ("No O\npain B\n. O\n", "has 0")]
)
def test_a_sentence_with_two_predictions_or_none_is_named(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(PubmillError, match=f"test-1: the file {found} predictions"):
        read(tmp_path, text, "No asthma .")


def test_answers_are_taken_by_id_and_gold_is_left(tmp_path: Path) -> None:
    text = json.dumps({name: {"mine": "yes", "gold": "no"} for name in ("test-1", "test-2")})
    assert read(tmp_path, text, "Is it ?", field="mine") == [{"id": "test-1", "label": "yes"}]


def test_other_bytes_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    one = Published("made", "a", "A", "a", "1", (tmp_path / "p").as_uri(), "0" * 64)
    (tmp_path / "p").write_text(FILE)
    data = tmp_path / "datasets/made/test.jsonl.gz"
    data.parent.mkdir(parents=True)
    data.write_bytes(gzip.compress(b'{"id": "test-1", "words": ["No"]}\n'))
    with pytest.raises(PubmillError, match="sha256"):
        published(one, tmp_path, None)
