"""Counts of a dataset's examples: size, labels, lengths, repetitions and overlaps.

Nothing is corrected here: repetitions and overlaps between splits are measured and reported.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations, groupby, pairwise
from statistics import fmean, quantiles
from typing import Any

from pubmill.examples import kinds

Counts = dict[str, int | None]
BY_NAME = ("labels.", "mentions.", "words.")
OPEN = (*BY_NAME, "left_out.")
"""Prefixes of per-label counts; a missing label counts as 0."""


def count(examples: Sequence[kinds.Example]) -> Counts:
    """Count one split, by the measures of its kind (`MEASURES`) and those of all kinds.

    `documents` counts the marked documents, None without marks; `repeated_documents` are those whose
    identifier occurred before, `repeated_texts` the examples whose input (`key`) occurred before.
    """
    documents = [name for name, _ in groupby(example.document for example in examples) if name is not None]
    own = MEASURES[type(examples[0])](examples) if examples else {"examples": 0}
    return {
        **own,
        "documents": len(documents) or None,
        "repeated_documents": len(documents) - len(set(documents)),
        "repeated_texts": len(examples) - len({key(example) for example in examples}),
    }


def unknown_names(
    expect: Mapping[str, Mapping[str, int]], negative: str | None, counts: Mapping[str, Counts]
) -> list[str]:
    """Return messages on labels and types in a spec that no split of the dataset has.

    Otherwise an expected count of 0 would always hold for a misspelt name, and a misspelt `negative` label
    would exclude nothing.
    """
    measured = (measure for of_split in counts.values() for measure in of_split)
    names = {measure.partition(".")[2] for measure in measured if measure.startswith(BY_NAME)}
    known = ", ".join(sorted(names)) or "none"
    messages = [
        f"{split} {measure}: there is no such name; there are {known}"
        for split, measures in expect.items()
        for measure, number in measures.items()
        if number == 0 and measure.startswith(BY_NAME) and measure.partition(".")[2] not in names
    ]
    if negative is not None and negative not in names:
        messages.append(f"negative: there is no label {negative!r}; there are {known}")
    return messages


def _count_tokens(examples: Sequence[kinds.TokensExample]) -> Counts:
    """Count a split of tokens examples.

    `mentions` are the B labels: BLURB's counts (gu2020 Table 3) are these, not runs of non-O words, except
    for PICO, where it counts all labelled words, `tokens_in_mentions`. `illegal_starts` are I labels without
    a B or I of their type before them.
    """
    words = Counter(word for example in examples for word in example.words)
    labels = Counter(label for example in examples for label in example.labels)
    prefixes: Counter[str] = Counter()
    typed: Counter[str] = Counter()
    for label, number in labels.items():
        prefix, _, of = label.partition("-")
        prefixes[prefix] += number
        if of:
            typed[f"words.{of}"] += number
            typed[f"mentions.{of}"] += number * (prefix == "B")
    return {
        "sentences": len(examples),
        "tokens": words.total(),
        "mentions": prefixes["B"],
        "tokens_in_mentions": prefixes["B"] + prefixes["I"],
        "distinct_words": len(words),
        "longest_sentence": max((len(example.words) for example in examples), default=0),
        "illegal_starts": sum(
            label[0] == "I" and (last == "O" or last[1:] != label[1:])
            for example in examples
            for last, label in pairwise(["O", *example.labels])
        ),
        **dict(sorted(typed.items())),
    }


def _count_sequences(examples: Sequence[kinds.SequenceExample]) -> Counts:
    """Count a split of sequence examples; `contradictory_texts` are inputs with more than one label."""
    labelled = {(key(example), example.label) for example in examples}
    inputs = Counter(text for text, _ in labelled)
    return {
        "examples": len(examples),
        **_label_counts(example.label for example in examples),
        "contradictory_texts": sum(number > 1 for number in inputs.values()),
    }


def _count_multilabel(examples: Sequence[kinds.MultilabelExample]) -> Counts:
    return {
        "examples": len(examples),
        "sentences": sum(len(example.sentences) for example in examples),
        "without_label": sum(not example.labels for example in examples),
        **_label_counts(label for example in examples for label in example.labels),
    }


def _count_spans(examples: Sequence[kinds.SpanExample]) -> Counts:
    """Count a split of span examples.

    `questions` are groups of examples, if the source has groups; `distinct_answers` are by text.
    `fewest_repeats` and `most_repeats` are the numbers of examples with the rarest and the most frequent
    answer (shin2020, caption of Table 8), `..._of_pair` those of a question with an answer (its section 5.5).
    An answer counts once per example, even if several annotators gave it.
    """
    asked = [(one.question, answer) for one in examples for answer in {a.text for a in one.answers}]
    answers, pairs = Counter(answer for _, answer in asked), Counter(asked)
    return {
        "examples": len(examples),
        "questions": len({example.group or example.id for example in examples}),
        "contexts": len({example.context for example in examples}),
        "unanswerable": sum(not example.answers for example in examples),
        "answers": sum(len(example.answers) for example in examples),
        "distinct_answers": len(answers),
        "fewest_repeats": min(answers.values(), default=0),
        "most_repeats": max(answers.values(), default=0),
        "fewest_repeats_of_pair": min(pairs.values(), default=0),
        "most_repeats_of_pair": max(pairs.values(), default=0),
    }


def _count_relations(examples: Sequence[kinds.RelationsExample]) -> Counts:
    """Count a split of documents with relations; `without_pair` are relations that cannot be predicted, as
    their concepts are no pair, and `novel` those that are said to be new."""
    relations = [one for example in examples for one in example.relations]
    reachable = [one for example in examples for one in example.relations if one[:2] in example.pairs]
    return {
        "examples": len(examples),
        "mentions": sum(len({(e.start, e.end, e.type) for e in example.entities}) for example in examples),
        "pairs": sum(len(example.pairs) for example in examples),
        "relations": len(relations),
        "without_pair": len(relations) - len(reachable),
        "novel": sum(one[3:] == [kinds.NOVELTY[0]] for one in relations),
        **_label_counts(one[2] for one in relations),
    }


def _count_mentions(examples: Sequence[kinds.MentionsExample]) -> Counts:
    """Count a split of sentences with mentions; `nested` are those inside of another, or with its words."""
    mentions = [one for example in examples for one in example.mentions]
    return {
        "sentences": len(examples),
        "tokens": sum(len(example.words) for example in examples),
        "mentions": len(mentions),
        "nested": sum(
            any(one != of and of.first <= one.first and one.after <= of.after for of in example.mentions)
            for example in examples
            for one in example.mentions
        ),
        "longest_mention": max((one.after - one.first for one in mentions), default=0),
        **{f"mentions.{of}": n for of, n in sorted(Counter(one.type for one in mentions).items())},
    }


MEASURES: dict[type[kinds.Example], Callable[[Any], Counts]] = {
    kinds.TokensExample: _count_tokens,
    kinds.SequenceExample: _count_sequences,
    kinds.MultilabelExample: _count_multilabel,
    kinds.RegressionExample: lambda examples: {
        "examples": len(examples),
        "ratings": sum(len(example.ratings) for example in examples),
    },
    kinds.SpanExample: _count_spans,
    kinds.RelationsExample: _count_relations,
    kinds.MentionsExample: _count_mentions,
}


def _label_counts(labels: Any) -> dict[str, int]:
    return {f"labels.{label}": number for label, number in sorted(Counter(labels).items())}


def key(example: kinds.Example) -> Hashable:
    """Return a model's input of an example; examples with equal keys have the same input."""
    if isinstance(example, kinds.TokensExample | kinds.MentionsExample):
        return tuple(example.words)
    entities = example.entities if isinstance(example, kinds.SequenceExample) else ()
    return *_texts(example), *((entity.start, entity.end, entity.type) for entity in entities)


def _texts(example: kinds.Example) -> list[str | None]:
    return [getattr(example, name, None) for name in ("text", "text_pair", "question", "context")]


def lengths(examples: Sequence[kinds.Example]) -> dict[str, float]:
    """Return statistics of whitespace-separated words per input: mean, median, 95th percentile, maximum."""
    words = [_count_words(example) for example in examples]
    if not words:
        return {}
    cuts = quantiles(words, n=20, method="inclusive") if len(words) > 1 else words * 19
    return {"mean": round(fmean(words), 2), "median": cuts[9], "p95": cuts[18], "max": max(words)}


def _count_words(example: kinds.Example) -> int:
    if isinstance(example, kinds.TokensExample | kinds.MentionsExample):
        return len(example.words)
    return sum(len(text.split()) for text in _texts(example) if text)


def overlaps(splits: dict[str, Sequence[kinds.Example]]) -> list[dict[str, str | int | None]]:
    """Return a row for each pair of splits: `texts`, the number of inputs of the later split that occur in
    the earlier one too, and `documents`, the number of common documents; None if documents are not marked."""
    keys = {name: [key(example) for example in examples] for name, examples in splits.items()}
    documents = {name: {e.document for e in examples} - {None} for name, examples in splits.items()}
    rows: list[dict[str, str | int | None]] = []
    for earlier, later in combinations(splits, 2):
        known = set(keys[earlier])
        marked = documents[earlier] and documents[later]
        rows.append(
            {
                "split": later,
                "with": earlier,
                "texts": sum(one in known for one in keys[later]),
                "documents": len(documents[earlier] & documents[later]) if marked else None,
            }
        )
    return rows
