"""Recipes on the command line are as strict as specs."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes import FinetuningRecipe, PretrainingRecipe, build, read
from pubmill.recipes.corpora import EvaluatedDataset, IndexRecipe
from pubmill.recipes.models import ExportRecipe, PretrainedWeights, ReleasedWeights, TrainingStart
from pubmill.recipes.reading import as_json, as_values

PRETRAINING: dict[str, Any] = {
    "architecture": {
        "family": "bert", "layers": 2, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 32,
    },
    "objective": {"masking": "whole-word"}, "optimisation": {"learning_rate": 1e-3}, "sequence_length": 64,
    "batch_size": 8, "steps": 10,
}  # fmt: skip
EXPORT: dict[str, Any] = {
    "model": "m", "lowercase": True,
    "weights": {"kind": "pretraining", "recipe": "r", "step": 5, "start": {"recipe": "s", "step": 2}},
    "pretraining": PRETRAINING, "scale": "small",
}  # fmt: skip


def test_json_text_and_a_file_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(PRETRAINING), encoding="utf-8")
    made = read(PretrainingRecipe, json.dumps(PRETRAINING))
    assert made == read(PretrainingRecipe, str(path)) == read(PretrainingRecipe, as_json(made))
    assert made.architecture.layers == 2 and made.objective.masking_rate == 0.15


@pytest.mark.parametrize(("change", "message"), [
    ({"stepps": 5}, "stepps: unknown key; the nearest: steps, "),
    ({"steps": "many"}, "steps: expected a valid integer (found 'many')"),
    ({"steps": True}, "steps: expected a valid integer (found True)"),
    ({"steps": 3.0}, "steps: expected a valid integer (found 3.0)"),
    ({"precision": "bf16"}, "precision: expected 'auto', 'float32', "),
    ({"objective": {"masking": "none"}}, "objective.masking: expected 'whole-word'"),
    ({"objective": {"maskign": "none"}}, "objective.maskign: unknown key; the nearest: masking"),
    ({"objective": 5}, "objective: expected keys with values (found 5)"),
    ({"steps": 0}, "steps: expected greater than 0 (found 0)"),
])  # fmt: skip
def test_wrong_values_are_reported(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError) as caught:
        read(PretrainingRecipe, json.dumps(PRETRAINING | change))
    assert str(caught.value).startswith("--recipe: not a valid PretrainingRecipe:\n  ")
    assert f"\n  {message}" in str(caught.value)


def test_all_wrong_keys_are_reported_together() -> None:
    wrong = {**PRETRAINING, "batch_size": "8", "seed": None}
    del wrong["steps"]
    with pytest.raises(PubmillError) as caught:
        build(PretrainingRecipe, wrong, "here")
    places = [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]]
    assert sorted(places) == ["batch_size", "seed", "steps"]


def test_an_object_is_read_as_the_class_of_its_kind() -> None:
    made = build(ExportRecipe, EXPORT, "here")
    start = TrainingStart(recipe="s", step=2)
    assert made.weights == PretrainedWeights(recipe="r", step=5, start=start)
    assert made.pretraining == build(PretrainingRecipe, PRETRAINING, "here")
    hub = {"kind": "hub", "id": "lab/bert", "revision": "f"}
    released = build(ExportRecipe, EXPORT | {"weights": hub}, "here").weights
    assert released == ReleasedWeights(id="lab/bert", revision="f")
    for weights, message in (
        ({"kind": "pretraining", "recipe": "r"}, "step: this key is required and missing"),
        ({"kind": "dream"}, "weights: Input tag 'dream'"),
        ({"recipe": "r", "step": 5}, "weights: the key `kind:` is missing"),
    ):
        with pytest.raises(PubmillError) as caught:
            build(ExportRecipe, EXPORT | {"weights": weights}, "here")
        assert message in str(caught.value)


def test_a_search_may_supply_keys() -> None:
    known = {
        "task": "tokens", "metric": "entity_f1", "head": "linear", "tagging": "bio",
        "labelled_subwords": "first", "epochs": 3,
    }  # fmt: skip
    with pytest.raises(PubmillError, match="learning_rate: this key is required"):
        read(FinetuningRecipe, json.dumps(known))
    made = read(FinetuningRecipe, json.dumps(known), {"batch_size": 16, "learning_rate": 1})
    assert made.batch_size == 16


@pytest.mark.parametrize(("argument", "message"), [
    ("nowhere.json", "'nowhere.json' is neither JSON text nor a readable JSON file"),
    ("", "neither JSON text nor"), ("a" * 300, "'" + "a" * 199 + " is neither JSON text nor"),
    ("{not json", "not valid JSON: .* at line 1"),
    ('{"similar": NaN}', "not valid JSON: NaN is not a number in JSON"),
    ('{"parts": [], "parts": []}', "not valid JSON: the key 'parts' occurs twice"),
    ('{"parts": ' + "[" * 100_000, "not valid JSON"), ('{"parts": ' + "9" * 5_000 + "}", "not valid JSON"),
])  # fmt: skip
def test_neither_text_nor_file(argument: str, message: str) -> None:
    with pytest.raises(PubmillError, match=f"--recipe: .*{message}"):
        read(IndexRecipe, argument)


@pytest.mark.parametrize(
    ("content", "message"), [(b"[1]", "found .1."), (b"null", "found None"), (b"\xff{", "cannot be read")]
)
def test_a_file_without_an_object_is_reported(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "recipe.json"
    path.write_bytes(content)
    with pytest.raises(PubmillError, match=rf"recipe\.json.*\s.*{message}"):
        read(IndexRecipe, str(path), {"one": 1})


def test_text_is_sorted_and_complete() -> None:
    recipe = IndexRecipe(datasets=(EvaluatedDataset(dataset="d", splits=("dev", "test"), pmids=False),))
    assert as_json(recipe) == '{"datasets": [{"dataset": "d", "pmids": false, "splits": ["dev", "test"]}]}'
    assert as_values(recipe) == json.loads(as_json(recipe))
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"number": float("nan")})
