"""Converted datasets in the results of a scale; an error for a missing one has the command that makes it."""

from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples.prompts import published_template
from pubmill.messages import commands
from pubmill.messages.wording import unknown
from pubmill.specs import Specs, load
from pubmill.specs.model_specs import PromptSpec, PublishedPrompt
from pubmill.specs.study import study_of_scale
from pubmill.storage.result_paths import CARD, RELATIVE


def specs_of_results(root: Path, results: Path) -> Specs:
    """Return the specs at the scale after which a results folder is named, such as results/full."""
    scale = results.name
    if not (root / "specs/scales" / f"{scale}.yaml").is_file():
        raise PubmillError(f"--results {results}: expected a folder named as a scale: results/full")
    return load(root / "specs", scale)


def check_name(specs: Specs, dataset: str) -> None:
    """Raise a `PubmillError` with the nearest names for a dataset without a spec."""
    if dataset not in specs.datasets:
        raise PubmillError(unknown("dataset", dataset, specs.datasets))


def prompt_file(root: Path, results: Path, prompt: str | PublishedPrompt) -> Path | None:
    """Return a published prompt's file, None for a template; an error has the command that fetches it."""
    if isinstance(prompt, str):
        return None
    file = results / RELATIVE.source_of_url(prompt.url)
    if not file.is_file():
        raise _not_made(root, results, file, file)
    return file


def template_text(root: Path, results: Path, prompt: str | PublishedPrompt) -> str:
    """Return the full template of a prompt; a published prompt's file is read for it."""
    file = prompt_file(root, results, prompt)
    if isinstance(prompt, str) or file is None:
        return str(prompt)
    return published_template(file, prompt.place, prompt.input)


def prompts_of(specs: Specs, name: str) -> PromptSpec:
    """Return prompts; a `PubmillError` with the nearest names if there are none of this name."""
    if name not in specs.prompts:
        raise PubmillError(unknown("prompt", name, specs.prompts))
    return specs.prompts[name]


def converted_folder(root: Path, results: Path, dataset: str) -> Path:
    """Return the folder of a converted dataset; a `PubmillError` has the command that makes it."""
    folder = results / RELATIVE.dataset(dataset)
    if not (folder / CARD).is_file():
        raise _not_made(root, results, folder, folder / CARD)
    return folder


def _not_made(root: Path, results: Path, missing: Path, file: Path) -> PubmillError:
    study = study_of_scale(results.name, root / "studies", str(missing))
    command = commands.run_files(f"{file}", configuration=commands.configuration_options(study))
    return PubmillError(f"{missing} is not there yet. Make it: {command}")
