"""Models as Hugging Face folders, whatever their weights come from.

`pretraining`: a checkpoint of this project. `random`: the same architecture freshly initialised. `folder`: a
folder of the user's own. `hub`: a pinned revision of a public model. Every folder loads with `AutoModel`,
`AutoModelForMaskedLM`, `AutoModelForTokenClassification` and `AutoTokenizer`, and has a model card.
"""

import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import huggingface_hub
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from transformers import AutoConfig, AutoModelForPreTraining, AutoTokenizer

from pubmill.errors import PubmillError
from pubmill.pretraining.architectures import build_model
from pubmill.pretraining.model_cards import model_card
from pubmill.pretraining.model_folder_checks import (
    check_finite,
    check_links,
    check_shapes,
    pickled_shapes,
    read_shapes,
    reported,
    take_settings,
    weight_files,
)
from pubmill.recipes import PretrainingRecipe, build
from pubmill.storage.files import read_json, writing_folder
from pubmill.storage.model_folders import (
    CONFIG,
    COPIED,
    PICKLED,
    TOKENIZER_FILES,
    VOCABULARY_FILES,
    WEIGHTS,
    folder_fault,
)
from pubmill.storage.privacy import label_of_process


@dataclass(frozen=True, kw_only=True)
class ExportRecipe:
    """A model: its name, where its weights come from, and what its card says.

    `weights` is {"kind": "pretraining" | "random" | "folder"} (with the
    checkpoint's "step", if that is to be checked) or {"kind": "hub", "id", "revision"};
    `lowercase` is how the tokenizer must treat capitals: released folders often don't say, and are then
    read differently by different versions of transformers. `pretraining` are the values of a
    `PretrainingRecipe` (needed for random weights), `seed` is the one of random weights.
    """

    model: str
    lowercase: bool
    weights: dict[str, Any]
    pretraining: dict[str, Any] | None = None
    scale: str = "full"
    seed: int = 1


def export(
    recipe: ExportRecipe,
    output: Path,
    checkpoint: Path | None = None,
    vocab: Path | None = None,
    folder: Path | None = None,
    statistics: Path | None = None,
) -> None:
    """Write the model folder `output`; write nothing if the result does not load.

    `statistics` is the stats.json of the pretraining corpus, for the card.
    """
    kind = recipe.weights.get("kind")
    with writing_folder(output) as temporary:
        if kind == "pretraining":
            _copy_checkpoint(recipe, _needed(checkpoint, kind, "--checkpoint"), temporary)
            _copy(_needed(vocab, kind, "--vocab"), (*TOKENIZER_FILES, *VOCABULARY_FILES), temporary)
        elif kind == "random":
            vocab = _needed(vocab, kind, "--vocab")
            _copy(vocab, (*TOKENIZER_FILES, *VOCABULARY_FILES), temporary)
            _make_random(recipe, vocab, temporary)
        elif kind == "folder":
            _copy_released(_needed(folder, kind, "--folder"), temporary, recipe.model)
        elif kind == "hub":
            _copy_released(_download(recipe), temporary, recipe.model)
        else:
            raise PubmillError(
                f"{recipe.model}: weights.kind is {kind!r}; pretraining, random, folder or hub"
            )
        check_model(temporary, recipe.model, exact=kind in ("pretraining", "random"))
        _set_lowercase(temporary, recipe)
        if (temporary / "README.md").exists():
            (temporary / "README.md").rename(temporary / "README.original.md")
        (temporary / "README.md").write_text(
            model_card(
                recipe.model,
                recipe.weights,
                recipe.scale,
                read_json(statistics) if statistics else {},
                recipe.pretraining,
                checkpoint,
                vocab,
                temporary / "README.original.md",
                **label_of_process(),
            )
        )


def check_model(folder: Path, name: str, exact: bool) -> None:
    """Check that `folder` holds a model and tokenizer that `transformers` loads without foreign code.

    `exact`: require one embedding per piece, as in models made here.
    """
    if fault := folder_fault(folder):
        raise PubmillError(f"{name}: the model folder {fault}")
    weights = weight_files(folder, name)
    check_shapes(folder, read_shapes(weights, name), name)
    check_finite(weights, name)
    with reported(f"{name}: transformers can't load this model folder"):
        pieces = len(AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False))
        rows = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False).vocab_size
    if pieces > rows or (exact and pieces != rows):
        raise PubmillError(
            f"{name}: the tokenizer has {pieces} pieces, the model {rows} embeddings; was it trained with "
            f"another vocabulary?"
        )


def _needed(path: Path | None, kind: str, option: str) -> Path:
    if path is None or not path.is_dir():
        raise PubmillError(f"weights of kind {kind} need {option}, an existing folder; got {path}")
    return path


def _copy(source: Path, patterns: Iterable[str], target: Path) -> None:
    for pattern in patterns:
        for path in sorted(source.glob(pattern)):
            if path.is_file():
                shutil.copyfile(path, target / path.name)


def _copy_released(source: Path, target: Path, name: str) -> None:
    """Copy a folder made elsewhere; weights that exist only as a pickle are converted to safetensors."""
    check_links(source, name)
    _copy(source, COPIED, target)
    if taken := take_settings(target, name):
        print(f"{name}: settings left out: {', '.join(sorted(set(taken)))}", file=sys.stderr)
    if weight_files(target, name) or not (
        (source / PICKLED).is_file() and (source / "config.json").is_file()
    ):
        return
    check_shapes(target, pickled_shapes(source / PICKLED, name), name)
    with reported(f"{name}: transformers can't load {PICKLED}"):
        config = AutoConfig.from_pretrained(target, local_files_only=True, trust_remote_code=False)
        model = AutoModelForPreTraining.from_pretrained(
            source,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
            weights_only=True,
            use_safetensors=False,
        )
        model.save_pretrained(target)


def _set_lowercase(folder: Path, recipe: ExportRecipe) -> None:
    """Write the tokenizer with its case handling made explicit, and check that it is applied."""
    with reported(f"{recipe.model}: transformers can't load this tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, do_lower_case=recipe.lowercase
        )
        tokenizer.save_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        normalizer = tokenizer.backend_tokenizer.normalizer
        lowers = normalizer is not None and normalizer.normalize_str("Protein") == "protein"
    if lowers != recipe.lowercase:
        raise PubmillError(
            f"{recipe.model}: its spec says lowercase: {str(recipe.lowercase).lower()}, but its tokenizer "
            f"{'makes' if lowers else 'does not make'} capitals small; mend the spec or the tokenizer"
        )


def _copy_checkpoint(recipe: ExportRecipe, checkpoint: Path, target: Path) -> None:
    step = read_json(checkpoint / "state.json")["step"]
    if recipe.weights.get("step", step) != step:
        raise PubmillError(
            f"{recipe.model}: step {recipe.weights['step']} expected, {checkpoint} is step {step}"
        )
    # Not optimizer.safetensors, which would be mistaken for weights.
    _copy(checkpoint, (CONFIG, WEIGHTS), target)


def _make_random(recipe: ExportRecipe, vocab: Path, target: Path) -> None:
    if recipe.pretraining is None:
        raise PubmillError(
            f"{recipe.model}: random weights need the pretraining recipe for their architecture"
        )
    pretraining = build(PretrainingRecipe, recipe.pretraining, f"{recipe.model}: pretraining")
    tokenizer = AutoTokenizer.from_pretrained(vocab, local_files_only=True, trust_remote_code=False)
    special = {
        "pad": tokenizer.pad_token_id,
        "cls": tokenizer.cls_token_id,
        "sep": tokenizer.sep_token_id,
    }
    form = pretraining.architecture, pretraining.objective, len(tokenizer), special, recipe.seed
    build_model(*form).save_pretrained(target)


def _download(recipe: ExportRecipe) -> Path:
    """Return a pinned revision of a public model, from the hub's own cache."""
    name, revision = str(recipe.weights.get("id")), str(recipe.weights.get("revision"))
    if not re.fullmatch("[0-9a-f]{40}", revision):
        raise PubmillError(f"{recipe.model}: the hub's revision must be a full commit hash, not {revision!r}")
    try:
        found = huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=[*COPIED, PICKLED], ignore_patterns=["*/*"]
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise PubmillError(
            f"{recipe.model}: {name} at {revision} can't be fetched from the hub ({type(error).__name__}). "
            f"Without network, put its files into a folder and give this model `weights: {{kind: folder}}`."
        ) from None
    return Path(found)
