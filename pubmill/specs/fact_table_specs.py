"""Specs of fact tables: tables of properties of datasets, models, tasks and protocols."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from pubmill.messages.wording import repeated
from pubmill.recipes.fact_tables import FactKind, Subjects, fact_of
from pubmill.recipes.recipe_types import Name
from pubmill.specs.protocol_specs import ALL_TASKS, SettingName
from pubmill.specs.spec_types import Spec, Strict
from pubmill.specs.strict_yaml import Faults, Location
from pubmill.storage.name_patterns import FACT_TABLE

FACTS: dict[Subjects, dict[str, FactKind]] = {
    "datasets": {
        r"task|domain|metric": "text",
        r"count\.(train|dev|test)": "count",
        r"label_bias\.(train|dev|test)": "ratio",
        r"(suites|domain|kind|task)=[a-z0-9|-]+": "boolean",
    },
    "models": {
        r"vocab|vocab\.sized|pretraining|corpus": "text",
        r"term=[A-Za-z]+": "boolean",
        r"fit\.(train|dev|test)|compute_ratio|seconds_ratio|masked_loss": "ratio",
        r"corpus\.(by_source\.[\w-]+\.)?words": "words",
        r"corpus\.(by_source\.[\w-]+\.)?bytes": "bytes",
        r"corpus\.(by_source\.[\w-]+\.)?documents": "count",
        r"steps|batch_size|hidden_size": "count",
        r"parameters|tokens|gpu_hours|sequences_per_second": "count",
        r"seconds": "minutes",
        r"recipe\.epochs": "epochs",
        r"recipe\.learning_rate": "learning_rate",
        r"recipe\.batch_size": "batch_size",
    },
    "tasks": {r"kind|choices": "text"},
    "protocols": {r"choices": "text"},
}
"""Facts of each kind of subject, as patterns, and the kind of value of each.

- Datasets: `task`, `domain` and `metric` in the table's words; `count.train` in the row's measure;
  `label_bias.train`; membership in a list of values: `suites=blurb`, `kind=sequence|multilabel`.
- Models, from their pretraining recipe: the corpus of the vocabulary (`vocab`; `vocab.sized` adds its size),
  the start (`pretraining`), corpus, steps and sequences per step, steps x sequences relative to the baseline
  (`compute_ratio`), the encoder's width. From artefacts: whether the vocabulary has a term as one piece
  (`term=RecA`), pieces per word of a dataset's mentions (`fit.train`), words, bytes and documents of the
  corpus or of a source of it (`corpus.by_source.NAME.words`), the time of a fine-tuning (`seconds`), also
  relative to the baseline, and its `sequences_per_second`; numbers in the weights (`parameters`); the loss of
  masked tokens of held-out documents at the end of a pretraining here (`masked_loss`). Most
  `tokens` that a pretraining recipe may read; `gpu_hours` of a pretraining are published values only. From
  the protocol: values of the fine-tuning recipe.
- Tasks: the kinds of their examples, and what the settings of the protocol vary for them (`choices`).
- Protocols: what their settings vary.
"""

OF_RUNS = ("seconds", "seconds_ratio", "sequences_per_second")
"""Model facts that are measured in a fine-tuning."""
OF_EXAMPLES = ("fit", *OF_RUNS)
"""Model facts that are measured on a dataset's examples."""


class FactRow(Strict):
    """A subject.

    - `measure`: what this table counts for this dataset (mentions, examples ...).
    - `published`: its name in the published table, if that is not the spec's name without the variant.
    - `words`: overrides those of the table.
    - `why`: column -> why our value differs from the published one, if the dataset's `conflicts` don't
      explain it.
    - `missing`: why there is no spec of this subject.
    - `subject`: the dataset, model, task or protocol.
    - `label`: its heading.
    """

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
    """A fact. `key`: its name here and, unless `published` is set, in the published file; `dataset`: the
    dataset that a model fact is about; `why`: as in rows, but for all of them.

    - `label`: its heading.
    - `value`: the fact, one of `FACTS`.
    - `published`: its name in the published file; null: `key`.
    """

    key: str
    label: str
    value: str
    published: str | None = None
    dataset: Name | None = None
    why: str | None = None

    @property
    def fact(self) -> str:
        """The fact without its details: `count` of `count.train`."""
        return fact_of(self.value)


class Baseline(Strict):
    """The denominator of ratios: the time of a row's model, or the size of a pretraining.

    - `subject`: the row whose time is the denominator.
    - `steps`: the pretraining's number of steps.
    - `batch_size`: its sequences in a step.
    """

    subject: Name | None = None
    steps: Annotated[int, Field(ge=1)] | None = None
    batch_size: Annotated[int, Field(ge=1)] | None = None


class FactTableSpec(Spec):
    """A table whose cells are facts from specs or artefacts.

    - `words`: our term -> the table's term.
    - `lists_members`: the published table names only the members of a group.
    - `protocol`, `setting`: the fine-tuning that facts are about.
    - `down`: if set, facts are rows (under this heading) and subjects are columns.
    - `kind`: `facts`.
    - `subjects`: what the rows are.
    - `title`: the title.
    - `caption`: the text below the title.
    - `rows`: the subjects.
    - `columns`: the facts.
    - `baseline`: the denominator of ratios.
    """

    name: Annotated[str, Field(pattern=f"^{FACT_TABLE}$")]
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

    def kind_of(self, column: FactColumn) -> FactKind:
        """The kind of value in a column."""
        return next(kind for form, kind in FACTS[self.subjects].items() if re.fullmatch(form, column.value))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets that the table shows or measures models on."""
        if self.subjects == "datasets":
            return tuple(row.subject for row in self.rows)
        return tuple(one.dataset for one in self.columns if one.dataset and one.fact in OF_EXAMPLES)

    def faults(self) -> Iterator[str]:
        subjects, keys = [row.subject for row in self.rows], [column.key for column in self.columns]
        for what, names in (("rows", subjects), ("columns", keys)):
            if twice := repeated(names):
                yield f"duplicate {what}: {', '.join(twice)}"
        if strangers := sorted({key for row in self.rows for key in row.why} - set(keys)):
            yield f"`why` names unknown columns: {', '.join(strangers)}"
        if self.baseline.subject not in (None, *subjects):
            yield f"baseline.subject names an unknown row: {self.baseline.subject}"
        known = FACTS[self.subjects]
        for column in self.columns:
            if not any(re.fullmatch(form, column.value) for form in known):
                fault = f"{self.subjects} have no fact {column.value!r}; there are {', '.join(known)}"
                yield f"{column.key}: {fault}"
            elif lacking := [name for name, value in self._required_keys(column) if not value]:
                yield f"{column.key}: {column.value} needs {' and '.join(lacking)}"

    def _required_keys(self, column: FactColumn) -> Iterator[tuple[str, object]]:
        """Yield the keys that a fact requires, each with its value."""
        if column.fact in ("recipe", *OF_EXAMPLES):
            yield "the column's `dataset`", column.dataset
        if column.fact in ("recipe", "choices", *OF_RUNS) and self.subjects != "protocols":
            yield "the table's `protocol`", self.protocol
        if column.fact in ("recipe", *OF_RUNS):
            yield "the table's `setting`", self.setting
        if column.fact == "seconds_ratio":
            yield "`baseline.subject`", self.baseline.subject
        if column.fact == "compute_ratio":
            whole = self.baseline.steps and self.baseline.batch_size
            yield "`baseline.steps` and `baseline.batch_size`", whole


def faults_of_facts(table: FactTableSpec, made: dict[str, dict[str, Any]]) -> Faults:
    """Report unknown tasks and settings, impossible runs and unused labels."""
    for i, row in enumerate(table.rows):
        if table.subjects == "tasks" and row.subject not in ALL_TASKS:
            yield ("rows", i, "subject"), f"there is no task {row.subject}; there are {', '.join(ALL_TASKS)}"
    protocol = made["protocols"].get(table.protocol or "")
    for i, column in enumerate(table.columns):
        data = made["datasets"].get(column.dataset or "")
        if protocol is None or data is None or table.setting is None:
            continue
        if fault := protocol.obstacle(data, table.rows[0].subject, table.setting):
            yield ("columns", i, "dataset"), fault
    if table.subjects == "datasets":
        shown = {column.value for column in table.columns} & {"task", "domain", "metric"}
        unused, common = list[Location](), set[str]()  # common: terms that the words of the table replace
        for i, row in enumerate(table.rows):
            spec = made["datasets"].get(row.subject)
            terms = {getattr(spec, field) for field in shown} if spec else set()
            unused += [("rows", i, "words", word) for word in row.words if word not in terms]
            common |= terms - row.words.keys()
        unused += [("words", word) for word in table.words if word not in common]
        yield from ((at, f"no cell shows the word {at[-1]!r}; remove it") for at in unused)
