"""How much text an input holds, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.finetuning.encoders import load_encoder_tokenizer
from pubmill.finetuning.reader import Reader
from tests.unit.finetuning.encoder_families import ARCHITECTURES


@pytest.mark.parametrize(("name", "special"), [("bert", 3), ("roberta", 4)])
def test_two_texts_need_a_subword_each(models: dict[str, Path], name: str, special: int) -> None:
    tokenizer = load_encoder_tokenizer(models[name])
    reader = Reader(tokenizer, special + 2, "none")
    assert (reader.room(pair=True), reader.room(pair=False)) == (2, special)
    with pytest.raises(PubmillError) as caught:
        Reader(tokenizer, special + 1, "none")
    assert str(caught.value) == (
        f"max_length is {special + 1}, which leaves 1 subwords beside the special tokens of two texts; "
        "it must leave at least 2"
    )


def test_words_that_are_read_alone_are_never_misread(models: dict[str, Path]) -> None:
    """The tokenizer reads words as in the middle of a sentence only after a space."""
    tokenizer = load_encoder_tokenizer(models["roberta"])
    tokenizer.backend_tokenizer.pre_tokenizer.add_prefix_space = False
    alone = Reader(tokenizer, 64, "none", "alone")
    spaced = Reader(tokenizer, 64, "none")
    sentences = [["ab", "c"], []]
    assert alone.misread_words(sentences) == spaced.misread_words(sentences) == []
    assert [[len(word) for word in words] for words in alone.subwords_of_words(sentences)] == [[2, 1], []]
    assert [[len(word) for word in words] for words in spaced.subwords_of_words(sentences)] == [[3, 2], []]


FIRST = {made: family for family, (_, made, _) in reversed(ARCHITECTURES.items())}
KINDS = {family: made for made, family in FIRST.items()}
"""Architecture -> the tokenizer of which it is the first."""
NAMES = "[MASK] [SEP] [CLS] [PAD] <mask> <s> </s> <pad> <eos> <sep> <|endoftext|>".split()


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer of each kind as it is loaded, whose folder may name a token that its tokenizer.json holds
    as an ordinary one."""
    folder = tmp_path_factory.mktemp(request.param)
    KINDS[request.param](folder).save_pretrained(folder)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").touch()
    return load_encoder_tokenizer(folder)


@given(st.lists(st.sampled_from([*NAMES, "“", "”", "’s", "–", " ", "  ", "baco", "dilong", "x"]), max_size=9))
def test_text_is_never_a_special_token(tokenizer: Any, parts: list[str]) -> None:
    """The ids are those of transformers with special tokens split, unless its models join them again."""
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    text, reader = "".join(parts), Reader(tokenizer, 64, "none")
    [subwords] = reader.subwords([text])
    [words] = reader.subwords_of_words([text.split()])
    assert not special.intersection(subwords.ids, *words)
    split = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert subwords.ids == split or special.intersection(split)
    ids, _ = reader.framed(subwords.ids, subwords.ids)
    around = [*reader.two.before, *reader.two.between, *reader.two.after]
    assert [number for number in ids if number in special] == around
