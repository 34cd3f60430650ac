"""The program that scores a run's model on another dataset."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from pubmill.examples.kinds import TokensExample, write_examples
from pubmill.storage.checksums import REPORT
from pubmill.storage.files import sha256, write_json
from tests.unit.prediction.toy_annotators import capitals, fake
from tests.unit.programs import run_program

RECIPE = {
    "protocol": "blurb", "model": "bert", "setting": "standard", "seed": 3, "scale": "small",
    "trained_on": "bc5", "scored_on": "ncbi", "mentions": "disease", "metric": "entity_f1",
}  # fmt: skip


def scored(folder: Path, report: dict[str, Any] | None, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Score a model with this report, which takes words with capitals for mentions, on two mentions."""
    words, labels = (
        ["the", "Big", "Apple", "grows", "nuts"],
        ["O", "B-Disease", "I-Disease", "O", "B-Disease"],
    )
    write_examples(folder / "x.gz", [TokensExample(id="1", document=None, words=words, labels=labels)])
    (folder / "model").mkdir()
    if report:
        write_json(folder / "model" / REPORT, {"model": "bert", **report})
    predictor = fake("tokens", capitals, labels=["B-Name", "I-Name", "O"])
    paths = ("--model", folder / "model", "--examples", folder / "x.gz", "--output", folder / "out.json")
    models = "pubmill.finetuning.task_models"
    with (
        patch(f"{models}.load_task_model", lambda folder, device: predictor),
        patch(f"{models}.read_facts", lambda folder: {"argument_types": []}),
    ):
        run_program("transfer", "--recipe", json.dumps(RECIPE), *paths)
    made: dict[str, Any] = json.loads((folder / "out.json").read_text())
    assert made["data_sha256"] == sha256(folder / "x.gz") and "metric" not in made
    assert capsys.readouterr().out.startswith("bc5 on ncbi, seed 3: entity_f1 ")
    return made


@pytest.mark.parametrize("report", [None, {"failed": None}, {"failed": "constant predictions"}])
def test_a_model_is_scored_in_the_other_datasets_type(
    tmp_path: Path, report: dict[str, Any] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """One mention of two is found."""
    made = scored(tmp_path, report, capsys)
    assert made["failed"] is None and made["metrics"]["entity_f1"] == pytest.approx(2 / 3)


def test_a_failed_run_has_no_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = scored(tmp_path, {"failed": "loss is not a number"}, capsys)
    assert (made["failed"], made["metrics"], made["counts"]) == ("loss is not a number", None, None)
