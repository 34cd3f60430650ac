"""The entity scores of a record, and its report by type, as seqeval computes them."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2, Entities

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import gold_beside, to_labels, to_mentions
from pubmill.metrics.contributions import Array, Scored, units_of
from pubmill.metrics.registry import COUNTS

ByType = dict[str, dict[str, float]]
"""Type of entities (`_`: labels without types) -> `precision`, `recall`, `f1-score`, and `support`, the
number of gold entities."""
SEQEVAL_NAMES = {"entity_f1": "f1-score", "entity_precision": "precision", "entity_recall": "recall"}


def with_entity_report(
    dataset: str, examples: Sequence[TokensExample], predicted: Sequence[Sequence[str]], score: Scored
) -> tuple[Scored, ByType]:
    """Return a score of `SCORERS["tokens"]` with the entity metrics of seqeval (`mode="strict"`, IOB2), and
    seqeval's report by type.

    Labels are rewritten as IOB2 first: strict mode ignores an I that continues no entity, which here, as in
    conlleval, begins one. A `PubmillError` names dataset and document if a document's contributions are not
    the entities that seqeval finds in it.
    """
    gold = [_iob2(gold_beside(one.labels, labels)) for one, labels in zip(examples, predicted, strict=True)]
    guessed = [_iob2(labels) for labels in predicted]
    _check_contributions(dataset, examples, gold, guessed, score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without entities there is no mean over types; it is not used
        report: dict[str, dict[str, Any]] = classification_report(
            gold, guessed, mode="strict", scheme=IOB2, output_dict=True, zero_division=0
        )
    rows = {name: {key: float(value) for key, value in row.items()} for name, row in report.items()}
    entities = {metric: rows["micro avg"][name] for metric, name in SEQEVAL_NAMES.items()}
    by_type = {name: row for name, row in rows.items() if not name.endswith(" avg")}
    return score._replace(metrics=score.metrics | entities), by_type


def _iob2(labels: Sequence[str]) -> list[str]:
    return to_labels(to_mentions(labels), len(labels), "bio")


def _check_contributions(
    dataset: str,
    examples: Sequence[TokensExample],
    gold: list[list[str]],
    predicted: list[list[str]],
    score: Scored,
) -> None:
    units = units_of(examples)
    counted = np.zeros((len(score.contributions.values), len(COUNTS)))
    sentences = zip(Entities(gold, IOB2).entities, Entities(predicted, IOB2).entities, strict=True)
    for unit, (true, guessed) in zip(units.numbers, sentences, strict=True):
        counted[unit] += len(true), len(guessed), len({*true} & {*guessed})
    own = score.contributions.values[:, [score.contributions.names.index(name) for name in COUNTS]]
    for unit in np.flatnonzero((own != counted).any(axis=1))[:1]:
        example = examples[units.numbers.index(unit)]
        raise PubmillError(
            f"{dataset}, {units.each} {example.document or example.id}: {_entities(own[unit])} contribute to "
            f"the score, but seqeval finds {_entities(counted[unit])}. Score and comparisons by document "
            "would not agree; look for types in the labels of this document that differ only in hyphens."
        )


def _entities(counts: Array) -> str:
    return "entities " + ", ".join(f"{name} {int(n)}" for name, n in zip(COUNTS, counts, strict=True))
