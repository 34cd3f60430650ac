"""Read facts from artefacts: dataset cards, diagnoses, statistics, weights, records and training reports."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_record
from pubmill.recipes.fact_tables import FactTableColumn, FactTableRecipe, FactTableRow, FactValue
from pubmill.storage.files import read_json
from pubmill.tables.aggregation import machine
from pubmill.tables.dataset_cards import NAMED, Card, label_bias, read_card

UNKNOWN = ("[UNK]", "<unk>")
"""Pieces that represent text outside the vocabulary."""
NO_LABELS = "its examples have no labels that could be counted"
NO_MENTIONS = "its examples have no mentions"

Artefacts = dict[str, Any]
"""File below the results folder -> its content: a Card, a Record, or parsed JSON."""
Found = tuple[FactValue | None, str | None]
"""A value, or the reason why there is none."""


def read_artefacts(recipe: FactTableRecipe, results: Path) -> Artefacts:
    """Read all artefacts that a table's cells need."""
    read: dict[str, Callable[[Path], Any]] = {"parameters": numbers_of_weights}
    read |= dict.fromkeys(("count", "label_bias"), read_card)
    read |= dict.fromkeys(("seconds", "seconds_ratio"), read_record)
    facts = {column.key: column.fact for column in recipe.columns}
    sources = [(facts[key], source) for row in recipe.rows for key, source in row.sources.items()]
    files = {file: fact for fact, source in sources for file in source.paths}
    return {file: read.get(fact, read_json)(results / file) for file, fact in files.items()}


def machines(artefacts: Artefacts) -> tuple[str, ...]:
    """The machines of the records among the artefacts."""
    records = (one for one in artefacts.values() if isinstance(one, Record))
    return tuple(sorted({machine(record.hardware) for record in records}))


def found(row: FactTableRow, column: FactTableColumn, artefacts: Artefacts) -> Found:
    """Return a fact from its artefacts, or the reason why they lack it."""
    files = row.sources[column.key].paths
    own = artefacts[files[0]]
    match column.fact:
        case "count" | "label_bias":
            return _card_value(row, column, own)
        case "term":
            pieces = _nested_value(own, files[0], "terms", column.detail)
            return len(pieces) == 1 and pieces[0] not in UNKNOWN, None
        case "fit":
            rate = _nested_value(own, files[0], "splits", column.detail, "entity_words", "subwords_per_word")
            return rate, None if rate is not None else NO_MENTIONS
        case "parameters":
            return own, None
        case "sequences_per_second":  # without reading, predicting or evaluating
            if not (speed := own.get("tokens_per_second")):
                why = own.get("failed") or "it took no step"
                return None, f"the run of {row.subject} measured no speed: {why}"
            return round(own["steps"] * own["recipe"]["batch_size"] / (own["tokens"] / speed)), None
        case "masked_loss":  # on held-out documents, with the recipe's own masking
            masking = own["recipe"]["objective"]["masking"]
            loss = (own.get("held_out") or {}).get(masking, {}).get("mlm_loss")
            lacking = f"the pretraining of {row.subject} measured none on held-out documents"
            return loss, None if loss is not None else lacking
        case "seconds" | "seconds_ratio":
            return _seconds([artefacts[file] for file in files])
    value: FactValue = _nested_value(own, files[0], *column.detail.split("."))
    return value, None


def numbers_of_weights(path: Path) -> int:
    """Return how many numbers a safetensors file holds, from its header."""
    with safe_open(path, "numpy") as tensors:
        return sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118


def _nested_value(value: Any, file: str, *keys: str) -> Any:
    """Return the value under a path of nested keys in an artefact."""
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            raise PubmillError(f"{file} lacks {'.'.join(keys)}; remove it and build it again")
        value = value[key]
    return value


def _card_value(row: FactTableRow, column: FactTableColumn, card: Card) -> Found:
    """Return a count or label bias from a dataset card."""
    split = column.detail
    if split not in card.counts:
        return None, f"{row.subject} has no {split} split"
    if column.fact == "label_bias":
        bias = label_bias(card, split)
        return bias, None if bias is not None else NO_LABELS
    if row.measure not in card.counts[split] and not row.measure.startswith(NAMED):
        raise PubmillError(
            f"the table's row {row.subject} names the unknown measure {row.measure!r}; the measures counted "
            f"in {split} are {', '.join(card.counts[split])}"
        )
    number = card.count(split, row.measure)
    return number, None if number is not None else f"{row.measure} are not marked in {split} of {row.subject}"


def _seconds(records: list[Record]) -> Found:
    """Return the seconds of a run, or their ratio to another run's on the same kind of machine."""
    for record in records:
        if record.failed is not None:
            return None, f"the run of {record.model} failed: {record.failed}"
    if len({machine(record.hardware) for record in records}) > 1:
        return None, "the two runs were on different machines"
    first, *others = (record.seconds for record in records)
    return first / others[0] if others else first, None
