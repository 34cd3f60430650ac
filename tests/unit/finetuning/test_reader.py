"""Subwords of texts, and of words given one by one, with every tokenizer; how much text an input holds."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, Qwen2Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.finetuning.encoders import load_encoder_tokenizer
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.reader import PROBE, Reader
from pubmill.finetuning.run import finetune
from pubmill.finetuning.tasks import tokens as task_of_tokens
from pubmill.recipes import FinetuningRecipe
from tests.unit.finetuning.encoder_families import ARCHITECTURES, pairs_and_merges

WORDS = ["The", "ine", "inelong", "baco", "12", "(", ")", "p53", "IL-2", "'s", "dimi", ".", "β-nu", "é"]
SPECIAL: Any = {"pad_token": "<pad>", "cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>"}


def bytes_after_a_split() -> Any:
    vocab, merges = pairs_and_merges(pre_tokenizers.ByteLevel(add_prefix_space=False), [*SPECIAL.values()])
    return Qwen2Tokenizer(vocab=vocab, merges=merges, **SPECIAL)


def plain(normalizer: Any = None, splitter: Any = None, learnt_with: Any = None) -> Any:
    vocab, merges = pairs_and_merges(learnt_with or pre_tokenizers.Metaspace(), [*SPECIAL.values()])
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if splitter is not None:
        tokenizer.pre_tokenizer = splitter
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


PREPENDED = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
FURTHER: dict[str, Callable[[], Any]] = {
    "bytes after a split": bytes_after_a_split,
    "spaces by a normaliser": lambda: plain(PREPENDED),
    "never prepended": lambda: plain(None, pre_tokenizers.Metaspace(prepend_scheme="never", split=False)),
}
BEFORE = {
    **dict.fromkeys(["bert", "roberta", "modernbert", "albert", "t5", "llama-sentencepiece"], ""),
    "gemma": " ", "bytes after a split": " ", "spaces by a normaliser": "", "never prepended": " ",
}  # fmt: skip
"""Architecture or further tokenizer -> what stands before a text for it to be read as in a sentence."""
every_kind = pytest.mark.parametrize("kind", BEFORE)
RECIPE = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=8, epochs=1, precision="float32"
)


@pytest.fixture(scope="module")
def kinds(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("tokenizers")
    own = {kind: saved(make(), root / kind) for kind, make in FURTHER.items()}
    return {kind: own.get(kind) or folders[kind] for kind in BEFORE}


def saved(tokenizer: Any, folder: Path) -> Path:
    special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=special
    )
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=64, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder


def reader(folder: Path, words: Any = "spaced") -> Reader:
    return Reader(load_encoder_tokenizer(folder, words=words == "spaced"), 64, "none", words)


READERS: dict[Path, Reader] = {}


@every_kind
@settings(max_examples=30)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=9))
def test_words_have_the_subwords_of_their_sentence(
    kinds: dict[str, Path], kind: str, words: list[str]
) -> None:
    made = READERS.setdefault(kinds[kind], reader(kinds[kind]))
    found = [piece for pieces in made.subwords_of_words([words])[0] for piece in pieces]
    texts = made.subwords([BEFORE[kind] + " ".join(words)])
    assert found == texts[0].ids
    assert made.misread_words([words, PROBE]) == []


MARKED_BY_SPACE = [kind for kind in BEFORE if kind in ("roberta", "modernbert") or BEFORE[kind]]


@every_kind
def test_words_read_alone_are_texts_of_their_own(kinds: dict[str, Path], kind: str) -> None:
    alone = reader(kinds[kind], "alone")
    pieces = [text.ids for text in alone.subwords(WORDS)]
    assert alone.subwords_of_words([WORDS]) == [pieces]
    assert (reader(kinds[kind]).subwords_of_words([WORDS]) == [pieces]) == (kind not in MARKED_BY_SPACE)


def strange(folder: Path) -> Path:
    """A tokenizer that joins a word to a space after it, which no word by itself has."""
    return saved(plain(learnt_with=pre_tokenizers.Split(" ", "merged_with_previous")), folder)


def test_a_tokenizer_that_reads_words_otherwise_is_refused(
    tokens: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = FinetuningJob(RECIPE, strange(tmp_path / "m"), tokens, 1, "test")
    expected = r"reads \d+ of \d+ words of the training data otherwise .*"
    with pytest.raises(PubmillError, match=expected + r"such as '.*; labels of words can't be learnt"):
        finetune(job)
    monkeypatch.setattr(task_of_tokens, "label_of_process", lambda: {"access": "credentialed"})
    with pytest.raises(PubmillError, match=expected + r"in their sentence; labels of words"):
        finetune(job)
    assert len(finetune(replace(job, recipe=replace(RECIPE, words="alone"))).predictions) == 20


def test_few_words_of_dropped_characters_are_reported(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    made = reader(folders["bert"])
    made.misread_words = lambda sentences, after=None: ["\u200b"]  # type: ignore[method-assign]
    sentence = TokensExample(id="1", document=None, words=["ine"] * 6, labels=["B"] * 6)
    task_of_tokens.Tokens(RECIPE, made, ["O", "B"]).prepare([sentence] * 50, [])
    assert "reads 1 of 300 words of the training data otherwise" in "".join(capsys.readouterr())


@pytest.mark.parametrize(("name", "special"), [("bert", 3), ("roberta", 4)])
def test_two_texts_need_a_subword_each(models: dict[str, Path], name: str, special: int) -> None:
    tokenizer = load_encoder_tokenizer(models[name])
    made = Reader(tokenizer, special + 2, "none")
    assert (made.room(pair=True), made.room(pair=False)) == (2, special)
    with pytest.raises(PubmillError) as caught:
        Reader(tokenizer, special + 1, "none")
    assert str(caught.value) == (
        f"max_length is {special + 1}, which leaves 1 subwords beside the special tokens of two texts; "
        "it must leave at least 2"
    )


FIRST = {made: family for family, (_, made, _) in reversed(ARCHITECTURES.items())}
TOKENIZERS = {family: made for made, family in FIRST.items()}
"""Architecture -> the tokenizer of which it is the first."""
NAMES = "[MASK] [SEP] [CLS] [PAD] <mask> <s> </s> <pad> <eos> <sep> <|endoftext|>".split()


@pytest.fixture(scope="module", params=TOKENIZERS)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer of each kind as it is loaded, whose folder may name a token that its tokenizer.json holds
    as an ordinary one."""
    folder = tmp_path_factory.mktemp(request.param)
    TOKENIZERS[request.param](folder).save_pretrained(folder)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").touch()
    return load_encoder_tokenizer(folder)


@given(st.lists(st.sampled_from([*NAMES, "“", "”", "’s", "–", " ", "  ", "baco", "dilong", "x"]), max_size=9))
def test_text_is_never_a_special_token(tokenizer: Any, parts: list[str]) -> None:
    """The ids are those of transformers with special tokens split, unless its models join them again."""
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    text, made = "".join(parts), Reader(tokenizer, 64, "none")
    [subwords] = made.subwords([text])
    [words] = made.subwords_of_words([text.split()])
    assert not special.intersection(subwords.ids, *words)
    split = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert subwords.ids == split or special.intersection(split)
    ids, _ = made.framed(subwords.ids, subwords.ids)
    around = [*made.two.before, *made.two.between, *made.two.after]
    assert [number for number in ids if number in special] == around
