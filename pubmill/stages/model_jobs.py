"""Models: their weights, and the export to a folder that transformers loads."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from pubmill.errors import PubmillError
from pubmill.recipes.models import (
    ArchivedWeights,
    ExportRecipe,
    LocalWeights,
    ModelWeights,
    PretrainedWeights,
    RandomWeights,
    ReleasedWeights,
    SuppliedWeights,
)
from pubmill.specs import ArchiveWeights, HubWeights
from pubmill.specs.model_specs import PredictionsWeights, PromptedWeights
from pubmill.stages import costs
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import HOUR, Bytes, GraphPart, Inputs, Needs, Stage, cached
from pubmill.storage.files import read_json
from pubmill.storage.model_folders import CONFIG, folder_fault
from pubmill.storage.result_paths import STATISTICS


class Models(GraphPart):
    """Sources of weights, and exports."""

    def weights(self, model: str) -> ModelWeights | SuppliedWeights:
        """Return the source of a model's weights at this scale, with the step of those pretrained here."""
        chosen = self._specs.models[model].preferred(self._specs.scale.prefer == "released")
        match chosen:
            case HubWeights():
                return ReleasedWeights(id=chosen.id, revision=chosen.revision)
            case ArchiveWeights():
                return ArchivedWeights(url=chosen.url, sha256=chosen.sha256)
            case LocalWeights():
                return chosen
            case PredictionsWeights():
                return SuppliedWeights(local=chosen.local, system=chosen.system)
            case PromptedWeights():
                return SuppliedWeights(local=None, system=chosen.system)
        if chosen.kind == "random":
            return RandomWeights(recipe=chosen.recipe)
        step = chosen.step or self.graph.pretrainings.steps(chosen.recipe)[-1]
        return PretrainedWeights(recipe=chosen.recipe, step=step)

    @cached
    def configuration(self, model: str) -> Mapping[str, Any]:
        """Return the config.json of a model in the results, else of weights in the user's own folder; empty
        if neither is there, or if it cannot be read (the export says why)."""
        weights = self.weights(model)
        own = self.graph.folders.find(weights.local) if isinstance(weights, LocalWeights) else None
        for path in (Path(self._paths.model(model, CONFIG)), *([own / CONFIG] if own else [])):
            with suppress(PubmillError):
                if path.is_file() and isinstance(found := read_json(path), dict):
                    return found
        return {}

    def fine_tuned_weights(self, model: str) -> ModelWeights:
        """Return the source of the weights of a model that can be fine-tuned; a `PubmillError` for
        supplied predictions."""
        weights = self.weights(model)
        if isinstance(weights, SuppliedWeights):
            raise PubmillError(f"{model} consists of supplied predictions, so it can't be fine-tuned")
        return weights

    def last_steps(self, models: Iterable[str]) -> dict[str, int]:
        """Return the recipes that pretrain some models, and those run before these, with the last step of
        each that is needed; sorted by name."""
        weights = map(self.weights, models)
        needed = ((one.recipe, one.step) for one in weights if isinstance(one, PretrainedWeights))
        return self.graph.pretrainings.last_steps(needed, self._specs.scale.prefer == "released")

    def recipe(self, model: str) -> ExportRecipe:
        """Return the ExportRecipe of a model."""
        spec, weights = self._specs.models[model], self.fine_tuned_weights(model)
        made_here = weights if isinstance(weights, PretrainedWeights | RandomWeights) else None
        if isinstance(weights, PretrainedWeights):  # with their start and their teacher, for the model's card
            recipe = self._specs.pretraining[weights.recipe]
            weights = replace(weights, start=recipe.start or "random weights", teacher=recipe.teacher)
        return ExportRecipe(
            model=model,
            lowercase=spec.lowercase,
            weights=weights,
            pretraining=self._specs.pretraining[made_here.recipe].recipe if made_here else None,
            scale=self._study.scale,
        )

    def inputs(self, model: str) -> Inputs:
        """Return named inputs of the export of a model that is released or made here."""
        weights = self.fine_tuned_weights(model)
        if not isinstance(weights, PretrainedWeights | RandomWeights):
            return {**self._release_inputs(model)}
        pretraining = self._specs.pretraining[weights.recipe]
        inputs: Inputs = {"vocab": self._paths.vocab_files(pretraining.vocab)}
        if isinstance(weights, PretrainedWeights):
            inputs["checkpoint"] = self._paths.checkpoint_files(weights.recipe, weights.step)
            inputs["statistics"] = self._paths.corpus(pretraining.corpus, STATISTICS)
        return inputs

    def arguments(self, model: str) -> list[str]:
        """Return the export program's arguments that name inputs."""
        arguments = []
        for name, files in self.inputs(model).items():
            if isinstance(files, str):
                arguments += [f"--{name}", files]
            elif files:
                arguments += [f"--{name}", str(Path(files[0]).parent)]
        return arguments

    def _release_inputs(self, model: str) -> dict[str, str]:
        """Return named inputs of the export of released weights: the archive; the pin, unless the spec has
        one."""
        weights = self.weights(model)
        inputs = {}
        if isinstance(weights, ArchivedWeights):
            inputs["archive"] = self._paths.source_of_url(weights.url)
        if isinstance(weights, ReleasedWeights | ArchivedWeights) and weights.version is None:
            inputs["pin"] = self._paths.release_pin(model)
        return inputs

    def release(self, model: str) -> dict[str, str]:
        """Return the release that its first download pins: its kind, and id or url."""
        weights = self.weights(model)
        if not isinstance(weights, ReleasedWeights | ArchivedWeights) or weights.version is not None:
            raise PubmillError(f"model {model} has no released weights to be pinned at this scale")
        return weights.release

    def released_archive(self, model: str) -> list[str]:
        """Return the file that a pin is made from; none for weights of the hub."""
        self.release(model)
        return [path for name, path in self._release_inputs(model).items() if name == "archive"]

    def pin(self, model: str) -> dict[str, str]:
        """Return the pin that the first download of a model's weights left; {} if there is none yet, or the
        spec has the commit or hash."""
        pin = Path(self._release_inputs(model).get("pin", ""))
        return read_json(pin) if pin.is_file() else {}

    def folder_mistake(self, model: str) -> str | None:
        """Return what is wrong with the folder that the user named for a model's weights; None if nothing is
        wrong, if none is named, or if the weights are no folder."""
        weights = self.weights(model)
        folder = self.graph.folders.find(weights.local) if isinstance(weights, LocalWeights) else None
        fault = folder_fault(folder) if folder else None
        if not fault or not isinstance(weights, LocalWeights):
            return None
        return f"model {model}: {folder} ({self.graph.folders.setting(weights.local)}) {fault}"

    def own(self) -> list[str]:
        """Return the models whose weights are in a folder of the user's own at this scale."""
        return [model for model in self._specs.models if isinstance(self.weights(model), LocalWeights)]

    def own_folder(self, model: str) -> Path:
        """Return the folder of a model's weights; a `PubmillError` if none is named, or it holds no model."""
        weights = self.weights(model)
        assert isinstance(weights, LocalWeights), model
        folder = self.graph.folders.require(weights.local, f"model {model}")
        if mistake := self.folder_mistake(model):
            raise PubmillError(f"{mistake}; correct the path, or the folder")
        return folder


class PinWeights(Stage):
    """Pin of released weights."""

    name, group = "pin_weights", "download"
    label = "Pinning the released weights of {wildcards.model}"
    version = 1


class ExportModel(Stage):
    """A model that is released or pretrained here."""

    name, group, label = "export_model", "models", "Making the model {wildcards.model}"
    version = 2
    part_versions: ClassVar[Mapping[str, int]] = {"pretraining": 2}

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return `pretraining` for a model whose card describes a corpus."""
        weights = self.graph.models.weights(wildcards.model)
        return ("pretraining",) if isinstance(weights, PretrainedWeights) else ()

    def needs_of(self, wildcards: Any, gpus: Gpus) -> Needs:
        parameters = costs.parameters_of_model(self.graph, wildcards.model)
        return Needs(costs.memory_mb(costs.WEIGHTS, parameters), HOUR)

    def bytes_of(self, wildcards: Any) -> Bytes:
        size = costs.bytes_of_model(self.graph, wildcards.model)
        from_hub = isinstance(self.graph.models.weights(wildcards.model), ReleasedWeights)
        return Bytes(assumed=size if from_hub else 0, disk=size)

    def recipe_of(self, wildcards: Any) -> ExportRecipe:
        return self.graph.models.recipe(wildcards.model)


class TakeModel(ExportModel):
    """A model in a folder of the user's own."""

    name, label, program = "take_model", "Copying the model {wildcards.model}", "pubmill/jobs/export_model.py"

    def inputs_of(self, wildcards: Any) -> Inputs:
        """Check the folder and return no inputs: the digests of its files are a parameter of the rule."""
        self.graph.models.own_folder(wildcards.model)
        return {}
