"""The same corpus gives the same vocabulary from one version of pubmill to the next.

A change of these digests changes every model with such a vocabulary: raise the stage's version then
(`Pretrain`, `Finetune`, `TrainVocab`).

Seen on an Intel Xeon with AVX-512, with the C library's own logarithms and with those for processors without
AVX2 and FMA (`GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F`), which differ in their last digits.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.storage.checksums import FOLDER_SUMS
from pubmill.storage.files import read_json
from pubmill.vocabs.sentencepiece import LONGEST, learn, normalise
from tests.unit.toy_vocabs import RECIPES, make_vocab


def without_scores(value: Any) -> Any:
    """A vocabulary without the scores of its pieces, whose last digits depend on the processor."""
    if isinstance(value, dict):
        return {key: without_scores(item) for key, item in value.items()}
    if isinstance(value, list):
        pair = len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], float)
        return value[0] if pair else [without_scores(item) for item in value]
    return value


def digest(folder: Path) -> str:
    """Digest of the names and content of a vocabulary's files, except SentencePiece's own and the list."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.name not in ("spiece.model", FOLDER_SUMS):
            content = path.read_text(encoding="utf-8")
            if path.suffix == ".json":
                content = json.dumps(without_scores(read_json(path)), sort_keys=True)
            found.update(f"{path.name}\n{content}\n".encode())
    return found.hexdigest()[:16]


DIGESTS = {
    "uncased": "4e89e8127c1fb9e3", "cased": "e7c465e2f91f41b8", "biomegatron": "404a9c38762b1223",
    "biomegatron-bpe": "d2b46018f04d4845", "byte-level": "5a8f6f0f3c811dd0", "albert": "fd7aeef132ff7230",
    "sentencepiece-bpe": "d8b2d6395c3717e6",
}  # fmt: skip


@pytest.mark.parametrize("name", RECIPES)
def test_files(tmp_path: Path, name: str) -> None:
    assert digest(make_vocab(tmp_path, RECIPES[name])) == DIGESTS[name]


def test_strings_longer_than_any_word_are_skipped() -> None:
    words = normalise({"A" * (LONGEST + 1): 5, "b" * LONGEST: 2, "cells": 9, "cell": 4, "sell": 3}, True)
    shorter = {word: words[word] for word in words if word[0] != "a"}
    model, skipped = learn(words, 12, "bpe", {"unk": "<unk>"})
    assert skipped == 1 and learn(shorter, 12, "bpe", {"unk": "<unk>"}) == (model, 0)
