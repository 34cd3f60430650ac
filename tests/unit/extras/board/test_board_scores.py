"""What of a board is scored again, and the proof that another extra makes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.extras.board import board_scores
from pubmill.extras.board.board_files import BoardSpec, read_entries
from pubmill.extras.board.board_graph import board_graph
from pubmill.specs import Specs
from tests.unit.predictions import toy_datasets as toy

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
