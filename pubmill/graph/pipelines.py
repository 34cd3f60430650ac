"""spaCy pipelines, which predict as they are."""

from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.graph.content_digests import Digests
from pubmill.graph.scoring_versions import scoring_versions
from pubmill.graph.stage_versions import VERSIONS
from pubmill.graph.user_folders import UserFolders
from pubmill.recipes.prediction import AnnotationRecipe
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.specs import Specs
from pubmill.specs.model_specs import SpacyWeights
from pubmill.specs.study import Study
from pubmill.storage.result_paths import BELOW

OFF_THE_SHELF, AS_IT_IS = "off-the-shelf", "as-it-is"
"""Names used as protocol and setting where nothing is trained."""
PREDICTED = "test"
"""The split that a pipeline predicts; nothing is chosen on dev."""


class Pipelines:
    """spaCy pipelines, which predict without training."""

    def __init__(self, study: Study, specs: Specs, folders: UserFolders, digests: Digests) -> None:
        self._study = study
        self._specs = specs
        self._folders = folders
        self._digests = digests

    def names(self) -> list[str]:
        """Return the models that are spaCy pipelines."""
        return [name for name, spec in self._specs.models.items() if isinstance(spec.weights, SpacyWeights)]

    def obstacle(self, model: str) -> str | None:
        """Return why a pipeline cannot predict in this run: the user has not named its folder. None for all
        other models. The reason appears in tables, so it names no folder of this machine."""
        weights = self._specs.models[model].weights
        if not isinstance(weights, SpacyWeights) or self._folders.find(weights.local) is not None:
            return None
        return f"needs a spaCy pipeline of your own (then set local_files: {weights.local})"

    def _spacy_weights(self, model: str) -> SpacyWeights:
        weights = self._specs.models[model].weights
        assert isinstance(weights, SpacyWeights), model
        return weights

    def folder(self, model: str) -> Path:
        """Return the folder of a pipeline; a `PubmillError` if the user has not named it."""
        folder = self._folders.require(self._spacy_weights(model).local, f"model {model}")
        if not (folder / "config.cfg").is_file():
            where = f"{folder} ({self._folders.setting(self._spacy_weights(model).local)})"
            raise PubmillError(f"model {model}: {where} is no spaCy pipeline: it has no config.cfg")
        return folder

    def check_folder(self, model: str) -> list[str]:
        """Check that a pipeline is there; return no inputs, as predictions depend on its content alone."""
        self.folder(model)
        return []

    def content(self, model: str) -> dict[str, str]:
        """Return the digests of a pipeline's files, by path."""
        return self._digests.of_folder(self.folder(model), "**/*")

    def recipe(self, model: str, dataset: str) -> AnnotationRecipe:
        """Return the AnnotationRecipe: which of a pipeline's entities are mentions of the dataset."""
        types = self._spacy_weights(model).types
        if dataset not in types:
            raise PubmillError(
                f"model {model} predicts {', '.join(types)}, not {dataset}; "
                f"add it to `types` in specs/models/{model}.yaml"
            )
        return AnnotationRecipe(types=types[dataset])

    @staticmethod
    def run(model: str, dataset: str) -> tuple[str, str, str, str, int]:
        """Return the one run of a pipeline on a dataset: protocol, model, dataset, setting and seed."""
        return OFF_THE_SHELF, model, dataset, AS_IT_IS, 1

    def records(self, model: str, dataset: str) -> list[str]:
        """Return the record of a pipeline on a dataset, below the results folder; none if it is not for the
        dataset."""
        known = dataset in self._spacy_weights(model).types
        record = BELOW.record(*self.run(model, dataset))
        return [record] if known else []

    def scoring_recipe(self, model: str, dataset: str) -> ScoringRecipe:
        """Return the ScoringRecipe of this record, except the digest of how it was made."""
        data = self._specs.datasets[dataset]
        return ScoringRecipe(
            protocol=OFF_THE_SHELF,
            model=model,
            dataset=dataset,
            setting=AS_IT_IS,
            seed=1,
            scale=self._study.scale,
            split=PREDICTED,
            kind=data.kind,
            metric=data.metric,
            negative=data.negative,
            versions={"annotate": VERSIONS["annotate"], **scoring_versions(data)},
        )
