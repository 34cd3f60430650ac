"""Where pubmill's own files are, and where the user's are.

Specs, rules and programs lie beside the package in a checkout, and in `pubmill/_data` once it is installed. A
workspace (`pubmill init`) holds only what is the user's; its folder `.pubmill` is laid out as a checkout, of
links to pubmill's files, with the user's own specs and studies among them. In a checkout both are the
checkout. Needs only the standard library.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
DATA = PACKAGE / "_data" if (PACKAGE / "_data").is_dir() else PACKAGE.parent
"""The folder of the specs, rules and programs that belong to this package."""
MODULES = ("pubmill", "snakemake_logger_plugin_pubmill")
OWN = ("specs", "studies")
"""Folders to which a workspace may add files of its own."""
FILES = (
    *("Snakefile", "config.yaml", "LICENSE", "benchmarks/pretraining.json", "envs", "profiles", "rules"),
    *("schemas", "scripts", "tests/__init__.py", "tests/dataset_specs.py", "tests/world"),
)
"""The other files and folders of a checkout that an installed package needs; `setup.py` puts both into it."""
VIEW = Path(".pubmill")
SETTINGS = ("config.yaml", "workspace.yaml")
"""Files of a workspace with settings over those of pubmill's config.yaml, the last one strongest."""
DRY_RUN = "PUBMILL_DRY_RUN"
"""Environment variable of a dry run, which writes nothing."""


def root() -> Path:
    """Return where the current folder has specs, rules and programs: `.pubmill` of a workspace, or itself."""
    return VIEW if VIEW.is_dir() else Path()


def own_settings(root: Path) -> list[Path]:
    """Return the user's settings files over `root`/config.yaml: `SETTINGS`; in a checkout only the last."""
    in_workspace = root.name == VIEW.name
    folder, names = (root.parent, SETTINGS) if in_workspace else (root, SETTINGS[1:])
    return [path for name in names if (path := folder / name).is_file()]


def link_workspace(workspace: Path) -> list[str]:
    """Bring `.pubmill` of a workspace up to date; return its specs and studies that replace those of pubmill.
    A link that is right stays as it is, so that nothing looks changed, and running jobs always find
    theirs."""
    shipped, own = dict(_files(DATA)), dict(_files(workspace.resolve()))
    wanted = {name: PACKAGE.parent / name for name in MODULES}
    wanted |= {name: DATA / name for name in FILES} | shipped | own
    link_files(workspace / VIEW, wanted, OWN)
    return sorted(own.keys() & shipped.keys())


def link_files(view: Path, wanted: Mapping[str, Path], folders: Iterable[str]) -> None:
    """Create the `wanted` links (name -> target) below `view`; remove all other links in `folders`."""
    for name, target in wanted.items():
        link = view / name
        if link.is_symlink() and link.readlink() == target:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        new = link.with_name(f"{link.name}.{os.getpid()}")  # replaced at once: running jobs always find one
        new.unlink(missing_ok=True)
        new.symlink_to(target)
        os.replace(new, link)
    for folder in folders:
        for path in (view / folder).rglob("*"):
            if path.is_symlink() and path.relative_to(view).as_posix() not in wanted:
                path.unlink()


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the specs and studies of a folder by their names below it, without hidden files."""
    for name in OWN:
        for path in (folder / name).rglob("*"):
            below = path.relative_to(folder)
            if path.is_file() and not any(part.startswith((".", "__")) for part in below.parts):
                yield below.as_posix(), path
