"""Fit of a vocabulary to a corpus or a dataset, its biomedical terms, and vocabularies of released models."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.recipes.vocabs import FitRecipe
from pubmill.storage.checksums import write_folder_sums
from pubmill.storage.files import write_json, writing_folder
from pubmill.storage.model_folders import TOKENIZER_FILES, VOCABULARY_FILES

TERMS = tuple(
    "diabetes leukemia lithium insulin DNA promoter hypertension nephropathy lymphoma lidocaine "
    "oropharyngeal cardiomyocyte chloramphenicol RecA acetyltransferase clonidine naloxone".split()
)
"""The terms of gu2020 Table 1."""

Figures = dict[str, float | None]
UNKNOWN = ("[UNK]", "<unk>")
MOST_SPLIT = 20
"""Number of words listed in `most_split`."""
GATHERED = 10_000
"""Most candidates for `most_split` in memory."""


def unknown_id(tokenizer: Tokenizer) -> int | None:
    """Return the id of the unknown token of a vocabulary; None if it has none."""
    ids = map(tokenizer.token_to_id, UNKNOWN)
    return next((number for number in ids if number is not None), None)


def _shares(words: int, pieces: int, split: int, unknown: int) -> Figures:
    """Return the ratios of counts, which are None without words. `split` words have several pieces, `unknown`
    words contain the piece for text that cannot be encoded, `continuations` continue a word."""
    return {
        "subwords_per_word": pieces / words if words else None,
        "split_words": split / words if words else None,
        "unknown_words": unknown / words if words else None,
        "continuations": (pieces - words) / pieces if pieces else None,
    }


def diagnose(tokenizer: Tokenizer, words: Mapping[str, int], kind: str) -> dict[str, object]:
    """Return figures over all word occurrences of the corpus. `words` are the counted words from which the
    vocabulary of that kind was learnt. `unused` is the number of pieces that no word uses, `most_split` are
    the most frequent words of at least four pieces."""
    pieces: Counter[int] = Counter()
    split = occurrences = unknown = 0
    most_split: list[tuple[int, str]] = []
    model, prefix, lost = tokenizer.model, "▁" if kind == "sentencepiece" else "", unknown_id(tokenizer)
    for word in sorted(words):
        count, ids = words[word], [token.id for token in model.tokenize(prefix + word)]
        occurrences += count
        split += count * (len(ids) > 1)
        unknown += count * (lost in ids)
        for number in ids:
            pieces[number] += count
        if len(ids) > 3:
            most_split.append((-count, word))
            if len(most_split) > GATHERED:
                most_split = sorted(most_split)[:MOST_SPLIT]
    special = tokenizer.get_added_tokens_decoder().keys()
    decode = tokenizer.decoder.decode if kind == "byte-level-bpe" else "".join
    return {
        "size": tokenizer.get_vocab_size(),
        "word_occurrences": occurrences,
        "distinct_words": len(words),
        **_shares(occurrences, pieces.total(), split, unknown),
        "unused": tokenizer.get_vocab_size() - len(pieces.keys() | special),
        "most_split": [decode([word]).strip() for _, word in sorted(most_split)[:MOST_SPLIT]],
    }


def split_terms(tokenizer: Tokenizer) -> dict[str, list[str]]:
    """Return the pieces of each term of gu2020 Table 1 inside a text; terms of the vocabulary have one."""
    return {term: tokenizer.encode(f" {term}", add_special_tokens=False).tokens for term in TERMS}


def import_vocab(model: Path, output: Path) -> dict[str, object]:
    """Copy the tokenizer of a model's folder and write diagnosis.json beside it; return the diagnosis."""
    lacking = [name for name in TOKENIZER_FILES if not (model / name).is_file()]
    if lacking:
        raise PubmillError(f"{model} lacks {', '.join(lacking)}; make the model again")
    tokenizer = load_tokenizer(model)
    diagnosis = {"size": tokenizer.get_vocab_size(), "model": model.name, "terms": split_terms(tokenizer)}
    with writing_folder(output) as temporary:
        for name in (*TOKENIZER_FILES, *VOCABULARY_FILES, "special_tokens_map.json"):
            if (model / name).is_file():
                shutil.copyfile(model / name, temporary / name)
        write_json(temporary / "diagnosis.json", diagnosis)
        write_folder_sums(temporary, output.name)
    return diagnosis


def _figures(tokenizer: Tokenizer, words: Counter[str]) -> Figures:
    lost, pieces, split, unknown = unknown_id(tokenizer), 0, 0, 0
    for word, count in words.items():
        ids = tokenizer.encode(f" {word}", add_special_tokens=False).ids
        pieces += count * len(ids)
        split += count * (len(ids) > 1)
        unknown += count * (lost in ids)
    return {"words": words.total(), "pieces": pieces, **_shares(words.total(), pieces, split, unknown)}


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


def diagnose_datasets(
    recipe: FitRecipe, vocab: Path, datasets: Path
) -> dict[str, dict[str, dict[str, Figures]]]:
    """Return dataset -> split -> `diagnose_examples`. The folder `vocab` contains the vocabulary, `datasets`
    those of the datasets."""
    tokenizer, found = load_tokenizer(vocab), dict[str, dict[str, dict[str, Figures]]]()
    for dataset, kind in recipe.datasets.items():
        files = {split: datasets / dataset / f"{split}.jsonl.gz" for split in kinds.SPLITS}
        found[dataset] = {
            split: diagnose_examples(tokenizer, kinds.read_examples(file, kinds.KINDS[kind]))
            for split, file in files.items()
        }
    return found
