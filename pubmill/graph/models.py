"""Vocabularies, pretraining and models; pipelines that predict as they are."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.graph.corpora import CorpusTargets
from pubmill.graph.stage_versions import VERSIONS
from pubmill.metrics import METRICS, metrics_of
from pubmill.specs import HubWeights, LearntVocabSpec, PretrainingSpec, RecipeWeights, ReleasedVocabSpec
from pubmill.specs.models import SpacyWeights
from pubmill.storage.model_folders import folder_fault
from pubmill.storage.result_paths import BELOW, STATISTICS

VOCAB_FILES = ("tokenizer.json", "tokenizer_config.json", "diagnosis.json")
"""What a vocabulary of any kind has; its own adds vocab.txt, vocab.json and merges.txt, or spiece.model."""
_PACKED = ("ids.bin", "sentences.npy", "documents.npy", "index.json")
TOKEN_FILES = (*_PACKED, *(f"held-out/{name}" for name in _PACKED))
CHECKPOINT_FILES = (
    "model.safetensors",
    "auxiliary.safetensors",
    "optimizer.safetensors",
    "config.json",
    "log.jsonl",
    "state.json",
)
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "README.md")
OFF_THE_SHELF, AS_IT_IS = "off-the-shelf", "as-it-is"
"""Names used as protocol and setting where nothing is trained."""
PREDICTED = "test"
"""The split that a pipeline predicts; nothing is chosen on dev."""


class ModelTargets(CorpusTargets):
    """Vocabularies, packed tokens, checkpoints, models and pipelines."""

    VOCAB_FILES, TOKEN_FILES = VOCAB_FILES, TOKEN_FILES
    CHECKPOINT_FILES, MODEL_FILES = CHECKPOINT_FILES, MODEL_FILES

    def learnt_vocabs(self) -> list[str]:
        """Return the vocabularies that are learnt here."""
        return [name for name, spec in self.specs.vocabs.items() if isinstance(spec, LearntVocabSpec)]

    def released_vocabs(self) -> list[str]:
        """Return the vocabularies that models were released with."""
        return [name for name, spec in self.specs.vocabs.items() if isinstance(spec, ReleasedVocabSpec)]

    def _learnt(self, vocab: str) -> LearntVocabSpec:
        spec = self.specs.vocabs[vocab]
        if not isinstance(spec, LearntVocabSpec):
            raise PubmillError(f"the vocabulary {vocab} is a released one; nothing is learnt for it")
        return spec

    def vocab_recipe(self, vocab: str) -> dict[str, Any]:
        """VocabRecipe of a vocabulary that is learnt here."""
        return asdict(self._learnt(vocab).recipe)

    def vocab_parts(self, vocab: str) -> int:
        """How many parts the corpus of a vocabulary has."""
        return len(self.shards(self._learnt(vocab).corpus))

    def words_folder(self, vocab: str) -> str:
        """Where the words of a vocabulary's corpus are counted, separated as it needs them."""
        spec = self._learnt(vocab)
        return self.paths.words(spec.corpus, spec.recipe.splitting())

    def word_counts(self, vocab: str) -> list[str]:
        """The word counts that a vocabulary is learnt from, one a part of its corpus."""
        spec, parts = self._learnt(vocab), range(self.vocab_parts(vocab))
        return [self.paths.word_counts(spec.corpus, spec.recipe.splitting(), part) for part in parts]

    def vocab_model(self, vocab: str) -> str:
        """The model whose released tokenizer a vocabulary is; a `PubmillError` where the scale makes that
        model here, with another one."""
        spec = self.specs.vocabs[vocab]
        assert isinstance(spec, ReleasedVocabSpec), vocab
        if self.weights(spec.model)["kind"] not in ("hub", "folder"):
            raise PubmillError(
                f"vocabulary {vocab}: at scale {self.study.scale} the model {spec.model} is made here, with "
                f"a vocabulary of its own; the released one is at hand at scale full"
            )
        return spec.model

    def vocab_files(self, vocab: str) -> list[str]:
        return [self.paths.vocab(vocab, name) for name in VOCAB_FILES]

    def fit_recipe(self, vocab: str, dataset: str) -> dict[str, Any]:
        """FitRecipe: which vocabulary is diagnosed on which dataset."""
        return {"vocab": vocab, "dataset": dataset, "kind": self.specs.datasets[dataset].kind}

    def packing_recipe(self, corpus: str, vocab: str) -> dict[str, Any]:
        """PackingRecipe of packed tokens."""
        spec = self._packed(corpus, vocab)
        return {"title": spec.title, "held_out": spec.held_out}

    def sentence_splitter(self, corpus: str, vocab: str) -> str:
        """Return the URL of the sentence-splitter model used for packing."""
        return self._packed(corpus, vocab).sentence_splitter

    def tokens_folder(self, recipe: str) -> str:
        """The packed tokens of a recipe, which it shares with others on its corpus and vocabulary."""
        spec = self.specs.pretraining[recipe]
        return self.paths.tokens(spec.corpus, spec.vocab)

    def token_files(self, recipe: str) -> list[str]:
        return [f"{self.tokens_folder(recipe)}/{name}" for name in TOKEN_FILES]

    def _packed(self, corpus: str, vocab: str) -> PretrainingSpec:
        """A recipe on packed tokens; all that share them say the same of packing (`pretraining_checks`)."""
        for spec in self.specs.pretraining.values():
            if (spec.corpus, spec.vocab) == (corpus, vocab):
                return spec
        raise PubmillError(f"no recipe in specs/pretraining has the corpus {corpus} and the vocab {vocab}")

    def checkpoint_files(self, recipe: str, step: int) -> list[str]:
        return [self.paths.checkpoint(recipe, step, name) for name in CHECKPOINT_FILES]

    def pretraining_recipe(self, recipe: str) -> dict[str, Any]:
        """The training recipe. Which checkpoints are kept is not in it: they cut the work, not its result."""
        return self.specs.pretraining[recipe].recipe.as_dict()

    def steps(self, recipe: str) -> list[int]:
        return list(self.specs.pretraining[recipe].checkpoints)

    def previous_step(self, recipe: str, step: int) -> int | None:
        """The checkpoint that a segment ending at `step` starts from; None at the beginning."""
        return max((s for s in self.steps(recipe) if s < step), default=None)

    def segment_weights(self, recipe: str, step: int) -> dict[str, tuple[str, list[str]]]:
        """The weights that a segment needs: the pretraining program's option -> their folder and its files.

        A first segment begins with what the spec says, others with the checkpoint before; a distillation has
        its teacher in all of them.
        """
        spec, previous = self.specs.pretraining[recipe], self.previous_step(recipe, step)
        needed = {}
        if previous is not None:
            needed["--previous"] = self.checkpoint_files(recipe, previous)
        elif spec.start and spec.start.model:
            needed["--model"] = self.model_files(spec.start.model)
        elif spec.start and spec.start.recipe and spec.start.step:
            needed["--other"] = self.checkpoint_files(spec.start.recipe, spec.start.step)
        if spec.teacher:
            needed["--teacher"] = self.model_files(spec.teacher)
        return {option: (str(Path(files[0]).parent), files) for option, files in needed.items()}

    def segment_inputs(self, recipe: str, step: int) -> list[str]:
        """The files of the weights that a segment needs."""
        return [file for _, files in self.segment_weights(recipe, step).values() for file in files]

    def segment_arguments(self, recipe: str, step: int) -> list[str]:
        """The pretraining program's arguments that name those weights."""
        found = self.segment_weights(recipe, step).items()
        return [argument for option, (folder, _) in found for argument in (option, folder)]

    def weights(self, model: str) -> dict[str, Any]:
        """Return the source of a model's weights at this scale, with the step of those pretrained here."""
        chosen = self.specs.models[model].preferred(self.specs.scale.prefer == "released")
        if isinstance(chosen, HubWeights):
            return {"kind": "hub", **chosen.model_dump()}
        if isinstance(chosen, RecipeWeights) and chosen.kind == "pretraining":
            return {**chosen.model_dump(), "step": chosen.step or self.steps(chosen.recipe)[-1]}
        return chosen.model_dump(exclude_none=True)

    def model_files(self, model: str) -> list[str]:
        return [self.paths.model(model, name) for name in MODEL_FILES]

    def model_recipe(self, model: str) -> dict[str, Any]:
        spec, weights = self.specs.models[model], self.weights(model)
        made_here = weights["kind"] in ("pretraining", "random")
        return {
            "model": model,
            "lowercase": spec.lowercase,
            "weights": weights | self._origin(weights),
            "pretraining": self.pretraining_recipe(weights["recipe"]) if made_here else None,
            "scale": self.study.scale,
        }

    def _origin(self, weights: dict[str, Any]) -> dict[str, Any]:
        """Return the start and the teacher of pretrained weights, for the model's card."""
        if weights["kind"] != "pretraining":
            return {}
        spec = self.specs.pretraining[weights["recipe"]]
        start = spec.start.model_dump(exclude_none=True) if spec.start else "random weights"
        return {"start": start} | ({"teacher": spec.teacher} if spec.teacher else {})

    def model_inputs(self, model: str) -> dict[str, Any]:
        """Named inputs of the export of a model that is released or made here."""
        weights = self.weights(model)
        if weights["kind"] == "spacy":
            raise PubmillError(
                f"{model} is a spaCy pipeline, which can't be fine-tuned; it predicts as it is"
            )
        if weights["kind"] == "hub":
            return {}
        pretraining = self.specs.pretraining[weights["recipe"]]
        inputs: dict[str, Any] = {"vocab": self.vocab_files(pretraining.vocab)}
        if weights["kind"] == "pretraining":
            inputs["checkpoint"] = self.checkpoint_files(weights["recipe"], weights["step"])
            inputs["statistics"] = self.paths.corpus(pretraining.corpus, STATISTICS)
        return inputs

    def folder_mistake(self, model: str) -> str | None:
        """What is wrong with the folder that the user named for a model's weights; None if nothing is, if
        none is named, or if the weights are no folder."""
        weights = self.weights(model)
        folder = self.find_local(weights["local"]) if weights["kind"] == "folder" else None
        fault = folder_fault(folder) if folder else None
        return f"model {model}: {folder} ({self.called(weights['local'])}) {fault}" if fault else None

    def model_arguments(self, model: str) -> list[str]:
        """The export program's arguments that name inputs."""
        inputs = self.model_inputs(model)
        arguments = []
        for name in ("vocab", "checkpoint"):
            if inputs.get(name):
                arguments += [f"--{name}", str(Path(inputs[name][0]).parent)]
        return [*arguments, *(["--statistics", inputs["statistics"]] if "statistics" in inputs else [])]

    def own_models(self) -> list[str]:
        """The models whose weights are in a folder of the user's own at this scale."""
        return [model for model in self.specs.models if self.weights(model)["kind"] == "folder"]

    def own_folder(self, model: str) -> Path:
        """That folder; a `PubmillError` where the user hasn't named it, or it holds no model."""
        folder = self.local(self.weights(model)["local"], f"model {model}")
        if mistake := self.folder_mistake(model):
            raise PubmillError(f"{mistake}; correct the path, or the folder")
        return folder

    def check_own_folder(self, model: str) -> list[str]:
        """Check that it is there; return no inputs, as the model depends on its content alone."""
        self.own_folder(model)
        return []

    def own_folder_content(self, model: str) -> dict[str, str]:
        """The digests of its files, by name."""
        return self.digests.of_folder(self.own_folder(model))

    def pipelines(self) -> list[str]:
        """The models that are spaCy pipelines."""
        return [name for name, spec in self.specs.models.items() if isinstance(spec.weights, SpacyWeights)]

    def lacks_pipeline(self, model: str) -> str | None:
        """Why a model that is a pipeline can't predict in this run: the user hasn't named its folder; None
        for other models too. It names no folder of this machine: it stands in tables."""
        weights = self.specs.models[model].weights
        if not isinstance(weights, SpacyWeights) or self.find_local(weights.local) is not None:
            return None
        return f"needs a spaCy pipeline of your own (then set local_files: {weights.local})"

    def _pipeline(self, model: str) -> SpacyWeights:
        weights = self.specs.models[model].weights
        assert isinstance(weights, SpacyWeights), model
        return weights

    def pipeline(self, model: str) -> Path:
        """The folder of a pipeline; a `PubmillError` where the user hasn't named it."""
        folder = self.local(self._pipeline(model).local, f"model {model}")
        if not (folder / "config.cfg").is_file():
            where = f"{folder} ({self.called(self._pipeline(model).local)})"
            raise PubmillError(f"model {model}: {where} is no spaCy pipeline: it has no config.cfg")
        return folder

    def check_pipeline(self, model: str) -> list[str]:
        """Check that a pipeline is there; return no inputs, as predictions depend on its content alone."""
        self.pipeline(model)
        return []

    def pipeline_content(self, model: str) -> dict[str, str]:
        """The digests of a pipeline's files, by path."""
        return self.digests.of_folder(self.pipeline(model), "**/*")

    def annotation_recipe(self, model: str, dataset: str) -> dict[str, Any]:
        """AnnotationRecipe: which of a pipeline's entities are mentions of the dataset."""
        types = self._pipeline(model).types
        if dataset not in types:
            raise PubmillError(
                f"model {model} predicts {', '.join(types)}, not {dataset}; "
                f"add it to `types` in specs/models/{model}.yaml"
            )
        return {"types": types[dataset]}

    @staticmethod
    def pipeline_run(model: str, dataset: str) -> tuple[str, str, str, str, int]:
        """The one run of a pipeline on a dataset: protocol, model, dataset, setting and seed."""
        return OFF_THE_SHELF, model, dataset, AS_IT_IS, 1

    def annotation_records(self, model: str, dataset: str) -> list[str]:
        """The one record of a pipeline on a dataset, below the results folder; none if it isn't for it."""
        known = dataset in self._pipeline(model).types
        record = BELOW.record(*self.pipeline_run(model, dataset))
        return [record] if known else []

    def annotation_score_recipe(self, model: str, dataset: str) -> dict[str, Any]:
        """ScoringRecipe of that record."""
        data = self.specs.datasets[dataset]
        return {
            "protocol": OFF_THE_SHELF,
            "model": model,
            "dataset": dataset,
            "setting": AS_IT_IS,
            "seed": 1,
            "scale": self.study.scale,
            "split": PREDICTED,
            "kind": data.kind,
            "metric": data.metric,
            "negative": data.negative,
            "versions": {
                "convert": [VERSIONS["convert"], data.version],
                "annotate": VERSIONS["annotate"],
                "score": VERSIONS["score"],
                "metric": METRICS[data.metric].version,
                "metrics": [one.version for one in metrics_of(data.kind)],
            },
        }
