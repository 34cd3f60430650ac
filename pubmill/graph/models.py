"""Models: their weights, and the export to a folder that transformers loads."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.graph.content_digests import Digests
from pubmill.graph.pretrainings import Pretrainings
from pubmill.graph.user_folders import UserFolders
from pubmill.specs import HubWeights, RecipeWeights, Specs
from pubmill.specs.pretraining_checks import needed_before
from pubmill.specs.study import Study
from pubmill.storage.model_folders import folder_fault
from pubmill.storage.result_paths import STATISTICS, Paths


class Models:
    """Sources of weights, and exports."""

    def __init__(
        self,
        study: Study,
        specs: Specs,
        paths: Paths,
        folders: UserFolders,
        digests: Digests,
        pretrainings: Pretrainings,
    ) -> None:
        self._study = study
        self._specs = specs
        self._paths = paths
        self._folders = folders
        self._digests = digests
        self._pretrainings = pretrainings

    def weights(self, model: str) -> dict[str, Any]:
        """Return the source of a model's weights at this scale, with the step of those pretrained here."""
        chosen = self._specs.models[model].preferred(self._specs.scale.prefer == "released")
        if isinstance(chosen, HubWeights):
            return {"kind": "hub", **chosen.model_dump()}
        if isinstance(chosen, RecipeWeights) and chosen.kind == "pretraining":
            return {**chosen.model_dump(), "step": chosen.step or self._pretrainings.steps(chosen.recipe)[-1]}
        return chosen.model_dump(exclude_none=True)

    def last_steps(self, models: Iterable[str]) -> dict[str, int]:
        """Return the recipes that pretrain some models, and those run before these, with the last step of
        each that is needed; sorted by name."""
        released = self._specs.scale.prefer == "released"
        weights = [self.weights(model) for model in models]
        waiting = [(w["recipe"], w["step"]) for w in weights if w["kind"] == "pretraining"]
        found: dict[str, int] = {}
        while waiting:
            recipe, step = waiting.pop()
            found[recipe] = max(step, found.get(recipe, 0))
            before = needed_before(self._specs.pretraining[recipe], self._specs.models, released)
            waiting += [(one.recipe, one.step or self._pretrainings.steps(one.recipe)[-1]) for one in before]
        return dict(sorted(found.items()))

    def recipe(self, model: str) -> dict[str, Any]:
        """Return the ModelRecipe of a model's export."""
        spec, weights = self._specs.models[model], self.weights(model)
        made_here = weights["kind"] in ("pretraining", "random")
        return {
            "model": model,
            "lowercase": spec.lowercase,
            "weights": weights | self._origin(weights),
            "pretraining": self._pretrainings.recipe(weights["recipe"]) if made_here else None,
            "scale": self._study.scale,
        }

    def _origin(self, weights: dict[str, Any]) -> dict[str, Any]:
        """Return the start and the teacher of pretrained weights, for the model's card."""
        if weights["kind"] != "pretraining":
            return {}
        spec = self._specs.pretraining[weights["recipe"]]
        start = spec.start.model_dump(exclude_none=True) if spec.start else "random weights"
        return {"start": start} | ({"teacher": spec.teacher} if spec.teacher else {})

    def inputs(self, model: str) -> dict[str, Any]:
        """Return named inputs of the export of a model that is released or made here."""
        weights = self.weights(model)
        if weights["kind"] == "spacy":
            raise PubmillError(
                f"{model} is a spaCy pipeline, which can't be fine-tuned; it predicts as it is"
            )
        if weights["kind"] == "hub":
            return {}
        pretraining = self._specs.pretraining[weights["recipe"]]
        inputs: dict[str, Any] = {"vocab": self._paths.vocab_files(pretraining.vocab)}
        if weights["kind"] == "pretraining":
            inputs["checkpoint"] = self._paths.checkpoint_files(weights["recipe"], weights["step"])
            inputs["statistics"] = self._paths.corpus(pretraining.corpus, STATISTICS)
        return inputs

    def arguments(self, model: str) -> list[str]:
        """Return the export program's arguments that name inputs."""
        inputs = self.inputs(model)
        arguments = []
        for name in ("vocab", "checkpoint"):
            if inputs.get(name):
                arguments += [f"--{name}", str(Path(inputs[name][0]).parent)]
        return [*arguments, *(["--statistics", inputs["statistics"]] if "statistics" in inputs else [])]

    def folder_mistake(self, model: str) -> str | None:
        """Return what is wrong with the folder that the user named for a model's weights; None if nothing is
        wrong, if none is named, or if the weights are no folder."""
        weights = self.weights(model)
        folder = self._folders.find(weights["local"]) if weights["kind"] == "folder" else None
        fault = folder_fault(folder) if folder else None
        return (
            f"model {model}: {folder} ({self._folders.setting(weights['local'])}) {fault}" if fault else None
        )

    def own(self) -> list[str]:
        """Return the models whose weights are in a folder of the user's own at this scale."""
        return [model for model in self._specs.models if self.weights(model)["kind"] == "folder"]

    def own_folder(self, model: str) -> Path:
        """Return the folder of a model's weights; a `PubmillError` if the user has not named it, or it holds
        no model."""
        folder = self._folders.require(self.weights(model)["local"], f"model {model}")
        if mistake := self.folder_mistake(model):
            raise PubmillError(f"{mistake}; correct the path, or the folder")
        return folder

    def check_own_folder(self, model: str) -> list[str]:
        """Check that the folder holds a model; return no inputs, as the model depends on its content
        alone."""
        self.own_folder(model)
        return []

    def own_folder_content(self, model: str) -> dict[str, str]:
        """Return the digests of the folder's files, by name."""
        return self._digests.of_folder(self.own_folder(model))
