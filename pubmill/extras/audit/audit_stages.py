"""The audit of the papers' published values, and what each paper states about them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pubmill.extras.audit.audit_recipes import (
    AuditedColumn,
    AuditedRow,
    AuditedTable,
    AuditRecipe,
    ScoreCounts,
    ScoreKind,
    StatedRuns,
)
from pubmill.recipes.tables import PublishedRow, project
from pubmill.specs import DatasetSpec, ProtocolSpec, TableSpec, load
from pubmill.specs.study import Study
from pubmill.specs.table_specs import ColumnSpec, RowSpec
from pubmill.stages import Graph
from pubmill.stages.stage import Stage

PAGE = "pages/audit"
"""The page of the audit below the results, without extension."""
SHARES: Mapping[str, tuple[ScoreKind, str]] = {
    "accuracy": ("share", "examples"),
    "strict_accuracy": ("share", "questions"),
    "lenient_accuracy": ("share", "questions"),
    "mrr": ("reciprocal_rank", "questions"),
    "entity_f1": ("f1", "mentions"),
    "relaxed_f1": ("f1", "mentions"),
    "entity_recall": ("share", "mentions"),
    "subtoken_f1": ("f1", "mentions"),
    "subtoken_recall": ("share", "mentions"),
}
"""Metric -> what one run's score is, and the expected count that it is computed from. An exact match is an
overlap too, so every `entity_f1` is also a `relaxed_f1`."""
PARTS = {
    f"{of}_{part}": part for of in ("entity", "subtoken", "micro") for part in ("precision", "recall", "f1")
}
"""Metric -> its part in a triple of precision, recall and F1 of the same predictions."""
UNTESTABLE = {
    "macro_f1": "a mean of the F1 of labels, of which only their numbers are known",
    "example_f1": "a mean of precision and recall over documents with numbers of labels of their own",
    "positive_f1": "F1 of one label",
    "f1": "a mean of the words that answers share with the gold answers, whose lengths are not in the spec",
    "exact_match": "the spec has no number of questions of the scored split",
    "entity_precision": "the number of predicted mentions, of which it is a share, is not known",
    "subtoken_precision": "the number of predicted mentions, of which it is a share, is not known",
    "seqeval_0_0_12_f1": "mentions of several words count twice, and their number is not in the spec",
    "micro_precision": "the number of predicted relations, of which it is a share, is not known",
}
OF_OTHERS = "of other work, whose number of runs and test split the paper does not state"


class AuditStage(Stage):
    """Recipe of the audit of the published values."""

    name, group, label = "audit", "report", "Auditing the published values"
    version = 6
    read_by_name = ("pubmill/extras/audit/templates/*",)

    def files(self) -> list[str]:
        """Return the page in all formats."""
        return [f"{self.page}.json", f"{self.page}.html"]

    @property
    def page(self) -> str:
        """The path of the page without extension."""
        return self._paths.at(PAGE)

    def targets(self) -> list[str]:
        """Return the page, for a study of results at a scale with the test splits and runs of the papers."""
        made = self._specs.scale.comparable and self.graph.requests.result_tables()
        return self.files() if made else []

    def reported(self) -> list[str]:
        return self.targets()[:1]

    def recipe_of(self, wildcards: Any) -> AuditRecipe:
        """Return the audit's recipe; its counts and runs are the papers' only at a comparable scale."""
        tables = tuple(map(self._table, self._specs.tables))
        named = {column.model for table in tables for column in table.columns}
        models = {name: spec.label or name for name, spec in self._specs.models.items() if name in named}
        return AuditRecipe(
            tables=tables,
            protocols={name: self._stated(spec) for name, spec in self._specs.protocols.items()},
            facts=tuple(name for name in self._specs.fact_tables if "/table" in name),  # not those of a text
            models=models,
            versions={"audit": self.version},
        )

    def _stated(self, protocol: ProtocolSpec) -> StatedRuns:
        """Return the runs of a protocol; of a row with folds, those of all its folds together."""
        folds = {name: sum(map(protocol.runs, one.reported)) for name, one in protocol.folds.items()}
        statement = {key: one for keys, one in protocol.method.items() for key in keys.split(", ")}
        runs, combined = statement.get("final.seeds"), statement.get("folds")
        return StatedRuns(
            aggregate=protocol.final.aggregate,
            runs={**protocol.final.seeds, **folds},
            stated=(runs.section or "") if runs and runs.says else "",
            unstated=tuple(folds) if combined and combined.ours else (),
        )

    def _table(self, name: str) -> AuditedTable:
        """Return what a paper states about the values of a table of results, `PAPER/tableNN`."""
        spec = self._specs.tables[name]
        cells = [(f"{column.name}/{row.name}", column, row) for column in spec.columns for row in spec.rows]
        protocols = {cell: spec.protocol_of(column, row) for cell, column, row in cells}
        copied = {cell: spec.origin_title(column, row) for cell, column, row in cells}
        return project(
            AuditedTable,
            spec,
            name=name,
            number=int(spec.name.removeprefix("table")),
            columns=tuple(self._column(spec, column) for column in spec.columns),
            rows=tuple(self._row(spec, row) for row in spec.rows),
            differences=tuple(
                project(PublishedRow, one, key=one.name, metric="difference") for one in spec.differences
            ),
            protocols={cell: one for cell, one in protocols.items() if one != spec.protocol},
            copied={cell: one for cell, one in copied.items() if one},
        )

    def _column(self, table: TableSpec, column: ColumnSpec) -> AuditedColumn:
        made = self.graph.tables.column(column)
        settings = {table.setting, *(column.setting or ()), *(one.setting for one in column.cells.values())}
        return project(
            AuditedColumn,
            made,
            runs=1 if made.supplied else None,
            combines=made.sources,
            by="best" if made.best_of else "drop" if made.drop else "",
            why="" if made.model or made.sources else OF_OTHERS,
            standard=settings <= {"standard", None},
        )

    def _row(self, table: TableSpec, row: RowSpec) -> AuditedRow:
        made = self.graph.tables.row(table, row)
        protocol = self._specs.protocols[table.protocol]
        parts = [*map(self._specs.datasets.get, self.graph.runs.parts(table.protocol, row.dataset))]
        scores = [score_counts(data, made.metric, protocol) for data in parts if data]
        known = tuple(one for one in scores if isinstance(one, ScoreCounts))
        whole = len(known) == len(parts) and not row.not_comparable
        lacking = next((one for one in scores if isinstance(one, str)), "there is no spec of the dataset")
        return project(
            AuditedRow,
            made,
            scores=tuple(dict.fromkeys(known)) if whole else (),
            why="" if whole else row.not_comparable or lacking,
            part=PARTS.get(made.metric, ""),
        )


def score_counts(data: DatasetSpec, metric: str, protocol: ProtocolSpec) -> ScoreCounts | str:
    """Return the counts that a score of one run is computed from, or why they are not known."""
    expected = next((n for split, n in data.expect.items() if split == protocol.scored(data)), {})
    labels = {key: n for key, n in expected.items() if key.startswith("labels.")}
    if metric == "pearson":
        return ScoreCounts(kind="correlation")
    if metric == "word_macro_f1":
        words = tuple(n for key, n in expected.items() if key.startswith("words."))
        return ScoreCounts(kind="mean_f1", sizes=words) if words else _unknown(data, "labelled words")
    if metric in ("micro_f1", "micro_recall"):
        return _micro_counts(data, metric, expected, labels)
    if metric not in SHARES:
        return UNTESTABLE.get(metric, f"no test for {metric}")
    kind, measure = SHARES[metric]
    size = expected.get(measure)
    return ScoreCounts(kind=kind, sizes=(size,)) if size else _unknown(data, measure)


def _micro_counts(
    data: DatasetSpec, metric: str, expected: Mapping[str, int], labels: Mapping[str, int]
) -> ScoreCounts | str:
    """Return the counts of micro F1 or micro recall over all labels but the negative one."""
    positive = {key: n for key, n in labels.items() if key != f"labels.{data.negative}"}
    gold, examples = sum(positive.values()), expected.get("examples")
    if not gold or not examples:
        return _unknown(data, "labels")
    if metric == "micro_recall":
        return ScoreCounts(kind="share", sizes=(gold,))
    if data.kind == "multilabel":
        wrong = examples * len(labels) - gold
    else:
        wrong = examples - gold if len(positive) == 1 else examples
    return ScoreCounts(kind="f1", sizes=(gold,), wrong=wrong)


def _unknown(data: DatasetSpec, measure: str) -> str:
    return f"the spec of {data.name} has no number of {measure} of the scored split"


def graph_of_all_tables(folder: Path) -> Graph:
    """Return the graph of the specs in a folder at the scale of the papers, for a study without jobs."""
    study = Study(study="full", title="", scale="full", tables=())
    return Graph(study, load(folder, study.scale))
