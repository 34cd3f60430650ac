"""Tokenizers that are read from a folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import load_tokenizer
from tests.attack.sound_files import TOKENIZER


def write(folder: Path, content: Any) -> Path:
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_sound_tokenizer_is_read(tmp_path: Path) -> None:
    assert load_tokenizer(write(tmp_path, TOKENIZER)).encode("a naïve b").ids == [2, 1, 0]


@pytest.mark.parametrize(
    ("vocab", "reason"), [({"a": 2}, "Missing .UNK. token"), ({"a": "2"}, "invalid type"), ([], "")]
)
@pytest.mark.parametrize("lowercase", [True, False])
def test_incomplete_tokenizers_are_refused(tmp_path: Path, vocab: Any, reason: str, lowercase: bool) -> None:
    normalizer = {
        "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
        "lowercase": lowercase,
    }  # fmt: skip
    model = {**TOKENIZER["model"], "vocab": vocab}
    write(tmp_path, {**TOKENIZER, "normalizer": normalizer, "model": model})
    with pytest.raises(PubmillError, match=rf"tokenizer\.json: no readable tokenizer: .*{reason}"):
        load_tokenizer(tmp_path)
