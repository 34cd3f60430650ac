"""Vocabularies: learnt here from words of a corpus, or released with a model."""

from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes import models
from pubmill.recipes.recipe_types import Kind
from pubmill.recipes.vocabs import CountingRecipe, FitRecipe, VocabRecipe
from pubmill.specs.corpus_specs import LearntVocabSpec, ReleasedVocabSpec
from pubmill.stages.costs import SENTENCEPIECE
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import HOUR, BlockStage, GraphPart, Inputs, Needs, Seconds, Stage, cached


class Vocabularies(GraphPart):
    """Recipes and inputs of vocabularies."""

    def learnt(self) -> list[str]:
        """Return the vocabularies that are learnt here."""
        return [name for name, spec in self._specs.vocabs.items() if isinstance(spec, LearntVocabSpec)]

    def released(self) -> list[str]:
        """Return the vocabularies that models were released with."""
        return [name for name, spec in self._specs.vocabs.items() if isinstance(spec, ReleasedVocabSpec)]

    def learnt_spec(self, vocab: str) -> LearntVocabSpec:
        """Return the spec of a vocabulary that is learnt here; a `PubmillError` if it is a released one."""
        spec = self._specs.vocabs[vocab]
        if not isinstance(spec, LearntVocabSpec):
            raise PubmillError(f"the vocabulary {vocab} is a released one; nothing is learnt for it")
        return spec

    def words(self, vocab: str) -> str:
        """Return the folder of word counts of a vocabulary's corpus, separated as it needs them."""
        spec = self.learnt_spec(vocab)
        return self._paths.words(spec.corpus, spec.recipe.splitting())

    def model(self, vocab: str) -> str:
        """Return the model whose released tokenizer a vocabulary is; a `PubmillError` if this scale pretrains
        that model with another vocabulary."""
        spec = self._specs.vocabs[vocab]
        assert isinstance(spec, ReleasedVocabSpec), vocab
        if not isinstance(
            self.graph.models.weights(spec.model),
            models.ReleasedWeights | models.ArchivedWeights | models.LocalWeights,
        ):
            raise PubmillError(
                f"vocabulary {vocab}: at scale {self._study.scale} the model {spec.model} is made here, with "
                f"a vocabulary of its own; the released one is available at scale full"
            )
        return spec.model

    def of_model(self, model: str) -> str | None:
        """Return the vocabulary of a model at this scale: its recipe's, or the one it was released with."""
        weights = self.graph.models.weights(model)
        if isinstance(weights, models.PretrainedWeights | models.RandomWeights):
            return self._specs.pretraining[weights.recipe].vocab
        released = (
            name
            for name, spec in self._specs.vocabs.items()
            if isinstance(spec, ReleasedVocabSpec) and spec.model == model
        )
        return next(released, None)

    @cached
    def diagnosed_on(self) -> dict[str, Kind]:
        """Return the study's datasets of words, and those on which its tables of facts show how vocabularies
        fit, with the kinds of their examples."""
        tables = [self._specs.fact_tables[name] for name in self.graph.requests.fact_tables()]
        shown = {one.dataset for table in tables for one in table.columns if one.fact == "fit"}
        known = {name: self._specs.datasets[name].kind for name in self.graph.scope.datasets()}
        return {name: kind for name, kind in known.items() if kind == "tokens" or name in shown}


class CountWords(BlockStage):
    """Word counts of a block of a corpus."""

    name, group = "count_words", "vocabulary"
    label = "Counting words of {wildcards.corpus}, {wildcards.block} of {wildcards.source}"
    version = 1
    seconds = Seconds(28.5 * 8.0 / 108, "measured a byte: benchmarks/README.md; assumed: 28.5 MB a part")

    def recipe_of(self, wildcards: Any) -> CountingRecipe:
        return CountingRecipe(splitting=wildcards.splitting)


class TrainVocab(Stage):
    """A vocabulary that is learnt here."""

    name, group, label = "train_vocab", "vocabulary", "Learning the vocabulary {wildcards.vocab}"
    version = 2
    needs = Needs(4_000, 8 * HOUR)  # four million words at most

    def needs_of(self, wildcards: Any, gpus: Gpus) -> Needs:
        spec = self._specs.vocabs[wildcards.vocab]
        by_sentencepiece = isinstance(spec, LearntVocabSpec) and spec.learner.startswith("sentencepiece")
        return SENTENCEPIECE if by_sentencepiece else self.needs

    def inputs_of(self, wildcards: Any) -> Inputs:
        spec = self.graph.vocabularies.learnt_spec(wildcards.vocab)
        words = self.graph.vocabularies.words(wildcards.vocab)
        return {"words": self.graph.corpora.manifests(spec.corpus, words)}

    def recipe_of(self, wildcards: Any) -> VocabRecipe:
        return self.graph.vocabularies.learnt_spec(wildcards.vocab).recipe


class TakeVocab(Stage):
    """A vocabulary that a model was released with."""

    name, group, label = "take_vocab", "vocabulary", "Copying the vocabulary {wildcards.vocab}"
    version = 2


class VocabDiagnosis(Stage):
    """How a vocabulary fits datasets."""

    name, group, label = "vocab_diagnosis", "vocabulary", "Diagnosing the vocabulary {wildcards.vocab}"
    version = 1
    needs = Needs(2_000, HOUR)

    def inputs_of(self, wildcards: Any) -> Inputs:
        vocabularies, files = self.graph.vocabularies, self._paths.dataset_files
        datasets = [file for name in vocabularies.diagnosed_on() for file in files(name)]
        return {"vocab": self._paths.vocab_files(wildcards.vocab), "datasets": datasets}

    def recipe_of(self, wildcards: Any) -> FitRecipe:
        return FitRecipe(vocab=wildcards.vocab, datasets=self.graph.vocabularies.diagnosed_on())
