"""How well a vocabulary fits a corpus, and which terms of the field it has."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer

TERMS = tuple(
    "diabetes leukemia lithium insulin DNA promoter hypertension nephropathy lymphoma lidocaine "
    "oropharyngeal cardiomyocyte chloramphenicol RecA acetyltransferase clonidine naloxone".split()
)
"""The terms of gu2020 Table 1."""

UNKNOWN = ("[UNK]", "<unk>")
_PREFIX = {"sentencepiece": "▁"}


def unknown_id(tokenizer: Tokenizer) -> int | None:
    """The id of the piece that stands for what a vocabulary can't encode; None where it has none."""
    ids = [number for name in UNKNOWN if (number := tokenizer.token_to_id(name)) is not None]
    return ids[0] if ids else None


def diagnose(tokenizer: Tokenizer, words: Mapping[str, int], kind: str) -> dict[str, Any]:
    """Figures over all word occurrences of the corpus, `words` being counted words as the vocabulary of that
    kind was learnt from them.

    `subwords_per_word` is the mean number of pieces of a word, `unknown_words` the share with a piece that is
    unknown, `split_words` the share of more than one piece, `continuations` the share of pieces that continue
    a word, `unused` the pieces that no word needs, `most_split` the commonest words of four pieces and more.
    """
    pieces: Counter[int] = Counter()
    split = occurrences = unknown = 0
    most_split: list[tuple[int, str]] = []
    model, prefix, lost = tokenizer.model, _PREFIX.get(kind, ""), unknown_id(tokenizer)
    for word in sorted(words):
        count, ids = words[word], [token.id for token in model.tokenize(prefix + word)]
        occurrences += count
        split += count * (len(ids) > 1)
        unknown += count * (lost in ids)
        for number in ids:
            pieces[number] += count
        if len(ids) > 3:
            most_split.append((-count, word))
            if len(most_split) > 10_000:
                most_split = sorted(most_split)[:20]
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
        "most_split": [decode([word]).strip() for _, word in sorted(most_split)[:20]],
    }


def split_terms(tokenizer: Tokenizer) -> dict[str, list[str]]:
    """The pieces of each term of gu2020 Table 1 inside a text; a term of one piece is in the vocabulary."""
    return {term: tokenizer.encode(f" {term}", add_special_tokens=False).tokens for term in TERMS}
