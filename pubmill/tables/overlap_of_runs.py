"""Scores of finished runs split by what the scored items share with training, from their stored predictions.

The parts of each run must add up to the counts of its record.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.annotation.examples import Example, SequenceExample, Split, TokensExample, read_examples
from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_predictions, read_record
from pubmill.metrics.training_overlap import (
    Counts,
    KnownMentions,
    KnownPairs,
    Part,
    document_parts,
    entity_counts,
    entity_parts,
    label_counts,
    relation_parts,
    total,
)
from pubmill.storage.result_paths import BELOW, FINAL_RECORDS, PREDICTIONS, RECORD, run_of

Parts = dict[str, dict[Part, Counts]]
"""What items are split by (`mentions`, `arguments`, `documents`) -> part -> counts."""
KINDS: Mapping[str, type[Example]] = {"tokens": TokensExample, "sequence": SequenceExample}


class Overlap(NamedTuple):
    """The parts of some runs on one dataset, added up. `training`: the splits that items are compared
    with."""

    dataset: str
    training: tuple[Split, ...]
    runs: int
    parts: Parts


def overlaps_of_runs(folders: Sequence[Path], training: tuple[Split, ...]) -> list[Overlap]:
    """Split the scores of runs, by dataset; `folders`: their `runs/PROTOCOL/MODEL/DATASET/SETTING`."""
    runs: dict[Path, list[Path]] = {}
    for record in (record for folder in folders for record in _records(folder)):
        examples = record.absolute().parents[6] / BELOW.dataset(run_of(record).dataset)
        runs.setdefault(examples, []).append(record)
    return [_overlap(examples, records, training) for examples, records in runs.items()]


def _records(folder: Path) -> list[Path]:
    """Return the records of the final runs in a folder."""
    records = sorted(folder.glob(FINAL_RECORDS))
    if not records:
        raise PubmillError(
            f"{folder} has no records of final runs; expected a folder "
            "results/SCALE/runs/PROTOCOL/MODEL/DATASET/SETTING"
        )
    return records


def _overlap(examples: Path, records: Sequence[Path], training: tuple[Split, ...]) -> Overlap:
    """Split the scores of runs on one dataset; `examples`: the folder of its examples."""
    read = [(path, read_record(path)) for path in records]
    kind = _kind(*read[0])
    known = [one for split in training for one in read_examples(examples / f"{split}.jsonl.gz", kind)]
    splitter = (_EntitySplitter if kind is TokensExample else _RelationSplitter)(known)
    gold = {
        split: list(read_examples(examples / f"{split}.jsonl.gz", kind))
        for split in {record.split for _, record in read}
    }
    made = [_run_parts(path, record, gold[record.split], splitter) for path, record in read]
    parts = {
        by: {part: total(one[by][part] for one in made) for part in found} for by, found in made[0].items()
    }
    return Overlap(read[0][1].dataset, training, len(made), parts)


def _kind(path: Path, record: Record) -> type[Example]:
    """Return the class of a run's examples, if its scores can be split."""
    task = record.recipe.get("task", "")
    if task not in KINDS:
        raise PubmillError(f"{path}: its examples are {task}, not labelled words or relations; leave it out")
    return KINDS[task]


class _EntitySplitter:
    """Splits the counts of entities by what they share with training sentences."""

    def __init__(self, training: Sequence[Any]) -> None:
        self._known = KnownMentions(training)
        self._documents = {example.document for example in training}

    def parts(self, gold: Sequence[Any], predicted: Sequence[Any], negative: str | None) -> Parts:
        counts = [entity_counts(example, labels) for example, labels in zip(gold, predicted, strict=True)]
        return {
            "mentions": entity_parts(self._known, gold, predicted),
            "documents": document_parts(self._documents, gold, counts),
        }


class _RelationSplitter:
    """Splits the counts of relations by what they share with training examples."""

    def __init__(self, training: Sequence[Any]) -> None:
        self._known = KnownPairs(training)
        self._documents = {example.document for example in training}

    def parts(self, gold: Sequence[Any], predicted: Sequence[Any], negative: str | None) -> Parts:
        pairs = zip(gold, predicted, strict=True)
        counts = [label_counts(example.label, label, negative) for example, label in pairs]
        return {
            "arguments": relation_parts(self._known, gold, predicted, negative),
            "documents": document_parts(self._documents, gold, counts),
        }


def _run_parts(
    path: Path, record: Record, gold: Sequence[Any], splitter: _EntitySplitter | _RelationSplitter
) -> Parts:
    """Return the parts of one run, which add up to the counts of its record."""
    if record.counts is None:
        raise PubmillError(f"{path}: the run has no score: {record.failed}; leave it out")
    predicted = read_predictions(path.with_name(path.name.removesuffix(RECORD) + PREDICTIONS), gold)
    parts = splitter.parts(gold, predicted, record.recipe.get("negative"))
    whole = Counts(*(record.counts[name] for name in Counts._fields))
    for by, found in parts.items():
        counted = total(found.values())
        if counted != whole:
            raise PubmillError(
                f"{path}: gold, predicted and correct {by} are {tuple(counted)}, but "
                f"{tuple(whole)} in the record; score the run again"
            )
    return parts


HEADING = ("part", "gold", "share", "predicted", "correct", "precision", "recall", "F1")


def as_text(overlap: Overlap) -> str:
    """Return the parts as tables of text, each with its sum."""
    runs = f"{overlap.runs} run{'s' * (overlap.runs > 1)}"
    lines = [f"{overlap.dataset}, {runs}, compared with {' and '.join(overlap.training)}"]
    for by, parts in overlap.parts.items():
        lines += ["", *aligned([(by, *HEADING[1:]), *_rows(parts)])]
    return "\n".join(lines)


def _rows(parts: Mapping[Part, Counts]) -> Iterator[tuple[str, ...]]:
    whole = total(parts.values())
    for name, one in [*parts.items(), ("together", whole)]:
        scores = (one.precision, one.recall, one.f1)
        share = one.gold / whole.gold if whole.gold else 0.0
        counts = (str(one.gold), f"{100 * share:.1f} %", str(one.predicted), str(one.correct))
        yield (name, *counts, *(f"{100 * score:.2f}" for score in scores))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text as lines, the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]
