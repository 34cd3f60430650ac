"""Commands as they are printed: each works as it stands in the checkout, after `make setup`."""

import shlex
from collections.abc import Iterable

BIN = ".venv/bin"
PROFILE = "profiles/local"


def snakemake(*targets: str, configuration: Iterable[str] = (), options: Iterable[str] = ()) -> str:
    """The command that makes the targets, under a configuration as `configuration_options` words it.

    Targets stand first: `--configfile`, `--config` and `--forcerun` take all words that follow.
    """
    words = [*targets, "--profile", PROFILE, *configuration, *options]
    return shlex.join([f"{BIN}/snakemake", *words])


def script(name: str, *arguments: str) -> str:
    """The command that runs a program of `scripts/`."""
    return shlex.join([f"{BIN}/python", f"scripts/{name}.py", *arguments])


def configuration_options(configfiles: Iterable[str], settings: Iterable[str] = ()) -> list[str]:
    """A configuration as options of Snakemake and of programs that take it as Snakemake does.

    Each option stands once: of several, Snakemake takes the last alone.
    """
    both = {"--configfile": list(configfiles), "--config": list(settings)}
    return [word for name, values in both.items() if values for word in (name, *values)]


def local_files(key: str) -> str:
    """The option that names a folder of the user's own."""
    return f'--config \'local_files={{"{key}": "/path/to/folder"}}\''
