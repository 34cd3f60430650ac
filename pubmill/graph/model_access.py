"""Availability of models in a run: weights may be in a folder of the user's own, or learnt from notes that
need an application."""

from collections.abc import Iterator

from pubmill.graph.model_jobs import Models
from pubmill.graph.pipelines import Pipelines
from pubmill.graph.user_folders import UserFolders
from pubmill.specs import FolderWeights, LearntVocabSpec, Specs
from pubmill.specs.mimic import MimicSource


class ModelAccess:
    """Availability of models, and the reasons against it."""

    def __init__(self, specs: Specs, folders: UserFolders, models: Models, pipelines: Pipelines) -> None:
        self._specs = specs
        self._folders = folders
        self._models = models
        self._pipelines = pipelines
        self._known: dict[str, str | None] = {}

    def obstacle(self, model: str) -> str | None:
        """Return why a model is unavailable in this run, or None: a pipeline or weights whose folder is not
        named, or weights that are pretrained here on notes that must be applied for."""
        if model in self._pipelines.names():
            return self._pipelines.obstacle(model)
        if model not in self._known:
            self._known[model] = next(self._obstacles(model), None)
        return self._known[model]

    def _obstacles(self, model: str) -> Iterator[str]:
        recipes = [self._specs.pretraining[name] for name in self._models.last_steps([model])]
        for name in self.ancestry(model):
            weights = self._specs.models[name].preferred(self._specs.scale.prefer == "released")
            if isinstance(weights, FolderWeights) and self._folders.find(weights.local) is None:
                whose = "its weights" if name == model else f"the weights of {name}"
                yield f"needs {whose} in a folder of your own (then set local_files: {weights.local})"
        vocabs = [self._specs.vocabs[recipe.vocab] for recipe in recipes]
        learnt = [vocab.corpus for vocab in vocabs if isinstance(vocab, LearntVocabSpec)]
        for corpus in (*(recipe.corpus for recipe in recipes), *learnt):
            if obstacle := self._notes_obstacle(corpus):
                yield obstacle

    def ancestry(self, model: str) -> dict[str, None]:
        """Return the model, and those that its pretrainings begin with or learn from."""
        recipes = [self._specs.pretraining[name] for name in self._models.last_steps([model])]
        begun = [name for r in recipes for name in (r.start.model if r.start else None, r.teacher) if name]
        return dict.fromkeys([model, *begun])

    def _notes_obstacle(self, corpus: str) -> str | None:
        for source in self._specs.corpora[corpus].sources:
            if isinstance(source, MimicSource) and self._folders.find(source.local) is None:
                return (
                    f"is pretrained here on MIMIC-III, which must be applied for ({source.apply}; then set "
                    f"local_files: {source.local})"
                )
        return None
