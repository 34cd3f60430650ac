"""Losses and subwords of held-out documents by date of publication."""

from collections.abc import Iterator
from typing import Any

from pubmill.extras.drift.drift_recipes import DatedShard, DriftRecipe
from pubmill.specs.corpus_specs import PubmedSource
from pubmill.stages.pretrainings import Pretrain
from pubmill.stages.stage import HOUR, Inputs, Needs, Origin, Stage


class DriftStage(Stage):
    """A checkpoint on the held-out documents of its corpus, by date."""

    name, group = "drift", "pretrain"
    label = "Measuring {wildcards.recipe} at step {wildcards.step} by date of publication"
    version = 2
    needs = Needs(8_000, 4 * HOUR)

    def inputs_of(self, wildcards: Any) -> Inputs:
        spec = self._specs.pretraining[wildcards.recipe]
        files = [one.file for one in self._shards(spec.corpus) if one.file]
        return {
            "checkpoint": self._paths.checkpoint_files(wildcards.recipe, wildcards.step),
            "parts": self.graph.corpora.parts(spec.corpus),
            "parsed": self.graph.corpora.parsed(spec.corpus),
            "files": [self._paths.at(file) for file in files],
            "vocab": self._paths.vocab_files(spec.vocab),
            "punkt": self._paths.source_of_url(spec.sentence_splitter),
        }

    def recipe_of(self, wildcards: Any) -> DriftRecipe:
        spec = self._specs.pretraining[wildcards.recipe]
        return DriftRecipe(
            recipe=wildcards.recipe,
            step=int(wildcards.step),
            corpus=spec.corpus,
            pretraining=self.graph.pretrainings.recipe(wildcards.recipe),
            packing=self.graph.pretrainings.packing_recipe(spec.corpus, spec.vocab),
            shards=tuple(self._shards(spec.corpus)),
        )

    def _shards(self, corpus: str) -> Iterator[DatedShard]:
        """Yield where each part of a corpus comes from."""
        for shard in self.graph.corpora.shards(corpus):
            source = self.graph.corpora.source(shard.source)
            file = self._paths.below(shard.file) if isinstance(source, PubmedSource) else ""
            yield DatedShard(parsed=f"{shard.source}/{shard.name}.parquet", file=file)

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield Origin(Pretrain, {"recipe": wildcards.recipe, "step": str(wildcards.step)})
