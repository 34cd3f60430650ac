"""Tokenizers that fine-tuning can use: fast ones with the tokens of inputs."""

from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.storage.encoder_checks import check_tokenizer, makes_lowercase


def tokenizer(is_fast: bool = True, **tokens: str | None) -> Any:
    known = {"sep_token": "[SEP]", "eos_token": None, "pad_token": "[PAD]", "cls_token": "[CLS]"}
    return SimpleNamespace(is_fast=is_fast, **(known | tokens))


def test_slow_and_lowercase_tokenizers_are_known() -> None:
    check_tokenizer(tokenizer(), "m")
    with pytest.raises(PubmillError, match="m: fine-tuning needs a fast tokenizer, .* is SimpleNamespac"):
        check_tokenizer(tokenizer(is_fast=False, pad_token=None), "m")

    def of(normalizer: Any) -> Any:
        return SimpleNamespace(backend_tokenizer=SimpleNamespace(normalizer=normalizer))

    assert makes_lowercase(of(SimpleNamespace(normalize_str=str.lower)))
    assert not makes_lowercase(of(SimpleNamespace(normalize_str=str.strip)))
    assert not makes_lowercase(of(None))


@pytest.mark.parametrize(
    ("tokens", "missing"),
    [
        ({"sep_token": None}, "sep_token or eos_token .the end."),
        ({"pad_token": None}, "pad_token or eos_token .padding."),
        ({"sep_token": None, "pad_token": None}, "sep_token or .*, pad_token or eos_token .padding."),
        ({"sep_token": None, "pad_token": None, "eos_token": "</s>"}, None),
    ],
)
def test_the_end_and_padding_have_a_token(tokens: dict[str, Any], missing: str | None) -> None:
    if missing is None:
        check_tokenizer(tokenizer(**tokens), "m")
    else:
        with pytest.raises(PubmillError, match=f"m: the tokenizer has no {missing}; name them in token"):
            check_tokenizer(tokenizer(**tokens), "m")
