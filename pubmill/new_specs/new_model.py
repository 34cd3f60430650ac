"""Specs of the user's own models: a model folder or a repository of the hub as a file of specs/models."""

import re
import shlex
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

import huggingface_hub
import yaml
from huggingface_hub import errors
from pydantic import ValidationError

from pubmill.errors import PubmillError
from pubmill.inspection import doctor
from pubmill.messages.installation import root
from pubmill.new_specs.spec_files import ON_THE_HUB, spec_name, write_with_schema
from pubmill.recipes.problems import problem_text
from pubmill.recipes.submissions import System
from pubmill.specs import ModelSpec, strict_yaml
from pubmill.storage import model_folder_checks
from pubmill.storage.encoder_checks import load_settings, load_tokenizer, makes_lowercase, reported
from pubmill.storage.model_folders import CONFIG, TOKENIZER_FILES, VOCABULARY_FILES, folder_fault
from pubmill.storage.submission_files import submission_files

SYSTEM = '{"name": "group/system", "version": "1", "url": "https://...", "local": true}'
"""An example of a statement about a system."""


REASONS = {
    errors.GatedRepoError: "it is given only to users whom its authors accept",
    errors.RepositoryNotFoundError: "there is no such model, or it is not public",
    errors.RevisionNotFoundError: "it has no such commit",
    errors.LocalEntryNotFoundError: "the hub cannot be reached, and its cache has no copy",
}
"""Kind of error -> why the hub gives no files."""


@dataclass(frozen=True)
class NewModel:
    """A model to be described: a folder of Hugging Face's format, a repository of the hub with its commit
    (None: the newest at the first download), or a folder of predictions with its author's statement."""

    name: str
    folder: Path | None = None
    hub: str = ""
    revision: str | None = None
    system: System | None = None

    @property
    def weights(self) -> dict[str, dict[str, object]]:
        """The keys of the spec that name the weights."""
        if self.system:
            stated = {key: value for key, value in asdict(self.system).items() if value is not None}
            return {"weights": {"kind": "predictions", "local": self.name, "system": stated}}
        if self.folder:
            return {"weights": {"kind": "folder", "local": self.name}}
        return {"released": {"id": self.hub, "revision": self.revision}}

    @property
    def local_files(self) -> dict[str, str]:
        """The setting `local_files` with which a study finds the folder."""
        return {self.name: str(self.folder)} if self.folder else {}


def new_model(
    given: str, name: str | None = None, system: System | None = None, datasets: Collection[str] = ()
) -> NewModel:
    """Return the model that `./folder` or `hub:ID@COMMIT` names; its name is that of the folder or of the
    repository, unless `name` is another one. A folder with files that are named after `datasets` is one of
    predictions, and needs a statement about the `system`."""
    if given.startswith("hub:"):
        match = ON_THE_HUB.fullmatch(given)
        if not match:
            raise PubmillError(
                f"{given}: expected hub:GROUP/MODEL@COMMIT, with a commit of 40 digits (not a branch), or "
                f"without @COMMIT for the newest one"
            )
        return NewModel(name or spec_name(match["id"], "model"), None, match["id"], match["revision"])
    folder = Path(given).expanduser().resolve()
    if folder.is_dir() and (predicted := submission_files(folder, datasets)):
        if system is None:
            shown = shlex.join(["--system", SYSTEM])
            raise PubmillError(
                f"{given} holds predictions, of {', '.join(predicted)}; say what predicted them: pubmill new "
                f"model {given} {shown}"
            )
        return NewModel(name or spec_name(folder.name, "model"), folder, system=system)
    if fault := folder_fault(folder):
        raise PubmillError(f"model folder {given} {fault}")
    return NewModel(name or spec_name(folder.name, "model"), folder)


def reads_lowercase(model: NewModel) -> bool:
    """Return whether the model reads lowercase text: its tokenizer can lowercase and no ordinary token has
    capitals. Checks what fine-tuning needs and, of a folder, that weights are finite and fit config.json."""
    folder = model.folder
    if folder is None:
        files = [CONFIG, "special_tokens_map.json", *TOKENIZER_FILES, *VOCABULARY_FILES]
        # Without network a download would repeat its requests for half a minute before it reads the cache.
        offline = not doctor.check_links([huggingface_hub.constants.ENDPOINT]).network
        try:
            snapshot = huggingface_hub.snapshot_download(
                model.hub, revision=model.revision, allow_patterns=files, local_files_only=offline
            )
        except (errors.HfHubHTTPError, errors.HFValidationError, OSError) as error:
            known = (words for kind, words in REASONS.items() if isinstance(error, kind))
            reason = next(known, type(error).__name__)
            raise PubmillError(
                f"{model.hub} can't be read from the hub: {reason}. Without network, give a folder with its "
                f"files, such as ./{model.name}"
            ) from None
        folder = Path(snapshot)
    model_folder_checks.check_links(folder, model.name)
    _, tokenizer = load_settings(folder, model.name)
    if model.folder and any(folder.glob("*.safetensors")):  # a pickle is read when the model is taken over
        model_folder_checks.check_weights(folder, model.name)
    with reported(f"{model.name}: transformers can't load this tokenizer"):
        special = set(tokenizer.all_special_tokens)
        pieces = [piece for piece in tokenizer.get_vocab() if piece not in special]
    small = not any(re.search("[A-Z]", piece) for piece in pieces if not re.fullmatch(r"[\[<].*[\]>]", piece))
    return small and makes_lowercase(load_tokenizer(folder, model.name, do_lower_case=True))


def write_spec(model: NewModel, specs: Path) -> Path:
    """Write the model's spec, unless it exists with the same weights; another model of this name is an
    error. Only a new spec has its folder or its tokenizer checked here."""
    path = specs / "models" / f"{model.name}.yaml"
    if (known := root() / path).is_file():
        faults: list[str] = []
        before = strict_yaml.read(known, str(path), faults).value
        if faults or any(before.get(key) != model.weights.get(key) for key in ("weights", "released")):
            raise PubmillError(f"{path} describes another model; give the new one another name with --name")
        return path
    lowercase = not model.system and reads_lowercase(model)
    values = {"name": model.name, "label": model.name, "lowercase": lowercase, **model.weights}
    try:
        ModelSpec.model_validate(values)
    except ValidationError as error:
        raise PubmillError(f"model {model.name}: {problem_text(error.errors()[0])}") from None
    write_with_schema(path, "models", yaml.safe_dump(values, sort_keys=False))
    return path
