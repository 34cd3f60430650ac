"""Commands for messages: each works as printed in the checkout, after `make setup`, or in a workspace."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from pubmill.messages.installation import VIEW, root

BIN = ".venv/bin"
PROFILE = "profiles/local"


def program(name: str) -> str:
    """Return the path of a program in a checkout; in a workspace its name, which the shell finds."""
    return name if root() == VIEW else f"{BIN}/{name}"


def snakefile() -> list[str]:
    """Return the option of Snakemake that names the workflow; in a checkout it finds it by itself."""
    return ["--snakefile", str(VIEW / "Snakefile")] if root() == VIEW else []


def profile(name: str = PROFILE) -> str:
    """Return the folder of a profile for Snakemake: `name` itself if it is a folder, else the profile of
    pubmill with this path or name (slurm)."""
    shipped = [root() / name, root() / "profiles" / name]
    return next((str(one) for one in shipped if one.is_dir() and not Path(name).is_dir()), name)


def snakemake(*targets: str, configuration: Iterable[str] = (), options: Iterable[str] = ()) -> str:
    """Return the command that makes the targets; `configuration` is the result of `configuration_options`.
    Targets come first: `--configfile`, `--config` and `--forcerun` take all arguments that follow."""
    words = [*targets, *snakefile(), "--profile", profile(), *configuration, *options]
    return shlex.join([program("snakemake"), *words])


def pubmill(*arguments: str) -> str:
    return run(program("pubmill"), *arguments)


def run_files(*files: str, configuration: Sequence[str] = (), options: Iterable[str] = ()) -> str:
    """Return the command of `pubmill` that makes files of the results; `configuration` is as for `snakemake`.
    Its first configuration file is the study, by name if it is one of `studies/`."""
    further, study = list(configuration), "demo"
    if further[:1] == ["--configfile"]:
        study = further.pop(1)
        if not further[1:] or further[1].startswith("--"):
            further.pop(0)
    name = Path(study).stem if Path(study).parent == root() / "studies" else study
    return pubmill("run", name, *files, *further, *options)


def run(program: str, *arguments: str) -> str:
    """Return a program and its arguments, quoted for a shell."""
    return shlex.join([program, *arguments])


def configuration_options(configfiles: Iterable[str], settings: Iterable[str] = ()) -> list[str]:
    """Return a configuration as options of Snakemake, each once, because it uses only the last one."""
    both = {"--configfile": list(configfiles), "--config": list(settings)}
    return [word for name, values in both.items() if values for word in (name, *values)]


def verb_options(configfiles: Iterable[str], settings: Iterable[str] = ()) -> list[str]:
    """Return a configuration as options of `pubmill`, where an option takes one value."""
    both = {"--configfile": configfiles, "--config": settings}
    return [word for name, values in both.items() for value in values for word in (name, value)]


def local_files(key: str) -> str:
    """Return the option that sets a folder of the user's own."""
    return f'--config \'local_files={{"{key}": "/path/to/folder"}}\''
