"""Specs of tables of facts: what datasets, models, tasks and protocols are like."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pubmill.specs.base import Name, Spec, Strict
from pubmill.specs.protocols import SettingName

Subjects = Literal["datasets", "models", "tasks", "protocols"]
Kind = Literal[
    "text", "boolean", "count", "ratio", "words", "bytes", "minutes", "epochs", "learning_rate", "batch_size"
]
"""What a value is, as the published files call it."""

FACTS: dict[Subjects, dict[str, Kind]] = {
    "datasets": {
        r"task|domain|metric": "text",
        r"count\.(train|dev|test)": "count",
        r"label_bias\.(train|dev|test)": "ratio",
        r"(suites|domain|kind|task)=[a-z0-9|-]+": "boolean",
    },
    "models": {
        r"vocab|vocab\.sized|pretraining|corpus": "text",
        r"term=[A-Za-z]+": "boolean",
        r"fit\.(train|dev|test)|compute_ratio|seconds_ratio": "ratio",
        r"corpus\.words": "words",
        r"corpus\.bytes": "bytes",
        r"steps|batch_size|hidden_size": "count",
        r"seconds": "minutes",
        r"recipe\.epochs": "epochs",
        r"recipe\.learning_rate": "learning_rate",
        r"recipe\.batch_size": "batch_size",
    },
    "tasks": {r"kind|choices": "text"},
    "protocols": {r"choices": "text"},
}
"""What can be shown of each kind of subject, and what kind of value it is.

- Datasets: `task`, `domain` and `metric` in the table's words; `count.train` in the row's measure;
  `label_bias.train`; whether it is one of these: `suites=blurb`, `kind=sequence|multilabel`.
- Models, by their recipe of pretraining: what the vocabulary was learnt from (`vocab`, after its size
  `vocab.sized`), how it begins (`pretraining`), its corpus, steps and sequences a step, steps x sequences
  over the baseline's (`compute_ratio`), the encoder's width. By artefacts: whether the vocabulary has a term
  in one piece (`term=RecA`), its pieces per word of a dataset's mentions (`fit.train`), words and bytes of
  the corpus, the time of a fine-tuning (`seconds`), also over the baseline's. By the protocol: values of the
  recipe of fine-tuning.
- Tasks: the kinds of their examples, and what the settings of the protocol vary for them (`choices`).
- Protocols: what their settings vary.
"""

OF_EXAMPLES = ("fit", "seconds", "seconds_ratio")
"""Facts of models that are measured on a dataset's examples."""


class FactRow(Strict):
    """A subject. `measure`: the count that this table means for this dataset (mentions, examples ...);
    `published`: its name in the published table, where it isn't that of the spec without its variant;
    `words`: over those of the table; `why`: column -> why our value is not the published one, where a
    dataset's `conflicts` don't say it; `missing`: why there is no such subject of ours."""

    subject: Name
    label: str
    measure: str = "examples"
    published: str | None = None
    words: dict[str, str] = {}
    why: dict[str, str] = {}
    missing: str | None = None

    @property
    def printed(self) -> str:
        return self.published or self.subject.partition("@")[0]


class FactColumn(Strict):
    """A fact. `key`: its name here and, without `published`, in the published file; `dataset`: the one that
    a fact of a model is about; `why`: as of rows, for all of them."""

    key: str
    label: str
    value: str
    published: str | None = None
    dataset: Name | None = None
    why: str | None = None

    @property
    def fact(self) -> str:
        """The fact without its details: `count` of `count.train`."""
        return re.split(r"[.=]", self.value)[0]


class Baseline(Strict):
    """What ratios are over: the time of a row's model, or a pretraining of so many steps of so many
    sequences."""

    subject: Name | None = None
    steps: Annotated[int, Field(ge=1)] | None = None
    batch_size: Annotated[int, Field(ge=1)] | None = None


class FactTableSpec(Spec):
    """A table of facts: each cell one of a spec or an artefact. `words`: ours -> the table's;
    `lists_members`: the published table names who is in a group and is silent on who isn't; `protocol` and
    `setting`: of the fine-tuning that facts are about; `down`: the facts run down the page, under this word,
    and the subjects across."""

    kind: Literal["facts"]
    subjects: Subjects
    paper: Name
    title: str
    caption: str
    rows: Annotated[tuple[FactRow, ...], Field(min_length=1)]
    columns: Annotated[tuple[FactColumn, ...], Field(min_length=1)]
    words: dict[str, str] = {}
    lists_members: bool = False
    protocol: Name | None = None
    setting: SettingName | None = None
    baseline: Baseline = Baseline()
    down: str | None = None

    def kind_of(self, column: FactColumn) -> Kind:
        """What kind of value a column has."""
        return next(kind for form, kind in FACTS[self.subjects].items() if re.fullmatch(form, column.value))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets that it shows, or measures models on."""
        if self.subjects == "datasets":
            return tuple(row.subject for row in self.rows)
        return tuple(
            column.dataset for column in self.columns if column.dataset and column.fact in OF_EXAMPLES
        )

    @model_validator(mode="after")
    def is_whole(self) -> Self:
        faults = [*self._faults_of_names(), *self._faults_of_columns()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _faults_of_names(self) -> Iterator[str]:
        keys = [column.key for column in self.columns]
        for what, names in (("rows", [row.subject for row in self.rows]), ("columns", keys)):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                yield f"{what} stand there twice: {twice}"
        if strangers := sorted({key for row in self.rows for key in row.why} - set(keys)):
            yield f"`why` is of columns that the table doesn't have: {strangers}"
        subject = self.baseline.subject
        if subject and subject not in {row.subject for row in self.rows}:
            yield f"baseline.subject is no row: {subject}"

    def _faults_of_columns(self) -> Iterator[str]:
        known = FACTS[self.subjects]
        for column in self.columns:
            if not any(re.fullmatch(form, column.value) for form in known):
                there = ", ".join(known)
                yield f"{column.key}: {self.subjects} have no fact {column.value!r}; there are {there}"
                continue
            lacking = [name for name, there in self._needs(column) if not there]
            if lacking:
                yield f"{column.key}: {column.value} needs {' and '.join(lacking)}"

    def _needs(self, column: FactColumn) -> Iterator[tuple[str, object]]:
        """What a fact needs to be said, and whether it is there."""
        if column.fact in ("recipe", *OF_EXAMPLES):
            yield "the column's `dataset`", column.dataset
        if column.fact in ("recipe", "seconds", "seconds_ratio", "choices") and self.subjects != "protocols":
            yield "the table's `protocol`", self.protocol
        if column.fact in ("recipe", "seconds", "seconds_ratio"):
            yield "the table's `setting`", self.setting
        if column.fact == "seconds_ratio":
            yield "`baseline.subject`", self.baseline.subject
        if column.fact == "compute_ratio":
            yield (
                "`baseline.steps` and `baseline.batch_size`",
                self.baseline.steps and self.baseline.batch_size,
            )
