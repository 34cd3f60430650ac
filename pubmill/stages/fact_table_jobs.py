"""Tables of facts: of datasets, models, tasks and protocols."""

from collections.abc import Callable
from dataclasses import fields

from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.fact_tables import FactSource, FactTableColumn, FactTableRecipe, FactTableRow
from pubmill.recipes.models import PretrainedWeights, RandomWeights
from pubmill.recipes.tables import project
from pubmill.specs import FactTableSpec, LearntVocabSpec, PretrainingSpec, ProtocolSpec
from pubmill.specs.fact_table_specs import FactColumn, FactRow
from pubmill.specs.model_specs import RecipeWeights
from pubmill.stages.availability import NOT_WANTED
from pubmill.stages.stage import TEMPLATES, Stage
from pubmill.storage.model_folders import WEIGHTS
from pubmill.storage.result_paths import (
    DIAGNOSIS,
    RECORD,
    RELATIVE,
    STATE,
    STATISTICS,
    TRAINING,
    RunKey,
    manifest_of,
)

RELEASED = "not known: the weights were released by others, without a recipe here"
HOURS_ELSEWHERE = "hours depend on the hardware, so only the published value is shown"
NO_CORPUS = "its corpus is not built in this study, which pretrains no model on it"
NO_SOURCE = "at this scale, its corpus has no such source"
NO_VOCAB = "this model's vocabulary has no spec here"
NOTHING_VARIED = "the protocol's settings change nothing for it"


class FactTableStage(Stage):
    """A table of facts: its recipe, its inputs, and the source of each cell."""

    name, group, label = "fact_table", "tables", "Building {wildcards.fact_table}"
    version = 4
    read_by_name = (TEMPLATES,)

    def sources(self, table: str) -> dict[str, dict[str, FactSource]]:
        """Return the source of each cell of a table: subject -> column -> source."""
        spec = self._specs.fact_tables[table]
        find = {
            "datasets": self.of_dataset,
            "models": self.of_model,
            "tasks": self.of_task,
            "protocols": self.of_protocol,
        }[spec.subjects]
        return {
            row.subject: {column.key: find(spec, row, column) for column in spec.columns} for row in spec.rows
        }

    def files(self, table: str) -> list[str]:
        """Return the artefacts that a table needs."""
        sources = [source for of_row in self.sources(table).values() for source in of_row.values()]
        files = dict.fromkeys(manifest_of(file) for source in sources for file in source.paths)
        return [self._paths.at(file) for file in files]

    def recipe(self, table: str) -> FactTableRecipe:
        """Return the recipe of a table."""
        spec, sources = self._specs.fact_tables[table], self.sources(table)
        known = self._specs.datasets if spec.subjects == "datasets" else {}
        return project(
            FactTableRecipe,
            spec,
            table=spec.name,
            scale=self._study.scale,
            scale_title=self.graph.datasets.scale_title(spec.datasets),
            comparable=not any(source.scaled for of_row in sources.values() for source in of_row.values()),
            columns=tuple(
                project(
                    FactTableColumn,
                    column,
                    value=f"{column.value}.{column.dataset}" if column.fact == "fit" else column.value,
                    kind=spec.kind_of(column),
                    published=column.published or column.key,
                )
                for column in spec.columns
            ),
            rows=tuple(
                project(
                    FactTableRow,
                    row,
                    published=row.printed,
                    why={column.key: column.why for column in spec.columns if column.why} | row.why,
                    sources=sources[row.subject],
                    conflicts=known[row.subject].conflicts if row.subject in known else (),
                )
                for row in spec.rows
            ),
            versions={"fact_table": FactTableStage.version},
        )

    def of_dataset(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> FactSource:
        """Return the source of a fact of a dataset: its spec, or its card."""
        if row.subject not in self._specs.datasets:
            return FactSource(lacking=row.missing)
        if column.fact in ("count", "label_bias"):
            lacking = self.graph.availability.dataset_of_study(row.subject)
            made_up = f"not the published files: {self._specs.scale.title}"
            card = RELATIVE.card(row.subject)
            return FactSource(
                lacking=lacking,
                files=() if lacking else (card,),
                scaled=made_up if self.graph.datasets.is_made_up(row.subject) and not lacking else None,
            )
        field, _, members = column.value.partition("=")
        terms = [str(getattr(self._specs.datasets[row.subject], field))]
        if field == "suites":  # of all its variants
            forms = [self._specs.datasets[form] for form in self.graph.datasets.variants(row.subject)]
            terms = sorted({suite for form in forms for suite in form.suites})
        if members:
            return FactSource(value=not set(members.split("|")).isdisjoint(terms))
        return FactSource(value={**table.words, **row.words}.get(terms[0], terms[0]))

    def of_model(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> FactSource:
        """Return the source of a fact of a model: its recipe, its vocabulary, its corpus or a run."""
        if column.fact == "recipe":
            return self._finetuning_source(table, row, column)
        if row.subject not in self._specs.models:
            return FactSource(lacking=row.missing)
        measured: dict[str, Callable[[], FactSource]] = {
            "term": lambda: self._vocab_source(row.subject, None),
            "fit": lambda: self._vocab_source(row.subject, column.dataset),
            "parameters": lambda: self._weights_source(row.subject, checkpoint=False),
            "masked_loss": lambda: self._weights_source(row.subject, checkpoint=True),
            "gpu_hours": lambda: FactSource(lacking=HOURS_ELSEWHERE),
            "sequences_per_second": lambda: self._runs_source(table, column, [row.subject], TRAINING),
            "seconds": lambda: self._runs_source(table, column, [row.subject]),
            "seconds_ratio": lambda: self._runs_source(
                table, column, [row.subject, table.baseline.subject or row.subject]
            ),
        }
        if column.fact in measured:
            return measured[column.fact]()
        weights = self._specs.models[row.subject].weights  # even if the scale prefers released ones
        if not isinstance(weights, RecipeWeights) or weights.kind != "pretraining":
            return FactSource(lacking=RELEASED)
        recipe = self._specs.pretraining[weights.recipe]
        if column.value.startswith("corpus."):
            return self._corpus_source(recipe.corpus, column)
        steps = weights.step or recipe.checkpoints[-1]
        value = self._pretraining_value(table, row, column, recipe, steps)
        return FactSource(value=value, scaled=self._scale_note())

    def _note_on_weights(self, model: str) -> str | None:
        """Return the note of `_scale_note` if a model's weights are made here, else None."""
        made_here = isinstance(self.graph.models.weights(model), PretrainedWeights | RandomWeights)
        return self._scale_note() if made_here else None

    def _scale_note(self) -> str | None:
        """Return the note that a fact is of this scale, not of the paper's; None at a comparable scale."""
        scale = self._specs.scale
        return None if scale.comparable else f"as made at this scale, and not as in the paper: {scale.title}"

    def _pretraining_value(
        self, table: FactTableSpec, row: FactRow, column: FactColumn, recipe: PretrainingSpec, steps: int
    ) -> str | int | float:
        baseline = table.baseline
        figures = {
            "steps": steps,
            "batch_size": recipe.recipe.batch_size,
            "hidden_size": recipe.recipe.architecture.hidden_size,
            "tokens": steps * recipe.recipe.batch_size * recipe.recipe.sequence_length,
        }
        if column.value in figures:
            return figures[column.value]
        if column.value == "compute_ratio":
            assert baseline.steps and baseline.batch_size
            return steps * recipe.recipe.batch_size / (baseline.steps * baseline.batch_size)
        words = {**table.words, **row.words}
        vocab = self._specs.vocabs[recipe.vocab]
        learnt_from = vocab.corpus if isinstance(vocab, LearntVocabSpec) else recipe.vocab
        terms = {"pretraining": "continued" if recipe.start else "scratch", "corpus": recipe.corpus}
        term = terms.get(column.value, learnt_from)
        phrase = words.get(term, term)
        if column.value == "vocab.sized" and isinstance(vocab, LearntVocabSpec):
            return words.get(f"{vocab.size} {term}", f"{vocab.size} {phrase}")
        return phrase

    def _corpus_source(self, corpus: str, column: FactColumn) -> FactSource:
        _, _, of_source = column.value.partition("corpus.by_source.")
        sources = {source.name for source in self._specs.corpora[corpus].sources}
        if of_source and of_source.partition(".")[0] not in sources:
            return FactSource(lacking=NO_SOURCE)
        if corpus not in self.graph.scope.corpora():
            return FactSource(lacking=NO_CORPUS)
        return FactSource(files=(RELATIVE.corpus(corpus, STATISTICS),), scaled=self._scale_note())

    def _vocab_source(self, model: str, dataset: str | None) -> FactSource:
        """Return the source of a diagnosis of a model's vocabulary, by itself or on a dataset."""
        vocab = self.graph.vocabularies.of_model(model)
        lacking = self.graph.availability.weights(model) or (None if vocab else NO_VOCAB)
        if dataset is not None:
            known = dataset in self.graph.vocabularies.diagnosed_on()
            why_not = self.graph.availability.dataset_of_study(dataset)
            lacking = lacking or why_not or (None if known else NOT_WANTED)
        if lacking:
            return FactSource(lacking=lacking)
        assert vocab
        path = self._paths.fit(vocab) if dataset else self._paths.vocab(vocab, DIAGNOSIS)
        return FactSource(files=(self._paths.below(path),), scaled=self._note_on_weights(model))

    def _weights_source(self, model: str, checkpoint: bool) -> FactSource:
        """Return a model's weights, or the state of the checkpoint that it is exported from, as a source."""
        if lacking := self.graph.availability.weights(model):
            return FactSource(lacking=lacking)
        weights, file = self.graph.models.weights(model), RELATIVE.model(model, WEIGHTS)
        if checkpoint:
            if not isinstance(weights, PretrainedWeights):
                return FactSource(lacking=RELEASED)
            file = RELATIVE.checkpoint(weights.recipe, weights.step, STATE)
        return FactSource(files=(file,), scaled=self._note_on_weights(model))

    def _runs_source(
        self, table: FactTableSpec, column: FactColumn, models: list[str], ending: str = RECORD
    ) -> FactSource:
        """Return the records of one run of each of these models, or files of another ending, as a source."""
        assert column.dataset and table.protocol and table.setting
        why_not = self.graph.availability
        reasons = (why_not.dataset_of_study(column.dataset), *map(why_not.weights, models))
        if lacking := next(filter(None, reasons), None):
            return FactSource(lacking=lacking)
        runs = (RunKey(table.protocol, model, column.dataset, table.setting) for model in models)
        files = tuple(RELATIVE.final(run, self.graph.runs.seeds(run)[0], ending) for run in runs)
        return FactSource(files=files, scaled=self._scale_note())

    def _finetuning_source(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> FactSource:
        """Return a value of a model's fine-tuning recipe; a model that an override names needs no spec."""
        assert table.protocol and table.setting and column.dataset
        protocol = self._specs.protocols[table.protocol]
        named = {model for override in protocol.overrides.values() for model in override.models or ()}
        if row.subject not in self._specs.models and row.subject not in named:
            return FactSource(lacking=row.missing)
        data = self._specs.datasets[column.dataset]
        recipe = protocol.recipe(data, row.subject, table.setting, trial=False)
        return FactSource(value=recipe[column.value.partition(".")[2]], scaled=self._scale_note())

    def of_task(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> FactSource:
        """Return the kinds of a task's examples, or what a protocol varies for it."""
        data = [spec for spec in self._specs.datasets.values() if spec.task == row.subject]
        if column.value == "kind":
            return _list_terms(table, row, sorted({spec.kind for spec in data}))
        protocol = self._specs.protocols[table.protocol or ""]
        settings = {name for name, one in protocol.settings.items() if any(map(one.fits, data))}
        return _list_terms(table, row, _varied_keys(protocol, settings))

    def of_protocol(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> FactSource:
        """Return what the settings of a protocol vary."""
        if row.subject not in self._specs.protocols:
            return FactSource(lacking=row.missing)
        protocol = self._specs.protocols[row.subject]
        return _list_terms(table, row, _varied_keys(protocol, set(protocol.settings)))


def _varied_keys(protocol: ProtocolSpec, settings: set[str]) -> list[str]:
    """Return the keys of FinetuningRecipe that these settings decide, in the order of its fields. Settings
    that the paper lacks (`added`) do not count."""
    shown = {name for name in settings if not protocol.settings[name].added}
    keys = {key for name in shown for key in protocol.settings[name].values}
    for override in protocol.overrides.values():
        if not shown.isdisjoint(override.settings or ()):
            keys |= {*override.values, *(override.grid or {})}
    return [field.name for field in fields(FinetuningRecipe) if field.name in keys]


def _list_terms(table: FactTableSpec, row: FactRow, terms: list[str]) -> FactSource:
    words = {**table.words, **row.words}
    listed = dict.fromkeys(words.get(term, term) for term in terms)
    return FactSource(value=", ".join(listed)) if listed else FactSource(lacking=NOTHING_VARIED)
