"""Vocabularies, pretraining and models."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pubmill.specs import FolderWeights
from pubmill.targets.corpora import CorpusTargets

VOCAB_FILES = ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "diagnosis.json")
TOKEN_FILES = ("ids.bin", "sentences.npy", "documents.npy", "index.json")
CHECKPOINT_FILES = ("model.safetensors", "optimizer.safetensors", "config.json", "log.jsonl", "state.json")
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "README.md")


class ModelTargets(CorpusTargets):
    """From a corpus to models that a table compares."""

    VOCAB_FILES, TOKEN_FILES = VOCAB_FILES, TOKEN_FILES
    CHECKPOINT_FILES, MODEL_FILES = CHECKPOINT_FILES, MODEL_FILES

    def vocab_recipe(self, vocab: str) -> dict[str, Any]:
        spec = self.specs.vocabs[vocab]
        return {"kind": spec.kind, "size": spec.size, "lowercase": spec.lowercase}

    def vocab_files(self, vocab: str) -> list[str]:
        return [f"{self.results}/vocabs/{vocab}/{name}" for name in VOCAB_FILES]

    def token_files(self, recipe: str) -> list[str]:
        return [f"{self.results}/pretraining/{recipe}/tokens/{name}" for name in TOKEN_FILES]

    def checkpoint_files(self, recipe: str, step: int) -> list[str]:
        return [f"{self.results}/pretraining/{recipe}/step-{step}/{name}" for name in CHECKPOINT_FILES]

    def pretraining_recipe(self, recipe: str) -> dict[str, Any]:
        """The training recipe. Which checkpoints are kept is not in it: they cut the work, not its result."""
        return asdict(self.specs.pretraining[recipe].recipe)

    def steps(self, recipe: str) -> list[int]:
        return list(self.specs.pretraining[recipe].checkpoints)

    def previous_step(self, recipe: str, step: int) -> int | None:
        """The checkpoint that a segment ending at `step` starts from; None at the beginning."""
        return max((s for s in self.steps(recipe) if s < step), default=None)

    def segment_inputs(self, recipe: str, step: int) -> list[str]:
        """The checkpoint's files that a segment starts from; none for the first."""
        previous = self.previous_step(recipe, step)
        return self.checkpoint_files(recipe, previous) if previous is not None else []

    def segment_arguments(self, recipe: str, step: int) -> list[str]:
        """The pretraining program's argument that names that checkpoint."""
        previous = self.previous_step(recipe, step)
        if previous is None:
            return []
        return ["--start", f"{self.results}/pretraining/{recipe}/step-{previous}"]

    def weights(self, model: str) -> dict[str, Any]:
        """Where a model's weights come from at this scale."""
        spec = self.specs.models[model]
        released = {"kind": "hub", **spec.released.model_dump()} if spec.released else None
        own = spec.weights.model_dump() if spec.weights else None
        first, second = (released, own) if self.specs.scale.prefer == "released" else (own, released)
        chosen = first or second
        assert chosen is not None, "ModelSpec.has_weights"
        return chosen

    def model_files(self, model: str) -> list[str]:
        return [f"{self.results}/models/{model}/{name}" for name in MODEL_FILES]

    def model_recipe(self, model: str) -> dict[str, Any]:
        spec, weights = self.specs.models[model], self.weights(model)
        made_here = weights["kind"] in ("pretraining", "random")
        return {
            "model": model,
            "lowercase": spec.lowercase,
            "weights": weights,
            "pretraining": self.pretraining_recipe(weights["recipe"]) if made_here else None,
            "scale": self.study.scale,
        }

    def model_inputs(self, model: str) -> dict[str, Any]:
        """Named inputs of the export of a model."""
        weights, spec = self.weights(model), self.specs.models[model]
        if isinstance(spec.weights, FolderWeights) and weights["kind"] == "folder":
            folder = self.local(spec.weights.local, f"model {model}")
            return {"folder": sorted(str(path) for path in folder.glob("*") if path.is_file())}
        if weights["kind"] == "hub":
            return {}
        pretraining = self.specs.pretraining[weights["recipe"]]
        inputs: dict[str, Any] = {"vocab": self.vocab_files(pretraining.vocab)}
        if weights["kind"] == "pretraining":
            inputs["checkpoint"] = self.checkpoint_files(weights["recipe"], pretraining.recipe.steps)
            inputs["statistics"] = f"{self.corpus_folder(pretraining.corpus)}/stats.json"
        return inputs

    def model_arguments(self, model: str) -> list[str]:
        """The export program's arguments that name inputs."""
        inputs = self.model_inputs(model)
        arguments = []
        for name in ("vocab", "checkpoint", "folder"):
            if inputs.get(name):
                arguments += [f"--{name}", str(Path(inputs[name][0]).parent)]
        return [*arguments, *(["--statistics", inputs["statistics"]] if "statistics" in inputs else [])]
