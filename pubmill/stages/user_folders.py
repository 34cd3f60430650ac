"""Folders of files that the user supplies, by the keys that specs name."""

from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.specs.study import Study


def how_to_bring(key: str) -> str:
    """Return the instruction for supplying the user's files that a spec names by a key."""
    return (
        f"set local_files: {{{key}: /path/to/folder}} in the configuration (or "
        f"{commands.local_files(key)}), or put them into local/{key} of the mirror"
    )


class UserFolders:
    """A user's folders: `local_files.KEY` of the configuration, or `local/KEY` in the mirror."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def find(self, key: str) -> Path | None:
        """Return the folder of a key; None if the configuration names none and the mirror has none."""
        if key in self._study.local_files:
            return _without_braces(Path(self._study.local_files[key]).expanduser(), key)
        folder = Path(self._study.mirror) / "local" / key if self._study.mirror else None
        return _without_braces(folder, key) if folder and folder.is_dir() else None

    def setting(self, key: str) -> str:
        """Return where a folder is specified: a key of the configuration, or the mirror."""
        return f"local_files.{key}" if key in self._study.local_files else f"local/{key} of the mirror"

    def require(self, key: str, who: str) -> Path:
        """Return the folder of a key; a `PubmillError` if there is none."""
        folder = self.find(key)
        if folder is None:
            others = ", ".join(sorted(self._study.local_files))
            known = f"; local_files has only {others}" if others else ""
            raise PubmillError(f"{who} needs files of your own: {how_to_bring(key)}{known}")
        return folder


def _without_braces(folder: Path, key: str) -> Path:
    """Return the folder; a `PubmillError` if its path has braces."""
    if set("{}") & set(str(folder.resolve())):
        raise PubmillError(
            f"{folder} ({key}): Snakemake takes braces in a path for wildcards; rename the folder or file"
        )
    return folder
