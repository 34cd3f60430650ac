"""The facts of models, tasks and protocols that tables show."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from pubmill.graph.dataset_facts import NOT_WANTED, Source
from pubmill.graph.tables import TableTargets
from pubmill.recipes import FinetuningRecipe
from pubmill.specs import FactTableSpec, LearntVocabSpec, PretrainingSpec, ProtocolSpec, ReleasedVocabSpec
from pubmill.specs.fact_tables import FactColumn, FactRow
from pubmill.specs.models import FolderWeights, RecipeWeights
from pubmill.storage.result_paths import BELOW, DIAGNOSIS, STATISTICS

RELEASED = "no recipe of ours: the released weights are used, and how others made them isn't measured here"
NOT_PRETRAINED = "not pretrained in this study: none of its tables of results has the model"
NO_CORPUS = "its corpus is not built in this study, which pretrains no model on it"
NO_VOCAB = "no vocabulary of ours is this model's"
NOTHING_VARIED = "no setting of the protocol varies anything for it"


class ModelFactTargets(TableTargets):
    """Sources of the facts of models, tasks and protocols.

    A table of facts brings released models and datasets, but starts no pretraining: that is for tables of
    results.
    """

    def model_source(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> Source:
        """Where a fact of a model is from: its recipe, its vocabulary, its corpus or a run."""
        if column.fact == "recipe":
            return self._of_finetuning(table, row, column)
        if row.subject not in self.specs.models:
            return {"lacking": row.missing}
        measured: dict[str, Callable[[], Source]] = {
            "term": lambda: self._of_vocab(row.subject, None),
            "fit": lambda: self._of_vocab(row.subject, column.dataset),
            "seconds": lambda: self._of_runs(table, column, [row.subject]),
            "seconds_ratio": lambda: self._of_runs(
                table, column, [row.subject, table.baseline.subject or row.subject]
            ),
        }
        if column.fact in measured:
            return measured[column.fact]()
        recipe = self._pretraining(row.subject)
        if recipe is None:
            return {"lacking": RELEASED}
        if column.value.startswith("corpus."):
            return self._of_corpus(recipe.corpus)
        return {"value": self._of_recipe(table, row, column, recipe), "scaled": self._scaled()}

    def _scaled(self) -> str | None:
        """What to say of what the scale makes different from the paper."""
        scale = self.specs.scale
        return None if scale.comparable else f"as made at this scale, and not as in the paper: {scale.title}"

    def _pretraining(self, model: str) -> PretrainingSpec | None:
        """The recipe that a model is made by, if any, even where the scale prefers released weights."""
        weights = self.specs.models[model].weights
        if isinstance(weights, RecipeWeights) and weights.kind == "pretraining":
            return self.specs.pretraining[weights.recipe]
        return None

    def _steps_of(self, model: str, recipe: PretrainingSpec) -> int:
        weights = self.specs.models[model].weights
        assert isinstance(weights, RecipeWeights)
        return weights.step or recipe.checkpoints[-1]

    def _of_recipe(
        self, table: FactTableSpec, row: FactRow, column: FactColumn, recipe: PretrainingSpec
    ) -> str | int | float:
        """A fact that a recipe of pretraining says."""
        steps, baseline = self._steps_of(row.subject, recipe), table.baseline
        figures = {
            "steps": steps,
            "batch_size": recipe.recipe.batch_size,
            "hidden_size": recipe.recipe.architecture.hidden_size,
        }
        if column.value in figures:
            return figures[column.value]
        if column.value == "compute_ratio":
            assert baseline.steps and baseline.batch_size
            return steps * recipe.recipe.batch_size / (baseline.steps * baseline.batch_size)
        words = {**table.words, **row.words}
        vocab = self.specs.vocabs[recipe.vocab]
        learnt_from = vocab.corpus if isinstance(vocab, LearntVocabSpec) else recipe.vocab
        terms = {
            "pretraining": "continued" if recipe.start else "scratch",
            "corpus": recipe.corpus,
            "vocab": learnt_from,
            "vocab.sized": learnt_from,
        }
        term = terms[column.value]
        told = words.get(term, term)
        if column.value == "vocab.sized" and isinstance(vocab, LearntVocabSpec):
            return words.get(f"{vocab.size} {term}", f"{vocab.size} {told}")
        return told

    def _of_corpus(self, corpus: str) -> Source:
        built = {self.specs.pretraining[recipe].corpus for recipe in self.pretrainings()}
        if corpus not in built:
            return {"lacking": NO_CORPUS}
        return {"files": [BELOW.corpus(corpus, STATISTICS)], "scaled": self._scaled()}

    def _lacks_weights(self, model: str) -> str | None:
        """Why a model isn't at hand in this study; None if it is."""
        if not self._wants_model(model):
            return NOT_WANTED
        if lacking := self.lacks_model(model):
            return lacking
        weights, own = self.weights(model), self.specs.models[model].weights
        if weights["kind"] == "pretraining" and weights["recipe"] not in self.pretrainings():
            return NOT_PRETRAINED
        if isinstance(own, FolderWeights) and weights["kind"] == "folder" and not self.find_local(own.local):
            return f"needs files of your own (then set local_files: {own.local})"
        return None

    def vocab_of(self, model: str) -> str | None:
        """The vocabulary that a model has at this scale: its recipe's, or the one it was released with."""
        weights = self.weights(model)
        if "recipe" in weights:
            return self.specs.pretraining[weights["recipe"]].vocab
        released = (
            name
            for name, spec in self.specs.vocabs.items()
            if isinstance(spec, ReleasedVocabSpec) and spec.model == model
        )
        return next(released, None)

    def _of_vocab(self, model: str, dataset: str | None) -> Source:
        """The diagnosis of a model's vocabulary, or how it fits a dataset."""
        vocab = self.vocab_of(model)
        lacking = self._lacks_weights(model) or (None if vocab else NO_VOCAB)
        if dataset is not None:
            lacking = lacking or self.lacks_here(dataset)
        if lacking:
            return {"lacking": lacking}
        made_here = "recipe" in self.weights(model)
        assert vocab
        file = BELOW.fit(vocab, dataset) if dataset else BELOW.vocab(vocab, DIAGNOSIS)
        return {"files": [file], "scaled": self._scaled() if made_here else None}

    def _of_runs(self, table: FactTableSpec, column: FactColumn, models: list[str]) -> Source:
        """The records of one run of each of these models."""
        assert column.dataset and table.protocol and table.setting
        reasons = (self.lacks_here(column.dataset), *map(self._lacks_weights, models))
        if lacking := next(filter(None, reasons), None):
            return {"lacking": lacking}
        records = [BELOW.record(table.protocol, model, column.dataset, table.setting, 1) for model in models]
        return {"files": records, "scaled": self._scaled()}

    def _of_finetuning(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> Source:
        """A value of the recipe that a model is fine-tuned by, also of one that only the protocol names."""
        assert table.protocol and table.setting and column.dataset
        protocol = self.specs.protocols[table.protocol]
        named = {model for override in protocol.overrides.values() for model in override.models or ()}
        if row.subject not in self.specs.models and row.subject not in named:
            return {"lacking": row.missing}
        data = self.specs.datasets[column.dataset]
        recipe = protocol.recipe(data, row.subject, table.setting, trial=False)
        return {"value": recipe[column.value.partition(".")[2]], "scaled": self._scaled()}

    def task_source(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> Source:
        """The kinds of a task's examples, or what a protocol varies for it."""
        data = [spec for spec in self.specs.datasets.values() if spec.task == row.subject]
        if column.value == "kind":
            return _listed(table, row, sorted({spec.kind for spec in data}))
        protocol = self.specs.protocols[table.protocol or ""]
        settings = {name for name, one in protocol.settings.items() if any(map(one.fits, data))}
        return _listed(table, row, _varied(protocol, settings))

    def protocol_source(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> Source:
        """What the settings of a protocol vary."""
        if row.subject not in self.specs.protocols:
            return {"lacking": row.missing}
        protocol = self.specs.protocols[row.subject]
        return _listed(table, row, _varied(protocol, set(protocol.settings)))


def _varied(protocol: ProtocolSpec, settings: set[str]) -> list[str]:
    """The keys of FinetuningRecipe that these settings decide, in its order; added settings do not count."""
    shown = {name for name in settings if not protocol.settings[name].added}
    keys = {key for name, values in _decided(protocol) if name in shown for key in values}
    return [field.name for field in fields(FinetuningRecipe) if field.name in keys]


def _decided(protocol: ProtocolSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Setting -> the values and grids that it has, itself or by an override that is for it."""
    for name, setting in protocol.settings.items():
        yield name, setting.values
        for override in protocol.overrides.values():
            if name in (override.settings or ()):
                yield name, {**override.values, **(override.grid or {})}


def _listed(table: FactTableSpec, row: FactRow, terms: list[str]) -> Source:
    """Terms in the table's words, each once."""
    words = {**table.words, **row.words}
    told = dict.fromkeys(words.get(term, term) for term in terms)
    return {"value": ", ".join(told)} if told else {"lacking": NOTHING_VARIED}
