"""What specs, tables, pages, plans and model cards state of each kind of examples, beside its class
(`kinds.py`). Standard library only."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class KindFacts:
    """Facts of a kind of examples.

    - `described`: what an example is, in words.
    - `tasks`: tasks with such examples.
    - `row`: the keys that a row to be predicted needs.
    - `sizes`: counts that describe the size of a split.
    - `expected`: counts that a new spec expects; `labels.` is the number of each label.
    - `subwords`: their assumed number in an example; `max_length` is the upper limit.
    - `hub_task`: name of the task on the hub.
    """

    described: str
    tasks: tuple[str, ...]
    row: str
    sizes: tuple[str, ...]
    expected: tuple[str, ...] = ("examples",)
    subwords: int
    hub_task: str


FACTS = {
    "tokens": KindFacts(
        described="sentences with a label for each word", tasks=("ner", "de-identification", "pico"),
        row="id, words", subwords=40, hub_task="token-classification",
        sizes=("sentences", "mentions", "tokens", "tokens_in_mentions", "documents", "illegal_starts"),
        expected=("sentences", "tokens", "mentions"),
    ),
    "sequence": KindFacts(
        described="a text, or a pair of texts, with one label",
        tasks=("relation", "classification", "yes-no", "inference"),
        row="id, text, and text_pair or entities where the dataset has them",
        subwords=60, hub_task="text-classification",
        sizes=("examples", "documents", "contradictory_texts"), expected=("examples", "labels."),
    ),
    "multilabel": KindFacts(
        described="texts with any number of labels", tasks=("classification",),
        row="id, text, and sentences (start, end) where the model reads sentence by sentence",
        subwords=300, hub_task="text-classification",
        sizes=("examples", "sentences", "without_label", "documents"),
    ),
    "regression": KindFacts(
        described="pairs of texts with a score", tasks=("similarity",), row="id, text, text_pair",
        subwords=70, hub_task="sentence-similarity", sizes=("examples", "ratings", "documents"),
    ),
    "span": KindFacts(
        described="questions whose answers stand in a text", tasks=("factoid", "reading", "list"),
        row="id, question, context, and group where several contexts are of one question",
        subwords=250, hub_task="question-answering",
        sizes=("examples", "questions", "contexts", "answers", "unanswerable", "documents"),
        expected=("examples", "questions"),
    ),
    "relations": KindFacts(
        described="documents with relations between their concepts", tasks=("document-relation",),
        row="id, text, entities (start, end, type, id of its concept), and pairs of concepts",
        subwords=350, hub_task="text-classification",
        sizes=("examples", "mentions", "pairs", "relations", "without_pair", "novel"),
        expected=("documents", "mentions", "pairs", "relations", "novel", "without_pair", "labels."),
    ),
    "mentions": KindFacts(
        described="sentences with mentions that may nest", tasks=("nested-ner",),
        row="id, words", subwords=40, hub_task="token-classification",
        sizes=("sentences", "mentions", "nested", "longest_mention", "tokens", "documents"),
        expected=("sentences", "tokens", "mentions", "nested"),
    ),
}  # fmt: skip
"""Kind of examples -> its facts."""
