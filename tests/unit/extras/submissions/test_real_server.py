"""`pubmill ask` and a real server: `transformers serve` with a tiny random model."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pubmill.examples.prompts import wording_of
from pubmill.extras.submissions.asked_answers import Budget
from pubmill.extras.submissions.asking import ask_dataset
from pubmill.extras.submissions.chat_server import ChatServer
from pubmill.extras.submissions.scores import examples_of
from pubmill.extras.submissions.submission import recipe_of
from pubmill.extras.submissions.worked_examples import requests_for
from pubmill.recipes.submissions import Asking, AskRecipe
from tests.real_chat import real_server, write_chat_model
from tests.unit.extras.submissions import toy_datasets

pytest.importorskip("fastapi", reason="the packages of `transformers serve` are not installed")
LENGTH = 6


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "tiny"
    write_chat_model(folder)
    return folder


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    with real_server(model) as found:
        yield found


def asking(model: Path, temperature: float = 0.0) -> AskRecipe:
    settings = Asking(model=str(model), length=LENGTH, temperature=temperature)
    return AskRecipe(asking=settings, task="ner", prompt=toy_datasets.TEMPLATES["ner"])


def test_its_answers_and_counts_are_recorded(model: Path, address: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder, recipe = toy_datasets.make(tmp_path, "ner"), asking(model)
    record, left = ask_dataset(recipe, folder, ChatServer(url=address), tmp_path / "a.jsonl", 2, Budget())
    reading = recipe_of(folder, None)
    examples = list(examples_of(folder, reading))
    wording = wording_of(recipe, reading.labels, recipe.prompt)
    requests = requests_for(examples, [], wording, recipe.asking, None)
    tokenizer = AutoTokenizer.from_pretrained(model)
    texts = [tokenizer.apply_chat_template(one["messages"], tokenize=False) for one in requests.values()]
    assert left == 0 and record.answers == len(examples) and not record.hosted
    assert record.prompt_tokens == sum(len(tokenizer(text)["input_ids"]) for text in texts)
    assert 0 < record.answer_tokens <= LENGTH * len(examples)
    assert record.models == {f"{model}@main": len(examples)}


def test_a_temperature_of_0_gives_the_same_answers_and_nothing_is_asked_twice(
    model: Path, address: str, tmp_path: Path
) -> None:
    folder, recipe = toy_datasets.make(tmp_path, "ner"), asking(model)
    stores = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for store in stores:
        ask_dataset(recipe, folder, ChatServer(url=address), store, 1, Budget())
    answers = [[json.loads(line) for line in store.read_text().splitlines()] for store in stores]
    contents = [
        {one["custom_id"]: one["response"]["body"]["choices"][0]["message"]["content"] for one in of_store}
        for of_store in answers
    ]
    assert contents[0] == contents[1] and all(contents[0].values())
    stored = stores[0].read_bytes()
    nobody = ChatServer(url="http://127.0.0.1:9/v1", pause=lambda _: None)
    record, left = ask_dataset(recipe, folder, nobody, stores[0], 1, Budget())
    assert left == 0 and stores[0].read_bytes() == stored and record.answers == len(contents[0])
