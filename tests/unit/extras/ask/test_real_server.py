"""`pubmill ask` and a real server: that of llama.cpp with a tiny random model."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pubmill.examples.prompts import wording_of
from pubmill.extras.ask.ask_recipes import Asking, AskRecipe
from pubmill.extras.ask.asking import AskedRecord, ask_dataset, requests_for, schema_of
from pubmill.extras.ask.chat_server import ChatServer
from pubmill.predictions.predictions import answers_to_labels
from pubmill.predictions.scores import examples_of, score_submission
from pubmill.predictions.submission import recipe_of
from tests.real_chat import prompt_tokens, real_server, write_chat_model
from tests.unit.extras.ask.test_asking import recipe_for
from tests.unit.predictions import toy_datasets

pytest.importorskip("xllamacpp", reason="the server of llama.cpp (xllamacpp) is not installed")
LENGTH = 6
SENT = "requests.jsonl.gz"


def asked(recipe: AskRecipe, folder: Path, address: str, tmp_path: Path) -> tuple[AskedRecord, int]:
    places = tmp_path / "a.jsonl", tmp_path / SENT
    return ask_dataset(recipe, folder, *places, server=ChatServer(url=address), at_once=2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("served") / "tiny.gguf"
    write_chat_model(file)
    return file


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    with real_server(model) as found:
        yield found


def asking(model: Path, **settings: Any) -> AskRecipe:
    asked = Asking(model=model.name, **{"length": LENGTH, **settings})
    return AskRecipe(asking=asked, task="ner", prompt=toy_datasets.TEMPLATES["ner"])


def test_its_answers_and_counts_are_recorded(model: Path, address: str, tmp_path: Path) -> None:
    folder, recipe = toy_datasets.make(tmp_path, "ner"), asking(model)
    record, left = asked(recipe, folder, address, tmp_path)
    reading = recipe_of(folder, None)
    examples = list(examples_of(folder, reading))
    wording = wording_of(recipe, reading.labels, recipe.prompt)
    requests = requests_for(examples, [], wording, recipe.asking, None)
    assert left == 0 and record.answers == len(examples) and not record.hosted
    assert record.prompt_tokens == sum(prompt_tokens(one["messages"]) for one in requests.values())
    assert 0 < record.answer_tokens <= LENGTH * len(examples)
    assert record.models == {str(model): len(examples)}


@pytest.mark.parametrize("name", ["rel", "doc"])  # answers of labels end, a random model's strings do not
def test_its_answers_have_the_form_of_the_schema_that_it_enforces(
    name: str, model: Path, address: str, tmp_path: Path
) -> None:
    """A random model says nothing that a parser could read unless the server holds it to the schema."""
    folder = toy_datasets.make(tmp_path, name)
    reading = toy_datasets.recipe(tmp_path, name)
    settings = Asking(model=model.name, length=400, structured=True)
    recipe = replace(recipe_for(name), asking=settings)
    record, left = asked(recipe, folder, address, tmp_path)
    contents = [
        one["response"]["body"]["choices"][0] for one in map(json.loads, (tmp_path / "a.jsonl").open())
    ]
    whole = [json.loads(one["message"]["content"]) for one in contents if one["finish_reason"] == "stop"]
    validator = jsonschema.Draft202012Validator(schema_of(reading.kind, reading.labels))
    assert left == 0 and len(whole) == record.answers - record.cut > 0
    assert not [fault for answer in whole for fault in validator.iter_errors(answer)]
    found = score_submission(
        tmp_path / "a.jsonl", replace(reading, mapping=answers_to_labels(reading)), tmp_path
    )
    assert 0 <= found.metrics[toy_datasets.METRICS[name]] <= 1
