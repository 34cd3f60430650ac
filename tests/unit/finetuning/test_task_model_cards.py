"""Model cards of task models: metadata for the hub, access to the data, and what the model was made with."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.examples.kind_facts import FACTS
from pubmill.finetuning.task_models import ACCESS, UNKNOWN, task_model_card


def account(**changes: Any) -> dict[str, Any]:
    return {
        "model": "bert-base", "seed": 3, "recipe": {"task": "tokens", "learning_rate": 2e-5, "crf": None},
        "dev": {"metric": "entity_f1", "best": 0.8125, "best_step": 40},
        "steps": 60, "steps_on_train_and_dev": None,
        "max_length": 128, "labels": ["O", "B-Gene", "I-Gene"], "loss_by_epoch": [0.5, 0.25], "seconds": 12.5,
        "head_from_start": False, "start_failed": None, "model_sha256": "m" * 64,
        "data_sha256": {"train": "t" * 64, "dev": "d" * 64}, "commit": "c" * 40, "python": "3.11.9",
        "packages": {"torch": "2.13.0"}, "hardware": {"cpu": "a|b\nc", "cores": 2, "gpus": [], "cuda": None},
        **changes,
    }  # fmt: skip


def card(
    folder: Path, standard: str | None = None, stored: dict[str, Any] | None = None, **changes: Any
) -> str:
    if stored is not None:
        (folder / "card.json").write_text(json.dumps(stored))
    return task_model_card("mine", account(**changes), folder, standard)


def metadata(text: str) -> Any:
    _, head, _ = text.split("---\n", 2)
    return yaml.safe_load(head)


def table(text: str, title: str) -> list[str]:
    lines = text.split(f"## {title}\n\n")[1].split("\n\n")[0].rstrip().splitlines()
    assert lines[:2] == ["| | |", "|---|---|"]
    return lines[2:]


def test_metadata_are_those_of_the_hub(tmp_path: Path) -> None:
    found = metadata(card(tmp_path, stored={"dataset": "bc2gm", "access": "public"}))
    assert found["pipeline_tag"] == FACTS["tokens"].hub_task == "token-classification" and found[
        "datasets"
    ] == ["bc2gm"]
    assert found["base_model"] == "bert-base" and "pubmill_access" not in found
    [model] = found["model-index"]
    [result] = model["results"]
    assert model["name"] == "mine" and result["dataset"] == {"type": "bc2gm", "name": "bc2gm", "split": "dev"}
    assert result["metrics"] == [{"type": "entity_f1", "value": 0.8125, "name": "entity_f1 on dev"}]


def test_without_a_dev_score_there_is_no_result(tmp_path: Path) -> None:
    text = card(tmp_path, dev={"metric": "entity_f1", "best": None, "best_step": None})
    assert "model-index" not in metadata(text)
    assert not [row for row in table(text, "Training") if "dev" in row.split("|")[1] and "sha" not in row]


@pytest.mark.parametrize("access", ACCESS)
def test_access_is_that_of_the_data_or_the_stricter_one_of_the_model(tmp_path: Path, access: str) -> None:
    assert ACCESS[access] in card(tmp_path, stored={"access": access})
    text = card(tmp_path, stored={"access": "public"}, access=access)
    assert ACCESS[access] in text and metadata(text)["pubmill_access"] == access


def test_without_a_card_access_is_unknown_and_how_it_is_loaded(tmp_path: Path) -> None:
    """The folder names the data."""
    text = card(tmp_path)
    assert UNKNOWN in text and f"on `{tmp_path.name}` with seed 3." in text
    assert "loads its encoder with `AutoModel`; its head is pubmill's. `.venv" in text
    assert "loads it as `BertForTokenClassification`; `.venv" in card(tmp_path, "BertForTokenClassification")


def test_what_it_was_made_with_is_in_tables_without_empty_rows(tmp_path: Path) -> None:
    text = card(tmp_path)
    assert table(text, "Training") == [
        "| entity f1 on dev | 0.8125 |", "| step of it | 40 |", "| steps | 60 |", "| max length | 128 |",
        "| labels | 3 |", "| mean loss of the last epoch | 0.25 |", "| seconds | 12.5 |",
        "| head continues that of the model before | false |", f"| pretrained model, sha256 | {'m' * 64} |",
        f"| dev, sha256 | {'d' * 64} |", f"| train, sha256 | {'t' * 64} |",
    ]  # fmt: skip
    assert table(text, "Recipe") == ["| task | tokens |", "| learning rate | 2e-05 |"]
    assert table(text, "Made with") == [
        f"| commit | {'c' * 40} |", "| python | 3.11.9 |", "| torch | 2.13.0 |", "| cpu | a\\|b c |",
        "| cores | 2 |",
    ]  # fmt: skip
    assert not [row for row in table(card(tmp_path, loss_by_epoch=[]), "Training") if "mean loss" in row]
