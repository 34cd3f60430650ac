"""What of a board is scored again, and the proof that another extra makes."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.extras.submissions.board import board_scores
from pubmill.extras.submissions.board.board_files import BoardSpec, read_entries
from pubmill.extras.submissions.board.board_graph import board_graph
from pubmill.specs import Specs
from tests.unit.extras.submissions import toy_datasets as toy

SYSTEM = {"name": "group/one", "version": "1", "url": "https://example.org", "local": True}


def test_only_files_that_changed_are_scored_again(
    tmp_path: Path, root: Path, full_specs: Specs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    results, board = tmp_path / "results/full", tmp_path / "board"
    toy.make(results, "sim", "biosses")
    folder = board / "submissions/one"
    folder.mkdir(parents=True)
    card = {"label": "One", "submitted": "2026-11-01", "system": SYSTEM}
    (folder / "card.yaml").write_text(yaml.safe_dump(card))
    for seed in (1, 2):
        (folder / f"seed-{seed}").mkdir()
        lines = [json.loads(line) for line in toy.jsonl("sim").splitlines()]
        lines[seed]["score"] = 1.0
        (folder / f"seed-{seed}/biosses.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    spec = BoardSpec(title="A board", datasets=("biosses",))
    scored: list[int] = []
    score = board_scores._score

    def counting(graph: Any, model: str, dataset: str, seed: int, *more: Any) -> None:
        scored.append(seed)
        score(graph, model, dataset, seed, *more)

    monkeypatch.setattr(board_scores, "_score", counting)
    entries, refused = read_entries(board, spec)
    assert [one.name for one in entries] == ["one"] and refused == {}
    graph, _ = board_graph(board, spec, entries, root / "specs", full_specs, results)
    for expected in ([1, 2], []):
        assert board_scores.score_entries(graph, entries) == {}
        assert scored == expected
        scored.clear()
    second = folder / "seed-2/biosses.jsonl"
    second.write_text(second.read_text().replace('"score": 2.25', '"score": 3.0'))
    board_scores.score_entries(graph, entries)
    assert scored == [2]


STAGES = SimpleNamespace(
    results="results", paths=SimpleNamespace(proof=lambda name: f"{name}.zip", table_basis=lambda name: "b"),
    proof=SimpleNamespace(basis_recipe=lambda name: None, recipe=lambda: None),
)  # fmt: skip


def test_without_the_extra_there_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_scores, "PACKAGE", tmp_path)
    stages: Any = STAGES
    assert board_scores.write_proof(stages, tmp_path) is None


def test_a_proof_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        started.append(Path(words[1]).stem)
        failed = started[-1] == "proof" and len(started) == 2
        return subprocess.CompletedProcess(words, int(failed), "", "no space\n" if failed else "")

    (tmp_path / "extras/proof/programs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(board_scores, "PACKAGE", tmp_path)
    monkeypatch.setattr(board_scores, "as_json", lambda recipe: "{}")
    monkeypatch.setattr(subprocess, "run", run)
    stages: Any = STAGES
    with pytest.raises(PubmillError, match=r"^the proof of the board could not be made: no space$"):
        board_scores.write_proof(stages, tmp_path)
    assert board_scores.write_proof(stages, tmp_path) == Path("board.zip")
    assert started == ["basis", "proof"] * 2
