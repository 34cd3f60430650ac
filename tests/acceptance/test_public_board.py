"""The boards that the repository has: their submissions on the real corpora."""

import json
import shutil
from pathlib import Path

import pytest

from boards.published import PUBLISHED, submission
from pubmill.storage.files import write_jsonl_gz
from tests.acceptance.conftest import Converted
from tests.unit.programs import run_verb

BOARDS = Path("boards")


def scores(board: Path) -> dict[str, dict[str, float]]:
    events = map(json.loads, (board / "history.jsonl").read_text().splitlines())
    return {event["submission"]: event["scores"] for event in events}


@pytest.mark.parametrize(
    ("dataset", "number"),
    # without BioBERT's files, which no mirror has
    [
        ("ncbi-disease", 4),
        *(pytest.param(*one, marks=pytest.mark.weekly) for one in (("pubmedqa", 4), ("bc5-disease", 1))),
    ],
)
def test_the_scores_of_a_history_are_found_again(
    root: Path, converted: Converted, tmp_path: Path, shared: Path, dataset: str, number: int
) -> None:
    results, board = tmp_path / "full", tmp_path / "board"
    shutil.copytree(converted(dataset), results / "datasets" / dataset)
    unwanted = shutil.ignore_patterns("history.jsonl", "site", ".board", "biobert*", "annotator-*")
    shutil.copytree(root / BOARDS / dataset, board, ignore=unwanted)
    for one in (one for one in PUBLISHED if one.dataset == dataset == "pubmedqa"):
        folder = board / "submissions" / one.name
        folder.mkdir()
        (folder / "card.yaml").write_text(one.card())
        write_jsonl_gz(folder / f"{dataset}.jsonl.gz", submission(one, results, str(shared / "mirror")))
    done = run_verb("board", str(board), "--results", str(results))
    assert f"{number} submission{'s' * (number > 1)} accepted, 0 refused" in done.stderr
    stored = scores(root / BOARDS / dataset)
    again = scores(board)
    assert again == {name: stored[name] for name in again} and len(again) == number


def test_the_board_of_own_models_has_their_measured_scores(root: Path) -> None:
    fine_tuned = json.loads((root / "benchmarks/speedrun/tasks.json").read_text())["scores"]
    measured = {round(100 * one["score"], 4) for one in fine_tuned if one["dataset"] == "ncbi-disease"}
    stored = scores(root / BOARDS / "ncbi-disease")
    assert {found["ncbi-disease"] for name, found in stored.items() if name != "dictionary"} <= measured
