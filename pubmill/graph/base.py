"""Base class of all targets: the study, its specs and the paths of its results."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.graph.content_digests import Digests
from pubmill.graph.stage_versions import VERSIONS
from pubmill.messages import commands
from pubmill.specs import Specs
from pubmill.specs.study import Study
from pubmill.storage.result_paths import Paths


def as_json(recipe: Any) -> str:
    """Return a recipe as JSON text; equal recipes give equal text."""
    return json.dumps(recipe, sort_keys=True)


def how_to_bring(key: str) -> str:
    """Return the instruction for supplying the user's files that a spec names by a key."""
    return (
        f"set local_files: {{{key}: /path/to/folder}} in the configuration (or "
        f"{commands.local_files(key)}), or put them into local/{key} of the mirror"
    )


def without_braces(paths: Sequence[Path], key: str) -> list[str]:
    """Return paths of a user's folder as text; a `PubmillError` names the first path with braces."""
    for path in paths:
        if set("{}") & set(str(path.resolve())):
            raise PubmillError(
                f"{path} ({key}): Snakemake takes braces in a path for wildcards; rename the folder or file"
            )
    return [str(path) for path in paths]


class Base:
    """A study and its specs."""

    def __init__(self, study: Study, specs: Specs) -> None:
        self.study = study
        self.specs = specs
        self.results = f"{study.results}/{study.scale}"
        self.paths = Paths(self.results)
        self.digests = Digests(Path(self.results) / ".digests.jsonl")

    @staticmethod
    def version(stage: str) -> int:
        """Return the version of a stage, for the params of its rule."""
        return VERSIONS[stage]

    def find_local(self, key: str) -> Path | None:
        """Return a user's folder, `local_files.KEY` or `local/KEY` in the mirror; None if neither exists."""
        found = Path(self.study.mirror) / "local" / key if self.study.mirror else None
        if key in self.study.local_files:
            found = Path(self.study.local_files[key]).expanduser()
        elif found and not found.is_dir():
            return None
        if found:
            without_braces([found], key)
        return found

    def called(self, key: str) -> str:
        """Return where a user's folder is specified: a key of the configuration, or the mirror."""
        return f"local_files.{key}" if key in self.study.local_files else f"local/{key} of the mirror"

    def local(self, key: str, who: str) -> Path:
        """Return a user's folder by the key that a spec names; a `PubmillError` if there is none."""
        found = self.find_local(key)
        if found is None:
            raise PubmillError(f"{who} needs files of your own: {how_to_bring(key)}")
        return found
