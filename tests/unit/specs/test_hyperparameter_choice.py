"""Choices of hyper-parameters: words of the command line, and files that others share."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs.hyperparameter_choice import HyperparameterChoice, read_choice_option


def test_words_become_values_and_the_name_of_a_setting() -> None:
    found = read_choice_option("lr=3e-5,batch=32,epochs=20,bias_correction=false")
    values = {"learning_rate": 3e-5, "batch_size": 32, "epochs": 20, "bias_correction": False}
    assert found.values == values
    assert found.name == "lr=3e-05+batch=32+epochs=20+bias-correction=false"
    assert "own choice" in found.source


def test_a_configuration_gives_text() -> None:
    """As `--config choice={...}` does."""
    found = HyperparameterChoice.model_validate({"name": "x", "source": "y", "values": {"epochs": "3"}})
    assert found.values == {"epochs": 3}


@pytest.mark.parametrize(
    "words, reported",
    [
        ("lr", "expected each key once"),
        ("lr=", "expected each key once"),
        ("lr=1,learning_rate=2", "expected each key once"),
        ("rate=1", "there is no key 'rate'; the nearest: learning_rate, batch"),
        ("lr=fast", "learning_rate: .*'fast'"),
        ("batch=1.5", "batch_size: .*'1.5'"),
        ("metric=accuracy", "metric: the dataset decides it"),
        ("none.yaml", "there is no file none.yaml"),
    ],
)
def test_mistakes_are_named(words: str, reported: str) -> None:
    with pytest.raises(PubmillError, match=reported):
        read_choice_option(words)


FILE = """\
name: linkbert
source: the authors' scripts
values: {learning_rate: 3e-5, batch_size: 32}
datasets:
  biosses: {learning_rate: 1e-5}
"""


def test_a_file_has_values_for_all_datasets_and_for_single_ones(tmp_path: Path) -> None:
    (tmp_path / "linkbert.yaml").write_text(FILE)
    found = read_choice_option(str(tmp_path / "linkbert.yaml"))
    assert found.values == {"learning_rate": 3e-5, "batch_size": 32}
    assert found.datasets == {"biosses": {"learning_rate": 1e-5}}


@pytest.mark.parametrize(
    "text, changed, reported",
    [
        ("source: the authors' scripts\n", "", "source: this key is required"),
        ("values:", "value:", ":3: value: unknown key; the nearest: values"),
        ("3e-5", "fast", ":3: values: learning_rate: .*'fast'"),
        ("name: linkbert", "name: Link BERT", ":1: name"),
        ("name: linkbert", "name: own-search", "own-search is the name of a search"),
        ("source:", "name: again\nsource:", "again|duplicate"),
    ],
)
def test_keys_of_a_file_are_strict(tmp_path: Path, text: str, changed: str, reported: str) -> None:
    assert text in FILE
    (tmp_path / "linkbert.yaml").write_text(FILE.replace(text, changed, 1))
    with pytest.raises(PubmillError, match=reported):
        read_choice_option(str(tmp_path / "linkbert.yaml"))


def test_a_choice_without_values_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("name: x\nsource: y\n")
    with pytest.raises(PubmillError, match="needs `values`"):
        read_choice_option(str(tmp_path / "x.yaml"))
