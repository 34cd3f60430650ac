"""The board that the repository has: its submissions on the real corpus."""

import json
import shutil
from pathlib import Path

from tests.acceptance.conftest import Converted
from tests.unit.programs import run_verb

BOARD = Path("boards/ncbi-disease")


def test_the_scores_of_its_history_are_found_again(root: Path, converted: Converted, tmp_path: Path) -> None:
    results, board = tmp_path / "full", tmp_path / "board"
    shutil.copytree(converted("ncbi-disease"), results / "datasets/ncbi-disease")
    shutil.copytree(root / BOARD, board, ignore=shutil.ignore_patterns("history.jsonl"))
    done = run_verb("board", str(board), "--results", str(results))
    assert "4 submissions accepted, 0 refused" in done.stderr
    again, stored = (
        {event["submission"]: event["scores"] for event in map(json.loads, path.read_text().splitlines())}
        for path in (board / "history.jsonl", root / BOARD / "history.jsonl")
    )
    assert again == stored
    fine_tuned = json.loads((root / "benchmarks/speedrun/tasks.json").read_text())["scores"]
    measured = {round(100 * one["score"], 4) for one in fine_tuned if one["dataset"] == "ncbi-disease"}
    own = {name: scores["ncbi-disease"] for name, scores in stored.items() if name != "dictionary"}
    assert set(own.values()) <= measured
