"""Models as Hugging Face folders, whatever their weights come from.

`pretraining`: a checkpoint of this project. `random`: the same architecture freshly initialised. `folder`: a
folder of the user's own. `hub`: a pinned revision of a public model. `archive`: a public archive with a model
folder. Every folder loads with `AutoModel`, `AutoModelForMaskedLM`, `AutoModelForTokenClassification` and
`AutoTokenizer`, and has a model card.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import huggingface_hub
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from transformers import AutoConfig, AutoModelForPreTraining, AutoTokenizer

from pubmill.errors import PubmillError
from pubmill.pretraining.architectures import build_model
from pubmill.pretraining.checkpoints import differing_keys, verified
from pubmill.pretraining.model_cards import corpus_of_model, model_card
from pubmill.recipes.models import (
    ArchivedWeights,
    ExportRecipe,
    LocalWeights,
    ModelWeights,
    PretrainedWeights,
    RandomWeights,
    ReleasedWeights,
)
from pubmill.recipes.reading import as_values
from pubmill.storage import model_folder_checks as checks
from pubmill.storage.archives import unpack_model
from pubmill.storage.checksums import check_folder, remake, write_folder_sums
from pubmill.storage.encoder_checks import load_settings, load_tokenizer, makes_lowercase, reported
from pubmill.storage.files import read_json, sha256, write_json, writing_folder
from pubmill.storage.model_folders import (
    CONFIG,
    COPIED,
    CORPUS_KEY,
    PICKLED,
    TOKENIZER_FILES,
    VOCABULARY_FILES,
    WEIGHTS,
    folder_fault,
)
from pubmill.storage.privacy import keep_private, label_of_process
from pubmill.storage.release_pins import COMMIT, read_pin


def export(
    recipe: ExportRecipe,
    output: Path,
    checkpoint: Path | None = None,
    vocab: Path | None = None,
    folder: Path | None = None,
    statistics: Path | None = None,
    archive: Path | None = None,
    pin: Path | None = None,
) -> None:
    """Write the model folder `output`, readable only by its owner if an input is; write nothing if the result
    does not load. `statistics` is the stats.json of the pretraining corpus, for the card; `pin` is what the
    first download of released weights found (`pubmill.storage.release_pins`)."""
    keep_private(path for path in (checkpoint, vocab, folder) if path)
    weights, facts = _with_pin(recipe.weights, pin)
    made_here = isinstance(weights, PretrainedWeights | RandomWeights)
    with writing_folder(output) as temporary:
        match weights:
            case PretrainedWeights():
                source = _required_folder(checkpoint, weights.kind, "--checkpoint")
                _copy_checkpoint(recipe, weights.step, source, temporary)
                vocab = _copy_vocab(vocab, weights.kind, temporary)
            case RandomWeights():
                vocab = _copy_vocab(vocab, weights.kind, temporary)
                _make_random(recipe, vocab, temporary)
            case LocalWeights():
                _copy_released(_required_folder(folder, weights.kind, "--folder"), temporary, recipe.model)
            case ReleasedWeights():
                _copy_released(_download_model(recipe.model, weights), temporary, recipe.model)
            case ArchivedWeights():
                checked = _checked_archive(recipe.model, weights, archive)
                with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=temporary) as beside:
                    unpack_model(checked, Path(beside) / "model")
                    _copy_released(Path(beside) / "model", temporary, recipe.model)
        if fault := folder_fault(temporary):
            raise PubmillError(f"{recipe.model}: the model folder {fault}")
        load_settings(temporary, recipe.model, exact=made_here)
        checks.check_weights(temporary, recipe.model)
        _set_lowercase(temporary, recipe)
        corpus = read_json(statistics) if statistics else {}
        if corpus and isinstance(weights, PretrainedWeights):
            config = read_json(temporary / CONFIG)
            write_json(temporary / CONFIG, config | {CORPUS_KEY: corpus_of_model(corpus)})
        readme, original = temporary / "README.md", temporary / "README.original.md"
        if readme.exists():
            readme.rename(original)
        shape, label = as_values(recipe.pretraining), label_of_process()
        card = model_card(
            recipe.model, facts, recipe.scale, corpus, shape, checkpoint, vocab, original, **label
        )
        readme.write_text(card, encoding="utf-8")
        write_folder_sums(temporary, output.name)
    print(f"{output}: {recipe.model}, weights of kind {weights.kind}")


def _with_pin(weights: ModelWeights, pin: Path | None) -> tuple[ModelWeights, Mapping[str, object]]:
    """Return weights with their commit or hash, by default the pin's, and their facts for the card."""
    match weights:
        case ReleasedWeights(revision=None):
            pinned = read_pin(weights.release, pin)
            return replace(weights, revision=pinned["revision"]), pinned
        case ArchivedWeights(sha256=None):
            pinned = read_pin(weights.release, pin)
            return replace(weights, sha256=pinned["sha256"]), pinned
    return weights, {key: value for key, value in as_values(weights).items() if value is not None}


def _required_folder(path: Path | None, kind: str, option: str) -> Path:
    if path is None or not path.is_dir():
        raise PubmillError(f"weights of kind {kind} need {option}, an existing folder; got {path}")
    return path


def _copy_vocab(vocab: Path | None, kind: str, target: Path) -> Path:
    vocab = _required_folder(vocab, kind, "--vocab")
    check_folder(vocab)
    _copy_files(vocab, (*TOKENIZER_FILES, *VOCABULARY_FILES), target)
    return vocab


def _copy_files(source: Path, patterns: Iterable[str], target: Path) -> None:
    for pattern in patterns:
        for path in sorted(source.glob(pattern)):
            if path.is_file():
                shutil.copyfile(path, target / path.name)


def _copy_released(source: Path, target: Path, name: str) -> None:
    """Copy a folder made elsewhere; weights that exist only as a pickle are converted to safetensors."""
    checks.check_links(source, name)
    _copy_files(source, COPIED, target)
    if taken := checks.take_settings(target, name):
        print(f"{name}: settings left out: {', '.join(sorted(set(taken)))}", file=sys.stderr)
    pickled = (source / PICKLED).is_file() and (source / CONFIG).is_file()
    if any(target.glob("*.safetensors")) or not pickled:
        return
    with reported(f"{name}: transformers can't load this model folder"):
        config = AutoConfig.from_pretrained(target, local_files_only=True, trust_remote_code=False)
    fault = (
        f"{PICKLED} is damaged or holds more than tensors. Nothing in a pickle is ever run here; if you "
        "trust the file, write it as safetensors with save_pretrained"
    )
    model, _ = checks.load_weights(AutoModelForPreTraining, source, config, name, fault, pickled=True)
    model.save_pretrained(target)


def _set_lowercase(folder: Path, recipe: ExportRecipe) -> None:
    """Write the tokenizer with its case handling made explicit, and check that it is applied."""
    with reported(f"{recipe.model}: transformers can't load this tokenizer"):
        load_tokenizer(folder, recipe.model, do_lower_case=recipe.lowercase).save_pretrained(folder)
        lowers = makes_lowercase(load_tokenizer(folder, recipe.model))
    if lowers != recipe.lowercase:
        raise PubmillError(
            f"{recipe.model}: its spec says lowercase: {str(recipe.lowercase).lower()}, but its tokenizer "
            f"{'makes' if lowers else 'does not make'} capitals small; mend the spec or the tokenizer"
        )


def _copy_checkpoint(recipe: ExportRecipe, expected: int, checkpoint: Path, target: Path) -> None:
    state, _ = verified(checkpoint)
    if state["step"] != expected:
        raise PubmillError(f"{recipe.model}: step {expected} expected, {checkpoint} is step {state['step']}")
    if recipe.pretraining and (others := differing_keys(state["recipe"], as_values(recipe.pretraining))):
        raise PubmillError(
            f"{recipe.model}: {checkpoint} was made by another pretraining recipe (differing: "
            f"{', '.join(others)}). {remake(checkpoint)}"
        )
    # Not optimizer.safetensors, which would be mistaken for weights.
    _copy_files(checkpoint, (CONFIG, WEIGHTS), target)


def _make_random(recipe: ExportRecipe, vocab: Path, target: Path) -> None:
    made = recipe.pretraining
    if made is None:
        raise PubmillError(f"{recipe.model}: random weights need a recipe, for their architecture")
    tokenizer = AutoTokenizer.from_pretrained(vocab, local_files_only=True, trust_remote_code=False)
    special = {name: getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep")}
    model = build_model(made.architecture, made.objective, len(tokenizer), special, recipe.seed)
    model.save_pretrained(target)


def _checked_archive(model: str, weights: ArchivedWeights, archive: Path | None) -> Path:
    if archive is None or not archive.is_file():
        raise PubmillError(f"{model}: weights of kind archive need --archive, a file; got {archive}")
    if (digest := sha256(archive)) != weights.sha256:
        raise PubmillError(
            f"{model}: {archive} has the sha256 {digest}, expected {weights.sha256}; fetch it again"
        )
    return archive


def _download_model(model: str, weights: ReleasedWeights) -> Path:
    """Return a pinned revision of a public model, from the hub's own cache."""
    name, revision = weights.id, str(weights.revision)
    if not re.fullmatch(COMMIT, revision):
        raise PubmillError(f"{model}: the hub's revision must be a full commit hash, not {revision!r}")
    try:
        folder = huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=[*COPIED, PICKLED], ignore_patterns=["*/*"]
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise PubmillError(
            f"{model}: {name} at {revision} can't be fetched from the hub ({type(error).__name__}). "
            f"Without network, put its files into a folder and give this model `weights: {{kind: folder}}`."
        ) from None
    return Path(folder)
