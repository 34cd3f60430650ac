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
    Part,
    document_parts,
    entity_counts,
    entity_parts,
    label_counts,
    relation_parts,
    total,
)
from pubmill.storage.result_paths import BELOW, PREDICTIONS, RECORD, run_of

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


def overlap_of_runs(folders: Sequence[Path], training: tuple[Split, ...]) -> Overlap:
    """Split the scores of runs on one dataset; `folders`: their `runs/PROTOCOL/MODEL/DATASET/SETTING`."""
    records = [path for folder in folders for path in _records(folder)]
    found = [(path, read_record(path)) for path in records]
    datasets = sorted({record.dataset for _, record in found})
    if len(datasets) != 1:
        raise PubmillError(f"the runs are on {', '.join(datasets)}; give runs on one dataset at a time")
    made = [_run_parts(path, record, training) for path, record in found]
    parts = {
        by: {part: total(one[by][part] for one in made) for part in of_part}
        for by, of_part in made[0].items()
    }
    return Overlap(datasets[0], training, len(made), parts)


def _records(folder: Path) -> list[Path]:
    """Return the records of the final runs in a folder."""
    records = sorted(folder.glob(f"final/seed-*[0-9]{RECORD}"))
    if not records:
        raise PubmillError(
            f"{folder} has no records of final runs; expected a folder "
            "results/SCALE/runs/PROTOCOL/MODEL/DATASET/SETTING"
        )
    run_of(records[0])  # reports a folder elsewhere
    return records


def _run_parts(path: Path, record: Record, training: Sequence[Split]) -> Parts:
    """Return the parts of one run, which add up to the counts of its record."""
    kind = KINDS.get(record.recipe.get("task", ""))
    if kind is None or record.counts is None:
        why = (
            record.failed or f"its examples are {record.recipe.get('task')}, not labelled words or relations"
        )
        raise PubmillError(f"{path}: the run can't be split: {why}")
    folder = path.absolute().parents[6] / BELOW.dataset(record.dataset)
    known = [one for split in training for one in read_examples(folder / f"{split}.jsonl.gz", kind)]
    gold = list(read_examples(folder / f"{record.split}.jsonl.gz", kind))
    predicted = read_predictions(path.with_name(path.name.removesuffix(RECORD) + PREDICTIONS), gold)
    parts = _split_counts(known, gold, predicted, record.recipe.get("negative"))
    whole = Counts(*(record.counts[name] for name in Counts._fields))
    for by, found in parts.items():
        if total(found.values()) != whole:
            counted = tuple(total(found.values()))
            raise PubmillError(
                f"{path}: gold, predicted and correct {by} are {counted}, but {tuple(whole)} in the record; "
                "score the run again"
            )
    return parts


def _split_counts(
    known: Sequence[Any], gold: Sequence[Any], predicted: Sequence[Any], negative: str | None
) -> Parts:
    if isinstance(gold[0], TokensExample):
        by_name = {"mentions": entity_parts(known, gold, predicted)}
        counts = [entity_counts(example, labels) for example, labels in zip(gold, predicted, strict=True)]
    else:
        by_name = {"arguments": relation_parts(known, gold, predicted, negative)}
        pairs = zip(gold, predicted, strict=True)
        counts = [label_counts(example.label, label, negative) for example, label in pairs]
    return {**by_name, "documents": document_parts(known, gold, counts)}


HEADING = ("part", "gold", "share", "predicted", "correct", "precision", "recall", "F1")


def as_text(overlap: Overlap) -> str:
    """Return the parts as tables of text, each with its sum."""
    runs = f"{overlap.runs} run{'s' * (overlap.runs > 1)}"
    lines = [f"{overlap.dataset}, {runs}, compared with {' and '.join(overlap.training)}"]
    for by, parts in overlap.parts.items():
        lines += ["", *_aligned([(by, *HEADING[1:]), *_rows(parts)])]
    return "\n".join(lines)


def _rows(parts: Mapping[Part, Counts]) -> Iterator[tuple[str, ...]]:
    whole = total(parts.values())
    for name, one in [*parts.items(), ("together", whole)]:
        scores = (one.precision, one.recall, one.f1)
        share = one.gold / whole.gold if whole.gold else 0.0
        counts = (str(one.gold), f"{100 * share:.1f} %", str(one.predicted), str(one.correct))
        yield (name, *counts, *(f"{100 * score:.2f}" for score in scores))


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]
