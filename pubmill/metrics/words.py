"""F1 over single words of BIO labels, averaged over elements: the metric of EBM-PICO."""

from collections.abc import Sequence

from pubmill.errors import PubmillError
from pubmill.metrics.ratios import defined, macro_f1, tallies, together

Labels = Sequence[Sequence[str]]


def score_words(gold: Labels, predicted: Labels) -> tuple[dict[str, float], dict[str, int]]:
    """Score predicted BIO labels (one a word) word by word.

    gu2020 section 4.2: "For each of the PIO elements [...] we tally the F1 score at the word level, and
    then compute the final score as the average among PIO elements in the dataset". An element is a type;
    B and I are the same, and O is none. `word_macro_f1` is the mean over the elements that the gold has: an
    element of these that isn't predicted counts with an F1 of 0, an element that only the predictions have
    isn't one of the dataset's (its words are missing in the recall of others). Where the gold has no element,
    there is no such metric.

    Counts: `gold_words`, `predicted_words`, `correct_words`, all of the gold's elements together.
    """
    if [len(labels) for labels in gold] != [len(labels) for labels in predicted]:
        raise PubmillError("gold and predicted labels differ in their number of sentences or words")
    found = [one for one in tallies(_elements(gold), _elements(predicted)).values() if one.gold]
    counts = {f"{name}_words": count for name, count in together(found).counts().items()}
    return defined({"word_macro_f1": macro_f1(found)}), counts


def _elements(sentences: Labels) -> list[list[str]]:
    """The element of each word of all sentences, none for O."""
    return [[label.partition("-")[2]] if label != "O" else [] for labels in sentences for label in labels]
