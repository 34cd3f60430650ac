"""Repeated keys in JSON objects."""

import json
from pathlib import Path

import pytest

from pubmill.storage.model_folders import folder_fault
from pubmill.storage.strict_parsing import RepeatedKeyError, unique_keys, whole_number


def test_only_ascii_digits_are_a_number() -> None:
    text = '{"a": 1, "b": {"a": [{"a": 2}, {}]}}'
    assert json.loads(text, object_pairs_hook=unique_keys) == json.loads(text)
    pairs = [(str(number), 0) for number in range(300_000)]
    with pytest.raises(RepeatedKeyError) as caught:
        unique_keys([*pairs, pairs[-1]])
    assert caught.value.key == "299999"
    assert [whole_number(text) for text in ("0", "007", "9" * 18)] == [0, 7, 10**18 - 1]
    for text in ("", "-1", "+1", "1.0", "1_0", " 1", "\N{ARABIC-INDIC DIGIT ONE}", "²", "9" * 19):
        assert whole_number(text) is None


@pytest.mark.parametrize(("text", "key"), [
    ('{"a": 1, "a": 1}', "a"), ('{"x": [{"a": 1, "b": 2, "b": 3, "a": 4}]}', "b"), ('{"": 1, "": 2}', ""),
])  # fmt: skip
def test_the_first_repeated_key_is_named(text: str, key: str) -> None:
    with pytest.raises(RepeatedKeyError) as caught:
        json.loads(text, object_pairs_hook=unique_keys)
    assert caught.value.key == key and f"the key {key!r} occurs twice" in str(caught.value)


def model(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize("tokenizer", ["tokenizer.json", "vocab.txt", "vocab.json"])
@pytest.mark.parametrize("weights", ["model-00001-of-00002.safetensors", "pytorch_model.bin"])
def test_a_folder_of_all_three_is_a_model(tmp_path: Path, tokenizer: str, weights: str) -> None:
    assert folder_fault(model(tmp_path / "model", "config.json", weights, tokenizer)) is None


@pytest.mark.parametrize(("names", "fault"), [
    ("config.json vocab.txt", "has no weights (*.safetensors or pytorch_model.bin)"),
    ("model.safetensors vocab.txt", "has no config.json"),
    ("config.json model.safetensors",
     "has no tokenizer (tokenizer.json, vocab.txt, vocab.json or spiece.model; models that read "
     "characters or bytes, as CANINE and ByT5, have none, and fine-tuning needs one)"),
])  # fmt: skip
def test_what_a_model_lacks_is_reported_with_what_is_there(tmp_path: Path, names: str, fault: str) -> None:
    found = folder_fault(model(tmp_path / "model", *names.split()))
    assert found == f"{fault}; its files: {', '.join(names.split())}"


def test_an_empty_folder_a_file_and_nothing(tmp_path: Path) -> None:
    fault = folder_fault(model(tmp_path / "empty"))
    assert fault and fault.startswith("has no config.json, no weights")
    assert fault.endswith("; its files: none")
    (tmp_path / "file").write_text("")
    assert folder_fault(tmp_path / "file") == "is not a folder"
    assert folder_fault(tmp_path / "nowhere") == "does not exist"
