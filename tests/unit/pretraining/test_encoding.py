"""Which tokenizers are read word by word, and that the others are left to themselves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from pubmill.errors import PubmillError
from pubmill.pretraining import encoding
from pubmill.storage.files import write_json

TEXT = "Cells (of the T-cell) grow, don't  they?\nNo. "


def byte_level(**settings: bool) -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(**{"add_prefix_space": False} | settings)
    return made


def wordpiece(normalizer: Any = None) -> Tokenizer:
    pieces = ["[UNK]", *"abcdefghijklmnopqrstuvwxyz,.()?'-"]
    pieces += [f"##{piece}" for piece in pieces[1:27]]
    made = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizer or normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def with_punctuation_in_a_piece() -> Tokenizer:
    made = wordpiece()
    made.add_tokens([AddedToken("t-cell", special=False)])
    return made


def unigram(*steps: Any) -> Tokenizer:
    letters = [(letter, -1.0) for letter in ["<unk>", "▁", *"abcdefghijklmnopqrstuvwxyz,.()?'-\""]]
    made = Tokenizer(models.Unigram(letters, unk_id=0, byte_fallback=False))
    made.normalizer = normalizers.Sequence([*steps, normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return made


@pytest.mark.parametrize(
    ("tokenizer", "kind"),
    [
        (byte_level(), encoding.ByteLevelEncoder), (byte_level(add_prefix_space=True), encoding.Encoder),
        (byte_level(use_regex=False), encoding.Encoder), (wordpiece(), encoding.BertEncoder),
        (with_punctuation_in_a_piece(), encoding.BertEncoder),
        (wordpiece(normalizers.Lowercase()), encoding.Encoder),
        (unigram(normalizers.Replace("``", '"'), normalizers.NFKD()), encoding.WhiteSpaceEncoder),
        (unigram(normalizers.Replace("t-c", "tc")), encoding.Encoder),
        (unigram(normalizers.Prepend("x")), encoding.Encoder),
    ],
)  # fmt: skip
def test_the_fastest_encoder_that_gives_the_tokenizers_ids(tokenizer: Tokenizer, kind: type) -> None:
    encoder = encoding.make_encoder(tokenizer)
    assert type(encoder) is kind
    for text in (TEXT, "", " ", "a\x1cb", "a  b", "``quoted''", "the t-cell"):
        expected = tokenizer.encode(text, add_special_tokens=False).ids
        assert np.frombuffer(encoder.encode(text), encoder.dtype).tolist() == expected


def test_special_tokens_are_named_by_the_configuration(tmp_path: Path) -> None:
    tokenizer = wordpiece()
    names = {"pad": "a", "unk": "[UNK]", "cls": {"content": "b"}, "sep": "c", "mask": "d"}
    settings = {f"{name}_token": piece for name, piece in names.items()}
    write_json(tmp_path / "tokenizer_config.json", settings)
    assert encoding.special_ids(tokenizer, tmp_path) == {"pad": 1, "unk": 0, "cls": 2, "sep": 3, "mask": 4}
    for piece in (None, "absent"):
        write_json(tmp_path / "tokenizer_config.json", settings | {"mask_token": piece})
        with pytest.raises(PubmillError, match=r"has no special tokens \['mask'\]"):
            encoding.special_ids(tokenizer, tmp_path)
