"""Scores split by what the scored items share with training: of finished runs, and of the cells of a table.

They are counted in stored predictions. The parts of each run must add up to the counts of its record.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pandas import DataFrame

from pubmill.errors import PubmillError
from pubmill.examples.concept_files import Concepts, all_identifiers, read_concepts
from pubmill.examples.kinds import Example, SequenceExample, Split, TokensExample, read_examples
from pubmill.extras.overlap.overlap_recipes import TRAINING, OverlapRecipe
from pubmill.messages.wording import aligned
from pubmill.metrics import training_overlap
from pubmill.metrics.records import Record, read_predictions, read_record
from pubmill.metrics.training_overlap import Counts, Part, total
from pubmill.recipes.tables import Heading, values_of
from pubmill.report.figures import recall_strips
from pubmill.report.rendering import renderers
from pubmill.storage.files import read_json
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import (
    BELOW,
    DOCUMENT_YEARS,
    FINAL_RECORDS,
    OVERLAP_FORMATS,
    PREDICTIONS,
    RECORD,
)
from pubmill.tables.cells import Cell, Table
from pubmill.tables.overlap_tables import BY, CellParts, Dated, OverlapTable, PartScores

Parts = dict[str, dict[Part, Counts]]
"""Split (`mentions` or `arguments`, `documents`, if known `pretraining`, `years`) -> part -> counts."""
KINDS: Mapping[str, type[Example]] = {"tokens": TokensExample, "sequence": SequenceExample}
HEADING = ("gold", "share", "predicted", "correct", "precision", "recall", "F1")


class Overlap(NamedTuple):
    """The parts of some runs on one dataset, added up. `training`: the splits that items are compared with;
    `dated`: its scored documents, if their years were looked up."""

    dataset: str
    training: tuple[Split, ...]
    runs: int
    parts: Parts
    dated: Dated | None = None


def overlaps_of_runs(
    folders: Sequence[Path], training: tuple[Split, ...], corpora: Sequence[str] = ()
) -> list[Overlap]:
    """Split the scores of runs, by dataset; `folders`: their `runs/PROTOCOL/MODEL/DATASET/SETTING`;
    `corpora`: those that their models were pretrained on."""
    runs: dict[tuple[Path, str], list[Path]] = {}
    for folder in folders:
        records = sorted(folder.glob(FINAL_RECORDS))
        if not records:
            raise PubmillError(
                f"{folder} has no records of final runs; expected a folder "
                "results/SCALE/runs/PROTOCOL/MODEL/DATASET/SETTING"
            )
        for record in records:
            runs.setdefault((record.absolute().parents[6], run_of(record).dataset), []).append(record)
    overlaps = []
    for (results, dataset), records in runs.items():
        items = DatasetItems(results, dataset, training)
        made = [items.parts(path, corpora, corpora) for path in records]
        dated = items.dated(read_record(records[0]), corpora) if corpora else None
        overlaps.append(Overlap(dataset, training, len(made), added(made), dated))
    return overlaps


def added(runs: Sequence[Parts]) -> Parts:
    """Add up the parts of runs; splits that some runs lack, such as `years`, are left out."""
    parts: Parts = {}
    for by in (by for by in runs[0] if all(by in one for one in runs)):
        names = dict.fromkeys(part for one in runs for part in one[by])
        parts[by] = {part: total(one[by].get(part, Counts()) for one in runs) for part in names}
    return parts


def as_text(overlap: Overlap) -> str:
    """Return the parts as tables of text, each with its sum."""
    runs = f"{overlap.runs} run{'s' * (overlap.runs > 1)}"
    lines = [f"{overlap.dataset}, {runs}, compared with {' and '.join(overlap.training)}"]
    if overlap.dated:
        lines.append(f"by year: {overlap.dated.text}")
    for by, parts in overlap.parts.items():
        lines += ["", *aligned([(by, *HEADING), *_rows(parts)])]
    return "\n".join(lines)


def _rows(parts: Mapping[Part, Counts]) -> Iterator[tuple[str, ...]]:
    whole = total(parts.values())
    for name, one in [*parts.items(), ("together", whole)]:
        share = one.gold / whole.gold if whole.gold else 0.0
        counts = (str(one.gold), f"{100 * share:.1f} %", str(one.predicted), str(one.correct))
        yield (name, *counts, *(f"{100 * score:.2f}" for score in (one.precision, one.recall, one.f1)))


class DatasetItems:
    """The items of a dataset in a results folder, and what they share with its training splits."""

    def __init__(self, results: Path, dataset: str, training: tuple[Split, ...]) -> None:
        self._results, self._dataset, self._training = results, dataset, training
        self._examples = cache(self._read)
        self._held = cache(self._read_held)
        self._years = cache(self._read_years)

    def dated(self, record: Record, corpora: Sequence[str]) -> Dated:
        """Return how many documents of a run's scored split have a year in the sources of these corpora."""
        gold = self._examples(record.split, record.recipe["task"])
        documents = self._documents(record.split, gold)
        named = {name for name in documents if name is not None}
        dated = named & self._all_years(corpora).keys()
        return Dated(documents=len(named), with_year=len(dated), unnamed=documents.count(None))

    def parts(self, path: Path, corpora: Sequence[str] = (), dated: Sequence[str] = ()) -> Parts:
        """Return the parts of the run with the record at `path`, each split of which adds up to the record's
        counts. `corpora`: pretraining corpora of its model; `dated`: corpora whose sources give years."""
        record = read_record(path)
        if record.counts is None:
            raise PubmillError(f"{path}: the run has no score: {record.failed}; leave it out")
        task = _task(path, record)
        gold = self._examples(record.split, task)
        predicted = read_predictions(path.with_name(path.name.removesuffix(RECORD) + PREDICTIONS), gold)
        negative = record.recipe.get("negative")
        if task == "tokens":
            counts = [training_overlap.entity_counts(*both) for both in zip(gold, predicted, strict=True)]
            first = {"mentions": self._mention_parts(record.split, gold, predicted)}
        else:
            pairs = zip(gold, predicted, strict=True)
            counts = [training_overlap.label_counts(one.label, label, negative) for one, label in pairs]
            first = {"arguments": training_overlap.relation_parts(self._pairs, gold, predicted, negative)}
        parts = first | self._document_parts(record.split, task, counts, corpora)
        if years := self._all_years(dated):
            parts["years"] = training_overlap.year_parts(years, self._documents(record.split, gold), counts)
        _check_sums(path, record.counts, parts)
        return parts

    def _mention_parts(
        self, split: str, gold: Sequence[TokensExample], predicted: Sequence[Sequence[str]]
    ) -> dict[Part, Counts]:
        concepts = None
        if self._concepts is not None:
            known, here = self._concepts, self._concepts[split]
            training = all_identifiers(one for name in self._training for one in known[name].values())
            scored = [here[one.id].identifiers if one.id in here else {} for one in gold]
            concepts = training_overlap.KnownConcepts(training, scored)
        return training_overlap.entity_parts(self._mentions, gold, predicted, concepts)

    def _document_parts(
        self, split: str, task: str, counts: Sequence[Counts], corpora: Sequence[str]
    ) -> Parts:
        """Return the parts by document, and where known by pretraining."""
        gold = self._examples(split, task)
        documents = self._documents(split, gold)
        known = {name for one in self._training for name in self._documents(one, self._examples(one, task))}
        parts = {"documents": training_overlap.document_parts(known, documents, counts)}
        if corpora:
            ids = frozenset[str]().union(*(self._held(name, split) for name in corpora))
            held = {name for one, name in zip(gold, documents, strict=True) if one.id in ids and name}
            known_items = [one.id in ids or name in held for one, name in zip(gold, documents, strict=True)]
            parts["pretraining"] = training_overlap.corpus_parts(known_items, counts)
        return parts

    def _read(self, split: str, task: str) -> list[Any]:
        return list(read_examples(self._results / BELOW.examples(self._dataset, split), KINDS[task]))

    def _known(self, task: str) -> list[Any]:
        return [one for split in self._training for one in self._examples(split, task)]

    @cached_property
    def _mentions(self) -> training_overlap.KnownMentions:
        return training_overlap.KnownMentions(self._known("tokens"))

    @cached_property
    def _pairs(self) -> training_overlap.KnownPairs:
        return training_overlap.KnownPairs(self._known("sequence"))

    @cached_property
    def _concepts(self) -> Concepts | None:
        path = self._results / BELOW.concepts(self._dataset)
        return read_concepts(path) if path.is_file() else None

    def _documents(self, split: str, examples: Sequence[Example]) -> list[str | None]:
        """Return the documents of examples, by their source, else by the file of identifiers."""
        known = self._concepts[split] if self._concepts else {}
        return [
            known[one.id].document if one.document is None and one.id in known else one.document
            for one in examples
        ]

    def _read_held(self, corpus: str, split: str) -> frozenset[str]:
        """Return the examples that a corpus contains."""
        path = self._results / BELOW.corpus(corpus, "contamination.json")
        contained = read_json(path)["datasets"].get(self._dataset, {}).get(split)
        if contained is None:
            raise PubmillError(
                f"{path} has nothing on {split} of {self._dataset}; its study has other datasets"
            )
        return frozenset(contained["ids"])

    def _all_years(self, corpora: Sequence[str]) -> dict[str, int]:
        """Return the years of the dataset's documents in the sources of any of these corpora."""
        return {name: year for corpus in corpora for name, year in self._years(corpus).items()}

    def _read_years(self, corpus: str) -> Mapping[str, int]:
        """Return the years of the dataset's documents: those that a corpus's sources have."""
        path = self._results / BELOW.corpus(corpus, DOCUMENT_YEARS)
        years: Mapping[str, int] = read_json(path).get(self._dataset, {}) if path.is_file() else {}
        return years


def _task(path: Path, record: Record) -> str:
    """Return the kind of a run's examples, if its scores can be split."""
    task = str(record.recipe.get("task", ""))
    if task not in KINDS:
        raise PubmillError(f"{path}: its examples are {task}, not labelled words or relations; leave it out")
    return task


def _check_sums(path: Path, recorded: Mapping[str, int], parts: Parts) -> None:
    """Check that the parts add up to the counts of the record."""
    whole = Counts(*(recorded[name] for name in Counts._fields))
    for by, groups in parts.items():
        if (counted := total(groups.values())) != whole:
            raise PubmillError(
                f"{path}: gold, predicted and correct {by} are {tuple(counted)}, but "
                f"{tuple(whole)} in the record; score the run again"
            )


def overlap_table(recipe: OverlapRecipe, table: Table, results: Path) -> OverlapTable:
    """Split the scores of a table's cells, from the predictions in a results folder."""
    items = _Items(recipe, results)
    cells = tuple(
        parts
        for row in table.rows
        for column in (name for name, rows in recipe.cells.items() if row.key in rows)
        for parts in items.cell_parts(row.key, column, table.cells[column][row.key])
    )
    shown = {one.row for one in cells}
    return OverlapTable(
        **values_of(Heading, table),
        training=TRAINING,
        row_labels={row.key: row.label for row in table.rows if row.key in shown},
        column_labels={column.key: column.label for column in table.columns},
        cells=cells,
    )


class _Items:
    """The items of datasets, each read once."""

    def __init__(self, recipe: OverlapRecipe, results: Path) -> None:
        self._recipe, self._results = recipe, results
        self._of = cache(lambda dataset: DatasetItems(results, dataset, TRAINING))

    def cell_parts(self, row: str, column: str, cell: Cell) -> Iterator[CellParts]:
        """Yield the scores of a cell's runs, split in each way; runs without a score are left out."""
        corpora, years = self._recipe.corpora.get(column, ()), self._recipe.dated
        records = [seed.record for seed in cell.seeds if seed.value is not None]
        items = [(self._results / path, self._of(run_of(path).dataset)) for path in records]
        made = [of.parts(path, corpora, years) for path, of in items]
        for by, parts in added(made).items() if made else ():
            scores = tuple(PartScores(part=part, **counts._asdict()) for part, counts in parts.items())
            dated = self._dated(records) if years and by == "documents" else None
            yield CellParts(row=row, column=column, by=by, runs=len(made), parts=scores, dated=dated)

    def _dated(self, records: Sequence[str]) -> Dated:
        """Return the numbers of scored documents with a year, of all datasets of a cell."""
        first = {run_of(path).dataset: self._results / path for path in reversed(records)}
        dated = [self._of(name).dated(read_record(path), self._recipe.dated) for name, path in first.items()]
        return Dated(
            documents=sum(one.documents for one in dated),
            with_year=sum(one.with_year for one in dated),
            unnamed=sum(one.unnamed for one in dated),
        )


def overlap_frame(table: OverlapTable) -> DataFrame:
    """Return a line for each part of each cell."""
    columns = ["row", "column", "by", "part", "runs", "gold", "predicted", "correct"]
    lines = [
        (one.row, one.column, one.by, part.part, one.runs, *part.counts)
        for one in table.cells
        for part in one.parts
    ]
    return DataFrame(lines, columns=columns)


OVERLAP_RENDERERS = renderers(
    "overlap",
    OVERLAP_FORMATS,
    lambda table: {"found": table, "by": BY, "strips": recall_strips(table)},
    overlap_frame,
)
