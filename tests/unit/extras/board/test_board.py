"""A board from a folder of submissions, as its host makes it."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.extras.board.board_files import BoardSpec, Event, new_events, read_entries
from pubmill.extras.board.board_scores import board_graph, score_entries
from pubmill.specs import load
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


@pytest.mark.parametrize("number", [len(HOSTILE), pytest.param(2_000, marks=pytest.mark.weekly)])
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
