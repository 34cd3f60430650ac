"""Converted datasets in the results of a scale; an error for a missing one has the command that makes it."""

from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples.prompts import published_template
from pubmill.messages import commands
from pubmill.messages.wording import unknown
from pubmill.specs import Specs, load
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


def template_text(root: Path, results: Path, specs: Specs, prompt: str, dataset: str) -> str:
    """Return the full template of a prompt for a dataset, for which a published prompt's file is read; a
    `PubmillError` has the nearest names for an unknown prompt, or the command that fetches the file."""
    if prompt not in specs.prompts:
        raise PubmillError(unknown("prompt", prompt, specs.prompts))
    template = specs.prompts[prompt].template(dataset, specs.datasets[dataset].task)
    if isinstance(template, str):
        return template
    file = results / RELATIVE.source_of_url(template.url)
    if not file.is_file():
        raise _not_made(root, results, file, file)
    return published_template(file, template.place, template.input)


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
