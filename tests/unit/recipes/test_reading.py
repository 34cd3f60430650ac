"""Recipes on the command line are as strict as specs."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes import FinetuningRecipe, PretrainingRecipe, read

PRETRAINING: dict[str, Any] = {
    "architecture": {
        "family": "bert", "layers": 2, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 32,
    },
    "objective": {"masking": "whole-word"},
    "optimisation": {"learning_rate": 1e-3},
    "sequence_length": 64,
    "batch_size": 8,
    "steps": 10,
}  # fmt: skip


def test_json_text_and_a_file_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(PRETRAINING))
    made = read(PretrainingRecipe, json.dumps(PRETRAINING))
    assert made == read(PretrainingRecipe, str(path))
    assert made.architecture.layers == 2 and made.objective.masking_rate == 0.15


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stepps": 5}, r"--recipe: PretrainingRecipe has unknown keys \['stepps'\]"),
        ({"steps": "many"}, "steps must be int, found 'many'"),
        ({"steps": True}, "steps must be int"),
        ({"precision": "bf16"}, "precision must be 'auto' or 'float32' or 'bfloat16', found 'bf16'"),
        ({"objective": {"masking": "none"}}, r"--recipe.objective: masking must be 'whole-word' or"),
    ],
)
def test_wrong_values_are_reported(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(PretrainingRecipe, json.dumps(PRETRAINING | change))


def test_missing_keys_are_reported_and_a_search_may_supply_them() -> None:
    known = {
        "task": "tokens", "metric": "entity_f1", "head": "linear", "tagging": "bio",
        "labelled_subwords": "first", "epochs": 3,
    }  # fmt: skip
    with pytest.raises(PubmillError, match=r"lacks \['batch_size', 'learning_rate'\]"):
        read(FinetuningRecipe, json.dumps(known))
    made = read(FinetuningRecipe, json.dumps(known), {"batch_size": 16, "learning_rate": 1})
    assert made.batch_size == 16


@pytest.mark.parametrize("argument", ["nowhere.json", "{not json"])
def test_neither_text_nor_file(argument: str) -> None:
    with pytest.raises(PubmillError, match=r"--recipe: .*(neither JSON text nor|not valid JSON)"):
        read(PretrainingRecipe, argument)
