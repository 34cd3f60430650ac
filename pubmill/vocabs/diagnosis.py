"""Fit of a vocabulary to a corpus, its biomedical terms, and vocabularies copied from released models."""

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.storage.checksums import write_folder_sums
from pubmill.storage.files import write_json, writing_folder
from pubmill.storage.model_folders import TOKENIZER_FILES, VOCABULARY_FILES

TERMS = tuple(
    "diabetes leukemia lithium insulin DNA promoter hypertension nephropathy lymphoma lidocaine "
    "oropharyngeal cardiomyocyte chloramphenicol RecA acetyltransferase clonidine naloxone".split()
)
"""The terms of gu2020 Table 1."""

UNKNOWN = ("[UNK]", "<unk>")
MOST_SPLIT = 20
"""Number of words listed in `most_split`."""
GATHERED = 10_000
"""Most candidates for `most_split` in memory."""


def unknown_id(tokenizer: Tokenizer) -> int | None:
    """Return the id of the unknown token of a vocabulary; None if it has none."""
    ids = map(tokenizer.token_to_id, UNKNOWN)
    return next((number for number in ids if number is not None), None)


def diagnose(tokenizer: Tokenizer, words: Mapping[str, int], kind: str) -> dict[str, object]:
    """Return figures over all word occurrences of the corpus.

    `words` are the counted words from which the vocabulary of that kind was learnt. `subwords_per_word` is
    the mean number of pieces of a word, `unknown_words` the share of words with an unknown piece,
    `split_words` the share of words with more than one piece, `continuations` the share of pieces that
    continue a word, `unused` the number of pieces that no word uses, `most_split` the most frequent words of
    at least four pieces.
    """
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
    total, special = pieces.total(), tokenizer.get_added_tokens_decoder().keys()
    decode = tokenizer.decoder.decode if kind == "byte-level-bpe" else "".join
    return {
        "size": tokenizer.get_vocab_size(),
        "word_occurrences": occurrences,
        "distinct_words": len(words),
        "subwords_per_word": total / occurrences,
        "unknown_words": unknown / occurrences,
        "split_words": split / occurrences,
        "continuations": (total - occurrences) / total,
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
