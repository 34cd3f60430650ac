"""A board from a folder of submissions, as its host makes it, and what submissions are refused for."""

import gzip
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
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
from pubmill.extras.board.board_scores import board_graph, score_entries
from pubmill.specs import load
from tests.unit.metrics.toy_predictions import MENTIONS, RELATIONS
from tests.unit.predictions import toy_datasets as toy
from tests.unit.programs import Ended, run_verb
from tests.world.dice import Dice

TOYS = {"bc2gm": "ner", "hoc@blurb": "doc", "biosses": "sim"}
"""Dataset of a spec -> the toy of its kind."""
NEW = [word for name in TOYS for word in ("--dataset", name)]


def card(label: str, **changes: Any) -> str:
    system = {"name": "group/one", "version": "1", "url": "https://example.org", "local": True}
    return yaml.safe_dump({"label": label, "submitted": "2026-11-01", "system": system} | changes)


def wrong(name: str, share: int) -> str:
    """Return the gold with every so many lines wrong."""
    empty = {"labels": [], "score": 0.0}
    lines = [json.loads(line) for line in toy.jsonl(name).splitlines()]
    for line in lines[::share]:
        key = next(one for one in line if one != "id")
        line[key] = ["O"] * len(line[key]) if name == "ner" else empty[key]
    return "".join(json.dumps(line) + "\n" for line in lines)


def submit(board: Path, name: str, content: Callable[[str], str], text: str | None = None) -> Path:
    folder = board / "submissions" / name
    folder.mkdir(parents=True)
    for dataset, kind in TOYS.items():
        (folder / f"{dataset}.jsonl").write_text(content(kind))
    (folder / "card.yaml").write_text(text or card(name.title()))
    return folder


def make(board: Path, results: Path, *words: str) -> Ended:
    return run_verb("board", board, *words, "--results", results)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "full"
    for dataset, name in TOYS.items():
        toy.make(folder, name, dataset)
    return folder


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory, results: Path) -> Path:
    """A board of three submissions, one of which is refused."""
    folder = tmp_path_factory.mktemp("boards") / "made"
    submit(folder, "best", lambda name: wrong(name, 7), card("Best", cost={"parameters": 110_000_000}))
    submit(folder, "second", lambda name: wrong(name, 2))
    submit(folder, "cut", lambda name: wrong(name, 3)[:-40])
    made = make(folder, results, *NEW)
    assert made.returncode == 1
    assert made.stdout.strip() == str(folder / "site/index.html")
    assert "2 submissions accepted, 1 refused" in made.stderr
    assert "refused: cut: " in made.stderr
    return folder


def test_scores_ranks_and_statements_are_on_the_page(board: Path) -> None:
    page = (board / "site/index.html").read_text()
    rows = re.findall(r'<tr><th scope="row"><a href="#(\w+)">', page)
    assert rows == ["best", "second"]
    assert "110" in page and "group/one, version 1" in page
    assert 'data-value="100.0"' not in page
    assert not re.search(r'(src|href)="https?://', page)


def test_two_submissions_can_be_compared_by_example(board: Path) -> None:
    page = (board / "site/examples-hoc@blurb.html").read_text()
    [data] = re.findall(r'id="data">(.*?)</script>', page)
    found = json.loads(data)
    assert [one["label"] for one in found["submissions"]] == ["Best", "Second"]
    assert [right for right, _ in found["submissions"][0]["answers"]] == [0, *[1] * 11]
    assert found["examples"][0] == ["71", "Abstract 1. More."]


@pytest.mark.long
def test_only_what_changed_is_scored_again_and_the_history_goes_on(board: Path, results: Path) -> None:
    records = board / ".board/results/full/runs/off-the-shelf"
    before = {path: path.stat().st_mtime_ns for path in records.rglob("seed-1.json")}
    changed = board / "submissions/second/biosses.jsonl"
    changed.write_text(wrong("sim", 4))
    for name in ("cut", "second"):
        os.utime(board / "submissions" / name)
    assert make(board, results).returncode == 1
    after = {path: path.stat().st_mtime_ns for path in records.rglob("seed-1.json")}
    assert [path.parts[-4:-2] for path in before if before[path] != after[path]] == [("biosses", "as-it-is")]
    make(board, results)
    lines = [json.loads(line) for line in (board / "history.jsonl").read_text().splitlines()]
    events = [("best", "added"), ("second", "added"), ("second", "changed")]
    assert [(one["submission"], one["event"]) for one in lines] == events


def test_a_check_writes_no_site_and_a_board_is_made_once(tmp_path: Path, results: Path) -> None:
    made = make(tmp_path / "new", results, "--dataset", "biosses")
    assert made.returncode == 0 and "0 submissions accepted, 0 refused" in made.stderr
    workflow = yaml.safe_load((tmp_path / "new/.github/workflows/board.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"} and len(workflow["jobs"]) == 3
    folder = tmp_path / "new/submissions/one"
    folder.mkdir()
    (folder / "biosses.jsonl").write_text(wrong("sim", 5))
    (folder / "card.yaml").write_text(card("One"))
    assert make(tmp_path / "new", results, "--check").returncode == 0
    assert not (tmp_path / "new/site").exists()
    again = make(tmp_path / "new", results, "--dataset", "bc2gm")
    assert "board.yaml exists; its datasets are changed there" in again.stderr


def test_a_folder_that_is_no_board_says_what_to_do(tmp_path: Path, results: Path) -> None:
    said = make(tmp_path, results).stderr
    assert f"{tmp_path} is no board yet; name its datasets: --dataset bc2gm" in said
    said = make(tmp_path, results, "--dataset", "bc2mg").stderr
    assert "bc2gm" in said and "board.yaml" in said


@pytest.mark.long
def test_of_two_with_the_same_predictions_the_first_stays_and_may_be_renamed(
    tmp_path: Path, results: Path
) -> None:
    submit(tmp_path, "original", lambda name: wrong(name, 5))
    assert make(tmp_path, results, *NEW).returncode == 0
    submit(tmp_path, "a-copy", lambda name: wrong(name, 5))
    for _ in range(2):
        said = make(tmp_path, results).stderr
        assert "1 submission accepted, 1 refused" in said and "refused: a-copy: " in said
        shutil.rmtree(tmp_path / ".board")
    shutil.rmtree(tmp_path / "submissions/a-copy")
    (tmp_path / "submissions/original").rename(tmp_path / "submissions/renamed")
    assert "1 submission accepted, 0 refused" in make(tmp_path, results).stderr


def test_a_withdrawn_submission_is_an_event_and_may_come_again() -> None:
    before = Event(day="2026-01-01", submission="one", event="added", content={"a, seed 1": "x"}, scores={})
    [gone] = new_events([before], [], {}, "2026-01-02")
    assert (gone.submission, gone.event) == ("one", "withdrawn")
    assert not list(new_events([before, gone], [], {}, "2026-01-03"))


def _broken_card(text: str) -> Callable[[Path, Dice], object]:
    return lambda folder, _: (folder / "card.yaml").write_text(text)


def _lines(change: Callable[[list[dict[str, Any]], Dice], object]) -> Callable[[Path, Dice], None]:
    """Return a damage of the predictions for one dataset."""

    def damage(folder: Path, dice: Dice) -> None:
        path = folder / f"{dice.pick([*TOYS])}.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        change(lines, dice)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    return damage


def _cut(folder: Path, dice: Dice) -> None:
    path = folder / f"{dice.pick([*TOYS])}.jsonl"
    path.write_bytes(path.read_bytes()[: -dice.between(2, 60)])


HOSTILE: dict[str, Callable[[Path, Dice], object]] = {
    "no card": lambda folder, _: (folder / "card.yaml").unlink(),
    "no YAML": _broken_card("label: [\n"),
    "an object of Python": _broken_card("label: !!python/object/apply:os.system [true]\n"),
    "references": _broken_card("a: &a [1]\nlabel: *a\n"),
    "a long label": _broken_card(card("x" * 81)),
    "no system": _broken_card("label: A\nsubmitted: 2026-01-01\n"),
    "an unknown key": _broken_card(card("A", rank=1)),
    "a negative cost": _broken_card(card("A", cost={"gpu_hours": -1})),
    "an infinite cost": _broken_card(card("A", cost={"gpu_hours": float("inf")})),
    "a large card": _broken_card(card("A") + "#" * 60_000),
    "another's label": _broken_card(card("Sound")),
    "a link": lambda folder, _: (folder / "hoc@blurb.conll").symlink_to("/etc/passwd"),
    "a linked folder": lambda folder, _: (folder / "seed-2").symlink_to("/etc"),
    "a pipe": lambda folder, _: os.mkfifo(folder / "bc2gm.pipe"),
    "another dataset": lambda folder, _: (folder / "jnlpba.conll").write_text("a\tO\n\n"),
    "two files": lambda folder, _: (folder / "biosses.json").write_text("{}"),
    "no gzip": lambda folder, _: (folder / "biosses.jsonl").rename(folder / "biosses.jsonl.gz"),
    "binary": lambda folder, dice: (folder / "bc2gm.jsonl").write_bytes(
        bytes(dice.below(256) for _ in range(300))
    ),
    "empty": lambda folder, _: (folder / "bc2gm.jsonl").write_text(""),
    "cut": _cut,
    "a line lacks": _lines(lambda lines, dice: lines.pop(dice.below(len(lines)))),
    "a line twice": _lines(lambda lines, dice: lines.append(lines[dice.below(len(lines))])),
    "an unknown id": _lines(lambda lines, dice: lines[dice.below(len(lines))].update(id="x")),
    "gold beside it": _lines(lambda lines, _: [line.update(gold=1) for line in lines]),
    "no prediction": _lines(lambda lines, _: [line.pop("labels", line.pop("score", 0)) for line in lines]),
    "a wrong type": _lines(
        lambda lines, dice: lines[0].update({key: {} for key in lines[0].keys() - {"id"}})
    ),
    "no number": _lines(
        lambda lines, _: lines[0].update({key: float("nan") for key in lines[0] if key != "id"})
    ),
    "a label of none": _lines(
        lambda lines, _: lines[0].update({key: ["Z"] for key in lines[0].keys() - {"id"}})
    ),
}
"""What hostile or careless people hand in."""


def refusals(board: Path, results: Path, number: int) -> tuple[list[str], dict[str, str]]:
    """Return the names of accepted submissions, beside so many hostile ones, and why others are refused."""
    submit(board, "a-sound-one", lambda name: wrong(name, 3), card("Sound"))
    names = [*HOSTILE]
    for one in range(number):
        dice = Dice(one)
        folder = submit(board, f"b-{one:04d}", lambda name: wrong(name, 2), card(f"{one}"))
        HOSTILE[names[one % len(names)]](folder, dice)
    spec = BoardSpec(title="A board", datasets=tuple(TOYS))
    entries, refused = read_entries(board, spec)
    graph = board_graph(board, spec, entries, Path("specs"), load(Path("specs"), "full"), results)
    refused |= score_entries(graph, entries)
    return [one.name for one in entries if one.name not in refused], refused


@pytest.mark.parametrize(
    "number", [len(HOSTILE), pytest.param(2_000, marks=[pytest.mark.long, pytest.mark.weekly])]
)
def test_hostile_submissions_are_refused_and_show_no_gold(
    tmp_path: Path, results: Path, number: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    accepted, refused = refusals(tmp_path, results, number)
    names = [*HOSTILE]
    assert accepted == ["a-sound-one"], [(names[int(one[2:]) % len(names)], one) for one in accepted[1:]]
    assert len(refused) == number
    gold = [str(toy.gold(one)) for name in TOYS.values() for one in toy.examples(name)]
    shown = "\n".join(refused.values())
    assert not [one for one in gold if len(one) > 4 and one in shown]
    assert "root:" not in shown


SPEC = BoardSpec(title="A board", datasets=("bc2gm", "biosses"))


def board_of(folder: Path, *datasets: str) -> Path:
    text = yaml.safe_dump({"title": "A board", "datasets": list(datasets)})
    (folder / "board.yaml").write_text(text)
    return folder


def submission(folder: Path, name: str = "one", file: str = "bc2gm.conll", **changes: Any) -> Path:
    made = folder / "submissions" / name
    made.mkdir(parents=True)
    (made / "card.yaml").write_text(card(**{"label": name} | changes))
    (made / file).write_text("a\tO\n\n")
    return made


def test_a_board_names_known_datasets_once(tmp_path: Path) -> None:
    known = ["bc2gm", "biosses"]
    assert read_board(board_of(tmp_path, "bc2gm", "biosses"), known).datasets == ("bc2gm", "biosses")
    with pytest.raises(PubmillError, match=r"board\.yaml: `datasets` names one twice$"):
        read_board(board_of(tmp_path, "bc2gm", "bc2gm"), known)
    with pytest.raises(PubmillError, match=r"board\.yaml: there is no dataset 'bc2mg'; the nearest: bc2gm"):
        read_board(board_of(tmp_path, "bc2mg"), known)
    with pytest.raises(PubmillError, match=r"board\.yaml:\d+: datasets: "):
        read_board(board_of(tmp_path), known)
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
    "rel": "drug1 and gene1 in: In 1 assays drug1 changed gene1 levels.", "doc": "Abstract 1. More.",
    "sim": "One 1. Two 1.", "qa": "What 1? It is gene1 here.",
}  # fmt: skip


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
