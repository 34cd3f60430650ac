"""Commands as they are printed: each works as it stands in the checkout, after `make setup`."""

import shlex
from collections.abc import Iterable, Sequence

BIN = ".venv/bin"
PROFILE = "profiles/local"


def snakemake(
    *targets: str, configfiles: Sequence[str] = (), settings: Sequence[str] = (), options: Sequence[str] = ()
) -> str:
    """The command that makes the targets, with the configuration as options.

    Targets stand first: `--configfile`, `--config` and `--forcerun` take all words that follow. Of
    `--configfile` and `--config`, Snakemake takes the last alone, so each stands once.
    """
    words = [*targets, "--profile", PROFILE, *configuration(configfiles, settings), *options]
    return shlex.join([f"{BIN}/snakemake", *words])


def script(name: str, *arguments: str) -> str:
    """The command that runs a program of `scripts/`."""
    return shlex.join([f"{BIN}/python", f"scripts/{name}.py", *arguments])


def configuration(configfiles: Iterable[str], settings: Iterable[str]) -> list[str]:
    """A configuration as options of Snakemake and of programs that take it as Snakemake does."""
    both = {"--configfile": list(configfiles), "--config": list(settings)}
    return [word for name, values in both.items() if values for word in (name, *values)]


def local_files(key: str) -> str:
    """The option that names a folder of the user's own."""
    return f'--config \'local_files={{"{key}": "/path/to/folder"}}\''
