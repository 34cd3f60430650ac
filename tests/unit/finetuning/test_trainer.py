"""Inputs, head and training, on a tiny random BERT."""

import json
import random
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertForPreTraining

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample, write_examples
from pubmill.finetuning.encoders import load_encoder, load_encoder_tokenizer
from pubmill.finetuning.finetuning_job import FinetuningJob, read_split
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.run import finetune as run
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.metrics import dev_score
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.reading import as_values
from pubmill.storage.files import write_jsonl_gz
from pubmill.storage.training_reports import TrainingReport
from tests.unit.tiny_encoders import tiny_bert

ROOT = Path(__file__).resolve().parents[3]
SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo", "mi", "nu"]
RECIPE = FinetuningRecipe(
    task="tokens",
    metric="entity_f1",
    head="linear",
    tagging="bio",
    labelled_subwords="first",
    learning_rate=3e-3,
    batch_size=8,
    epochs=3,
    precision="float32",
)


def finetune(*arguments: Any) -> tuple[list[dict[str, Any]], TrainingReport]:
    made = run(FinetuningJob(*arguments))
    return made.predictions, made.report


def encode(sentences: list[list[str]], model: Path, max_length: int) -> Any:
    """Windows of sentences without labels."""
    task = Tokens(RECIPE, Reader(load_encoder_tokenizer(model), max_length, "separate"), ["O", "B"])
    examples = [
        TokensExample(id=str(number), document=None, words=words, labels=["O"] * len(words))
        for number, words in enumerate(sentences)
    ]
    return task.encode(examples)


def sentence(generator: random.Random) -> TokensExample:
    """Words of syllables; one that begins with "ine" begins an entity, which "long" may continue."""
    words: list[str] = []
    labels: list[str] = []
    for _ in range(generator.randrange(3, 14)):
        stem = "".join(generator.choice(SYLLABLES) for _ in range(generator.randrange(1, 4)))
        if labels and labels[-1] == "B" and generator.random() < 0.5:
            word, label = "long" + stem, "I"
        elif generator.random() < 0.3:
            word, label = "ine" + stem, "B"
        else:
            word, label = stem, "O"
        words.append(word)
        labels.append(label)
    return TokensExample(id=str(generator.random()), document=None, words=words, labels=labels)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, generator = tmp_path_factory.mktemp("dataset"), random.Random(1)
    for split, number in (("train", 120), ("dev", 30), ("test", 30)):
        write_examples(folder / f"{split}.jsonl.gz", [sentence(generator) for _ in range(number)])
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(
        tmp_path_factory.mktemp("models") / "tiny", [*SYLLABLES, "ine", "long"], BertForPreTraining
    )


def test_what_could_not_be_encoded_whole_is_counted(model: Path) -> None:
    encoded = encode([["baco", "\u200d"], ["long" * 9], ["ba"] * 9], model, 8)
    assert encoded.counts == {"words_without_subword": 1, "words_shortened": 1, "windows_split": 1}


@given(st.lists(st.lists(st.sampled_from(["ba", "bacodi", "fuine", "xyz", "."]), max_size=30), max_size=6))
def test_windows_hold_every_word_once_in_order(model: Path, sentences: list[list[str]]) -> None:
    encoded = encode(sentences, model, 10)
    seen = [(window.example, word) for window in encoded.instances for word in window.words]
    assert seen == [(number, word) for number, words in enumerate(sentences) for word in range(len(words))]
    assert all(len(window.ids) <= 10 for window in encoded.instances)


def test_it_learns_and_accounts_for_itself(model: Path, dataset: Path) -> None:
    predictions, report = finetune(replace(RECIPE, epochs=8), model, dataset, 1, "dev")
    examples = read_split(dataset, "dev", TokensExample)
    assert [row["id"] for row in predictions] == [example.id for example in examples]
    score = dev_score("entity_f1", "tokens", examples, [row["labels"] for row in predictions], None)
    assert score == report["dev"]["best"] == max(report["dev"]["scores"]) > 0.9
    assert report["dev"]["scores"].index(score) + 1 == report["dev"]["best_epoch"]
    assert report["loss_by_epoch"][-1] < report["loss_by_epoch"][0] / 2
    assert report["steps"] == 8 * 15 and report["failed"] is None and report["model"] == "tiny"
    assert report["hardware"]["threads"] == torch.get_num_threads()
    assert set(report["data_sha256"]) == {"train", "dev"}


def test_sentences_longer_than_the_model_are_predicted_whole(model: Path, dataset: Path) -> None:
    predictions, report = finetune(replace(RECIPE, max_length=12), model, dataset, 1, "test")
    examples = read_split(dataset, "test", TokensExample)
    assert [len(row["labels"]) for row in predictions] == [len(example.words) for example in examples]
    assert report["encoded"]["windows_split"] > 0 and report["max_length"] == 12


@pytest.mark.filterwarnings("ignore")
def test_nan_is_marked_as_failed_and_no_label_is_made_up(model: Path, dataset: Path) -> None:
    predictions, report = finetune(replace(RECIPE, learning_rate=1e30), model, dataset, 1, "test")
    assert report["failed"] == "nan" and report["dev"]["best"] is None
    assert {row["labels"] for row in predictions} == {None}
    json.dumps(report, allow_nan=False)


def test_a_folder_without_safe_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(PubmillError, match=r"no model folder.*safetensors"):
        load_encoder(tmp_path, 0.1, torch.device("cpu"))


@pytest.mark.parametrize(
    ("layers", "fault"),
    [(3, r"the weights lack \d+ tensors"), (1, r"hold \d+ tensors of the encoder that config.json does not")],
)
def test_weights_of_more_or_fewer_layers_are_refused(
    model: Path, tmp_path: Path, layers: int, fault: str
) -> None:
    for file in model.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": layers}))
    with pytest.raises(PubmillError, match=fault):
        load_encoder(tmp_path, 0.1, torch.device("cpu"))


def test_the_program_gives_the_same_as_the_library(
    model: Path, dataset: Path, tmp_path: Path, python: str
) -> None:
    """And with it the same bytes in another process; `--selected` decides what it chose."""
    selected, output = tmp_path / "selected.json", tmp_path / "run/runs.json"
    selected.write_text(
        json.dumps({"chosen": {"learning_rate": 1e-3, "batch_size": 16, "epochs": 2}, "mean_dev": 0.5})
    )
    command = [python, str(ROOT / "scripts/finetune.py"), "--recipe", json.dumps(asdict(RECIPE))]
    command += ["--model", str(model), "--dataset", str(dataset), "--seeds", "3", "--split", "test"]
    command += ["--output", str(output), "--selected", str(selected)]
    subprocess.run(command, check=True, capture_output=True)
    recipe = replace(RECIPE, learning_rate=1e-3, batch_size=16, epochs=2)
    predictions, expected = finetune(recipe, model, dataset, 3, "test")
    write_jsonl_gz(tmp_path / "expected.gz", predictions)
    made = output.with_name("seed-3.predictions.jsonl.gz")
    assert made.read_bytes() == (tmp_path / "expected.gz").read_bytes()
    report = json.loads((tmp_path / "run/seed-3.training.json").read_text())
    assert report["recipe"] == expected["recipe"] == as_values(recipe)
    assert report["loss_by_epoch"] == expected["loss_by_epoch"] and report["steps"] == 2 * 8
    assert report["model_sha256"] == expected["model_sha256"]
