"""Scorers for labelled words, word by word: with or without the prefixes B and I, with or without O."""

from collections.abc import Callable, Iterator, Sequence

from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import OUTSIDE
from pubmill.metrics.scorers.averages import Average, macro, micro, tallies_of, weighted, without
from pubmill.metrics.scorers.entity_scorers import pairs_of
from pubmill.metrics.scorers.published_scorer import PublishedScorer, Score

Read = Callable[[str], str]
AVERAGES: dict[str, tuple[Average, str]] = {
    "micro": (micro, "all together"),
    "macro": (macro, "then the mean"),
    "weighted": (weighted, "then the mean weighted by their gold words"),
}
"""Name of an average -> its function, and what it does."""
USED = {
    "word_types_macro": "LinkBERT's `preprocess_blurb.py` (all labels B) with `--return_macro_metrics`",
    "word_labels_micro_o": "seqeval's `accuracy_score`; the accuracy that conlleval prints",
    "word_labels_macro": "`eval_f` of BioBERT's and BlueBERT's `run_ner.py`, there over subwords",
    "word_labels_macro_o": "`avg_f1` of SciBERT's `pico_crf_tagger.py`, over its labels",
}
ELSEWHERE = "scikit-learn's `f1_score` over words"


def type_of(label: str) -> str:
    """Return the type of a word's label: the same for B and I; O is a type."""
    prefix, _, kind = label.partition("-")
    return OUTSIDE if prefix == OUTSIDE else f"I-{kind}"


def label_of(label: str) -> str:
    """Return a word's label as it is."""
    return label


def word_score(read: Read, average: Average, left_out: str | None) -> Score:
    """Return the score that averages F1 over what is read of each word's label."""

    def score(
        examples: Sequence[TokensExample], predictions: Sequence[Sequence[str]], _: str | None
    ) -> float | None:
        pairs = (
            (read(one), read(other))
            for gold, predicted in pairs_of(examples, predictions)
            for one, other in zip(gold, predicted, strict=True)
        )
        return average(without(left_out, tallies_of(pairs)))

    return score


def _word_scorers() -> Iterator[PublishedScorer]:
    """Yield a scorer for each reading, average, and treatment of O."""
    for reading, read, read_as in (
        ("types", type_of, "the type of single words"),
        ("labels", label_of, "the label of single words, B and I being different"),
    ):
        for average, (function, how) in AVERAGES.items():
            for ending, left_out, o in (("", OUTSIDE, "without O"), ("_o", None, "O being one of them")):
                name = f"word_{reading}_{average}{ending}"
                yield PublishedScorer(
                    name=name,
                    kinds=("tokens",),
                    score=word_score(read, function, left_out),
                    definition=f"F1 over {read_as}, {o}, {how}",
                    used=USED.get(name, ELSEWHERE),
                )


WORDS = tuple(_word_scorers())
