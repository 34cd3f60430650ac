"""How well a vocabulary fits a corpus."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer

# words encoded at a time
BATCH = 100_000


def diagnose(tokenizer: Tokenizer, words: Mapping[str, int], asked: int) -> dict[str, Any]:
    """Figures over all word occurrences of the corpus, `words` being normalised words and their counts.

    `size` pieces were learnt where `asked` were asked for (fewer when the corpus has no more);
    `subwords_per_word` is the mean number of pieces of a word, `unknown_words` the share that is [UNK],
    `split_words` the share of more than one piece, `continuations` the share of pieces that begin with ##,
    `unused` the pieces no word needs, `most_split` the commonest words of four pieces and more.
    """
    pieces: Counter[int] = Counter()
    split = occurrences = 0
    most_split: list[tuple[int, str]] = []
    distinct = sorted(words)
    for begin in range(0, len(distinct), BATCH):
        batch = distinct[begin : begin + BATCH]
        for word, encoding in zip(
            batch, tokenizer.encode_batch_fast(batch, add_special_tokens=False), strict=True
        ):
            count, ids = words[word], encoding.ids
            occurrences += count
            split += count * (len(ids) > 1)
            for number in ids:
                pieces[number] += count
            if len(ids) > 3:
                most_split.append((-count, word))
        most_split = sorted(most_split)[:20]
    total = pieces.total()
    vocabulary = tokenizer.get_vocab()
    continuing = {number for piece, number in vocabulary.items() if piece.startswith("##")}
    return {
        "size": len(vocabulary),
        "asked": asked,
        "word_occurrences": occurrences,
        "distinct_words": len(distinct),
        "subwords_per_word": total / occurrences,
        "unknown_words": pieces[vocabulary["[UNK]"]] / occurrences,
        "split_words": split / occurrences,
        "continuations": sum(pieces[number] for number in continuing) / total,
        "unused": len(vocabulary) - len(pieces.keys() | tokenizer.get_added_tokens_decoder().keys()),
        "most_split": [word for _, word in most_split],
        "sample": "every word of the corpus, as BERT's pre-tokeniser separates them",
    }
