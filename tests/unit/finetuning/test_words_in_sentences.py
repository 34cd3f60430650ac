"""Words given one by one have the subwords that they have in their sentence, with every tokenizer."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AlbertTokenizer,
    BertConfig,
    BertModel,
    BertTokenizer,
    GemmaTokenizer,
    LlamaTokenizer,
    PreTrainedTokenizerFast,
    Qwen2Tokenizer,
    RobertaTokenizer,
    T5Tokenizer,
)

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample, write_examples
from pubmill.finetuning.encoders import load_encoder_tokenizer
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.reader import PROBE, Reader
from pubmill.finetuning.run import finetune
from pubmill.finetuning.tasks import tokens
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.recipes import FinetuningRecipe

WORDS = ["The", "gene", "genes", "binds", "12", "(", ")", "p53", "IL-2", "'s", "mice", ".", "β-catenin", "é"]
TEXT = [" ".join(WORDS[at:] + WORDS[:at]) for at in range(len(WORDS))] * 20
SPECIAL: dict[str, Any] = {
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
}
BYTES = pre_tokenizers.ByteLevel.alphabet()


def pairs(splitter: Any, alphabet: list[str] | None = None) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary and merges that no word boundary crosses."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = splitter
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=[*SPECIAL.values()],
        initial_alphabet=alphabet or [],
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def byte_level(kind: Any, **further: Any) -> Any:
    vocab, merges = pairs(pre_tokenizers.ByteLevel(add_prefix_space=False), BYTES)
    return kind(vocab=vocab, merges=merges, **SPECIAL, **further)


def marked(kind: Any, **further: Any) -> Any:
    vocab, merges = pairs(pre_tokenizers.Metaspace())
    return kind(vocab=vocab, merges=merges, **SPECIAL, **further)


def plain(normalizer: Any = None, splitter: Any = None, lowest: list[str] | None = None) -> Any:
    """A tokenizer without a class of its own."""
    vocab, merges = pairs(splitter if lowest else pre_tokenizers.Metaspace(), lowest)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if splitter is not None:
        tokenizer.pre_tokenizer = splitter
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


def wordpiece() -> Any:
    pieces = ["the", "gene", "bind", "mice", "p", "1", *"abcdefghijklmnopqrstuvwxyz0123456789().'-"]
    vocab = ["<pad>", "<s>", "</s>", "<unk>", *dict.fromkeys(pieces), *(f"##{one}" for one in pieces)]
    return BertTokenizer(vocab={piece: at for at, piece in enumerate(dict.fromkeys(vocab))}, **SPECIAL)


def unigrams(kind: Any) -> Any:
    letters = sorted({letter for word in WORDS for letter in word})
    pieces = [*SPECIAL.values(), "▁", "▁gene", "gene", "▁The", "▁binds", *letters]
    return kind(vocab=[(piece, -float(at)) for at, piece in enumerate(pieces)], **SPECIAL)


KINDS: dict[str, tuple[Callable[[], Any], str]] = {
    "wordpiece": (wordpiece, ""),
    "roberta": (lambda: byte_level(RobertaTokenizer), ""),
    "modernbert": (
        lambda: plain(splitter=pre_tokenizers.ByteLevel(add_prefix_space=False), lowest=BYTES), ""
    ),
    "split-and-bytes": (lambda: byte_level(Qwen2Tokenizer), " "),
    "albert": (lambda: unigrams(AlbertTokenizer), ""),
    "t5": (lambda: unigrams(T5Tokenizer), ""),
    "llama": (lambda: marked(LlamaTokenizer), ""),
    "llama-by-normaliser": (
        lambda: plain(normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])), ""
    ),
    "gemma": (lambda: marked(GemmaTokenizer), " "),
    "never-prepended": (
        lambda: plain(splitter=pre_tokenizers.Metaspace(prepend_scheme="never", split=False)), " "
    ),
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)
RECIPE = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=8, epochs=1, precision="float32"
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("tokenizers")
    return {kind: saved(make(), root / kind) for kind, (make, _) in KINDS.items()}


def saved(tokenizer: Any, folder: Path) -> Path:
    """A model folder with this tokenizer."""
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
    folders: dict[str, Path], kind: str, words: list[str]
) -> None:
    made = READERS.setdefault(folders[kind], reader(folders[kind]))
    found = [piece for pieces in made.subwords_of_words([words])[0] for piece in pieces]
    texts = made.subwords([KINDS[kind][1] + " ".join(words)])
    assert found == texts[0].ids
    assert made.misread_words([words, PROBE]) == []


@every_kind
def test_a_known_word_has_one_subword(folders: dict[str, Path], kind: str) -> None:
    made = reader(folders[kind])
    [[_, gene]] = made.subwords_of_words([["The", "gene"]])
    assert len(gene) == 1
    assert made.tokenizer.convert_ids_to_tokens(gene)[0].strip("Ġ▁") == "gene"


MARKED_BY_SPACE = [kind for kind in KINDS if kind in ("roberta", "modernbert") or KINDS[kind][1]]


@every_kind
def test_words_read_alone_are_texts_of_their_own(folders: dict[str, Path], kind: str) -> None:
    alone = reader(folders[kind], "alone")
    pieces = [text.ids for text in alone.subwords(WORDS)]
    assert alone.subwords_of_words([WORDS]) == [pieces]
    assert (reader(folders[kind]).subwords_of_words([WORDS]) == [pieces]) == (kind not in MARKED_BY_SPACE)


def example(number: int) -> TokensExample:
    words = WORDS[number % 5 : number % 5 + 6]
    labels = ["B" if word.startswith("gene") else "O" for word in words]
    return TokensExample(id=str(number), document=None, words=words, labels=["B", *labels[1:]])


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dataset")
    for split in ("train", "dev", "test"):
        write_examples(root / f"{split}.jsonl.gz", [example(number) for number in range(16)])
    return root


def strange(folder: Path) -> Path:
    """A tokenizer that joins a word to a space after it, which no word by itself has."""
    vocab, merges = pairs(pre_tokenizers.Split(" ", "merged_with_previous"))
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>"))
    return saved(PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL), folder)


def test_a_tokenizer_that_reads_words_otherwise_is_refused(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = FinetuningJob(RECIPE, strange(tmp_path / "m"), dataset, 1, "test")
    expected = r"reads [\d]+ of 96 words of the training data otherwise .*"
    with pytest.raises(PubmillError, match=expected + r"such as '.*; labels of words can't be learnt"):
        finetune(job)
    monkeypatch.setattr(tokens, "label_of_process", lambda: {"access": "credentialed"})
    with pytest.raises(PubmillError, match=expected + r"in their sentence; labels of words"):
        finetune(job)
    alone = replace(job, recipe=replace(RECIPE, words="alone"))
    assert len(finetune(alone).predictions) == 16


def test_few_words_of_dropped_characters_are_reported(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    made = reader(folders["wordpiece"])
    task = Tokens(RECIPE, made, ["O", "B"])
    made.misread_words = lambda sentences: ["\u200b"]  # type: ignore[method-assign]
    task.prepare([example(number) for number in range(50)], [])
    assert "reads 1 of 300 words of the training data otherwise" in "".join(capsys.readouterr())
