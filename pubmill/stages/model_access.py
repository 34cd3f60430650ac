"""Availability of models in a run: weights may be in a folder of the user's own, or learnt from texts that
the user provides."""

from collections.abc import Iterator

from pubmill.specs import FolderWeights, LearntVocabSpec
from pubmill.specs.corpus_specs import MimicSource, TextSource
from pubmill.stages.stage import GraphPart, remembered


class ModelAccess(GraphPart):
    """Availability of models, and the reasons against it."""

    @remembered
    def obstacle(self, model: str) -> str | None:
        """Return why a model is unavailable in this run, or None: a pipeline or weights whose folder is not
        named, or weights that are pretrained here on texts that are not there."""
        if model in self.graph.pipelines.names():
            return self.graph.pipelines.obstacle(model)
        return next(self._obstacles(model), None)

    def _obstacles(self, model: str) -> Iterator[str]:
        recipes = [self._specs.pretraining[name] for name in self.graph.models.last_steps([model])]
        for name in self.ancestry(model):
            weights = self._specs.models[name].preferred(self._specs.scale.prefer == "released")
            if isinstance(weights, FolderWeights) and self.graph.folders.find(weights.local) is None:
                whose = "its weights" if name == model else f"the weights of {name}"
                yield f"needs {whose} in a folder of your own (then set local_files: {weights.local})"
        vocabs = [self._specs.vocabs[recipe.vocab] for recipe in recipes]
        learnt = [vocab.corpus for vocab in vocabs if isinstance(vocab, LearntVocabSpec)]
        for corpus in (*(recipe.corpus for recipe in recipes), *learnt):
            if obstacle := self._texts_obstacle(corpus):
                yield obstacle

    def ancestry(self, model: str) -> dict[str, None]:
        """Return the model, and those that its pretrainings begin with or learn from."""
        recipes = [self._specs.pretraining[name] for name in self.graph.models.last_steps([model])]
        begun = [name for r in recipes for name in (r.start.model if r.start else None, r.teacher) if name]
        return dict.fromkeys([model, *begun])

    def _texts_obstacle(self, corpus: str) -> str | None:
        for source in self._specs.corpora[corpus].sources:
            if isinstance(source, MimicSource):
                texts = f"MIMIC-III, which must be applied for ({source.apply}"
            elif isinstance(source, TextSource) and source.origin:
                texts = f"texts that you provide ({source.name}: {source.origin}"
            else:
                continue
            if self.graph.folders.find(source.local) is None:
                return f"is pretrained here on {texts}; then set local_files: {source.local})"
        return None
