"""Labels of words and of their subwords, where later subwords have the label X. Standard library only.

shin2020 section 5.1 and Figure 1 call this sub-token labelling: the first subword has its word's label, and
each later one has X.
"""

from collections.abc import Iterable, Sequence

from pubmill.examples.tagging import Mention, to_mentions

CONTINUATION = "X"
OUTSIDE = "O"
SUBWORDS = "subword_labels"
"""Key of the subwords' labels in a line of a predictions file, beside `labels`."""


class PredictedLabels(list[str]):
    """BIO labels of the words of a sentence; `subwords`: the labels of each word's subwords."""

    def __init__(self, words: Iterable[str], subwords: Sequence[Sequence[str]]) -> None:
        super().__init__(words)
        self.subwords = [list(labels) for labels in subwords]


def word_label(subwords: Sequence[str]) -> str:
    """Return the label of a word: that of its first subword; O for X or no subword. BioBERT's script
    `ner_detokenize.py` does the same."""
    return OUTSIDE if not subwords or subwords[0] == CONTINUATION else subwords[0]


def gold_subwords(label: str, subwords: int) -> list[str]:
    """Return the labels of the subwords of a word."""
    return [label, *[CONTINUATION] * (subwords - 1)]


def subword_mentions(words: Sequence[Sequence[str]]) -> list[Mention]:
    """Return the mentions of the subwords of a sentence, as places of subwords. X continues what stands
    before it, a mention or O; as the label of a word's first subword it is O. A word without a subword counts
    as one with the label O."""
    continued: list[str] = []
    for subwords in words:
        continued.append(word_label(subwords))
        for label in subwords[1:]:
            continued.append(_continued_label(continued[-1]) if label == CONTINUATION else label)
    return to_mentions(continued)


def _continued_label(label: str) -> str:
    return label if label == OUTSIDE else f"I{label[1:]}"
