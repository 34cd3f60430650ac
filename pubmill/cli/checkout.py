"""The checkout or workspace that a command works in, and how Snakemake is started there."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.installation import SETTINGS, VIEW, link_workspace
from pubmill.messages.progress import report_progress
from pubmill.specs import strict_yaml
from pubmill.storage.files import writing

MARKS = ("Snakefile", "specs", "studies", "scripts")
"""Files and folders by which a checkout is recognised."""
WORLD = "tests/world/mirror"
"""Mirror with the made-up source files of scale demo."""


def checkout() -> Path:
    """Return the folder with specs, rules and programs: the current folder, which must be a checkout of
    pubmill, or `.pubmill` of a workspace, which is brought up to date; else a `PubmillError`."""
    here = Path.cwd()
    if VIEW.is_dir():
        _tell_replaced(tuple(link_workspace(here)))
        return here / VIEW
    for folder in (here, *here.parents):
        if all((folder / mark).exists() for mark in MARKS):
            if folder == here:
                return here
            raise PubmillError(f"run this in the checkout itself: cd {shlex.quote(str(folder))}")
    raise PubmillError(f"{here} is not a checkout of pubmill, nor a workspace; make one: pubmill init FOLDER")


@cache
def _tell_replaced(names: tuple[str, ...]) -> None:
    """Say which files of a workspace replace pubmill's, once in a command."""
    if names:
        report_progress(f"of this workspace, in place of pubmill's own: {', '.join(names)}")


def show(command: str) -> None:
    """Print the command that a verb stands for."""
    print(f"$ {command}", file=sys.stderr, flush=True)


def run_snakemake(*words: str) -> int:
    """Run a Snakemake command as a process of its own; return its exit status, 130 if it was interrupted.
    SIGTERM and SIGINT are passed on, except Ctrl-C, which a terminal sends to both processes.

    The logger plugin `snakemake_logger_plugin_pubmill`, in the same folder as pubmill, displays the run.
    """
    find_modules(checkout())
    process: subprocess.Popen[bytes] | None = None
    interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        if process and not sys.stdin.isatty():
            process.send_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    process = subprocess.Popen([sys.executable, "-m", "snakemake", "--logger=pubmill", *words])
    if interrupted:
        process.send_signal(signal.SIGINT)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    status = process.wait()
    signal.signal(signal.SIGINT, before)
    return 130 if interrupted else status


def find_modules(root: Path) -> None:
    """Set PYTHONPATH to `root` in a workspace, so that started programs import modules as in a checkout."""
    if root != Path.cwd():
        os.environ["PYTHONPATH"] = str(root)


def provide_mirror(mirror: str | None) -> None:
    """Write the made-up source files of scale demo if they are the mirror and not there yet."""
    if mirror == WORLD and not Path(WORLD).exists():
        make_demo_files()


def make_demo_files() -> None:
    """Write the made-up source files of scale demo, unless they exist."""
    root = checkout()
    find_modules(root)
    if not Path(WORLD).exists():
        where = "" if root == Path.cwd() else f"PYTHONPATH={VIEW} "
        show(where + commands.run(commands.program("python"), "-m", "tests.world", WORLD))
    command = [sys.executable, "-m", "tests.world", WORLD]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:
        raise PubmillError(f"the made-up source files of the demo could not be written to {WORLD}")


WORKSPACE = Path(SETTINGS[-1])
HEADER = "# Settings of this checkout, over those of config.yaml; pubmill adds folders of models\n"


def save_folders(folders: Mapping[str, str]) -> None:
    """Add the user's folders (key -> path) to `local_files` in workspace.yaml, for later commands. Raises a
    `PubmillError` if a key is that of another folder."""
    if not folders:
        return
    errors: list[str] = []
    content = strict_yaml.read(WORKSPACE, str(WORKSPACE), errors).value if WORKSPACE.is_file() else {}
    if errors:
        raise PubmillError("\n".join(errors))
    known = dict(content.get("local_files") or {})
    check_new_folders(folders, known)
    if known | dict(folders) != known:
        settings = {**content, "local_files": known | dict(folders)}
        with writing(WORKSPACE) as temporary:
            temporary.write_text(
                HEADER + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), encoding="utf-8"
            )


def check_new_folders(folders: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Raise a `PubmillError` if a name of `folders` (name -> path) is that of another folder in `known`."""
    for name, folder in folders.items():
        if name in known and Path(known[name]).expanduser().resolve() != Path(folder).resolve():
            raise PubmillError(
                f"{name} is the name of {known[name]} (local_files in {WORKSPACE}); give {folder} another "
                "one with --name, or, if it is the same folder and was moved, change its path there"
            )
