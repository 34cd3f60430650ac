"""Fit of a vocabulary to a dataset: subwords per word and per entity word, split and unknown words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from pubmill.examples import kinds
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.recipes.vocabs import FitRecipe
from pubmill.vocabs.diagnosis import split_terms, unknown_id

Figures = dict[str, float | None]


def _figures(tokenizer: Tokenizer, words: Counter[str]) -> Figures:
    """Return the counts of pieces for counted words and their ratios, which are null without words. `split`
    words have several pieces, `unknown` words contain the piece for text that cannot be encoded."""
    total, lost = words.total(), unknown_id(tokenizer)
    pieces = split = unknown = 0
    for word, count in words.items():
        ids = tokenizer.encode(f" {word}", add_special_tokens=False).ids
        pieces += count * len(ids)
        split += count * (len(ids) > 1)
        unknown += count * (lost in ids)
    return {
        "words": total,
        "pieces": pieces,
        "subwords_per_word": pieces / total if total else None,
        "split_words": split / total if total else None,
        "unknown_words": unknown / total if total else None,
        "continuations": (pieces - total) / pieces if pieces else None,
    }


def diagnose_examples(tokenizer: Tokenizer, examples: Iterable[kinds.Example]) -> dict[str, Figures]:
    """Return figures over the words of examples (`words`) and of their mentions (`entity_words`).
    `subwords_per_word` of the latter is shin2020 Table 3. It has only figures: the text may be licensed."""
    words, mentioned = Counter[str](), Counter[str]()
    for example in examples:
        words.update(words_of(example))
        mentioned.update(entity_words(example))
    return {"words": _figures(tokenizer, words), "entity_words": _figures(tokenizer, mentioned)}


def words_of(example: kinds.Example) -> Iterator[str]:
    """Yield the words of an example: those of its dataset, or else of its text split at white space."""
    match example:
        case kinds.TokensExample(words=words):
            yield from words
        case kinds.SpanExample(question=question, context=context):
            yield from (*question.split(), *context.split())
        case kinds.SequenceExample() | kinds.RegressionExample():
            yield from (*example.text.split(), *(example.text_pair or "").split())
        case kinds.MultilabelExample(text=text):
            yield from text.split()


def entity_words(example: kinds.Example) -> Iterator[str]:
    """Yield the words of an example's mentions, with repetitions."""
    match example:
        case kinds.TokensExample(words=words, labels=labels):
            yield from (word for word, label in zip(words, labels, strict=True) if label != "O")
        case kinds.SequenceExample(text=text, entities=entities):
            yield from (word for entity in entities for word in text[entity.start : entity.end].split())


def diagnose_dataset(recipe: FitRecipe, vocab: Path, dataset: Path) -> dict[str, Any]:
    """Return `diagnose_examples` of each split in the folder `dataset`, and the terms of gu2020 Table 1. The
    folder `vocab` contains the vocabulary."""
    tokenizer, kind = load_tokenizer(vocab), kinds.KINDS[recipe.kind]
    splits = {
        split: diagnose_examples(tokenizer, kinds.read_examples(dataset / f"{split}.jsonl.gz", kind))
        for split in kinds.SPLITS
    }
    return {
        "vocab": recipe.vocab,
        "dataset": recipe.dataset,
        "size": tokenizer.get_vocab_size(),
        "terms": split_terms(tokenizer),
        "splits": splits,
    }
